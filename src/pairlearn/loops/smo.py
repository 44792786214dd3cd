"""Sequential minimal optimisation with second-order selection, compiled.

All loops keep v = p − Kθ. up_i = v_i − (right derivative of ε|θ_i|) if θ_i < u_i, low_i = v_i − (left derivative)
if θ_i > l_i; optimal when max up ≤ min low (equality constraint) or max up ≤ 0 ≤ min low (none).
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.types import Floats

TINY = 1e-12


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
def smo_pairs(
    Q: Floats, v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float, tol: float, max_steps: int
) -> tuple[int, float]:
    """Solve min ½θᵀQθ − pᵀθ + ε‖θ‖₁ with Σθ kept; θ and v are updated in place. Returns steps and gap."""
    n = len(v)
    gap = np.inf
    for step in range(max_steps + 1):
        i, best_up, least_low = -1, -np.inf, np.inf
        for k in range(n):
            rate = _up(theta[k], upper[k], v[k], eps)
            if rate > best_up:
                i, best_up = k, rate
            rate = _low(theta[k], lower[k], v[k], eps)
            if rate < least_low:
                least_low = rate
        gap = best_up - least_low
        if i < 0 or not gap > tol or step == max_steps:
            return step, max(gap, 0.0)
        row = Q[i]
        q_ii = row[i]
        j, best_gain = -1, 0.0
        for k in range(n):
            rate = _low(theta[k], lower[k], v[k], eps)
            if rate < best_up:
                curvature = max(q_ii + Q[k, k] - 2.0 * row[k], TINY)
                gain = (best_up - rate) * (best_up - rate) / curvature
                if gain > best_gain:
                    j, best_gain = k, gain
        if j < 0:
            return step, max(gap, 0.0)
        other = Q[j]
        curvature = max(q_ii + other[j] - 2.0 * row[j], TINY)
        length = (best_up - _low(theta[j], lower[j], v[j], eps)) / curvature
        top, bottom = _ceiling(theta[i], upper[i], eps), _floor(theta[j], lower[j], eps)
        room_i, room_j = top - theta[i], theta[j] - bottom
        length = min(length, room_i, room_j)
        theta[i] = top if length == room_i else theta[i] + length
        theta[j] = bottom if length == room_j else theta[j] - length
        for k in range(n):
            v[k] -= length * (row[k] - other[k])
    return max_steps, gap


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
        row = Q[i]
        for k in range(n):
            v[k] -= length * row[k]
    return max_steps, gap
