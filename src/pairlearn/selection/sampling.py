"""Which pairs to train on: chosen from the examples and their classes, without listing the pairs left out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.data.synthetic import Seed, sliding_memory_pairs
from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples
from pairlearn.pairs import Columns, Pairs, all_pairs, class_codes
from pairlearn.selection.mining import HardNegatives, HighestScores, offer_all_negatives, offer_columns
from pairlearn.selection.numbering import (
    Groups,
    check_count,
    draw_from_ranges,
    draw_numbers,
    draw_untaken,
    even_quotas,
    joined,
    no_columns,
    random_quotas,
)
from pairlearn.types import Examples
from pairlearn.words import counted


@dataclass(frozen=True)
class PairCounts:
    """How many pairs of each label the examples have."""

    positives: int
    negatives: int


def count_pairs(classes: Any, *, reflexive: bool = True) -> PairCounts:
    """Number of positive and of negative pairs of examples with these classes.

    >>> count_pairs(["u", "u", "v"])
    PairCounts(positives=4, negatives=2)
    """
    groups = Groups.of(classes)
    return PairCounts(int(groups.pairs_within(reflexive).sum()), groups.negatives().size)


@dataclass(frozen=True)
class PairSampler:
    """Training pairs (i, j), i ≤ j, each at most once: positives first, then negatives.

    `positives`, `negatives` are numbers of pairs (None: all), `ratio` is negatives per positive instead.
    `per_class_cap` allows at most so many positive pairs of a class, and so many examples of it in negatives.
    `balanced` spreads positives evenly over classes and negatives over pairs of classes, as far as they have pairs.
    `reflexive` counts the pairs (i, i) among the positives. `hard` mines the negatives with a scorer.
    Equal seeds give equal pairs. All pairs without a cap come in row order, columns by arithmetic.

    >>> import numpy as np
    >>> X, classes = np.arange(6.0).reshape(-1, 1), [0, 0, 0, 1, 1, 2]
    >>> pairs = PairSampler(ratio=0.5, reflexive=False).draw(X, classes)
    >>> pairs.left[:4].tolist(), pairs.right[:4].tolist(), pairs.labels(classes).tolist()
    ([0, 0, 1, 3], [1, 2, 2, 4], [1, 1, 1, 1, -1, -1])
    """

    positives: int | None = None
    negatives: int | None = None
    ratio: float | None = None
    per_class_cap: int | None = None
    balanced: bool = False
    reflexive: bool = True
    hard: HardNegatives | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_count("positives", self.positives)
        check_count("negatives", self.negatives)
        check_count("per_class_cap", self.per_class_cap, least=1)
        if self.ratio is None:
            return
        if self.negatives is not None:
            raise InputError("negatives and ratio both say how many negatives to keep; give one of them")
        if not (math.isfinite(self.ratio) and self.ratio >= 0):
            raise InputError(f"ratio is the number of negatives per positive, finite and ≥ 0, got {self.ratio!r}")

    def draw(self, examples: Examples, classes: Any) -> Pairs:
        """The chosen pairs of these examples, whose classes are given one per example."""
        table = check_examples(examples)
        groups = Groups.of(classes, count_examples(table))
        if self._everything:
            return all_pairs(examples, self.reflexive)
        rng = np.random.default_rng(self.seed)
        same = self._draw_positives(groups, rng)
        other = self._draw_negatives(table, groups, len(same[0]), rng)
        if len(same[0]) + len(other[0]) == 0:
            raise InputError("no pairs were asked for; set positives or negatives to at least 1")
        return Pairs(examples, *joined(same, other))

    @property
    def _everything(self) -> bool:
        limits = (self.positives, self.negatives, self.ratio, self.per_class_cap, self.hard)
        return all(limit is None for limit in limits)

    def _draw_positives(self, groups: Groups, rng: np.random.Generator) -> Columns:
        within = groups.pairs_within(self.reflexive)
        limits = within if self.per_class_cap is None else np.minimum(within, self.per_class_cap)
        n = _asked("positives", self.positives, int(limits.sum()), self._hint())
        if self.balanced:
            numbers = draw_from_ranges(rng, within, even_quotas(rng, limits, n))
        elif self.per_class_cap is not None:
            numbers = draw_from_ranges(rng, within, random_quotas(rng, limits, n))
        else:
            numbers = draw_numbers(rng, int(within.sum()), n)
        return groups.positives(self.reflexive).columns(numbers)

    def _draw_negatives(self, table: Examples, groups: Groups, n_positives: int, rng: np.random.Generator) -> Columns:
        groups = groups if self.per_class_cap is None else groups.capped(self.per_class_cap, rng)
        wanted = self.negatives if self.ratio is None else round(self.ratio * n_positives)
        n = _asked("negatives", wanted, groups.negatives().size, self._hint())
        if self.hard is None:
            return self._random_negatives(groups, n, rng)
        n_random = round(self.hard.random_share * n)
        mined = self._mine(self.hard, table, groups, n - n_random, rng)
        return joined(mined, draw_untaken(groups.negatives(), mined, n_random, rng))

    def _random_negatives(self, groups: Groups, n: int, rng: np.random.Generator) -> Columns:
        if self.balanced:
            return groups.even_negatives(n, rng)
        numbered = groups.negatives()
        return numbered.columns(draw_numbers(rng, numbered.size, n))

    def _mine(self, hard: HardNegatives, table: Examples, groups: Groups, n: int, rng: np.random.Generator) -> Columns:
        if n == 0:
            return no_columns()
        best = HighestScores(n)
        if hard.candidates is None:
            offer_all_negatives(best, hard, table, groups)
        else:
            _asked("candidates", hard.candidates, groups.negatives().size, self._hint())
            if n > hard.candidates:
                wanted, scored = counted(n, "hard negative"), counted(hard.candidates, "candidate")
                raise InputError(f"{wanted} cannot be among {scored}; score more of them")
            offer_columns(best, hard, table, self._random_negatives(groups, hard.candidates, rng))
        return best.columns()

    def _hint(self) -> str:
        return "" if self.per_class_cap is None else " (or raise per_class_cap)"


def sliding_memory(examples: Examples, classes: Any, *, memory: int, epcr: int) -> Pairs:
    """The pairs of each new class with itself and with the `memory` classes before it, `epcr` examples of each.

    >>> import numpy as np
    >>> sliding_memory(np.eye(6), [0, 0, 1, 1, 2, 2], memory=1, epcr=2)
    Pairs(14 pairs of 6 examples)
    """
    table = check_examples(examples)
    codes = class_codes(classes, count_examples(table))
    couples = list(sliding_memory_pairs(codes, memory, epcr))
    return Pairs(examples, *(np.concatenate(column) for column in zip(*couples, strict=True)))


def _asked(name: str, asked: int | None, available: int, hint: str) -> int:
    """How many pairs to draw, None for all; asking for more than there are is an error, not a smaller sample."""
    if asked is not None and asked > available:
        raise InputError(
            f"{asked} {name} were asked for, but only {available} exist; ask for at most {available}{hint}"
        )
    return available if asked is None else asked
