"""Scorers for scikit-learn's model selection: larger = better, reflexive test pairs left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, area_under_roc, equal_error_rate, fnmr_at_fmr


def eer(model: Any, X: Any, y: Any) -> float:
    """Minus the equal error rate.

    >>> import pairlearn as pl
    >>> from sklearn.model_selection import cross_val_score
    >>> X, classes = pl.data.double_interval(10, 4, n=30, seed=0)
    >>> pairs = pl.all_pairs(X)
    >>> folds = pl.selection.ClassKFold(classes, n_splits=2)
    >>> len(cross_val_score(pl.PairSVC("tensor", "poly"), pairs, pairs.labels(classes), cv=folds, scoring=eer))
    2
    """
    return -equal_error_rate(Scores.of(model, X, y))


def auc(model: Any, X: Any, y: Any) -> float:
    """Area under the ROC curve."""
    return area_under_roc(Scores.of(model, X, y))


@dataclass(frozen=True)
class FNMRAt:
    """Minus the false non-match rate at a fixed false match rate.

    >>> FNMRAt(fmr=0.01)
    FNMRAt(fmr=0.01)
    """

    fmr: float

    def __post_init__(self) -> None:
        if not 0 < self.fmr < 1:
            raise InputError(f"fmr is a rate between 0 and 1, got {self.fmr!r}; try 0.01")

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        return -fnmr_at_fmr(Scores.of(model, X, y), self.fmr)
