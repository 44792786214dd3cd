"""Splitters for the three generalisation tasks and for cold start.

All are used like scikit-learn's: `split(X, y)` yields (train, test) arrays of pair numbers, so each of them is a `cv=`.
What is drawn are only the pairs, examples or classes that occur in X: a slice of pairs can be split again.
Reflexive pairs (a, a) are easy and would flatter a result: they are never tested unless `reflexive_tests=True`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.selection.drawing import Drawing, Folds, Shares
from pairlearn.selection.tasks import (
    Masks,
    Side,
    cold_start_draws,
    cold_start_masks,
    split_classes,
    split_examples,
    split_pairs,
)
from pairlearn.types import Bools, Ints
from pairlearn.words import counted

Split = tuple[Ints, Ints]


# --------------------------------------------------------------------------- what every splitter does


@dataclass(frozen=True, kw_only=True)
class Splitter(ABC):
    """Common to all: check, draw, drop reflexive test pairs, refuse splits of no use."""

    reflexive_tests: bool = False

    @abstractmethod
    def _drawing(self) -> Drawing: ...

    @abstractmethod
    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        """Masks of the training and of the test pairs, for each split."""

    def __post_init__(self) -> None:
        self._drawing()

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of (train, test) splits."""
        return self._drawing().count

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Pair numbers (train, test) of each split; `groups` is not used."""
        pairs = as_pairs(X)
        labels = _check_labels_of(pairs, y)
        testable = np.ones(len(pairs), dtype=bool) if self.reflexive_tests else ~pairs.reflexive
        masks = self._masks(pairs)  # checks at once, not after the first folds have been learnt
        return (_numbers(train, test & testable, labels, k) for k, (train, test) in enumerate(masks))


def _numbers(train: Bools, test: Bools, labels: np.ndarray[Any, Any] | None, number: int) -> Split:
    """Pair numbers of both halves, or why the split is of no use: an error rate needs both labels on both sides."""
    split = np.flatnonzero(train), np.flatnonzero(test)
    for half, chosen in zip(("training", "test"), split, strict=True):
        if len(chosen) == 0:
            raise InputError(
                f"split {number} leaves no {half} pairs (mixed pairs are dropped, reflexive ones not tested); "
                "use fewer folds, a larger share or more pairs"
            )
        if labels is not None and np.all(labels[chosen] == labels[chosen[0]]):
            pairs = counted(len(chosen), f"{half} pair")
            raise InputError(
                f"split {number} has one label only, {labels[chosen[0]]}, in its {pairs}; "
                "use fewer folds, another share or random_state, or more examples per class (y=None skips this check)"
            )
    return split


def _check_labels_of(pairs: Pairs, y: Any) -> np.ndarray[Any, Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape[:1] != (len(pairs),):
        raise InputError(f"y must hold one label per pair, {len(pairs)}, got shape {labels.shape}")
    return labels if labels.ndim == 1 else None


@dataclass(frozen=True, kw_only=True)
class ByShare(Splitter):
    """`n_splits` random shares."""

    test_share: float = 0.25
    n_splits: int = 1
    random_state: int = 0

    def _drawing(self) -> Drawing:
        return Shares(self.test_share, self.n_splits, self.random_state)


@dataclass(frozen=True, kw_only=True)
class ByFold(Splitter):
    """`n_repeats` times `n_splits` folds."""

    n_splits: int = 5
    n_repeats: int = 1
    random_state: int = 0

    def _drawing(self) -> Drawing:
        return Folds(self.n_splits, self.n_repeats, self.random_state)


# --------------------------------------------------------------------------- pair task


@dataclass(frozen=True)
class PairSplit(ByShare):
    """Pair task: random shares of the pairs; examples may be shared, a pair never is, in no order.

    Reflexive pairs always train.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.eye(3), [0, 1, 0, 1], [1, 0, 2, 2])
    >>> train, test = next(PairSplit(test_share=0.3, random_state=1).split(pairs))
    >>> sorted([*train.tolist(), *test.tolist()])
    [0, 1, 2, 3]
    """

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        return split_pairs(pairs, self._drawing(), self.reflexive_tests)


@dataclass(frozen=True)
class PairKFold(ByFold):
    """Pair task: k folds of the pairs; every pair that is not reflexive is tested once per repeat.

    >>> import numpy as np, pairlearn as pl
    >>> folds = PairKFold(n_splits=3).split(pl.all_pairs(np.eye(4), reflexive=False))
    >>> [len(test) for train, test in folds]
    [2, 2, 2]
    """

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        return split_pairs(pairs, self._drawing(), self.reflexive_tests)


# --------------------------------------------------------------------------- interexample task


@dataclass(frozen=True, eq=False)
class ExampleSplit(ByShare):
    """Interexample task: random shares of the examples of each class; pairs that mix both sides are dropped.

    `classes` holds one value per example. Each class with two examples or more is on both sides; a class with one
    only trains. With `classes=None` the examples are disjoint and nothing else.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.eye(8), reflexive=False)
    >>> train, test = next(ExampleSplit(list("aaaabbbb"), test_share=0.5).split(pairs))
    >>> len(train), len(test), np.intersect1d(pairs[train].used_examples(), pairs[test].used_examples()).tolist()
    (6, 6, [])
    """

    classes: Any = field(repr=False)

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        return split_examples(pairs, self.classes, self._drawing())


@dataclass(frozen=True, eq=False)
class ExampleKFold(ByFold):
    """Interexample task: k folds of the examples of each class; pairs that mix both sides are dropped.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.eye(8), reflexive=False)
    >>> [len(test) for train, test in ExampleKFold(list("aaaabbbb"), n_splits=2).split(pairs)]
    [6, 6]
    """

    classes: Any = field(repr=False)

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        return split_examples(pairs, self.classes, self._drawing())


# --------------------------------------------------------------------------- interclass task


@dataclass(frozen=True, eq=False)
class ClassSplit(ByShare):
    """Interclass task: random shares of the classes; no class is on both sides, mixed pairs are dropped.

    >>> import numpy as np, pairlearn as pl
    >>> pairs, classes = pl.all_pairs(np.eye(6), reflexive=False), np.array(list("aabbcc"))
    >>> train, test = next(ClassSplit(classes).split(pairs))
    >>> train_classes, test_classes = (set(classes[pairs[half].used_examples()]) for half in (train, test))
    >>> len(train_classes), len(test_classes), len(train_classes & test_classes)
    (2, 1, 0)
    """

    classes: Any = field(repr=False)

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        return split_classes(pairs, self.classes, self._drawing())


@dataclass(frozen=True, eq=False)
class ClassKFold(ByFold):
    """Interclass task: k folds of the classes; no class is on both sides, mixed pairs are dropped.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.eye(6), reflexive=False)
    >>> [(len(train), len(test)) for train, test in ClassKFold(list("aabbcc"), n_splits=3).split(pairs)]
    [(6, 1), (6, 1), (6, 1)]
    """

    classes: Any = field(repr=False)

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        return split_classes(pairs, self.classes, self._drawing())


# --------------------------------------------------------------------------- cold start


@dataclass(frozen=True)
class ColdStartSplit(ByShare):
    """Pairs of two tables: test pairs with unseen left examples, unseen right examples, or both; mixed are dropped.

    >>> import numpy as np, pairlearn as pl
    >>> left, right = np.divmod(np.arange(12), 3)
    >>> pairs = pl.Pairs(np.eye(4), left, right, right_examples=np.eye(3))
    >>> [[len(half) for half in next(ColdStartSplit(side).split(pairs))] for side in ("left", "right", "both")]
    [[9, 3], [8, 4], [6, 1]]
    """

    unseen: Side

    def __post_init__(self) -> None:
        _check_side(self.unseen)
        super().__post_init__()

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        draws = cold_start_draws(pairs, self.unseen, self._drawing())
        return (cold_start_masks(pairs, *sides) for sides in zip(*draws, strict=True))


@dataclass(frozen=True)
class ColdStartKFold(ByFold):
    """Pairs of two tables in folds: every pair is tested once per repeat.

    For `unseen="both"` each of the k left folds meets each of the k right folds: k² splits.

    >>> import numpy as np, pairlearn as pl
    >>> left, right = np.divmod(np.arange(12), 3)
    >>> pairs = pl.Pairs(np.eye(4), left, right, right_examples=np.eye(3))
    >>> [len(test) for train, test in ColdStartKFold("both", n_splits=2).split(pairs)]
    [4, 2, 4, 2]
    """

    unseen: Side

    def __post_init__(self) -> None:
        _check_side(self.unseen)
        super().__post_init__()

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of (train, test) splits."""
        return self._drawing().count * (self.n_splits if self.unseen == "both" else 1)

    def _masks(self, pairs: Pairs) -> Iterator[Masks]:
        left, right = (list(draws) for draws in cold_start_draws(pairs, self.unseen, self._drawing()))
        k = self.n_splits
        if self.unseen != "both":
            return (cold_start_masks(pairs, *sides) for sides in zip(left, right, strict=True))
        repeats = [slice(r * k, (r + 1) * k) for r in range(self.n_repeats)]
        return (cold_start_masks(pairs, *sides) for r in repeats for sides in product(left[r], right[r]))


def _check_side(unseen: str) -> None:
    if unseen not in ("left", "right", "both"):
        raise InputError(f"unseen must be 'left', 'right' or 'both', got {unseen!r}")
