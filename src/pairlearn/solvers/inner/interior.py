"""Primal-dual interior point, on a working set or on all pairs: for problems whose optimal face is degenerate.

A pair kernel of low rank (a linear base in few dimensions) leaves more candidates for free coefficients than
equations; pivoting then has nothing to hold on to, while the central path is well defined. It needs 12 to 31 steps,
always; pivoting with a proximal term and a damped semismooth Newton method were tried in its place, needed 20 to 60
factors on such problems and stalled near the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pairlearn.solvers.clock import Clock, OutOfTimeError
from pairlearn.solvers.inner.central_path import Newton, Parts, Point
from pairlearn.solvers.inner.quadratic import Factor, Quadratic
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem
from pairlearn.solvers.tuning import TUNING, Tuning
from pairlearn.types import Floats

RIDGES = 4
"""Times that the ridge may grow tenfold, over the whole path, before it is given up."""

Report = Callable[[Floats, Floats], bool]
"""Called with x and p − Qx after every step; True stops."""


@dataclass(frozen=True)
class InteriorPoint:
    """Mehrotra's predictor-corrector, with Gondzio's corrections towards the centre.

    Follows the central path until its end, snapped to bounds and kink, has a gap of at most the tolerance. On return θ
    meets bounds and kink exactly where the path ends at them.
    """

    tuning: Tuning = TUNING
    report: Report | None = None

    def run(self, sub: Subproblem[Quadratic], tol: float, clock: Clock) -> Outcome:
        """SOLVED; or STUCK by rounding, OUT_OF_TIME or STOPPED, with what has been reached in θ if it is better."""
        return Outcome.SOLVED if sub.gap <= tol else _Path(self, sub, tol).follow(clock)


class _Path:
    """One way along the central path of a subproblem."""

    def __init__(self, method: InteriorPoint, sub: Subproblem[Quadratic], tol: float) -> None:
        self.tuning, self.report, self.sub, self.tol = method.tuning, method.report, sub, tol
        self.Q, self.box = sub.Q, sub.box
        self.p = sub.linear()
        self.total = float(sub.theta.sum())
        self.weight = self.Q.weight + 1e-300
        self.ridge = 2e-16 * self.weight / np.sqrt(len(sub))
        """About the rounding of Q: stiffness below it would only make the equations singular."""
        self.parts = Parts.of(self.box)
        self.best = sub.objective
        """Least objective of the ends of the path so far."""
        self.kept = False
        """Whether θ is one of them."""
        self.least, self.stale = np.inf, 0
        """Least μ so far, and steps since it fell."""

    def follow(self, clock: Clock) -> Outcome:
        """From well inside the box to the end, or to where rounding takes over."""
        self.point = self._start()
        try:
            outcome = self._walked(clock)
        except np.linalg.LinAlgError:
            outcome = Outcome.STUCK
        except (OutOfTimeError, KeyboardInterrupt):
            self._settle(self.point)
            raise
        if outcome is Outcome.STUCK and not self.kept:
            self._accept(self.point)
        if outcome is not Outcome.SOLVED and not self.kept:
            self._settle(self.point)
        return outcome

    def _walked(self, clock: Clock) -> Outcome:
        near = 0.1 * self.tol * float((self.box.upper - self.box.lower).max())
        for step in range(1, self.tuning.path_steps + 1):
            mu = self.parts.mean_product(self.point)
            self.point = self._advanced(self.point, mu, step)
            if mu < near and self._accept(self.point):
                return Outcome.SOLVED
            if clock.expired:
                return Outcome.OUT_OF_TIME
            if self.report is not None and self.report(*self._within(self.point)):
                return Outcome.STOPPED
            if mu < near and self._strays(mu):
                break
        return Outcome.STUCK

    def _start(self) -> Point:
        """θ moved well inside the box, multipliers as large as the rates there.

        Far from bounds the path is short: starting near θ took 57 to 93 steps where this takes 12 to 31.
        """
        parts = self.parts
        xi = parts.inside(self.sub.theta)
        r = self.p - self.Q @ parts.joined(xi)
        b = float(np.median(r)) if self.sub.constrained else 0.0
        rates = parts.open * parts.rates(r - b)
        lift = parts.open * (float(np.abs(rates).sum() / parts.open.sum()) + 1e-300)
        return Point(xi, np.maximum(-rates, 0.0) + lift, np.maximum(rates, 0.0) + lift, b)

    def _advanced(self, point: Point, mu: float, step: int) -> Point:
        """The next point: how far the pure Newton step gets decides how much the real one keeps to the centre."""
        x = self.parts.joined(point.xi)
        newton = Newton(self.parts, point, self.p - self.Q @ x, self._factored)
        lacking = self.total - float(x.sum()) if self.sub.constrained else None
        pure = newton.step(0.0, 0.0, lacking)
        after = self.parts.mean_product(point.moved(newton.length(pure), pure))
        centre = (max(after, 0.0) / mu) ** 3 * mu
        move = self._corrected(newton, pure, centre, max(centre, 0.1 * mu), lacking)
        # Long steps are fast, but now and then run in circles; shorter ones lead out.
        greed = 0.995 if 2 * step <= self.tuning.path_steps else 0.9
        return point.moved(min(1.0, greed * newton.length(move)), move)

    def _factored(self, D: Floats) -> Factor:
        """(Q + diag D)⁻¹, with more of a ridge where rounding leaves the sum indefinite."""
        for _ in range(RIDGES):
            try:
                return self.Q.factored(D + self.ridge)
            except np.linalg.LinAlgError:
                self.ridge *= 10.0
        return self.Q.factored(D + self.ridge)

    def _corrected(self, newton: Newton, pure: Point, centre: float, around: float, lacking: float | None) -> Point:
        """Mehrotra's step towards products of size `centre`, with corrections while they make it longer."""
        low, high = centre - pure.xi * pure.z, centre + pure.xi * pure.w
        step = newton.step(low, high, lacking)
        for _ in range(self.tuning.corrections):
            length = newton.length(step)
            if length > 0.9:
                break
            # Products far from the centre at the end of a longer step are what keeps the step short.
            short_low, short_high = newton.off_centre(step, min(1.0, length + 0.3), around)
            low, high = low + short_low, high + short_high
            better = newton.step(low, high, lacking)
            if newton.length(better) < length + 0.03:
                break
            step = better
        return step

    def _accept(self, point: Point) -> bool:
        """Snap the parts with a clear multiplier to their bounds and keep the result if its gap is small."""
        for xi in self._ends(point):
            x = self.parts.joined(xi)
            if self.sub.constrained and not self._balance(x):
                continue
            v = self.p - self.Q @ x
            if self.sub.gap_at(x, v) <= self.tol:
                self.sub.move(x, v)
                return True
            self._keep(x, v)
        return False

    def _strays(self, mu: float) -> bool:
        """Whether the path no longer leads to its end, for rounding."""
        self.least, self.stale = (mu, 0) if mu < 0.9 * self.least else (self.least, self.stale + 1)
        return self.stale > self.tuning.path_stale

    def _ends(self, point: Point) -> Iterator[Floats]:
        """Guesses of where the path ends, near this point."""
        # What is a billionth of the box can matter where values are huge.
        for reach in (np.inf, 0.1 * self.tol / self.weight):
            yield self.parts.snapped(point, 0.2 * self.tol, reach)
        yield self.parts.settled(point)

    def _keep(self, x: Floats, v: Floats) -> None:
        """Go to a feasible end of the path that is the best so far: where rounding leads astray later, it counts."""
        objective = self.box.objective(x, self.p, v)
        if objective < self.best:
            self.best, self.kept = objective, True
            self.sub.move(x, v)

    def _within(self, point: Point) -> tuple[Floats, Floats]:
        """(x, p − Qx) of a point, inside the box."""
        x: Floats = np.clip(self.parts.joined(point.xi), self.box.lower, self.box.upper)
        return x, self.p - self.Q @ x

    def _settle(self, point: Point) -> None:
        """Keep an unfinished point that is feasible and better than θ."""
        x, v = self._within(point)
        if self.sub.constrained:
            if not (self._balance(x) and np.array_equal(x, np.clip(x, self.box.lower, self.box.upper))):
                return
            v = self.p - self.Q @ x
        self._keep(x, v)

    def _balance(self, x: Floats) -> bool:
        """Bring Σx back to the total by moves inside the pieces; False when these have too little room."""
        lacking = self.total - float(x.sum())
        if abs(lacking) <= 1e-14 * float(np.abs(x).sum()):
            return True
        floor, ceiling, _ = self.box.pieces(x > 0)
        room = np.where(self.box.free(x), ceiling - x if lacking > 0 else x - floor, 0.0)
        if not abs(lacking) <= 0.5 * float(room.sum()):  # also where the sum overflows
            return False
        x += room * (lacking / float(room.sum()))
        return True
