"""Laws that every base kernel keeps, each value against its formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

import pairlearn as pl
from pairlearn.errors import DefinitenessWarning, InputError
from pairlearn.kernels import (
    Cosine,
    Exponential,
    FromFunction,
    Gaussian,
    Gram,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    as_kernel,
)
from pairlearn.kernels.gram import check_definite
from pairlearn.testing import check_kernel

rng = np.random.default_rng(0)
A, B = rng.normal(size=(9, 3)), rng.normal(size=(6, 3))


def dot(a: np.ndarray, b: np.ndarray) -> float:
    return sum(float(s) * float(t) for s, t in zip(a, b, strict=True))


def gauss(gamma: float, a: np.ndarray, b: np.ndarray) -> float:
    return math.exp(-gamma * sum((float(s) - float(t)) ** 2 for s, t in zip(a, b, strict=True)))


# (kernel, k(a, b) written out): one line per kernel, all laws below hold for each of them.
KERNELS: dict[str, tuple[Kernel, object]] = {
    "linear": (Linear(), dot),
    "poly": (Polynomial(), lambda a, b: dot(a, b) ** 2),
    "poly_3": (Polynomial(3, gamma=0.5, coef0=1.5), lambda a, b: (0.5 * dot(a, b) + 1.5) ** 3),
    "poly_1": (Polynomial(1, coef0=2.0), lambda a, b: dot(a, b) + 2),
    "gaussian": (Gaussian(0.7), lambda a, b: gauss(0.7, a, b)),
    "exponential": (Exponential(sigma=2.0), lambda a, b: math.exp(dot(a, b) / 4)),
    "exponential_of_poly": (Exponential(Polynomial(), 3.0), lambda a, b: math.exp(dot(a, b) ** 2 / 9)),
    "cosine": (Cosine(), lambda a, b: dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))),
    "cosine_of_poly": (
        Cosine(Polynomial(3, coef0=1.0)),
        lambda a, b: (dot(a, b) + 1) ** 3 / math.sqrt(((dot(a, a) + 1) * (dot(b, b) + 1)) ** 3),
    ),
    "sum": (Linear() + Gaussian(2.0), lambda a, b: dot(a, b) + gauss(2, a, b)),
    "product": (Polynomial() * Gaussian(0.3), lambda a, b: dot(a, b) ** 2 * gauss(0.3, a, b)),
    "scaled": (0.25 * Linear(), lambda a, b: 0.25 * dot(a, b)),
    "mixed": (
        Linear() + 2.0 * Cosine() * Gaussian(1.0),
        lambda a, b: dot(a, b) + 2 * dot(a, b) / math.sqrt(dot(a, a) * dot(b, b)) * gauss(1, a, b),
    ),
    "function": (FromFunction(lambda P, Q: P @ Q.T, definite=True), dot),
}
every_kernel = pytest.mark.parametrize(("kernel", "value"), KERNELS.values(), ids=KERNELS)


@every_kernel
def test_value_equals_the_formula(kernel: Kernel, value: object) -> None:
    expected = [[value(a, b) for b in B] for a in A]  # type: ignore[operator]
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12, atol=1e-13)


@every_kernel
def test_laws(kernel: Kernel, value: object) -> None:
    check_kernel(kernel, A)
    assert kernel.definite is True
    np.testing.assert_allclose(kernel.diag(A), [value(a, a) for a in A], rtol=1e-12)  # type: ignore[operator]
    np.testing.assert_allclose(kernel(A, B), kernel(B, A).T, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "kernel", [Linear(), 0.25 * Linear(), Cosine(), Linear() + Cosine(), 2.0 * (Cosine() + 0.1 * Linear())]
)
def test_features_reproduce_the_kernel(kernel: Kernel) -> None:
    Z, W = kernel.features(A), kernel.features(B)
    assert Z is not None
    assert W is not None
    np.testing.assert_allclose(Z @ W.T, kernel(A, B), rtol=1e-12, atol=1e-13)


@every_kernel
def test_single_precision_in(kernel: Kernel, value: object) -> None:
    a, b = A.astype(np.float32), B.astype(np.float32)
    expected = [[value(x, y) for y in b] for x in a]  # type: ignore[operator]
    np.testing.assert_allclose(kernel(a, b), expected, rtol=2e-4, atol=2e-5)
    # The Gram matrix is computed in double precision whatever comes in.
    np.testing.assert_allclose(Gram(kernel, a).matrix, kernel(a.astype(float), a.astype(float)), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "function"])
def test_sparse_equals_dense(name: str) -> None:
    kernel = KERNELS[name][0]
    thin = np.where(rng.random(A.shape) < 0.5, A, 0.0)
    thin[:, 0] += 0.1  # no zero rows: their cosine is a case of its own
    expected = kernel(thin, B)
    for left in (sparse.csr_array(thin), sparse.csc_array(thin)):
        np.testing.assert_allclose(kernel(left, sparse.csr_array(B)), expected, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(kernel(left, B), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(sparse.csr_array(thin)), kernel.diag(thin), rtol=1e-12)


@every_kernel
def test_inputs_stay_unchanged(kernel: Kernel, value: object) -> None:
    a, b = A.copy(), B.copy()
    kernel(a, b)
    kernel.diag(a)
    assert len(Gram(kernel, a).matrix) == len(a)
    np.testing.assert_array_equal(a, A)
    np.testing.assert_array_equal(b, B)


@every_kernel
def test_gram_is_symmetric_bit_by_bit(kernel: Kernel, value: object) -> None:
    K = Gram(kernel, A).matrix
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel(A, A), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["gaussian", "poly_3", "cosine", "linear"])
def test_whole_numbers_and_truth_values_do_not_wrap_around(name: str, dtype: type, convert: Callable) -> None:
    kernel, table = KERNELS[name][0], np.random.default_rng(1).integers(0, 120, (7, 30)).astype(dtype)
    wide = table.astype(np.float64)
    np.testing.assert_allclose(kernel(convert(table), convert(table)), kernel(wide, wide), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(convert(table)), kernel.diag(wide), rtol=1e-12)


def test_kernels_are_values() -> None:
    assert Polynomial(2) == Polynomial(2)
    assert hash(Gaussian(0.5)) == hash(Gaussian(0.5))
    assert replace(Gaussian(0.5), gamma=2.0) == Gaussian(2.0)
    with pytest.raises(AttributeError):
        Linear().extra = 1  # type: ignore[attr-defined]


def test_cosine_of_a_zero_row_is_zero() -> None:
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert Cosine()(rows, rows).tolist() == [[0, 0], [0, 1]]
    assert Cosine().diag(rows).tolist() == [0, 1]


def test_gaussian_of_equal_rows_is_at_most_one() -> None:
    rows = 1e3 + np.repeat(rng.normal(size=(4, 3)), 2, axis=0)
    K = Gaussian(5.0)(rows, rows)
    assert K.max() <= 1.0
    np.testing.assert_array_equal(np.diagonal(K), 1.0)
    np.testing.assert_array_equal(Gaussian(5.0).diag(rows), 1.0)


# --------------------------------------------------------------------------- gamma="scale"


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "sparse", "float32"])
def test_scale_equals_the_rule_of_scikit_learn(convert: object) -> None:
    X = convert(3.0 * A + 1.0)  # type: ignore[operator]
    machine = SVC(gamma="scale").fit(X, np.arange(len(A)) % 2)
    kernel = Gaussian().resolved(X)
    assert isinstance(kernel, Gaussian)
    assert kernel.gamma == pytest.approx(machine._gamma, rel=1e-5)


@pytest.mark.parametrize(("offset", "dtype"), [(1e7, np.float64), (1e3, np.float32)])
def test_scale_far_from_the_origin(offset: float, dtype: type) -> None:
    X = (A + offset).astype(dtype)
    kernel = Gaussian().resolved(X)
    assert isinstance(kernel, Gaussian)
    assert kernel.gamma == pytest.approx(1.0 / (X.shape[1] * X.astype(np.float64).var()), rel=1e-3)


def test_scale_of_constant_examples_is_one() -> None:
    assert Gaussian().resolved(np.full((4, 2), 3.0)) == Gaussian(1.0)


@pytest.mark.parametrize("n", [3, 10, 1000])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_array, np.float32])
def test_rounding_is_no_spread(n: int, convert: object) -> None:
    """The mean of 0.1, 0.1, 0.1 is not 0.1, and 0.3 − 0.2 is not 0.1."""
    for values in ([0.1, 0.1], [1e9 / 3, 1e9 / 3], [-0.1, -0.1], [0.1, 0.3 - 0.2]):
        X = np.tile(np.array(values), (n, 1))
        if convert is np.float32 and values[0] != values[1]:
            continue  # in single precision they are equal
        assert Gaussian().resolved(convert(X)) == Gaussian(1.0)  # type: ignore[operator]
    spread = 0.1 + 1e-12 * np.arange(n)[:, None]
    kernel = Gaussian().resolved(spread)
    assert isinstance(kernel, Gaussian)
    assert kernel.gamma == pytest.approx(1.0 / spread.var())


def test_a_standardised_feature_of_rounding_is_a_constant_one() -> None:
    X = np.array([[0.1, 1.0], [0.3 - 0.2, 2.0], [0.1, 4.0]])
    kernel = pl.kernels.Standardised().resolved(X)
    np.testing.assert_array_equal(kernel.features(X)[:, 0], np.zeros(3))


@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: k + Linear(), lambda k: 2.0 * k, Cosine, Exponential])
def test_scale_is_resolved_inside_combinations(wrap: object) -> None:
    gamma = 1.0 / (A.shape[1] * A.var())
    kernel = wrap(Gaussian()).resolved(A)  # type: ignore[operator]
    np.testing.assert_allclose(kernel(A, B), wrap(Gaussian(gamma))(A, B), rtol=1e-12)  # type: ignore[operator]


def test_scale_must_be_resolved_first() -> None:
    with pytest.raises(InputError, match=r"call kernel\.resolved\(examples\) first"):
        Gaussian()(A, B)


def test_scale_uses_only_examples_of_the_training_pairs() -> None:
    examples = np.concatenate([A, 1e3 * B])
    pairs = pl.all_pairs(A, reflexive=False)
    y = np.where(np.arange(len(pairs)) % 3 == 0, 1, -1)
    wide = pl.Pairs(examples, pairs.left, pairs.right)
    fitted = [pl.PairSVC(base="rbf", tol=1e-6).fit(p, y) for p in (pairs, wide)]
    assert fitted[0].function_.kernel.bases == fitted[1].function_.kernel.bases == (Gaussian().resolved(A),)


# --------------------------------------------------------------------------- precomputed


def test_precomputed_returns_its_entries() -> None:
    K = Gram(Linear(), A).matrix
    kernel = Precomputed()
    np.testing.assert_array_equal(kernel(K, K), K)
    np.testing.assert_array_equal(kernel.diag(K), np.diagonal(K))
    kept = kernel.anchor(K, np.array([4, 1]))
    assert len(kept) == 2
    new = Linear()(B, A)
    np.testing.assert_array_equal(kernel(new, kept), new[:, [4, 1]])


def test_precomputed_refuses() -> None:
    kernel, K = Precomputed(), np.eye(3)
    kept = kernel.anchor(K, np.array([0]))
    with pytest.raises(InputError, match="has 2 columns, but the model was fitted with 3 examples"):
        kernel(np.ones((4, 2)), kept)
    with pytest.raises(InputError, match=r"must be square at fit, got \(3, 2\)"):
        kernel.anchor(np.ones((3, 2)), np.array([0]))
    with pytest.raises(InputError, match=r"entries \(0, 1\) and \(1, 0\) are 1 and 0; symmetrise it"):
        kernel.anchor(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([0]))
    with pytest.raises(InputError, match="compares only examples of its matrix"):
        kernel(K, K.copy())
    with pytest.raises(InputError, match="needs a 2-D array"):
        kernel.diag(["a", "b"])


def test_cosine_of_a_precomputed_kernel_is_refused() -> None:
    with pytest.raises(InputError, match="normalise it beforehand"):
        Gram(Cosine(Precomputed()), Gram(Linear(), A).matrix).matrix  # noqa: B018


@pytest.mark.parametrize("wrap", [lambda k: 2.0 * k, Exponential, lambda k: k + k])
def test_combinations_of_a_precomputed_kernel(wrap: object) -> None:
    K = Gram(Linear(), A).matrix
    np.testing.assert_allclose(Gram(wrap(Precomputed()), K).matrix, wrap(Linear())(A, A))  # type: ignore[operator]


# --------------------------------------------------------------------------- functions


def overlap(a: str, b: str) -> int:
    return len(set(a) & set(b))


def test_function_of_single_examples() -> None:
    words, others = ["pair", "learn", "fast"], ["pear", "x"]
    kernel = FromFunction(overlap, scalar=True)
    assert kernel(words, others).tolist() == [[overlap(a, b) for b in others] for a in words]
    assert kernel.diag(words).tolist() == [4, 5, 4]
    np.testing.assert_array_equal(Gram(kernel, words).matrix, kernel(words, words))


def test_function_of_tables() -> None:
    kernel = FromFunction(lambda P, Q: np.minimum(P[:, None], Q[None]).sum(axis=2))
    expected = [[np.minimum(a, b).sum() for b in B] for a in A]
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(A), A.sum(axis=1), rtol=1e-13)


def test_symmetrise_averages_both_orders() -> None:
    M = rng.normal(size=(3, 3))
    raw = FromFunction(lambda P, Q: P @ M @ Q.T)
    kernel = replace(raw, symmetrise=True)
    np.testing.assert_allclose(kernel(A, B), A @ (M + M.T) @ B.T / 2, rtol=1e-12)
    np.testing.assert_array_equal(Gram(kernel, A).matrix, Gram(kernel, A).matrix.T)
    with pytest.raises(InputError, match=r"not symmetric.*FromFunction\(f, symmetrise=True\)"):
        _ = Gram(raw, A).matrix


@pytest.mark.parametrize("wrap", [Exponential, Cosine, lambda k: 2.0 * k], ids=["exponential", "cosine", "scaled"])
def test_a_kernel_around_another_claims_no_more_than_that(wrap: Callable) -> None:
    asymmetric = FromFunction(lambda P, Q: P @ Q.T + P[:, :1], definite=True)
    assert not wrap(asymmetric).symmetric
    assert wrap(Linear()).symmetric
    assert wrap(Precomputed()).precomputed
    assert not wrap(Linear()).precomputed
    with pytest.raises(InputError, match="not symmetric"):
        _ = Gram(wrap(asymmetric), A).matrix


def test_bad_functions_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(9, 6\), got \(3, 3\).*scalar=True"):
        FromFunction(lambda a, b: np.ones((3, 3)))(A, B)
    with pytest.raises(InputError, match="NaN or infinity"):
        FromFunction(lambda a, b: math.nan, scalar=True)(A, B)


# --------------------------------------------------------------------------- Gram, definiteness


def test_gram_is_shared_by_copies() -> None:
    gram = Gram(Gaussian(), A)
    assert deepcopy(gram) is gram
    assert clone(pl.PairSVC(base=gram)).base is gram
    assert gram.matrix is gram.matrix
    assert gram.kernel == Gaussian().resolved(A)
    assert len(gram) == 9


def test_gram_in_single_precision() -> None:
    gram = Gram(Gaussian(0.5), A, dtype=np.float32)
    assert gram.matrix.dtype == np.float32
    np.testing.assert_allclose(gram.matrix, Gaussian(0.5)(A, A), rtol=1e-5)
    with pytest.raises(InputError, match="float32 or float64, got int64"):
        Gram(Linear(), A, dtype=np.int64)


def test_asymmetric_and_rectangular_matrices_are_refused() -> None:
    with pytest.raises(InputError, match="not symmetric"):
        _ = Gram(Precomputed(), np.triu(np.ones((4, 4)))).matrix
    with pytest.raises(InputError, match="must be square at fit"):
        _ = Gram(Precomputed(), np.ones((4, 3))).matrix


def test_rounding_does_not_count_as_asymmetry() -> None:
    K = Gaussian(0.5)(A, A)
    K[0, 1] += 1e-9
    gram = Gram(Precomputed(), K).matrix
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(gram, K, atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "matrix"),
    [
        (Precomputed(), np.diag([1.0, -0.5, 2.0])),
        (FromFunction(dot, scalar=True, definite=False), np.eye(3)),
        (Polynomial(coef0=-1.0), np.eye(3)),
    ],
)
def test_indefinite_kernels_are_refused_with_advice(kernel: Kernel, matrix: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"not positive semidefinite.*clip its spectrum"):
        check_definite(kernel, matrix)


def test_large_matrices_of_unknown_kernels_warn() -> None:
    with pytest.warns(DefinitenessWarning, match="sample of 200 examples") as caught:
        check_definite(FromFunction(dot, scalar=True), np.eye(500))
    assert caught[0].filename == __file__


def test_warnings_point_at_the_line_of_the_user_however_deep_they_arise() -> None:
    similar = FromFunction(lambda P, Q: P @ Q.T)
    pairs = pl.Pairs(np.eye(300), np.arange(299), np.arange(1, 300))
    with pytest.warns(DefinitenessWarning) as caught:
        pl.PairSVC(base=similar).fit(pairs, np.where(np.arange(299) % 2, 1, -1))
    assert {warning.filename for warning in caught if warning.category is DefinitenessWarning} == {__file__}


def test_semidefinite_matrices_pass(recwarn: pytest.WarningsRecorder) -> None:
    check_definite(Precomputed(), A @ A.T)  # rank 3 of 9: rounding alone is negative
    check_definite(Linear(), np.eye(500))
    check_definite(FromFunction(dot, scalar=True, definite=True), np.eye(500))
    assert not recwarn.list


def test_definiteness_of_combinations() -> None:
    unknown = FromFunction(dot, scalar=True)
    assert (Linear() + unknown).definite is None
    assert (unknown * Linear()).definite is None
    assert (2.0 * unknown).definite is None
    assert Exponential(unknown).definite is None
    assert Polynomial(coef0=-1.0).definite is False
    assert (2.0 * Polynomial(coef0=-1.0)).definite is False


# --------------------------------------------------------------------------- names and refusals


def test_a_standardised_base_is_a_linear_one_on_scaled_examples() -> None:
    scaled = (A - A.mean(axis=0)) / A.std(axis=0)
    pairs, labels = pl.all_pairs(A, reflexive=False), np.where(np.arange(36) % 3, -1, 1)
    by_name = pl.PairSVC("metric", "standardised", tol=1e-8).fit(pairs, labels).decision_function(pairs)
    by_hand = pl.PairSVC("metric", "linear", tol=1e-8).fit(pairs.with_examples(scaled), labels)
    np.testing.assert_allclose(by_name, by_hand.decision_function(pairs.with_examples(scaled)), atol=1e-6)


@pytest.mark.parametrize("value", [0.1, 1.0 / 3.0, -1e-3, 7.3e5])
def test_a_constant_feature_says_nothing_of_new_examples(value: float) -> None:
    """Rounding of its mean is no spread: what NumPy calls its standard deviation is 1e-17 of nothing."""
    table, new = np.column_stack([A, np.full(9, value)]), np.column_stack([B, np.linspace(-9, 9, 6)])
    found = pl.kernels.Standardised().resolved(table)(new, table)
    expected = pl.kernels.Standardised().resolved(A)(B, A)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_everything_that_selection_tries_is_a_name() -> None:
    from pairlearn.selection.search.settings import BASES

    assert all(as_kernel(name) == kernel for name, kernel in BASES.items())


def test_a_standardised_base_refuses_other_features() -> None:
    kernel = as_kernel("standardised").resolved(A)
    with pytest.raises(InputError, match="examples have 2 features, but the model was fitted with 3"):
        kernel(A[:, :2], A)
    with pytest.raises(InputError, match="needs dense rows"):
        kernel(sparse.csr_array(A), A)
    with pytest.raises(InputError, match="differ in length"):
        pl.kernels.Standardised((0.0,), (1.0, 1.0))


def test_as_kernel_by_name_and_value() -> None:
    assert as_kernel("linear") == Linear()
    assert as_kernel("poly") == Polynomial(degree=2, gamma=1.0, coef0=0.0)
    assert as_kernel("rbf") == Gaussian("scale")
    assert as_kernel("precomputed") == Precomputed()
    kernel = Gaussian(3.0)
    assert as_kernel(kernel) is kernel
    assert as_kernel(Gram(kernel, A)) == kernel
    assert as_kernel(np.dot) == FromFunction(np.dot)


@pytest.mark.parametrize("bad", ["gauss", 3, None, ["linear"]])
def test_unknown_bases_are_refused(bad: object) -> None:
    with pytest.raises(InputError, match=r"unknown base kernel .*; choose 'linear', 'poly', 'rbf'"):
        as_kernel(bad)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(degree=0), "degree must be a whole number from 1 to 100, got 0; try degree=2"),
        (lambda: Polynomial(degree=1.5), "degree must be a whole number from 1 to 100"),
        (lambda: Polynomial(gamma=0.0), "gamma must be a finite number > 0"),
        (lambda: Gaussian(-1.0), 'gamma must be a finite number > 0 or "scale", got -1.0'),
        (lambda: Gaussian("auto"), 'gamma must be a finite number > 0 or "scale"'),
        (lambda: Gaussian(math.nan), "gamma must be a finite number > 0"),
        (lambda: Exponential(sigma=0.0), "sigma must be > 0"),
        (lambda: -1.0 * Linear(), "finite factor > 0, got -1.0"),
        (lambda: Linear() * 0.0, "finite factor > 0"),
        (lambda: math.inf * Linear(), "finite factor > 0"),
    ],
)
def test_bad_parameters_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_a_whole_number_as_float_is_a_degree() -> None:
    np.testing.assert_allclose(Polynomial(degree=2.0)(A, B), (A @ B.T) ** 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["linear", "poly", "gaussian", "cosine", "sum"])
def test_vector_kernels_refuse_other_examples(name: str) -> None:
    kernel = KERNELS[name][0]
    with pytest.raises(InputError, match="needs rows of numbers, got list"):
        kernel(["a"], ["b"])
    with pytest.raises(InputError, match=r"ndarray of shape \(2, 3, 3\).*flatten"):
        kernel(np.zeros((2, 3, 3)), np.zeros((2, 3, 3)))
    with pytest.raises(InputError, match="have 2 features, but the model was fitted with 3"):
        kernel(A[:, :2], B)
