"""Newton's method on a smoothed problem: against other solvers, explicit matrices, and plain twins of its loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn import loops
from pairlearn.kernels import Linear
from pairlearn.operators.build import build
from pairlearn.operators.product import FeatureOperator
from pairlearn.operators.thin import Columns, _square
from pairlearn.solvers import ActiveSet, Auto, Newton, PlainSMO, Problem, Progress, Solution, Status, choice, interior
from pairlearn.solvers.active.nested import taken
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.newton import Size, equations
from pairlearn.solvers.newton.constant import Moments, constant
from pairlearn.solvers.newton.descent import Descent
from pairlearn.solvers.problem import Relay
from pairlearn.solvers.tuning import TUNING, Tuning

FEW = replace(TUNING, newton_least=20, candidates=(20, 40), small=50)
"""So that a few hundred pairs are many."""
BY_VALUES = replace(FEW, newton_features=0, newton_block=30, newton_looked=80)
"""By kernel values of few pairs, which lead conjugate gradients over some more."""


def problem_of(kind: str, n: int, rng: np.random.Generator, C: float = 1.0) -> tuple[Problem, np.ndarray]:
    """Overlapping classes, or noisy numbers, of five features."""
    Z = rng.normal(size=(n, 5))
    y = np.where(Z[:, 0] + 1.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    weight = C * np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.2, 2.0, n))
    if kind == "regression":
        return Problem(Z[:, 1] + rng.normal(size=n), -weight, weight, epsilon=0.3, total=0.0), Z
    if kind == "one class":
        return Problem(np.zeros(n), np.zeros(n), np.full(n, 4.0 / n), total=1.0), Z
    total = None if kind == "no bias" else 0.0
    return Problem(y, np.minimum(weight * y, 0.0), np.maximum(weight * y, 0.0), total=total), Z


def is_feasible(theta: np.ndarray, problem: Problem) -> bool:
    inside = (theta >= problem.lower).all() and (theta <= problem.upper).all()
    return bool(inside and (problem.total is None or abs(theta.sum() - problem.total) <= 1e-9 * np.abs(theta).sum()))


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["classes", "no bias", "regression", "one class"]),
    n=st.integers(60, 160),
    C=st.sampled_from([1e-3, 0.1, 1.0, 100.0]),
    tuning=st.sampled_from([FEW, BY_VALUES]),
    seed=st.integers(0, 10**6),
)
def test_the_optimum_is_that_of_plain_smo(kind: str, n: int, C: float, tuning: Tuning, seed: int) -> None:
    problem, Z = problem_of(kind, n, np.random.default_rng(seed), C)
    operator = FeatureOperator(Z)
    one = Newton(ActiveSet(tol=1e-5, tuning=tuning)).solve(problem, operator)
    two = PlainSMO(tol=1e-5).solve(problem, operator)
    assert one.status == Status.CONVERGED
    assert is_feasible(one.coefficients, problem)
    assert one.objective <= two.objective + 1e-4 * abs(two.objective) + 1e-9
    if two.status == Status.CONVERGED:  # with a large C it may stand still before
        assert one.objective == pytest.approx(two.objective, rel=1e-4, abs=1e-9)
    K = Z @ Z.T
    assert problem.box.gap(one.coefficients, problem.linear - K @ one.coefficients, problem.constrained) <= 2e-5


@pytest.mark.parametrize("kernel", ["metric", "tensor", "tensor_metric", "direct_sum", "difference"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_machines_learn_the_same_by_newton(kernel: str, C: float) -> None:
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(10), 5)
    X = 2.0 * rng.normal(size=(10, 3))[classes] + 0.5 * rng.normal(size=(50, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes) if kernel != "difference" else np.sign(pairs.left - pairs.right + 0.5)
    machine = pl.PairRanker if kernel == "difference" else pl.PairSVC
    one, two = (
        machine(kernel, "linear", C=C, tol=1e-6, random_state=0, solver=solver).fit(pairs, y)
        for solver in ("newton", "active_set")
    )
    assert one.fit_status_ == "converged"
    assert one.path_.startswith("Newton's method")
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-6)
    np.testing.assert_allclose(one.decision_function(pairs), two.decision_function(pairs), atol=1e-4)


def test_the_function_is_found_before_the_active_set_begins() -> None:
    """Few steps are left to the active set, and few pairs free: what the descent is for."""
    rng = np.random.default_rng(1)
    problem, Z = problem_of("classes", 20_000, rng)
    lines: list[Progress] = []
    active = ActiveSet(tol=1e-4)
    found = Newton(active).solve(problem, FeatureOperator(Z), None, lines.append)
    plain = active.solve(problem, FeatureOperator(Z))
    assert (found.path, found.status) == ("Newton's method, active set", Status.CONVERGED)
    assert found.objective == pytest.approx(plain.objective, rel=1e-7)
    assert len(found.history) < len(plain.history)
    assert problem.box.free(found.coefficients).sum() < 20


def test_what_a_callback_sees_is_feasible_and_only_gets_better() -> None:
    """Of θ on ramps the objective would be +10⁷ here before it falls: a share of it is below 0 at once."""
    problem, Z = problem_of("classes", 3000, np.random.default_rng(2), C=1e3)
    lines: list[Progress] = []
    found = Newton(ActiveSet(tuning=FEW)).solve(
        problem, FeatureOperator(Z), None, lambda line: bool(lines.append(line))
    )
    seen = [line.objective for line in lines]
    assert found.status is Status.CONVERGED
    assert max(seen) <= 0.0
    assert all(now <= before + 1e-9 * abs(before) for before, now in pairwise(seen))


def test_crowded_ramps_are_left_to_the_interior_point() -> None:
    """Where far too many pairs stay on their ramps; here any number is far too many, unless all take longer still."""
    problem, Z = problem_of("classes", 3000, np.random.default_rng(2))
    active = ActiveSet(tuning=replace(FEW, newton_crowded=1e15))
    found = Newton(active).solve(problem, FeatureOperator(Z))
    assert (found.path, found.status) == ("Newton's method, interior point", Status.CONVERGED)
    cramped = Newton(replace(active, memory=5e5)).solve(problem, FeatureOperator(Z))
    usual = Newton(ActiveSet(tuning=FEW)).solve(problem, FeatureOperator(Z))  # factors of so few pairs take no time
    for other in (cramped, usual):
        assert (other.path, other.status) == ("Newton's method, active set", Status.CONVERGED)
        assert other.objective == pytest.approx(found.objective, rel=1e-5)


# --------------------------------------------------------------------------- constant functions


def rare(n: int, share: float, rng: np.random.Generator, C: float = 1.0) -> tuple[Problem, np.ndarray]:
    """Labels that have nothing to do with five features, one of which is the sum of two others."""
    Z = rng.normal([0.0, 1.0, 2.0, 0.0, 0.0], size=(n, 5))
    Z[:, 4] = Z[:, 0] + Z[:, 1]
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    weight = C * rng.uniform(0.5, 2.0, n)
    return Problem(y, np.minimum(weight * y, 0.0), np.maximum(weight * y, 0.0), total=0.0), Z


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(60, 200),
    share=st.sampled_from([0.1, 0.3, 0.5, 0.9]),
    C=st.sampled_from([1e-3, 1.0, 1e4]),
    seed=st.integers(0, 10**6),
)
def test_a_constant_is_found_where_it_is_the_optimum_and_only_there(n: int, share: float, C: float, seed: int) -> None:
    """By another solver: the function is 0 if, and only if, moments can be matched."""
    problem, Z = rare(n, share, np.random.default_rng(seed), C)
    found = constant(problem, Columns(Z), Clock.start())
    side = problem.linear > 0
    least = -2.0 * min(problem.upper[side].sum(), -problem.lower[~side].sum())
    optimum = PlainSMO(tol=1e-6 / max(1.0, C)).solve(problem, FeatureOperator(Z)).objective
    assert optimum >= least * (1 + 1e-6)
    if found is None:
        assert optimum > least * (1 - 1e-9)
    else:
        theta = found.theta
        assert is_feasible(theta, problem)
        np.testing.assert_allclose(Z.T @ theta, 0.0, atol=1e-9 * np.abs(theta).sum())
        assert optimum == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("kind", ["classes", "no bias", "regression", "one class"])
def test_no_constant_where_features_tell_or_the_problem_is_another(kind: str) -> None:
    problem, Z = problem_of(kind, 400, np.random.default_rng(5))
    assert constant(problem, Columns(Z), Clock.start()) is None


def test_ctrl_c_while_a_constant_is_looked_for_leaves_what_was_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    problem, Z = problem_of("classes", 3000, np.random.default_rng(2))
    monkeypatch.setattr(Moments, "matched", stop)
    found = Newton(ActiveSet(tuning=replace(FEW, newton_crowded=1e15))).solve(problem, FeatureOperator(Z))
    assert found.status == Status.INTERRUPTED
    assert is_feasible(found.coefficients, problem)
    best = ActiveSet().solve(problem, FeatureOperator(Z)).objective
    assert found.objective == pytest.approx(best, rel=0.2)  # the function is known by then, but for ramps


def test_crowded_ramps_end_with_the_constant_that_they_are_a_sign_of() -> None:
    problem, Z = rare(3000, 0.05, np.random.default_rng(6))
    active = ActiveSet(tuning=replace(FEW, newton_crowded=1e15))
    found = Newton(active).solve(problem, FeatureOperator(Z))
    exact = ActiveSet(tol=1e-6).solve(problem, FeatureOperator(Z))
    assert (found.path, found.status) == ("Newton's method, constant", Status.CONVERGED)
    assert found.gap <= 1e-8
    assert found.spread <= 1e-8
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)


# --------------------------------------------------------------------------- at once, after a look


def by_features(monkeypatch: pytest.MonkeyPatch, least: float = 1.0) -> Auto:
    """The choice, where Newton's method on few features is surely the shortest way if classes overlap."""
    monkeypatch.setattr(interior, "seconds_needed", lambda problem, size: 1e9)
    monkeypatch.setattr(choice, "LEAST", 1e9 * least)
    return Auto(ActiveSet(tol=1e-4))


def test_classes_that_overlap_go_to_newton_after_a_look_and_those_apart_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(7))
    y = np.sign(Z[:, 0])
    apart = Problem(y, np.minimum(1e4 * y, 0.0), np.maximum(1e4 * y, 0.0), total=0.0)
    away = Z + 3.0 * y[:, None] * np.eye(5)[0]
    solver = by_features(monkeypatch)
    for each, features, after_look in ((problem, Z, True), (apart, away, False)):
        found = solver.solve(each, FeatureOperator(features))
        exact = ActiveSet(tol=1e-6).solve(each, FeatureOperator(features))
        assert (found.path.startswith("look, Newton's method"), found.status) == (after_look, Status.CONVERGED)
        assert found.objective == pytest.approx(exact.objective, rel=1e-5)
        assert [line.iteration for line in found.history] == list(range(len(found.history)))


def test_where_newton_is_lost_after_a_look_the_active_set_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(7))
    monkeypatch.setattr(Newton, "_crowded", lambda self, problem, size, on_ramps: True)
    found = by_features(monkeypatch).solve(problem, FeatureOperator(Z))
    exact = ActiveSet(tol=1e-6).solve(problem, FeatureOperator(Z))
    assert (found.path, found.status) == ("active set", Status.CONVERGED)
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)


def test_newton_that_took_over_late_and_is_lost_gives_back_what_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orthants with C = 1000 went on to forty steps of an interior point, five of the active set before their end."""
    problem, Z = problem_of("classes", 3000, np.random.default_rng(7))
    steps: list[int] = []
    descended = Descent.run
    monkeypatch.setattr(Descent, "run", lambda self, *a, **options: steps.append(1) or descended(self, *a, **options))
    monkeypatch.setattr(Newton, "_crowded", lambda self, problem, size, on_ramps: True)
    monkeypatch.setattr(choice.Way, "saves", lambda self, climb: False)
    monkeypatch.setattr(choice.Way, "would_have_saved", lambda self, climb, step: isinstance(self.solver, Newton))
    monkeypatch.setattr(choice, "SURE", 0.0)
    found = Auto(ActiveSet(tol=1e-6, tuning=replace(FEW, small=10))).solve(problem, FeatureOperator(Z))
    exact = ActiveSet(tol=1e-6).solve(problem, FeatureOperator(Z))
    assert steps == [1]
    assert "Newton" not in found.path
    assert "interior" not in found.path
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)


def test_a_constant_after_a_look_that_was_left_is_proved_by_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, Z = rare(3000, 0.05, np.random.default_rng(6))
    monkeypatch.setattr(choice, "LOOK", 0.0)
    found = by_features(monkeypatch).solve(problem, FeatureOperator(Z))
    exact = ActiveSet(tol=1e-6).solve(problem, FeatureOperator(Z))
    assert (found.path, found.status) == ("look, Newton's method, constant", Status.CONVERGED)
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)


def test_a_constant_that_a_look_does_not_show_is_proved_where_newton_finds_no_difference() -> None:
    problem, Z = rare(3000, 0.05, np.random.default_rng(6))
    found = Newton(ActiveSet(tol=1e-4), looked=True).solve(problem, FeatureOperator(Z))
    exact = ActiveSet(tol=1e-6).solve(problem, FeatureOperator(Z))
    assert (found.path, found.status) == ("Newton's method, constant", Status.CONVERGED)
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)


def test_two_features_as_two_entries_of_examples_serve() -> None:
    """As many examples per pair as there are columns: equal numbers, though no pair has a list of features."""
    X = np.random.default_rng(2).normal(size=(10, 2))
    pairs = pl.all_pairs(X, reflexive=False)
    y = np.where(X[pairs.left, 0] + X[pairs.right, 1] > 0, 1, -1)
    newton, smo = (
        pl.PairSVC("direct_sum", "linear", C=10.0, tol=1e-6, solver=solver, random_state=0).fit(pairs, y)
        for solver in ("newton", "smo")
    )
    assert newton.fit_status_ == "converged"
    assert newton.objective_ == pytest.approx(smo.objective_, rel=1e-5)


def test_a_start_at_the_optimum_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no step that could leave its ramps empty, and no constant is looked for."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError

    problem, Z = problem_of("classes", 400, np.random.default_rng(8))
    solver = Newton(ActiveSet(tol=1e-4, tuning=FEW))
    best = solver.solve(problem, FeatureOperator(Z)).coefficients
    monkeypatch.setattr("pairlearn.solvers.newton.solver.proven", refused)
    assert solver.solve(problem, FeatureOperator(Z), best).path == "Newton's method, active set"


def test_ctrl_c_during_the_look_leaves_a_feasible_start(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(7))
    found = by_features(monkeypatch).solve(problem, FeatureOperator(Z), None, lambda line: line.n_pairs < 3000)
    assert found.status == Status.INTERRUPTED
    assert is_feasible(found.coefficients, problem)


def test_c_of_a_subset_begins_the_proof_for_all_pairs() -> None:
    problem, Z = rare(3000, 0.05, np.random.default_rng(6))
    part = taken(problem, np.arange(0, 3000, 2))
    first = constant(part, Columns(Z[::2]), Clock.start())
    assert first is not None
    found, cold = (constant(problem, Columns(Z), Clock.start(), c) for c in (first.c, None))
    assert found is not None
    assert cold is not None
    np.testing.assert_allclose(found.theta, cold.theta, atol=1e-6)


# --------------------------------------------------------------------------- stops and starts


@pytest.mark.parametrize("after", [1, 3, 8])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_stopped_anywhere_the_solution_is_feasible_and_better_than_none(after: int, C: float) -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(3), C)
    found = Newton(ActiveSet(tuning=FEW)).solve(problem, FeatureOperator(Z), None, lambda p: p.iteration + 1 >= after)
    assert found.status == Status.INTERRUPTED
    assert len(found.history) == after
    assert is_feasible(found.coefficients, problem)
    gap = problem.box.gap(found.coefficients, problem.linear - Z @ (Z.T @ found.coefficients), True)
    assert found.gap == pytest.approx(gap)
    assert found.objective <= 0.0


def test_no_time_and_a_start() -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(4))
    operator = FeatureOperator(Z)
    none = Newton(ActiveSet(tuning=FEW, time_budget=0.0)).solve(problem, operator)
    assert none.status == Status.TIME_BUDGET
    assert is_feasible(none.coefficients, problem)
    whole = Newton(ActiveSet(tuning=FEW)).solve(problem, operator)
    again = Newton(ActiveSet(tuning=FEW)).solve(problem, operator, whole.coefficients)
    assert again.objective == pytest.approx(whole.objective, rel=1e-4)


@pytest.mark.parametrize("tuning", [FEW, BY_VALUES])
def test_a_start_is_never_made_worse(tuning: Tuning) -> None:
    """A converged start is certified at once; one that is broken off keeps at least what it began with."""
    problem, Z = problem_of("classes", 3000, np.random.default_rng(4))
    operator = FeatureOperator(Z)
    whole = Newton(ActiveSet(tuning=tuning)).solve(problem, operator)
    again = Newton(ActiveSet(tuning=tuning)).solve(problem, operator, whole.coefficients)
    assert len(again.history) <= 2
    np.testing.assert_array_equal(again.coefficients, whole.coefficients)
    wider = replace(problem, lower=1.01 * problem.lower, upper=1.01 * problem.upper)
    stopped = Newton(ActiveSet(tuning=tuning)).solve(wider, operator, whole.coefficients, lambda line: True)
    assert stopped.status == Status.INTERRUPTED
    assert stopped.objective <= whole.objective * (1 - 1e-12)


def test_a_little_memory_leads_by_few_pairs() -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(4))
    tuning = replace(TUNING, newton_features=0)
    size = Size.of(problem, FeatureOperator(Z), tuning, 1.2e6)
    assert size.sample < 200
    assert size.bytes_needed(problem) <= 1.2e6
    found = Newton(ActiveSet(memory=1.2e6, tuning=tuning)).solve(problem, FeatureOperator(Z))
    assert found.status == Status.CONVERGED


def test_a_key_press_in_a_step_keeps_the_last_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, Z = problem_of("classes", 3000, np.random.default_rng(5))
    steps = iter(range(100))

    def pressed(self: Descent, rest: np.ndarray, moved: np.ndarray) -> float:
        if next(steps) == 2:
            raise KeyboardInterrupt
        return turn(self, rest, moved)

    turn = Descent._turn
    monkeypatch.setattr(Descent, "_turn", pressed)
    found = Newton(ActiveSet(tuning=FEW)).solve(problem, FeatureOperator(Z))
    assert found.status == Status.INTERRUPTED
    assert is_feasible(found.coefficients, problem)


@pytest.mark.parametrize("kernel", ["tensor", "tensor_metric"])
def test_without_few_features_kernel_values_serve(kernel: str) -> None:
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(12), 5)
    X = rng.normal(size=(12, 3))[classes] + rng.normal(size=(60, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    operator = build(pl.pair_kernel(kernel).on(pl.kernels.Gaussian(0.2)), pairs).operator
    y = pairs.labels(classes).astype(float)
    problem = Problem(y, np.minimum(0.5 * y, 0.0), np.maximum(0.5 * y, 0.0), total=0.0)
    lines: list[Progress] = []
    one = Newton(ActiveSet(tol=1e-6, tuning=BY_VALUES)).solve(problem, operator, None, lines.append)
    two = PlainSMO(tol=1e-6).solve(problem, operator)
    assert (one.status, one.path) == (Status.CONVERGED, "Newton's method, active set")
    assert one.objective == pytest.approx(two.objective, rel=1e-8)
    np.testing.assert_allclose(operator @ one.coefficients, operator @ two.coefficients, atol=1e-4)


# --------------------------------------------------------------------------- parts


def smoothed(v: np.ndarray, low: np.ndarray, high: np.ndarray, eps: float, half: float) -> np.ndarray:
    """θ_h by its definition: from the nearest value to 0 to either end, by ramps at ±ε."""
    rest = np.clip(0.0, low, high)
    up, down = (np.clip((side - eps + half) / (2 * half), 0.0, 1.0) for side in (v, -v))
    return rest + (high - rest) * up + (low - rest) * down


@pytest.mark.parametrize("eps", [0.0, 0.4])
def test_smoothed_boxes_equal_their_definition_and_their_slopes(eps: float) -> None:
    rng = np.random.default_rng(6)
    n, half, bias, step = 40_000, 0.3, 0.2, 0.7
    low, high = -rng.uniform(0, 2, n) * (rng.random(n) < 0.7), rng.uniform(0, 2, n)
    if eps == 0.0:
        low[:100], high[:100] = 0.5, 1.0  # boxes away from 0
    v, dv = rng.normal(size=n), rng.normal(size=n)
    theta, slope = np.empty(n), np.empty(n)
    loops.rates.respond(v, bias, low, high, eps, half, theta, slope)
    np.testing.assert_allclose(theta, smoothed(v - bias, low, high, eps, half), atol=1e-14)
    d = 1e-7
    plain = [smoothed(v - bias + move, low, high, eps, half) for move in (-d, d)]
    edge = np.abs(np.abs(np.abs(v - bias) - eps) - half) < 2 * d
    np.testing.assert_allclose(slope[~edge], ((plain[1] - plain[0]) / (2 * d))[~edge], atol=1e-6)
    sums = np.empty(-(-n // loops.rates.CHUNK))
    loops.rates.along(v, dv, bias, step, low, high, eps, half, sums)
    assert sums.sum() == pytest.approx(smoothed(v - bias - step * dv, low, high, eps, half) @ dv)


@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("size", [Size(300, 300, 5), Size(300, 300, None), Size(300, 20, 5), Size(300, 40, None)])
def test_a_step_solves_the_newton_equations(constrained: bool, size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the dense Hessian in (w, b): at once by all pairs on their ramps, or led by some of them."""
    monkeypatch.setattr(equations, "ENOUGH", 0.0)
    rng = np.random.default_rng(7)
    problem, Z = problem_of("classes" if constrained else "no bias", 300, rng)
    descent = Descent(ActiveSet(), problem, FeatureOperator(Z), size, Relay(Clock.start(), None), Clock.start())
    descent.c = 0.1 * rng.normal(size=300)
    descent.v, descent.bias = problem.linear - Z @ (Z.T @ descent.c), 0.1 if constrained else 0.0
    theta, slope, half = np.empty(300), np.empty(300), 0.8
    loops.rates.respond(descent.v, descent.bias, problem.lower, problem.upper, 0.0, half, theta, slope)
    descent.theta, descent.slope, w = theta, slope, Z.T @ descent.c
    towards = theta - descent.c
    moved = Z @ (Z.T @ towards)
    db = descent._turn(towards, moved)
    np.testing.assert_allclose(moved, Z @ (Z.T @ towards), atol=1e-12)
    H = np.block([[np.eye(5) + Z.T @ (slope[:, None] * Z), (Z.T @ slope)[:, None]], [slope @ Z, slope.sum()]])
    gradient = np.append(w - Z.T @ theta, -theta.sum())
    if constrained:
        np.testing.assert_allclose(np.append(Z.T @ towards, db), -np.linalg.solve(H, gradient), atol=1e-9)
    else:
        np.testing.assert_allclose(Z.T @ towards, -np.linalg.solve(H[:5, :5], gradient[:5]), atol=1e-9)
        assert db == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_squares_equal_outer_products(sign: float) -> None:
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 7, 4))
    part, found = _square(lambda a, b: (a, b), sign), np.full((7, 14), np.nan)
    part.put(a, b, 2.0, found, 3)
    width = part.width(4)
    assert np.isnan(found[:, :3]).all()
    assert np.isnan(found[:, 3 + width :]).all()
    for k in range(7):
        M = (np.outer(a[k], b[k]) + sign * np.outer(b[k], a[k])) / 2
        i, j = np.triu_indices(4, 0 if sign > 0 else 1)
        np.testing.assert_allclose(found[k, 3 : 3 + width], 2.0 * M[i, j] * np.where(i == j, 1.0, np.sqrt(2.0)))


def test_the_plan_counts_what_a_descent_holds() -> None:
    problem, _ = problem_of("classes", 1000, np.random.default_rng(9))
    small, large = Size(1000, 25, 5), Size(1000, 250, 50)
    assert small.bytes_needed(problem) < large.bytes_needed(problem)
    assert small.seconds_needed(problem) < large.seconds_needed(problem)
    operator = build(pl.pair_kernel("metric").on(Linear()), some_pairs()).operator
    assert Size.of(problem, operator, TUNING).features == 3
    assert Size.of(problem, operator, replace(TUNING, newton_features=2)) == Size(1000, 1000, None)


def some_pairs() -> pl.Pairs:
    return pl.all_pairs(np.random.default_rng(0).normal(size=(30, 2)), reflexive=False)


def test_the_same_seed_gives_the_same_bits() -> None:
    problem, Z = problem_of("classes", 30_000, np.random.default_rng(10))

    def solved() -> Solution:
        return Newton(ActiveSet(tuning=FEW, seed=3)).solve(problem, FeatureOperator(Z))

    np.testing.assert_array_equal(solved().coefficients, solved().coefficients)


def test_coefficients_that_miss_their_sum_are_not_spoken_of() -> None:
    """Of one class all coefficients are 0 at first, which looks optimal but adds up to 0 instead of 1."""
    problem, Z = problem_of("one class", 300, np.random.default_rng(0))
    operator = FeatureOperator(np.exp(-((Z[:, None] - Z[None, :60]) ** 2).sum(axis=2)))
    told: list[Progress] = []
    Newton(ActiveSet(tol=1e-4, tuning=FEW)).solve(problem, operator, callback=lambda line: bool(told.append(line)))
    assert told[0].n_support > 0
    assert told[0].gap > 1e-4
    stopped = Newton(ActiveSet(tol=1e-4, tuning=FEW)).solve(problem, operator, callback=lambda line: True)
    assert is_feasible(stopped.coefficients, problem)
