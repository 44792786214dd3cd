"""Hard negatives: the pairs of different classes that a scorer takes for positives most firmly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import take_examples
from pairlearn.pairs import Columns, Pairs
from pairlearn.selection.numbering import Groups, check_count
from pairlearn.types import Examples, Floats, Ints

SMALL_BLOCK = 256  # pairs scored at once when a scorer knows blocks only: their block stays below 256²


@dataclass(frozen=True)
class HardNegatives:
    """Choose the negatives that a scorer takes for positives most firmly.

    `scorer` has `decision_function(pairs)` or `score_block(probe, gallery)`, e.g. the machine learnt so far.
    `candidates` negatives are drawn and scored (None: all there are, by blocks where the scorer can), `batch` at
    a time; `random_share` of the negatives is not mined but drawn from the others. Equal scores: first pair first.

    >>> import numpy as np, pairlearn as pl
    >>> X, classes = np.array([[0.0], [1.0], [1.5], [9.0]]), ["u", "u", "v", "w"]
    >>> hard = HardNegatives(pl.EuclidBaseline())
    >>> near = pl.selection.PairSampler(positives=0, negatives=2, hard=hard).draw(X, classes)
    >>> list(zip(near.left.tolist(), near.right.tolist()))
    [(1, 2), (0, 2)]
    """

    scorer: Any
    candidates: int | None = None
    random_share: float = 0.0
    batch: int = 2**18

    def __post_init__(self) -> None:
        check_count("candidates", self.candidates)
        if not 0.0 <= self.random_share <= 1.0:
            raise InputError(f"random_share must lie from 0 to 1, got {self.random_share!r}; try 0.5")
        if not (isinstance(self.batch, int | np.integer) and self.batch >= 1):
            raise InputError(f"batch must be an integer ≥ 1, got {self.batch!r}; try 2**18")
        if not (hasattr(self.scorer, "decision_function") or hasattr(self.scorer, "score_block")):
            raise InputError(
                f"{type(self.scorer).__name__} has neither decision_function(pairs) nor score_block(probe, gallery); "
                "pass a fitted machine or a baseline such as pl.EuclidBaseline()"
            )


class HighestScores:
    """The n pairs of the highest scores so far, and less than n more that wait to be compared with them.

    No score below `floor` can be among them. Memory is that of 2n pairs and one batch, however many are offered.
    """

    def __init__(self, n: int) -> None:
        self.n, self.floor, self.waiting = n, -np.inf, 0
        self.parts: list[tuple[Floats, Ints, Ints]] = []

    def offer(self, scores: Floats, left: Ints, right: Ints) -> None:
        """Take those of these pairs that may be among the highest; compare when n wait, so that sorting stays cheap."""
        good = scores >= self.floor
        self.parts.append((scores[good], left[good], right[good]))
        self.waiting += int(good.sum())
        if self.waiting >= self.n:
            self._compare()

    def columns(self) -> Columns:
        """HighestScores first; equal scores by pair."""
        self._compare()
        _, left, right = self.parts[0]
        return left, right

    def _compare(self) -> None:
        scores, left, right = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        if len(scores) >= self.n:
            self.floor = float(np.partition(scores, -self.n)[-self.n])
        good = np.nonzero(scores >= self.floor)[0]
        order = good[np.lexsort((right[good], left[good], -scores[good]))][: self.n]
        self.parts, self.waiting = [(scores[order], left[order], right[order])], 0


def offer_all_negatives(best: HighestScores, hard: HardNegatives, table: Examples, groups: Groups) -> None:
    """Score every negative pair: by blocks where the scorer can, since a block of p × g pairs costs p + g examples."""
    if hasattr(hard.scorer, "score_block"):
        _offer_blocks(best, hard, table, groups)
        return
    numbered = groups.negatives()
    for begin in range(0, numbered.size, hard.batch):
        numbers = np.arange(begin, min(begin + hard.batch, numbered.size))
        offer_columns(best, hard, table, numbered.columns(numbers))


def _offer_blocks(best: HighestScores, hard: HardNegatives, table: Examples, groups: Groups) -> None:
    """Score all negatives by square blocks on and above the diagonal."""
    by_index = np.argsort(groups.order)
    kept, codes = groups.order[by_index], np.repeat(np.arange(len(groups.sizes)), groups.sizes)[by_index]
    side = max(1, math.isqrt(hard.batch))
    parts = [slice(begin, begin + side) for begin in range(0, len(kept), side)]
    for number, rows in enumerate(parts):
        probe = take_examples(table, kept[rows])
        for columns in parts[number:]:
            block = hard.scorer.score_block(probe, take_examples(table, kept[columns]))
            block = _check_scores(block, (len(kept[rows]), len(kept[columns])))
            wanted = (codes[rows, None] != codes[columns]) & (block >= best.floor)
            i, j = np.nonzero(np.triu(wanted, 1) if columns is rows else wanted)
            best.offer(block[i, j], kept[rows][i], kept[columns][j])


def offer_columns(best: HighestScores, hard: HardNegatives, table: Examples, columns: Columns) -> None:
    """Score these pairs, `hard.batch` at a time."""
    pairs = Pairs(table, *columns)
    for begin in range(0, len(pairs), hard.batch):
        part = pairs[begin : begin + hard.batch]
        best.offer(_scores(hard.scorer, part), part.left, part.right)


def _scores(scorer: Any, pairs: Pairs) -> Floats:
    if hasattr(scorer, "decision_function"):
        return _check_scores(scorer.decision_function(pairs), (len(pairs),))
    parts = [pairs[begin : begin + SMALL_BLOCK] for begin in range(0, len(pairs), SMALL_BLOCK)]
    return np.concatenate([_scores_by_block(scorer, part) for part in parts])


def _scores_by_block(scorer: Any, pairs: Pairs) -> Floats:
    """The block of all distinct left with all distinct right examples, and from it the pairs that were asked for."""
    (left, i), (right, j) = (np.unique(column, return_inverse=True) for column in pairs.columns)
    probe, gallery = (take_examples(pairs.examples, side) for side in (left, right))
    return _check_scores(scorer.score_block(probe, gallery), (len(left), len(right)))[i, j]


def _check_scores(scores: Any, shape: tuple[int, ...]) -> Floats:
    values = np.asarray(scores)
    if values.shape != shape:
        raise InputError(f"the scorer returned scores of shape {values.shape}, not {shape}; it must give one per pair")
    if np.isnan(values).any():
        raise InputError("the scorer returned NaN for some pairs; check it on pl.Pairs(examples, left, right) first")
    return values
