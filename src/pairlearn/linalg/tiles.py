"""Matrix products in tiles that a pool of threads takes as they come.

How a matrix is cut follows from its shape and from the machine alone, and every tile is one call of one-threaded BLAS:
the result has the same bits whatever the number of threads and whatever else the machine does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from itertools import product as every

import numpy as np

from pairlearn.linalg.pool import POOL, SMALL
from pairlearn.linalg.threads import blas_threads
from pairlearn.types import Floats

PER_CORE, LARGE = 2, 4e10
"""Tiles of larger products for each core of the machine, and operations from which on there are more, by their cube
root. A tile copies its factors into an order of its own: 1250 × 1250 costs 6 % more than the whole, 313 × 313 30 %."""
LONG = 8
"""A sum so many times longer than the sides of a tile is cut too; its parts are added up in their order."""
LEAST = 128
"""Rows or columns of a tile at least."""
CORES = os.cpu_count() or 1
"""Of the machine, whether this process may use them or not."""


def product(A: Floats, B: Floats, out: Floats | None = None) -> Floats:
    """A B, row-major (m, n); A is (m, k), B (k, n), either may be a transposed view. `out` must not overlap them.

    >>> import numpy as np
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    (m, k), n = A.shape, B.shape[1]
    out = np.empty((m, n), np.result_type(A, B)) if out is None else out
    rows, cols, sums = _cut(m, n, k)
    tiles = list(every(cols, rows))
    if len(tiles) * len(sums) == 1:
        with blas_threads(0):
            return np.matmul(A, B, out=out)
    A, B = A.astype(out.dtype, copy=False), B.astype(out.dtype, copy=False)

    def tile(s: slice, number: int, into: Floats) -> None:
        at, to = tiles[number][::-1]
        np.matmul(A[at, s], B[s, to], out=into[at, to])

    _in_parts(tile, len(tiles), sums, out)
    return out


def gram(A: Floats) -> Floats:
    """A Aᵀ, (m, m), symmetric bit by bit: half the work of a product.

    >>> import numpy as np
    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]])).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """
    m, k = A.shape
    out = np.empty((m, m), A.dtype)
    rows, _, sums = _cut(m, m, k)
    tiles = [(i, j) for i, j in every(range(len(rows)), repeat=2) if i >= j]

    def tile(s: slice, number: int, into: Floats) -> None:
        at, to = (rows[place] for place in tiles[number])
        np.matmul(A[at, s], A[to, s].T, out=into[at, to])  # a matrix with itself: NumPy's result is symmetric
        if at != to:
            into[to, at] = into[at, to].T

    _in_parts(tile, len(tiles), sums, out)
    return out


def _in_parts(tile: Callable[[slice, int, Floats], None], count: int, sums: list[slice], out: Floats) -> None:
    """All tiles of every part of a long sum, and the sum of the parts."""
    parts = [out, *(np.empty_like(out) for _ in sums[1:])]
    POOL.run(lambda piece: tile(sums[piece // count], piece % count, parts[piece // count]), count * len(sums))
    for part in parts[1:]:
        out += part


def _cut(m: int, n: int, k: int) -> tuple[list[slice], list[slice], list[slice]]:
    """Parts of the rows, of the columns and of the sum: the longest is halved until there are enough tiles."""
    operations, pieces = 2.0 * m * n * k, [1, 1, 1]
    if operations >= SMALL:
        wanted = PER_CORE * CORES * max(1.0, (operations / LARGE) ** (1 / 3))
        while np.prod(pieces) < 0.7 * wanted:
            sizes = (m / pieces[0], n / pieces[1], k / pieces[2] / LONG)
            longest = int(np.argmax(sizes))
            if sizes[longest] < 2 * LEAST:
                break
            pieces[longest] *= 2
    rows, cols, sums = (evenly(size, number) for size, number in zip((m, n, k), pieces, strict=True))
    return rows, cols, sums


def evenly(size: int, parts: int) -> list[slice]:
    """0 … size − 1 in so many parts of nearly equal size.

    >>> evenly(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    parts = max(1, parts)
    ends = [size * number // parts for number in range(parts + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]
