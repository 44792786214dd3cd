"""Which inner method is tried when: a table, its reasons, and what one working set teaches about the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pairlearn.solvers.clock import Clock, OutOfTimeError
from pairlearn.solvers.inner.burst import Burst
from pairlearn.solvers.inner.crossing import Crossing
from pairlearn.solvers.inner.free_system import FreeSystem
from pairlearn.solvers.inner.interior import InteriorPoint
from pairlearn.solvers.inner.pivoting import Pivoting
from pairlearn.solvers.inner.subproblem import Method, Outcome, Working
from pairlearn.solvers.tuning import Tuning

PATH = 20
"""Usual factors of an interior point."""
LOW = 0.25
"""Rank, as a share of the set, up to which an interior point costs less than another try of what failed before: at
almost half of it one fit took 4.2 s instead of 2.9 (320,400 pairs of Gaussian classes, rank 1,275, sets of 2,700)."""


class InnerSolver:
    """The attempts on one working set after the other, and what is remembered between them.

    `exact` is the tolerance of methods that are exact or fail; `room` the largest set that leaves memory for a factor.
    """

    def __init__(self, tuning: Tuning, exact: float, room: int) -> None:
        self.tuning, self.exact, self.room = tuning, exact, room
        self.system = FreeSystem(tuning)
        self.patience = 1
        """Factor of the steps of SMO: doubled while nothing solves the working sets."""
        self.degenerate = False
        """Whether the last set that SMO alone did not solve needed the interior point."""
        self.taken = 0
        """Bytes of the largest factor so far."""
        self.walked = 0.0
        """Operations of all interior points so far, about."""
        self.at_rounding = 0
        """How many sets were hard to solve where what is left of the gap may be rounding."""

    @property
    def operations(self) -> float:
        """Of all factors so far: what most of the time goes into where sets are hard to solve."""
        return self.system.operations + self.walked

    @property
    def struggles(self) -> bool:
        """Whether the last set that SMO alone did not solve needed the interior point, or more."""
        return self.degenerate or self.patience > 1

    @property
    def gives_up(self) -> bool:
        """Whether nothing that takes long is tried any more: it does not help against rounding."""
        return self.at_rounding > self.tuning.paths_at_rounding

    def solve(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """Try the methods of the table in turn until one solves the subproblem to this tolerance."""
        held = self.system.L.nbytes
        for attempt in ATTEMPTS:
            if attempt.factors and len(sub) > self.room:
                return Outcome.NO_ROOM
            if attempt.applies(self, sub):
                outcome, last = _tried(attempt.method(self, sub), sub, tol, clock), attempt
                self.taken = max(self.taken, attempt.bytes(self, sub), held + sub.Q.searched)
                if outcome in (Outcome.SOLVED, Outcome.OUT_OF_TIME):
                    break
        self._learn(last, outcome)
        if last is ATTEMPTS[-1]:
            W, G = len(sub), sub.Q.low_rank
            self.walked += PATH * (W**3 / 3 if G is None else 2.0 * W * G.shape[1] ** 2)
            self.system.order = max(self.system.order, W if G is None else 0)
        return outcome

    def _learn(self, last: Attempt, outcome: Outcome) -> None:
        """Keep what the last attempt says about the problem."""
        if last.shows_degenerate is not None:
            self.degenerate = last.shows_degenerate
        if last is ATTEMPTS[-1]:
            # Where nothing helps, patience does.
            solved = outcome is Outcome.SOLVED
            self.patience = 1 if solved else min(2 * self.patience, self.tuning.most_patience)


@dataclass(frozen=True)
class Attempt:
    """One row of the table: a method, when it applies, and why it stands where it stands.

    `factors` says that it needs memory beside the working set's matrix, `bytes` how much; `shows_degenerate` what it
    says about the optimal face when it is the last attempt (None: nothing).
    """

    name: str
    method: Callable[[InnerSolver, Working], Method]
    reason: str
    applies: Callable[[InnerSolver, Working], bool] = lambda solver, sub: True
    bytes: Callable[[InnerSolver, Working], int] = lambda solver, sub: 0
    factors: bool = False
    shows_degenerate: bool | None = None


def _tried(method: Method, sub: Working, tol: float, clock: Clock) -> Outcome:
    """How the method ended; a factor that there is no time for leaves θ where it was."""
    try:
        return method.run(sub, tol, clock)
    except OutOfTimeError:
        return Outcome.OUT_OF_TIME


def _burst(number: int) -> Callable[[InnerSolver, Working], Method]:
    def method(solver: InnerSolver, sub: Working) -> Method:
        steps = max(solver.tuning.bursts[number], len(sub) // solver.tuning.pairs_per_step)
        return Burst(steps if solver.gives_up else solver.patience * steps, aside=len(sub) <= solver.room)

    return method


def _pivoting(solver: InnerSolver, sub: Working) -> Method:
    return Pivoting(solver.system, solver.exact, solver.tuning)


def _pivoting_bytes(solver: InnerSolver, sub: Working) -> int:
    return solver.system.taken + sub.Q.spanned_bytes


def _crossing(solver: InnerSolver, sub: Working) -> Method:
    return Crossing(InteriorPoint(solver.tuning), Pivoting(solver.system, solver.exact, solver.tuning))


def _worth_a_path(solver: InnerSolver, sub: Working) -> bool:
    return not solver.gives_up


def _worth_pivoting(solver: InnerSolver, sub: Working) -> bool:
    """Unless pivoting failed before and the rank is low: the interior point then costs less than trying again."""
    if not solver.degenerate:
        return True
    G = sub.Q.low_rank
    return G is None or G.shape[1] > LOW * len(sub)


ATTEMPTS = (
    Attempt(
        "short burst",
        _burst(0),
        "2|W| steps cost 2|W|², less than any factor; at small C and for well-conditioned kernels they are enough",
    ),
    Attempt(
        "pivoting",
        _pivoting,
        "2 to 6 factors end at machine precision where the optimal face is not degenerate (large C, rich kernels); a "
        "failure costs a few small factors",
        applies=_worth_pivoting,
        bytes=_pivoting_bytes,
        factors=True,
        shows_degenerate=False,
    ),
    Attempt(
        "long burst",
        _burst(1),
        "pivoting fails when too many guesses are wrong at once: ten times the steps of SMO leave fewer of them",
        applies=_worth_pivoting,
    ),
    Attempt(
        "pivoting again",
        _pivoting,
        "from the better start; a needless interior point costs seconds",
        applies=_worth_pivoting,
        bytes=_pivoting_bytes,
        factors=True,
        shows_degenerate=False,
    ),
    Attempt(
        "interior point",
        _crossing,
        "about 20 factors, always, also on degenerate faces; at low rank each of them costs |W|r² instead of |W|³",
        applies=_worth_a_path,
        bytes=lambda solver, sub: max(sub.Q.factor_bytes, solver.system.taken),
        factors=True,
        shows_degenerate=True,
    ),
)
"""The order of attempts: the first row always applies."""
