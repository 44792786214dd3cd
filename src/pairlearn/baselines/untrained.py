"""Untrained baselines: what learning has to beat."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from pairlearn.baselines.baseline import Baseline, Presets, best_threshold
from pairlearn.baselines.comparisons import COSINE, EUCLID, Comparison, squares_fit
from pairlearn.baselines.training import rows_of_numbers
from pairlearn.errors import InputError
from pairlearn.examples import check_sides
from pairlearn.features import note_features, same_features
from pairlearn.pairs import Pairs, as_pairs, check_labels
from pairlearn.types import Examples, Floats


class _Untrained(Baseline):
    """A score that needs no training; only its threshold may be learnt."""

    comparison: ClassVar[Comparison]
    unlearnt_threshold: ClassVar[float | None] = None
    """The threshold before `fit`, where the scores have a natural one."""

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = threshold
        self.classes_ = np.array([-1, 1])

    def fit(self, X: Any = None, y: Any = None, classes: Any = None) -> Self:
        """Choose the threshold, if none was given and there are labels; nothing else is to be learnt.

        Pairs of an example with itself are left out: they are alike whatever the data. `classes` are not needed.
        """
        self.__dict__.pop("threshold_", None)
        if X is not None:
            pairs = rows_of_numbers(as_pairs(X))
            note_features(self, pairs)
            if self.threshold is None and y is not None:
                self.threshold_ = self._learnt_threshold(pairs, y)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,); larger = more alike."""
        pairs = rows_of_numbers(same_features(self, as_pairs(X)))
        squares_fit(pairs.examples)
        return self.comparison.of_pairs(pairs.examples, pairs.left, pairs.right)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        sides = check_sides(self, probe, gallery)
        squares_fit(*sides)
        return self.comparison.of_tables(*sides)

    def _learnt_threshold(self, pairs: Pairs, y: Any) -> float:
        labels, proper = check_labels(y, len(pairs)), ~pairs.reflexive
        if abs(labels[proper].sum()) == proper.sum():
            kind = "positive" if not np.any(labels[proper] > 0) else "negative"
            raise InputError(f"no {kind} pair joins two different examples; add some such pairs, or pass a threshold")
        return best_threshold(self.decision_function(pairs[proper]), labels[proper])

    def _cut(self) -> float:
        found = self.threshold if self.threshold is not None else vars(self).get("threshold_", self.unlearnt_threshold)
        if found is None:
            raise InputError(
                f"{type(self).__name__} has no threshold yet: fit(pairs, y) chooses one, or pass threshold=…"
            )
        return float(found)


class EuclidBaseline(_Untrained):
    """g(a, b) = −‖a − b‖; predicts "same" nearer than minus the threshold.

    A distance has no natural threshold: `predict` needs `threshold` or a `fit` with labels.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0], [3.0], [9.0]]), [0, 0], [1, 2])
    >>> pl.EuclidBaseline().decision_function(pairs).tolist()
    [-3.0, -9.0]
    >>> model = pl.EuclidBaseline().fit(pairs, [1, -1])
    >>> model.threshold_, model.predict(pairs).tolist()
    (-6.0, [1, -1])
    """

    presets: ClassVar[Presets] = {"euclid": {}}
    comparison = EUCLID


class CosineBaseline(_Untrained):
    """g(a, b) = ⟨a, b⟩ / (‖a‖ ‖b‖); before `fit` with labels, a right angle is the threshold.

    >>> import numpy as np, pairlearn as pl
    >>> pl.CosineBaseline().decision_function(pl.Pairs(np.array([[1.0, 0.0], [3.0, 4.0]]), [0], [1])).round(6).tolist()
    [0.6]
    """

    presets: ClassVar[Presets] = {"cosine": {}}
    comparison = COSINE
    unlearnt_threshold = 0.0
