"""Copies between dense blocks and sums of their rows, compiled and parallel.

A working set changes slot by slot, and pivoting needs arbitrary subsets of it. NumPy's fancy indexing for both took as
long as the algebra on the result; these loops run at the speed of memory.
"""

from __future__ import annotations

import numba as nb

from pairlearn.loops.products import FAST
from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints


@threaded()
def copy_lower(Q: Floats, index: Ints, out: Floats) -> None:
    """Lower triangle of Q[index][:, index] into `out`, a column-major square of len(index); Q is symmetric.

    Each column of `out` is read from a row of Q: contiguous writes, and reads that stay within one row.
    """
    n = len(index)
    for k in nb.prange(n):
        # Long and short columns alternate, so that threads share the work evenly.
        j = k // 2 if k % 2 == 0 else n - 1 - k // 2
        row = Q[index[j]]
        for i in range(j, n):
            out[i, j] = row[index[i]]


@threaded()
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


@threaded(fastmath=FAST)
def sum_rows(Q: Floats, index: Ints, weights: Floats, out: Floats) -> None:
    """out = Σ_k weights_k · Q[index_k], (n,): Q x for a symmetric Q and a sparse x, whole rows instead of columns.

    Threads share the columns, chunk by chunk, so that every entry is summed in the same order whatever their number.
    """
    chunk = 1024
    for c in nb.prange((len(out) + chunk - 1) // chunk):
        first, last = c * chunk, min((c + 1) * chunk, len(out))
        part = out[first:last]
        part[:] = 0.0
        for k in range(len(index)):
            row, weight = Q[index[k], first:last], weights[k]
            for j in range(last - first):
                part[j] += weight * row[j]
