"""Filtering a stream: one example after the other is called relevant or not, then its label is told.

Every filter has `predict_one(x)` and `learn_one(x, y)` with y = +1 (relevant) or −1; `run_filter` predicts before it
learns. Examples are rows of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import check_examples
from pairlearn.metrics.online import OnlinePseudoMetric
from pairlearn.pairs import check_signs
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted


class Filter(Protocol):
    """Predicts one example, then learns from it."""

    def predict_one(self, x: Floats) -> int:
        """+1 (relevant) or −1."""

    def learn_one(self, x: Floats, y: int) -> Any:
        """Learn from one example."""


@dataclass(frozen=True, eq=False, repr=False)
class Filtered:
    """What a filter predicted, (n,), beside the labels."""

    predictions: Ints
    labels: Ints

    def __repr__(self) -> str:
        return f"Filtered({counted(len(self.labels), 'example')}, balanced_error={self.balanced_error:.3g})"

    @property
    def false_positives(self) -> float:
        """Share of the irrelevant examples that were called relevant."""
        return float(np.mean(self.predictions[self.labels < 0] > 0))

    @property
    def false_negatives(self) -> float:
        """Share of the relevant examples that were called irrelevant."""
        return float(np.mean(self.predictions[self.labels > 0] < 0))

    @property
    def balanced_error(self) -> float:
        """Mean of both shares, which does not depend on how rare relevant examples are."""
        return 0.5 * (self.false_positives + self.false_negatives)


def run_filter(
    learner: Filter, X: Examples, y: Any, progress: Callable[[Iterable[int]], Iterable[int]] = iter
) -> Filtered:
    """Predict each row of X before learning from it.

    progress: wraps the row numbers, for a progress bar.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0], [1.0, 0.0]])
    >>> run_filter(Perceptron(), X, [1, -1, 1, -1, 1]).predictions.tolist()
    [-1, 1, 1, -1, 1]
    """
    rows = check_examples(X)
    if not (isinstance(rows, np.ndarray) or sparse.issparse(rows)):
        raise InputError(f"a filter takes rows of numbers, got a {type(X).__name__} of other things; pass a 2-D array")
    labels = check_signs(y, rows.shape[0], "+1 (relevant) or -1").astype(np.int64)
    if set(labels.tolist()) != {-1, 1}:
        raise InputError("a filter is judged by relevant (+1) and irrelevant (-1) examples; both are needed")
    predictions = np.empty_like(labels)
    for k in progress(range(len(labels))):
        x = rows[[k]].toarray().ravel() if sparse.issparse(rows) else np.asarray(rows[k], dtype=np.float64)
        predictions[k] = learner.predict_one(x)
        learner.learn_one(x, int(labels[k]))
    return Filtered(predictions, labels)


class NearestRelevant:
    """Relevant is what is nearer than b to the nearest relevant example so far, by a metric that learns from this pair.

    metric: an `OnlinePseudoMetric` or `KernelPseudoMetric`; a new `OnlinePseudoMetric` unless given.

    >>> found = NearestRelevant()
    >>> for x, y in [([0.0, 0.0], 1), ([3.0, 0.0], -1), ([0.0, 2.0], 1)]:
    ...     found = found.learn_one(np.array(x), y)
    >>> found.predict_one(np.array([0.1, 1.0])), found.predict_one(np.array([2.9, 1.0]))
    (1, -1)
    """

    def __init__(self, metric: Any = None) -> None:
        self.metric = OnlinePseudoMetric() if metric is None else metric
        self.relevant: list[Any] = []
        self._known: tuple[tuple[int, int], Floats, Floats] | None = None

    def predict_one(self, x: Any) -> int:
        """Irrelevant while nothing relevant was seen."""
        if not self.relevant:
            return -1
        return 1 if not self.metric.is_learnt or self._distances(x).min() < self.metric.threshold_ else -1

    def learn_one(self, x: Any, y: int) -> Self:
        """Teach the metric the pair of x and its nearest relevant example, then remember x if it is relevant."""
        if self.relevant:
            nearest = int(self._distances(x).argmin()) if self.metric.is_learnt else len(self.relevant) - 1
            self.metric.learn_one(x, self.relevant[nearest], y)
        if y > 0:
            self.relevant.append(x)
        return self

    def _distances(self, x: Any) -> Floats:
        """d² to all relevant examples; what depends on them alone is kept until the metric changes."""
        state, span = self.metric.state_, self.metric.span_
        stamp = (state.n_updates, len(self.relevant))
        if self._known is None or self._known[0] != stamp:
            rows = span.coordinates(_table(self.relevant))
            self._known = stamp, rows, np.einsum("ij,ij->i", rows @ state.matrix, rows)
        _, rows, squares = self._known
        own = span.coordinates(_table([x]))[0]
        product = state.matrix @ own
        return np.maximum(squares - 2.0 * (rows @ product) + own @ product, 0.0)


def _table(examples: list[Any]) -> Any:
    return np.stack(examples) if isinstance(examples[0], np.ndarray) else examples


class PAUM:
    """The perceptron with uneven margins: w ← w + yx, b ← b + yR² whenever y(⟨w, x⟩ + b) ≤ τ_y; R = longest x so far.

    margin_relevant, margin_irrelevant: τ₊ and τ₋. With rare relevant examples τ₊ should be the larger one.

    >>> paum = PAUM(margin_relevant=1.0).learn_one(np.array([1.0, 0.0]), 1)
    >>> paum.predict_one(np.array([0.5, 0.5]))
    1
    """

    def __init__(self, margin_relevant: float = 1.0, margin_irrelevant: float = 0.0) -> None:
        self.margin_relevant, self.margin_irrelevant = margin_relevant, margin_irrelevant
        self.weights: Floats | None = None
        self.bias, self.radius = 0.0, 0.0

    def predict_one(self, x: Floats) -> int:
        """The sign of ⟨w, x⟩ + b, −1 at zero."""
        return 1 if self._score(x) > 0 else -1

    def learn_one(self, x: Floats, y: int) -> Self:
        """Update when the margin is not kept."""
        self.radius = max(self.radius, float(x @ x))
        margin = self.margin_relevant if y > 0 else self.margin_irrelevant
        if y * self._score(x) <= margin:
            self.weights = y * x if self.weights is None else self.weights + y * x
            self.bias += y * self.radius
        return self

    def _score(self, x: Floats) -> float:
        return self.bias if self.weights is None else float(self.weights @ x) + self.bias


class Perceptron(PAUM):
    """Rosenblatt's perceptron: no margins.

    >>> Perceptron().learn_one(np.array([1.0]), -1).predict_one(np.array([2.0]))
    -1
    """

    def __init__(self) -> None:
        super().__init__(0.0, 0.0)


class NearestNeighbour:
    """The label of the nearest example so far, by Euclid; irrelevant at first.

    >>> near = NearestNeighbour().learn_one(np.array([0.0]), 1).learn_one(np.array([4.0]), -1)
    >>> near.predict_one(np.array([1.0])), near.predict_one(np.array([3.0]))
    (1, -1)
    """

    def __init__(self) -> None:
        self._rows, self._squares = np.zeros((0, 0)), np.zeros(0)
        self.labels: list[int] = []

    def predict_one(self, x: Floats) -> int:
        """The first of the nearest examples decides."""
        n = len(self.labels)
        if not n:
            return -1
        return self.labels[int(np.argmin(self._squares[:n] - 2.0 * (self._rows[:n] @ x)))]

    def learn_one(self, x: Floats, y: int) -> Self:
        """Remember the example."""
        n = len(self.labels)
        if n == len(self._rows):  # room doubles, so that copying costs no more than storing
            rows, squares = np.zeros((max(2 * n, 16), len(x))), np.zeros(max(2 * n, 16))
            if n:
                rows[:n], squares[:n] = self._rows, self._squares
            self._rows, self._squares = rows, squares
        self._rows[n], self._squares[n] = x, float(x @ x)
        self.labels.append(y)
        return self
