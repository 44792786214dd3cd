"""Scorers that carry a distilled function: one that says same or different, and one that gives numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from pairlearn.errors import InputError
from pairlearn.examples import check_sides
from pairlearn.features import same_features
from pairlearn.pairs import as_pairs
from pairlearn.scorers.distilling.function import DistilledFunction
from pairlearn.types import Examples, Floats, Ints


class _Distilled(BaseEstimator):
    """What both share: the function was made before, and `fit` learns nothing."""

    function: DistilledFunction

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the function; nothing is learnt."""
        if not isinstance(self.function, DistilledFunction):
            raise InputError(f"a {type(self).__name__} is made by pl.distil(model, examples)")
        return self

    def decision_function(self, X: Any) -> Floats:
        """g of every pair, (n_pairs,)."""
        return self.function(same_features(self, as_pairs(X)))

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """g of every probe (left) with every gallery example (right), (p, g), by matrix products."""
        return self.function.block(*check_sides(self, probe, gallery))


class DistilledScorer(ClassifierMixin, _Distilled):
    """A small, quick stand-in for a fitted model that says which pairs belong together, or who comes first.

    `pl.distil` makes it. Predicts +1 where g > threshold, as the model did. A threshold of NaN says that it
    had none, as a distance before `fit`: then there are scores only.

    >>> import pairlearn as pl
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> small = pl.distil(pl.CosineBaseline(), X).model
    >>> small.predict(pl.Pairs(np.array([[1.0, 0.0, 0.0], [3.0, 4.0, 0.0]]), [0], [1])).tolist()
    [1]
    """

    def __init__(self, function: DistilledFunction, threshold: float = 0.0) -> None:
        self.function = function
        self.threshold = threshold

    @property
    def classes_(self) -> Ints:
        """The labels."""
        return np.array([-1, 1])

    def predict(self, X: Any) -> Ints:
        """+1 where g > threshold, else −1."""
        if np.isnan(self.threshold):
            raise InputError(
                "the model that this one was made of had no threshold: set one with set_params(threshold=…), or decide "
                "by labelled pairs (pl.Verifier, pairlearn decide)"
            )
        return np.where(self.decision_function(X) > self.threshold, 1, -1)


class DistilledRegressor(RegressorMixin, _Distilled):
    """A small, quick stand-in for a fitted model that gives a number to every pair; `pl.distil` makes it."""

    def __init__(self, function: DistilledFunction) -> None:
        self.function = function

    def predict(self, X: Any) -> Floats:
        """The number of every pair."""
        return self.decision_function(X)
