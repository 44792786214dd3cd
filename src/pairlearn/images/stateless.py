"""Transformers of images that learn nothing, for scikit-learn's pipelines."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin

from pairlearn.images.hog import hog
from pairlearn.images.tables import check_cell
from pairlearn.types import Floats


class Stateless(TransformerMixin, BaseEstimator):
    """Each image for itself: `fit` checks parameters only."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; nothing is learnt."""
        self._check()
        return self

    def _check(self) -> None:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return True


class Hog(Stateless):
    """`hog` as a step of a pipeline: the cells of each image side by side, float32 rows (n, cells · 31).

    >>> import numpy as np, pairlearn as pl
    >>> pl.images.Hog(cell=7).fit_transform(np.zeros((2, 28, 28))).shape
    (2, 496)
    """

    def __init__(self, cell: int = 8) -> None:
        self.cell = cell

    def transform(self, X: Any) -> Floats:
        """One row per image."""
        cells = hog(X, self.cell)
        return cells.reshape(len(cells), -1)

    def _check(self) -> None:
        check_cell(self.cell)
