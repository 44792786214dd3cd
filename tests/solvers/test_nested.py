"""Nested subsets, the start they give, and the choice between solvers."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import pairlearn as pl
from pairlearn.errors import InputError, TooLargeError
from pairlearn.kernels import Gaussian, Linear
from pairlearn.operators.base import PairOperator
from pairlearn.operators.build import build
from pairlearn.operators.dense import DenseOperator
from pairlearn.solvers import (
    ActiveSet,
    Auto,
    Interior,
    Nested,
    Problem,
    Progress,
    Solution,
    Status,
    choice,
    clock,
    interior,
    splitting,
)
from pairlearn.solvers.active import nested
from pairlearn.solvers.active.nested import PER_GUESS, Climb, Guess, taken
from pairlearn.solvers.certificate import finish
from pairlearn.solvers.newton import Size
from pairlearn.solvers.splitting import Splitting, room
from pairlearn.solvers.splitting.iteration import Iteration
from pairlearn.solvers.start import at_bounds, feasible
from pairlearn.solvers.tuning import TUNING
from pairlearn.types import Floats

SMALL = replace(TUNING, subset=40, subset_growth=3, candidates=(20, 40))
"""Three subsets below a thousand pairs."""

rng = np.random.default_rng(3)
CLASSES = np.arange(45) // 5
X = rng.normal(size=(9, 6))[CLASSES] + 1.5 * rng.normal(size=(45, 6))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES).astype(float)
N = len(Y)
PROBLEMS = {
    "same or different": Problem(Y, np.minimum(Y, 0.0), np.maximum(Y, 0.0), total=0.0),
    "weights": Problem(Y, np.minimum(Y, 0.0) * np.linspace(0.0, 2.0, N), np.maximum(Y, 0.0), total=0.0),
    "no bias": Problem(Y, np.minimum(Y, 0.0), np.maximum(Y, 0.0)),
    "regression": Problem(Y + rng.normal(size=N), -np.ones(N), np.ones(N), epsilon=0.2, total=0.0),
}
METRIC = pl.pair_kernel("metric").on(Linear())
KERNELS = {"tensor, gaussian": pl.pair_kernel("tensor").on(Gaussian(0.1)), "metric, linear": METRIC}


def operator_of(name: str) -> PairOperator:
    return build(KERNELS[name], PAIRS).operator


# --------------------------------------------------------------------------- the start


@pytest.mark.parametrize("seed", range(30))
def test_pairs_at_their_bounds_solve_the_linear_programme(seed: int) -> None:
    """max vᵀθ − ε‖θ‖₁ over box and sum, with some coefficients known, against another solver."""
    rng = np.random.default_rng(seed)
    n, eps = 15, 0.0 if seed % 3 else 0.4
    low, high = -rng.uniform(0, 2, n) * (rng.random(n) < 0.7), rng.uniform(0, 2, n) * (rng.random(n) < 0.7)
    known, theta = rng.random(n) < 0.3, rng.uniform(low, high)
    total = None if seed % 5 == 4 else float(rng.uniform(low, high).sum())
    v = rng.normal(size=n)
    problem = Problem(np.zeros(n), low, high, eps, total)
    found = at_bounds(problem, v, known, theta)
    assert (found >= low).all()
    assert (found <= high).all()
    free = ~known
    rest = None if total is None else total - theta[known].sum()
    reachable = rest is None or low[free].sum() <= rest <= high[free].sum()
    if total is not None:
        assert found.sum() == pytest.approx(total)
    if reachable:
        np.testing.assert_array_equal(found[known], theta[known])
        best = programme(v[free], low[free], high[free], eps, rest)
        assert v[free] @ found[free] - eps * np.abs(found[free]).sum() == pytest.approx(best, abs=1e-9)
        inside = (found > low) & (found < high) & (found != 0) & free
        assert inside.sum() <= 1


def programme(v: np.ndarray, low: np.ndarray, high: np.ndarray, eps: float, total: float | None) -> float:
    """By linprog on θ = s − t."""
    n = len(v)
    bounds = [(max(a, 0.0), max(b, 0.0)) for a, b in zip(low, high, strict=True)]
    bounds += [(max(-b, 0.0), max(-a, 0.0)) for a, b in zip(low, high, strict=True)]
    row = None if total is None else [np.concatenate([np.ones(n), -np.ones(n)])]
    cost = np.concatenate([-v + eps, v + eps])
    return -float(linprog(cost, A_eq=row, b_eq=None if total is None else [total], bounds=bounds).fun)


def test_a_subset_stands_for_all_pairs() -> None:
    """The same pair twelve times, or once with twelve times the box: the same function."""
    K = np.array([[2.0, 0.5], [0.5, 1.0]])
    y = np.array([1.0, -1.0])
    once = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    many = Problem(np.repeat(y, 12), np.repeat(once.lower, 12), np.repeat(once.upper, 12), total=0.0)
    whole = ActiveSet(tol=1e-9).solve(many, DenseOperator(np.kron(K, np.ones((12, 12)))))
    part = ActiveSet(tol=1e-9).solve(taken(many, np.array([0, 12])), DenseOperator(K))
    assert part.objective == pytest.approx(whole.objective)
    assert part.bias == pytest.approx(whole.bias, abs=1e-6)


# --------------------------------------------------------------------------- operators of some pairs


@pytest.mark.parametrize(
    "kernel",
    [
        *KERNELS.values(),
        pl.pair_kernel("wedge_squared").on(Gaussian(0.1)),
        pl.pair_kernel("tensor").on(Gaussian(0.1)) + pl.pair_kernel("metric").on(Linear()),
    ],
)
def test_operators_of_some_pairs_are_parts_of_the_whole(kernel: pl.pair_kernels.PairKernel) -> None:
    operator = build(kernel, PAIRS).operator
    index = np.sort(np.random.default_rng(0).choice(N, 200, replace=False))
    part, K = operator.restricted(index), operator.rows(np.arange(N))[np.ix_(index, index)]
    x = np.random.default_rng(1).normal(size=200)
    np.testing.assert_allclose(part @ x, K @ x, atol=1e-9 * np.abs(K).max() * 200)
    np.testing.assert_allclose(part.diagonal(), K.diagonal())
    np.testing.assert_allclose(part.submatrix(np.arange(50), np.arange(60)), K[:50, :60], atol=1e-12 * np.abs(K).max())


def test_features_of_some_pairs() -> None:
    Z = rng.normal(size=(30, 3))
    part = pl.operators.product.FeatureOperator(Z).restricted(np.array([3, 5]))
    np.testing.assert_allclose(part.submatrix(np.arange(2)), Z[[3, 5]] @ Z[[3, 5]].T)


# --------------------------------------------------------------------------- solutions


@pytest.mark.parametrize("solver", [Nested, Auto])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_subsets_lead_to_the_same_optimum(solver: type, name: str, kernel: str) -> None:
    problem, operator = PROBLEMS[name], operator_of(kernel)
    plain = ActiveSet(tol=1e-6).solve(problem, operator)
    found = solver(ActiveSet(tol=1e-6, tuning=SMALL)).solve(problem, operator)
    assert found.status == Status.CONVERGED
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)
    np.testing.assert_allclose(operator @ found.coefficients, operator @ plain.coefficients, atol=1e-3)


def test_subsets_grow_to_the_whole_and_are_counted() -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    climb = Climb(ActiveSet(tol=1e-6, tuning=SMALL), problem, operator, None)
    sizes = []
    while climb.next_size < N:
        sizes.append(climb.next_size)
        climb.advance()
        assert climb.guess is not None
        theta = climb.guess.theta
        assert (theta >= problem.lower).all()
        assert (theta <= problem.upper).all()
        assert theta.sum() == pytest.approx(0.0, abs=1e-9)
        assert climb.guess.n_free + climb.guess.n_bounded == climb.guess.n_support
    assert sizes == [110, 330]
    solution = climb.ended()
    assert solution.path == "nested subsets, active set"
    assert [line.iteration for line in solution.history] == list(range(len(solution.history)))
    assert solution.taken > 0


def test_without_memory_or_time_for_a_guess_there_are_no_subsets() -> None:
    """A guess of 8 million pairs took 400 MB beyond a budget, and 60 s beyond 5."""
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    enough = PER_GUESS * len(problem)
    for memory, seconds, climbs in ((enough, None, True), (enough - 1, None, False), (enough, 0.0, False)):
        active = ActiveSet(tol=1e-6, tuning=SMALL, memory=memory, time_budget=seconds)
        assert Climb(active, problem, operator, None).goes_on is climbs


def test_where_classes_overlap_a_subset_guesses_most_of_the_bounded_pairs() -> None:
    classes = np.arange(60) % 2
    examples = np.random.default_rng(0).normal(size=(60, 3)) + 0.8 * classes[:, None]
    pairs = pl.all_pairs(examples, reflexive=False)
    y = pairs.labels(classes).astype(float)
    problem, operator = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0), build(METRIC, pairs).operator
    climb = Climb(ActiveSet(tol=1e-6, tuning=SMALL), problem, operator, None)
    climb.advance()
    climb.advance()
    assert climb.guess is not None
    assert climb.guess.overlaps
    theta, best = climb.guess.theta, ActiveSet(tol=1e-6).solve(problem, operator)
    bounded = problem.box.bounded(best.coefficients)
    assert np.mean(theta[bounded] == best.coefficients[bounded]) > 0.9


@pytest.mark.parametrize("solver", [Nested, Auto])
@pytest.mark.parametrize("stop", range(5))
def test_every_stop_on_the_way_is_feasible(solver: type, stop: int) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    lines: list[Progress] = []

    def callback(progress: Progress) -> bool:
        lines.append(progress)
        return progress.iteration >= stop

    found = solver(ActiveSet(tol=1e-6, tuning=SMALL)).solve(problem, operator, None, callback)
    assert found.status == Status.INTERRUPTED
    assert len(lines) == stop + 1 == len(found.history)
    assert (found.coefficients >= problem.lower).all()
    assert (found.coefficients <= problem.upper).all()
    assert found.coefficients.sum() == pytest.approx(0.0, abs=1e-9)


def test_no_time_still_learns_something() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pl.PairSVC("tensor", Gaussian(0.1), time_budget=0.0, random_state=0).fit(PAIRS, Y)
    assert model.n_support_ > 0


@pytest.mark.parametrize("solver", [Auto(ActiveSet(tol=1e-6)), Nested(ActiveSet(tol=1e-6))])
def test_the_laws_of_solvers_hold(solver: Auto | Nested) -> None:
    pl.testing.check_solver(solver, tol=1e-6)


# --------------------------------------------------------------------------- the choice


def test_all_pairs_at_once_take_over_where_subsets_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the expected seconds of both, whichever way is said to be shorter; both end at the same optimum."""
    problem, operator = PROBLEMS["same or different"], operator_of("metric, linear")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100, pairs_per_equation=1))
    paths = {}
    for seconds in (1e9, 0.0):
        monkeypatch.setattr(Climb, "expected", property(lambda self, seconds=seconds: 1e6 - seconds))
        monkeypatch.setattr(Climb, "factoring", 0.0)
        monkeypatch.setattr(interior, "seconds_needed", lambda problem, size: 1e3)
        monkeypatch.setattr(Size, "seconds_needed", lambda self, problem: 1e4)
        found = Auto(active).solve(problem, operator)
        assert found.status == Status.CONVERGED
        paths[found.path] = found.objective
    assert list(paths) == ["nested subsets, active set", "nested subsets, interior point"]
    assert np.ptp(list(paths.values())) < 1e-6 * abs(next(iter(paths.values())))


@pytest.mark.parametrize("late", [True, False])
def test_newton_by_kernel_values_takes_over_where_most_support_pairs_are_bounded(
    late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a subset, or on the whole where no subset was found to take longer; not where free pairs have no room."""
    whole, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    problem = replace(whole, lower=0.3 * whole.lower, upper=0.3 * whole.upper)
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=10**6, candidates=(5, 10)))
    plain = Auto(active).solve(problem, operator)
    monkeypatch.setattr(Size, "seconds_needed", lambda self, problem: 1e-9)
    monkeypatch.setattr(Climb, "climbing", 0.0 if late else 1e9)
    found = Auto(active).solve(problem, operator)
    ends = "active set, Newton's method, active set", "nested subsets, Newton's method, active set"
    assert found.path in ends
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)
    monkeypatch.setattr(Climb, "factoring", np.inf)
    if not late:
        monkeypatch.setattr(Climb, "spent", 0.0)
        assert "Newton" not in Auto(active).solve(problem, operator).path


def test_splitting_takes_over_where_a_factor_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))
    plain = Auto(active).solve(problem, operator)
    monkeypatch.setattr(Climb, "factoring", 1e9)
    found = Auto(active).solve(problem, operator)
    assert (plain.path, found.path) == ("nested subsets, active set", "nested subsets, splitting")
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize("foreseen", [True, False])
def test_splitting_begins_where_a_probe_foresees_many_free_pairs(
    foreseen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, tuning=replace(TUNING, small=100))
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(nested, "PROBES", (100, 200))
    monkeypatch.setattr(choice, "FACTORS", 1e9 if foreseen else 1e-9)
    found = Auto(active).solve(problem, operator)
    assert found.path == ("probe, splitting" if foreseen else "active set")
    assert found.history[0].n_pairs == 100
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(ActiveSet(tol=1e-6).solve(problem, operator).objective, rel=1e-6)


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0])
def test_free_pairs_are_foreseen_by_the_power_that_they_grow_with(
    power: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """count(n) = n^p between the probes goes on as n^min(.8 p, .7): a closed form on either side of it."""
    climb = Climb(ActiveSet(), PROBLEMS["same or different"], operator_of("tensor, gaussian"), None)
    monkeypatch.setattr(nested, "PROBES", (16, 64))
    monkeypatch.setattr(Climb, "_free_of", lambda self, size: size**power)
    expected = 64**power * (N / 64) ** min(nested.FLATTER * power, nested.MOST_POWER)
    assert climb.foresees(0.99 * expected)
    assert not climb.foresees(1.01 * expected)


def test_where_nearly_all_pairs_of_the_first_probe_are_free_it_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    climb = Climb(ActiveSet(), PROBLEMS["same or different"], operator_of("tensor, gaussian"), None)
    asked: list[int] = []
    monkeypatch.setattr(nested, "PROBES", (16, 64))
    monkeypatch.setattr(Climb, "_free_of", lambda self, size: asked.append(size) or 0.75 * size)
    surely = 12 * (N / 16) ** nested.SURELY
    assert climb.foresees(0.99 * surely)
    assert asked == [16]
    climb.foresees(1.01 * surely)
    assert asked == [16, 16, 64]


@pytest.mark.parametrize("stop", [0, 2])
def test_a_stop_within_the_probe_leaves_what_it_knows(stop: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(nested, "PROBES", (100, 200))
    active = ActiveSet(tol=1e-6, candidates=10, tuning=replace(TUNING, small=50))
    found = Auto(active).solve(problem, operator, None, lambda line: line.iteration >= stop)
    assert (found.status, len(found.history)) == (Status.INTERRUPTED, stop + 1)
    assert (found.coefficients >= problem.lower).all()
    assert (found.coefficients <= problem.upper).all()
    assert found.coefficients.sum() == pytest.approx(0.0, abs=1e-9)
    assert found.coefficients.any() == (stop > 0)


def test_without_many_pairs_that_can_end_at_bounds_there_are_no_subsets() -> None:
    """360 pairs of one class outweigh no more than 360 of the others; with equal weights of classes all 990 may."""
    operator, active = operator_of("tensor, gaussian"), ActiveSet(tol=1e-6, tuning=SMALL)
    few = Problem(Y, 0.2 * np.minimum(Y, 0.0), 0.2 * np.maximum(Y, 0.0), total=0.0)
    same = (Y > 0).sum()
    assert few.box.most_bounded(0.0) == pytest.approx(2 * same)
    balanced = replace(few, lower=few.lower * same / (N - same))
    assert balanced.box.most_bounded(0.0) == pytest.approx(N)
    assert Auto(active).solve(balanced, operator).path.startswith("nested subsets")
    lean = replace(SMALL, candidates=(same, same))
    assert Auto(replace(active, tuning=lean)).solve(few, operator).path == "active set"


def test_the_active_set_goes_on_where_splitting_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))
    solve = Splitting.solve
    monkeypatch.setattr(Climb, "factoring", 1e9)
    monkeypatch.setattr(Splitting, "solve", lambda *a: replace(solve(*a), status=Status.STALLED))
    found = Auto(active).solve(problem, operator)
    assert found.path == "nested subsets, splitting, active set"
    assert found.status == Status.CONVERGED


@pytest.mark.parametrize("begun", ["probe", "subset", "resumed"])
def test_another_way_is_gone_where_splitting_stands_still_far_from_its_end(
    begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30,000 pairs of penbased ended with what splitting knew after one look, four fifths of their time later."""
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))
    start = replace(active, tol=0.1).solve(problem, operator).coefficients if begun == "resumed" else None
    steps: list[int] = []
    refined: list[int] = []
    refine = Iteration.refine
    monkeypatch.setattr(Iteration, "step", lambda self: steps.append(1))
    monkeypatch.setattr(Iteration, "refine", lambda self: refined.append(len(steps)) or refine(self))
    monkeypatch.setattr(room, "MENDED", (0, 0))
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(Climb, "foresees", lambda self, free: begun == "probe")
    monkeypatch.setattr(Climb, "factoring", 1e9)
    found = Auto(active, begun="Splitting" if start is not None else "").solve(problem, operator, start)
    assert found.status == Status.CONVERGED
    assert "splitting" not in found.path
    # The first look is better than none, by its objective, but has no lower gap.
    assert refined == [20 * (20 if begun == "probe" else 21)]
    assert len(steps) == 20 * 31


def test_an_interior_point_that_takes_far_too_many_steps_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orthants with C = 1000 were not solved in 300 s, five steps of an active set before its end."""
    problem, operator = PROBLEMS["same or different"], operator_of("metric, linear")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))
    plain = Auto(active).solve(problem, operator)
    monkeypatch.setattr(choice, "LONG", 3)
    found = Auto(active).solve(problem, operator)
    assert ("interior point" in plain.path, "interior point" in found.path) == (True, False)
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)


def test_what_splitting_came_to_counts_where_what_follows_it_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    best = ActiveSet(tol=1e-6).solve(problem, operator)
    climb_ended = Climb.ended
    monkeypatch.setattr(Climb, "ended", lambda self, start=None: none_known(climb_ended(self, start)))
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(Climb, "foresees", lambda self, free: True)
    monkeypatch.setattr(Climb, "goes_on", False)
    monkeypatch.setattr(choice, "_standing", lambda tol: lambda line: line.gap < 0.1)
    found = Auto(ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))).solve(problem, operator)
    assert (found.status, found.path) == (Status.TIME_BUDGET, "active set")
    assert found.objective == pytest.approx(best.objective, rel=0.01)


def test_ctrl_c_after_a_way_that_was_lost_leaves_what_it_came_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any other solver knows a thing, as well as where one is at work."""
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    best = ActiveSet(tol=1e-6).solve(problem, operator)

    def raises(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Climb, "ended", raises)
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(Climb, "foresees", lambda self, free: True)
    monkeypatch.setattr(Climb, "goes_on", False)
    monkeypatch.setattr(choice, "_standing", lambda tol: lambda line: line.gap < 0.1)
    found = Auto(ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))).solve(problem, operator)
    assert found.status == Status.INTERRUPTED
    assert found.objective == pytest.approx(best.objective, rel=0.01)
    assert [line.iteration for line in found.history] == list(range(len(found.history)))


@pytest.mark.parametrize("shares", [(0.5, 0.1), (0.1, 0.5)])
def test_of_two_ways_that_were_lost_the_better_one_counts(
    shares: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    climb = Climb(ActiveSet(tol=1e-6), problem, operator, None)
    optimum = climb.active.solve(problem, operator).coefficients
    for share in shares:
        lost = finish(problem, operator, share * optimum, Status.INTERRUPTED, 1e-6, ())

        def taken_over(climb: Climb, *_: object, lost: Solution = lost) -> Solution:
            climb.relay.left = True
            return lost

        monkeypatch.setattr(choice, "_taken_over", taken_over)
        ways = [choice.Way(1.0, Splitting())]
        assert choice._tried(climb, ways, ways[0], None) is None
        assert not ways
    assert climb.lost is not None
    np.testing.assert_allclose(climb.lost.coefficients, 0.5 * optimum)


def look(gap: float, objective: float = -1.0, n_support: int = 9) -> Progress:
    return Progress(0, gap, objective, n_support, 10, 0.0, 10)


def left_after(gaps: list[float], objectives: list[float] | None = None, tol: float = 1e-3) -> int | None:
    """Number of the look at which splitting is left."""
    leave = choice._standing(tol)
    lines = [look(*found) for found in zip(gaps, objectives or [-1.0] * len(gaps), strict=True)]
    return next((number for number, line in enumerate(lines) if leave(line)), None)


def test_splitting_stands_still_where_neither_gap_nor_objective_falls() -> None:
    """A gap that falls by 8 % a look does not, nor one that falls to a third after twenty looks up and down."""
    still = choice.STILL
    assert left_after([9.0] + [5.0] * 100) == 1 + still
    assert left_after([9.0] + [5.0 * 0.92**k for k in range(60)]) is None
    assert left_after([9.0] + [5.0, 4.0] * 10 + [1.4] * 100) == 21 + still
    assert left_after([9.0] + [5.0] * 100, [-1.0 - 0.01 * k for k in range(101)]) is None
    assert left_after([9.0] + [0.029] * 100) is None


def test_the_gap_of_a_start_is_no_mark_for_what_splitting_comes_to() -> None:
    """Splitting leaves a good start for a gap of 2, and takes some looks to come back to less."""
    falling = [2.0 * 0.9**k for k in range(40)]
    assert left_after([0.04, *falling], tol=1e-6) is None
    assert left_after([0.04, *falling], [-9.0] + [-1.0] * 40, tol=1e-6) is None


@pytest.mark.parametrize("begun", ["nothing", "start"])
@pytest.mark.parametrize("seed", range(10))
def test_splitting_is_left_only_after_looks_in_float64(seed: int, begun: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the gaps are, by the rule that doubles its precision, far from the end."""
    r, problem, operator = np.random.default_rng(seed), PROBLEMS["same or different"], operator_of("tensor, gaussian")
    run = splitting.solver._Run(Splitting(tol=1e-6), problem, operator, None, None)
    leave, doubled, number, support = choice._standing(1e-6), [], 0, begun == "start"
    iteration = Iteration.__new__(Iteration)
    iteration.dtype, run.lowest = np.float32, 1.0
    monkeypatch.setattr(iteration, "refine", lambda: doubled.append(number), raising=False)
    low = 0.0
    while number < 1000:
        low -= float(r.exponential(0.5)) * (r.random() < 0.05) * (number < 200)
        gap = float(np.exp(low + 0.3 * r.normal()))
        run.looks.note(gap, support)
        if leave(look(gap, n_support=int(support))):
            break
        run._tune(1, iteration)
        number, support = number + 1, True
    assert number < 1000
    assert number - doubled[0] >= 10


def none_known(found: Solution) -> Solution:
    """As if there had been no time for a step."""
    nothing = np.zeros(len(found.coefficients))
    return replace(found, coefficients=nothing, objective=0.0, status=Status.TIME_BUDGET)


def test_splitting_is_not_begun_without_time_for_its_eigenbasis(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    monkeypatch.setattr(Climb, "factoring", 1e9)
    sandwich = operator.sandwich()
    assert sandwich is not None
    monkeypatch.setattr(clock, "seconds_each", lambda: 1e3 / splitting.first_operations(sandwich))
    paths = []
    for budget in (500.0, 2000.0, None):
        active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100), time_budget=budget)
        paths.append(Auto(active).solve(problem, operator).path)
    assert ["splitting" in path for path in paths] == [False, True, True]


def test_memory_of_a_solver_that_was_left_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    solve = Splitting.solve
    monkeypatch.setattr(Climb, "factoring", 1e9)
    monkeypatch.setattr(Splitting, "solve", lambda *a: replace(solve(*a), status=Status.STALLED, taken=10**12))
    assert Auto(ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))).solve(problem, operator).taken == 10**12


def test_a_resumed_solver_that_stands_still_is_followed_by_the_active_set(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active, solve = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100)), Splitting.solve
    start = replace(active, tol=0.1).solve(problem, operator).coefficients
    assert Auto(active, begun="Splitting").solve(problem, operator, start).path == "splitting"
    monkeypatch.setattr(Splitting, "solve", lambda *a: replace(solve(*a), status=Status.STALLED))
    found = Auto(active, begun="Splitting").solve(problem, operator, start)
    assert (found.path, found.status) == ("splitting, active set", Status.CONVERGED)


@pytest.mark.parametrize("solver", [Auto, Nested])
def test_ctrl_c_between_two_solvers_leaves_what_is_known(
    solver: type[Auto | Nested], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python raises wherever it stands, here after the last subset."""
    unit, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    problem = replace(unit, lower=0.05 * unit.lower, upper=0.05 * unit.upper)
    guesses: list[Floats] = []

    def raises(climb: Climb, *_: object) -> None:
        assert climb.guess is not None
        guesses.append(climb.guess.theta)
        raise KeyboardInterrupt

    monkeypatch.setattr(Climb, "ended", raises)
    found = solver(ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))).solve(problem, operator)
    assert (found.path, found.status) == ("nested subsets", Status.INTERRUPTED)
    assert found.objective < 0.0
    shares = found.coefficients[guesses[0] != 0] / guesses[0][guesses[0] != 0]
    assert shares == pytest.approx(shares[0])  # the best share of the guess


def test_ctrl_c_before_anything_is_known_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object) -> None:
        raise KeyboardInterrupt

    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    monkeypatch.setattr(Auto, "_split_at_once", raises)
    found = Auto().solve(problem, operator)
    assert (found.status, np.count_nonzero(found.coefficients)) == (Status.INTERRUPTED, 0)
    start = ActiveSet(tol=0.1).solve(problem, operator).coefficients
    np.testing.assert_array_equal(Auto().solve(problem, operator, start).coefficients, start)


def test_another_way_goes_on_where_the_active_set_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, candidates=10, tuning=replace(TUNING, small=100))
    plain, lines = Auto(active).solve(problem, operator), []
    monkeypatch.setattr(
        choice.Way,
        "would_have_saved",
        lambda self, climb, step: isinstance(self.solver, Splitting) and step.iteration == 3,
    )
    found = Auto(active).solve(problem, operator, None, lines.append)
    assert (plain.path, found.path) == ("active set", "active set, splitting")
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)
    assert [line.iteration for line in lines] == list(range(len(lines)))
    assert len(lines) == len(found.history) > 4


def test_a_subset_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors of the active set are counted; once another way would have ended, it begins, here from nothing."""
    problem, operator = PROBLEMS["same or different"], operator_of("metric, linear")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100, pairs_per_equation=1))
    monkeypatch.setattr(interior, "seconds_needed", lambda problem, size: 1e9)
    monkeypatch.setattr(Size, "seconds_needed", lambda self, problem: 1e-5)
    monkeypatch.setattr(choice, "LEAST", 0.0)
    found, plain = Auto(active).solve(problem, operator), active.solve(problem, operator)
    assert found.path == "nested subsets, Newton's method, constant"
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize(("old", "new"), [(1.0, 10.0), (2000.0, 100.0)], ids=["upwards", "downwards"])
def test_a_start_with_many_free_pairs_goes_to_splitting_at_once(
    monkeypatch: pytest.MonkeyPatch, old: float, new: float
) -> None:
    """From the optimum of another C, with its bounded pairs at the new bounds: too far where C rises."""
    unit, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    first, problem = (replace(unit, lower=C * unit.lower, upper=C * unit.upper) for C in (old, new))
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))
    theta = active.solve(first, operator).coefficients
    start = feasible(np.where(np.abs(theta) == old, 1e3 * theta, theta), problem)
    mended, n_free = choice.promise(problem, operator, start)
    assert (np.abs(mended) < np.abs(start)).any() == (old < new)
    assert n_free == np.count_nonzero(start)
    plain = Auto(active).solve(problem, operator, start)
    monkeypatch.setattr(splitting, "seconds_needed", lambda sandwich: 1e-9)
    found = Auto(active).solve(problem, operator, start)
    assert (plain.path, found.path) == ("active set", "warm start, splitting")
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)


def smaller_box() -> tuple[Problem, Floats]:
    """A problem with a hundredth of the C of another, and the start that the solution of that leaves."""
    wide, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    problem = replace(wide, lower=0.01 * wide.lower, upper=0.01 * wide.upper)
    start = feasible(ActiveSet(tol=1e-6).solve(wide, operator).coefficients, problem)
    assert problem.box.free(start).sum() < 0.3 * N
    return problem, start


def test_a_start_at_its_bounds_is_probed_like_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a smaller box the pairs of the start are at their bounds: a probe tells how many will be free."""
    (problem, start), operator = smaller_box(), operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, tuning=replace(TUNING, small=100))
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(choice, "factor_seconds", lambda n: 0.0)
    monkeypatch.setattr(Climb, "foresees", lambda self, free: True)
    found = Auto(active).solve(problem, operator, start)
    assert found.path == "probe, splitting"
    assert found.status == Status.CONVERGED
    assert found.objective == pytest.approx(active.solve(problem, operator).objective, rel=1e-6)


def test_a_stop_within_the_probe_of_a_start_leaves_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem, start), operator = smaller_box(), operator_of("tensor, gaussian")
    monkeypatch.setattr(choice, "PROBED", (N, N))
    monkeypatch.setattr(choice, "FACTORS", 1e-9)
    monkeypatch.setattr(nested, "PROBES", (100, 200))
    active = ActiveSet(tol=1e-6, candidates=10, tuning=replace(TUNING, small=50))
    found = Auto(active).solve(problem, operator, start, lambda line: True)
    assert (found.status, found.path) == (Status.INTERRUPTED, "active set")
    assert found.objective <= problem.box.objective(start, problem.linear, problem.linear - operator @ start) + 1e-9


def test_what_the_rest_takes_grows_with_the_free_pairs() -> None:
    climb = Climb(ActiveSet(), PROBLEMS["same or different"], operator_of("tensor, gaussian"), None)
    climb.seconds = 1.0
    few, many = (Guess(np.zeros(N), N // 6, 900, bounded) for bounded in (890, 0))
    expected = []
    for climb.guess in (few, many):
        expected.append((climb.expected, climb.factoring))
    assert expected[0][0] == pytest.approx(2.0 + expected[0][1])
    assert expected[1][1] / expected[0][1] == pytest.approx(90.0**3)
    climb.active = ActiveSet(memory=1e6)
    assert climb.factoring == np.inf


def test_without_room_for_all_features_the_interior_point_is_refused() -> None:
    """1.1 million pairs of 8,256 features asked for 69 GiB, whatever the budget."""
    with pytest.raises(TooLargeError, match=r"990 pairs with 21 features each.*raise memory_budget"):
        Interior(ActiveSet(memory=1e5)).solve(PROBLEMS["no bias"], operator_of("metric, linear"))


def test_without_few_features_the_interior_point_is_refused() -> None:
    with pytest.raises(InputError, match='use solver="auto"'):
        Interior().solve(PROBLEMS["no bias"], operator_of("tensor, gaussian"))


def test_models_say_which_way_they_were_found() -> None:
    model = pl.PairSVC("metric", "linear", random_state=0).fit(PAIRS, Y)
    assert model.path_ == "active set"
    assert pl.PairSVC("metric", "linear", solver="smo").fit(PAIRS, Y).path_ == "plain SMO"


@pytest.mark.parametrize(("power", "expected"), [(0.3, 0.24), (0.9, 0.5), (-0.1, 0.0)])
def test_a_part_of_a_subset_tells_how_free_pairs_grow(
    monkeypatch: pytest.MonkeyPatch, power: float, expected: float
) -> None:
    """They flatten out further on; no more of them are foreseen than by half a power."""
    climb = Climb(ActiveSet(), PROBLEMS["same or different"], operator_of("tensor, gaussian"), None)
    climb.guess = Guess(np.zeros(N), N // 6, 10**5, 0)
    asked = []

    def free(self: Climb, size: int) -> int:
        asked.append(size)
        return round(10**5 / 4**power)

    monkeypatch.setattr(Climb, "_free_of", free)
    climb.look_at_growth()
    assert asked == [N // 24]
    assert climb.exponent == pytest.approx(expected, abs=1e-3)


def test_a_part_that_tells_of_growth_is_never_left() -> None:
    """Whoever watches for steps that take too long does not mean these, and the user has not stopped anything."""
    climb = Climb(ActiveSet(tuning=SMALL), PROBLEMS["same or different"], operator_of("tensor, gaussian"), None)
    climb.guess = Guess(np.zeros(N), N // 3, 100, 0)
    climb.relay.leave = lambda step: True
    climb.look_at_growth()
    assert climb.status is None
    assert climb.guess.size == N // 3
    assert climb.relay.leave is not None


def test_the_active_set_goes_on_where_free_pairs_grow_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a power foresees factors that take longer than splitting, two subsets that they do not."""
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    active = ActiveSet(tol=1e-6, tuning=replace(SMALL, small=100))
    monkeypatch.setattr(splitting, "seconds_needed", lambda sandwich: 1.0)
    monkeypatch.setattr(Climb, "factoring", property(lambda self: 1e9 if self.exponent == 0.5 else 0.0))
    paths = []
    for exponent in (0.5, 0.1):
        monkeypatch.setattr(Climb, "look_at_growth", lambda self, e=exponent: setattr(self, "exponent", e))
        paths.append(Auto(active).solve(problem, operator).path)
    assert paths == ["nested subsets, splitting", "nested subsets, active set"]


def test_a_gap_that_is_not_halved_stands() -> None:
    climb = Climb(ActiveSet(), PROBLEMS["same or different"], operator_of("tensor, gaussian"), None)
    for gap, n_pairs in [(9.0, 40), (5.0, N), (4.0, N), (2.6, N)]:
        climb.relay(Progress(0, gap, 0.0, 10, 10, 0.0, n_pairs))
    assert climb.stands(2)
    assert not climb.stands(3)  # of all pairs there are two steps only
    climb.relay(Progress(0, 1.9, 0.0, 10, 10, 0.0, N))
    assert not climb.stands(2)


def test_a_subset_that_was_looked_at_is_not_solved_again() -> None:
    """It gives the guess that solving it anew gives, and no step is added."""
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    climb, anew = (Climb(ActiveSet(tuning=SMALL), problem, operator, None) for _ in range(2))
    climb.look(climb.next_size, np.inf)
    steps = len(climb.relay.lines)
    climb.advance()
    anew.advance()
    assert climb.guess is not None
    assert anew.guess is not None
    np.testing.assert_array_equal(climb.guess.theta, anew.guess.theta)
    assert len(climb.relay.lines) == steps == len(anew.relay.lines)
    assert climb.seconds == anew.seconds > 0.0


def test_a_subset_that_was_left_is_known() -> None:
    """Whoever takes over from it and is broken off has learnt at least that."""
    problem, operator = PROBLEMS["same or different"], operator_of("tensor, gaussian")
    climb = Climb(ActiveSet(tuning=SMALL), problem, operator, None)
    assert climb.known() is None
    climb.relay.leave = lambda step: step.n_support > 0
    climb.advance()
    assert climb.guess is None
    theta = climb.known()
    assert theta is not None
    assert np.count_nonzero(theta) > 0
    assert problem.box.objective(theta, problem.linear, problem.linear - operator @ theta) < 0.0
