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
def set_rows_and_columns(Q: Floats, slots: Ints, rows: Floats) -> None:
    """Q[slots, :n] = rows and Q[:n, slots] = rowsᵀ, where rows are the new rows of the leading n × n part of Q."""
    n, tile = rows.shape[1], 16
    for t in nb.prange(len(slots)):
        slot = slots[t]
        for j in range(n):
            Q[slot, j] = rows[t, j]
    for block in nb.prange((n + tile - 1) // tile):
        first, last = block * tile, min((block + 1) * tile, n)
        for t in range(len(slots)):
            # A few neighbours at a time, so that reading across rows uses whole cache lines.
            for i in range(first, last):
                Q[i, slots[t]] = rows[t, i]


@nb.njit(cache=True, parallel=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def sum_rows(Q: Floats, index: Ints, weights: Floats, out: Floats) -> None:
    """out = Σ_k weights_k · Q[index_k], that is Q x for a symmetric Q and a sparse x."""
    chunk = 1024
    for c in nb.prange((len(out) + chunk - 1) // chunk):
        first, last = c * chunk, min((c + 1) * chunk, len(out))
        part = out[first:last]
        part[:] = 0.0
        for k in range(len(index)):
            row, weight = Q[index[k], first:last], weights[k]
            for j in range(last - first):
                part[j] += weight * row[j]
