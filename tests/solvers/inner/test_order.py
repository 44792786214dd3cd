"""The table of attempts: in which order, when which row is left out, and that a row is all a new method needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from pairlearn.operators.dense import DenseOperator
from pairlearn.solvers import ActiveSet, PlainSMO, Problem
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner import order
from pairlearn.solvers.inner.order import ATTEMPTS, Attempt, InnerSolver
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem, Working
from pairlearn.solvers.tuning import TUNING

NAMES = [attempt.name for attempt in ATTEMPTS]
SHORT, PIVOTING, LONG, AGAIN, INTERIOR = NAMES


def subproblem(n: int = 600, rank: int = 5) -> Working:
    A = np.random.default_rng(0).normal(size=(n, rank))
    rng = np.random.default_rng(1)
    return Subproblem(
        Explicit(A @ A.T, np.arange(n), rng), np.zeros(n), rng.normal(size=n), Box(-np.ones(n), np.ones(n), 0.0), True
    )


@dataclass(frozen=True)
class Scripted:
    """A method that does nothing but end as told, and notes that it was tried."""

    name: str
    outcome: Outcome
    tried: list[str]

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        self.tried.append(self.name)
        return self.outcome


def tried(solver: InnerSolver, sub: Working, solves: str | None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rows that the solver tries when only this one solves."""
    names: list[str] = []

    def script(row: Attempt) -> Attempt:
        outcome = Outcome.SOLVED if row.name == solves else Outcome.STUCK
        return replace(row, method=lambda solver, sub: Scripted(row.name, outcome, names))

    monkeypatch.setattr(order, "ATTEMPTS", tuple(script(row) for row in ATTEMPTS))
    outcome = solver.solve(sub, 1e-3, Clock.start())
    if outcome is not Outcome.NO_ROOM:
        assert outcome is (Outcome.SOLVED if names[-1] == solves else Outcome.STUCK)
    return names


@pytest.mark.parametrize("solves", [*NAMES, None])
def test_rows_are_tried_in_turn_until_one_solves(solves: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = NAMES if solves is None else NAMES[: NAMES.index(solves) + 1]
    assert tried(InnerSolver(TUNING, 1e-4, 1000), subproblem(), solves, monkeypatch) == expected


@pytest.mark.parametrize("rank", [5, 200, 600])
def test_pivoting_is_not_tried_again_where_it_failed_and_the_rank_is_low(
    rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 of 600 is a rank that saves nothing: each factor of the interior point takes as long as one of the set."""
    solver, sub = InnerSolver(TUNING, 1e-4, 1000), subproblem(rank=rank)
    assert (sub.Q.low_rank is None) == (rank == 600)
    assert tried(solver, sub, INTERIOR, monkeypatch) == NAMES
    assert tried(solver, sub, INTERIOR, monkeypatch) == ([SHORT, INTERIOR] if rank == 5 else NAMES)


def test_success_of_pivoting_brings_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, sub = InnerSolver(TUNING, 1e-4, 1000), subproblem()
    tried(solver, sub, INTERIOR, monkeypatch)
    rich = subproblem(rank=600)
    assert tried(solver, rich, PIVOTING, monkeypatch) == [SHORT, PIVOTING]
    assert tried(solver, sub, AGAIN, monkeypatch) == [SHORT, PIVOTING, LONG, AGAIN]


def test_without_room_for_a_factor_only_smo_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, sub = InnerSolver(TUNING, 1e-4, 599), subproblem()
    assert tried(solver, sub, None, monkeypatch) == [SHORT]
    assert solver.solve(sub, 1e-3, Clock.start()) is Outcome.NO_ROOM


def test_nothing_that_takes_long_is_tried_against_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, sub = InnerSolver(TUNING, 1e-4, 1000), subproblem()
    solver.at_rounding, solver.degenerate = TUNING.paths_at_rounding + 1, True
    assert tried(solver, sub, None, monkeypatch) == [SHORT]


def test_patience_doubles_while_nothing_solves_and_ends_with_success(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, sub = InnerSolver(TUNING, 1e-4, 1000), subproblem()
    found = []
    for solves in (None, None, None, INTERIOR):
        tried(solver, sub, solves, monkeypatch)
        found.append(solver.patience)
    assert found == [2, 4, 8, 1]


@dataclass(frozen=True)
class CoordinateDescent:
    """A method of a few lines: the best coefficient of all, again and again."""

    calls: list[int]

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        self.calls.append(len(sub))
        Q = sub.Q.view
        for _ in range(1000 * len(sub)):
            up, low = sub.rates
            k = int(np.argmax(np.maximum(up, -low)))
            rate = up[k] if up[k] > 0 else low[k]
            end = np.clip(sub.theta[k] + rate / Q[k, k], sub.box.lower[k], sub.box.upper[k])
            sub.v[:] -= (end - sub.theta[k]) * Q[k]
            sub.theta[k] = end
            if sub.gap <= tol:
                return Outcome.SOLVED
        return Outcome.STUCK


def test_a_new_method_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 80))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    problem, operator = Problem(y, np.minimum(0, y), np.maximum(0, y)), DenseOperator(A @ A.T / 80 + np.eye(80))
    calls: list[int] = []
    row = Attempt("coordinate descent", lambda solver, sub: CoordinateDescent(calls), "a test")
    monkeypatch.setattr(order, "ATTEMPTS", (row, *ATTEMPTS))
    solution = ActiveSet(tol=1e-6, candidates=10).solve(problem, operator)
    assert calls
    assert solution.status == "converged"
    assert solution.objective == pytest.approx(PlainSMO(tol=1e-8).solve(problem, operator).objective, abs=1e-9)
