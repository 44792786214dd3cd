"""BasisSVC against LinearSVC on features made by hand."""

from __future__ import annotations

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from pairlearn.errors import InputError
from pairlearn.kernels import FromFunction, Gaussian
from pairlearn.similarities.basis_expansion import BasisExpansion
from pairlearn.similarities.basis_svc import BasisSVC
from pairlearn.similarities.greedy import GreedySimilarities

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
rng = np.random.default_rng(0)


def taxi(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Indefinite: minus the city block distance, cut at 3."""
    return -np.minimum(np.abs(A[:, None] - B[None]).sum(axis=2), 3.0)


def be_features(raw: np.ndarray, train: np.ndarray, weights: Any = None) -> np.ndarray:
    mean = np.average(train, axis=0, weights=weights)
    return (raw - mean) / np.average(np.linalg.norm(train - mean, axis=1), weights=weights)


MATRIX = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a matrix of similarities does not say which examples are equal: a repeated one is a basis twice",
)


@parametrize_with_checks(
    [BasisSVC(), BasisSVC("precomputed")],
    expected_failed_checks=lambda estimator: MATRIX if estimator.similarity == "precomputed" else {},
)
def test_scikit_learn_accepts_the_machine(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "settings", [{}, {"class_weight": "balanced"}, {"normalise": "z"}, {"n_bases": 20}, {"C": 9.0}]
)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_weight_is_that_many_examples(kind: Any, settings: dict[str, Any]) -> None:
    """0 is none, 3 is three times, whatever the order: the same machine to the last bit, and bases by their rows."""
    weights = np.random.default_rng(3).integers(0, 4, len(X))
    order = np.random.default_rng(4).permutation(len(X))
    model = BasisSVC("rbf", random_state=0, **settings)
    weighted = clone(model).fit(kind(X[order]), Y[order], sample_weight=weights[order].astype(float))
    repeated = clone(model).fit(kind(np.repeat(X, weights, axis=0)), np.repeat(Y, weights))
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert (weights[order][weighted.expansion_.basis_index_] > 0).all()
    assert len({tuple(row) for row in X[order][weighted.expansion_.basis_index_]}) == weighted.n_bases_


def test_rows_that_differ_stay_in_their_order() -> None:
    """Without weights and without equal rows nothing is reordered: bases are drawn as ever."""
    _, rows = np.unique(X, axis=0, return_index=True)
    rows.sort()
    model = BasisSVC("rbf", n_bases=7, random_state=5).fit(X[rows], Y[rows])
    index = BasisExpansion("rbf", n_bases=7, random_state=5).fit(X[rows], Y[rows]).basis_index_
    np.testing.assert_array_equal(model.expansion_.basis_index_, index)


# --------------------------------------------------------------------------- decision values


@pytest.mark.parametrize("y", [Y, NAMES, np.where(Y == 0, "first", "rest"), Y == 1], ids=["3", "names", "2", "bool"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_decision_values_equal_a_linear_machine_on_features_made_by_hand(y: Any, penalty: Any) -> None:
    bases = np.arange(0, 150, 10)
    model = BasisSVC(taxi, bases=bases, C=3.0, penalty=penalty, random_state=0).fit(X, y)
    raw = taxi(X, X[bases])
    phi = be_features(raw, raw)
    expected = LinearSVC(penalty=penalty, dual=False, C=3.0, max_iter=10_000, random_state=0).fit(phi, y)
    new = X + 0.1 * rng.normal(size=X.shape)
    fresh = be_features(taxi(new, X[bases]), raw)
    np.testing.assert_allclose(model.decision_function(new), expected.decision_function(fresh), atol=1e-7)
    np.testing.assert_array_equal(model.predict(new), expected.predict(fresh))
    np.testing.assert_array_equal(model.classes_, expected.classes_)


def test_predictions_are_the_largest_decision_value() -> None:
    model = BasisSVC("rbf", 30, random_state=0).fit(X, NAMES)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert model.score(X, NAMES) > 0.93
    two = BasisSVC("rbf", 30, random_state=0).fit(X, Y == 2)
    np.testing.assert_array_equal(two.predict(X), two.decision_function(X) > 0)


def test_it_separates_what_an_asymmetric_similarity_tells() -> None:
    """k(x, b) tells the class, k(b, x) is noise: a machine that mixed up the arguments would fail."""
    kinds = np.repeat([0, 1], 40)
    table = np.column_stack([rng.normal(size=80), kinds + 0.1 * rng.normal(size=80)])

    def one_way(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A[:, 1:] * B[:, :1].T ** 2

    scores = {
        direction: cross_val_score(BasisSVC(one_way, direction=direction), table, kinds).mean()
        for direction in ("from_bases", "to_bases", "both")
    }
    assert scores["to_bases"] == scores["both"] == 1.0
    assert scores["from_bases"] < 0.8


def test_batches_threads_and_single_precision_change_nothing_but_rounding() -> None:
    values = BasisSVC("rbf", 40, random_state=0).fit(X, Y).decision_function(X)
    for options, atol in (({"batch_size": 11}, 1e-9), ({"n_jobs": 2}, 1e-9), ({"dtype": np.float32}, 1e-4)):
        other = BasisSVC("rbf", 40, random_state=0, **options).fit(X, Y).decision_function(X)  # type: ignore[arg-type]
        np.testing.assert_allclose(other, values, atol=atol)


def test_the_same_seed_gives_the_same_machine_and_pickling_keeps_it() -> None:
    for bases in ("random", "medoids", "per_class", "medoids_per_class"):
        first, again = (BasisSVC(taxi, 12, bases=bases, random_state=3).fit(X, NAMES) for _ in range(2))
        np.testing.assert_array_equal(first.coef_, again.coef_)
        loaded = pickle.loads(pickle.dumps(first))
        np.testing.assert_array_equal(loaded.decision_function(X), first.decision_function(X))
    np.testing.assert_array_equal(np.unique(NAMES[first.expansion_.basis_index_], return_counts=True)[1], 4)


def test_weights_of_examples_and_classes_reach_the_linear_machine() -> None:
    bases = np.arange(0, 150, 10)
    raw = taxi(X, X[bases])
    weights = rng.uniform(0.5, 2.0, size=150)
    model = BasisSVC(taxi, bases=bases, class_weight={0: 1.0, 1: 5.0, 2: 1.0}).fit(X, Y, sample_weight=weights)
    linear = LinearSVC(dual=False, class_weight={0: 1.0, 1: 5.0, 2: 1.0}, max_iter=10_000)
    linear.fit(be_features(raw, raw, weights), Y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, linear.coef_, atol=1e-8)


# --------------------------------------------------------------------------- sparse


def test_l1_drops_bases_and_predicts_the_same_without_them() -> None:
    counted: list[int] = []

    def watched(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        counted.append(len(A) * len(B))
        return taxi(A, B)

    model = BasisSVC(watched, bases=np.arange(150), penalty="l1", C=1.0).fit(X, Y)
    assert 0 < model.n_bases_ < 60
    assert model.coef_.shape == (3, model.n_bases_)
    assert (model.coef_ != 0).any(axis=0).all()
    counted.clear()
    values = model.decision_function(X)
    assert sum(counted) == 150 * model.n_bases_
    raw = taxi(X, X)
    whole = np.zeros((3, 150))
    whole[:, model.expansion_.basis_index_] = model.coef_
    np.testing.assert_allclose(values, be_features(raw, raw) @ whole.T + model.intercept_, atol=1e-10)
    assert BasisSVC(taxi, bases=np.arange(150), penalty="l2").fit(X, Y).n_bases_ == 150


def test_l1_without_any_weight_left_still_predicts() -> None:
    model = BasisSVC(taxi, 20, penalty="l1", C=1e-6, random_state=0).fit(X, Y)
    assert model.n_bases_ == 0
    assert model.decision_function(X).shape == (150, 3)


# --------------------------------------------------------------------------- scikit-learn


def test_a_precomputed_matrix_is_cut_both_ways_in_a_search() -> None:
    S = taxi(X, X)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"C": [0.1, 10.0]}
    search = GridSearchCV(BasisSVC("precomputed"), grid, cv=folds).fit(S, Y)
    for C, mean in zip(grid["C"], search.cv_results_["mean_test_score"], strict=True):
        by_hand = [BasisSVC(taxi, C=C).fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in folds.split(X, Y)]
        assert mean == pytest.approx(np.mean(by_hand))


def test_similarities_and_bases_are_searched() -> None:
    grid = {"similarity": [taxi, "rbf", [taxi, "rbf"]], "n_bases": [5, 20]}
    search = GridSearchCV(BasisSVC(random_state=0), grid, cv=3).fit(X, NAMES)
    assert search.best_score_ > 0.93
    assert clone(search.best_estimator_).get_params()["n_bases"] in (5, 20)


def test_strings_and_graphs_are_classified() -> None:
    words = ["kernel", "kernels", "colonel", "pairs", "pair", "repair"]
    common = FromFunction(lambda a, b: len(set(a) & set(b)) / len(set(b)), scalar=True)
    assert BasisSVC(common).fit(words, list("kkkppp")).predict(["kernal", "impair"]).tolist() == ["k", "p"]
    graphs = [nx.path_graph(n) for n in range(4, 10)] + [nx.complete_graph(n) for n in range(4, 10)]
    degrees = FromFunction(lambda a, b: -abs(max(d for _, d in a.degree) - max(d for _, d in b.degree)), scalar=True)
    model = BasisSVC(degrees, C=100.0).fit(graphs, ["path"] * 6 + ["complete"] * 6)
    assert model.predict([nx.path_graph(12), nx.complete_graph(12)]).tolist() == ["path", "complete"]


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, np.zeros(150), "one class"),
        ({}, Y[:-1], "149 classes in y for 150 examples"),
        ({}, None, "requires y"),
        ({"C": -1.0}, Y, "C must be > 0"),
        ({"penalty": "l0"}, Y, "penalty is"),
        ({"n_bases": 151}, Y, "more than the 150"),
        ({"similarity": "precomputed"}, Y, "square at fit"),
    ],
)
def test_input_that_cannot_work_is_refused_with_advice(options: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BasisSVC(**options).fit(X, y)


# --------------------------------------------------------------------------- greedy choice


def test_greedy_steps_equal_cross_validation_of_the_whole_machine() -> None:
    named = {"narrow": Gaussian(20.0), "wide": Gaussian(0.01), "taxi": taxi}
    machine = BasisSVC(n_bases=8, random_state=0)
    model = GreedySimilarities(named, machine, n_folds=4, random_state=1).fit(X, NAMES)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    chosen: list[Any] = []
    for step in model.path_:
        for name, accuracy in step.candidates.items():
            whole = clone(machine).set_params(similarity=[*chosen, named[name]])
            expected = [whole.fit(X[a], NAMES[a]).score(X[b], NAMES[b]) for a, b in folds.split(X, NAMES)]
            assert accuracy == pytest.approx(np.mean(expected))
        assert step.accuracy == max(step.candidates.values())
        chosen.append(named[step.name])
    rises = np.diff([step.accuracy for step in model.path_])
    assert (rises > 0).all()
    refitted = clone(machine).set_params(similarity=chosen).fit(X, NAMES)
    np.testing.assert_allclose(model.decision_function(X), refitted.decision_function(X))
    assert model.score(X, NAMES) > 0.9


def test_greedy_choice_stops_at_the_wish_of_the_user() -> None:
    blind = FromFunction(lambda A, B: A[:, :1] @ B[:, :1].T)
    assert len(GreedySimilarities([taxi, "rbf", blind], most=1).fit(X, Y).path_) == 1
    assert len(GreedySimilarities([taxi, "rbf", blind], gain=1.0).fit(X, Y).path_) == 1
    with pytest.raises(InputError, match="no similarities"):
        GreedySimilarities([]).fit(X, Y)
    with pytest.raises(InputError, match="at least 1, or None, got 0"):
        GreedySimilarities([taxi, "rbf"], most=0).fit(X, Y)


def test_greedy_choice_finds_the_two_that_complete_each_other() -> None:
    kinds = np.repeat([0, 1, 2], 40)
    table = rng.normal(size=(120, 3))
    table[:, 0] += 4 * (kinds == 1)
    table[:, 1] += 4 * (kinds == 2)
    parts = {f"column {k}": FromFunction(lambda A, B, k=k: -abs(A[:, [k]] - B[:, [k]].T)) for k in range(3)}
    model = GreedySimilarities(parts).fit(table, kinds)
    assert {step.name for step in model.path_[:2]} == {"column 0", "column 1"}
    assert model.predict(table[:3]).shape == (3,)
