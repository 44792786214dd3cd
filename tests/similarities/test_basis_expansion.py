"""Expansions against features made by hand."""

from __future__ import annotations

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import FromFunction, Gaussian, Linear
from pairlearn.similarities.basis_expansion import BasisExpansion
from pairlearn.similarities.blocks import Done

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
NEW = rng.normal(size=(11, 3))
BASES = [3, 17, 20, 31]


def lean(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Asymmetric and indefinite: s(a, b) = a₀ b₁ − |a₂ − b₂| + ½ a₀."""
    return A[:, :1] * B[:, 1:2].T - abs(A[:, 2:] - B[:, 2:].T) + 0.5 * A[:, :1]


def s(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - abs(a[2] - b[2]) + 0.5 * a[0])


def by_hand(rows: np.ndarray, basis_first: bool = False) -> np.ndarray:
    return np.array([[s(X[b], x) if basis_first else s(x, X[b]) for b in BASES] for x in rows])


def be(raw: np.ndarray, train: np.ndarray) -> np.ndarray:
    mean = train.mean(axis=0)
    return (raw - mean) / np.mean([np.linalg.norm(row - mean) for row in train])


@parametrize_with_checks([BasisExpansion(), BasisExpansion("precomputed")])
def test_scikit_learn_accepts_the_expansion(estimator: Any, check: Any) -> None:
    check(estimator)


# --------------------------------------------------------------------------- normalisation


@pytest.mark.parametrize("similarity", ["rbf", "linear", "poly", lean, Gaussian(0.3) + Linear()])
@pytest.mark.parametrize("bases", ["random", "index", "medoids"])
def test_training_features_are_centred_with_unit_mean_norm(similarity: Any, bases: str) -> None:
    phi = BasisExpansion(similarity, 9, bases, random_state=0).fit_transform(X)
    np.testing.assert_allclose(phi.mean(axis=0), 0.0, atol=1e-12)
    assert np.linalg.norm(phi, axis=1).mean() == pytest.approx(1.0)


def test_features_equal_the_formula() -> None:
    expansion = BasisExpansion(lean, bases=BASES).fit(X)
    np.testing.assert_allclose(expansion.transform(NEW), be(by_hand(NEW), by_hand(X)), rtol=1e-10, atol=1e-12)


def test_z_scores_and_bare_similarities_equal_their_formulas() -> None:
    train = by_hand(X)
    expected = (by_hand(NEW) - train.mean(axis=0)) / train.std(axis=0)
    found = BasisExpansion(lean, bases=BASES, normalise="z").fit(X).transform(NEW)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    bare = BasisExpansion(lean, bases=BASES, normalise="none").fit(X).transform(NEW)
    np.testing.assert_allclose(bare, by_hand(NEW), rtol=1e-12)


@pytest.mark.parametrize("normalise", ["be", "z"])
def test_a_constant_similarity_gives_zeros(normalise: Any) -> None:
    constant = FromFunction(lambda A, B: np.full((len(A), len(B)), 0.1))
    phi = BasisExpansion(constant, 5, normalise=normalise).fit_transform(X)
    np.testing.assert_allclose(phi, 0.0, atol=1e-12)


# --------------------------------------------------------------------------- direction


def test_the_basis_is_the_second_argument_unless_asked_for_otherwise() -> None:
    assert not np.allclose(by_hand(NEW), by_hand(NEW, basis_first=True))
    assert BasisExpansion().direction == "to_bases"
    for direction, first in (("from_bases", True), ("to_bases", False)):
        expansion = BasisExpansion(lean, bases=BASES, direction=direction, normalise="none")  # type: ignore[arg-type]
        np.testing.assert_allclose(expansion.fit(X).transform(NEW), by_hand(NEW, first), rtol=1e-12)


def test_both_directions_are_normalised_apart_and_put_side_by_side() -> None:
    expansion = BasisExpansion(lean, bases=BASES, direction="both").fit(X)
    expected = np.hstack([be(by_hand(NEW, first), by_hand(X, first)) for first in (False, True)])
    np.testing.assert_allclose(expansion.transform(NEW), expected, rtol=1e-10, atol=1e-12)
    assert expansion.get_feature_names_out()[[0, 4]].tolist() == ["lean(x, 3)", "lean(3, x)"]


def test_a_precomputed_matrix_gives_its_columns() -> None:
    S, rows = lean(X, X), lean(NEW, X)
    expansion = BasisExpansion("precomputed", bases=BASES).fit(S)
    np.testing.assert_allclose(expansion.transform(rows), be(by_hand(NEW), by_hand(X)), rtol=1e-10, atol=1e-12)


# --------------------------------------------------------------------------- several similarities


def test_several_similarities_are_put_side_by_side_each_normalised() -> None:
    several = BasisExpansion([lean, Gaussian(0.2)], bases=BASES).fit(X)
    parts = [BasisExpansion(one, bases=BASES).fit(X).transform(NEW) for one in (lean, Gaussian(0.2))]
    np.testing.assert_allclose(several.transform(NEW), np.hstack(parts), rtol=1e-12)
    names = several.get_feature_names_out().tolist()
    assert names[0] == "lean0(x, 3)"
    assert names[-1] == "gaussian1(x, 31)"


def test_bases_are_shared_or_chosen_apart() -> None:
    shared = BasisExpansion([lean, "rbf"], 6, random_state=0).fit(X)
    apart = BasisExpansion([lean, "rbf"], 6, shared=False, random_state=0).fit(X)
    assert np.array_equal(shared.blocks_[0].index, shared.blocks_[1].index)
    assert not np.array_equal(apart.blocks_[0].index, apart.blocks_[1].index)
    assert len(shared.basis_index_) == 6 < len(apart.basis_index_)


# --------------------------------------------------------------------------- batches, threads, dtype, seeds


@pytest.mark.parametrize(
    "options", [{"batch_size": 1}, {"batch_size": 7}, {"n_jobs": 2}, {"n_jobs": 2, "batch_size": 3}]
)
def test_batches_and_threads_do_not_change_the_features(options: dict[str, Any]) -> None:
    whole = BasisExpansion(["rbf", lean], 9, random_state=0)
    split = clone(whole).set_params(**options)
    np.testing.assert_allclose(split.fit_transform(X), whole.fit_transform(X), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(split.transform(NEW), whole.transform(NEW), rtol=1e-10, atol=1e-13)


def test_a_batch_stays_within_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairlearn.similarities.blocks.BATCH_VALUES", 50)
    largest: list[int] = []

    def watched(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        largest.append(len(A) * len(B))
        return lean(A, B)

    BasisExpansion(watched, 10).fit(X)
    assert max(largest) == 50
    assert len(largest) == 8


def test_features_of_single_precision_differ_by_rounding() -> None:
    wide = BasisExpansion("rbf", 9, random_state=0).fit(X)
    narrow = BasisExpansion("rbf", 9, dtype=np.float32, random_state=0).fit(X)
    assert narrow.transform(NEW).dtype == np.float32
    np.testing.assert_allclose(narrow.transform(NEW), wide.transform(NEW), atol=1e-6)


def test_the_same_seed_gives_the_same_features() -> None:
    first, again, other = (BasisExpansion("rbf", 5, random_state=seed).fit_transform(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_fit_transform_equals_fit_and_transform_and_survives_pickling() -> None:
    for dtype in (np.float64, np.float32):
        expansion = BasisExpansion(lean, 9, dtype=dtype, random_state=0)
        phi = expansion.fit_transform(X)
        np.testing.assert_array_equal(phi, expansion.transform(X))
        np.testing.assert_array_equal(phi, pickle.loads(pickle.dumps(expansion)).transform(X))


def test_progress_is_told_after_every_batch() -> None:
    told: list[Done] = []
    BasisExpansion("rbf", 5, batch_size=15, progress=told.append).fit(X)
    assert told == [Done(15, 40), Done(30, 40), Done(40, 40)]


def test_parameters_learnt_from_data_use_the_training_examples() -> None:
    expansion = BasisExpansion("rbf", bases=BASES, normalise="none").fit(X)
    gamma = 1 / (3 * X.var())
    expected = np.exp(-gamma * ((NEW[:, None] - X[None, BASES]) ** 2).sum(axis=2))
    np.testing.assert_allclose(expansion.transform(NEW), expected, rtol=1e-10)


# --------------------------------------------------------------------------- examples of any kind


def test_sparse_rows_equal_dense_rows() -> None:
    table = np.where(X > 0, X, 0.0)
    dense = BasisExpansion("rbf", 9, random_state=0).fit_transform(table)
    np.testing.assert_allclose(BasisExpansion("rbf", 9, random_state=0).fit_transform(sparse.csr_array(table)), dense)


def test_images_strings_and_graphs_are_examples() -> None:
    images = rng.normal(size=(12, 4, 4, 2))
    inner = FromFunction(lambda A, B: np.tensordot(A, B, axes=([1, 2, 3], [1, 2, 3])))
    flat = images.reshape(12, -1)
    found = BasisExpansion(inner, bases=[1, 5], normalise="none").fit_transform(images)
    np.testing.assert_allclose(found, flat @ flat[[1, 5]].T)
    words = np.array(["pair", "learn", "kernel"])
    common = FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True)
    assert BasisExpansion(common, bases=[1], normalise="none").fit_transform(words).ravel().tolist() == [2, 5, 4]
    graphs = [nx.path_graph(4), nx.cycle_graph(4), nx.star_graph(5)]
    edges = FromFunction(lambda a, b: min(a.number_of_edges(), b.number_of_edges()), scalar=True)
    assert BasisExpansion(edges, bases=[1], normalise="none").fit_transform(graphs).ravel().tolist() == [3, 4, 4]


def test_expanded_examples_feed_pair_machines() -> None:
    """The pair machine refuses the indefinite similarity itself; on its features it equals one made by hand."""
    classes = np.repeat(np.arange(8), 5)
    pairs = pl.all_pairs(X + 2.0 * rng.normal(size=(8, 3))[classes], reflexive=False)
    y = pairs.labels(classes)
    indefinite = FromFunction(lambda A, B: -np.abs(A[:, None] - B[None]).max(axis=2), definite=None)
    with pytest.raises(InputError, match="not positive semidefinite"):
        pl.PairSVC(base=indefinite).fit(pairs, y)
    machine = pl.PairSVC(base="linear", random_state=0)
    model = make_pipeline(pl.OnExamples(BasisExpansion(indefinite, 12, random_state=0)), machine)
    values = model.fit(pairs, y).decision_function(pairs)
    phi = BasisExpansion(indefinite, 12, random_state=0).fit(pairs.examples).transform(pairs.examples)
    by_hand = clone(machine).fit(pairs.with_examples(phi), y)
    np.testing.assert_allclose(values, by_hand.decision_function(pairs.with_examples(phi)), rtol=1e-6, atol=1e-8)
    assert np.mean(np.sign(values) == y) > 0.85


def test_an_expansion_works_in_a_pipeline() -> None:
    y = X[:, 0] > 0
    model = make_pipeline(BasisExpansion("rbf", 20, random_state=0), LinearSVC(C=100.0))
    assert model.fit(X, y).score(X, y) > 0.9
    names = model[:-1].get_feature_names_out()
    assert names[0].startswith("gaussian(")
    frame = BasisExpansion("rbf", 4, "index").fit(X).get_feature_names_out(["a", "b", "c"])
    assert frame.tolist() == [f"gaussian(x, {i})" for i in (0, 10, 20, 30)]


# --------------------------------------------------------------------------- fewer features


def test_kept_features_are_the_same_columns() -> None:
    for similarity, table, rows in ((["rbf", lean], X, NEW), ("precomputed", lean(X, X), lean(NEW, X))):
        expansion = BasisExpansion(similarity, 6, random_state=0).fit(table)
        width = expansion.transform(rows).shape[1]
        mask = np.arange(width) % 3 == 0
        mask[6:] = False
        fewer = expansion.keep(mask)
        np.testing.assert_allclose(fewer.transform(rows), expansion.transform(rows)[:, mask], rtol=1e-12)
        assert expansion.transform(rows).shape[1] == width
        assert fewer.basis_index_.tolist() == expansion.blocks_[0].index[mask[:6]].tolist()
    assert expansion.keep(np.zeros(6, dtype=bool)).transform(rows).shape == (11, 0)


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bases": 41}, "more than the 40 training examples"),
        ({"n_bases": 0}, "n_bases must be"),
        ({"bases": "best"}, "bases is"),
        ({"bases": [0, 1], "n_bases": 2}, "need n_bases=None"),
        ({"bases": "per_class"}, "needs the classes"),
        ({"normalise": "l2"}, "normalise is"),
        ({"direction": "up"}, "direction is"),
        ({"dtype": np.int32}, "float32 or float64"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"similarity": []}, "no similarities"),
        ({"similarity": "cosy"}, "unknown base kernel"),
        ({"similarity": ["precomputed", "rbf"]}, "only similarity"),
        ({"similarity": "precomputed"}, "must be square at fit"),
        ({"similarity": "precomputed", "direction": "both"}, "one direction"),
        ({"similarity": lambda A, B: np.full((len(A), len(B)), np.nan)}, "NaN"),
        ({"similarity": lambda A, B: np.ones(len(A))}, "matrix of shape"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_advice(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BasisExpansion(**options).fit(X)


def test_a_kernel_with_nan_or_a_wrong_shape_is_refused() -> None:
    class Broken(Linear):
        def __call__(self, A: Any, B: Any) -> Any:
            return super().__call__(A, B) * np.nan

    class Turned(Linear):
        def __call__(self, A: Any, B: Any) -> Any:
            return super().__call__(A, B).T

    with pytest.raises(InputError, match="broken gave NaN"):
        BasisExpansion(Broken(), 5).fit(X)
    with pytest.raises(InputError, match="turned gave"):
        BasisExpansion(Turned(), 5).fit(X)


def test_tables_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match="features"):
        BasisExpansion("rbf").fit(X).transform(NEW[:, :2])
    with pytest.raises(InputError, match="features"):
        BasisExpansion("precomputed").fit(np.eye(4)).transform(np.ones((2, 3)))
    with pytest.raises(InputError, match="no examples"):
        BasisExpansion(FromFunction(len)).fit([])
