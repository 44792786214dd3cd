"""The box of a working-set problem, with the kink of ε|x| at 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.operators.base import rates
from pairlearn.types import Bools, Floats


@dataclass(frozen=True)
class Box:
    """l ≤ x ≤ u and ε|x|."""

    lower: Floats
    upper: Floats
    eps: float

    def piece(self, positive: Bools) -> tuple[Floats, Floats, Floats]:
        """(floor, ceiling, derivative of ε|x|) of the positive or the negative piece of each coefficient."""
        if self.eps == 0:
            return self.lower, self.upper, np.zeros(len(positive))
        floor = np.where(positive, np.maximum(self.lower, 0.0), self.lower)
        ceiling = np.where(positive, self.upper, np.minimum(self.upper, 0.0))
        return floor, ceiling, np.where(positive, self.eps, -self.eps)

    def interior(self, x: Floats) -> Bools:
        """Mask of the coefficients strictly inside a piece."""
        inside = (x > self.lower) & (x < self.upper)
        return inside & (x != 0) if self.eps > 0 else inside

    def rates(self, x: Floats, v: Floats) -> tuple[Floats, Floats]:
        """(up, low): descent rates of raising and lowering, ∓inf where a bound forbids it."""
        return rates(x, self.lower, self.upper, v, self.eps)

    def bias(self, x: Floats, v: Floats) -> float:
        """Middle of the interval between the largest up and the smallest low rate."""
        up, low = self.rates(x, v)
        ends = [end for end in (up.max(), low.min()) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0

    def gap(self, x: Floats, v: Floats, constrained: bool) -> float:
        """KKT gap on the working set."""
        up, low = self.rates(x, v)
        high, deep = float(up.max()), float(low.min())
        return max(0.0, high - deep) if constrained else max(0.0, high, -deep)
