"""Factors of Gram matrices of low rank, found from a random sample of their rows.

A pair kernel on a linear base in d dimensions has a rank of about d², whatever the number of pairs. A random subset of
a few times as many pairs then spans all others: its corner K_SS = LLᵀ (pivoted, r of its rows) gives

    G = K[:, S'] L⁻ᵀ   with   K = GGᵀ,

and comparing the diagonal of GGᵀ with that of K, n numbers, shows whether the sample was large enough: K − GGᵀ is
positive semidefinite, so where its diagonal vanishes it vanishes as a whole. Where it does not, for a few pairs have
features that no other has (pixels that are hardly ever set), these are what the sample lacks.
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
ROUNDS = 3
"""Times that a sample is given what it lacks, where it has fewer dimensions than pairs."""
ROUNDING = 1e-9
"""Share of the largest value on the diagonal that may be rounding."""
TILE = 4096
"""Rows that are solved together."""


def samples(n: int, least: int = 0) -> list[int]:
    """Sizes of samples that are tried on n pairs whose rank is at least so much: larger ones, none beyond 0.6 n.

    >>> samples(2000), samples(2000, least=512)
    ([256, 512, 1024], [1024])
    """
    return [size for size in SIZES if least < size <= 0.6 * n]


def low_rank_factor(
    Q: Floats, rng: np.random.Generator, least: int = 0, look: Callable[[], None] | None = None
) -> Floats | None:
    """G with Q = GGᵀ to rounding, (n, r) column-major, or None when r would exceed 0.6 n, where it saves nothing.

    `look` is called before every sample, and may raise.
    """
    n, tiny = len(Q), ROUNDING * float(Q.diagonal().max(initial=0.0))
    for size in samples(n, least):
        chosen = np.sort(rng.choice(n, size, replace=False))
        for _ in range(ROUNDS):
            if look is not None:
                look()
            basis, L = _basis(chosen, Q)
            if len(basis) == size:
                break  # all pairs have as many dimensions at the least, and hardly just as many
            G = _spanned_by(basis, L, Q)
            lacking = np.abs(Q.diagonal() - np.einsum("ij,ij->i", G, G))
            if lacking.max() <= tiny:
                return G
            most = np.argsort(-lacking)[: min(size - len(basis), np.count_nonzero(lacking > tiny))]
            chosen = np.concatenate([basis, most])
    return None


def bytes_of_search(n: int, rank: int | None, least: int = 0) -> int:
    """What `low_rank_factor` takes on its way to this rank, or to none: a corner, its factor, rows of the sample."""
    tried = samples(n, least)
    size = max(tried, default=0) if rank is None else next((size for size in tried if size > rank), 0)
    return 8 * size * (2 * size + n)


def _basis(chosen: Ints, Q: Floats) -> tuple[Ints, Floats]:
    """The rows among the chosen that span all of them, and the Cholesky factor of their block."""
    L, pivots, rank, _ = lapack.dpstrf(Q[np.ix_(chosen, chosen)], tol=1e-11 * float(Q.diagonal().max()), lower=1)
    return chosen[pivots[:rank] - 1], L[:rank, :rank]


def _spanned_by(basis: Ints, L: Floats, Q: Floats) -> Floats:
    """The factor of Q in the span of these rows, (n, r)."""
    G = np.asfortranarray(Q[basis].T)
    parts = evenly(len(G), -(-len(G) // TILE))
    POOL.run(lambda number: solve_right(L, G[parts[number]]), len(parts))
    return G
