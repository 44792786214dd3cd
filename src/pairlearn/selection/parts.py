"""Several parts at once, such as training, development and test: whole units are dealt out, no unit is in two parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pairlearn.errors import InputError
from pairlearn.pairs import Pairs, class_codes
from pairlearn.types import Bools, Ints
from pairlearn.words import counted

LARGEST = 0.05
"""Largest share of the examples that may stay together because pairs link them."""


def share_out(units: Any, shares: Mapping[str, float], seed: int = 0) -> Ints:
    """The number of the part of every example, (n,): units whole and in random order, sizes near the shares.

    >>> part = share_out(["ann", "ann", "bob", "cat", "cat", "dan"], {"train": 2, "test": 1})
    >>> np.bincount(part).tolist(), int(part[0] == part[1]), int(part[3] == part[4])
    ([4, 2], 1, 1)
    """
    codes = class_codes(units)
    wanted = np.array(list(shares.values()), dtype=np.float64)
    if len(wanted) < 2 or not (np.isfinite(wanted) & (wanted > 0)).all():
        raise InputError(f"give two or more parts with shares > 0 such as train=0.8,test=0.2; got {dict(shares)}")
    sizes = np.bincount(codes)
    order = np.random.default_rng(seed).permutation(len(sizes))
    # A unit goes where its middle lies when all units stand in a row that is cut at the shares.
    middles = np.cumsum(sizes[order]) - sizes[order] / 2
    part = np.empty(len(sizes), dtype=np.int64)
    part[order] = np.searchsorted(np.cumsum(wanted / wanted.sum())[:-1] * len(codes), middles, side="right")
    empty = [name for number, name in enumerate(shares) if number not in part]
    if empty:
        some = counted(len(sizes), "unit that must stay whole", "units that must stay whole")
        raise InputError(f"nothing is left for {', '.join(empty)} of {some}; ask for fewer parts or larger shares")
    return part[codes]


def linked_units(pairs: Pairs, labels: Ints | None = None) -> Ints:
    """The unit of every example when classes are not known, (n_examples,): what pairs link stays together.

    Examples in one chain of pairs are a unit, so that no pair is lost. Chains of more than 5 % of the examples cannot
    stay whole: there only positive pairs link, since examples of one class must not be parted.

    >>> import pairlearn as pl
    >>> linked_units(pl.Pairs(np.eye(4), [0, 2], [1, 3]), np.array([1, -1])).tolist()
    [0, 0, 1, 2]
    """
    every = np.ones(len(pairs), dtype=bool)
    chains, classes = (_components(pairs, kept) for kept in (every, every & False if labels is None else labels > 0))
    whole = np.bincount(chains)[chains] <= max(1.0, LARGEST * pairs.n_examples)
    _, units = np.unique(np.where(whole, chains, pairs.n_examples + classes), return_inverse=True)
    return np.asarray(units, dtype=np.int64)


def _components(pairs: Pairs, kept: Bools) -> Ints:
    left, right = (column[kept] for column in pairs.columns)
    graph = sparse.csr_array((np.ones(len(left)), (left, right)), shape=(pairs.n_examples,) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
