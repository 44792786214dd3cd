"""Training and test pairs as the question will be asked: what is new in a test pair is new to the training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs import Pairs
from pairlearn.selection.splits import ColdStartSplit, ExampleSplit, PairSplit, Split
from pairlearn.selection.tasks import Side
from pairlearn.types import Ints

UNSEEN = {
    "none": "new pairs of known examples",
    "left": "pairs with new left examples",
    "right": "pairs with new right examples",
    "both": "pairs of two new examples",
}
"""What the pairs of a test are new in."""
VALIDATION_SHARE = 0.25
"""Share of the pairs, or of the examples of a side, that judges the trials of one split."""


def check_unseen(pairs: Pairs, unseen: Any) -> None:
    """Refuse what is no task, or none of these tables."""
    if not isinstance(unseen, str):
        return
    if unseen not in UNSEEN:
        raise InputError(f"unseen is one of {', '.join(UNSEEN)}, or a list of (training, test) rows; got {unseen!r}")
    if unseen in ("left", "right") and pairs.right_examples is None:
        raise InputError(f"unseen={unseen!r} is for two tables, with right_examples; for one table use unseen='both'")


def splits(pairs: Pairs, labels: Any, unseen: Any, share: float, most: int, seed: int) -> Iterator[Split]:
    """(training, test) rows, `most` times at random; or those that the user gave, as they are.

    labels: of links, so that both halves have both of them; None for others.
    """
    check_unseen(pairs, unseen)
    if not isinstance(unseen, str):
        return iter(_own(unseen, pairs, labels))
    options: dict[str, Any] = {"test_share": share, "n_splits": most, "random_state": seed}
    if unseen == "none":
        return PairSplit(**options).split(pairs, labels)
    if pairs.right_examples is None:
        return ExampleSplit(None, **options).split(pairs, labels)
    return ColdStartSplit(cast(Side, unseen), **options).split(pairs, labels)


def _own(given: Any, pairs: Pairs, labels: Any) -> list[Split]:
    """Splits of a splitter or a list, as whole numbers of rows; a row in both halves of one is refused."""
    listed: Iterable[Any] = given.split(pairs, labels) if hasattr(given, "split") else given
    found = [(_rows(train, len(pairs)), _rows(test, len(pairs))) for train, test in listed]
    if not found:
        raise InputError("unseen is an empty list of splits; give at least one (training, test)")
    for train, test in found:
        if len(np.intersect1d(train, test)):
            raise InputError("a split has pairs that are in its training and in its test; part them")
    return found


def _rows(rows: Any, n_pairs: int) -> Ints:
    array = np.asarray(rows)
    array = np.flatnonzero(array) if array.dtype == bool else array
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= n_pairs:
        raise InputError(
            f"rows of a split are numbers of pairs from 0 to {n_pairs - 1}, or a mask, and some are needed"
        )
    return array.astype(np.int64)
