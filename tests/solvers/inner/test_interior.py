"""The interior point against LIBSVM, SciPy and the optimality conditions, recomputed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import SVR

from pairlearn.operators.dense import DenseOperator
from pairlearn.solvers import ActiveSet, Problem
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.interior import InteriorPoint
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem

ranks = pytest.mark.parametrize("rank", [3, 40])
both_totals = pytest.mark.parametrize("constrained", [False, True])


@dataclass(frozen=True)
class Case:
    """min ½xᵀQx − pᵀx + ε‖x‖₁ over l ≤ x ≤ u, with Σx = Σ start when constrained."""

    Q: np.ndarray
    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float
    constrained: bool
    start: np.ndarray


@dataclass(frozen=True)
class End:
    solved: bool
    x: np.ndarray
    v: np.ndarray


def regression(
    seed: int = 0, *, n: int = 40, rank: int = 3, C: float = 1.0, epsilon: float = 0.1, constrained: bool = True
) -> Case:
    """Noisy values of a linear function of `rank` features, from zero."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) / np.sqrt(rank)
    p = A @ rng.normal(size=rank) + 0.5 * rng.normal(size=n)
    return Case(A @ A.T, p, np.full(n, -C), np.full(n, C), epsilon, constrained, np.zeros(n))


def uneven(case: Case, seed: int) -> Case:
    """The same with a box of its own for each coefficient, some one-sided or of no width, and a start inside."""
    rng, n = np.random.default_rng(seed), len(case.p)
    lower = case.lower * rng.uniform(0.1, 1.0, n) * (rng.random(n) < 0.6)
    upper = case.upper * rng.uniform(0.1, 1.0, n) * (rng.random(n) < 0.6)
    return replace(case, lower=lower, upper=upper, start=lower + rng.random(n) * (upper - lower))


def run(case: Case, tol: float, *, low_rank: bool = False, budget: float | None = None) -> End:
    x = case.start.copy()
    v = case.p - case.Q @ x
    Q = Explicit(case.Q, np.arange(len(x)), np.random.default_rng(0) if low_rank else None)
    assert (Q.low_rank is not None) == low_rank
    sub = Subproblem(Q, x, v, Box(case.lower, case.upper, case.epsilon), case.constrained)
    outcome = InteriorPoint().run(sub, tol, Clock.start(budget))
    assert outcome is not Outcome.OUT_OF_TIME or budget is not None
    return End(outcome is Outcome.SOLVED, x, v)


def objective(case: Case, x: np.ndarray) -> float:
    return float(0.5 * x @ case.Q @ x - case.p @ x + case.epsilon * np.abs(x).sum())


def slopes(case: Case, x: np.ndarray) -> tuple[float, float]:
    """(best gain per unit of raising a coefficient, least loss of lowering one), from one-sided derivatives."""
    r = case.p - case.Q @ x
    up = [v - case.epsilon * (1 if t >= 0 else -1) for t, v, high in zip(x, r, case.upper, strict=True) if t < high]
    low = [v - case.epsilon * (1 if t > 0 else -1) for t, v, least in zip(x, r, case.lower, strict=True) if t > least]
    return max(up, default=-np.inf), min(low, default=np.inf)


def violation(case: Case, x: np.ndarray) -> float:
    up, low = slopes(case, x)
    return max(0.0, up - low) if case.constrained else max(0.0, up, -low)


def check(case: Case, outcome: End, tol: float) -> None:
    x = outcome.x
    assert outcome.solved
    assert (x >= case.lower).all()
    assert (x <= case.upper).all()
    if case.constrained:
        assert x.sum() == pytest.approx(case.start.sum(), abs=1e-11 * (1 + np.abs(x).sum()))
    np.testing.assert_allclose(outcome.v, case.p - case.Q @ x, atol=1e-12 * (1 + np.abs(x).sum()))
    assert violation(case, x) <= tol * (1 + 1e-6) + 1e-12


def by_scipy(case: Case) -> float:
    """The optimal value by SLSQP on x = s − t with s, t ≥ 0, where ε‖x‖₁ is linear."""
    n, row = len(case.p), np.repeat([1.0, -1.0], len(case.p))

    def value(z: np.ndarray) -> tuple[float, np.ndarray]:
        x = z[:n] - z[n:]
        g = case.Q @ x - case.p
        return 0.5 * x @ (g - case.p) + case.epsilon * z.sum(), np.concatenate([g, -g]) + case.epsilon

    bounds = [(0.0, u) for u in case.upper] + [(0.0, -low) for low in case.lower]
    kept = {"type": "eq", "fun": lambda z: row @ z - case.start.sum(), "jac": lambda z: row}
    start = np.maximum(np.concatenate([case.start, -case.start]), 0.0)
    constraints, options = [kept] if case.constrained else [], {"maxiter": 1000, "ftol": 1e-13}
    result = minimize(value, start, jac=True, bounds=bounds, constraints=constraints, method="SLSQP", options=options)
    return float(result.fun)


def by_libsvm(case: Case, C: float) -> np.ndarray:
    """The solution with Σx = 0 and −C ≤ x ≤ C."""
    machine = SVR(kernel="precomputed", C=C, epsilon=case.epsilon, tol=1e-8).fit(case.Q, case.p)
    x = np.zeros(len(case.p))
    x[machine.support_] = machine.dual_coef_[0]
    return x


# --------------------------------------------------------------------------- against others


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    rank=st.integers(1, 40),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    epsilon=st.sampled_from([0.0, 1e-3, 0.1, 1.0]),
    constrained=st.booleans(),
    ragged=st.booleans(),
)
# Here long steps alone run in circles.
@example(seed=723, n=7, rank=16, C=0.01, epsilon=1.0, constrained=False, ragged=True)
@example(seed=13, n=9, rank=35, C=100.0, epsilon=0.0, constrained=True, ragged=True)
def test_optimality(seed: int, n: int, rank: int, C: float, epsilon: float, constrained: bool, ragged: bool) -> None:
    """Feasible, and no move gains more than the tolerance."""
    case = regression(seed, n=n, rank=rank, C=C, epsilon=epsilon, constrained=constrained)
    case = uneven(case, seed) if ragged else case
    check(case, run(case, 1e-5), 1e-5)


@both_totals
@ranks
@pytest.mark.parametrize("scale", [1e6, 1e12])
def test_values_may_be_far_larger_than_the_box(scale: float, rank: int, constrained: bool) -> None:
    """A coefficient that is off by a billionth of the box would be seen; rounding sets the only limit."""
    case = regression(2, rank=rank, epsilon=0.0, constrained=constrained)
    case, tol = replace(case, Q=scale * case.Q), max(1e-4, 1e-14 * scale)
    outcome = run(case, tol)
    check(replace(case, Q=case.Q / scale, p=case.p / scale), replace(outcome, v=outcome.v / scale), tol / scale)


@both_totals
@pytest.mark.parametrize("rank", [2, 12])
@pytest.mark.parametrize("seed", range(4))
def test_same_value_as_scipy(seed: int, rank: int, constrained: bool) -> None:
    case = uneven(regression(seed, n=12, rank=rank, constrained=constrained), seed)
    outcome = run(case, 1e-8)
    check(case, outcome, 1e-8)
    assert objective(case, outcome.x) == pytest.approx(by_scipy(case), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize(("n", "rank"), [(200, 200), (200, 5), (600, 20)])
def test_same_machine_as_libsvm(n: int, rank: int, C: float) -> None:
    case = regression(1, n=n, rank=rank, C=C)
    outcome, other = run(case, 1e-6, low_rank=n == 600), by_libsvm(case, C)
    check(case, outcome, 1e-6)
    assert objective(case, outcome.x) == pytest.approx(objective(case, other), rel=1e-6)
    np.testing.assert_allclose(case.Q @ outcome.x, case.Q @ other, atol=1e-4)


@both_totals
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_low_rank_and_dense_agree(epsilon: float, constrained: bool) -> None:
    case = uneven(regression(2, n=600, rank=20, C=10.0, epsilon=epsilon, constrained=constrained), 2)
    low, dense = run(case, 1e-6, low_rank=True), run(case, 1e-6)
    check(case, low, 1e-6)
    check(case, dense, 1e-6)
    assert objective(case, low.x) == pytest.approx(objective(case, dense.x), rel=1e-8)


# --------------------------------------------------------------------------- kink and bounds


@both_totals
@ranks
def test_one_sided_boxes_turn_the_kink_into_a_slope(rank: int, constrained: bool) -> None:
    """With x ≥ 0 (x ≤ 0) the term ε|x| is εx (−εx), and the problem is one without ε."""
    case = regression(3, rank=rank, C=10.0, constrained=constrained)
    side = np.where(np.arange(40) % 2, 1.0, -1.0)
    case = replace(case, lower=np.minimum(10 * side, 0.0), upper=np.maximum(10 * side, 0.0), start=side)
    smooth = replace(case, p=case.p - case.epsilon * side, epsilon=0.0)
    outcome, other = run(case, 1e-7), run(smooth, 1e-7)
    check(case, outcome, 1e-7)
    assert objective(case, outcome.x) == pytest.approx(objective(smooth, other.x), rel=1e-9)


@both_totals
@ranks
def test_a_vanishing_kink_changes_nothing(rank: int, constrained: bool) -> None:
    case = regression(4, rank=rank, epsilon=1e-12, constrained=constrained)
    smooth = replace(case, epsilon=0.0)
    assert objective(case, run(case, 1e-7).x) == pytest.approx(objective(smooth, run(smooth, 1e-7).x), rel=1e-8)


@both_totals
@ranks
def test_clear_cases_are_exact(rank: int, constrained: bool) -> None:
    """|r − b| clearly below ε: exactly 0; clearly above: exactly at the bound; all three kinds occur."""
    case, tol = regression(5, n=200, rank=rank, constrained=constrained), 1e-5
    outcome = run(case, tol)
    check(case, outcome, tol)
    rate = case.p - case.Q @ outcome.x - (np.mean(slopes(case, outcome.x)) if constrained else 0.0)
    inside, above, below = np.abs(rate) < 0.1 - 2 * tol, rate > 0.1 + 2 * tol, rate < -0.1 - 2 * tol
    assert min(inside.sum(), above.sum(), below.sum()) >= 5
    np.testing.assert_array_equal(outcome.x[inside], 0.0)
    np.testing.assert_array_equal(outcome.x[above], 1.0)
    np.testing.assert_array_equal(outcome.x[below], -1.0)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_coefficients_without_room_stay(epsilon: float) -> None:
    """Without ε a box of no width may lie anywhere."""
    case = regression(6, epsilon=epsilon)
    fixed = np.arange(40) < 10
    value = np.where(fixed, 0.5 if epsilon == 0 else 0.0, case.start)
    case = replace(
        case, lower=np.where(fixed, value, case.lower), upper=np.where(fixed, value, case.upper), start=value
    )
    outcome = run(case, 1e-6)
    check(case, outcome, 1e-6)
    np.testing.assert_array_equal(outcome.x[fixed], value[fixed])


def test_nothing_to_do() -> None:
    case = regression(7)
    case = replace(case, lower=case.start, upper=case.start)
    outcome = run(case, 1e-6)
    assert outcome.solved
    np.testing.assert_array_equal(outcome.x, 0.0)


# --------------------------------------------------------------------------- when it gives up


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("reason", ["deadline", "tolerance", "indefinite"])
def test_an_unfinished_path_leaves_a_feasible_point_that_is_no_worse(reason: str, epsilon: float) -> None:
    case = uneven(regression(8, epsilon=epsilon), 8)
    if reason == "indefinite":
        case = replace(case, Q=case.Q - 50 * np.eye(40))
    outcome = run(case, 0.0 if reason == "tolerance" else 1e-6, budget=0.0 if reason == "deadline" else None)
    assert not outcome.solved
    assert (outcome.x >= case.lower).all()
    assert (outcome.x <= case.upper).all()
    if case.constrained:
        assert outcome.x.sum() == pytest.approx(case.start.sum(), abs=1e-9)

    def objective(x: np.ndarray) -> float:
        return float(0.5 * x @ case.Q @ x - case.p @ x + epsilon * np.abs(x).sum())

    assert objective(outcome.x) <= objective(case.start)
    np.testing.assert_allclose(outcome.v, case.p - case.Q @ outcome.x, atol=1e-8 * np.abs(case.p).max())


# --------------------------------------------------------------------------- inside the solver


@both_totals
def test_degenerate_regression_is_left_to_the_interior_point(
    constrained: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[Outcome] = []
    follow = InteriorPoint.run

    def spy(self: InteriorPoint, *arguments: Any) -> Outcome:
        results.append(follow(self, *arguments))
        return results[-1]

    monkeypatch.setattr(InteriorPoint, "run", spy)
    case = regression(9, n=1500, rank=10, C=100.0, constrained=constrained)
    problem = Problem(case.p, case.lower, case.upper, case.epsilon, 0.0 if constrained else None)
    solution = ActiveSet(tol=1e-4).solve(problem, DenseOperator(case.Q))
    assert solution.status == "converged"
    assert violation(case, solution.coefficients) <= 1e-4 * (1 + 1e-6)
    assert results
    assert set(results) == {Outcome.SOLVED}
