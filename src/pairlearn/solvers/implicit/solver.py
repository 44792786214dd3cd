"""The optimum over all pairs: smoothed Newton steps, a list of the few pairs that decide at last, a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.form import PairForm
from pairlearn.solvers.box import kkt_gap
from pairlearn.solvers.certificate import Certificate
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.implicit.descent import Descent, Smooth, Span
from pairlearn.solvers.implicit.everyone import Everyone, Ramps, Scored
from pairlearn.solvers.problem import Callback, Problem, Progress, Solution, Status
from pairlearn.types import Floats, Ints

Listed = Callable[[Ints, Ints, Problem, Floats, float | None], Solution]
"""Solves a problem on listed pairs (left, right examples) from these coefficients, within so many seconds."""
HALF = 0.35
"""Half of the last ramps, in tolerances: pairs between their bounds are no further apart than 2·HALF."""
DRIFT = 0.1
"""Change of values, in tolerances, below which a certificate is worth its scan."""
SCARCE = 3
"""Pairs on their ramps per feature, below which Newton's steps become too long, and these pairs are listed."""
AROUND = 3.0
"""Pairs that are listed then: those so many times as far from the margin."""
WIDER, LEAST = 1.5, 5.0
"""The next time: those within so many gaps of the last one, and within so many tolerances at least."""
STEP = 1e-200
"""Half of a ramp that is a step."""
ROUNDS = 12
"""Lists at most."""
USEFUL = 0.1
"""Gap above which certified coefficients are worth less than the function that they came from."""


@dataclass(frozen=True)
class Outcome:
    """The learnt function and the certificate of coefficients that no array holds.

    A function of q features is a sum over any pairs whose features span them all: `coefficients` (n,) of the pairs
    (`left`, `right`) are such a sum. They are not those of the optimum, of which there are millions; its values are.
    """

    left: Ints
    right: Ints
    coefficients: Floats
    bias: float
    status: Status
    gap: float
    objective: float
    n_support: int
    history: tuple[Progress, ...] = ()
    pass_seconds: float = 0.0
    """Of a scan."""
    spread: float = np.inf
    """Not looked at."""


@dataclass(frozen=True)
class Implicit:
    """min ½θᵀKθ − yᵀθ over all pairs of examples in classes, 0 ≤ yθ ≤ box, Σθ = 0, without a list of them.

    Newton's method finds the function whose coefficients θ_h rise in ramps of width 2h across the margin, narrower and
    narrower ones. θ_h is feasible, and where its own function is the one that it came from, all pairs between their
    bounds have residuals v = y − g within 2h of each other: the KKT gap is 2h. With enough pairs h ends below half of
    the tolerance. With fewer, those around the margin are listed and solved for, all others at their bounds.

    Either way a scan that computes θ from the old function and v from the new one is the certificate. Ended before, it
    returns the last function with an infinite gap: usable, but nothing certifies it. `most` is how many pairs may be
    listed.
    """

    tol: float = 1e-3
    most: int = 400_000
    time_budget: float | None = None
    max_steps: int = 200
    seed: int = 0

    def solve(self, everyone: Everyone, listed: Listed, callback: Callback | None = None) -> Outcome:
        """The function of all pairs."""
        with blas_threads(0):
            return _Run(self, everyone, listed, callback).outcome()


@dataclass(frozen=True)
class Draft:
    """Pairs around the margin and their coefficients, all others at bounds by these ramps; `far` is their form."""

    ramps: Ramps
    left: Ints
    right: Ints
    far: PairForm
    problem: Problem
    theta: Floats


class _Run:
    """The last function so far, and the best certificate."""

    def __init__(self, options: Implicit, everyone: Everyone, listed: Listed, callback: Callback | None) -> None:
        self.options, self.everyone, self.listed, self.callback = options, everyone, listed, callback
        self.clock = Clock.start(options.time_budget)
        self.history: list[Progress] = []
        self.now: Smooth | None = None
        self.best: Outcome | None = None

    def outcome(self) -> Outcome:
        """What is found until the end, whatever ends it."""
        try:
            status = self._steps()
        except KeyboardInterrupt:
            if self.now is None:
                raise
            status = Status.INTERRUPTED
        if self.best is None and status in (Status.STALLED, Status.ITERATION_LIMIT):
            assert self.now is not None
            self._judge(self.now)
        best = self.best
        if best is not None and best.gap <= self.options.tol:
            status = status if status is Status.INTERRUPTED else Status.CONVERGED
        elif best is None or best.gap > USEFUL:
            best = self._uncertified()
        return replace(best, status=status, history=tuple(self.history))

    def _uncertified(self) -> Outcome:
        """The function so far: the best one found, but coefficients that have it are not known, so that its gap is
        infinite. Those that it gives have a function far from it."""
        now = self.now
        assert now is not None
        function = now.span.left, now.span.right, now.span.inverse @ now.w, now.ramps.bias
        return Outcome(*function, Status.STALLED, np.inf, np.nan, 0)

    def _steps(self) -> Status:
        """Narrower and narrower ramps."""
        tol, began = self.options.tol, self.clock.seconds
        self.descent = descent = Descent(self.everyone, self.options.seed)
        scarce = min(self.options.most, SCARCE * descent.q)
        for now, done in descent.steps(HALF * tol):
            self.now = now
            gap = 2.0 * (now.ramps.half + now.drift)
            if self._report(gap, -now.objective, now.ramped.count, len(now.span.left)):
                return Status.INTERRUPTED
            seconds, began = self.clock.seconds - began, self.clock.seconds
            if self.clock.ends and self.clock.left < seconds:
                return Status.TIME_BUDGET
            if done and now.ramped.count <= scarce:
                return self._rounds(now, AROUND * now.ramps.half)
            if now.ramps.half <= HALF * tol and now.drift <= DRIFT * tol and self._judge(now) <= tol:
                return Status.CONVERGED
            if len(self.history) >= self.options.max_steps:
                return Status.ITERATION_LIMIT
        return Status.STALLED

    def _report(self, gap: float, objective: float, count: int, pairs: int) -> bool:
        """A line of the history, by so many pairs; whether the user wants to stop."""
        step = Progress(len(self.history), gap, objective, count, count, self.clock.seconds, pairs)
        self.history.append(step)
        return bool(self.callback(step)) if self.callback is not None else False

    # -- lists

    def _rounds(self, now: Smooth, apart: float) -> Status:
        """Lists of the pairs around the margin, until all others are where they belong."""
        tol = self.options.tol
        for _ in range(ROUNDS):
            draft = self._draft(now, apart)
            if draft is None:
                return Status.STALLED
            began, seconds = self.clock.seconds, 0.5 * self.clock.left if self.clock.ends else None
            found = self.listed(draft.left, draft.right, draft.problem, draft.theta, seconds)
            form = draft.far + self.everyone.form(draft.left, draft.right, found.coefficients)
            gap = self._certify(now.span, draft.ramps, form, replace(draft, theta=found.coefficients))
            assert self.best is not None
            if self._report(gap, self.best.objective, len(draft.left), len(self.everyone)):
                return Status.INTERRUPTED
            if found.status is Status.INTERRUPTED:
                return found.status
            if gap <= tol:
                return Status.CONVERGED
            if self.clock.ends and self.clock.left < self.clock.seconds - began:
                return Status.TIME_BUDGET
            now, moved = self._towards(now, form, found.bias)
            self.now = now
            if not moved and gap <= apart:
                return Status.STALLED
            apart = max(LEAST * tol, WIDER * gap, apart if moved else 2.0 * apart)
        return Status.ITERATION_LIMIT

    def _draft(self, now: Smooth, apart: float) -> Draft | None:
        """All pairs but the listed ones at their bounds; more are listed where these could not make Σθ = 0.

        None where that would be more than may be listed.
        """
        everyone, scored, bias, half = self.everyone, now.ramps.scored, now.ramps.bias, now.ramps.half
        widest = self.descent.width(now.ramps, min(1.0, 0.8 * self.options.most / len(everyone)))
        while True:
            apart = min(apart, widest)
            ramps = Ramps(scored, bias, STEP, apart=apart)
            far, (left, right) = everyone.ramped(ramps), everyone.near(replace(ramps, half=apart))
            y = everyone.labels(left, right)
            lower, upper = everyone.bounds(y)
            linear = y - Scored(everyone.Z, far.form).values(left, right)
            problem = Problem(linear, lower, upper, total=-far.total)
            if lower.sum() <= -far.total <= upper.sum():
                share = np.clip(0.5 + 0.5 * everyone.before(now.ramps, left, right) / half, 0.0, 1.0)
                theta = share * (lower + upper)
                return Draft(ramps, left, right, far.form, problem, theta)
            if len(left) >= 0.5 * self.options.most:
                return None
            apart *= 1.5

    def _towards(self, now: Smooth, form: PairForm, bias: float) -> tuple[Smooth, bool]:
        """Towards a new function as far as the smoothed objective falls, and whether it does."""
        w, t = now.span.vector(form), 1.0
        while t > 1e-3:
            to = now.w + t * (w - now.w), now.ramps.bias + t * (bias - now.ramps.bias)
            new = Smooth.at(now.span, *to, now.ramps.half)
            if new.objective < now.objective:
                return new, True
            t /= 3.0
        return now, False

    # -- certificates

    def _judge(self, now: Smooth) -> float:
        """The gap of coefficients on ramps with the bias that makes Σθ = 0; infinite where none does."""
        now = now.balanced()
        return self._certify(now.span, now.ramps, now.ramped.form, None, np.inf if not now.is_balanced else 0.0)

    def _certify(self, span: Span, ramps: Ramps, form: PairForm, draft: Draft | None, least: float = 0.0) -> float:
        """The gap of coefficients on ramps and in a list, whose form is given; the best are kept."""
        everyone, scored, began = self.everyone, Scored(self.everyone.Z, form), self.clock.seconds
        found, support = everyone.judged(ramps, scored)
        seconds = self.clock.seconds - began
        if draft is not None:
            y, g = everyone.labels(draft.left, draft.right), scored.values(draft.left, draft.right)
            near = Certificate.of(Problem(y, *everyone.bounds(y), total=0.0), slice(None), draft.theta, g)
            found, support = found.joined(near), support + int(np.count_nonzero(draft.theta))
        gap = max(least, kkt_gap(found.up, found.low, True))
        if self.best is None or gap < self.best.gap:
            function = span.left, span.right, span.coefficients(form), found.bias if found.n_free else ramps.bias
            self.best = Outcome(*function, Status.STALLED, gap, found.objective, support, (), seconds)
        return gap
