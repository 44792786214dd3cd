"""Square matrices made symmetric where they are."""

from __future__ import annotations

from pairlearn.types import Floats


def add_transpose(A: Floats, tile: int = 512) -> None:
    """A ← A + Aᵀ in place, tile by tile: NumPy would make a copy of the whole.

    >>> import numpy as np
    >>> A = np.array([[1.0, 2.0], [5.0, 3.0]])
    >>> add_transpose(A)
    >>> A.tolist()
    [[2.0, 7.0], [7.0, 6.0]]
    """
    for i in range(0, len(A), tile):
        for j in range(i, len(A), tile):
            rows, cols = slice(i, i + tile), slice(j, j + tile)
            both = A[rows, cols] + A[cols, rows].T
            A[rows, cols] = both
            A[cols, rows] = both.T
