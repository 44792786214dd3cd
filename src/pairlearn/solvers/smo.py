"""Plain SMO: the classical reference, one couple of pairs at a time."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pairlearn import loops
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.active.stagnation import Stagnation
from pairlearn.solvers.box import kkt_gap
from pairlearn.solvers.certificate import finish
from pairlearn.solvers.clock import Clock, Pace
from pairlearn.solvers.problem import Callback, Problem, Progress, Solution, Status, tell
from pairlearn.solvers.tuning import TUNING
from pairlearn.types import Floats

SPARE = 4
"""Rows' worth of memory that one row takes while it is computed."""


class RowCache:
    """Rows of the Gram matrix, the least recently used dropped first."""

    def __init__(self, operator: PairOperator, memory: float) -> None:
        self.operator, self.limit = operator, max(2, int(memory // (8 * operator.n_pairs)) - SPARE)
        self._all_pairs = np.arange(operator.n_pairs)
        self._rows: OrderedDict[int, Floats] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and of one more on its way."""
        return 8 * self.operator.n_pairs * (len(self._rows) + SPARE)

    def __getitem__(self, i: int) -> Floats:
        row = self._rows.get(i)
        if row is None:
            row = self.operator.submatrix(np.array([i]), self._all_pairs)[0]
            if len(self._rows) >= self.limit:
                self._rows.popitem(last=False)
            self._rows[i] = row
        else:
            self._rows.move_to_end(i)
        return row


@dataclass(frozen=True)
class PlainSMO:
    """Second-order SMO over the cached base Gram matrix; every iterate keeps the kernel's (anti)symmetry.

    Each step moves two coefficients (one without a constraint) and needs two rows of K. It is as fast as LIBSVM, far
    slower than ActiveSet beyond some ten thousand pairs, and simple enough to trust: tests hold the other against it.
    `memory`, in bytes, is for cached rows; more than the default hardly helps, because at millions of pairs no cache
    holds the rows that come again.
    """

    tol: float = 1e-3
    max_steps: int = 100_000_000
    time_budget: float | None = None
    memory: float = 2**30
    report_every: int = 1000

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem, from zero or from a feasible start."""
        run = _Run(self, problem, operator, start, callback)
        status = Status.INTERRUPTED
        with suppress(KeyboardInterrupt):
            status = run.iterate()
        found = finish(problem, operator, run.theta, status, self.tol, tuple(run.history))
        # θ, both rates and the diagonal.
        return replace(found, taken=4 * run.theta.nbytes + run.rows.nbytes, path="plain SMO")


class _Run:
    """One solution under way: θ, and the rates of all pairs with their extremes chunk by chunk (see `loops.steps`)."""

    def __init__(
        self,
        options: PlainSMO,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None,
        callback: Callback | None,
    ) -> None:
        self.options, self.problem, self.operator, self.callback = options, problem, operator, callback
        self.theta = np.zeros(len(problem)) if start is None else start.copy()
        self.rows = RowCache(operator, options.memory)
        self.history: list[Progress] = []
        self.clock, self.pace = Clock.start(options.time_budget), Pace(operator)
        self.touched = set(np.nonzero(self.theta)[0].tolist())
        """Coefficients that may not be 0."""
        self.stagnation = Stagnation(TUNING.stale, TUNING.stalled)
        self.patience = max(1000, 10 * len(problem))
        """Steps between two looks at whether anything moves."""

    def iterate(self) -> Status:
        """Steps until the gap, the callback, the clock or the limit ends them."""
        self._set_up()
        tol, constrained, every = self.options.tol, self.problem.constrained, self.options.report_every
        move = self._exchange if constrained else self._shift
        up, low = self.up, self.low
        for step in range(self.options.max_steps):
            i, j = loops.plain.steepest(*self.state)
            best_up, least_low = (up[i] if i >= 0 else -np.inf), (low[j] if j >= 0 else np.inf)
            gap = kkt_gap(best_up, least_low, constrained)
            if (step % every == 0 or gap <= tol) and self._report(step, gap):
                return Status.INTERRUPTED
            if gap <= tol:
                return Status.CONVERGED
            if step % self.patience == 0 and (status := self._stagnant(gap)) is not None:
                return status
            if self.clock.ends and self._out_of_time():
                return Status.TIME_BUDGET
            move(i, j, best_up, least_low)
        return Status.ITERATION_LIMIT

    def _out_of_time(self) -> bool:
        """Whether no more is left than the certificate takes."""
        return self.clock.reserving(self.pace.seconds(len(self.touched))).expired

    def _set_up(self) -> None:
        p, n, operator = self.problem, len(self.problem), self.operator
        self.diagonal = operator.diagonal()
        v = p.linear - (operator @ self.theta if self.theta.any() else np.zeros(n))
        self.box = self.theta, p.lower, p.upper, p.epsilon
        self.state = loops.plain.set_up(v, *self.box)
        self.up, self.low, highest, _ = self.state
        self.gains, self.buffer, self.nothing = np.empty(len(highest)), np.empty(loops.plain.CHUNK), np.zeros(n)

    def _exchange(self, i: int, j: int, best_up: float, least_low: float) -> None:
        """Raise θ_i and lower the partner that gains most with it."""
        row, diagonal = self.rows[i], self.diagonal
        j = loops.plain.partner(self.low, row, diagonal, i, best_up, self.gains, self.buffer)
        curvature = diagonal[i] + diagonal[j] - 2.0 * row[j]
        self.touched.update((i, j))
        loops.plain.exchange(i, j, row, self.rows[j], curvature, *self.box, *self.state)

    def _shift(self, i: int, j: int, best_up: float, least_low: float) -> None:
        """Move the one coefficient with the larger rate."""
        k, rate = (i, best_up) if best_up >= -least_low else (j, least_low)
        self.touched.add(k)
        loops.plain.shift(k, rate, self.rows[k], self.nothing, self.diagonal[k], *self.box, *self.state)

    def _report(self, step: int, gap: float) -> bool:
        """Add a line to the history; whether the callback wants to stop."""
        n_support, n = int(np.count_nonzero(self.theta)), len(self.theta)
        self.history.append(Progress(step, gap, self._objective(), n_support, 2, self.clock.seconds, n))
        return tell(self.callback, self.history[-1], self.theta, "PlainSMO")

    def _objective(self) -> float:
        p = self.problem
        return p.box.objective(self.theta, p.linear, loops.plain.residual(self.theta, p.epsilon, self.up, self.low))

    def _stagnant(self, gap: float) -> Status | None:
        """A status if nothing moves any more."""
        # About the most that rounding can do to Kθ.
        rounding = np.finfo(float).eps * self.diagonal.max(initial=0.0) * np.abs(self.theta).sum()
        return self.stagnation.ends(gap, self._objective(), float(rounding))
