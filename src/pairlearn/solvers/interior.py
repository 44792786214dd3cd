"""All pairs at once: the interior point on a kernel with few features of each pair, or of few examples.

A working set takes in some thousand pairs per outer step. The interior point costs the same however many support pairs
there are, if only its linear systems are small: n numbers and an r × r system per step, with r the rank of the kernel,
in 12 to 31 steps. `difference` and `direct_sum` see a pair through two entries of a row, so that Newton's equations of
all pairs reduce to those of the examples; a linear base in few dimensions gives each pair few explicit features.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pairlearn.errors import InputError, TooLargeError
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.certificate import finish, no_worse
from pairlearn.solvers.clock import Clock, OutOfTimeError
from pairlearn.solvers.inner.interior import InteriorPoint
from pairlearn.solvers.inner.quadratic import ThinForm
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem
from pairlearn.solvers.problem import Callback, Problem, Progress, Relay, Solution, Status
from pairlearn.solvers.tuning import RATES, Tuning
from pairlearn.types import Floats

THIN_ENTRY = 40
"""Bytes per entry of a sparse matrix while it is made: value, column, and both once more."""

PATH = "interior point"
STEPS, PASSES, SOLVED = 20, 100, 8
"""Usual steps of the path, numbers per pair that one of them reads or writes beside those of the form, and how often it
does so with these: 14 products with them in a row (sampled letters, 136 features: 1.5 s)."""


@dataclass(frozen=True)
class Interior:
    """The interior point on all pairs; the active set then confirms its end, or goes on where rounding stopped it.

    >>> import numpy as np
    >>> from pairlearn.operators.product import FeatureOperator
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0))
    >>> solution = Interior().solve(problem, FeatureOperator(2.0 * y[:, None]))
    >>> round(float(y @ solution.coefficients), 3), str(solution.status)
    (0.25, 'converged')
    """

    active: ActiveSet = field(default_factory=ActiveSet)

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem; a start only serves what follows a path that fails."""
        size = operator.thin_size()
        if size is None:
            raise InputError(
                'solver="interior" solves equations in the features of a pair, and this kernel has no list of them: '
                'difference and direct_sum have one, others with base="linear" and few columns; use solver="auto"'
            )
        taken = bytes_needed(problem, size, self.active.tuning)
        if taken > self.active.memory:
            raise TooLargeError(
                f"the interior point needs about {taken / 2**20:,.1f} MiB for {len(problem):,} pairs with {size[0]:,} "
                f"features each, but {self.active.memory / 2**20:,.1f} MiB are left to it; raise memory_budget "
                '(--memory-budget), or choose solver="auto"'
            )
        clock = Clock.start(self.active.time_budget)
        if clock.ends and clock.left < seconds_needed(problem, size) / STEPS:
            return self.active.solve(problem, operator, start, callback)  # not even one step
        relay = Relay(clock, callback)
        path = _Path(self.active, problem, operator, relay, clock)
        with blas_threads(0):
            theta, status = path.followed(start)
        if status is not None:
            found = finish(problem, operator, theta, status, self.active.tol, ())
            found = no_worse(found, problem, operator, start, self.active.tol)
        else:
            rest = replace(self.active, time_budget=clock.budget)
            found = rest.solve(problem, operator, theta, relay)
        return relay.whole(found, PATH if path.solved or status is not None else f"{PATH}, {found.path}", taken)

    def within(self, seconds: float | None) -> Interior:
        """The same with so much time."""
        return Interior(replace(self.active, time_budget=seconds))


def bytes_needed(problem: Problem, size: tuple[int, int], tuning: Tuning) -> int:
    """What the interior point takes on all pairs: its own vectors, the form of their matrix, the systems of it."""
    entries, order = size
    sides = 2 if problem.epsilon else 1
    return (tuning.path_bytes * sides + (8 if entries == order else THIN_ENTRY) * entries) * len(
        problem
    ) + 40 * order**2


def seconds_needed(problem: Problem, size: tuple[int, int]) -> float:
    """About how long the interior point takes on all pairs."""
    entries, order = size
    n, explicit = len(problem), entries == order
    system = n * order**2 if explicit else 4.0 * order**3  # features with themselves: half a product
    return STEPS * RATES.seconds(system + order**3, (PASSES + SOLVED * entries) * n)


class _Path:
    """One way along the central path of all pairs."""

    def __init__(self, active: ActiveSet, problem: Problem, operator: PairOperator, relay: Relay, clock: Clock) -> None:
        self.active, self.problem, self.operator, self.relay, self.clock = active, problem, operator, relay, clock
        self.solved = False
        """Whether the end was reached, which the active set only confirms."""

    def followed(self, start: Floats | None) -> tuple[Floats, Status | None]:
        """(θ, why it ended before its time); after a path that fails θ is the start."""
        p = self.problem
        theta = np.zeros(len(p)) if start is None else start.copy()
        v = p.linear - self.operator @ theta if theta.any() else p.linear.copy()
        thin = self.operator.thin()
        assert thin is not None
        whole = Subproblem(ThinForm(thin), theta, v, p.box, p.constrained)
        method = InteriorPoint(self.active.tuning, self._report)
        before = theta.copy()
        try:
            outcome = method.run(whole, self.active.tuning.final * self.active.tol, self.clock)
        except OutOfTimeError:
            outcome = Outcome.OUT_OF_TIME
        except KeyboardInterrupt:
            return theta, Status.INTERRUPTED
        self.solved = outcome is Outcome.SOLVED
        if outcome is Outcome.STOPPED:
            return theta, Status.INTERRUPTED
        if outcome is Outcome.OUT_OF_TIME and theta.any():
            return theta, Status.TIME_BUDGET
        # Where rounding ends the path its point is better, but every pair is free there: no place to go on from.
        return (before if outcome is Outcome.STUCK else theta), None

    def _report(self, x: Floats, v: Floats) -> bool:
        box = self.problem.box
        line = Progress(
            iteration=0,
            gap=box.gap(x, v, self.problem.constrained),
            objective=box.objective(x, self.problem.linear, v),
            n_support=int(np.count_nonzero(x)),
            working_set=len(x),
            seconds=0.0,
            n_pairs=len(x),
        )
        return self.relay(line)  # every pair is free on the path, so that no solver could go on from its coefficients
