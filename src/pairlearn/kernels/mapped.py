"""Kernels behind a map of the examples: what an online pseudo-metric has learnt, or some of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel
from pairlearn.kernels.content import ByContent, shape_of, table_content
from pairlearn.kernels.rows import is_positive, rows, squared_norms
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


@dataclass(frozen=True)
class OnColumns(Kernel):
    """k(z_a, z_b), where z holds the columns starts[i] … stops[i] − 1 of every part i, each part over its norm.

    A part is one representation of the examples among several that stand side by side. Its norm is the root mean
    square of ‖a‖ over the training examples, fixed at fit, so that all parts have the same mean k(a, a) of a linear
    kernel, whatever their units and however many columns they have.

    >>> import numpy as np
    >>> from pairlearn.kernels import Linear
    >>> rows = np.array([[3.0, 4.0, 70.0], [5.0, 0.0, 10.0]])
    >>> OnColumns(Linear(), (0,), (2,)).resolved(rows)(rows, rows).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """

    kernel: Kernel
    starts: tuple[int, ...]
    stops: tuple[int, ...]
    norms: tuple[float, ...] | None = None
    by_column = False

    def __post_init__(self) -> None:
        spans = list(zip(self.starts, self.stops, strict=False))
        if not spans or len(self.starts) != len(self.stops) or any(not 0 <= low < high for low, high in spans):
            raise InputError(f"parts of the columns go from start to stop > start, got {self.starts} and {self.stops}")
        if self.norms is not None and (len(self.norms) != len(spans) or not all(map(is_positive, self.norms))):
            raise InputError(f"every part has one norm > 0, got {self.norms}")

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return self.kernel.definite

    @property
    def parity(self) -> int:  # type: ignore[override]
        return self.kernel.parity

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.kernel.symmetric

    def resolved(self, examples: Examples) -> OnColumns:
        norms = self.norms or tuple(_size(part) for part in self._parts(examples))
        fixed = replace(self, norms=norms)
        return replace(fixed, kernel=self.kernel.resolved(fixed.shown(examples)))

    def shown(self, A: Examples) -> Examples:
        """z of every example, (len(A), columns of all parts)."""
        if self.norms is None:
            raise InputError("the norms of the parts are fixed at fit; call kernel.resolved(examples) first")
        parts = [part / norm for part, norm in zip(self._parts(A), self.norms, strict=True)]
        return sparse.hstack(parts, format="csr") if sparse.issparse(parts[0]) else np.hstack(parts)

    def _parts(self, A: Examples) -> list[Any]:
        X = rows(A)
        if X.shape[1] < max(self.stops):
            raise InputError(f"this kernel reads {max(self.stops)} columns, the examples have {X.shape[1]}")
        return [X[:, low:high] for low, high in zip(self.starts, self.stops, strict=True)]

    def __call__(self, A: Examples, B: Examples) -> Floats:
        shown = self.shown(A)
        return self.kernel(shown, shown if A is B else self.shown(B))

    def diag(self, A: Examples) -> Floats:
        return self.kernel.diag(self.shown(A))

    def features(self, A: Examples) -> Floats | None:
        return self.kernel.features(self.shown(A))


def _size(part: Any) -> float:
    """Root mean square of the norms of rows; 1 for a part that is zero."""
    return float(np.sqrt(np.mean(squared_norms(part)))) or 1.0
