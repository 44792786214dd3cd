"""Metadata of pairs through scikit-learn: weights and groups are cut like the pairs, and reach fit and splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.testing.estimators import training_pairs

PAIRS, Y = training_pairs()
WEIGHTS = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
GROUPS = np.arange(len(Y)) % 3
SPLITS = list(GroupKFold(3).split(np.zeros(len(Y)), Y, GROUPS))


@pytest.fixture(autouse=True)
def routed() -> Any:
    with config_context(enable_metadata_routing=True):
        yield


def machine() -> pl.PairSVC:
    return pl.PairSVC("metric", C=1.0, tol=1e-9, random_state=0)


def repeated(train: Any) -> pl.PairSVC:
    """A machine fitted on copies instead of weights."""
    rows = np.repeat(train, WEIGHTS[train].astype(int))
    return machine().fit(PAIRS[rows], Y[rows])


def test_weights_and_groups_through_cross_validate() -> None:
    """Every fold learns with its own weights: as if its pairs stood there that many times."""
    found = cross_validate(
        machine().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
        PAIRS,
        Y,
        cv=GroupKFold(3),
        params={"sample_weight": WEIGHTS, "groups": GROUPS},
        return_estimator=True,
        return_indices=True,
    )
    for (train, test), fitted, score in zip(SPLITS, found["estimator"], found["test_score"], strict=True):
        expected = repeated(train)
        np.testing.assert_allclose(
            fitted.decision_function(PAIRS[test]), expected.decision_function(PAIRS[test]), atol=1e-6
        )
        right = expected.predict(PAIRS[test]) == Y[test]
        assert score == pytest.approx(np.average(right, weights=WEIGHTS[test]))


def test_weights_that_nobody_asked_for_are_refused() -> None:
    with pytest.raises(ValueError, match="sample_weight"):
        cross_validate(machine(), PAIRS, Y, cv=3, params={"sample_weight": WEIGHTS}, error_score="raise")


def test_weights_can_be_refused_without_an_error() -> None:
    asked = machine().set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
    found = cross_validate(asked, PAIRS, Y, cv=SPLITS, params={"sample_weight": WEIGHTS}, return_estimator=True)
    train, test = SPLITS[0]
    plain = machine().fit(PAIRS[train], Y[train])
    np.testing.assert_allclose(
        found["estimator"][0].decision_function(PAIRS[test]), plain.decision_function(PAIRS[test]), atol=1e-9
    )


def test_weights_through_a_pipeline_in_a_grid_search() -> None:
    """StandardScaler on examples asks for no weights, the machine does; both are cut alike for every split."""
    steps = make_pipeline(
        pl.OnExamples(StandardScaler()),
        machine().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
    )
    search = GridSearchCV(steps, {"pairsvc__C": [0.01, 1.0]}, cv=GroupKFold(3), error_score="raise")
    search.fit(PAIRS, Y, sample_weight=WEIGHTS, groups=GROUPS)
    for k, C in enumerate([0.01, 1.0]):
        scores = []
        for train, test in SPLITS:
            scaled = pl.OnExamples(StandardScaler()).fit(PAIRS[train])
            rows = np.repeat(train, WEIGHTS[train].astype(int))
            model = clone(machine()).set_params(C=C).fit(scaled.transform(PAIRS[rows]), Y[rows])
            right = model.predict(scaled.transform(PAIRS[test])) == Y[test]
            scores.append(np.average(right, weights=WEIGHTS[test]))
        assert search.cv_results_["mean_test_score"][k] == pytest.approx(np.mean(scores))


class Reading(TransformerMixin, BaseEstimator):
    """A step that only remembers which weights reached it."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        self.weights_ = sample_weight
        return self

    def transform(self, X: Any) -> Any:
        return X


def test_a_step_and_a_machine_may_ask_for_different_weights() -> None:
    steps = make_pipeline(
        Reading().set_fit_request(sample_weight="trust"), machine().set_fit_request(sample_weight=True)
    )
    steps.fit(PAIRS, Y, trust=GROUPS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(steps[0].weights_, GROUPS)
    whole = repeated(np.arange(len(Y)))
    np.testing.assert_allclose(steps.decision_function(PAIRS), whole.decision_function(PAIRS), atol=1e-6)
