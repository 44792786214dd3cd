"""The end of every fit: one independent float64 pass over all pairs says how good its coefficients are.

Solvers move their residual along with θ and choose pairs by float32 keys; either may hide a violation (a cap on the
collected violators once passed the solver's own test while the true gap was 1.6). So what a Solution reports comes from
a fresh product Kθ, block by block: nothing of the size of all pairs is held beyond θ and its bounds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.solvers.box import kkt_gap, middle
from pairlearn.solvers.problem import BROKEN_OFF, Problem, Progress, Solution, Status
from pairlearn.solvers.start import feasible, level
from pairlearn.types import Floats

OFF = 1e-8
"""Share of Σ|θ| by which a sum may be off: far more than rounding leaves, far less than any solver may."""
HARDLY = 0.9
"""Share of coefficients from which on all of them are kept: near the optimum the best share is about 1."""


@dataclass(frozen=True)
class Certificate:
    """What one pass over some or all pairs finds: extreme rates, the sum of rates of free pairs, the objective, and the
    extremes of Kθ."""

    up: float = -np.inf
    low: float = np.inf
    free_sum: float = 0.0
    n_free: int = 0
    objective: float = 0.0
    least: float = np.inf
    most: float = -np.inf

    @classmethod
    def of(cls, problem: Problem, part: slice, theta: Floats, product: Floats) -> Certificate:
        """Of the pairs of one block; θ and `product` = (Kθ) are those of the block."""
        box, p = problem.box.take(part), problem.linear[part]
        v = p - product
        if not np.isfinite(v).all():
            # Values that overflow certify nothing, and no comparison with NaN would say so.
            return cls(up=np.inf, low=-np.inf, objective=np.inf)
        (up, low), free = box.rates(theta, v), box.free(theta)
        return cls(
            up=float(up.max(initial=-np.inf)),
            low=float(low.min(initial=np.inf)),
            free_sum=float(up[free].sum()),
            n_free=int(free.sum()),
            objective=box.objective(theta, p, v),
            least=float(product.min(initial=np.inf)),
            most=float(product.max(initial=-np.inf)),
        )

    def joined(self, other: Certificate) -> Certificate:
        """Of both parts together."""
        return Certificate(
            max(self.up, other.up),
            min(self.low, other.low),
            self.free_sum + other.free_sum,
            self.n_free + other.n_free,
            self.objective + other.objective,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    @property
    def bias(self) -> float:
        """Mean rate of the free pairs, all equal at the optimum; the middle of the optimal interval without any."""
        return self.free_sum / self.n_free if self.n_free else middle(self.up, self.low)


def certify(problem: Problem, operator: PairOperator, theta: Floats, v: Floats | None = None) -> Certificate:
    """The certificate of these coefficients; v = p − Kθ is kept where there is an array for it."""
    total = Certificate()
    for start, product in operator.blocks(theta):
        part = slice(start, start + len(product))
        total = total.joined(Certificate.of(problem, part, theta[part], product))
        if v is not None:
            np.subtract(problem.linear[part], product, out=v[part])
    return total


def usable_bias(problem: Problem, v: Floats, found: Certificate) -> float:
    """The bias with the least loss: far from the optimum free pairs tell nothing of it.

    Letters, 245,350 pairs of which one in 24 is positive, stopped after a second: by free pairs the loss was 13 times
    that of a constant.
    """
    b, place = level(v, problem.lower, problem.upper, problem.epsilon, problem.total or 0.0)
    return found.bias if place is None else b


def best_share(problem: Problem, theta: Floats, objective: float) -> tuple[float, float]:
    """(t in 0 … 1, least objective ½t²θᵀKθ − t(pᵀθ − ε|θ|₁) there); t = 1 where 0 is no solution, or hardly better.

    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(2 * y, 0.0), np.maximum(2 * y, 0.0))
    >>> best_share(problem, 2 * y, 0.5 * 16 - 4)
    (0.25, -0.5)
    """
    if problem.total or (problem.lower > 0).any() or (problem.upper < 0).any():
        return 1.0, objective
    linear = float(problem.linear @ theta - problem.epsilon * np.abs(theta).sum())
    square = 2.0 * (objective + linear)
    share = max(0.0, linear / square) if square > 0 else 1.0
    if share >= HARDLY:
        return 1.0, objective
    return share, 0.5 * share**2 * square - share * linear


def no_worse(found: Solution, problem: Problem, operator: PairOperator, known: Floats | None, tol: float) -> Solution:
    """The solution or, where it was broken off before it was as good, these feasible coefficients."""
    if known is None or found.status not in BROKEN_OFF:
        return found
    other = finish(problem, operator, known, found.status, tol, found.history)
    return found if found.objective <= other.objective else replace(other, path=found.path, taken=found.taken)


def finish(
    problem: Problem, operator: PairOperator, theta: Floats, status: Status, tol: float, history: tuple[Progress, ...]
) -> Solution:
    """The solution with its certificate.

    Convergence is what it says, not what a solver claims: one that claims it without was led astray by rounding, and
    one that ran out of time may have been there already. A solver that was broken off may hold coefficients that are
    far too large; the best share of them is kept, which is never worse than none, with the bias of the least loss.
    """
    began = time.perf_counter()
    if problem.total is not None and abs(float(theta.sum()) - problem.total) > OFF * float(np.abs(theta).sum()):
        theta = feasible(theta, problem)  # no gap says anything of a sum that is not kept
    v = None if status is Status.CONVERGED or problem.total is None else np.empty(len(problem))
    try:
        found = certify(problem, operator, theta, v)
    except KeyboardInterrupt:
        # The coefficients are worth the seconds that their certificate takes; a second interrupt is obeyed.
        status, found = Status.INTERRUPTED, certify(problem, operator, theta, v)
    gap = kkt_gap(found.up, found.low, problem.constrained)
    share = 1.0 if gap <= tol else best_share(problem, theta, found.objective)[0]
    if share < 1.0:
        theta = share * theta
        found = certify(problem, operator, theta, v)
        gap = kkt_gap(found.up, found.low, problem.constrained)
    if gap <= tol:
        status = Status.INTERRUPTED if status is Status.INTERRUPTED else Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.ROUNDING
    bias = found.bias if problem.constrained else 0.0
    if v is not None and tol < gap < np.inf:
        bias = usable_bias(problem, v, found)
    seconds = time.perf_counter() - began
    # Without a bias a function is told from 0: a ranker that gives 1 to every winner gives −1 to every loser.
    spread = found.most - found.least if problem.constrained else 2.0 * max(found.most, -found.least)
    return Solution(theta, bias, status, gap, found.objective, history, seconds, spread=spread)
