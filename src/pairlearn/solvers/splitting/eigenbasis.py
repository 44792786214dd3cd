"""(K + ρ)⁻¹ in closed form: the eigenbasis of the base Gram matrix makes it diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pairlearn import loops
from pairlearn.linalg.pool import POOL
from pairlearn.linalg.spectral import eigh
from pairlearn.linalg.tiles import evenly, product
from pairlearn.operators.sandwich import Sandwich
from pairlearn.types import Floats, Precision

PARTS = 4
"""Row blocks of a product whose result is symmetric, so that three eighths of it need not be computed; the more
calls, the longer threads wait for each other on a busy machine."""

MOST = 0.8
"""Share of the eigenvectors above which all are taken."""


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

    @property
    def rounding(self) -> float:
        """Least ρ at which a correction in float32 still solves: its rank 2m is off by ε·max λ².

        The checker board's squared base (values of 10⁵, metric kernel) went to a ρ of a hundredth of that, and from
        coefficients of 1 to 10²¹ within ten steps. Without a correction nothing is taken from anything.
        """
        largest = float(self.left[0][0] * self.right[0][0])
        return float(np.finfo(np.float32).eps) * self.sandwich.scale * largest if self.sandwich.corrected else 0.0

    def leading(self, rho: float, negligible: float) -> int:
        """How many eigenvectors matter: scale·λ² is more than a negligible share of ρ; all if most do."""
        values = self.left[0]
        count = max(1, int(np.count_nonzero(self.sandwich.scale * values**2 > negligible * rho)))
        return count if count <= MOST * len(values) else len(values)


def decomposed(G: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, the largest first, and eigenvectors as columns."""
    values, U = eigh(G, check_finite=False)
    return np.maximum(values[::-1], 0.0), np.ascontiguousarray(U[:, ::-1])


class Resolvent(Protocol):
    """R ↦ (K + ρ)⁻¹ R on matrices, for a K that may be known but for a little."""

    def solve(self, R: Floats) -> None:
        """In place; of a symmetric or antisymmetric result the lower triangle only."""


class Whole:
    """For any two tables: U [(Uᵀ R W) / (scale·λ_k μ_l + ρ)] Wᵀ, four products for any ρ."""

    def __init__(self, basis: Eigenbasis, rho: float, dtype: Precision) -> None:
        (values, U), (others, W) = basis.left, basis.right
        self.U = U.astype(dtype, copy=False)
        self.W = self.U if W is U else W.astype(dtype, copy=False)
        self.D = (1.0 / (basis.sandwich.scale * np.outer(values, others) + rho)).astype(dtype)
        self.spare = np.empty(self.D.shape, dtype)

    def solve(self, R: Floats) -> None:
        product(R, self.W, self.spare)
        product(self.U.T, self.spare, R)
        R *= self.D
        product(R, self.W.T, self.spare)
        product(self.U, self.spare, R)


class Leading:
    """For one table, by its r leading eigenvectors U₁, with the rest as one number: 4 products of 2 r m² operations.

    scale·λ_k λ_l + ρ hardly differs from ρ where both eigenvalues are small, so that one number c serves for all of
    them there: scale·λ² with their mean λ, which is off by `negligible`·ρ at most. With d = 1/(ρ + c) for all, what is
    left of 1/(scale·λ_k λ_l + ρ) has r rows and, mirrored, r columns; Z is the rows, with half of what is in both:

        d·R + U₁ Z Uᵀ ± (U₁ Z Uᵀ)ᵀ,   Z = (1/(scale·λ_k λ_l + ρ) − d)∘(U₁ᵀ R U)
    """

    def __init__(self, basis: Eigenbasis, rho: float, dtype: Precision, negligible: float) -> None:
        values, U = basis.left
        m, r = len(values), basis.leading(rho, negligible)
        scale, self.sign = basis.sandwich.scale, float(basis.sandwich.sign)
        self.rest = 1.0 / (rho + (scale * float(values[r:].mean()) ** 2 if r < m else 0.0))
        self.D = 1.0 / (scale * np.outer(values[:r], values) + rho)
        beyond = self.D - self.rest
        for rows in (beyond, self.D):
            rows[:, :r] *= 0.5
        self.beyond, self.D = beyond.astype(dtype), self.D.astype(dtype, copy=False)
        self.U = U.astype(dtype, copy=False)
        self.first = np.ascontiguousarray(self.U[:, :r])
        self.rows, self.turned = np.empty((2, r, m), dtype)
        self.spare = np.empty((m, m), dtype)

    def solve(self, R: Floats) -> None:
        product(self.first.T, R, self.turned)
        product(self.turned, self.U, self.rows)
        shift = self._scale(self.rows, R)
        product(self.rows, self.U.T, self.turned)
        product(self.first, self.turned, self.spare)
        loops.splitting.add_mirrored(R, self.spare, shift, R.dtype.type(self.rest), R.dtype.type(self.sign))

    def _scale(self, X: Floats, R: Floats) -> Floats:
        """Z from X = U₁ᵀ R U, in place, and w: d·(w_a + w_b) is taken from the result; 0 here, see `correction`."""
        X *= self.beyond
        return np.zeros(len(R), R.dtype)
