"""The passes of plain SMO over all pairs, compiled."""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.smo import TINY, _low, _up
from pairlearn.types import Floats


@nb.njit(cache=True)
def advance(
    v: Floats, change: Floats, length: float, theta: Floats, lower: Floats, upper: Floats, eps: float
) -> tuple[int, float, int, float]:
    """v −= length · change; then who may rise fastest and who may fall fastest, with their rates."""
    i, j, best_up, least_low = -1, -1, -np.inf, np.inf
    for k in range(len(v)):
        value = v[k] - length * change[k]
        v[k] = value
        rate = _up(theta[k], upper[k], value, eps)
        if rate > best_up:
            i, best_up = k, rate
        rate = _low(theta[k], lower[k], value, eps)
        if rate < least_low:
            j, least_low = k, rate
    return i, best_up, j, least_low


@nb.njit(cache=True)
def partner(
    v: Floats, row: Floats, diagonal: Floats, i: int, best_up: float, theta: Floats, lower: Floats, eps: float
) -> int:
    """The pair whose lowering, with the raising of i, gains most to second order."""
    j, best_gain = -1, 0.0
    for k in range(len(v)):
        rate = _low(theta[k], lower[k], v[k], eps)
        if rate < best_up:
            curvature = max(diagonal[i] + diagonal[k] - 2.0 * row[k], TINY)
            gain = (best_up - rate) * (best_up - rate) / curvature
            if gain > best_gain:
                j, best_gain = k, gain
    return j
