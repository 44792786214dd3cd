"""Nested subsets: the function is learnt from few pairs first, and tells where all others end.

Where classes overlap most support pairs end at their bounds, and a working set takes in some thousand of them per step.
But the *function* hardly depends on the sample: solved on a share s of the pairs with boxes of 1/s their size it puts
nearly every other pair where the whole problem puts it. So a small subset is solved from zero, each larger one and the
whole from the guess of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pairlearn.linalg.held import held_bytes
from pairlearn.linalg.room import FACTORED
from pairlearn.operators.base import PairOperator
from pairlearn.operators.thin import AnyThin
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.certificate import finish, no_worse
from pairlearn.solvers.clock import Clock, Pace
from pairlearn.solvers.problem import Callback, Problem, Progress, Relay, Solution, Status
from pairlearn.solvers.start import at_bounds, feasible
from pairlearn.solvers.tuning import factor_seconds
from pairlearn.types import Floats, Ints

PER_GUESS = 104
"""Bytes per pair while coefficients of all pairs are guessed: 13 numbers."""
PROBES = (500, 2000)
"""Pairs of the subsets that tell how many pairs will be free."""
FLATTER, MOST_POWER = 0.8, 0.7
"""Share of the power between the two by which the number of free pairs grows on, and the most (Olivetti: 46 and 205 of
them, nearly in proportion, but 975 of 79,800 pairs): 392, 1,101 and, of 19,900, 3,980
(MNIST, tensor kernel, Gaussian base; foreseen 4,380), 443, 1,704, 9,062 (regression; 10,200), 387, 1,394, 9,499 (CIFAR,
C = 1000; 7,640)."""
MOSTLY, SURELY = 0.75, 0.6
"""Share of free pairs of the first subset from which on their number has always grown at least with this power."""
QUARTER = 4
"""Times that a subset has as many pairs as the one that tells how its free pairs grow: with 3.1 million pairs of
Gaussian classes they became four times as many as of 14,000 where half a power foresaw fifteen times."""
PRODUCT = 0.2
"""Share of the time left that the product over all pairs behind a guess may take."""


def mostly_bounded(n_support: int, n_bounded: int) -> bool:
    """Whether most support pairs are at their bounds: what overlapping classes show.

    >>> mostly_bounded(10, 6), mostly_bounded(10, 4), mostly_bounded(0, 0)
    (True, False, False)
    """
    return 0 < n_support <= 2 * n_bounded


@dataclass(frozen=True)
class Guess:
    """Coefficients of all pairs from the solution on a subset of `size`, with its support and bounded pairs."""

    theta: Floats
    size: int
    n_support: int
    n_bounded: int

    @property
    def n_free(self) -> int:
        """Support pairs inside their boxes."""
        return self.n_support - self.n_bounded

    @property
    def overlaps(self) -> bool:
        """Whether most support pairs are at their bounds; without any, the subset was broken off and tells nothing."""
        return mostly_bounded(self.n_support, self.n_bounded)


@dataclass(frozen=True)
class Nested:
    """The active set from the guess of nested subsets; see there for the options.

    >>> import numpy as np
    >>> from pairlearn.operators.dense import DenseOperator
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    >>> Nested().solve(problem, DenseOperator(2 * np.eye(2))).coefficients.tolist()
    [0.5, -0.5]
    """

    active: ActiveSet = field(default_factory=ActiveSet)
    reached: int = 0
    """Pairs of the subset that a start was guessed from; 0 for a start of all pairs."""

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem; a start makes the subsets needless, or those up to where it comes from."""
        climb = Climb(self.active, problem, operator, callback)
        start = climb.resumed(start, self.reached)
        try:
            while start is None and climb.goes_on:
                climb.advance()
            return climb.ended(start)
        except KeyboardInterrupt:  # between two subsets
            return climb.interrupted(start)


class Climb:
    """From subset to subset: the state between two of them, so that others may look at it and go another way."""

    def __init__(self, active: ActiveSet, problem: Problem, operator: PairOperator, callback: Callback | None) -> None:
        self.active, self.problem, self.operator = active, problem, operator
        self.clock = Clock.start(active.time_budget)
        self.relay = Relay(self.clock, callback)
        self.pace = Pace(operator)
        self.guess: Guess | None = None
        self.status: Status | None = None
        """Why there is nothing more to do: the user or the clock."""
        self.looked: tuple[Ints, Problem, Solution] | None = None
        """A subset that was looked at or left: its pairs, their problem and its last coefficients."""
        self.lost: Solution | None = None
        """The best of all pairs that a way led to which led no further."""
        self.first = "active set"
        """What was begun with, for the path."""
        self.taken = 0
        self.began = 0
        """Number of the first step that counts: probes, and a way that led nowhere, come before it."""
        self.seconds = 0.0
        """About how long the last subset took."""
        self.exponent = active.tuning.free_exponent
        """Power of the number of pairs by which that of free ones is taken to grow, at most."""

    @property
    def next_size(self) -> int:
        """Pairs of the next subset; those of the whole problem when it is the last."""
        n, tuning = len(self.problem), self.active.tuning
        size = n if self.guess is None else self.guess.size * tuning.subset_growth
        while self.guess is None and size >= tuning.subset_growth * tuning.subset:
            size //= tuning.subset_growth
        return n if 2 * size > n else size

    @property
    def goes_on(self) -> bool:
        """Whether another subset comes before the whole: one without overlap is a good start for all pairs already."""
        smaller = self.next_size < len(self.problem) and self.status is None
        return smaller and (self.guess is None or self.guess.overlaps) and self._can_guess

    @property
    def _can_guess(self) -> bool:
        """Whether there is memory to guess all pairs, and time for the product over them that this takes."""
        if PER_GUESS * len(self.problem) > self.active.memory:
            return False
        return not self.clock.ends or self.pace.seconds(self.next_size) <= PRODUCT * self.clock.left

    @property
    def overlaps(self) -> bool:
        """Whether the last subset showed that classes overlap."""
        return self.guess is not None and self.guess.overlaps

    @property
    def expected(self) -> float:
        """About how many seconds the rest takes."""
        return self.climbing + self.factoring

    @property
    def climbing(self) -> float:
        """The same without a last factor of the free pairs, by the last subset."""
        return 0.0 if self.guess is None else self.after(self.seconds, self.guess.size)

    def after(self, seconds: float, size: int) -> float:
        """About how many seconds follow a subset of this size that took so many; each larger one takes twice that."""
        larger = np.ceil(np.log(len(self.problem) / size) / np.log(self.active.tuning.subset_growth) - 1e-9)
        return float(seconds * (2.0 ** (larger + 1) - 2.0))

    @property
    def spent(self) -> float:
        """About how long all steps that count took, by what they did: the clock would tell of what else this machine
        does."""
        return sum(self.relay.costs[self.began :])

    def spent_on(self, size: int) -> float:
        """The same of the steps on so many pairs."""
        steps = list(zip(self.relay.lines, self.relay.costs, strict=True))[self.began :]
        return sum(cost for line, cost in steps if line.n_pairs == size)

    def stands(self, steps: int) -> bool:
        """Whether the gap of all pairs was not halved within so many steps."""
        gaps = [line.gap for line in self.relay.lines[-steps - 1 :] if line.n_pairs == len(self.problem)]
        return len(gaps) > steps and min(gaps[1:]) > 0.5 * gaps[0]

    @property
    def factoring(self) -> float:
        """About how many seconds a factor of the free pairs takes, whose number grows more slowly than that of all."""
        n_free = 0.0 if self.guess is None else self.guess.n_free * self._growth**self.exponent
        fits = n_free <= FACTORED * self.active.max_working_set
        return factor_seconds(n_free) if fits else np.inf

    def look_at_growth(self) -> None:
        """Learn from a part of the last subset whether free pairs grow more slowly than usual."""
        assert self.guess is not None
        watch, self.relay.leave = self.relay.leave, None  # these steps are of no way that might take too long
        few = self._free_of(self.guess.size // QUARTER)
        self.relay.leave = watch
        power = np.log(max(self.guess.n_free, 1) / max(few, 1)) / np.log(QUARTER)
        self.exponent = float(np.clip(FLATTER * power, 0.0, self.exponent))

    @property
    def _growth(self) -> float:
        return 1.0 if self.guess is None else len(self.problem) / self.guess.size

    def _subset(self, size: int) -> Ints:
        """Numbers of the pairs of a subset: from the same order always, so that a larger one holds the smaller."""
        return np.sort(np.random.default_rng(self.active.seed).permutation(len(self.problem))[:size])

    def resumed(self, start: Floats | None, reached: int) -> Floats | None:
        """Go on after the subset of `reached` pairs that the start was guessed from; the start, if there was none."""
        if start is None or not 0 < reached < len(self.problem):
            return start
        own = self._subset(reached)
        theta, box = start[own], self.problem.box.take(own)
        n_support, n_bounded = int(np.count_nonzero(theta)), int(np.count_nonzero(box.bounded(theta)))
        self.guess, self.first = Guess(start, reached, n_support, n_bounded), "nested subsets"
        return None

    def foresees(self, free: float) -> bool:
        """Whether about so many pairs or more will be free, by two small subsets: their number grows like a power.

        The first is enough where even growth in proportion would not lead so far, or slow growth would.
        """
        n, (small, large) = len(self.problem), PROBES
        few = self._free_of(small)
        if self.status is not None or few * n / small < free:
            return False
        if few >= MOSTLY * small and few * (n / small) ** SURELY >= free:
            return True
        more = self._free_of(large)
        power = min(FLATTER * np.log(max(more, 1) / few) / np.log(large / small), MOST_POWER)
        return self.status is None and more * (n / large) ** power >= free

    def look(self, size: int, most: float) -> tuple[bool, float]:
        """Whether classes overlap, and free pairs, by a subset that may take about so many seconds.

        What takes longer surely overlaps, and nobody knows how many are free.
        """
        self.began = len(self.relay.costs)
        enough = self.active.tuning.subset_tol * self.active.tol
        self.relay.leave = lambda step: step.gap > enough and self.spent > most
        chosen, small, found = self._solved(size)
        left, self.relay.leave, self.relay.left = self.relay.left, None, False
        self.looked, self.seconds = (chosen, small, found), self.spent_on(len(chosen))
        if found.status is Status.INTERRUPTED and not left:
            self.status = found.status
            self._guess(chosen, small, found)
        n_support = int(np.count_nonzero(found.coefficients))
        n_bounded = int(np.count_nonzero(small.box.bounded(found.coefficients)))
        return left or mostly_bounded(n_support, n_bounded), np.inf if left else n_support - n_bounded

    def _free_of(self, size: int) -> int:
        """Free pairs of the solution on a subset, which is all there is if the user wants no more."""
        chosen, small, found = self._solved(size)
        if found.status is Status.INTERRUPTED:
            self.status = found.status
            self._guess(chosen, small, found)
        return int(np.count_nonzero(small.box.free(found.coefficients)))

    def advance(self) -> None:
        """Solve the next subset and guess the whole from it; not if another solver is to go on (`relay.left`).

        One that was looked at to its end is known already.
        """
        self.first, size, known = "nested subsets", self.next_size, self.looked
        if self.guess is None and known is not None and len(known[0]) == size and known[2].status is Status.CONVERGED:
            self._guess(*known)
            return
        chosen, small, found = self._solved(size)
        if self.relay.left:
            self.looked = chosen, small, found
            return
        if found.status is Status.INTERRUPTED:
            self.status = found.status
        self._guess(chosen, small, found)
        self.seconds = self.spent_on(size)

    def _solved(self, size: int) -> tuple[Ints, Problem, Solution]:
        """A subset, its problem, and the solution of that from the last guess."""
        chosen = self._subset(size)
        part = self.operator.restricted(chosen)
        # A share of the time that leaves most of it to the whole.
        budget = 0.3 * self.clock.left if self.clock.ends else None
        solver = replace(self.active, tol=self.active.tuning.subset_tol * self.active.tol, time_budget=budget)
        small = taken(self.problem, chosen)
        begin = None if self.guess is None else feasible(self.guess.theta[chosen] * (len(self.problem) / size), small)
        found = solver.solve(small, part, begin, self.relay)
        self.taken = max(self.taken, held_bytes(part, self.operator) + found.taken + self.problem.linear.nbytes)
        return chosen, small, found

    def _guess(self, chosen: Ints, small: Problem, found: Solution) -> None:
        n, theta = len(self.problem), found.coefficients
        support, bounded = np.count_nonzero(theta), int(np.count_nonzero(small.box.bounded(theta)))
        whole: Floats = np.zeros(n)
        whole[chosen] = theta
        guess = Guess(whole, len(chosen), int(support), bounded)
        if guess.overlaps:
            self.taken = max(self.taken, PER_GUESS * n)
            known = np.zeros(n, dtype=bool)
            known[chosen] = True
            v = np.zeros(n)
            self.pace.add_product(whole, v)
            np.subtract(self.problem.linear, v, out=v)
            whole = at_bounds(self.problem, v, known, whole * (len(chosen) / n))
        self.guess = replace(guess, theta=feasible(whole, self.problem))
        if self.status is not None:
            return
        line = Progress(0, np.inf, found.objective, guess.n_support, 0, self.clock.seconds, guess.size)
        self.relay.keep(self.guess.theta, line, "Nested")

    def subset(self, size: int) -> tuple[Problem, AnyThin | None]:
        """The problem on a subset of this size, and the features of its pairs."""
        chosen = self._subset(size)
        return taken(self.problem, chosen), self.operator.restricted(chosen).thin()

    def ended(self, start: Floats | None = None) -> Solution:
        """The solution of the whole problem from the last guess.

        Without a pair at a bound the guess leads nowhere that nothing does not lead as soon: it only counts in a fit
        that is broken off before it is as good (3.1 million made pairs 9.5 s instead of 10.7; LFW the same).
        """
        guess = self.guess if start is None else None
        path = "active set" if guess is None else "nested subsets, active set"
        best = start if guess is None else guess.theta
        if self.status is not None and best is not None:
            return self.relay.whole(self._as_it_is(best, self.status), path, self.taken)
        anew = guess is not None and not guess.n_bounded
        rest = replace(self.active, time_budget=self.clock.budget)
        found = rest.solve(self.problem, self.operator, None if anew else best, self.relay)
        if anew:
            found = no_worse(found, self.problem, self.operator, best, self.active.tol)
        return self.relay.whole(found, path, self.taken)

    def known(self) -> Floats | None:
        """Coefficients of all pairs by the last guess, or by a subset that was only looked at or left."""
        if self.guess is None and self.looked is not None:
            self._guess(*self.looked)
        return None if self.guess is None else self.guess.theta

    def interrupted(self, start: Floats | None) -> Solution:
        """What is known of all pairs, for a user who wants no more: the start, the last guess, or nothing."""
        known = self.known() if start is None else start
        theta = feasible(np.zeros(len(self.problem)), self.problem) if known is None else known
        return self.relay.whole(self._as_it_is(theta, Status.INTERRUPTED), self.first, self.taken)

    def _as_it_is(self, theta: Floats, status: Status) -> Solution:
        return finish(self.problem, self.operator, theta, status, self.active.tol, ())


def taken(problem: Problem, chosen: Ints) -> Problem:
    """The problem of these pairs, which stand for all others: their boxes are larger by as much as they are fewer."""
    share = len(chosen) / len(problem)
    return replace(
        problem,
        linear=problem.linear[chosen],
        lower=problem.lower[chosen] / share,
        upper=problem.upper[chosen] / share,
    )
