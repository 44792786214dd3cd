"""Confidence intervals that respect what pairs share.

Pairs of the same identity are not independent: an easily confused person spoils all his pairs. So identities are
resampled, not pairs: identity u counts w_u times, a pair inside it w_u times, a pair of u and v ≠ u w_u·w_v times.

**Variance.** With ψ_u = what the pairs of unit u add to the rate and ψ_uv = what the cell {u, v} adds, the variance
of the rate is Σ_u ψ_u² − Σ_{u<v} ψ_uv²: each cell stands in two units but is one piece of chance. Product weights
measure Σψ_u² + Σψ_uv², leaving units out (jackknife) Σψ_u²; so the cells are subtracted, twice or once. The bootstrap
variance is multiplied by (n/(n−1))³ for n units, by which it is too small for pairs between units.

**Influences.** What a pair adds is known in closed form for FMR and FNMR at a threshold and the area under the curve.
EER and FNMR at an FMR depend on where their threshold falls: they add up FMR and FNMR there by the slope of the DET
curve, taken over as wide a piece as chance may move the threshold. The jackknife leaves units out of these sums.
Other rates are computed anew without each unit (groups of units above 1,000), and their cells are measured by a
second, shorter resampling in which each cell counts twice or not at all.

**Limits.** Student's t on the logit scale of the rate, on the plain scale for a difference of two systems. Degrees of
freedom min(n−1, 2n/(κ−1)), κ = kurtosis of ψ_u: a variance to which few units contribute is itself uncertain. Of a rate
the lower distance t·s becomes t·s/(1 + a·t), the upper one t·s/(1 − a·t), a = Σψ_u³/(6·(Σψ_u²)^1.5) within ±0.1 (the
acceleration of Efron): where few units make most errors, a sample that misses them looks too good and too sure.

**No error seen.** When nothing varies (such as 0 errors), the limits are Clopper and Pearson's for as many independent
pairs as the units guarantee (`Units.effective_number`): 0 errors of 50 identities give FNMR ≤ 7.1 %, and FMR ≤ 13.7 %
from the pairs between them, at level 95 %. That is cautious, but [0, 0] would be wrong.

**Cost.** Bootstrap: one weighted DET curve per resample, O(n_pairs) after one sort (20 ms for a million pairs).
Jackknife: one pass, as long as some 30 resamples. Functions of `Scores` not named in `interval` are called on repeated
pairs, once per resample or unit: right, but slower, and rough with the jackknife if they jump as pairs leave.

Percentile and basic limits, uncorrected product weights, the plain scale and n−1 degrees of freedom were tried and
left; `benchmarks/intervals.py` measures how often the limits hold the truth. Its weakest case is FMR at a fixed
threshold when identities differ much: with 50 of them, samples without the worst ones look too good, and 95 % limits
hold the truth in about 94 % of the runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast

import numpy as np
from scipy.special import betaincinv, expit, logit, stdtrit

from pairlearn.errors import InputError
from pairlearn.evaluation.rates import (
    DetCurve,
    area_under_roc,
    det_curve,
    equal_error_rate,
    fnmr_at_fmr,
    rates_at,
)
from pairlearn.evaluation.resampling import (
    Spread,
    Statistic,
    Units,
    WeightedCurve,
    bootstrap,
    influences,
    jackknife,
    placements,
    units_of,
)
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Floats

SPREAD = [field.name for field in fields(Spread)]
METHODS = {"bootstrap": bootstrap, "jackknife": jackknife}

Rate = Callable[[Scores], float]
"""Any share that scores have, such as `equal_error_rate`."""


@dataclass(frozen=True)
class FmrAt:
    """FMR at a fixed threshold: the share of negative pairs with value ≥ threshold.

    >>> FmrAt(0.5)(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]))
    0.5
    """

    threshold: float

    def __call__(self, scores: Scores) -> float:
        return rates_at(scores, self.threshold).fmr


@dataclass(frozen=True)
class FnmrAt:
    """FNMR at a fixed threshold: the share of positive pairs with value < threshold.

    >>> FnmrAt(0.8)(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]))
    0.5
    """

    threshold: float

    def __call__(self, scores: Scores) -> float:
        return rates_at(scores, self.threshold).fnmr


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
class _Plan:
    level: float
    method: str
    unit: str
    n_resamples: int
    seed: int

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"level must be between 0 and 1, got {self.level}; try 0.95")
        if self.method not in METHODS:
            raise InputError(f"method must be {' or '.join(METHODS)}, got {self.method!r}")
        if self.n_resamples < 50:
            raise InputError(f"n_resamples must be at least 50, got {self.n_resamples}; try 2000")

    def units(self, scores: Scores) -> Units:
        units = units_of(scores, self.unit)
        if units.n_units < 2:
            raise InputError(f"one {self.unit} says nothing about others; give at least two, better 30 or more")
        return units

    def spread(self, statistic: Statistic, units: Units) -> Spread:
        return METHODS[self.method](statistic, units, self.n_resamples, np.random.default_rng(self.seed))


def interval(
    scores: Scores,
    rate: Rate,
    *,
    level: float = 0.95,
    method: str = "jackknife",
    unit: str = "identity",
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval of a rate: any function of `Scores` with values between 0 and 1.

    rate: quick for `equal_error_rate`, `area_under_roc`, `partial(fnmr_at_fmr, fmr=1e-3)`, `FmrAt`, `FnmrAt`.
    unit: what is drawn anew, "identity", "example" or "pair" (as if all pairs were independent, for comparison).
    method: "jackknife" (units left out one by one, quick) or "bootstrap". Reflexive pairs are left out.

    >>> rng = np.random.default_rng(0)
    >>> left, right = np.triu_indices(120, 1)
    >>> same = left // 3 == right // 3
    >>> values = 2.0 * same + rng.normal(size=120)[left] / 2 + rng.normal(size=len(left))
    >>> scores = Scores(values, np.where(same, 1, -1), left, right, left // 3, right // 3)
    >>> found = interval(scores, equal_error_rate, n_resamples=200)
    >>> found.low < found.estimate < found.high, found.n_units
    (True, 40)
    """
    plan = _Plan(level, method, unit, n_resamples, seed)
    scores = _prepared(scores, scores)
    estimate = _checked(rate(scores))
    units = plan.units(scores)
    spread = plan.spread(_statistic(scores, rate, units), units)
    low, high = limits(np.asarray(estimate), spread, _independent(scores, rate, units), level)
    return _interval(plan, units, estimate, float(low), float(high), spread)


def difference_interval(
    scores: Scores,
    other: Scores,
    rate: Rate,
    *,
    level: float = 0.95,
    method: str = "jackknife",
    unit: str = "identity",
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval of rate(scores) − rate(other): two systems on the same pairs in the same order.

    Both are resampled together, so what is hard for both cancels. Options as in `interval`.

    >>> scores = Scores([0.9, 0.5, 0.4, 0.1], [1, 1, -1, -1], left=[0, 2, 0, 1], right=[1, 3, 2, 3])
    >>> print(difference_interval(scores, scores, equal_error_rate, unit="example"))
    0 [0, 0]
    """
    plan = _Plan(level, method, unit, n_resamples, seed)
    _check_same_pairs(scores, other)
    scores, other = _prepared(scores, scores), _prepared(other, scores)
    estimate = _checked(rate(scores)) - _checked(rate(other))
    units = plan.units(scores)
    if np.array_equal(scores.values, other.values):
        return _interval(plan, units, 0.0, 0.0, 0.0, Spread(np.zeros(()), np.zeros(()), np.zeros(())))
    spread = plan.spread(_difference(_statistic(scores, rate, units), _statistic(other, rate, units)), units)
    half = _half_width(spread, _independent(scores, rate, units), level)
    return _interval(plan, units, estimate, max(estimate - half, -1.0), min(estimate + half, 1.0), spread)


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
    plan = _Plan(level, method, unit, n_resamples, seed)
    scores = _prepared(scores, scores)
    fnmr_at = partial(_fnmr_at, det_curve(scores))
    grid = np.geomspace(1 / len(scores.negatives), 0.5, 50) if fmr is None else np.atleast_1d(np.asarray(fmr, float))
    if grid.ndim != 1 or not grid.size or not np.all((grid >= 0) & (grid <= 1)):
        raise InputError("fmr must be one or more rates between 0 and 1, such as [1e-3, 1e-2, 1e-1]")
    units = plan.units(scores)
    spread = _band_spread(plan, scores, units, grid)
    low, high = limits(fnmr_at(grid), spread, _independent(scores, det_curve, units), level)
    return DetBand(grid, fnmr_at(grid), low, high, level, method, unit, units.n_units)


def _band_spread(plan: _Plan, scores: Scores, units: Units, fmr: Floats) -> Spread:
    """Bootstrap all points in the same resamples; the jackknife is as quick point by point."""
    if plan.method == "bootstrap":
        curve = WeightedCurve.of(scores)
        return plan.spread(Statistic(lambda weights: _fnmr_at(curve(weights), fmr), _needed(scores, det_curve)), units)
    points = (_statistic(scores, partial(fnmr_at_fmr, fmr=float(at)), units) for at in fmr)
    spreads = [plan.spread(point, units) for point in points]
    return Spread(*(np.array([getattr(each, name) for each in spreads]) for name in SPREAD))


def _prepared(scores: Scores, by: Scores) -> Scores:
    """Without reflexive pairs, by rising values of `by`: sorted scores save a permutation per resample."""
    return scores[np.argsort(by.values, kind="stable")].without_reflexive()


def _checked(estimate: float) -> float:
    if not 0 <= estimate <= 1:
        raise InputError(f"the rate is {estimate}, but intervals are for rates between 0 and 1; rescale it")
    return float(estimate)


def _check_same_pairs(scores: Scores, other: Scores) -> None:
    for name in ("labels", "left", "right", "left_identity", "right_identity"):
        if not np.array_equal(getattr(scores, name), getattr(other, name)):
            raise InputError(f"the two systems differ in {name}; score the same pairs in the same order with both")


def _interval(plan: _Plan, units: Units, estimate: float, low: float, high: float, spread: Spread) -> Interval:
    error = float(np.sqrt(spread.variance))
    degrees = float(spread.degrees) if error > 0 else float("nan")
    return Interval(estimate, low, high, plan.level, error, degrees, plan.method, plan.unit, units.n_units)


def _statistic(scores: Scores, rate: Rate, units: Units) -> Statistic:
    """The rate as a function of weights: a share, a function of the weighted curve, or of repeated pairs."""
    needed = _needed(scores, rate)
    if isinstance(rate, FmrAt | FnmrAt):
        fmr, fnmr = influences(scores, rate.threshold)
        errors = needed[0] * ((scores.values < rate.threshold) == isinstance(rate, FnmrAt))
        influence = fmr if isinstance(rate, FmrAt) else fnmr
        return Statistic(lambda weights: (errors @ weights) / (needed[0] @ weights), needed, influence)
    of_curve = _of_curve(rate)
    if of_curve is None:
        return Statistic(lambda weights: rate(_repeated(scores, weights)), needed)
    curve = WeightedCurve.of(scores)
    return Statistic(lambda weights: of_curve(curve(weights)), needed, _influence(scores, rate, units))


def _influence(scores: Scores, rate: Rate, units: Units) -> Floats:
    if rate is area_under_roc:
        return placements(scores)
    curve = det_curve(scores)
    if rate is equal_error_rate:
        fmr, fnmr = influences(scores, curve.thresholds[np.argmax(curve.fmr <= curve.fnmr)])
        slope = _slope(curve, curve.equal_error_rate, units.sums(fmr - fnmr))
        return (slope * fmr + fnmr) / (1 + slope)
    at = cast("partial[float]", rate).keywords["fmr"]
    fmr, fnmr = influences(scores, curve.thresholds[np.argmax(curve.fmr <= at)])
    return _slope(curve, at, units.sums(fmr)) * fmr + fnmr


def _slope(curve: DetCurve, fmr: float, effects: Floats) -> float:
    """−dFNMR/dFMR of the DET curve, from as far left to as far right as chance may move FMR, on its logit scale."""
    fmr = float(np.clip(fmr, 0.5 / len(curve.fmr), 1 - 0.5 / len(curve.fmr)))
    reach = np.clip(2 * np.sqrt(effects @ effects) / (fmr * (1 - fmr)), 1e-3, 1.0)
    strict, lax = _fnmr_at(curve, expit(logit(fmr) + reach * np.array([-1.0, 1.0])))
    return float((strict - lax) / (2 * reach * fmr * (1 - fmr)))


def _of_curve(rate: Rate) -> Callable[[DetCurve], float] | None:
    if rate is equal_error_rate:
        return lambda curve: curve.equal_error_rate
    if rate is area_under_roc:
        return lambda curve: curve.area_under_roc
    if isinstance(rate, partial) and rate.func is fnmr_at_fmr and not rate.args and set(rate.keywords) == {"fmr"}:
        return lambda curve: curve.fnmr_at(rate.keywords["fmr"])
    return None


def _repeated(scores: Scores, weights: Floats) -> Scores:
    return scores[np.repeat(np.arange(len(scores)), weights.astype(np.int64))]


def _fnmr_at(curve: DetCurve, fmr: Floats) -> Floats:
    # FMR falls along the curve, so the first point with FMR ≤ fmr is found from the end.
    return np.asarray(curve.fnmr[len(curve.fmr) - np.searchsorted(curve.fmr[::-1], fmr, side="right")])


def _needed(scores: Scores, rate: Callable[[Scores], Any]) -> Floats:
    """The kinds of pairs a rate looks at, as rows: negatives for FMR, positives for FNMR, else all labels there are."""
    labels = {FmrAt: [-1], FnmrAt: [1]}.get(type(rate), np.unique(scores.labels))
    return np.array([scores.labels == label for label in labels], dtype=np.float64)


def _difference(one: Statistic, other: Statistic) -> Statistic:
    influence = None if one.influence is None or other.influence is None else one.influence - other.influence
    return Statistic(lambda weights: one.value(weights) - other.value(weights), one.needed, influence)


def _independent(scores: Scores, rate: Callable[[Scores], Any], units: Units) -> float:
    return min(units.effective_number(kind > 0) for kind in _needed(scores, rate))


def _quantile(spread: Spread, level: float) -> Floats:
    return np.asarray(stdtrit(spread.degrees, 0.5 + level / 2))


def limits(estimate: Floats, spread: Spread, number: float, level: float) -> tuple[Floats, Floats]:
    """Student's t, bent, on the logit scale; where nothing varies, Clopper and Pearson's limits for `number` pairs."""
    varies = (spread.variance > 0) & (estimate > 0) & (estimate < 1)
    safe, t = np.where(varies, estimate, 0.5), np.where(varies, _quantile(spread, level), 0.0)
    half = t * np.sqrt(spread.variance) / (safe * (1 - safe))
    bend = np.minimum(np.abs(spread.acceleration) * t, 0.5) * np.sign(spread.acceleration)
    low, high = _counted_limits(estimate, number, level)
    low = np.where(varies, expit(logit(safe) - half / (1 + bend)), low)
    return low, np.where(varies, expit(logit(safe) + half / (1 - bend)), high)


def _counted_limits(estimate: Floats, number: float, level: float) -> tuple[Floats, Floats]:
    errors, tail = estimate * number, (1 - level) / 2
    low = np.where(estimate > 0, betaincinv(np.maximum(errors, 1e-9), number - errors + 1, tail), 0.0)
    high = np.where(estimate < 1, betaincinv(errors + 1, np.maximum(number - errors, 1e-9), 1 - tail), 1.0)
    return low, high


def _half_width(spread: Spread, number: float, level: float) -> float:
    """Half the width for a difference; where nothing varies, what 0 errors of `number` pairs leave open."""
    if spread.variance > 0:
        return float(_quantile(spread, level) * np.sqrt(spread.variance))
    return float(_counted_limits(np.zeros(()), number, level)[1])
