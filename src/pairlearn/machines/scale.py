"""The scale of targets: regression is solved in units of their spread, whatever they are measured in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.types import Floats

SAME = 1e-12
"""A spread below this share of the largest target is rounding: all targets are equal."""


@dataclass(frozen=True)
class Scale:
    """targets = centre + size · standard targets.

    >>> scale = Scale.of(np.array([10.0, 30.0]), np.ones(2), biased=True)
    >>> scale, scale.standard(np.array([10.0, 30.0])).tolist()
    (Scale(centre=20.0, size=10.0), [-1.0, 1.0])
    """

    centre: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, targets: Floats, weights: Floats, *, biased: bool) -> Scale:
        """Weighted mean and standard deviation; without a bias the root mean square about 0.

        An antisymmetric function has both y and −y, whose mean is 0. The size of equal targets is their own.
        """
        if not weights.any():
            return cls()
        y, share = targets[weights > 0], weights[weights > 0] / weights.max()
        centre = float(np.average(y, weights=share)) if biased else 0.0
        off = np.abs(y - centre)
        largest, size = float(np.abs(y).max()), float(off.max())
        if size <= SAME * largest:
            return cls(centre, largest or 1.0)
        return cls(centre, size * float(np.sqrt(np.average((off / size) ** 2, weights=share))))

    def standard(self, targets: Floats) -> Floats:
        """(targets − centre) / size."""
        return (targets - self.centre) / self.size
