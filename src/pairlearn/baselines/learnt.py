"""What the learnt baselines share: rows are mapped once, then compared.

A baseline that learns says how it learns (`_learn`), how it maps rows (`_map`) and how it scores mapped rows, pair by
pair (`_scores`) or every one with every other (`_block`). `MetricBaseline` does all of this for those whose map is
linear and whose score is Euclid's distance or the cosine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.baseline import Baseline, best_threshold
from pairlearn.baselines.comparisons import COMPARISONS, Comparison
from pairlearn.baselines.covariances import Components, principal_axes
from pairlearn.baselines.training import TrainingRows, dense_pairs, dense_rows, training_rows
from pairlearn.errors import InputError
from pairlearn.examples import check_sides
from pairlearn.features import note_features, same_features
from pairlearn.linalg.threads import blas_threads
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

Measure = Literal["euclid", "cosine"]


class LearntBaseline(Baseline):
    """What all learnt baselines share: z = (x − mean_) @ projection_, (n, q), then a score of z and z'."""

    mean_: Floats
    projection_: Floats

    def fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from pairs and labels ±1; `classes`, one per example, replaces the classes told by the pairs."""
        pairs = dense_pairs(X)
        training = training_rows(pairs, y, classes)
        note_features(self, pairs)
        n, d = training.rows.shape
        with blas_threads(2.0 * n * d * min(n, d)):
            self._learn(training)
        self.classes_ = np.array([-1, 1])
        self.threshold_ = self._learnt_threshold(training) if self.threshold is None else float(self.threshold)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,); larger = more alike."""
        check_is_fitted(self, "classes_")
        # Pairs often use a small part of a large table: map that part only.
        pairs = same_features(self, dense_pairs(X)).compacted().pairs
        return self._scores(self._mapped(pairs.examples), *pairs.columns)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        check_is_fitted(self, "classes_")
        return self._block(*(self._mapped(dense_rows(table)) for table in check_sides(self, probe, gallery)))

    def _learnt_threshold(self, training: TrainingRows) -> float:
        scores = self._scores(self._mapped(training.rows), training.left, training.right)
        return best_threshold(scores, training.labels)

    def _mapped(self, rows: Floats) -> Floats:
        if rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"examples have {counted(rows.shape[1], 'feature')}, but the baseline was fitted with "
                f"{self.n_features_in_}; pass the same features"
            )
        return self._map(rows)

    def _map(self, rows: Floats) -> Floats:
        """Rows as they are compared, (n, q)."""
        return (rows - self.mean_) @ self.projection_

    def _learn(self, training: TrainingRows) -> None:
        """Set everything that `_map`, `_scores` and `_block` need."""
        raise NotImplementedError

    def _scores(self, Z: Floats, left: Ints, right: Ints) -> Floats:
        """Scores of the mapped rows Z[left] with Z[right], (n_pairs,)."""
        raise NotImplementedError

    def _block(self, probe: Floats, gallery: Floats) -> Floats:
        """Scores of every mapped probe with every mapped gallery example, (p, g)."""
        raise NotImplementedError


class Projection(NamedTuple):
    """A linear map: (q, k) of the coordinates inside the span of the rows, a factor of x − SSᵀx outside of it."""

    inside: Floats
    outside: float = 0.0


class MetricBaseline(LearntBaseline):
    """A projection learnt after an optional PCA, then −‖z − z'‖ or the cosine of z and z'."""

    pca: Components = None
    measure: Measure = "euclid"

    def _learn(self, training: TrainingRows) -> None:
        self.mean_ = training.rows.mean(axis=0)
        rows = training.rows - self.mean_
        n, d = rows.shape
        if self.pca is not None:
            axes, _ = principal_axes(rows, self.pca)
            self.projection_ = axes @ self._projection(replace(training, rows=rows @ axes)).inside
        elif d <= n:
            self.projection_ = self._projection(replace(training, rows=rows)).inside
        else:
            # All that is learnt lies in the span of the rows: n × n matrices instead of d × d ones. Outside of it
            # x − SSᵀx has the products that coordinates would have there, and a basis takes a hundred times as long.
            span, _ = np.linalg.qr(rows.T)
            found = self._projection(replace(training, rows=rows @ span, n_features=d))
            rest = [found.outside * (np.eye(d) - span @ span.T)] if found.outside else []
            self.projection_ = np.hstack([span @ found.inside, *rest])

    def _projection(self, training: TrainingRows) -> Projection:
        """The map W from centred rows (after PCA, if there is one)."""
        raise NotImplementedError

    def _comparison(self) -> Comparison:
        if self.measure not in COMPARISONS:
            raise InputError(f'measure must be "euclid" or "cosine", got {self.measure!r}')
        return COMPARISONS[self.measure]

    def _scores(self, Z: Floats, left: Ints, right: Ints) -> Floats:
        return self._comparison().of_pairs(Z, left, right)

    def _block(self, probe: Floats, gallery: Floats) -> Floats:
        return self._comparison().of_tables(probe, gallery)
