"""Sequential minimal optimisation with second-order selection on an explicit matrix, compiled.

v = p − Qθ. `up` holds v − (right derivative of ε|θ|), −inf where θ is at its upper bound; `low` holds
v − (left derivative), +inf where θ is at its lower bound. Optimal when max up ≤ min low (Σθ kept), or when
max up ≤ 0 ≤ min low (no constraint). Every pass is a plain loop over chunks that the compiler can vectorise;
only the best chunk is searched for its index.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.types import Floats

TINY = 1e-12
CHUNK = 512
FAST = {"nnan", "nsz", "contract", "reassoc"}


@nb.njit(cache=True, inline="always")
def _up(theta, upper, v, eps):  # type: ignore[no-untyped-def]
    if theta >= upper:
        return -np.inf
    return v - eps if theta >= 0.0 else v + eps


@nb.njit(cache=True, inline="always")
def _low(theta, lower, v, eps):  # type: ignore[no-untyped-def]
    if theta <= lower:
        return np.inf
    return v - eps if theta > 0.0 else v + eps


@nb.njit(cache=True, inline="always")
def _ceiling(theta, upper, eps):  # type: ignore[no-untyped-def]
    # ε|θ| has a kink at 0: a step ends there.
    return 0.0 if eps > 0.0 and theta < 0.0 else upper


@nb.njit(cache=True, inline="always")
def _floor(theta, lower, eps):  # type: ignore[no-untyped-def]
    return 0.0 if eps > 0.0 and theta > 0.0 else lower


@nb.njit(cache=True)
def _largest(x):  # type: ignore[no-untyped-def]
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
def _smallest(x):  # type: ignore[no-untyped-def]
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


@nb.njit(cache=True, fastmath=FAST)
def _subtract(rises, falls, plus, minus, length):  # type: ignore[no-untyped-def]
    for k in range(len(rises)):
        change = length * (plus[k] - minus[k])
        rises[k] -= change
        falls[k] -= change


@nb.njit(cache=True)
def _move(up, low, row, other, length, highest, lowest):  # type: ignore[no-untyped-def]
    """Subtract length · (row − other) from both rates; extremes of every chunk."""
    for c in range(len(highest)):
        first, last = c * CHUNK, min((c + 1) * CHUNK, len(up))
        rises, falls = up[first:last], low[first:last]
        _subtract(rises, falls, row[first:last], other[first:last], length)
        highest[c] = _largest(rises)
        lowest[c] = _smallest(falls)


@nb.njit(cache=True, fastmath=FAST)
def _fill_gains(falls, cross, own, q_ii, best_up, out):  # type: ignore[no-untyped-def]
    for k in range(len(falls)):
        drop = best_up - falls[k]
        drop = drop if drop > 0.0 else 0.0
        curvature = q_ii + own[k] - 2.0 * cross[k]
        curvature = curvature if curvature > TINY else TINY
        out[k] = drop * drop / curvature


@nb.njit(cache=True)
def _gains(low, row, diagonal, q_ii, best_up, gains, buffer):  # type: ignore[no-untyped-def]
    """Largest second-order gain of every chunk."""
    for c in range(len(gains)):
        first, last = c * CHUNK, min((c + 1) * CHUNK, len(low))
        out = buffer[: last - first]
        _fill_gains(low[first:last], row[first:last], diagonal[first:last], q_ii, best_up, out)
        gains[c] = _largest(out)


@nb.njit(cache=True)
def _where_up(up, c, value):  # type: ignore[no-untyped-def]
    for k in range(c * CHUNK, min((c + 1) * CHUNK, len(up))):
        if up[k] == value:
            return k
    return -1


@nb.njit(cache=True)
def _where_gain(low, row, diagonal, q_ii, best_up, c):  # type: ignore[no-untyped-def]
    j, best = -1, 0.0
    for k in range(c * CHUNK, min((c + 1) * CHUNK, len(low))):
        drop = best_up - low[k]
        if drop > 0.0:
            gain = drop * drop / max(q_ii + diagonal[k] - 2.0 * row[k], TINY)
            if gain > best:
                j, best = k, gain
    return j


@nb.njit(cache=True)
def _set_rates(k, value, theta, lower, upper, eps, up, low):  # type: ignore[no-untyped-def]
    up[k] = _up(theta[k], upper[k], value, eps)
    low[k] = _low(theta[k], lower[k], value, eps)


@nb.njit(cache=True)
def _residual(k, theta, eps, up, low):  # type: ignore[no-untyped-def]
    """v_k from whichever rate is finite."""
    if np.isfinite(up[k]):
        return up[k] + eps if theta[k] >= 0.0 else up[k] - eps
    return low[k] + eps if theta[k] > 0.0 else low[k] - eps


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
    """Raise θ_i and lower θ_j by the best amount that bounds and kinks allow."""
    length = (up[i] - low[j]) / max(curvature, TINY)
    top, bottom = _ceiling(theta[i], upper[i], eps), _floor(theta[j], lower[j], eps)
    room_i, room_j = top - theta[i], theta[j] - bottom
    length = min(length, room_i, room_j)
    v_i, v_j = _residual(i, theta, eps, up, low), _residual(j, theta, eps, up, low)
    theta[i] = top if length == room_i else theta[i] + length
    theta[j] = bottom if length == room_j else theta[j] - length
    # Their rates may jump (a bound, the kink), so they are set anew and carried through the pass.
    _set_rates(i, v_i, theta, lower, upper, eps, up, low)
    _set_rates(j, v_j, theta, lower, upper, eps, up, low)
    _move(up, low, row, other, length, highest, lowest)


@nb.njit(cache=True)
def smo_pairs(
    Q: Floats, v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float, tol: float, max_steps: int
) -> tuple[int, float]:
    """Solve min ½θᵀQθ − pᵀθ + ε‖θ‖₁ with Σθ kept; θ and v are updated in place. Returns steps and gap.

    Q is the leading n × n part of a contiguous store, n = len(v).
    """
    n = len(v)
    n_chunks = (n + CHUNK - 1) // CHUNK
    highest, lowest, gains, buffer = np.empty(n_chunks), np.empty(n_chunks), np.empty(n_chunks), np.empty(CHUNK)
    up, low, diagonal = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        diagonal[k] = Q[k, k]
        _set_rates(k, v[k], theta, lower, upper, eps, up, low)
    _move(up, low, diagonal, diagonal, 0.0, highest, lowest)
    gap, step = np.inf, 0
    while True:
        c = np.argmax(highest)
        best_up = highest[c]
        gap = best_up - np.min(lowest)
        if not gap > tol or step == max_steps or not np.isfinite(gap):
            break
        i = _where_up(up, c, best_up)
        row = Q[i, :n]
        _gains(low, row, diagonal, diagonal[i], best_up, gains, buffer)
        j = _where_gain(low, row, diagonal, diagonal[i], best_up, np.argmax(gains))
        if j < 0:
            break
        other = Q[j, :n]
        curvature = diagonal[i] + diagonal[j] - 2.0 * row[j]
        exchange(i, j, row, other, curvature, theta, lower, upper, eps, up, low, highest, lowest)
        step += 1
    for k in range(n):
        v[k] = _residual(k, theta, eps, up, low)
    return step, max(gap, 0.0) if np.isfinite(gap) else 0.0


@nb.njit(cache=True)
def smo_single(
    Q: Floats, v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float, tol: float, max_steps: int
) -> tuple[int, float]:
    """The same without an equality constraint: one coefficient at a time, the one that gains most."""
    n = len(v)
    gap = np.inf
    for step in range(max_steps + 1):
        i, rise, best_gain, gap = -1, 0.0, 0.0, 0.0
        for k in range(n):
            # up ≤ low always, so at most one of the two directions descends.
            rate = _up(theta[k], upper[k], v[k], eps)
            if rate <= 0.0:
                rate = _low(theta[k], lower[k], v[k], eps)
                if rate >= 0.0:
                    continue
            gap = max(gap, abs(rate))
            gain = rate * rate / max(Q[k, k], TINY)
            if gain > best_gain:
                i, rise, best_gain = k, rate, gain
        if i < 0 or not gap > tol or step == max_steps:
            return step, gap
        length = rise / max(Q[i, i], TINY)
        end = _ceiling(theta[i], upper[i], eps) if rise > 0.0 else _floor(theta[i], lower[i], eps)
        if abs(length) >= abs(end - theta[i]):
            length = end - theta[i]
            theta[i] = end
        else:
            theta[i] += length
        row = Q[i, :n]
        for k in range(n):
            v[k] -= length * row[k]
    return max_steps, gap
