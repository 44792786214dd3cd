"""Classification from dissimilarities that no Euclidean space has: does a basis expansion match the corrected kernels?

Needs PAIRLEARN_DATA. Five small sets (globins, graphs of images, three sets of time series under warping), given by
dissimilarities d. BasisSVC with all training examples as bases stands beside SVMs on the similarity matrix with its
spectrum clipped, flipped, shifted or squared (new rows treated alike; mean self-similarity scaled to 1), and beside the
nearest neighbour on d. Similarities: exp(−d² / σ²) with σ² in multiples of the median d², and −d²/2 doubly centred.
Which one, and C, is chosen by three folds inside the training part, from the same grid for all machines.

"official" is the split that came with the data, with the standard error of the paired difference over test examples;
"repeated" are 20 stratified halves (of the official training part for the graphs, whose test examples were not compared
with each other), with a t interval whose variance is that of Nadeau and Bengio for overlapping training parts, and
wins, draws, losses. The goal is that BasisSVC is best or tied: the upper limit of its difference to the best other
(best by the same test results, which favours it) is not below 0. The sets are small and "tied" is a weak word.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import spearmanr, t
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC

from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.kernels import spectrum_report, treat_spectrum
from pairlearn.similarities.basis_svc import BasisSVC

SETS = ("protein213", "coilyork", "gunpoint", "arrowhead", "osuleaf")
WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
BOXES = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
REPEATS = 20


@dataclass(frozen=True)
class Task:
    """Dissimilarities of training examples to each other and of test examples to them, with the classes."""

    D: np.ndarray
    y: np.ndarray
    D_test: np.ndarray
    y_test: np.ndarray

    def part(self, train: np.ndarray, test: np.ndarray) -> Task:
        """A split inside the training part."""
        return Task(self.D[np.ix_(train, train)], self.y[train], self.D[np.ix_(test, train)], self.y[test])


# --------------------------------------------------------------------------- data


def read(name: str) -> tuple[np.ndarray, np.ndarray, Task | None]:
    """(square dissimilarities, classes, the official task if there is one)."""
    data = np.load(data_folder() / "pairwise_proximity" / "pairwise_proximity.npz", allow_pickle=False)
    if name == "protein213":
        return data["protein213_D"].astype(float), data["protein213_y"], None
    if name == "coilyork":
        D, y = data["coilyork_train_D"].astype(float), data["coilyork_train_y"].ravel()
        return D, y, Task(D, y, data["coilyork_test_D"].astype(float), data["coilyork_test_y"].ravel())
    D, y, test = data[f"{name}_dtw"].astype(float), data[f"{name}_y"], data[f"{name}_is_test"].astype(bool)
    whole = Task(D, y, D, y)
    return D, y, whole.part(np.nonzero(~test)[0], np.nonzero(test)[0])


def halves(D: np.ndarray, y: np.ndarray, repeats: int) -> Iterator[Task]:
    """Stratified halves."""
    splitter = StratifiedShuffleSplit(repeats, test_size=0.5, random_state=0)
    for train, test in splitter.split(np.zeros(len(y)), y):
        yield Task(D, y, D, y).part(train, test)


# --------------------------------------------------------------------------- similarities

Similar = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def gaussian(width: float, D: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(−d² / σ²), σ² = width · median d² of the training part."""
    sigma = width * float(np.median(D[~np.eye(len(D), dtype=bool)] ** 2))
    return np.exp(-(D**2) / sigma), np.exp(-(rows**2) / sigma)


def centred(D: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−d²/2, rows and columns centred with the means of the training part."""
    S, T = -0.5 * D**2, -0.5 * rows**2
    columns, overall = S.mean(axis=0), S.mean()
    return (
        S - S.mean(axis=1, keepdims=True) - columns + overall,
        T - T.mean(axis=1, keepdims=True) - columns + overall,
    )


SIMILARITIES: list[Similar] = [*(partial(gaussian, width) for width in WIDTHS), centred]

# --------------------------------------------------------------------------- machines

Classify = Callable[[float], np.ndarray]


def expanded(S: np.ndarray, y: np.ndarray, rows: np.ndarray) -> Classify:
    """BasisSVC: C → predicted classes."""
    return lambda C: BasisSVC("precomputed", C=C).fit(S, y).predict(rows)


def corrected(treatment: Any, S: np.ndarray, y: np.ndarray, rows: np.ndarray) -> Classify:
    """SVC on the treated matrix: C → predicted classes."""
    treated = treat_spectrum(0.5 * (S + S.T), treatment)
    scale = float(np.trace(treated.matrix)) / len(S)
    K, new = treated.matrix / scale, rows @ treated.transform / scale
    return lambda C: SVC(C=C, kernel="precomputed").fit(K, y).predict(new)


MACHINES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Classify]] = {
    "BasisSVC": expanded,
    **{treatment: partial(corrected, treatment) for treatment in ("clip", "flip", "shift", "square")},
}


def hits(task: Task, build: Any, similar: Similar, boxes: tuple[float, ...]) -> np.ndarray:
    """Whether each test example is classified rightly, for each C: (len(boxes), test examples)."""
    S, rows = similar(task.D, task.D_test)
    classify = build(S, task.y, rows)
    return np.array([classify(C) == task.y_test for C in boxes])


def chosen(task: Task, build: Any, options: list[Similar], boxes: tuple[float, ...]) -> tuple[Similar, float]:
    """Similarity and C with the best accuracy over three folds of the training part."""
    folds = [
        task.part(*split)
        for split in StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(task.y)), task.y)
    ]
    found = [np.concatenate([hits(fold, build, one, boxes) for fold in folds], axis=1).mean(axis=1) for one in options]
    best = int(np.argmax(np.concatenate(found)))
    return list(product(options, boxes))[best]


def all_hits(task: Task, quick: bool) -> dict[str, np.ndarray]:
    """Rightly classified test examples of every machine and of the nearest neighbour."""
    options = [SIMILARITIES[3], SIMILARITIES[-1]] if quick else SIMILARITIES
    boxes = BOXES[2:4] if quick else BOXES
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, build in MACHINES.items():
            similar, C = chosen(task, build, options, boxes)
            found[name] = hits(task, build, similar, (C,))[0]
    found["1-NN"] = task.y[task.D_test.argmin(axis=1)] == task.y_test
    return found


# --------------------------------------------------------------------------- rows


def official(name: str, quick: bool) -> dict[str, Any]:
    """Accuracies on the official split."""
    task = read(name)[2]
    assert task is not None
    found = all_hits(task, quick)
    means = {machine: float(hit.mean()) for machine, hit in found.items()}
    rival = best_rival(means)
    gain = found["BasisSVC"].astype(float) - found[rival]
    half = 1.96 * float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return {"accuracy": means, "rival": rival, "gain": limits(float(gain.mean()), half)}


def repeated(name: str, quick: bool) -> dict[str, Any]:
    """Mean accuracies over stratified halves, and how indefinite the similarity is."""
    D, y, _ = read(name)
    runs = [
        {machine: float(hit.mean()) for machine, hit in all_hits(task, quick).items()}
        for task in halves(D, y, 2 if quick else REPEATS)
    ]
    means = {machine: float(np.mean([run[machine] for run in runs])) for machine in runs[0]}
    rival = best_rival(means)
    spread = {machine: half_width(np.array([run[machine] for run in runs])) for machine in means}
    gains = {other: [run["BasisSVC"] - run[other] for run in runs] for other in means if other != "BasisSVC"}
    S = gaussian(1.0, D, D)[0]
    shape, plain = spectrum_report(0.5 * (S + S.T)), centred(D, D)[0]
    euclid = spectrum_report(0.5 * (plain + plain.T))
    return {
        "accuracy": means,
        "half width": spread,
        "rival": rival,
        "wins, draws, losses": [int(np.sum(np.sign(gains[rival]) == sign)) for sign in (1, 0, -1)],
        "gain": limits(means["BasisSVC"] - means[rival], half_width(np.array(gains[rival]))),
        "gain over clip": limits(means["BasisSVC"] - means["clip"], half_width(np.array(gains["clip"]))),
        "NgRat": shape.negative_ratio,
        "NgEng": shape.negative_energy,
        "NgEng of -d²/2": euclid.negative_energy,
    }


def best_rival(means: dict[str, float]) -> str:
    """The best of the other machines."""
    return max((name for name in means if name != "BasisSVC"), key=means.__getitem__)


def half_width(values: np.ndarray) -> float:
    """Half of a 95 % t interval; (1/J + test/train) instead of 1/J since halves overlap."""
    return float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) * np.sqrt(1.0 / len(values) + 1.0))


def limits(middle: float, half: float) -> list[float]:
    """[estimate, lower, upper]."""
    return [middle, middle - half, middle + half]


# --------------------------------------------------------------------------- figures


def verdict(found: dict[str, Any]) -> str:
    """Whether BasisSVC is best, tied or worse, in words."""
    middle, low, high = (100 * value for value in found["gain"])
    word = "best" if low > 0 else "tied" if high >= 0 else "WORSE"
    record = "–".join(str(count) for count in found.get("wins, draws, losses", []))
    return f"{word}: {middle:+.1f} points [{low:+.1f}, {high:+.1f}] against {found['rival']} {record}".rstrip()


def table_line(row: str, found: dict[str, Any]) -> str:
    """Accuracies in per cent (± half of the interval), the verdict and the spectrum."""
    halves = found.get("half width", {})
    cells = [
        f"{100 * value:5.1f}" + (f" ± {100 * halves[name]:4.1f}" if halves else "       ")
        for name, value in found["accuracy"].items()
    ]
    spectrum = f"  NgRat {found['NgRat']:.2f}, NgEng {found['NgEng']:.3f}" if "NgRat" in found else ""
    return f"{row:<20} " + "  ".join(cells) + f"  {verdict(found)}{spectrum}"


def figures_of(row: str, found: dict[str, Any], quick: bool) -> Iterator[Figure]:
    """Accuracies in per cent, the difference to the best other machine, and the spectrum."""
    for machine, accuracy in found["accuracy"].items():
        yield Figure(f"{row}: {machine}, accuracy %", 100 * accuracy)
    middle, low, high = (100 * value for value in found["gain"])
    yield Figure(f"{row}: BasisSVC − best other, points", middle)
    yield Figure(f"{row}: its lower limit", low)
    yield Figure(f"{row}: its upper limit", high, ">= 0", judged=not quick)
    for name in ("NgRat", "NgEng", "NgEng of -d²/2"):
        if name in found:
            yield Figure(f"{row}: {name}", found[name])


def main() -> int:
    """Print every set with its verdict, then whether indefiniteness and gain go together."""
    skip_without_data()
    rows: dict[str, Any] = {}
    for name in SETS:
        if name != "protein213":
            rows[f"{name}, official"] = lambda quick, name=name: official(name, quick)
        rows[f"{name}, repeated"] = lambda quick, name=name: repeated(name, quick)
    results, quick = run_rows(__file__, rows)
    print(f"\n{'accuracy, %':<20} " + "  ".join(f"{name:<12}" for name in (*MACHINES, "1-NN")))
    for row, found in results.items():
        print(table_line(row, found))
    figures = [figure for row, found in results.items() for figure in figures_of(row, found, quick)]
    halved = [found for found in results.values() if "NgEng" in found]
    if len(halved) > 2:
        rank = spearmanr([one["NgEng"] for one in halved], [one["gain over clip"][0] for one in halved])[0]
        figures.append(Figure(f"Spearman of NgEng and gain over clip, {len(halved)} sets", float(rank)))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
