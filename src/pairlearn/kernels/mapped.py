"""A linear kernel behind a linear map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel
from pairlearn.types import Examples, Floats


@dataclass(frozen=True, eq=False)
class Mapped(Kernel):
    """k(a, b) = ⟨Wᵀa, Wᵀb⟩ for a matrix W, (d, q).

    >>> import numpy as np
    >>> Mapped(np.array([[2.0], [0.0]]))(np.array([[1.0, 5.0]]), np.array([[3.0, 7.0]])).tolist()
    [[12.0]]
    """

    matrix: Floats

    def features(self, A: Examples) -> Floats:
        """Wᵀa as rows, (len(A), q)."""
        if not (sparse.issparse(A) or isinstance(A, np.ndarray)) or A.ndim != 2 or A.shape[1] != len(self.matrix):
            raise InputError(f"this kernel compares rows of {len(self.matrix)} numbers, got {np.shape(A)}")
        return np.asarray(A @ self.matrix)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return np.asarray(self.features(A) @ self.features(B).T)

    def diag(self, A: Examples) -> Floats:
        Z = self.features(A)
        return np.einsum("ij,ij->i", Z, Z)
