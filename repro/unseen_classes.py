"""Pairs of unseen classes, real data: a machine chosen by staged selection beside every baseline.

Needs PAIRLEARN_DATA. Olivetti faces (32 × 32 means of the 64 × 64 crops; 25 persons train, 15 test), MNIST (100 images
of each digit; 7 digits train, 3 test), letter and isolet of the UCI bundle (40 examples of each letter; 18 letters
train, 8 test), CIFAR-10 (16 × 16 means in colour, 100 images of each class; 7 classes train, 3 test), double intervals
of n = 500 (50 classes × 10 train, 50 others test), all in five random splits of the classes, and LFW View 2 with dlib
embeddings and with grey crops (31 × 23 means; its ten folds; at most 4 images of each person of the other nine train).
Per split `StagedSearch` sees the training classes only, keeps a fifth of them for its own final test, chooses on others
held out among the rest, and gets 60 s and, in rows of their own, 300 s (`--budget 60` for one of them); the baselines
learn from the same pairs as the chosen machine, which is fitted on all training classes in the end.

Seconds used are those of all of `fit`: baselines, cross-fitting, trials, final fit, final test, refit.

The machine is compared with the baseline that is best in the mean over all splits, known only in hindsight. `tied`
means that a 95 % interval of the mean difference of EERs contains 0: standard errors come from a jackknife over
identities in each split, and the mean counts as that of as many independent splits as fit into the classes (five
splits of 15 of 40 persons are worth 40 / 15). With 3 test digits that interval is very wide: MNIST proves little.

The families of machines that selection tries (cross-fitted scores of baselines beside a pair kernel) were found on
other splits of the same data: the seeds here are new, the data sets are not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data, timed
from pairlearn.errors import InputError
from pairlearn.evaluation.intervals import difference_interval

BUDGETS = (60, 300)
"""Seconds."""
SPLITS = 5
FIRST_SEED = 100
SIZES = {"olivetti": (25, 10), "mnist": (7, 100), "letter": (18, 40), "isolet": (18, 40), "cifar": (7, 100)}
"""Training classes, examples per class."""
FOLDED = ("lfw", "crops")
"""Data with ten folds of its own."""
IMAGES = 4
"""Of each person in LFW's training sets."""


@dataclass(frozen=True)
class Task:
    """Training examples, and test pairs of other classes with the identities of both sides."""

    X: np.ndarray
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
        crops = np.load(folder / "lfw" / "lfw_crops_62x47.npz")["X"][:, :, :46].astype(float)
        small = crops.reshape(len(crops), 31, 2, 23, 2).mean(axis=(2, 4))
        return small.reshape(len(crops), -1) / 255.0, np.load(folder / "lfw" / "lfw_protocol.npz")["person"].astype(int)
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


def task(name: str, split: int) -> Task:
    """One split; for LFW one fold of View 2."""
    rng = np.random.default_rng(FIRST_SEED + split)
    if name in FOLDED:
        return fold_of_lfw(*read(name), split, rng)
    if name == "double":
        (X, y), (n_train, most) = pl.data.double_interval(100, 10, n=500, seed=FIRST_SEED + split), (50, 10)
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
    return Task(X[train], y[train], pl.Pairs(X[used], a, b), y[left], y[right], len(np.unique(y[used])))


def split(name: str, number: int, seconds: float, quick: bool) -> dict[str, Any]:
    """EERs of one split, and the differences to each baseline with standard errors over identities."""
    data, budget = task(name, number), 10.0 if quick else float(seconds)
    search = pl.StagedSearch(time_budget=budget, test_share=0.2, random_state=number)
    used, _ = timed(lambda: search.fit(data.X, data.classes))
    scores, skipped = search.score_by_baselines(data.test)
    scores["machine"] = search.decision_function(data.test)
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


def compared(name: str, rows: list[dict[str, Any]], *, judged: bool) -> list[Figure]:
    """Mean EERs, and the difference to the best baseline with its interval."""
    known = [system for system in rows[0]["eer"] if all(system in row["eer"] for row in rows)]
    means = {system: float(np.mean([row["eer"][system] for row in rows])) for system in known}
    best = min((system for system in known if system != "machine"), key=lambda system: means[system])
    differences = np.array([row["eer"]["machine"] - row["eer"][best] for row in rows])
    # LFW's folds share nobody; random splits of few classes do.
    worth = len(rows) if name.split(",")[0] in FOLDED else min(len(rows), rows[0]["classes"] / rows[0]["test_classes"])
    error = float(np.sqrt(np.mean([row["standard_error"][best] ** 2 for row in rows]) / worth))
    mean = float(differences.mean())
    print(f"\n{name}: mean EER of {len(rows)} splits")
    for system in sorted(known, key=lambda system: means[system]):
        print(f"  {system:<22} {100 * means[system]:6.2f} %")
    print("  chosen:", "; ".join(row["chosen"] for row in rows))
    used = [row["used"] for row in rows]
    return [
        Figure(f"{name}: EER of the machine, %", 100 * means["machine"]),
        Figure(f"{name}: EER of the best baseline in hindsight ({best}), %", 100 * means[best]),
        Figure(f"{name}: mean difference, points", 100 * mean),
        Figure(f"{name}: standard error of it over identities, points", 100 * error),
        Figure(f"{name}: lower limit of the difference (best or tied), points", 100 * (mean - 1.96 * error), "<= 0",
               judged=judged),
        Figure(f"{name}: upper limit (below 0: better than every baseline), points", 100 * (mean + 1.96 * error)),
        Figure(f"{name}: least share of the budget that was used", min(used), ">= 0.85", judged=judged),
        Figure(f"{name}: largest share of the budget that was used", max(used), "<= 1.05", judged=judged),
    ]  # fmt: skip


def main() -> int:
    """Print all comparisons."""
    skip_without_data()
    counts = dict.fromkeys((*SIZES, "double"), SPLITS) | dict.fromkeys(FOLDED, 10)
    rows = {
        f"{name}, {budget} s, {number}": partial(split, name, number, budget)
        for budget in budgets()
        for name, count in counts.items()
        for number in range(count)
    }
    if "--quick" in sys.argv:
        rows = {name: rows[name] for name in list(rows) if name.startswith(("letter, 60 s, 0", "mnist, 60 s, 0"))}
    results, quick = run_rows(__file__, rows)
    figures = []
    for name, budget in product(counts, BUDGETS):
        known = [result for key, result in results.items() if key.startswith(f"{name}, {budget} s,")]
        if known:
            figures += compared(f"{name}, {budget} s", known, judged=not quick and len(known) == counts[name])
    return print_figures(figures)


def budgets() -> tuple[int, ...]:
    """Those to run: one that `--budget` names, else all."""
    if "--budget" not in sys.argv:
        return BUDGETS
    place = sys.argv.index("--budget")
    chosen = int(sys.argv[place + 1])
    if chosen not in BUDGETS:
        raise InputError(f"--budget is one of {BUDGETS}, got {chosen}")
    del sys.argv[place : place + 2]
    return (chosen,)


if __name__ == "__main__":
    sys.exit(main())
