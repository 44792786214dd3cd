"""Line search between two kernels against a fine grid and against scikit-learn's SVC."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from pairlearn.errors import InputError
from pairlearn.kernels import Gaussian, Linear
from pairlearn.similarities.two_kernels import (
    ByObjective,
    ByValidation,
    TwoKernelSVC,
    golden_sections,
    mix,
    svm_objective,
)

X, Y = load_iris(return_X_y=True)
X, Y = X[:, :2], Y
K1, K2 = Gaussian(20.0)(X, X), Gaussian(0.05)(X, X)


@parametrize_with_checks(
    [TwoKernelSVC(line_search=ByValidation(steps=2, n_folds=2)), TwoKernelSVC(line_search=ByObjective(0.5))]
)
def test_scikit_learn_accepts_the_machine(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_objective_equals_a_general_solver() -> None:
    rows = np.concatenate([np.arange(50, 62), np.arange(100, 112)])
    K, y = K1[np.ix_(rows, rows)], Y[rows]
    signs = np.where(y == 1, -1.0, 1.0)
    Q = signs[:, None] * K * signs
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.full(24, 0.1),
        jac=lambda a: Q @ a - 1.0,
        bounds=[(0.0, 2.0)] * 24,
        constraints=[LinearConstraint(signs[None, :], 0.0, 0.0)],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert svm_objective(K, y, 2.0) == pytest.approx(-found.fun, rel=1e-5)


def test_golden_sections_find_the_least_objective() -> None:
    path = ByObjective(tol=1e-3)(K1, K2, Y, 1.0)
    grid = [svm_objective(mix(K1, K2, weight), Y, 1.0) for weight in np.linspace(0, 1, 41)]
    assert path[-1].value <= min(grid) + 1e-4 * abs(min(grid))
    assert path[-1].value == min(one.value for one in path)
    second = np.diff(grid, 2)
    assert (second > -1e-3 * np.abs(grid[1:-1])).all(), "the objective is convex in the weight"


@pytest.mark.parametrize("centre", [0.0, 0.3, 0.77, 1.0])
def test_golden_sections_close_in_on_a_known_minimum(centre: float) -> None:
    seen: list[float] = []

    def parabola(weight: float) -> float:
        seen.append(weight)
        return (weight - centre) ** 2

    golden_sections(parabola, 1e-4)
    assert min(abs(weight - centre) for weight in seen) < 1e-4
    assert len(seen) < 25


def test_validation_equals_cross_validation_of_scikit_learn() -> None:
    path = ByValidation(steps=4, n_folds=5, seed=2)(K1, K2, Y, 1.0)
    folds = StratifiedKFold(5, shuffle=True, random_state=2)
    for one in path:
        scores = cross_val_score(SVC(kernel="precomputed"), mix(K1, K2, one.weight), Y, cv=folds)
        assert one.value == pytest.approx(scores.mean())
    assert sorted(one.weight for one in path) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert path[-1].value == max(one.value for one in path)


@pytest.mark.parametrize("search", [ByValidation(steps=4), ByObjective(0.05), None])
def test_the_machine_is_an_svc_on_the_mixed_kernel(search: Any) -> None:
    names = np.array(["a", "b", "c"])[Y]
    model = TwoKernelSVC(Gaussian(20.0), Linear(), C=2.0, line_search=search).fit(X, names)
    K = mix(K1, X @ X.T, model.weight_)
    expected = SVC(kernel="precomputed", C=2.0).fit(K, names)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(K), atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), expected.predict(K))


def test_two_kernels_that_know_half_each_are_both_used() -> None:
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 60)
    table = rng.normal(size=(120, 2)) + np.where(kinds == 1, 1.2, 0.0)[:, None]
    model = TwoKernelSVC(
        lambda A, B: np.exp(-((A[:, :1] - B[:, :1].T) ** 2)), lambda A, B: np.exp(-((A[:, 1:] - B[:, 1:].T) ** 2))
    )
    model.set_params(line_search=ByObjective(0.01)).fit(table, kinds)
    assert 0.2 < model.weight_ < 0.8


def test_input_that_cannot_work_is_refused() -> None:
    with pytest.raises(InputError, match="C must be > 0"):
        TwoKernelSVC(C=0.0).fit(X, Y)
    with pytest.raises(InputError, match="one class"):
        TwoKernelSVC().fit(X, np.zeros(150))
    with pytest.raises(InputError, match="features"):
        TwoKernelSVC().fit(X, Y).predict(X[:, :1])
