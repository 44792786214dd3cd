"""Weights on pairs: who shares a unit with whom, rates of weighted pairs, and the variance that follows.

A resample gives unit u (an identity, an example or a pair) the multiplicity w_u. A pair inside one unit then
counts w_u times, a pair of two units u ≠ v counts w_u·w_v times; pairs of a unit with a copy of itself do not
exist in the data and are not made up. All pairs of the same two units form a *cell*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.rates import DetCurve
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Bools, Floats, Ints

UNITS = {"identity": ("left_identity", "right_identity"), "example": ("left", "right")}
MOST_GROUPS = 1000  # more units than this are left out in groups
CELL_SHARE = 5  # the cells' part of the variance is small, so a fifth of the resamples measures it well enough

OfWeights = Callable[[Floats], Any]
"""A number, or an array of numbers, that weighted pairs have."""


@dataclass(frozen=True, eq=False)
class Units:
    """Which units each pair belongs to.

    first, second: unit numbers below n_units, shape (n_pairs,); second is n_units for a pair inside one unit.
    cells: the number of the cell of each pair, −1 for a pair inside one unit.
    """

    first: Ints
    second: Ints
    cells: Ints
    n_units: int

    @property
    def n_cells(self) -> int:
        """How many couples of different units have a pair."""
        return int(self.cells.max(initial=-1)) + 1

    @property
    def inside(self) -> Bools:
        """Marks the pairs inside one unit, such as the positive pairs of an identity."""
        return self.cells < 0

    def pair_weights(self, weights: Floats) -> Floats:
        """Weights of pairs, w_u inside a unit and w_u·w_v between two.

        >>> units = Units(np.array([0, 0]), np.array([2, 1]), np.array([-1, 0]), 2)
        >>> units.pair_weights(np.array([2.0, 3.0])).tolist()
        [2.0, 6.0]
        """
        padded = np.append(weights, 1.0)
        return cast("Floats", padded[self.first] * padded[self.second])

    def draw(self, rng: np.random.Generator) -> Floats:
        """Multiplicities of the units when n_units of them are drawn with replacement."""
        drawn = rng.integers(0, self.n_units, self.n_units)
        return np.bincount(drawn, minlength=self.n_units).astype(np.float64)

    def draw_cells(self, rng: np.random.Generator) -> Floats:
        """Pair weights when each cell counts twice or not at all, by a coin; pairs inside a unit count once."""
        coins = np.unpackbits(np.frombuffer(rng.bytes(self.n_cells // 8 + 1), dtype=np.uint8), count=self.n_cells)
        return cast("Floats", np.append(2.0 * coins, 1.0)[self.cells])  # cell −1 takes the last entry

    def without(self, unit: int) -> Floats:
        """Pair weights when one unit is left out with all its pairs."""
        return ((self.first != unit) & (self.second != unit)).astype(np.float64)

    def sums(self, column: Any) -> Floats:
        """Sums of a column over all pairs of each unit; a pair between two units counts in both.

        >>> units = Units(np.array([0, 0]), np.array([2, 1]), np.array([-1, 0]), 2)
        >>> units.sums(np.array([1.0, 10.0])).tolist()
        [11.0, 10.0]
        """
        first = np.bincount(self.first, column, self.n_units)
        return cast("Floats", first + np.bincount(self.second, column, self.n_units + 1)[: self.n_units])

    def grouped(self, rng: np.random.Generator, most: int) -> Units:
        """The same pairs with the units put at random into at most `most` groups of nearly equal size."""
        if self.n_units <= most:
            return self
        group = np.append(rng.permutation(self.n_units) % most, most)
        return Units(group[self.first], group[self.second], self.cells, most)

    def effective_number(self, chosen: Bools) -> float:
        """At least how many independent pairs the chosen pairs are worth, should units decide about everything.

        N² / (Σ_u s_u² + ½ Σ_u c_u²) for N pairs, s_u of them inside unit u and c_u between u and another unit:
        the number of units for equal groups inside units, n_units/2 for all pairs between units (Hoeffding 1963).
        """
        own, shared = self.sums(chosen & self.inside), self.sums(chosen & ~self.inside)
        return float(np.sum(chosen) ** 2 / (own @ own + 0.5 * shared @ shared))


def units_of(scores: Scores, unit: str) -> Units:
    """Number the units of the pairs; `unit` is "identity", "example" or "pair".

    >>> units = units_of(Scores([1, 2, 3], [1, -1, -1], left_identity=[7, 7, 7], right_identity=[7, 8, 8]), "identity")
    >>> units.first.tolist(), units.second.tolist(), units.cells.tolist()
    ([0, 0, 0], [2, 1, 1], [-1, 0, 0])
    """
    if unit == "pair":
        n = len(scores)
        return Units(np.arange(n), np.full(n, n), np.full(n, -1), n)
    if unit not in UNITS:
        raise InputError(f"unit must be identity, example or pair, got {unit!r}")
    left, right = (getattr(scores, name) for name in UNITS[unit])
    if left is None:
        raise InputError(
            f"the scores do not know {' and '.join(UNITS[unit])}, so pairs that share an {unit} cannot be seen; "
            f"give both columns to Scores, or use {_other_unit(scores)}"
        )
    return _numbered(left, right)


def _other_unit(scores: Scores) -> str:
    if scores.left_identity is not None:
        return "unit='identity'"
    if scores.left is not None:
        return "unit='example', which misses what the examples of an identity have in common"
    return "unit='pair', which takes all pairs for independent (they rarely are)"


def _numbered(left: Any, right: Any) -> Units:
    names, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    one, other = codes[: len(left)], codes[len(left) :]
    low, high, n = np.minimum(one, other), np.maximum(one, other), len(names)
    between = low != high
    cells = np.full(low.size, -1, dtype=np.int64)
    cells[between] = np.unique(low[between] * n + high[between], return_inverse=True)[1]
    return Units(low, np.where(between, high, n), cells, n)


@dataclass(frozen=True, eq=False)
class WeightedCurve:
    """DET curves of the same values under changing weights: sorted once, then O(n_pairs) per curve.

    >>> curve = WeightedCurve.of(Scores([0.8, 0.1, 0.4], [1, -1, 1]))(np.array([1.0, 1.0, 3.0]))
    >>> curve.thresholds.tolist(), curve.fmr.tolist(), curve.fnmr.tolist()
    ([0.1, 0.4, 0.8, inf], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.75, 1.0])
    """

    order: Ints | None
    positives: Ints
    thresholds: Floats
    below: Ints
    positives_below: Ints

    @classmethod
    def of(cls, scores: Scores) -> WeightedCurve:
        """Sort the scores; scores that are sorted already save a permutation per curve."""
        is_sorted = bool(np.all(scores.values[1:] >= scores.values[:-1]))
        order = None if is_sorted else np.argsort(scores.values, kind="stable")
        sorted_scores = scores if order is None else scores[order]
        values = sorted_scores.values
        first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        below, positives = np.append(first, values.size), np.flatnonzero(sorted_scores.labels > 0)
        return cls(order, positives, np.append(values[first], np.inf), below, np.searchsorted(positives, below))

    def __call__(self, weights: Floats) -> DetCurve:
        """The DET curve when pair k counts weights[k] times; the weights are whole numbers, so sums are exact."""
        weights = weights if self.order is None else weights[self.order]
        rejected = _sums(weights)[self.below]
        rejected_positives = _sums(weights[self.positives])[self.positives_below]
        n_positives = rejected_positives[-1]
        n_negatives = rejected[-1] - n_positives
        accepted = n_negatives - (rejected - rejected_positives)
        return DetCurve(self.thresholds, accepted / n_negatives, rejected_positives / n_positives)


def _sums(weights: Floats) -> Floats:
    """Sums of the first 0, 1, …, n weights."""
    sums = np.zeros(weights.size + 1)
    np.cumsum(weights, out=sums[1:])
    return sums


def influences(scores: Scores, threshold: float) -> tuple[Floats, Floats]:
    """What each pair adds to the deviations of FMR and of FNMR at a threshold: (error − rate)/n.

    >>> influences(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]), 0.5)[0].tolist()
    [-0.25, 0.25, 0.0, 0.0]
    """
    below, negative = scores.values < threshold, scores.labels < 0
    return _deviations(~below, negative), _deviations(below, ~negative)


def _deviations(column: Any, chosen: Bools) -> Floats:
    return np.where(chosen, column - np.mean(column[chosen]), 0.0) / np.sum(chosen)


def placements(scores: Scores) -> Floats:
    """Influences on the area under the ROC curve: the share of the other label that a pair wins against."""
    positives, negatives = np.sort(scores.positives), np.sort(scores.negatives)
    positive, wins = scores.labels > 0, np.empty(len(scores))
    for own, others, sign in ((positive, negatives, 1), (~positive, positives, -1)):
        ranks = sum(np.searchsorted(others, scores.values[own], side) for side in ("left", "right"))
        wins[own] = sign * ranks / (2 * len(others))
    return _deviations(wins, positive) + _deviations(wins, ~positive)


@dataclass(frozen=True, eq=False)
class Statistic:
    """What is to be known of weighted pairs.

    needed: kinds of pairs, as rows of zeros and ones; without any pair of a kind there is no value.
    influence: what each pair adds to the value's deviation, shape (n_pairs,), if known: the linear part of value.
    """

    value: OfWeights
    needed: Floats
    influence: Floats | None = None

    def exists(self, weights: Floats) -> bool:
        """Whether some pair of each kind has weight."""
        return bool(np.all(self.needed @ weights > 0))


@dataclass(frozen=True, eq=False)
class Spread:
    """How a number varies, shapes (), or many numbers, shapes (n_points,).

    acceleration: a = Σe³/(6·(Σe²)^1.5) of the effects e of units, within ±0.1: the variance grows with the number.
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


def bootstrap(statistic: Statistic, units: Units, n_resamples: int, rng: np.random.Generator) -> Spread:
    """Draw units with replacement; product weights measure Σψ_u² + Σψ_uv², so the cells are subtracted twice."""
    n, values, effects = units.n_units, [], np.zeros(1)
    centre = statistic.value(np.ones(len(units.first)))
    for _ in range(n_resamples):
        unit_weights, weights = _draw(statistic, units, rng)
        values.append(statistic.value(weights))
        if n <= MOST_GROUPS and statistic.influence is None:  # a unit's effect is the covariance with its weight
            effects = effects + np.multiply.outer(unit_weights - 1, values[-1] - centre)
    cells = cell_variance(statistic, units, n_resamples, rng)
    variance = (n / (n - 1)) ** 3 * np.var(values, axis=0, ddof=1) - 2 * cells
    variance = np.maximum(variance, cells)
    if statistic.influence is not None:
        return Spread.of_effects(variance, units.sums(statistic.influence))
    if n > MOST_GROUPS:
        return Spread(variance, np.full(np.shape(variance), n - 1.0), np.zeros(np.shape(variance)))
    return Spread.of_effects(variance, effects)


def jackknife(statistic: Statistic, units: Units, n_resamples: int, rng: np.random.Generator) -> Spread:
    """Leave out each unit with all its pairs: (n−1)/n·Σ(θ₍u₎ − mean)², less the cells, which it counts twice."""
    values = leave_out(statistic, units, rng)
    n, effects = len(values), values.mean(axis=0) - values
    cells = cell_variance(statistic, units, n_resamples, rng)
    variance = (n - 1) / n * np.sum(effects**2, axis=0) - cells
    return Spread.of_effects(np.maximum(variance, cells), effects)


def leave_out(statistic: Statistic, units: Units, rng: np.random.Generator) -> Floats:
    """The statistic without each unit (or group of units), shape (n, …); of its linear part if that is known."""
    if statistic.influence is not None:
        total = np.zeros(units.n_units)
        for kind in statistic.needed:
            rest = 1 - units.sums(kind) / kind.sum()
            _refuse_losses(bool(np.all(rest > 0)))
            total -= units.sums(statistic.influence * kind) / rest
        return total
    groups, values = units.grouped(rng, MOST_GROUPS), []
    for group in range(groups.n_units):
        weights = groups.without(group)
        _refuse_losses(statistic.exists(weights))
        values.append(statistic.value(weights))
    return np.array(values)


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


def _draw(statistic: Statistic, units: Units, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Weights of units and of pairs for which the statistic exists."""
    for _ in range(1000):
        unit_weights = units.draw(rng)
        weights = units.pair_weights(unit_weights)
        if statistic.exists(weights):
            return unit_weights, weights
    raise InputError("hardly any resample has both labels; give more identities with positive and negative pairs")


def _refuse_losses(exists: bool) -> None:
    if not exists:
        raise InputError(
            "one unit takes part in all positive or in all negative pairs; give pairs of more identities, "
            "or use method='bootstrap'"
        )


def degrees_of_freedom(n: float, squares: Floats, fourths: Floats) -> Floats:
    """min(n − 1, 2n/(κ − 1)) from Σe² and Σe⁴: a variance to which few units contribute is itself uncertain.

    The kurtosis κ is corrected for the size of the sample (unbiased for normal effects).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtosis = n * fourths / squares**2
    if n > 3:
        kurtosis = 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (kurtosis - 3) + 6)
    return np.asarray(2 * n / np.fmax(kurtosis - 1, 2 * n / (n - 1)))


def earlier_equals(entries: Ints) -> Ints:
    """How many earlier entries each entry equals, (n,).

    >>> earlier_equals(np.array([5, 2, 5, 5, 2])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(entries, kind="stable")
    found = entries[order]
    ranks = np.empty(len(entries), dtype=np.int64)
    ranks[order] = np.arange(len(entries)) - np.searchsorted(found, found)
    return ranks
