"""The feasible coefficients nearest to any: where every stop of splitting leads."""

from __future__ import annotations

import numpy as np

from pairlearn import loops
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats

ROUNDS = 300
"""Most steps: a bracket from 1 to any size and down again to neighbouring numbers takes fewer."""


def nearest_feasible(t: Floats, problem: Problem, kink: float = 0.0, weight: Floats | float = 1.0) -> Floats:
    """argmin Σ weight·½(θ − t)² + kink·|θ| over the box, and Σθ = total where that is kept, (n,).

    θ = clip(soft(t − μ/weight)) for one number μ, found by Newton's method within a bracket: Σθ falls with μ.

    >>> problem = Problem(np.zeros(3), np.zeros(3), np.ones(3), total=1.5)
    >>> nearest_feasible(np.array([2.0, 0.5, 0.25]), problem).tolist()
    [1.0, 0.375, 0.125]
    """
    theta, sums = np.empty(len(t)), np.empty((2, -(-len(t) // loops.splitting.CHUNK)))
    inverse = np.broadcast_to(1.0 / np.asarray(weight, dtype=np.float64), t.shape)

    def move(mu: float) -> tuple[float, float]:
        loops.splitting.shift(t, inverse, problem.lower, problem.upper, kink, mu, theta, sums)
        return float(sums[0].sum()) - (problem.total or 0.0), float(sums[1].sum())

    excess, slope = move(0.0)
    mu, low, high = 0.0, -np.inf, np.inf
    for _ in range(ROUNDS if problem.constrained else 0):
        if abs(excess) <= 1e-15 * float(np.abs(theta).sum()):
            break
        low, high = (mu, high) if excess > 0 else (low, mu)
        # Where no coefficient is free the sum does not move with μ, and Newton's method has nowhere to go.
        mu = _within(mu + excess / slope if slope > 0 else np.inf, mu, low, high)
        if mu in (low, high):
            break
        excess, slope = move(mu)
    return _mended(theta, problem, kink) if problem.constrained else theta


def _within(wanted: float, mu: float, low: float, high: float) -> float:
    """The wanted place if it is between the two, else one that is; farther and farther without an end."""
    if low < wanted < high and abs(wanted) < 1e300:
        return wanted
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return mu + (1.0 if high == np.inf else -1.0) * max(1.0, abs(mu))


def _mended(theta: Floats, problem: Problem, kink: float) -> Floats:
    """What rounding left of the sum, taken from coefficients that are free and so have room for it."""
    for _ in range(3):
        excess = float(theta.sum()) - (problem.total or 0.0)
        room = theta - problem.lower if excess > 0 else problem.upper - theta
        inside = (theta > problem.lower) & (theta < problem.upper)
        room = np.where(inside & (theta != 0) if kink else inside, room, 0.0)
        total = float(room.sum())
        if excess == 0.0 or total == 0.0:
            break
        theta = np.clip(theta - room * (excess / total), problem.lower, problem.upper)
    return theta
