"""A search by an index against a comparison with everyone."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.errors import ApproximationWarning, InputError
from pairlearn.scorers import GalleryIndex, bilinear, group_identities
from pairlearn.scorers import gallery as tiles
from pairlearn.scorers.bilinear import Bilinear
from pairlearn.scorers.index import Recall, load_faiss
from pairlearn.scorers.points import Axes, Lift

pytest.importorskip("faiss")
D = 8
RNG = np.random.default_rng(5)
CENTRES = RNG.normal(size=(400, D))
WHO = np.sort(RNG.integers(0, 400, 1500))  # about four examples each
EXAMPLES = CENTRES[WHO] + 0.4 * RNG.normal(size=(1500, D))
PROBES = CENTRES[RNG.integers(0, 400, 60)] + 0.4 * RNG.normal(size=(60, D))


def trained() -> dict[str, Any]:
    X = np.repeat(RNG.normal(size=(15, D)), 4, axis=0) + 0.4 * RNG.normal(size=(60, D))
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(np.repeat(np.arange(15), 4))
    two = pl.pair_kernel("tensor").on(pl.kernels.Linear()) + pl.pair_kernel("metric").on(pl.kernels.Gaussian(gamma=0.1))
    machines = {name: pl.PairSVC(kernel=name).fit(pairs, y) for name in ("tensor", "metric", "tensor_metric")}
    return {
        **machines,
        "gaussian": pl.PairSVC(base="rbf").fit(pairs, y),
        "two bases": pl.PairSVC(kernel=two).fit(pairs, y),
        "pipeline": make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC()).fit(pairs, y),
        "verifier": pl.Verifier(machines["tensor"], 0.5),
        "euclid": pl.EuclidBaseline(),
        "cosine": pl.CosineBaseline(),
        "rca": pl.baselines.RCABaseline().fit(pairs, y),
        "wccn": pl.baselines.WCCNBaseline().fit(pairs, y),
        "plda": pl.baselines.PLDABaseline().fit(pairs, y),
        "kissme": pl.baselines.KISSMEBaseline().fit(pairs, y),
        "online": pl.OnlinePseudoMetric(max_sweeps=1).partial_fit(pairs, y),
    }


MODELS = trained()
DISTANCES = ("euclid", "rca")
every_model = pytest.mark.parametrize("name", MODELS)


def by_pairs(model: Any, probes: Any, enrolled: Any) -> Any:
    """decision_function of every probe with every example, pair by pair."""
    p, g = len(probes), len(enrolled)
    pairs = pl.Pairs(np.vstack([probes, enrolled]), np.repeat(np.arange(p), g), np.tile(np.arange(p, p + g), p))
    return model.decision_function(pairs).reshape(p, g)


# --------------------------------------------------------------------------- forms and points


@every_model
def test_the_form_is_the_score_up_to_a_term_of_the_probe(name: str) -> None:
    form, F = bilinear(MODELS[name]), bilinear(MODELS[name]).rows(EXAMPLES[:50])
    cross = np.eye(F.shape[1]) if form.cross is None else form.cross
    values = form.rows(PROBES) @ cross @ F.T + form.own(F)
    scores = by_pairs(MODELS[name], PROBES, EXAMPLES[:50])
    assert form.whole == (name not in DISTANCES)
    scores = scores if form.whole else -0.5 * scores**2
    difference = scores - values
    np.testing.assert_allclose(difference, np.broadcast_to(difference[:, :1], difference.shape), atol=1e-8)


@every_model
def test_the_nearest_points_are_the_highest_scores(name: str) -> None:
    """−½‖q − k‖² differs from the form by a term of the probe, and by what single precision and dropped axes lose."""
    form = bilinear(MODELS[name])
    axes = Axes.learn(form, EXAMPLES)
    rows = axes.enrolled(EXAMPLES)
    points, probes = Lift.learn(rows).points(rows).astype(float), axes.probes(PROBES).astype(float)
    distances = -0.5 * ((probes[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    scores = by_pairs(MODELS[name], PROBES, EXAMPLES)
    scores = scores if form.whole else -0.5 * scores**2
    rest = scores - distances
    rest -= rest.mean(axis=1, keepdims=True)
    assert rest.std() < 0.02 * (scores - scores.mean(axis=1, keepdims=True)).std()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_indefinite_and_asymmetric_forms_become_distances(seed: int, width: int) -> None:
    """Any M and any own values: the argmax of the form is the nearest point."""
    rng = np.random.default_rng(seed)
    M, n = rng.normal(size=(width, width)), rng.normal(size=width)
    form = Bilinear(lambda X: X, M, lambda E: E**2 @ n)
    B, A = rng.normal(size=(40, width)), rng.normal(size=(10, width))
    axes = Axes.learn(form, B)
    rows = axes.enrolled(B)
    points, probes = Lift.learn(rows).points(rows).astype(float), axes.probes(A).astype(float)
    distances = ((probes[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    values = A @ M @ B.T + B**2 @ n
    nearest = values[np.arange(10), distances.argmin(axis=1)]
    np.testing.assert_array_less(values.max(axis=1) - nearest, 0.05 * values.std() + 1e-9)


# --------------------------------------------------------------------------- searching


@every_model
@pytest.mark.parametrize("pooling", [("scores", "max"), ("scores", "mean"), ("examples", "mean")])
def test_a_search_finds_what_a_comparison_with_everyone_finds(name: str, pooling: Any) -> None:
    gallery = pl.Gallery(MODELS[name], EXAMPLES, WHO, *pooling)
    if name in DISTANCES and pooling == ("scores", "mean"):
        with pytest.raises(InputError, match='means of distances are not searched; pass how="max"'):
            GalleryIndex(gallery)
        return
    index = GalleryIndex(gallery)
    found, everyone = index.search(PROBES, top=5), gallery.score(PROBES)
    columns = np.searchsorted(gallery.names, found.identities)
    np.testing.assert_allclose(found.scores, np.take_along_axis(everyone, columns, axis=1), rtol=1e-9, atol=1e-7)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert all(len(set(row)) == 5 for row in found.identities.tolist())
    best = np.sort(everyone, axis=1)[:, -5:]
    share = np.mean([np.isin(row, np.argsort(-line)[:5]).mean() for row, line in zip(columns, everyone, strict=True)])
    assert share == pytest.approx(index.recall(PROBES, top=5).value, abs=0.02)  # equal scores count as found
    assert share >= 0.9
    assert (found.scores[:, 0] >= best[:, -1] - 1e-7).mean() > 0.95


@every_model
def test_scores_are_those_of_decision_function_to_the_last_bit(name: str) -> None:
    index = GalleryIndex(pl.Gallery(MODELS[name], EXAMPLES[:300], np.arange(300)))
    found = index.search(PROBES[:1], top=3)
    per = 15
    assert index._per_identity == 1.0
    candidates = index._owners[index._cells.search(index._axes.probes(PROBES[:1]), per)[1][0]]
    table = np.vstack([PROBES[:1], EXAMPLES[np.sort(candidates)]])
    pairs = pl.Pairs(table, np.zeros(per, dtype=int), np.arange(1, per + 1))
    scores = dict(zip(np.sort(candidates), MODELS[name].decision_function(pairs), strict=True))
    assert found.scores[0].tolist() == [scores[who] for who in found.identities[0]]


def test_all_cells_find_all_and_equals_come_in_the_order_of_names() -> None:
    twice, names = np.vstack([EXAMPLES[:200], EXAMPLES[:200]]), np.array([f"n{k:03d}" for k in range(400)])
    gallery = pl.Gallery(pl.EuclidBaseline(), twice, names)
    found = GalleryIndex(gallery, recall=1.0).search(EXAMPLES[:50], top=2)
    assert found.identities.tolist() == [[f"n{k:03d}", f"n{200 + k:03d}"] for k in range(50)]
    np.testing.assert_array_equal(found.scores, 0.0)


def test_few_candidates_are_made_up_for_by_comparing_with_everyone() -> None:
    """One identity has nearly all examples: the nearest points are all its own."""
    who = np.where(np.arange(1500) < 1400, 0, np.arange(1500))
    gallery = pl.Gallery(pl.EuclidBaseline(), EXAMPLES, who, "scores", "max")
    index = GalleryIndex(gallery, oversample=1)
    found, expected = index.search(EXAMPLES[:40], top=20), gallery.identify(EXAMPLES[:40], top=20)
    assert found.scores.shape == (40, 20)
    assert np.isfinite(found.scores).all()
    np.testing.assert_allclose(found.scores[:, 0], expected.scores[:, 0], atol=1e-7)


# --------------------------------------------------------------------------- enrol, remove, save


@pytest.mark.parametrize("pooling", [("scores", "max"), ("scores", "mean"), ("examples", "direction")])
def test_enrolling_and_removing_is_as_if_built_so(pooling: Any) -> None:
    model = MODELS["tensor_metric"]
    index = GalleryIndex(pl.Gallery(model, EXAMPLES[:900], WHO[:900], *pooling), recall=1.0)
    cells = index._cells
    index.enrol(EXAMPLES[900:1200], WHO[900:1200]).enrol(PROBES[:2], [WHO[0], 999]).remove([WHO[5], WHO[600]])
    assert index._cells is cells or index._learnt_from > 900
    X, who = np.vstack([EXAMPLES[:1200], PROBES[:2]]), np.append(WHO[:1200], [WHO[0], 999])
    kept = ~np.isin(who, [WHO[5], WHO[600]])
    fresh = pl.Gallery(model, X[kept], who[kept], *pooling)
    np.testing.assert_allclose(np.sort(index.gallery.examples, axis=0), np.sort(fresh.examples, axis=0))
    found, expected = index.search(PROBES, top=4), fresh.identify(PROBES, top=4)
    assert (found.identities == expected.identities).mean() > 0.97
    assert not np.isin(found.identities, [WHO[5], WHO[600]]).any()
    assert index.search(PROBES[1:2]).identities[0, 0] == fresh.identify(PROBES[1:2]).identities[0, 0]


def test_who_comes_back_has_the_new_examples_only() -> None:
    index = GalleryIndex(pl.Gallery(pl.EuclidBaseline(), EXAMPLES, np.arange(1500)))
    moved = index.remove([3]).enrol(EXAMPLES[:1] + 0.01, [3]).search(EXAMPLES[[0, 3]] + 0.008, top=1)
    assert moved.identities[0, 0] == 3
    assert moved.identities[1, 0] != 3


def test_a_gallery_that_grows_is_learnt_anew() -> None:
    index = GalleryIndex(pl.Gallery(pl.CosineBaseline(), EXAMPLES[:100], np.arange(100)))
    index.enrol(EXAMPLES[100:1200], np.arange(100, 1200))
    assert index._learnt_from == 1200
    far = index.enrol(1e3 + EXAMPLES[:1], [5000])
    assert far.search(1e3 + EXAMPLES[:1]).scores[0, 0] == pytest.approx(1.0)


def test_a_saved_gallery_gives_the_same_index(tmp_path: Path) -> None:
    index = GalleryIndex(pl.Gallery(MODELS["tensor"], EXAMPLES, WHO)).remove([WHO[0]])
    pl.save(index.gallery, tmp_path / "gallery.safetensors")
    again = GalleryIndex(pl.load(tmp_path / "gallery.safetensors"))
    for mine, other in zip(index.search(PROBES, 3), again.search(PROBES, 3), strict=True):
        assert (mine == other).mean() > 0.97
    with pytest.raises(InputError, match="cannot save a GalleryIndex"):
        pl.save(index, tmp_path / "index.safetensors")
    (tmp_path / "gallery.safetensors").write_bytes(b"IwFl" + bytes(200))  # a file of FAISS
    with pytest.raises(InputError, match="not a model file"):
        pl.load(tmp_path / "gallery.safetensors")


# --------------------------------------------------------------------------- groups


def chained(scores: Any, threshold: float) -> list[int]:
    """Groups by following every pair that scores high enough, the first of each group in order."""
    groups = [-1] * len(scores)
    for first in range(len(scores)):
        ahead, number = [first] if groups[first] < 0 else [], max(groups) + 1
        while ahead:
            one = ahead.pop()
            if groups[one] < 0:
                groups[one] = number
                ahead += np.flatnonzero((scores[one] >= threshold) | (scores[:, one] >= threshold)).tolist()
    return groups


@pytest.mark.parametrize("threshold", [-0.2, -0.6, -1.2])
def test_groups_are_those_of_all_pairs_above_the_threshold(threshold: float) -> None:
    X = EXAMPLES[:300]
    gallery = pl.Gallery(pl.EuclidBaseline(), X, np.arange(300))
    expected = chained(by_pairs(pl.EuclidBaseline(), X, X), threshold)
    assert group_identities(gallery, threshold, top=299).tolist() == expected
    assert group_identities(GalleryIndex(gallery, recall=1.0), threshold, top=299).tolist() == expected


def test_an_index_groups_photos_by_person() -> None:
    X = np.repeat(4 * CENTRES, 3, axis=0) + 0.05 * RNG.normal(size=(1200, D))
    groups = group_identities(GalleryIndex(pl.Gallery(pl.EuclidBaseline(), X, np.arange(1200))), -1.0)
    assert groups.tolist() == np.repeat(np.arange(400), 3).tolist()
    bad: Any
    for bad in (np.nan, "high", None):
        with pytest.raises(InputError, match="threshold must be a number"):
            group_identities(pl.Gallery(pl.EuclidBaseline(), X, np.arange(1200)), bad)


# --------------------------------------------------------------------------- refusals


class Own:
    def decision_function(self, pairs: Any) -> Any:
        return np.zeros(len(pairs))


def test_models_without_a_form_are_refused_with_advice() -> None:
    pairs = pl.all_pairs(EXAMPLES[:40], reflexive=False)
    y = pairs.labels(WHO[:40] // 4)
    power = pl.pair_kernels.power(pl.pair_kernel("tensor"), 2)
    outer = pl.PairSVC(kernel=power).fit(pairs, y)
    scorer = pl.scorers.NormalisedScorer(pl.CosineBaseline(), EXAMPLES[:50])
    two = pl.Pairs(EXAMPLES[:9], [0, 1], [2, 3], right_examples=EXAMPLES[:9])
    for model in (Own(), outer, scorer, pl.PairSVC().fit(two, [1, -1])):
        with pytest.raises(InputError, match=r"compare with everyone: pl\.Gallery"):
            GalleryIndex(pl.Gallery(model, EXAMPLES, WHO))


def test_bad_questions_are_refused_with_advice() -> None:
    gallery = pl.Gallery(pl.CosineBaseline(), EXAMPLES, WHO)
    index = GalleryIndex(gallery)
    for top in (0, 10_000):
        with pytest.raises(InputError, match="from 1 to the number of identities"):
            index.search(PROBES, top)
    with pytest.raises(InputError, match="NaN"):
        index.search(np.full((1, D), np.nan))
    with pytest.raises(InputError, match="columns, but the gallery has"):
        index.search(PROBES[:, 1:])
    with pytest.raises(InputError, match="-1 is not enrolled"):
        index.remove([-1])
    with pytest.raises(InputError, match="nobody would be left"):
        index.remove(gallery.names)
    with pytest.raises(InputError, match="the same features"):
        index.enrol(EXAMPLES[:1, :3], [1])
    with pytest.raises(InputError, match="identities are int64, these are <U1; pass the same"):
        index.enrol(EXAMPLES[:1], ["7"])
    with pytest.raises(InputError, match="recall lies in"):
        GalleryIndex(gallery, recall=0.0)
    assert index.gallery is gallery


def test_numbers_beyond_single_precision_are_refused_or_compared_with_everyone() -> None:
    with pytest.raises(InputError, match="too large for the single precision of an index"):
        GalleryIndex(pl.Gallery(pl.EuclidBaseline(), 1e30 * EXAMPLES, WHO, how="max"))
    gallery = pl.Gallery(pl.EuclidBaseline(), EXAMPLES, WHO, how="max")
    found = GalleryIndex(gallery).search(1e60 * PROBES[:2], top=2)
    assert found.scores.shape == (2, 2)
    np.testing.assert_allclose(found.scores, gallery.identify(1e60 * PROBES[:2], 2).scores)


def test_one_identity_and_equal_examples_are_no_harm() -> None:
    for X in (EXAMPLES[:1], np.zeros((50, D)), np.ones((50, D))):
        index = GalleryIndex(pl.Gallery(pl.EuclidBaseline(), X, np.zeros(len(X), dtype=int), how="max"))
        assert index.search(PROBES[:3]).identities.tolist() == [[0]] * 3
        assert index.tuned.value == 1.0
        assert index.search(PROBES[:0]).scores.shape == (0, 1)


def test_a_forked_child_searches_too() -> None:
    index = GalleryIndex(pl.Gallery(pl.CosineBaseline(), EXAMPLES, WHO))
    expected = index.search(PROBES, 3).scores
    child = multiprocessing.get_context("fork").Process(
        target=lambda: np.testing.assert_allclose(index.search(PROBES, 3).scores, expected)
    )
    child.start()
    child.join(60)
    child.kill()
    assert child.exitcode == 0


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    load_faiss.cache_clear()
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(InputError, match=r'pip install "pairlearn\[search\]"'):
        GalleryIndex(pl.Gallery(pl.CosineBaseline(), EXAMPLES, WHO))
    load_faiss.cache_clear()


def test_recall_is_a_share_in_words() -> None:
    assert str(Recall(0.5, 10, 1)) == "recall@10 0.500 on 1 probe"


# --------------------------------------------------------------------------- everyone, tile by tile


@pytest.mark.parametrize("tile", [1, 7, 100])
@pytest.mark.parametrize("pooling", [("scores", "max"), ("scores", "mean"), ("examples", "mean")])
def test_tiles_change_nothing(tile: int, pooling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = pl.Gallery(pl.EuclidBaseline(), np.round(EXAMPLES[:200]), WHO[:200][::-1], *pooling)
    whole = gallery.best(gallery.score(np.round(PROBES)), 6)
    monkeypatch.setattr(tiles, "TILE", tile)
    found = gallery.identify(np.round(PROBES), 6)
    np.testing.assert_allclose(found.scores, whole.scores, atol=1e-12)
    same = found.identities == whole.identities
    np.testing.assert_allclose(found.scores[~same], whole.scores[~same], atol=1e-12)
    assert same.mean() > 0.9


def test_one_example_far_from_all_others_is_told() -> None:
    """Single precision lost half of all answers beside one embedding of a hundred times their length, in silence."""
    X = np.random.default_rng(0).normal(size=(400, 8))
    table = np.vstack([X, 1e4 * X[:1]])
    with pytest.warns(ApproximationWarning, match="hundred times as large"):
        pl.scorers.GalleryIndex(pl.Gallery(pl.EuclidBaseline(), table, np.arange(401)))


def test_float32_examples_have_the_recall_of_their_answers() -> None:
    X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32) + 5
    index = pl.scorers.GalleryIndex(pl.Gallery(pl.EuclidBaseline(), X, np.arange(400)))
    found, exact = index.search(X[:50], top=10), index.gallery.identify(X[:50].astype(float), top=10)
    same = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found.identities, exact.identities, strict=True)])
    assert index.recall(X[:50], top=10).value == pytest.approx(same, abs=0.005)


def test_numbers_are_removed_by_their_text() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    index = GalleryIndex(pl.Gallery(pl.EuclidBaseline(), X, np.arange(300.0))).remove(["12"])
    assert 12.0 not in index.search(X[[12]], top=5).identities
    assert len(index.gallery.names) == 299


@pytest.mark.parametrize("numbers", [np.int64, np.uint16, np.float64])
@pytest.mark.parametrize("name", [5, 5.0, "5", "5.0"])
def test_numbers_are_removed_and_enrolled_however_they_are_written(numbers: Any, name: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    index = GalleryIndex(pl.Gallery(pl.EuclidBaseline(), X, np.arange(300, dtype=numbers), how="max"))
    assert 5 not in index.remove([name]).search(X[[5]], top=5).identities
    for back in (5.0, 5):
        index.enrol(X[[5]], [back])
        assert index.search(X[[5]]).identities.tolist() == [[5]]
    assert index.gallery.identities.dtype.kind == np.dtype(numbers).kind
    assert len(index.gallery.names) == 300
    with pytest.raises(InputError, match="pass the same"):
        index.enrol(X[:1], ["5"])
