"""The training and validation sets of staged selection: pair, interexample and interclass task, small to large.

Every set is nested in the larger ones of its stage: the same classes with more examples each, or the same examples
with more classes. A class with one example has no positive pair and takes no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.pairs import Pairs, all_pairs, class_codes
from pairlearn.selection.drawing import rank_in_stratum
from pairlearn.selection.sampling import PairSampler, count_pairs
from pairlearn.types import Examples, Ints

Stage = Literal["pair", "interexample", "interclass"]
STAGES: tuple[Stage, ...] = ("pair", "interexample", "interclass")
TEST_SHARE = 0.25
"""Of pairs, of examples of each class, of classes: what each task tests on."""
FIRST_LOOK, FEW_EXAMPLES = 150, 400
"""Examples of the smallest sets, and of the pair and interexample task: enough to tell bad kernels from good ones."""
TEST_EXAMPLES = 1000
TEST_PAIRS = 500_000


@dataclass(frozen=True)
class Size:
    """How much a rung trains on: at most `epcr` examples of each of `n_classes` classes."""

    n_classes: int
    epcr: int

    def __str__(self) -> str:
        return f"{self.n_classes} classes × {self.epcr}"


@dataclass(frozen=True, eq=False)
class Rung:
    """Training pairs and test pairs of one task at one size; `classes` are those of the training examples."""

    stage: Stage
    size: Size
    split: int
    training: Pairs
    labels: Ints
    test: Pairs
    truth: Ints
    classes: Ints


@dataclass(frozen=True, eq=False)
class Development:
    """The examples and classes given to selection, and the sets drawn from them."""

    examples: Examples
    codes: Ints
    seed: int
    n_splits: int
    max_examples: int
    max_pairs: int
    square: bool

    @classmethod
    def of(
        cls, X: Any, classes: Any, seed: int, n_splits: int | None, max_examples: int, max_pairs: int, *, square: bool
    ) -> Development:
        """Check the examples and their classes; `square` is for a matrix of similarities."""
        table = check_examples(X)
        codes = class_codes(classes, count_examples(table))
        if square and table.shape != (len(codes), len(codes)):
            raise InputError(f"a precomputed base needs the matrix of all {len(codes)} examples, got {table.shape}")
        useful = int((np.bincount(codes) > 1).sum())
        if useful < 4:
            raise InputError(
                f"selection needs at least 4 classes with two examples or more, got {useful}; without classes use "
                "scikit-learn's GridSearchCV on labelled pairs with a splitter of pl.selection"
            )
        splits = (5 if useful < 12 else 3 if useful < 60 else 1) if n_splits is None else n_splits
        return cls(table, codes, seed, splits, max_examples, max_pairs, square)

    # -- who is drawn

    @cached_property
    def useful(self) -> Ints:
        """Classes with two examples or more."""
        return np.flatnonzero(np.bincount(self.codes) > 1)

    @cached_property
    def _rank(self) -> Ints:
        """Random place of each example within its class."""
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
    def typical(self) -> int:
        """Median number of examples of a useful class."""
        return int(np.median(np.bincount(self.codes)[self.useful]))

    # -- sizes

    def pair_sizes(self) -> list[Size]:
        """Few examples of as many classes as they allow; before that still fewer, for a first look at everything."""
        sizes = []
        for examples in (FIRST_LOOK, FEW_EXAMPLES):
            epcr = max(2, min(self.typical, max(10, examples // self.n_training)))
            sizes.append(Size(max(2, min(self.n_training, examples // epcr)), epcr))
        return sizes if 1.5 * sizes[0].n_classes * sizes[0].epcr < sizes[1].n_classes * sizes[1].epcr else sizes[1:]

    def interexample_sizes(self) -> list[Size]:
        """The classes of the pair task with more and more examples; none when classes have fewer than 5."""
        n, top = self.pair_sizes()[-1].n_classes, self.typical - max(2, round(TEST_SHARE * self.typical))
        top = min(top, max(25, FEW_EXAMPLES // n))
        return [Size(n, epcr) for epcr in _ladder(3, top)] if top >= 3 else []

    def interclass_sizes(self, epcr: int) -> list[Size]:
        """Few examples of few classes for a first look at everything, then more and more classes."""
        most = max(2, min(self.n_training, self.max_examples // epcr))
        counts = _ladder(min(25, most), most)
        few = max(2, FIRST_LOOK // counts[0])
        return [Size(counts[0], few)] * (1.5 * few < epcr) + [Size(n, epcr) for n in counts]

    def widest(self) -> int:
        """Examples per class without any other advice."""
        return max(2, min(self.typical, max(25, self.max_examples // self.n_training)))

    # -- sets

    def rung(self, stage: Stage, size: Size, split: int) -> Rung:
        """The pairs of one task at one size."""
        order = self._order(split)
        if stage == "pair":
            return self._pair_rung(size, split, order)
        training = order[: size.n_classes]
        if stage == "interexample":
            chosen, tested = self._interexample(training, size.epcr)
        else:
            chosen = self._examples(training, size.epcr)
            validation = order[self.n_training :]
            tested = self._examples(validation, max(2, TEST_EXAMPLES // len(validation)))
        pairs, labels = self._pairs(chosen, chosen, self.max_pairs, reflexive=True)
        test, truth = self._pairs(tested, chosen, TEST_PAIRS, reflexive=False)
        return Rung(stage, size, split, pairs, labels, test, truth, self.codes[chosen])

    def everything(self, epcr: int) -> tuple[Pairs, Ints, Ints]:
        """Training pairs, labels and classes of the final fit: training and validation classes together."""
        order = np.random.default_rng((self.seed, 3)).permutation(self.useful)
        chosen = self._examples(order[: max(2, self.max_examples // epcr)], epcr)
        if not self.square:
            return (*self._pairs(chosen, chosen, self.max_pairs, reflexive=True), self.codes[chosen])
        # A model on a matrix must know the columns of all examples that it was given.
        pairs, labels = self._pairs(chosen, chosen, self.max_pairs, reflexive=True)
        left, right = pairs.columns
        return Pairs(self.examples, chosen[left], chosen[right]), labels, self.codes

    def _pair_rung(self, size: Size, split: int, order: Ints) -> Rung:
        chosen = self._examples(order[: size.n_classes], size.epcr)
        pairs, labels = self._pairs(chosen, chosen, self.max_pairs, reflexive=True)
        # A share of the positive and of the negative pairs: few examples may have few positives.
        tested = np.zeros(len(pairs), dtype=bool)
        rng = np.random.default_rng((self.seed, 4, split))
        for label in (1, -1):
            members = rng.permutation(np.flatnonzero((labels == label) & ~pairs.reflexive))
            tested[members[: max(1, round(TEST_SHARE * len(members)))]] = True
        train, test = np.flatnonzero(~tested), np.flatnonzero(tested)
        return Rung("pair", size, split, pairs[train], labels[train], pairs[test], labels[test], self.codes[chosen])

    def _interexample(self, classes: Ints, epcr: int) -> tuple[Ints, Ints]:
        """At most `epcr` examples of each class to train on, and the last ones of each class to test on."""
        counts = np.bincount(self.codes)
        held = np.maximum(2, np.rint(TEST_SHARE * counts)).astype(np.int64)
        kept = (counts - held)[self.codes]
        members = np.isin(self.codes, classes) & (kept >= 2)
        train = members & (self._rank < np.minimum(kept, epcr))
        return np.flatnonzero(train), np.flatnonzero(members & (self._rank >= kept))

    def _examples(self, classes: Ints, epcr: int) -> Ints:
        return np.flatnonzero(np.isin(self.codes, classes) & (self._rank < epcr))

    def _pairs(self, rows: Ints, columns: Ints, most: int, *, reflexive: bool) -> tuple[Pairs, Ints]:
        table = take_examples(self.examples, rows)
        if self.square:
            table = table[:, columns]
        return pairs_of(table, self.codes[rows], most, reflexive=reflexive, seed=self.seed)


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


def _ladder(low: int, high: int) -> list[int]:
    """From about low to high, every step nearly doubled."""
    steps = [high]
    while steps[0] > 1.4 * low:
        steps.insert(0, max(low, (steps[0] + 1) // 2))
    return steps
