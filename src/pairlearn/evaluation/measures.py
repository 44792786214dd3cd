"""Measures as values: `EER()`, `FnmrAtFmr(0.01)`, … each knows its value, its influence, its name and its unit.

Everything that shows or compares numbers of scores asks a measure, never its type: `interval` takes its influence and
bounds, scikit-learn its `scorer()`, and the record, the page, CSV, Markdown and the terminal loop over `MEASURES`. So
a new measure is one class here and one line in that list. Plain functions of scores, such as `equal_error_rate`, are
taken wherever a measure is (`as_measure`), and a measure is a function of scores: `EER()(scores)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.calibration import cllr, min_cllr
from pairlearn.evaluation.rates import (
    DetCurve,
    accuracy_at,
    area_under_roc,
    check_fmr,
    d_prime,
    det_curve,
    equal_error_rate,
    fnmr_at_fmr,
    rates_at,
)
from pairlearn.evaluation.resampling.influence import (
    WeightedCurve,
    det_slope,
    deviations,
    influences,
    placements,
    repeated,
    separations,
)
from pairlearn.evaluation.resampling.units import Units
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Floats

Rate = Callable[[Scores], float]
"""Any number that scores have: a measure, or a function such as `equal_error_rate`."""

HOW_TO_SCORE = "pass scoring=pl.evaluation.EER().scorer() or that of another measure"
"""What to do when a measure stands where scikit-learn expects a scorer."""
PERCENT, BITS, PLAIN = "percent", "bits", "plain"
"""Units, which decide how a number is written: 0.05 as 5 %, others as they are."""


class Measure(ABC):
    """A number that scores have, with all that is to be known about it; measures are frozen and equal by value.

    key: its name in records and tables, such as "eer". bounds: its least and largest possible value; a measure between
    0 and 1 has limits on the logit scale, others on the plain scale. kinds: the labels that it averages over, each
    kind by itself: both labels apart for most, negatives only for FMR. explanation, caution: half a sentence under a
    table, and one beside the number.
    """

    key: ClassVar[str]
    unit: ClassVar[str] = PLAIN
    larger_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    kinds: ClassVar[tuple[tuple[int, ...], ...]] = ((-1,), (1,))
    explanation: ClassVar[str] = ""
    caution: ClassVar[str] = ""

    def __new__(cls, *given: Any, **options: Any) -> Self:
        """A class, given to scikit-learn as `scoring=`, is called with a model: say what to give instead."""
        if given and hasattr(given[0], "decision_function"):
            raise InputError(f"{cls.__name__} is a class of measures, not a scorer; {HOW_TO_SCORE}")
        return super().__new__(cls)

    @property
    @abstractmethod
    def name(self) -> str:
        """What people call it, with its parameter: "FNMR at FMR 1 %"."""

    @property
    def heading(self) -> str:
        """The name at the head of a column, perhaps on two lines."""
        return self.name

    @abstractmethod
    def value(self, scores: Scores) -> float:
        """The number; reflexive pairs are left out. Refuses scores that have none, with advice."""

    def influence(self, scores: Scores, units: Units | None = None) -> Floats | None:
        """What each pair adds to the deviation of the value, (n_pairs,); None if that is not known, then resample.

        For scores without reflexive pairs. units: whose draws move a threshold that is found on the same pairs, each
        pair for itself unless given.
        """
        return None

    def weighted(self, scores: Scores) -> Callable[[Floats], float]:
        """The value when pair k counts weights[k] times, as a function of the weights (n_pairs,), whole numbers."""
        return lambda weights: self.value(repeated(scores, weights))

    def needed(self, scores: Scores) -> Floats:
        """The kinds of pairs without which there is no value, as rows of zeros and ones, (n_kinds, n_pairs)."""
        rows = [np.isin(scores.labels, kind) for kind in self.kinds]
        return np.array([row for row in rows if row.any()], dtype=np.float64)

    def scorer(self) -> Scorer:
        """The measure as `scoring=` of scikit-learn: larger is always better there."""
        return Scorer(self)

    def __call__(self, scores: Scores, *others: Any) -> float:
        if others:
            raise InputError(f"{self.name} is a measure of scores, not a scorer of models; {HOW_TO_SCORE}")
        return self.value(scores)


@dataclass(frozen=True)
class Scorer:
    """A measure of what a fitted model says of pairs, with the sign that makes larger better.

    >>> import pairlearn as pl
    >>> from sklearn.model_selection import cross_val_score
    >>> X, classes = pl.data.double_interval(10, 4, n=30, seed=0)
    >>> pairs = pl.all_pairs(X)
    >>> folds = pl.selection.ClassKFold(classes, n_splits=2)
    >>> machine, scoring = pl.PairSVC("tensor", "poly"), pl.evaluation.EER().scorer()
    >>> len(cross_val_score(machine, pairs, pairs.labels(classes), cv=folds, scoring=scoring))
    2
    """

    measure: Measure

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        value = self.measure.value(Scores.of(model, X, y))
        return value if self.measure.larger_is_better else -value


# --------------------------------------------------------------------------- measures of the DET curve


class CurveMeasure(Measure):
    """A measure that the DET curve has: for changing weights, the curve is sorted only once."""

    @abstractmethod
    def of_curve(self, curve: DetCurve) -> float:
        """The number that a curve has."""

    def value(self, scores: Scores) -> float:
        """The number that the curve of the scores has."""
        return self.of_curve(det_curve(scores))

    def weighted(self, scores: Scores) -> Callable[[Floats], float]:
        """O(n_pairs) for each choice of weights."""
        curve = WeightedCurve.of(scores)
        return lambda weights: self.of_curve(curve(weights))


@dataclass(frozen=True)
class EER(CurveMeasure):
    """The equal error rate: where the polyline through the DET points crosses FMR = FNMR.

    >>> EER().value(Scores([0.1, 0.4, 0.6, 0.8], [-1, 1, -1, 1]))
    0.5
    """

    key, name, unit = "eer", "EER", PERCENT

    def of_curve(self, curve: DetCurve) -> float:
        """Where FMR = FNMR."""
        return curve.equal_error_rate

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """(m·ψ_FMR + ψ_FNMR)/(1 + m) with the slope m = −dFNMR/dFMR there: both rates move until they meet again."""
        curve = det_curve(scores)
        fmr, fnmr = influences(scores, curve.thresholds[np.argmax(curve.fmr <= curve.fnmr)])
        slope = det_slope(curve, curve.equal_error_rate, _by_unit(fmr - fnmr, units))
        return (slope * fmr + fnmr) / (1 + slope)


@dataclass(frozen=True)
class AUC(CurveMeasure):
    """The area under the ROC curve: P(p > n) + ½·P(p = n) for a positive value p and a negative value n.

    >>> AUC().value(Scores([0.1, 0.4, 0.4, 0.8], [-1, -1, 1, 1]))
    0.875
    """

    key, name, larger_is_better = "auc", "AUC", True

    def of_curve(self, curve: DetCurve) -> float:
        """The area below (FMR, 1 − FNMR)."""
        return curve.area_under_roc

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """The share of the other label that a pair wins against, centred (DeLong)."""
        return placements(scores)


@dataclass(frozen=True)
class FnmrAtFmr(CurveMeasure):
    """The smallest FNMR that a threshold reaches with FMR at most `fmr`: min {FNMR(b) : FMR(b) ≤ fmr}.

    >>> FnmrAtFmr(0.01).value(Scores([0.1, 0.7, 0.6, 0.8], [-1, -1, 1, 1])), FnmrAtFmr(0.01).name
    (0.5, 'FNMR at FMR 1 %')
    """

    fmr: float
    key, unit = "fnmr", PERCENT

    def __post_init__(self) -> None:
        check_fmr(self.fmr)

    @property
    def name(self) -> str:
        """With the FMR in per cent."""
        return f"FNMR at FMR {100 * self.fmr:g} %"

    @property
    def heading(self) -> str:
        """On two lines."""
        return self.name.replace(" at ", " at\n")

    def of_curve(self, curve: DetCurve) -> float:
        """FNMR at the first threshold that is strict enough."""
        return curve.fnmr_at(self.fmr)

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """m·ψ_FMR + ψ_FNMR with the slope m = −dFNMR/dFMR: the threshold follows FMR, and FNMR the threshold."""
        curve = det_curve(scores)
        fmr, fnmr = influences(scores, curve.thresholds[np.argmax(curve.fmr <= self.fmr)])
        return det_slope(curve, self.fmr, _by_unit(fmr, units)) * fmr + fnmr


def _by_unit(influence: Floats, units: Units | None) -> Floats:
    return influence if units is None else units.sums(influence)


# --------------------------------------------------------------------------- measures at a threshold


@dataclass(frozen=True)
class ShareAt(Measure):
    """The share of pairs of one kind with a property at a fixed threshold: a mean, so that all is exact."""

    threshold: float
    unit = PERCENT

    @abstractmethod
    def counted(self, scores: Scores) -> Floats:
        """Which pairs are counted, as zeros and ones (n_pairs,); only those of `kinds` matter."""

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """(counted − share)/n for each pair of the kind."""
        return deviations(self.counted(scores), self.needed(scores)[0] > 0)

    def weighted(self, scores: Scores) -> Callable[[Floats], float]:
        """Two products with the weights."""
        chosen = self.needed(scores)[0]
        counted = chosen * self.counted(scores)
        return lambda weights: float((counted @ weights) / (chosen @ weights))


@dataclass(frozen=True)
class FmrAt(ShareAt):
    """FMR at a fixed threshold: the share of negative pairs with value ≥ threshold.

    >>> FmrAt(0.5)(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]))
    0.5
    """

    key, kinds = "fmr", ((-1,),)

    @property
    def name(self) -> str:
        """With the threshold."""
        return f"FMR at {self.threshold:g}"

    def value(self, scores: Scores) -> float:
        """The share of negative pairs that are accepted."""
        return rates_at(scores, self.threshold).fmr

    def counted(self, scores: Scores) -> Floats:
        """The accepted pairs."""
        return (scores.values >= self.threshold).astype(np.float64)


@dataclass(frozen=True)
class FnmrAt(ShareAt):
    """FNMR at a fixed threshold: the share of positive pairs with value < threshold; at an FMR see `FnmrAtFmr`.

    >>> FnmrAt(0.8)(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]))
    0.5
    """

    key, kinds = "fnmr", ((1,),)

    @property
    def name(self) -> str:
        """With the threshold."""
        return f"FNMR at {self.threshold:g}"

    def value(self, scores: Scores) -> float:
        """The share of positive pairs that are rejected."""
        return rates_at(scores, self.threshold).fnmr

    def counted(self, scores: Scores) -> Floats:
        """The rejected pairs."""
        return (scores.values < self.threshold).astype(np.float64)


@dataclass(frozen=True)
class AccuracyAt(ShareAt):
    """The share of all pairs decided rightly when values ≥ threshold are accepted; the share of positives matters.

    >>> AccuracyAt(0.5)(Scores([0.1, 0.4, 0.4, 0.8], [-1, -1, 1, 1]))
    0.75
    """

    key, kinds, larger_is_better = "accuracy", ((-1, 1),), True

    @property
    def name(self) -> str:
        """With the threshold."""
        return f"accuracy at {self.threshold:g}"

    def value(self, scores: Scores) -> float:
        """The share of right decisions."""
        return accuracy_at(scores, self.threshold)

    def counted(self, scores: Scores) -> Floats:
        """The right decisions."""
        return ((scores.values >= self.threshold) == (scores.labels > 0)).astype(np.float64)


# --------------------------------------------------------------------------- measures of the values themselves


@dataclass(frozen=True)
class DPrime(Measure):
    """How far positive and negative values lie apart: (μ₊ − μ₋)/√(½(σ₊² + σ₋²)).

    >>> round(DPrime().value(Scores([1.0, 3.0, -1.0, 1.0], [1, 1, -1, -1])), 6)
    1.414214
    """

    key, name, larger_is_better, bounds = "d_prime", "d′", True, (-np.inf, np.inf)

    def value(self, scores: Scores) -> float:
        """Distance of the means in standard deviations."""
        return d_prime(scores)

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """By the chain rule from those on means and variances."""
        return separations(scores, d_prime(scores))


@dataclass(frozen=True)
class MinCllr(Measure):
    """The least `Cllr` that a rising function of the values has on these pairs: what calibration cannot mend.

    >>> MinCllr().value(Scores([1.0, 2.0, 3.0], [-1, 1, 1])), MinCllr().value(Scores([2.0, 1.0], [-1, 1]))
    (0.0, 1.0)
    """

    key, name, unit = "min_cllr", "min Cllr", BITS
    explanation = "bits lost because scores of same and different pairs overlap, 0 is perfect and 1 is no use"

    def value(self, scores: Scores) -> float:
        """Cllr after the best calibration."""
        return min_cllr(scores)


@dataclass(frozen=True)
class Cllr(Measure):
    """Cost of log-likelihood ratios (the values) in bits: ½ mean log₂(1 + e^−llr) over positive + likewise negative.

    >>> Cllr().value(Scores([0.0, 0.0], [1, -1]))
    1.0
    """

    key, name, heading, unit, bounds = "cllr", "Cllr", "Cllr, if\ncalibrated", BITS, (0.0, np.inf)
    caution = "scores taken as natural-log likelihood ratios; meaningful for calibrated scores only"
    explanation = f"bits lost with {caution}"

    def value(self, scores: Scores) -> float:
        """0 is perfect, 1 is what llr = 0 for all pairs costs."""
        return cllr(scores)


MEASURES: tuple[Measure, ...] = (EER(), AUC(), DPrime(), MinCllr(), Cllr())
"""What records, pages, tables and the terminal show of every system, in this order."""


# --------------------------------------------------------------------------- functions as measures


@dataclass(frozen=True)
class Share(Measure):
    """Any function of scores with values between 0 and 1; nothing else is known of it, so limits need resampling."""

    function: Rate
    key = "share"

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", self.function))

    def value(self, scores: Scores) -> float:
        """What the function says."""
        return float(self.function(scores))


FUNCTIONS: dict[Any, type[Measure]] = {
    equal_error_rate: EER,
    area_under_roc: AUC,
    fnmr_at_fmr: FnmrAtFmr,
    accuracy_at: AccuracyAt,
    d_prime: DPrime,
    min_cllr: MinCllr,
    cllr: Cllr,
}
"""Functions of scores that are the value of a measure; their further arguments are its fields."""


def as_measure(rate: Rate) -> Measure:
    """The measure that a measure or a function of scores stands for, as it is or with `functools.partial`.

    >>> as_measure(equal_error_rate), as_measure(partial(fnmr_at_fmr, fmr=0.01)), as_measure(EER())
    (EER(), FnmrAtFmr(fmr=0.01), EER())
    """
    if isinstance(rate, Measure):
        return rate
    if isinstance(rate, type) and issubclass(rate, Measure) and not fields(rate):  # type: ignore[arg-type]
        return rate()
    if isinstance(rate, type) or not callable(rate):
        raise InputError(f"{rate!r} is no measure; pass one such as EER() or FnmrAtFmr(0.01), or a function of scores")
    function, options = (rate.func, rate.keywords) if isinstance(rate, partial) and not rate.args else (rate, {})
    known = FUNCTIONS.get(function) if isinstance(function, FunctionType) else None
    if known is None or set(options) != {field.name for field in fields(known)}:  # type: ignore[arg-type]
        return Share(rate)
    return known(**options)
