"""What a solver says about its end: certified, or honest about why not."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.operators.dense import DenseOperator
from pairlearn.solvers import ActiveSet, PlainSMO, Problem, Status
from pairlearn.solvers.active.stagnation import Stagnation
from pairlearn.solvers.active.working_set import WorkingSet
from pairlearn.solvers.certificate import finish, no_worse
from pairlearn.solvers.clock import Clock, OutOfTimeError
from pairlearn.solvers.problem import Progress, Relay
from pairlearn.solvers.start import feasible, level


def problem(n: int = 40, scale: float = 1.0, seed: int = 0) -> tuple[Problem, DenseOperator]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return Problem(y, np.minimum(0, y), np.maximum(0, y), total=0.0), DenseOperator(scale * (A @ A.T))


class SinglePrecision(DenseOperator):
    """Rows are exact, products are rounded: what a solver carries along and what a fresh product says differ."""

    def blocks(self, coefficients):  # type: ignore[no-untyped-def]
        for start, values in super().blocks(coefficients):
            yield start, values.astype(np.float32).astype(np.float64)


def test_without_a_bias_the_spread_is_that_of_both_orders() -> None:
    """Every winner at 1 is every loser at −1: a perfect ranking is no constant function."""
    y = np.ones(2)
    ranking = Problem(y, np.zeros(2), 5.0 * y)
    assert finish(ranking, DenseOperator(np.eye(2)), y, Status.CONVERGED, 1e-3, ()).spread == 2.0
    classes = replace(ranking, total=2.0)
    assert finish(classes, DenseOperator(np.eye(2)), y, Status.CONVERGED, 1e-3, ()).spread == 0.0


@given(theta=st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=20), sign=st.sampled_from([-1.0, 1.0]))
def test_a_start_of_one_sign_has_a_sum_that_can_be_mended(theta: list[float], sign: float) -> None:
    """Without bounds, as for least squares: all go to zero, and rounding leaves nothing that is no number."""
    n = len(theta)
    endless = Problem(np.zeros(n), np.full(n, -np.inf), np.full(n, np.inf), total=0.0)
    found = feasible(sign * np.array(theta), endless)
    assert np.isfinite(found).all()
    assert abs(found.sum()) <= 1e-11 * sum(theta)


def test_sets_of_a_thousandth_of_the_pairs_stand_still_some_day() -> None:
    watch = Stagnation(patience=1000, stalled=10)
    statuses = [watch.ends(5.0, -1.0, 0.0, share=1e-3) for _ in range(200)]
    assert Status.STALLED in statuses
    assert statuses.index(Status.STALLED) >= 50  # they need more steps than whole sets do


def test_a_stop_by_the_user_is_no_leaving() -> None:
    stops: list[bool] = []
    relay = Relay(Clock.start(), lambda line: bool(stops))
    relay.leave = lambda line: True
    line = Progress(0, 1.0, 0.0, 0, 2, 0.0)
    assert relay(line)
    assert relay.left
    stops.append(True)
    assert relay(line)
    assert not relay.left


def test_convergence_that_a_fresh_product_does_not_confirm_is_rounding() -> None:
    case, operator = problem()
    assert PlainSMO(tol=1e-10).solve(case, operator).status == Status.CONVERGED
    solution = PlainSMO(tol=1e-10).solve(case, SinglePrecision(operator.matrix))
    assert solution.history[-1].gap <= 1e-10
    assert solution.gap > 1e-10
    assert solution.status == Status.ROUNDING


@pytest.mark.parametrize("status", Status)
def test_only_a_certified_gap_is_called_converged(status: Status) -> None:
    """And every certified gap is, unless the user wanted an end; the other statuses stay what they are."""
    case, operator = problem()
    nothing, best = np.zeros(len(case)), ActiveSet(tol=1e-9).solve(case, operator).coefficients
    expected = status if status is Status.INTERRUPTED else Status.CONVERGED
    assert finish(case, operator, best, status, 1e-8, ()).status == expected
    expected = Status.ROUNDING if status is Status.CONVERGED else status
    assert finish(case, operator, nothing, status, 1e-8, ()).status == expected


@given(seed=st.integers(0, 10**6), size=st.floats(0.1, 1e4), epsilon=st.sampled_from([0.0, 0.3]))
@settings(max_examples=30, deadline=None)
def test_of_coefficients_that_are_too_large_the_best_share_is_kept(seed: int, size: float, epsilon: float) -> None:
    """A line search over shares finds no better one."""
    rng = np.random.default_rng(seed)
    A, theta = rng.normal(size=(20, 20)), size * rng.normal(size=20)
    K, bound = A @ A.T, np.full(20, 2 * np.abs(theta).max())
    case = Problem(rng.normal(size=20), -bound, bound, epsilon=epsilon)
    found = finish(case, DenseOperator(K), theta, Status.TIME_BUDGET, 1e-9, ())

    def objective(x: np.ndarray) -> float:
        return float(0.5 * x @ K @ x - case.linear @ x + epsilon * np.abs(x).sum())

    assert found.objective == pytest.approx(objective(found.coefficients), abs=1e-9)
    least = min(objective(share * theta) for share in np.linspace(0.0, 1.0, 2001))
    assert found.objective <= least + 0.02 * abs(least) + 1e-9 * size**2
    assert found.objective <= min(0.0, objective(theta)) + 1e-9


def test_values_beyond_float64_end_with_rounding() -> None:
    """Eigenvalues from 1 to 10¹⁴ under a tolerance that no coefficients of 53 bits can meet."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 60)) * np.logspace(7, 0, 60)
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    case = Problem(y, np.minimum(0, 1e3 * y), np.maximum(0, 1e3 * y), total=0.0)
    solution = ActiveSet(tol=1e-14, time_budget=60.0).solve(case, DenseOperator(A @ A.T))
    assert solution.status == Status.ROUNDING
    assert solution.gap < 0.1


def ends_after(gaps: list[float], rounding: float, patience: int = 5) -> int | None:
    watch = Stagnation(patience, stalled=1000)
    ends = ((step, watch.ends(gap, -1.0, rounding)) for step, gap in enumerate(gaps))
    return next((step for step, status in ends if status is Status.ROUNDING), None)


def test_gaps_that_keep_falling_never_stagnate() -> None:
    """However slowly, and far below what rounding explains."""
    assert ends_after([0.85**k for k in range(200)], rounding=1.0) is None


def test_stagnation_counts_steps_in_a_row() -> None:
    flat = [0.5] * 4
    assert ends_after([0.5, *flat, 0.5], rounding=1.0) == 5
    # A step to a lower gap starts the count anew; one up, beyond rounding, does not.
    assert ends_after([0.5, *flat, 0.1, *[0.1] * 4, 0.1], rounding=1.0) == 10
    assert ends_after([0.5, *flat, 2.0, *flat, 0.5], rounding=1.0) == 5
    # A walk up and down within rounding is no move.
    assert ends_after([0.5, 0.6, 0.5, 0.7, 0.49, 0.6, 0.5], rounding=1.0) == 5


def test_gaps_above_rounding_never_stagnate() -> None:
    assert ends_after([2.0] * 100, rounding=1.0) is None


def stalls_after(gaps: list[float], objectives: list[float], share: float = 1.0) -> int | None:
    watch = Stagnation(patience=5, stalled=10)
    ends = (watch.ends(*found, 0.0, share) for found in zip(gaps, objectives, strict=True))
    return next((step for step, status in enumerate(ends) if status is Status.STALLED), None)


def test_what_neither_gap_nor_objective_move_has_stalled() -> None:
    up_and_down, still = [50.0, 25.0, 12.0, 80.0] * 10, [-7.0] * 40
    assert stalls_after(up_and_down, still) == 12
    assert stalls_after(up_and_down, still, share=0.5) == 22
    assert stalls_after(up_and_down, [-1.0 - 0.01 * k for k in range(40)]) is None
    assert stalls_after([0.85**k for k in range(40)], still) is None


# --------------------------------------------------------------------------- contradictions under huge kernel values


def contradictions(seed: int) -> tuple[Problem, DenseOperator]:
    """568 pairs with random labels and weights over six decades, `direct_metric` on squared inner products."""
    rng = np.random.default_rng(seed)
    m, d, n = int(rng.integers(15, 60)), int(rng.integers(2, 12)), 568
    X = rng.normal(size=(m, d)) * 10 ** rng.uniform(-0.5, 1.5)
    a, b = rng.integers(0, m, n), rng.integers(0, m, n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    weights = rng.random(n) * 10 ** rng.uniform(-3, 3, n) * (rng.random(n) > 0.1)
    C = 10 ** rng.uniform(-2, 6)
    k = (X @ X.T) ** 2
    ac, ad, bc, bd = (k[np.ix_(p, q)] for p in (a, b) for q in (a, b))
    K = 0.5 * (ac + ad + bc + bd) + (0.5 * (ac - ad - bc + bd)) ** 2
    return Problem(y, np.minimum(0, C * weights * y), np.maximum(0, C * weights * y), total=0.0), DenseOperator(K)


@pytest.mark.parametrize(("seed", "objective"), [(2, -600.36), (11, -45890.0)])
def test_contradictory_weighted_pairs_come_to_an_end(seed: int, objective: float) -> None:
    """SMO alone stays at −70 and −13,550, with gaps of 10 to 80: only the end of the central path is better.

    How many steps it takes is chance: at the size of rounding every order of the pairs, and every sum, is another way.
    """
    case, operator = contradictions(seed)
    solution = ActiveSet(seed=1).solve(case, operator)
    assert solution.status in (Status.CONVERGED, Status.ROUNDING)
    assert solution.gap < 0.1
    assert solution.objective == pytest.approx(objective, rel=1e-3)
    assert len(solution.history) < 100


@pytest.mark.parametrize("rows", [2, 3, 10])
def test_plain_smo_keeps_to_its_memory(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few rows held some are computed again, and the coefficients are the same to the last bit."""
    case, operator = problem()
    whole = PlainSMO(tol=1e-6).solve(case, operator)
    asked: list[int] = []
    submatrix = DenseOperator.submatrix
    monkeypatch.setattr(
        DenseOperator, "submatrix", lambda self, i, j=None: asked.append(int(i[0])) or submatrix(self, i, j)
    )
    small = PlainSMO(tol=1e-6, memory=8 * 40 * rows).solve(case, operator)
    np.testing.assert_array_equal(small.coefficients, whole.coefficients)
    assert len(asked) > len(set(asked))  # with so little room some rows are computed again


@pytest.mark.parametrize("most", [10, 25])
def test_active_sets_keep_to_their_memory(most: int) -> None:
    """8 bytes per entry of the largest set, half as many for a factor, and some for its corrections."""
    case, operator = problem()
    solver = ActiveSet(tol=1e-6, memory=13.0 * most**2)
    solution = solver.solve(case, operator)
    assert solver.max_working_set == most
    assert solution.status == Status.CONVERGED
    assert max(line.working_set for line in solution.history) <= most


def test_the_clock_is_looked_at_while_a_larger_store_is_filled() -> None:
    """New memory comes page by page, and took 5 s for a gigabyte on a busy machine; the set is as it was before."""
    _, operator = problem(2000)
    working, looks = WorkingSet(operator, 2000), []
    working.update(np.arange(0), np.arange(900))
    operator.block_bytes = 8 * 900 * 100
    known, before = working.store, working.pairs.copy()

    def look() -> None:
        looks.append(1)
        if len(looks) == 5:
            raise OutOfTimeError

    with pytest.raises(OutOfTimeError):
        working.update(before, np.arange(900, 1000), look)
    assert working.store is known
    np.testing.assert_array_equal(working.pairs, before)
    working.update(before, np.arange(900, 1000), lambda: None)
    np.testing.assert_array_equal(working.store[:1000, :1000], operator.submatrix(working.pairs))


# --------------------------------------------------------------------------- the bias of what was stopped


def loss(b: float, v: np.ndarray, low: np.ndarray, high: np.ndarray, eps: float) -> float:
    return float((high * np.maximum(0.0, v - b - eps) - low * np.maximum(0.0, b - v - eps)).sum())


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]), st.booleans())
def test_the_level_of_a_sum_of_zero_has_the_least_loss(seed: int, eps: float, both: bool) -> None:
    r = np.random.default_rng(seed)
    n = int(r.integers(2, 12))
    v, C = r.normal(size=n).round(1), r.uniform(0.1, 2.0, n)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    low, high = (-C, C) if both else (np.minimum(0.0, C * y), np.maximum(0.0, C * y))
    b, place = level(v, low, high, eps, 0.0)
    assert place is not None
    corners = np.concatenate([v - eps, v + eps])
    assert loss(b, v, low, high, eps) <= min(loss(c, v, low, high, eps) for c in corners) + 1e-9


@pytest.mark.parametrize("steps", [1, 2])
def test_a_stopped_fit_has_the_bias_of_the_least_loss(steps: int) -> None:
    r = np.random.default_rng(steps)
    Z = r.normal(size=(300, 4))
    y = np.where(r.random(300) < 0.05, 1.0, -1.0)
    case = Problem(y, np.minimum(0.0, 50 * y), np.maximum(0.0, 50 * y), total=0.0)
    found = ActiveSet(candidates=4, max_iterations=steps).solve(case, DenseOperator(Z @ Z.T))
    assert found.status == Status.ITERATION_LIMIT
    v = y - Z @ (Z.T @ found.coefficients)
    least = min(loss(c, v, case.lower, case.upper, 0.0) for c in v)
    assert loss(found.bias, v, case.lower, case.upper, 0.0) <= least * (1 + 1e-9)


@pytest.mark.parametrize("status", ["interrupted", "time budget", "converged"])
def test_what_was_known_is_kept_where_a_fit_is_broken_off_before_it_is_as_good(status: str) -> None:
    y = np.array([1.0, -1.0])
    case = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    operator = DenseOperator(2 * np.eye(2))  # the optimum is (½, −½)
    found = replace(finish(case, operator, 0.1 * y, Status.INTERRUPTED, 1e-6, ()), status=Status(status), path="way")
    better, worse = (no_worse(found, case, operator, share * y, 1e-6) for share in (0.4, 0.01))
    expected = 0.1 if status == "converged" else 0.4
    assert better.coefficients.tolist() == pytest.approx([expected, -expected])
    assert (better.status, better.path) == (status, "way")
    assert worse is found is no_worse(found, case, operator, None, 1e-6)


@pytest.mark.parametrize("solver", ["auto", "active_set", "newton", "interior", "splitting"])
def test_a_warm_start_that_is_broken_off_is_no_worse_than_its_start(solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    pairs = pl.all_pairs(X, reflexive=False)
    y = np.where(rng.random(len(pairs)) < 0.3, 1.0, -1.0)
    machine = pl.PairSVC("tensor_metric", "linear", C=0.01, random_state=0, warm_start=True).fit(pairs, y)
    before, stops = machine.objective_, iter([False, True])
    machine.set_params(C=1e3, solver=solver, callback=lambda line: next(stops, True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(pairs, y)
    assert machine.fit_status_ == "interrupted"
    assert machine.objective_ <= before + 1e-9
