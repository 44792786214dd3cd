"""What is known of the nearest examples: a baseline for links and numbers of pairs with examples that are new."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.labelled.strengths import finite_numbers
from pairlearn.examples import take_examples
from pairlearn.kernels import Kernel, TwoDomains, as_kernel
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.types import Examples, Floats, Ints

DECAY = 0.5
"""How much less each further neighbour counts."""


class NeighbourMeans(BaseEstimator):
    """Σ w_ac·w_bd·y_cd / Σ w_ac·w_bd over known pairs (c, d) of the k nearest c to a and d to b; else the overall mean.

    w is 1 of the nearest, ½ of the next one, ¼ … An example that was learnt from is its own nearest. In one table a
    pair counts in both orders, the other one with `sign`.

    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> pairs = Pairs(X, [0, 2], [0, 0], right_examples=X)
    >>> nearest = NeighbourMeans(n_neighbours=1).fit(pairs, [1.0, 3.0])
    >>> nearest.decision_function(Pairs(X, [1], [0], right_examples=X)).tolist()
    [1.0]
    """

    def __init__(self, base: Any = "linear", n_neighbours: int = 5, sign: int = 1) -> None:
        self.base = base
        self.n_neighbours = n_neighbours
        self.sign = sign

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the known pairs and their numbers."""
        pairs = as_pairs(X)
        values = finite_numbers(y, len(pairs))
        left, right = pairs.columns
        self.mean_ = float(values.mean()) if self.sign > 0 else 0.0
        if pairs.right_examples is None:
            left, right = np.concatenate([left, right]), np.concatenate([right, left])
            values = np.concatenate([values, self.sign * values])
        kernels = _sides(self.base)
        self.sides_ = _Side.of(kernels[0], pairs.examples, left), _Side.of(kernels[1], pairs.right_table, right)
        places = tuple(
            np.searchsorted(side.rows, column) for side, column in zip(self.sides_, (left, right), strict=True)
        )
        shape = tuple(len(side.rows) for side in self.sides_)
        self.sums_, self.counts_ = (
            sparse.coo_array((column, places), shape=shape).tocsr() for column in (values, np.ones(len(values)))
        )
        return self

    def decision_function(self, X: Any) -> Floats:
        """The mean over the neighbours of both sides, (n_pairs,)."""
        check_is_fitted(self)
        pairs = as_pairs(X)
        found = [self._averaged(pairs, table) for table in (self.sums_, self.counts_)]
        return np.where(found[1] > 0, found[0] / np.where(found[1] > 0, found[1], 1.0), self.mean_)

    def _averaged(self, pairs: Pairs, table: Any) -> Floats:
        """Σ w_ac·w_bd·table_cd of every pair, (n_pairs,)."""
        tables, columns = (pairs.examples, pairs.right_table), pairs.columns
        weights, places = [], []
        for side, examples, column in zip(self.sides_, tables, columns, strict=True):
            asked, place = np.unique(column, return_inverse=True)
            weights.append(side.weights(examples, asked, self.n_neighbours))
            places.append(place)
        return np.asarray((weights[0] @ table @ weights[1].T)[places[0], places[1]]).ravel()


def _sides(base: Any) -> tuple[Kernel, Kernel]:
    kernel = as_kernel(base)
    return (kernel.left, kernel.right) if isinstance(kernel, TwoDomains) else (kernel, kernel)


class _Side:
    """The examples of one side that were learnt from, by their rows in the table, and what compares them."""

    def __init__(self, kernel: Kernel, known: Examples, rows: Ints, squares: Floats) -> None:
        self.kernel, self.known, self.rows, self.squares = kernel, known, rows, squares

    @classmethod
    def of(cls, kernel: Kernel, table: Examples, column: Ints) -> _Side:
        rows = np.unique(column)
        known = take_examples(table, rows)
        if kernel.precomputed:
            return cls(kernel, known, rows, np.asarray(table)[rows, rows])
        resolved = kernel.resolved(known)
        return cls(resolved, known, rows, np.asarray(resolved.diag(known)))

    def weights(self, table: Examples, asked: Ints, k: int) -> Any:
        """Weights of the known examples (columns) for those that are asked for (rows), sparse."""
        examples = take_examples(table, asked)
        alike = np.asarray(examples)[:, self.rows] if self.kernel.precomputed else self.kernel(examples, self.known)
        # −½‖a − c‖² but for a term of a alone, which changes no order.
        nearest = np.argsort(0.5 * self.squares - alike, axis=1, kind="stable")[:, :k]
        values = np.tile(DECAY ** np.arange(nearest.shape[1]), len(asked))
        rows = np.repeat(np.arange(len(asked)), nearest.shape[1])
        return sparse.csr_array((values, (rows, nearest.ravel())), shape=(len(asked), len(self.rows)))
