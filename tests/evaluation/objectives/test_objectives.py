"""Objectives against scikit-learn, brute force and derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.evaluation import AUC, AUPR, EER, FnmrAtFmr, Scores, judgement_named, measure_named
from pairlearn.evaluation.objectives.answers import link_worth, log_losses, of_measure, slope_of
from pairlearn.evaluation.regression import concordance_index, concordance_worth
from pairlearn.evaluation.resampling.units import numbered_units


def drawn(seed: int, n: int, ties: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Values, often equal ones, and labels of both kinds."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, n).astype(float) if ties else rng.normal(size=n)
    labels = np.where(rng.random(n) < 0.3, 1, -1)
    labels[:2] = (1, -1)
    return values, labels


@pytest.mark.parametrize("seed", range(6))
def test_aupr_is_scikit_learns_and_its_influence_the_derivative_by_a_weight(seed: int) -> None:
    values, labels = drawn(seed, 25, ties=seed % 2 == 0)
    scores, step = Scores(values, labels), 1e-6
    here = average_precision_score(labels > 0, values)
    assert AUPR().value(scores) == pytest.approx(here)
    moved = [
        average_precision_score(labels > 0, values, sample_weight=1.0 + step * (np.arange(25) == k)) for k in range(25)
    ]
    np.testing.assert_allclose(AUPR().influence(scores), (np.array(moved) - here) / step, atol=1e-4)


def brute_concordance(truth: np.ndarray, found: np.ndarray, weights: np.ndarray) -> float:
    """Σ over couples, one by one."""
    less = truth[:, None] < truth
    right = (found[:, None] < found) + 0.5 * (found[:, None] == found)
    both = np.outer(weights, weights) * less
    return float((both * right).sum() / both.sum())


@pytest.mark.parametrize("seed", range(6))
def test_concordance_is_that_of_all_couples_and_worths_have_its_derivative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, step = 37, 1e-6
    truth, found = rng.integers(0, 7, n).astype(float), rng.integers(0, 9, n).astype(float)
    here = brute_concordance(truth, found, np.ones(n))
    assert concordance_index(truth, found) == pytest.approx(here)
    moved = [brute_concordance(truth, found, 1.0 + step * (np.arange(n) == k)) for k in range(n)]
    slopes = (np.array(moved) - here) / step
    np.testing.assert_allclose((concordance_worth(truth, found) - here) / n, slopes, atol=1e-6)


def test_log_loss_is_scikit_learns_and_the_slope_that_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(200) < 0.6, 1, -1)
    odds = 0.02 * (truth + rng.normal(size=200))
    assert log_losses(odds, truth).mean() == pytest.approx(log_loss(truth, expit(odds)))
    tie = np.abs(odds).mean()
    rows, labels = np.concatenate([odds, [tie, tie]]), np.concatenate([truth, [1, -1]])
    weights = np.concatenate([np.ones(200), [0.5, 0.5]])
    model = LogisticRegression(C=1e12, fit_intercept=False, tol=1e-12, max_iter=1000).fit(
        rows[:, None] * 50, labels, weights
    )
    assert slope_of(odds, truth) == pytest.approx(50 * model.coef_[0, 0], rel=1e-3)
    assert slope_of(np.zeros(3), np.ones(3)) == 1.0
    assert np.isfinite(slope_of(np.ones(5), np.ones(5)))  # all right: sure, but not beyond all bounds


@pytest.mark.parametrize("measure", [EER(), AUC(), AUPR(), FnmrAtFmr(0.2)])
def test_a_measure_as_a_judgement_has_its_value_and_about_its_limits(measure: pl.evaluation.Measure) -> None:
    rng = np.random.default_rng(1)
    left, right = np.triu_indices(60, 1)
    labels = np.where(rng.random(len(left)) < 0.3, 1, -1)
    values = labels + rng.normal(size=len(left)) + 0.3 * rng.normal(size=60)[left]
    worth = link_worth(measure, values, labels)
    scores = Scores(values, labels, left, right)
    assert worth.mean() == pytest.approx(measure.value(scores))
    found = of_measure(measure).figure.interval(worth, numbered_units(left, right), "example")
    usual = pl.interval(scores, measure, unit="example")
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=0.02)


def test_names_are_measures_and_unknown_ones_list_the_known() -> None:
    assert measure_named("fnmr@fmr=0.01") == FnmrAtFmr(0.01)
    assert measure_named(AUC()) == AUC()
    assert judgement_named("aupr@7", "number").figure.name == "AUPR above 7"
    with pytest.raises(InputError, match="eer, auc, aupr"):
        measure_named("accurracy")
    with pytest.raises(InputError, match="accuracy, log_loss"):
        judgement_named("rmse", "order")
    with pytest.raises(InputError, match="names no number"):
        measure_named("fnmr@fmr=one")
    with pytest.raises(InputError, match="between 0 and 1"):
        measure_named("fnmr@fmr=2")


def test_numbers_above_a_threshold_are_judged_as_links() -> None:
    rng = np.random.default_rng(2)
    truth, found = rng.normal(size=50), rng.normal(size=50)
    assert judgement_named("aupr@0.5", "number").value(found, truth) == pytest.approx(
        average_precision_score(truth > 0.5, found)
    )
