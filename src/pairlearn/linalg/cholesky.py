"""Cholesky factors of any size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, lapack

from pairlearn.linalg.threads import blas_threads
from pairlearn.types import Floats

PANEL = 12_288
"""Larger matrices go panel by panel: with several threads, OpenBLAS 0.3.30 crashes in dpotrf from about 15,000 rows."""

WATCHED, AT_ONCE = 512, 2048
"""The same where someone looks at the clock, and rows up to which it is not worth a look. Panels so narrow take little
memory beside the matrix."""


def cholesky(A: Floats, panel: int = PANEL, look: Callable[[], None] | None = None) -> bool:
    """Replace the lower triangle of A (column-major) by that of L with A = LLᵀ; False when A is not positive definite.

    `look` is called before every panel, and may raise.

    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]], order="F")
    >>> cholesky(A), np.tril(A).tolist()
    (True, [[2.0, 0.0], [1.0, 2.0]])
    """
    n = len(A)
    panel = panel if look is None or n <= AT_ONCE else min(panel, WATCHED)
    with blas_threads(n**3 / 3):
        if n <= panel:
            return int(lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)[1]) == 0
        for first in range(0, n, panel):
            if look is not None:
                look()
            last = min(first + panel, n)
            # What the finished panels on the left contribute to this one.
            A[first:, first:last] -= A[first:, :first] @ A[first:last, :first].T
            corner, trouble = lapack.dpotrf(A[first:last, first:last].copy("F"), lower=1, overwrite_a=1, clean=0)
            if trouble:
                return False
            A[first:last, first:last] = corner
            A[last:, first:last] = blas.dtrsm(1.0, corner, A[last:, first:last], side=1, lower=1, trans_a=1)
    return True


def forward(L: Floats, right: Floats, panel: int = 1024) -> Floats:
    """L⁻¹ right for a lower triangle L (column-major) and many columns; panels keep the work in matrix products.

    >>> import numpy as np
    >>> forward(np.array([[2.0, 0.0], [1.0, 4.0]], order="F"), np.array([[2.0], [5.0]])).tolist()
    [[1.0], [1.0]]
    """
    out = np.array(right, order="F")
    with blas_threads(float(len(L)) ** 2 * out.shape[1]):
        for first in range(0, len(L), panel):
            last = min(first + panel, len(L))
            if first:
                out[first:last] -= L[first:last, :first] @ out[:first]
            corner = np.asfortranarray(L[first:last, first:last])
            out[first:last] = blas.dtrsm(1.0, corner, out[first:last], side=0, lower=1)
    return out
