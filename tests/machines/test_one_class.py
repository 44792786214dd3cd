"""One-class machines against LIBSVM and a generic programme for the sphere, and the meaning of nu."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import OneClassSVM

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError
from pairlearn.kernels import Gaussian, Linear

FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "direct_sum": lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2,
    "tensor": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2,
    "metric": lambda ac, ad, bc, bd: (ac - ad - bc + bd) ** 2 / 4,
    "wedge_squared": lambda ac, ad, bc, bd: (ac * bd - ad * bc) ** 2 / 4,
    "tensor_metric": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2 + (ac - ad - bc + bd) ** 2 / 4,
}
BASE = Gaussian(0.3)
rng = np.random.default_rng(0)
X = rng.normal(size=(14, 3))
PAIRS = pl.all_pairs(X, reflexive=False)[rng.permutation(91)[:40]]
N = len(PAIRS)
NEW = pl.all_pairs(1.5 * rng.normal(size=(8, 3)))
MACHINES = {"svm": pl.OneClassPairSVM, "sphere": pl.OneClassPairSphere}
every_machine = pytest.mark.parametrize("kind", MACHINES.values(), ids=MACHINES)
every_kernel = pytest.mark.parametrize("name", FORMULAS)


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


def close(found: Any, expected: Any, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(1e-12, float(np.abs(expected).max())))


def fitted(kind: Any, pairs: pl.Pairs = PAIRS, weights: Any = None, **options: Any) -> Any:
    return kind(**{"base": BASE, "tol": 1e-7, **options}).fit(pairs, sample_weight=weights)


# --------------------------------------------------------------------------- the hyperplane: LIBSVM


@pytest.mark.parametrize("nu", [0.05, 0.31, 0.77])
@every_kernel
def test_equals_libsvm_on_the_explicit_matrix(name: str, nu: float) -> None:
    ours = fitted(pl.OneClassPairSVM, kernel=name, nu=nu)
    K = explicit(name, PAIRS)
    theirs = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-7).fit(K)
    theta = np.zeros(N)
    theta[theirs.support_] = theirs.dual_coef_[0]
    assert ours.fit_status_ == "converged"
    assert ours.objective_ == pytest.approx(0.5 * theta @ K @ theta, rel=1e-5)
    assert ours.dual_coef_.sum() == pytest.approx(nu * N)
    scale = float(np.abs(K @ theta).max())
    atol = {"rtol": 0, "atol": 1e-3 * scale}
    np.testing.assert_allclose(ours.decision_function(NEW), theirs.decision_function(explicit(name, NEW)), **atol)
    np.testing.assert_allclose(ours.decision_function(PAIRS), theirs.decision_function(K), **atol)
    np.testing.assert_allclose(ours.score_samples(NEW), theirs.score_samples(explicit(name, NEW)), **atol)
    np.testing.assert_array_equal(ours.decision_function(NEW), ours.decision_function(NEW.swapped()))


def test_all_pairs_at_their_bound() -> None:
    """nu = 1: θ is fixed, and the plane passes through the lowest pair."""
    ours = fitted(pl.OneClassPairSVM, kernel="tensor", nu=1.0)
    K = explicit("tensor", PAIRS)
    np.testing.assert_allclose(ours.dual_coef_, 1.0)
    assert -ours.intercept_ == pytest.approx(K.sum(axis=1).max())
    close(ours.score_samples(NEW), explicit("tensor", NEW).sum(axis=1), 1e-9)


def test_weights_equal_repeated_pairs() -> None:
    weights = rng.integers(0, 4, N)
    again = np.repeat(np.arange(N), weights)
    for kind in MACHINES.values():
        one = fitted(kind, weights=weights, kernel="tensor", nu=0.3)
        two = fitted(kind, PAIRS[again], kernel="tensor", nu=0.3)
        close(two.decision_function(NEW), one.decision_function(NEW), 1e-4)


@pytest.mark.parametrize("solver", ["active_set", "smo"])
def test_solvers_agree_with_the_optimality_conditions(solver: str) -> None:
    ours = fitted(pl.OneClassPairSVM, kernel="tensor_metric", nu=0.4, solver=solver)
    theta = np.zeros(N)
    theta[ours.support_] = ours.dual_coef_
    g = explicit("tensor_metric", PAIRS) @ theta + ours.intercept_
    assert (g[theta == 0.0] >= -1e-6).all()
    assert (g[theta == 1.0] <= 1e-6).all()
    np.testing.assert_allclose(g[(theta > 0) & (theta < 1)], 0.0, atol=1e-6)
    assert theta.sum() == pytest.approx(0.4 * N)


# --------------------------------------------------------------------------- the sphere


def smallest_sphere(K: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, float]:
    """(α, R²) of min αᵀKα − Σ α K(i, i), Σα = 1, 0 ≤ α ≤ upper, by sequential quadratic programming."""
    own = np.diagonal(K)
    found = minimize(
        lambda a: a @ K @ a - own @ a,
        np.full(len(K), 1.0 / len(K)),
        jac=lambda a: 2 * K @ a - own,
        method="SLSQP",
        bounds=[(0.0, top) for top in upper],
        constraints=[{"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": np.ones_like}],
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    alpha = found.x
    distances = own - 2 * K @ alpha + alpha @ K @ alpha
    free = (alpha > 1e-5 * upper) & (alpha < (1 - 1e-5) * upper)
    return alpha, float(distances[free].mean())


@pytest.mark.parametrize("nu", [0.06, 0.33])
@pytest.mark.parametrize("base", [BASE, Linear()], ids=["rbf", "linear"])
@every_kernel
def test_the_sphere_equals_a_generic_programme(name: str, base: Any, nu: float) -> None:
    pairs = PAIRS[:20]
    ours = fitted(pl.OneClassPairSphere, pairs, kernel=name, base=base, nu=nu)
    K = explicit(name, pairs, pairs, base)
    alpha, square = smallest_sphere(K, np.full(20, 1.0 / (20 * nu)))
    found = np.zeros(20)
    found[ours.support_] = ours.dual_coef_ / ours.dual_coef_.sum()
    own = np.diagonal(K)
    assert found @ K @ found - own @ found == pytest.approx(alpha @ K @ alpha - own @ alpha, rel=1e-5, abs=1e-9)
    across = explicit(name, NEW, pairs, base)
    distances = np.diagonal(explicit(name, NEW, NEW, base)) - 2 * across @ alpha + alpha @ K @ alpha
    scale = float(distances.max())
    assert ours.radius_**2 == pytest.approx(square, abs=2e-4 * scale)
    np.testing.assert_allclose(ours.decision_function(NEW), square - distances, atol=1e-3 * scale)
    np.testing.assert_allclose(-ours.score_samples(NEW), distances, atol=1e-3 * scale)


def test_distances_are_those_of_explicit_features() -> None:
    """direct_sum with a linear base: φ(a, b) = (a + b)/√2, so the sphere lives among sums of examples."""
    ours = fitted(pl.OneClassPairSphere, kernel="direct_sum", base="linear", nu=0.2)
    points, new = ((p.examples[p.left] + p.examples[p.right]) / np.sqrt(2) for p in (PAIRS, NEW))
    centre = ours.dual_coef_ @ points[ours.support_] / ours.dual_coef_.sum()
    distances = ((new - centre) ** 2).sum(axis=1)
    np.testing.assert_allclose(ours.decision_function(NEW), ours.radius_**2 - distances, atol=1e-9)
    inside = ((points - centre) ** 2).sum(axis=1) <= ours.radius_**2 * (1 + 1e-9)
    assert (~inside).mean() <= 0.2
    assert ours.radius_ > 0


def test_two_points_have_their_midpoint_as_centre() -> None:
    examples = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
    ours = fitted(pl.OneClassPairSphere, pl.Pairs(examples, [0, 1], [0, 1]), kernel="direct_sum", base="linear", nu=0.5)
    # φ = √2 a: (0, 0) and (4√2, 0); the centre is (2√2, 0) and R = 2√2.
    assert ours.radius_ == pytest.approx(2 * np.sqrt(2))
    assert ours.decision_function(pl.Pairs(examples, [2], [2]))[0] == pytest.approx(8 - 16)
    assert ours.decision_function(pl.Pairs(examples, [0], [1]))[0] == pytest.approx(8.0)


def test_the_sphere_is_the_plane_where_all_pairs_have_one_length() -> None:
    """K(p, p) constant: both machines have the same support pairs and put all pairs in the same order."""
    kernel = pl.pair_kernels.gaussian("tensor", 1.0)
    plane, sphere = (fitted(kind, kernel=kernel, nu=0.3) for kind in MACHINES.values())
    one, two = plane.decision_function(NEW), sphere.decision_function(NEW)
    np.testing.assert_array_equal(np.argsort(one.round(7), kind="stable"), np.argsort(two.round(7), kind="stable"))
    np.testing.assert_allclose(two, 2 * one / (0.3 * N), atol=1e-5)
    np.testing.assert_array_equal(plane.predict(PAIRS), sphere.predict(PAIRS))


def test_the_sphere_differs_where_lengths_do() -> None:
    plane, sphere = (fitted(kind, kernel="tensor_metric", base="linear", nu=0.3) for kind in MACHINES.values())
    one, two = plane.decision_function(NEW), sphere.decision_function(NEW)
    assert (np.argsort(one) != np.argsort(two)).any()


# --------------------------------------------------------------------------- nu


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.02, 1.0), st.sampled_from(list(FORMULAS)), st.sampled_from(list(MACHINES)))
def test_nu_bounds_outliers_and_support(seed: int, nu: float, name: str, kind: str) -> None:
    random = np.random.default_rng(seed)
    pairs = pl.all_pairs(random.normal(size=(8, 2)))
    model = fitted(MACHINES[kind], pairs, kernel=name, nu=nu)
    outside = (model.predict(pairs) < 0).mean()
    assert outside <= nu + 1e-12
    assert model.n_support_ / len(pairs) >= nu - 1e-12


@every_machine
def test_outliers_in_training_are_those_at_the_bound(kind: Any) -> None:
    model = fitted(kind, kernel="tensor", nu=0.3)
    theta = np.zeros(N)
    theta[model.support_] = model.dual_coef_
    values = model.decision_function(PAIRS)
    assert (theta[values < -1e-6] == 1.0).all()
    assert (values[theta == 0.0] >= -1e-6).all()
    assert 0 < (model.predict(PAIRS) < 0).sum() <= 0.3 * N
    np.testing.assert_array_equal(model.fit_predict(PAIRS), model.predict(PAIRS))


# --------------------------------------------------------------------------- refusals

REFUSED: dict[str, tuple[dict[str, Any], Any, Any, type[Exception], str]] = {
    "nu zero": ({"nu": 0.0}, PAIRS, None, InputError, r"nu must be in \(0, 1\], got 0.0; try nu=0.1"),
    "nu large": ({"nu": 1.5}, PAIRS, None, InputError, r"nu must be in \(0, 1\]"),
    "nu nan": ({"nu": np.nan}, PAIRS, None, InputError, r"nu must be in \(0, 1\]"),
    "negative pairs": ({}, PAIRS, np.tile([1, -1], N // 2), InputError, r"positive pairs alone: y is None or \+1"),
    "text": ({}, PAIRS, np.full(N, "same"), InputError, r"positive pairs alone: y is None or \+1"),
    "few labels": ({}, PAIRS, np.ones(N - 1), InputError, r"positive pairs alone: y is None or \+1"),
    "antisymmetric": ({"kernel": "wedge"}, PAIRS, None, SymmetryError, "symmetric question, but .* is antisymmetric"),
    "tol": ({"tol": 0.0}, PAIRS, None, InputError, "tol must be a finite number > 0"),
    "no pairs": ({}, X, None, InputError, r"\(n_pairs, 2, n_features\), got \(14, 3\)"),
}


@pytest.mark.parametrize(("options", "pairs", "y", "error", "message"), REFUSED.values(), ids=REFUSED)
@every_machine
def test_bad_fits_are_refused_and_leave_the_model_alone(
    kind: Any, options: dict[str, Any], pairs: Any, y: Any, error: type[Exception], message: str
) -> None:
    ours = kind().fit(PAIRS)
    state = dict(vars(ours))
    ours.set_params(**options)
    with pytest.raises(error, match=message):
        ours.fit(pairs, y)
    ours.set_params(**{name: state[name] for name in options})
    assert vars(ours) == state


@every_machine
def test_labels_may_all_be_positive(kind: Any) -> None:
    one, two = kind(base=BASE).fit(PAIRS, np.ones(N)), kind(base=BASE).fit(PAIRS)
    np.testing.assert_array_equal(one.decision_function(NEW), two.decision_function(NEW))


def test_a_sphere_scores_pairs_only() -> None:
    with pytest.raises(InputError, match="scores pairs one by one; build"):
        fitted(pl.OneClassPairSphere).score_block(X, X)
    plane = fitted(pl.OneClassPairSVM)
    every = pl.Pairs(X, *np.divmod(np.arange(14 * 14), 14))
    np.testing.assert_allclose(plane.score_block(X, X).ravel(), plane.decision_function(every), atol=1e-12)


@pytest.mark.parametrize("base", ["precomputed", ("precomputed", "rbf")])
def test_a_sphere_on_a_precomputed_base_is_refused_at_once(base: Any) -> None:
    K = BASE(X, X)
    right = None if base == "precomputed" else X
    with pytest.raises(InputError, match=r"a sphere needs k\(a, b\) between new examples"):
        fitted(pl.OneClassPairSphere, pl.Pairs(K, PAIRS.left, PAIRS.right, right_examples=right), base=base)
    plane = fitted(pl.OneClassPairSVM, pl.Pairs(K, PAIRS.left, PAIRS.right), base="precomputed")
    new = pl.Pairs(BASE(NEW.examples, X), NEW.left, NEW.right)
    close(plane.decision_function(new), fitted(pl.OneClassPairSVM).decision_function(NEW), 1e-5)


# --------------------------------------------------------------------------- scikit-learn


@every_machine
def test_parameters_clone_and_pickle(kind: Any) -> None:
    ours = kind(kernel="tensor", base=BASE, nu=0.3, random_state=4)
    assert clone(ours).get_params() == ours.get_params()
    assert clone(ours).set_params(nu=0.5).nu == 0.5
    assert kind("tensor", "rbf", 0.2, 1e-4, 9.0, 1e9, 7).get_params()["random_state"] == 7
    assert repr(kind(nu=0.3)) == f"{kind.__name__}(nu=0.3)"
    again = pickle.loads(pickle.dumps(ours.fit(PAIRS)))
    np.testing.assert_array_equal(again.decision_function(NEW), ours.decision_function(NEW))
    np.testing.assert_array_equal(again.predict(NEW), ours.predict(NEW))


@every_machine
def test_cross_validation_takes_a_scorer(kind: Any) -> None:
    def inside(model: Any, pairs: pl.Pairs, y: Any = None) -> float:
        return float((model.predict(pairs) > 0).mean())

    folds = KFold(4, shuffle=True, random_state=0)
    model = kind(kernel="tensor", base=BASE, nu=0.2)
    found = cross_val_score(model, PAIRS, scoring=inside, cv=folds)
    splits = folds.split(np.zeros(N))
    expected = [inside(clone(model).fit(PAIRS[train]), PAIRS[test]) for train, test in splits]
    np.testing.assert_allclose(found, expected)


@every_machine
def test_warm_starts_reach_the_same_solution(kind: Any) -> None:
    warm = kind(kernel="tensor_metric", base=BASE, tol=1e-7, warm_start=True).fit(PAIRS[:25])
    for nu in (0.1, 0.5, 0.25):
        warm.set_params(nu=nu).fit(PAIRS)
        cold = fitted(kind, kernel="tensor_metric", nu=nu)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
        close(warm.decision_function(NEW), cold.decision_function(NEW), 1e-4)
    warm.fit(PAIRS)
    assert warm.n_iter_ <= 2


@every_machine
def test_without_time_the_model_is_usable(kind: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="stopped by time budget"):
        ours = kind(base=BASE, time_budget=0).fit(PAIRS)
    assert ours.dual_coef_.sum() == pytest.approx(0.1 * N)  # the start is feasible
    assert np.isfinite(ours.decision_function(NEW)).all()
