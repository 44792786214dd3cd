"""Outer functions: κ(s) of a pair kernel's value s, plus one self value per pair.

Both are called as `outer(s12, s11, s22)`: s₁₂ (rows, cols) is overwritten by the result, s₁₁ is a column and s₂₂ a row
of self values, used only where `needs_self`. `parity` is +1 when κ(−s) = κ(s), −1 when κ(−s) = −κ(s), 0 otherwise: over
an antisymmetric projection it decides whether the kernel is symmetric, antisymmetric or neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels.rows import check_degree, is_positive
from pairlearn.types import Floats


@dataclass(frozen=True)
class Power:
    """(s + r)^p, by repeated products: exact for small whole numbers, and faster than a float power."""

    degree: int
    offset: float = 0.0
    needs_self: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_degree(self.degree)
        if not self.offset >= 0:
            raise InputError(f"the offset must be ≥ 0 (otherwise the kernel is indefinite), got {self.offset!r}")

    @property
    def parity(self) -> int:
        """That of the degree for r = 0; (−s + r)^p has none."""
        return 0 if self.offset else (1 if self.degree % 2 == 0 else -1)

    def __call__(self, s12: Floats, s11: Floats, s22: Floats) -> Floats:
        s12 += self.offset
        base = s12.copy() if self.degree > 2 else s12
        for _ in range(int(self.degree) - 1):
            s12 *= base
        return s12


@dataclass(frozen=True)
class GaussianOf:
    """exp(−γ(s₁₁ + s₂₂ − 2 s₁₂)), the Gaussian of the distance that the inner product s defines.

    Rounding may make the squared distance negative; it is cut at 0, so that no value exceeds 1.
    """

    gamma: float = 1.0
    needs_self: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_positive(self.gamma):
            raise InputError(f"gamma must be a finite number > 0, got {self.gamma!r:.40}; try 1.0")

    @property
    def parity(self) -> int:
        """None: κ grows with s."""
        return 0

    def __call__(self, s12: Floats, s11: Floats, s22: Floats) -> Floats:
        s12 *= 2.0
        # Both self products in one sum, so that swapping the two pairs changes no bit.
        s12 -= s11 + s22
        s12 *= self.gamma
        np.minimum(s12, 0.0, out=s12)
        return np.exp(s12, out=s12)
