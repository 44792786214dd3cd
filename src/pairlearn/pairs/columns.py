"""The two index columns of pairs: given and checked, or computed by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.types import Ints

Columns = tuple[Ints, Ints]
"""Row of the left example and row of the right example of every pair, (n_pairs,) each."""


@dataclass(frozen=True)
class Triangle:
    """All pairs i ≤ j (or i < j) of m examples in row order, never stored.

    The pairs (i, i), (i, i + 1), …, (i, m − 1) stand one after the other, row after row. With L = m (or m − 1 without
    reflexive pairs) pairs in row 0 and one fewer in each further row, row i starts at

        offset(i) = i·L − i(i − 1)/2,

    and pair k stands in the row i with offset(i) ≤ k < offset(i + 1): the smaller root of a quadratic equation.
    Ten million examples have 5·10¹³ pairs; these formulas find any of them without listing the others.

    >>> Triangle(3, reflexive=False).columns([0, 2])
    (array([0, 1], dtype=int32), array([1, 2], dtype=int32))
    """

    n_examples: int
    reflexive: bool = True

    def __len__(self) -> int:
        m = self.n_examples
        return m * (m + 1) // 2 if self.reflexive else m * (m - 1) // 2

    def offset(self, row: Any) -> Any:
        """Number of the first pair of a row."""
        m = self.n_examples + (0 if self.reflexive else -1)
        return row * m - row * (row - 1) // 2

    def columns(self, index: Any) -> Columns:
        """Left and right example of the pairs with these numbers."""
        k = np.asarray(index, dtype=np.int64)
        length = self.n_examples + (0 if self.reflexive else -1)
        b = 2.0 * length + 1.0
        row = np.floor((b - np.sqrt(np.maximum(b * b - 8.0 * k, 0.0))) / 2.0).astype(np.int64)
        # The square root may be off by one in the last bit: settle it in integers.
        row = np.where(self.offset(row) > k, row - 1, row)
        row = np.where(self.offset(row + 1) <= k, row + 1, row)
        right = row + (k - self.offset(row)) + (0 if self.reflexive else 1)
        return row.astype(np.int32), right.astype(np.int32)

    def number(self, left: Ints, right: Ints) -> Ints:
        """Numbers of the pairs of these examples, left ≤ right.

        >>> Triangle(3, reflexive=False).number(np.array([0, 1]), np.array([1, 2])).tolist()
        [0, 2]
        """
        row = np.asarray(left, dtype=np.int64)
        found: Ints = self.offset(row) + (right - row) - (0 if self.reflexive else 1)
        return found

    def n_alike(self, codes: Ints) -> int:
        """Number of pairs whose examples have the same code (0, 1, …), (m,).

        >>> Triangle(3, reflexive=False).n_alike(np.array([0, 1, 0]))
        1
        """
        counts = np.bincount(codes).astype(np.int64)
        return int((counts * (counts + (1 if self.reflexive else -1)) // 2).sum())

    def all_columns(self) -> Columns:
        """Left and right example of every pair."""
        m, shift = self.n_examples, 0 if self.reflexive else 1
        rows, right = np.arange(m, dtype=np.int32), np.empty(len(self), dtype=np.int32)
        for i in range(m):  # four bytes per pair, and nothing in between
            right[self.offset(i) : self.offset(i + 1)] = rows[i + shift :]
        return np.repeat(rows, m - shift - rows), right


def check_columns(left: Any, right: Any, n_left: int, n_right: int) -> Columns:
    """Both columns as row numbers of tables with n_left and n_right rows, or what is wrong with them."""
    columns = check_column(left, "left", n_left), check_column(right, "right", n_right)
    if len(columns[0]) != len(columns[1]):
        raise InputError(
            f"left has {len(columns[0])} entries and right has {len(columns[1])}; each pair needs one of both"
        )
    return columns


def check_column(column: Any, name: str, n_examples: int) -> Ints:
    """One column of row numbers 0 … n_examples − 1; four bytes per entry where they suffice."""
    index = np.asarray(column)
    if index.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {index.shape}")
    if len(index) == 0:
        raise InputError("there are no pairs: left and right are empty; give at least one pair")
    if index.dtype.kind not in "iu":
        raise InputError(
            f"{name} must hold integer row numbers, got {index.dtype}; "
            "join a table with other ids by pl.Pairs.from_ids(examples, example_ids, left_ids, right_ids)"
        )
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= n_examples:
        bad = low if low < 0 else high
        raise InputError(f"{name} has index {bad}, but the examples are 0 … {n_examples - 1}")
    return index.astype(np.int32 if n_examples <= 2**31 - 1 else np.int64)


def as_index(key: Any, n: int) -> Ints:
    """A slice, mask or array of integers (negative ones count from the end) as numbers 0 … n − 1 of pairs."""
    if isinstance(key, slice):
        return np.arange(*key.indices(n))
    index = np.asarray(key)
    if index.dtype == bool:
        if index.shape != (n,):
            raise IndexError(f"a mask needs one entry per pair, {n}, got shape {index.shape}")
        return np.nonzero(index)[0]
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise IndexError("index pairs with a slice, a mask or an array of integers")
    index = index.astype(np.int64)
    if index.size and (index.min() < -n or index.max() >= n):
        raise IndexError(f"pair number out of range: there are {n} pairs")
    return np.where(index < 0, index + n, index)
