"""The passes of plain SMO over all pairs, compiled; rows of the Gram matrix come from outside.

`up` and `low` are the descent rates of raising and lowering every coefficient, `highest` and `lowest` their extremes
chunk by chunk, as in `loops.smo`.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.smo import (
    CHUNK,
    TINY,
    _ceiling,
    _floor,
    _gains,
    _move,
    _residual,
    _set_rates,
    _where_gain,
    _where_up,
    exchange,
)
from pairlearn.types import Floats

__all__ = ["exchange", "extremes", "partner", "residual", "set_up", "shift"]


@nb.njit(cache=True)
def set_up(v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float) -> tuple[Floats, Floats, Floats, Floats]:
    """(up, low, highest, lowest) for the residual v."""
    n = len(v)
    up, low = np.empty(n), np.empty(n)
    for k in range(n):
        _set_rates(k, v[k], theta, lower, upper, eps, up, low)
    n_chunks = (n + CHUNK - 1) // CHUNK
    highest, lowest = np.empty(n_chunks), np.empty(n_chunks)
    _move(up, low, v, v, 0.0, highest, lowest)
    return up, low, highest, lowest


@nb.njit(cache=True)
def residual(theta: Floats, eps: float, up: Floats, low: Floats) -> Floats:
    """v = p − Kθ back from the rates; 0 for a coefficient that cannot move at all."""
    v = np.zeros(len(up))
    for k in range(len(up)):
        if np.isfinite(up[k]) or np.isfinite(low[k]):
            v[k] = _residual(k, theta, eps, up, low)
    return v


@nb.njit(cache=True)
def extremes(up: Floats, low: Floats, highest: Floats, lowest: Floats) -> tuple[int, int]:
    """Who may rise fastest and who may fall fastest; −1 where nobody may."""
    c, d = np.argmax(highest), np.argmin(lowest)
    i = _where_up(up, c, highest[c]) if np.isfinite(highest[c]) else -1
    j = _where_up(low, d, lowest[d]) if np.isfinite(lowest[d]) else -1
    return i, j


@nb.njit(cache=True)
def partner(low: Floats, row: Floats, diagonal: Floats, i: int, best_up: float, gains: Floats, buffer: Floats) -> int:
    """The pair whose lowering, with the raising of i, gains most to second order."""
    _gains(low, row, diagonal, diagonal[i], best_up, gains, buffer)
    return _where_gain(low, row, diagonal, diagonal[i], best_up, np.argmax(gains))


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
    """Move θ_k alone along its descent rate, up to its bound or to the kink at 0."""
    end = _ceiling(theta[k], upper[k], eps) if rate > 0.0 else _floor(theta[k], lower[k], eps)
    length = rate / max(curvature, TINY)
    if abs(length) >= abs(end - theta[k]):
        length = end - theta[k]
    v_k = _residual(k, theta, eps, up, low)
    theta[k] = end if length == end - theta[k] else theta[k] + length
    _set_rates(k, v_k, theta, lower, upper, eps, up, low)
    _move(up, low, row, nothing, length, highest, lowest)
