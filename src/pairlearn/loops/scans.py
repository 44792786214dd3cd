"""Scans of all pairs of examples in classes, compiled: values come block by block, coefficients follow from them.

Row r of a block S belongs to example first + r, its column c to example first + c; pairs are those with c ≥ r + shift,
their value is g = S[r, c] + own[first + r] + own[first + c], y = ±1 by the classes. With s = centre − y(g + b) a
coefficient rises from 0 to its box in a ramp of width 2·half around s = 0: θ = y·box·t, t = (s + half) / (2·half), not
below 0 nor above 1. Pairs with |s| < apart are left out: somebody lists them.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.rates import ramp as share_of
from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints


@nb.njit(cache=True, inline="always")
def _value(S, own, first, r, c):  # type: ignore[no-untyped-def]
    """g of a pair: every scan computes it alike, so that the ramps of one are those of all others to the last bit."""
    return S[r, c] + (own[first + r] + own[first + c])


@nb.njit(cache=True, inline="always")
def _before(g, alike, bias, centre):  # type: ignore[no-untyped-def]
    """s."""
    return centre - (g + bias) if alike else centre + (g + bias)


@threaded()
def ramp(
    S: Floats,
    own: Floats,
    classes: Ints,
    first: int,
    shift: int,
    boxes: Floats,
    bias: float,
    centre: float,
    half: float,
    apart: float,
    theta: Floats,
    out: Floats,
) -> None:
    """theta[r, c] of all pairs, 0 of those left out; of every row out[r] = (Σ loss, Σθ of pairs in one class, Σ−θ of
    those in two, how many of either are on their ramps). boxes = (same, other).

    The loss is the integral of the ramp, box·(half·t² + (s − half)₊).
    """
    for r in nb.prange(len(S)):
        i = first + r
        loss, same, other, n_same, n_other = 0.0, 0.0, 0.0, 0, 0
        theta[r, : min(r + shift, S.shape[1])] = 0.0
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            s = _before(_value(S, own, first, r, c), alike, bias, centre)
            t = share_of(s, half) if abs(s) >= apart else 0.0
            on = (t > 0.0) & (t < 1.0)
            area = half * t * t + max(0.0, s - half)
            if alike:
                theta[r, c] = boxes[0] * t
                loss += boxes[0] * area
                same += t
                n_same += on
            else:
                theta[r, c] = -boxes[1] * t
                loss += boxes[1] * area
                other += t
                n_other += on
        out[r, 0] = loss
        out[r, 1] = boxes[0] * same
        out[r, 2] = boxes[1] * other
        out[r, 3] = n_same
        out[r, 4] = n_other


@threaded()
def count(
    S: Floats, own: Floats, classes: Ints, first: int, shift: int, bias: float, centre: float, half: float, on: Ints
) -> None:
    """on[r] is the number of pairs of a row with |s| < half."""
    for r in nb.prange(len(S)):
        i, found = first + r, 0
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            found += abs(_before(_value(S, own, first, r, c), alike, bias, centre)) < half
        on[r] = found


@threaded()
def gather(
    S: Floats,
    own: Floats,
    classes: Ints,
    first: int,
    shift: int,
    bias: float,
    centre: float,
    half: float,
    starts: Ints,
    left: Ints,
    right: Ints,
) -> None:
    """The examples of these pairs, row r from starts[r] on."""
    for r in nb.prange(len(S)):
        i, place = first + r, starts[r]
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            if abs(_before(_value(S, own, first, r, c), alike, bias, centre)) < half:
                left[place] = i
                right[place] = first + c
                place += 1


@threaded()
def judge(
    S: Floats,
    own: Floats,
    R: Floats,
    before: Floats,
    classes: Ints,
    first: int,
    shift: int,
    boxes: Floats,
    bias: float,
    centre: float,
    half: float,
    apart: float,
    out: Floats,
) -> None:
    """What a certificate needs of every row; R and `before` gave coefficients their ramps, S and `own` are the values
    that these lead to, v = y − g.

    out[r] = (largest v of those below their upper bound, smallest v of those above their lower bound, Σv and number of
    those between, Σθ(y + v), number with θ ≠ 0).
    """
    for r in nb.prange(len(S)):
        i = first + r
        up, low, free, n_free, work, support = -np.inf, np.inf, 0.0, 0.0, 0.0, 0.0
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            y = 1.0 if alike else -1.0
            s = _before(_value(R, before, first, r, c), alike, bias, centre)
            if abs(s) < apart:
                continue
            t = share_of(s, half)
            v = y - _value(S, own, first, r, c)
            if not np.isfinite(v):
                up, low = np.inf, -np.inf
            # A pair of one class is below its bound at 0 and above it at C; of two the other way round.
            if (t < 1.0) if alike else (t > 0.0):
                up = max(up, v)
            if (t > 0.0) if alike else (t < 1.0):
                low = min(low, v)
            if t > 0.0:
                work += (boxes[0] if alike else -boxes[1]) * t * (y + v)
                support += 1.0
                if t < 1.0:
                    free += v
                    n_free += 1.0
        out[r, 0] = up
        out[r, 1] = low
        out[r, 2] = free
        out[r, 3] = n_free
        out[r, 4] = work
        out[r, 5] = support
