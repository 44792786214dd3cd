"""(K + ρ)⁻¹ in closed form: the eigenbasis of the base Gram matrix makes it diagonal."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from pairlearn import loops
from pairlearn.linalg.pool import POOL
from pairlearn.linalg.tiles import evenly, product
from pairlearn.operators.sandwich import Sandwich
from pairlearn.types import Floats, Precision

PARTS = 4
"""Row blocks of a product whose result is symmetric, so that three eighths of it need not be computed; the more
calls, the longer threads wait for each other on a busy machine."""


def lower_product(A: Floats, B: Floats, out: Floats) -> None:
    """The lower triangle of out = A B, and some of what is above it."""
    parts = evenly(len(out), min(PARTS, -(-len(out) // 64)))

    def tile(number: int) -> None:
        at = parts[-1 - number]  # the largest first
        np.matmul(A[at], B[:, : at.stop], out=out[at, : at.stop])

    POOL.run(tile, len(parts), 2.0 * out.size * len(B))


@dataclass(frozen=True)
class Eigenbasis:
    """G = U Λ Uᵀ of the left and of the right examples, one and the same where they are of one table."""

    sandwich: Sandwich
    left: tuple[Floats, Floats]
    right: tuple[Floats, Floats]

    @classmethod
    def of(cls, sandwich: Sandwich) -> Eigenbasis:
        """Some 9 m³ operations, once."""
        left = decomposed(sandwich.left)
        return cls(sandwich, left, left if sandwich.right is sandwich.left else decomposed(sandwich.right))


def decomposed(G: Floats) -> tuple[Floats, Floats]:
    values, U = eigh(G, driver="evd", check_finite=False)
    return np.maximum(values, 0.0), np.ascontiguousarray(U)


class Resolvent:
    """R ↦ (K + ρ)⁻¹ R on matrices: U [(Uᵀ R W) / (scale·λ_k μ_l + ρ)] Wᵀ, four products for any ρ.

    Where R is symmetric or antisymmetric so is all else, and two of the four are computed by half.
    """

    exact: tuple[str, ...] = ()
    """Names of arrays that stay in float64."""

    def __init__(self, basis: Eigenbasis, rho: float, dtype: Precision) -> None:
        (values, U), (others, W) = basis.left, basis.right
        self.sign, self.rho = basis.sandwich.sign, rho
        self.U = U.astype(dtype, copy=False)
        self.W = self.U if W is U else W.astype(dtype, copy=False)
        self.turned = np.ascontiguousarray(self.W.T)
        self.D = (1.0 / (basis.sandwich.scale * np.outer(values, others) + rho)).astype(dtype)
        self.spare = np.empty(self.D.shape, dtype)

    def in_float32(self) -> Self:
        """The same with all matrices in float32; itself if they are."""
        if self.U.dtype == np.float32:
            return self
        found = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.dtype == np.float64 and name not in self.exact:
                setattr(found, name, value.astype(np.float32))
        if self.W is self.U:
            found.W = found.U
        return found

    def solve(self, R: Floats) -> None:
        """R ← (K + ρ)⁻¹ R; of a symmetric or antisymmetric result the lower triangle only."""
        half = lower_product if self.sign else product
        product(R, self.W, self.spare)
        half(self.U.T, self.spare, R)
        if self.sign:
            loops.splitting.scale_lower(R, self.D, float(self.sign))
        else:
            R *= self.D
        self._correct(R)
        product(R, self.turned, self.spare)
        half(self.U, self.spare, R)

    def _correct(self, X: Floats) -> None:
        """What is left to do in the eigenbasis: nothing here, see `correction`."""
