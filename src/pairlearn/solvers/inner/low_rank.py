"""Factors of Gram matrices of low rank, found from a random sample of their rows.

A pair kernel on a linear base in d dimensions has a rank of about d², whatever the number of pairs. A random subset of
a few times as many pairs then spans all others: its corner K_SS = LLᵀ (pivoted, r of its rows) gives

    G = K[:, S'] L⁻ᵀ   with   K = GGᵀ,

and comparing the diagonal of GGᵀ with that of K, n numbers, shows whether the sample was large enough: K − GGᵀ is
positive semidefinite, so where its diagonal vanishes it vanishes as a whole.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from pairlearn.linalg.pool import POOL
from pairlearn.linalg.tiles import evenly
from pairlearn.linalg.unlocked import solve_right
from pairlearn.types import Floats, Ints

SIZES = (256, 512, 1024, 1536, 2048, 3072, 4096, 6144)
"""Samples tried one after the other: a failed one costs an eighth of the next but one at most."""
TILE = 4096
"""Rows that are solved together."""


def low_rank_factor(Q: Floats, rng: np.random.Generator) -> Floats | None:
    """G with Q = GGᵀ to rounding, (n, r) column-major, or None when r would exceed 0.6 n, where it saves nothing."""
    n = len(Q)
    for size in SIZES:
        if size > 0.6 * n:
            break
        chosen = np.sort(rng.choice(n, size, replace=False))
        G = _spanned_by(chosen, Q[np.ix_(chosen, chosen)], lambda basis: Q[basis], Q.diagonal, size)
        if G is not None:
            return G
    return None


def bytes_of_search(n: int, rank: int | None) -> int:
    """What `low_rank_factor` takes on its way to this rank, or to none: a corner, its factor, rows of the sample."""
    tried = [size for size in SIZES if size <= 0.6 * n]
    size = max(tried, default=0) if rank is None else next((size for size in tried if size >= rank), 0)
    return 8 * size * (2 * size + n)


def _spanned_by(
    chosen: Ints, corner: Floats, rows: Callable[[Ints], Floats], own: Callable[[], Floats], most: int
) -> Floats | None:
    """The factor in the span of the chosen rows, `corner` their block; None beyond `most` columns or if it fails."""
    L, pivots, rank, _ = lapack.dpstrf(corner, tol=1e-11 * float(corner.diagonal().max(initial=0.0)), lower=1)
    if rank > most:
        return None
    diagonal = own()
    scale = float(diagonal.max(initial=0.0))
    G = np.asfortranarray(rows(chosen[pivots[:rank] - 1]).T)
    parts = evenly(len(G), -(-len(G) // TILE))
    POOL.run(lambda number: solve_right(L[:rank, :rank], G[parts[number]]), len(parts))
    return G if np.abs(diagonal - np.einsum("ij,ij->i", G, G)).max() <= 1e-9 * scale else None
