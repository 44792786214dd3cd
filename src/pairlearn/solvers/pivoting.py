"""Block principal pivoting on a working set: the exact solution in a few solutions of linear equations."""

from __future__ import annotations

import time

import numpy as np

from pairlearn.loops.blocks import sum_rows
from pairlearn.solvers.box import Box
from pairlearn.solvers.free_system import FreeSystem
from pairlearn.types import Bools, Floats, Ints

PATIENCE = 3
REFINEMENTS = 2
"""Repetitions of a solution by a factor of another set before a factor of its own."""


class Pivoting:
    """Guess which coefficients are free, solve for them exactly, exchange all wrong guesses at once.

    Minimises ½xᵀQx − pᵀx + ε‖x‖₁ over the box with Σx kept; Q is the leading part of a contiguous store, `pairs` are
    the numbers of its rows, `system` may know a factor from before. On success θ and v = p − Qθ are updated in place.
    """

    def __init__(
        self, Q: Floats, theta: Floats, v: Floats, box: Box, constrained: bool, pairs: Ints, system: FreeSystem
    ) -> None:
        self.Q, self.theta, self.v, self.box, self.constrained = Q, theta, v, box, constrained
        self.pairs, self.system = pairs, system
        self.total = float(theta.sum())
        self.ridge = 1e-13 * float(Q.diagonal()[: len(theta)].max(initial=1e-300))

    def run(self, tol: float, limit: int, deadline: float) -> bool:
        """Whether it ended with no wrong guess to within `tol`; gives up when their number stops falling."""
        x, r = self.theta.copy(), self.v.copy()  # r = p − Qx
        free, positive = self.box.interior(x), x > 0
        fewest, patience = len(x) + 1, PATIENCE
        for _ in range(limit):
            if patience == 0 or time.perf_counter() >= deadline:
                break
            floor, ceiling, slope = self.box.piece(positive)
            b = self._solve(x, r, free, slope, 0.05 * tol)
            if b is None:
                return False
            # Relative to what there is: under a hard margin all coefficients may be far smaller than the box.
            margin = 1e-12 * np.minimum(self.box.upper - self.box.lower, np.abs(x).max())
            high, low = free & (x > ceiling + margin), free & (x < floor - margin)
            up, down = self.box.rates(x, r)
            rises, falls = ~free & (up > b + 0.5 * tol), ~free & (down < b - 0.5 * tol)
            wrong = int(high.sum() + low.sum() + rises.sum() + falls.sum())
            if wrong == 0:
                self.theta[:], self.v[:] = np.clip(x, self.box.lower, self.box.upper), r
                return True
            fewest, patience = (wrong, PATIENCE) if wrong < fewest else (fewest, patience - 1)
            out = np.where(high, ceiling - x, np.where(low, floor - x, 0.0))
            x, r = x + out, r - turn(self.Q, out)
            free = (free & ~high & ~low) | rises | falls
            positive = np.where(rises, x >= 0, np.where(falls, x > 0, positive))
        return False

    def _solve(self, x: Floats, r: Floats, free: Bools, slope: Floats, accuracy: float) -> float | None:
        """Move the free coefficients to Q_FF d + b e = r_F − slope, eᵀd = what is lacking; returns b."""
        if not free.any():
            return self.box.bias(x, r) if self.constrained else 0.0
        before = x.copy(), r.copy()
        for _ in range(REFINEMENTS):
            b = self._step(x, r, free, slope)
            if not self.system.corrected:
                return b
            off = np.inf if b is None else float(np.abs(r[free] - slope[free] - b).max())
            if off <= accuracy:
                return b
            if off > 1e3 * accuracy:
                break
        # The factored set was too near to a singular one to be corrected: nothing of that may stay.
        x[:], r[:] = before
        self.system.forget()
        return self._step(x, r, free, slope)

    def _step(self, x: Floats, r: Floats, free: Bools, slope: Floats) -> float | None:
        columns = np.zeros((len(x), 2), order="F")
        columns[free, 0], columns[free, 1] = r[free] - slope[free], 1.0
        solution = self.system.solve(self.Q, self.pairs, free, columns, self.ridge)
        if solution is None:
            return None
        step, ones, b = solution[:, 0], solution[:, 1], 0.0
        # Steps that nearly cancel keep the sum only when it is set twice; multiples of `ones` change nothing but b.
        for _ in range(2 if self.constrained else 0):
            shift = (float((x + step).sum()) - self.total) / float(ones.sum())
            step, b = step - shift * ones, b + shift
        # Huge coefficients that cancel, on a singular matrix, lose the sum: then this is no solution.
        moved = x + step
        if self.constrained and abs(float(moved.sum()) - self.total) > 1e-11 * float(np.abs(moved).sum()):
            return None
        x += step
        r -= turn(self.Q, step)
        return b


def turn(Q: Floats, x: Floats) -> Floats:
    """Q x for a symmetric Q, through the non-zeros of x."""
    index = np.nonzero(x)[0]
    out = np.empty(len(x))
    sum_rows(Q, index, x[index], out)
    return out
