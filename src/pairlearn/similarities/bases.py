"""Which training examples become the bases of an expansion.

At random is hard to beat and costs nothing. Medoids place the bases where the examples are, which pays with few of
them; per class keeps small classes from being left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels.low_rank.landmarks import spread
from pairlearn.types import Floats, Ints

Similarity = Callable[[Ints], Floats]
"""Similarity matrix (k, k) of the training examples with these k indices."""

MOST = 1000
"""Bases when their number is not given, if there are that many examples."""
MEDOID_SAMPLE = 2000
"""k-medoids look at no more examples than these (or twice the number of bases), drawn at random."""
ROUNDS = 50


def choose_bases(strategy: Any, n_bases: int, n_examples: int, y: Any, similarity: Similarity, rng: Any) -> Ints:
    """Rising indices (n_bases,) of the bases; `strategy` is a name of STRATEGIES or the indices themselves."""
    if not isinstance(strategy, str):
        return _check_given(strategy, n_examples)
    if strategy not in STRATEGIES:
        known = ", ".join(repr(name) for name in STRATEGIES)
        raise InputError(f"bases is {known} or an array of indices of examples, got {strategy!r}")
    everyone = np.arange(n_examples)
    if not strategy.endswith("per_class"):
        return np.sort(STRATEGIES[strategy](everyone, n_bases, similarity, rng))
    if y is None:
        raise InputError(f"bases={strategy!r} needs the classes: fit(X, y)")
    groups = [np.nonzero(np.asarray(y) == label)[0] for label in np.unique(y)]
    shares = fair_shares(np.array([len(group) for group in groups]), n_bases)
    pick = STRATEGIES[strategy]
    parts = [pick(group, int(k), similarity, rng) for group, k in zip(groups, shares, strict=True)]
    return np.sort(np.concatenate(parts))


def count_bases(n_bases: int | None, n_examples: int) -> int:
    """The number of bases, checked; None is all examples, at most 1000."""
    if n_bases is None:
        return min(n_examples, MOST)
    if isinstance(n_bases, bool) or not isinstance(n_bases, (int, np.integer)) or n_bases < 1:
        raise InputError(f"n_bases must be an integer ≥ 1 or None, got {n_bases!r}; try n_bases=100")
    if n_bases > n_examples:
        raise InputError(
            f"n_bases={n_bases} is more than the {n_examples} training examples; "
            f"try n_bases={n_examples}, or None for all (at most {MOST})"
        )
    return int(n_bases)


def fair_shares(sizes: Ints, total: int) -> Ints:
    """Split `total` bases over classes of these sizes as evenly as the small ones allow; larger ones get the rest.

    >>> fair_shares(np.array([2, 10, 10]), 12).tolist()
    [2, 5, 5]
    """
    shares = np.zeros_like(sizes)
    while (rest := total - int(shares.sum())) > 0:
        open_classes = np.nonzero(shares < sizes)[0]
        step = max(1, rest // len(open_classes))
        chosen = open_classes if rest >= len(open_classes) else open_classes[:rest]
        shares[chosen] = np.minimum(shares[chosen] + step, sizes[chosen])
    return shares


def _check_given(bases: Any, n_examples: int) -> Ints:
    index = np.asarray(bases)
    if index.ndim != 1 or index.dtype.kind not in "iu" or not len(index):
        raise InputError("bases given one by one must be a 1-D array of indices of training examples")
    if index.min() < 0 or index.max() >= n_examples or len(np.unique(index)) != len(index):
        raise InputError(f"indices of bases must be different and lie in 0 … {n_examples - 1}")
    return index.astype(np.int64)


# --------------------------------------------------------------------------- strategies


def _random(among: Ints, k: int, similarity: Similarity, rng: Any) -> Ints:
    return among[rng.permutation(len(among))[:k]]


def _evenly(among: Ints, k: int, similarity: Similarity, rng: Any) -> Ints:
    return among[(np.arange(k) * len(among)) // max(k, 1)]


def _medoids(among: Ints, k: int, similarity: Similarity, rng: Any) -> Ints:
    if k == 0:
        return among[:0]
    sample = np.sort(_random(among, max(MEDOID_SAMPLE, 2 * k), similarity, rng))
    return sample[medoids(kernel_distances(similarity(sample)), k, rng)]


STRATEGIES: dict[str, Callable[[Ints, int, Similarity, Any], Ints]] = {
    "random": _random,
    "index": _evenly,
    "medoids": _medoids,
    "per_class": _random,
    "medoids_per_class": _medoids,
}


def kernel_distances(S: Floats) -> Floats:
    """s(a, a) + s(b, b) − s(a, b) − s(b, a), shape (k, k): squared distances if S is definite, else maybe negative."""
    own = np.diagonal(S)
    return own[:, None] + own[None, :] - S - S.T


def medoids(D: Floats, k: int, rng: Any) -> Ints:
    """k examples with a small Σ_i min_m D[i, m], by alternating assignment and choice of the centre of each group.

    The start draws each next centre with a chance that grows with its distance to the nearest one so far. Every round
    lowers the sum or ends; a centre belongs to its own group even where D is negative, so k different ones are left.

    >>> D = np.abs(np.subtract.outer([0.0, 1, 2, 10, 11, 12], [0.0, 1, 2, 10, 11, 12]))
    >>> np.sort(medoids(D, 2, np.random.default_rng(0))).tolist()
    [1, 4]
    """
    centres = spread(len(D), lambda place: D[:, place], k, rng)
    for _ in range(ROUNDS):
        group = D[:, centres].argmin(axis=1)
        group[centres] = np.arange(k)
        members = [np.nonzero(group == number)[0] for number in range(k)]
        moved = np.array([one[D[np.ix_(one, one)].sum(axis=0).argmin()] for one in members])
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres
