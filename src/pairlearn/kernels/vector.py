"""Kernels on rows of numbers, dense or sparse, float32 or float64."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel
from pairlearn.types import Examples, Floats, Ints


def _rows(A: Examples) -> Examples:
    if not (sparse.issparse(A) or (isinstance(A, np.ndarray) and A.ndim == 2)):
        shape = f" of shape {A.shape}" if isinstance(A, np.ndarray) else ""
        raise InputError(
            f"this kernel needs rows of numbers, got {type(A).__name__}{shape}; "
            "flatten the examples or pass base=pl.kernels.FromFunction(similarity)"
        )
    return A


def _inner(A: Examples, B: Examples) -> Floats:
    """⟨a, b⟩ for all rows."""
    A, B = _rows(A), _rows(B)
    if A.shape[1] != B.shape[1]:
        raise InputError(f"examples have {A.shape[1]} features, but the model was fitted with {B.shape[1]}")
    product = A @ B.T if A.dtype.kind == "f" or B.dtype.kind == "f" else A.astype(np.float64) @ B.T
    return cast(Floats, product.toarray() if sparse.issparse(product) else np.asarray(product))


def _squared_norms(A: Examples) -> Floats:
    A = _rows(A)
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def _power(values: Floats, degree: int) -> Floats:
    # Repeated products keep integers exact and are faster than a float power.
    result = values
    for _ in range(int(degree) - 1):
        result = result * values
    return result


def _variance(X: Examples) -> float:
    """Variance of all entries, zeros of a sparse matrix included."""
    if not sparse.issparse(X):
        return float(np.var(X, dtype=np.float64))
    size, values = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean = values.sum() / size
    return float((((values - mean) ** 2).sum() + (size - len(values)) * mean**2) / size)


@dataclass(frozen=True)
class Linear(Kernel):
    """⟨a, b⟩.

    >>> import numpy as np
    >>> Linear()(np.eye(2), np.array([[3.0, 4.0]])).ravel().tolist()
    [3.0, 4.0]
    """

    isotropic = True
    parity = -1

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return _inner(A, B)

    def diag(self, A: Examples) -> Floats:
        return _squared_norms(A)

    def features(self, A: Examples) -> Floats | None:
        return np.asarray(_rows(A)) if not sparse.issparse(A) else None


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(γ⟨a, b⟩ + c)^degree; homogeneous when c = 0.

    >>> import numpy as np
    >>> Polynomial(degree=2)(np.eye(2), np.array([[3.0, 4.0]])).ravel().tolist()
    [9.0, 16.0]
    """

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0
    isotropic = True

    def __post_init__(self) -> None:
        if not float(self.degree).is_integer() or self.degree < 1:
            raise InputError(f"degree must be a positive integer, got {self.degree!r}; try degree=2")
        if not self.gamma > 0:
            raise InputError(f"gamma must be > 0, got {self.gamma!r}; try gamma=1.0")

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.coef0 >= 0

    @property
    def parity(self) -> int:  # type: ignore[override]
        return 0 if self.coef0 else 1 - 2 * (int(self.degree) % 2)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return _power(self.gamma * _inner(A, B) + self.coef0, self.degree)

    def diag(self, A: Examples) -> Floats:
        return _power(self.gamma * _squared_norms(A) + self.coef0, self.degree)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(−γ‖a − b‖²); "scale" is γ = 1 / (d · variance of the training examples).

    >>> import numpy as np
    >>> Gaussian(gamma=0.5)(np.zeros((1, 2)), np.array([[1.0, 1.0]])).round(4).tolist()
    [[0.3679]]
    """

    gamma: float | Literal["scale"] = "scale"
    isotropic = True

    def __post_init__(self) -> None:
        if self.gamma != "scale" and not (isinstance(self.gamma, (int, float, np.number)) and self.gamma > 0):
            raise InputError(f'gamma must be > 0 or "scale", got {self.gamma!r}; try gamma="scale"')

    def resolved(self, examples: Examples) -> Kernel:
        if self.gamma != "scale":
            return self
        X = _rows(examples)
        variance = _variance(X)
        return replace(self, gamma=1.0 / (X.shape[1] * variance) if variance > 0 else 1.0)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        D = _inner(A, B)
        D *= -2.0
        D += _squared_norms(A)[:, None]
        D += _squared_norms(B)[None, :]
        np.maximum(D, 0.0, out=D)
        if A is B:
            np.fill_diagonal(D, 0.0)
        D *= -self._number()
        return np.exp(D, out=D)

    def diag(self, A: Examples) -> Floats:
        return np.ones(_rows(A).shape[0])

    def _number(self) -> float:
        if self.gamma == "scale":
            raise InputError('gamma="scale" is fixed at fit; call kernel.resolved(examples) first')
        return float(self.gamma)


@dataclass(frozen=True)
class Exponential(Kernel):
    """exp(k(a, b) / σ²) of another kernel k."""

    kernel: Kernel = field(default_factory=Linear)
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise InputError(f"sigma must be > 0, got {self.sigma!r}; try sigma=1.0")

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return True if self.kernel.definite else None

    @property
    def isotropic(self) -> bool:  # type: ignore[override]
        return self.kernel.isotropic

    def anchor(self, examples: Examples, index: Ints) -> Any:
        return self.kernel.anchor(examples, index)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return np.exp(self.kernel(A, B) / self.sigma**2)

    def diag(self, A: Examples) -> Floats:
        return np.exp(self.kernel.diag(A) / self.sigma**2)

    def resolved(self, examples: Examples) -> Kernel:
        return replace(self, kernel=self.kernel.resolved(examples))


@dataclass(frozen=True)
class Cosine(Kernel):
    """k(a, b) / √(k(a, a) k(b, b)) of another kernel k; 0 where k(a, a) = 0.

    >>> import numpy as np
    >>> Cosine()(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.0]]
    """

    kernel: Kernel = field(default_factory=Linear)

    def anchor(self, examples: Examples, index: Ints) -> Any:
        kept = self.kernel.anchor(examples, index)
        if type(kept) is not type(super().anchor(examples, index)):
            raise InputError("a precomputed matrix does not hold k(a, a) of new examples; normalise it beforehand")
        return kept

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return self.kernel.definite

    @property
    def isotropic(self) -> bool:  # type: ignore[override]
        return self.kernel.isotropic

    @property
    def parity(self) -> int:  # type: ignore[override]
        return self.kernel.parity

    def __call__(self, A: Examples, B: Examples) -> Floats:
        K = self.kernel(A, B)
        return K * self._inverse_norms(A)[:, None] * self._inverse_norms(B)[None, :]

    def diag(self, A: Examples) -> Floats:
        return (self.kernel.diag(A) > 0).astype(np.float64)

    def resolved(self, examples: Examples) -> Kernel:
        return replace(self, kernel=self.kernel.resolved(examples))

    def features(self, A: Examples) -> Floats | None:
        Z = self.kernel.features(A)
        return None if Z is None else Z * self._inverse_norms(A)[:, None]

    def _inverse_norms(self, A: Examples) -> Floats:
        norms = np.sqrt(np.maximum(self.kernel.diag(A), 0.0))
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


@dataclass(frozen=True)
class Standardised(Kernel):
    """⟨(a − μ)/σ, (b − μ)/σ⟩ with mean and standard deviation per feature, fixed at fit; 0 for a constant feature.

    >>> import numpy as np
    >>> rows = np.array([[1.0], [3.0]])
    >>> Standardised().resolved(rows)(rows, rows).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    mean: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None

    def resolved(self, examples: Examples) -> Kernel:
        if self.mean is not None:
            return self
        X = np.asarray(_rows(examples), dtype=np.float64)
        return Standardised(tuple(X.mean(axis=0).tolist()), tuple(X.std(axis=0).tolist()))

    def features(self, A: Examples) -> Floats | None:
        if self.mean is None or self.scale is None:
            raise InputError("mean and scale are fixed at fit; call kernel.resolved(examples) first")
        scale = np.array(self.scale)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return (np.asarray(_rows(A), dtype=np.float64) - np.array(self.mean)) * inverse

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return _inner(self.features(A), self.features(B))

    def diag(self, A: Examples) -> Floats:
        return _squared_norms(self.features(A))
