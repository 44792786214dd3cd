"""Descent rates of the coefficients, compiled: the hot twin of `solvers.box.Box`, which is their definition.

With v = p − Qθ, raising θ_k gains up_k = v_k − (right derivative of ε|θ_k|) per unit and lowering it gains
−low_k = (left derivative of ε|θ_k|) − v_k. A bound that forbids a move makes its rate −inf (up) or +inf (low), so
that no loop ever has to ask about bounds: such a rate simply loses every comparison.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats


@nb.njit(cache=True, inline="always")
def up_rate(theta, upper, v, eps):  # type: ignore[no-untyped-def]
    """v − ε for θ ≥ 0 and v + ε for θ < 0; −inf at the upper bound."""
    if theta >= upper:
        return -np.inf
    return v - eps if theta >= 0.0 else v + eps


@nb.njit(cache=True, inline="always")
def low_rate(theta, lower, v, eps):  # type: ignore[no-untyped-def]
    """v − ε for θ > 0 and v + ε for θ ≤ 0; +inf at the lower bound."""
    if theta <= lower:
        return np.inf
    return v - eps if theta > 0.0 else v + eps


@nb.njit(cache=True, inline="always")
def ceiling(theta, upper, eps):  # type: ignore[no-untyped-def]
    """How far θ may rise in one step: ε|θ| has a kink at 0, where its rate jumps and the step has to end."""
    return 0.0 if eps > 0.0 and theta < 0.0 else upper


@nb.njit(cache=True, inline="always")
def floor(theta, lower, eps):  # type: ignore[no-untyped-def]
    """How far θ may fall in one step."""
    return 0.0 if eps > 0.0 and theta > 0.0 else lower


@nb.njit(cache=True)
def extremes(theta: Floats, lower: Floats, upper: Floats, v: Floats, eps: float) -> tuple[float, float]:
    """(max up, min low) over all n coefficients; (−inf, +inf) where none can move."""
    highest, lowest = -np.inf, np.inf
    for k in range(len(v)):
        highest = max(highest, up_rate(theta[k], upper[k], v[k], eps))
        lowest = min(lowest, low_rate(theta[k], lower[k], v[k], eps))
    return highest, lowest


@threaded()
def fill_keys(theta: Floats, lower: Floats, upper: Floats, v: Floats, eps: float, up: Floats, low: Floats) -> None:
    """up_k and −low_k of every pair, (n,) each, −inf where a bound forbids the move.

    The arrays are float32: they only choose candidates, and half the memory is half the time at millions of pairs.
    """
    for k in nb.prange(len(v)):
        up[k] = up_rate(theta[k], upper[k], v[k], eps)
        low[k] = -low_rate(theta[k], lower[k], v[k], eps)


# --------------------------------------------------------------------------- smoothed boxes: a ramp instead of a step

CHUNK = 2**14
"""Pairs that one thread takes at a time; sums are of whole chunks, so that they do not depend on the threads."""


@nb.njit(cache=True, inline="always")
def ramp(v, half):  # type: ignore[no-untyped-def]
    """0 below −half, 1 above half, straight in between."""
    return min(max((v + half) * (0.5 / half), 0.0), 1.0)


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
