"""Sequential minimal optimisation with second-order selection on an explicit matrix, compiled.

min ½θᵀQθ − pᵀθ + ε‖θ‖₁ over a box, v = p − Qθ. Optimal when max up ≤ min low (Σθ kept), or when max up ≤ 0 ≤ min low
(no constraint); what is lacking is the gap, the same that `solvers.box.kkt_gap` defines.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.rates import low_rate, up_rate
from pairlearn.loops.steps import (
    CHUNK,
    TINY,
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


@nb.njit(cache=True)
def smo_pairs(
    Q: Floats, v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float, tol: float, max_steps: int
) -> tuple[int, float]:
    """At most so many steps with Σθ kept; θ and v are updated in place. Returns steps and gap.

    Q is the leading n × n part of a contiguous store, n = len(v). Each step raises the coefficient i with the largest
    up rate and lowers the partner j that gains most to second order. Coefficients without any room have no finite rate
    to keep their v in and lose it; working sets never hold them, because nothing can choose them.
    """
    n = len(v)
    n_chunks = (n + CHUNK - 1) // CHUNK
    highest, lowest, gains, buffer = np.empty(n_chunks), np.empty(n_chunks), np.empty(n_chunks), np.empty(CHUNK)
    up, low, diagonal = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        diagonal[k] = Q[k, k]
        set_rates(k, v[k], theta, lower, upper, eps, up, low)
    move_rates(up, low, diagonal, diagonal, 0.0, highest, lowest)
    gap, step = np.inf, 0
    while True:
        c = np.argmax(highest)
        best_up = highest[c]
        gap = best_up - np.min(lowest)
        if not gap > tol or step == max_steps or not np.isfinite(gap):
            break
        i = find(up, c, best_up)
        row = Q[i, :n]
        fill_gains(low, row, diagonal, diagonal[i], best_up, gains, buffer)
        j = find_gain(low, row, diagonal, diagonal[i], best_up, np.argmax(gains))
        if j < 0:
            break
        other = Q[j, :n]
        curvature = diagonal[i] + diagonal[j] - 2.0 * row[j]
        exchange(i, j, row, other, curvature, theta, lower, upper, eps, up, low, highest, lowest)
        step += 1
    for k in range(n):
        v[k] = residual_of(k, theta, eps, up, low)
    return step, max(gap, 0.0) if np.isfinite(gap) else 0.0


@nb.njit(cache=True)
def smo_single(
    Q: Floats, v: Floats, theta: Floats, lower: Floats, upper: Floats, eps: float, tol: float, max_steps: int
) -> tuple[int, float]:
    """The same without an equality constraint: one coefficient at a time, the one that gains rate² / Q_ii, the most."""
    n = len(v)
    gap = np.inf
    for step in range(max_steps + 1):
        i, rise, best_gain, gap = -1, 0.0, 0.0, 0.0
        for k in range(n):
            # up ≤ low always, so at most one of the two directions descends.
            rate = up_rate(theta[k], upper[k], v[k], eps)
            if rate <= 0.0:
                rate = low_rate(theta[k], lower[k], v[k], eps)
                if rate >= 0.0:
                    continue
            gap = max(gap, abs(rate))
            gain = rate * rate / max(Q[k, k], TINY)
            if gain > best_gain:
                i, rise, best_gain = k, rate, gain
        if i < 0 or not gap > tol or step == max_steps:
            return step, gap
        length, theta[i] = single_step(theta[i], lower[i], upper[i], eps, rise, Q[i, i])
        row = Q[i, :n]
        for k in range(n):
            v[k] -= length * row[k]
    return max_steps, gap
