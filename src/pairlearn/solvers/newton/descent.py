"""From wide ramps to narrow ones: the function of all pairs, by Newton's method on a smoothed problem.

Where classes overlap, nearly every support pair is at its bound, and which of them are is known as soon as the function
is. So the function is found first. With θ rising in a ramp of width 2h instead of a step where a pair crosses the
margin, the primal problem

    min ½‖w‖² + Σ Φ_h(p_i − ⟨w, z_i⟩ − b) + total·b,   Φ_h' = θ_h

has a derivative everywhere, and a Newton step needs the pairs on their ramps only, a sample of them while they are
many. h falls until hardly more pairs are left on their ramps than the optimum leaves free. Their θ_h are feasible and
*have* this function: the active set ends within a few steps.

w itself is never formed: w = Σ c_i z_i for coefficients c of pairs, so that fast products over all pairs do the rest.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from pairlearn import loops
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.box import behind_margin
from pairlearn.solvers.certificate import best_share
from pairlearn.solvers.clock import Clock, OutOfTimeError
from pairlearn.solvers.newton.equations import WHOLE, Equations, Lead
from pairlearn.solvers.newton.size import Size
from pairlearn.solvers.problem import Problem, Progress, Relay, Status
from pairlearn.types import Floats

GAIN = 1e-2
"""Share of the objective below which a step gains little."""
ASTRAY = 0.5
"""Share of what θ adds up to by which θ_h may miss it and still be spoken of: at first it may be 0 throughout."""
ASTRAY_STEPS = 2
"""Steps in a row that leave no pair on its ramp, after which there is no way back: each is as good as random."""
FLAT = 10.0
"""Half widths of the last ramps that values of all pairs may lie apart and still be those of a constant: 5 where a
constant is best (letter, 319,600 pairs), 600 or more elsewhere."""
FREE = 0.5
"""Share of the pairs on their ramps that stay on them however narrow they are, from which on none narrower follow."""


class Descent:
    """One way down: c with w = Σ c z, v = p − Kc, b, and θ_h of the last step."""

    def __init__(
        self, active: ActiveSet, problem: Problem, operator: PairOperator, size: Size, relay: Relay, clock: Clock
    ) -> None:
        self.active, self.problem, self.operator, self.relay, self.clock = active, problem, operator, relay, clock
        self.size, n, tuning = size, len(problem), active.tuning
        self.last = min(n, max(tuning.newton_last * (size.features or 0), tuning.newton_least))
        self.rng = np.random.default_rng(active.seed)
        self.theta: Floats = np.zeros(n)
        self.best: Floats = self.theta
        """θ_h of the step whose best share has the least objective, for a fit that is broken off."""
        self.least, self.known = np.inf, np.inf
        """Objective and gap of that share."""
        self.slope, self.bias, self.half = np.zeros(n), 0.0, 0.0
        self.gap, self.objective = np.inf, 0.0
        """Of θ_h, before the last step."""
        self.sums = np.empty(-(-n // loops.rates.CHUNK))
        self.moving = problem.lower < problem.upper
        self.strayed = 0
        """Steps in a row that left no pair on its ramp."""

    def run(self, start: Floats | None, *, anew: bool = False) -> Status | None:
        """Go down until few pairs are left on their ramps; a status if the user or the clock ended it before.

        From the start, or `anew` from nothing; then a start is only what is left where it is broken off at once.
        """
        p = self.problem
        begun = start is not None and bool(start.any())
        self.c: Floats = np.zeros(len(p)) if start is None else start.copy()
        self.v: Floats = p.linear - self.operator @ self.c if begun else p.linear.copy()
        self.theta = self.c.copy()
        if start is not None and begun:
            self.gap = p.box.gap(start, self.v, p.constrained)
            if self.gap <= self.active.tol:
                return None  # the active set certifies it
            self._keep(start, self.v, p.box.objective(start, p.linear, self.v))
        if anew and begun:
            self.c, self.v, self.theta, begun = np.zeros(len(p)), p.linear.copy(), np.zeros(len(p)), False
        try:
            return self._levels(begun)
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        except OutOfTimeError:
            return Status.TIME_BUDGET
        except LinAlgError:
            return None  # the active set goes on from the last coefficients

    def _levels(self, begun: bool) -> Status | None:
        """Narrower and narrower ramps, each from where the one before ended."""
        n, tuning = len(self.problem), self.active.tuning
        most = max(self.last, int(tuning.newton_first * n))
        count, before = (most if begun else n), (np.inf, n)
        half = self._half_width(count)
        while half > self.active.tol:
            last = count <= self.last
            status = self._settle(half, last=last)
            on = self.on_ramps
            if status is None and not last and on <= most and self._are_free(before, (half, on)):
                last, status = True, self._settle(half, last=True)
            if last or status is not None or self.strayed >= ASTRAY_STEPS:
                return status
            before = half, on
            count = max(self.last, min(int(count / tuning.newton_growth), most))
            half = min(max(self._half_width(count), half / self.size.steepest), half / 2)
        return None

    @property
    def astray(self) -> bool:
        """Whether steps led to a function that leaves no pair on its ramp."""
        return self.on_ramps == 0

    @property
    def flat(self) -> bool:
        """Whether values of all pairs lie hardly further apart than the last ramps are wide: a constant may be best."""
        return float(np.ptp(self.problem.linear - self.v)) <= FLAT * self.half

    @property
    def on_ramps(self) -> int:
        """Pairs on their ramps in the last step."""
        return int(np.count_nonzero(self.slope))

    def _are_free(self, before: tuple[float, int], now: tuple[float, int]) -> bool:
        """Whether most pairs on their ramps stay there however narrow these become, by two widths and their counts.

        The free pairs are always on them, and others as many as they are wide.
        """
        times = before[0] / now[0]
        known = times < np.inf and self.size.features is None
        return known and (times * now[1] - before[1]) / (times - 1.0) >= FREE * now[1]

    def _half_width(self, count: int) -> float:
        """h at which so many pairs are on their ramps."""
        far = np.abs(np.abs(self.v - self.bias) - self.problem.epsilon)[self.moving]
        if count >= len(far):
            return 2.0 * float(far.max(initial=0.0))  # at first all are equally far
        return float(np.partition(far, count)[count])

    def _kink(self, half: float) -> float:
        """Where ramps of this half width are centred."""
        return self.problem.box.eps + behind_margin(half)

    def _settle(self, half: float, *, last: bool = False) -> Status | None:
        """Steps at one h until the next h is worth more; at the last one until θ_h is optimal but for h."""
        for _ in range(self.active.tuning.newton_steps):
            if (last and self.gap <= 2.0 * half) or self.strayed >= ASTRAY_STEPS:
                break
            moved, gain = self._step(half)
            if self._report():
                return Status.INTERRUPTED
            if self.clock.expired:
                return Status.TIME_BUDGET
            if not last and moved <= 0.5 * half and gain <= GAIN * abs(self.objective):
                break
        return None

    def _step(self, half: float) -> tuple[float, float]:
        """One Newton step with its length searched; by how much residuals moved, and about what it gained."""
        p, box, self.half = self.problem, self.problem.box, half
        loops.rates.respond(self.v, self.bias, box.lower, box.upper, self._kink(half), half, self.theta, self.slope)
        self.strayed = 0 if self.slope.any() else self.strayed + 1
        rest = self.theta - self.c
        moved = self.operator @ rest
        own = self.v - moved
        self.gap = box.gap(self.theta, own, p.constrained) if self._is_near else np.inf
        self.objective = box.objective(self.theta, p.linear, own)
        if self._is_near:
            self._keep(self.theta, own, self.objective)
        db = self._turn(rest, moved)
        dv = moved + db
        length, gain = self._length(rest, moved, dv, db, half)
        self.c += length * rest
        self.v -= length * moved
        self.bias += length * db
        return length * float(np.sqrt(dv @ dv / len(dv))), gain

    @property
    def _is_near(self) -> bool:
        """Whether θ_h is near to what it has to add up to: all 0 looks like an optimum where they must not be."""
        total = self.problem.total or 0.0
        return abs(float(self.theta.sum()) - total) <= ASTRAY * abs(total) or total == 0.0

    def _keep(self, theta: Floats, v: Floats, objective: float) -> None:
        """Copy coefficients, with this residual, whose best share is better than all before."""
        p = self.problem
        share, reached = best_share(p, theta, objective)
        if reached < self.least:
            self.best, self.least = theta.copy(), reached
            self.known = p.box.gap(share * theta, (1.0 - share) * p.linear + share * v, p.constrained)

    def _turn(self, rest: Floats, moved: Floats) -> float:
        """From the steepest direction, θ − c and its values, to that of a Newton step, in place; change of the bias.

        Of more pairs on their ramps than a step looks at a sample is drawn, its slopes larger by as much as it is
        smaller.
        """
        p, size, on = self.problem, self.size, np.nonzero(self.slope)[0]
        if not len(on):
            return 0.0
        looked = on
        if len(on) > size.looked:
            looked = np.sort(self.rng.choice(on, size.looked, replace=False))
        slopes = self.slope[looked] * (len(on) / len(looked))
        operator, square = self.operator.restricted(looked), float(rest @ moved)
        equations = Equations(operator, slopes, moved[looked], square, p.total is not None)
        few = np.arange(len(looked))
        if len(few) > WHOLE * size.sample:
            few = np.sort(self.rng.choice(few, size.sample, replace=False))
        lead = Lead.of(equations, few, self.clock.look, by_features=size.features is not None)
        step = equations.solved(float(self.theta.sum()) - (p.total or 0.0), lead, self.clock)
        change = np.zeros(len(p))
        change[looked] = step.x
        rest *= step.along
        rest += change
        moved *= step.along
        self.operator.add_product(change, moved)
        return step.bias

    def _length(self, rest: Floats, towards: Floats, dv: Floats, db: float, half: float) -> tuple[float, float]:
        """(length in (0, 1], slope at 0): the objective is convex along the step, and all but stops falling there."""
        p, box, kink = self.problem, self.problem.box, self._kink(half)
        linear = float((p.linear - self.v) @ rest) + db * (p.total or 0.0)
        square = float(rest @ towards)

        def slope(t: float) -> float:
            loops.rates.along(self.v, dv, self.bias, t, box.lower, box.upper, kink, half, self.sums)
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
        """A line of the history, of the best so far; whether the user wants to stop. Before there is any: no line."""
        if self.least == np.inf:
            return False
        line = Progress(
            iteration=0,
            gap=self.known,
            objective=self.least,
            n_support=int(np.count_nonzero(self.best)),
            working_set=self.on_ramps,
            seconds=0.0,
            n_pairs=len(self.theta),
        )
        return self.relay(line)  # θ_h tells little of the function that the next step starts from: nobody keeps it
