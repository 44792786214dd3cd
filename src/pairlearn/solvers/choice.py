"""Which solver when: by what is known before the first step, and by what subsets of the pairs show.

Before the first step the number of features is known: with few of them all pairs go to the interior point at once,
for no other way is surely shorter, with some more to Newton's method, if a look at a subset shows that classes
overlap. A start, or a probe of 2,500 pairs, may tell of so many free pairs that splitting begins at once; and where
few pairs can end at their bounds the active set begins with all. Otherwise the pairs are climbed by nested subsets,
and after each of them the ways to go on are compared by their expected seconds: counted operations, of the steps that
the last subset took among them, over fixed rates, so that the same problem goes the same way every time. A subset
that takes so long that what follows it would take longer than another way, and a whole that takes longer than that,
are left for it. Whoever takes over starts where the subsets ended. A subset whose best function is a constant has the
same looked for on all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.solvers import interior, splitting
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.active.nested import PROBES, Climb
from pairlearn.solvers.active.stagnation import GAINED
from pairlearn.solvers.certificate import best_share, no_worse
from pairlearn.solvers.interior import Interior
from pairlearn.solvers.newton import Newton, Size, proven
from pairlearn.solvers.newton.constant import constant
from pairlearn.solvers.problem import BROKEN_OFF, Callback, Problem, Progress, Solution, Status
from pairlearn.solvers.splitting import Splitting
from pairlearn.solvers.splitting.looks import DOUBLED, Looks
from pairlearn.solvers.tuning import FACTORS, RATES, factor_seconds
from pairlearn.types import Floats

LEAST = 3000
"""Numbers per pair that the active set reads or writes at the least: 0.4 s for 44,850 pairs and 1.7 s for 319,600
(MNIST in 30 dimensions, metric kernel, C = 1) where a second is good for 10⁹ numbers, and less for easy problems."""

SURE = 2.0
"""Times this least up to which few features are surely the shortest way where classes overlap: MNIST in 30 dimensions
by Newton's method 2.1 s instead of 6.7 with 319,600 pairs (1.2), but .7 instead of .4 with 44,850 (2.5). The interior
point begins at once then: what is lost where classes are apart is little beside what is saved (16,000 matches of teams
.11 s, with an active set first .2 s)."""
LOOKED, LOOK = 16, 0.05
"""Pairs per feature that tell whether classes overlap, and share of Newton's time that they may take: with 3.1 million
pairs of classes far apart he took 20 s, an active set 6."""
SHARE = 0.05
"""Pairs per cell of their matrix from which on splitting serves: with nearly all cells held at 0 it stands still."""
PART = 0.3
"""Share of its time below which another way is not begun."""
UNCOUNTED = 3.0
"""Times the counted work of an active set that it takes where most support pairs are at their bounds: many steps, each
with a product over all pairs that nobody counts. It is left for splitting by that, but for Newton's method, which ends
with an active set too, only once the count alone is as long: sampled letters, 320,000 pairs, 34 s instead of 95."""
STANDS = 40
"""Steps within which the gap of an active set that leads anywhere is halved: wine, unscaled, 15,753 pairs by a Gaussian
base took it 250 steps with a gap of 4 to 5, and splitting .1 s in all."""
SETS = 3.0
"""Working sets that take in all pairs that can end at bounds, up to which subsets are a detour: with 1,800 pairs of one
face among 79,800 at most 3,600 do, and the active set alone took .7 s instead of 1.0 (LFW, 319,600: 1.3 instead of
2.6); with 4,500 pairs of one digit among 44,850 (C = .1) subsets took .34 s instead of .50."""
STRAY = 20.0
"""Times its usual seconds that splitting may take where few pairs are free: 9 s instead of .3 for Davis with linear
features as regression, which took an active set 21 s and Newton's method more than 40."""
PROBED = (8000, 100_000)
"""Pairs from which on a look at 2,500 of them is worth its time, and up to which it tells how many will be free."""
NEARLY = 0.75
"""Share of the free pairs that makes splitting worth while from which on it begins at once: a probe may miss their
number by a third, and factors cost its cube (Davis, C = 100: 2,490 foreseen, 4,920 found, .5 s instead of .3)."""
LONG = 2 * interior.STEPS
"""Steps of the interior point after which it is left: where boxes are a million times as wide as most coefficients it
takes more than a hundred (orthants, 20 columns, 320,400 pairs, tensor, C = 1000), and an active set one second."""
NEAR = 30.0
"""Gap, in tolerances, below which whoever is at work is about to end anyway."""
STILL = DOUBLED + 10
"""Looks of splitting in which neither its gap nor its objective falls, after which it is lost: those after which it is
in float64 wherever it is, and as many there as it usually takes in all (100 to 240 steps, 20 of them between two looks;
5 such looks in a row were the most of fits that ended)."""


@dataclass(frozen=True)
class Way:
    """A solver of all pairs at once, and about how many seconds it takes."""

    seconds: float
    solver: Interior | Newton | Splitting
    sure: bool = False
    """Whether few features make it the shortest way wherever classes overlap."""
    rich: bool = False
    """Whether pairs have too many features for equations in them: Newton's method ends with a factor of the free pairs
    then, and an active set of bounded pairs may take very many steps."""
    first: float = 0.0
    """Operations before its first step, within which nothing looks at the clock."""

    def saves(self, climb: Climb) -> bool:
        """Whether it is expected to be shorter than what is left of the climb.

        Splitting saves the factor of the free pairs: with many bounded and few free ones it takes many times as long
        as usual, and is worth that only where the climb takes longer still.
        Newton's method by kernel values saves all but that factor, where most support pairs are at their bounds.
        """
        if isinstance(self.solver, Splitting):
            return self.seconds < max(FACTORS * climb.factoring, climb.climbing / STRAY)
        if self.rich:
            return climb.overlaps and climb.factoring < np.inf and self.seconds < climb.climbing
        return self.seconds < climb.expected

    def has_time(self, climb: Climb) -> bool:
        """Whether the time that is left is enough to get somewhere: splitting knows little before its last steps."""
        clock = climb.clock
        return not clock.ends or (clock.left >= PART * self.seconds and clock.affords(self.first))

    def would_have_saved(self, climb: Climb, step: Progress) -> bool:
        """The same of an active set that stands at this step, of the whole or of a subset.

        A subset that took so long already has larger ones and the whole after it, each of which takes longer.
        """
        whole, spent = step.n_pairs == len(climb.problem), climb.spent
        bounded = step.n_support > 2 * step.working_set
        if self.rich and isinstance(self.solver, Newton):
            return whole and bounded and self.seconds < spent
        if isinstance(self.solver, Splitting):
            crawls = self.rich and self.seconds < UNCOUNTED * spent and (bounded or climb.stands(STANDS))
            return whole and (crawls or self.seconds < FACTORS * factor_seconds(step.working_set))
        return self.seconds < (spent if whole else climb.after(climb.spent_on(step.n_pairs), step.n_pairs))


@dataclass(frozen=True)
class Auto:
    """The solver that is expected to take the least time within the memory there is.

    >>> import numpy as np
    >>> from pairlearn.operators.dense import DenseOperator
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    >>> solution = Auto().solve(problem, DenseOperator(2 * np.eye(2)))
    >>> solution.coefficients.tolist(), solution.path
    ([0.5, -0.5], 'active set')
    """

    active: ActiveSet = field(default_factory=ActiveSet)
    begun: str = ""
    """The solver, by the name of its class, that a start comes from: it goes on with it."""
    reached: int = 0
    """Pairs of the subset that a start was guessed from; 0 for a start of all pairs."""

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem by the way that suits it."""
        climb = Climb(self.active, problem, operator, callback)
        try:
            return _no_worse_than_lost(climb, self._solved(climb, list(self.ways(problem, operator)), start))
        except KeyboardInterrupt:  # between two solvers, which end by themselves
            return _no_worse_than_lost(climb, climb.interrupted(start))

    def _solved(self, climb: Climb, ways: list[Way], start: Floats | None) -> Solution:
        """By the way that a start comes from, by one that is surely the shortest, or subset by subset."""
        for way in list(ways):
            at_once = start is None and way.sure and isinstance(way.solver, Interior)
            begun = type(way.solver).__name__ == self.begun or at_once
            if begun and (found := _tried(climb, ways, way, start, "")) is not None:
                return found
        start = climb.resumed(start, self.reached)
        found = self._split_at_once(climb, ways, start) if climb.guess is None else None
        sure = next((way for way in ways if way.sure and way.has_time(climb)), None)
        if found is None and sure is not None and start is None and climb.guess is None and climb.status is None:
            found = self._by_features(climb, ways, sure)
        return found or self._climbed(climb, ways, start)

    def _by_features(self, climb: Climb, ways: list[Way], way: Way) -> Solution | None:
        """Newton's method at once, if some pairs per feature show that classes overlap; None if not, or if lost."""
        size = climb.operator.thin_size()
        assert size is not None
        few = min(max(LOOKED * size[1], PROBES[0]), climb.next_size)
        overlaps, n_free = climb.look(few, LOOK * way.seconds)
        if not overlaps or climb.status is not None:
            return None
        even = self._constant(climb, few, n_free) if np.isfinite(n_free) else None
        return even or _tried(climb, ways, way, None, "look")

    def _climbed(self, climb: Climb, ways: list[Way], start: Floats | None) -> Solution:
        """Subset by subset, until another way is shorter or all pairs are reached."""
        late = self._watch(climb, ways)
        while start is None and climb.goes_on and self._many_bounded(climb.problem):
            climb.advance()
            if climb.guess is not None and not late and climb.status is None:
                even = self._constant(climb, climb.guess.size, climb.guess.n_free)
                if even is not None:
                    return even
            better = late or [way for way in ways if way.saves(climb) and way.has_time(climb)]
            if not late and climb.status is None and any(isinstance(way.solver, Splitting) for way in better):
                climb.look_at_growth()
                better = [way for way in better if way.saves(climb)]
            if better and climb.status is None:
                taken = _tried(climb, ways, min(better, key=seconds_of), start)
                return taken or self._climbed(climb, ways, None)
        found = climb.ended(start)
        if not climb.relay.left:
            return found
        climb.taken = max(climb.taken, found.taken)
        taken = _tried(climb, ways, min(late, key=seconds_of), found.coefficients)
        return taken or self._climbed(climb, ways, found.coefficients)

    def _many_bounded(self, problem: Problem) -> bool:
        """Whether more pairs may end at their bounds than a few working sets take in."""
        if problem.total is None:
            return True
        each = 2.0 * self.active.tuning.candidates_for(len(problem))
        return problem.box.most_bounded(problem.total) > SETS * each

    def _split_at_once(self, climb: Climb, ways: list[Way], start: Floats | None) -> Solution | None:
        """By splitting, if a start or some hundred pairs foresee that the factors of the free ones take far longer.

        A start from a larger C says too little: within the smaller box most of its pairs are at their bounds.
        """
        split = _splitting(climb, ways)
        if split is None:
            return None
        if start is not None:
            mended, n_free = promise(climb.problem, climb.operator, start)
            if split.seconds < FACTORS * factor_seconds(n_free):
                return _tried(climb, ways, split, mended, "warm start")
        (least, most), thin = PROBED, climb.operator.thin_size()
        free = NEARLY * (3.0 * split.seconds / FACTORS * RATES.products) ** (1 / 3)
        possible = thin is None or free <= thin[1]  # there are hardly more free pairs than features
        if possible and least <= len(climb.problem) <= most and climb.foresees(free):
            return _tried(climb, ways, split, start, "probe")
        return None

    def _constant(self, climb: Climb, few: int, n_free: float) -> Solution | None:
        """A constant function, if that is the best one of all pairs and of a subset, with so many free ones.

        Where another function is better there are hardly more of these than features.
        """
        size = climb.operator.thin_size()
        if size is None or size[0] != size[1] or n_free <= size[1] + 1:
            return None
        needed = interior.bytes_needed(climb.problem, size, self.active.tuning)
        if needed > self.active.memory:
            return None
        part, form = climb.subset(few)
        proof = None if form is None else constant(part, form, climb.clock)
        if proof is None:
            return None
        start = np.zeros(len(climb.problem)) if climb.guess is None else climb.guess.theta
        found = proven(self.active, climb.problem, climb.operator, start, climb.clock, proof.c)
        begun = "look" if climb.guess is None else "nested subsets"
        return found and climb.relay.whole(found, f"{begun}, {found.path}", max(climb.taken, needed))

    def _watch(self, climb: Climb, ways: list[Way]) -> list[Way]:
        """Have the active set ended once another way would have taken less time; the list that this way is put into."""
        late: list[Way] = []
        climb.began = len(climb.relay.costs)

        def leave(step: Progress) -> bool:
            found = [way for way in ways if way.would_have_saved(climb, step) and way.has_time(climb)]
            if not found or step.gap <= NEAR * self.active.tol:
                return False
            late[:] = found
            return True

        climb.relay.leave = leave if ways else None
        return late

    def ways(self, problem: Problem, operator: PairOperator) -> Iterator[Way]:
        """Those that serve this problem in the memory there is."""
        active, tuning, size = self.active, self.active.tuning, operator.thin_size()
        least = RATES.seconds(0.0, LEAST * len(problem))
        enough = size is not None and len(problem) >= max(tuning.small, tuning.pairs_per_equation * size[1])
        if size is not None and enough and interior.bytes_needed(problem, size, tuning) <= active.memory:
            seconds = interior.seconds_needed(problem, size)
            yield Way(seconds, Interior(active), sure=seconds <= SURE * least)
        steps = Size.of(problem, operator, tuning)
        # With a sum other than 0 nothing is learnt from ramps that begin at a margin: there is none.
        serves = not problem.total and (steps.features is None or enough)
        if serves and steps.bytes_needed(problem) <= active.memory:
            seconds, many = steps.seconds_needed(problem), steps.features is None
            yield Way(seconds, Newton(active), sure=not many and seconds <= SURE * least, rich=many)
        sandwich = operator.sandwich()
        split = Splitting(active.tol, active.memory, time_budget=active.time_budget, seed=active.seed)
        if sandwich is not None and len(problem) >= max(tuning.small, SHARE * sandwich.size) and split.fits(sandwich):
            seconds, first = splitting.seconds_needed(sandwich), splitting.first_operations(sandwich)
            yield Way(seconds, split, rich=steps.features is None, first=first)


def _splitting(climb: Climb, ways: list[Way]) -> Way | None:
    """Splitting, if it is among the ways and there is time for it."""
    return next((way for way in ways if isinstance(way.solver, Splitting) and way.has_time(climb)), None)


def promise(problem: Problem, operator: PairOperator, start: Floats) -> tuple[Floats, int]:
    """A start, or a share of it, and about how many pairs are free at the end.

    Where C rises and all bounded pairs go to their new bounds, a share of that is often better than all of it: then
    many of them leave the bounds, and may all be free. But there are hardly more free pairs than features.
    """
    v, thin = problem.linear - operator @ start, operator.thin_size()
    share, _ = best_share(problem, start, problem.box.objective(start, problem.linear, v))
    start, free = (share * start, start != 0) if share < 1.0 else (start, problem.box.free(start))
    return start, min(int(np.count_nonzero(free)), len(problem) if thin is None else thin[1])


def seconds_of(way: Way) -> float:
    """About how long it takes."""
    return way.seconds


def _tried(climb: Climb, ways: list[Way], way: Way, start: Floats | None, begun: str | None = None) -> Solution | None:
    """By this way; None where it is lost, and no longer among the ways; nor is the interior point, if that was long."""
    found = _taken_over(climb, way, start, begun)
    if not (climb.relay.left or (isinstance(way.solver, Newton) and found.status is Status.STALLED)):
        return found
    long = climb.relay.left and isinstance(way.solver, Newton)
    ways[:] = [each for each in ways if each is not way and not (long and isinstance(each.solver, Interior))]
    climb.relay.left = False
    if climb.lost is None or found.objective < climb.lost.objective:
        climb.lost = found
    return None


def _no_worse_than_lost(climb: Climb, found: Solution) -> Solution:
    """The solution or, where it was broken off before it was as good, what a way came to that led no further."""
    known = None if climb.lost is None else climb.lost.coefficients
    return no_worse(found, climb.problem, climb.operator, known, climb.active.tol)


def _standing(tol: float) -> Callable[[Progress], bool]:
    """Whether splitting stands still far from its end, by the looks that it counts itself, not those of its sets."""
    looks, objective = Looks(), np.inf

    def leave(step: Progress) -> bool:
        nonlocal objective
        if step.working_set != step.n_pairs:
            return False
        falls = looks.note(step.gap, step.n_support > 0)
        gains = looks.mark < np.inf and step.objective < objective - GAINED * abs(step.objective)
        if falls or gains:
            looks.still, objective = 0, step.objective
        return looks.still >= STILL and step.gap > NEAR * tol

    return leave


def _overrunning() -> Callable[[Progress], bool]:
    """Whether the interior point takes far more steps on all pairs than it is counted with."""
    steps = count(1)
    return lambda step: step.working_set == step.n_pairs and next(steps) > LONG


def _taken_over(climb: Climb, way: Way, start: Floats | None, begun: str | None = None) -> Solution:
    """Another solver goes on from the last coefficients."""
    climb.relay.leave = _standing(climb.active.tol) if isinstance(way.solver, Splitting) else _overrunning()
    begun = climb.first if begun is None or climb.guess is not None else begun
    theta = climb.guess.theta if start is None and climb.guess is not None else start
    solver = way.solver
    if isinstance(solver, Newton):
        solver = replace(solver, looked=start is None and not way.rich, returns=not way.rich)
    found = solver.within(climb.clock.budget).solve(climb.problem, climb.operator, theta, climb.relay)
    climb.taken, climb.relay.leave = max(climb.taken, found.taken), None
    path = ", ".join(filter(None, [begun, found.path]))
    if found.status is Status.STALLED and not isinstance(solver, Newton):
        rest = replace(climb.active, time_budget=climb.clock.budget)
        found, path = rest.solve(climb.problem, climb.operator, found.coefficients, climb.relay), f"{path}, active set"
    if found.status in BROKEN_OFF:
        known = climb.known() if theta is None else theta
        found = no_worse(found, climb.problem, climb.operator, known, climb.active.tol)
    return climb.relay.whole(found, path, climb.taken)
