"""From the end of the central path to a vertex: what solves degenerate working sets, and those of huge kernel values.

Near its end the path is a matter of the last digits, which values of 10¹⁰ and more do not leave. But where it gets to
shows well which coefficients are free, and pivoting from there is exact: 568 contradictory pairs with weights over six
decades and values of 10¹¹ took for ever, with gaps of 10 to 80, and take a second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.interior import InteriorPoint
from pairlearn.solvers.inner.pivoting import Pivoting
from pairlearn.solvers.inner.subproblem import Outcome, Working
from pairlearn.types import Floats

WORTH = 1e-3
"""Share of the objective that an unsolved end has to gain: rounding may gain less, and a better gap would be lost."""


@dataclass(frozen=True)
class Crossing:
    """The interior point, then pivoting from its end.

    First with a factor of low rank, if there is one. That is exact to a billionth of the largest value only, so where
    it fails the path is gone once more, by factors of the whole matrix.
    """

    path: InteriorPoint
    pivoting: Pivoting

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """SOLVED, OUT_OF_TIME, or STUCK at an end that is clearly better than θ, else at θ."""
        start, ends = (sub.theta.copy(), sub.v.copy(), sub.objective), []
        for whole in (False, True) if sub.Q.low_rank is not None else (False,):
            sub.move(*start[:2])
            way = replace(sub, Q=sub.Q.exact()) if whole else sub
            outcome = self._tried(way, start, tol, clock)
            if outcome is not Outcome.STUCK:
                return outcome
            ends.append((sub.objective, sub.theta.copy(), sub.v.copy()))
        objective, theta, v = min(ends, key=lambda end: end[0])
        sub.move(*((theta, v) if objective < start[2] - WORTH * abs(start[2]) else start[:2]))
        return Outcome.STUCK

    def _tried(self, way: Working, start: tuple[Floats, Floats, float], tol: float, clock: Clock) -> Outcome:
        """One way along the path and from its end; the residual is always that of the matrix itself."""
        self.pivoting.system.forget()  # the path needs the memory
        theta, v, _ = start
        try:
            outcome = self.path.run(way, tol, clock)
        finally:
            way.v[:] = v - way.Q.times(way.theta - theta)
        if outcome is Outcome.OUT_OF_TIME or way.gap <= tol:
            return outcome
        return self.pivoting.run(way, tol, clock)
