"""Pairs by number: with the examples sorted by class, the pairs of one label are ranges of numbers.

Numbers are drawn, and only the drawn ones become pairs. All pairs of 100,000 examples are 5·10⁹, 80 GB of index
columns; a sample of them costs memory for the sample and for the examples alone.

Sorted by class, the matrix of pairs (p, q), p < q, is positive in a triangle per class and negative in the block
right of it. Row p of the positives reaches from p + 1 to the end of its class, row p of the negatives from there to
the last example: each label is a run of consecutive columns per row, which `NumberedPairs` counts through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs import Columns, Triangle, class_codes
from pairlearn.types import Ints


@dataclass(frozen=True, eq=False)
class NumberedPairs:
    """Pairs (order[p], order[q]) with q from first[p] on, numbered row by row.

    Row p has lengths[p] pairs, and its numbers end before ends[p] = Σ lengths[:p + 1]. From number to pair by a binary
    search in `ends`, from pair to number by arithmetic: both without a list of the pairs.
    """

    order: Ints
    first: Ints
    lengths: Ints
    ends: Ints

    @classmethod
    def of(cls, order: Ints, first: Ints, stop: Ints) -> NumberedPairs:
        """Row p holds the columns first[p], …, stop[p] − 1."""
        return cls(order, first, stop - first, np.cumsum(stop - first))

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.ends[-1])

    def columns(self, numbers: Ints) -> Columns:
        """The pairs with these numbers, smaller example left."""
        row = np.searchsorted(self.ends, numbers, side="right")
        place = self.first[row] + numbers - (self.ends - self.lengths)[row]
        return in_order(self.order[row], self.order[place])

    def numbers(self, columns: Columns) -> Ints:
        """The numbers of these pairs."""
        position = np.zeros(int(self.order.max()) + 1, dtype=np.int64)
        position[self.order] = np.arange(len(self.order))
        row, place = in_order(position[columns[0]], position[columns[1]])
        return (self.ends - self.lengths - self.first)[row] + place


@dataclass(frozen=True, eq=False)
class Groups:
    """The examples in the order of their classes, and the number of examples of each class."""

    order: Ints
    sizes: Ints

    @classmethod
    def of(cls, classes: Any, n_examples: int | None = None) -> Groups:
        """Check the classes and sort the examples by them."""
        codes = class_codes(classes, n_examples)
        return cls(np.argsort(codes, kind="stable"), np.bincount(codes))

    @property
    def stops(self) -> Ints:
        """Where in the order each example's class ends."""
        return np.repeat(np.cumsum(self.sizes), self.sizes)

    def pairs_within(self, reflexive: bool) -> Ints:
        """Number of positive pairs of each class."""
        return self.sizes * (self.sizes + (1 if reflexive else -1)) // 2

    def positives(self, reflexive: bool) -> NumberedPairs:
        """All pairs within a class: Σ s(s ∓ 1)/2 over classes of size s."""
        return NumberedPairs.of(self.order, np.arange(len(self.order)) + (0 if reflexive else 1), self.stops)

    def negatives(self) -> NumberedPairs:
        """All pairs of two classes."""
        stops = self.stops
        return NumberedPairs.of(self.order, stops, np.full_like(stops, len(self.order)))

    def capped(self, cap: int, rng: np.random.Generator) -> Groups:
        """At most `cap` random examples of each class."""
        sizes = np.minimum(self.sizes, cap)
        return Groups(self.order[draw_from_ranges(rng, self.sizes, sizes)], sizes)

    def even_negatives(self, n: int, rng: np.random.Generator) -> Columns:
        """n negatives spread evenly over the pairs of classes."""
        a, b, quotas = self._class_pairs(n, rng)
        sizes = self.sizes[a] * self.sizes[b]
        numbers = draw_from_ranges(rng, sizes, even_quotas(rng, sizes, n) if quotas is None else quotas)
        pair = np.searchsorted(np.cumsum(sizes), numbers, side="right")
        i, j = np.divmod(numbers - (np.cumsum(sizes) - sizes)[pair], self.sizes[b][pair])
        begins = np.cumsum(self.sizes) - self.sizes
        return in_order(self.order[begins[a][pair] + i], self.order[begins[b][pair] + j])

    def _class_pairs(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints | None]:
        # Many classes have more pairs than are asked for: then choose among them first, one negative from each.
        triangle = Triangle(len(self.sizes), reflexive=False)
        if n >= len(triangle):
            return (*triangle.all_columns(), None)
        return (*triangle.columns(draw_numbers(rng, len(triangle), n)), np.ones(n, dtype=np.int64))


def in_order(a: Ints, b: Ints) -> Columns:
    """The smaller index left."""
    return np.minimum(a, b), np.maximum(a, b)


def joined(first: Columns, second: Columns) -> Columns:
    """The pairs of both, one after the other."""
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])


def no_columns() -> Columns:
    """No pair."""
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


# --------------------------------------------------------------------------- random numbers without repeats


def draw_numbers(rng: np.random.Generator, size: int, n: int) -> Ints:
    """n of the numbers below `size`, sorted; every choice is equally likely."""
    return draw_from_ranges(rng, np.array([size]), np.array([n]))


def draw_from_ranges(rng: np.random.Generator, sizes: Ints, quotas: Ints) -> Ints:
    """quotas[g] numbers of the g-th range, sorted; the ranges have these sizes and follow each other.

    Drawing with repeats, dropping them and drawing the missing ones again gives every set with equal probability, in
    time and memory of the quotas, whatever the sizes. Of a range that is used by more than half, the numbers left out
    are drawn instead: then a new number is new with probability ½ at least, and trying again stays rare.
    """
    mostly = 2 * quotas > sizes
    begins = np.cumsum(sizes) - sizes
    drawn = _draw_few(rng, begins, sizes, np.where(mostly, sizes - quotas, quotas))
    if not mostly.any():
        return drawn
    return np.setxor1d(drawn, _ranges(begins[mostly], sizes[mostly]), assume_unique=True)


def _draw_few(rng: np.random.Generator, begins: Ints, sizes: Ints, quotas: Ints) -> Ints:
    """quotas[g] different numbers of each range, none of which is asked for more than half of its numbers."""
    found: Ints = np.zeros(0, dtype=np.int64)
    missing = quotas
    while missing.any():
        group = np.repeat(np.arange(len(sizes)), missing)
        found = _sorted_once(np.concatenate([found, begins[group] + rng.integers(sizes[group])]))
        where = np.searchsorted(begins + sizes, found, side="right")
        missing = quotas - np.bincount(where, minlength=len(sizes))
    return found


def _sorted_once(numbers: Ints) -> Ints:
    """The different numbers, sorted."""
    numbers = np.sort(numbers)  # np.unique hashes integers, which takes fifty times as long
    return numbers[np.diff(numbers, prepend=-1) > 0]


def _ranges(begins: Ints, sizes: Ints) -> Ints:
    """begins[g], begins[g] + 1, …, sizes[g] numbers of each."""
    shift = begins - (np.cumsum(sizes) - sizes)
    return np.repeat(shift, sizes) + np.arange(int(sizes.sum()))


def random_quotas(rng: np.random.Generator, limits: Ints, n: int) -> Ints:
    """How many of n things drawn from groups of these sizes fall into each group."""
    numbers = draw_numbers(rng, int(limits.sum()), n)
    return np.bincount(np.searchsorted(np.cumsum(limits), numbers, side="right"), minlength=len(limits))


def even_quotas(rng: np.random.Generator, limits: Ints, n: int) -> Ints:
    """n shared out so that no group below its limit has two fewer than another; who gets one more is random."""
    level = _level(limits, n)
    quotas = np.minimum(limits, level)
    above = rng.permutation(np.nonzero(limits > level)[0])
    quotas[above[: n - int(quotas.sum())]] += 1
    return quotas


def _level(limits: Ints, n: int) -> int:
    """The largest level L with Σ min(limit, L) ≤ n: up to it all groups can be filled with n things, by bisection."""
    low, high = 0, int(limits.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(limits, middle).sum() <= n else (low, middle - 1)
    return low


def draw_untaken(numbered: NumberedPairs, taken: Columns, n: int, rng: np.random.Generator) -> Columns:
    """n random pairs of these that are not taken."""
    if n == 0:
        return no_columns()
    gone = np.sort(numbered.numbers(taken))
    numbers = draw_numbers(rng, numbered.size - len(gone), n)
    # gone[t] − t untaken numbers lie below gone[t], so untaken number k lies above all gone[t] with gone[t] − t ≤ k.
    return numbered.columns(numbers + np.searchsorted(gone - np.arange(len(gone)), numbers, side="right"))


# --------------------------------------------------------------------------- checks


def check_count(name: str, value: int | None, least: int = 0) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if value is not None and not (whole and value >= least):
        raise InputError(f"{name} must be an integer ≥ {least} or None, got {value!r}")
