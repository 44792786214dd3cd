"""Numbers instead of ids: whole numbers from a short range are counted, not sorted.

Every interval groups pairs by identity. Sorting a million strings takes seconds, sorting numbers tenths of one, and
marking numbers of a short range in a table hundredths; so ids are numbered once, and the quick way is taken where it
is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pairlearn.evaluation.scores import Column
from pairlearn.types import Bools, Ints

KINDS = {"examples": ("left", "right"), "identities": ("left_identity", "right_identity")}
"""What ids name, and the columns of `Scores` that hold them."""

Names = Mapping[str, Sequence[str]]
"""The names that numbers 0, 1, … stand for, by kind."""

SPARSE = 8
"""Largest range of numbers, as a multiple of how many there are, for which a table of all of them is quicker."""


def named(key: Any, names: Sequence[str] | None) -> str:
    """What an id is called: itself, unless it is the number of a name.

    >>> named(1, ["ann", "bob"]), named("eve", None)
    ('bob', 'eve')
    """
    return str(key) if names is None else names[key]


def numbered(left: Column, right: Column) -> tuple[Ints, Ints]:
    """Numbers 0, 1, … of the ids on both sides, in the order of the ids.

    >>> [codes.tolist() for codes in numbered(np.array([7, 9, 7]), np.array([9, 3, 3]))]
    [[1, 2, 1], [2, 0, 0]]
    """
    present = _present(left, right)
    if present is None:
        both = np.unique(np.concatenate([left, right]), return_inverse=True)[1]
        return both[: len(left)], both[len(left) :]
    codes = np.cumsum(present, dtype=np.int32) - 1
    return codes[left], codes[right]


def distinct(left: Column, right: Column) -> Column:
    """The ids of both sides, each once, in order.

    >>> distinct(np.array(["b", "a"]), np.array(["c", "b"])).tolist()
    ['a', 'b', 'c']
    """
    present = _present(left, right)
    if present is None:
        return np.unique(np.concatenate([np.unique(left), np.unique(right)]))
    return np.flatnonzero(present)


def _present(left: Column, right: Column) -> Bools | None:
    """Which of the numbers 0, 1, … occur; None where ids are no such numbers, or far apart."""
    if not len(left) or left.dtype.kind not in "iu" or right.dtype.kind not in "iu":
        return None
    low, high = _range(left, right)
    if low < 0 or high > SPARSE * len(left):
        return None
    present = np.zeros(high + 1, dtype=bool)
    present[left] = present[right] = True
    return present


def _range(left: Column, right: Column) -> tuple[int, int]:
    return min(int(left.min()), int(right.min())), max(int(left.max()), int(right.max()))
