"""Primal-dual interior point on a working set: for problems whose optimal face is degenerate.

A pair kernel of low rank (a linear base in few dimensions) leaves more candidates for free coefficients than
equations; pivoting then has nothing to hold on to, while the central path is well defined.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import blas, lapack

from pairlearn.solvers.box import Box
from pairlearn.threads import blas_threads
from pairlearn.types import Floats

MAX_ITERATIONS = 60


def low_rank_factor(Q: Floats, rng: np.random.Generator) -> Floats | None:
    """G with Q = GGᵀ to rounding, (n, r) column-major with r ≤ n/2, or None when there is none.

    Columns are taken from a random subset, doubled until it spans the others.
    """
    n, scale = len(Q), float(Q.diagonal().max(initial=0.0))
    for size in (256, 512, 1024, 1536, 2048, 3072, 4096, 6144):
        if size > 0.6 * n:
            break
        chosen = np.sort(rng.choice(n, size, replace=False))
        L, pivots, rank, _ = lapack.dpstrf(Q[np.ix_(chosen, chosen)], tol=1e-11 * scale, lower=1)
        basis = chosen[pivots[:rank] - 1]
        columns = np.asfortranarray(Q[basis].T)
        with blas_threads(float(n) * rank**2):
            G = blas.dtrsm(1.0, L[:rank, :rank], columns, side=1, lower=1, trans_a=1, overwrite_b=1)
        if np.abs(Q.diagonal() - np.einsum("ij,ij->i", G, G)).max() <= 1e-9 * scale:
            return G
    return None


class Interior:
    """Mehrotra's predictor-corrector for min ½xᵀQx − pᵀx over a box, optionally with Σx kept.

    On return θ is feasible, bounds are met exactly where the path ends at them, and v = p − Qθ is updated.
    """

    def __init__(self, Q: Floats, G: Floats | None, theta: Floats, v: Floats, box: Box, constrained: bool) -> None:
        self.Q, self.G, self.theta, self.v, self.box, self.constrained = Q, G, theta, v, box, constrained
        self.total = float(theta.sum())
        self.iterations = 0

    def run(self, tol: float, deadline: float) -> bool:
        """Follow the central path until its end, snapped to the bounds, has a KKT gap of at most `tol`.

        False, with θ unchanged, when rounding or the deadline came first.
        """
        try:
            return self._follow(tol, deadline)
        except np.linalg.LinAlgError:
            return False

    def _follow(self, tol: float, deadline: float) -> bool:
        lower, upper = self.box.lower, self.box.upper
        width = upper - lower
        p = self.v + self.Q @ self.theta
        # Away from the bounds, but no farther than moves the residual by about the gap.
        reach = self.box.gap(self.theta, self.v, self.constrained) / float(np.abs(self.Q).sum(axis=1).mean() + 1e-300)
        inset = np.minimum(0.1 * width, reach)
        x = np.clip(self.theta, lower + inset, upper - inset)
        r = p - self._product(x)
        b = float(np.median(r)) if self.constrained else 0.0
        lift = 0.1 * float(np.abs(r - b).mean()) + 1e-300
        z, w = np.maximum(b - r, 0.0) + lift, np.maximum(r - b, 0.0) + lift
        for self.iterations in range(1, MAX_ITERATIONS + 1):
            s, t = x - lower, upper - x
            dual, rest = r - b + z - w, self.total - float(x.sum())
            mu = float(s @ z + t @ w) / (2 * len(x))
            factor = self._factored(z / s + w / t)
            dx, db, dz, dw = self._direction(factor, dual, rest, s, t, z, w, -s * z, -t * w)
            step = _length(s, t, z, w, dx, dz, dw)
            after = float((s + step * dx) @ (z + step * dz) + (t - step * dx) @ (w + step * dw)) / (2 * len(x))
            centre = (max(after, 0.0) / mu) ** 3 * mu
            dx, db, dz, dw = self._direction(
                factor, dual, rest, s, t, z, w, centre - s * z - dx * dz, centre - t * w + dx * dw
            )
            step = min(1.0, 0.995 * _length(s, t, z, w, dx, dz, dw))
            x, b, z, w = x + step * dx, b + step * db, z + step * dz, w + step * dw
            r = p - self._product(x)
            if mu < 0.1 * tol * float(width.max()) and self._accept(x, z, w, r, tol):
                return True
            if time.perf_counter() > deadline:
                return False
        return False

    def _accept(self, x: Floats, z: Floats, w: Floats, r: Floats, tol: float) -> bool:
        """Snap coefficients with a clear multiplier to their bounds and keep the result if its gap is small."""
        lower, upper = self.box.lower, self.box.upper
        tiny = 1e-9 * (upper - lower)
        snapped = np.where((z > 0.2 * tol) | (x < lower + tiny), lower, x)
        snapped = np.where((w > 0.2 * tol) | (x > upper - tiny), upper, snapped)
        inside = (snapped > lower) & (snapped < upper)
        if self.constrained:
            lacking = self.total - float(snapped.sum())
            room = np.where(inside, (upper - snapped if lacking > 0 else snapped - lower), 0.0)
            if abs(lacking) > 0.5 * float(room.sum()):
                return False
            snapped += room * (lacking / max(float(room.sum()), 1e-300))
        v = r - self.Q @ (snapped - x)
        if self.box.gap(snapped, v, self.constrained) > tol:
            return False
        self.theta[:], self.v[:] = snapped, v
        return True

    def _direction(
        self,
        factor: _Factor,
        dual: Floats,
        rest: float,
        s: Floats,
        t: Floats,
        z: Floats,
        w: Floats,
        target_s: Floats,
        target_t: Floats,
    ) -> tuple[Floats, float, Floats, Floats]:
        """Newton step towards s·z + target_s, t·w + target_t and zero residuals."""
        right = dual - z + w + (target_s / s + z) - (target_t / t + w)
        dx, db = factor.solve(right), 0.0
        if self.constrained:
            db = (float(dx.sum()) - rest) / factor.ones_sum
            dx = dx - db * factor.ones
        return dx, db, (target_s - z * dx) / s, (target_t + w * dx) / t

    def _factored(self, D: Floats) -> _Factor:
        return _Dense(self.Q, D) if self.G is None else _LowRank(self.G, D)

    def _product(self, x: Floats) -> Floats:
        return self.Q @ x if self.G is None else self.G @ (self.G.T @ x)


class _Factor(ABC):
    """(Q + diag D)⁻¹ and its product with the vector of ones."""

    ones: Floats
    ones_sum: float

    def _prepare(self, n: int) -> None:
        self.ones = self.solve(np.ones(n))
        self.ones_sum = float(self.ones.sum())

    @abstractmethod
    def solve(self, right: Floats) -> Floats:
        """(Q + diag D)⁻¹ right."""


class _Dense(_Factor):
    def __init__(self, Q: Floats, D: Floats) -> None:
        L = np.array(Q, order="F")
        L[np.diag_indices(len(D))] += D
        with blas_threads(len(D) ** 3 / 3):
            self.L, info = lapack.dpotrf(L, lower=1, overwrite_a=1, clean=0)
        if info:
            raise np.linalg.LinAlgError("the working set's Gram matrix is not positive semidefinite")
        self._prepare(len(D))

    def solve(self, right: Floats) -> Floats:
        return lapack.dpotrs(self.L, right, lower=1)[0]


class _LowRank(_Factor):
    """Woodbury: (D + GGᵀ)⁻¹ = D⁻¹ − D⁻¹G (I + GᵀD⁻¹G)⁻¹ GᵀD⁻¹."""

    def __init__(self, G: Floats, D: Floats) -> None:
        self.G, self.D = G, D
        with blas_threads(G.shape[0] * G.shape[1] ** 2):
            S = blas.dsyrk(1.0, G / np.sqrt(D)[:, None], trans=1, lower=1)
            S[np.diag_indices(len(S))] += 1.0
            self.L, info = lapack.dpotrf(S, lower=1, overwrite_a=1, clean=0)
        if info:
            raise np.linalg.LinAlgError("the interior point met a singular system")
        self._prepare(len(D))

    def solve(self, right: Floats) -> Floats:
        first = right / self.D
        inner = lapack.dpotrs(self.L, self.G.T @ first, lower=1)[0]
        return first - (self.G @ inner) / self.D


def _length(s: Floats, t: Floats, z: Floats, w: Floats, dx: Floats, dz: Floats, dw: Floats) -> float:
    """Longest step ≤ 1 that keeps everything positive."""
    longest = 1.0
    for value, change in ((s, dx), (t, -dx), (z, dz), (w, dw)):
        falling = change < 0
        if falling.any():
            longest = min(longest, float((-value[falling] / change[falling]).min()))
    return longest
