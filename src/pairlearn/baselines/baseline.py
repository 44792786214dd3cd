"""What every baseline has: a score of two examples, a threshold, and names in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from pairlearn.types import Examples, Floats, Ints

Presets = Mapping[str, Mapping[str, Any]]
"""Names of a baseline, each with the parameters that it stands for."""


class Baseline(ClassifierMixin, BaseEstimator):
    """A score of pairs of rows, larger = more alike; pairs that score above a threshold are "same".

    `threshold=None` is set by `fit` where the true minus the false positive rate of the training pairs is largest: a
    score alone, such as a distance, says nothing about where "same" ends. A number stays as it was given.

    `presets` are the names of a baseline in `pl.baselines.BASELINES`, each with the parameters that it stands for.
    A class with presets and one line in `baselines/__init__.pyi` is all that a new baseline needs.
    """

    presets: ClassVar[Presets] = {}
    threshold: float | None
    threshold_: float
    classes_: Ints

    def fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from pairs and labels ±1; `classes`, one per example, for baselines that learn from classes."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,); larger = more alike."""
        raise NotImplementedError

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        raise NotImplementedError

    def predict(self, X: Any) -> Ints:
        """+1 (same) where the score is above the threshold, else −1."""
        return np.where(self.decision_function(X) > self._cut(), 1, -1)

    def _cut(self) -> float:
        return self.threshold_


def best_threshold(scores: Floats, labels: Floats) -> float:
    """Midpoint between two scores that maximises the true minus the false positive rate.

    Youden's index does not depend on how many pairs are positive, of which training pairs tell little: all pairs of
    some classes hold few positive ones, drawn pairs as many as one likes.

    >>> best_threshold(np.array([3.0, 1.0, 2.0, 0.0]), np.array([1, -1, 1, -1]))
    1.5
    """
    order = np.argsort(scores)
    scores, positive = scores[order], labels[order] > 0
    gain = np.cumsum(~positive) / np.sum(~positive) - np.cumsum(positive) / np.sum(positive)
    cuts = np.nonzero(np.diff(scores) > 0)[0]
    if len(cuts) == 0:
        return float(scores[0])
    best = cuts[np.argmax(gain[cuts])]
    return float(scores[best] / 2 + scores[best + 1] / 2)
