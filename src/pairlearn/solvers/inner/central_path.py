"""Points on the central path and Newton's steps between them.

The path belongs to min ½xᵀQx − pᵀx + ε‖x‖₁ over a box: with x = Σ σξ, floor ≤ ξ ≤ ceiling, distances s = ξ − floor and
t = ceiling − ξ and multipliers z, w > 0,

    σ·(p − Qx − b) − ε + z − w = 0,   s·z = t·w = μ,   Σx = total,   μ → 0.

Without ε there is one part ξ = x; with it there are two, x = x⁺ − x⁻, but every linear system is reduced to the size
of x: the kink costs no factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairlearn.solvers.box import Box
from pairlearn.solvers.inner.quadratic import Factor
from pairlearn.types import Bools, Floats

WALL = 1e100
"""Stiffness of a part that has no room to move."""


@dataclass(frozen=True)
class Point:
    """Parts ξ, multipliers z of ξ ≥ floor and w of ξ ≤ ceiling, all (h, n), and b of Σx; or a change of these."""

    xi: Floats
    z: Floats
    w: Floats
    b: float

    def moved(self, length: float, step: Point) -> Point:
        """The point at the end of a step of this length."""
        return Point(
            self.xi + length * step.xi, self.z + length * step.z, self.w + length * step.w, self.b + length * step.b
        )


@dataclass(frozen=True)
class Parts:
    """x = Σ σξ over h parts with floor ≤ ξ ≤ ceiling: x itself, or x⁺ and x⁻ with the slope ε of ε|x|.

    sign: (h, 1), floor and ceiling: (h, n), with h = 1 or 2.
    """

    sign: Floats
    floor: Floats
    ceiling: Floats
    slope: float

    @classmethod
    def of(cls, box: Box) -> Parts:
        """The parts of a box."""
        if box.eps == 0:
            return cls(np.ones((1, 1)), box.lower[None], box.upper[None], 0.0)
        ceiling = np.stack([box.upper, -box.lower])
        return cls(np.array([[1.0], [-1.0]]), np.zeros_like(ceiling), ceiling, box.eps)

    @property
    def width(self) -> Floats:
        """Room of every part, (h, n)."""
        return self.ceiling - self.floor

    @property
    def open(self) -> Bools:
        """Mask of the parts that can move."""
        return self.ceiling > self.floor

    def joined(self, xi: Floats) -> Floats:
        """x = Σ σξ, (n,)."""
        return (self.sign * xi).sum(axis=0)

    def raised(self, xi: Floats, by: Floats) -> Floats:
        """x⁺ + by and x⁻ + by, which x does not see; x alone stays."""
        return xi + by if len(self.sign) == 2 else xi

    def rates(self, r: Floats) -> Floats:
        """Descent rates σr − ε of raising each part, (h, n)."""
        return self.sign * r - self.slope

    def room(self, xi: Floats) -> tuple[Floats, Floats]:
        """(s, t): distances to floor and ceiling, never zero."""
        least = np.where(self.open, 1e-16 * np.minimum(self.width, np.abs(xi).max()), 1.0)
        return np.maximum(xi - self.floor, least), np.maximum(self.ceiling - xi, least)

    def mean_product(self, point: Point) -> float:
        """μ: the mean of s·z and t·w."""
        s, t = self.room(point.xi)
        return float(np.vdot(s, point.z) + np.vdot(t, point.w)) / (2 * int(self.open.sum()))

    def inside(self, x: Floats) -> Floats:
        """ξ of a point near x but a tenth of the width away from every bound, (h, n)."""
        inset = 0.1 * self.width
        xi: Floats = np.clip(self.sign * x, self.floor + inset, self.ceiling - inset)
        return self.raised(xi, np.minimum(self.ceiling - inset - xi, inset).min(axis=0))

    def snapped(self, point: Point, clear: float, reach: float) -> Floats:
        """ξ with the parts that have a clear multiplier, or hardly any distance within reach, at their bounds."""
        tiny = np.minimum(1e-9 * self.width, reach)
        snapped = np.where((point.z > clear) | (point.xi <= self.floor + tiny), self.floor, point.xi)
        return np.where((point.w > clear) | (point.xi >= self.ceiling - tiny), self.ceiling, snapped)

    def settled(self, point: Point) -> Floats:
        """ξ with the parts at their bounds whose multiplier is the larger share of all, distance the smaller of room.

        Unlike `snapped` it compares the two with each other, so that a point still far from the end can tell.
        """
        s, t = self.room(point.xi)
        rate = float(np.abs(point.z - point.w).mean())
        snapped = np.where((point.z * self.width > rate * s) | ~self.open, self.floor, point.xi)
        return np.where(point.w * self.width > rate * t, self.ceiling, snapped)


class Newton:
    """Newton's equations at a point: (EᵀQE + diag D) dξ + Eᵀ1 db = right and Σ dx = lacking, with dx = E dξ.

    D = z/s + w/t. With E = [I −I] what couples is dx alone:
    (Q + diag D₁D₂/(D₁ + D₂)) dx + db = (D₂right₁ − D₁right₂)/(D₁ + D₂).
    One factor serves the pure step, the real one and its corrections.
    """

    def __init__(self, parts: Parts, point: Point, r: Floats, factored: Callable[[Floats], Factor]) -> None:
        self.parts, self.point = parts, point
        self.s, self.t = parts.room(point.xi)
        self.dual = parts.rates(r - point.b) + point.z - point.w
        D = point.z / self.s + point.w / self.t + np.where(parts.open, 0.0, WALL)
        self.stiffness = D.sum(axis=0)
        self.share = D[::-1] / self.stiffness
        self.factor = factored((self.share * D)[0])

    def step(self, s_z: Floats | float, t_w: Floats | float, lacking: float | None) -> Point:
        """Towards products s·z and t·w of this size and no other residual; `lacking` is what Σx lacks."""
        s, t, z, w, parts = self.s, self.t, self.point.z, self.point.w, self.parts
        missing_s, missing_t = parts.open * (s_z - s * z), parts.open * (t_w - t * w)
        right = self.dual + missing_s / s - missing_t / t
        dx, db = self._joint(parts.joined(self.share * right), lacking)
        change = parts.raised(parts.sign * self.share * dx, right.sum(axis=0) / self.stiffness)
        return Point(change, (missing_s - z * change) / s, (missing_t + w * change) / t, db)

    def off_centre(self, step: Point, length: float, centre: float) -> tuple[Floats, Floats]:
        """What s·z and t·w lack at the end of this step to lie within a tenth and ten times the centre."""
        s, t = self.s + length * step.xi, self.t - length * step.xi
        z, w = self.point.z + length * step.z, self.point.w + length * step.w
        lacks = (np.clip(product, 0.1 * centre, 10.0 * centre) - product for product in (s * z, t * w))
        low, high = (self.parts.open * np.maximum(lack, -10.0 * centre) for lack in lacks)
        return low, high

    def length(self, step: Point) -> float:
        """Longest step ≤ 1 that keeps everything positive."""
        pairs = ((self.s, step.xi), (self.t, -step.xi), (self.point.z, step.z), (self.point.w, step.w))
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 / max(1.0, *(float(np.nanmax(-change / value)) for value, change in pairs))

    def _joint(self, right: Floats, lacking: float | None) -> tuple[Floats, float]:
        """(dx, db) of the equations that remain."""
        dx = self.factor.solve(right)
        if lacking is None:
            return dx, 0.0
        db = (float(dx.sum()) - lacking) / float(self.factor.ones.sum())
        return dx - db * self.factor.ones, db
