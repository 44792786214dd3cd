"""When a fit has come as far as it can be taken."""

from __future__ import annotations

import numpy as np

from pairlearn.solvers.problem import Status

FALLEN = 0.9
"""A gap below this share of the lowest one so far has moved; what rounding does to it is a walk up and down."""
LEAST = 0.1
"""Least share of a step that one counts: with sets of a thousandth of all pairs no fit would ever stand still."""
GAINED = 1e-3
"""An objective that fell by this share of its size has moved."""


class Stagnation:
    """Counts steps in a row without a lower gap: than one that rounding alone can explain, or than any.

    >>> watch = Stagnation(patience=2, stalled=9)
    >>> [watch.ends(gap, -1.0, 1.0) for gap in (0.9, 0.5, 0.5, 0.4, 0.4, 0.4)][-2:]
    [None, <Status.ROUNDING: 'rounding'>]
    """

    def __init__(self, patience: int, stalled: int) -> None:
        self.patience, self.stalled = patience, stalled
        self.lowest, self.objective = np.inf, np.inf
        self.steps = 0
        """Steps within rounding since the gap fell."""
        self.still = 0.0
        """Steps since the gap or the objective fell."""

    def ends(self, gap: float, objective: float, rounding: float, share: float = 1.0) -> Status | None:
        """Note one more step; a status if it is time to end. What moves starts the count anew.

        `share` is how much of a step it is, as it changes some of the coefficients only.
        """
        falls = gap < FALLEN * self.lowest
        gains = objective < self.objective - GAINED * abs(objective)
        self.lowest = min(self.lowest, gap)
        self.objective = objective if gains or falls else self.objective
        self.still = 0.0 if falls or gains else self.still + max(share, LEAST)
        self.steps = 0 if falls or self.lowest > rounding else self.steps + 1
        if self.steps >= self.patience:
            return Status.ROUNDING
        return Status.STALLED if self.still >= self.stalled else None
