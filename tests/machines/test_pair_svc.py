"""PairSVC against LIBSVM on the explicit matrix, the theorems of the papers, and every input it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC

import pairlearn as pl
from pairlearn.errors import ConflictWarning, ConstantWarning, InputError, SymmetryError, SymmetryWarning, TooLargeError
from pairlearn.kernels import FromFunction, Gaussian, Gram, Linear, Polynomial, Precomputed
from pairlearn.machines.pair_svc import classification
from pairlearn.machines.start import carry_over
from pairlearn.operators.form import PairForm, Sums
from pairlearn.pair_kernels import PairKernel
from pairlearn.solvers import ActiveSet, Status
from pairlearn.words import worth

Formula = Callable[..., np.ndarray]
FORMULAS: dict[str, Formula] = {
    "poly_direct_sum": lambda ac, ad, bc, bd: (ac + bd + 1) ** 2,
    "poly_tensor": lambda ac, ad, bc, bd: (ac * bd + 1) ** 2,
    "direct_sum": lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2,
    "metric": lambda ac, ad, bc, bd: (ac - ad - bc + bd) ** 2 / 4,
    "tensor": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2,
    "wedge_squared": lambda ac, ad, bc, bd: (ac * bd - ad * bc) ** 2 / 4,
    "direct_metric": lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2 + (ac - ad - bc + bd) ** 2 / 4,
    "tensor_metric": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2 + (ac - ad - bc + bd) ** 2 / 4,
}
SYMMETRIC = [name for name in FORMULAS if not name.startswith("poly")]

rng = np.random.default_rng(0)
M = 16
CLASSES = np.arange(M) % 4
X = rng.normal(size=(M, 3)) + 2.0 * rng.normal(size=(4, 3))[CLASSES]
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
NEW = pl.all_pairs(rng.normal(size=(9, 3)))

pytestmark = pytest.mark.filterwarnings("ignore::pairlearn.errors.SymmetryWarning")


def explicit(formula: Formula, base: Any, rows: pl.Pairs, cols: pl.Pairs) -> np.ndarray:
    K = base(rows.examples, cols.examples)
    return formula(*(K[np.ix_(row, col)] for row in (rows.left, rows.right) for col in (cols.left, cols.right)))


def machine(**options: Any) -> pl.PairSVC:
    return pl.PairSVC(**{"tol": 1e-6, "random_state": 0, **options})


def close(found: np.ndarray, expected: np.ndarray, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * max(1e-12, np.abs(expected).max()))


# --------------------------------------------------------------------------- (a) LIBSVM


# LIBSVM needs minutes for direct_sum with a large C: the matrix has rank 16 and fits few of the labels.
LIBSVM_CASES = [(name, C) for name in FORMULAS for C in (0.1, 1.0, 2.0 if name == "direct_sum" else 100.0)]


@pytest.mark.parametrize("class_weight", [None, {1: 3.0, -1: 0.5}], ids=["plain", "weighted"])
@pytest.mark.parametrize(("name", "C"), LIBSVM_CASES)
def test_equals_libsvm_on_the_explicit_matrix(name: str, C: float, class_weight: dict[int, float] | None) -> None:
    base = Gaussian(2.0)
    ours = machine(kernel=name, base=base, C=C, class_weight=class_weight).fit(PAIRS, Y)
    K = explicit(FORMULAS[name], base, PAIRS, PAIRS)
    theirs = SVC(kernel="precomputed", C=C, tol=1e-6, class_weight=class_weight).fit(K, Y)
    theta = np.zeros(len(Y))
    theta[theirs.support_] = theirs.dual_coef_[0]
    objective = 0.5 * theta @ K @ theta - np.abs(theta).sum()
    assert ours.fit_status_ == "converged"
    assert ours.kkt_gap_ <= 1e-6
    assert ours.objective_ == pytest.approx(objective, rel=1e-5)
    boxes = C * (np.ones(len(Y)) if class_weight is None else np.where(Y > 0, 3.0, 0.5))
    free = (np.abs(theta) > 1e-6 * boxes) & (np.abs(theta) < (1 - 1e-6) * boxes)
    gap = 0.0 if free.any() else float(theirs.intercept_[0]) - ours.intercept_  # b is then an interval
    close(ours.decision_function(PAIRS) + gap, theirs.decision_function(K))
    across = explicit(FORMULAS[name], base, NEW, PAIRS)
    close(ours.decision_function(NEW) + gap, theirs.decision_function(across))


def test_the_gap_is_that_of_the_explicit_problem() -> None:
    """LIBSVM's m(α) − M(α) over all pairs, from the coefficients alone."""
    ours = machine(kernel="tensor_metric", base=Gaussian(0.3), C=2.0, tol=1e-2).fit(PAIRS, Y)
    theta = np.zeros(len(Y))
    theta[ours.support_] = ours.dual_coef_
    v = Y - explicit(FORMULAS["tensor_metric"], Gaussian(0.3), PAIRS, PAIRS) @ theta
    alpha = Y * theta
    up = ((Y > 0) & (alpha < 2.0)) | ((Y < 0) & (alpha > 0))
    low = ((Y > 0) & (alpha > 0)) | ((Y < 0) & (alpha < 2.0))
    assert ours.kkt_gap_ == pytest.approx(max(0.0, v[up].max() - v[low].min()), abs=1e-9)
    assert ours.kkt_gap_ <= 1e-2
    assert theta.sum() == pytest.approx(0.0, abs=1e-9)
    assert (alpha >= 0).all()
    assert (alpha <= 2.0).all()


@pytest.mark.parametrize("C", [0.01, 0.1, 0.3])
def test_metric_kernel_is_a_quadratic_kernel_on_differences(C: float) -> None:
    """¼(ac − ad − bc + bd)² = (½⟨a − b, c − d⟩)² for the linear base."""
    difference, new = X[PAIRS.left] - X[PAIRS.right], NEW.examples[NEW.left] - NEW.examples[NEW.right]
    theirs = SVC(kernel="poly", degree=2, gamma=0.5, coef0=0.0, C=C, tol=1e-6).fit(difference, Y)
    ours = machine(kernel="metric", base="linear", C=C).fit(PAIRS, Y)
    close(ours.decision_function(NEW), theirs.decision_function(new))
    close(ours.decision_function(PAIRS), theirs.decision_function(difference))
    np.testing.assert_array_equal(ours.predict(NEW), np.where(ours.decision_function(NEW) > 0, 1, -1))


@pytest.mark.parametrize("name", ["tensor_metric", "wedge_squared"])
def test_both_solvers_agree(name: str) -> None:
    one, two = (machine(kernel=name, base="rbf", C=5.0, solver=s).fit(PAIRS, Y) for s in ("active_set", "smo"))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    close(one.decision_function(NEW), two.decision_function(NEW), 1e-4)


# --------------------------------------------------------------------------- (c) mirrored training

CRUDE = {
    "poly_direct_sum": pl.pair_kernels.poly_direct_sum(),
    "poly_direct_sum_3": pl.pair_kernels.poly_direct_sum(3, 0.5),
    "poly_tensor": pl.pair_kernels.poly_tensor(),
    "poly_tensor_1": pl.pair_kernels.poly_tensor(1, 0.0),
    "gaussian_difference": pl.pair_kernels.gaussian("difference", 0.3),
    "gaussian_wedge": pl.pair_kernels.gaussian("wedge", 0.3),
    "power_wedge": pl.pair_kernels.power("wedge", 2, 1.0),
    "product": pl.pair_kernels.poly_tensor(1, 0.5) * pl.pair_kernels.poly_direct_sum(1, 1.0),
}


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
@pytest.mark.parametrize("kernel", CRUDE.values(), ids=CRUDE)
def test_mirrored_training_equals_the_balanced_kernel(kernel: PairKernel, seed: int, C: float, reflexive: bool) -> None:
    """Same decision function, objective and bias: B11, theorem 11."""
    random = np.random.default_rng(seed)
    examples = random.normal(size=(8, 2))
    classes = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    pairs = pl.all_pairs(examples, reflexive=reflexive)
    flip = random.random(len(pairs)) < 0.5  # the given order must not matter either
    pairs = pl.Pairs(examples, np.where(flip, pairs.right, pairs.left), np.where(flip, pairs.left, pairs.right))
    y = pairs.labels(classes)
    direct = machine(kernel=kernel.balanced(), base=Gaussian(0.5), C=C, tol=1e-8).fit(pairs, y)
    mirrored = machine(kernel=kernel, base=Gaussian(0.5), C=C, tol=1e-8, mirrored=True).fit(pairs, y)
    assert mirrored.objective_ == pytest.approx(direct.objective_, rel=1e-7, abs=1e-9)
    one, two = direct.decision_function(pairs), mirrored.decision_function(pairs)
    np.testing.assert_allclose(two - mirrored.intercept_, one - direct.intercept_, atol=2e-4)
    free = np.abs(direct.dual_coef_) < C * (1 - 1e-4)
    if free.any():
        assert mirrored.intercept_ == pytest.approx(direct.intercept_, abs=2e-4)


# --------------------------------------------------------------------------- (d) symmetry


@pytest.mark.parametrize("base", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_decisions_are_symmetric_bit_by_bit(name: str, base: str) -> None:
    ours = pl.PairSVC(kernel=name, base=base).fit(PAIRS, Y)
    for pairs in (NEW, PAIRS, NEW[::3]):
        np.testing.assert_array_equal(ours.decision_function(pairs), ours.decision_function(pairs.swapped()))


@pytest.mark.parametrize("kernel", CRUDE.values(), ids=CRUDE)
def test_balanced_decisions_are_symmetric_bit_by_bit(kernel: PairKernel) -> None:
    ours = pl.PairSVC(kernel=kernel.balanced(), base="rbf").fit(PAIRS, Y)
    np.testing.assert_array_equal(ours.decision_function(NEW), ours.decision_function(NEW.swapped()))


@pytest.mark.parametrize("base", ["linear", "rbf"])
@pytest.mark.parametrize("name", FORMULAS)
def test_score_block_equals_single_decisions(name: str, base: str) -> None:
    ours = pl.PairSVC(kernel=name, base=base).fit(PAIRS, Y)
    probe, gallery = rng.normal(size=(5, 3)), rng.normal(size=(7, 3))
    a, b = np.divmod(np.arange(35), 7)
    pairs = pl.Pairs(np.concatenate([probe, gallery]), a, 5 + b)
    scores = ours.score_block(probe, gallery)
    assert scores.shape == (5, 7)
    np.testing.assert_allclose(scores.ravel(), ours.decision_function(pairs), rtol=1e-10, atol=1e-10)


# --------------------------------------------------------------------------- (e) weights


def test_integer_weights_equal_repeated_pairs() -> None:
    weights = rng.integers(0, 4, len(Y))
    repeated = np.repeat(np.arange(len(Y)), weights)
    one = machine(base=Gaussian(0.3)).fit(PAIRS, Y, sample_weight=weights)
    two = machine(base=Gaussian(0.3)).fit(PAIRS[repeated], Y[repeated])
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    close(one.decision_function(NEW), two.decision_function(NEW), 1e-4)


def test_weights_scale_the_box() -> None:
    one = machine(C=3.0).fit(PAIRS, Y)
    two = machine(C=1.0).fit(PAIRS, Y, sample_weight=np.full(len(Y), 3.0))
    close(two.decision_function(NEW), one.decision_function(NEW), 1e-4)


def test_balanced_class_weights() -> None:
    """n / (2 n₊) and n / (2 n₋), as in scikit-learn."""
    n, positive = len(Y), int((Y > 0).sum())
    share = {1: n / (2 * positive), -1: n / (2 * (n - positive))}
    assert share[1] > share[-1]
    one, two = (machine(class_weight=w).fit(PAIRS, Y) for w in ("balanced", share))
    np.testing.assert_array_equal(one.decision_function(NEW), two.decision_function(NEW))
    three = machine().fit(PAIRS, Y, sample_weight=np.where(Y > 0, share[1], share[-1]))
    close(three.decision_function(NEW), one.decision_function(NEW), 1e-4)


# --------------------------------------------------------------------------- (f) warm starts


@pytest.mark.parametrize("base", ["linear", "rbf"])
def test_warm_start_with_added_pairs_and_other_boxes(base: str) -> None:
    some = rng.permutation(len(Y))[:70]
    warm = machine(base=base, warm_start=True).fit(PAIRS[some], Y[some])
    for C in (1.0, 0.2, 10.0):
        warm.set_params(C=C).fit(PAIRS, Y)
        cold = machine(base=base, C=C).fit(PAIRS, Y)
        assert warm.fit_status_ == "converged"
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
        close(warm.decision_function(NEW), cold.decision_function(NEW), 1e-4)


def test_a_start_for_a_smaller_box_tells_free_pairs_from_bounded_ones() -> None:
    model = machine(base="rbf", C=5.0).fit(PAIRS, Y)
    boxes = np.full(len(Y), 0.5 * np.median(np.abs(model.dual_coef_[~model.support_bounded_])))
    problem = classification(Y.astype(float), boxes, total=None)
    start = carry_over(model.function_, model.support_bounded_, PAIRS, problem)
    at_bound = np.abs(start[model.support_]) == boxes[0]
    np.testing.assert_array_equal(at_bound, model.support_bounded_)
    assert (np.abs(start[model.support_]) > 0.99 * boxes[0]).sum() > at_bound.sum()


def test_warm_start_at_the_solution_is_done_at_once() -> None:
    warm = machine(base="rbf", warm_start=True, C=5.0).fit(PAIRS, Y)
    assert warm.n_iter_ > 1
    before = warm.decision_function(NEW)
    warm.fit(PAIRS, Y)
    assert warm.n_iter_ <= 2
    close(warm.decision_function(NEW), before, 1e-5)


def test_warm_start_on_quite_other_data() -> None:
    warm = machine(warm_start=True).fit(PAIRS, Y)
    others = pl.all_pairs(rng.normal(size=(12, 5)), reflexive=False)
    y = others.labels(np.arange(12) % 3)
    close(warm.fit(others, y).decision_function(others), machine().fit(others, y).decision_function(others), 1e-4)


# --------------------------------------------------------------------------- (g, h) what is kept


def test_linear_bases_collapse_to_features() -> None:
    ours = machine(kernel="tensor_metric", base="linear").fit(PAIRS, Y)
    function = ours.function_
    (part,) = function.parts
    assert part.left.anchor is None
    assert part.width == 3
    n = len(function.anchor)
    whole = PairForm.of(
        function.kernel.tables[0], Sums.sparse(function.left, function.right, function.coefficients, (n, n))
    )  # type: ignore[index]
    E = NEW.examples @ function.anchor.T
    table = E @ (whole.cross @ E.T) + whole.at_left(E)[:, None] + whole.at_right(E)
    expected = table[NEW.left, NEW.right] + ours.intercept_
    np.testing.assert_allclose(ours.decision_function(NEW), expected, rtol=1e-9, atol=1e-9)


def test_gaussian_bases_do_not_collapse() -> None:
    (part,) = machine(base="rbf").fit(PAIRS, Y).function_.parts
    assert part.left.anchor is not None


def test_only_support_examples_are_kept() -> None:
    crowd = np.concatenate([X, rng.normal(size=(30, 3))])
    pairs = pl.Pairs(crowd, PAIRS.left, PAIRS.right)
    ours = machine(base=Gaussian(0.3)).fit(pairs, Y)
    assert ours.n_support_ == len(ours.support_) == len(ours.dual_coef_)
    kept = np.unique([pairs.left[ours.support_], pairs.right[ours.support_]])
    np.testing.assert_array_equal(ours.support_examples_, kept)
    np.testing.assert_array_equal(ours.function_.anchor, crowd[kept])
    assert (ours.dual_coef_ != 0).all()
    close(ours.decision_function(NEW), machine(base=Gaussian(0.3)).fit(PAIRS, Y).decision_function(NEW), 1e-4)


@pytest.mark.parametrize("name", ["tensor_metric", "direct_sum", "poly_direct_sum"])
def test_precomputed_base_equals_the_computed_one(name: str) -> None:
    base = Gaussian(0.3)
    computed = machine(kernel=name, base=base).fit(PAIRS, Y)
    given_matrix = pl.Pairs(Gram(base, X).matrix, PAIRS.left, PAIRS.right)
    ours = machine(kernel=name, base="precomputed").fit(given_matrix, Y)
    new = pl.Pairs(base(NEW.examples, X), NEW.left, NEW.right)
    close(ours.decision_function(new), computed.decision_function(NEW), 1e-5)
    probe = rng.normal(size=(4, 3))
    close(ours.score_block(base(probe, X), base(probe, X)), computed.score_block(probe, probe), 1e-5)


def test_a_gram_is_computed_once_for_many_fits() -> None:
    calls = []

    def similarity(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(A.shape)
        return A @ B.T

    gram = Gram(FromFunction(similarity, definite=True), X)
    for C in (0.1, 1.0):
        for name in ("tensor", "metric"):
            ours = machine(kernel=name, base=gram, C=C).fit(PAIRS, Y)
            assert len(calls) == 1
            expected = machine(kernel=name, base="linear", C=C).fit(PAIRS, Y)
            close(ours.decision_function(NEW), expected.decision_function(NEW), 1e-4)
            calls[:] = calls[:1]


def test_kernels_on_different_bases() -> None:
    k1, k2 = Gaussian(0.3), Polynomial()
    kernel = pl.pair_kernel("tensor").on(k1) + pl.pair_kernel("metric").on(k2)
    ours = machine(kernel=kernel).fit(PAIRS, Y)

    def both(rows: pl.Pairs) -> np.ndarray:
        return explicit(FORMULAS["tensor"], k1, rows, PAIRS) + explicit(FORMULAS["metric"], k2, rows, PAIRS)

    theirs = SVC(kernel="precomputed", tol=1e-6).fit(both(PAIRS), Y)
    close(ours.decision_function(NEW), theirs.decision_function(both(NEW)))
    assert ours.function_.kernel.symmetry == "symmetric"


# --------------------------------------------------------------------------- (i) examples of any kind


@pytest.mark.parametrize("name", ["tensor_metric", "wedge_squared"])
@pytest.mark.parametrize("base", ["linear", "rbf"])
def test_sparse_and_single_precision_examples(name: str, base: str) -> None:
    thin = np.where(rng.random((M, 8)) < 0.5, rng.normal(size=(M, 8)), 0.0).astype(np.float32).astype(np.float64)
    expected = machine(kernel=name, base=base).fit(pl.all_pairs(thin, False), Y)
    for convert, rtol in ((sparse.csr_array, 1e-4), (sparse.csc_matrix, 1e-4), (np.float32, 1e-3)):
        pairs = pl.all_pairs(convert(thin), reflexive=False)
        ours = machine(kernel=name, base=base).fit(pairs, Y)
        close(ours.decision_function(pairs), expected.decision_function(pl.all_pairs(thin, False)), rtol)
        close(ours.score_block(convert(thin), convert(thin)), expected.score_block(thin, thin), rtol)


def test_a_dense_model_scores_sparse_examples() -> None:
    ours = machine(base="linear").fit(PAIRS, Y)
    thin = pl.Pairs(sparse.csr_array(NEW.examples), NEW.left, NEW.right)
    close(ours.decision_function(thin), ours.decision_function(NEW), 1e-9)


def test_objects_with_a_function_as_base() -> None:
    words = ["pair", "pear", "peer", "learn", "lean", "clean", "fast", "last", "past", "exact", "act", "fact"]
    sets = [set(word) for word in words]
    letters = np.array([[letter in s for letter in "abcdefghijklmnopqrstuvwxyz"] for s in sets], dtype=float)
    classes = np.repeat(np.arange(4), 3)
    base = FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True, definite=True)
    pairs = pl.all_pairs(words, reflexive=False)
    ours = machine(base=base).fit(pairs, pairs.labels(classes))
    plain = pl.all_pairs(letters, reflexive=False)
    expected = machine(base="linear").fit(plain, pairs.labels(classes))
    close(ours.decision_function(pairs), expected.decision_function(plain), 1e-4)
    close(ours.score_block(words[:2], words), expected.score_block(letters[:2], letters), 1e-4)


def test_a_callable_base() -> None:
    ours = machine(base=lambda A, B: A @ B.T).fit(PAIRS, Y)
    close(ours.decision_function(NEW), machine(base="linear").fit(PAIRS, Y).decision_function(NEW), 1e-4)


def test_three_dimensional_arrays() -> None:
    ours = machine().fit(np.asarray(PAIRS), Y)
    close(ours.decision_function(np.asarray(NEW)), machine().fit(PAIRS, Y).decision_function(NEW), 1e-4)


def test_inputs_stay_unchanged() -> None:
    examples, y, weights = X.copy(), Y.copy(), np.ones(len(Y))
    pl.PairSVC(base="rbf").fit(pl.all_pairs(examples, reflexive=False), y, weights).score_block(examples, examples)
    np.testing.assert_array_equal(examples, X)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(weights, 1.0)


# --------------------------------------------------------------------------- stops


def test_a_fit_that_was_stopped_at_once_is_not_called_usable() -> None:
    with pytest.warns(ConvergenceWarning, match="nothing was learnt yet: every pair is given the same"):
        ours = pl.PairSVC("tensor", "rbf", callback=lambda line: True).fit(PAIRS, Y)
    assert len(np.unique(ours.decision_function(PAIRS))) == 1


def test_an_implicit_fit_that_was_stopped_is_not_called_constant() -> None:
    with pytest.warns(ConvergenceWarning, match="nothing certifies it: look at its scores"):
        ours = pl.PairSVC("metric", solver="implicit", callback=lambda line: True).fit(
            pl.all_pairs(X), pl.ClassLabels(CLASSES)
        )
    assert len(np.unique(ours.decision_function(PAIRS))) > 1


@pytest.mark.parametrize(("gap", "words"), [(0.5, "usable"), (50.0, "far from its best: look at its scores")])
def test_what_a_stopped_fit_is_worth_follows_from_its_gap(gap: float, words: str) -> None:
    assert words in worth(gap, n_support=3)


@pytest.mark.parametrize(
    ("solver", "words"), [("active_set", 'choose solver="auto"'), ("auto", "no method gets further")]
)
def test_a_standstill_of_a_named_solver_points_to_the_others(
    solver: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = ActiveSet.solve
    monkeypatch.setattr(ActiveSet, "solve", lambda *given: replace(solve(*given), status=Status.STALLED))
    with pytest.warns(ConvergenceWarning, match=words):
        pl.PairSVC("tensor", "rbf", solver=solver).fit(PAIRS, Y)


@pytest.mark.parametrize("solver", ["active_set", "smo"])
def test_without_time_the_model_is_usable(solver: str) -> None:
    # More pairs than are solved at once, and labels that nothing explains.
    rng = np.random.default_rng(0)
    pairs = pl.all_pairs(rng.normal(size=(90, 3)), reflexive=False)
    y = np.where(rng.random(len(pairs)) < 0.5, 1, -1)
    with pytest.warns(ConvergenceWarning, match="stopped by time budget at KKT gap"):
        ours = pl.PairSVC(base="rbf", time_budget=0, solver=solver).fit(pairs, y)
    assert ours.fit_status_ == "time budget"
    assert np.isfinite(ours.decision_function(NEW)).all()
    if solver == "smo":
        assert ours.kkt_gap_ == pytest.approx(2.0)  # all coefficients zero: +1 − (−1)
    else:
        assert ours.n_support_ > 0  # one step is always taken
        assert ours.objective_ < 0


def stop(progress: Any) -> bool:
    return True


def interrupt(progress: Any) -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize("callback", [stop, interrupt])
def test_an_interrupted_fit_is_symmetric_and_continues(callback: Callable[[Any], bool]) -> None:
    options = {"base": "rbf", "C": 50.0}
    ours = machine(**options, warm_start=True, time_budget=None).fit(PAIRS[:60], Y[:60])
    ours.set_params(callback=callback)
    with pytest.warns(ConvergenceWarning, match="interrupted at .*warm_start=True continues"):
        ours.fit(PAIRS, Y)
    assert ours.fit_status_ == "interrupted"
    assert ours.n_support_ > 0
    np.testing.assert_array_equal(ours.decision_function(NEW), ours.decision_function(NEW.swapped()))
    ours.set_params(callback=None).fit(PAIRS, Y)
    assert ours.objective_ == pytest.approx(machine(**options).fit(PAIRS, Y).objective_, rel=1e-8)


def test_same_seed_same_model() -> None:
    one, two = (pl.PairSVC(base="rbf", random_state=3).fit(PAIRS, Y) for _ in range(2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert one.intercept_ == two.intercept_


# --------------------------------------------------------------------------- (j) what is refused


NAN = X.copy()
NAN[3, 1] = np.nan
BAD_FITS: dict[str, tuple[dict[str, Any], Any, Any, str]] = {
    "labels 0/1": ({}, PAIRS, (Y + 1) // 2, r"labels must be \+1 or -1, found \['0', '1'\]"),
    "labels nan": ({}, PAIRS, np.full(len(Y), np.nan), r"labels must be \+1 or -1"),
    "labels text": ({}, PAIRS, np.full(len(Y), "same"), r"labels must be \+1 or -1"),
    "one class": ({}, PAIRS, np.ones(len(Y)), r"all 120 labels are \+1; both classes are needed"),
    "few labels": ({}, PAIRS, Y[:-1], r"one label per pair, 120, got shape \(119,\)"),
    "nested labels": ({}, PAIRS, Y[:, None], "one label per pair"),
    "flat array": ({}, X, CLASSES, r"\(n_pairs, 2, n_features\), got \(16, 3\)"),
    "no pairs": ({}, "pairs", Y, r"expected pl\.Pairs"),
    "nan array": ({}, np.stack([NAN, X], axis=1), np.tile([1, -1], 8), "contain NaN"),
    "C zero": ({"C": 0.0}, PAIRS, Y, r"C must be a finite number > 0, got 0\.0; try C=1\.0"),
    "C negative": ({"C": -1}, PAIRS, Y, "C must be a finite number > 0, got -1"),
    "C huge": ({"C": 1e300}, PAIRS, Y, r"C must be at most 1e\+100, got 1e\+300: .*overflow"),
    "C infinite": ({"C": np.inf}, PAIRS, Y, "C must be a finite number > 0, got inf"),
    "C a truth value": ({"C": True}, PAIRS, Y, "C must be a finite number > 0, got True"),
    "C nan": ({"C": np.nan}, PAIRS, Y, "C must be a finite number > 0"),
    "C text": ({"C": "1"}, PAIRS, Y, "C must be a finite number > 0"),
    "tol": ({"tol": 0.0}, PAIRS, Y, "tol must be a finite number > 0, got 0.0; try tol=1e-3"),
    "time": ({"time_budget": -1.0}, PAIRS, Y, "time_budget is in seconds and must be ≥ 0"),
    "memory": ({"memory_budget": 0}, PAIRS, Y, "memory_budget is in bytes and must be > 0"),
    "memory without end": ({"memory_budget": np.inf}, PAIRS, Y, "must be > 0 and finite, got inf"),
    "solver": ({"solver": "simplex"}, PAIRS, Y, "unknown solver 'simplex'"),
    "seed negative": ({"random_state": -1}, PAIRS, Y, "random_state must be a whole number ≥ 0 or None, got -1"),
    "seed a fraction": ({"random_state": 1.5}, PAIRS, Y, "random_state must be a whole number ≥ 0 or None, got 1.5"),
    "kernel": ({"kernel": "TL"}, PAIRS, Y, "unknown pair kernel 'TL'; choose direct_sum"),
    "base": ({"base": "gauss"}, PAIRS, Y, "unknown base kernel 'gauss'; choose 'linear'"),
    "antisymmetric": ({"kernel": "wedge"}, PAIRS, Y, r"antisymmetric; use pl\.PairRanker"),
    "difference": ({"kernel": "difference"}, PAIRS, Y, r"antisymmetric; use pl\.PairRanker"),
    "class weight": ({"class_weight": {2: 1.0}}, PAIRS, Y, "class_weight is {1: w, -1: w}"),
    "class weight name": ({"class_weight": "even"}, PAIRS, Y, "class_weight is {1: w, -1: w}"),
    "class weight zero": ({"class_weight": {1: 0.0}}, PAIRS, Y, "class weights must be finite and > 0"),
    "rectangular": ({"base": "precomputed"}, PAIRS, Y, r"must be square at fit, got \(16, 3\)"),
    "asymmetric": (
        {"base": "precomputed"},
        pl.Pairs(rng.normal(size=(16, 16)), PAIRS.left, PAIRS.right),
        Y,
        "the Gram matrix is not symmetric",
    ),
    "indefinite": (
        {"base": "precomputed"},
        pl.Pairs(-np.eye(16), PAIRS.left, PAIRS.right),
        Y,
        "not positive semidefinite",
    ),
    "indefinite base": ({"base": Polynomial(coef0=-1.0)}, PAIRS, Y, "not positive semidefinite"),
    "objects": ({}, pl.all_pairs(list("abcdefghijklmnop"), reflexive=False), Y, "needs rows of numbers, got list"),
    "function": ({"base": lambda a, b: 1.0}, PAIRS, Y, r"must return a matrix of shape \(16, 16\)"),
}


@pytest.mark.parametrize(("options", "pairs", "y", "message"), BAD_FITS.values(), ids=BAD_FITS)
def test_bad_fits_are_refused_and_leave_the_model_alone(
    options: dict[str, Any], pairs: Any, y: Any, message: str
) -> None:
    ours = pl.PairSVC(base="linear").fit(PAIRS, Y)
    before, state = ours.decision_function(NEW), dict(vars(ours))
    ours.set_params(**options)
    with pytest.raises(InputError, match=message):
        ours.fit(pairs, y)
    ours.set_params(**{name: state[name] for name in options})
    assert vars(ours) == state
    np.testing.assert_array_equal(ours.decision_function(NEW), before)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"one weight per pair, 120, got \(3,\)"),
        (np.full(len(Y), -1.0), "finite and ≥ 0"),
        (np.full(len(Y), np.nan), "finite and ≥ 0"),
        (np.where(Y > 0, 0.0, 1.0), r"all pairs with label \+1 have weight 0"),
        (np.where(Y > 0, 1.0, 0.0), "all pairs with label -1 have weight 0"),
    ],
)
def test_bad_weights_are_refused(weights: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.PairSVC().fit(PAIRS, Y, sample_weight=weights)


@pytest.mark.parametrize("bad", [{"solver": "simplex"}, {"random_state": -1}, {"random_state": 0.5}], ids=str)
def test_misspelt_parameters_are_noticed_before_kernel_values_are_computed(bad: dict[str, Any]) -> None:
    def never(A: Any, B: Any) -> np.ndarray:
        raise AssertionError("the kernel was asked")

    for machine in (pl.PairSVC, pl.PairRanker, pl.PairSVR, pl.OneClassPairSVM, pl.TransductivePairSVC):
        kernel = "difference" if machine is pl.PairRanker else "tensor"
        labels = None if machine is pl.OneClassPairSVM else Y
        with pytest.raises(InputError, match=r"unknown solver|random_state must be"):
            machine(kernel, base=never, **bad).fit(PAIRS, labels)


def test_the_refusal_of_an_antisymmetric_kernel_has_its_own_type() -> None:
    with pytest.raises(SymmetryError):
        pl.PairSVC(kernel="wedge").fit(PAIRS, Y)


def test_too_little_memory_is_refused_with_advice() -> None:
    with pytest.raises(TooLargeError, match=r"120 pairs of 16 examples need about .*raise memory_budget"):
        pl.PairSVC(memory_budget=1e4).fit(PAIRS, Y)


def test_no_pairs_have_no_scores_and_teach_nothing() -> None:
    pairs = pl.all_pairs(X, reflexive=False)
    fitted = pl.PairSVC("tensor", "rbf").fit(pairs, np.where(np.arange(len(pairs)) % 2 == 0, 1, -1))
    assert fitted.decision_function(pairs[:0]).shape == fitted.predict(pairs[:0]).shape == (0,)
    for machine in (pl.PairSVC(), pl.PairSVR(), pl.PairRanker(), pl.OneClassPairSVM(), pl.TransductivePairSVC()):
        with pytest.raises(InputError, match="there are no pairs to learn from"):
            machine.fit(pairs[:0], [])


@pytest.mark.parametrize("budget", [{"memory_budget": "4GB"}, {"time_budget": "x"}])
def test_budgets_are_numbers(budget: dict[str, str]) -> None:
    pairs = pl.all_pairs(X, reflexive=False)
    with pytest.raises(InputError, match=r"must be (≥|>) 0"):
        pl.PairSVC(**budget).fit(pairs, np.where(np.arange(len(pairs)) % 2 == 0, 1, -1))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_that_overflow_certify_nothing() -> None:
    pairs, machine = pl.all_pairs(1e80 * X), pl.PairSVC("tensor_metric", "poly")
    with pytest.raises(InputError, match="overflow"):
        machine.fit(pairs, pairs.labels(CLASSES))
    assert not hasattr(machine, "kkt_gap_")


def test_the_solver_has_the_memory_that_the_plan_leaves_it() -> None:
    """In bytes: a number of pairs in their place leaves working sets of a few pairs, which hardly ever end."""
    pairs = pl.all_pairs(X, reflexive=False)
    y = np.where(np.arange(len(pairs)) % 2 == 0, 1, -1)
    fitted = pl.PairSVC("tensor", "rbf", C=10.0, random_state=0).fit(pairs, y)
    assert max(step.working_set for step in fitted.history_) == len(pairs)
    assert fitted.n_iter_ < 20


def test_contradictory_labels_warn() -> None:
    pairs = pl.Pairs(X, [0, 1, 2, 3], [1, 0, 3, 5])
    with pytest.warns(ConflictWarning, match="1 pair carries contradictory labels, e.g. pairs 0 and 1"):
        pl.PairSVC().fit(pairs, [1, -1, 1, -1])


@pytest.mark.filterwarnings("default::pairlearn.errors.SymmetryWarning")
def test_kernels_that_are_not_symmetric_warn() -> None:
    with pytest.warns(SymmetryWarning, match=r"g\(u, v\) ≠ g\(v, u\); kernel\.balanced\(\)"):
        pl.PairSVC(kernel="poly_tensor").fit(PAIRS, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.PairSVC(kernel="poly_tensor", mirrored=True).fit(PAIRS, Y)
        pl.PairSVC(kernel=pl.pair_kernels.poly_tensor().balanced()).fit(PAIRS, Y)


@pytest.mark.parametrize("base", ["linear", "rbf"])
def test_bad_examples_at_scoring_are_refused(base: str) -> None:
    ours = pl.PairSVC(base=base).fit(PAIRS, Y)
    with pytest.raises(InputError, match="examples have 2 features, but the model was fitted with 3"):
        ours.decision_function(pl.Pairs(X[:, :2], [0], [1]))
    with pytest.raises(InputError, match="examples have 4 features, but the model was fitted with 3"):
        ours.score_block(np.ones((2, 4)), np.ones((2, 4)))
    with pytest.raises(InputError, match="gallery contains NaN"):
        ours.score_block(X, NAN)
    with pytest.raises(InputError, match="needs rows of numbers, got list"):
        ours.decision_function(pl.Pairs(["a", "b"], [0], [1]))
    with pytest.raises(InputError, match=r"expected pl\.Pairs"):
        ours.decision_function(None)


def test_precomputed_columns_are_remembered() -> None:
    K = Gram(Linear(), X).matrix
    ours = pl.PairSVC(base="precomputed").fit(pl.Pairs(K, PAIRS.left, PAIRS.right), Y)
    with pytest.raises(InputError, match="has 15 columns, but the model was fitted with 16 examples"):
        ours.decision_function(pl.Pairs(K[:, :15], [0], [1]))


def test_precomputed_kernels_with_self_values_are_refused() -> None:
    """exp(−γ(s₁₁ + …)) needs k(a, b) between new examples, which rows × training examples do not hold."""
    pairs = pl.Pairs(Gram(Linear(), X).matrix, PAIRS.left, PAIRS.right)
    ours = pl.PairSVC(kernel=pl.pair_kernels.gaussian("tensor"), base=Precomputed()).fit(pairs, Y)
    with pytest.raises(InputError, match="use a pair kernel of degree ≤ 2 or a computed base"):
        ours.decision_function(pairs)


def test_a_power_of_degree_four_needs_no_self_values() -> None:
    base = Gaussian(0.3)
    pairs = pl.Pairs(Gram(base, X).matrix, PAIRS.left, PAIRS.right)
    ours = machine(kernel="wedge_squared", base="precomputed").fit(pairs, Y)
    new = pl.Pairs(base(NEW.examples, X), NEW.left, NEW.right)
    expected = machine(kernel="wedge_squared", base=base).fit(PAIRS, Y)
    close(ours.decision_function(new), expected.decision_function(NEW), 1e-4)


def test_two_tables_of_examples_are_not_mixed_up() -> None:
    """Right examples are another table, as if features of the two tables had nothing in common."""
    other = rng.normal(size=(M, 3))
    pairs = pl.Pairs(X, PAIRS.left, PAIRS.right, right_examples=other)
    joined = pl.Pairs(
        np.kron(np.eye(2), np.ones((M, 3))) * np.tile(np.vstack([X, other]), 2), PAIRS.left, M + PAIRS.right
    )
    ours, expected = machine(base="linear").fit(pairs, Y), machine(base="linear").fit(joined, Y)
    assert ours.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    close(ours.decision_function(pairs), expected.decision_function(joined), 1e-3)


@pytest.mark.parametrize("method", ["decision_function", "predict"])
def test_not_fitted(method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(pl.PairSVC(), method)(NEW)
    with pytest.raises(NotFittedError):
        pl.PairSVC().score_block(X, X)


def test_rounding_ends_a_fit_whose_values_are_too_large() -> None:
    """Values of 10¹² and more that no machine can separate: the gap is what rounding of them can explain."""
    X, classes = pl.data.checker_board(8, 5, 25, seed=0)
    pairs = pl.all_pairs(5.0 * X)
    with pytest.warns(ConvergenceWarning, match="rounding.*scale the examples"):
        clf = pl.PairSVC("metric", "poly", random_state=0).fit(pairs, pairs.labels(classes))
    assert clf.fit_status_ == "rounding"
    k = (25.0 * X @ X.T) ** 2
    largest = np.max((k.diagonal()[:, None] + k.diagonal() - 2.0 * k) ** 2)
    assert 1e-3 < clf.kkt_gap_ <= 2.3e-16 * largest * np.abs(clf.dual_coef_).sum()


@pytest.mark.parametrize("memory", [None, 2.6e7])
@pytest.mark.parametrize("base", ["cosine", "linear", "rbf"])
def test_the_certificate_of_float32_examples_is_that_of_their_numbers(base: str, memory: float | None) -> None:
    """Kernels by definition, in float64 from the same numbers, at a C that makes seven digits too few."""
    generator = np.random.default_rng(3)
    single = generator.normal(size=(40, 3)).astype(np.float32)
    left, right = np.triu_indices(40, 1)
    labels = np.where(generator.random(len(left)) < 0.5, 1, -1)
    model = pl.PairSVC("tensor", base, C=31_116.0, memory_budget=memory, tol=1e-3, random_state=0)
    model.fit(pl.Pairs(single, left, right), labels)
    Z = single.astype(np.float64)
    Z = Z / np.linalg.norm(Z, axis=1)[:, None] if base == "cosine" else Z
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    k = np.exp(-distances / (3 * Z.var())) if base == "rbf" else Z @ Z.T
    theta = np.zeros(len(left))
    theta[model.support_] = model.dual_coef_
    straight, crossed = k[left][:, left] * k[right][:, right], k[left][:, right] * k[right][:, left]
    v = labels - 0.5 * (straight + crossed) @ theta
    lower, upper = np.minimum(0.0, 31_116.0 * labels), np.maximum(0.0, 31_116.0 * labels)
    up, low = v[theta < upper].max(), v[theta > lower].min()
    rounding = 100 * np.finfo(float).eps * np.abs(theta).sum()
    assert model.kkt_gap_ == pytest.approx(max(0.0, up - low), abs=max(rounding, 1e-9))
    scores = model.decision_function(pl.Pairs(single, left, right)) - model.intercept_
    np.testing.assert_allclose(scores, labels - v, atol=rounding)


@pytest.mark.parametrize(("C", "flat"), [(1e-9, True), (10.0, False)])
def test_values_that_hardly_differ_say_so(C: float, flat: bool) -> None:
    """With tiny boxes every value is 0 up to the tolerance, whatever the certificate says of the optimum."""
    machine = pl.PairSVC("tensor_metric", "rbf", C=C)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        machine.fit(PAIRS, Y)
    assert machine.fit_status_ == "converged"
    assert (np.ptp(machine.decision_function(PAIRS)) <= 2e-3) == flat
    assert [issubclass(one.category, ConstantWarning) for one in told] == [True] * flat
    assert all("hardly anything was learnt" in str(one.message) for one in told)


def test_labels_in_the_place_of_pairs_are_told_apart() -> None:
    machine = pl.PairSVC().fit(PAIRS, Y)
    with pytest.raises(InputError, match="pairs come first, then labels"):
        machine.score(Y, PAIRS)
