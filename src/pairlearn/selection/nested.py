"""Nested training sets: the smaller lies in every larger one.

A learning curve over sets drawn anew mixes what more data does with the luck of each draw; over nested sets each step
only adds. One random order is drawn, of the classes or of the examples within each class, and every set is a beginning
of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs import class_codes
from pairlearn.selection.drawing import check_whole, rank_in_stratum
from pairlearn.types import Ints
from pairlearn.words import counted


def nested_by_class_count(classes: Any, counts: Sequence[int], random_state: int = 0) -> list[Ints]:
    """All examples of `counts[k]` random classes, for each k; a smaller set lies in every larger one.

    >>> [chosen.tolist() for chosen in nested_by_class_count(list("aabbcc"), [1, 3])]
    [[2, 3], [0, 1, 2, 3, 4, 5]]
    """
    codes = class_codes(classes)
    n_classes = int(codes.max()) + 1
    for count in _check_sizes("counts", counts):
        if count > n_classes:
            raise InputError(f"counts asks for {counted(count, 'class')}, but there are {n_classes}; ask for fewer")
    check_whole("random_state", random_state, 0)
    place = np.random.default_rng(random_state).permutation(n_classes)[codes]
    return [np.flatnonzero(place < count) for count in counts]


def nested_by_epcr(classes: Any, sizes: Sequence[int], random_state: int = 0) -> list[Ints]:
    """`sizes[k]` random examples of each class, for each k; a smaller set lies in every larger one.

    Only classes with at least max(sizes) examples take part, so that all sets have the same classes.

    >>> [chosen.tolist() for chosen in nested_by_epcr(list("aaabbbc"), [1, 2])]
    [[0, 5], [0, 2, 4, 5]]
    """
    codes = class_codes(classes)
    largest = max(_check_sizes("sizes", sizes))
    check_whole("random_state", random_state, 0)
    counts = np.bincount(codes)
    if counts.max() < largest:
        most = counted(int(counts.max()), "example")
        raise InputError(f"sizes asks for {largest} of a class, but the largest class has {most}; use smaller sizes")
    keys = np.random.default_rng(random_state).permutation(len(codes))
    rank = np.where(counts[codes] >= largest, rank_in_stratum(codes, keys), largest)
    return [np.flatnonzero(rank < size) for size in sizes]


def _check_sizes(name: str, sizes: Sequence[int]) -> list[int]:
    if len(sizes) == 0:
        raise InputError(f"{name} are empty; name at least one size")
    for size in sizes:
        check_whole(f"each of the {name}", size, 1)
    return [int(size) for size in sizes]
