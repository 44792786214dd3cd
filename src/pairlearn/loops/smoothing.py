"""Smoothed boxes: coefficients that rise in a ramp instead of a step as the residual crosses the margin, fused."""

from __future__ import annotations

import numba as nb

from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats

CHUNK = 2**14
"""Pairs that one thread takes at a time; sums are of whole chunks, so that they do not depend on the threads."""


@nb.njit(cache=True, inline="always")
def ramp(v, half):  # type: ignore[no-untyped-def]
    """0 below −half, 1 above half, straight in between."""
    return min(max((v + half) / (2.0 * half), 0.0), 1.0)


@nb.njit(cache=True, inline="always")
def smoothed(v, lower, upper, eps, half):  # type: ignore[no-untyped-def]
    """The coefficient at the residual v: u above ε, l below −ε, 0 (or what is nearest in the box) in between."""
    rest = min(max(v - v, lower), upper)
    return rest + (upper - rest) * ramp(v - eps, half) + (lower - rest) * ramp(-v - eps, half)


@threaded()
def respond(
    v: Floats, bias: float, lower: Floats, upper: Floats, eps: float, half: float, theta: Floats, slope: Floats
) -> None:
    """θ of every pair at v − bias, and how fast it rises with v; 0 outside of the ramps."""
    for k in nb.prange(len(v)):
        r = v[k] - bias
        theta[k] = smoothed(r, lower[k], upper[k], eps, half)
        rest = min(max(0.0, lower[k]), upper[k])
        rise = 0.0
        if abs(r - eps) < half:
            rise += upper[k] - rest
        if abs(r + eps) < half:
            rise += rest - lower[k]
        slope[k] = rise / (2.0 * half)


@threaded()
def along(
    v: Floats, dv: Floats, bias: float, step: float, lower: Floats, upper: Floats, eps: float, half: float, out: Floats
) -> None:
    """out[c] = Σ θ(v − bias − step·dv)·dv over chunk c: what a step of this length gains per unit."""
    n = len(v)
    for c in nb.prange(len(out)):
        total = 0.0
        for k in range(c * CHUNK, min((c + 1) * CHUNK, n)):
            total += smoothed(v[k] - bias - step * dv[k], lower[k], upper[k], eps, half) * dv[k]
        out[c] = total
