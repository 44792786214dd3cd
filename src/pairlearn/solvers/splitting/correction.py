"""Kernels with terms of one example's side: a correction of rank 2m around the closed form, by Woodbury's formula."""

from __future__ import annotations

import numpy as np
from scipy.linalg import inv, solve

from pairlearn.linalg.tiles import product
from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis, Leading, Resolvent, Whole, lower_product
from pairlearn.types import Floats, Precision

ACCURACY = {np.float32: 1e-6, np.float64: 1e-10}
"""Of a matrix that is replaced by one of low rank, relative to its norm."""


class Corrected(Leading):
    """(P + V C V*)⁻¹ = P⁻¹ − P⁻¹ V M V* P⁻¹ with M = (1 + CQ)⁻¹ C, Q = V*P⁻¹V, (2m, 2m); V* stacks E and H.

    P⁻¹ is the closed form without correction; E, H and C are those of `Sandwich`. In the eigenbasis, o = Uᵀ1,
    E X = U X̂ o, H X = ½diag(UΛ X̂ ΛUᵀ), and V applied to (w, h) is ŵ oᵀ + o ŵᵀ + ΛUᵀ diag(h) UΛ: two products more. H
    leaves out what `Leading` has one number for.
    """

    def __init__(
        self, basis: Eigenbasis, rho: float, dtype: Precision, negligible: float, rng: np.random.Generator
    ) -> None:
        super().__init__(basis, rho, dtype, negligible)
        values, U = basis.left
        self.UL, self.o = (U * values).astype(dtype), U.sum(axis=0).astype(dtype)
        self.M = woodbury(basis, rho, self.rest, len(self.rows), dtype, rng).astype(dtype)

    def _scale(self, X: Floats, R: Floats) -> Floats:
        r = len(X)
        first, o = self.UL[:, :r], self.o
        product(first, X * self.D, self.spare)
        own = np.einsum("al,al->a", self.spare, self.UL)
        Z = X * self.beyond
        sums = Z.T @ o[:r]
        sums[:r] += Z @ o
        w, h = np.split(self.M @ np.concatenate([self.rest * R.sum(axis=1) + self.U @ sums, own]), 2)
        turned = w @ self.U
        X -= np.outer(turned[:r], o)
        X -= np.outer(o[:r], turned)
        X *= self.beyond
        X -= product((first * h[:, None]).T, self.UL, self.turned) * self.D
        return w.astype(R.dtype, copy=False)


def resolvent_for(
    basis: Eigenbasis, rho: float, dtype: Precision, rng: np.random.Generator, negligible: float = 0.0
) -> Resolvent:
    """(K + ρ)⁻¹ of any sandwich; of one table K is off by a negligible share of ρ."""
    if not basis.sandwich.sign:
        return Whole(basis, rho, dtype)
    if basis.sandwich.corrected:
        return Corrected(basis, rho, dtype, negligible, rng)
    return Leading(basis, rho, dtype, negligible)


def apply(of: Sandwich, S: Floats) -> None:
    """S ← K S = scale·G S G' + E*(A E S + crossed·H S) + crossed·G diag(E S) G, in place and in the precision of S.

    Of a symmetric or antisymmetric result the lower triangle only.
    """
    left = of.left.astype(S.dtype, copy=False)
    right = left if of.right is of.left else of.right.astype(S.dtype, copy=False)
    times = lower_product if of.sign else product
    E = S.sum(axis=1, dtype=np.float64) if of.corrected else None
    times(product(left, S), right.T, S)
    own = 0.5 * S.diagonal()
    S *= S.dtype.type(of.scale)
    if E is not None:
        w = (middle_block(of) @ E + of.crossed * own).astype(S.dtype)
        times(left * (of.crossed * E).astype(S.dtype), right.T, lines := np.zeros_like(S))
        S += lines
        S += w[:, None]
        S += w


def woodbury(basis: Eigenbasis, rho: float, rest: float, r: int, dtype: Precision, rng: np.random.Generator) -> Floats:
    """M of the correction, once for every ρ: (2m, 2m), by m × m matrices only; `dtype` is that of the products in Q.

    C = [[A, c], [c, 0]] has the inverse [[0, 1/c], [1/c, −A/c²]], so that M = (C⁻¹ + Q)⁻¹ by elimination of its first
    block, the Schur complement of which is inverted. With c = 0 only the first block of M is not 0.
    """
    Q, A, c, m = (
        inner_matrix(basis, rho, rest, r, dtype, rng),
        middle_block(basis.sandwich),
        basis.sandwich.crossed,
        len(basis.left[0]),
    )
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


def middle_block(of: Sandwich) -> Floats:
    """A = squares·G∘G + lines·G + constant/4, (m, m)."""
    A: Floats = of.squares * of.left**2 + of.lines * of.left + 0.25 * of.constant
    return A


def inner_matrix(
    basis: Eigenbasis, rho: float, rest: float, r: int, dtype: Precision, rng: np.random.Generator
) -> Floats:
    """V*P⁻¹V, (2m, 2m), in float64.

    With D the diagonal of P⁻¹, `rest` beyond the first r rows and columns, and F = D∘λλᵀ, 0 there, its blocks are
    U[diag(D o²) + diag(o) D diag(o)]Uᵀ (E with E), U(Uᵀ∘(F diag(o) Uᵀ)) (E with H) and
    ½Σ_kl F_kl λ_k λ_l (U_ak U_bk)(U_al U_bl) (H with H).
    """
    (values, U), m = basis.left, len(basis.left[0])
    o, lam = U.sum(axis=0), np.outer(values, values)
    D = 1.0 / (basis.sandwich.scale * lam + rho)
    F = D * lam
    Q, U = np.zeros((2 * m, 2 * m)), U.astype(dtype, copy=False)
    squares = _sum_of_squares(F * lam, U, rng)
    if r < m:
        squares -= _sum_of_squares((F * lam)[r:, r:], U[:, r:], rng)
    below = np.tril(squares).astype(np.float64, copy=False)
    Q[m:, m:] = below + np.tril(below, -1).T
    D[r:, r:], F[r:, r:] = rest, 0.0
    block = D * np.outer(o, o)
    block[np.diag_indices(m)] += D @ o**2
    Q[:m, :m] = product(product(U, block.astype(dtype, copy=False)), U.T)
    Q[:m, m:] = product(U, U.T * product((F * o).astype(dtype, copy=False), U.T))
    Q[m:, :m] = Q[:m, m:].T
    return Q


def _sum_of_squares(A: Floats, U: Floats, rng: np.random.Generator) -> Floats:
    """½Σ_kl A_kl (U_ak U_bk)(U_al U_bl), its lower triangle.

    A is a smooth function of λ_k λ_l and so of low rank, Σ_s σ_s v_s v_sᵀ: it is ½Σ_s σ_s (U diag(v_s) Uᵀ)∘².
    """
    found, T = np.zeros((2, len(U), len(U)), U.dtype)
    for size, vector in low_rank(A, rng, ACCURACY[U.dtype.type]):
        lower_product(U * vector.astype(U.dtype, copy=False), U.T, T)
        np.multiply(T, T, out=T)
        T *= U.dtype.type(0.5 * size)
        found += T
    return found


def low_rank(A: Floats, rng: np.random.Generator, accuracy: float, rank: int = 32) -> list[tuple[float, Floats]]:
    """(σ, v) with A ≈ Σ σ v vᵀ for a symmetric matrix whose eigenvalues fall fast: a random basis of its range."""
    while True:
        basis, _ = np.linalg.qr(A @ rng.normal(size=(len(A), min(rank, len(A)))))
        sizes, vectors = np.linalg.eigh(basis.T @ A @ basis)
        most = float(np.abs(sizes).max(initial=0.0))
        if np.abs(sizes).min(initial=np.inf) <= accuracy * most or rank >= len(A):
            kept = np.abs(sizes) > accuracy * most
            return list(zip(sizes[kept].tolist(), (basis @ vectors[:, kept]).T, strict=True))
        rank *= 2
