"""A scorer with its threshold: from scores to decisions and probabilities."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from pairlearn.errors import InputError
from pairlearn.scorers.scorer import Scorer, as_scorer, score_all
from pairlearn.types import Examples, Floats, Ints


@runtime_checkable
class Calibration(Protocol):
    """Turns scores into probabilities, as the fitted calibrations of `pl.evaluation` do."""

    def probability(self, scores: Any) -> Any:
        """Probability of "same" of every score, (n,)."""


class Verifier(ClassifierMixin, BaseEstimator):
    """A fitted model that says +1 where its score reaches a stored threshold, and how probable that is.

    Model, threshold and calibration were learnt before; `fit` learns nothing and is there for scikit-learn's tools.

    Parameters
    ----------
    model : any fitted scorer with decision_function.
    threshold : a number, or what float() makes one of, such as a Threshold of development scores.
    calibration : something with probability(scores), such as a fitted calibration; None has no probabilities.

    Examples
    --------
    >>> import pairlearn as pl
    >>> model = Verifier(pl.EuclidBaseline(), threshold=-2.0)
    >>> pairs = pl.Pairs(np.array([[0.0], [1.0], [5.0]]), [0, 0], [1, 2])
    >>> model.decision_function(pairs).tolist(), model.predict(pairs).tolist()
    ([-1.0, -5.0], [1, -1])
    """

    def __init__(self, model: Any, threshold: Any, calibration: Any = None) -> None:
        self.model = model
        self.threshold = threshold
        self.calibration = calibration

    @property
    def classes_(self) -> Ints:
        """The labels, in the order of the columns of `predict_proba`."""
        return np.array([-1, 1])

    @property
    def feature_names_in_(self) -> Any:
        """The columns that the model was fitted on, where it knows them."""
        return self.model.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Verifier:
        # A clone of a fitted model would have forgotten what it learnt.
        return Verifier(self.model, self.threshold, self.calibration)

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parts; nothing is learnt."""
        self._threshold()
        self._scorer()
        return self

    def decision_function(self, X: Any) -> Floats:
        """The model's own score of every pair, (n_pairs,); it is compared with the threshold, not with 0."""
        return np.asarray(self._scorer().decision_function(X), dtype=np.float64)

    def predict(self, X: Any) -> Ints:
        """+1 where the score ≥ threshold, else −1."""
        return self._decide(self.decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of −1 and +1, (n_pairs, 2), from the calibration; they need not agree with `predict`.

        The threshold may weigh errors otherwise than a probability of ½ does.
        """
        if not isinstance(self.calibration, Calibration):
            raise InputError(
                "probabilities need a calibration of the scores; pass "
                "calibration=pl.evaluation.LogisticCalibration().fit(scores)"
            )
        same = np.asarray(self.calibration.probability(self.decision_function(X)), dtype=np.float64)
        return np.column_stack([1.0 - same, same])

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """The model's score of every probe (left) with every gallery example (right), (p, g)."""
        return score_all(self._scorer(), probe, gallery)

    def decide_block(self, probe: Examples, gallery: Examples) -> Ints:
        """+1 or −1 for every probe with every gallery example, (p, g)."""
        return self._decide(self.score_block(probe, gallery))

    def _decide(self, scores: Floats) -> Ints:
        return np.where(scores >= self._threshold(), 1, -1)

    def _threshold(self) -> float:
        try:
            value = float(self.threshold)
        except (TypeError, ValueError) as error:
            raise InputError(f"threshold must be a number or a Threshold, got {self.threshold!r}") from error
        if np.isnan(value):
            raise InputError("threshold is NaN; take one from threshold_at_fmr, threshold_at_eer or threshold_by_cost")
        return value

    def _scorer(self) -> Scorer:
        return as_scorer(self.model)
