"""Splitting against another solver, explicit matrices and plain twins of its compiled loops."""

from __future__ import annotations

import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn import loops
from pairlearn.errors import InputError, TooLargeError
from pairlearn.operators.base import PairOperator
from pairlearn.operators.build import build
from pairlearn.operators.dense import DenseOperator
from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers import ActiveSet, Problem, Progress, Solution, Splitting, Status, clock, solver_for
from pairlearn.solvers.certificate import finish
from pairlearn.solvers.problem import Keeper
from pairlearn.solvers.splitting import iteration, room, solver
from pairlearn.solvers.splitting.anderson import Anderson
from pairlearn.solvers.splitting.cells import Cells
from pairlearn.solvers.splitting.correction import apply, low_rank, resolvent_for
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis, lower_product
from pairlearn.solvers.splitting.nearest import nearest_feasible

KERNELS = ["tensor", "metric", "tensor_metric", "direct_metric", "wedge"]
rng = np.random.default_rng(3)
CLASSES = np.repeat(np.arange(5), 5)
X = rng.normal(size=(5, 4))[CLASSES] + 0.9 * rng.normal(size=(25, 4))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)


@pytest.fixture(autouse=True)
def mended(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pairs would all go into one working set: splitting is tried without them but where a test asks for some."""
    monkeypatch.setattr(room, "MENDED", (most := getattr(request, "param", 0), most))


def operator_of(kernel: str, pairs: pl.Pairs) -> PairOperator:
    return build(pl.pair_kernel(kernel).on(pl.kernels.Gaussian(0.2)), pairs).operator


def sandwich_of(kernel: str, pairs: pl.Pairs) -> Sandwich:
    found = operator_of(kernel, pairs).sandwich()
    assert found is not None
    return found


def classification(y: np.ndarray, C: float, total: float | None = 0.0) -> Problem:
    return Problem(y.astype(float), np.minimum(0.0, C * y), np.maximum(0.0, C * y), total=total)


def matrix_of(operator: PairOperator) -> np.ndarray:
    return operator.submatrix(np.arange(operator.n_pairs))


def is_feasible(theta: np.ndarray, problem: Problem) -> bool:
    inside = (theta >= problem.lower).all() and (theta <= problem.upper).all()
    return bool(inside and (problem.total is None or abs(theta.sum() - problem.total) <= 1e-9))


def violation(K: np.ndarray, problem: Problem, theta: np.ndarray) -> float:
    """Largest gain per unit of a feasible move, from one-sided derivatives, pair by pair."""
    v, eps = problem.linear - K @ theta, problem.epsilon
    ups = [r - eps * (1 if t >= 0 else -1) for r, t, u in zip(v, theta, problem.upper, strict=True) if t < u]
    lows = [r - eps * (1 if t > 0 else -1) for r, t, low in zip(v, theta, problem.lower, strict=True) if t > low]
    return max(0.0, max(ups) - min(lows)) if problem.total is not None else max(0.0, max(ups), -min(lows))


# --------------------------------------------------------------------------- the same machines


def both(machine: Any, pairs: pl.Pairs, *labels: Any, **options: Any) -> None:
    """Fit with either solver: equal decision values, and a certified gap."""
    one, two = (
        machine(solver=s, tol=1e-6, random_state=0).fit(pairs, *labels, **options) for s in ("active_set", "splitting")
    )
    assert two.fit_status_ == "converged"
    assert two.kkt_gap_ <= 1e-6
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-7)
    np.testing.assert_allclose(two.decision_function(pairs), one.decision_function(pairs), atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS[:4])
@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
def test_classification_of_all_pairs(kernel: str, C: float) -> None:
    both(lambda **given: pl.PairSVC(kernel, "rbf", C=C, **given), PAIRS, Y)


@pytest.mark.parametrize("kernel", ["tensor", "tensor_metric"])
def test_classification_of_weighted_sampled_and_reflexive_pairs(kernel: str) -> None:
    every = pl.all_pairs(X)
    pairs = every[np.random.default_rng(0).permutation(len(every))[:150]].swapped()
    assert pairs.reflexive.any()
    weights = np.random.default_rng(1).uniform(0.0, 2.0, len(pairs))
    both(lambda **given: pl.PairSVC(kernel, "rbf", **given), pairs, pairs.labels(CLASSES), sample_weight=weights)


@pytest.mark.parametrize("kernel", ["tensor", "metric"])
def test_regression(kernel: str) -> None:
    targets = np.linalg.norm(X[PAIRS.left] - X[PAIRS.right], axis=1)
    both(lambda **given: pl.PairSVR(kernel, "rbf", C=2.0, epsilon=0.1, **given), PAIRS, targets)


def test_ranking() -> None:
    pairs = PAIRS[np.random.default_rng(0).permutation(len(PAIRS))]
    better = np.where(X[pairs.left, 0] - X[pairs.right, 0] + 0.5 * rng.normal(size=len(pairs)) > 0, 1, -1)
    both(lambda **given: pl.PairRanker("wedge", "rbf", **given), pairs, better)


def test_one_class() -> None:
    both(lambda **given: pl.OneClassPairSVM("tensor", "rbf", nu=0.3, **given), PAIRS)


def test_two_tables() -> None:
    Z = rng.normal(size=(9, 3))
    left, right = np.indices((len(X), len(Z))).reshape(2, -1)
    pairs = pl.Pairs(X, left, right, right_examples=Z)[::2]
    labels = np.where(rng.normal(size=len(pairs)) > 0, 1, -1)
    both(lambda **given: pl.PairSVC("tensor", ("rbf", "rbf"), **given), pairs, labels)


def test_an_ordered_kernel_takes_pairs_in_both_orders() -> None:
    left, right = np.indices((len(X), len(X))).reshape(2, -1)
    pairs = pl.Pairs(X, left, right)
    kernel = pl.pair_kernels.poly_tensor(1, 0.0)
    sandwich = build(kernel.on(pl.kernels.Gaussian(0.2)), pairs).operator.sandwich()
    assert sandwich is not None
    assert sandwich.sign == 0


# --------------------------------------------------------------------------- its parts against explicit matrices


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rho", [0.01, 1.0])
def test_the_closed_form_solves_the_explicit_system(kernel: str, rho: float) -> None:
    """(K + ρD)θ = p with D = 2 for reflexive pairs, which count twice in the norm of S."""
    pairs = pl.all_pairs(X, reflexive=kernel != "wedge").swapped()
    sandwich, p = sandwich_of(kernel, pairs), np.random.default_rng(0).normal(size=len(pairs))
    cells = Cells.of(sandwich)
    resolvent = resolvent_for(Eigenbasis.of(sandwich), rho, np.float64, np.random.default_rng(0))
    S, solved = np.empty(cells.shape), np.empty(cells.size)
    cells.matrix(cells.spread(np.sign(cells.factor) * p, np.float64), S)
    resolvent.solve(S)
    cells.collect(S, solved)
    expected = np.linalg.solve(matrix_of(operator_of(kernel, pairs)) + rho * np.diag(np.abs(cells.factor)), p)
    np.testing.assert_allclose(solved[cells.index] / cells.factor, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", ["tensor", "tensor_metric", "metric", "direct_metric", "wedge"])
def test_leading_eigenvectors_solve_the_system_of_which_they_leave_out_a_part(kernel: str) -> None:
    """With P the projection on the others and G₂ = PGP: G S G loses G₂ S G₂ and gets c·P S P, H loses diag(G₂ S G₂)."""
    sandwich, rho = sandwich_of(kernel, pl.all_pairs(X, reflexive=False)), 2.0
    basis = Eigenbasis.of(sandwich)
    G, m = sandwich.left, len(sandwich.left)
    r = basis.leading(rho, 0.05)
    assert 1 < r < m
    values, U = basis.left
    P = U[:, r:] @ U[:, r:].T
    other, sign = P @ G @ P, sandwich.sign
    c = sandwich.scale * values[r:].mean() ** 2
    middle = sandwich.squares * G**2 + sandwich.lines * G + 0.25 * sandwich.constant

    def applied(S: np.ndarray) -> np.ndarray:
        E, H = S.sum(axis=1), 0.5 * np.diag(G @ S @ G - other @ S @ other)
        w, h = middle @ E + sandwich.crossed * H, sandwich.crossed * E
        found = sandwich.scale * (G @ S @ G - other @ S @ other) + c * P @ S @ P + rho * S
        if sandwich.corrected:
            found += w[:, None] + w + G * h @ G - other * h @ other
        return found

    S = np.random.default_rng(3).normal(size=(m, m))
    S = S + sign * S.T
    R = applied(S)
    resolvent_for(basis, rho, np.float64, np.random.default_rng(0), 0.05).solve(R)
    np.testing.assert_allclose(np.tril(R), np.tril(S), atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_the_kernel_applied_to_matrices_is_that_of_the_pairs(kernel: str, precision: type) -> None:
    pairs = pl.all_pairs(X, reflexive=kernel != "wedge").swapped()
    cells, theta = Cells.of(sandwich := sandwich_of(kernel, pairs)), np.random.default_rng(0).normal(size=len(pairs))
    S, found = np.empty(cells.shape, precision), np.empty(cells.size)
    cells.matrix(cells.spread(cells.factor * theta, precision), S)
    apply(sandwich, S)
    cells.collect(S, found)
    expected = operator_of(kernel, pairs) @ theta
    atol = 1e2 * np.finfo(precision).eps * np.abs(expected).max()
    np.testing.assert_allclose(np.sign(cells.factor) * found[cells.index], expected, atol=atol)


def test_the_kernel_applied_to_matrices_over_two_tables() -> None:
    left, right = np.indices((len(X), 9)).reshape(2, -1)
    operator = operator_of("tensor", pl.Pairs(X, left, right, right_examples=rng.normal(size=(9, 4))))
    sandwich, theta = operator.sandwich(), rng.normal(size=len(left))
    assert sandwich is not None
    apply(sandwich, S := theta.reshape(len(X), 9).copy())
    np.testing.assert_allclose(S.ravel(), operator @ theta, atol=1e-12)


@pytest.mark.parametrize(("m", "n", "kernel", "C"), [(40, 200, "tensor", 100.0), (60, 440, "tensor_metric", 10.0)])
def test_cells_without_a_pair_lead_nobody_astray(m: int, n: int, kernel: str, C: float) -> None:
    """Where their rates were forgotten at every look, the gap of these stood still at 1 and at 3."""
    r = np.random.default_rng(0)
    examples = r.normal(size=(m, 4))
    pairs = pl.all_pairs(examples, reflexive=False)
    pairs = pairs[np.sort(r.permutation(len(pairs))[:n])]
    y = np.linalg.norm(examples[pairs.left] - examples[pairs.right], axis=1) + 0.3 * r.normal(size=n)
    problem = Problem(y - y.mean(), np.full(n, -C), np.full(n, C), epsilon=0.1, total=0.0)
    operator = build(pl.pair_kernel(kernel).on(pl.kernels.Gaussian(0.05)), pairs).operator
    found, exact = (solver.solve(problem, operator) for solver in (Splitting(max_steps=2000), ActiveSet(tol=1e-6)))
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)


def test_steps_from_exact_rates_lead_to_the_optimum_of_the_whole_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration, "NEGLIGIBLE", {np.float32: 0.5, np.float64: 0.05})
    found = Splitting(tol=1e-6, max_steps=2000).solve(PROBLEM, OPERATOR)
    assert found.status == Status.CONVERGED
    expected = ActiveSet(tol=1e-8).solve(PROBLEM, OPERATOR)
    assert found.objective == pytest.approx(expected.objective, abs=1e-7)


@pytest.mark.parametrize("kernel", ["metric", "tensor_metric", "direct_metric"])
def test_at_the_least_rho_float32_still_solves(kernel: str) -> None:
    """A base with values of 10⁵, whose metric kernel has values of 10¹⁰: at a hundredth of it the error is 100 %."""
    points, _ = pl.data.checker_board(20, 8, seed=0)
    operator = build(pl.pair_kernel(kernel).on(pl.kernels.Polynomial(2)), pl.all_pairs(points)).operator
    sandwich = operator.sandwich()
    assert sandwich is not None
    basis = Eigenbasis.of(sandwich)
    S = np.tril(np.random.default_rng(0).choice([-1.0, 1.0], size=sandwich.left.shape))
    rough, exact = (S + np.tril(S, -1).T).astype(np.float32), S + np.tril(S, -1).T
    for R, negligible in ((rough, 0.1), (exact, 0.0)):
        resolvent_for(basis, basis.rounding, R.dtype.type, np.random.default_rng(0), negligible).solve(R)
    np.testing.assert_allclose(np.tril(rough), np.tril(exact), atol=0.3 * np.abs(exact).max())
    assert np.linalg.norm(np.tril(rough - exact)) <= 0.1 * np.linalg.norm(np.tril(exact))


def test_rho_never_falls_below_what_float32_solves() -> None:
    sandwich = sandwich_of("metric", PAIRS)
    basis = Eigenbasis.of(sandwich)
    moved = iteration.Iteration(PROBLEM, Cells.of(sandwich), basis, 3, 0)
    moved.begin(np.zeros(len(PAIRS)), Y.astype(float), 0.0, 100.0)
    moved.reduce(1e-30)
    assert moved.rho == basis.rounding > 0
    assert Eigenbasis.of(sandwich_of("tensor", PAIRS)).rounding == 0


def test_low_rank_finds_what_there_is() -> None:
    B = np.random.default_rng(0).normal(size=(60, 40))
    A = B * 0.5 ** np.arange(40) @ B.T
    found = sum(size * np.outer(v, v) for size, v in low_rank(A, np.random.default_rng(1), 1e-10, rank=4))
    np.testing.assert_allclose(found, A, atol=1e-8 * np.abs(A).max())


def test_the_lower_triangle_of_a_product() -> None:
    A, B, out = rng.normal(size=(150, 150)), rng.normal(size=(150, 150)), np.zeros((150, 150))
    lower_product(A, B, out)
    np.testing.assert_allclose(np.tril(out), np.tril(A @ B), atol=1e-12)


@pytest.mark.parametrize("total", [None, 0.0, 1.3])
@pytest.mark.parametrize("kink", [0.0, 0.4])
def test_the_nearest_feasible_point_beats_all_others(total: float | None, kink: float) -> None:
    r = np.random.default_rng(5)
    n = 40
    t, weight = 2 * r.normal(size=n), np.where(r.random(n) < 0.2, 2.0, 1.0)
    problem = Problem(np.zeros(n), -r.uniform(0, 1, n), r.uniform(0, 1, n), kink, total)
    theta = nearest_feasible(t, problem, kink, weight)
    assert is_feasible(theta, problem)
    K = np.diag(weight)
    again = Problem(weight * t, problem.lower, problem.upper, kink, total)
    assert violation(K, again, theta) <= 1e-9


def test_the_sum_is_kept_where_it_leaves_no_choice() -> None:
    problem = Problem(np.zeros(3), np.zeros(3), np.ones(3), total=3.0)
    assert nearest_feasible(np.full(3, -5.0), problem).tolist() == [1.0, 1.0, 1.0]


def test_acceleration_solves_a_linear_map_in_as_many_steps_as_it_has_dimensions() -> None:
    r = np.random.default_rng(2)
    n = 6
    A = r.normal(size=(n, n)) / 4
    b, x = r.normal(size=n), np.zeros(n)
    anderson = Anderson(n, n, np.float64)
    for _ in range(n + 2):
        anderson.advance(x, A @ x + b - x)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(n) - A, b), atol=1e-4)


# --------------------------------------------------------------------------- twins of the compiled loops


def soft(s: np.ndarray, lower: np.ndarray, upper: np.ndarray, kink: float) -> np.ndarray:
    return np.clip(np.sign(s) * np.maximum(np.abs(s) - kink, 0.0), lower, upper)


@pytest.mark.parametrize("kink", [0.0, 0.3])
def test_elementwise_loops(kink: float) -> None:
    n = loops.splitting.CHUNK + 77
    s, P, x, q, before = (2 * rng.normal(size=n) for _ in range(5))
    lower, upper = -rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    z, out = soft(s, lower, upper, kink), np.empty(n)
    loops.splitting.reflect(s, P, x, lower, upper, kink, 0.7, out)
    np.testing.assert_allclose(out, P + 0.7 * (2 * z - s - x), atol=1e-12)
    loops.splitting.advance(s, x, q, 0.2, lower, upper, kink, 1.8, out)
    np.testing.assert_allclose(out, 1.8 * (x - 0.2 * q - z), atol=1e-12)
    sums = np.empty((3, 2))
    loops.splitting.norms(s, before, lower, upper, kink, sums)
    expected = [z @ z, (s - z) @ (s - z), ((z - soft(before, lower, upper, kink)) ** 2).sum()]
    np.testing.assert_allclose(sums.sum(axis=1), expected)
    moved = s.copy()
    loops.splitting.rescale(moved, lower, upper, kink, 0.25)
    np.testing.assert_allclose(moved, z + 0.25 * (s - z), atol=1e-12)


@pytest.mark.parametrize("kink", [0.0, 0.3])
def test_the_shifted_point_and_its_slope(kink: float) -> None:
    n, mu, step = loops.splitting.CHUNK + 77, 0.2, 1e-9
    t, inverse = 2 * rng.normal(size=n), rng.choice([0.5, 1.0], size=n)
    lower, upper = -rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    theta, sums = np.empty(n), np.empty((2, 2))
    loops.splitting.shift(t, inverse, lower, upper, kink, mu, theta, sums)
    expected, beyond = (
        np.clip(np.sign(s) * np.maximum(np.abs(s) - kink * inverse, 0.0), lower, upper)
        for s in (t - mu * inverse, t - (mu + step) * inverse)
    )
    np.testing.assert_allclose(theta, expected, atol=1e-14)
    assert sums[0].sum() == pytest.approx(expected.sum())
    assert sums[1].sum() == pytest.approx((expected - beyond).sum() / step, rel=1e-3)


def test_sums_over_rows() -> None:
    n = loops.splitting.CHUNK + 5
    A, B, x, w = rng.normal(size=(3, n)), rng.normal(size=(3, n)), rng.normal(size=n), rng.normal(size=3)
    out, moved = np.empty((3, 2)), x.copy()
    loops.splitting.dots(A, x, out)
    np.testing.assert_allclose(out.sum(axis=1), A @ x)
    loops.splitting.combine(w, A, B, moved)
    np.testing.assert_allclose(moved, x - w @ (A + B), atol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_triangles(sign: float) -> None:
    m = loops.splitting.TILE + 9
    below = np.tril_indices(m)
    cells, S, packed = rng.normal(size=len(below[0])), np.empty((m, m)), np.empty(len(below[0]))
    loops.splitting.unpack(cells, sign, S)
    np.testing.assert_array_equal(S[below], cells)
    np.testing.assert_array_equal(np.tril(S, -1), sign * np.triu(S, 1).T)
    loops.splitting.pack(S, packed)
    np.testing.assert_array_equal(packed, cells)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_matrix_and_its_mirror_image(sign: float) -> None:
    m = loops.splitting.TILE + 9
    R, T = rng.normal(size=(2, m, m))
    shift, moved = rng.normal(size=m), R.copy()
    loops.splitting.add_mirrored(moved, T, shift, 0.7, sign)
    expected = 0.7 * (R - shift[:, None] - shift) + T + sign * T.T
    np.testing.assert_allclose(np.tril(moved), np.tril(expected), atol=1e-12)
    np.testing.assert_array_equal(np.triu(moved, 1), np.triu(R, 1))


# --------------------------------------------------------------------------- what ends it


OPERATOR = operator_of("tensor", PAIRS)
PROBLEM = classification(Y, 1.0)


def solved(**options: Any) -> Solution:
    return Splitting(**options).solve(PROBLEM, OPERATOR)


def test_the_certificate_is_that_of_the_explicit_matrix() -> None:
    solution = solved(tol=1e-3)
    assert solution.status == Status.CONVERGED
    assert is_feasible(solution.coefficients, PROBLEM)
    assert solution.gap == pytest.approx(violation(matrix_of(OPERATOR), PROBLEM, solution.coefficients), abs=1e-10)
    assert solution.gap <= 1e-3


def test_beyond_float32_it_goes_on_in_float64() -> None:
    solution, exact = solved(tol=1e-9), ActiveSet(tol=1e-9).solve(PROBLEM, OPERATOR)
    assert solution.status == Status.CONVERGED
    assert solution.objective == pytest.approx(exact.objective, rel=1e-12)


def test_without_a_constraint_there_is_no_bias() -> None:
    problem = classification(Y, 1.0, total=None)
    one, two = (solver.solve(problem, OPERATOR) for solver in (ActiveSet(tol=1e-6), Splitting(tol=1e-6)))
    assert two.bias == 0.0
    assert two.objective == pytest.approx(one.objective, rel=1e-9)


@pytest.mark.parametrize("stops", [1, 3])
def test_a_callback_ends_it_with_feasible_coefficients(stops: int) -> None:
    lines: list[Progress] = []

    def callback(line: Progress) -> bool:
        lines.append(line)
        return len(lines) == stops

    solution = Splitting().solve(PROBLEM, OPERATOR, callback=callback)
    assert solution.status == Status.INTERRUPTED
    assert len(lines) == len(solution.history) == stops
    assert is_feasible(solution.coefficients, PROBLEM)


def test_an_interrupt_keeps_the_best_so_far() -> None:
    def callback(line: Progress) -> None:
        if line.iteration == 2:
            raise KeyboardInterrupt

    solution = Splitting().solve(PROBLEM, OPERATOR, callback=callback)
    assert solution.status == Status.INTERRUPTED
    assert is_feasible(solution.coefficients, PROBLEM)
    assert solution.gap == pytest.approx(min(line.gap for line in solution.history[1:]))


def test_no_time_at_all_still_takes_a_step() -> None:
    solution = solved(time_budget=0.0, tol=1e-9)
    assert solution.status == Status.TIME_BUDGET
    assert is_feasible(solution.coefficients, PROBLEM)
    assert solution.coefficients.any()
    assert solution.gap == pytest.approx(violation(matrix_of(OPERATOR), PROBLEM, solution.coefficients), abs=1e-10)


def test_where_steps_overflow_the_best_so_far_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration.Iteration, "point", lambda _: np.full(len(PAIRS), np.nan))
    solution = solved(tol=1e-6)
    assert solution.status == Status.STALLED
    assert is_feasible(solution.coefficients, PROBLEM)
    assert np.isfinite(solution.gap)


def test_a_limit_of_steps() -> None:
    solution = solved(max_steps=10)
    assert solution.status == Status.ITERATION_LIMIT
    assert len(solution.history) == 2


def test_a_good_start_is_kept_and_a_near_one_is_near() -> None:
    cold = solved(tol=1e-6)
    again = Splitting(tol=1e-6).solve(PROBLEM, OPERATOR, start=cold.coefficients)
    assert len(again.history) == 1
    np.testing.assert_array_equal(again.coefficients, cold.coefficients)
    wider = classification(Y, 1.05)
    near = Splitting(tol=1e-4).solve(wider, OPERATOR, start=cold.coefficients)
    assert len(near.history) <= len(Splitting(tol=1e-4).solve(wider, OPERATOR).history)


def test_the_same_problem_has_the_same_solution() -> None:
    np.testing.assert_array_equal(solved().coefficients, solved().coefficients)


# --------------------------------------------------------------------------- what it refuses


def test_what_is_no_sandwich_is_refused() -> None:
    for kernel in ("direct_sum", "difference", "poly_direct_sum"):
        with pytest.raises(InputError, match='choose solver="active_set"'):
            Splitting().solve(PROBLEM, operator_of(kernel, PAIRS))
    with pytest.raises(InputError, match="so few pairs of so many examples"):
        Splitting().solve(PROBLEM, DenseOperator(np.eye(len(PAIRS))))


def test_repeated_pairs_are_refused() -> None:
    pairs = pl.Pairs(X, [0, 1, 2], [1, 0, 3])
    with pytest.raises(InputError, match="occur twice"):
        Splitting().solve(classification(np.array([1, 1, -1]), 1.0), operator_of("tensor", pairs))
    with pytest.raises(InputError, match="reflexive pairs"):
        Cells.of(sandwich_of("wedge", pl.all_pairs(X)))


@pytest.mark.parametrize("kernel", ["tensor", "wedge"])
@pytest.mark.parametrize("seed", range(8))
def test_cells_serve_where_they_can_be_made(kernel: str, seed: int) -> None:
    """The quick look of the choice against the refusals of whoever makes them."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, len(X), (2, 4))
    sandwich = sandwich_of(kernel, pl.Pairs(X, left, right))
    try:
        Cells.of(sandwich)
    except InputError:
        assert not Cells.serve(sandwich)
    else:
        assert Cells.serve(sandwich)


def test_cells_of_two_tables_serve_unless_a_pair_repeats() -> None:
    for right, serves in (([0, 1, 0], True), ([0, 1, 1], False)):
        operator = operator_of("tensor", pl.Pairs(X, [0, 1, 1], right, right_examples=X[:4]))
        sandwich = operator.sandwich()
        assert sandwich is not None
        assert Cells.serve(sandwich) == serves


def test_memory_is_counted_and_shortens_what_is_remembered() -> None:
    wide, narrow = solved(), solved(memory=0.9 * solved().taken)
    assert narrow.taken <= 0.9 * wide.taken
    assert narrow.status == Status.CONVERGED
    with pytest.raises(TooLargeError, match="raise memory_budget"):
        solved(memory=1e4)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["tensor", "wedge"])
def test_new_exact_rates_take_one_array_of_cells(kernel: str, precision: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """As counted in STATE; all else that passes is of the pairs, which are few here, and of the kernel's products."""
    examples = np.random.default_rng(0).normal(size=(300, 3))
    pairs = pl.all_pairs(examples, reflexive=False)[::449]
    operator, n = operator_of(kernel, pairs), len(pairs)
    sandwich = operator.sandwich()
    assert sandwich is not None
    problem, cells = classification(np.resize([1.0, -1.0], n), 1.0), Cells.of(sandwich)
    moved = iteration.Iteration(problem, cells, Eigenbasis.of(sandwich), 4, 0)
    moved.begin(np.zeros(n), problem.linear, 0.0, 1.0)
    if precision is np.float64:
        moved.refine()
    theta, v = 0.1 * problem.linear, problem.linear - operator @ (0.1 * problem.linear)
    monkeypatch.setattr(iteration, "apply", lambda of, S: None)
    tracemalloc.start()
    moved.anchor(theta, v, 0.0)
    passing = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert passing <= moved.s.nbytes + room.PAIRS * n + 2**14


def test_the_rates_of_cells_without_a_pair_move_as_the_kernel_says() -> None:
    """By the explicit matrix over all cells: v of the pairs, and −Kθ of what was moved since the last look."""
    every = pl.all_pairs(X, reflexive=False)
    chosen = np.sort(np.random.default_rng(0).permutation(len(every))[:200])
    operator, n = operator_of("tensor", every[chosen]), len(chosen)
    sandwich = operator.sandwich()
    assert sandwich is not None
    y, K = np.resize([1.0, -1.0], n), matrix_of(operator_of("tensor", every))
    moved = iteration.Iteration(classification(y, 1.0), Cells.of(sandwich), Eigenbasis.of(sandwich), 4, 0)
    moved.begin(np.zeros(n), y, 0.0, 1.0)
    places = Cells.of(sandwich_of("tensor", every)).index
    other = np.setdiff1d(np.arange(len(every)), chosen)
    for theta in (0.3 * y, 0.1 * y + 0.2):
        moved.anchor(theta, y - operator @ theta, 0.5)
        rates = moved.rates[places]
        np.testing.assert_allclose(rates[chosen], y - operator @ theta - 0.5, atol=1e-5)
        np.testing.assert_allclose(rates[other], -K[np.ix_(other, chosen)] @ theta, atol=1e-4)


@pytest.mark.parametrize("kernel", ["tensor", "tensor_metric"])
def test_a_fit_takes_no_more_memory_than_it_counts(kernel: str) -> None:
    examples = np.random.default_rng(0).normal(size=(200, 3))
    pairs = pl.all_pairs(examples, reflexive=False)[::3]
    y = np.where(np.random.default_rng(1).random(len(pairs)) < 0.3, 1.0, -1.0)
    operator, problem = operator_of(kernel, pairs), classification(y, 1.0)
    solver = Splitting(tol=1e-6, max_steps=60)
    solver.solve(problem, operator)  # compiled by now
    tracemalloc.start()
    found = solver.solve(problem, operator)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.status == Status.ITERATION_LIMIT  # in float32: new arrays take memory only where they were written
    assert 0.6 * found.taken <= most <= found.taken


def test_its_name() -> None:
    assert solver_for("splitting", 1e-4, 3.0, 5e6, 7) == Splitting(tol=1e-4, time_budget=3.0, memory=5e6, seed=7)


# -- the clock


@pytest.mark.parametrize("started", [True, False])
def test_without_time_for_a_first_step_nothing_is_decomposed(started: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The eigenbasis of 2,500 examples took 20 s of a budget of one."""
    problem, operator = classification(Y, 1.0), operator_of("tensor", PAIRS)
    start = ActiveSet(tol=1.0).solve(problem, operator).coefficients if started else None
    monkeypatch.setattr(Eigenbasis, "of", None)
    found = Splitting(time_budget=0.0, tol=1e-9).solve(problem, operator, start)
    assert (found.status, found.path) == (Status.TIME_BUDGET, "active set")
    assert found.coefficients.any()
    if started:
        np.testing.assert_array_equal(found.coefficients, start)


@pytest.mark.parametrize("kernel", ["tensor", "tensor_metric"])
@pytest.mark.parametrize("share", [0.5, 2.0])
def test_an_eigenbasis_that_would_outlast_the_budget_is_not_begun(
    kernel: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By counted operations and the speed of this moment; an active set takes the time instead, and says so."""
    operator, each = operator_of(kernel, PAIRS), 1.0
    sandwich = sandwich_of(kernel, PAIRS)
    monkeypatch.setattr(clock, "seconds_each", lambda: each)
    found = Splitting(time_budget=share * solver.first_operations(sandwich), tol=1e-6).solve(PROBLEM, operator)
    assert found.path == ("splitting" if share > 1 else "active set")
    assert found.status == Status.CONVERGED
    assert [line.iteration for line in found.history] == list(range(len(found.history)))


def test_without_time_for_the_equations_of_another_rho_the_last_one_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "seconds_each", lambda: 1.0)
    needed, lowered = solver.rho_operations(sandwich_of("tensor_metric", PAIRS)), []
    for share in (0.5, 2.0):
        run = solver._Run(
            Splitting(time_budget=share * needed), PROBLEM, operator_of("tensor_metric", PAIRS), None, None
        )
        step = iteration.Iteration.__new__(iteration.Iteration)
        monkeypatch.setattr(step, "reduce", lowered.append, raising=False)
        run._reduce(step, share)
    assert lowered == [2.0]


def test_what_no_step_was_taken_with_is_let_go_before_an_active_set_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is time for an eigenbasis and none for the first step after it; its m² numbers would stay for long."""
    made: list[weakref.ref[Eigenbasis]] = []
    began: list[ActiveSet] = []
    decompose, solve = Eigenbasis.of, ActiveSet.solve

    def of(sandwich: Sandwich) -> Eigenbasis:
        made.append(weakref.ref(basis := decompose(sandwich)))
        monkeypatch.setattr(clock.Clock, "affords", lambda self, operations: False)
        return basis

    def begin(self: ActiveSet, *given: Any) -> Solution:
        assert [each() for each in made] == [None]
        began.append(self)
        return solve(self, *given)

    monkeypatch.setattr(Eigenbasis, "of", of)
    monkeypatch.setattr(ActiveSet, "solve", begin)
    found = Splitting(tol=1e-6, memory=1e8, seed=7).solve(PROBLEM, OPERATOR)
    assert (found.path, found.status) == ("active set", Status.CONVERGED)
    cells = Cells.of(sandwich_of("tensor", PAIRS))
    assert began[0].memory == 1e8 - cells.index.nbytes - cells.factor.nbytes - 8 * len(PAIRS)
    assert began[0].seed == 7


class Time:
    """Seconds that only pass where a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def taking(self, seconds: float, function: Any) -> Any:
        """The same function, and it takes so long."""

        def timed(*given: Any) -> Any:
            self.now += seconds
            return function(*given)

        return timed


@pytest.mark.parametrize("budget", [2.0, 11.0, 30.0])
def test_a_budget_is_kept_within_a_product(budget: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first step of 6 s, steps of 3 s and products of half a second: nothing is begun that ends too late."""
    time, operator = Time(), operator_of("tensor", PAIRS)
    monkeypatch.setattr(clock, "time", time)
    monkeypatch.setattr(clock, "seconds_each", lambda: 6.0 / solver.first_operations(sandwich_of("tensor", PAIRS)))
    monkeypatch.setattr(Eigenbasis, "of", time.taking(5.0, Eigenbasis.of))
    monkeypatch.setattr(iteration.Iteration, "step", time.taking(3.0, iteration.Iteration.step))
    monkeypatch.setattr(type(operator), "spread", time.taking(0.5, type(operator).spread))
    found = Splitting(time_budget=budget, tol=1e-9).solve(PROBLEM, operator)
    assert found.status == Status.TIME_BUDGET or found.path == "active set"
    assert found.coefficients.any()
    assert time.now <= budget + 0.5


# -- working sets at the end


def repeated_targets() -> tuple[Problem, PairOperator]:
    """Pairs of two tables, one of which has every row twice: rows of the kernel repeat, and their numbers differ.

    Coefficients of two such pairs can be moved against each other without a change of the function, at a rate that
    hardly differs from 0: splitting takes that rate as its step.
    """
    drugs, targets = rng.normal(size=(8, 3)), np.repeat(rng.normal(size=(10, 3)), 2, axis=0)
    a, b = np.divmod(np.arange(160), 20)
    pairs = pl.Pairs(drugs, a, b, right_examples=targets)
    y = drugs[a, 0] * targets[b, 1] + 3e-4 * rng.normal(size=160)
    return Problem(y, np.full(160, -2.0), np.full(160, 2.0), total=0.0, epsilon=0.01), operator_of("tensor", pairs)


WITH_SETS = pytest.mark.parametrize("mended", [40], indirect=True)


@WITH_SETS
def test_working_sets_end_what_splitting_crawls_to() -> None:
    problem, operator = repeated_targets()
    found = Splitting(tol=1e-5, max_steps=500).solve(problem, operator)
    exact = ActiveSet(tol=1e-8).solve(problem, operator)
    assert found.status == Status.CONVERGED
    assert violation(matrix_of(operator), problem, found.coefficients) <= 1e-5
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)
    assert [line.iteration for line in found.history] == list(range(len(found.history)))
    assert 0 < min(line.working_set for line in found.history) <= 40


@WITH_SETS
def test_working_sets_have_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = repeated_targets()
    seeds, solve = [], ActiveSet.solve
    monkeypatch.setattr(ActiveSet, "solve", lambda self, *given: seeds.append(self.seed) or solve(self, *given))
    Splitting(tol=1e-5, max_steps=500, seed=7).solve(problem, operator)
    assert set(seeds) == {7}


def test_without_them_it_crawls() -> None:
    problem, operator = repeated_targets()
    assert Splitting(tol=1e-5, max_steps=500).solve(problem, operator).status != Status.CONVERGED


@WITH_SETS
def test_sets_in_vain_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "HALF", 0)
    monkeypatch.setattr(solver.Mending, "__call__", in_vain)
    problem = classification(Y, 1.0)
    found = Splitting(tol=1e-5).solve(problem, operator_of("tensor", PAIRS))
    assert found.status == Status.CONVERGED
    assert {line.working_set for line in found.history} == {len(PAIRS)}


def in_vain(self: solver.Mending, line: Progress) -> bool:
    self.in_vain = True
    return True


@WITH_SETS
def test_a_stop_within_sets_is_heeded() -> None:
    problem, operator = repeated_targets()
    found = Splitting(tol=1e-5, max_steps=500).solve(problem, operator, None, lambda line: line.working_set <= 40)
    assert found.status == Status.INTERRUPTED
    assert is_feasible(found.coefficients, problem)
    assert found.history[-1].working_set <= 40


class Kept(Keeper):
    """Every line with a copy of its coefficients."""

    def __init__(self) -> None:
        self.thetas: list[np.ndarray] = []
        self.lines: list[Progress] = []

    def keep(self, theta: np.ndarray, line: Progress, by: str) -> None:
        assert by == "Splitting"
        self.thetas.append(theta.copy())

    def __call__(self, line: Progress) -> bool:
        self.lines.append(line)
        return False


@WITH_SETS
def test_what_is_put_by_has_the_gap_of_its_line() -> None:
    """Also while working sets end it: whoever resumes goes on from there."""
    problem, operator = repeated_targets()
    Splitting(tol=1e-5, max_steps=500).solve(problem, operator, None, kept := Kept())
    K, lines = matrix_of(operator), kept.lines
    sets = [i for i, line in enumerate(lines) if line.working_set <= 40]
    assert len(sets) > 1
    for i in sets:
        assert violation(K, problem, kept.thetas[i]) == pytest.approx(lines[i].gap, rel=1e-6, abs=1e-9)


@WITH_SETS
def test_ctrl_c_within_sets_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(self: solver.Mending, line: Progress) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(solver.Mending, "__call__", pressed)
    problem, operator = repeated_targets()
    found = Splitting(tol=1e-5, max_steps=500).solve(problem, operator)
    assert found.status == Status.INTERRUPTED
    assert is_feasible(found.coefficients, problem)


@pytest.mark.parametrize(("fallen", "pays"), [(0.5, False), (0.999, True), (1.0, True)])
def test_sets_are_tried_where_splitting_is_slow(fallen: float, pays: bool) -> None:
    """By the closed form of both estimates: sets·ln r against steps for a factor of e."""
    problem, operator = classification(Y, 1.0), operator_of("tensor", PAIRS)
    run = solver._Run(Splitting(), problem, operator, None, None)
    run.room = room.Room(10, 3000, 0, 0)
    run.reached, run.falls = 0.02, [(10, 0.02 / fallen), (20, 0.02)]
    assert run._mending_pays() is pays


@pytest.mark.parametrize("kernel", ["tensor", "tensor_metric"])
def test_fits_in_several_threads_have_the_bits_of_one_alone(kernel: str) -> None:
    """Beside other fits LAPACK has one thread: with more of them alone, its bits would be others."""
    examples = np.random.default_rng(0).normal(size=(150, 20))
    pairs = pl.all_pairs(examples, reflexive=False)
    problem = classification(pairs.labels(np.arange(150) // 15), 1.0)

    def coefficients(_: int) -> np.ndarray:
        return Splitting(tol=1e-2).solve(problem, operator_of(kernel, pairs)).coefficients

    alone = coefficients(0)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(coefficients, range(4)):
            assert np.array_equal(found, alone)


@pytest.mark.parametrize("C", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("far", [1.0, 1e4, 1e12])
def test_the_sum_is_kept_wherever_the_boxes_are(C: float, far: float) -> None:
    """Boxes far narrower than the points are apart: between them no coefficient moves with the multiplier."""
    rng = np.random.default_rng(1)
    y = np.where(rng.random(400) < 0.1, 1.0, -1.0)
    found = nearest_feasible(far * (y + rng.normal(size=400)), classification(y, C))
    assert abs(found.sum()) <= 1e-9 * np.abs(found).sum()
    assert (found * y >= 0).all()
    assert (np.abs(found) <= C).all()


def test_a_sum_that_is_off_is_never_certified() -> None:
    """With all pairs of one class at C nothing can rise, and no gap is seen."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    case, operator = classification(y, 0.1), DenseOperator(np.eye(4))
    found = finish(case, operator, np.array([0.1, 0.1, 0.0, 0.0]), Status.CONVERGED, 1e-3, ())
    assert abs(found.coefficients.sum()) <= 1e-12
    assert found.status != Status.CONVERGED
