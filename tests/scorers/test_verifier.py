"""A scorer with its threshold, against what the parts say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.evaluation.calibration import IsotonicCalibration, LogisticCalibration
from pairlearn.evaluation.thresholds import threshold_at_fmr
from pairlearn.scorers.verifier import Verifier


@pytest.fixture(scope="module")
def fitted() -> tuple[pl.PairSVC, pl.Pairs, pl.Scores]:
    X, classes = pl.data.double_interval(16, 4, n=30, seed=0)
    known, unseen = np.arange(32), np.arange(32, 64)
    pairs = pl.all_pairs(X[known], reflexive=False)
    model = pl.PairSVC("tensor_metric", C=0.1).fit(pairs, pairs.labels(classes[known]))
    test = pl.all_pairs(X[unseen], reflexive=False)
    return model, test, pl.Scores(model.decision_function(test), test.labels(classes[unseen]))


def test_decides_at_the_threshold_as_rates_do(fitted: tuple[pl.PairSVC, pl.Pairs, pl.Scores]) -> None:
    model, pairs, scores = fitted
    threshold = threshold_at_fmr(scores, 0.1)
    verifier = Verifier(model, threshold).fit()
    np.testing.assert_array_equal(verifier.decision_function(pairs), scores.values)
    accepted = verifier.predict(pairs) > 0
    assert set(verifier.predict(pairs)) == {-1, 1}
    assert np.mean(accepted[scores.labels < 0]) == threshold.fmr
    assert np.mean(~accepted[scores.labels > 0]) == threshold.fnmr
    assert verifier.score(pairs, scores.labels) == np.mean(accepted == (scores.labels > 0))
    # A value at the threshold itself is accepted.
    assert Verifier(model, scores.values[7]).predict(pairs)[7] == 1


@pytest.mark.parametrize("calibration", [LogisticCalibration(), IsotonicCalibration(prior=0.3)])
def test_probabilities_are_those_of_the_calibration(
    fitted: tuple[pl.PairSVC, pl.Pairs, pl.Scores], calibration: LogisticCalibration | IsotonicCalibration
) -> None:
    model, pairs, scores = fitted
    learnt = calibration.fit(scores)
    verifier = Verifier(model, 0.0, learnt)
    found = verifier.predict_proba(pairs)
    assert found.shape == (len(pairs), 2)
    np.testing.assert_array_equal(found[:, list(verifier.classes_).index(1)], learnt.probability(scores.values))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)


def test_blocks_equal_pairs(fitted: tuple[pl.PairSVC, pl.Pairs, pl.Scores]) -> None:
    model, pairs, scores = fitted
    verifier = Verifier(model, float(np.median(scores.values)))
    probe, gallery = pairs.examples[:3], pairs.examples[3:8]
    block, decisions = verifier.score_block(probe, gallery), verifier.decide_block(probe, gallery)
    np.testing.assert_array_equal(block, model.score_block(probe, gallery))
    one = pl.Pairs(pairs.examples, np.repeat(np.arange(3), 5), np.tile(np.arange(3, 8), 3))
    np.testing.assert_array_equal(decisions.ravel(), verifier.predict(one))


def test_model_without_blocks_is_scored_pair_by_pair() -> None:
    class Distance:
        def decision_function(self, pairs: pl.Pairs) -> np.ndarray:
            return -np.abs(pairs.examples[pairs.left] - pairs.examples[pairs.right]).sum(axis=1)

    block = Verifier(Distance(), -1.0).score_block(np.array([[0.0], [1.0]]), np.array([[3.0]]))
    assert block.tolist() == [[-3.0], [-2.0]]


def test_has_the_shape_of_scikit_learn(fitted: tuple[pl.PairSVC, pl.Pairs, pl.Scores]) -> None:
    model, pairs, _ = fitted
    verifier = Verifier(model, 0.25)
    assert set(verifier.get_params(deep=False)) == {"model", "threshold", "calibration"}
    check_is_fitted(verifier)
    copy = clone(verifier)
    assert copy is not verifier
    np.testing.assert_array_equal(copy.predict(pairs), verifier.predict(pairs))
    moved = copy.set_params(threshold=np.inf)
    assert np.all(moved.predict(pairs) == -1)
    assert verifier.threshold == 0.25


def test_errors_say_what_to_do(fitted: tuple[pl.PairSVC, pl.Pairs, pl.Scores]) -> None:
    model, pairs, _ = fitted
    with pytest.raises(InputError, match="need a calibration"):
        Verifier(model, 0.0).predict_proba(pairs)
    with pytest.raises(InputError, match="must be a number"):
        Verifier(model, "high").predict(pairs)
    with pytest.raises(InputError, match="NaN"):
        Verifier(model, float("nan")).fit()
    with pytest.raises(InputError, match="gives no scores"):
        Verifier(3, 0.0).fit()
