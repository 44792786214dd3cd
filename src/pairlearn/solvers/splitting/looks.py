"""Looks of splitting at the gap of all pairs, and how many of them it takes to say that it stands still."""

from __future__ import annotations

import numpy as np

FALLEN = 0.3
"""A gap below this share of what it was when it last fell has fallen."""
PATIENCE = {np.float32: 1, np.float64: 20}
"""Looks without a lower gap before the precision is doubled near the end, and before the solver gives up. Rounding in
float32 lets the acceleration crawl: 320 steps of it to a gap of 1.1e-3, ten in float64 then to 2.4e-4 (MNIST, 319,600
pairs, tensor)."""
FAR = 20
"""Times as many looks before it is doubled far from the end, where what is remembered is worth more than digits: 300
steps with 5, 220 with 20 (3.1 million pairs)."""
DOUBLED = FAR * PATIENCE[np.float32]
"""Looks without a lower gap after which float64 is at work wherever the end is."""


class Looks:
    """Counts looks since the gap fell.

    >>> looks = Looks()
    >>> [looks.note(gap, True) for gap in (0.1, 2.0, 1.0, 0.5)], looks.still
    ([False, True, False, True], 0)
    """

    def __init__(self) -> None:
        self.still, self.mark, self.begun = 0, np.inf, False
        """Looks since it fell, what it was then, and whether there was a look at all."""

    def note(self, gap: float, any_support: bool) -> bool:
        """Note one more look; whether the gap fell.

        The gap of a start is none that the iteration came to, and that of its first steps is often far larger.
        """
        if not self.begun and any_support:
            self.begun = True
            return False
        self.begun, falls = True, gap < FALLEN * self.mark
        self.still, self.mark = (0, gap) if falls else (self.still + 1, self.mark)
        return falls
