"""A linear kernel behind a linear map: what an online pseudo-metric has learnt, as a base kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel
from pairlearn.kernels.content import ByContent, shape_of, table_content
from pairlearn.types import Examples, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Mapped(ByContent, Kernel):
    """k(a, b) = ⟨Wᵀa, Wᵀb⟩ for a matrix W, (d, q); with WWᵀ = A this is aᵀAb, the inner product of a learnt metric.

    >>> import numpy as np
    >>> Mapped(np.array([[2.0], [0.0]]))(np.array([[1.0, 5.0]]), np.array([[3.0, 7.0]])).tolist()
    [[12.0]]
    """

    matrix: Floats
    by_column = False

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

    def _content(self) -> Iterator[Any]:
        yield from table_content(self.matrix)

    def _summary(self) -> str:
        return shape_of(self.matrix)
