"""How good matches are: precision, recall and F1 with limits over records, beside rivals; what a cutoff costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.intervals import Interval, difference_interval, interval, paired_difference
from pairlearn.evaluation.measures import PERCENT, Measure
from pairlearn.evaluation.resampling.units import Units
from pairlearn.evaluation.scores import Scores
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.machine import best_f1
from pairlearn.records.table import RecordPairs
from pairlearn.types import Bools, Floats, Ints

MANY, LEVEL = 20, 0.95
CUTOFFS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class RatioAt(Measure):
    """A ratio of counts at a fixed threshold: Σ over / Σ under, each a sum over pairs."""

    threshold: float
    unit = PERCENT
    larger_is_better = True
    kinds: ClassVar[tuple[tuple[int, ...], ...]] = ((1,),)

    def parts(self, scores: Scores) -> tuple[Floats, Floats]:
        """What every pair adds above and below the line, (n,) each."""
        raise NotImplementedError

    def judged(self, scores: Scores) -> Bools:
        """The pairs without which there is no ratio: the matches, of precision what is accepted; (n,)."""
        return np.asarray(scores.labels > 0)

    def needed(self, scores: Scores) -> Floats:
        """One kind, the pairs that are judged: as many as that can show what chance does, not all labelled ones."""
        chosen = self.judged(scores)
        if not chosen.any():
            raise InputError(f"no pair counts for the {self.name}; label more matches, or lower the threshold")
        return chosen[None, :].astype(np.float64)

    def value(self, scores: Scores) -> float:
        """The ratio; 0 where nothing is counted."""
        over, under = self.parts(scores)
        return float(over.sum() / max(under.sum(), 1e-12))

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """(over − ratio·under)/Σ under of every pair."""
        over, under = self.parts(scores)
        return (over - self.value(scores) * under) / max(under.sum(), 1e-12)

    def weighted(self, scores: Scores) -> Callable[[Floats], float]:
        """Two products with the weights."""
        over, under = self.parts(scores)
        return lambda weights: float(over @ weights) / max(float(under @ weights), 1e-12)


@dataclass(frozen=True)
class PrecisionAt(RatioAt):
    """The share of matches among the pairs with value ≥ threshold.

    >>> PrecisionAt(0.5)(Scores([0.1, 0.6, 0.7, 0.9], [1, -1, 1, 1])).__round__(3)
    0.667
    """

    key, kinds = "precision", ((-1, 1),)

    @property
    def name(self) -> str:
        """With the threshold."""
        return f"precision at {self.threshold:g}"

    def parts(self, scores: Scores) -> tuple[Floats, Floats]:
        """Accepted matches, accepted pairs."""
        accepted = (scores.values >= self.threshold).astype(np.float64)
        return accepted * (scores.labels > 0), accepted

    def judged(self, scores: Scores) -> Bools:
        """The accepted pairs."""
        return np.asarray(scores.values >= self.threshold)


@dataclass(frozen=True)
class RecallAt(RatioAt):
    """The share of the matches that have value ≥ threshold.

    >>> RecallAt(0.5)(Scores([0.1, 0.6, 0.7, 0.9], [1, -1, 1, 1])).__round__(3)
    0.667
    """

    key = "recall"

    @property
    def name(self) -> str:
        """With the threshold."""
        return f"recall at {self.threshold:g}"

    def parts(self, scores: Scores) -> tuple[Floats, Floats]:
        """Accepted matches, all matches."""
        match = (scores.labels > 0).astype(np.float64)
        return match * (scores.values >= self.threshold), match


@dataclass(frozen=True)
class F1At(RatioAt):
    """2·hits/(accepted + matches): the harmonic mean of precision and recall at a fixed threshold.

    >>> F1At(0.5)(Scores([0.1, 0.6, 0.7, 0.9], [1, -1, 1, 1])).__round__(3)
    0.667
    """

    key = "f1"

    @property
    def name(self) -> str:
        """With the threshold."""
        return f"F1 at {self.threshold:g}"

    def parts(self, scores: Scores) -> tuple[Floats, Floats]:
        """Twice the accepted matches; accepted pairs and matches."""
        accepted, match = (scores.values >= self.threshold).astype(np.float64), (scores.labels > 0).astype(np.float64)
        return 2.0 * accepted * match, accepted + match


def scores_of(pairs: RecordPairs, values: Any, labels: Any) -> Scores:
    """Scores that know which records are in a pair, for limits over records (unit="example")."""
    left, right = pairs.names
    return Scores(values, labels, left, right)


def limits(scores: Scores, measure: Measure) -> Interval:
    """95 % limits over records; open, and over no units, where one record takes part in all pairs that count."""
    try:
        return interval(scores, measure, level=LEVEL, unit="example")
    except InputError:  # what was learnt is not lost for want of limits
        unknown = float("nan")
        return Interval(measure.value(scores), *measure.bounds, LEVEL, unknown, unknown, "none", "example", 0)


# --------------------------------------------------------------------------- beside rivals


class Judged(NamedTuple):
    """F1 of a method on labelled pairs, with limits over records and the threshold."""

    name: str
    f1: Interval
    threshold: float


class Verdict(NamedTuple):
    """Better, tied or worse than the best rival by F1, with limits of the difference, in words."""

    outcome: str
    words: str


def judge(pairs: RecordPairs, labels: Ints, systems: Mapping[str, Floats]) -> list[Judged]:
    """F1 of several scores, each at its best threshold on these pairs: held-out scores, so that it flatters little."""
    found = []
    for name, values in systems.items():
        threshold = best_f1(values, labels)[1]
        found.append(Judged(name, limits(scores_of(pairs, values, labels), F1At(threshold)), threshold))
    return found


def verdict(pairs: RecordPairs, labels: Ints, judged: Sequence[Judged], systems: Mapping[str, Floats]) -> Verdict:
    """The first system against the best of the others."""
    model, *rivals = judged
    best = max(rivals, key=lambda one: one.f1.estimate)
    one, other = (
        scores_of(pairs, np.where(systems[each.name] >= each.threshold, 1.0, -1.0), labels) for each in (model, best)
    )
    try:
        difference = difference_interval(one, other, F1At(0.0), level=LEVEL, unit="example")
    except InputError:
        difference = paired_difference(None, one, other, F1At(0.0), LEVEL)
    outcome = "better" if difference.low > 0 else "worse" if difference.high < 0 else "tied"
    words = {"better": "better than", "worse": "worse than", "tied": "not told apart from"}[outcome]
    sure = f" [{difference.low:+.3f}, {difference.high:+.3f}]" if difference.n_units else ", too few pairs for limits"
    return Verdict(
        outcome,
        f"F1 {model.f1.estimate:.3f} is {words} {best.name} with {best.f1.estimate:.3f}: difference "
        f"{difference.estimate:+.3f}{sure}",
    )


def boosted_trees(features: Floats, labels: Ints, folds: Ints, seed: int) -> Floats:
    """Held-out scores of scikit-learn's boosted trees on the same features: the usual rival."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    scores = np.zeros(len(labels))
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        trees = HistGradientBoostingClassifier(max_iter=100, random_state=seed, early_stopping=False)
        scores[test] = trees.fit(features[train], labels[train]).decision_function(features[test])
    return scores


def answers_among(comparer: Comparer, features: Floats, labels: Ints) -> list[str]:
    """Columns that are equal in all matches and in no other pair, of at least `MANY` each: they may hold the answer."""
    if min((labels > 0).sum(), (labels < 0).sum()) < MANY:
        return []
    told = {name: features[:, place] > 0 for place, name in enumerate(comparer.feature_names)}
    columns = [column.name for column in comparer.columns]
    return [name for name in columns if np.array_equal(told.get(f"{name}: equal", labels < 0), labels > 0)]


# --------------------------------------------------------------------------- cutoffs


class Cutoff(NamedTuple):
    """What a cutoff of the probability costs among candidates, by the model's own probabilities, and, where labels
    tell, precision and recall with limits."""

    probability: float
    matches: int
    expected_wrong: float
    expected_missed: float
    doubtful: int
    precision: Interval | None
    recall: Interval | None


def cutoffs(probabilities: Floats, labelled: Scores | None) -> list[Cutoff]:
    """A line for every cutoff; doubtful are pairs with a probability between 0.1 below and 0.1 above it."""
    found = []
    for cut in CUTOFFS:
        taken = probabilities >= cut
        doubtful = np.abs(probabilities - cut) <= 0.1
        sure: list[Interval | None] = [None, None]
        if labelled is not None:
            both = [limits(labelled, measure(cut)) for measure in (PrecisionAt, RecallAt)]
            # Where nothing is taken there is nothing to be right or wrong about, and of one pair alone little to say.
            sure = [each if each.n_units else None for each in both]
        wrong, missed = float((1.0 - probabilities[taken]).sum()), float(probabilities[~taken].sum())
        found.append(Cutoff(cut, int(taken.sum()), wrong, missed, int(doubtful.sum()), *sure))
    return found
