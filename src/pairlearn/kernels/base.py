"""What a base kernel is: a frozen value that compares two tables of examples."""

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

    `definite` says whether every Gram matrix is positive semidefinite: True, False or None (unknown).
    Kernels add, multiply and scale: `Linear() + 0.5 * Gaussian(gamma=2.0)`.
    """

    definite: bool | None = True

    @abstractmethod
    def __call__(self, A: Examples, B: Examples) -> Floats:
        """Matrix of k(a, b), shape (len(A), len(B))."""

    @abstractmethod
    def diag(self, A: Examples) -> Floats:
        """Vector of k(a, a), shape (len(A),)."""

    def resolved(self, examples: Examples) -> Kernel:
        """The same kernel with every data-dependent parameter fixed on these examples."""
        return self

    def features(self, A: Examples) -> Floats | None:
        """Z with k(a, b) = ⟨z_a, z_b⟩ exactly, shape (len(A), r), or None when there is no cheap one."""
        return None

    def anchor(self, examples: Examples, index: Ints) -> Any:
        """What must be kept of the examples `index` to compare others with them later."""
        return take_examples(examples, index)

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, other)

    def __rmul__(self, factor: float) -> Kernel:
        return Scaled(self, factor)


def _all_definite(*kernels: Kernel) -> bool | None:
    return True if all(kernel.definite is True for kernel in kernels) else None


class _Combined(Kernel):
    """Two kernels on the same examples."""

    first: Kernel
    second: Kernel

    def anchor(self, examples: Examples, index: Ints) -> Any:
        kept, other = self.first.anchor(examples, index), self.second.anchor(examples, index)
        if type(kept) is not type(other):
            raise InputError("a precomputed kernel cannot be combined with one that needs features; compute both")
        return kept

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return _all_definite(self.first, self.second)


@dataclass(frozen=True)
class Sum(_Combined):
    """k₁(a, b) + k₂(a, b)."""

    first: Kernel
    second: Kernel

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return self.first(A, B) + self.second(A, B)

    def diag(self, A: Examples) -> Floats:
        return self.first.diag(A) + self.second.diag(A)

    def resolved(self, examples: Examples) -> Kernel:
        return Sum(self.first.resolved(examples), self.second.resolved(examples))

    def features(self, A: Examples) -> Floats | None:
        parts = self.first.features(A), self.second.features(A)
        return None if parts[0] is None or parts[1] is None else np.hstack(parts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Product(_Combined):
    """k₁(a, b) · k₂(a, b)."""

    first: Kernel
    second: Kernel

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return self.first(A, B) * self.second(A, B)

    def diag(self, A: Examples) -> Floats:
        return self.first.diag(A) * self.second.diag(A)

    def resolved(self, examples: Examples) -> Kernel:
        return Product(self.first.resolved(examples), self.second.resolved(examples))


@dataclass(frozen=True)
class Scaled(Kernel):
    """factor · k(a, b), factor > 0."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not isinstance(self.factor, (int, float, np.number)) or not 0 < float(self.factor) < np.inf:
            raise InputError(f"a kernel is scaled by a finite factor > 0, got {self.factor!r}")

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return self.kernel.definite

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


def self_products(kernel: Kernel, A: Examples) -> Floats:
    """k(a, a) one example at a time, for kernels without a shortcut."""
    rows = (take_examples(A, np.array([i])) for i in range(count_examples(A)))
    return np.array([kernel(row, row)[0, 0] for row in rows])
