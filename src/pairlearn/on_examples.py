"""Lift a transformer of examples to pairs, so that pipelines work."""

from __future__ import annotations

import sys
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.features import note_features, same_features
from pairlearn.pairs import Pairs, as_pairs


def is_pipeline(model: Any) -> bool:
    """Whether a model is a pipeline of scikit-learn; one that was never imported has no instances."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)


class OnExamples(TransformerMixin, BaseEstimator):
    """Apply a scikit-learn transformer to the examples of pairs.

    It is fitted on the examples that the training pairs refer to, each once, and on no others: an example in many
    pairs counts no more than one in a single pair, and test examples in the same table stay unseen. A scaler alone in a
    pipeline would ask for rows of features and be given pairs.

    >>> import numpy as np, pairlearn as pl
    >>> from sklearn.preprocessing import StandardScaler
    >>> pairs = pl.Pairs(np.array([[0.0], [2.0], [99.0]]), [0], [1])
    >>> pl.OnExamples(StandardScaler()).fit(pairs).transform(pairs).examples[:2].ravel().tolist()
    [-1.0, 1.0]
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer on the examples in use."""
        pairs = self._one_table(X)
        self.transformer_ = clone(self.transformer).fit(pairs.compacted().pairs.examples)
        note_features(self, pairs)
        return self

    def transform(self, X: Any) -> Pairs:
        """The same pairs over transformed examples."""
        check_is_fitted(self, "transformer_")
        pairs = same_features(self, self._one_table(X))
        try:
            return pairs.with_examples(self.transformer_.transform(pairs.examples))
        except ValueError as error:  # of scikit-learn: other features than at fit, numbers that overflow
            raise InputError(str(error)) from error

    @staticmethod
    def _one_table(X: Any) -> Pairs:
        return as_pairs(X).require_one_table(
            "OnExamples transforms one table of examples; transform the two tables beforehand"
        )
