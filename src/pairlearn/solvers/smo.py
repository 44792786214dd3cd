"""Plain SMO: the classical reference, one couple of pairs at a time."""

from __future__ import annotations

import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pairlearn.loops import plain
from pairlearn.loops.smo import CHUNK
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.problem import Callback, Problem, Progress, Solution, Status, finish, objective_of
from pairlearn.types import Floats


class RowCache:
    """Rows of the Gram matrix, the least recently used dropped first."""

    def __init__(self, operator: PairOperator, bytes_allowed: int) -> None:
        self.operator, self.limit = operator, max(2, bytes_allowed // (8 * operator.n_pairs))
        self._everyone = np.arange(operator.n_pairs)
        self._rows: OrderedDict[int, Floats] = OrderedDict()

    def __getitem__(self, i: int) -> Floats:
        row = self._rows.get(i)
        if row is None:
            row = self.operator.submatrix(np.array([i]), self._everyone)[0]
            if len(self._rows) >= self.limit:
                self._rows.popitem(last=False)
            self._rows[i] = row
        else:
            self._rows.move_to_end(i)
        return row


@dataclass(frozen=True)
class PlainSMO:
    """Second-order SMO over the cached base Gram matrix; every iterate keeps the kernel's (anti)symmetry."""

    tol: float = 1e-3
    max_steps: int = 100_000_000
    time_budget: float | None = None
    cache_bytes: int = 2**30
    report_every: int = 1000

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem, from zero or from a feasible start."""
        theta = np.zeros(len(problem)) if start is None else start.copy()
        history: list[Progress] = []
        status = Status.INTERRUPTED
        with suppress(KeyboardInterrupt):
            status = self._iterate(problem, operator, theta, history, callback)
        return finish(problem, operator, theta, status, self.tol, tuple(history))

    def _iterate(
        self,
        problem: Problem,
        operator: PairOperator,
        theta: Floats,
        history: list[Progress],
        callback: Callback | None,
    ) -> Status:
        rows, diagonal = RowCache(operator, self.cache_bytes), operator.diagonal()
        began = time.perf_counter()
        v = problem.linear - (operator @ theta if theta.any() else np.zeros(len(problem)))
        box = theta, problem.lower, problem.upper, problem.epsilon
        state = plain.set_up(v, *box)
        up, low, highest, _ = state
        gains, buffer, nothing = np.empty(len(highest)), np.empty(CHUNK), np.zeros(len(problem))
        for step in range(self.max_steps):
            i, j = plain.extremes(*state)
            best_up, least_low = (up[i] if i >= 0 else -np.inf), (low[j] if j >= 0 else np.inf)
            gap = best_up - least_low if problem.total is not None else max(best_up, -least_low)
            if step % self.report_every == 0 or gap <= self.tol:
                seconds = time.perf_counter() - began
                objective = objective_of(problem, theta, plain.residual(theta, problem.epsilon, up, low))
                history.append(Progress(step, max(gap, 0.0), objective, int(np.count_nonzero(theta)), 2, seconds))
                if callback is not None and callback(history[-1]):
                    return Status.INTERRUPTED
                if self.time_budget is not None and seconds >= self.time_budget:
                    return Status.TIME_BUDGET
            if gap <= self.tol:
                return Status.CONVERGED
            if problem.total is not None:
                row = rows[i]
                j = plain.partner(low, row, diagonal, i, best_up, gains, buffer)
                plain.exchange(i, j, row, rows[j], diagonal[i] + diagonal[j] - 2.0 * row[j], *box, *state)
            else:
                k, rate = (i, best_up) if best_up >= -least_low else (j, least_low)
                plain.shift(k, rate, rows[k], nothing, diagonal[k], *box, *state)
        return Status.ITERATION_LIMIT
