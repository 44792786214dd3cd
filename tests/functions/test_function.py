"""Learnt functions against Σ θ_k K(pair, pair_k) + bias written out, for one table and two, pairs and blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.functions import function as function_module
from pairlearn.functions import parts as parts_module
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import FromFunction, Gaussian, Kernel, Linear, Polynomial, Precomputed, TwoDomains
from pairlearn.kernels.mapped import Mapped
from pairlearn.pair_kernels import PairKernel

rng = np.random.default_rng(5)
X, Y, NEW, NEW_RIGHT = (rng.normal(size=shape) for shape in ((9, 3), (6, 4), (7, 3), (5, 4)))
THETA, BIAS = rng.normal(size=12), 0.75
ONE = pl.Pairs(X, *rng.integers(0, 9, (2, 12)))
TWO = pl.Pairs(X, rng.integers(0, 9, 12), rng.integers(0, 6, 12), right_examples=Y)
TENSOR_METRIC = "tensor_metric"
KERNELS: dict[str, Callable[[PairKernel], PairKernel]] = {
    "form": lambda kernel: kernel,
    "rest": lambda kernel: pl.pair_kernels.gaussian(kernel, 0.1),
    "both": lambda kernel: kernel + pl.pair_kernels.power(kernel, 3),
}
BASES: dict[str, Kernel] = {"linear": Linear(), "polynomial": Polynomial(), "gaussian": Gaussian(0.3)}


def table(ac: np.ndarray, ad: np.ndarray, bc: np.ndarray, bd: np.ndarray) -> np.ndarray:
    """tensor_metric, from the formula."""
    return 0.5 * (ac * bd + ad * bc) + 0.25 * (ac - ad - bc + bd) ** 2


def values(name: str, cross: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    gaussian = np.exp(-0.1 * (left[:, None] + right - 2 * cross))
    return {"form": cross, "rest": gaussian, "both": cross + cross**3}[name]


def expected(name: str, gram: np.ndarray, pairs: tuple, support: tuple) -> np.ndarray:
    """g of pairs of rows of one Gram matrix over all examples, pair by pair."""

    def between(rows: tuple, cols: tuple) -> np.ndarray:
        return np.array([[table(*(gram[i, j] for i in row for j in col)) for col in cols] for row in rows])

    rows, cols = list(zip(*pairs, strict=True)), list(zip(*support, strict=True))
    own = [np.array([between((pair,), (pair,))[0, 0] for pair in some]) for some in (rows, cols)]
    return values(name, between(rows, cols), *own) @ THETA + BIAS


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("as_table", [np.array, sparse.csr_array])
def test_one_table(name: str, base: str, as_table: Callable) -> None:
    k = BASES[base]
    kernel = KERNELS[name](pl.pair_kernel(TENSOR_METRIC).on(k))
    function = PairFunction.of(kernel, ONE.with_examples(as_table(X)), THETA, BIAS)
    everyone = np.vstack([NEW, X])
    probe, gallery = np.divmod(np.arange(7 * 7), 7)
    support = (ONE.left + 7, ONE.right + 7)
    g = expected(name, k(everyone, everyone), (probe, gallery), support)
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(g).max()}
    pairs = pl.Pairs(as_table(NEW), probe, gallery)
    np.testing.assert_allclose(function(pairs), g, **close)
    np.testing.assert_array_equal(function(pairs.swapped()), function(pairs))
    np.testing.assert_allclose(function.block(as_table(NEW), as_table(NEW)), g.reshape(7, 7), **close)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("left", "right"), [("linear", "gaussian"), ("gaussian", "polynomial"), ("linear", "linear")])
def test_two_tables_are_their_disjoint_union(name: str, left: str, right: str) -> None:
    k, kk = BASES[left], BASES[right]
    kernel = KERNELS[name](pl.pair_kernel(TENSOR_METRIC).on(TwoDomains(k, kk)))
    function = PairFunction.of(kernel, TWO, THETA, BIAS)
    lefts, rights = np.vstack([NEW, X]), np.vstack([NEW_RIGHT, Y])
    gram = np.zeros((len(lefts) + len(rights),) * 2)
    gram[: len(lefts), : len(lefts)] = k(lefts, lefts)
    gram[len(lefts) :, len(lefts) :] = kk(rights, rights)
    probe, gallery = np.divmod(np.arange(7 * 5), 5)
    support = (TWO.left + 7, TWO.right + len(lefts) + 5)
    g = expected(name, gram, (probe, gallery + len(lefts)), support)
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(g).max()}
    pairs = pl.Pairs(NEW, probe, gallery, right_examples=NEW_RIGHT)
    np.testing.assert_allclose(function(pairs), g, **close)
    np.testing.assert_allclose(function.block(NEW, NEW_RIGHT), g.reshape(7, 5), **close)


@pytest.mark.parametrize("name", KERNELS)
def test_small_blocks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = PairFunction.of(KERNELS[name](pl.pair_kernel(TENSOR_METRIC).on(Gaussian(0.3))), ONE, THETA, BIAS)
    pairs = pl.Pairs(NEW, *rng.integers(0, 7, (2, 300)))
    whole, block = function(pairs), function.block(np.tile(NEW, (20, 1)), NEW)
    for module in (function_module, parts_module):
        monkeypatch.setattr(module, "BLOCK", 1)
    np.testing.assert_allclose(function(pairs), whole, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(function.block(np.tile(NEW, (20, 1)), NEW), block, rtol=1e-11, atol=1e-12)


def test_only_the_examples_in_use_are_kept() -> None:
    kernel = pl.pair_kernel(TENSOR_METRIC).on(Linear())
    function = PairFunction.of(kernel, pl.Pairs(X, [8, 2], [2, 5]), THETA[:2], BIAS)
    np.testing.assert_array_equal(function.anchor, X[[2, 5, 8]])
    assert (function.left.tolist(), function.right.tolist()) == ([2, 0], [0, 1])
    assert function.anchors == (function.anchor,)
    assert repr(function) == "PairFunction(2 support pairs of 3 examples)"
    both = PairFunction.of(pl.pair_kernel("tensor").on(TwoDomains(Linear(), Linear())), TWO[:1], THETA[:1], BIAS)
    assert (both.n_tables, len(both.anchors), both.sign) == (2, 2, 0)
    assert repr(both) == "PairFunction(1 support pair of 1 × 1 examples)"


def test_tables_that_do_not_fit_are_refused() -> None:
    one = PairFunction.of(pl.pair_kernel("tensor").on(Linear()), ONE, THETA, BIAS)
    two = PairFunction.of(pl.pair_kernel("tensor").on(TwoDomains(Linear(), Linear())), TWO, THETA, BIAS)
    with pytest.raises(InputError, match="compares examples of one table"):
        one(TWO)
    with pytest.raises(InputError, match="fitted on pairs of two tables"):
        two(ONE)
    with pytest.raises(InputError, match="examples have 4 features, but the model was fitted with 3"):
        one(pl.Pairs(Y, [0], [1]))


@pytest.mark.parametrize("name", ["rest", "both"])
def test_probes_and_galleries_of_other_widths_are_refused_with_both(name: str) -> None:
    function = PairFunction.of(KERNELS[name](pl.pair_kernel(TENSOR_METRIC).on(Linear())), ONE, THETA, BIAS)
    with pytest.raises(InputError, match="some of these examples have 3 features and some 4 features"):
        function.block(NEW, Y)
    with pytest.raises(InputError, match="some of these examples are sparse and some dense"):
        function.block(sparse.csr_array(NEW), NEW)
    with pytest.raises(InputError, match="examples have 4 features, but the model was fitted with 3"):
        function.block(Y, Y)


# --------------------------------------------------------------------------- precomputed bases


@pytest.mark.parametrize(
    ("given", "factor"), [(Precomputed(), 1.0), (2.0 * Precomputed(), 2.0), (Precomputed() + Precomputed(), 2.0)]
)
def test_any_precomputed_base_scores_new_rows_like_the_kernel_it_was_computed_with(
    given: Kernel, factor: float
) -> None:
    base = Gaussian(0.3)
    y = np.where((ONE.left + ONE.right) % 2, 1, -1)
    ours = pl.PairSVC(TENSOR_METRIC, given, tol=1e-10).fit(ONE.with_examples(base(X, X)), y)
    theirs = pl.PairSVC(TENSOR_METRIC, factor * base, tol=1e-10).fit(ONE, y)
    assert given.precomputed
    assert not base.precomputed
    pairs = pl.Pairs(NEW, [0, 3, 6], [1, 3, 0])
    scores = ours.decision_function(pairs.with_examples(base(NEW, X)))
    np.testing.assert_allclose(scores, theirs.decision_function(pairs), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("given", [Precomputed(), 2.0 * Precomputed()])
def test_values_between_new_rows_are_in_no_matrix(given: Kernel) -> None:
    kernel = pl.pair_kernels.gaussian(pl.pair_kernel("metric"), 0.1)
    K = Gaussian(0.3)(X, X)
    function = PairFunction.of(kernel.on(given), ONE.with_examples(K), THETA, BIAS)
    for rows in (K, Gaussian(0.3)(NEW, X)):
        with pytest.raises(InputError, match="between new examples, which a matrix"):
            function(pl.Pairs(rows, [0, 1], [2, 3]))


def test_kernels_say_what_they_need() -> None:
    opaque = FromFunction(lambda A, B: A @ B.T, definite=True)
    assert not opaque.symmetric
    assert not (opaque + Linear()).symmetric
    assert not (2.0 * opaque).symmetric
    assert (Linear() * Gaussian(1.0)).symmetric
    assert TwoDomains(Linear(), Precomputed()).precomputed
    assert not TwoDomains(Linear(), Linear()).precomputed
    assert Linear().sides == (Linear(),)
    assert TwoDomains(Linear(), Gaussian(1.0)).sides == (Linear(), Gaussian(1.0))
    asymmetric = FromFunction(lambda A, B: A @ B.T + A[:, :1], definite=True)
    for base in (asymmetric, asymmetric + Linear(), 2.0 * asymmetric):
        with pytest.raises(InputError, match="the Gram matrix is not symmetric"):
            pl.kernels.Gram(base, X).matrix  # noqa: B018


def test_a_map_without_features_and_tables_without_rows() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels([0, 0, 0, 1, 1, 1])
    blind = pl.PairSVC("metric", base=Mapped(np.zeros((3, 0)))).fit(pairs, y)
    assert len(set(blind.decision_function(pairs).tolist())) == 1
    machine = pl.PairSVC(pl.pair_kernels.gaussian("tensor", 0.1)).fit(pairs, y)
    for model in (blind, machine):
        assert model.score_block(X, X[:0]).shape == (6, 0)
        assert model.score_block(X[:0], X).shape == (0, 6)
