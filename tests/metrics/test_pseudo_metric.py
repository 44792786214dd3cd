"""POLA against a dense twin, the theorems of its paper, and its kernel version."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.loops.pola import lowest_ritz, times
from pairlearn.metrics.metric_state import MetricState

unhurried = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def separable(
    seed: int, d: int = 6, rank: int = 2, n: int = 200
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Differences v, labels, and (A*, b*) without loss: similar pairs have d² ≤ b* − 1, others d² ≥ b* + 1."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(d, rank))
    b = float(rng.uniform(1.5, 4.0))
    V, labels = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.5, 1, -1)
    for k in range(n):
        wanted = (b - 1) * rng.random() if labels[k] > 0 else (b + 1) * (1 + rng.random())
        inside = V[k] @ W
        # Only the part of v that A* sees is scaled, so that differences keep some length elsewhere.
        P = W @ np.linalg.pinv(W)
        V[k] = V[k] - P @ V[k] + np.sqrt(wanted) / np.linalg.norm(inside) * (P @ V[k])
    return V, labels, W @ W.T, rng.permutation(n), b


def as_stream(V: np.ndarray) -> pl.Pairs:
    """Pairs whose differences are the rows of V."""
    examples = np.vstack([V, np.zeros((1, V.shape[1]))])
    return pl.Pairs(examples, np.arange(len(V)), np.full(len(V), len(V)))


def twin(
    V: np.ndarray, labels: np.ndarray, threshold: float = 1.0, gamma: float = 0.0
) -> tuple[np.ndarray, float, list]:
    """The algorithm as printed, with all eigenvalues at every step."""
    A, b, losses = np.zeros((V.shape[1], V.shape[1])), threshold, []
    for v, y in zip(V, labels, strict=True):
        loss = max(0.0, y * (v @ A @ v - b) + 1)
        losses.append(loss)
        alpha = loss / ((v @ v) ** 2 + 1 + gamma)
        A = A - y * alpha * np.outer(v, v)
        b = max(1.0, b + y * alpha)
        values, vectors = np.linalg.eigh(A)
        assert np.sum(values < -1e-12 * max(np.abs(values).max(), 1e-300)) <= 1
        A = (vectors * np.maximum(values, 0)) @ vectors.T
    return A, b, losses


@unhurried
@given(seeds, st.integers(1, 12), st.floats(0, 5), st.floats(1, 3))
def test_equals_the_algorithm_as_printed(seed: int, d: int, gamma: float, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    V, labels = rng.normal(size=(60, d)), np.where(rng.random(60) < 0.5, 1, -1)
    metric = pl.OnlinePseudoMetric(threshold, gamma=gamma).partial_fit(as_stream(V), labels)
    A, b, losses = twin(V, labels, threshold, gamma)
    np.testing.assert_allclose(metric.mahalanobis_matrix_, A, atol=1e-9 * max(1, np.abs(A).max()))
    np.testing.assert_allclose(metric.threshold_, b, rtol=1e-9)
    np.testing.assert_allclose(metric.state_.loss, np.sum(losses), rtol=1e-8)
    assert metric.state_.n_mistakes == np.sum(np.array(losses) >= 1)


@unhurried
@given(seeds, st.integers(2, 8), st.integers(1, 2))
def test_theorem_1_bounds_the_squared_losses_and_lemma_3_the_norm(seed: int, d: int, rank: int) -> None:
    V, labels, A, order, b = separable(seed, d, rank)
    V, labels = V[order], labels[order]
    distances = np.einsum("ij,jk,ik->i", V, A, V)
    assert np.all(np.maximum(0, labels * (distances - b) + 1) <= 1e-9)
    metric = pl.OnlinePseudoMetric()
    R = np.max(np.sum(V**2, axis=1) ** 2) + 1
    norm, stream = np.sum(A**2), as_stream(V)
    for k in range(0, len(V), 20):
        metric.partial_fit(stream[k : k + 20], labels[k : k + 20])
        assert metric.state_.squared_loss <= R * (norm + (b - 1) ** 2) * (1 + 1e-9)
        size = np.sum(metric.mahalanobis_matrix_**2) + (metric.threshold_ - 1) ** 2
        assert size <= 4 * (norm + b**2) * (1 + 1e-9)
    assert metric.state_.n_mistakes <= R * (norm + (b - 1) ** 2)


def test_stays_positive_semidefinite_over_a_hundred_thousand_updates() -> None:
    rng = np.random.default_rng(0)
    state = MetricState(np.zeros((12, 12)), 1.0)
    for _ in range(100_000):
        y = 1 if rng.random() < 0.5 else -1
        state.update(rng.normal(size=12), y, float(rng.uniform(0, 0.1)))
    values = np.linalg.eigvalsh(state.matrix)
    assert state.n_updates == 100_000
    assert values[0] >= -1e-12 * values[-1]
    assert np.array_equal(state.matrix, state.matrix.T)


@unhurried
@given(seeds, st.integers(2, 60), st.integers(0, 60), st.floats(-6, 2))
def test_lowest_ritz_value_is_the_negative_eigenvalue(seed: int, n: int, rank: int, log_alpha: float) -> None:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, min(rank, n))) * 10.0 ** rng.uniform(-4, 0, size=min(rank, n))
    A, v, alpha = W @ W.T, rng.normal(size=n), 10.0**log_alpha
    wanted = np.linalg.eigvalsh(A - alpha * np.outer(v, v))
    value, u, residual, scale, _ = lowest_ritz(A, v, alpha, 1e-11, n)
    assert np.sum(wanted < -1e-10 * scale) <= 1
    assert abs(min(value, 0) - min(wanted[0], 0)) <= 1e-10 * scale
    if value < -1e-9 * scale:
        true = A @ u - alpha * v * (v @ u) - value * u
        assert np.linalg.norm(true) <= residual + 1e-9 * scale


def test_product_with_a_symmetric_matrix_reads_one_triangle() -> None:
    rng = np.random.default_rng(0)
    A, x, out = rng.normal(size=(9, 9)), rng.normal(size=9), np.empty(9)
    A += A.T
    times(np.tril(A), x, out)
    np.testing.assert_allclose(out, A @ x, rtol=1e-12)


def test_features_that_never_differ_cost_nothing_and_new_ones_join() -> None:
    rng = np.random.default_rng(2)
    V, labels = rng.normal(size=(60, 12)), np.where(rng.random(60) < 0.5, 1, -1)
    V[:, [1, 5, 7]] = 0
    V[:30, [2, 9, 11]] = 0
    metric, stream = pl.OnlinePseudoMetric(), as_stream(V)
    for stop, active in ((30, 6), (60, 9)):
        metric.partial_fit(stream[stop - 30 : stop], labels[stop - 30 : stop])
        assert metric.span_.basis is None
        assert len(metric.span_.active) == active
        A, b, _ = twin(V[:stop], labels[:stop])
        np.testing.assert_allclose(metric.mahalanobis_matrix_, A, atol=1e-9 * np.abs(A).max())
        assert metric.threshold_ == pytest.approx(b)
        np.testing.assert_allclose(metric.base_kernel()(V, V), V @ A @ V.T, atol=1e-8)
        D = metric.distance(V, np.zeros((1, 12)))[:, 0]
        np.testing.assert_allclose(D**2, np.einsum("ij,jk,ik->i", V, A, V), atol=1e-7)


def test_falls_back_to_a_factorisation_when_few_steps_do_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    V, labels = rng.normal(size=(80, 30)), np.where(rng.random(80) < 0.5, 1, -1)
    A, b, _ = twin(V, labels)
    monkeypatch.setattr("pairlearn.metrics.metric_state.MOST_STEPS", 2)
    metric = pl.OnlinePseudoMetric().partial_fit(as_stream(V), labels)
    assert metric.state_.n_fallbacks > 10
    np.testing.assert_allclose(metric.mahalanobis_matrix_, A, atol=1e-8 * np.abs(A).max())
    np.testing.assert_allclose(metric.threshold_, b)


def blobs(seed: int = 0, d: int = 20, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that differ in one of many noisy directions."""
    rng = np.random.default_rng(seed)
    X, classes = rng.normal(size=(n, d)) / np.sqrt(d), rng.integers(0, 2, n)
    X[:, 0] = classes + 0.1 * rng.normal(size=n)
    return X, classes


@pytest.mark.parametrize("d", [5, 20, 90])
def test_the_kernel_version_with_the_linear_kernel_is_the_primal_run(d: int) -> None:
    X, classes = blobs(d=d)
    pairs = pl.all_pairs(X, reflexive=True)[::7]
    y = pairs.labels(classes)
    primal = pl.OnlinePseudoMetric(gamma=0.5).partial_fit(pairs, y)
    dual = pl.metrics.KernelPseudoMetric("linear", gamma=0.5).partial_fit(pairs, y)
    np.testing.assert_allclose(dual.decision_function(pairs), primal.decision_function(pairs), atol=1e-7)
    np.testing.assert_allclose(dual.distance(X, X), primal.distance(X, X), atol=1e-5)
    assert dual.state_.n_updates == primal.state_.n_updates
    assert dual.n_support_ <= min(d, dual.state_.n_updates)


def test_basis_and_plain_coordinates_agree_across_the_change() -> None:
    X, classes = blobs(d=60)
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes)
    metric = pl.OnlinePseudoMetric()
    differences = X[pairs.left] - X[pairs.right]
    for stop in (10, 200, 1000):
        metric = pl.OnlinePseudoMetric().partial_fit(pairs[:stop], y[:stop])
        np.testing.assert_allclose(metric.mahalanobis_matrix_, twin(differences[:stop], y[:stop])[0], atol=1e-9)
    assert metric.span_.basis is None
    assert pl.OnlinePseudoMetric().partial_fit(pairs[:3], y[:3]).span_.basis is not None


@pytest.mark.parametrize("machine", [pl.OnlinePseudoMetric(), pl.metrics.KernelPseudoMetric(pl.kernels.Gaussian(1.0))])
def test_one_by_one_in_parts_and_after_a_file_are_the_same_to_the_last_bit(machine: Any, tmp_path: Any) -> None:
    X, classes = blobs()
    pairs = pl.all_pairs(X, reflexive=False)[::5]
    y = pairs.labels(classes)
    whole = clone(machine).partial_fit(pairs, y)
    single = clone(machine)
    for i, j, label in zip(pairs.left, pairs.right, y, strict=True):
        single.learn_one(X[i], X[j], int(label))
    stopped = clone(machine).partial_fit(pairs[:40], y[:40])
    pl.save(stopped, tmp_path / "metric.safetensors")
    resumed = pl.load(tmp_path / "metric.safetensors").partial_fit(pairs[40:], y[40:])
    for other in (single, resumed):
        assert np.array_equal(other.state_.matrix, whole.state_.matrix)
        assert other.state_.threshold == whole.state_.threshold
        assert other.state_.loss == whole.state_.loss
        assert np.array_equal(other.decision_function(pairs), whole.decision_function(pairs))


def test_sparse_rows_are_learnt_like_dense_ones() -> None:
    X, classes = blobs(d=40)
    X[np.abs(X) < 0.15] = 0
    pairs = pl.all_pairs(X, reflexive=False)[::3]
    y = pairs.labels(classes)
    dense = pl.OnlinePseudoMetric().partial_fit(pairs, y)
    rows = sparse.csr_array(X)
    thin = pl.OnlinePseudoMetric().partial_fit(pl.Pairs(rows, pairs.left, pairs.right), y)
    np.testing.assert_allclose(thin.mahalanobis_matrix_, dense.mahalanobis_matrix_, atol=1e-12)
    np.testing.assert_allclose(thin.transform(rows), dense.transform(X), atol=1e-8)
    assert thin.predict_one(rows[[0]], rows[[1]]) == dense.predict_one(X[0], X[1])


def test_distances_come_from_the_transform_the_matrix_and_the_single_call() -> None:
    X, classes = blobs()
    pairs = pl.all_pairs(X, reflexive=False)
    metric = pl.OnlinePseudoMetric().partial_fit(pairs, pairs.labels(classes))
    A, D = metric.mahalanobis_matrix_, metric.distance(X, X)
    wanted = np.array([[np.sqrt(max((a - b) @ A @ (a - b), 0)) for b in X] for a in X])
    np.testing.assert_allclose(D, wanted, atol=1e-7)
    Z = metric.transform(X)
    np.testing.assert_allclose(np.linalg.norm(Z[pairs.left] - Z[pairs.right], axis=1), wanted[pairs.columns], atol=1e-9)
    np.testing.assert_allclose(
        metric.decision_function(pairs), metric.threshold_ - wanted[pairs.columns] ** 2, atol=1e-9
    )
    np.testing.assert_allclose(metric.score_block(X[:3], X), metric.threshold_ - wanted[:3] ** 2, atol=1e-7)
    np.testing.assert_allclose(metric.distance_one(X[0], X[9]), wanted[0, 9], atol=1e-7)
    few = pairs[:5]  # below the number at which a root of A is taken
    np.testing.assert_allclose(metric.decision_function(few), metric.decision_function(pairs)[:5], atol=1e-9)
    kernel = metric.base_kernel()
    np.testing.assert_allclose(kernel(X, X), X @ A @ X.T, atol=1e-9)


def test_scores_after_every_single_pair_are_those_of_the_matrix() -> None:
    rng = np.random.default_rng(0)
    V, labels = rng.normal(size=(8, 6)), np.array([-1, 1, -1, -1, 1, 1, -1, 1])
    metric, stream = pl.OnlinePseudoMetric(), as_stream(V)
    for k in range(len(V)):
        metric.partial_fit(stream[k : k + 1], labels[k : k + 1])
        A, b, _ = twin(V[: k + 1], labels[: k + 1])
        wanted = b - np.einsum("ij,jk,ik->i", V, A, V)
        for part in (slice(0, 1), slice(None)):
            np.testing.assert_allclose(metric.decision_function(stream[part]), wanted[part], atol=1e-9)


def test_rank_q_projection_keeps_the_largest_eigenvalues() -> None:
    X, classes = blobs()
    pairs = pl.all_pairs(X, reflexive=False)
    metric = pl.OnlinePseudoMetric(n_components=1).partial_fit(pairs, pairs.labels(classes))
    values, vectors = np.linalg.eigh(metric.mahalanobis_matrix_)
    projected = metric.transform(X)
    assert projected.shape == (len(X), 1)
    np.testing.assert_allclose(np.abs(projected[:, 0]), np.abs(X @ vectors[:, -1]) * np.sqrt(values[-1]), atol=1e-8)


def test_serves_scikit_learns_neighbours_and_beats_euclid_where_one_direction_matters() -> None:
    X, classes = blobs(d=20, n=120)
    X[:, 1:] *= 4
    pairs = pl.all_pairs(X[:60], reflexive=False)
    metric = pl.OnlinePseudoMetric().partial_fit(pairs, pairs.labels(classes[:60]))
    learnt = KNeighborsClassifier(3).fit(metric.transform(X[:60]), classes[:60])
    plain = KNeighborsClassifier(3).fit(X[:60], classes[:60])
    slow = KNeighborsClassifier(3, metric=metric.distance_one).fit(X[:60], classes[:60])
    accuracy = learnt.score(metric.transform(X[60:]), classes[60:])
    assert accuracy > plain.score(X[60:], classes[60:]) + 0.1
    assert slow.score(X[60:], classes[60:]) == accuracy


def test_fit_ends_when_no_loss_exceeds_beta_within_the_promised_sweeps() -> None:
    V, labels, A, _, b = separable(3)
    stream, beta = as_stream(V), 0.3
    R = np.max(np.sum(V**2, axis=1) ** 2) + 1
    most = int(np.ceil(R * (np.sum(A**2) + (b - 1) ** 2) / beta**2))
    metric = pl.OnlinePseudoMetric(beta=beta, max_sweeps=most).fit(stream, labels)
    losses = np.maximum(0, 1 - labels * metric.decision_function(stream))
    assert metric.fit_status_ == "converged"
    assert metric.n_sweeps_ <= most
    assert losses.max() <= beta
    assert metric.max_loss_ == pytest.approx(losses.max())


def test_fit_warns_at_the_limit_and_forgets_earlier_learning() -> None:
    rng = np.random.default_rng(0)
    pairs, y = as_stream(rng.normal(size=(40, 3))), np.where(rng.random(40) < 0.5, 1, -1)
    with pytest.warns(ConvergenceWarning, match="max_sweeps"):
        once = pl.OnlinePseudoMetric(max_sweeps=2).fit(pairs, y)
    with pytest.warns(ConvergenceWarning):
        again = clone(once).partial_fit(pairs, y).fit(pairs, y)
    assert np.array_equal(once.mahalanobis_matrix_, again.mahalanobis_matrix_)
    assert once.fit_status_ == "iteration limit"
    assert once.state_.n_pairs == 80


def test_a_callback_may_stop_and_ctrl_c_leaves_a_usable_metric() -> None:
    rng = np.random.default_rng(0)
    pairs, y = as_stream(rng.normal(size=(40, 3))), np.where(rng.random(40) < 0.5, 1, -1)

    def interrupt(sweep: int, worst: float) -> None:
        assert worst > 0
        if sweep == 3:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped = pl.OnlinePseudoMetric(callback=lambda sweep, worst: sweep == 2).fit(pairs, y)
        broken = pl.OnlinePseudoMetric(callback=interrupt).fit(pairs, y)
    assert (stopped.fit_status_, stopped.n_sweeps_) == ("stopped", 2)
    assert (broken.fit_status_, broken.n_sweeps_) == ("interrupted", 3)
    assert set(broken.predict(pairs)) <= {-1, 1}


def test_a_budget_bounds_the_support_and_equals_the_run_on_projected_features() -> None:
    X, classes = blobs()
    pairs = pl.all_pairs(X, reflexive=False)[::3]
    y = pairs.labels(classes)
    metric = pl.metrics.KernelPseudoMetric(pl.kernels.Gaussian(0.5), budget=7).partial_fit(pairs, y)
    assert metric.n_support_ == 7
    free = pl.metrics.KernelPseudoMetric(pl.kernels.Gaussian(0.5)).partial_fit(pairs, y)
    assert free.n_support_ > 7
    # The first seven support pairs span the space; a primal run in their coordinates does the same from then on.
    Z = metric.span_.coordinates(X)
    seventh = next(
        k
        for k in range(len(pairs))
        if len(pl.metrics.KernelPseudoMetric(pl.kernels.Gaussian(0.5)).partial_fit(pairs[: k + 1], y[: k + 1]).span_)
        == 7
    )
    start = pl.metrics.KernelPseudoMetric(pl.kernels.Gaussian(0.5)).partial_fit(pairs[: seventh + 1], y[: seventh + 1])
    state = MetricState(start.state_.matrix.copy(), start.state_.threshold)
    for i, j, label in zip(pairs.left[seventh + 1 :], pairs.right[seventh + 1 :], y[seventh + 1 :], strict=True):
        v = Z[i] - Z[j]
        loss = state.observe(v, int(label))
        if loss > 0:
            state.update(v, int(label), loss / (float(v @ v) ** 2 + 1.0))
    np.testing.assert_allclose(metric.state_.matrix, state.matrix, atol=1e-8)


def test_strings_and_precomputed_matrices_have_a_metric_too() -> None:
    words, classes = ["pair", "pear", "bear", "metric", "matrix", "metrics"], [0, 0, 0, 1, 1, 1]

    def overlap(a: str, b: str) -> float:
        return float(len({*itertools.pairwise(a)} & {*itertools.pairwise(b)}))

    base = pl.kernels.FromFunction(overlap, scalar=True, definite=True)
    pairs = pl.all_pairs(words, reflexive=False)
    y = pairs.labels(classes)
    metric = pl.metrics.KernelPseudoMetric(base).partial_fit(pairs, y)
    K = base(words, words)
    other = pl.metrics.KernelPseudoMetric("precomputed").partial_fit(pl.Pairs(K, pairs.left, pairs.right), y)
    np.testing.assert_allclose(
        other.decision_function(pl.Pairs(K, pairs.left, pairs.right)), metric.decision_function(pairs), atol=1e-9
    )
    assert metric.learn_one("pairs", "metre", -1).predict_one("pair", "pear") in (-1, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 0.5}, "threshold must be a number ≥ 1"),
        ({"gamma": -1.0}, "gamma must be at least 0"),
        ({"max_sweeps": 0}, "max_sweeps must be at least 1"),
        ({"beta": float("nan")}, "beta must be at least 0"),
    ],
)
def test_bad_parameters_say_what_to_do(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.OnlinePseudoMetric(**change).fit(as_stream(np.eye(3)), [1, -1, 1])


def test_bad_input_says_what_to_do_and_changes_nothing() -> None:
    metric = pl.OnlinePseudoMetric().partial_fit(as_stream(np.eye(3)), [1, -1, 1])
    before = metric.mahalanobis_matrix_
    stream = as_stream(np.eye(3))
    for X, y, message in (
        (stream, [1, 0, 1], "label is 0"),
        (stream, [1, 2, 1], "labels must be"),
        (stream, [1, -1], "one label per pair"),
        (as_stream(np.eye(4)), [1, -1, 1, 1], "rows of 3 numbers"),
        (stream[:0], [], "no pairs"),
        (pl.Pairs(np.eye(3), [0], [1], right_examples=np.eye(3)), [1], "one table"),
    ):
        with pytest.raises(InputError, match=message):
            metric.partial_fit(X, y)
    with pytest.raises(InputError, match="NaN"):
        metric.learn_one([0.0, np.nan, 1.0], [0.0, 0.0, 0.0], 1)
    with pytest.raises(InputError, match="both similar and dissimilar"):
        metric.fit(stream, [1, 1, 1])
    with pytest.raises(InputError, match="KernelPseudoMetric"):
        pl.OnlinePseudoMetric().partial_fit(pl.Pairs(["a", "b"], [0], [1]), [1])
    with pytest.raises(InputError, match="budget"):
        pl.metrics.KernelPseudoMetric(budget=0).partial_fit(stream, [1, -1, 1])
    assert np.array_equal(metric.mahalanobis_matrix_, before)


def test_before_anything_is_learnt_all_pairs_are_similar() -> None:
    assert pl.OnlinePseudoMetric().predict_one([0.0], [9.0]) == 1


# --------------------------------------------------------------------------- in a pipeline


@pytest.mark.parametrize("metric", [pl.OnlinePseudoMetric(), pl.metrics.KernelPseudoMetric("rbf")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_transform_gives_pairs_whose_distances_are_the_learnt_ones(metric: Any) -> None:
    X, classes = pl.data.double_interval(6, 5, 12, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    mapped = metric.fit_transform(pairs, pairs.labels(classes))
    assert isinstance(mapped, pl.Pairs)
    np.testing.assert_array_equal(mapped.left, pairs.left)
    np.testing.assert_allclose(mapped.examples, metric.transform(X))
    squares = ((mapped.examples[pairs.left] - mapped.examples[pairs.right]) ** 2).sum(axis=1)
    np.testing.assert_allclose(metric.threshold_ - squares, metric.decision_function(pairs), atol=1e-8)


def test_a_metric_before_a_machine_is_the_machine_on_its_base_kernel() -> None:
    X, classes = pl.data.double_interval(8, 5, 12, seed=0)
    pairs, new = pl.all_pairs(X, reflexive=False), pl.all_pairs(X[::3] + 0.01)
    y = pairs.labels(classes)
    model = make_pipeline(pl.OnlinePseudoMetric(beta=1.0, max_sweeps=50), pl.PairSVC("metric", C=0.1, tol=1e-6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(pairs, y)
    expected = pl.PairSVC("metric", model[0].base_kernel(), C=0.1, tol=1e-6).fit(pairs, y)
    np.testing.assert_allclose(model.decision_function(new), expected.decision_function(new), atol=1e-4)


def test_fit_transform_takes_arrays_of_pairs() -> None:
    V, labels, _, _, _ = separable(0)
    array = np.stack([V, np.zeros_like(V)], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mapped = pl.OnlinePseudoMetric().fit_transform(array, labels)
    assert len(mapped) == len(array)


# --------------------------------------------------------------------------- numbers that float64 cannot hold


@pytest.mark.parametrize("size", [1e80, 1e200, 1e308])
def test_too_large_a_pair_is_refused_by_its_scale_and_forgotten(size: float) -> None:
    metric = pl.OnlinePseudoMetric().learn_one([0.0, 0.0, 1.0], [5.0, 2.0, 4.0], -1)
    before, matrix = repr(metric.state_), metric.state_.matrix.copy()
    with pytest.raises(InputError, match=rf"values up to {size:.3g}".replace("+", r"\+") + ".*scale the examples"):
        metric.learn_one([0.0, 0.0, 0.0], [0.0, 0.0, size], 1)
    assert repr(metric.state_) == before
    np.testing.assert_array_equal(metric.state_.matrix, matrix)


@pytest.mark.parametrize("kind", [pl.OnlinePseudoMetric, pl.metrics.KernelPseudoMetric])
def test_a_refused_fit_leaves_what_was_learnt_before(kind: Any) -> None:
    X = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 1.0]])
    pairs, y = pl.Pairs(X, [0, 1], [1, 2]), [1, -1]
    large = pl.Pairs(X * [1.0, 1.0, 1.0, 1e200], [0, 1], [1, 2])
    options = {} if kind is pl.OnlinePseudoMetric else {"base": "linear"}
    metric = kind(max_sweeps=2, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError, match="scale the examples"):
            metric.fit(large, y)
        assert not metric.is_learnt
        scores = metric.fit(pairs, y).decision_function(pairs)
    for learn in (metric.fit, metric.partial_fit):
        with pytest.raises(InputError, match="scale the examples"):
            learn(large, y)
        np.testing.assert_array_equal(metric.decision_function(pairs), scores)


def test_the_bisection_ends_whatever_numbers_it_is_given() -> None:
    with np.errstate(all="ignore"):
        for bad in (np.nan, np.inf):
            assert lowest_ritz(np.full((3, 3), bad), np.ones(3), 1.0, 1e-10, 80)[-1] <= 3
