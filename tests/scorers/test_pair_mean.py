"""PairMean: the mean of what its machines would answer by themselves."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.scorers import PairMean

RNG = np.random.default_rng(0)
DRUGS, TARGETS = RNG.normal(size=(9, 3)), RNG.normal(size=(7, 2))
LEFT, RIGHT = np.divmod(np.arange(63), 7)
GRID = pl.Pairs(DRUGS, LEFT, RIGHT, right_examples=TARGETS)
BONDS = DRUGS[LEFT, 0] * TARGETS[RIGHT, 1] + 0.1 * RNG.normal(size=63)
MACHINES = [pl.PairRidge("tensor", "linear"), pl.PairSVR("tensor", "rbf"), pl.PairRidge("tensor", "rbf", alpha=0.1)]


def test_it_answers_the_mean_of_machines_fitted_by_hand() -> None:
    weights = RNG.uniform(0.5, 2.0, 63)
    model = PairMean(MACHINES).fit(GRID, BONDS, weights)
    by_hand = [machine.fit(GRID, BONDS, weights).decision_function(GRID) for machine in MACHINES]
    np.testing.assert_allclose(model.decision_function(GRID), sum(by_hand) / 3, atol=1e-12)
    block = model.score_block(DRUGS, TARGETS)
    np.testing.assert_allclose(block[LEFT, RIGHT], model.decision_function(GRID), atol=1e-9)
    assert model.n_support_ == sum(machine.n_support_ for machine in MACHINES)


def test_it_says_if_one_of_them_did_not_converge() -> None:
    hurried = pl.PairSVR("tensor", "rbf", C=100.0, epsilon=0.001, tol=1e-12, time_budget=1e-9)
    with pytest.warns(UserWarning, match="time"):
        model = PairMean([MACHINES[0], hurried]).fit(GRID, BONDS)
    assert model.fit_status_ == "time budget"
    assert model.kkt_gap_ == model.machines_[1].kkt_gap_


@pytest.mark.parametrize("machines", [[], [pl.PairRidge()], "ridge"])
def test_a_mean_of_fewer_than_two_is_refused(machines: object) -> None:
    with pytest.raises(InputError, match="two machines or more"):
        PairMean(machines).fit(GRID, BONDS)  # type: ignore[arg-type]


def test_a_mean_predicts_numbers_or_labels() -> None:
    X = np.random.default_rng(3).normal(size=(12, 2))
    pairs = pl.all_pairs(X, reflexive=False)
    y = X[pairs.left, 0] * X[pairs.right, 0]
    numbers = PairMean([pl.PairRidge("tensor", "linear"), pl.PairRidge("tensor", "rbf")]).fit(pairs, y)
    assert (numbers.predict(pairs) == numbers.decision_function(pairs)).all()
    labels = PairMean([pl.PairSVC("tensor", "linear"), pl.PairSVC("tensor", "rbf")]).fit(pairs, np.where(y > 0, 1, -1))
    assert (labels.predict(pairs) == np.where(labels.decision_function(pairs) > 0, 1, -1)).all()
