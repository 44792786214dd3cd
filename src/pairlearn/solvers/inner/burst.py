"""A burst of SMO: the cheapest method, for as long as few coefficients have to move far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn import loops
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.subproblem import Outcome, Working
from pairlearn.types import Floats, Ints

AT_ONCE, BETWEEN_LOOKS = 5 * 10**8, 5 * 10**7
"""Rates that are moved between two looks at who can move, and between two at the clock if there is an end: as many as
the former take some tenths of a second, and more than one beside other work."""
LEAST, ROUND = 1500, 12
"""Pairs from which on those that cannot move are put aside, and steps per pair between two looks at who can, each of
which copies the matrix of these. 320,400 pairs, sets of 4,000 with 1,300 free ones: 3.3 s in all instead of 4.4."""
IN_PLAY = 0.6
"""Share of the set that can move up to which the others are put aside."""
FALL = 0.1
"""Share of the gap at which the others are looked at again."""


@dataclass(frozen=True)
class Burst:
    """So many steps of second-order SMO per pair of the working set.

    A step costs |W| operations and never raises the objective, so that a burst that fails still leaves a better start
    for the next method. Near separable data with large C it needs hundreds of steps per support pair, hence the limit.
    With `aside` coefficients that no step would choose are put aside for a while, which takes memory for a matrix of
    the others.
    """

    steps: int
    aside: bool = False

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """SOLVED, OUT_OF_TIME, or STUCK when the steps were not enough."""
        left, whole = self.steps * len(sub), not self.aside or len(sub) < LEAST
        while left > 0:
            chosen = None if whole else _in_play(sub)
            most = min(left, _at_once(sub) if chosen is None else ROUND * len(chosen))
            if chosen is None:
                made, gap = _move(sub, sub.Q.store, sub.theta, sub.v, sub.box, tol, most, clock)
                left -= most if made == most else left
            else:
                made, gap = _move_some(sub, chosen, tol, most, clock)
                left, whole = left - made, made == 0  # nothing moves among them
            if gap <= tol:
                return Outcome.SOLVED
            if clock.expired:
                return Outcome.OUT_OF_TIME
        return Outcome.STUCK


def _at_once(sub: Working) -> int:
    """Steps between two looks at who can move."""
    return max(1, min(AT_ONCE // len(sub), ROUND * len(sub)))


def _move(
    sub: Working, Q: Floats, theta: Floats, v: Floats, box: Box, tol: float, most: int, clock: Clock
) -> tuple[int, float]:
    """(steps, gap) of at most so many steps, fewer where time ends; θ and v are changed in place."""
    move = loops.smo.smo_pairs if sub.constrained else loops.smo.smo_single
    piece, made = max(1, BETWEEN_LOOKS // len(v)) if clock.ends else most, 0
    while True:
        some = min(piece, most - made)
        steps, gap = move(Q, v, theta, box.lower, box.upper, box.eps, tol, some)
        made += int(steps)
        if steps < some or made == most or clock.expired:
            return made, float(gap)


def _in_play(sub: Working) -> Ints | None:
    """Places of the coefficients that are free or that a step could choose now; None if these are many."""
    up, low = sub.rates
    top, bottom = (float(up.max()), float(low.min())) if sub.constrained else (0.0, 0.0)
    places = np.nonzero((up > bottom) | (low < top) | sub.box.free(sub.theta))[0]
    return places if 0 < len(places) <= IN_PLAY * len(sub) else None


def _move_some(sub: Working, chosen: Ints, tol: float, most: int, clock: Clock) -> tuple[int, float]:
    """The same with the others put aside, until the gap among these is a share of what it was."""
    Q = sub.Q.view[np.ix_(chosen, chosen)]
    sub.Q.searched = max(sub.Q.searched, Q.nbytes)
    theta, v = sub.theta[chosen], sub.v[chosen]
    made, _ = _move(sub, Q, theta, v, sub.box.take(chosen), max(tol, FALL * sub.gap), most, clock)
    change = np.zeros(len(sub))
    change[chosen] = theta - sub.theta[chosen]
    sub.theta[chosen] = theta
    sub.v[:] -= sub.Q.times(change)
    return made, sub.gap
