"""Pairs that occur more than once with labels that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.examples import merge_equal_rows
from pairlearn.types import Bools, Ints
from pairlearn.words import counted

if TYPE_CHECKING:
    from pairlearn.pairs.pairs import Pairs


@dataclass(frozen=True, repr=False)
class Conflicts:
    """Contradictory labels: pair number `first[k]` and pair number `second[k]` name the same pair.

    `left` and `right` are the examples of the second one.
    """

    first: Ints
    second: Ints
    left: Ints
    right: Ints

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"Conflicts({self.message()})" if len(self) else "Conflicts(none)"

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        rows = zip(self.first, self.second, self.left, self.right, strict=True)
        return ((int(i), int(j), int(a), int(b)) for i, j, a, b in rows)

    def message(self) -> str:
        """One line with the count and an example."""
        i, j, a, b = next(iter(self))
        return (
            f"{counted(len(self), 'pair carries', 'pairs carry')} contradictory labels, e.g. pairs {i} and {j} both "
            f"join examples {a} and {b}; pairs.conflicts(y) lists them all"
        )


def find_conflicts(pairs: Pairs, labels: np.ndarray[Any, Any], *, antisymmetric: bool, ordered: bool) -> Conflicts:
    """Each pair whose label differs from that of the first pair with the same examples and features.

    Where (a, b) and (b, a) are one pair, those with a > b are swapped first, together with the sign of their `signed`
    features and, for antisymmetric labels, of their label; then equal pairs have equal keys.
    """
    empty = np.zeros(0, dtype=np.int64)
    if pairs.triangle:  # every pair occurs once
        return Conflicts(empty, empty, empty, empty)
    left, right = pairs.columns
    flip = np.zeros(len(pairs), dtype=bool) if ordered else pairs.tables.falling(pairs.columns)
    if antisymmetric:
        labels = np.where(flip, -labels, labels)
    key = pairs.codes(ordered=ordered)
    # Features are copied of pairs that occur more than once alone: of all of them they may be most of the memory.
    rows = _repeated(key)
    if len(rows) == 0:
        return Conflicts(empty, empty, empty, empty)
    groups = _told_apart(key[rows], pairs, rows, flip[rows])
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    known = rows[first[group]]
    differ = labels[rows] != labels[known]
    second = rows[differ]
    return Conflicts(known[differ], second, left[second], right[second])


def _repeated(key: Ints) -> Ints:
    """The places of numbers that occur more than once, ascending."""
    order = np.argsort(key)
    ranked = key[order]
    same = ranked[1:] == ranked[:-1]
    found = np.zeros(len(key), dtype=bool)
    found[order[1:][same]] = found[order[:-1][same]] = True
    return np.nonzero(found)[0]


def _told_apart(key: Ints, pairs: Pairs, rows: Ints, flip: Bools) -> Ints:
    """A number per row, equal where the pairs are the same and so are their features."""
    features = [] if pairs.invariant is None else [pairs.invariant[rows]]
    if pairs.signed is not None:
        features.append(np.where(flip[:, None], -pairs.signed[rows], pairs.signed[rows]))
    if not features:
        return key
    return merge_equal_rows(np.hstack([key[:, None].astype(np.float64), *features]) + 0.0)[1].astype(np.int64)
