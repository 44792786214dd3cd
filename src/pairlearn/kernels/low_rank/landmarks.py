"""Which examples all others are compared with: at random, far apart, by leverage, or by a pivoted Cholesky factor.

Every way gives an order of at most k candidates, best first where there is a best, so that the first few of them are
landmarks of a smaller rank. None holds more than k or 2k numbers per candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels.base import Kernel
from pairlearn.types import Examples, Floats, Ints

FLOOR = 1e-12
"""Share of the largest k(x, x) below which what is left of an example is rounding."""
BLOCK = 2**24
"""Bytes of kernel values with landmarks that are computed together."""


@dataclass(frozen=True)
class Candidates:
    """Examples that may become landmarks, as their kernel sees them."""

    kernel: Kernel
    examples: Examples

    def __len__(self) -> int:
        return count_examples(self.examples)

    @cached_property
    def own(self) -> Floats:
        """k(x, x) of every candidate, (n,)."""
        return np.asarray(self.kernel.diag(self.examples), dtype=np.float64)

    def column(self, place: int) -> Floats:
        """k(x, y) of every candidate x with the one at this place, (n,)."""
        one = take_examples(self.examples, np.array([place]))
        return np.asarray(self.kernel(self.examples, one), dtype=np.float64)[:, 0]

    def distances(self, place: int) -> Floats:
        """Squared distances k(x, x) + k(y, y) − 2k(x, y) from the one at this place, (n,)."""
        return self.own + self.own[place] - 2.0 * self.column(place)


# --------------------------------------------------------------------------- at random, far apart


def uniform(candidates: Candidates, k: int, rng: np.random.Generator) -> Ints:
    """Each candidate is as likely as any other."""
    return rng.permutation(len(candidates))[:k]


def apart(candidates: Candidates, k: int, rng: np.random.Generator) -> Ints:
    """The start of k-means++ in the feature space of the kernel."""
    return spread(len(candidates), candidates.distances, k, rng)


def spread(n: int, distances: Callable[[int], Floats], k: int, rng: Any) -> Ints:
    """k different of n examples far from each other, as k-means++ chooses them; `distances(i)` are those from i, (n,).

    The next one is drawn with a chance proportional to its distance from the nearest so far. Distances of an
    indefinite similarity may be negative and count as 0; when none is left, all others are equally likely.

    >>> far = np.abs(np.subtract.outer([0.0, 0.0, 9.0], [0.0, 0.0, 9.0]))
    >>> chosen = spread(3, far.__getitem__, 2, np.random.default_rng(0))
    >>> 2 in chosen
    True
    """
    chosen = [int(rng.permutation(n)[0])]
    nearest = distances(chosen[0]).copy()
    while len(chosen) < k:
        weights = np.maximum(nearest, 0.0)
        weights[chosen] = 0.0
        if weights.sum() <= 0:
            weights = np.ones(n)
            weights[chosen] = 0.0
        chosen.append(int(rng.choice(n, p=weights / weights.sum())))
        nearest = np.minimum(nearest, distances(chosen[-1]))
    return np.array(chosen)


# --------------------------------------------------------------------------- ridge leverage scores


def by_leverage(candidates: Candidates, k: int, rng: np.random.Generator) -> Ints:
    """Drawn without replacement, each with a chance proportional to its ridge leverage score."""
    scores = leverages(candidates, k, rng)
    # The smallest of exponential times with these rates come first with these chances; rate 0 never comes.
    times = np.full(len(scores), np.inf)
    np.divide(rng.exponential(size=len(scores)), scores, out=times, where=scores > 0)
    return np.argsort(times, kind="stable")[:k]


def leverages(candidates: Candidates, k: int, rng: np.random.Generator) -> Floats:
    """Approximate ridge leverage scores ℓ_x ≈ [K(K + μ1)⁻¹]_xx of n candidates, (n,), from a uniform sample S.

    ℓ_x = (k(x, x) − k_xS (K_SS + μ s/n · 1)⁻¹ k_Sx) / μ with s = 2k examples in S, at most 1, exact for s = n. μ is
    what the k leading eigenvectors of K_SS leave of k(x, x), summed up over all x and divided by k.
    """
    n = len(candidates)
    sample = take_examples(candidates.examples, rng.permutation(n)[: 2 * k])
    s = count_examples(sample)
    values, U = np.linalg.eigh(np.asarray(candidates.kernel(sample, sample), dtype=np.float64))
    values = np.maximum(values, 1e-10 * values[-1])
    if values[-1] <= 0:
        return np.ones(n)
    squares = np.concatenate([_along(candidates, rows, sample, U) for rows in blocks(n, s)])
    left = np.maximum(candidates.own - squares[:, -k:] @ (1.0 / values[-k:]), 0.0)
    ridge = max(float(left.sum()) / k, float(values[0]))
    return np.clip((candidates.own - squares @ (1.0 / (values + ridge * s / n))) / ridge, 0.0, 1.0)


def _along(candidates: Candidates, rows: Ints, sample: Examples, U: Floats) -> Floats:
    """(k_xS U)² of some candidates x, (len(rows), s)."""
    return np.asarray((candidates.kernel(take_examples(candidates.examples, rows), sample) @ U) ** 2)


def blocks(n: int, width: int) -> list[Ints]:
    """The numbers 0 … n − 1 in parts whose rows of this width take at most BLOCK bytes."""
    step = max(1, BLOCK // (8 * max(1, width)))
    return [np.arange(start, min(start + step, n)) for start in range(0, n, step)]


# --------------------------------------------------------------------------- pivoted Cholesky


def pivoted(candidates: Candidates, k: int, rng: np.random.Generator) -> Ints:
    """The pivots of a Cholesky factor: always the candidate that those before it leave most of."""
    return pivots(candidates.own, candidates.column, k)


def pivots(own: Floats, column: Callable[[int], Floats], k: int) -> Ints:
    """At most k pivots of the Cholesky factor of a matrix with diagonal `own` (n,) and columns `column(i)` (n,).

    Each step takes the largest entry of what is left of the diagonal, own − Σ_t L_t²; it ends where only rounding is
    left. The first one is always there, also of a matrix of zeros.

    >>> K = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    >>> pivots(np.diagonal(K), K.__getitem__, 3).tolist()
    [0, 2]
    """
    left, L = own.copy(), np.empty((k, len(own)))
    chosen: list[int] = []
    while len(chosen) < k:
        pivot, t = int(left.argmax()), len(chosen)
        if t and left[pivot] <= FLOOR * own.max():
            break
        chosen.append(pivot)
        if left[pivot] <= 0:
            break
        L[t] = (column(pivot) - L[:t, pivot] @ L[:t]) / np.sqrt(left[pivot])
        left -= L[t] ** 2
        left[pivot] = 0.0
    return np.array(chosen)


ORDERS: dict[str, Callable[[Candidates, int, np.random.Generator], Ints]] = {
    "uniform": uniform,
    "kmeans++": apart,
    "leverage": by_leverage,
    "pivoted": pivoted,
}
"""Ways to choose landmarks, by the name of `LowRank(landmarks=…)`."""
