"""Problems and the solvers that certify their solutions."""

from __future__ import annotations

from typing import Protocol

from pairlearn.errors import InputError
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.active_set import ActiveSet
from pairlearn.solvers.problem import Callback, Problem, Progress, Solution, Status
from pairlearn.solvers.smo import PlainSMO
from pairlearn.types import Floats

__all__ = [
    "ActiveSet",
    "Callback",
    "PlainSMO",
    "Problem",
    "Progress",
    "Solution",
    "Solver",
    "Status",
    "solver_for",
]


class Solver(Protocol):
    """Anything that solves a Problem on an operator."""

    def solve(
        self,
        problem: Problem,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """A valid solution with its certified gap, whatever made it stop."""


def solver_for(name: str, tol: float, time_budget: float | None, working_set: int, seed: int) -> Solver:
    """The solver of this name with these limits."""
    if name == "active_set":
        return ActiveSet(tol=tol, time_budget=time_budget, max_working_set=working_set, seed=seed)
    if name == "smo":
        return PlainSMO(tol=tol, time_budget=time_budget)
    raise InputError(f'unknown solver {name!r}; choose "active_set" or "smo"')
