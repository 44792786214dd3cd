"""Untrained baselines: scores by formula are tested with scikit-learn's tools; here their thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import pairlearn as pl
from pairlearn.baselines.registry import baseline_classes, fit_baseline
from pairlearn.errors import InputError

rng = np.random.default_rng(0)
CLASSES = np.repeat(np.arange(6), 5)
X = 3.0 * rng.normal(size=(6, 4))[CLASSES] + rng.normal(size=(30, 4))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
KINDS = [pl.EuclidBaseline, pl.CosineBaseline]
every_kind = pytest.mark.parametrize("kind", KINDS)


def balanced_accuracy(scores: Any, threshold: float) -> float:
    return 0.5 * float(np.mean(scores[Y > 0] > threshold) + np.mean(scores[Y < 0] <= threshold))


@every_kind
def test_fit_with_labels_finds_the_best_threshold_there_is(kind: Any) -> None:
    model = kind().fit(PAIRS, Y)
    scores = model.decision_function(PAIRS)
    everywhere = np.concatenate([[-np.inf], np.sort(scores)])
    assert balanced_accuracy(scores, model.threshold_) == max(balanced_accuracy(scores, t) for t in everywhere)
    np.testing.assert_array_equal(model.predict(PAIRS), np.where(scores > model.threshold_, 1, -1))
    assert set(model.predict(PAIRS)) == {-1, 1}


@every_kind
@pytest.mark.parametrize("table", [sparse.csr_array(X), X.astype(np.float32)], ids=["sparse", "float32"])
def test_other_tables(kind: Any, table: Any) -> None:
    found = kind().fit(pl.all_pairs(table, reflexive=False), Y).threshold_
    assert found == pytest.approx(kind().fit(PAIRS, Y).threshold_, rel=1e-5)


@every_kind
def test_pairs_of_an_example_with_itself_have_no_say(kind: Any) -> None:
    everyone = pl.all_pairs(X)
    assert kind().fit(everyone, everyone.labels(CLASSES)).threshold_ == kind().fit(PAIRS, Y).threshold_


@every_kind
def test_a_threshold_that_was_given_stays(kind: Any) -> None:
    model = kind(0.5).fit(PAIRS, Y)
    np.testing.assert_array_equal(model.predict(PAIRS), np.where(model.decision_function(PAIRS) > 0.5, 1, -1))
    assert clone(model).threshold == 0.5
    assert kind(0.5).fit(PAIRS, np.ones(len(Y))).threshold == 0.5  # labels do not matter then


def test_without_labels_a_distance_has_no_threshold_and_a_cosine_a_right_angle() -> None:
    for model in (pl.EuclidBaseline(), pl.EuclidBaseline().fit(PAIRS), pl.EuclidBaseline().fit(PAIRS, Y).fit(PAIRS)):
        with pytest.raises(InputError, match=r"has no threshold yet: fit\(pairs, y\) chooses one, or pass threshold"):
            model.predict(PAIRS)
    scores = pl.CosineBaseline().decision_function(PAIRS)
    np.testing.assert_array_equal(pl.CosineBaseline().predict(PAIRS), np.where(scores > 0, 1, -1))


@pytest.mark.parametrize(
    ("pairs", "y", "message"),
    [
        (PAIRS, np.ones(len(Y)), "both classes are needed"),
        (PAIRS, Y[:-1], "one label per pair"),
        (pl.Pairs(X, [0, 0], [0, 9]), [1, -1], "no positive pair joins two different examples"),
    ],
)
def test_labels_that_tell_nothing_are_refused(pairs: pl.Pairs, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.EuclidBaseline().fit(pairs, y)


# --------------------------------------------------------------------------- the registry


def test_every_public_baseline_is_in_the_table() -> None:
    public = {getattr(pl.baselines, name) for name in dir(pl.baselines) if name.endswith("Baseline")}
    assert set(baseline_classes()) == public
    assert {type(make()) for make in pl.baselines.BASELINES.values()} == public


@pytest.mark.parametrize("name", pl.baselines.BASELINES)
def test_every_baseline_is_fitted_with_the_same_arguments(name: str) -> None:
    model = fit_baseline(name, PAIRS, Y, CLASSES)
    assert np.mean(model.predict(PAIRS) == Y) > 0.75
    np.testing.assert_allclose(
        model.score_block(X, X)[PAIRS.left, PAIRS.right], model.decision_function(PAIRS), atol=1e-6
    )


def test_only_false_skips_a_baseline_and_names_are_checked() -> None:
    pairs = pl.Pairs(np.array([[0.0], [1.0], [7.0], [9.0]]), [0, 2, 0], [1, 3, 2])
    seen: list[str] = []
    scores, skipped = pl.run_baselines(pairs, [1, 1, -1], pairs, names=["cosine", "euclid"], before=seen.append)
    assert list(scores) == seen == ["cosine", "euclid"]
    assert skipped == {}
    assert pl.run_baselines(pairs, [1, 1, -1], pairs, names=["cosine"], before=lambda name: False).scores == {}
    for names in ("cosine", ["Euclid"]):
        with pytest.raises(InputError, match="list of baselines"):
            pl.run_baselines(pairs, [1, 1, -1], pairs, names=names)


@pytest.mark.parametrize("kind", [pl.EuclidBaseline, pl.CosineBaseline])
@pytest.mark.parametrize("unit", [1e160, 1e-200])
def test_rows_whose_squares_are_no_numbers_are_refused(kind: Any, unit: float) -> None:
    X = unit * np.random.default_rng(0).normal(size=(6, 3))
    for scored in (
        lambda: kind().decision_function(pl.all_pairs(X, reflexive=False)),
        lambda: kind().score_block(X[:2], X),
    ):
        with pytest.raises(InputError, match="scale the examples"):
            scored()
    zeros = kind().decision_function(pl.all_pairs(np.zeros((3, 2)), reflexive=False))
    assert zeros.tolist() == [0.0, 0.0, 0.0]
