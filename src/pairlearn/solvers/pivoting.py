"""Block principal pivoting on a working set: the exact solution in a few factorisations."""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import lapack

from pairlearn.cholesky import cholesky
from pairlearn.loops.blocks import copy_lower, sum_rows
from pairlearn.solvers.box import Box
from pairlearn.types import Floats, Ints

PATIENCE = 3


class Pivoting:
    """Guess which coefficients are free, solve for them exactly, exchange all wrong guesses at once.

    Minimises ½xᵀQx − pᵀx + ε‖x‖₁ over the box with Σx kept; Q is the leading part of a contiguous store.
    On success θ and v = p − Qθ are updated in place.
    """

    def __init__(self, Q: Floats, theta: Floats, v: Floats, box: Box, constrained: bool) -> None:
        self.Q, self.theta, self.v, self.box, self.constrained = Q, theta, v, box, constrained
        self.total = float(theta.sum())
        self.ridge = 1e-13 * float(Q.diagonal()[: len(theta)].max(initial=1e-300))
        self.factorisations = 0

    def run(self, tol: float, limit: int, deadline: float) -> bool:
        """Whether it ended with no wrong guess to within `tol`; gives up when their number stops falling."""
        x, r = self.theta.copy(), self.v.copy()  # r = p − Qx
        free, positive = self.box.interior(x), x > 0
        fewest, patience = len(x) + 1, PATIENCE
        while self.factorisations < limit and patience > 0 and time.perf_counter() < deadline:
            floor, ceiling, slope = self.box.piece(positive)
            b = self._solve(x, r, np.nonzero(free)[0], slope)
            if b is None:
                return False
            margin = 1e-12 * (self.box.upper - self.box.lower)
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

    def _solve(self, x: Floats, r: Floats, free: Ints, slope: Floats) -> float | None:
        """Move the free coefficients to Q_FF d + b e = r_F − slope, eᵀd = what is lacking; returns b."""
        if len(free) == 0:
            return self.box.bias(x, r) if self.constrained else 0.0
        L, solved = self._factor(free)
        if not solved:
            return None
        columns = np.empty((len(free), 2), order="F")
        columns[:, 0], columns[:, 1] = r[free] - slope[free], 1.0
        solution, _ = lapack.dpotrs(L, columns, lower=1, overwrite_b=1)
        d, b = solution[:, 0], 0.0
        if self.constrained:
            lacking = self.total - float(x.sum())
            b = float((d.sum() - lacking) / solution[:, 1].sum())
            d = d - b * solution[:, 1]
        step = np.zeros(len(x))
        step[free] = d
        x += step
        # Huge coefficients that cancel, on a singular matrix, lose the sum: then this is no solution.
        if self.constrained and abs(float(x.sum()) - self.total) > 1e-10 * float(np.abs(x).sum()):
            return None
        r -= turn(self.Q, step)
        return b

    def _factor(self, free: Ints) -> tuple[Floats, bool]:
        L = np.empty((len(free), len(free)), order="F")
        copy_lower(self.Q, free, L)
        # Decides only between solutions that rounding cannot tell apart.
        L[np.diag_indices(len(free))] += self.ridge
        self.factorisations += 1
        return L, cholesky(L)


def turn(Q: Floats, x: Floats) -> Floats:
    """Q x for a symmetric Q, through the non-zeros of x."""
    index = np.nonzero(x)[0]
    out = np.empty(len(x))
    sum_rows(Q, index, x[index], out)
    return out
