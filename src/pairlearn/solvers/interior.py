"""Primal-dual interior point, on a working set or on all pairs: for problems whose optimal face is degenerate.

A pair kernel of low rank (a linear base in few dimensions) leaves more candidates for free coefficients than
equations; pivoting then has nothing to hold on to, while the central path is well defined.

With ε‖x‖₁ the path runs in x = x⁺ − x⁻, but every linear system is reduced to the size of x.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, lapack

from pairlearn.linalg.cholesky import cholesky
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.operators.thin import Thin
from pairlearn.solvers.box import Box
from pairlearn.types import Bools, Floats, Ints

MAX_ITERATIONS = 200
CORRECTIONS = 2
"""Most corrections towards the centre per step; each costs one more solution with the same factor."""
Report = Callable[[Floats, Floats], bool]
"""Called with x and p − Qx after every iteration; True stops."""
WALL = 1e100
"""Stiffness of a part that has no room to move."""


def low_rank_factor(Q: Floats, rng: np.random.Generator) -> Floats | None:
    """G with Q = GGᵀ to rounding, (n, r) column-major with r ≤ n/2, or None when there is none.

    Columns are taken from a random subset, doubled until it spans the others.
    """
    n, scale = len(Q), float(Q.diagonal().max(initial=0.0))
    for size in (256, 512, 1024, 1536, 2048, 3072, 4096, 6144):
        if size > 0.6 * n:
            break
        chosen = np.sort(rng.choice(n, size, replace=False))
        G = _spanned_by(chosen, Q[np.ix_(chosen, chosen)], lambda basis: Q[basis], Q.diagonal(), scale, most=size)
        if G is not None:
            return G
    return None


def sampled_factor(operator: PairOperator, size: int, rng: np.random.Generator) -> Floats | None:
    """G with K = GGᵀ to rounding for all pairs, (n, r) column-major, or None when the rank exceeds size/2."""
    n, diagonal = operator.n_pairs, operator.diagonal()
    chosen = np.sort(rng.choice(n, min(size, n), replace=False))
    scale = float(diagonal.max(initial=0.0))
    return _spanned_by(chosen, operator.submatrix(chosen), operator.rows, diagonal, scale, most=len(chosen) // 2)


def _spanned_by(
    chosen: Ints, corner: Floats, rows: Callable[[Ints], Floats], diagonal: Floats, scale: float, most: int
) -> Floats | None:
    """The factor in the span of the chosen rows, `corner` their block; None beyond `most` columns or if it fails."""
    L, pivots, rank, _ = lapack.dpstrf(corner, tol=1e-11 * scale, lower=1)
    if rank > most:
        return None
    columns = np.asfortranarray(rows(chosen[pivots[:rank] - 1]).T)
    with blas_threads(float(len(diagonal)) * rank**2):
        G = blas.dtrsm(1.0, L[:rank, :rank], columns, side=1, lower=1, trans_a=1, overwrite_b=1)
    return G if np.abs(diagonal - np.einsum("ij,ij->i", G, G)).max() <= 1e-9 * scale else None


class Quadratic(ABC):
    """The matrix Q of xᵀQx, as the interior point needs it."""

    @abstractmethod
    def __matmul__(self, x: Floats) -> Floats:
        """Q x."""

    @abstractmethod
    def factored(self, D: Floats) -> _Factor:
        """(Q + diag D)⁻¹."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """About how much Q x changes when every entry of x moves by one."""


@dataclass(frozen=True)
class Explicit(Quadratic):
    """A working set's matrix, and G with Q = GGᵀ when its rank is low."""

    Q: Floats
    G: Floats | None

    def __matmul__(self, x: Floats) -> Floats:
        return self.Q @ x if self.G is None else self.G @ (self.G.T @ x)

    def factored(self, D: Floats) -> _Factor:
        return _Dense(self.Q, D) if self.G is None else _LowRank(self.G, D)

    @property
    def weight(self) -> float:
        return float(np.abs(self.Q).sum(axis=1).mean())


@dataclass(frozen=True)
class Whole(Quadratic):
    """All pairs at once, where their matrix is thin."""

    thin: Thin

    def __matmul__(self, x: Floats) -> Floats:
        return self.thin @ x

    def factored(self, D: Floats) -> _Factor:
        return _ThinFactor(self.thin, D)

    @property
    def weight(self) -> float:
        return float(np.abs(self.thin @ np.ones(self.thin.S.shape[0])).mean())


@dataclass(frozen=True)
class Spanned(Quadratic):
    """All pairs at once, where their matrix is GGᵀ with few columns."""

    G: Floats

    def __matmul__(self, x: Floats) -> Floats:
        return self.G @ (self.G.T @ x)

    def factored(self, D: Floats) -> _Factor:
        return _LowRank(self.G, D)

    @property
    def weight(self) -> float:
        return float(np.abs(self @ np.ones(len(self.G))).mean())


class Interior:
    """Mehrotra's predictor-corrector for min ½xᵀQx − pᵀx + ε‖x‖₁ over a box, optionally with Σx kept.

    On return θ is feasible, bounds and kink are met exactly where the path ends at them, and v = p − Qθ is updated.
    """

    def __init__(self, Q: Quadratic, theta: Floats, v: Floats, box: Box, constrained: bool) -> None:
        self.Q, self.theta, self.v, self.box, self.constrained = Q, theta, v, box, constrained
        self.p = v + Q @ theta
        self.total = float(theta.sum())
        self.weight = Q.weight + 1e-300
        self.ridge = 2e-16 * self.weight / np.sqrt(len(theta))
        """About the rounding of Q: stiffness below it would only make the equations singular."""
        self.parts = _Parts.of(box)
        self.iterations = 0

    def run(self, tol: float, deadline: float, report: Report | None = None) -> bool:
        """Follow the central path until its end, snapped to bounds and kink, has a KKT gap of at most `tol`.

        False when rounding, the deadline or `report` came first; θ is then what has been reached, if it is better.
        """
        gap = self.box.gap(self.theta, self.v, self.constrained)
        try:
            return gap <= tol or self._follow(self._start(), tol, deadline, report)
        except np.linalg.LinAlgError:
            return False

    def _start(self) -> _Point:
        """θ moved well inside the box, multipliers as large as the rates there: far from bounds the path is short."""
        parts = self.parts
        inset = 0.1 * parts.width
        xi: Floats = np.clip(parts.sign * self.theta, parts.floor + inset, parts.ceiling - inset)
        xi = parts.raised(xi, np.minimum(parts.ceiling - inset - xi, inset).min(axis=0))
        r = self.p - self.Q @ parts.joined(xi)
        b = float(np.median(r)) if self.constrained else 0.0
        rates = parts.open * parts.rates(r - b)
        lift = parts.open * (float(np.abs(rates).sum() / parts.open.sum()) + 1e-300)
        return _Point(xi, np.maximum(-rates, 0.0) + lift, np.maximum(rates, 0.0) + lift, b)

    def _follow(self, point: _Point, tol: float, deadline: float, report: Report | None) -> bool:
        near = 0.1 * tol * float((self.box.upper - self.box.lower).max())
        try:
            for self.iterations in range(1, MAX_ITERATIONS + 1):
                mu = self.parts.mean_product(point)
                point = self._advanced(point, mu)
                if mu < near and self._accept(point, tol):
                    return True
                if time.perf_counter() > deadline or (report is not None and report(*self._within(point))):
                    break
        finally:
            if self.box.gap(self.theta, self.v, self.constrained) > tol:
                self._settle(point)
        return False

    def _within(self, point: _Point) -> tuple[Floats, Floats]:
        """(x, p − Qx) of a point, inside the box."""
        x: Floats = np.clip(self.parts.joined(point.xi), self.box.lower, self.box.upper)
        return x, self.p - self.Q @ x

    def _settle(self, point: _Point) -> None:
        """Keep an unfinished point that is feasible and better than θ."""
        x, v = self._within(point)
        if self.constrained and not (
            self._balance(x) and np.array_equal(x, np.clip(x, self.box.lower, self.box.upper))
        ):
            return
        v = self.p - self.Q @ x if self.constrained else v
        if self._objective(x, v) < self._objective(self.theta, self.v):
            self.theta[:], self.v[:] = x, v

    def _objective(self, x: Floats, v: Floats) -> float:
        return -0.5 * float(x @ (self.p + v)) + self.box.eps * float(np.abs(x).sum())

    def _advanced(self, point: _Point, mu: float) -> _Point:
        """The next point: how far the pure Newton step gets decides how much the real one keeps to the centre."""
        x = self.parts.joined(point.xi)
        newton = _Newton(self.parts, point, self.p - self.Q @ x, lambda D: self.Q.factored(D + self.ridge))
        lacking = self.total - float(x.sum()) if self.constrained else None
        pure = newton.step(0.0, 0.0, lacking)
        after = self.parts.mean_product(point.moved(newton.length(pure), pure))
        centre = (max(after, 0.0) / mu) ** 3 * mu
        low, high = centre - pure.xi * pure.z, centre + pure.xi * pure.w
        step = newton.step(low, high, lacking)
        for _ in range(CORRECTIONS):
            length = newton.length(step)
            if length > 0.9:
                break
            # Products far from the centre at the end of a longer step are what keeps the step short.
            short_low, short_high = newton.off_centre(step, min(1.0, length + 0.3), max(centre, 0.1 * mu))
            low, high = low + short_low, high + short_high
            better = newton.step(low, high, lacking)
            if newton.length(better) < length + 0.03:
                break
            step = better
        # Long steps are fast, but now and then run in circles; shorter ones lead out.
        greed = 0.995 if 2 * self.iterations <= MAX_ITERATIONS else 0.9
        return point.moved(min(1.0, greed * newton.length(step)), step)

    def _accept(self, point: _Point, tol: float) -> bool:
        """Snap the parts with a clear multiplier to their bounds and keep the result if its gap is small."""
        # What is a billionth of the box can matter where values are huge.
        for reach in (np.inf, 0.1 * tol / self.weight):
            x = self.parts.joined(self.parts.snapped(point, 0.2 * tol, reach))
            if self.constrained and not self._balance(x):
                continue
            v = self.p - self.Q @ x
            if self.box.gap(x, v, self.constrained) <= tol:
                self.theta[:], self.v[:] = x, v
                return True
        return False

    def _balance(self, x: Floats) -> bool:
        """Bring Σx back to the total by moves inside the pieces; False when these have too little room."""
        lacking = self.total - float(x.sum())
        if abs(lacking) <= 1e-14 * float(np.abs(x).sum()):
            return True
        floor, ceiling, _ = self.box.piece(x > 0)
        room = np.where(self.box.interior(x), ceiling - x if lacking > 0 else x - floor, 0.0)
        if abs(lacking) > 0.5 * float(room.sum()):
            return False
        x += room * (lacking / float(room.sum()))
        return True


@dataclass(frozen=True)
class _Point:
    """Parts ξ, multipliers z of ξ ≥ floor and w of ξ ≤ ceiling, all (h, n), and b of Σx; or a change of these."""

    xi: Floats
    z: Floats
    w: Floats
    b: float

    def moved(self, length: float, step: _Point) -> _Point:
        return _Point(
            self.xi + length * step.xi, self.z + length * step.z, self.w + length * step.w, self.b + length * step.b
        )


@dataclass(frozen=True)
class _Parts:
    """x = Σ σξ over h parts with floor ≤ ξ ≤ ceiling: x itself, or x⁺ and x⁻ with the slope ε of ε|x|."""

    sign: Floats
    floor: Floats
    ceiling: Floats
    slope: float

    @classmethod
    def of(cls, box: Box) -> _Parts:
        if box.eps == 0:
            return cls(np.ones((1, 1)), box.lower[None], box.upper[None], 0.0)
        ceiling = np.stack([box.upper, -box.lower])
        return cls(np.array([[1.0], [-1.0]]), np.zeros_like(ceiling), ceiling, box.eps)

    @property
    def width(self) -> Floats:
        return self.ceiling - self.floor

    @property
    def open(self) -> Bools:
        """Mask of the parts that can move."""
        return self.ceiling > self.floor

    def joined(self, xi: Floats) -> Floats:
        """x = Σ σξ."""
        return (self.sign * xi).sum(axis=0)

    def raised(self, xi: Floats, by: Floats) -> Floats:
        """x⁺ + by and x⁻ + by, which x does not see; x alone stays."""
        return xi + by if len(self.sign) == 2 else xi

    def rates(self, r: Floats) -> Floats:
        """Descent rates σr − ε of raising each part."""
        return self.sign * r - self.slope

    def room(self, xi: Floats) -> tuple[Floats, Floats]:
        """(s, t): distances to floor and ceiling, never zero."""
        least = np.where(self.open, 1e-16 * np.minimum(self.width, np.abs(xi).max()), 1.0)
        return np.maximum(xi - self.floor, least), np.maximum(self.ceiling - xi, least)

    def mean_product(self, point: _Point) -> float:
        """Mean of s·z and t·w."""
        s, t = self.room(point.xi)
        return float(np.vdot(s, point.z) + np.vdot(t, point.w)) / (2 * int(self.open.sum()))

    def snapped(self, point: _Point, clear: float, reach: float) -> Floats:
        """ξ with the parts that have a clear multiplier, or hardly any distance within reach, at their bounds."""
        tiny = np.minimum(1e-9 * self.width, reach)
        snapped = np.where((point.z > clear) | (point.xi <= self.floor + tiny), self.floor, point.xi)
        return np.where((point.w > clear) | (point.xi >= self.ceiling - tiny), self.ceiling, snapped)


class _Newton:
    """Newton's equations at a point: (EᵀQE + diag D) dξ + Eᵀ1 db = right and Σ dx = lacking, with dx = E dξ.

    With E = [I −I] what couples is dx alone: (Q + diag D₁D₂/(D₁ + D₂)) dx + db = (D₂right₁ − D₁right₂)/(D₁ + D₂).
    """

    def __init__(self, parts: _Parts, point: _Point, r: Floats, factored: Callable[[Floats], _Factor]) -> None:
        self.parts, self.point = parts, point
        self.s, self.t = parts.room(point.xi)
        self.dual = parts.rates(r - point.b) + point.z - point.w
        D = point.z / self.s + point.w / self.t + np.where(parts.open, 0.0, WALL)
        self.stiffness = D.sum(axis=0)
        self.share = D[::-1] / self.stiffness
        self.factor = factored((self.share * D)[0])

    def step(self, s_z: Floats | float, t_w: Floats | float, lacking: float | None) -> _Point:
        """Towards products s·z and t·w of this size and no other residual."""
        s, t, z, w, parts = self.s, self.t, self.point.z, self.point.w, self.parts
        missing_s, missing_t = parts.open * (s_z - s * z), parts.open * (t_w - t * w)
        right = self.dual + missing_s / s - missing_t / t
        dx, db = self._joint(parts.joined(self.share * right), lacking)
        change = parts.raised(parts.sign * self.share * dx, right.sum(axis=0) / self.stiffness)
        return _Point(change, (missing_s - z * change) / s, (missing_t + w * change) / t, db)

    def off_centre(self, step: _Point, length: float, centre: float) -> tuple[Floats, Floats]:
        """What s·z and t·w lack at the end of this step to lie within a tenth and ten times the centre."""
        s, t = self.s + length * step.xi, self.t - length * step.xi
        z, w = self.point.z + length * step.z, self.point.w + length * step.w
        lacks = (np.clip(product, 0.1 * centre, 10.0 * centre) - product for product in (s * z, t * w))
        low, high = (self.parts.open * np.maximum(lack, -10.0 * centre) for lack in lacks)
        return low, high

    def _joint(self, right: Floats, lacking: float | None) -> tuple[Floats, float]:
        """(dx, db) of the equations that remain."""
        dx = self.factor.solve(right)
        if lacking is None:
            return dx, 0.0
        db = (float(dx.sum()) - lacking) / float(self.factor.ones.sum())
        return dx - db * self.factor.ones, db

    def length(self, step: _Point) -> float:
        """Longest step ≤ 1 that keeps everything positive."""
        pairs = ((self.s, step.xi), (self.t, -step.xi), (self.point.z, step.z), (self.point.w, step.w))
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 / max(1.0, *(float(np.nanmax(-change / value)) for value, change in pairs))


class _Factor(ABC):
    """(Q + diag D)⁻¹ and its product with the vector of ones."""

    D: Floats

    @cached_property
    def ones(self) -> Floats:
        """(Q + diag D)⁻¹ 1."""
        return self.solve(np.ones(len(self.D)))

    @abstractmethod
    def solve(self, right: Floats) -> Floats:
        """(Q + diag D)⁻¹ right."""


class _Dense(_Factor):
    def __init__(self, Q: Floats, D: Floats) -> None:
        self.D = D
        self.L = np.array(Q, order="F")
        self.L[np.diag_indices(len(D))] += D
        if not cholesky(self.L):
            raise np.linalg.LinAlgError("the working set's Gram matrix is not positive semidefinite")

    def solve(self, right: Floats) -> Floats:
        return lapack.dpotrs(self.L, right, lower=1)[0]


class _Woodbury(_Factor):
    """(D + GGᵀ)⁻¹ = D⁻¹ − D⁻¹G (I + GᵀD⁻¹G)⁻¹ GᵀD⁻¹, whatever holds G."""

    def __init__(self, D: Floats, S: Floats) -> None:
        self.D = D
        S[np.diag_indices(len(S))] += 1.0
        self.L = S
        if not cholesky(S):
            raise np.linalg.LinAlgError("the interior point met a singular system")

    def solve(self, right: Floats) -> Floats:
        first = right / self.D
        inner = lapack.dpotrs(self.L, self._gathered(first), lower=1)[0]
        return first - self._spread(inner) / self.D

    @abstractmethod
    def _gathered(self, x: Floats) -> Floats:
        """Gᵀ x."""

    @abstractmethod
    def _spread(self, y: Floats) -> Floats:
        """G y."""


class _LowRank(_Woodbury):
    def __init__(self, G: Floats, D: Floats) -> None:
        self.G = G
        with blas_threads(G.shape[0] * G.shape[1] ** 2):
            S = blas.dsyrk(1.0, G / np.sqrt(D)[:, None], trans=1, lower=1)
        super().__init__(D, S)

    def _gathered(self, x: Floats) -> Floats:
        return self.G.T @ x

    def _spread(self, y: Floats) -> Floats:
        return self.G @ y


class _ThinFactor(_Woodbury):
    def __init__(self, thin: Thin, D: Floats) -> None:
        self.thin = thin
        super().__init__(D, thin.weighted(1.0 / D))

    def _gathered(self, x: Floats) -> Floats:
        return self.thin.gathered(x)

    def _spread(self, y: Floats) -> Floats:
        return self.thin.spread(y)
