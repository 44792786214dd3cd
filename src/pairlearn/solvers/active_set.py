"""Decomposition with a large working set: gradients by matrix products, exact solutions inside."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pairlearn.linalg.threads import blas_threads
from pairlearn.loops import scan, smo
from pairlearn.loops.blocks import set_rows_and_columns
from pairlearn.operators.base import PairOperator, largest
from pairlearn.operators.plan import BYTES_OF_SET
from pairlearn.operators.thin import Thin
from pairlearn.solvers.box import Box
from pairlearn.solvers.free_system import FreeSystem
from pairlearn.solvers.interior import Explicit, Interior, Quadratic, Spanned, Whole, low_rank_factor, sampled_factor
from pairlearn.solvers.pivoting import Pivoting
from pairlearn.solvers.problem import (
    Callback,
    Problem,
    Progress,
    Solution,
    Status,
    finish,
    objective_of,
)
from pairlearn.types import Floats, Ints

BURSTS = (2, 20)
"""SMO steps per pair of the working set before pivoting is tried."""
PAIRS_PER_STEP = 1500
"""One more step for so many pairs of the working set: |W| steps cost |W|², a factor |W|³."""
MAX_PIVOTS = 20
FACTORED = 0.7
"""Share of the largest working set that leaves room for a factor beside it."""
SMALL = 2000
"""Fewer pairs than this are a working set of their own."""
FEW = 5
"""Pairs per equation from which on the whole problem goes to the interior point."""
TRIALS = 4
"""Outer steps before a look at how many support pairs there will be."""
FAR = 100
"""Gap, in tolerances, below which the working set is about to end anyway."""
MANY = 0.02
"""Share of pairs at their bounds by then from which on a kernel of low rank goes to the interior point as a whole."""
SAMPLE = 1024
"""Pairs that must span all others, at half their number, for a kernel to count as one of low rank."""
TINY_SAMPLE = 96
"""The same for a rank so low that all pairs at once cost less than a few outer steps."""
BYTES_OF_PATH = 500
"""Memory of the interior point per pair."""
STALE = 20
"""Outer steps at a gap that rounding alone can explain."""
BLOCK = 2**28
"""Bytes of new rows computed at a time."""


class WorkingSet:
    """The pairs that are optimised together and their Gram matrix, updated slot by slot."""

    def __init__(self, operator: PairOperator, limit: int) -> None:
        self.operator, self.limit = operator, limit
        self.pairs = np.zeros(0, dtype=np.int64)
        self.store = np.empty((0, 0))
        """K_WW is its leading part; contiguous rows keep the compiled loops fast."""

    def update(self, free: Ints, candidates: Ints) -> None:
        """Bring in the candidates and all free pairs, or as many as there is room for; drop the others first."""
        if len(self.pairs) > self.limit:
            self.pairs = self.pairs[:0]
        room = max(2, self.limit // 2, self.limit - len(free))
        wanted = _unique_in_order(candidates[:room], free)[: self.limit]
        keep = np.isin(self.pairs, wanted, assume_unique=True)
        fresh = wanted[~np.isin(wanted, self.pairs, assume_unique=True)]
        slots = np.nonzero(~keep)[0][: len(fresh)]
        grown = len(self.pairs) + len(fresh) - len(slots)
        self._reserve(grown)
        slots = np.concatenate([slots, np.arange(len(self.pairs), grown)])
        pairs = np.empty(grown, dtype=np.int64)
        pairs[: len(self.pairs)] = self.pairs
        pairs[slots] = fresh
        self.pairs = pairs
        step = max(1, BLOCK // (8 * max(1, grown)))
        for start in range(0, len(fresh), step):
            part = slice(start, start + step)
            set_rows_and_columns(self.store, slots[part], self.operator.submatrix(fresh[part], pairs))

    def _reserve(self, n: int) -> None:
        """Room for n pairs and some more."""
        if n <= len(self.store):
            return
        size, kept = max(int(1.3 * n), 1024), len(self.pairs)
        # The last step comes early, while two stores have room side by side.
        size = size if size <= 0.6 * self.limit else self.limit
        # An odd number of cache lines per row keeps the entries of a column apart in the cache.
        store = np.empty((size, size // 16 * 16 + 24))
        store[:kept, :kept] = self.store[:kept, :kept]
        self.store = store


@dataclass(frozen=True)
class ActiveSet:
    """Solve to a certified KKT gap: all free coefficients and the worst violators from both sides at once.

    `candidates` is the number of violators from each side; None takes 500 to 2000, growing with the
    number of pairs and of free coefficients.
    """

    tol: float = 1e-3
    candidates: int | None = None
    max_working_set: int = 20_000
    max_iterations: int = 5000
    time_budget: float | None = None
    seed: int = 0

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
    def __init__(
        self,
        options: ActiveSet,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None,
        callback: Callback | None,
    ) -> None:
        self.options, self.problem, self.operator, self.callback = options, problem, operator, callback
        self.constrained = problem.total is not None
        self.theta = np.zeros(len(problem)) if start is None else start.copy()
        self.rng = np.random.default_rng(options.seed)
        self.history: list[Progress] = []
        self.began = time.perf_counter()
        self.deadline = self.began + (np.inf if options.time_budget is None else options.time_budget)
        self.patience = 1
        self.stale = 0
        self.degenerate = False
        self.system = FreeSystem()

    def solution(self) -> Solution:
        status = Status.INTERRUPTED
        with blas_threads(0):
            with suppress(KeyboardInterrupt):
                status = self._iterate()
            return finish(self.problem, self.operator, self.theta, status, self.options.tol, tuple(self.history))

    def _residual(self) -> Floats:
        """p − Kθ, from scratch."""
        product = np.zeros(len(self.problem))
        if self.theta.any():
            self.operator.add_product(self.theta, product)
        return self.problem.linear - product

    def _gap(self, residual: Floats, theta: Floats | None = None) -> float:
        p = self.problem
        up, low = scan.extremes(self.theta if theta is None else theta, p.lower, p.upper, residual, p.epsilon)
        return max(0.0, up - low) if self.constrained else max(0.0, up, -low)

    def _iterate(self) -> Status:
        residual, fresh, tol = self._residual(), True, self.options.tol
        thin = self._thin()
        if thin is not None and self._solve_whole(Whole(thin), residual):
            return Status.INTERRUPTED
        begun = len(self.history)
        working = WorkingSet(self.operator, min(self.options.max_working_set, len(self.problem)))
        for iteration in range(begun, self.options.max_iterations):
            gap = self._gap(residual)
            if self._report(self.theta, residual, len(working.pairs), gap):
                return Status.INTERRUPTED
            if gap <= tol:
                if fresh:
                    return Status.CONVERGED
                residual, fresh = self._residual(), True
                continue
            # One step is always taken: no time at all would leave a machine that knows nothing.
            if time.perf_counter() >= self.deadline and self.theta.any():
                return Status.TIME_BUDGET
            self.stale += iteration > begun + STALE and gap <= self._rounding()
            if self.stale == STALE:
                return Status.ROUNDING
            if iteration == begun + TRIALS and gap > FAR * tol and (G := self._few_columns()) is not None:
                if self._solve_whole(Spanned(G), residual):
                    return Status.INTERRUPTED
                residual, fresh = self._residual(), True
                continue
            working.update(*self._choose(residual, first=iteration == 0 and not self.theta.any()))
            change = self._improve(working, residual, gap)
            residual *= -1.0
            self.operator.add_product(change, residual)
            residual *= -1.0
            fresh = False
        return Status.ITERATION_LIMIT

    def _rounding(self) -> float:
        """About the most that rounding can do to Kθ."""
        return float(np.finfo(float).eps * self._largest * np.abs(self.theta).sum())

    @cached_property
    def _largest(self) -> float:
        return float(self.operator.diagonal().max(initial=0.0))

    def _thin(self) -> Thin | None:
        """The thin form of the matrix where an interior point on all pairs at once pays: few equations, room for it."""
        n, room = len(self.problem), BYTES_OF_SET * self.options.max_working_set**2
        if n < SMALL or BYTES_OF_PATH * n > room or self.options.candidates is not None:
            return None
        thin = self.operator.thin()
        return thin if thin is not None and n >= FEW * thin.rank else None

    def _few_columns(self) -> Floats | None:
        """G with K = GGᵀ where all pairs at once are the shorter way: tiny rank, or low rank and many bounded pairs."""
        n, room = len(self.problem), BYTES_OF_SET * self.options.max_working_set**2
        bounded = (self.theta != 0) & ((self.theta == self.problem.lower) | (self.theta == self.problem.upper))
        sample = SAMPLE if np.count_nonzero(bounded) >= MANY * n else TINY_SAMPLE
        if n < SMALL or (BYTES_OF_PATH + 8 * sample) * n > room or self.options.candidates is not None:
            return None
        return sampled_factor(self.operator, sample, self.rng)

    def _solve_whole(self, Q: Quadratic, residual: Floats) -> bool:
        """The interior point on all pairs; whether the callback stopped it."""
        p, stopped = self.problem, False

        def report(x: Floats, v: Floats) -> bool:
            nonlocal stopped
            stopped = self._report(x, v, len(p))
            return stopped

        box, before = Box(p.lower, p.upper, p.epsilon), (self.theta.copy(), residual.copy())
        path = Interior(Q, self.theta, residual, box, self.constrained)
        solved = path.run(0.3 * self.options.tol, self.deadline, report)
        if not (solved or stopped or time.perf_counter() >= self.deadline):
            # Its end is a better point, but one where every pair is free: no place to go on from.
            self.theta[:], residual[:] = before
        return stopped

    def _choose(self, residual: Floats, *, first: bool) -> tuple[Ints, Ints]:
        """(free coefficients, best candidates of both sides, alternating)."""
        p = self.problem
        free = (self.theta > p.lower) & (self.theta < p.upper)
        if p.epsilon > 0:
            free &= self.theta != 0
        count = self.options.candidates or int(np.clip(max(len(p) // 300, free.sum()), 500, 2000))
        up, low = np.empty(len(p), dtype=np.float32), np.empty(len(p), dtype=np.float32)
        scan.rates(self.theta, p.lower, p.upper, residual, p.epsilon, up, low)
        if first:
            # All rates tie at zero: a random choice covers the examples evenly.
            noise = self.rng.random(len(p), dtype=np.float32) * np.float32(1e-3)
            up += noise
            low += noise
        sides = [largest(values, count) for values in (up, low)]
        welcome = np.empty(2 * max(map(len, sides)), dtype=np.int64)
        welcome[:] = -1
        for offset, side in enumerate(sides):
            welcome[offset : offset + 2 * len(side) : 2] = side
        chosen = np.nonzero(free)[0]
        if len(chosen) > self.options.max_working_set // 2:
            # They may not all fit: over time each gets its turn.
            chosen = self.rng.permutation(chosen)
        return chosen, welcome[welcome >= 0]

    def _improve(self, working: WorkingSet, residual: Floats, gap: float) -> Floats:
        """Solve on the working set; returns the change of θ as a full vector."""
        p, W = self.problem, working.pairs
        theta, v = self.theta[W].copy(), residual[W].copy()
        box = Box(p.lower[W], p.upper[W], p.epsilon)
        # Early on a degenerate problem, new pairs are worth more than an exact solution on the old ones.
        tol = max((0.5 if self.degenerate and gap > 1 else 0.1) * gap, 0.3 * self.options.tol)
        self._solve(working, theta, v, box, tol)
        change = np.zeros(len(p))
        change[W] = theta - self.theta[W]
        self.theta[W] = theta
        return change

    def _solve(self, working: WorkingSet, theta: Floats, v: Floats, box: Box, tol: float) -> None:
        """Bursts of SMO and pivoting in turn, cheap ones first; if all fail, the interior point."""
        burst, Q = smo.smo_pairs if self.constrained else smo.smo_single, working.store
        view, G = Q[: len(v), : len(v)], None
        for least in BURSTS:
            steps = self.patience * max(least, len(v) // PAIRS_PER_STEP)
            _, gap = burst(Q, v, theta, box.lower, box.upper, box.eps, tol, steps * len(v))
            if gap <= tol:
                return
            if len(v) > (room := max(SMALL, int(FACTORED * self.options.max_working_set))):
                working.limit = room
                return
            # At low rank the interior point costs less than trying again what failed before.
            if self.degenerate and (G := low_rank_factor(view, self.rng)) is not None:
                break
            pivoting = Pivoting(Q, theta, v, box, self.constrained, working.pairs, self.system)
            if pivoting.run(0.3 * self.options.tol, MAX_PIVOTS, self.deadline):
                self.degenerate = False
                return
        self.degenerate = True
        self.system.forget()  # the interior point needs the memory
        G = low_rank_factor(view, self.rng) if G is None else G
        solved = Interior(Explicit(view, G), theta, v, box, self.constrained).run(tol, self.deadline)
        # Where nothing helps, patience does, but not against rounding.
        self.patience = 1 if solved or self.stale else min(2 * self.patience, 200)

    def _report(self, theta: Floats, residual: Floats, size: int, gap: float | None = None) -> bool:
        progress = Progress(
            iteration=len(self.history),
            gap=self._gap(residual, theta) if gap is None else gap,
            objective=objective_of(self.problem, theta, residual),
            n_support=int(np.count_nonzero(theta)),
            working_set=size,
            seconds=time.perf_counter() - self.began,
        )
        self.history.append(progress)
        return bool(self.callback(progress)) if self.callback is not None else False


def _unique_in_order(*parts: Ints) -> Ints:
    joined = np.concatenate(parts)
    _, first = np.unique(joined, return_index=True)
    return joined[np.sort(first)]
