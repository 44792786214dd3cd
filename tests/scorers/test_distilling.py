"""Distilled models: exact where nothing is cut, within the stated loss where it is, symmetric to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.errors import ApproximationWarning, InputError
from pairlearn.kernels import LowRank
from pairlearn.scorers import DistilledRegressor, GalleryIndex, bilinear, loss_between

rng = np.random.default_rng(3)
CENTRES = rng.normal(size=(20, 8))
WHO = np.repeat(np.arange(20), 8)
X = CENTRES[WHO] + 0.7 * rng.normal(size=(160, 8))
TRAIN, NEW = np.flatnonzero(WHO < 10), np.flatnonzero(WHO >= 10)
PAIRS = pl.all_pairs(X[TRAIN], reflexive=False)
LABELS = PAIRS.labels(WHO[TRAIN])
TEST = pl.all_pairs(X[NEW], reflexive=False)
NUMBERS = X[TRAIN][PAIRS.left, 0] * X[TRAIN][PAIRS.right, 0]

MODELS: dict[str, Any] = {
    "linear": lambda: pl.PairSVC("tensor_metric", C=0.1).fit(PAIRS, LABELS),
    "metric": lambda: pl.PairSVC("metric", "standardised", C=0.1).fit(PAIRS, LABELS),
    "poly": lambda: pl.PairSVC("direct_sum", "poly", C=0.01).fit(PAIRS, LABELS),
    "rbf": lambda: pl.PairSVC("tensor_metric", "rbf").fit(PAIRS, LABELS),
    "low_rank": lambda: pl.PairSVC("tensor", LowRank("rbf", 20)).fit(PAIRS, LABELS),
    "ranker": lambda: pl.PairRanker("wedge", "rbf").fit(
        PAIRS, np.sign(X[TRAIN][PAIRS.left, 0] - X[TRAIN][PAIRS.right, 0])
    ),
    "differences": lambda: pl.PairRanker("difference").fit(PAIRS, np.sign(NUMBERS)),
    "svr": lambda: pl.PairSVR("tensor", "rbf").fit(PAIRS, NUMBERS),
    "ridge": lambda: pl.PairRidge("tensor_metric", "rbf").fit(PAIRS, NUMBERS),
    "stack": lambda: pl.StackedPairSVC(pl.PairSVC(base="rbf", C=0.1)).fit(PAIRS, LABELS, classes=WHO[TRAIN]),
    "kissme": lambda: pl.baselines.KISSMEBaseline().fit(PAIRS, LABELS),
    "rca": lambda: pl.baselines.RCABaseline().fit(PAIRS, LABELS),
    "cosine": lambda: pl.CosineBaseline(),
}
every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_nothing_is_lost_where_nothing_is_cut(name: str) -> None:
    model = MODELS[name]()
    small = pl.distil(model, X[NEW], loss=0.0, dtype="float64").model
    scale = np.abs(model.decision_function(TEST)).max()
    np.testing.assert_allclose(small.decision_function(TEST), model.decision_function(TEST), atol=1e-7 * scale)
    np.testing.assert_allclose(
        small.score_block(X[NEW][:5], X[NEW][5:12]), model.score_block(X[NEW][:5], X[NEW][5:12]), atol=1e-6 * scale
    )
    np.testing.assert_allclose(small.predict(TEST), model.predict(TEST), atol=1e-7 * scale)


@every_model
def test_the_loss_is_kept_and_swapping_changes_no_bit(name: str) -> None:
    model = MODELS[name]()
    found = pl.distil(model, X[NEW], loss=0.1)
    before, after = model.decision_function(TEST), found.model.decision_function(TEST)
    assert np.sqrt(np.mean((after - before) ** 2)) <= 0.12 * before.std()
    sign = -1.0 if isinstance(model, pl.PairRanker) else 1.0
    np.testing.assert_array_equal(found.model.decision_function(TEST.swapped()), sign * after)
    assert found.loss.rms <= 0.101 * found.loss.spread


@every_model
def test_it_is_saved_and_says_the_same(name: str, tmp_path: Path) -> None:
    small = pl.distil(MODELS[name](), X[NEW], loss=0.1).model
    pl.save(small, tmp_path / "small.safetensors")
    again = pl.load(tmp_path / "small.safetensors")
    np.testing.assert_array_equal(again.decision_function(TEST), small.decision_function(TEST))


def test_two_tables() -> None:
    left, right = rng.normal(size=(40, 3)), rng.normal(size=(50, 4))
    a, b = np.divmod(np.arange(2000), 50)
    pairs = pl.Pairs(left, a, b, right_examples=right)
    model = pl.PairRidge("tensor", ("rbf", "linear"), alpha=0.1).fit(pairs, left[a, 0] * right[b, 0])
    small = pl.distil(model, pairs, loss=0.0, dtype="float64").model
    assert isinstance(small, DistilledRegressor)
    np.testing.assert_allclose(small.predict(pairs), model.predict(pairs), atol=1e-8)
    np.testing.assert_allclose(
        small.score_block(left[:3], right[:4]), model.score_block(left[:3], right[:4]), atol=1e-8
    )
    cut = pl.distil(model, pairs, loss=0.1)
    assert cut.loss.rms <= 0.1 * cut.loss.spread
    assert cut.loss.bytes[1] < cut.loss.bytes[0] / 5
    with pytest.raises(InputError, match="two tables"):
        small.decision_function(TEST)


def test_fewer_support_examples_and_less_room() -> None:
    wide = np.random.default_rng(0).normal(size=(300, 2))
    pairs = pl.all_pairs(wide)
    model = pl.PairRidge("tensor", "rbf").fit(pairs, np.cos(wide[pairs.left, 0]) * np.cos(wide[pairs.right, 0]))
    found = pl.distil(model, np.random.default_rng(1).normal(size=(200, 2)), loss=0.05)
    part = found.model.function.left.parts[0]
    assert len(part.rows) <= 300 / 4
    assert found.loss.bytes[1] < found.loss.bytes[0] / 20


def test_a_verifier_keeps_its_threshold_and_tells_what_changes() -> None:
    model = MODELS["stack"]()
    verifier = pl.Verifier(model, threshold=0.3)
    with pytest.warns(ApproximationWarning, match="threshold is kept"):
        found = pl.distil(verifier, X[NEW], classes=WHO[NEW], loss=0.2)
    assert found.model.threshold == 0.3
    told = loss_between(verifier, found.model, TEST, classes=WHO[NEW])
    assert told.changed == np.mean(verifier.predict(TEST) != found.model.predict(TEST))
    rates = [pl.equal_error_rate(pl.Scores.of(each, TEST, classes=WHO[NEW])) for each in (verifier, found.model)]
    assert told.eer is not None
    assert told.eer.estimate == pytest.approx(rates[1] - rates[0], abs=1e-12)


def test_a_pipeline_keeps_its_steps() -> None:
    model = make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC("tensor_metric", "rbf")).fit(PAIRS, LABELS)
    small = pl.distil(model, TEST, loss=0.0, dtype="float64").model
    np.testing.assert_allclose(small.decision_function(TEST), model.decision_function(TEST), atol=1e-8)


def test_an_index_can_search_it() -> None:
    small = pl.distil(MODELS["rbf"](), X[NEW], loss=0.05).model
    form, rows = bilinear(small), X[NEW]
    E = form.rows(rows)
    assert form.cross is not None
    order = E[:9] @ form.cross @ E.T + form.own(E)
    scores = small.score_block(rows[:9], rows)
    np.testing.assert_allclose(np.ptp(order - scores, axis=1), 0.0, atol=1e-10)
    pytest.importorskip("faiss")
    found = GalleryIndex(pl.Gallery(small, rows, np.arange(len(rows)))).search(rows[:4] + 1e-4)
    np.testing.assert_array_equal(found.identities[:, 0], scores[:4].argmax(axis=1))


@pytest.mark.parametrize("name", ["linear", "metric", "differences", "kissme", "rca", "cosine"])
def test_features_add_up_to_the_score(name: str) -> None:
    model = MODELS[name]()
    small = pl.distil(model, X[NEW], loss=0.0, dtype="float64").model
    found = pl.explain(small, TEST[7:8], by="feature")
    assert found.values.sum() + found.bias == pytest.approx(small.decision_function(TEST[7:8])[0], abs=1e-9)
    if name in ("linear", "metric", "differences"):
        known = pl.explain(model, TEST[7:8], by="feature")
        parts = dict(zip(known.names, known.values, strict=True))
        parts.pop("constant", None)
        np.testing.assert_allclose(found.values, list(parts.values()), atol=1e-8)
    with pytest.raises(InputError, match="by="):
        pl.explain(small, TEST[7:8])


def test_what_cannot_be_distilled_is_refused_with_advice() -> None:
    product = pl.pair_kernel("tensor") * pl.pair_kernel("metric")
    refused = {
        "pair by pair": pl.PairSVC(product).fit(PAIRS, LABELS),
        "LogisticBaseline": pl.baselines.LogisticBaseline().fit(PAIRS, LABELS),
    }
    for words, model in refused.items():
        with pytest.raises(InputError, match=words):
            pl.distil(model, X[NEW])
    model = pl.CosineBaseline()
    for options, words in (({"loss": 2.0}, "loss"), ({"dtype": "int8"}, "dtype"), ({"y": [1]}, "labels belong")):
        with pytest.raises(InputError, match=words):
            pl.distil(model, X[NEW], **options)
    with pytest.raises(InputError, match="too few"):
        pl.distil(model, X[:5])
    with pytest.raises(InputError, match="features"):
        pl.distil(MODELS["linear"](), X[NEW]).model.score_block(X[:2, :3], X[:2, :3])


def test_a_distance_without_a_threshold_gets_none(tmp_path: Path) -> None:
    small = pl.distil(pl.EuclidBaseline(), X[NEW], loss=0.0).model
    pl.save(small, tmp_path / "small.safetensors")
    for model in (small, pl.load(tmp_path / "small.safetensors")):
        with pytest.raises(InputError, match="had no threshold"):
            model.predict(TEST)
    fitted = pl.EuclidBaseline().fit(PAIRS, LABELS)
    for model, threshold in ((fitted, fitted.threshold_), (pl.EuclidBaseline(-2.0), -2.0), (pl.CosineBaseline(), 0.0)):
        assert pl.distil(model, X[NEW], loss=0.0).model.threshold == threshold
