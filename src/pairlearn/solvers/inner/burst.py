"""A burst of SMO: the cheapest method, for as long as few coefficients have to move far."""

from __future__ import annotations

from dataclasses import dataclass

from pairlearn import loops
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.subproblem import Outcome, Working


@dataclass(frozen=True)
class Burst:
    """So many steps of second-order SMO per pair of the working set.

    A step costs |W| operations and never raises the objective, so that a burst that fails still leaves a better start
    for the next method. Near separable data with large C it needs hundreds of steps per support pair, hence the limit;
    it does not look at the clock, because it takes seconds at most.
    """

    steps: int

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """SOLVED, or STUCK when the steps were not enough."""
        steps = loops.smo.smo_pairs if sub.constrained else loops.smo.smo_single
        box, most = sub.box, self.steps * len(sub)
        _, gap = steps(sub.Q.store, sub.v, sub.theta, box.lower, box.upper, box.eps, tol, most)
        return Outcome.SOLVED if gap <= tol else Outcome.STUCK
