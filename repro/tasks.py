"""What the reproductions on synthetic tasks share: slices of one draw, training, rates in per cent, judged findings.

All classes of a task come from one draw and are sliced: training and test classes can be kept apart, and smaller
training sets lie in larger ones. Training uses all pairs, reflexive ones too, as in the papers. Tests use all pairs of
a test set; "EER" leaves the reflexive ones out, "EER_reflexive" counts them, for the papers do not always say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, Row, print_figures, timed

FMRS = (10.0, 1.0, 0.1)
"""In per cent: where FNMR is noted beside the EER."""
ROBUST = 0.25
"""A result is called robust if its standard deviation over test sets is at most this share of its mean."""

Results = dict[str, dict[str, Any]]
Machine = tuple[str, str]
"""(pair kernel, base kernel)."""


@dataclass(frozen=True)
class Sample:
    """Examples with their classes, the same number of examples for each class, side by side."""

    X: np.ndarray
    classes: np.ndarray
    epcr: int

    def part(self, classes: slice, examples: slice = slice(None)) -> Sample:
        """The chosen classes (in the order of the draw) with the chosen examples of each."""
        places = np.arange(len(self.X)).reshape(-1, self.epcr)[classes, examples]
        return Sample(self.X[places.ravel()], self.classes[places.ravel()], places.shape[1])

    @property
    def pairs(self) -> pl.Pairs:
        """All pairs, reflexive ones included."""
        return pl.all_pairs(self.X)


@dataclass(frozen=True)
class Design:
    """Who trains and who tests. Classes in the order of the draw: Test Set 1, interclass training, other test sets.

    Test sets and interclass training take the first `epcr` examples of a class, interexample training the others.
    """

    test_classes: int
    epcr: int
    epcrs: tuple[int, ...]
    class_counts: tuple[int, ...]
    test_sets: int

    def draw(self, generator: Callable[..., tuple[np.ndarray, np.ndarray]], n: int) -> Sample:
        """All classes of a task with this n, in one draw."""
        n_classes = self.test_sets * self.test_classes + max(self.class_counts)
        epcr = self.epcr + max(self.epcrs, default=0)
        return Sample(*generator(n_classes, epcr, n, seed=0), epcr)

    def test_set(self, sample: Sample, number: int) -> Sample:
        """Test Set 1, 2, …: no class in two of them."""
        first = 0 if number == 1 else max(self.class_counts) + (number - 1) * self.test_classes
        return sample.part(slice(first, first + self.test_classes), slice(self.epcr))

    def interexample_set(self, sample: Sample, epcr: int) -> Sample:
        """The classes of Test Set 1, other examples."""
        return sample.part(slice(self.test_classes), slice(self.epcr, self.epcr + epcr))

    def interclass_set(self, sample: Sample, n_classes: int) -> Sample:
        """Classes of no test set."""
        return sample.part(slice(self.test_classes, self.test_classes + n_classes), slice(self.epcr))


def name(machine: Machine) -> str:
    """As in the tables: pair kernel / base kernel."""
    return "/".join(machine)


def trained(
    machine: Machine, C: float, pairs: pl.Pairs, classes: np.ndarray, time_budget: float | None = None
) -> tuple[pl.PairSVC, dict[str, Any]]:
    """The machine on these pairs, and what a row tells about its training."""
    clf = pl.PairSVC(*machine, C=C, time_budget=time_budget, random_state=0)
    seconds, _ = timed(lambda: clf.fit(pairs, pairs.labels(classes)))
    found = {"pairs": len(pairs), "seconds": seconds, "status": clf.fit_status_, "gap": clf.kkt_gap_}
    return clf, {**found, "support": clf.n_support_}


def scored(scorer: Any, pairs: pl.Pairs, classes: np.ndarray) -> pl.Scores:
    """Values of the pairs beside the truth; the scores know which pairs are reflexive."""
    return pl.Scores(scorer.decision_function(pairs), pairs.labels(classes), pairs.left, pairs.right)


def rates(scores: pl.Scores) -> dict[str, float]:
    """EER without and with reflexive pairs, FNMR at `FMRS` without them; in per cent."""
    curve = pl.det_curve(scores)
    return {
        "EER": 100.0 * curve.equal_error_rate,
        "EER_reflexive": 100.0 * pl.equal_error_rate(scores, reflexive=True),
        **{f"FNMR_at_{fmr:g}": 100.0 * curve.fnmr_at(fmr / 100.0) for fmr in FMRS},
    }


def tested(scorer: Any, test: Sample) -> dict[str, float]:
    """Rates on all pairs of a test set."""
    return rates(scored(scorer, test.pairs, test.classes))


def pair_task(machine: Machine, C: float, sample: Sample, time_budget: float | None = None) -> dict[str, Any]:
    """75 % of all pairs of the sample train, the others test."""
    order = np.random.default_rng(0).permutation(len(sample.pairs))
    cut = round(0.75 * len(order))
    clf, training = trained(machine, C, sample.pairs[np.sort(order[:cut])], sample.classes, time_budget)
    return {**training, **rates(scored(clf, sample.pairs[np.sort(order[cut:])], sample.classes))}


def untrained(test: Sample) -> dict[str, float]:
    """EER of the untrained scores."""
    scorers = {"cosine": pl.CosineBaseline(), "Euclid": pl.EuclidBaseline()}
    return {name: tested(scorer, test)["EER"] for name, scorer in scorers.items()}


def row(measure: Callable[..., dict[str, Any]], *arguments: Any) -> Row:
    """A row whose sizes are among the arguments already."""
    return lambda quick: measure(*arguments)


# --------------------------------------------------------------------------- findings


def value(results: Results, row: str, key: str = "EER") -> float:
    """A number of a row, or NaN if the row has not been measured yet."""
    return float(results.get(row, {}).get(key, np.nan))


def unfinished(results: Results) -> float:
    """How many rows tell of a machine that did not converge."""
    return float(sum(found.get("status", "converged") != "converged" for found in results.values()))


def largest_rise(values: Iterable[float]) -> float:
    """The largest step upwards between neighbours: not above 0 when a sequence falls."""
    return float(np.max(np.diff(np.array(list(values)))))


def spread(values: Iterable[float]) -> float:
    """Largest minus smallest."""
    return float(np.ptp(np.array(list(values))))


def variation(values: Iterable[float]) -> float:
    """Standard deviation as a share of the mean."""
    array = np.array(list(values))
    return float(array.std(ddof=1) / array.mean())


def lead(best: Iterable[float], others: Iterable[float]) -> float:
    """How far the worst of `best` lies above the best of the others: below 0 when the former are the best."""
    return float(np.max(np.array(list(best))) - np.min(np.array(list(others))))


def print_known(figures: Iterable[Figure]) -> int:
    """Print the figures whose rows have been measured; returns the exit code."""
    figures = list(figures)
    known = [figure for figure in figures if not np.isnan(figure.value)]
    if len(known) < len(figures):
        print(f"{len(figures) - len(known)} figures wait for rows that have not been measured")
    if not known:
        print("[]")
        return 0
    return print_figures(known)
