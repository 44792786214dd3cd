"""Square matrices and their transposes, in place: NumPy would make a copy of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairlearn.types import Floats


def add_transpose(A: Floats, tile: int = 128) -> None:
    """A ← A + Aᵀ in place, tile by tile.

    >>> import numpy as np
    >>> A = np.array([[1.0, 2.0], [5.0, 3.0]])
    >>> add_transpose(A)
    >>> A.tolist()
    [[2.0, 7.0], [7.0, 6.0]]
    """
    for rows, cols in _tiles(len(A), tile):
        both = A[rows, cols] + A[cols, rows].T
        A[rows, cols] = both
        A[cols, rows] = both.T


def transposed(A: Floats, tile: int = 128) -> Floats:
    """Aᵀ, row-major; a square A is overwritten by it.

    >>> import numpy as np
    >>> transposed(np.array([[1.0, 2.0], [5.0, 3.0]])).tolist()
    [[1.0, 5.0], [2.0, 3.0]]
    """
    if A.shape[0] != A.shape[1]:
        return np.ascontiguousarray(A.T)
    for rows, cols in _tiles(len(A), tile):
        corner = A[rows, cols].copy()
        A[rows, cols] = A[cols, rows].T
        A[cols, rows] = corner.T
    return A


def _tiles(n: int, tile: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the tiles on and above the diagonal."""
    starts = range(0, n, tile)
    return ((slice(i, i + tile), slice(j, j + tile)) for i in starts for j in starts if j >= i)
