"""What a base kernel is: a frozen value that compares two tables of examples; sums, products, multiples of kernels.

A new kernel is a frozen dataclass with `__call__` and `diag` (see `pairlearn.kernels.vector` for short ones);
everything else has a default that is always right, if not always fast. What a kernel *claims* (`definite`, `isotropic`,
`parity`) decides what is derived from it: symmetry of pair kernels, which checks are skipped, which operator is used. A
wrong claim is not noticed at fit; `pairlearn.testing.check_kernel` tries each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples
from pairlearn.types import Examples, Floats, Ints


class Kernel(ABC):
    """Similarity of examples: `kernel(A, B)` is the (len(A), len(B)) matrix k(a, b).

    `definite` says whether every Gram matrix is positive semidefinite: True, False or None (unknown). Machines trust
    True, refuse False, and check a sample for None.
    `isotropic` says that k depends on inner products only, hence k(Ta, Tb) = k(a, b) for every orthogonal T; on
    features of pairs, whose swap is such a T, it makes the pair kernel order-invariant.
    `parity` is +1 when k(−a, b) = k(a, b), −1 when k(−a, b) = −k(a, b), 0 otherwise or when unknown; on features that
    change sign with the order of a pair, it makes the pair kernel symmetric or antisymmetric.

    `symmetric` says that k(a, b) = k(b, a) follows from its form; where it does not, Gram matrices are checked.
    `precomputed` says that examples are rows of similarities to the training examples: these are known only by their
    columns, so new examples are compared with them but not with each other, and rows are no features.
    `by_column` says that features, where there is one per column of the examples, are those of the columns.

    Kernels add, multiply and scale:

    >>> from pairlearn.kernels import Gaussian, Linear
    >>> Linear() + 0.5 * Gaussian(gamma=2.0)
    Linear() + 0.5 * Gaussian(gamma=2.0)
    """

    definite: bool | None = True
    isotropic: bool = False
    parity: int = 0
    symmetric: bool = True
    precomputed: bool = False
    by_column: bool = True

    @property
    def sides(self) -> tuple[Kernel, ...]:
        """The kernel of each table that it compares: itself, or those of left and right examples in two domains."""
        return (self,)

    @abstractmethod
    def __call__(self, A: Examples, B: Examples) -> Floats:
        """Matrix of k(a, b), shape (len(A), len(B))."""

    @abstractmethod
    def diag(self, A: Examples) -> Floats:
        """Vector of k(a, a), shape (len(A),)."""

    def resolved(self, examples: Examples) -> Kernel:
        """The same kernel with every data-dependent parameter fixed on these examples.

        Machines call it once, on the examples that their training pairs refer to, so that no test example and no
        unused one influences what is learnt.
        """
        return self

    def features(self, A: Examples) -> Floats | None:
        """Z with k(a, b) = ⟨z_a, z_b⟩ exactly, shape (len(A), r), or None when there is no cheap one.

        With r features instead of a Gram matrix of m examples, products cost O(m·r²) instead of O(m³) and memory m·r
        instead of m².
        """
        return None

    def anchor(self, examples: Examples, index: Ints) -> Any:
        """What must be kept of the examples `index` to compare others with them later: B of `kernel(new, B)`.

        The rows themselves for most kernels; a precomputed kernel keeps the numbers of their columns.
        """
        return take_examples(examples, index)

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, other)

    def __rmul__(self, factor: float) -> Kernel:
        return Scaled(self, factor)


def _all_definite(*kernels: Kernel) -> bool | None:
    """Sums and products of definite kernels are definite (Schur); of others nothing is known."""
    return True if all(kernel.definite is True for kernel in kernels) else None


def _factor(kernel: Kernel) -> str:
    """The kernel as a factor of a product: a sum in brackets."""
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)


class _Combined(Kernel):
    """Two kernels on the same examples: what sums and products share."""

    first: Kernel
    second: Kernel

    def anchor(self, examples: Examples, index: Ints) -> Any:
        if self.first.precomputed != self.second.precomputed:
            raise InputError("a precomputed kernel cannot be combined with one that needs features; compute both")
        return self.first.anchor(examples, index)

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return _all_definite(self.first, self.second)

    @property
    def isotropic(self) -> bool:  # type: ignore[override]
        return self.first.isotropic and self.second.isotropic

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.first.symmetric and self.second.symmetric

    @property
    def precomputed(self) -> bool:  # type: ignore[override]
        return self.first.precomputed or self.second.precomputed


@dataclass(frozen=True, repr=False)
class Sum(_Combined):
    """k₁(a, b) + k₂(a, b); its features are those of both side by side."""

    first: Kernel
    second: Kernel

    def __repr__(self) -> str:
        return f"{self.first!r} + {self.second!r}"

    @property
    def parity(self) -> int:  # type: ignore[override]
        return self.first.parity if self.first.parity == self.second.parity else 0

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return self.first(A, B) + self.second(A, B)

    def diag(self, A: Examples) -> Floats:
        return self.first.diag(A) + self.second.diag(A)

    def resolved(self, examples: Examples) -> Kernel:
        return Sum(self.first.resolved(examples), self.second.resolved(examples))

    def features(self, A: Examples) -> Floats | None:
        parts = self.first.features(A), self.second.features(A)
        return None if parts[0] is None or parts[1] is None else np.hstack(parts)  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class Product(_Combined):
    """k₁(a, b) · k₂(a, b); no features, for there would be r₁·r₂ of them."""

    first: Kernel
    second: Kernel

    def __repr__(self) -> str:
        return f"{_factor(self.first)} * {_factor(self.second)}"

    @property
    def parity(self) -> int:  # type: ignore[override]
        return self.first.parity * self.second.parity

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return self.first(A, B) * self.second(A, B)

    def diag(self, A: Examples) -> Floats:
        return self.first.diag(A) * self.second.diag(A)

    def resolved(self, examples: Examples) -> Kernel:
        return Product(self.first.resolved(examples), self.second.resolved(examples))


class OfOne(Kernel):
    """A function of the values of one other kernel: as symmetric as that, and precomputed where that is."""

    kernel: Kernel

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.kernel.symmetric

    @property
    def precomputed(self) -> bool:  # type: ignore[override]
        return self.kernel.precomputed


@dataclass(frozen=True, repr=False)
class Scaled(OfOne):
    """factor · k(a, b), factor > 0, so that definiteness, isotropy and parity stay what they are."""

    kernel: Kernel
    factor: float

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_factor(self.kernel)}"

    def __post_init__(self) -> None:
        if not isinstance(self.factor, (int, float, np.number)) or not 0 < float(self.factor) < np.inf:
            raise InputError(f"a kernel is scaled by a finite factor > 0, got {self.factor!r}")

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return self.kernel.definite

    @property
    def isotropic(self) -> bool:  # type: ignore[override]
        return self.kernel.isotropic

    @property
    def by_column(self) -> bool:  # type: ignore[override]
        return self.kernel.by_column

    @property
    def parity(self) -> int:  # type: ignore[override]
        return self.kernel.parity

    def anchor(self, examples: Examples, index: Ints) -> Any:
        return self.kernel.anchor(examples, index)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return self.factor * self.kernel(A, B)

    def diag(self, A: Examples) -> Floats:
        return self.factor * self.kernel.diag(A)

    def resolved(self, examples: Examples) -> Kernel:
        return Scaled(self.kernel.resolved(examples), self.factor)

    def features(self, A: Examples) -> Floats | None:
        Z = self.kernel.features(A)
        return None if Z is None else Z * np.sqrt(self.factor)


@dataclass(frozen=True)
class TwoDomains(Kernel):
    """`left` compares left examples, `right` right ones; an example of one side and one of the other have 0.

    It never compares two tables itself: whoever holds pairs of two domains asks its two parts.
    """

    left: Kernel
    right: Kernel

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return _all_definite(self.left, self.right)

    @property
    def precomputed(self) -> bool:  # type: ignore[override]
        return self.left.precomputed or self.right.precomputed

    @property
    def sides(self) -> tuple[Kernel, ...]:
        return self.left, self.right

    def __call__(self, A: Examples, B: Examples) -> Floats:
        raise InputError("two base kernels need pairs of two domains: pl.Pairs(drugs, …, right_examples=targets)")

    def diag(self, A: Examples) -> Floats:
        return self(A, A)


def join_sides(sides: tuple[Kernel, ...]) -> Kernel:
    """The kernel with these sides, one or two."""
    return sides[0] if len(sides) == 1 else TwoDomains(*sides)


def self_products(kernel: Kernel, A: Examples) -> Floats:
    """k(a, a) one example at a time, (len(A),), for kernels without a shortcut.

    n calls with one example each are slower than one call with n, but that would compute n² values to keep n of them.
    """
    rows = (take_examples(A, np.array([i])) for i in range(count_examples(A)))
    return np.array([kernel(row, row)[0, 0] for row in rows])
