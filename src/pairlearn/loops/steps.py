"""One step of SMO: a couple of coefficients moves, and all rates with it.

`up` and `low` hold the rates of all n coefficients (see `loops.rates`), `highest` and `lowest` their extremes chunk by
chunk. Every pass is a plain loop over one chunk, which the compiler can vectorise: it moves the rates and finds the
extremes of the chunk while it is in the cache. Which coefficient an extreme belongs to is not kept, because an index
beside the value would keep the loop scalar; afterwards only the best chunk is searched for it.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.rates import ceiling, floor, low_rate, up_rate
from pairlearn.types import Floats

TINY = 1e-12
"""Least curvature of a step: repeated pairs and zero rows have none, and their step then ends at a bound."""
CHUNK = 512
"""Coefficients per chunk: five arrays of them, 20 KB, stay in the first cache."""
NO_NAN = {"nnan", "nsz", "contract", "reassoc"}
"""Rates may be infinite but never undefined: NaN alone is ruled out."""


@nb.njit(cache=True)
def largest(x):  # type: ignore[no-untyped-def]
    """max x with four independent chains: one chain would wait for each comparison."""
    a = b = c = d = -np.inf
    whole = len(x) // 4
    for k in range(whole):
        p, q, r, s = x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]
        a = p if p > a else a
        b = q if q > b else b
        c = r if r > c else c
        d = s if s > d else d
    for k in range(4 * whole, len(x)):
        a = x[k] if x[k] > a else a
    return max(max(a, b), max(c, d))


@nb.njit(cache=True)
def smallest(x):  # type: ignore[no-untyped-def]
    """min x, the same way."""
    a = b = c = d = np.inf
    whole = len(x) // 4
    for k in range(whole):
        p, q, r, s = x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]
        a = p if p < a else a
        b = q if q < b else b
        c = r if r < c else c
        d = s if s < d else d
    for k in range(4 * whole, len(x)):
        a = x[k] if x[k] < a else a
    return min(min(a, b), min(c, d))


@nb.njit(cache=True)
def find(x, c, value):  # type: ignore[no-untyped-def]
    """The first place of this value in chunk c, −1 if it is not there."""
    for k in range(c * CHUNK, min((c + 1) * CHUNK, len(x))):
        if x[k] == value:
            return k
    return -1


@nb.njit(cache=True, fastmath=NO_NAN)
def _subtract(rises, falls, plus, minus, length):  # type: ignore[no-untyped-def]
    for k in range(len(rises)):
        change = length * (plus[k] - minus[k])
        rises[k] -= change
        falls[k] -= change


@nb.njit(cache=True)
def move_rates(up, low, row, other, length, highest, lowest):  # type: ignore[no-untyped-def]
    """Subtract length · (row − other) from both rates; extremes of every chunk."""
    for c in range(len(highest)):
        first, last = c * CHUNK, min((c + 1) * CHUNK, len(up))
        rises, falls = up[first:last], low[first:last]
        _subtract(rises, falls, row[first:last], other[first:last], length)
        highest[c] = largest(rises)
        lowest[c] = smallest(falls)


@nb.njit(cache=True)
def set_rates(k, value, theta, lower, upper, eps, up, low):  # type: ignore[no-untyped-def]
    """Rates of coefficient k from v_k = value."""
    up[k] = up_rate(theta[k], upper[k], value, eps)
    low[k] = low_rate(theta[k], lower[k], value, eps)


@nb.njit(cache=True)
def residual_of(k, theta, eps, up, low):  # type: ignore[no-untyped-def]
    """v_k back from whichever of its rates is finite."""
    if np.isfinite(up[k]):
        return up[k] + eps if theta[k] >= 0.0 else up[k] - eps
    return low[k] + eps if theta[k] > 0.0 else low[k] - eps


@nb.njit(cache=True, fastmath=NO_NAN)
def _fill_gains(falls, cross, own, q_ii, best_up, out):  # type: ignore[no-untyped-def]
    for k in range(len(falls)):
        drop = best_up - falls[k]
        drop = drop if drop > 0.0 else 0.0
        curvature = q_ii + own[k] - 2.0 * cross[k]
        curvature = curvature if curvature > TINY else TINY
        out[k] = drop * drop / curvature


@nb.njit(cache=True)
def fill_gains(low, row, diagonal, q_ii, best_up, gains, buffer):  # type: ignore[no-untyped-def]
    """Largest second-order gain (up_i − low_j)² / (Q_ii + Q_jj − 2Q_ij) of every chunk of partners j."""
    for c in range(len(gains)):
        first, last = c * CHUNK, min((c + 1) * CHUNK, len(low))
        out = buffer[: last - first]
        _fill_gains(low[first:last], row[first:last], diagonal[first:last], q_ii, best_up, out)
        gains[c] = largest(out)


@nb.njit(cache=True)
def find_gain(low, row, diagonal, q_ii, best_up, c):  # type: ignore[no-untyped-def]
    """The partner with the largest gain in chunk c, −1 where nothing gains."""
    j, best = -1, 0.0
    for k in range(c * CHUNK, min((c + 1) * CHUNK, len(low))):
        drop = best_up - low[k]
        if drop > 0.0:
            gain = drop * drop / max(q_ii + diagonal[k] - 2.0 * row[k], TINY)
            if gain > best:
                j, best = k, gain
    return j


@nb.njit(cache=True, inline="always")
def single_step(theta, lower, upper, eps, rate, curvature):  # type: ignore[no-untyped-def]
    """(length, new θ) of the best step of one coefficient along its rate, up to its bound or to the kink at 0."""
    end = ceiling(theta, upper, eps) if rate > 0.0 else floor(theta, lower, eps)
    length = rate / max(curvature, TINY)
    if abs(length) >= abs(end - theta):
        return end - theta, end
    return length, theta + length


@nb.njit(cache=True)
def exchange(
    i: int,
    j: int,
    row: Floats,
    other: Floats,
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
    """Raise θ_i and lower θ_j by (up_i − low_j) / curvature, or as far as bounds and kinks allow; Σθ stays.

    `row` and `other` are the rows i and j of Q, `curvature` is Q_ii + Q_jj − 2Q_ij.
    """
    length = (up[i] - low[j]) / max(curvature, TINY)
    top, bottom = ceiling(theta[i], upper[i], eps), floor(theta[j], lower[j], eps)
    room_i, room_j = top - theta[i], theta[j] - bottom
    length = min(length, room_i, room_j)
    v_i, v_j = residual_of(i, theta, eps, up, low), residual_of(j, theta, eps, up, low)
    theta[i] = top if length == room_i else theta[i] + length
    theta[j] = bottom if length == room_j else theta[j] - length
    # Their rates may jump (a bound, the kink), so they are set anew and carried through the pass.
    set_rates(i, v_i, theta, lower, upper, eps, up, low)
    set_rates(j, v_j, theta, lower, upper, eps, up, low)
    move_rates(up, low, row, other, length, highest, lowest)
