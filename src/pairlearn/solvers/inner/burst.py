"""A burst of SMO: the cheapest method, for as long as few coefficients have to move far."""

from __future__ import annotations

from dataclasses import dataclass

from pairlearn import loops
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.subproblem import Outcome, Working

BETWEEN_LOOKS = 5 * 10**8
"""Rates that are moved between two looks at the clock: some tenths of a second."""


@dataclass(frozen=True)
class Burst:
    """So many steps of second-order SMO per pair of the working set.

    A step costs |W| operations and never raises the objective, so that a burst that fails still leaves a better start
    for the next method. Near separable data with large C it needs hundreds of steps per support pair, hence the limit.
    """

    steps: int

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """SOLVED, OUT_OF_TIME, or STUCK when the steps were not enough."""
        move = loops.smo.smo_pairs if sub.constrained else loops.smo.smo_single
        box, left, at_once = sub.box, self.steps * len(sub), max(1, BETWEEN_LOOKS // len(sub))
        while left > 0:
            most = min(left, at_once)
            made, gap = move(sub.Q.store, sub.v, sub.theta, box.lower, box.upper, box.eps, tol, most)
            if gap <= tol:
                return Outcome.SOLVED
            if clock.expired:
                return Outcome.OUT_OF_TIME
            left = left - most if made == most else 0
        return Outcome.STUCK
