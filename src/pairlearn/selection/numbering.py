"""Pairs by number: with the examples sorted by class, the pairs of one label are ranges of numbers.

Numbers are drawn, and only the drawn ones become pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs import Columns, Triangle, class_codes
from pairlearn.types import Ints


@dataclass(frozen=True, eq=False)
class Stairs:
    """Pairs (order[p], order[q]) with q from first[p] on, numbered row by row; row p ends before number ends[p]."""

    order: Ints
    first: Ints
    lengths: Ints
    ends: Ints

    @classmethod
    def of(cls, order: Ints, first: Ints, stop: Ints) -> Stairs:
        return cls(order, first, stop - first, np.cumsum(stop - first))

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    def columns(self, numbers: Ints) -> Columns:
        """The pairs with these numbers, smaller example left."""
        row = np.searchsorted(self.ends, numbers, side="right")
        place = self.first[row] + numbers - (self.ends - self.lengths)[row]
        return upright(self.order[row], self.order[place])

    def numbers(self, columns: Columns) -> Ints:
        """The numbers of these pairs."""
        position = np.zeros(int(self.order.max()) + 1, dtype=np.int64)
        position[self.order] = np.arange(len(self.order))
        row, place = upright(position[columns[0]], position[columns[1]])
        return (self.ends - self.lengths - self.first)[row] + place


@dataclass(frozen=True, eq=False)
class Groups:
    """The examples in the order of their classes, and the number of examples of each class."""

    order: Ints
    sizes: Ints

    @classmethod
    def of(cls, classes: Any, n_examples: int | None = None) -> Groups:
        codes = class_codes(classes, n_examples)
        return cls(np.argsort(codes, kind="stable"), np.bincount(codes))

    @property
    def stops(self) -> Ints:
        """Where in the order each example's class ends."""
        return np.repeat(np.cumsum(self.sizes), self.sizes)

    def pairs_within(self, reflexive: bool) -> Ints:
        """Number of positive pairs of each class."""
        return self.sizes * (self.sizes + (1 if reflexive else -1)) // 2

    def positives(self, reflexive: bool) -> Stairs:
        return Stairs.of(self.order, np.arange(len(self.order)) + (0 if reflexive else 1), self.stops)

    def negatives(self) -> Stairs:
        stops = self.stops
        return Stairs.of(self.order, stops, np.full_like(stops, len(self.order)))

    def capped(self, cap: int, rng: np.random.Generator) -> Groups:
        """At most `cap` random examples of each class."""
        sizes = np.minimum(self.sizes, cap)
        return Groups(self.order[draw(rng, self.sizes, sizes)], sizes)

    def even_negatives(self, n: int, rng: np.random.Generator) -> Columns:
        """n negatives spread evenly over the pairs of classes."""
        a, b, quotas = self._class_pairs(n, rng)
        sizes = self.sizes[a] * self.sizes[b]
        numbers = draw(rng, sizes, even_quotas(rng, sizes, n) if quotas is None else quotas)
        pair = np.searchsorted(np.cumsum(sizes), numbers, side="right")
        i, j = np.divmod(numbers - (np.cumsum(sizes) - sizes)[pair], self.sizes[b][pair])
        begins = np.cumsum(self.sizes) - self.sizes
        return upright(self.order[begins[a][pair] + i], self.order[begins[b][pair] + j])

    def _class_pairs(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints | None]:
        # Many classes have more pairs than are asked for: then choose among them first, one negative from each.
        triangle = Triangle(len(self.sizes), reflexive=False)
        if n >= len(triangle):
            return (*triangle.all_columns(), None)
        return (*triangle.columns(draw_plain(rng, len(triangle), n)), np.ones(n, dtype=np.int64))


def upright(a: Ints, b: Ints) -> Columns:
    return np.minimum(a, b), np.maximum(a, b)


def joined(first: Columns, second: Columns) -> Columns:
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])


def no_columns() -> Columns:
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


# --------------------------------------------------------------------------- random numbers without repeats


def draw_plain(rng: np.random.Generator, size: int, n: int) -> Ints:
    """n of the numbers below `size`, sorted; every choice is equally likely."""
    return draw(rng, np.array([size]), np.array([n]))


def draw(rng: np.random.Generator, sizes: Ints, quotas: Ints) -> Ints:
    """quotas[g] numbers of the g-th range, sorted; the ranges have these sizes and follow each other."""
    # Of a range that is used by more than half, the numbers left out are drawn: trying again stays rare.
    mostly = 2 * quotas > sizes
    begins = np.cumsum(sizes) - sizes
    drawn = _draw_few(rng, begins, sizes, np.where(mostly, sizes - quotas, quotas))
    if not mostly.any():
        return drawn
    return np.setxor1d(drawn, _ranges(begins[mostly], sizes[mostly]), assume_unique=True)


def _draw_few(rng: np.random.Generator, begins: Ints, sizes: Ints, quotas: Ints) -> Ints:
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
    numbers = draw_plain(rng, int(limits.sum()), n)
    return np.bincount(np.searchsorted(np.cumsum(limits), numbers, side="right"), minlength=len(limits))


def even_quotas(rng: np.random.Generator, limits: Ints, n: int) -> Ints:
    """n shared out so that no group below its limit has two fewer than another; who gets one more is random."""
    level = _level(limits, n)
    quotas = np.minimum(limits, level)
    above = rng.permutation(np.nonzero(limits > level)[0])
    quotas[above[: n - int(quotas.sum())]] += 1
    return quotas


def _level(limits: Ints, n: int) -> int:
    """The largest level up to which all groups can be filled with n things."""
    low, high = 0, int(limits.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(limits, middle).sum() <= n else (low, middle - 1)
    return low


def others(stairs: Stairs, taken: Columns, n: int, rng: np.random.Generator) -> Columns:
    """n random pairs of the stairs that are not taken."""
    if n == 0:
        return no_columns()
    gone = np.sort(stairs.numbers(taken))
    numbers = draw_plain(rng, stairs.size - len(gone), n)
    # gone[t] − t untaken numbers lie below gone[t], so untaken number k lies above all gone[t] with gone[t] − t ≤ k.
    return stairs.columns(numbers + np.searchsorted(gone - np.arange(len(gone)), numbers, side="right"))


# --------------------------------------------------------------------------- checks


def check_count(name: str, value: int | None, least: int = 0) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if value is not None and not (whole and value >= least):
        raise InputError(f"{name} must be an integer ≥ {least} or None, got {value!r}")
