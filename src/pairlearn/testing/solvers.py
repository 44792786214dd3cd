"""Laws of solvers: feasible, optimal by a residual computed here, and honest about it.

min ½θᵀKθ − pᵀθ + ε‖θ‖₁ over l ≤ θ ≤ u, optionally Σθ = total, is convex, so one number tells how good a solution is:
the largest rate at which any feasible move still lowers the objective. It is computed here from the explicit matrix,
pair by pair and with nothing of the solver's own, so that a solver cannot certify itself. Problems are small (12
pairs): what goes wrong in solvers goes wrong at corners, ties and rank deficiency, not at size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.operators.dense import DenseOperator
from pairlearn.solvers import Problem, Solution, Solver, Status
from pairlearn.testing.laws import Law, require, require_close, try_all
from pairlearn.types import Floats


@dataclass(frozen=True)
class Case:
    """A problem on an explicit matrix; `start` where zero is not feasible."""

    problem: Problem
    matrix: Floats
    start: Floats | None = None


def check_solver(solver: Any, tol: float | None = None) -> None:
    """Try every law of solvers on small random problems; raise a LawError for the first that is broken.

    `tol` is the gap at which the solver calls itself converged, `solver.tol` unless given. The problems have full and
    low rank, boxes that touch zero, with ε‖θ‖₁ and without, and no, a zero or another value of Σθ.

    >>> import pairlearn as pl
    >>> from pairlearn.solvers import ActiveSet
    >>> pl.testing.check_solver(ActiveSet(tol=1e-6))
    """
    try_all(SOLVER_LAWS, solver, solver.tol if tol is None else tol)


def random_case(seed: int, *, n: int = 12, rank: int | None = None, epsilon: float = 0.0, total: str = "none") -> Case:
    """General p, l and u; `total` is "none", "zero" or "other" (then a feasible start is given)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank or n))
    lower, upper = -rng.uniform(0.1, 2.0, n), rng.uniform(0.1, 2.0, n)
    lower[0], upper[1] = 0.0, 0.0
    lower[2] = upper[2] = 0.0  # a pair of weight zero
    start, wanted = None, None if total == "none" else 0.0
    if total == "other":
        start = lower + rng.uniform(0.2, 0.9, n) * (upper - lower)
        wanted = float(start.sum())
    return Case(Problem(2.0 * rng.normal(size=n), lower, upper, epsilon, wanted), A @ A.T, start)


def cases() -> Iterator[Case]:
    """Every kind of problem that a machine may pose."""
    for seed, (rank, total) in enumerate((r, t) for r in (None, 3) for t in ("none", "zero", "other")):
        for epsilon in (0.0, 0.3):
            yield random_case(seed, rank=rank, epsilon=epsilon, total=total)


def solved(solver: Solver, case: Case) -> Solution:
    """What the solver makes of a case, from its start."""
    return solver.solve(case.problem, DenseOperator(case.matrix), case.start)


def rates(case: Case, theta: Floats) -> tuple[float, float]:
    """Largest gain per unit of raising a coefficient, smallest of lowering one: one-sided derivatives, pair by pair."""
    p = case.problem
    ups, lows = [-np.inf], [np.inf]
    for t, v, low, high in zip(theta, p.linear - case.matrix @ theta, p.lower, p.upper, strict=True):
        if t < high:
            ups.append(v - p.epsilon * (1 if t >= 0 else -1))
        if t > low:
            lows.append(v - p.epsilon * (1 if t > 0 else -1))
    return float(max(ups)), float(min(lows))


def violation(case: Case, theta: Floats) -> float:
    """Largest gain per unit of any feasible move: of a couple where Σθ is given, else of a single coefficient."""
    up, low = rates(case, theta)
    return max(0.0, up - low) if case.problem.total is not None else max(0.0, up, -low)


def objective(case: Case, theta: Floats) -> float:
    """½θᵀKθ − pᵀθ + ε‖θ‖₁."""
    p = case.problem
    return float(0.5 * theta @ case.matrix @ theta - p.linear @ theta + p.epsilon * np.abs(theta).sum())


def feasibility(solver: Solver, tol: float) -> None:
    """l ≤ θ ≤ u exactly, and Σθ = total up to rounding."""
    for case in cases():
        p, theta = case.problem, solved(solver, case).coefficients
        require(bool((theta >= p.lower).all() and (theta <= p.upper).all()), "a coefficient left its box")
        if p.total is not None:
            require(abs(theta.sum() - p.total) <= 1e-9, f"Σθ is {theta.sum():.9g} instead of {p.total:.9g}")


def optimality(solver: Solver, tol: float) -> None:
    """It converges, and then no feasible move gains more than tol."""
    for case in cases():
        solution = solved(solver, case)
        require(solution.status == Status.CONVERGED, f"it ends with {solution.status!s}")
        residual = violation(case, solution.coefficients)
        require(residual <= tol * (1 + 1e-6) + 1e-12, f"a move still gains {residual:.3g}, more than tol {tol:.3g}")


def certificate(solver: Solver, tol: float) -> None:
    """gap and objective are what a fresh computation finds."""
    for case in cases():
        solution = solved(solver, case)
        residual = violation(case, solution.coefficients)
        require(abs(solution.gap - residual) <= 1e-9, f"gap {solution.gap:.6g}, but the residual is {residual:.6g}")
        require_close(solution.objective, objective(case, solution.coefficients), "objective")


def bias(solver: Solver, tol: float) -> None:
    """The bias lies between the rates of raising and of lowering, up to tol; without Σθ = total it is 0."""
    for case in cases():
        solution = solved(solver, case)
        if case.problem.total is None:
            require(solution.bias == 0.0, f"bias {solution.bias:.6g} without a constraint")
            continue
        least, most = sorted(rates(case, solution.coefficients))
        inside = least - tol - 1e-9 <= solution.bias <= most + tol + 1e-9
        require(inside, f"bias {solution.bias:.6g} outside of {least:.6g} … {most:.6g}")


def repetition(solver: Solver, tol: float) -> None:
    """The same problem has the same solution, bit by bit."""
    for case in cases():
        first, second = solved(solver, case), solved(solver, case)
        require(np.array_equal(first.coefficients, second.coefficients), "a second run gives other coefficients")


def warm_start(solver: Solver, tol: float) -> None:
    """From its own solution it stays there: no worse objective, still converged.

    Paths over C and stacked machines start from earlier solutions, at the bounds of the box more often than not.
    """
    for case in cases():
        solution = solved(solver, case)
        again = solver.solve(case.problem, DenseOperator(case.matrix), solution.coefficients)
        require(again.status == Status.CONVERGED, f"from its own solution it ends with {again.status!s}")
        slack = 1e-9 * max(1.0, abs(solution.objective))
        require(again.objective <= solution.objective + slack, "from its own solution it gets worse")


def purity(solver: Solver, tol: float) -> None:
    """Problem, matrix and start are left as they are."""
    for case in cases():
        p = case.problem
        given = [array for array in (p.linear, p.lower, p.upper, case.matrix, case.start) if array is not None]
        kept = [array.copy() for array in given]
        solved(solver, case)
        require(all(map(np.array_equal, given, kept)), "an array of the problem was changed")


SOLVER_LAWS: tuple[Law, ...] = (feasibility, optimality, certificate, bias, repetition, warm_start, purity)
"""What `check_solver` tries, in this order."""
