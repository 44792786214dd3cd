"""Products around a Gram matrix, compiled and parallel.

The value of pair (a, b) under coefficients θ is a bilinear form: row a of T = E M times row b of E, plus one own number
of a and one of b (terms that see a single side of the pair). E holds a row per example (Gram matrix or features), M the
coefficients scattered over pairs of examples. The matrix products are NumPy's; what is here gathers their results.
"""

from __future__ import annotations

import numba as nb

from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints

FAST = {"reassoc", "contract", "nsz", "arcp"}
"""Sums may be regrouped for speed; the grouping is fixed by the length, so equal rows give equal bits."""


@threaded(fastmath=FAST)
def pair_dots(T: Floats, E: Floats, left: Ints, right: Ints, out: Floats) -> None:
    """out[k] += ⟨T[left_k], E[right_k]⟩: for pairs so few that a whole matrix product would compute mostly others."""
    for k in nb.prange(len(left)):
        row, other = T[left[k]], E[right[k]]
        total = 0.0
        for t in range(len(row)):
            total += row[t] * other[t]
        out[k] += total


@threaded()
def squares(a: Floats, b: Floats, sign: float, scale: float, out: Floats, first: int) -> None:
    """out[k, first:] = scale (a_k b_kᵀ ± b_k a_kᵀ)/2 on and above the diagonal (−: above), entries off it times √2."""
    n, d = a.shape
    above = 0 if sign > 0 else 1
    for k in nb.prange(n):
        x, y, place = a[k], b[k], first
        for i in range(d):
            for j in range(i + above, d):
                both = x[i] * y[j] + sign * (x[j] * y[i])
                out[k, place] = both * (0.5 * scale if i == j else 0.7071067811865476 * scale)
                place += 1


@threaded()
def add_rows(indptr: Ints, indices: Ints, data: Floats, K: Floats, out: Floats) -> None:
    """out = M K for a sparse M (CSR) and a dense K: few changed coefficients touch few rows."""
    for i in nb.prange(len(indptr) - 1):
        row = out[i]
        row[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            weight, source = data[e], K[indices[e]]
            for j in range(len(row)):
                row[j] += weight * source[j]


@nb.njit(cache=True)
def add_scattered(left: Ints, right: Ints, coefficients: Floats, out: Floats) -> None:
    """out[left_k, right_k] += θ_k, (m, m)."""
    for k in range(len(left)):
        out[left[k], right[k]] += coefficients[k]


@nb.njit(cache=True)
def add_triangle(
    S: Floats, first: int, shift: int, offsets: Ints, own_left: Floats, own_right: Floats, out: Floats
) -> None:
    """Add rows first … of the upper triangle, S[i − first, j − first], and both own terms, to packed values.

    Row i of the triangle holds its pairs (i, j), j ≥ i + shift, from offsets[i] on. Serial on purpose: it runs at the
    speed of memory, and more threads would share the cores with those of BLAS, which spin for some 25 ms after a
    product.
    """
    m = len(own_left)
    for r in range(len(S)):
        i = first + r
        start = offsets[i] - (i + shift)
        for j in range(i + shift, m):
            out[start + j] += S[r, j - first] + (own_left[i] + own_right[j])


@threaded()
def add_own(own_left: Floats, own_right: Floats, left: Ints, right: Ints, out: Floats) -> None:
    """out[k] += own_left[left_k] + own_right[right_k]."""
    for k in nb.prange(len(left)):
        out[k] += own_left[left[k]] + own_right[right[k]]


@threaded()
def add_gathered(
    S: Floats,
    row: int,
    col: int,
    chosen: Ints,
    left: Ints,
    right: Ints,
    own_left: Floats,
    own_right: Floats,
    out: Floats,
) -> None:
    """out[k] += S[left_k − row, right_k − col] and both own terms, for the chosen pairs k, whose values S holds."""
    for t in nb.prange(len(chosen)):
        k = chosen[t]
        out[k] += S[left[k] - row, right[k] - col] + (own_left[left[k]] + own_right[right[k]])


@nb.njit(cache=True)
def add_weighted_gram(indptr: Ints, indices: Ints, data: Floats, d: Floats, out: Floats) -> None:
    """out += Sᵀ diag(d) S, (k, k), for a sparse S (CSR) with few entries per row: a row with e of them costs e²."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            weight, row = d[i] * data[e], out[indices[e]]
            for f in range(indptr[i], indptr[i + 1]):
                row[indices[f]] += weight * data[f]
