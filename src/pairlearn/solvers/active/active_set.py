"""Decomposition with a large working set: gradients by matrix products, exact solutions inside."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.linalg.cholesky import packed_bytes
from pairlearn.linalg.room import BYTES, FACTORED, give_back, order_within
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.active.stagnation import Stagnation
from pairlearn.solvers.active.working_set import WorkingSet, steepest_pairs
from pairlearn.solvers.certificate import finish
from pairlearn.solvers.clock import Clock, OutOfTimeError, Pace
from pairlearn.solvers.inner.order import InnerSolver
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem
from pairlearn.solvers.problem import Callback, Problem, Progress, Relay, Solution, Status, tell
from pairlearn.solvers.tuning import TUNING, Tuning
from pairlearn.types import Floats, Ints

PAGE = 2**21
"""Bytes of memory that come together for large arrays."""


@dataclass(frozen=True)
class ActiveSet:
    """Solve to a certified KKT gap: all free coefficients and the worst violators from both sides at once.

    Each outer step optimises a working set W exactly, on its explicit Gram matrix, and then moves the residual of *all*
    pairs by one fast product, p − Kθ ← p − Kθ − K[:, W] Δθ_W. 7 to 20 steps are usual, and their number hardly grows
    with the number of pairs; projected gradients took 300 to 1,180 products for the same gap.

    `memory` is in bytes and bounds the working set; `candidates` is the number of violators from each side, None takes
    500 to 2000, growing with the number of pairs, of support pairs and of free coefficients.

    >>> import numpy as np
    >>> from pairlearn.operators.dense import DenseOperator
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    >>> solution = ActiveSet().solve(problem, DenseOperator(2 * np.eye(2)))
    >>> solution.coefficients.tolist(), str(solution.status)
    ([0.5, -0.5], 'converged')
    """

    tol: float = 1e-3
    candidates: int | None = None
    memory: float = BYTES * 20_000.0**2
    max_iterations: int = 5000
    time_budget: float | None = None
    seed: int = 0
    tuning: Tuning = TUNING

    @property
    def max_working_set(self) -> int:
        """Most pairs that there is memory to optimise together."""
        return order_within(self.memory)

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem, from zero or from a feasible start."""
        return _Run(self, problem, operator, start, callback).solution()


class _Run:
    """One solution under way: θ, v = p − Kθ of all pairs, and what has been learnt on the way."""

    def __init__(
        self,
        options: ActiveSet,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None,
        callback: Callback | None,
    ) -> None:
        self.options, self.problem, self.operator, self.callback = options, problem, operator, callback
        self.tuning, self.clock = options.tuning, Clock.start(options.time_budget)
        self.rng = np.random.default_rng(options.seed)
        self.history: list[Progress] = []
        self.theta, self.begun = np.zeros(len(problem)) if start is None else start.copy(), start is not None
        self.pace = Pace(operator)
        limit = options.max_working_set
        self.room = min(limit, len(problem))
        """Most pairs of a working set, by memory."""
        self.working = WorkingSet(operator, self.room)
        self.rank = 0
        """Of the Gram matrix of the last set, as far as it was looked at: that of the next is hardly less."""
        self.least_tol = self.tuning.final * options.tol
        self.inner = InnerSolver(self.tuning, self.least_tol, max(2, int(FACTORED * limit)))
        self.best, self.lowest = self.theta, np.inf
        """Coefficients with the least gap: where nothing moves but rounding, the last are not the best."""
        self.stagnation = Stagnation(self.tuning.stale, self.tuning.stalled)
        self.taken = 0

    def solution(self) -> Solution:
        """What is found until the end, whatever ends it."""
        status = Status.INTERRUPTED
        with blas_threads(0):
            with suppress(KeyboardInterrupt):
                status = self._within_time()
            found = finish(self.problem, self.operator, self.theta, status, self.options.tol, tuple(self.history))
            self._note()
            return replace(found, taken=self.taken, path="active set")

    def _within_time(self) -> Status:
        try:
            return self._iterate()
        except OutOfTimeError:
            return Status.TIME_BUDGET

    def _iterate(self) -> Status:
        self._refresh()
        for iteration in range(self.options.max_iterations):
            status = self._advance(iteration)
            if status is not None:
                return status
        return Status.ITERATION_LIMIT

    def _refresh(self) -> None:
        """v = p − Kθ, from scratch."""
        product = np.zeros(len(self.problem))
        if self.theta.any():
            self.pace.add_product(self.theta, product)
        self.v, self.fresh = np.subtract(self.problem.linear, product, out=product), True

    def _advance(self, step: int) -> Status | None:
        """One outer step; a status if it is the last one."""
        gap = self._gap(self.theta, self.v)
        if self._report(self.theta, self.v, gap, len(self.working.pairs)):
            return Status.INTERRUPTED
        if gap < self.lowest and self.theta.any():
            self.best, self.lowest = self.theta.copy(), gap
        if gap <= self.options.tol and self.fresh:
            return Status.CONVERGED
        # One step is always taken: no time at all would leave a machine that knows nothing.
        if self.theta.any() and (self._time_for_a_step().expired or self._affordable() < 2):
            return Status.TIME_BUDGET
        if gap <= self.options.tol:
            self._refresh()
            return None
        status = self._stagnant(step, gap)
        if status is None:
            self._improve(gap)
        return status

    def _stagnant(self, step: int, gap: float) -> Status | None:
        """A status if nothing moves any more; a residual that was moved along for long is first computed afresh."""
        if step <= self.tuning.stale:
            return None
        # A set that is small among all pairs needs as many more steps to see them.
        share = len(self.working.pairs) / len(self.problem)
        status = self.stagnation.ends(gap, self.history[-1].objective, self._rounding(), share)
        if status is not None:
            self.theta = self.best
        elif self.stagnation.steps % self.tuning.stale == self.tuning.stale // 2:
            self._refresh()
        return status

    def _time_for_a_step(self) -> Clock:
        """The clock without the pass over all pairs that certifies the end."""
        return self.clock.reserving(self.pace.seconds(int(np.count_nonzero(self.theta))) if self.clock.ends else 0.0)

    def _affordable(self) -> float:
        """Most pairs of a working set, by time: for its product, for the certificate, and as much for all else."""
        if not self.clock.ends:
            return np.inf
        left = self.clock.left if self.theta.any() else max(self.clock.left, self.tuning.grace)
        return (self.pace.affordable(left) - np.count_nonzero(self.theta)) / 3

    def _gap(self, theta: Floats, v: Floats) -> float:
        return self.problem.box.gap(theta, v, self.problem.constrained)

    def _rounding(self) -> float:
        """About the most that rounding can do to Kθ: ε·max K·Σ|θ|."""
        return float(np.finfo(float).eps * self.operator.largest * np.abs(self.theta).sum())

    def _note(self) -> None:
        """Note the most that is in use at once: growing sets, products over all pairs, the algebra of a set.

        Coefficients, the best so far and the residual are there always, buffers of BLAS since the first factor. Of
        zeros (a change, coefficients that began as such) only pages with entries that were ever set take memory.
        """
        factor, moved = self.inner.system.L.nbytes, max(self.working.rows, int(np.count_nonzero(self.theta)))
        each = min(self.theta.nbytes, PAGE * moved)
        buffers = packed_bytes(self.inner.system.order)
        product = factor + each + self.operator.passed
        most = max(self.working.most + factor, self.working.nbytes + max(product, self.inner.taken))
        copies = 1 + self.begun + (self.best is not self.theta)
        vectors = copies * self.theta.nbytes + (0 if self.begun else each)
        self.taken = max(self.taken, vectors + buffers + most)

    # -- working sets

    def _improve(self, gap: float) -> None:
        """Solve on a new working set and move the residual of all pairs along."""
        clock = self._time_for_a_step()
        give_back(max(self.taken, self.operator.passed))
        self._update_working_set(clock)
        W, p = self.working.pairs, self.problem
        Q = Explicit(self.working.store, W, self.rng, clock.look, self.rank)
        sub = Subproblem(Q, self.theta[W], self.v[W], p.box.take(W), p.constrained)
        if self.inner.struggles and gap <= self._rounding():
            self.inner.at_rounding += 1
        if self.inner.solve(sub, self._inner_tol(gap), clock) is Outcome.NO_ROOM:
            self.room = self.inner.room
        self.rank = Q.rank
        if len(W) == len(p):
            self.theta[W], self.v[W], self.fresh = sub.theta, sub.v, False
        else:
            self._move(W, sub.theta, clock)

    def _move(self, W: Ints, theta: Floats, clock: Clock) -> None:
        """Go to these coefficients of W; without time for the residual of all pairs, which the end computes anyway."""
        change = np.zeros(len(self.problem))
        change[W] = theta - self.theta[W]
        self.theta[W] = theta
        if clock.expired:
            raise OutOfTimeError
        self.v *= -1.0
        self.pace.add_product(change, self.v)
        self.v *= -1.0
        self.fresh = False

    def _inner_tol(self, gap: float) -> float:
        if len(self.working.pairs) == len(self.problem):
            return self.least_tol
        loose = self.inner.degenerate and gap > 1
        return max((self.tuning.inner_degenerate if loose else self.tuning.inner) * gap, self.least_tol)

    def _update_working_set(self, clock: Clock) -> None:
        """All free pairs and the worst violators from both sides."""
        self.working.limit = int(max(2, min(self.room, self._affordable())))
        free = np.nonzero(self.problem.box.free(self.theta))[0]
        candidates = self._candidates(len(free))
        if len(free) > self.working.limit // 2:
            # They may not all fit: in random order each of them is in the set sooner or later.
            free = self.rng.permutation(free)
        try:
            self.working.update(free, candidates, clock.look if self.theta.any() else None)
        finally:
            self._note()

    def _candidates(self, n_free: int) -> Ints:
        n = len(self.problem)
        # At first all rates tie at zero: a random choice covers the examples evenly.
        chance = self.rng if len(self.history) == 1 and not self.theta.any() else None
        usual, n_support = self.tuning.candidates_for(n), int(np.count_nonzero(self.theta))
        # Half as many are enough while few pairs support the function.
        count = min(max(n_free, min(max(n_support, usual // 2, 1), usual)), self.tuning.candidates[1])
        count = self.options.candidates or (n if n <= self.tuning.small else count)
        return steepest_pairs(self.problem.box, self.theta, self.v, count, chance)

    def _report(self, theta: Floats, v: Floats, gap: float, size: int) -> bool:
        """Add a line to the history; whether the callback wants to stop."""
        progress = Progress(
            iteration=len(self.history),
            gap=gap,
            objective=self.problem.box.objective(theta, self.problem.linear, v),
            n_support=int(np.count_nonzero(theta)),
            working_set=size,
            seconds=self.clock.seconds,
            n_pairs=len(theta),
        )
        self.history.append(progress)
        if isinstance(self.callback, Relay):
            self.callback.factored = self.inner.operations
        return tell(self.callback, progress, theta, "ActiveSet")
