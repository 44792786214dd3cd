"""All pairs at once: thin matrices, and the interior point on them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.kernels import Gaussian, Kernel, Linear
from pairlearn.operators.build import build
from pairlearn.operators.thin import Columns, Thin
from pairlearn.solvers import ActiveSet, Auto, Interior, PlainSMO, Problem, Progress
from pairlearn.solvers.inner.interior import InteriorPoint
from pairlearn.solvers.inner.subproblem import Outcome

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 4))
LEFT = rng.integers(40, size=2500)
RIGHT = (LEFT + rng.integers(1, 40, size=2500)) % 40
SIGNED = rng.normal(size=(2500, 2))
PAIRS = pl.Pairs(X, LEFT, RIGHT, signed=SIGNED)
Y = X[LEFT, 0] - X[RIGHT, 0] + 0.5 * rng.normal(size=2500)

difference, direct_sum = pl.pair_kernel("difference"), pl.pair_kernel("direct_sum")
THIN = {
    "difference, gaussian": difference.on(Gaussian(0.2)),
    "difference, linear": difference.on(Linear()),
    "three times direct_sum": (3.0 * direct_sum).on(Gaussian(0.2)),
    "with signed features": difference.on(Gaussian(0.2)) + pl.pair_kernels.on_signed("linear"),
    "two bases": difference.on(Gaussian(0.2)) + difference.on(Linear()),
}


@pytest.mark.parametrize("name", THIN)
def test_thin_matrices_equal_the_kernel(name: str) -> None:
    operator = build(THIN[name], PAIRS).operator
    thin = operator.thin()
    assert thin is not None
    x, d = rng.normal(size=2500), rng.random(2500)
    K = operator.rows(np.arange(2500))
    np.testing.assert_allclose(thin @ x, K @ x, atol=1e-8 * np.abs(K @ x).max())
    G = thin.S @ thin.L if isinstance(thin, Thin) else thin.G
    np.testing.assert_allclose(G @ G.T, K, atol=1e-10 * np.abs(K).max())
    for weights in (d, np.where(d < 0.3, d, 0.0), np.zeros(2500)):
        np.testing.assert_allclose(thin.weighted(weights), (G.T * weights) @ G, atol=1e-9 * np.abs(G.T @ G).max())
    np.testing.assert_allclose(thin.spread(thin.gathered(x)), thin @ x)


@pytest.mark.parametrize("name", ["tensor", "metric", "tensor_metric", "wedge", "poly_direct_sum"])
def test_other_tables_have_no_thin_form(name: str) -> None:
    operator = build(pl.pair_kernel(name).on(Gaussian(0.2)), PAIRS).operator
    assert operator.thin() is None
    assert operator.thin_size() is None


@pytest.mark.parametrize(
    ("name", "width"),
    [("tensor", 10), ("metric", 10), ("tensor_metric", 20), ("wedge", 6), ("direct_metric", 14), ("difference", 4)],
)
def test_a_linear_base_in_few_dimensions_gives_pairs_few_features(name: str, width: int) -> None:
    operator = build(pl.pair_kernel(name).on(Linear()), PAIRS).operator
    thin = operator.thin()
    assert isinstance(thin, Columns)
    assert operator.thin_size() == (width, width) == (thin.rank, thin.G.shape[1])
    K = operator.rows(np.arange(2500))
    np.testing.assert_allclose(thin.G @ thin.G.T, K, atol=1e-10 * np.abs(K).max())


def test_few_features_of_many_examples_need_no_matrix_of_them() -> None:
    """Pairs that share no example: 4 numbers a pair, not a matrix of 5,000 examples."""
    many = np.random.default_rng(0).normal(size=(5000, 4))
    pairs = pl.Pairs(many, np.arange(2500), np.arange(2500, 5000))
    thin = build(difference.on(Linear()), pairs).operator.thin()
    assert isinstance(thin, Columns)
    assert thin.nbytes < 10**6


N = 800
"""Pairs of the problems that plain SMO solves too."""
T, ONES = Y[:N], np.ones(N)
PROBLEMS = {
    "preferences": Problem(np.sign(T), np.minimum(0, np.sign(T)), np.maximum(0, np.sign(T))),
    "regression": Problem(T, -ONES, ONES, epsilon=0.1),
    "regression with a bias": Problem(np.abs(T), -ONES, ONES, epsilon=0.1, total=0.0),
    "one class": Problem(np.zeros(N), np.zeros(N), ONES, total=80.0),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(
    ("kernel", "base"),
    [
        ("difference", Gaussian(0.2)),
        ("difference", Linear()),
        ("direct_sum", Gaussian(0.2)),
        ("tensor_metric", Linear()),
    ],
)
def test_all_pairs_at_once_reach_the_optimum_of_plain_smo(problem: str, kernel: str, base: Kernel) -> None:
    case, operator = PROBLEMS[problem], build(pl.pair_kernel(kernel).on(base), PAIRS[:N]).operator
    start = None
    if case.total:
        start = np.zeros(N)
        start[: int(case.total)] = 1.0
    ours = Interior(ActiveSet(tol=1e-4)).solve(case, operator, start)
    expected = PlainSMO(tol=1e-4, time_budget=20.0).solve(case, operator, start)
    assert (ours.path, ours.status) == ("interior point", "converged")
    assert ours.gap <= 1e-4
    assert ours.objective <= expected.objective + 1e-4 * abs(expected.objective) + 1e-6
    if case.total is not None:
        assert ours.coefficients.sum() == pytest.approx(case.total, abs=1e-7)


def test_a_path_that_fails_is_told_with_what_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = PROBLEMS["regression with a bias"]
    operator = build(pl.pair_kernel("direct_sum").on(Linear()), PAIRS[:N]).operator
    monkeypatch.setattr(InteriorPoint, "run", lambda self, sub, tol, clock: Outcome.STUCK)
    found = Interior(ActiveSet(tol=1e-4)).solve(case, operator)
    assert (found.path, found.status) == ("interior point, active set", "converged")


@pytest.mark.parametrize("kernel", ["difference", "tensor_metric"])
def test_every_stop_on_the_way_leaves_a_usable_model(kernel: str) -> None:
    """Stopped at any iteration of the interior point, the model is feasible, no worse than nothing, and symmetric."""
    objectives = []
    for stop in (1, 3, 6, 9, 12):

        def callback(progress: Progress, stop: int = stop) -> bool:
            return progress.iteration >= stop

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pairs = pl.Pairs(X, LEFT, RIGHT)
            model = pl.PairSVR(kernel, "linear", C=1.0, callback=callback).fit(
                pairs, Y if kernel == "difference" else abs(Y)
            )
        assert model.objective_ <= 0.0
        sign = -1.0 if kernel == "difference" else 1.0
        np.testing.assert_array_equal(model.predict(pairs.swapped()), sign * model.predict(pairs))
        objectives.append(model.objective_)
    assert objectives[-1] < objectives[0]


@pytest.mark.parametrize(
    ("kernel", "base", "expected"),
    [
        (difference, Gaussian(0.2), "interior point"),  # two entries per pair over 100 examples
        (pl.pair_kernel("tensor_metric"), Linear(), "interior point"),  # 20 features
        (pl.pair_kernel("tensor_metric"), Gaussian(0.2), "active set, splitting"),  # neither
    ],
)
def test_which_way_is_taken(kernel: Any, base: Kernel, expected: str) -> None:
    # Labels that nothing explains: most pairs end at their bounds.
    generator = np.random.default_rng(0)
    pairs = pl.all_pairs(generator.normal(size=(100, 4)), reflexive=False)
    y = np.where(generator.random(len(pairs)) < 0.5, 1.0, -1.0)
    operator, problem = build(kernel.on(base), pairs).operator, Problem(y, np.minimum(0, y), np.maximum(0, y))
    solution = Auto().solve(problem, operator)
    assert solution.status == "converged"
    assert solution.path == expected
