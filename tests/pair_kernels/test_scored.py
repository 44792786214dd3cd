"""Starting from a baseline: its score as a feature with a learnt weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import pairlearn as pl
from pairlearn.errors import InputError

rng = np.random.default_rng(2)
classes = np.repeat(np.arange(6), 5)
X = rng.normal(size=(6, 4))[classes] + 0.6 * rng.normal(size=(30, 4))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(classes)
TENSOR = pl.pair_kernel("tensor")


def test_equals_the_same_score_given_as_an_invariant_feature() -> None:
    score = pl.EuclidBaseline().decision_function(PAIRS)
    standard = ((score - score.mean()) / score.std())[:, None]
    given = pl.Pairs(X, PAIRS.left, PAIRS.right, invariant=standard)
    ours = pl.PairSVC(TENSOR + pl.pair_kernels.on_score(pl.EuclidBaseline(), weight=3.0), tol=1e-6).fit(PAIRS, Y)
    expected = pl.PairSVC(TENSOR + 3.0 * pl.pair_kernels.on_invariant("linear"), tol=1e-6).fit(given, Y)
    np.testing.assert_allclose(ours.decision_function(PAIRS), expected.decision_function(given), atol=1e-4)


def test_a_large_weight_orders_pairs_nearly_as_the_baseline_does() -> None:
    kernel = TENSOR + pl.pair_kernels.on_score(pl.EuclidBaseline(), weight=1e6)
    # Balanced, for otherwise "all different" is the optimum of so small a C.
    model = pl.PairSVC(kernel, C=1e-6, tol=1e-6, class_weight="balanced").fit(PAIRS, Y)
    g, s = model.decision_function(PAIRS), pl.EuclidBaseline().decision_function(PAIRS)
    assert np.corrcoef(g.argsort().argsort(), s.argsort().argsort())[0, 1] > 0.99


def test_scores_are_standardised_on_the_training_pairs_only() -> None:
    model = pl.PairSVC(TENSOR + pl.pair_kernels.on_score(pl.EuclidBaseline())).fit(PAIRS, Y)
    far = pl.Pairs(np.vstack([X, X + 50.0]), [0], [45])
    alone, together = model.decision_function(far), model.decision_function(far[[0, 0]])
    np.testing.assert_array_equal(together, np.repeat(alone, 2))


def test_swapping_changes_no_bit() -> None:
    model = pl.PairSVC(TENSOR + pl.pair_kernels.on_score(pl.EuclidBaseline())).fit(PAIRS, Y)
    np.testing.assert_array_equal(model.decision_function(PAIRS), model.decision_function(PAIRS.swapped()))


def test_learnt_baselines_and_machines_may_be_the_start(tmp_path: Path) -> None:
    for start in (pl.baselines.PLDABaseline().fit(PAIRS, Y), pl.PairSVC("metric").fit(PAIRS, Y)):
        model = clone(pl.PairSVC(TENSOR + pl.pair_kernels.on_score(start))).fit(PAIRS, Y)
        pl.save(model, tmp_path / "model.safetensors")
        again = pl.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(again.decision_function(PAIRS), model.decision_function(PAIRS))


def test_views_of_equal_models_are_equal() -> None:
    one, other = (pl.pair_kernels.on_score(pl.baselines.RCABaseline().fit(PAIRS, Y)) for _ in range(2))
    assert one == other
    assert one != pl.pair_kernels.on_score(pl.baselines.RCABaseline(shrinkage=0.5).fit(PAIRS, Y))
    assert (one + other).terms == (2.0 * one).terms


def test_models_of_two_tables_see_them_as_they_are() -> None:
    """Both tables have equally many columns, so that only the scores tell which of them was shown where."""
    left, right = np.divmod(np.arange(48), 8)
    drugs, targets = rng.normal(size=(6, 3)), rng.normal(size=(8, 3))
    pairs = pl.Pairs(drugs, left, right, right_examples=targets)
    y = np.where(drugs[left, 0] * targets[right, 1] > 0, 1, -1)
    start = pl.PairSVC("tensor", random_state=0).fit(pairs, y)
    score = start.decision_function(pairs)
    standard = ((score - score.mean()) / score.std())[:, None]
    given = pl.Pairs(drugs, left, right, right_examples=targets, invariant=standard)
    ours = pl.PairSVC(pl.pair_kernels.on_score(start), tol=1e-6).fit(pairs, y)
    expected = pl.PairSVC(pl.pair_kernels.on_invariant("linear"), tol=1e-6).fit(given, y)
    scores = ours.decision_function(pairs)
    np.testing.assert_allclose(scores, expected.decision_function(given), atol=1e-4)
    np.testing.assert_allclose(ours.score_block(drugs, targets).ravel(), scores, atol=1e-9)
    parts = pl.explain(ours, pairs[3:4], by="feature")
    assert parts.values.sum() + parts.bias == pytest.approx(scores[3])


def test_scores_that_change_sign_with_the_order_are_refused() -> None:
    wins = np.where(X[PAIRS.left, 0] > X[PAIRS.right, 0], 1, -1)
    ranker = pl.PairRanker().fit(PAIRS, wins)
    with pytest.raises(InputError, match=r"scores of a PairRanker change sign .*signed=model\.decision_function"):
        pl.pair_kernels.on_score(ranker)
    # What the refusal advises learns the order from these scores.
    advised = pl.Pairs(X, PAIRS.left, PAIRS.right, signed=ranker.decision_function(PAIRS))
    model = pl.PairRanker(pl.pair_kernels.on_signed("linear")).fit(advised, wins)
    assert (model.predict(advised) == wins).mean() > 0.9


def test_models_without_scores_are_refused() -> None:
    with pytest.raises(InputError, match="decision_function"):
        pl.pair_kernels.on_score(object())


@pytest.mark.parametrize("baseline", [pl.EuclidBaseline(), pl.CosineBaseline()])
def test_a_block_of_scores_is_that_of_its_pairs(baseline: Any) -> None:
    X, classes = pl.data.double_interval(6, 4, n=20, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    kernel = pl.pair_kernel("tensor_metric") + pl.pair_kernels.on_score(baseline, weight=3.0)
    model = pl.PairSVC(kernel).fit(pairs, pairs.labels(classes))
    probe, gallery = X[:5], X[7:20]
    a, b = np.divmod(np.arange(5 * 13), 13)
    one_by_one = model.decision_function(pl.Pairs(np.vstack([probe, gallery]), a, 5 + b)).reshape(5, 13)
    assert np.allclose(model.score_block(probe, gallery), one_by_one, atol=1e-9)


def test_a_scorer_without_blocks_is_named() -> None:
    class Half:
        def decision_function(self, pairs: pl.Pairs) -> np.ndarray:
            return 0.5 * np.asarray(pairs.examples)[pairs.left, 0]

    X, classes = pl.data.double_interval(6, 4, n=20, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    model = pl.PairSVC(pl.pair_kernel("metric") + pl.pair_kernels.on_score(Half())).fit(pairs, pairs.labels(classes))
    with pytest.raises(InputError, match="Half has no score_block"):
        model.score_block(X[:2], X[2:4])
