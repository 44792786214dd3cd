"""Which units the pairs belong to: the identities, examples or pairs that are drawn anew.

A resample gives unit u the multiplicity w_u. A pair inside one unit then counts w_u times, a pair of two units u ≠ v
counts w_u·w_v times; pairs of a unit with a copy of itself do not exist in the data and are not made up. All pairs of
the same two units form a *cell*: they depend on the same two draws, and must not be counted as two pieces of chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Bools, Floats, Ints

UNITS = {"identity": ("left_identity", "right_identity"), "example": ("left", "right")}
"""Kinds of units, and the two columns of `Scores` that name them; a unit "pair" needs none."""


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
        """Marks the pairs inside one unit, such as the positive pairs of an identity; shape (n_pairs,)."""
        return self.cells < 0

    def pair_weights(self, weights: Floats) -> Floats:
        """Weights of pairs (n_pairs,) from weights of units (n_units,): w_u inside a unit, w_u·w_v between two.

        >>> units = Units(np.array([0, 0]), np.array([2, 1]), np.array([-1, 0]), 2)
        >>> units.pair_weights(np.array([2.0, 3.0])).tolist()
        [2.0, 6.0]
        """
        padded = np.append(weights, 1.0)  # the unit n_units, which is no unit, has weight one
        return cast("Floats", padded[self.first] * padded[self.second])

    def draw(self, rng: np.random.Generator) -> Floats:
        """Multiplicities (n_units,) of the units when n_units of them are drawn with replacement."""
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
        """Sums of a column (n_pairs,) over all pairs of each unit; a pair between two units counts in both.

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

        >>> inside = Units(np.repeat([0, 1, 2], 4), np.full(12, 3), np.full(12, -1), 3)
        >>> inside.effective_number(np.ones(12, dtype=bool))
        3.0
        """
        inside, between = self.sums(chosen & self.inside), self.sums(chosen & ~self.inside)
        return float(np.sum(chosen) ** 2 / (inside @ inside + 0.5 * between @ between))


def units_of(scores: Scores, unit: str) -> Units:
    """Number the units of the pairs; `unit` is "identity", "example" or "pair".

    >>> units = units_of(Scores([1, 2, 3], [1, -1, -1], left_identity=[7, 7, 7], right_identity=[7, 8, 8]), "identity")
    >>> units.first.tolist(), units.second.tolist(), units.cells.tolist()
    ([0, 0, 0], [2, 1, 1], [-1, 0, 0])
    """
    if unit == "pair":
        return single_units(len(scores))
    if unit not in UNITS:
        raise InputError(f"unit must be identity, example or pair, got {unit!r}")
    left, right = (getattr(scores, name) for name in UNITS[unit])
    if left is None:
        raise InputError(
            f"the scores do not know {' and '.join(UNITS[unit])}, so pairs that share an {unit} cannot be seen; "
            f"give both columns to Scores, or use {_other_unit(scores)}"
        )
    return numbered_units(left, right)


def single_units(n: int) -> Units:
    """Every pair, or example, a unit of its own."""
    return Units(np.arange(n), np.full(n, n), np.full(n, -1), n)


def _other_unit(scores: Scores) -> str:
    if scores.left_identity is not None:
        return "unit='identity'"
    if scores.left is not None:
        return "unit='example', which misses what the examples of an identity have in common"
    return "unit='pair', which takes all pairs for independent (they rarely are)"


def numbered_units(left: Any, right: Any) -> Units:
    """The units that two columns of names or numbers name, (n_pairs,) each."""
    names, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    one, other = codes[: len(left)], codes[len(left) :]
    low, high, n = np.minimum(one, other), np.maximum(one, other), len(names)
    between = low != high
    cells = np.full(low.size, -1, dtype=np.int64)
    cells[between] = np.unique(low[between] * n + high[between], return_inverse=True)[1]
    return Units(low, np.where(between, high, n), cells, n)


def earlier_equals(entries: Ints) -> Ints:
    """How many earlier entries each entry equals, (n,): what makes counts by unit cumulative in one pass.

    >>> earlier_equals(np.array([5, 2, 5, 5, 2])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(entries, kind="stable")
    found = entries[order]
    ranks = np.empty(len(entries), dtype=np.int64)
    ranks[order] = np.arange(len(entries)) - np.searchsorted(found, found)
    return ranks
