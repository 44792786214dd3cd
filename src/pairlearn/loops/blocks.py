"""Copies between dense blocks, compiled and parallel."""

from __future__ import annotations

import numba as nb

from pairlearn.types import Floats, Ints


@nb.njit(cache=True, parallel=True)
def copy_lower(Q: Floats, index: Ints, out: Floats) -> None:
    """Lower triangle of Q[index][:, index] into a column-major square; Q is symmetric."""
    n = len(index)
    for k in nb.prange(n):
        # Long and short columns alternate, so that threads share the work evenly.
        j = k // 2 if k % 2 == 0 else n - 1 - k // 2
        row = Q[index[j]]
        for i in range(j, n):
            out[i, j] = row[index[i]]


@nb.njit(cache=True, parallel=True)
def set_columns(Q: Floats, slots: Ints, rows: Floats, n: int) -> None:
    """Q[:n, slots] = rowsᵀ, where rows are the new rows Q[slots, :n]."""
    for i in nb.prange(n):
        row = Q[i]
        for t in range(len(slots)):
            row[slots[t]] = rows[t, i]
