"""Untrained baselines: what learning has to beat."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from pairlearn.errors import InputError
from pairlearn.examples import by_blocks, check_examples
from pairlearn.kernels import Cosine, Linear
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.types import Examples, Floats, Ints


class EuclidBaseline(ClassifierMixin, BaseEstimator):
    """g(a, b) = −‖a − b‖; predicts "same" nearer than `threshold`.

    >>> import numpy as np, pairlearn as pl
    >>> pl.EuclidBaseline().decision_function(pl.Pairs(np.array([[0.0], [3.0]]), [0], [1])).tolist()
    [-3.0]
    """

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold
        self.classes_ = np.array([-1, 1])

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Nothing to learn."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,); larger = more alike."""
        pairs = rows_of_numbers(as_pairs(X))
        return self._scores(pairs.examples, pairs.left, pairs.right)

    def predict(self, X: Any) -> Ints:
        """+1 (same) where the score is above the threshold, else −1."""
        return np.where(self.decision_function(X) > self.threshold, 1, -1)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        probe, gallery = check_examples(probe, "probe"), check_examples(gallery, "gallery")
        norms = Linear().diag(probe)[:, None] + Linear().diag(gallery)[None, :]
        return -np.sqrt(np.maximum(norms - 2.0 * Linear()(probe, gallery), 0.0))

    def _scores(self, X: Examples, left: Ints, right: Ints) -> Floats:
        return by_blocks(left, right, lambda a, b: -np.sqrt(Linear().diag(X[a] - X[b])), X.shape[1])


class CosineBaseline(EuclidBaseline):
    """g(a, b) = ⟨a, b⟩ / (‖a‖ ‖b‖).

    >>> import numpy as np, pairlearn as pl
    >>> pl.CosineBaseline().decision_function(pl.Pairs(np.array([[1.0, 0.0], [3.0, 4.0]]), [0], [1])).round(6).tolist()
    [0.6]
    """

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        return Cosine()(check_examples(probe, "probe"), check_examples(gallery, "gallery"))

    def _scores(self, X: Examples, left: Ints, right: Ints) -> Floats:
        norms = np.sqrt(Linear().diag(X))
        scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)

        def dots(a: Ints, b: Ints) -> Floats:
            product = X[a].multiply(X[b]).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X[a], X[b])
            return np.asarray(product).ravel() * (scale[a] * scale[b])

        return by_blocks(left, right, dots, X.shape[1])


def rows_of_numbers(pairs: Pairs) -> Pairs:
    """The pairs, if their examples are rows of numbers in one table."""
    message = "this baseline compares rows of numbers in one table; pass a 2-D array or a sparse matrix"
    X = pairs.require_one_table(message).examples
    if not (sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)):
        raise InputError(message)
    return pairs
