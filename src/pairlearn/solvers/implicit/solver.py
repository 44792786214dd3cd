"""Round by round: all pairs but those near the margin at their bounds, these solved for, all looked at again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.operators.form import PairForm
from pairlearn.solvers.box import kkt_gap
from pairlearn.solvers.certificate import Certificate
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.implicit.everyone import Assignment, Everyone, Scored
from pairlearn.solvers.problem import Callback, Problem, Progress, Solution, Status
from pairlearn.types import Floats, Ints

Listed = Callable[[Ints, Ints, Problem, float | None], Solution]
"""Solves a problem on listed pairs (left, right examples), within so many seconds."""
SAMPLE = 300_000
"""Pairs that the first function is learnt from."""
PROBED = 2**18
"""Pairs by which the width of the margin is chosen."""
PER_LISTED = 400
"""Bytes per listed pair: what a fit of listed pairs holds, and its solver."""
WIDER = 1.5
"""Half of the next margin, in gaps of the last round: pairs beyond it were not on the wrong side of theirs by far."""
LEAST = 5.0
"""Half of a margin at least, in tolerances."""
STEPS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.01, 1e-3])
"""Ways towards the next function, of which the one with the least objective is gone."""
STALLED = 5
"""Rounds without a lower objective before it ends."""
INNER = 0.5
"""Tolerance of listed pairs, as a share of that of all."""


@dataclass(frozen=True)
class Outcome:
    """The learnt form and bias, and the certificate of coefficients that no array holds.

    `left` and `right` are the pairs near the margin at the end.
    """

    form: PairForm
    bias: float
    status: Status
    gap: float
    objective: float
    n_support: int
    left: Ints
    right: Ints
    history: tuple[Progress, ...]
    pass_seconds: float = 0.0
    """Of the last round."""


@dataclass(frozen=True)
class Implicit:
    """min ½θᵀKθ − yᵀθ over all pairs of examples in classes, none of them listed but those near the margin.

    A function is learnt from a sample first. By it every pair with |v − b| > h gets the bound that v = y − Kθ asks
    for; the form of these is a sum of products block by block. The others are listed, and so is a sample of the former,
    each of which stands for as many as it was drawn from: they tell when too many of them would leave their bounds. All
    listed pairs are solved for, Σθ = 0 kept in all. Where none of the sample has moved this is a solution for all
    pairs, and one more scan finds its gap, which is the certificate. Where it is too large, the function moves towards
    the new one, as far as the primal objective ½‖w‖² + Σ C·hinge falls.

    `most` is how many pairs may be listed. Ended before a round gave coefficients of all pairs, it returns the function
    so far with an infinite gap: usable, but nothing certifies it.
    """

    tol: float = 1e-3
    most: int = 2_000_000
    time_budget: float | None = None
    max_rounds: int = 30
    seed: int = 0

    def solve(self, everyone: Everyone, listed: Listed, callback: Callback | None = None) -> Outcome:
        """The function of all pairs."""
        return _Run(self, everyone, listed, callback).outcome()


@dataclass(frozen=True)
class Point:
    """A function of all pairs: its values, bias and ‖w‖²."""

    scored: Scored
    bias: float
    square: float


@dataclass(frozen=True)
class Draft:
    """An assignment of all pairs, those listed (near ones, then a sample of the others, which begins at bounds), the
    form of all that is not solved for, the problem of the listed pairs and its solution."""

    assignment: Assignment
    left: Ints
    right: Ints
    begin: Floats
    fixed: PairForm
    problem: Problem
    found: Solution | None = None

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the solution."""
        return self.found is not None and self.found.status is Status.INTERRUPTED

    @property
    def moved(self) -> bool:
        """Whether one of the sample left its bound, so that others would too."""
        assert self.found is not None
        return bool((self.found.coefficients[len(self.assignment.left) :] != self.begin).any())


class _Run:
    """The best round so far."""

    def __init__(self, options: Implicit, everyone: Everyone, listed: Listed, callback: Callback | None) -> None:
        self.options, self.everyone, self.listed, self.callback = options, everyone, listed, callback
        self.clock, self.rng = Clock.start(options.time_budget), np.random.default_rng(options.seed)
        self.history: list[Progress] = []
        self.best: Outcome | None = None
        self.point: Point | None = None

    def outcome(self) -> Outcome:
        """What is found until the end, whatever ends it."""
        try:
            status = self._rounds()
        except KeyboardInterrupt:
            if self.point is None:
                raise
            status = Status.INTERRUPTED
        return replace(self.best or self._uncertified(), status=status, history=tuple(self.history))

    def _uncertified(self) -> Outcome:
        """The function so far, without coefficients of all pairs and so without a certificate: its gap is infinite."""
        assert self.point is not None
        nobody = np.zeros(0, dtype=np.int32)
        return Outcome(self.point.scored.form, self.point.bias, Status.STALLED, np.inf, np.nan, 0, nobody, nobody, ())

    def _rounds(self) -> Status:
        self.point, half, still = self._first(), np.inf, 0
        for _ in range(self.options.max_rounds):
            began = self.clock.seconds
            draft = self._drafted(min(half, self._widest(self.point)))
            if draft is None:
                return Status.STALLED
            after, cross, gap, stop = self._round(draft)
            seconds = self.clock.seconds - began
            if self.best is not None:
                self.best = replace(self.best, pass_seconds=seconds)
            if gap <= self.options.tol and not draft.moved:
                return Status.CONVERGED
            if stop or draft.interrupted:
                return Status.INTERRUPTED
            if self.clock.ends and self.clock.left < seconds:
                return Status.TIME_BUDGET
            self.point, t = self._moved(after, cross)
            still = still + 1 if t == 0.0 else 0
            if still >= STALLED:
                return Status.STALLED
            half = max(LEAST * self.options.tol, WIDER * gap) if t == 1.0 and not draft.moved else np.inf
        return Status.ITERATION_LIMIT

    # -- the first function

    def _first(self) -> Point:
        """Of a sample alone."""
        left, right = self._sample()
        y = self.everyone.labels(left, right)
        shares = self._shares(y, (0, 0))
        lower, upper = self.everyone.bounds(y)
        problem = Problem(y, lower / shares, upper / shares, total=0.0)
        found = self.listed(left, right, problem, 0.2 * self.clock.left if self.clock.ends else None)
        if found.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        scored = self._scored(self.everyone.form(left, right, found.coefficients))
        return Point(scored, found.bias, float(found.coefficients @ scored.values(left, right)))

    def _sample(self) -> tuple[Ints, Ints]:
        """Pairs by chance; all of those in one class where these are few."""
        everyone, count = self.everyone, min(SAMPLE, self.options.most // 2)
        left, right = everyone.sample(count, self.rng)
        if 0 < everyone.n_same <= count // 2:
            apart, alike = everyone.labels(left, right) < 0, everyone.alike()
            left, right = np.concatenate([left[apart], alike[0]]), np.concatenate([right[apart], alike[1]])
        return left, right

    def _shares(self, y: Floats, others: tuple[int, int]) -> Floats:
        """Of how many pairs each of a sample with these labels stands for one, as a share, (n,).

        `others` are the numbers of pairs in one class and in two that it was not drawn from.
        """
        same, different = self.everyone.n_same - others[0], len(self.everyone) - self.everyone.n_same - others[1]
        return np.where(y > 0, (y > 0).sum() / max(1, same), (y < 0).sum() / max(1, different))

    def _scored(self, form: PairForm) -> Scored:
        return Scored(self.everyone.Z, form)

    def _widest(self, point: Point) -> float:
        """Half of the margin that as many pairs are in as may be listed."""
        share = 0.8 * self.options.most / len(self.everyone)
        if share >= 1.0:
            return np.inf
        left, right = self.everyone.sample(PROBED, self.rng)
        rates = self.everyone.rates(point.scored, point.bias, left, right)
        return float(np.quantile(np.abs(rates), share))

    # -- a round

    def _drafted(self, half: float) -> Draft | None:
        """All pairs assigned, and those listed solved for; with more near ones where these cannot keep Σθ.

        None where that would take more of them than may be listed.
        """
        assert self.point is not None
        while True:
            assignment = self.everyone.assigned(self.point.scored, self.point.bias, half)
            draft = self._draft(self.point, assignment)
            total = draft.problem.total or 0.0
            if draft.problem.lower.sum() <= total <= draft.problem.upper.sum():
                break
            if len(assignment.left) > self.options.most:
                return None
            half *= 1.5
        seconds = 0.5 * self.clock.left if self.clock.ends else None
        return replace(draft, found=self.listed(draft.left, draft.right, draft.problem, seconds))

    def _draft(self, point: Point, assignment: Assignment) -> Draft:
        everyone, near = self.everyone, len(assignment.left)
        same = int((everyone.labels(assignment.left, assignment.right) > 0).sum())
        left, right = self._sample()
        rates = everyone.rates(point.scored, point.bias, left, right)
        far = np.abs(rates) > assignment.half
        left, right, rates = left[far], right[far], rates[far]
        y = everyone.labels(left, right)
        shares, (lower, upper) = self._shares(y, (same, near - same)), everyone.bounds(y)
        begin = np.where(rates > 0, upper, lower) / shares
        fixed = assignment.far + everyone.form(left, right, -begin)
        left, right = np.concatenate([assignment.left, left]), np.concatenate([assignment.right, right])
        y, scale = everyone.labels(left, right), np.concatenate([np.ones(near), 1.0 / shares])
        lower, upper = everyone.bounds(y)
        linear = y - self._scored(fixed).values(left, right)
        total = float(begin.sum()) - assignment.total
        problem = Problem(linear, scale * lower, scale * upper, total=total)
        return Draft(assignment, left, right, begin, fixed, problem)

    def _round(self, draft: Draft) -> tuple[Point, float, float, bool]:
        """Judge a draft: (the new function, its product with the old one, gap, whether the user wants to stop)."""
        assert draft.found is not None
        assignment, theta = draft.assignment, draft.found.coefficients
        scored = self._scored(draft.fixed + self.everyone.form(draft.left, draft.right, theta))
        near = len(assignment.left)
        certificate, (own, cross, support) = self._judged(scored, assignment, theta[:near])
        change, extra = theta[near:] - draft.begin, (draft.left[near:], draft.right[near:])
        own, cross = own + change @ scored.values(*extra), cross + change @ assignment.scored.values(*extra)
        gap = kkt_gap(certificate.up, certificate.low, True)
        step = Progress(len(self.history), gap, certificate.objective, int(support), near, self.clock.seconds)
        self.history.append(step)
        bias = certificate.bias if certificate.n_free else draft.found.bias
        if not draft.moved and (self.best is None or gap < self.best.gap):
            found = scored.form, bias, Status.STALLED, gap, certificate.objective, int(support)
            self.best = Outcome(*found, assignment.left, assignment.right, ())
        stop = bool(self.callback(step)) if self.callback is not None else False
        return Point(scored, draft.found.bias, float(own)), float(cross), gap, stop

    def _judged(self, scored: Scored, assignment: Assignment, theta: Floats) -> tuple[Certificate, Floats]:
        """Of all pairs: the certificate, and (Σθg, Σθg before, support pairs)."""
        everyone, (left, right) = self.everyone, (assignment.left, assignment.right)
        y, g = everyone.labels(left, right), scored.values(left, right)
        near = Certificate.of(Problem(y, *everyone.bounds(y), total=0.0), slice(None), theta, g)
        sums = np.array([theta @ g, theta @ assignment.scored.values(left, right), np.count_nonzero(theta)])
        far, rest = everyone.judged(scored, assignment)
        return far.joined(near), sums + rest

    def _moved(self, new: Point, cross: float) -> tuple[Point, float]:
        """Towards the new function, as far as the primal objective falls; and how far that was."""
        old = self.point
        assert old is not None
        steps = np.concatenate([[0.0], STEPS])
        squares = (1 - steps) ** 2 * old.square + 2 * steps * (1 - steps) * cross + steps**2 * new.square
        values = 0.5 * squares + self.everyone.losses(old.scored, new.scored, (old.bias, new.bias), steps)
        best = int(np.argmin(values))
        t = float(steps[best])
        bias = (1 - t) * old.bias + t * new.bias
        return Point(old.scored.towards(new.scored, t), bias, float(squares[best])), t
