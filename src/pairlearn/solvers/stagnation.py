"""When a fit has come as far as float64 can take it."""

from __future__ import annotations

import numpy as np

FALLEN = 0.9
"""A gap below this share of the lowest one so far has moved; what rounding does to it is a walk up and down."""


class Stagnation:
    """Counts outer steps in a row at a gap that rounding alone can explain and that does not fall.

    >>> watch = Stagnation(patience=2)
    >>> [watch.ends(gap, rounding=1.0) for gap in (0.9, 0.5, 0.5, 0.4, 0.4, 0.4)]
    [False, False, False, False, False, True]
    """

    def __init__(self, patience: int) -> None:
        self.patience, self.lowest, self.steps = patience, np.inf, 0

    def ends(self, gap: float, rounding: float) -> bool:
        """Note the gap of one more step; whether it is time to end. A gap that moves starts the count anew."""
        moves = gap < FALLEN * self.lowest
        self.lowest = min(self.lowest, gap)
        self.steps = 0 if moves or gap > rounding else self.steps + 1
        return self.steps >= self.patience
