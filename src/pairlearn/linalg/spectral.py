"""Eigenvalues and eigenvectors by one thread.

LAPACK's threads wait for each other where others work too: of 500 rows .04 s by one thread and .5 to 5.5 s by two,
of 2,000 rows 1.4 and 9.9 s, on two cores beside five other processes.
"""

from __future__ import annotations

from scipy import linalg

from pairlearn.linalg.threads import blas_threads
from pairlearn.types import Floats


def eigh(A: Floats, check_finite: bool = True) -> tuple[Floats, Floats]:
    """Eigenvalues of a symmetric matrix, rising, and eigenvectors as columns; A = V diag(λ) Vᵀ.

    >>> import numpy as np
    >>> values, V = eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(9).tolist(), bool(np.allclose(V * values @ V.T, [[2.0, 1.0], [1.0, 2.0]]))
    ([1.0, 3.0], True)
    """
    with blas_threads(0):
        values, vectors = linalg.eigh(A, driver="evd", check_finite=check_finite)
    return values, vectors
