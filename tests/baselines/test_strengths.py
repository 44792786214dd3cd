"""Baselines of preferences and of numbers: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from pairlearn.baselines import BradleyTerry, ExampleMeans, WinShare
from pairlearn.pairs import Pairs


def test_strengths_of_two_are_the_log_odds_of_their_wins() -> None:
    """Without a penalty β₀ − β₁ = log(wins/losses), a tie being half of each."""
    pairs = Pairs(np.eye(2), [0] * 8, [1] * 8)
    model = BradleyTerry(C=1e6).fit(pairs, [1, 1, 1, 1, 1, -1, 0, 0])
    assert model.decision_function(pairs)[0] == pytest.approx(np.log(6 / 2), abs=1e-3)


def test_who_is_listed_first_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.permuted(np.tile(np.arange(6), (40, 1)), axis=1)[:, :2].T
    y = rng.integers(-1, 2, 40)
    turned = rng.random(40) < 0.5
    other = Pairs(np.eye(6), np.where(turned, right, left), np.where(turned, left, right))
    for kind in (BradleyTerry, WinShare):
        one = kind().fit(Pairs(np.eye(6), left, right), y).decision_function(other)
        two = kind().fit(other, np.where(turned, -y, y)).decision_function(other)
        np.testing.assert_allclose(one, two, atol=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_additive_numbers_are_found(sign: int) -> None:
    rng = np.random.default_rng(0)
    effect = rng.normal(size=8)
    left, right = np.triu_indices(8, 1)
    y = effect[left] + sign * effect[right] + (3.0 if sign > 0 else 0.0)
    pairs = Pairs(np.eye(8), left, right)
    found = ExampleMeans(sign, penalty=1e-9).fit(pairs, y).decision_function(pairs)
    np.testing.assert_allclose(found, y, atol=1e-4)
