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
