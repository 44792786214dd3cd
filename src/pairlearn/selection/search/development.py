"""The training and test sets of the staged search, drawn from examples and their classes.

Every set is nested in the larger ones of its stage: the same classes with more examples each, or the same examples
with more classes. What a larger set changes is then the size alone, not the luck of the draw. A class with one
example has no positive pair and takes no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.features import feature_names
from pairlearn.pairs import Pairs, all_pairs, class_codes
from pairlearn.selection.drawing import rank_in_stratum
from pairlearn.selection.sampling import PairSampler, count_pairs
from pairlearn.selection.search.sizes import TEST_SHARE, Ladder, Size, Stage
from pairlearn.types import Examples, Ints

FEWEST_CLASSES = 4
"""Two to train on and two to test on: fewer give no negative pair on one side."""
TEST_EXAMPLES = 1000
TEST_PAIRS = 50_000
"""Limits of one test set, so that scoring it takes less time than the fits: all its positive pairs, if these are fewer.

What limits an error rate are the classes tested, not their pairs."""


@dataclass(frozen=True, eq=False)
class Rung:
    """Training pairs and test pairs of one task at one size.

    `classes` are those of the training examples, `tested` those of the examples of the test pairs.
    """

    stage: Stage
    size: Size
    split: int
    training: Pairs
    labels: Ints
    test: Pairs
    truth: Ints
    classes: Ints
    tested: Ints


class Training(NamedTuple):
    """What a final fit learns from: pairs, their labels, and the class of every example."""

    pairs: Pairs
    labels: Ints
    classes: Ints

    def fewer(self, most: int, seed: int) -> Training:
        """At most about so many of the pairs, half of them positive if there are as many, and one of every example."""
        if len(self.labels) <= most:
            return self
        order = np.random.default_rng(seed).permutation(len(self.labels))
        positive = self.labels[order] > 0
        kept = [order[positive][: most // 2], order[~positive][: most // 2]]
        kept += [np.unique(column, return_index=True)[1] for column in self.pairs.columns]
        chosen = np.unique(np.concatenate(kept))
        return Training(self.pairs[chosen], self.labels[chosen], self.classes)


@dataclass(frozen=True, eq=False)
class Development:
    """The examples and classes given to the search, and the sets drawn from them.

    `codes` (m,) numbers the class of each example. Everything random comes from (seed, purpose, split), so that a
    search that goes on after a kill draws the same sets again. `square` says that the examples are rows of a matrix
    of similarities, whose columns are examples too.
    """

    examples: Examples
    codes: Ints
    seed: int
    n_splits: int
    max_examples: int
    max_pairs: int
    square: bool
    feature_names: Any = None

    @classmethod
    def of(
        cls, X: Any, classes: Any, seed: int, n_splits: int | None, max_examples: int, max_pairs: int, *, square: bool
    ) -> Development:
        """Check the examples and their classes; `n_splits` None takes more splits when classes are few."""
        table = check_examples(X)
        codes = class_codes(classes, count_examples(table))
        if square and table.shape != (len(codes), len(codes)):
            raise InputError(f"a precomputed base needs the matrix of all {len(codes)} examples, got {table.shape}")
        useful = _count_useful(codes)
        splits = _default_splits(useful) if n_splits is None else n_splits
        return cls(table, codes, seed, splits, max_examples, max_pairs, square, feature_names(X))

    # -- who is drawn

    @cached_property
    def useful(self) -> Ints:
        """Classes with two examples or more."""
        return np.flatnonzero(np.bincount(self.codes) > 1)

    @cached_property
    def _rank(self) -> Ints:
        """Random place of each example within its class: the first k of every class are a set nested in the next."""
        keys = np.random.default_rng((self.seed, 1)).permutation(len(self.codes))
        return rank_in_stratum(self.codes, keys)

    def _order(self, split: int) -> Ints:
        """The useful classes of one split in random order: training classes from the front, validation at the end."""
        return np.random.default_rng((self.seed, 2, split)).permutation(self.useful)

    @property
    def n_validation(self) -> int:
        """Number of validation classes."""
        return min(max(2, round(TEST_SHARE * len(self.useful))), len(self.useful) - 2)

    @property
    def n_training(self) -> int:
        """Number of classes left for training."""
        return len(self.useful) - self.n_validation

    @cached_property
    def ladder(self) -> Ladder:
        """The sizes of every task; `typical` is the median number of examples of a useful class."""
        typical = int(np.median(np.bincount(self.codes)[self.useful]))
        return Ladder(self.n_training, typical, self.max_examples)

    # -- sets

    def rung(self, stage: Stage, size: Size, split: int) -> Rung:
        """The pairs of one task at one size."""
        training = self._order(split)[: size.n_classes]
        if stage == "pair":
            return self._pair_rung(training, size, split)
        chosen, tested = (
            self._interexample(training, size.epcr)
            if stage == "interexample"
            else self._interclass(training, size.epcr, split)
        )
        pairs, labels = self._pairs(chosen, chosen, self.max_pairs, reflexive=True)
        test, truth = self._pairs(tested, chosen, TEST_PAIRS, reflexive=False)
        return Rung(stage, size, split, pairs, labels, test, truth, self.codes[chosen], self.codes[tested])

    def _pair_rung(self, classes: Ints, size: Size, split: int) -> Rung:
        """Test pairs are a share of the positive and one of the negative pairs: there may be few positives."""
        chosen = self._examples(classes, size.epcr)
        pairs, labels = self._pairs(chosen, chosen, self.max_pairs, reflexive=True)
        tested = np.zeros(len(pairs), dtype=bool)
        rng = np.random.default_rng((self.seed, 4, split))
        for label in (1, -1):
            members = rng.permutation(np.flatnonzero((labels == label) & ~pairs.reflexive))
            tested[members[: max(1, round(TEST_SHARE * len(members)))]] = True
        train, test = np.flatnonzero(~tested), np.flatnonzero(tested)
        parts = (pairs[train], labels[train], pairs[test], labels[test])
        return Rung("pair", size, split, *parts, self.codes[chosen], self.codes[chosen])

    def _interexample(self, classes: Ints, epcr: int) -> tuple[Ints, Ints]:
        """At most `epcr` examples of each class to train on, and the last ones of each class to test on."""
        counts = np.bincount(self.codes)
        held = np.maximum(2, np.rint(TEST_SHARE * counts)).astype(np.int64)
        kept = (counts - held)[self.codes]
        members = np.isin(self.codes, classes) & (kept >= 2)
        train = members & (self._rank < np.minimum(kept, epcr))
        return np.flatnonzero(train), np.flatnonzero(members & (self._rank >= kept))

    def _interclass(self, classes: Ints, epcr: int, split: int) -> tuple[Ints, Ints]:
        """At most `epcr` examples of each class to train on, and examples of the validation classes to test on."""
        validation = self._order(split)[self.n_training :]
        return self._examples(classes, epcr), self._examples(validation, max(2, TEST_EXAMPLES // len(validation)))

    def n_pairs(self, size: Size) -> int:
        """About how many pairs a training set of this size has."""
        return min(self.max_pairs, size.n_examples * (size.n_examples + 1) // 2)

    def everything(self, size: Size) -> Training:
        """Training pairs, labels and classes of a final fit: training and validation classes together."""
        order = np.random.default_rng((self.seed, 3)).permutation(self.useful)
        chosen = self._examples(order[: size.n_classes], size.epcr)
        pairs, labels = self._pairs(chosen, chosen, self.max_pairs, reflexive=True)
        if not self.square:
            return Training(pairs, labels, self.codes[chosen])
        # A model on a matrix must know the columns of all examples that it was given.
        left, right = pairs.columns
        return Training(Pairs(self.examples, chosen[left], chosen[right]), labels, self.codes)

    def _examples(self, classes: Ints, epcr: int) -> Ints:
        return np.flatnonzero(np.isin(self.codes, classes) & (self._rank < epcr))

    def _pairs(self, rows: Ints, columns: Ints, most: int, *, reflexive: bool) -> tuple[Pairs, Ints]:
        table = take_examples(self.examples, rows)
        if self.square:
            table = table[:, columns]
        return pairs_of(table, self.codes[rows], most, reflexive=reflexive, seed=self.seed)


def _count_useful(codes: Ints) -> int:
    """Number of classes with two examples or more, if they are enough for a search."""
    useful = int((np.bincount(codes) > 1).sum())
    if useful < FEWEST_CLASSES:
        raise InputError(
            f"selection needs at least {FEWEST_CLASSES} classes with two examples or more, got {useful}: it "
            "learns to tell classes apart. Give it more of them; labelled pairs without classes are for pl.PairSearch"
        )
    return useful


def _default_splits(n_classes: int) -> int:
    """With few classes an EER hangs on which of them are tested; the mean over splits steadies it."""
    return 5 if n_classes < 12 else 3 if n_classes < 60 else 1


def pairs_of(
    examples: Examples, classes: Any, most: int = TEST_PAIRS, *, reflexive: bool = False, seed: int = 0
) -> tuple[Pairs, Ints]:
    """All pairs of these examples with their labels, or all positives and random negatives up to `most` pairs."""
    counts = count_pairs(classes, reflexive=reflexive)
    if counts.positives + counts.negatives <= most:
        pairs = all_pairs(examples, reflexive=reflexive)
    else:
        positives = min(counts.positives, max(most // 2, most - counts.negatives))
        sampler = PairSampler(positives=positives, negatives=most - positives, reflexive=reflexive, seed=seed)
        pairs = sampler.draw(examples, classes)
    return pairs, pairs.labels(classes)
