"""Confidence intervals that respect what pairs share.

Pairs of the same identity are not independent: an easily confused person spoils all his pairs. So identities are
resampled, not pairs: identity u counts w_u times, a pair inside it w_u times, a pair of u and v ≠ u w_u·w_v times.

**Variance.** With ψ_u = what the pairs of unit u add to the measure and ψ_uv = what the cell {u, v} adds, its variance
is Σ_u ψ_u² − Σ_{u<v} ψ_uv²: each cell stands in two units but is one piece of chance. Product weights
measure Σψ_u² + Σψ_uv², leaving units out (jackknife) Σψ_u²; so the cells are subtracted, twice or once. The bootstrap
variance is multiplied by (n/(n−1))³ for n units, by which it is too small for pairs between units
(`resampling/spread.py`).

**Influences.** What a pair adds is known in closed form for shares at a threshold, the area under the curve and d′.
EER and FNMR at an FMR depend on where their threshold falls: they add up FMR and FNMR there by the slope of the DET
curve, taken over as wide a piece as chance may move the threshold. The jackknife leaves units out of these sums.
Other measures are computed anew without each unit (groups of units above 1,000), and their cells are measured by a
second, shorter resampling in which each cell counts twice or not at all.

**Limits.** Student's t on the logit scale of a share, on the plain scale for d′, costs and differences. Degrees of
freedom min(n−1, 2n/(κ−1)), κ = kurtosis of ψ_u: a variance to which few units contribute is itself uncertain. Of a rate
the lower distance t·s becomes t·s/(1 + a·t), the upper one t·s/(1 − a·t), a = Σψ_u³/(6·(Σψ_u²)^1.5) within ±0.1 (the
acceleration of Efron): where few units make most errors, a sample that misses them looks too good and too sure.

**No error seen.** When nothing varies (such as 0 errors), the limits are Clopper and Pearson's for as many independent
pairs as the units guarantee (`Units.effective_number`): 0 errors of 50 identities give FNMR ≤ 7.1 %, and FMR ≤ 13.7 %
from the pairs between them, at level 95 %. That is cautious, but [0, 0] would be wrong.

**Cost.** Bootstrap: one weighted DET curve per resample, O(n_pairs) after one sort (20 ms for a million pairs).
Jackknife: one pass, as long as some 30 resamples. Measures without influence are computed from repeated
pairs, once per resample or unit: right, but slower, and rough with the jackknife if they jump as pairs leave.

Percentile and basic limits, uncorrected product weights, the plain scale and n−1 degrees of freedom were tried and
left; `benchmarks/intervals.py` measures how often the limits hold the truth. Its weakest case is FMR at a fixed
threshold when identities differ much: with 50 of them, samples without the worst ones look too good, and 95 % limits
hold the truth in about 94 % of the runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.measures import CurveMeasure, FnmrAtFmr, Measure, Rate, as_measure
from pairlearn.evaluation.rates import det_curve
from pairlearn.evaluation.resampling.influence import WeightedCurve
from pairlearn.evaluation.resampling.limits import counted_limits, half_width, plain_limits, share_limits
from pairlearn.evaluation.resampling.spread import Spread, Statistic, bootstrap, jackknife, shares_left
from pairlearn.evaluation.resampling.units import Units, units_of
from pairlearn.evaluation.scores import Scores, check_scores
from pairlearn.types import Floats, Ints

METHODS = {"bootstrap": bootstrap, "jackknife": jackknife}
"""How the spread of a statistic is found."""


@dataclass(frozen=True)
class Interval:
    """An estimate between two limits.

    `standard_error` is 0 and `degrees` (of freedom) is NaN when nothing varied and the limits come from counting.
    """

    estimate: float
    low: float
    high: float
    level: float
    standard_error: float
    degrees: float
    method: str
    unit: str
    n_units: int

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True, eq=False)
class DetBand:
    """FNMR at given FMR with limits for each point by itself; shapes (n_points,)."""

    fmr: Floats
    fnmr: Floats
    low: Floats
    high: Floats
    level: float
    method: str
    unit: str
    n_units: int


@dataclass(frozen=True)
class Options:
    """How intervals are made: what `interval` is told, checked."""

    level: float = 0.95
    method: str = "jackknife"
    unit: str = "identity"
    n_resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"level must be between 0 and 1, got {self.level}; try 0.95")
        if self.method not in METHODS:
            raise InputError(f"method must be {' or '.join(METHODS)}, got {self.method!r}")
        if self.n_resamples < 50:
            raise InputError(f"n_resamples must be at least 50, got {self.n_resamples}; try 2000")

    def spread(self, statistic: Statistic, units: Units) -> Spread:
        """How the statistic varies when units are drawn anew."""
        return METHODS[self.method](statistic, units, self.n_resamples, np.random.default_rng(self.seed))


# --------------------------------------------------------------------------- scores that were drawn


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores with the units that they were drawn in, prepared once for intervals of any number of measures.

    scores: by rising value, which saves a permutation per resample, and without reflexive pairs; rows: where each of
    them stood in the scores that were given.

    >>> scores = Scores([0.9, 0.5, 0.4, 0.1], [1, 1, -1, -1])
    >>> sample = Sample.of(scores, Options(unit="pair"))
    >>> sample.scores.values.tolist(), sample.interval(FnmrAtFmr(0.1)).estimate
    ([0.1, 0.4, 0.5, 0.9], 0.0)
    """

    scores: Scores
    rows: Ints
    units: Units
    options: Options

    @classmethod
    def of(cls, scores: Scores, options: Options) -> Sample:
        """Sort the scores and number their units."""
        rows = _rising_rows(scores)
        ordered = scores[rows]
        return cls(ordered, rows, _units(ordered, options), options)

    def interval(self, measure: Measure) -> Interval:
        """The measure between its limits."""
        estimate = _checked(measure, self.scores)
        return self._interval(measure, estimate, self.statistic(measure))

    def difference(self, other: Scores, measure: Measure) -> Interval:
        """The measure of these scores less that of another system, which scored the same pairs in the given order."""
        # The same order for both, so that a weight belongs to the same pair.
        theirs = replace(self, scores=other[self.rows])
        estimate = _checked(measure, self.scores) - _checked(measure, theirs.scores)
        if _same_whatever_is_drawn(self.scores.values, theirs.scores.values, measure):
            return self.described(0.0, (0.0, 0.0), Spread.none())
        spread = self.options.spread(self.statistic(measure).minus(theirs.statistic(measure)), self.units)
        half = half_width(spread, self.options.level)
        if not spread.variance > 0:
            half = max(one.counted_width(measure) for one in (self, theirs))
        return self.described(estimate, plain_limits(estimate, half, _open_limits(measure)), spread)

    def quick_interval(self, measure: Measure) -> Interval | None:
        """The same, or None where influences are unknown, so that many values of the measure would have to be found."""
        statistic = self.statistic(measure)
        if statistic.influence is None:
            return None
        return self._interval(measure, _checked(measure, self.scores), statistic)

    def band(self, fmr: Floats) -> DetBand:
        """FNMR at these FMRs, each with its limits."""
        fnmr = det_curve(self.scores).fnmrs_at(fmr)
        spread = self._band_spread(fmr)
        low, high = share_limits(fnmr, spread, self._number(FnmrAtFmr(0.0)), self.options.level)
        options = self.options
        return DetBand(fmr, fnmr, low, high, options.level, options.method, options.unit, self.units.n_units)

    def statistic(self, measure: Measure) -> Statistic:
        """The measure as a function of the weights of these pairs, with its influences where they are known."""
        scores = self.scores
        return Statistic(measure.weighted(scores), measure.needed(scores), measure.influence(scores, self.units))

    def described(self, estimate: float, limits: tuple[float, float], spread: Spread) -> Interval:
        """An interval of these scores."""
        error = float(np.sqrt(spread.variance))
        degrees = float(spread.degrees) if error > 0 else float("nan")
        level, method, unit = self.options.level, self.options.method, self.options.unit
        return Interval(estimate, *limits, level, error, degrees, method, unit, self.units.n_units)

    def counted_width(self, measure: Measure) -> float:
        """What 0 errors of the pairs that the measure looks at leave open: the width where nothing varies."""
        return float(counted_limits(np.zeros(()), self._number(measure), self.options.level)[1])

    def _interval(self, measure: Measure, estimate: float, statistic: Statistic) -> Interval:
        spread = self.options.spread(statistic, self.units)
        if measure.bounds == (0.0, 1.0):
            low, high = share_limits(np.asarray(estimate), spread, self._number(measure), self.options.level)
            return self.described(estimate, (float(low), float(high)), spread)
        half = half_width(spread, self.options.level)
        return self.described(estimate, plain_limits(estimate, half, measure.bounds), spread)

    def _number(self, measure: Measure) -> float:
        """How many independent pairs the pairs of each kind that the measure needs are worth at least."""
        return min(self.units.effective_number(kind > 0) for kind in measure.needed(self.scores))

    def _band_spread(self, fmr: Floats) -> Spread:
        """Bootstrap all points in the same resamples; the jackknife is as quick point by point."""
        if self.options.method == "bootstrap":
            curve, needed = WeightedCurve.of(self.scores), FnmrAtFmr(0.0).needed(self.scores)
            return self.options.spread(Statistic(lambda weights: curve(weights).fnmrs_at(fmr), needed), self.units)
        points = (self.statistic(FnmrAtFmr(float(at))) for at in fmr)
        return Spread.stacked([self.options.spread(point, self.units) for point in points])


def _same_whatever_is_drawn(values: Floats, others: Floats, measure: Measure) -> bool:
    """Whether the measure of these and of those values is one number on any pairs; a curve knows their order only.

    >>> from pairlearn.evaluation import EER, FmrAt
    >>> values = np.array([0.1, 0.2, 0.2])
    >>> [_same_whatever_is_drawn(values, 3 * values, measure) for measure in (EER(), FmrAt(0.1))]
    [True, False]
    """
    if isinstance(measure, CurveMeasure):
        return np.array_equal(_places(values), _places(others))
    return np.array_equal(values, others)


def _places(values: Floats) -> Ints:
    """The place of each value among all that differ, (n,)."""
    return np.unique(values, return_inverse=True)[1]


def _rising_rows(scores: Scores) -> Ints:
    """Rows by rising value, without reflexive pairs."""
    scores = check_scores(scores)
    rows = np.argsort(scores.values, kind="stable")
    return rows if scores.left is None else rows[(scores.left != scores.right)[rows]]


def _units(scores: Scores, options: Options) -> Units:
    units = units_of(scores, options.unit)
    if units.n_units < 2:
        raise InputError(f"one {options.unit} says nothing about others; give at least two, better 30 or more")
    return units


def _checked(measure: Measure, scores: Scores) -> float:
    """The estimate; a function that is no share is refused, because its limits would be wrong."""
    estimate, (low, high) = measure.value(scores), measure.bounds
    if not low <= estimate <= high:
        raise InputError(f"the rate is {estimate}, but intervals of it are for {low:g} to {high:g}; rescale it")
    return float(estimate)


def best_sample(scores: Scores, options: Options, measure: Measure) -> tuple[Sample | None, tuple[str, ...]]:
    """The sample with units of the first kind, from identities to examples to pairs, that can be left out one by one.

    None if there is no such kind; with it why better kinds, which the scores know, were refused.

    >>> from pairlearn.evaluation import EER
    >>> sample, refused = best_sample(Scores([0.1, 0.2, 0.8, 0.9], [-1, -1, 1, 1]), Options(), EER())
    >>> sample.options.unit, refused
    ('pair', ())
    """
    known = {"identity": scores.left_identity is not None, "example": scores.left is not None, "pair": True}
    refused: list[str] = []
    for unit in (unit for unit, is_known in known.items() if is_known):
        try:
            sample = Sample.of(scores, replace(options, unit=unit))
            shares_left(measure.needed(sample.scores), sample.units)
        except InputError as error:
            refused.append(f"{unit}: {error}")
        else:
            return sample, tuple(refused)
    return None, tuple(refused)


def paired_difference(sample: Sample | None, scores: Scores, other: Scores, measure: Measure, level: float) -> Interval:
    """measure(scores) − measure(other) by a sample of `scores`; without one, no difference at all can be ruled out.

    >>> from pairlearn.evaluation import EER
    >>> scores = Scores([0.9, 0.1], [1, -1])
    >>> print(paired_difference(None, scores, scores, EER(), 0.95))
    0 [-1, 1]
    """
    if sample is not None:
        return sample.difference(other, measure)
    estimate = measure.value(scores) - measure.value(other)
    return Interval(estimate, *_open_limits(measure), level, float("nan"), float("nan"), "none", "pair", 0)


def _open_limits(measure: Measure) -> tuple[float, float]:
    """Between which numbers every difference lies."""
    widest = measure.bounds[1] - measure.bounds[0]
    return -widest, widest


# --------------------------------------------------------------------------- for users


def interval(
    scores: Scores,
    measure: Rate,
    *,
    level: float = 0.95,
    method: str = "jackknife",
    unit: str = "identity",
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval of a measure, or of any function of `Scores` with values between 0 and 1.

    measure: quick where influences are known, as of `EER()`, `AUC()`, `FnmrAtFmr(1e-3)`, `FmrAt(0.5)`, `DPrime()`, and
    of the functions `equal_error_rate`, `area_under_roc` and `partial(fnmr_at_fmr, fmr=1e-3)`.
    unit: what is drawn anew, "identity", "example" or "pair" (as if all pairs were independent, for comparison).
    method: "jackknife" (units left out one by one, quick) or "bootstrap". Reflexive pairs are left out.

    >>> from pairlearn.evaluation import EER
    >>> rng = np.random.default_rng(0)
    >>> left, right = np.triu_indices(120, 1)
    >>> same = left // 3 == right // 3
    >>> values = 2.0 * same + rng.normal(size=120)[left] / 2 + rng.normal(size=len(left))
    >>> scores = Scores(values, np.where(same, 1, -1), left, right, left // 3, right // 3)
    >>> found = interval(scores, EER())
    >>> found.low < found.estimate < found.high, found.n_units
    (True, 40)
    """
    return Sample.of(scores, Options(level, method, unit, n_resamples, seed)).interval(as_measure(measure))


def difference_interval(
    scores: Scores,
    other: Scores,
    measure: Rate,
    *,
    level: float = 0.95,
    method: str = "jackknife",
    unit: str = "identity",
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval of measure(scores) − measure(other): two systems on the same pairs, in one order.

    Both are resampled together, so what is hard for both cancels. Options as in `interval`.

    >>> from pairlearn.evaluation import EER
    >>> scores = Scores([0.9, 0.5, 0.4, 0.1], [1, 1, -1, -1], left=[0, 2, 0, 1], right=[1, 3, 2, 3])
    >>> print(difference_interval(scores, scores, EER(), unit="example"))
    0 [0, 0]
    """
    options, measured = Options(level, method, unit, n_resamples, seed), as_measure(measure)
    check_same_pairs(scores, other)
    return Sample.of(scores, options).difference(other, measured)


def det_band(
    scores: Scores,
    fmr: Any = None,
    *,
    level: float = 0.95,
    method: str = "jackknife",
    unit: str = "identity",
    n_resamples: int = 2000,
    seed: int = 0,
) -> DetBand:
    """Return FNMR at each FMR with its limits; pointwise: the whole curve is inside less often than `level`.

    fmr: rates between 0 and 1; 50 of them from 1/#negatives to ½ unless given. Options as in `interval`.

    >>> left, right = np.triu_indices(40, 1)
    >>> same = left // 2 == right // 2
    >>> scores = Scores(same + np.sin(left * right), np.where(same, 1, -1), left, right, left // 2, right // 2)
    >>> band = det_band(scores, [0.01, 0.1], n_resamples=100)
    >>> bool(np.all(band.low < band.fnmr) and np.all(band.fnmr < band.high))
    True
    """
    options = Options(level, method, unit, n_resamples, seed)
    sample = Sample.of(scores, options)
    lowest = 1 / max(len(sample.scores.negatives), 1)
    grid = np.geomspace(lowest, 0.5, 50) if fmr is None else np.atleast_1d(np.asarray(fmr, float))
    if grid.ndim != 1 or not grid.size or not np.all((grid >= 0) & (grid <= 1)):
        raise InputError("fmr must be one or more rates between 0 and 1, such as [1e-3, 1e-2, 1e-1]")
    return sample.band(grid)


def check_same_pairs(scores: Scores, other: Scores) -> None:
    """Refuse two systems that cannot be compared pair by pair."""
    for name in ("labels", "left", "right", "left_identity", "right_identity"):
        if not np.array_equal(getattr(check_scores(scores), name), getattr(check_scores(other), name)):
            raise InputError(f"the two systems differ in {name}; score the same pairs in the same order with both")
