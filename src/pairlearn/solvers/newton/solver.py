"""Newton's method, and the active set from where it ends."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.solvers import interior
from pairlearn.solvers.active import nested
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.certificate import finish
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.interior import Interior
from pairlearn.solvers.newton.constant import constant
from pairlearn.solvers.newton.descent import Descent
from pairlearn.solvers.newton.size import Size
from pairlearn.solvers.problem import Callback, Problem, Relay, Solution, Status
from pairlearn.solvers.start import feasible
from pairlearn.solvers.tuning import factor_seconds
from pairlearn.types import Floats

PATH = "Newton's method"
FEWER, ENOUGH = 16, 32
"""A constant is looked for on one pair of 16 first, if these are 32 and more per feature: steps with all of them are
few then (letter, 319,600 pairs: six instead of nine)."""


@dataclass(frozen=True)
class Newton:
    """Smoothed Newton steps by few features or by kernel values, and the active set from where they end.

    >>> import numpy as np
    >>> from pairlearn.operators.product import FeatureOperator
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0))
    >>> solution = Newton().solve(problem, FeatureOperator(2.0 * y[:, None]))
    >>> round(float(y @ solution.coefficients), 3), str(solution.status)
    (0.25, 'converged')
    """

    active: ActiveSet = field(default_factory=ActiveSet)
    looked: bool = False
    """Whether it was chosen after a look at subsets. A start is a guess by them then, no better to go down from than
    nothing (MNIST in 30 dimensions, 319,600 pairs: C = .1 1.4 and 1.5 s, C = 1 2.7 and 1.8) but for what a fit that is
    broken off leaves."""
    returns: bool = False
    """Whether whoever chose it knows what to do where it is lost (`Status.STALLED`)."""

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem, from zero or from a feasible start."""
        size = Size.of(problem, operator, self.active.tuning, self.active.memory)
        clock = Clock.start(self.active.time_budget)
        relay = Relay(clock, callback)
        descent = Descent(self.active, problem, operator, size, relay, clock)
        with blas_threads(0):
            status = descent.run(start, anew=self.looked)
        theta = feasible(descent.theta if status is None else descent.best, problem)
        crowded = self._crowded(problem, size, descent.on_ramps)
        flat = descent.flat
        # Without a step it is not lost: the start was the optimum already.
        lost = crowded or flat or (descent.half > 0 and descent.astray)
        del descent  # its vectors have no place beside those of what follows
        taken = size.bytes_needed(problem) + operator.passed
        if status is not None:
            found = finish(problem, operator, theta, status, self.active.tol, ())
            return relay.whole(found, PATH, taken)
        even = None
        if lost and self._has_room(problem, size):
            taken = max(taken, interior.bytes_needed(problem, (size.features or 0,) * 2, self.active.tuning))
            even = proven(self.active, problem, operator, theta, clock, doubtful=self.looked and not flat)
        if lost and self.returns and even is None:
            found = finish(problem, operator, theta, Status.STALLED, self.active.tol, ())
            return relay.whole(found, PATH, taken)
        active = replace(self.active, time_budget=clock.budget)
        rest = Interior(active) if crowded and self._has_room(problem, size) else active
        found = rest.solve(problem, operator, theta, relay) if even is None else even
        return relay.whole(found, f"{PATH}, {found.path}", taken)

    def _has_room(self, problem: Problem, size: Size) -> bool:
        """Whether pairs have few features, and the interior point has room for those of all pairs."""
        r = size.features
        return r is not None and interior.bytes_needed(problem, (r, r), self.active.tuning) <= self.active.memory

    def _crowded(self, problem: Problem, size: Size, on_ramps: int) -> bool:
        """Whether so many pairs stayed on their ramps, all but sharing one value, that all pairs take less time."""
        r, factors = size.features, self.active.tuning.newton_crowded
        return r is not None and interior.seconds_needed(problem, (r, r)) < factors * factor_seconds(on_ramps)

    def within(self, seconds: float | None) -> Newton:
        """The same with so much time."""
        return replace(self, active=replace(self.active, time_budget=seconds))


def proven(
    active: ActiveSet,
    problem: Problem,
    operator: PairOperator,
    start: Floats,
    clock: Clock,
    c: Floats | None = None,
    *,
    doubtful: bool = False,
) -> Solution | None:
    """A constant function, where that is the best one; `c` is that of a subset. Ctrl-C leaves the start.

    Where it is `doubtful` it has to be the best one of few pairs first.
    """
    status, theta = Status.INTERRUPTED, start
    with blas_threads(0), suppress(KeyboardInterrupt):
        if c is None:
            c = _of_few(active, problem, operator, clock)
        if doubtful and c is None:
            return None
        form = operator.thin()
        proof = None if form is None else constant(problem, form, clock, c)
        if proof is None:
            return None
        status, theta = Status.CONVERGED, feasible(proof.theta, problem)
    found = finish(problem, operator, theta, status, active.tol, ())
    return None if found.status is Status.ROUNDING else replace(found, path="constant")


def _of_few(active: ActiveSet, problem: Problem, operator: PairOperator, clock: Clock) -> Floats | None:
    """c of one pair of `FEWER`, where these are enough and a constant is best for them."""
    few = np.sort(np.random.default_rng(active.seed).permutation(len(problem))[::FEWER])
    part = operator.restricted(few).thin()
    if part is None or len(few) < ENOUGH * part.rank:
        return None
    proof = constant(nested.taken(problem, few), part, clock)
    return None if proof is None else proof.c
