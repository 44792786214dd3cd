"""Kernels of low rank: exact at full rank, and below it as far off as they say."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import lapack

import pairlearn as pl
from pairlearn.errors import ApproximationWarning, InputError
from pairlearn.kernels import FromFunction, Gaussian, Gram, Kernel, Linear, LowRank, Nystrom, Polynomial, as_kernel
from pairlearn.kernels.low_rank.kernel import whitening
from pairlearn.kernels.low_rank.landmarks import ORDERS, Candidates, leverages, pivots, spread
from pairlearn.testing import check_kernel

rng = np.random.default_rng(0)
CLASSES = np.arange(120) // 6
X = rng.normal(size=(20, 4))[CLASSES] + 0.5 * rng.normal(size=(120, 4))
NEW = rng.normal(size=(15, 4))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
every_way = pytest.mark.parametrize("way", ORDERS)


def resolved(*args: Any, examples: Any = X) -> Nystrom:
    made = LowRank(*args).resolved(examples)
    assert isinstance(made, Nystrom)
    return made


def trace_error(made: Nystrom, examples: Any) -> float:
    """The definition, from whole matrices."""
    K, Z = made.kernel(examples, examples), made.features(examples)
    return float(np.trace(K - Z @ Z.T) / np.trace(K))


# --------------------------------------------------------------------------- full rank


@every_way
@pytest.mark.parametrize("base", ["rbf", "linear", "poly", Linear() + 0.1 * Gaussian(0.5)])
@pytest.mark.parametrize("rank", [len(X), 10 * len(X)])
def test_full_rank_is_the_kernel_itself(way: str, base: Any, rank: int) -> None:
    made, kernel = resolved(base, rank, way), as_kernel(base).resolved(X)
    K = kernel(X, X)
    np.testing.assert_allclose(made(X, X), K, atol=1e-8 * np.abs(K).max())
    np.testing.assert_allclose(made(NEW, X), kernel(NEW, X), atol=1e-7 * np.abs(K).max())
    assert made.error < 1e-9


@every_way
def test_full_rank_learns_the_same_function(way: str) -> None:
    machines = [
        pl.PairSVC("tensor_metric", base, tol=1e-7, random_state=0).fit(PAIRS, Y)
        for base in (Gaussian(0.2), LowRank(Gaussian(0.2), len(X), way))
    ]
    pairs = pl.all_pairs(NEW)
    exact, found = (machine.decision_function(pairs) for machine in machines)
    np.testing.assert_allclose(found, exact, atol=1e-6)


def test_features_are_no_more_than_the_kernel_has() -> None:
    for way in ORDERS:
        assert resolved("linear", 50, way).features(X).shape == (120, 4)


# --------------------------------------------------------------------------- between landmarks and others


@every_way
def test_laws(way: str) -> None:
    check_kernel(LowRank("rbf", 15, way), X)


@every_way
def test_landmarks_are_compared_exactly(way: str) -> None:
    made = resolved(Gaussian(0.3), 25, way)
    np.testing.assert_allclose(made(made.landmarks, NEW), Gaussian(0.3)(made.landmarks, NEW), atol=1e-8)


def test_it_is_nystroem_by_the_formula() -> None:
    made = resolved(Gaussian(0.3), 25)
    K = made.kernel
    B = made.landmarks
    expected = K(NEW, B) @ np.linalg.inv(K(B, B)) @ K(B, X)
    np.testing.assert_allclose(made(NEW, X), expected, atol=1e-9)


@every_way
def test_the_error_falls_with_the_rank(way: str) -> None:
    errors = [trace_error(resolved("rbf", rank, way), X) for rank in (5, 15, 40, 80)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.2 > errors[-1]


@every_way
def test_the_estimate_is_about_the_error_of_new_examples(way: str) -> None:
    many = np.random.default_rng(1).normal(size=(6000, 3))
    seen, unseen = many[:1500], many[1500:]
    made = resolved("rbf", 40, way, examples=seen)
    own = trace_error(made, unseen[:1500])
    assert made.error == pytest.approx(own, rel=0.25)
    # The examples that it was estimated on were no candidates: it does not flatter ways that look for the worst ones.
    others = [trace_error(made, unseen[start : start + 500]) for start in range(0, 4500, 500)]
    assert abs(made.error - np.mean(others)) < 5 * np.std(others) + 0.05 * own


def test_without_examples_to_spare_the_error_is_that_of_all() -> None:
    made = resolved("rbf", 90)
    assert made.error == pytest.approx(trace_error(made, X), rel=1e-9)


@every_way
def test_tol_takes_the_least_rank_of_its_order(way: str) -> None:
    tol = 0.1
    made = resolved("rbf", 110, way, tol)
    b = len(made.landmarks)
    assert made.error <= tol
    assert 5 < b < 110
    fewer = made.landmarks[: b - 1]
    before = Nystrom(made.kernel, fewer, whitening(made.kernel(fewer, fewer)), 0.0)
    assert trace_error(before, X) > tol  # with a rank of 110 of 120 none was spared, so that all examples counted


def test_a_tol_out_of_reach_is_told() -> None:
    with pytest.warns(ApproximationWarning, match="10 landmarks leave an error of 0"):
        made = resolved("rbf", 10, "uniform", 0.001)
    assert made.error > 0.001


# --------------------------------------------------------------------------- the ways


def test_pivots_are_those_of_lapack() -> None:
    K = Gaussian(0.05)(X, X)
    _, order, rank, _ = lapack.dpstrf(K, tol=1e-12 * len(K))
    found = pivots(np.diagonal(K), lambda place: K[:, place], len(K))
    agreed = min(rank, 40)  # later ones differ by rounding
    np.testing.assert_array_equal(found[:agreed], order[:agreed] - 1)


def test_pivots_by_brute_force() -> None:
    K = Polynomial(3, 0.2, 1.0)(X[:30], X[:30])
    chosen: list[int] = []
    for _ in range(8):
        left = K if not chosen else K - K[:, chosen] @ np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])
        chosen.append(int(np.diagonal(left).argmax()))
    assert pivots(np.diagonal(K), lambda place: K[:, place], 8).tolist() == chosen


def test_pivots_end_with_the_rank() -> None:
    K = X @ X.T
    assert len(pivots(np.diagonal(K), lambda place: K[:, place], 100)) == 4
    assert pivots(np.zeros(3), lambda place: np.zeros(3), 2).tolist() == [0]


def test_leverages_of_all_examples_are_the_formula() -> None:
    kernel, k = Gaussian(0.3), 60  # a sample of 2k is all of them
    K = kernel(X, X)
    ridge = np.sort(np.linalg.eigvalsh(K))[:-k].sum() / k
    expected = np.diagonal(K @ np.linalg.inv(K + ridge * np.eye(len(K))))
    found = leverages(Candidates(kernel, X), k, np.random.default_rng(0))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.sum() <= 2 * k


def test_leverages_of_a_sample_are_within_a_factor() -> None:
    kernel, k = Gaussian(0.1), 40
    many = np.random.default_rng(1).normal(size=(800, 3))
    K = kernel(many, many)
    ridge = np.sort(np.linalg.eigvalsh(K))[:-k].sum() / k
    expected = np.diagonal(K @ np.linalg.inv(K + ridge * np.eye(len(K))))
    ratios = leverages(Candidates(kernel, many), k, np.random.default_rng(0)) / expected
    assert np.mean((ratios > 1 / 3) & (ratios < 3)) > 0.9


def test_leverage_finds_the_odd_ones() -> None:
    """Two examples unlike all others carry directions of their own, and are chosen nearly always."""
    odd = np.concatenate([0.1 * rng.normal(size=(200, 2)), [[9.0, 0.0], [0.0, 9.0]]])
    orders = [
        ORDERS[way](Candidates(Gaussian(0.5), odd), 12, np.random.default_rng(seed))
        for way in ("leverage", "uniform")
        for seed in range(20)
    ]
    hits = [len({200, 201} & set(order.tolist())) for order in orders]
    assert sum(hits[:20]) > 30 > 15 > sum(hits[20:])


def test_kmeans_start_is_proportional_to_distances() -> None:
    D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [3.0, 3.0, 0.0]])
    seconds = [spread(3, D.__getitem__, 2, np.random.default_rng(seed)) for seed in range(3000)]
    after_first = [order[1] for order in seconds if order[0] == 0]
    assert np.mean(np.array(after_first) == 2) == pytest.approx(0.75, abs=0.05)


@every_way
def test_the_seed_settles_everything(way: str) -> None:
    assert resolved("rbf", 20, way) == resolved("rbf", 20, way)
    assert (resolved("rbf", 20, way, None, 1) == resolved("rbf", 20, way)) == False  # noqa: E712


# --------------------------------------------------------------------------- properties


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 25),
    st.integers(1, 4),
    st.integers(1, 40),
    st.sampled_from(list(ORDERS)),
    st.sampled_from(["rbf", "linear", "poly", "cosine"]),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.integers(0, 9),
)
def test_definite_and_symmetric(m: int, d: int, rank: int, way: str, base: str, scale: float, seed: int) -> None:
    """Whatever the examples, repeated ones and zeros among them: definite, symmetric, never more than k(x, x)."""
    draw = np.random.default_rng(seed)
    examples = scale * draw.integers(-2, 3, size=(m, d)).astype(float)
    made = resolved(base, rank, way, examples=examples)
    K = Gram(made, examples).matrix
    np.testing.assert_array_equal(K, K.T)
    top = max(float(np.abs(K).max()), 1e-300)
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * top * m
    exact = made.kernel(examples, examples)
    left = np.linalg.eigvalsh(exact - K)[0]
    assert left >= -1e-8 * max(float(np.abs(exact).max()), 1e-300) * m
    assert 0.0 <= made.error <= 1.0
    assert made.features(examples).dtype == np.float64


# --------------------------------------------------------------------------- examples of all kinds


@every_way
def test_zeros_duplicates_and_single_examples(way: str) -> None:
    for examples in (np.zeros((6, 3)), np.ones((1, 3)), np.repeat(X[:2], 30, axis=0)):
        made = resolved("linear", 40, way, examples=examples)
        np.testing.assert_allclose(made(examples, examples), examples @ examples.T, atol=1e-9)
    assert resolved("linear", 40, way, examples=np.zeros((6, 3))).features(NEW[:, :3]).shape == (15, 0)


def test_machines_on_zeros_learn_a_constant() -> None:
    zeros = pl.all_pairs(np.zeros((6, 2)), reflexive=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = pl.PairSVC(base="lowrank(linear, 3)").fit(zeros, zeros.labels([0, 0, 1, 1, 2, 2]))
    assert np.ptp(machine.decision_function(zeros)) == 0


def test_sparse_rows_give_the_same() -> None:
    thin = np.where(np.abs(X) > 0.6, X, 0.0)
    dense, few = (resolved("rbf", 20, examples=convert(thin)) for convert in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(few.features(sparse.csr_array(thin)), dense.features(thin), atol=1e-9)
    assert few == resolved("rbf", 20, examples=sparse.csr_array(thin))
    machines = [
        pl.PairSVC("metric", LowRank(Gaussian(0.3), 20), tol=1e-8).fit(pl.Pairs(convert(thin), *PAIRS.columns), Y)
        for convert in (np.asarray, sparse.csr_array)
    ]
    asked = pl.all_pairs(sparse.csr_array(np.where(np.abs(NEW) > 0.6, NEW, 0.0)))
    found = [machine.decision_function(asked) for machine in machines]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)


def test_float32_is_computed_in_float64() -> None:
    made = resolved("rbf", 20, examples=X.astype(np.float32))
    assert made.features(X.astype(np.float32)).dtype == np.float64
    assert made == resolved("rbf", 20, examples=X.astype(np.float32).astype(np.float64))


def test_examples_of_any_kind() -> None:
    def same(a: str, b: str) -> float:
        return float(len(set(a) & set(b)))

    kernel = LowRank(FromFunction(same, scalar=True), 5, "pivoted")
    words = ["pair", "pear", "kernel", "colonel", "pair", "zoo"]
    made = kernel.resolved(words)
    np.testing.assert_allclose(made(words, words), [[same(a, b) for b in words] for a in words], atol=1e-8)
    assert made == kernel.resolved(list(words))
    assert made != kernel.resolved(words[::-1][:5])


def test_equal_by_content() -> None:
    """Mirrored landmarks have the same whitening under a Gaussian, and are another kernel."""
    made = resolved(Gaussian(0.3), 10)
    assert replace(made, landmarks=-made.landmarks) != made
    assert replace(made, landmarks=made.landmarks.copy()) == made
    assert hash(replace(made)) == hash(made)


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LowRank("precomputed"), "in memory already"),
        (lambda: LowRank(("rbf", "rbf")), "each of two domains"),
        (lambda: LowRank(Polynomial(2, coef0=-1.0)), "not positive semidefinite"),
        (lambda: LowRank("rbf", 0), "whole number ≥ 1"),
        (lambda: LowRank("rbf", 2.5), "whole number ≥ 1"),
        (lambda: LowRank("rbf", True), "whole number ≥ 1"),
        (lambda: LowRank("rbf", 5, "best"), "landmarks is 'uniform'"),
        (lambda: LowRank("rbf", tol=1.0), "0 < tol < 1"),
        (lambda: LowRank("rbf", seed=-1), "seed must be"),
        (lambda: LowRank("nothing"), "unknown base kernel"),
        (lambda: LowRank("rbf").resolved(np.zeros((0, 3))), "no examples"),
        (lambda: LowRank("rbf")(X, X), r"call kernel\.resolved"),
        (lambda: LowRank("rbf").diag(X), r"call kernel\.resolved"),
        (lambda: as_kernel("lowrank(rbf, many)"), "cannot read the base kernel"),
        (lambda: as_kernel("lowrank(rbf, 3"), "cannot read the base kernel"),
        (lambda: as_kernel("lowrank(rbf, 3, uniform, 0.1, 5)"), "cannot read the base kernel"),
        (lambda: as_kernel("lowrank(precomputed)"), "in memory already"),
        (lambda: resolved("rbf", 5).features(X[:, :2]), "2 features, but the model was fitted with 4"),
    ],
)
def test_bad_input_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@every_way
def test_an_indefinite_function_is_refused(way: str) -> None:
    far = FromFunction(lambda A, B: 1.0 - np.abs(A[:, None] - B[None]).sum(axis=2) ** 2)
    with pytest.raises(InputError, match="not positive semidefinite"):
        LowRank(far, 10, way).resolved(X)


# --------------------------------------------------------------------------- in the library


def test_texts_name_it() -> None:
    assert as_kernel("lowrank(rbf)") == LowRank("rbf")
    assert as_kernel("lowrank(poly,40)") == LowRank(Polynomial(), 40)
    assert as_kernel("lowrank(rbf, 40, kmeans++, 0.05)") == LowRank("rbf", 40, "kmeans++", 0.05)


@pytest.mark.parametrize("kernel", ["tensor_metric", pl.pair_kernels.poly_tensor().balanced()])
def test_machines_hold_its_features(kernel: Any) -> None:
    base = LowRank(Gaussian(0.2), 30, "pivoted")
    machine = pl.PairSVC(kernel, base, tol=1e-6, random_state=0).fit(PAIRS, Y)
    made = base.resolved(X)
    assert machine.function_.kernel.bases == (made,)
    explicit = pl.PairSVC(kernel, "linear", tol=1e-6, random_state=0)
    explicit.fit(pl.Pairs(made.features(X), *PAIRS.columns), Y)
    new = pl.all_pairs(NEW)
    expected = explicit.decision_function(pl.Pairs(made.features(NEW), *new.columns))
    np.testing.assert_allclose(machine.decision_function(new), expected, atol=1e-4)
    np.testing.assert_array_equal(machine.decision_function(new), machine.decision_function(new.swapped()))


def test_two_tables_have_landmarks_each() -> None:
    targets = rng.normal(size=(40, 3))
    left, right = rng.integers(0, 120, 400), rng.integers(0, 40, 400)
    pairs, y = pl.Pairs(X, left, right, right_examples=targets), np.where(X[left, 0] * targets[right, 0] > 0, 1, -1)
    machine = pl.PairSVC("tensor", "lowrank(rbf, 15)").fit(pairs, y)
    (base,) = machine.function_.kernel.bases
    assert base is not None
    assert [len(side.landmarks) for side in base.sides] == [15, 15]  # type: ignore[attr-defined]
    assert (machine.predict(pairs) == y).mean() > 0.8


def test_on_features_of_pairs() -> None:
    signed = rng.normal(size=(len(PAIRS), 3))
    seen = pl.Pairs(X, *PAIRS.columns, invariant=signed)
    kernel = pl.pair_kernel("metric") + pl.pair_kernels.on_invariant(LowRank("rbf", 20))
    machine = pl.PairSVC(kernel).fit(seen, Y)
    assert np.isfinite(machine.decision_function(seen)).all()


def test_the_plan_needs_no_gram_matrix() -> None:
    """3,000 examples have a Gram matrix of 72 MB; with 20 features a fit stays below half of that."""
    m = 3000
    examples = np.random.default_rng(0).normal(size=(m, 5))
    left, right = np.random.default_rng(1).integers(0, m, (2, 3000))
    pairs, y = pl.Pairs(examples, left, right), np.where(examples[left, 0] * examples[right, 0] > 0, 1, -1)
    machine = pl.PairSVC("tensor", "lowrank(rbf, 20)", memory_budget=40e6, random_state=0)
    machine.fit(pairs[:50], y[:50])  # compiles
    tracemalloc.start()
    try:
        machine.fit(pairs, y)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert machine.plan_.kind == "product"
    assert not machine.plan_.gram
    assert most < 36e6


def test_a_shared_gram_matrix_is_that_of_its_features() -> None:
    shared = Gram(LowRank("rbf", 30, "kmeans++"), X)
    Z = shared.kernel.features(X)
    assert Z is not None
    np.testing.assert_allclose(shared.matrix, Z @ Z.T, atol=1e-12)
    found = [pl.PairSVC("metric", base, tol=1e-7).fit(PAIRS, Y) for base in (shared, LowRank("rbf", 30, "kmeans++"))]
    asked = pl.all_pairs(NEW)
    np.testing.assert_allclose(*(machine.decision_function(asked) for machine in found), atol=1e-5)


def test_saved_and_loaded(tmp_path: Path) -> None:
    machine = pl.PairSVC("metric", LowRank("rbf", 30, "leverage", 0.2, 3), random_state=0).fit(PAIRS, Y)
    pl.save(machine, tmp_path / "model.safetensors")
    loaded = pl.load(tmp_path / "model.safetensors")
    assert loaded.base == machine.base
    assert loaded.function_.kernel == machine.function_.kernel
    asked = pl.all_pairs(NEW)
    np.testing.assert_array_equal(loaded.decision_function(asked), machine.decision_function(asked))


def test_features_of_landmarks_are_no_columns() -> None:
    """As many landmarks as columns: features are still none of the columns, so that none is explained by them."""
    machine = pl.PairSVC("metric", LowRank("rbf", 4)).fit(PAIRS, Y)
    scaled: Kernel = 2.0 * pl.kernels.Cosine(Linear())
    assert scaled.by_column
    with pytest.raises(InputError, match="is not linear in the features"):
        pl.explain(machine, (X[0], X[1]), by="feature")


def test_the_error_is_shown() -> None:
    made = resolved("rbf", 20)
    assert f"rank 20, error {made.error:.2g}" in repr(made)
