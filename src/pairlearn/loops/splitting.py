"""The elementwise steps of splitting, fused and parallel; matrix products lie between them.

State is held over *cells*: the lower triangle of a symmetric or antisymmetric matrix row by row, or a whole matrix.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.products import FAST
from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints

CHUNK = 2**14
"""Cells that one thread takes at a time; sums are of whole chunks, so that they do not depend on the threads."""
SHORT = 256
"""Products that are summed in their own precision."""
TILE = 32
"""Rows and columns of a tile that is mirrored within the first cache."""


@nb.njit(cache=True, inline="always")
def nearest(s, lower, upper, kink):  # type: ignore[no-untyped-def]
    """The minimiser of ½(z − s)² + kink·|z| over lower ≤ z ≤ upper."""
    z = max(s - kink, min(s + kink, s - s))
    return min(max(z, lower), upper)


@threaded(fastmath=FAST)
def reflect(
    s: Floats, rates: Floats, known: Floats, lower: Floats, upper: Floats, kink: float, rho: float, out: Floats
) -> None:
    """out = rates + ρ(2z − s − known) for z the point of the box nearest to s, soft-thresholded by `kink`."""
    for k in nb.prange(len(s)):
        z = nearest(s[k], lower[k], upper[k], kink)
        out[k] = rates[k] + rho * (2 * z - s[k] - known[k])


@threaded(fastmath=FAST)
def advance(
    s: Floats, x: Floats, q: Floats, shift: float, lower: Floats, upper: Floats, kink: float, relax: float, out: Floats
) -> None:
    """out = relax·(x − shift·q − z): how far one plain step leads from s."""
    for k in nb.prange(len(s)):
        out[k] = relax * (x[k] - shift * q[k] - nearest(s[k], lower[k], upper[k], kink))


@threaded(fastmath=FAST)
def rescale(s: Floats, lower: Floats, upper: Floats, kink: float, ratio: float) -> None:
    """s ← z + ratio·(s − z): the same point and rates under another ρ; `kink` is ε/ρ."""
    for k in nb.prange(len(s)):
        z = nearest(s[k], lower[k], upper[k], kink)
        s[k] = z + ratio * (s[k] - z)


@threaded(fastmath=FAST)
def dots(rows: Floats, x: Floats, out: Floats) -> None:
    """out[i, c] = Σ rows[i]·x over chunk c, (count, n_chunks): short sums as they come, sums of these in float64.

    A float32 sum of 256 products has lost nothing that their factors had, and takes a third of the time.
    """
    n, chunks = len(x), out.shape[1]
    for c in nb.prange(chunks):
        first, last = c * CHUNK, min((c + 1) * CHUNK, n)
        for i in range(len(out)):
            total, row = 0.0, rows[i]
            for begin in range(first, last, SHORT):
                # Slices have no negative places: only so are the sums vectors of several numbers.
                some, others = row[begin : min(begin + SHORT, last)], x[begin : min(begin + SHORT, last)]
                part = some[0] * others[0]
                for k in range(1, len(some)):
                    part += some[k] * others[k]
                total += part
            out[i, c] = total


@threaded(fastmath=FAST)
def combine(weights: Floats, A: Floats, B: Floats, out: Floats) -> None:
    """out −= Σ_i weights_i (A_i + B_i)."""
    n = len(out)
    for c in nb.prange((n + CHUNK - 1) // CHUNK):
        first, last = c * CHUNK, min((c + 1) * CHUNK, n)
        here = out[first:last]
        for i in range(len(weights)):
            w, a, b = weights[i], A[i, first:last], B[i, first:last]
            for k in range(len(here)):
                here[k] -= w * (a[k] + b[k])


@threaded()
def unpack(cells: Floats, sign: float, out: Floats) -> None:
    """The matrix with these cells as its lower triangle and sign times them above, (m, m)."""
    m = len(out)
    tiles = (m + TILE - 1) // TILE
    for t in nb.prange(tiles):
        for u in range(t + 1):
            for i in range(t * TILE, min((t + 1) * TILE, m)):
                start = i * (i + 1) // 2
                for j in range(u * TILE, min((u + 1) * TILE, i + 1)):
                    out[i, j] = cells[start + j]
                    if j < i:
                        out[j, i] = sign * cells[start + j]


@threaded()
def pack(S: Floats, out: Floats) -> None:
    """The cells of the lower triangle of S."""
    for i in nb.prange(len(S)):
        start = i * (i + 1) // 2
        for j in range(i + 1):
            out[start + j] = S[i, j]


@threaded()
def add_mirrored(R: Floats, T: Floats, shift: Floats, factor: float, sign: float) -> None:
    """R ← factor·(R_ab − shift_a − shift_b) + T + sign·Tᵀ in the lower triangle; the upper one stays as it is."""
    m = len(R)
    for t in nb.prange((m + TILE - 1) // TILE):
        for u in range(t + 1):
            for i in range(t * TILE, min((t + 1) * TILE, m)):
                for j in range(u * TILE, min((u + 1) * TILE, i + 1)):
                    R[i, j] = factor * (R[i, j] - shift[i] - shift[j]) + T[i, j] + sign * T[j, i]


@threaded(fastmath=FAST)
def norms(s: Floats, before: Floats, lower: Floats, upper: Floats, kink: float, out: Floats) -> None:
    """Squares of ‖z‖, ‖s − z‖ and ‖z − z'‖ chunk by chunk, (3, n_chunks), for z nearest to s and z' to `before`."""
    n = len(s)
    for c in nb.prange(out.shape[1]):
        a = b = d = 0.0
        for k in range(c * CHUNK, min((c + 1) * CHUNK, n)):
            z = nearest(s[k], lower[k], upper[k], kink)
            u = s[k] - z
            e = z - nearest(before[k], lower[k], upper[k], kink)
            a += z * z
            b += u * u
            d += e * e
        out[0, c], out[1, c], out[2, c] = a, b, d


@threaded(fastmath=FAST)
def shift(
    t: Floats, inverse: Floats, lower: Floats, upper: Floats, kink: float, mu: float, theta: Floats, out: Floats
) -> None:
    """θ = t − μ·inverse in its box, soft-thresholded by kink·inverse; Σθ and −dΣθ/dμ chunk by chunk, (2, n_chunks)."""
    n = len(t)
    for c in nb.prange(out.shape[1]):
        total = slope = 0.0
        for k in range(c * CHUNK, min((c + 1) * CHUNK, n)):
            value = nearest(t[k] - mu * inverse[k], lower[k], upper[k], kink * inverse[k])
            free = lower[k] < value < upper[k] and (kink == 0.0 or value != 0.0)
            theta[k] = value
            total += value
            slope += inverse[k] if free else 0.0
        out[0, c], out[1, c] = total, slope


@nb.njit(cache=True, nogil=True)
def distinct(rows: Ints, cols: Ints, width: int, triangle: bool, reflexive: bool, seen: Ints) -> bool:
    """Whether all cells of these pairs differ, in a triangle or a matrix so wide; `seen` is 0 for every cell."""
    for k in range(len(rows)):
        a, b = np.int64(rows[k]), np.int64(cols[k])
        if a == b and not reflexive:
            return False
        low, high = min(a, b), max(a, b)
        cell = high * (high + 1) // 2 + low if triangle else a * width + b
        if seen[cell]:
            return False
        seen[cell] = 1
    return True
