"""Least squares as a baseline: PairRidge's own solution, and a choice of alpha that sees no class of its test."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.baselines import RidgeBaseline
from pairlearn.errors import InputError

rng = np.random.default_rng(0)
WHO = np.repeat(np.arange(12), 5)
X = rng.normal(size=(12, 6))[WHO] + 0.8 * rng.normal(size=(60, 6)) * np.array([1, 1, 1, 1, 5, 5.0])
PAIRS = pl.all_pairs(X, reflexive=False)
LABELS = PAIRS.labels(WHO)


@pytest.mark.parametrize("features", [6, 100])
def test_it_is_what_pair_ridge_learns_from_all_pairs(features: int) -> None:
    rows = rng.normal(size=(20, features))
    who = np.repeat(np.arange(5), 4)
    pairs = pl.all_pairs(rows, reflexive=False)
    baseline = RidgeBaseline(alpha=2.0).fit(pairs, pairs.labels(who), classes=who)
    centred = rows - rows.mean(axis=0)
    a, b = np.divmod(np.arange(400), 20)
    grid = pl.Pairs(centred, a, b, right_examples=centred)
    ridge = pl.PairRidge("tensor", ("linear", "linear"), alpha=1.0, tol=1e-9).fit(
        grid, np.where(who[a] == who[b], 1, -1)
    )
    np.testing.assert_allclose(baseline.score_block(rows, rows), ridge.score_block(centred, centred), atol=1e-6)


def test_alpha_is_chosen_and_helps() -> None:
    chosen = RidgeBaseline().fit(PAIRS, LABELS, classes=WHO)
    unseen = np.repeat(np.arange(12), 5)
    new = rng.normal(size=(12, 6))[unseen] + 0.8 * rng.normal(size=(60, 6)) * np.array([1, 1, 1, 1, 5, 5.0])
    test = pl.all_pairs(new, reflexive=False)
    rates = [
        pl.equal_error_rate(pl.Scores(model.decision_function(test), test.labels(unseen)))
        for model in (chosen, RidgeBaseline(alpha=1e9).fit(PAIRS, LABELS, classes=WHO))
    ]
    assert rates[0] < rates[1]
    np.testing.assert_array_equal(chosen.decision_function(test), chosen.decision_function(test.swapped()))


def test_run_baselines_shows_it_and_can_leave_it_out() -> None:
    seen: list[str] = []

    def before(name: str) -> bool:
        seen.append(name)
        return name != "ridge"

    assert "ridge" in pl.baselines.BASELINES
    scores, skipped = pl.run_baselines(PAIRS, LABELS, PAIRS[:9], names=["euclid", "ridge"], before=before)
    assert (seen, list(scores), skipped) == (["euclid", "ridge"], ["euclid"], {"ridge": "left out"})
    assert len(pl.run_baselines(PAIRS, LABELS, PAIRS[:9], names=["ridge"]).scores["ridge"]) == 9


def test_what_it_refuses() -> None:
    with pytest.raises(InputError, match="alpha"):
        RidgeBaseline(alpha=0.0).fit(PAIRS, LABELS)
    with pytest.raises(InputError, match="one class"):
        RidgeBaseline().fit(PAIRS, LABELS, classes=np.zeros(60))
