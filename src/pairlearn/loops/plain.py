"""The passes of plain SMO over all pairs, compiled; rows of the Gram matrix come from outside.

The same steps as in `loops.smo`, one call each, because the rows of K that a step needs are computed or cached between
them. `up`, `low`, `highest` and `lowest` are the state that `loops.steps` describes.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.steps import (
    CHUNK,
    exchange,
    fill_gains,
    find,
    find_gain,
    move_rates,
    residual_of,
    set_rates,
    single_step,
)
from pairlearn.types import Floats

__all__ = ["CHUNK", "exchange", "partner", "residual", "set_up", "shift", "steepest"]


@nb.njit(cache=True)
def set_up(v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float) -> tuple[Floats, Floats, Floats, Floats]:
    """(up, low, highest, lowest) for the residual v, (n,) and (n_chunks,)."""
    n = len(v)
    up, low = np.empty(n), np.empty(n)
    for k in range(n):
        set_rates(k, v[k], theta, lower, upper, eps, up, low)
    n_chunks = (n + CHUNK - 1) // CHUNK
    highest, lowest = np.empty(n_chunks), np.empty(n_chunks)
    move_rates(up, low, v, v, 0.0, highest, lowest)
    return up, low, highest, lowest


@nb.njit(cache=True)
def residual(theta: Floats, eps: float, up: Floats, low: Floats) -> Floats:
    """v = p − Kθ back from the rates; 0 for a coefficient that cannot move at all."""
    v = np.zeros(len(up))
    for k in range(len(up)):
        if np.isfinite(up[k]) or np.isfinite(low[k]):
            v[k] = residual_of(k, theta, eps, up, low)
    return v


@nb.njit(cache=True)
def steepest(up: Floats, low: Floats, highest: Floats, lowest: Floats) -> tuple[int, int]:
    """Which coefficient may rise fastest and which may fall fastest; −1 where none may."""
    c, d = np.argmax(highest), np.argmin(lowest)
    i = find(up, c, highest[c]) if np.isfinite(highest[c]) else -1
    j = find(low, d, lowest[d]) if np.isfinite(lowest[d]) else -1
    return i, j


@nb.njit(cache=True)
def partner(low: Floats, row: Floats, diagonal: Floats, i: int, best_up: float, gains: Floats, buffer: Floats) -> int:
    """The pair whose lowering, with the raising of i, gains most to second order."""
    fill_gains(low, row, diagonal, diagonal[i], best_up, gains, buffer)
    return find_gain(low, row, diagonal, diagonal[i], best_up, np.argmax(gains))


@nb.njit(cache=True)
def shift(
    k: int,
    rate: float,
    row: Floats,
    nothing: Floats,
    curvature: float,
    theta: Floats,
    lower: Floats,
    upper: Floats,
    eps: float,
    up: Floats,
    low: Floats,
    highest: Floats,
    lowest: Floats,
) -> None:
    """Move θ_k alone along its descent rate, up to its bound or to the kink at 0; `nothing` is a row of zeros."""
    v_k = residual_of(k, theta, eps, up, low)
    length, theta[k] = single_step(theta[k], lower[k], upper[k], eps, rate, curvature)
    set_rates(k, v_k, theta, lower, upper, eps, up, low)
    move_rates(up, low, row, nothing, length, highest, lowest)
