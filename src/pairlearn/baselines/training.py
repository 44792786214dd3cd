"""What baselines learn from: rows of numbers, pairs of them, labels, and classes.

Everything is learnt from the examples that the training pairs refer to, and from no others. Classes, where a
baseline needs them, are the connected components of the positive pairs, or `fit(pairs, y, classes=…)`. Reflexive
pairs (a, a) are left out of training: their difference is zero whatever the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pairlearn.errors import ConflictWarning, InputError, warn_user
from pairlearn.pairs import Pairs, as_pairs, check_labels, class_codes
from pairlearn.types import Examples, Floats, Ints


@dataclass(frozen=True)
class TrainingRows:
    """Rows in use, pairs of their numbers without reflexive ones, labels ±1 and perhaps classes.

    `n_features` is the dimension of the space in which the rows lie, where they are coordinates in a part of it.
    """

    rows: Floats
    left: Ints
    right: Ints
    labels: Floats
    classes: Ints | None = None
    n_features: int | None = None

    @property
    def dimension(self) -> int:
        """Of the space in which the rows lie."""
        return self.rows.shape[1] if self.n_features is None else self.n_features

    @cached_property
    def groups(self) -> Ints:
        """Class number of each row: as given, else the connected components of the positive pairs."""
        if self.classes is not None:
            return self.classes
        return joined_classes(self.left, self.right, self.labels, len(self.rows))


def joined_classes(left: Ints, right: Ints, labels: Floats, n_examples: int) -> Ints:
    """Class number of each example, (n_examples,): the connected components of the positive pairs.

    What is the same as the same thing is the same: positive pairs (a, b) and (b, c) put a, b and c into one class. A
    wrong positive label therefore merges two classes; negative pairs inside a class give that away, and are counted
    in a warning. Examples without a positive pair are classes of their own.

    >>> joined_classes(np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([1.0, 1.0, -1.0]), 5).tolist()
    [0, 0, 0, 1, 2]
    """
    a, b = left[labels > 0], right[labels > 0]
    edges = sparse.coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n_examples, n_examples))
    classes: Ints = connected_components(edges.tocsr(), directed=False)[1]
    count = int(np.sum((labels < 0) & (classes[left] == classes[right]) & (left != right)))
    if count:
        what = "1 negative pair joins" if count == 1 else f"{count} negative pairs join"
        warn_user(
            f"{what} examples that positive pairs connect, so classes may have been merged; "
            "correct these labels or pass fit(pairs, y, classes=…)",
            ConflictWarning,
        )
    return classes


def training_rows(pairs: Pairs, y: Any, classes: Any = None) -> TrainingRows:
    """The part of pairs and labels that baselines learn from: examples in use, no reflexive pairs."""
    labels, (compact, (used,)) = check_labels(y, len(pairs)), pairs.compacted()
    left, right = compact.columns
    proper = left != right
    left, right, labels = left[proper], right[proper], labels[proper]
    if len(np.unique(labels)) < 2:
        kind = "positive" if not np.any(labels > 0) else "negative"
        raise InputError(f"no {kind} pair joins two different examples; add some such pairs")
    codes = None if classes is None else class_codes(classes, pairs.n_examples, used)
    return TrainingRows(_sized(compact.examples.astype(np.float64)), left, right, labels, codes)


def _sized(rows: Floats) -> Floats:
    """The rows, if their fourth powers neither overflow nor vanish."""
    largest = float(np.abs(rows).max(initial=0.0))
    if largest > 0 and not 1e-60 < largest < 1e60:
        raise InputError(f"the largest feature is {largest:.0e}, too extreme for covariances; rescale the examples")
    return rows


def rows_of_numbers(pairs: Pairs) -> Pairs:
    """The pairs, if their examples are rows of numbers in one table, dense or sparse."""
    message = "this baseline compares rows of numbers in one table; pass a 2-D array or a sparse matrix"
    X = pairs.require_one_table(message).examples
    if not (sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)):
        raise InputError(message)
    return pairs


def dense_pairs(X: Any) -> Pairs:
    """Pairs over one dense table of rows."""
    pairs = rows_of_numbers(as_pairs(X))
    dense_rows(pairs.examples)
    return pairs


def dense_rows(X: Examples) -> Floats:
    """The table, if it is a dense 2-D array."""
    if sparse.issparse(X):
        raise InputError(
            "this baseline needs dense rows; put pl.OnExamples(TruncatedSVD(100)) before it in a pipeline, "
            "or pass examples.toarray() if that fits in memory"
        )
    if not (isinstance(X, np.ndarray) and X.ndim == 2):
        raise InputError("this baseline compares rows of numbers; pass a 2-D array")
    return X
