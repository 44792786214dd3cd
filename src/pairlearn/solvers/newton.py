"""Newton's method on a smoothed problem: the function of all pairs from few features, then the active set.

Where classes overlap, nearly every support pair is at its bound, and which of them are is known as soon as the function
is. So the function is found first. With θ rising in a ramp of width 2h instead of a step where a pair crosses the
margin, the primal problem

    min ½‖w‖² + Σ Φ_h(p_i − ⟨w, z_i⟩ − b) + total·b,   Φ_h' = θ_h

has a derivative everywhere, and a Newton step needs the features z of the pairs on their ramps only, a sample of them
while they are many. h falls until hardly more pairs are left on their ramps than the optimum leaves free. Their θ_h are
feasible and *have* this function: the active set ends within a few steps, and few pairs are free then.

w itself is never formed: w = Σ c_i z_i for coefficients c of pairs, so that fast products over all pairs do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairlearn import loops
from pairlearn.errors import InputError
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.operators.thin import Columns
from pairlearn.solvers import interior
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.certificate import best_share, finish
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.interior import Interior
from pairlearn.solvers.problem import Callback, Problem, Progress, Relay, Solution, Status
from pairlearn.solvers.start import feasible
from pairlearn.solvers.tuning import RATES, Tuning
from pairlearn.types import Floats, Ints

PATH = "Newton's method"
VECTORS = 12
"""Numbers per pair that a descent holds while it takes a step."""
STEPS, PASSES = 20, 150
"""Usual steps, and numbers per pair that one of them reads or writes."""
GAIN = 1e-2
"""Share of the objective below which a step gains little."""


@dataclass(frozen=True)
class Newton:
    """Smoothed Newton steps in the space of few features, and the active set from where they end.

    >>> import numpy as np
    >>> from pairlearn.operators.product import FeatureOperator
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0))
    >>> solution = Newton().solve(problem, FeatureOperator(2.0 * y[:, None]))
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
        """Coefficients for this problem, from zero or from a feasible start."""
        size = features(operator)
        if size is None:
            raise InputError('this kernel has no few features of each pair; use solver="auto"')
        clock = Clock.start(self.active.time_budget)
        relay = Relay(clock, callback)
        descent = _Descent(self.active, problem, operator, size, relay, clock)
        with blas_threads(0):
            status = descent.run(start)
        theta, crowded = feasible(descent.theta if status is None else descent.best, problem), descent.crowded
        del descent  # its vectors have no place beside those of what follows
        taken = bytes_needed(problem, size, self.active.tuning) + operator.passed
        if status is not None:
            found = finish(problem, operator, theta, status, self.active.tol, ())
            return relay.whole(found, PATH, taken)
        active = replace(self.active, time_budget=clock.budget)
        room = interior.bytes_needed(problem, (size, size), active.tuning) <= active.memory
        rest = Interior(active) if crowded and room else active
        found = rest.solve(problem, operator, theta, relay)
        return relay.whole(found, f"{PATH}, {found.path}", taken)

    def within(self, seconds: float | None) -> Newton:
        """The same with so much time."""
        return Newton(replace(self.active, time_budget=seconds))


def features(operator: PairOperator) -> int | None:
    """Number of explicit features of a pair, None where there are none."""
    size = operator.thin_size()
    return size[1] if size is not None and size[0] == size[1] else None


def sampled(r: int, tuning: Tuning) -> int:
    """Most pairs whose features make the equations of one step."""
    return int(np.clip(tuning.newton_sample * r, 1000, 16_000))


def bytes_needed(problem: Problem, r: int, tuning: Tuning) -> int:
    """Vectors of all pairs, features of a sample twice, the equations three times."""
    return 8 * (VECTORS * len(problem) + 2 * min(len(problem), sampled(r, tuning)) * r + 3 * r**2)


def seconds_needed(problem: Problem, r: int, tuning: Tuning) -> float:
    """About how long the descent takes."""
    n = len(problem)
    return STEPS * RATES.seconds(2.0 * min(n, sampled(r, tuning)) * r**2 + r**3 / 3, PASSES * n)


class _Descent:
    """One way down: c with w = Σ c z, v = p − Kc, b, and θ_h of the last step."""

    def __init__(
        self, active: ActiveSet, problem: Problem, operator: PairOperator, r: int, relay: Relay, clock: Clock
    ) -> None:
        self.active, self.problem, self.operator, self.relay, self.clock = active, problem, operator, relay, clock
        n, tuning = len(problem), active.tuning
        self.last, self.sample = min(n, max(tuning.newton_last * r, tuning.newton_least)), sampled(r, tuning)
        self.rng = np.random.default_rng(active.seed)
        self.theta: Floats = np.zeros(n)
        self.best: Floats = self.theta
        """θ_h of the step whose best share has the least objective, for a fit that is broken off."""
        self.least = np.inf
        self.slope, self.bias = np.zeros(n), 0.0
        self.gap, self.objective = np.inf, 0.0
        """Of θ_h, before the last step."""
        self.crowded = False
        """Whether far more pairs than were looked for stayed on their ramps: they all but share one value."""
        self.sums = np.empty(-(-n // loops.rates.CHUNK))
        self.moving = problem.lower < problem.upper

    def run(self, start: Floats | None) -> Status | None:
        """Go down until few pairs are left on their ramps; a status if the user or the clock ended it before."""
        p = self.problem
        begun = start is not None and bool(start.any())
        self.c: Floats = np.zeros(len(p)) if start is None else start.copy()
        self.v: Floats = p.linear - self.operator @ self.c if begun else p.linear.copy()
        self.theta = self.c.copy()
        self.best = self.best if start is None else start
        try:
            return self._levels(begun)
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        except LinAlgError:
            return None  # the active set goes on from the last coefficients

    def _levels(self, begun: bool) -> Status | None:
        """Narrower and narrower ramps, each from where the one before ended."""
        n, tuning = len(self.problem), self.active.tuning
        most = max(self.last, int(tuning.newton_first * n))
        count, half = (most if begun else n), np.inf
        while True:
            last = count <= self.last
            half = min(self._half_width(count), half / 2)
            status = self._settle(half, last=last) if half > self.active.tol else None
            if last or half <= self.active.tol or status is not None:
                self.crowded = int(np.count_nonzero(self.slope)) > tuning.newton_crowded * self.last
                return status
            count = max(self.last, min(int(count / tuning.newton_growth), most))

    def _half_width(self, count: int) -> float:
        """h at which so many pairs are on their ramps."""
        far = np.abs(np.abs(self.v - self.bias) - self.problem.epsilon)[self.moving]
        if count >= len(far):
            return 2.0 * float(far.max(initial=0.0))  # at first all are equally far
        return float(np.partition(far, count)[count])

    def _settle(self, half: float, *, last: bool) -> Status | None:
        """Steps at one h until the next h is worth more; at the last one until θ_h is optimal but for h."""
        for _ in range(self.active.tuning.newton_steps):
            moved, gain = self._step(half)
            if self._report():
                return Status.INTERRUPTED
            if self.clock.expired:
                return Status.TIME_BUDGET
            near = moved <= 0.5 * half and gain <= GAIN * abs(self.objective)
            if self.gap <= 2.0 * half if last else near:
                break
        return None

    def _step(self, half: float) -> tuple[float, float]:
        """One Newton step with its length searched; by how much residuals moved, and about what it gained."""
        p, box = self.problem, self.problem.box
        loops.rates.respond(self.v, self.bias, box.lower, box.upper, box.eps, half, self.theta, self.slope)
        rest = self.theta - self.c
        moved = self.operator @ rest
        own = self.v - moved
        self.gap = box.gap(self.theta, own, p.constrained)
        self.objective = box.objective(self.theta, p.linear, own)
        self._note()
        lacking = p.total - float(self.theta.sum()) if p.total is not None else None
        chosen, change, db = self._direction(moved, lacking)
        rest[chosen] -= change
        towards = moved - self._product(chosen, change)
        dv = towards + db
        length, gain = self._length(rest, towards, dv, db, half)
        self.c += length * rest
        self.v -= length * towards
        self.bias += length * db
        return length * float(np.sqrt(dv @ dv / len(dv))), gain

    def _note(self) -> None:
        """Keep θ_h where a share of it is better than all before."""
        _, reached = best_share(self.problem, self.theta, self.objective)
        if reached < self.least:
            self.best, self.least = self.theta.copy(), reached

    def _product(self, chosen: Ints, change: Floats) -> Floats:
        whole = np.zeros(len(self.problem))
        whole[chosen] = change
        return self.operator @ whole

    def _direction(self, moved: Floats, lacking: float | None) -> tuple[Ints, Floats, float]:
        """(pairs on their ramps, e, change of the bias) with (D⁻¹ + ZZᵀ) e = K(θ − c) + db and Σe = −lacking.

        D are the slopes, of a sample made larger by as much as it is smaller than all.
        """
        chosen, share = np.nonzero(self.slope)[0], 1.0
        if len(chosen) > self.sample:
            share = len(chosen) / self.sample
            chosen = np.sort(self.rng.choice(chosen, self.sample, replace=False))
        D = share * self.slope[chosen]
        thin = self.operator.restricted(chosen).thin()
        assert isinstance(thin, Columns)
        system = thin.weighted(D)
        system[np.diag_indices(len(system))] += 1.0
        factor = cho_factor(system, lower=True, overwrite_a=True)

        def solved(x: Floats) -> Floats:
            return D * (x - thin.spread(cho_solve(factor, thin.gathered(D * x))))

        e, db = solved(moved[chosen]), 0.0
        if lacking is not None and len(chosen):
            unit = solved(np.ones(len(chosen)))
            db = (-lacking - float(e.sum())) / float(unit.sum())
            e += db * unit
        return chosen, e, db

    def _length(self, rest: Floats, towards: Floats, dv: Floats, db: float, half: float) -> tuple[float, float]:
        """(length in (0, 1], slope at 0): the objective is convex along the step, and all but stops falling there."""
        p, box = self.problem, self.problem.box
        linear = float((p.linear - self.v) @ rest) + db * (p.total or 0.0)
        square = float(rest @ towards)

        def slope(t: float) -> float:
            loops.rates.along(self.v, dv, self.bias, t, box.lower, box.upper, box.eps, half, self.sums)
            return linear + t * square - float(self.sums.sum())

        begin, end = slope(0.0), slope(1.0)
        enough, low, high, t = 0.1 * abs(begin), 0.0, 1.0, 1.0
        left, right, found = begin, end, end
        while found > enough and high - low > 1e-3 and right > left:
            t = (low * right - high * left) / (right - left)
            t = min(max(t, low + 0.1 * (high - low)), high - 0.1 * (high - low))
            found = slope(t)
            if found > 0:
                high, right = t, found
            elif found < -enough:
                low, left, found = t, found, -found
            else:
                break
        return t, -begin

    def _report(self) -> bool:
        """A line of the history; whether the user wants to stop."""
        line = Progress(
            iteration=0,
            gap=self.gap,
            objective=self.objective,
            n_support=int(np.count_nonzero(self.theta)),
            working_set=int(np.count_nonzero(self.slope)),
            seconds=0.0,
            n_pairs=len(self.theta),
        )
        return self.relay(line)  # θ_h tells little of the function that the next step starts from: nobody keeps it
