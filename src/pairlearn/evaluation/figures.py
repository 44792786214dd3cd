"""Figures that are means over pairs, or roots of means: accuracy of an order, RMSE; with limits over what pairs share.

Measures of `Scores` ask whether two belong together. Who comes first, how much, and which class are judged by what each
answer is worth, one number per pair: right or wrong, a squared error. The variance of their mean, and of the difference
of two systems on the same pairs, is that of `resampling/spread.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.intervals import Interval
from pairlearn.evaluation.measures import PLAIN
from pairlearn.evaluation.resampling.limits import counted_limits, half_width, plain_limits, share_limits
from pairlearn.evaluation.resampling.spread import Spread, Statistic, jackknife
from pairlearn.evaluation.resampling.units import Units
from pairlearn.evaluation.verdicts import Verdict, best_of, in_hindsight
from pairlearn.types import Floats


@dataclass(frozen=True)
class Figure:
    """mean(w), or √mean(w), of what the answers w are worth, (n,).

    bounds: between which numbers it lies; a figure between 0 and 1 has limits on the logit scale.

    >>> Figure("rmse", "RMSE", root=True).value(np.array([0.0, 2.0]))
    1.0
    """

    key: str
    name: str
    unit: str = PLAIN
    larger_is_better: bool = False
    root: bool = False
    bounds: tuple[float, float] = (0.0, np.inf)

    def value(self, worth: Floats) -> float:
        """The figure."""
        return float(np.sqrt(worth.mean()) if self.root else worth.mean())

    def influence(self, worth: Floats) -> Floats:
        """What each answer adds to the deviation of the figure: (w − mean)/n, of a root by the chain rule."""
        scale = 2.0 * self.value(worth) if self.root else 1.0
        if not np.ptp(worth) > 0 or not scale > 0:  # the mean of equal numbers may be off by rounding
            return np.zeros(len(worth))
        return np.asarray((worth - worth.mean()) / (len(worth) * scale))

    def interval(self, worth: Floats, units: Units, unit: str, level: float = 0.95) -> Interval:
        """The figure between its limits over units.

        >>> from pairlearn.evaluation.resampling.units import single_units
        >>> right = np.repeat([1.0, 0.0], [80, 20])
        >>> accuracy = Figure("accuracy", "accuracy", larger_is_better=True, bounds=(0.0, 1.0))
        >>> print(accuracy.interval(right, single_units(100), "example"))
        0.8 [0.7082, 0.8733]
        """
        estimate, spread = self.value(worth), _spread(self.influence(worth), units)
        if spread is None:
            return _described(estimate, self.bounds, level, Spread.none(), "pair", 0)
        # Answers that are all worth the same between right and wrong, as of a coin, are known without limits.
        shares = self.bounds == (0.0, 1.0) and bool(np.ptp(worth) > 0 or estimate in self.bounds)
        limits = (
            _share_limits(estimate, spread, units, level)
            if shares
            else plain_limits(estimate, half_width(spread, level), self.bounds)
        )
        return _described(estimate, limits, level, spread, unit, units.n_units)

    def difference(self, worth: Floats, other: Floats, units: Units, unit: str, level: float = 0.95) -> Interval:
        """The figure less that of another system on the same pairs, between its limits over units.

        A difference that does not vary is as sure as 0 errors of as many answers; that of the same answers is 0.
        """
        estimate, widest = self.value(worth) - self.value(other), self.bounds[1] - self.bounds[0]
        spread = _spread(_less(self.influence(worth), self.influence(other)), units)
        if spread is not None and _same(worth, other):
            return _described(0.0, (0.0, 0.0), level, Spread.none(), unit, units.n_units)
        if spread is None or not (spread.variance > 0 or np.isfinite(widest)):
            return _described(estimate, (-widest, widest), level, Spread.none(), "pair", 0)
        half = half_width(spread, level) if spread.variance > 0 else widest * _counted_width(units, level)
        limits = plain_limits(estimate, half, (-widest, widest))
        return _described(estimate, limits, level, spread, unit, units.n_units)


def judged(
    figure: Figure,
    model: Floats,
    baselines: Mapping[str, Floats],
    units: Units,
    unit: str,
    *,
    level: float = 0.95,
    **told: Any,
) -> Verdict:
    """The verdict on a model: what its answers are worth, beside those of baselines on the same pairs.

    >>> from pairlearn.evaluation.resampling.units import single_units
    >>> accuracy = Figure("accuracy", "accuracy", "percent", larger_is_better=True, bounds=(0.0, 1.0))
    >>> model, coin = np.repeat([1.0, 0.0], [90, 10]), np.full(100, 0.5)
    >>> judged(accuracy, model, {"a coin": coin}, single_units(100), "example").relation
    'better'
    """
    against = {name: figure.value(worth) for name, worth in baselines.items()}
    found = figure.difference(model, baselines[best_of(against, figure)], units, unit, level)
    found = in_hindsight(found, len(against), larger_is_better=figure.larger_is_better)
    return Verdict(figure, figure.value(model), against, found, **told)


def _spread(influence: Floats, units: Units) -> Spread | None:
    """How a sum of influences varies over units; None if one unit takes part in everything, or there is only one."""
    if units.n_units < 2:
        return None
    linear = Statistic(lambda weights: float(influence @ weights), np.ones((1, len(influence))), influence)
    try:
        return jackknife(linear, units, 0, np.random.default_rng(0))
    except InputError:
        return None


def _same(worth: Floats, other: Floats) -> bool:
    """Whether answers are worth the same but for rounding."""
    return bool(np.abs(worth - other).max() <= 1e-12 * np.abs(worth).max())


def _less(influence: Floats, other: Floats) -> Floats:
    """The difference of influences, 0 where it is but rounding, as of errors that are a constant apart."""
    apart, largest = influence - other, max(np.abs(influence).max(), np.abs(other).max())
    return np.where(np.abs(apart) > 1e-12 * largest, apart, 0.0)


def _counted_width(units: Units, level: float) -> float:
    """What 0 errors of all answers leave open."""
    number = units.effective_number(np.ones(len(units.first), dtype=bool))
    return float(counted_limits(np.zeros(()), number, level)[1])


def _share_limits(estimate: float, spread: Spread, units: Units, level: float) -> tuple[float, float]:
    """Limits of a share: exact where every answer is a unit of its own, else by the spread over units."""
    number = units.effective_number(np.ones(len(units.first), dtype=bool))
    alone = units.n_units == len(units.first) and bool(units.inside.all())  # n pairs of n examples are not
    found = np.asarray(estimate)
    low, high = counted_limits(found, number, level) if alone else share_limits(found, spread, number, level)
    return float(low), float(high)


def _described(
    estimate: float, limits: tuple[float, float], level: float, spread: Spread, unit: str, n_units: int
) -> Interval:
    error = float(np.sqrt(spread.variance))
    degrees = float(spread.degrees) if error > 0 else float("nan")
    return Interval(estimate, *limits, level, error, degrees, "jackknife", unit, n_units)
