"""Figures that are means over pairs: their limits against closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from pairlearn.evaluation.figures import Figure, judged
from pairlearn.evaluation.resampling.units import numbered_units, single_units

ACCURACY = Figure("accuracy", "accuracy", "percent", larger_is_better=True, bounds=(0.0, 1.0))
RMSE = Figure("rmse", "RMSE", root=True)


def test_limits_of_single_examples_are_those_of_clopper_and_pearson() -> None:
    right = np.repeat([1.0, 0.0], [199, 1])
    found = ACCURACY.interval(right, single_units(200), "example")
    assert (found.low, found.high) == pytest.approx((beta.ppf(0.025, 199, 2), beta.ppf(0.975, 200, 1)))


def test_rmse_varies_as_often_as_its_limits_say() -> None:
    rng, inside = np.random.default_rng(0), 0
    for _ in range(200):
        found = RMSE.interval(rng.normal(size=300) ** 2, single_units(300), "pair")
        inside += found.low <= 1.0 <= found.high
    assert 182 <= inside <= 200


def test_examples_that_share_pairs_make_limits_wider() -> None:
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(25, 1)
    ease = rng.normal(size=25)
    worth = (ease[left] + ease[right] + rng.normal(size=len(left)) > 0).astype(float)
    shared = ACCURACY.interval(worth, numbered_units(left, right), "example")
    single = ACCURACY.interval(worth, single_units(len(left)), "pair")
    assert shared.high - shared.low > 1.5 * (single.high - single.low)
    assert (shared.n_units, single.n_units) == (25, len(left))


def test_a_difference_cancels_what_is_hard_for_both() -> None:
    rng = np.random.default_rng(0)
    errors = rng.normal(size=200) ** 2
    found = judged(RMSE, errors, {"other": 1.1 * errors, "far": 9.0 * errors}, single_units(200), "pair")
    assert found.best == "other"
    assert found.relation == "better"
    assert judged(RMSE, errors, {"same": errors}, single_units(200), "pair").relation == "tied"


def test_one_example_in_every_pair_has_no_limits() -> None:
    units = numbered_units(np.zeros(5), np.arange(1, 6))
    found = judged(ACCURACY, np.ones(5), {"a coin": np.full(5, 0.5)}, units, "example")
    assert found.relation == "tied"
    assert "too few pairs for limits" in found.words


def test_a_difference_that_does_not_vary_is_as_sure_as_no_error_of_as_many_answers() -> None:
    units = numbered_units(np.arange(0, 10, 2), np.arange(1, 10, 2))
    found = judged(ACCURACY, np.ones(5), {"a coin": np.full(5, 0.5)}, units, "example")
    assert found.relation == "tied"
    half = 1 - 0.025 ** (1 / 5)
    assert (found.difference.low, found.difference.high) == pytest.approx((0.5 - half, 1.0))
    many = judged(ACCURACY, np.ones(100), {"a coin": np.full(100, 0.5)}, single_units(100), "example")
    assert many.relation == "better"


@pytest.mark.parametrize("figure", [RMSE, Figure("mae", "MAE")])
def test_errors_that_are_a_constant_apart_leave_a_figure_without_bounds_open(figure: Figure) -> None:
    for errors in (np.full(9, 0.3), np.random.default_rng(0).random(9)):
        other = errors + 0.1 if figure.key == "mae" else np.full(9, 0.7)
        mine = errors if figure.key == "mae" else np.full(9, 0.3)
        found = judged(figure, mine, {"other": other}, single_units(9), "pair")
        assert found.relation == "tied"
        assert "too few pairs for limits" in found.words
        assert found.as_json()["difference"]["low"] is None


def test_answers_worth_the_same_do_not_differ() -> None:
    worth = np.random.default_rng(0).random(30)
    for figure in (RMSE, ACCURACY):
        for other in (worth, worth * (1 + 1e-15)):
            found = figure.difference(worth, other, single_units(30), "pair")
            assert (found.estimate, found.low, found.high, found.n_units) == (0.0, 0.0, 0.0, 30)


def test_units_that_are_all_alike_are_counted() -> None:
    """Every one of twelve answers one question of three rightly."""
    who = np.repeat(np.arange(12), 3)
    found = ACCURACY.interval(np.tile([1.0, 0.0, 0.0], 12), numbered_units(who, who), "example")
    exact = binomtest(4, 12).proportion_ci(0.95, "exact")
    assert (found.low, found.high, found.standard_error) == pytest.approx((exact.low, exact.high, 0.0))


def test_as_many_pairs_as_examples_are_no_examples_of_their_own() -> None:
    """A ring of n examples has n pairs, each of two; one example more must not change what limits are made of."""
    n = 30
    worth = np.random.default_rng(0).permutation(np.repeat([1.0, 0.0], [20, 10]))
    ring = ACCURACY.interval(worth, numbered_units(np.arange(n), (np.arange(n) + 1) % n), "example")
    path = ACCURACY.interval(worth, numbered_units(np.arange(n), np.arange(n) + 1), "example")
    assert (ring.low, ring.high) == pytest.approx((path.low, path.high), abs=0.005)
