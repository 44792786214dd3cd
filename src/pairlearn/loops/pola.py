"""The smallest eigenvalue after a rank-one subtraction, and updates of a symmetric matrix; compiled.

An online pseudo-metric keeps A ⪰ 0. Its projection after a step A − α·v vᵀ needs the one eigenvector that may be
negative now; a full eigendecomposition costs d³, Lanczos from v a few products with A (39 times as many updates per
second at d = 784).
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.products import FAST
from pairlearn.types import Floats

MOST_DOUBLINGS = 200
"""From 1e-16 of the largest entry on, some 60 pass every eigenvalue; numbers that are none would never be passed."""


@nb.njit(cache=True, fastmath=FAST)
def times(A: Floats, x: Floats, out: Floats) -> None:
    """out = A x for a symmetric A, of which the lower triangle is read: half the memory, no threads that wait."""
    out[:] = 0.0
    for i in range(len(x)):
        row, xi, total = A[i], x[i], 0.0
        for j in range(i):
            total += row[j] * x[j]
            out[j] += row[j] * xi
        out[i] += total + row[i] * xi


@nb.njit(cache=True)
def quadratic(A: Floats, x: Floats) -> float:
    """xᵀA x for a symmetric A."""
    product = np.empty(len(x))
    times(A, x, product)
    return float(np.dot(x, product))


@nb.njit(cache=True, error_model="numpy")
def add_rank_two(A: Floats, c: float, v: Floats, e: float, u: Floats) -> None:
    """A ← A + c·v vᵀ + e·u uᵀ in place; products of two entries commute, so A stays symmetric to the last bit."""
    for i in range(len(v)):
        vi, ui, row = v[i], u[i], A[i]
        for j in range(len(v)):
            row[j] += c * (vi * v[j]) + e * (ui * u[j])


@nb.njit(cache=True, error_model="numpy")
def lowest_ritz(
    A: Floats, v: Floats, alpha: float, tolerance: float, most: int
) -> tuple[float, Floats, float, float, int]:
    """Smallest Ritz value θ of A − α·v vᵀ in the Krylov space of (A, v), its unit vector and its residual.

    An eigenvector u with a negative eigenvalue λ of A − α·v vᵀ, A ⪰ 0, is a multiple of (A − λI)⁻¹v: it lies in that
    space. The Lanczos vectors are orthogonalised in full; θ falls from step to step. Ends when θ < 0 and its residual
    is at most `tolerance`·scale, when the space is exhausted, or after `most` steps.
    Returns (θ, u, residual, scale, steps).
    """
    n, norm = len(v), np.sqrt(np.dot(v, v))
    most = min(most, n)
    V = np.empty((most, n))
    diagonal, beside, s = np.empty(most), np.empty(most), np.empty(most)
    V[0], w = v / norm, np.empty(n)
    theta, residual, scale, k = 0.0, 0.0, 0.0, 0
    lowest = -alpha * norm * norm
    for k in range(1, most + 1):
        times(A, V[k - 1], w)
        diagonal[k - 1] = np.dot(V[k - 1], w)
        # The last two vectors hold nearly all that is to be removed; the pass over all of them removes rounding.
        w -= diagonal[k - 1] * V[k - 1]
        if k > 1:
            w -= beside[k - 2] * V[k - 2]
        _orthogonalise(V, k, w)
        beside[k - 1] = np.sqrt(np.dot(w, w))
        reach = diagonal[k - 1] + beside[k - 1] + (beside[k - 2] if k > 1 else 0.0)
        scale = max(scale, reach, -lowest)
        if k == 1:
            diagonal[0] += lowest  # α·v vᵀ touches the first Lanczos vector only
        theta = _lowest_of_tridiagonal(diagonal, beside, k, lowest - 1e-15 * scale, s)
        residual = beside[k - 1] * abs(s[k - 1])
        exhausted = beside[k - 1] <= 1e-14 * scale
        if exhausted or k == most or (theta < 0 and residual <= tolerance * scale):
            break
        V[k] = w / beside[k - 1]
    u = np.zeros(n)
    for i in range(k):
        u += s[i] * V[i]
    return theta, u / np.sqrt(np.dot(u, u)), residual, scale, k


@nb.njit(cache=True, fastmath=FAST)
def _orthogonalise(V: Floats, k: int, w: Floats) -> None:
    """w ← w − Σ ⟨V_i, w⟩ V_i over the first k rows, one after the other (modified Gram–Schmidt, which keeps digits)."""
    for i in range(k):
        row, total = V[i], 0.0
        for j in range(len(w)):
            total += row[j] * w[j]
        for j in range(len(w)):
            w[j] -= total * row[j]


@nb.njit(cache=True, error_model="numpy")
def _is_below(diagonal: Floats, beside: Floats, k: int, x: float) -> bool:
    """Whether x is below all eigenvalues of the leading k × k tridiagonal matrix.

    By Sylvester's law of inertia: the pivots of T − xI without exchanges are as many times negative as there are
    eigenvalues below x, so that none may be.
    """
    pivot = diagonal[0] - x
    for i in range(1, k):
        if pivot <= 0:
            return False
        pivot = diagonal[i] - x - beside[i - 1] * beside[i - 1] / pivot
    return pivot > 0


@nb.njit(cache=True, error_model="numpy")
def _lowest_of_tridiagonal(diagonal: Floats, beside: Floats, k: int, below: float, s: Floats) -> float:
    """The smallest eigenvalue by bisection from `below`; its unit vector goes to s by inverse iteration.

    Bisection needs k operations per bit and cannot miss it; a library call per Lanczos step would cost more than the
    step. Inverse iteration from just below converges in one or two rounds.
    """
    low, high = below, diagonal[0]
    for i in range(1, k):
        high = min(high, diagonal[i])
    step = max(abs(low), abs(high)) * 1e-16 + 1e-300
    for _ in range(MOST_DOUBLINGS):
        if _is_below(diagonal, beside, k, low):
            break
        low -= step
        step *= 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if _is_below(diagonal, beside, k, middle):
            low = middle
        else:
            high = middle
    # Below the smallest eigenvalue the matrix is positive definite: elimination needs no pivoting.
    pivots = np.empty(k)
    s[:k] = 1.0
    for _ in range(3):
        pivots[0] = diagonal[0] - low
        for i in range(1, k):
            pivots[i] = diagonal[i] - low - beside[i - 1] * beside[i - 1] / pivots[i - 1]
            s[i] -= beside[i - 1] / pivots[i - 1] * s[i - 1]
        s[k - 1] /= pivots[k - 1]
        for i in range(k - 2, -1, -1):
            s[i] = (s[i] - beside[i] * s[i + 1]) / pivots[i]
        s[:k] /= np.sqrt(np.dot(s[:k], s[:k]))
    return high
