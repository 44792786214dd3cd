"""Kernels with terms of one example's side: a correction of rank 2m around the closed form, by Woodbury's formula."""

from __future__ import annotations

import numpy as np
from scipy.linalg import inv, solve

from pairlearn import loops
from pairlearn.linalg.tiles import product
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis, Resolvent, lower_product
from pairlearn.types import Floats, Precision

ACCURACY = 1e-10
"""Of a matrix that is replaced by one of low rank, relative to its norm."""


class Corrected(Resolvent):
    """(P + V C V*)⁻¹ = P⁻¹ − P⁻¹ V M V* P⁻¹ with M = (1 + CQ)⁻¹ C, Q = V*P⁻¹V, (2m, 2m); V* stacks E and H.

    P⁻¹ is the closed form without correction; E, H and C are those of `Sandwich`. In the eigenbasis, o = Uᵀ1,
    E X = U X̂ o, H X = ½diag(UΛ X̂ ΛUᵀ), and V applied to (w, h) is ŵ oᵀ + o ŵᵀ + ΛUᵀ diag(h) UΛ: two products more.
    """

    exact = ("M",)

    def __init__(self, basis: Eigenbasis, rho: float, dtype: Precision, rng: np.random.Generator) -> None:
        super().__init__(basis, rho, dtype)
        values, U = basis.left
        self.UL, self.o = (U * values).astype(dtype), U.sum(axis=0).astype(dtype)
        self.M = woodbury(basis, rho, rng)
        self.weighted = np.empty_like(self.UL)

    def _correct(self, X: Floats) -> None:
        """X ← X − D∘Uᵀ(V M V* U X Uᵀ)U for a symmetric X in the eigenbasis."""
        product(self.UL, X, self.spare)
        own = 0.5 * np.einsum("al,al->a", self.spare, self.UL, dtype=np.float64)
        w, h = np.split(self.M @ np.concatenate([self.U @ (X @ self.o), own]), 2)
        np.multiply(self.UL, h[:, None], out=self.weighted, casting="same_kind")
        lower_product(self.weighted.T, self.UL, self.spare)
        turned = (w @ self.U).astype(X.dtype)
        loops.splitting.subtract_lower(X, self.spare, self.D, turned, self.o)


def resolvent_for(basis: Eigenbasis, rho: float, dtype: Precision, rng: np.random.Generator) -> Resolvent:
    """(K + ρ)⁻¹ of any sandwich."""
    return Corrected(basis, rho, dtype, rng) if basis.sandwich.corrected else Resolvent(basis, rho, dtype)


def woodbury(basis: Eigenbasis, rho: float, rng: np.random.Generator) -> Floats:
    """M of the correction in float64, once for every ρ: (2m, 2m), by m × m matrices only.

    C = [[A, c], [c, 0]] has the inverse [[0, 1/c], [1/c, −A/c²]], so that M = (C⁻¹ + Q)⁻¹ by elimination of its first
    block, the Schur complement of which is inverted. With c = 0 only the first block of M is not 0.
    """
    Q, A, c, m = inner_matrix(basis, rho, rng), middle_block(basis), basis.sandwich.crossed, len(basis.left[0])
    M = np.zeros_like(Q)
    own, mixed, other = Q[:m, :m], Q[:m, m:], Q[m:, m:]
    if c == 0:
        M[:m, :m] = solve(np.eye(m) + product(A, own), A, overwrite_a=True, check_finite=False)
        return M
    mixed[np.diag_indices(m)] += 1.0 / c
    inverse = inv(own, check_finite=False)
    B = product(inverse, mixed)
    other -= A / c**2 + product(mixed.T, B)
    M[m:, m:] = inv(other, check_finite=False)
    M[:m, m:] = -product(B, M[m:, m:])
    M[m:, :m] = M[:m, m:].T
    M[:m, :m] = inverse - product(M[:m, m:], B.T)
    return M


def middle_block(basis: Eigenbasis) -> Floats:
    """A = squares·G∘G + lines·G + constant/4, (m, m)."""
    of, G = basis.sandwich, basis.sandwich.left
    A: Floats = of.squares * G**2 + of.lines * G + 0.25 * of.constant
    return A


def inner_matrix(basis: Eigenbasis, rho: float, rng: np.random.Generator) -> Floats:
    """V*P⁻¹V, (2m, 2m).

    With D the diagonal of P⁻¹ and F = D∘λλᵀ, its blocks are U[diag(D o²) + diag(o) D diag(o)]Uᵀ (E with E),
    U(Uᵀ∘(F diag(o) Uᵀ)) (E with H) and ½Σ_kl F_kl λ_k λ_l (U_ak U_bk)(U_al U_bl) (H with H). F∘λλᵀ is a smooth
    function of λ_k λ_l and so of low rank, Σ_r σ_r v_r v_rᵀ: the last block is ½Σ_r σ_r (U diag(v_r) Uᵀ)∘².
    """
    (values, U), m = basis.left, len(basis.left[0])
    o, lam = U.sum(axis=0), np.outer(values, values)
    D = 1.0 / (basis.sandwich.scale * lam + rho)
    Q = np.zeros((2 * m, 2 * m))
    block = D * np.outer(o, o)
    block[np.diag_indices(m)] += D @ o**2
    Q[:m, :m] = product(product(U, block), U.T)
    F = D * lam
    Q[:m, m:] = product(U, U.T * product(F * o, U.T))
    Q[m:, :m] = Q[:m, m:].T
    T = np.empty((m, m))
    for size, vector in low_rank(F * lam, rng):
        lower_product(U * vector, U.T, T)
        Q[m:, m:] += (0.5 * size) * T**2
    below = np.tril(Q[m:, m:])
    Q[m:, m:] = below + np.tril(below, -1).T
    return Q


def low_rank(A: Floats, rng: np.random.Generator, rank: int = 32) -> list[tuple[float, Floats]]:
    """(σ, v) with A ≈ Σ σ v vᵀ for a symmetric matrix whose eigenvalues fall fast: a random basis of its range."""
    while True:
        basis, _ = np.linalg.qr(A @ rng.normal(size=(len(A), min(rank, len(A)))))
        sizes, vectors = np.linalg.eigh(basis.T @ A @ basis)
        most = float(np.abs(sizes).max(initial=0.0))
        if np.abs(sizes).min(initial=np.inf) <= ACCURACY * most or rank >= len(A):
            kept = np.abs(sizes) > ACCURACY * most
            return list(zip(sizes[kept].tolist(), (basis @ vectors[:, kept]).T, strict=True))
        rank *= 2
