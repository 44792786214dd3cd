"""Feasible coefficients to start from."""

from __future__ import annotations

import numpy as np

from pairlearn.solvers.problem import Problem
from pairlearn.types import Bools, Floats


def feasible(theta: Floats, problem: Problem) -> Floats:
    """Clip into the box; with a total, mend the sum on as few coefficients as possible.

    Those that move towards zero come first, free ones before bounded ones; then all others in a mixed order, so that
    no example gets more than its share.
    """
    theta = np.clip(theta, problem.lower, problem.upper)
    if problem.total is None:
        return theta
    excess, size = float(theta.sum()) - problem.total, float(np.abs(theta).sum()) + abs(problem.total)
    if _is_rounding(excess, size):
        return theta
    rng, down = np.random.default_rng(0), excess > 0
    shrinks = theta > 0 if down else theta < 0
    free = (theta > problem.lower) & (theta < problem.upper)
    # Towards zero means up to zero: what lies beyond counts as a new coefficient.
    for group, to_zero in ((shrinks & free, True), (shrinks, True), (~shrinks & free, False), (None, False)):
        order = rng.permutation(len(theta) if group is None else np.nonzero(group)[0])
        room = theta[order] - problem.lower[order] if down else problem.upper[order] - theta[order]
        if to_zero:
            np.minimum(room, np.abs(theta[order]), out=room)
        moved = np.clip(abs(excess) - (np.cumsum(room) - room), 0.0, room)
        theta[order] -= np.copysign(moved, excess)
        excess -= np.copysign(float(moved.sum()), excess)
        if _is_rounding(excess, size):
            break
    return np.clip(theta, problem.lower, problem.upper)


def _is_rounding(excess: float, size: float) -> bool:
    """Whether a sum is off by rounding only, which is no excess: it would only take coefficients off their bounds."""
    return abs(excess) <= 1e-12 * size


def at_bounds(problem: Problem, v: Floats, known: Bools, theta: Floats) -> Floats:
    """Every pair where its residual v = p − g puts it: at a bound, or at 0; those that are `known` at θ.

    With a bias b the best coefficient is u where v − ε > b, l where v + ε < b, else 0. Σθ falls as b rises, so one
    sort of the places where pairs change finds the b that keeps the total, and a single pair ends inside its box.

    >>> y = np.array([1.0, 1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    >>> at_bounds(problem, np.array([0.5, -3.0, -0.5]), np.zeros(3, dtype=bool), np.zeros(3)).tolist()
    [1.0, 0.0, -1.0]
    """
    low, high, eps = problem.lower, problem.upper, problem.epsilon
    out = np.where(known, theta, np.where(v > eps, high, np.where(v < -eps, low, np.clip(0.0, low, high))))
    if problem.total is None:
        return out
    others = np.nonzero(~known)[0]
    wanted = problem.total - float(theta[known].sum())
    b, place = level(v[others], low[others], high[others], eps, wanted)
    if place is None:
        return feasible(np.where(known, theta, high if b == -np.inf else low), problem)
    between = others[place]
    out[others] = np.where(v[others] - eps > b, high[others], np.where(v[others] + eps < b, low[others], 0.0))
    out = np.clip(out, low, high)
    out[between] += problem.total - float(out.sum())
    return feasible(out, problem)


def level(v: Floats, low: Floats, high: Floats, eps: float, total: float) -> tuple[float, int | None]:
    """(b, i): the bias for which the best coefficients have this sum, and the pair that changes there.

    It is also the one for which the loss of a function with residuals v is least. ∓∞ and no pair where the sum is too
    large or too small for any.

    >>> level(np.array([3.0, 1.0, -1.0, -1.5]), np.array([0.0, 0, -1, -1]), np.array([1.0, 1, 0, 0]), 0.0, 0.0)
    (-1.0, 2)
    """
    places, drops = _changes(v, low, high, eps)
    order = np.argsort(places, kind="stable")
    begin = float(high.sum())
    after = begin - np.cumsum(drops[order])
    last = int(np.searchsorted(-after, -total))  # the first change after which the sum is not too large
    if begin < total or last == len(order):
        return (-np.inf if begin < total else np.inf), None
    return float(places[order[last]]), int(order[last] % len(v))


def _changes(v: Floats, low: Floats, high: Floats, eps: float) -> tuple[Floats, Floats]:
    """(b, drop): where the best coefficient drops as b rises, and by how much."""
    if eps == 0.0:
        return v, high - low
    return np.concatenate([v - eps, v + eps]), np.concatenate([high, -low])
