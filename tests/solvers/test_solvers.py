"""Solvers against an independent optimiser and the optimality conditions, recomputed here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from pairlearn.errors import InputError
from pairlearn.linalg.room import BYTES
from pairlearn.operators.dense import DenseOperator
from pairlearn.solvers import ActiveSet, PlainSMO, Problem, Progress, Solution, Status, solver_for
from pairlearn.solvers.active import working_set
from pairlearn.solvers.tuning import TUNING

SOLVERS = {"active_set": ActiveSet, "smo": PlainSMO}
both_solvers = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)


@dataclass(frozen=True)
class Case:
    problem: Problem
    K: np.ndarray
    start: np.ndarray | None = None


def random_case(seed: int, *, n: int = 12, rank: int | None = None, epsilon: float = 0.0, total: str = "none") -> Case:
    """General p, l and u; `total` is "none", "zero" or "other" (then a feasible start is given)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank or n))
    lower, upper = -rng.uniform(0.1, 2.0, n), rng.uniform(0.1, 2.0, n)
    lower[0], upper[1] = 0.0, 0.0
    lower[2] = upper[2] = 0.0  # a pair of weight zero
    start, wanted = None, None
    if total == "zero":
        wanted = 0.0
    if total == "other":
        start = lower + rng.uniform(0.2, 0.9, n) * (upper - lower)
        wanted = float(start.sum())
    problem = Problem(2.0 * rng.normal(size=n), lower, upper, epsilon, wanted)
    return Case(problem, A @ A.T, start)


def objective(case: Case, theta: np.ndarray) -> float:
    p = case.problem
    return float(0.5 * theta @ case.K @ theta - p.linear @ theta + p.epsilon * np.abs(theta).sum())


def reference(case: Case) -> float:
    """The optimal value by SLSQP on θ = s − t with s, t ≥ 0, where ε‖θ‖₁ is linear and smooth."""
    p, n = case.problem, len(case.problem)

    def value(z: np.ndarray) -> float:
        theta = z[:n] - z[n:]
        return float(0.5 * theta @ case.K @ theta - p.linear @ theta + p.epsilon * z.sum())

    def slope(z: np.ndarray) -> np.ndarray:
        g = case.K @ (z[:n] - z[n:]) - p.linear
        return np.concatenate([g + p.epsilon, p.epsilon - g])

    bounds = [(0.0, max(u, 0.0)) for u in p.upper] + [(0.0, max(-low, 0.0)) for low in p.lower]
    constraints = []
    if p.total is not None:
        row = np.concatenate([np.ones(n), -np.ones(n)])
        constraints = [{"type": "eq", "fun": lambda z: row @ z - p.total, "jac": lambda z: row}]
    first = np.zeros(n) if case.start is None else case.start
    z0 = np.concatenate([np.maximum(first, 0.0), np.maximum(-first, 0.0)])
    options = {"maxiter": 1000, "ftol": 1e-13}
    result = minimize(value, z0, jac=slope, bounds=bounds, constraints=constraints, method="SLSQP", options=options)
    return float(result.fun)


def violation(case: Case, theta: np.ndarray) -> float:
    """Largest gain per unit of any feasible move, from one-sided derivatives, pair by pair."""
    p = case.problem
    ups, lows = [-np.inf], [np.inf]
    for t, v, low, high in zip(theta, p.linear - case.K @ theta, p.lower, p.upper, strict=True):
        if t < high:
            ups.append(v - p.epsilon * (1 if t >= 0 else -1))
        if t > low:
            lows.append(v - p.epsilon * (1 if t > 0 else -1))
    return max(0.0, max(ups) - min(lows)) if p.total is not None else max(0.0, max(ups), -min(lows))


def check(case: Case, solution: Solution, tol: float) -> None:
    p, theta = case.problem, solution.coefficients
    assert solution.status == Status.CONVERGED
    assert (theta >= p.lower).all()
    assert (theta <= p.upper).all()
    if p.total is not None:
        assert theta.sum() == pytest.approx(p.total, abs=1e-9)
    assert violation(case, theta) <= tol * (1 + 1e-6) + 1e-12
    assert solution.gap == pytest.approx(violation(case, theta), abs=1e-10)
    assert solution.objective == pytest.approx(objective(case, theta), rel=1e-10, abs=1e-10)
    best = reference(case)
    assert solution.objective == pytest.approx(best, rel=1e-6, abs=1e-7)


# --------------------------------------------------------------------------- against the reference


@both_solvers
@pytest.mark.parametrize("total", ["none", "zero", "other"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_random_problems(solver: type, seed: int, epsilon: float, total: str) -> None:
    case = random_case(seed, epsilon=epsilon, total=total)
    check(case, solver(tol=1e-8).solve(case.problem, DenseOperator(case.K), case.start), 1e-8)


@both_solvers
@pytest.mark.parametrize("total", ["none", "zero", "other"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("rank", [1, 3])
def test_rank_deficient_problems(solver: type, rank: int, epsilon: float, total: str) -> None:
    case = random_case(10 + rank, rank=rank, epsilon=epsilon, total=total)
    check(case, solver(tol=1e-8).solve(case.problem, DenseOperator(case.K), case.start), 1e-8)


@both_solvers
@pytest.mark.parametrize("total", ["none", "zero"])
def test_repeated_pairs_and_zero_rows(solver: type, total: str) -> None:
    small = random_case(20, n=6, total=total)
    p = small.problem
    K = np.zeros((14, 14))
    K[:12, :12] = np.tile(small.K, (2, 2))  # every pair twice, then two pairs of zero kernel rows

    def longer(v: np.ndarray, tail: list[float]) -> np.ndarray:
        return np.concatenate([v, v, tail])

    problem = Problem(
        longer(p.linear, [0.5, -0.5]), longer(p.lower, [0.0, -1.0]), longer(p.upper, [1.0, 0.0]), 0.0, p.total
    )
    case = Case(problem, K)
    check(case, solver(tol=1e-8).solve(problem, DenseOperator(K)), 1e-8)


@both_solvers
def test_closed_form_without_coupling(solver: type) -> None:
    """K = I: θ is the soft-thresholded p, clipped into the box."""
    p = np.array([3.0, 0.5, -0.2, -5.0, 0.31])
    problem = Problem(p, np.full(5, -2.0), np.full(5, 2.0), epsilon=0.3)
    solution = solver(tol=1e-10).solve(problem, DenseOperator(np.eye(5)))
    np.testing.assert_allclose(solution.coefficients, [2.0, 0.2, 0.0, -2.0, 0.01], atol=1e-9)
    assert solution.bias == 0.0


@both_solvers
def test_closed_form_with_a_bias(solver: type) -> None:
    """Two points x = ±1 with K = xxᵀ, y = ±1, Σθ = 0: θ = ±½, g(x) = x, bias 0."""
    problem = Problem(np.array([1.0, -1.0]), np.array([0.0, -9.0]), np.array([9.0, 0.0]), total=0.0)
    solution = solver(tol=1e-10).solve(problem, DenseOperator(np.array([[1.0, -1.0], [-1.0, 1.0]])))
    np.testing.assert_allclose(solution.coefficients, [0.5, -0.5])
    assert solution.bias == pytest.approx(0.0, abs=1e-12)
    assert solution.objective == pytest.approx(-0.5)


@both_solvers
def test_without_free_coefficients_the_bias_is_the_middle(solver: type) -> None:
    """Both coefficients at C: g(x) = 0.2x, so b may lie anywhere with |b| ≤ 0.8; the middle is 0."""
    problem = Problem(np.array([1.0, -1.0]), np.array([0.0, -0.1]), np.array([0.1, 0.0]), total=0.0)
    solution = solver(tol=1e-10).solve(problem, DenseOperator(np.array([[1.0, -1.0], [-1.0, 1.0]])))
    np.testing.assert_array_equal(solution.coefficients, [0.1, -0.1])
    assert solution.bias == pytest.approx(0.0, abs=1e-12)


def test_larger_problems_agree() -> None:
    """Two independent methods on one classification problem, too large for the reference."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 5))
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    problem = Problem(y, np.minimum(0.0, 5 * y), np.maximum(0.0, 5 * y), total=0.0)
    found = [solver(tol=1e-7).solve(problem, DenseOperator(K)) for solver in SOLVERS.values()]
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-9)
    np.testing.assert_allclose(K @ found[0].coefficients, K @ found[1].coefficients, atol=1e-5)
    assert found[0].bias == pytest.approx(found[1].bias, abs=1e-5)
    for solution in found:
        assert violation(Case(problem, K), solution.coefficients) <= 1e-7 * (1 + 1e-6)


# --------------------------------------------------------------------------- small working sets


@pytest.mark.parametrize("options", [{"candidates": 1}, {"candidates": 3}, {"candidates": 10**6}])
@pytest.mark.parametrize("total", ["none", "zero"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_few_candidates_still_converge(options: dict[str, int], total: str, epsilon: float) -> None:
    case = random_case(30, n=20, epsilon=epsilon, total=total)
    check(case, ActiveSet(tol=1e-7, **options).solve(case.problem, DenseOperator(case.K)), 1e-7)


@pytest.mark.parametrize("max_working_set", [2, 5, 8])
@pytest.mark.parametrize("total", ["none", "zero"])
def test_small_working_sets_still_converge(max_working_set: int, total: str) -> None:
    case = random_case(31, n=20, total=total)
    solver = ActiveSet(tol=1e-7, memory=BYTES * max_working_set**2)
    check(case, solver.solve(case.problem, DenseOperator(case.K)), 1e-7)


# --------------------------------------------------------------------------- stops


def feasible(case: Case, solution: Solution) -> None:
    p, theta = case.problem, solution.coefficients
    assert (theta >= p.lower).all()
    assert (theta <= p.upper).all()
    assert p.total is None or theta.sum() == pytest.approx(p.total, abs=1e-9)
    assert solution.gap == pytest.approx(violation(case, theta), abs=1e-10)
    assert np.isfinite([solution.bias, solution.objective, solution.gap]).all()


@both_solvers
@pytest.mark.parametrize("total", ["none", "zero", "other"])
def test_no_time_at_all(solver: type, total: str) -> None:
    case = random_case(40, total=total)
    solution = solver(tol=1e-8, time_budget=0.0).solve(case.problem, DenseOperator(case.K), case.start)
    assert solution.status == "time budget"
    feasible(case, solution)
    assert solution.gap > 1e-8


def test_no_time_at_all_still_teaches_something() -> None:
    case = random_case(40, n=3000, rank=200, total="zero")
    solution = ActiveSet(tol=1e-8, time_budget=0.0).solve(case.problem, DenseOperator(case.K))
    assert solution.status == "time budget"
    assert solution.objective < 0.0
    assert solution.coefficients.any()


def stop(progress: Progress) -> bool:
    return True


def interrupt(progress: Progress) -> bool:
    raise KeyboardInterrupt


def later(callback: Callable[[Progress], bool], calls: int) -> Callable[[Progress], bool]:
    seen = []

    def wrapped(progress: Progress) -> bool:
        seen.append(progress)
        return callback(progress) if len(seen) > calls else False

    return wrapped


@both_solvers
@pytest.mark.parametrize("callback", [stop, interrupt])
@pytest.mark.parametrize("calls", [0, 1])
def test_callbacks_interrupt(solver: type, callback: Callable[[Progress], bool], calls: int) -> None:
    case = random_case(41, n=60, total="other")
    small = {"candidates": 2} if solver is ActiveSet else {"report_every": 2}
    solution = solver(tol=1e-8, **small).solve(case.problem, DenseOperator(case.K), case.start, later(callback, calls))
    assert solution.status == "interrupted"
    feasible(case, solution)
    if calls:
        assert case.start is not None
        assert solution.objective < objective(case, case.start)


def test_iteration_limits() -> None:
    case = random_case(42, n=60, total="zero")
    operator = DenseOperator(case.K)
    for solution in (
        ActiveSet(tol=1e-8, candidates=2, max_iterations=1).solve(case.problem, operator),
        PlainSMO(tol=1e-8, max_steps=3).solve(case.problem, operator),
    ):
        assert solution.status == "iteration limit"
        feasible(case, solution)


def test_sets_without_room_for_a_factor_give_way_to_smaller_ones() -> None:
    """SMO alone does not solve these: the larger set must be given up, and the optimum reached all the same."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 300)) * np.logspace(0, -3, 300)
    y = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    problem = Problem(y, np.minimum(1e6 * y, 0.0), np.maximum(1e6 * y, 0.0), 0.0, 0.0)
    case = Case(problem, A @ A.T)
    solver = ActiveSet(tol=1e-5, candidates=60, memory=BYTES * 250**2, tuning=replace(TUNING, small=20))
    solution = solver.solve(problem, DenseOperator(case.K))
    sizes = [progress.working_set for progress in solution.history]
    assert solution.status == Status.CONVERGED
    assert violation(case, solution.coefficients) <= 1.1e-5
    assert max(sizes) > 175
    assert 0 < sizes[-1] <= 175


@both_solvers
def test_history_tells_the_way(solver: type) -> None:
    case = random_case(43, n=40, total="zero")
    seen: list[Progress] = []
    small = {"candidates": 2} if solver is ActiveSet else {"report_every": 1}
    solution = solver(tol=1e-6, **small).solve(case.problem, DenseOperator(case.K), None, seen.append)  # type: ignore[arg-type]
    assert solution.history == tuple(seen)
    assert len(seen) > 2
    assert all(b.objective <= a.objective + 1e-12 for a, b in pairwise(seen))
    assert seen[-1].gap <= 1e-6
    assert seen[0].objective == 0.0


# --------------------------------------------------------------------------- starts, seeds, inputs


@both_solvers
def test_same_seed_same_bits(solver: type) -> None:
    case = random_case(50, n=50, total="zero")
    one, two = (solver(tol=1e-6).solve(case.problem, DenseOperator(case.K)) for _ in range(2))
    np.testing.assert_array_equal(one.coefficients, two.coefficients)
    assert (one.bias, one.objective, one.gap) == (two.bias, two.objective, two.gap)


@both_solvers
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("total", ["none", "zero", "other"])
def test_warm_start_from_the_solution(solver: type, epsilon: float, total: str) -> None:
    case = random_case(51, n=40, epsilon=epsilon, total=total)
    operator = DenseOperator(case.K)
    cold = solver(tol=1e-6).solve(case.problem, operator, case.start)
    start = cold.coefficients.copy()
    warm = solver(tol=1e-6).solve(case.problem, operator, start)
    assert warm.status == Status.CONVERGED
    assert len(warm.history) <= 2
    np.testing.assert_allclose(warm.coefficients, cold.coefficients, atol=1e-6)
    np.testing.assert_array_equal(start, cold.coefficients)


@both_solvers
def test_inputs_stay_unchanged(solver: type) -> None:
    case = random_case(52, total="other")
    p, K = case.problem, case.K.copy()
    kept = [v.copy() for v in (p.linear, p.lower, p.upper, case.start)]  # type: ignore[union-attr]
    solver(tol=1e-8).solve(p, DenseOperator(case.K), case.start)
    for value, before in zip((p.linear, p.lower, p.upper, case.start), kept, strict=True):
        np.testing.assert_array_equal(value, before)
    np.testing.assert_array_equal(K, case.K)


def test_solvers_by_name() -> None:
    assert solver_for("active_set", 1e-4, 3.0, 5e6, 7) == ActiveSet(tol=1e-4, time_budget=3.0, memory=5e6, seed=7)
    assert solver_for("smo", 1e-4, 3.0, 5e6, 7) == PlainSMO(tol=1e-4, time_budget=3.0, memory=5e6)
    assert solver_for("smo", 1e-4, 3.0, 1e12, 7).memory == PlainSMO().memory  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="unknown solver 'simplex'; choose one of auto, active_set, nested"):
        solver_for("simplex", 1e-4, None, 500, 0)


@pytest.mark.parametrize("count", [1, 7, 60])
def test_the_steepest_pairs_are_the_same_whole_and_by_parts(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against sorting all rates; some pairs are at a bound and cannot move."""
    rng = np.random.default_rng(3)
    v, theta = rng.normal(size=100), rng.choice([0.0, 0.5, 1.0], 100)
    box = Problem(v, np.zeros(100), np.ones(100)).box
    up, low = box.rates(theta, v)
    rising = [i for i in np.argsort(-up) if np.isfinite(up[i])][:count]
    falling = [i for i in np.argsort(low) if np.isfinite(low[i])][:count]
    for at_once in (1000, 30, 1):
        monkeypatch.setattr(working_set, "AT_ONCE", at_once)
        found = working_set.steepest_pairs(box, theta, v, count)
        assert sorted(found) == sorted([*rising, *falling])
        assert found[0] == rising[0]
        assert found[1] == falling[0]
