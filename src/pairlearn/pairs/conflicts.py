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
    _, first, group = np.unique(_keys(pairs, flip, ordered), return_index=True, return_inverse=True)
    second = np.nonzero(labels != labels[first[group]])[0]
    return Conflicts(first[group[second]], second, left[second], right[second])


def _keys(pairs: Pairs, flip: Bools, ordered: bool) -> Ints:
    key = pairs.codes(ordered=ordered)
    blocks = [pairs.invariant, None if pairs.signed is None else np.where(flip[:, None], -pairs.signed, pairs.signed)]
    features = [block for block in blocks if block is not None]
    if not features:
        return key
    return merge_equal_rows(np.hstack([key[:, None].astype(np.float64), *features]) + 0.0)[1].astype(np.int64)
