"""Pairs of unseen classes, real data: a machine chosen by staged selection beside every baseline and other methods.

Needs PAIRLEARN_DATA. Olivetti faces (32 × 32 means of the 64 × 64 crops; 25 persons train, 15 test), MNIST (100 images
of each digit; 7 digits train, 3 test), letter and isolet of the UCI bundle (40 examples of each letter; 18 letters
train, 8 test), CIFAR-10 (16 × 16 means in colour, 100 images of each class; 7 classes train, 3 test), double intervals
of n = 500 (50 classes × 10 train, 50 others test), in random splits of the classes, and LFW View 2 (folds of its ten;
at most 4 images of each person of the other nine train) with dlib embeddings and with grey crops: HOG, LBP and TPLBP
as three representations, square roots of each reduced to 200 principal components of the training images as in
`lfw_faces.py`. Per split `StagedSearch` sees the training classes only, keeps a fifth of them for its own final test,
chooses on others held out among the rest, and gets 60 s and, in rows of their own, 300 s (`--budget 60` for one of
them); the baselines learn from the same pairs as the chosen machine, which is fitted on all training classes in the
end. Seconds used are those of all of `fit`: baselines, cross-fitting, trials, final fit, final test, refit.

Splits: 3 of every set (LFW: its folds 1 to 3) with 60 s, 1 with 300 s (`SPLITS`). That was fixed before any of them was
run, so that a full run takes about an hour and a half; one split of 3 digits proves nothing by itself, and its limits
say so.

Rivals (`benchmarks/pair_rivals.py`) learn from the pairs that the baselines learn from, at most 40,000 of them drawn at
random, and run where they are installed: LightGBM, and scikit-learn's MLPClassifier, on |a − b| and a · b of every
feature after a PCA to 50 dimensions; scikit-learn's NCA after the same PCA, on at most 2,000 training examples,
compared by Euclid; with torch a small convolutional network on Olivetti, MNIST and CIFAR-10. Their settings are the
usual ones, not tuned; one was changed after a quick run (no whitening, with which the MLP was below chance). They take
longer than the search does, so that only the first split of every set has them.

The machine is compared with the baseline that is best in the mean over all splits, known only in hindsight, and with
every rival. `tied` means that a 95 % interval of the mean difference of EERs contains 0: standard errors come from a
jackknife over identities in each split, and the mean counts as that of as many independent splits as fit into the
classes (three splits of 15 of 40 persons are worth 40 / 15). With 3 test digits that interval is very wide.

What selection tries (cross-fitted scores of baselines beside a pair kernel, whitened views and their means) was found
on other splits of the same data, and on LFW's folds 6 to 8: the seeds here are new, the data sets are not. Seeds from
100 on were looked at with a search that had no means of views of different kinds, and are not used any more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data, timed
from benchmarks.pair_rivals import NAMES, Given, rivals
from pairlearn.errors import InputError
from pairlearn.evaluation.intervals import difference_interval

SPLITS = {60: 3, 300: 1}
"""Splits of every set, or folds of LFW, by seconds of the budget."""
FIRST_SEED = 200
SIZES = {"olivetti": (25, 10), "mnist": (7, 100), "letter": (18, 40), "isolet": (18, 40), "cifar": (7, 100)}
"""Training classes, examples per class."""
FOLDED = ("lfw", "crops")
"""Data with ten folds of its own."""
IMAGES = 4
"""Of each person in LFW's training sets."""
SETS = (*SIZES, "double", *FOLDED)
PARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hog": lambda images: pl.images.hog(images, 4).reshape(len(images), -1),
    "lbp": lambda images: pl.images.lbp(images, 5, radius=2),
    "tplbp": lambda images: pl.images.tplbp(images, 6, apart=3),
}
COMPONENTS = 200
"""Of each descriptor of the crops."""
SHAPES = {"olivetti": (1, 32, 32), "mnist": (1, 28, 28), "cifar": (3, 16, 16)}
"""Channels, height and width of what a convolutional network can see."""
RIVAL_PAIRS = 40_000
BETTER = 4
"""Sets of the eight on which the machine shall be better than the best baseline, beyond limits."""


@dataclass(frozen=True)
class Task:
    """Training examples or their representations, and test pairs of other classes with the identities of both sides."""

    X: Any
    classes: np.ndarray
    test: pl.Pairs
    left: np.ndarray
    right: np.ndarray
    n_classes: int

    @property
    def truth(self) -> np.ndarray:
        return np.where(self.left == self.right, 1, -1)


@cache
def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Examples and classes."""
    folder = data_folder()
    if name == "olivetti":
        data = np.load(folder / "olivetti_orl" / "olivetti_orl.npz")
        small = data["X64"].astype(float).reshape(400, 32, 2, 32, 2).mean(axis=(2, 4))
        return small.reshape(400, -1) / 255.0, data["y"].astype(int)
    if name == "mnist":
        data = np.load(folder / "mnist" / "mnist.npz")
        return data["X_train"].reshape(len(data["y_train"]), -1) / 255.0, data["y_train"].astype(int)
    if name == "lfw":
        protocol = np.load(folder / "lfw" / "lfw_protocol.npz")
        return np.load(folder / "lfw" / "lfw_dlib128.npz")["E"].astype(float), protocol["person"].astype(int)
    if name == "crops":
        images = np.load(folder / "lfw" / "lfw_crops_62x47.npz")["X"]
        return images, np.load(folder / "lfw" / "lfw_protocol.npz")["person"].astype(int)
    if name == "cifar":
        data = np.load(folder / "cifar10_10k" / "cifar10_10k.npz")
        small = data["X_train"].astype(float).reshape(-1, 3, 16, 2, 16, 2).mean(axis=(3, 5))
        return small.reshape(len(small), -1) / 255.0, data["y_train"].astype(int)
    data = np.load(folder / "uci_bundle" / "uci_bundle.npz")
    key = "isolet1560" if name == "isolet" else name
    return data[f"{key}_X"].astype(float), data[f"{key}_y"].astype(int)


def some(y: np.ndarray, classes: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many random rows of each class."""
    return np.concatenate([rng.permutation(np.flatnonzero(y == c))[:most] for c in classes])


def task(name: str, split: int, first_seed: int = FIRST_SEED) -> Task:
    """One split; for LFW one fold of View 2."""
    rng = np.random.default_rng(first_seed + split)
    if name in FOLDED:
        return fold_of_lfw(*read(name), split, rng)
    if name == "double":
        (X, y), (n_train, most) = pl.data.double_interval(100, 10, n=500, seed=first_seed + split), (50, 10)
    else:
        (X, y), (n_train, most) = read(name), SIZES[name]
    order = rng.permutation(np.unique(y))
    train, test = some(y, order[:n_train], most, rng), some(y, order[n_train:], most, rng)
    pairs = pl.all_pairs(X[test], reflexive=False)
    left, right = (y[test][column] for column in pairs.columns)
    return Task(X[train], y[train], pairs, left, right, len(order))


def fold_of_lfw(X: np.ndarray, y: np.ndarray, fold: int, rng: np.random.Generator) -> Task:
    """Persons of the other folds with two images or more train; the 600 listed pairs of this fold test."""
    protocol = np.load(data_folder() / "lfw" / "lfw_protocol.npz")
    fold_of, pair_fold = protocol["person_view2_fold"].astype(int), protocol["view2_fold"].astype(int)
    left, right = protocol["view2_pairs"][pair_fold == np.unique(pair_fold)[fold]].astype(int).T
    people = np.flatnonzero((fold_of != np.unique(fold_of)[fold]) & (np.bincount(y) >= 2))
    train = some(y, people, IMAGES, rng)
    used, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = np.split(places, 2)
    assert not np.intersect1d(y[used], y[train]).size
    known, tested = (X[train], X[used]) if X.ndim == 2 else described(X[train], X[used])
    return Task(known, y[train], pl.Pairs(tested, a, b), y[left], y[right], len(np.unique(y[used])))


def described(train: np.ndarray, test: np.ndarray) -> tuple[pl.selection.Representations, np.ndarray]:
    """Descriptors of training images as representations, and rows of test images; PCA is learnt from the former."""
    known, tested = {}, []
    for name, describe in PARTS.items():
        rows = pl.images.square_root(describe(np.concatenate([train, test])))
        pca = PCA(COMPONENTS, svd_solver="randomized", iterated_power=3, random_state=0).fit(rows[: len(train)])
        reduced = pca.transform(rows).astype(float) / pca.explained_variance_**0.25
        reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
        known[name] = reduced[: len(train)]
        tested.append(reduced[len(train) :])
    return pl.selection.Representations(known), np.hstack(tested)


# --------------------------------------------------------------------------- one split


def split(name: str, number: int, seconds: float, quick: bool) -> dict[str, Any]:
    """EERs of one split, and the differences to each baseline with standard errors over identities."""
    data, budget = task(name, number), 10.0 if quick else float(seconds)
    search = pl.StagedSearch(time_budget=budget, test_share=0.2, random_state=number)
    used, _ = timed(lambda: search.fit(data.X, data.classes))
    scores, skipped = search.score_by_baselines(data.test)
    scores["machine"] = search.decision_function(data.test)
    if (number, seconds) == (0, min(SPLITS)):
        given = Given.of(search, data.test, RIVAL_PAIRS // 10 if quick else RIVAL_PAIRS)
        scores |= {rival: run(given) for rival, run in rivals(SHAPES.get(name)).items()}
    named = {
        system: pl.Scores(
            values, data.truth, data.test.left, data.test.right, left_identity=data.left, right_identity=data.right
        )
        for system, values in scores.items()
    }
    rates = {system: pl.equal_error_rate(each) for system, each in named.items()}
    errors = {
        system: difference_interval(named["machine"], each, pl.equal_error_rate, method="jackknife").standard_error
        for system, each in named.items()
        if system != "machine"
    }
    return {
        "eer": rates,
        "standard_error": errors,
        "skipped": skipped,
        "chosen": str(search.best_setting_),
        "validation_eer": search.record_["chosen"]["eer"],
        "beats_baselines_on_validation": search.beats_baselines_,
        "notes": search.record_["notes"],
        "seconds": used,
        "used": used / budget,
        "refitted": search.record_["refit"] is not None,
        "classes": data.n_classes,
        "test_classes": len(np.unique(np.concatenate([data.left, data.right]))),
    }


# --------------------------------------------------------------------------- all splits


def compared(name: str, rows: list[dict[str, Any]], *, judged: bool) -> list[Figure]:
    """Mean EERs, and the differences to the best baseline and to every rival with their intervals."""
    known = [system for system in rows[0]["eer"] if all(system in row["eer"] for row in rows)]
    means = {system: float(np.mean([row["eer"][system] for row in rows])) for system in known}
    rivals = [system for system in rows[0]["eer"] if system in NAMES]
    others = [system for system in known if system not in ("machine", *NAMES)]
    best = min(others, key=lambda system: means[system])
    print(f"\n{name}: mean EER of {len(rows)} splits")
    for system in sorted(known, key=lambda system: means[system]):
        print(f"  {system:<34} {100 * means[system]:6.2f} %")
    print("  chosen:", "; ".join(row["chosen"] for row in rows))
    used, (mean, low, high) = [row["used"] for row in rows], difference(name, rows, best)
    return [
        Figure(f"{name}: EER of the machine, %", 100 * means["machine"]),
        Figure(f"{name}: EER of the best baseline in hindsight ({best}), %", 100 * means[best]),
        Figure(f"{name}: mean difference, points", mean),
        Figure(f"{name}: lower limit of the difference (best or tied), points", low, "<= 0", judged=judged),
        Figure(f"{name}: {UPPER}", high),
        *[figure for rival in rivals for figure in against(name, rows[:1], rival, judged=judged)],
        Figure(f"{name}: least share of the budget that was used", min(used), ">= 0.85", judged=judged),
        Figure(f"{name}: largest share of the budget that was used", max(used), "<= 1.05", judged=judged),
    ]


UPPER = "upper limit (below 0: better than every baseline), points"


def difference(name: str, rows: list[dict[str, Any]], system: str) -> tuple[float, float, float]:
    """Mean difference of EERs, machine − system, and its limits over identities, in points."""
    mean = 100 * float(np.mean([row["eer"]["machine"] - row["eer"][system] for row in rows]))
    # LFW's folds share nobody; random splits of few classes do.
    worth = len(rows) if name.split(",")[0] in FOLDED else min(len(rows), rows[0]["classes"] / rows[0]["test_classes"])
    error = 100 * float(np.sqrt(np.mean([row["standard_error"][system] ** 2 for row in rows]) / worth))
    return mean, mean - 1.96 * error, mean + 1.96 * error


def against(name: str, rows: list[dict[str, Any]], rival: str, *, judged: bool) -> list[Figure]:
    """The EER of a rival on these splits, and the difference to it."""
    mean, low, high = difference(name, rows, rival)
    return [
        Figure(f"{name}: EER of {rival}, %", 100 * float(np.mean([row["eer"][rival] for row in rows]))),
        Figure(f"{name}: difference to {rival}, points", mean),
        Figure(f"{name}: lower limit of it (best or tied)", low, "<= 0", judged=judged),
        Figure(f"{name}: upper limit of it (below 0: better)", high),
    ]


def better(budget: int, figures: list[Figure]) -> list[Figure]:
    """On how many sets the machine is better than every baseline, beyond limits."""
    limits = [each.value for each in figures if each.name.endswith(f", {budget} s: {UPPER}")]
    words = f"{budget} s: sets of {len(limits)} on which it is better than every baseline, beyond limits"
    return [Figure(words, sum(limit < 0 for limit in limits), f">= {BETTER}", judged=len(limits) == len(SETS))]


def main() -> int:
    """Print all comparisons."""
    skip_without_data()
    rows = {
        f"{name}, {budget} s, {number}": partial(split, name, number, budget)
        for budget in budgets()
        for name in SETS
        for number in range(SPLITS[budget])
    }
    if "--quick" in sys.argv:
        rows = {name: rows[name] for name in list(rows) if name.startswith(("letter, 60 s, 0", "mnist, 60 s, 0"))}
    results, quick = run_rows(__file__, rows)
    figures = list[Figure]()
    for budget in SPLITS:
        for name in SETS:
            found = [result for key, result in results.items() if key.startswith(f"{name}, {budget} s,")]
            if found:
                judged = not quick and len(found) == SPLITS[budget]
                figures += compared(f"{name}, {budget} s", found, judged=judged)
        figures += better(budget, figures) if not quick else []
    return print_figures(figures)


def budgets() -> tuple[int, ...]:
    """Those to run: one that `--budget` names, else all."""
    if "--budget" not in sys.argv:
        return tuple(SPLITS)
    place = sys.argv.index("--budget")
    chosen = int(sys.argv[place + 1])
    if chosen not in tuple(SPLITS):
        raise InputError(f"--budget is one of {tuple(SPLITS)}, got {chosen}")
    del sys.argv[place : place + 2]
    return (chosen,)


if __name__ == "__main__":
    sys.exit(main())
