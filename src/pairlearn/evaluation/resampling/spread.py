"""The variance of a measure when units are drawn anew, by jackknife or bootstrap.

With ψ_u = what the pairs of unit u add to a measure and ψ_uv = what the cell {u, v} adds, its variance over draws of
units is V = Σ_u ψ_u² − Σ_{u<v} ψ_uv²: each cell stands in two units but is one piece of chance. Leaving units out
(jackknife) measures Σψ_u², product weights w_u·w_v (bootstrap) measure Σψ_u² + Σψ_uv²; so the cells are subtracted,
once or twice. Without that, limits are too wide by up to √2 where most pairs lie between units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.resampling.units import Units
from pairlearn.types import Floats

MOST_GROUPS = 1000
"""More units than this are left out in groups, where the measure must be computed anew for each."""
CELL_SHARE = 5
"""The cells' part of the variance is small, so a fifth of the resamples measures it well enough."""
ROUNDING = 1e-25
"""A variance below this share of Σψ², or of the squared values, is what the last digits of sums leave that cancel."""

OfWeights = Callable[[Floats], Any]
"""A number, or an array of numbers, that weighted pairs have."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """A number, or an array of numbers, as a function of the weights of pairs.

    value: from weights (n_pairs,) to the number. needed: kinds of pairs, as rows of zeros and ones (n_kinds, n_pairs);
    without any pair of a kind there is no value. influence: what each pair adds to the value's deviation, (n_pairs,),
    if known: the linear part of value, which makes resampling needless or more exact.
    """

    value: OfWeights
    needed: Floats
    influence: Floats | None = None

    def exists(self, weights: Floats) -> bool:
        """Whether some pair of each kind has weight."""
        return bool(np.all(self.needed @ weights > 0))

    def minus(self, other: Statistic) -> Statistic:
        """The difference to another statistic of the same pairs: same weights, so shared chance cancels."""
        known = None if self.influence is None or other.influence is None else self.influence - other.influence
        needed = np.maximum(self.needed, other.needed)  # they differ where systems accept other pairs
        return Statistic(lambda weights: self.value(weights) - other.value(weights), needed, known)


@dataclass(frozen=True, eq=False)
class Spread:
    """How a number varies, shapes (), or many numbers, shapes (n_points,).

    degrees: of freedom, see `degrees_of_freedom`. acceleration: a = Σe³/(6·(Σe²)^1.5) of the effects e of units
    (Efron), within ±0.1: how fast the standard error grows with the number. Larger values come from one or two units
    and would bend limits out of all proportion.
    """

    variance: Floats
    degrees: Floats
    acceleration: Floats

    @classmethod
    def of(cls, n: float, variance: Floats, squares: Floats, cubes: Floats, fourths: Floats) -> Spread:
        """From a variance and the sums Σe², Σe³, Σe⁴ of the effects of n units."""
        with np.errstate(invalid="ignore", divide="ignore"):
            acceleration = np.nan_to_num(cubes / (6 * squares**1.5))
        return cls(variance, degrees_of_freedom(n, squares, fourths), np.clip(acceleration, -0.1, 0.1))

    @classmethod
    def of_effects(cls, variance: Floats, effects: Floats) -> Spread:
        """From a variance and what each unit adds to the number, shape (n_units, …)."""
        return cls.of(len(effects), variance, *(np.sum(effects**k, axis=0) for k in (2, 3, 4)))

    @classmethod
    def none(cls) -> Spread:
        """Nothing varies."""
        return cls(np.zeros(()), np.zeros(()), np.zeros(()))

    @classmethod
    def stacked(cls, spreads: Sequence[Spread]) -> Spread:
        """Many numbers, each with its own spread, as one of shapes (n_points,)."""
        columns = (np.array([getattr(each, field.name) for each in spreads]) for field in fields(cls))
        return cls(*columns)


# --------------------------------------------------------------------------- draw units anew


def bootstrap(statistic: Statistic, units: Units, n_resamples: int, rng: np.random.Generator) -> Spread:
    """Draw n units with replacement; product weights measure Σψ_u² + Σψ_uv², so the cells are subtracted twice.

    (n/(n−1))³·Var(θ*) − 2·Σψ_uv², but no less than the cells alone. The factor is what the variance over draws is too
    small by for pairs between units: both of its units must differ, and the mean is estimated.
    """
    n = units.n_units
    values, effects = _resample(statistic, units, n_resamples, rng)
    cells = cell_variance(statistic, units, n_resamples, rng)
    variance = (n / (n - 1)) ** 3 * np.var(values, axis=0, ddof=1) - 2 * cells
    variance = _beyond_rounding(np.maximum(variance, cells), statistic, values)
    if effects is None:
        return Spread(variance, np.full(np.shape(variance), n - 1.0), np.zeros(np.shape(variance)))
    return Spread.of_effects(variance, effects)


def _resample(
    statistic: Statistic, units: Units, n_resamples: int, rng: np.random.Generator
) -> tuple[list[Any], Floats | None]:
    """Values of the resamples, and the effects of units: from influences, else their covariances with the weights.

    Above MOST_GROUPS units the covariances are mostly noise, so there are none.
    """
    learnt = statistic.influence is None and units.n_units <= MOST_GROUPS
    centre, values, effects = statistic.value(np.ones(len(units.first))), [], np.zeros(1)
    for _ in range(n_resamples):
        unit_weights, weights = _draw(statistic, units, rng)
        values.append(statistic.value(weights))
        if learnt:
            effects = effects + np.multiply.outer(unit_weights - 1, values[-1] - centre)
    if statistic.influence is not None:
        return values, units.sums(statistic.influence)
    return values, effects if learnt else None


def _draw(statistic: Statistic, units: Units, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Weights of units and of pairs for which the statistic exists."""
    for _ in range(1000):
        unit_weights = units.draw(rng)
        weights = units.pair_weights(unit_weights)
        if statistic.exists(weights):
            return unit_weights, weights
    raise InputError("hardly any resample has both labels; give more identities with positive and negative pairs")


# --------------------------------------------------------------------------- leave units out


def jackknife(statistic: Statistic, units: Units, n_resamples: int, rng: np.random.Generator) -> Spread:
    """Leave out each unit with all its pairs: (n−1)/n·Σ(θ₍u₎ − mean)², less the cells, which it counts twice.

    n_resamples and rng serve only the cells of a statistic without influences, and groups of many units.
    """
    values = leave_out(statistic, units, rng)
    n, effects = len(values), values.mean(axis=0) - values
    cells = cell_variance(statistic, units, n_resamples, rng)
    variance = (n - 1) / n * np.sum(effects**2, axis=0) - cells
    return Spread.of_effects(_beyond_rounding(np.maximum(variance, cells), statistic, values), effects)


def _beyond_rounding(variance: Floats, statistic: Statistic, values: Any) -> Floats:
    """The variance, but 0 where it is rounding: units that all add the same do not vary."""
    size = np.max(np.square(values), axis=0)
    if statistic.influence is not None:
        size = np.maximum(size, statistic.influence @ statistic.influence)
    return np.where(variance <= ROUNDING * size, 0.0, variance)  # NaN stays what it is


def leave_out(statistic: Statistic, units: Units, rng: np.random.Generator) -> Floats:
    """The statistic without each unit (or group of units), shape (n, …).

    If influences are known, of its linear part, −Σ_{i∈u} ψ_i / (share of the kind that is left), for each kind:
    exact for means, and steady where the value itself jumps as pairs leave. Pairs of no kind that is needed, such as
    false positives beside F1, count as they are.
    """
    if statistic.influence is not None:
        total = -units.sums(statistic.influence * ~(statistic.needed > 0).any(axis=0))
        for kind, left in zip(statistic.needed, shares_left(statistic.needed, units), strict=True):
            total -= units.sums(statistic.influence * kind) / left
        return total
    groups, values = units.grouped(rng, MOST_GROUPS), []
    for group in range(groups.n_units):
        weights = groups.without(group)
        _refuse_losses(statistic.exists(weights))
        values.append(statistic.value(weights))
    return np.array(values)


def shares_left(needed: Floats, units: Units) -> list[Floats]:
    """Which share of each kind of pairs is left without each unit, one array (n_units,) per row of `needed`.

    Refuses units of which one takes part in all pairs of a kind.
    """
    shares = [1 - units.sums(kind) / kind.sum() for kind in needed]
    _refuse_losses(all(bool(np.all(left > 0)) for left in shares))
    return shares


def _refuse_losses(exists: bool) -> None:
    if not exists:
        raise InputError(
            "one unit takes part in all positive or in all negative pairs; give pairs of more identities, "
            "or use method='bootstrap'"
        )


# --------------------------------------------------------------------------- cells, degrees of freedom


def cell_variance(statistic: Statistic, units: Units, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Σψ_uv² over the cells: summed if influences are known, else the variance when coins double or drop cells."""
    if units.n_cells == 0:
        return np.zeros(())
    if statistic.influence is not None:
        between = ~units.inside
        sums = np.bincount(units.cells[between], statistic.influence[between])
        return np.asarray(sums @ sums)
    drawn = (units.draw_cells(rng) for _ in range(max(n_resamples // CELL_SHARE, 20)))
    values = [statistic.value(weights) for weights in drawn if statistic.exists(weights)]
    return np.asarray(np.var(values, axis=0, ddof=1)) if len(values) > 1 else np.zeros(())


def degrees_of_freedom(n: float, squares: Floats, fourths: Floats) -> Floats:
    """min(n − 1, 2n/(κ − 1)) from Σe² and Σe⁴: a variance to which few units contribute is itself uncertain.

    2n/(κ − 1) is what makes a scaled χ² have the variance of Σe²; n − 1 alone (tried and left) promises too much where
    few units make most errors. The kurtosis κ is corrected for the size of the sample (unbiased for normal effects).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtosis = n * fourths / squares**2
    if n > 3:
        kurtosis = 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (kurtosis - 3) + 6)
    return np.asarray(2 * n / np.fmax(kurtosis - 1, 2 * n / (n - 1)))
