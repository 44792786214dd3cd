"""The records of another table (or of the same) that share most with each record: an inverted index of terms.

What a record's nearest others are decides two things: which pairs are worth a look (`candidates`), and how a pair
stands beside its rivals. A pair whose records are each other's nearest by far is a match far more often than its
similarity tells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairlearn import loops
from pairlearn.records.compare.terms import Rows, cosines
from pairlearn.types import Floats, Ints

BUDGET = 30_000
"""Entries of the index that are looked at for one record; common terms, which tell least, are left out beyond it."""


class Nearest(NamedTuple):
    """The k nearest of every record, nearest first, and their cosines; (n, k) each, −1 where there are fewer."""

    found: Ints
    scores: Floats

    def rivals(self, rows: Ints, others: Ints, scores: Floats) -> tuple[Floats, Floats]:
        """For pairs (row, other) with these cosines: how far they are above the best rival, and 1/(1 + rivals above).

        >>> nearest = Nearest(np.array([[3, 1]]), np.array([[0.9, 0.5]]))
        >>> margin, rank = nearest.rivals(np.array([0, 0]), np.array([3, 1]), np.array([0.9, 0.5]))
        >>> margin.round(2).tolist(), rank.tolist()
        ([0.4, -0.4], [1.0, 0.5])
        """
        rival = np.where(self.found[rows] == others[:, None], 0.0, self.scores[rows])
        above = (rival > scores[:, None] + 1e-6).sum(axis=1)
        return scores - rival.max(axis=1), 1.0 / (1.0 + above)


def nearest(queries: Rows, index: Rows, k: int, *, same: bool, budget: int = BUDGET) -> Nearest:
    """The k rows of `index` nearest to each query; `same` says that both are one table, where nobody finds himself.

    >>> from pairlearn.records.compare.terms import Terms
    >>> texts = ["red ale", "pale porter", "red ale new"]
    >>> rows = Terms.learn("words", texts).rows(texts)
    >>> nearest(rows, rows, 1, same=True).found.ravel().tolist()
    [2, -1, 0]
    """
    columns = index.matrix().tocsc()
    n = len(queries.indptr) - 1
    found, scores = np.empty((n, k), dtype=np.int64), np.empty((n, k), dtype=np.float32)
    own = np.arange(n) if same else np.full(n, -1)
    lists = columns.indptr.astype(np.int64), columns.indices, columns.data
    loops.terms.nearest_rows(*queries, *lists, len(index.indptr) - 1, own, budget, found, scores)
    return _exact(queries, index, found)


def _exact(queries: Rows, index: Rows, found: Ints) -> Nearest:
    """Whole cosines instead of those of the rare terms, in their order."""
    n, k = found.shape
    rows, others = np.repeat(np.arange(n), k), found.ravel()
    scores = np.where(others >= 0, cosines(queries, index, rows, np.maximum(others, 0)), 0.0).reshape(n, k)
    order = np.argsort(-scores, axis=1, kind="stable")
    return Nearest(np.take_along_axis(found, order, axis=1), np.take_along_axis(scores, order, axis=1))
