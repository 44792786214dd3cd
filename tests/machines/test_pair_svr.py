"""PairSVR against LIBSVM's regression and a generic quadratic programme on the explicit matrix."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVR

import pairlearn as pl
from pairlearn.errors import ConstantWarning, InputError, SymmetryError, SymmetryWarning
from pairlearn.kernels import Gaussian, Linear

FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "direct_sum": lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2,
    "tensor": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2,
    "metric": lambda ac, ad, bc, bd: (ac - ad - bc + bd) ** 2 / 4,
    "wedge_squared": lambda ac, ad, bc, bd: (ac * bd - ad * bc) ** 2 / 4,
    "tensor_metric": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2 + (ac - ad - bc + bd) ** 2 / 4,
    "difference": lambda ac, ad, bc, bd: (ac - ad - bc + bd) / 2,
    "wedge": lambda ac, ad, bc, bd: (ac * bd - ad * bc) / 2,
}
SYMMETRIC = [name for name in FORMULAS if name not in ("difference", "wedge")]
BASE = Gaussian(0.3)
rng = np.random.default_rng(0)
X = rng.normal(size=(10, 3))
PAIRS = pl.all_pairs(X, reflexive=False)[rng.permutation(45)[:36]]
N = len(PAIRS)
Y = np.abs(X[PAIRS.left] - X[PAIRS.right]).sum(axis=1) + 0.3 * rng.normal(size=N)
GAPS = X[PAIRS.left, 0] - X[PAIRS.right, 0] + 0.3 * rng.normal(size=N)
NEW = pl.all_pairs(rng.normal(size=(7, 3)))


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def explicit(name: str, rows: pl.Pairs, cols: pl.Pairs = PAIRS, base: Any = BASE) -> np.ndarray:
    K = base(rows.examples, cols.examples)
    return FORMULAS[name](*(K[np.ix_(row, col)] for row in (rows.left, rows.right) for col in (cols.left, cols.right)))


def regressor(**options: Any) -> pl.PairSVR:
    return pl.PairSVR(**{"base": BASE, "tol": 1e-6, **options})


def libsvm(ours: pl.PairSVR) -> SVR:
    """LIBSVM with the same C and ε, which it takes in the units of the targets."""
    return SVR(kernel="precomputed", C=ours.C_, epsilon=ours.epsilon_, tol=1e-6 * ours.scale_)


def close(found: Any, expected: Any, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(1e-12, float(np.abs(expected).max())))


def boxed(K: np.ndarray, y: np.ndarray, boxes: np.ndarray, epsilon: float) -> np.ndarray:
    """θ = α − α̂ of the regression without a bias, both ≥ 0, by a method for any bounded problem."""
    n = len(y)

    def objective(both: np.ndarray) -> tuple[float, np.ndarray]:
        theta = both[:n] - both[n:]
        slope = K @ theta - y
        value = 0.5 * theta @ K @ theta - y @ theta + epsilon * both.sum()
        return float(value), np.concatenate([slope + epsilon, epsilon - slope])

    both, upper = np.zeros(2 * n), np.tile(boxes, 2)
    for _ in range(100):  # restarted until it is done
        if np.abs(both - np.clip(both - objective(both)[1], 0.0, upper)).max() < 1e-6:
            return both[:n] - both[n:]
        both = minimize(
            objective,
            both,
            jac=True,
            method="L-BFGS-B",
            bounds=np.stack([np.zeros(2 * n), upper], axis=1),
            options={"maxiter": 2000, "ftol": 0.0, "gtol": 1e-9, "maxcor": 30},
        ).x
    raise AssertionError("the reference did not converge")


def objective(K: np.ndarray, y: np.ndarray, theta: np.ndarray, epsilon: float) -> float:
    return float(0.5 * theta @ K @ theta - y @ theta + epsilon * np.abs(theta).sum())


# --------------------------------------------------------------------------- symmetric: LIBSVM


@pytest.mark.parametrize(("C", "epsilon"), [(0.1, 0.1), (1.0, 0.0), (1.0, 0.5), (10.0, 0.1)])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_equals_libsvm_on_the_explicit_matrix(name: str, C: float, epsilon: float) -> None:
    ours = regressor(kernel=name, C=C, epsilon=epsilon).fit(PAIRS, Y)
    K = explicit(name, PAIRS)
    theirs = libsvm(ours).fit(K, Y)
    theta = np.zeros(N)
    theta[theirs.support_] = theirs.dual_coef_[0]
    assert ours.fit_status_ == "converged"
    assert ours.objective_ * ours.scale_**2 == pytest.approx(objective(K, Y, theta, ours.epsilon_), rel=1e-5)
    free = (np.abs(theta) > 1e-6 * ours.C_) & (np.abs(theta) < (1 - 1e-6) * ours.C_)
    gap = 0.0 if free.any() else float(theirs.intercept_[0]) - ours.intercept_  # b is then an interval
    close(ours.predict(NEW) + gap, theirs.predict(explicit(name, NEW)))
    close(ours.predict(PAIRS) + gap, theirs.predict(K))
    np.testing.assert_array_equal(ours.predict(NEW), ours.predict(NEW.swapped()))


def test_weights_equal_libsvm_and_repeated_pairs() -> None:
    weights = rng.integers(1, 4, N)  # LIBSVM loses track of precomputed columns where a weight is 0
    ours = regressor(kernel="tensor").fit(PAIRS, Y, sample_weight=weights)
    theirs = libsvm(ours).fit(explicit("tensor", PAIRS), Y, sample_weight=weights)
    close(ours.predict(NEW), theirs.predict(explicit("tensor", NEW)))
    again = np.repeat(np.arange(N), weights)
    close(regressor(kernel="tensor").fit(PAIRS[again], Y[again]).predict(NEW), ours.predict(NEW), 1e-4)


def test_constant_labels_are_the_bias() -> None:
    ours = regressor(kernel="tensor", epsilon=0.1).fit(PAIRS, np.full(N, 3.0))
    assert ours.n_support_ == 0
    np.testing.assert_allclose(ours.predict(NEW), 3.0, atol=0.1)


# --------------------------------------------------------------------------- antisymmetric: no bias


@pytest.mark.parametrize(("C", "epsilon"), [(0.1, 0.1), (1.0, 0.0), (10.0, 0.3)])
@pytest.mark.parametrize("name", ["difference", "wedge"])
def test_antisymmetric_regression_equals_a_programme_without_bias(name: str, C: float, epsilon: float) -> None:
    ours = regressor(kernel=name, C=C, epsilon=epsilon).fit(PAIRS, GAPS)
    K = explicit(name, PAIRS)
    theta = boxed(K, GAPS, np.full(N, ours.C_), ours.epsilon_)
    assert ours.intercept_ == 0.0
    assert ours.objective_ * ours.scale_**2 == pytest.approx(objective(K, GAPS, theta, ours.epsilon_), rel=1e-5)
    close(ours.predict(NEW), explicit(name, NEW) @ theta)
    np.testing.assert_array_equal(ours.predict(NEW.swapped()), -ours.predict(NEW))
    assert not ours.predict(NEW[NEW.reflexive]).any()


def test_weights_without_bias() -> None:
    weights = rng.random(N) + 0.1
    ours = regressor(kernel="wedge", C=2.0).fit(PAIRS, GAPS, sample_weight=weights)
    theta = boxed(explicit("wedge", PAIRS), GAPS, ours.C_ * weights, ours.epsilon_)
    close(ours.predict(NEW), explicit("wedge", NEW) @ theta)


def test_wide_tubes_need_no_support() -> None:
    ours = regressor(kernel="difference", epsilon=np.abs(GAPS).max() / np.sqrt(np.mean(GAPS**2)) + 0.1).fit(PAIRS, GAPS)
    assert ours.n_support_ == 0
    assert not ours.predict(NEW).any()


def test_utilities_are_found_from_their_differences() -> None:
    u = X @ np.array([1.0, -2.0, 0.5])
    ours = regressor(kernel="difference", base="linear", C=1e3, epsilon=1e-4).fit(PAIRS, u[PAIRS.left] - u[PAIRS.right])
    left, right = NEW.examples[NEW.left], NEW.examples[NEW.right]
    np.testing.assert_allclose(ours.predict(NEW), (left - right) @ np.array([1.0, -2.0, 0.5]), atol=2e-3)


def test_reflexive_pairs_with_label_zero_change_nothing() -> None:
    more = joined(PAIRS, [0, 4])
    one = regressor(kernel="wedge").fit(PAIRS, GAPS)
    two = regressor(kernel="wedge").fit(more, np.append(GAPS, [0.0, 0.0]))
    close(two.predict(NEW), one.predict(NEW), 1e-5)
    assert two.support_.max() < N


def joined(pairs: pl.Pairs, reflexive: list[int]) -> pl.Pairs:
    return pl.Pairs(X, np.append(pairs.left, reflexive), np.append(pairs.right, reflexive))


# --------------------------------------------------------------------------- laws


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["tensor_metric", "wedge"]), st.sampled_from([0.0, 0.1]))
def test_the_order_in_which_pairs_are_given_does_not_matter(seed: int, name: str, epsilon: float) -> None:
    flip = np.random.default_rng(seed).random(N) < 0.5
    turned = pl.Pairs(X, np.where(flip, PAIRS.right, PAIRS.left), np.where(flip, PAIRS.left, PAIRS.right))
    sign = -1 if name == "wedge" else 1
    one = regressor(kernel=name, epsilon=epsilon).fit(PAIRS, GAPS)
    two = regressor(kernel=name, epsilon=epsilon).fit(turned, np.where(flip, sign * GAPS, GAPS))
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
    close(two.predict(NEW), one.predict(NEW), 1e-4)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["tensor", "difference"]),
    st.floats(-3.0, 3.0),
    st.floats(-8.0, 8.0),
    st.sampled_from(["active_set", "smo"]),
)
def test_shifted_and_scaled_targets(seed: int, name: str, shift: float, decades: float, solver: str) -> None:
    """y → s(y + t): the function does the same (t only where there is a bias), with the same C and ε."""
    y, factor = np.random.default_rng(seed).normal(size=N), 10**decades
    shift = 0.0 if name == "difference" else shift
    one = regressor(kernel=name, C=0.5, epsilon=0.2, solver=solver).fit(PAIRS, y)
    two = regressor(kernel=name, C=0.5, epsilon=0.2, solver=solver).fit(PAIRS, factor * (y + shift))
    assert two.scale_ == pytest.approx(factor * one.scale_)
    assert (two.C_, two.epsilon_) == pytest.approx((factor * one.C_, factor * one.epsilon_))
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-5, abs=1e-8)
    a, b = one.predict(NEW) - one.intercept_, two.predict(NEW) - two.intercept_
    np.testing.assert_allclose(b, factor * a, rtol=0, atol=2e-4 * factor)
    if (~one.support_bounded_).any():
        assert two.intercept_ == pytest.approx(factor * (one.intercept_ + shift), abs=2e-4 * factor)


@pytest.mark.parametrize("factor", [1e-100, 1e-6, 1e100])
def test_the_unit_of_targets_does_not_matter_by_default(factor: float) -> None:
    one, two = pl.PairSVR(base=BASE).fit(PAIRS, Y), pl.PairSVR(base=BASE).fit(PAIRS, factor * Y)
    assert two.n_support_ == one.n_support_ > 0
    assert two.score(PAIRS, factor * Y) == pytest.approx(one.score(PAIRS, Y), abs=1e-3)


def test_weights_decide_what_the_spread_is() -> None:
    weights = np.where(np.arange(N) < 20, 2.0, 0.0)
    ours = regressor().fit(PAIRS, np.where(weights > 0, Y, 1e6), sample_weight=weights)
    assert ours.scale_ == pytest.approx(Y[:20].std())
    assert regressor(kernel="wedge").fit(PAIRS, GAPS).scale_ == pytest.approx(np.sqrt(np.mean(GAPS**2)))


@pytest.mark.parametrize("kernel", ["tensor", "difference"])
def test_equal_targets_are_their_own_spread(kernel: str) -> None:
    assert regressor(kernel=kernel).fit(PAIRS, np.full(N, 0.1)).scale_ == pytest.approx(0.1)
    assert regressor(kernel=kernel).fit(PAIRS, np.zeros(N)).scale_ == 1.0


def test_coefficients_sum_to_zero_on_singular_matrices() -> None:
    """45 pairs of 10 points in the plane: the Gram matrix has a rank of at most 6, and Σθ = 0 all the same."""
    sums = []
    for seed, name in product(range(40), ("tensor", "metric", "tensor_metric")):
        random = np.random.default_rng(seed)
        pairs = pl.all_pairs(random.normal(size=(10, 2)), reflexive=False)
        y = random.normal(size=45)
        model = pl.PairSVR(kernel=name, base="linear", C=2.0, epsilon=0.05).fit(pairs, y)
        sums.append(abs(model.dual_coef_.sum()))
    assert max(sums) < 1e-9


def test_errors_inside_the_tube_cost_nothing() -> None:
    ours = regressor(kernel="tensor_metric", C=5.0, epsilon=0.2).fit(PAIRS, Y)
    errors = np.abs(ours.predict(PAIRS) - Y)
    theta = np.zeros(N)
    theta[ours.support_] = ours.dual_coef_
    assert (theta[errors < ours.epsilon_ - 1e-5] == 0).all()
    np.testing.assert_allclose(np.abs(theta[errors > ours.epsilon_ + 1e-5]), ours.C_)
    assert (errors > ours.epsilon_ + 1e-5).any()
    assert (errors < ours.epsilon_ - 1e-5).any()


@pytest.mark.parametrize("name", ["tensor_metric", "wedge"])
def test_both_solvers_agree(name: str) -> None:
    y = Y if name == "tensor_metric" else GAPS
    one, two = (regressor(kernel=name, C=5.0, solver=solver).fit(PAIRS, y) for solver in ("active_set", "smo"))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-7)
    close(two.predict(NEW), one.predict(NEW), 1e-4)


def test_a_score_block_is_all_predictions() -> None:
    ours = regressor(kernel="wedge").fit(PAIRS, GAPS)
    A, B = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    a, b = np.divmod(np.arange(20), 5)
    expected = ours.predict(pl.Pairs(np.vstack([A, B]), a, 4 + b)).reshape(4, 5)
    np.testing.assert_allclose(ours.score_block(A, B), expected, atol=1e-12)


# --------------------------------------------------------------------------- refusals

BAD = Y.copy()
BAD[4] = np.nan
REFUSED: dict[str, tuple[dict[str, Any], Any, Any, type[Exception], str]] = {
    "nan": ({}, PAIRS, BAD, InputError, r"y contains NaN \(first in entry 4"),
    "infinity": ({}, PAIRS, np.where(np.arange(N) == 2, np.inf, Y), InputError, "y contains infinity"),
    "few": ({}, PAIRS, Y[1:], InputError, r"one number per pair, 36, got shape \(35,\)"),
    "nested": ({}, PAIRS, Y[:, None], InputError, r"one number per pair, 36, got shape \(36, 1\)"),
    "text": ({}, PAIRS, Y.astype(str), InputError, r"y must hold numbers, got <U"),
    "reflexive": (
        {"kernel": "difference"},
        joined(PAIRS, [3]),
        np.append(GAPS, 0.5),
        InputError,
        r"g\(a, a\) = 0, so the label of a reflexive pair must be 0",
    ),
    "epsilon": ({"epsilon": -0.1}, PAIRS, Y, InputError, "epsilon must be a finite number ≥ 0, got -0.1"),
    "epsilon nan": ({"epsilon": np.nan}, PAIRS, Y, InputError, "epsilon must be a finite number ≥ 0"),
    "epsilon text": ({"epsilon": "0"}, PAIRS, Y, InputError, "epsilon must be a finite number ≥ 0"),
    "C": ({"C": -1.0}, PAIRS, Y, InputError, "C must be a finite number > 0"),
    "mirrored": ({"kernel": "poly_tensor", "mirrored": True}, PAIRS, Y, SymmetryError, 'mirrored="symmetric" or'),
    "mirrored other": ({"mirrored": "both"}, PAIRS, Y, InputError, "\"antisymmetric\", got 'both'"),
    "mirrored zero": (
        {"kernel": "tensor", "mirrored": "antisymmetric"},
        PAIRS,
        GAPS,
        SymmetryError,
        "antisymmetric question, but this pair kernel is symmetric",
    ),
    "mirrored zero too": (
        {"kernel": "wedge", "mirrored": "symmetric"},
        PAIRS,
        Y,
        SymmetryError,
        "symmetric question, but this pair kernel is antisymmetric",
    ),
    "two tables": (
        {"kernel": "difference"},
        pl.Pairs(X, [0, 1], [1, 0], right_examples=X),
        [0.1, 0.2],
        SymmetryError,
        "PairSVR on two tables needs a symmetric kernel",
    ),
}


@pytest.mark.parametrize(("options", "pairs", "y", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_fits_are_refused_and_leave_the_model_alone(
    options: dict[str, Any], pairs: Any, y: Any, kind: type[Exception], message: str
) -> None:
    ours = regressor().fit(PAIRS, Y)
    state = dict(vars(ours))
    ours.set_params(**options)
    with pytest.raises(kind, match=message):
        ours.fit(pairs, y)
    ours.set_params(**{name: state[name] for name in options})
    assert vars(ours) == state


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"one weight per pair, 36, got \(3,\)"),
        (-np.ones(N), "finite and ≥ 0"),
        (np.zeros(N), "all weights of pairs are zero"),
    ],
)
def test_bad_weights_are_refused(weights: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        regressor().fit(PAIRS, Y, sample_weight=weights)


def test_kernels_without_symmetry_warn() -> None:
    with pytest.warns(SymmetryWarning, match=r"kernel\.balanced\(\)"):
        regressor(kernel="poly_tensor").fit(PAIRS, Y)


# --------------------------------------------------------------------------- scikit-learn


def test_parameters_clone_and_pickle() -> None:
    ours = regressor(kernel="wedge", C=3.0, epsilon=0.2, random_state=4, mirrored="antisymmetric")
    assert clone(ours).get_params() == ours.get_params()
    assert clone(ours).set_params(epsilon=0.5).epsilon == 0.5
    positional = pl.PairSVR("wedge", "rbf", 2.0, 0.3, 1e-4, 9.0, 1e9, 7)
    assert (positional.epsilon, positional.tol, positional.random_state) == (0.3, 1e-4, 7)
    assert repr(pl.PairSVR(epsilon=0.2)) == "PairSVR(epsilon=0.2)"
    ours = regressor(kernel="wedge").fit(PAIRS, GAPS)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(NEW), ours.predict(NEW))


@pytest.mark.parametrize("name", ["tensor_metric", "difference"])
def test_cross_validation_scores_by_explained_variance(name: str) -> None:
    y = GAPS if name == "difference" else Y
    folds = KFold(3, shuffle=True, random_state=0)
    found = cross_val_score(regressor(kernel=name), PAIRS, y, cv=folds)
    expected = [
        r2_score(y[test], regressor(kernel=name).fit(PAIRS[train], y[train]).predict(PAIRS[test]))
        for train, test in folds.split(np.zeros(N))
    ]
    np.testing.assert_allclose(found, expected)
    assert np.mean(found) > 0.2


@pytest.mark.parametrize("name", ["tensor_metric", "wedge"])
def test_warm_starts_reach_the_same_solution(name: str) -> None:
    y = GAPS if name == "wedge" else Y
    warm = regressor(kernel=name, warm_start=True).fit(PAIRS[:20], y[:20])
    for C in (1.0, 0.2, 10.0):
        warm.set_params(C=C).fit(PAIRS, y)
        cold = regressor(kernel=name, C=C).fit(PAIRS, y)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-7)
        close(warm.predict(NEW), cold.predict(NEW), 1e-4)
    warm.fit(PAIRS, y)
    assert warm.n_iter_ <= 2


def test_without_time_the_model_is_usable() -> None:
    # More pairs than are solved at once, and labels that nothing explains.
    rng = np.random.default_rng(0)
    pairs = pl.all_pairs(rng.normal(size=(90, 3)), reflexive=False)
    with pytest.warns(ConvergenceWarning, match="stopped by time budget"):
        ours = regressor(time_budget=0).fit(pairs, rng.normal(size=len(pairs)))
    assert np.isfinite(ours.predict(NEW)).all()
    assert ours.kkt_gap_ > 1e-3
    assert ours.objective_ < 0.0  # that of nothing is 0, and one step is always taken; the gap may rise with it


def test_arrays_and_linear_bases() -> None:
    one = regressor(base="linear", kernel="metric").fit(np.asarray(PAIRS), Y)
    K = explicit("metric", PAIRS, base=Linear())
    theirs = libsvm(one).fit(K, Y)
    close(one.predict(np.asarray(NEW)), theirs.predict(explicit("metric", NEW, base=Linear())))


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1.0, 1e200])
def test_the_score_does_not_depend_on_the_unit(unit: float) -> None:
    """Squares of such numbers are 0 or infinite; R² is a ratio."""
    ours = regressor().fit(PAIRS, unit * Y)
    assert ours.score(PAIRS, unit * Y) == pytest.approx(r2_score(Y, regressor().fit(PAIRS, Y).predict(PAIRS)), rel=1e-9)


def test_a_constant_says_so() -> None:
    """Deviations below ε cost nothing, and no pair supports anything."""
    with pytest.warns(ConstantWarning, match="0 support pairs, and every pair is given"):
        ours = regressor(epsilon=10.0).fit(PAIRS, Y)
    assert (ours.n_support_, ours.fit_status_) == (0, "converged")
    assert np.ptp(ours.predict(NEW)) == 0


def test_the_end_of_a_fit_is_told() -> None:
    """In words and seconds; one that takes far more than its time says why."""
    ours = regressor().fit(PAIRS, Y)
    assert ours.fit_verdict_ == "converged"
    assert 0 < ours.fit_seconds_ < 60

    def wait(step: Any) -> bool:
        time.sleep(2.5)
        return False

    with pytest.warns(ConvergenceWarning, match=r"after [\d.]+ s instead of 0: one pass over all pairs takes"):
        ours = regressor(time_budget=0, callback=wait).fit(PAIRS, Y)
    assert ours.fit_verdict_.startswith("stopped by time budget at KKT gap")
    assert ours.fit_seconds_ > 2.5
