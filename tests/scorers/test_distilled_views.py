"""Distilled whitened views: the scores of the scorer where nothing is cut, whatever views share."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.baselines.stacked import attach_baselines, cross_fit, with_scores
from pairlearn.errors import InputError
from pairlearn.scorers import GalleryIndex, View, WhitenedScorer, bilinear

rng = np.random.default_rng(3)
WHO = np.repeat(np.arange(30), 8)
X = rng.normal(size=(30, 8))[WHO] + 0.7 * rng.normal(size=(240, 8))
TRAIN, NEW = np.flatnonzero(WHO < 15), np.flatnonzero(WHO >= 15)
PAIRS = pl.all_pairs(X[TRAIN], reflexive=False)
LABELS = PAIRS.labels(WHO[TRAIN])
TEST = pl.all_pairs(X[NEW], reflexive=False)

COMPARES, COHORTS = ("cosine", "ratio"), ("none", "all", "nearest")
VIEWS: dict[str, list[View]] = {
    "every": [View(*one) for one in product(("linear", "rbf", "standardised"), (0.1, 0.5), COMPARES, COHORTS)],
    "cosine": [View("rbf")],
    "ratio": [View("linear", 0.1, "ratio")],
    "two ratios": [View("rbf", 0.1, "ratio", "all"), View("rbf", 0.4, "ratio", "nearest")],
    "cosine asks": [View("rbf", 0.1, "cosine", "all"), View("rbf", 0.4, "ratio")],
    "ratio asks": [View("rbf", 0.1), View("rbf", 0.4, "ratio", "all")],
    "one space asks": [View("rbf", 0.1), View("linear", 0.4, "cosine", "nearest")],
    "none asks": [View("rbf", share, compare) for share, compare in product((0.1, 0.2, 0.4), COMPARES)],
}
every_set = pytest.mark.parametrize("name", VIEWS)


def scorer(name: str) -> WhitenedScorer:
    return WhitenedScorer(VIEWS[name], rank=60).fit(PAIRS, LABELS, WHO[TRAIN])


def machine(kernel: Any) -> pl.PairSVC:
    """A machine on a kernel, if any, and the scores of a baseline and of views."""
    makers = {"cosine": pl.CosineBaseline, "views": lambda: WhitenedScorer(VIEWS["every"], rank=30)}
    stack = cross_fit(PAIRS, LABELS, WHO[TRAIN], list(makers), makers=makers)
    fitted = pl.PairSVC(with_scores(kernel, 0.1), C=0.01).fit(stack.pairs, stack.labels)
    return attach_baselines(fitted, stack)


@every_set
def test_nothing_is_lost_where_nothing_is_cut(name: str) -> None:
    model = scorer(name)
    before, block = model.decision_function(TEST), model.score_block(X[:5], X[NEW][:40])
    for dtype, last in (("float64", 1e-10), ("float32", 1e-5)):
        small = pl.distil(model, X[NEW], loss=0.0, dtype=dtype).model
        np.testing.assert_allclose(small.decision_function(TEST), before, atol=last * np.abs(before).max())
        np.testing.assert_allclose(small.score_block(X[:5], X[NEW][:40]), block, atol=last * np.abs(block).max())
    assert small.threshold == model.threshold_


@every_set
def test_the_loss_is_kept_swapping_changes_no_bit_and_a_file_says_the_same(name: str, tmp_path: Path) -> None:
    model = scorer(name)
    found = pl.distil(model, X[NEW], loss=0.1)
    before, after = model.decision_function(TEST), found.model.decision_function(TEST)
    assert np.sqrt(np.mean((after - before) ** 2)) <= 0.12 * before.std()
    np.testing.assert_array_equal(found.model.decision_function(TEST.swapped()), after)
    pl.save(found.model, tmp_path / "small.safetensors")
    np.testing.assert_array_equal(pl.load(tmp_path / "small.safetensors").decision_function(TEST), after)


def test_views_of_one_space_share_and_a_pair_takes_few_numbers() -> None:
    model = scorer("every")
    exact, cut = pl.distil(model, X[NEW], loss=0.0), pl.distil(model, X[NEW], loss=0.1)
    assert exact.loss.bytes[1] < exact.loss.bytes[0] / 4
    assert cut.model.function.left.length < exact.model.function.left.length / 3


@pytest.mark.parametrize("kernel", [None, pl.pair_kernel("tensor_metric").on(pl.kernels.Gaussian())])
def test_a_machine_that_asks_views(kernel: Any) -> None:
    model = machine(kernel)
    before = model.decision_function(TEST)
    small = pl.distil(model, X[NEW], loss=0.0, dtype="float64").model
    np.testing.assert_allclose(small.decision_function(TEST), before, atol=1e-7 * np.abs(before).max())
    found = pl.distil(pl.Verifier(model, 10.0), X[NEW], classes=WHO[NEW], loss=0.1)
    assert found.loss.rms <= 0.101 * found.loss.spread


def test_many_examples_are_mapped_some_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    small = pl.distil(scorer("every"), X[NEW], loss=0.1).model
    once = small.decision_function(TEST)
    monkeypatch.setattr("pairlearn.scorers.distilling.views.AT_ONCE", 2000)
    np.testing.assert_allclose(small.decision_function(TEST), once, rtol=1e-10, atol=1e-10)


def test_texts_have_views_too() -> None:
    words = ["".join(np.random.default_rng(k).permutation(list("pairlearn"))[:6]) for k in range(40)]
    words += [word + "s" for word in words]
    classes = np.tile(np.arange(40), 2)
    pairs = pl.all_pairs(words, reflexive=False)
    base = pl.kernels.Clipped(pl.kernels.EditSimilarity(), 30)
    model = WhitenedScorer(View(base, 0.5, "cosine", "all")).fit(pairs, pairs.labels(classes), classes)
    small = pl.distil(model, pairs, loss=0.0).model
    np.testing.assert_allclose(small.decision_function(pairs), model.decision_function(pairs), atol=1e-4)


def test_an_index_can_search_it_and_other_features_are_refused() -> None:
    small = pl.distil(scorer("every"), X[NEW], loss=0.1).model
    rows, form = X[NEW], bilinear(small)
    E = form.rows(rows)
    assert form.cross is not None
    scores = small.score_block(rows[:9], rows)
    np.testing.assert_allclose(np.ptp(E[:9] @ form.cross @ E.T + form.own(E) - scores, axis=1), 0.0, atol=1e-9)
    with pytest.raises(InputError, match="features"):
        small.score_block(X[:2, :3], X[:2, :3])
    with pytest.raises(InputError, match="explain the model"):
        pl.explain(small, TEST[7:8], by="feature")
    pytest.importorskip("faiss")
    found = GalleryIndex(pl.Gallery(small, rows, np.arange(len(rows)))).search(rows[:4] + 1e-4)
    np.testing.assert_array_equal(found.identities[:, 0], scores[:4].argmax(axis=1))


def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    function = pl.distil(scorer("every"), X[NEW], loss=0.1).model.function
    part = function.left.parts[0]
    views = part.rows.views
    group = views.groups[0]
    for changed in (
        replace(views, cohort=views.cohort[:-1]),
        replace(views, groups=(replace(group, stretch=group.stretch[:-1]), *views.groups[1:])),
        replace(views, groups=views.groups[1:]),
    ):
        broken = replace(part, rows=replace(part.rows, views=changed))
        side = replace(function.left, parts=(broken, *function.left.parts[1:]))
        with pytest.raises(InputError, match=r"cohort|axes|famil"):
            pl.save(pl.scorers.DistilledScorer(replace(function, left=side)), tmp_path / "broken.safetensors")
