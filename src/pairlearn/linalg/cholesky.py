"""Cholesky factors of any size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from pairlearn.linalg.pool import POOL
from pairlearn.linalg.threads import blas_threads
from pairlearn.linalg.tiles import evenly, product
from pairlearn.linalg.unlocked import solve_left, solve_right
from pairlearn.types import Floats

AT_ONCE, PANEL = 1024, 512
"""Rows up to which LAPACK does it in one go, and columns of a panel of larger matrices. OpenBLAS 0.3.30 crashes in
dpotrf from about 15,000 rows with several threads."""
ROWS, COLUMNS = 1024, 256
"""Rows of a tile of a panel, and right-hand sides that are solved together."""


PACKED = 3072
"""Bytes per row of a matrix that BLAS copies panels of it to, in buffers of its own that stay for the next one."""


def packed_bytes(n: int) -> int:
    """Bytes of BLAS's buffers after a factor of n rows: those of SciPy's BLAS, and of NumPy's where panels need both.

    >>> packed_bytes(1000), packed_bytes(4000)
    (3072000, 24576000)
    """
    return PACKED * n * (1 if n <= AT_ONCE else 2)


def factor_bytes(n: int) -> int:
    """Bytes of an n × n matrix and of what factoring it takes on its way: a tile of a panel for each of two threads.

    >>> factor_bytes(1000), factor_bytes(4000)
    (8000000, 136388608)
    """
    return 8 * n**2 + (0 if n <= AT_ONCE else 2 * 8 * ROWS * PANEL)


def cholesky(A: Floats, panel: int | None = None, look: Callable[[], None] | None = None) -> bool:
    """Replace the lower triangle of A (column-major) by that of L with A = LLᵀ; False when A is not positive definite.

    `look` is called before every panel, and may raise. Panels so narrow take little memory beside the matrix.

    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]], order="F")
    >>> cholesky(A), np.tril(A).tolist()
    (True, [[2.0, 0.0], [1.0, 2.0]])
    """
    n = len(A)
    panel = panel or (max(n, 1) if n <= AT_ONCE else PANEL)
    with blas_threads(0):
        for first in range(0, n, panel):
            if look is not None and n > panel:
                look()
            if not _panel(A, first, min(first + panel, n)):
                return False
    return True


def _panel(A: Floats, first: int, last: int) -> bool:
    """Columns first … last − 1 of the factor, whose columns on the left are done; whether that was possible."""
    done = A[first:last, :first]
    if first:
        A[first:last, first:last].T[:] -= product(done, done.T)
    corner, trouble = lapack.dpotrf(A[first:last, first:last], lower=1, overwrite_a=1, clean=0)
    if trouble:
        return False
    if last - first == len(A):
        return True  # in place
    A[first:last, first:last] = corner
    rows = evenly(len(A) - last, -(-(len(A) - last) // ROWS))

    def below(number: int) -> None:
        """What the finished columns and the corner leave of some rows."""
        at = slice(last + rows[number].start, last + rows[number].stop)
        if first:
            A[at, first:last].T[:] -= done @ A[at, :first].T
        solve_right(corner, A[at, first:last])

    POOL.run(below, len(rows))
    return True


def forward(L: Floats, right: Floats, panel: int = 1024) -> Floats:
    """L⁻¹ right for a lower triangle L (column-major) and many columns; panels keep the work in matrix products.

    >>> import numpy as np
    >>> forward(np.array([[2.0, 0.0], [1.0, 4.0]], order="F"), np.array([[2.0], [5.0]])).tolist()
    [[1.0], [1.0]]
    """
    out = np.array(right, order="F", dtype=np.float64)
    with blas_threads(0):
        for first in range(0, len(L), panel):
            last = min(first + panel, len(L))
            if first:
                out[first:last].T[:] -= product(out[:first].T, L[first:last, :first].T)
            corner = L[first:last, first:last]
            cols = evenly(out.shape[1], -(-out.shape[1] // COLUMNS))
            POOL.run(lambda number: solve_left(corner, out[first:last, cols[number]]), len(cols))  # noqa: B023
    return out
