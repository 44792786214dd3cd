"""Scans of all pairs of examples in classes, compiled: margins come block by block, coefficients follow from them.

Row r of a block S belongs to example first + r, its column c to example first + c; pairs are those with c ≥ r + shift.
The residual of a pair is v = y − S[r, c] − own[first + r] − own[first + c], y = ±1 by the classes. Far from the bias b,
that is where |v − b| > half, a coefficient is at a bound: `same` or 0 in one class, 0 or −`other` in two.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints


@nb.njit(cache=True, inline="always")
def _value(S, own, first, r, c):  # type: ignore[no-untyped-def]
    """g of a pair: every scan computes it alike, so that near pairs of one are those of all others to the last bit."""
    return S[r, c] + (own[first + r] + own[first + c])


@nb.njit(cache=True, inline="always")
def _at_bound(alike, rate, same, other):  # type: ignore[no-untyped-def]
    if alike:
        return same if rate > 0.0 else 0.0
    return 0.0 if rate > 0.0 else -other


@threaded()
def assign(
    S: Floats,
    own: Floats,
    classes: Ints,
    first: int,
    shift: int,
    boxes: Floats,
    bias: float,
    half: float,
    theta: Floats,
    near: Ints,
) -> None:
    """theta[r, c] of pairs that are far, 0 elsewhere; near[r] counts the others of a row. boxes = (same, other)."""
    for r in nb.prange(len(S)):
        i, count = first + r, 0
        theta[r, : min(r + shift, S.shape[1])] = 0.0
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            rate = (1.0 if alike else -1.0) - _value(S, own, first, r, c) - bias
            if abs(rate) > half:
                theta[r, c] = _at_bound(alike, rate, boxes[0], boxes[1])
            else:
                theta[r, c] = 0.0
                count += 1
        near[r] = count


@threaded()
def gather(
    S: Floats,
    own: Floats,
    classes: Ints,
    first: int,
    shift: int,
    bias: float,
    half: float,
    starts: Ints,
    left: Ints,
    right: Ints,
) -> None:
    """The examples of the pairs that are near, row r from starts[r] on."""
    for r in nb.prange(len(S)):
        i, place = first + r, starts[r]
        for c in range(r + shift, S.shape[1]):
            y = 1.0 if classes[i] == classes[first + c] else -1.0
            if abs(y - _value(S, own, first, r, c) - bias) <= half:
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
    half: float,
    out: Floats,
) -> None:
    """What a certificate needs of the far pairs of every row; R and `before` gave them their coefficients, S and `own`
    are what these lead to.

    out[r] = (largest v of those below their upper bound, smallest v of those above their lower bound, Σθ(y + v),
    Σθ g, Σθ g before, number with θ ≠ 0).
    """
    for r in nb.prange(len(S)):
        i = first + r
        up, low, work, own_sum, cross_sum, count = -np.inf, np.inf, 0.0, 0.0, 0.0, 0.0
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            y = 1.0 if alike else -1.0
            g, old = _value(S, own, first, r, c), _value(R, before, first, r, c)
            rate, v = y - old - bias, y - g
            if abs(rate) <= half:
                continue
            theta = _at_bound(alike, rate, boxes[0], boxes[1])
            if not np.isfinite(v):
                up, low = np.inf, -np.inf
            # A pair of one class is below its bound at 0 and above it at C; of two the other way round.
            if (theta == 0.0) == alike:
                up = max(up, v)
            else:
                low = min(low, v)
            if theta != 0.0:
                work += theta * (y + v)
                own_sum += theta * g
                cross_sum += theta * old
                count += 1.0
        out[r, 0] = up
        out[r, 1] = low
        out[r, 2] = work
        out[r, 3] = own_sum
        out[r, 4] = cross_sum
        out[r, 5] = count


@threaded()
def losses(
    S: Floats,
    own: Floats,
    R: Floats,
    before: Floats,
    classes: Ints,
    first: int,
    shift: int,
    boxes: Floats,
    biases: Floats,
    steps: Floats,
    out: Floats,
) -> None:
    """out[r, k] = Σ box·max(0, 1 − y(g + b)) of a row at (1 − t)·(R, before) + t·(S, own) for t = steps[k]."""
    for r in nb.prange(len(S)):
        i = first + r
        out[r] = 0.0
        for c in range(r + shift, S.shape[1]):
            alike = classes[i] == classes[first + c]
            y, box = (1.0, boxes[0]) if alike else (-1.0, boxes[1])
            start = 1.0 - y * (_value(R, before, first, r, c) + biases[0])
            change = 1.0 - y * (_value(S, own, first, r, c) + biases[1]) - start
            for k in range(len(steps)):
                out[r, k] += box * max(0.0, start + steps[k] * change)
