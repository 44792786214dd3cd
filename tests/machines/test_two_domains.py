"""Pairs of two tables: the same machines on the disjoint union of the tables, and on the explicit matrix."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC, SVR, OneClassSVM

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError, TooLargeError
from pairlearn.kernels import Gaussian, Gram, Kernel, Linear, Polynomial, as_kernel
from pairlearn.operators.blocked import BlockedOperator
from pairlearn.operators.build import build

# Between the tables k = 0: what is left of the catalog has ac and bd only.
FORMULAS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "direct_sum": lambda ac, bd: (ac + bd) / 2,
    "tensor": lambda ac, bd: ac * bd / 2,
    "metric": lambda ac, bd: (ac + bd) ** 2 / 4,
    "wedge_squared": lambda ac, bd: (ac * bd) ** 2 / 4,
    "direct_metric": lambda ac, bd: (ac + bd) / 2 + (ac + bd) ** 2 / 4,
    "tensor_metric": lambda ac, bd: ac * bd / 2 + (ac + bd) ** 2 / 4,
    "poly_tensor": lambda ac, bd: (ac * bd + 1) ** 2,
}
rng = np.random.default_rng(0)
DRUGS, TARGETS = rng.normal(size=(9, 3)) + 0.8, rng.normal(size=(7, 5)) + 0.8
CELLS = rng.permutation(63)[:40]
PAIRS = pl.Pairs(DRUGS, *np.divmod(CELLS, 7), right_examples=TARGETS)
N = len(PAIRS)
Y = np.where((DRUGS[PAIRS.left, 0] - 0.8) * (TARGETS[PAIRS.right, 0] - 0.8) + 0.3 * rng.normal(size=N) > 0, 1, -1)
VALUES = DRUGS[PAIRS.left, 0] + TARGETS[PAIRS.right, 1] + 0.3 * rng.normal(size=N)
NEW_DRUGS, NEW_TARGETS = rng.normal(size=(6, 3)) + 0.8, rng.normal(size=(4, 5)) + 0.8
NEW = pl.Pairs(NEW_DRUGS, *np.divmod(np.arange(24), 4), right_examples=NEW_TARGETS)
BASES: dict[str, tuple[Any, Any]] = {
    "rbf rbf": (Gaussian(0.3), Gaussian(0.1)),
    "linear rbf": (Linear(), Gaussian(0.2)),
    "rbf linear": (Gaussian(0.2), Linear()),
    "linear linear": (Linear(), Linear()),
    "poly linear": (Polynomial(2), Linear()),
}
every_kernel = pytest.mark.parametrize("name", FORMULAS)
every_base = pytest.mark.parametrize("bases", BASES.values(), ids=BASES)
pytestmark = pytest.mark.filterwarnings("ignore::pairlearn.errors.SymmetryWarning")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def explicit(name: str, bases: tuple[Kernel, Kernel], rows: pl.Pairs, cols: pl.Pairs = PAIRS) -> np.ndarray:
    K, L = bases[0](rows.examples, cols.examples), bases[1](rows.right_examples, cols.right_examples)
    return FORMULAS[name](K[np.ix_(rows.left, cols.left)], L[np.ix_(rows.right, cols.right)])


def close(found: Any, expected: Any, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(1e-12, float(np.abs(expected).max())))


def union(bases: tuple[Kernel, Kernel]) -> pl.Pairs:
    """The same pairs over one table of 9 + 7 examples whose Gram matrix has two blocks."""
    K, L = bases[0](DRUGS, DRUGS), bases[1](TARGETS, TARGETS)
    matrix = np.block([[K, np.zeros((9, 7))], [np.zeros((7, 9)), L]])
    return pl.Pairs(matrix, PAIRS.left, 9 + PAIRS.right)


def new_union(bases: tuple[Kernel, Kernel]) -> pl.Pairs:
    K, L = bases[0](NEW_DRUGS, DRUGS), bases[1](NEW_TARGETS, TARGETS)
    rows = np.block([[K, np.zeros((6, 7))], [np.zeros((4, 9)), L]])
    return pl.Pairs(rows, NEW.left, 6 + NEW.right)


MACHINES: dict[str, tuple[Any, Any]] = {
    "svc": (lambda **o: pl.PairSVC(C=2.0, **o), Y),
    "svr": (lambda **o: pl.PairSVR(C=0.5, epsilon=0.05, **o), VALUES),
    "one class": (lambda **o: pl.OneClassPairSVM(nu=0.3, **o), None),
    "transductive": (lambda **o: pl.TransductivePairSVC(C=0.5, **o), np.where(np.arange(N) % 3 == 0, Y, 0)),
}
every_machine = pytest.mark.parametrize(("make", "y"), MACHINES.values(), ids=MACHINES)


# --------------------------------------------------------------------------- the union and the explicit matrix


@every_machine
@every_base
@pytest.mark.parametrize("name", ["tensor", "direct_metric", "wedge_squared"])
def test_equals_the_disjoint_union(name: str, bases: tuple[Kernel, Kernel], make: Any, y: Any) -> None:
    ours = make(kernel=name, base=bases, tol=1e-7).fit(PAIRS, y)
    whole = make(kernel=name, base="precomputed", tol=1e-7).fit(union(bases), y)
    assert ours.fit_status_ == whole.fit_status_ == "converged"
    assert ours.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    one, two = ours.decision_function(NEW), whole.decision_function(new_union(bases))
    close(one - ours.intercept_, two - whole.intercept_, 1e-4)
    if (~ours.support_bounded_).any():
        close(one, two, 1e-4)


@every_kernel
@pytest.mark.parametrize("bases", [BASES["rbf rbf"], BASES["linear rbf"]], ids=["rbf rbf", "linear rbf"])
def test_classification_equals_libsvm(name: str, bases: tuple[Kernel, Kernel]) -> None:
    ours = pl.PairSVC(kernel=name, base=bases, tol=1e-7, C=0.5).fit(PAIRS, Y)
    theirs = SVC(kernel="precomputed", C=0.5, tol=1e-6).fit(explicit(name, bases, PAIRS), Y)
    close(ours.decision_function(NEW), theirs.decision_function(explicit(name, bases, NEW)))
    close(ours.decision_function(PAIRS), theirs.decision_function(explicit(name, bases, PAIRS)))


@every_kernel
def test_regression_equals_libsvm(name: str) -> None:
    bases = BASES["rbf rbf"]
    ours = pl.PairSVR(kernel=name, base=bases, tol=1e-7).fit(PAIRS, VALUES)
    theirs = SVR(kernel="precomputed", C=ours.C_, epsilon=ours.epsilon_, tol=1e-6)
    theirs.fit(explicit(name, bases, PAIRS), VALUES)
    close(ours.predict(NEW), theirs.predict(explicit(name, bases, NEW)))


@every_kernel
def test_one_class_equals_libsvm(name: str) -> None:
    bases = BASES["rbf rbf"]
    ours = pl.OneClassPairSVM(kernel=name, base=bases, tol=1e-7, nu=0.3).fit(PAIRS)
    theirs = OneClassSVM(kernel="precomputed", nu=0.3, tol=1e-7).fit(explicit(name, bases, PAIRS))
    close(ours.score_samples(NEW), theirs.score_samples(explicit(name, bases, NEW)))
    close(ours.intercept_, theirs.intercept_[0])


@pytest.mark.parametrize("name", ["tensor", "direct_metric", "wedge_squared"])
def test_spheres_know_the_length_of_new_pairs(name: str) -> None:
    bases = BASES["poly linear"]
    ours = pl.OneClassPairSphere(kernel=name, base=bases, tol=1e-7, nu=0.3).fit(PAIRS)
    alpha = ours.dual_coef_ / ours.dual_coef_.sum()
    own = np.diagonal(explicit(name, bases, NEW, NEW))
    K = explicit(name, bases, PAIRS)[np.ix_(ours.support_, ours.support_)]
    distances = own - 2 * explicit(name, bases, NEW)[:, ours.support_] @ alpha + alpha @ K @ alpha
    close(ours.decision_function(NEW), ours.radius_**2 - distances, 1e-7)


def test_the_tensor_kernel_is_a_kronecker_product() -> None:
    """All pairs of 9 × 7: the Gram matrix is ½ K ⊗ L."""
    bases = BASES["rbf rbf"]
    every = pl.Pairs(DRUGS, *np.divmod(np.arange(63), 7), right_examples=TARGETS)
    y = np.where(rng.random(63) < 0.5, 1, -1)
    K = 0.5 * np.kron(bases[0](DRUGS, DRUGS), bases[1](TARGETS, TARGETS))
    ours = pl.PairSVC(kernel="tensor", base=bases, tol=1e-7).fit(every, y)
    theirs = SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    close(ours.decision_function(every), theirs.decision_function(K))


def test_parts_on_several_bases() -> None:
    """A sum of two pair kernels, each with two bases of its own."""
    one, two = BASES["rbf rbf"], BASES["poly linear"]
    kernel = pl.pair_kernel("tensor").on(as_kernel(one)) + pl.pair_kernel("direct_sum").on(as_kernel(two))
    ours = pl.PairSVC(kernel=kernel, tol=1e-7).fit(PAIRS, Y)

    def both(rows: pl.Pairs) -> np.ndarray:
        return explicit("tensor", one, rows) + explicit("direct_sum", two, rows)

    theirs = SVC(kernel="precomputed", tol=1e-6).fit(both(PAIRS), Y)
    close(ours.decision_function(NEW), theirs.decision_function(both(NEW)))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(FORMULAS)), st.sampled_from(list(BASES)))
def test_renaming_examples_changes_nothing(seed: int, name: str, which: str) -> None:
    random = np.random.default_rng(seed)
    p, q = random.permutation(9), random.permutation(7)
    turned = pl.Pairs(DRUGS[p], np.argsort(p)[PAIRS.left], np.argsort(q)[PAIRS.right], right_examples=TARGETS[q])
    one, two = (pl.PairSVC(kernel=name, base=BASES[which], tol=1e-6).fit(pairs, Y) for pairs in (PAIRS, turned))
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
    close(two.decision_function(NEW) - two.intercept_, one.decision_function(NEW) - one.intercept_, 1e-4)


@every_kernel
def test_exchanging_the_tables_changes_nothing(name: str) -> None:
    bases = BASES["linear rbf"]
    one = pl.PairSVC(kernel=name, base=bases, tol=1e-7).fit(PAIRS, Y)
    two = pl.PairSVC(kernel=name, base=bases[::-1], tol=1e-7).fit(PAIRS.swapped(), Y)
    close(two.decision_function(NEW.swapped()), one.decision_function(NEW), 1e-4)


# --------------------------------------------------------------------------- scoring


@every_kernel
@every_base
def test_score_blocks_equal_single_decisions(name: str, bases: tuple[Kernel, Kernel]) -> None:
    ours = pl.PairSVC(kernel=name, base=bases).fit(PAIRS, Y)
    block = ours.score_block(NEW_DRUGS, NEW_TARGETS)
    assert block.shape == (6, 4)
    np.testing.assert_allclose(block.ravel(), ours.decision_function(NEW), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["tensor_metric", "wedge_squared"])
def test_new_examples_on_one_side_only(name: str) -> None:
    bases = BASES["rbf rbf"]
    ours = pl.PairSVC(kernel=name, base=bases, tol=1e-7).fit(PAIRS, Y)
    for left, right in ((NEW_DRUGS, TARGETS), (DRUGS, NEW_TARGETS)):
        pairs = pl.Pairs(left, [0, 1, 2], [3, 2, 0], right_examples=right)
        theta = np.zeros(N)
        theta[ours.support_] = ours.dual_coef_
        expected = explicit(name, bases, pairs) @ theta + ours.intercept_
        np.testing.assert_allclose(ours.decision_function(pairs), expected, atol=1e-9)


def test_only_used_examples_are_kept() -> None:
    crowd = pl.Pairs(
        np.vstack([DRUGS, rng.normal(size=(5, 3))]),
        PAIRS.left,
        3 + PAIRS.right,
        right_examples=np.vstack([rng.normal(size=(3, 5)), TARGETS]),
    )
    bases = BASES["rbf rbf"]
    ours = pl.PairSVC(base=bases, tol=1e-7).fit(crowd, Y)
    assert len(ours.function_.anchor) <= 9
    assert len(ours.function_.right_anchor) <= 7
    close(ours.decision_function(NEW), pl.PairSVC(base=bases, tol=1e-7).fit(PAIRS, Y).decision_function(NEW), 1e-4)


# --------------------------------------------------------------------------- precomputed, sparse, objects


@pytest.mark.parametrize("name", ["tensor_metric", "direct_sum", "wedge_squared"])
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True)])
def test_precomputed_sides_and_new_rows(name: str, given: tuple[bool, bool]) -> None:
    k1, k2 = BASES["rbf rbf"]
    base = ("precomputed" if given[0] else k1, "precomputed" if given[1] else k2)

    def table(pairs: pl.Pairs) -> pl.Pairs:
        left = k1(pairs.examples, DRUGS) if given[0] else pairs.examples
        right = k2(pairs.right_examples, TARGETS) if given[1] else pairs.right_examples
        return pl.Pairs(left, pairs.left, pairs.right, right_examples=right)

    ours = pl.PairSVC(kernel=name, base=base, tol=1e-7).fit(table(PAIRS), Y)
    expected = pl.PairSVC(kernel=name, base=(k1, k2), tol=1e-7).fit(PAIRS, Y)
    close(ours.decision_function(table(NEW)), expected.decision_function(NEW), 1e-4)
    rows = table(NEW)
    close(ours.score_block(rows.examples, rows.right_examples), expected.score_block(NEW_DRUGS, NEW_TARGETS), 1e-4)


def test_wrong_precomputed_rows_are_refused() -> None:
    K, L = DRUGS @ DRUGS.T, TARGETS @ TARGETS.T
    pairs = pl.Pairs(K, PAIRS.left, PAIRS.right, right_examples=L)
    ours = pl.PairSVC(base=("precomputed", "precomputed")).fit(pairs, Y)
    with pytest.raises(InputError, match="has 6 columns, but the model was fitted with 7 examples"):
        ours.decision_function(pl.Pairs(K, [0], [1], right_examples=L[:, :6]))
    with pytest.raises(InputError, match=r"must be square at fit, got \(9, 3\)"):
        pl.PairSVC(base=("precomputed", "rbf")).fit(PAIRS, Y)


@every_base
@pytest.mark.parametrize("name", ["tensor_metric", "wedge_squared"])
def test_sparse_tables(name: str, bases: tuple[Kernel, Kernel]) -> None:
    thin = [np.where(rng.random(table.shape) < 0.6, table, 0.0) for table in (DRUGS, TARGETS)]
    dense = pl.Pairs(thin[0], PAIRS.left, PAIRS.right, right_examples=thin[1])
    expected = pl.PairSVC(kernel=name, base=bases, tol=1e-7).fit(dense, Y)
    for left, right in (
        (sparse.csr_array, sparse.csr_array),
        (sparse.csr_array, np.asarray),
        (np.asarray, sparse.csc_array),
    ):
        pairs = pl.Pairs(left(thin[0]), PAIRS.left, PAIRS.right, right_examples=right(thin[1]))
        ours = pl.PairSVC(kernel=name, base=bases, tol=1e-7).fit(pairs, Y)
        close(ours.decision_function(pairs), expected.decision_function(dense), 1e-4)
        block = ours.score_block(left(thin[0]), right(thin[1]))
        close(block, expected.score_block(*thin), 1e-4)


def test_objects_on_one_side() -> None:
    words = ["pair", "pear", "learn", "lean", "fast", "last", "exact"]
    letters = np.array([[letter in word for letter in "abcdefghijklmnopqrstuvwxyz"] for word in words], dtype=float)
    overlap = pl.kernels.FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True, definite=True)
    named = pl.Pairs(DRUGS, PAIRS.left, PAIRS.right, right_examples=words)
    plain = pl.Pairs(DRUGS, PAIRS.left, PAIRS.right, right_examples=letters)
    one = pl.PairSVC(base=(Gaussian(0.3), overlap), tol=1e-7).fit(named, Y)
    two = pl.PairSVC(base=(Gaussian(0.3), Linear()), tol=1e-7).fit(plain, Y)
    close(one.decision_function(named), two.decision_function(plain), 1e-4)


def test_one_base_serves_both_tables() -> None:
    one = pl.PairSVC(base="linear", random_state=0).fit(PAIRS, Y)
    two = pl.PairSVC(base=("linear", "linear"), random_state=0).fit(PAIRS, Y)
    np.testing.assert_array_equal(one.decision_function(NEW), two.decision_function(NEW))
    scaled = pl.PairSVC(base="rbf").fit(PAIRS, Y).function_.kernel.bases[0]
    assert scaled.left.gamma == pytest.approx(1 / (3 * DRUGS.var()))
    assert scaled.right.gamma == pytest.approx(1 / (5 * TARGETS.var()))


def test_gram_matrices_are_shared() -> None:
    calls = []

    def similarity(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(A.shape)
        return A @ B.T

    grams = tuple(Gram(pl.kernels.FromFunction(similarity, definite=True), table) for table in (DRUGS, TARGETS))
    for C in (0.1, 1.0):
        ours = pl.PairSVC(kernel="tensor", base=grams, C=C, tol=1e-7).fit(PAIRS, Y)
        assert sorted(calls) == [(7, 5), (9, 3)]
    expected = pl.PairSVC(kernel="tensor", base="linear", tol=1e-7).fit(PAIRS, Y)
    close(ours.decision_function(NEW), expected.decision_function(NEW), 1e-4)


# --------------------------------------------------------------------------- memory


@pytest.mark.parametrize(
    ("name", "bases", "m"),
    [
        ("tensor_metric", ("rbf", "rbf"), 130),
        ("wedge_squared", ("rbf", "linear"), 130),
        ("tensor_metric", ("linear", "linear"), 200),
    ],
)
def test_without_room_for_gram_matrices(name: str, bases: Any, m: int) -> None:
    random = np.random.default_rng(1)
    left, right = random.normal(size=(m, 3)), random.normal(size=(m, 4))
    a, b = np.concatenate([np.arange(m), random.integers(0, m, m)]), np.tile(random.permutation(m), 2)
    pairs = pl.Pairs(left, a, b, right_examples=right)
    y = np.where(random.random(2 * m) < 0.5, 1, -1)
    roomy = pl.PairSVC(kernel=name, base=bases, C=0.1, tol=1e-6).fit(pairs, y)
    assert roomy.plan_.gram
    tight = pl.PairSVC(kernel=name, base=bases, C=0.1, tol=1e-6)
    for budget in np.arange(4.2e6, 6e6, 2e4):  # the least that will do
        with suppress(TooLargeError):
            tight.set_params(memory_budget=budget).fit(pairs, y)
            break
    assert not tight.plan_.gram
    close(tight.decision_function(pairs), roomy.decision_function(pairs), 1e-4)


def test_blocks_keep_to_the_budget() -> None:
    kernel = pl.pair_kernel("wedge_squared").on(as_kernel(BASES["rbf rbf"]))
    for budget in (6e6, 4e7):
        operator = build(kernel, PAIRS, memory_budget=budget).operator
        assert isinstance(operator, BlockedOperator)
        assert operator.block_bytes <= budget / 8


# --------------------------------------------------------------------------- group features of two domains


def test_invariant_features_of_the_pair() -> None:
    z = rng.normal(size=(N, 2))
    pairs = pl.Pairs(DRUGS, PAIRS.left, PAIRS.right, right_examples=TARGETS, invariant=z)
    new_z = rng.normal(size=(24, 2))
    new = pl.Pairs(NEW_DRUGS, NEW.left, NEW.right, right_examples=NEW_TARGETS, invariant=new_z)
    bases = BASES["rbf rbf"]
    ours = pl.PairSVC(
        kernel=pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant(Gaussian(0.2)), base=bases, tol=1e-7
    ).fit(pairs, Y)

    def whole(rows: pl.Pairs, shown: np.ndarray) -> np.ndarray:
        return explicit("tensor", bases, rows) + Gaussian(0.2)(shown, z)

    theirs = SVC(kernel="precomputed", tol=1e-6).fit(whole(PAIRS, z), Y)
    close(ours.decision_function(new), theirs.decision_function(whole(NEW, new_z)))


# --------------------------------------------------------------------------- refusals

ONE_TABLE = pl.Pairs(DRUGS, [0, 1, 2, 3], [1, 2, 3, 4])
REFUSED: dict[str, tuple[Any, pl.Pairs, Any, type[Exception], str]] = {
    "two bases, one table": (
        pl.PairSVC(base=("linear", "rbf")),
        ONE_TABLE,
        [1, -1, 1, -1],
        InputError,
        r"two base kernels need pairs of two domains: pl\.Pairs\(drugs",
    ),
    "three bases": (pl.PairSVC(base=("linear", "rbf", "rbf")), PAIRS, Y, InputError, "two base kernels, .* got 3"),
    "mirrored": (
        pl.PairSVC(mirrored=True),
        PAIRS,
        Y,
        InputError,
        "two tables have no mirror image; use mirrored=False",
    ),
    "mirrored regression": (pl.PairSVR(mirrored="symmetric"), PAIRS, VALUES, InputError, "no mirror image"),
    "ranker": (
        pl.PairRanker(),
        PAIRS,
        Y,
        SymmetryError,
        "PairRanker on two tables needs a symmetric kernel, e.g. tensor",
    ),
    "wedge": (pl.PairSVC(kernel="wedge"), PAIRS, Y, SymmetryError, "PairSVC on two tables needs a symmetric kernel"),
    "unknown base": (pl.PairSVC(base=("linear", "gauss")), PAIRS, Y, InputError, "unknown base kernel 'gauss'"),
}


@pytest.mark.parametrize(("model", "pairs", "y", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals(model: Any, pairs: pl.Pairs, y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model.fit(pairs, y)
    assert not hasattr(model, "function_")


def test_one_and_two_tables_are_not_mixed_at_scoring() -> None:
    two = pl.PairSVC(base=("linear", "linear")).fit(PAIRS, Y)
    with pytest.raises(InputError, match=r"fitted on pairs of two tables; pass pl\.Pairs\(…, right_examples=…\)"):
        two.decision_function(ONE_TABLE)
    one = pl.PairSVC(base="linear").fit(ONE_TABLE, [1, -1, 1, -1])
    with pytest.raises(InputError, match="compares examples of one table, but these pairs have right_examples"):
        one.decision_function(PAIRS)
    with pytest.raises(InputError, match="examples have 4 features, but the model was fitted with 5"):
        two.score_block(NEW_DRUGS, NEW_TARGETS[:, :4])


def test_no_symmetry_warning_is_due() -> None:
    """Pairs of two tables have one order, so a kernel without symmetry is as good as any."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.PairSVC(kernel="poly_tensor", base=BASES["rbf rbf"]).fit(PAIRS, Y)


# --------------------------------------------------------------------------- scikit-learn


@every_machine
def test_clone_pickle_and_cross_validation(make: Any, y: Any) -> None:
    model = make(kernel="tensor", base=BASES["rbf rbf"], random_state=0)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model.fit(PAIRS, y)))
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    folds = KFold(3, shuffle=True, random_state=0)

    def mean(fitted: Any, pairs: pl.Pairs, y: Any = None) -> float:
        return float(fitted.decision_function(pairs).mean())

    found = cross_val_score(model, PAIRS, y, scoring=mean, cv=folds)
    splits = list(folds.split(np.zeros(N)))
    expected = [mean(clone(model).fit(PAIRS[t], None if y is None else y[t]), PAIRS[v]) for t, v in splits]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("which", ["svc", "svr", "one class"])
def test_warm_starts_reach_the_same_solution(which: str) -> None:
    make, y = MACHINES[which]
    some = None if y is None else y[:25]
    warm = make(kernel="tensor_metric", base=BASES["rbf linear"], tol=1e-7, warm_start=True).fit(PAIRS[:25], some)
    warm.fit(PAIRS, y)
    cold = make(kernel="tensor_metric", base=BASES["rbf linear"], tol=1e-7).fit(PAIRS, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    close(warm.decision_function(NEW), cold.decision_function(NEW), 1e-4)
    assert warm.fit(PAIRS, y).n_iter_ <= 2
