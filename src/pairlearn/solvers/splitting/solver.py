"""Splitting: a linear step in closed form, a step into the box, and acceleration of the two."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.errors import InputError, TooLargeError
from pairlearn.linalg.room import BYTES
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.operators.dense import DenseOperator
from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.certificate import finish
from pairlearn.solvers.clock import Clock, OutOfTimeError, Pace
from pairlearn.solvers.problem import Callback, Keeper, Problem, Progress, Solution, Status, tell
from pairlearn.solvers.splitting.cells import Cells
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis
from pairlearn.solvers.splitting.iteration import Iteration
from pairlearn.solvers.splitting.looks import FAR, PATIENCE, Looks
from pairlearn.solvers.splitting.nearest import nearest_feasible
from pairlearn.solvers.splitting.room import Room
from pairlearn.solvers.tuning import RATES, set_numbers
from pairlearn.types import Floats

UNFIT = (
    "the splitting solver takes terms in products of two base values: tensor on one or two tables, and metric, "
    "tensor_metric, direct_metric and wedge on one, on a base Gram matrix that is held in memory; choose "
    'solver="active_set"'
)
OF_PAIRS = (
    "the splitting solver works on a Gram matrix of the examples, and so few pairs of so many examples have one of "
    'their own instead; choose solver="active_set", which is quick on them, or solver="auto"'
)
FIRST, LOWERED = 1 / 40, {20: 1 / 107, 40: 1 / 267}
"""ρ at first and after so many steps, in units of the mean K(i, i), per example: large ones find the dominant modes,
smaller ones the last digits. With 10 and 3 for any number of examples MNIST, tensor_metric, 1,279,200 pairs took 180
steps to a gap of .35, with 40 and 15 it took 95; of 300 examples all from 4 and 1.4 to 10 and 3 served alike."""
FEW = 150.0
"""Examples below which ρ is that of so many."""
BALANCED, MUCH = (80, 120), 3.0
"""Steps after which ρ is lowered as far as its residuals say, if that is so many times lower: another ρ costs what the
acceleration knows. They would now and then raise it as well, which led to ten times the steps where C is small."""
STEPS, GROWTH = 100.0, 0.35
"""Usual steps with 20,000 pairs (40 to 240), and the power of the pairs by which they become more, working sets at the
end counted as steps of the same time."""
PASSES, CALLS = 40, 1e-3
"""Numbers per cell that a step reads or writes, and seconds of its some forty calls."""
LEADING = 0.2
"""Usual share of the eigenvectors of one table that matter."""
DECOMPOSED, CORRECTED = 9.0, 35.0
"""Operations of products that an eigen-decomposition takes as long as, in m³ (2,000 examples: .9 s where such a product
takes .29), and those of the equations of a correction, for each ρ."""
NEAR = 20.0
"""Tolerances from which on the end may be near, and every look may be the last."""
MENDING, STANDING, AGAIN = (15.0, 500.0), 5, 0.3
"""Tolerances from which on working sets of the pairs that are furthest off may end the fit, the same after so many
looks without a lower gap, and the share that it has to fall to before they are tried again. Splitting comes near all
pairs at once and is late with single ones, which move by their violation a step; sets are late with what all pairs have
in common: from 70 tolerances 80 of them did not end 1,279,200 pairs of MNIST (tensor_metric). Davis, where rows of the
kernel repeat, stood still as regression at .0038; 15 sets ended it in 0.8 s."""
FOLD, LOOKS = 1.3, 5
"""Sets for the gap to fall by a factor of e, for each set that the free pairs would fill (20,700 pairs: 27 sets of
3,000 from 24 tolerances; 42,000: 49 of 4,800 from 117; two in all where one set takes them in), and looks back over
which splitting is asked for the same."""
SETS, HALF = 80, 10
"""Most of these sets, and after how many of them the gap has to be halved."""
CRAWLING = 100.0
"""Tolerances from which on rounding in float32 may be what slows it down."""


@dataclass(frozen=True)
class Splitting:
    """ADMM on matrices over examples: O(m²) memory and some m³ operations a step, however many pairs are free.

    With θ scattered over a matrix S, z the point of the box nearest to s, and u = s − z,

        x = argmin ½xᵀKx − pᵀx + ½ρ‖x − (z − u)‖² with Σx = total;   s ← s + 1.95·(x − z)

    ends where x = z = θ. x is (K + ρ)⁻¹ in closed form (see `eigenbasis`) and one multiple of (K + ρ)⁻¹1, which keeps
    the sum; Anderson's acceleration finds s. Every `every` steps (twice as many while the end is far) the feasible
    point nearest to s is looked at: its gap comes from a float64 product over all pairs, and steps go on from what that
    tells exactly (see `Iteration.anchor`). They are in float32 until they lead no further.

    `memory` is in bytes; `depth` is how many steps the acceleration remembers, where there is memory for that.

    >>> import pairlearn as pl
    >>> pairs = pl.all_pairs([[0.0], [1.0], [5.0], [7.0]], reflexive=False)
    >>> machine = pl.PairSVC("tensor", "rbf", C=10.0, solver="splitting").fit(pairs, pairs.labels([0, 0, 1, 1]))
    >>> machine.fit_status_, machine.predict(pairs).tolist()
    ('converged', [1, -1, -1, -1, -1, 1])
    """

    tol: float = 1e-3
    memory: float = 4e9
    max_steps: int = 5000
    time_budget: float | None = None
    seed: int = 0
    depth: int = 15
    every: int = 10

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Coefficients for this problem, from zero or from a feasible start."""
        return _Run(self, problem, operator, start, callback).solution()

    def within(self, seconds: float | None) -> Splitting:
        """The same with so much time."""
        return replace(self, time_budget=seconds)

    def fits(self, sandwich: Sandwich) -> bool:
        """Whether there is memory for it, and a cell for every pair."""
        try:
            Room.within(self.memory, sandwich, self.depth)
        except TooLargeError:
            return False
        return Cells.serve(sandwich)


def seconds_needed(sandwich: Sandwich) -> float:
    """About how long splitting takes."""
    return STEPS * (len(sandwich.rows) / 20_000) ** GROWTH * step_seconds(sandwich)


def step_seconds(sandwich: Sandwich) -> float:
    """About how long a step takes, and its share of a look."""
    m, k = len(sandwich.left), len(sandwich.right)
    look = 2.0 * m * k * (m + k)
    return CALLS + RATES.seconds(step_operations(sandwich) + look / 20, PASSES * m * k)


def step_operations(sandwich: Sandwich) -> float:
    """Operations of a step in products, those in float32 counted as half."""
    m, k = len(sandwich.left), len(sandwich.right)
    return (3.0 if sandwich.corrected else 2.0) * m * k * (m + k) * (LEADING if sandwich.sign else 1.0)


def rho_operations(sandwich: Sandwich) -> float:
    """The same of the first step with another ρ."""
    return step_operations(sandwich) + (CORRECTED * len(sandwich.left) ** 3 if sandwich.corrected else 0.0)


def first_operations(sandwich: Sandwich) -> float:
    """The same of the first step of all, and of the eigenbasis."""
    m, k = len(sandwich.left), len(sandwich.right)
    orders = m**3 + (0 if sandwich.right is sandwich.left else k**3)
    return rho_operations(sandwich) + DECOMPOSED * orders


def set_seconds(sandwich: Sandwich, size: int) -> float:
    """About how long a working set of so many pairs takes: its matrix, a factor, and a product over all pairs."""
    m, k, n = len(sandwich.left), len(sandwich.right), len(sandwich.rows)
    return RATES.seconds(size**3 / 3 + 2.0 * m * k * (m + k), set_numbers(size, n))


class _Run:
    """One solution under way: the iteration, and the best feasible coefficients that it came by."""

    def __init__(
        self,
        options: Splitting,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None,
        callback: Callback | None,
    ) -> None:
        self.clock, self.pace, sandwich = Clock.start(options.time_budget), Pace(operator), operator.sandwich()
        if sandwich is None:
            raise InputError(OF_PAIRS if isinstance(operator, DenseOperator) else UNFIT)
        self.options, self.problem, self.operator, self.callback = options, problem, operator, callback
        self.room = Room.within(options.memory, sandwich, options.depth)
        self.held = self.taken = self.room.single
        """Bytes now, and at most."""
        self.sandwich, self.cells = sandwich, Cells.of(sandwich)
        self.best = nearest_feasible(np.zeros(len(problem)), problem) if start is None else start.copy()
        self.lowest, self.reached = np.inf, np.inf
        """Gaps: the least that splitting came by, and that of the best."""
        self.tried = np.inf
        """The gap from which working sets did not end it."""
        self.falls: list[tuple[int, float]] = []
        """Steps and the least gap by then."""
        self.history: list[Progress] = []
        self.unit = (float(operator.diagonal().mean()) or 1.0) * max(FEW, float(np.sqrt(np.prod(self.cells.shape))))
        """Of ρ."""
        self.looks = Looks()
        self.stepped = 0.0
        """Seconds of the last step."""

    def solution(self) -> Solution:
        """What is found until the end, whatever ends it."""
        status, in_time = Status.INTERRUPTED, True
        # LAPACK by several threads has other bits than by one, which is what it gets while other fits run beside.
        with blas_threads(0):
            try:
                with suppress(KeyboardInterrupt):
                    status = self._iterate()
            except OutOfTimeError:
                in_time = False  # and no more in here: while it is handled, what the iteration had is not let go
            if not in_time:
                return self._by_sets()
            found = finish(self.problem, self.operator, self.best, status, self.options.tol, tuple(self.history))
            return replace(found, taken=self.taken, path="splitting")

    def _iterate(self) -> Status:
        v, status = self._look(self.best)
        status = status or self._mend()
        if status is not None:
            return status
        self._have_time_for(first_operations(self.sandwich))
        basis = Eigenbasis.of(self.sandwich)
        self._have_time_for(rho_operations(self.sandwich))
        iteration = Iteration(self.problem, self.cells, basis, self.room.depth, self.options.seed)
        theta, v = self._begin(v)
        iteration.begin(theta, v, self._bias(theta, v), FIRST * self.unit)
        for step in range(1, self.options.max_steps + 1):
            before = self.clock.seconds
            iteration.step()
            self.stepped = self.clock.seconds - before
            status = self._after(step, iteration)
            if status is not None:
                return status
        return Status.ITERATION_LIMIT

    def _have_time_for(self, operations: float) -> None:
        """Nothing looks at the clock within an eigen-decomposition: there is time for all of it, or it is not begun."""
        if not self._rest.affords(operations):
            raise OutOfTimeError

    def _by_sets(self) -> Solution:
        """By an active set, whose steps are as small as the time that is left: there was none for a first step."""
        held = self.cells.nbytes + self.best.nbytes
        active = self._sets(self.options.memory - held, self.clock)
        found = active.solve(self.problem, self.operator, self.best, Mending(np.inf, self._show))
        taken = max(self.taken, held + found.taken)
        return replace(found, history=tuple(self.history), taken=taken, path="active set")

    def _sets(self, memory: float, clock: Clock) -> ActiveSet:
        """An active set with so many bytes, and the time that is left by this clock."""
        return ActiveSet(self.options.tol, memory=memory, time_budget=clock.budget, seed=self.options.seed)

    def _begin(self, v: Floats) -> tuple[Floats, Floats]:
        """Coefficients and rates to start from: the best so far, or none where these are nearer to the optimum.

        Splitting takes longest to forget what is wrong in a start: from a subset's coefficients, gap 10, it took 1.8
        times the steps from nothing, gap 2.
        """
        p = self.problem
        none = np.zeros(len(p))
        usable = p.total is None or p.total == 0.0
        if usable and p.box.gap(none, p.linear, p.constrained) < self.reached:
            return none, p.linear
        return self.best, v

    def _after(self, step: int, iteration: Iteration) -> Status | None:
        """Look at where this step led, if it is time for that; a status if it was the last one."""
        late = self._late()
        if not self._is_time_to_look(step) and not (late and self.lowest == np.inf):
            return Status.TIME_BUDGET if late else None
        theta = iteration.point()
        if not np.isfinite(theta).all():  # of which no gap says anything
            return Status.STALLED
        v, status = self._look(theta)
        self.falls.append((step, self.lowest))
        if status is not None or late:
            return status or Status.TIME_BUDGET
        status = self._mend() or self._tune(step, iteration)
        iteration.anchor(theta, v, self._bias(theta, v))
        return status

    def _mend(self) -> Status | None:
        """Optimise the pairs that are furthest off, some after the other; a status if that is the end."""
        size, tol = self.room.mended, self.options.tol
        near = MENDING[self.looks.still >= STANDING] * tol
        if self.reached > min(near, AGAIN * self.tried) or size < 2 or not self._mending_pays():
            return None
        self.tried = self.reached
        mending = Mending(self.tried, self._show)
        active = replace(self._sets(BYTES * size**2, self._rest), max_iterations=SETS)
        found = active.solve(self.problem, self.operator, self.best, mending)
        self._keep(found.coefficients, found.gap)
        self.taken = max(self.taken, self.held + found.taken)
        if found.status is Status.INTERRUPTED and not mending.in_vain:
            return Status.INTERRUPTED
        return Status.CONVERGED if found.gap <= tol else None

    def _mending_pays(self) -> bool:
        """Whether working sets are expected to end it sooner than splitting, by how its gap fell of late."""
        folds = max(1.0, np.log(self.reached / self.options.tol))
        filled = np.count_nonzero(self.problem.box.free(self.best)) / self.room.mended
        sets = max(1.0, FOLD * filled) * folds * set_seconds(self.sandwich, self.room.mended)
        if not self.falls:
            return bool(sets < seconds_needed(self.sandwich))
        (before, higher), (now, lower) = self.falls[-LOOKS:][0], self.falls[-1]
        fallen = np.log(higher / lower)
        return bool(sets * fallen < folds * (now - before) * step_seconds(self.sandwich))

    def _is_time_to_look(self, step: int) -> bool:
        """A look takes as long as some steps, so that there are half as many of them while the end is far."""
        every = self.options.every
        near = self.lowest <= NEAR * self.options.tol
        return step % (every if near else 2 * every) == 0 or step == self.options.max_steps

    def _tune(self, step: int, iteration: Iteration) -> Status | None:
        """Another ρ or precision where that is due; a status if float64 leads no further either."""
        near = iteration.dtype is np.float64 or self.lowest <= CRAWLING * self.options.tol
        if self.looks.still >= PATIENCE[iteration.dtype] * (1 if near else FAR):
            if iteration.dtype is np.float64:
                return Status.STALLED
            self.looks.still, self.held = 0, self.room.bytes
            self.taken = max(self.taken, self.held)
            iteration.refine()
        elif step in LOWERED:
            self._reduce(iteration, LOWERED[step] * self.unit)
        elif step in BALANCED and (rho := iteration.balanced) < iteration.rho / MUCH:
            self._reduce(iteration, rho)
        return None

    def _reduce(self, iteration: Iteration, rho: float) -> None:
        """Another ρ, if there is time for its equations; else the last one serves to the end."""
        if self._rest.affords(rho_operations(self.sandwich)):
            iteration.reduce(rho)

    @property
    def _rest(self) -> Clock:
        """The clock without the certificate, and without the look that comes before the end if there was none."""
        if not self.clock.ends:
            return self.clock
        looks = 2.0 if self.lowest == np.inf else 1.0
        return self.clock.reserving(looks * self.pace.seconds(len(self.problem)))

    def _late(self) -> bool:
        """Whether there is no time for another step like the last."""
        return self._rest.reserving(self.stepped).expired

    def _bias(self, theta: Floats, v: Floats) -> float:
        """What the rates of pairs that can move are measured against: those of free pairs, all equal at the optimum."""
        free, moving = self.problem.box.free(theta), self.problem.lower < self.problem.upper
        equal = free if free.any() else moving
        rates = v[equal] - self.problem.epsilon * np.sign(theta[equal])
        return float(rates.mean()) if self.problem.constrained and len(rates) else 0.0

    def _look(self, theta: Floats) -> tuple[Floats, Status | None]:
        """v = p − Kθ of all pairs, a line in the history, and a status if this is the end."""
        p, product = self.problem, np.zeros(len(theta))
        if theta.any():
            self.pace.add_product(theta, product)
        v = p.linear - product
        gap = p.box.gap(theta, v, p.constrained)
        self.looks.note(gap, bool(theta.any()))
        if theta.any() or gap <= self.options.tol:
            self.lowest = min(self.lowest, gap)
            self._keep(theta, gap)
        support, n, objective = int(np.count_nonzero(theta)), len(theta), p.box.objective(theta, p.linear, v)
        stop = self._show(Progress(0, gap, objective, support, n, 0.0, n), theta)
        return v, Status.INTERRUPTED if stop else Status.CONVERGED if gap <= self.options.tol else None

    def _keep(self, theta: Floats, gap: float) -> None:
        """These coefficients, if they are the best so far."""
        if gap < self.reached:
            self.best, self.reached = theta, gap

    def _show(self, line: Progress, theta: Floats) -> bool:
        """Add a line to the history, of these coefficients; whether the callback wants to stop."""
        self.history.append(replace(line, iteration=len(self.history), seconds=self.clock.seconds))
        return tell(self.callback, self.history[-1], theta, "Splitting")


class Mending(Keeper):
    """Watches working sets on behalf of splitting: the first line of theirs is known, and all are shown on.

    `in_vain` says that they were left because the gap did not fall.
    """

    def __init__(self, gap: float, show: Callable[[Progress, Floats], bool]) -> None:
        self.gap, self.show, self.in_vain = gap, show, False
        self.theta: Floats = np.empty(0)

    def keep(self, theta: Floats, line: Progress, by: str) -> None:
        """The coefficients of the line that comes."""
        self.theta = theta

    def __call__(self, line: Progress) -> bool:
        """Whether to stop."""
        if line.iteration and self.show(line, self.theta):
            return True
        self.in_vain = line.iteration >= HALF and line.gap > 0.5 * self.gap
        return self.in_vain
