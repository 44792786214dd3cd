"""Semismooth Newton on a working set: the exact solution in a few factorisations, degenerate or not.

The problem min ½xᵀQx − pᵀx + ε‖x‖₁ over a box, optionally Σx = s, gets the proximal term ½σ‖x − x̂‖². Its dual

    Φ(z, b) = ½zᵀQz + Σ_i h_i(p_i − (Qz)_i − b) + s·b,      h_i(v) = max_x vx − ε|x| − ½σ(x − x̂_i)²

is convex, once differentiable and piecewise quadratic, so Newton steps with an exact line search end after finitely many
factorisations of Q_FF + σI, F the coefficients strictly inside a piece. The violation that the proximal term leaves
is at most σ|x − x̂|, so σ follows from the tolerance and x̂ ← x removes the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from pairlearn.loops.blocks import copy_lower, cross_product, sum_rows
from pairlearn.types import Bools, Floats, Ints


PATIENCE = 3


@dataclass(frozen=True)
class Box:
    """Bounds and the kink of ε|x| at 0."""

    lower: Floats
    upper: Floats
    eps: float

    def nearest(self, v: Floats, centre: Floats, sigma: float) -> tuple[Floats, Bools]:
        """argmax_x vx − ε|x| − ½σ(x − x̂)² and the mask of coefficients inside a piece."""
        y = centre + v / sigma
        if self.eps > 0:
            y = np.sign(y) * np.maximum(np.abs(y) - self.eps / sigma, 0.0)
        x = np.clip(y, self.lower, self.upper)
        inside = (y > self.lower) & (y < self.upper)
        return x, inside & (y != 0) if self.eps > 0 else inside

    def interior(self, x: Floats) -> Bools:
        """Mask of the coefficients strictly inside a piece."""
        inside = (x > self.lower) & (x < self.upper)
        return inside & (x != 0) if self.eps > 0 else inside

    def rates(self, x: Floats, v: Floats) -> tuple[Floats, Floats]:
        """(up, low): descent rates of raising and lowering, ∓inf where a bound forbids it."""
        up = np.where(x < self.upper, v - np.where(x >= 0, self.eps, -self.eps), -np.inf)
        low = np.where(x > self.lower, v - np.where(x > 0, self.eps, -self.eps), np.inf)
        return up, low

    def bias(self, x: Floats, v: Floats) -> float:
        """Middle of the interval between the largest up and the smallest low rate."""
        up, low = self.rates(x, v)
        ends = [end for end in (up.max(), low.min()) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0

    def gap(self, x: Floats, v: Floats, constrained: bool) -> float:
        """KKT gap on the working set."""
        up, low = self.rates(x, v)
        high, deep = float(up.max()), float(low.min())
        return max(0.0, high - deep) if constrained else max(0.0, high, -deep)


class Newton:
    """Newton's method on one working set; θ and v = p − Qθ are updated in place by `run`."""

    def __init__(self, Q: Floats, theta: Floats, v: Floats, box: Box, constrained: bool) -> None:
        self.Q, self.theta, self.v, self.box, self.constrained = Q, theta, v, box, constrained
        self.factorisations = 0
        self.trace: list = []
        self.smooth = True
        self.total = float(theta.sum())
        self.largest = float(Q.diagonal().max(initial=1e-300))

    def run(self, tol: float, limit: int) -> bool:
        """Solve to the gap `tol` within about `limit` factorisations; False when the limit came first."""
        width = float(np.max(self.box.upper - self.box.lower))
        gap = self.box.gap(self.theta, self.v, self.constrained)
        sigma = max(gap / width, 1e-13 * self.largest)
        while gap > tol and self.factorisations < limit:
            if not self._proximal_step(sigma, limit):
                return False
            gap = self.box.gap(self.theta, self.v, self.constrained)
            sigma = max(0.2 * sigma, 0.1 * tol / width, 1e-13 * self.largest)
        return gap <= tol

    def _proximal_step(self, sigma: float, limit: int) -> bool:
        """θ ← argmin with the proximal term around the present θ; False when the limit came first."""
        if self.smooth and self._pivot(sigma, limit):
            return True
        # A degenerate face: pivoting would fail again for smaller σ.
        self.smooth = False
        return self._damped(sigma, limit)

    def _pivot(self, sigma: float, limit: int) -> bool:
        """Full steps from the present free set: block principal pivoting. Gives up when errors stop falling."""
        centre, z, r = self.theta.copy(), self.theta.copy(), self.v.copy()  # r = p − Qz
        b = self.box.bias(z, r) if self.constrained else 0.0
        x, inside = z, self.box.interior(z)
        fewest, patience = len(z), PATIENCE
        while self.factorisations < limit and patience > 0:
            step, b = self._direction(z, r, b, x, inside, centre, sigma)
            z, r = z + step, r - self._turn(step)
            x, now = self.box.nearest(r - b, centre, sigma)
            wrong = int(((now != inside) | (~now & (x != z))).sum())
            inside = now
            self.trace.append((len(z), int(now.sum()), wrong, 1.0))
            if wrong == 0:
                self._move(z)
                return True
            fewest, patience = (wrong, PATIENCE) if wrong < fewest else (fewest, patience - 1)
        return False

    def _damped(self, sigma: float, limit: int) -> bool:
        """Newton steps with an exact line search on Φ from the present θ: slower, but sure to end."""
        centre, z, r = self.theta.copy(), self.theta.copy(), self.v.copy()
        product = self._turn(z)
        b = self._solve_bias(r, centre, sigma)
        x, inside = self.box.nearest(r - b, centre, sigma)
        done = False
        while not done and self.factorisations < limit:
            step, b_new = self._direction(z, r, b, x, inside, centre, sigma)
            turned = self._turn(step)
            t = self._length(product, r, b, step, b_new - b, turned, centre, sigma)
            z, r, product, b = z + t * step, r - t * turned, product + t * turned, b + t * (b_new - b)
            x, now = self.box.nearest(r - b, centre, sigma)
            done = t == 1.0 and bool(np.all((now == inside) & (now | (x == z))))
            inside = now
            self.trace.append((len(z), int(now.sum()), int(((now != inside) | (~now & (x != z))).sum()), t))
        self._move(z if done else x)
        return done

    def _solve_bias(self, r: Floats, centre: Floats, sigma: float) -> float:
        """b with Σ x(r − b) = Σθ, by bisection of a monotone function."""
        if not self.constrained:
            return 0.0
        reach = sigma * float(np.max(self.box.upper - self.box.lower)) + self.box.eps
        bottom, top = float(r.min()) - reach, float(r.max()) + reach
        for _ in range(60):
            b = 0.5 * (bottom + top)
            excess = float(self.box.nearest(r - b, centre, sigma)[0].sum()) - self.total
            bottom, top = (b, top) if excess > 0 else (bottom, b)
        return 0.5 * (bottom + top)

    def _direction(
        self, z: Floats, r: Floats, b: float, x: Floats, inside: Bools, centre: Floats, sigma: float
    ) -> tuple[Floats, float]:
        """Newton step of z and the new b: bound coefficients go to their bounds, free ones solve a linear system."""
        step = x - z
        free = np.nonzero(inside)[0]
        if len(free) == 0:
            return step, b
        step[free] = 0.0
        moved = np.nonzero(step)[0]
        pull = np.empty(len(free))
        cross_product(self.Q, free, moved, step[moved], pull)
        slope = self.box.eps * np.sign(x[free])
        columns = np.empty((len(free), 2), order="F")
        columns[:, 0] = r[free] - pull - slope - sigma * (z[free] - centre[free])
        columns[:, 1] = 1.0
        solved, _ = lapack.dpotrs(self._factor(free, sigma), columns, lower=1, overwrite_b=1)
        if self.constrained:
            rest = self.total - float(z.sum() + step.sum())
            b = float((solved[:, 0].sum() - rest) / solved[:, 1].sum())
            step[free] = solved[:, 0] - b * solved[:, 1]
        else:
            step[free] = solved[:, 0]
        return step, b

    def _length(
        self,
        product: Floats,
        r: Floats,
        b: float,
        step: Floats,
        b_step: float,
        turned: Floats,
        centre: Floats,
        sigma: float,
    ) -> float:
        """Exact line search on Φ: the root of its monotone derivative on [0, 1]."""
        shift = turned + b_step
        constant, growth = float(step @ product) + self.total * b_step, float(step @ turned)

        def derivative(t: float) -> float:
            x, _ = self.box.nearest(r - b - t * shift, centre, sigma)
            return constant + t * growth - float(x @ shift)

        start, end = derivative(0.0), derivative(1.0)
        if end <= 1e-9 * abs(start) or start >= 0:
            return 1.0
        bottom, top, f_bottom, f_top = 0.0, 1.0, start, end
        for _ in range(40):
            guess = bottom - f_bottom * (top - bottom) / (f_top - f_bottom)
            t = min(max(guess, bottom + 0.05 * (top - bottom)), top - 0.05 * (top - bottom))
            value = derivative(t)
            if abs(value) <= 1e-3 * abs(start):
                return t
            bottom, top, f_bottom, f_top = (
                (t, top, value, f_top) if value < 0 else (bottom, t, f_bottom, value)
            )
        return top

    def _move(self, target: Floats) -> None:
        """Exact line search from θ to the feasible point nearest to the target: the objective never rises."""
        box = self.box
        d = self._feasible(target) - self.theta
        turned = self._turn(d)
        slope = float(self.v @ d) - box.eps * float(np.abs(self.theta + d).sum() - np.abs(self.theta).sum())
        if slope <= 0:
            return
        length = min(1.0, slope / max(float(d @ turned), 1e-300))
        self.theta += length * d
        np.clip(self.theta, box.lower, box.upper, out=self.theta)
        self.v -= length * turned

    def _feasible(self, x: Floats) -> Floats:
        """Clip x into the box; with a constraint, shift it so that the sum is right."""
        lower, upper = self.box.lower, self.box.upper
        clipped = np.clip(x, lower, upper)
        excess = float(clipped.sum()) - self.total
        if not self.constrained or abs(excess) <= 1e-12 * float(np.abs(clipped).sum()):
            return clipped
        bottom, top = sorted((0.0, -np.sign(excess) * float(np.max(upper - lower))))
        for _ in range(80):
            shift = 0.5 * (bottom + top)
            over = float(np.clip(clipped + shift, lower, upper).sum()) > self.total
            bottom, top = (bottom, shift) if over else (shift, top)
        return np.clip(clipped + 0.5 * (bottom + top), lower, upper)

    def _turn(self, x: Floats) -> Floats:
        """Q x through the non-zeros of x."""
        index = np.nonzero(x)[0]
        out = np.empty(len(x))
        sum_rows(self.Q, index, x[index], out)
        return out

    def _factor(self, free: Ints, sigma: float) -> Floats:
        while True:
            L = np.empty((len(free), len(free)), order="F")
            copy_lower(self.Q, free, L)
            L[np.diag_indices(len(free))] += sigma
            self.factorisations += 1
            L, info = lapack.dpotrf(L, lower=1, overwrite_a=1, clean=0)
            if info == 0:
                return L
            sigma = 100.0 * sigma
