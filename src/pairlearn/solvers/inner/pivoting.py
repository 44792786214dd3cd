"""Block principal pivoting on a working set: the exact solution in a few solutions of linear equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.solvers.box import middle
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.free_system import FreeSystem
from pairlearn.solvers.inner.subproblem import Outcome, Working
from pairlearn.solvers.tuning import TUNING, Tuning
from pairlearn.types import Bools, Floats

REFINEMENTS = 5
"""Further solutions of the same equations, from the residual of the last, before pivoting gives up."""


@dataclass(frozen=True)
class Pivoting:
    """Guess which coefficients are free, solve for them exactly, exchange all wrong guesses at once.

    With F free, the others at a bound or at the kink, and s the slope of ε|x| on their piece,

        Q_FF d + b·1 = r_F − s_F,   Σd = what Σx lacks   (b = 0 and no second equation without a constraint)

    moves x to the optimum of this guess, r = p − Qx. A free coefficient beyond its piece goes to the end of it; one
    that is not free but has a rate beyond b becomes free. Both happen for all of them at once; when their number has
    not fallen for a few rounds the method gives up (single exchanges, which would always end, take thousands).

    `system` may know a factor from before, `exact` is the tolerance it aims at: it reaches machine precision or
    nothing, so that there is no point in stopping at a looser one.
    """

    system: FreeSystem
    exact: float
    tuning: Tuning = TUNING

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """SOLVED with no wrong guess to within the tolerance; else θ and v are left as they were."""
        exchange = _Exchange(self, sub, min(tol, self.exact))
        fewest, patience = len(sub) + 1, self.tuning.pivot_patience
        for _ in range(self.tuning.pivots):
            if clock.expired:
                return Outcome.OUT_OF_TIME
            wrong = exchange.round()
            if wrong == 0 and exchange.confirmed(tol):
                sub.move(*exchange.end)
                return Outcome.SOLVED
            if wrong is None or wrong == 0:
                break
            fewest, patience = (wrong, self.tuning.pivot_patience) if wrong < fewest else (fewest, patience - 1)
            if patience == 0:
                break
        return Outcome.STUCK


class _Exchange:
    """The guess and its solution: x, r = p − Qx, which coefficients are free, and on which piece they are."""

    def __init__(self, method: Pivoting, sub: Working, tol: float) -> None:
        self.sub, self.box, self.system, self.tol = sub, sub.box, method.system, tol
        self.refinements = method.tuning.refinements
        self.x, self.r = sub.theta.copy(), sub.v.copy()
        self.free, self.positive = self.box.free(self.x), self.x > 0
        self.total = float(sub.theta.sum())
        # Decides only between solutions that rounding cannot tell apart.
        self.ridge = 1e-13 * float(sub.Q.view.diagonal().max(initial=1e-300))

    def round(self) -> int | None:
        """Solve for the free coefficients and exchange the wrong guesses; their number, None without a solution."""
        floor, ceiling, slope = self.box.pieces(self.positive)
        b = self._solve(slope)
        if b is None:
            return None
        x = self.x
        # Relative to what there is: under a hard margin all coefficients may be far smaller than the box.
        margin = 1e-12 * np.minimum(self.box.upper - self.box.lower, np.abs(x).max())
        high, low = self.free & (x > ceiling + margin), self.free & (x < floor - margin)
        up, down = self.box.rates(x, self.r)
        rises, falls = ~self.free & (up > b + 0.5 * self.tol), ~self.free & (down < b - 0.5 * self.tol)
        wrong = int(high.sum() + low.sum() + rises.sum() + falls.sum())
        if wrong:
            out = np.where(high, ceiling - x, np.where(low, floor - x, 0.0))
            self.x, self.r = x + out, self.r - self.sub.Q.times(out)
            self.free = (self.free & ~high & ~low) | rises | falls
            self.positive = np.where(rises, self.x >= 0, np.where(falls, self.x > 0, self.positive))
        return wrong

    @property
    def end(self) -> tuple[Floats, Floats]:
        """x within its box, and its residual."""
        x: Floats = np.clip(self.x, self.box.lower, self.box.upper)
        return x, self.r if np.array_equal(x, self.x) else self.r - self.sub.Q.times(x - self.x)

    def confirmed(self, tol: float) -> bool:
        """Whether the gap at the end is small: a nearly singular matrix may need more than one solution for that."""
        for _ in range(REFINEMENTS):
            if self.sub.gap_at(*self.end) <= tol:
                return True
            if not self.free.any() or self._step(self.box.pieces(self.positive)[2]) is None:
                return False
        return self.sub.gap_at(*self.end) <= tol

    def _solve(self, slope: Floats) -> float | None:
        """Move the free coefficients to the solution; returns b."""
        x, r, free = self.x, self.r, self.free
        if not free.any():
            return middle(*self.box.extremes(x, r)) if self.sub.constrained else 0.0
        before = x.copy(), r.copy()
        for _ in range(self.refinements):
            b = self._step(slope)
            if not self.system.corrected:
                return b
            off = np.inf if b is None else float(np.abs(r[free] - slope[free] - b).max())
            if off <= 0.05 * self.tol:
                return b
            if off > 50.0 * self.tol:
                break
        # The factored set was too near to a singular one to be corrected: nothing of that may stay.
        x[:], r[:] = before
        self.system.forget()
        return self._step(slope)

    def _step(self, slope: Floats) -> float | None:
        """One solution of the equations, from where x stands; repeated, it refines what rounding left."""
        x, r, free = self.x, self.r, self.free
        columns = _columns(free, r - slope)
        solution = self.system.solve(self.sub.Q, free, columns, self.ridge)
        if solution is None:
            return None
        step, ones, b = solution[:, 0], solution[:, 1], 0.0
        # Steps that nearly cancel keep the sum only when it is set twice; multiples of `ones` change nothing but b.
        for _ in range(2 if self.sub.constrained else 0):
            shift = (float((x + step).sum()) - self.total) / float(ones.sum())
            step, b = step - shift * ones, b + shift
        # Huge coefficients that cancel, on a singular matrix, lose the sum: then this is no solution.
        moved = x + step
        if self.sub.constrained and abs(float(moved.sum()) - self.total) > 1e-11 * float(np.abs(moved).sum()):
            return None
        x += step
        r -= self.sub.Q.times(step)
        return b


def _columns(free: Bools, values: Floats) -> Floats:
    """Two right-hand sides, (n, 2) column-major: the values and ones, both 0 where a coefficient is not free."""
    columns = np.zeros((len(free), 2), order="F")
    columns[free, 0], columns[free, 1] = values[free], 1.0
    return columns
