"""What makes coefficients optimal: the one definition of rates, gap, bias and objective.

For min ½xᵀQx − pᵀx + ε‖x‖₁ over l ≤ x ≤ u everything follows from the residual v = p − Qx:

    up_i  = v_i − ε·[x_i ≥ 0] + ε·[x_i < 0]   (−inf at x_i = u_i)    gain per unit of raising x_i
    low_i = v_i − ε·[x_i > 0] + ε·[x_i ≤ 0]   (+inf at x_i = l_i)    loss per unit of lowering x_i

x is optimal when no move gains: max up ≤ 0 ≤ min low, or, when Σx is kept and moves come in couples, max up ≤ min low.
The gap is what is lacking: LIBSVM's largest violation. Every solver, every inner method and the certificate use this
file; `loops.rates` and `loops.smo` hold the compiled twins of what is hot, and the tests hold them against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn import loops
from pairlearn.types import Bools, Floats, Ints


def kkt_gap(up: float, low: float, constrained: bool) -> float:
    """The gap from the largest up and the smallest low rate; `constrained` says that Σx is kept.

    >>> kkt_gap(0.5, 0.25, True), kkt_gap(0.5, 0.25, False), kkt_gap(-1.0, 1.0, False)
    (0.25, 0.5, 0.0)
    """
    return max(0.0, up - low) if constrained else max(0.0, up, -low)


def middle(up: float, low: float) -> float:
    """A bias where no coefficient is free: the middle of the interval of optimal ones, or its one finite end."""
    ends = [end for end in (up, low) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0


@dataclass(frozen=True)
class Box:
    """l ≤ x ≤ u and the term ε‖x‖₁; `lower` and `upper` are (n,), and l ≤ 0 ≤ u where ε > 0.

    >>> import numpy as np
    >>> box = Box(np.zeros(2), np.ones(2), 0.0)
    >>> x, v = np.array([0.0, 1.0]), np.array([0.5, -0.25])
    >>> [rate.tolist() for rate in box.rates(x, v)]
    [[0.5, -inf], [inf, -0.25]]
    >>> box.gap(x, v, True)
    0.75
    """

    lower: Floats
    upper: Floats
    eps: float

    def take(self, index: Ints | slice) -> Box:
        """The box of these coefficients."""
        return Box(self.lower[index], self.upper[index], self.eps)

    def most_bounded(self, total: float) -> float:
        """About the most coefficients that can be at their bounds where Σx is kept: one side cannot outweigh the other.

        >>> Box(np.array([0.0, -1.0, -1.0, -1.0]), np.array([1.0, 0.0, 0.0, 0.0]), 0.0).most_bounded(0.0)
        2.0
        """
        above, below = np.maximum(self.upper, 0.0), np.maximum(-self.lower, 0.0)
        most = min(above.sum(), below.sum() + total), min(below.sum(), above.sum() - total)
        sides = zip((above, below), most, strict=True)
        return float(sum(mass / box.sum() * np.count_nonzero(box) for box, mass in sides if box.any()))

    def rates(self, x: Floats, v: Floats) -> tuple[Floats, Floats]:
        """(up, low) of every coefficient, (n,) each."""
        up = np.where(x < self.upper, v - np.where(x >= 0, self.eps, -self.eps), -np.inf)
        low = np.where(x > self.lower, v - np.where(x > 0, self.eps, -self.eps), np.inf)
        return up, low

    def extremes(self, x: Floats, v: Floats) -> tuple[float, float]:
        """(max up, min low) in one compiled pass without an array in between."""
        return loops.rates.extremes(x, self.lower, self.upper, v, self.eps)

    def gap(self, x: Floats, v: Floats, constrained: bool) -> float:
        """The gap at x with the residual v."""
        return kkt_gap(*self.extremes(x, v), constrained)

    def objective(self, x: Floats, p: Floats, v: Floats) -> float:
        """½xᵀQx − pᵀx + ε‖x‖₁ = −½xᵀ(p + v) + ε‖x‖₁, without another product with Q."""
        return -0.5 * float(x @ (p + v)) + self.eps * float(np.abs(x).sum())

    def free(self, x: Floats) -> Bools:
        """Mask of the coefficients strictly inside the box, and off the kink of ε|x| at 0: up = low there."""
        inside = (x > self.lower) & (x < self.upper)
        return inside & (x != 0) if self.eps > 0 else inside

    def bounded(self, x: Floats) -> Bools:
        """Mask of the coefficients other than 0 that are at a bound."""
        return (x != 0) & ((x == self.lower) | (x == self.upper))

    def pieces(self, positive: Bools) -> tuple[Floats, Floats, Floats]:
        """(floor, ceiling, slope of ε|x|) of the positive or the negative piece of each coefficient, (n,) each.

        The kink cuts the box in two pieces, on each of which the objective is quadratic; without ε there is one.
        """
        if self.eps == 0:
            return self.lower, self.upper, np.zeros(len(positive))
        floor = np.where(positive, np.maximum(self.lower, 0.0), self.lower)
        ceiling = np.where(positive, self.upper, np.minimum(self.upper, 0.0))
        return floor, ceiling, np.where(positive, self.eps, -self.eps)


def behind_margin(half: float) -> float:
    """How far behind the margin ramps of this half width are centred.

    Wide ones begin at the margin and so leave pairs beyond it alone, or a class of many pairs would push the bias far
    away from one of few; narrow ones have it in their middle, as steps have.

    >>> behind_margin(2.0), behind_margin(0.1) < 0.02
    (2.0, True)
    """
    return half * min(1.0, half)
