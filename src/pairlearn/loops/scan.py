"""One pass over all pairs: extremes of the descent rates, and who comes near them."""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.smo import _low, _up
from pairlearn.types import Floats


@nb.njit(cache=True)
def extremes(theta: Floats, lower: Floats, upper: Floats, v: Floats, eps: float) -> tuple[float, float]:
    """(max up, min low) over all pairs."""
    highest, lowest = -np.inf, np.inf
    for k in range(len(v)):
        highest = max(highest, _up(theta[k], upper[k], v[k], eps))
        lowest = min(lowest, _low(theta[k], lower[k], v[k], eps))
    return highest, lowest


@nb.njit(cache=True, parallel=True)
def rates(theta: Floats, lower: Floats, upper: Floats, v: Floats, eps: float, up: Floats, low: Floats) -> None:
    """up_i and −low_i of every pair (−inf where a bound forbids the move), as float32 keys for selection."""
    for k in nb.prange(len(v)):
        up[k] = _up(theta[k], upper[k], v[k], eps)
        low[k] = -_low(theta[k], lower[k], v[k], eps)
