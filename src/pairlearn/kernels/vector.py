"""Kernels on rows of numbers, dense or sparse, float32 or float64.

To add one: a frozen dataclass with `__call__` and `diag` here (its claims as class attributes), and a line in the law
tests. It is then a name of `pl.kernels`, adds and multiplies with all others and may be stored in model files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel, OfOne
from pairlearn.kernels.rows import (
    check_degree,
    check_spread,
    dense,
    equal_but_rounding,
    has_rows,
    inner,
    is_positive,
    largest,
    moved_to_zero,
    power,
    rows,
    squared_norms,
    unheld,
    variance,
)
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted


@dataclass(frozen=True)
class Linear(Kernel):
    """⟨a, b⟩, the kernel whose features are the examples themselves.

    >>> import numpy as np
    >>> Linear()(np.eye(2), np.array([[3.0, 4.0]])).ravel().tolist()
    [3.0, 4.0]
    """

    isotropic = True
    parity = -1

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return inner(A, B)

    def diag(self, A: Examples) -> Floats:
        return squared_norms(A)

    def features(self, A: Examples) -> Floats | None:
        return np.asarray(rows(A)) if not sparse.issparse(A) else None


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(γ⟨a, b⟩ + c)^degree; homogeneous when c = 0, then of the parity of its degree. Indefinite for c < 0.

    >>> import numpy as np
    >>> Polynomial(degree=2)(np.eye(2), np.array([[3.0, 4.0]])).ravel().tolist()
    [9.0, 16.0]
    """

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0
    isotropic = True

    def __post_init__(self) -> None:
        check_degree(self.degree)
        if not is_positive(self.gamma):
            raise InputError(f"gamma must be a finite number > 0, got {self.gamma!r:.40}; try gamma=1.0")

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.coef0 >= 0

    @property
    def parity(self) -> int:  # type: ignore[override]
        return 0 if self.coef0 else 1 - 2 * (int(self.degree) % 2)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return power(self.gamma * inner(A, B) + self.coef0, self.degree)

    def diag(self, A: Examples) -> Floats:
        return power(self.gamma * squared_norms(A) + self.coef0, self.degree)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(−γ‖a − b‖²); "scale" is γ = 1 / (d · variance of the training examples).

    ‖a − b‖² is ‖a‖² + ‖b‖² − 2⟨a, b⟩, one matrix product instead of (len(A), len(B), d) differences; examples far from
    0 are moved there first, which leaves their differences as they are. Rounding may make it negative for nearby
    examples, so it is cut at 0; that k(a, a) = 1 holds exactly.

    >>> import numpy as np
    >>> Gaussian(gamma=0.5)(np.zeros((1, 2)), np.array([[1.0, 1.0]])).round(4).tolist()
    [[0.3679]]
    """

    gamma: float | Literal["scale"] = "scale"
    isotropic = True

    def __post_init__(self) -> None:
        if self.gamma != "scale" and not is_positive(self.gamma):
            raise InputError(f'gamma must be a finite number > 0 or "scale", got {self.gamma!r:.40}; try gamma="scale"')

    def resolved(self, examples: Examples) -> Kernel:
        if self.gamma != "scale":
            return self
        X = rows(examples)
        spread = X.shape[1] * variance(X)
        return replace(self, gamma=1.0 / check_spread(spread, X) if spread > 0 else 1.0)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        A, B = moved_to_zero(rows(A), rows(B))
        D = inner(A, B)
        D *= -2.0
        D += squared_norms(A)[:, None]
        D += squared_norms(B)[None, :]
        np.maximum(D, 0.0, out=D)
        if A is B:
            np.fill_diagonal(D, 0.0)
        D *= -self._number()
        return np.exp(D, out=D)

    def diag(self, A: Examples) -> Floats:
        return np.ones(rows(A).shape[0])

    def _number(self) -> float:
        """γ, if it is fixed."""
        if self.gamma == "scale":
            raise InputError('gamma="scale" is fixed at fit; call kernel.resolved(examples) first')
        return float(self.gamma)


@dataclass(frozen=True)
class Exponential(OfOne):
    """exp(k(a, b) / σ²) of another kernel k: all its powers at once, with weights 1 / (σ²ⁿ n!), hence definite if k is.

    >>> import numpy as np
    >>> Exponential(sigma=2.0)(np.eye(2), np.eye(2)).round(4).tolist()
    [[1.284, 1.0], [1.0, 1.284]]
    """

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
class Cosine(OfOne):
    """k(a, b) / √(k(a, a) k(b, b)) of another kernel k; 0 where k(a, a) = 0.

    Lengths no longer count, only directions. A zero example has none: 0 keeps the matrix definite, where 0/0 would put
    NaN into every machine.

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

    @property
    def by_column(self) -> bool:  # type: ignore[override]
        return self.kernel.by_column

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
        """1/√k(a, a) of every example, 0 where that is not defined."""
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.sqrt(np.maximum(self.kernel.diag(A), 0.0))
        vanish = len(norms) > 0 and not norms.any()
        if has_rows(A) and (np.isinf(norms).any() or (vanish and largest(A) > 0)):
            raise unheld(largest(A))
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


@dataclass(frozen=True, repr=False)
class Standardised(Kernel):
    """⟨(a − μ)/σ, (b − μ)/σ⟩ with mean and standard deviation per feature, fixed at fit; 0 for a constant feature.

    Not isotropic, and of no parity: the mean is a point of its own. `mean` and `scale` are tuples, so that the kernel
    stays a value that can be compared and stored.

    >>> import numpy as np
    >>> rows = np.array([[1.0], [3.0]])
    >>> Standardised().resolved(rows)(rows, rows).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    mean: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.mean or ()) != len(self.scale or ()):
            raise InputError("mean and scale differ in length; give one of each per feature")

    def __repr__(self) -> str:
        return "Standardised()" if self.mean is None else f"Standardised({counted(len(self.mean), 'feature')})"

    def resolved(self, examples: Examples) -> Kernel:
        if self.mean is not None:
            return self
        X = dense(examples)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, scale = X.mean(axis=0), X.std(axis=0)
        check_spread(float(scale.max(initial=1.0)), X)
        if len(X):
            constant = equal_but_rounding(X.min(axis=0), X.max(axis=0))
            if ((scale == 0) & ~constant).any():
                raise unheld(largest(X))
            scale[constant] = 0.0  # rounding, also that of the mean, is nothing that they spread
        return Standardised(tuple(mean.tolist()), tuple(scale.tolist()))

    def features(self, A: Examples) -> Floats | None:
        if self.mean is None or self.scale is None:
            raise InputError("mean and scale are fixed at fit; call kernel.resolved(examples) first")
        X, scale = dense(A), np.array(self.scale)
        if X.shape[1] != len(scale):
            raise InputError(
                f"examples have {counted(X.shape[1], 'feature')}, but the model was fitted with {len(scale)}"
            )
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return (X - np.array(self.mean)) * inverse

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return inner(self.features(A), self.features(B))

    def diag(self, A: Examples) -> Floats:
        return squared_norms(self.features(A))
