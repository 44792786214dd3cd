"""Problems and the solvers that certify their solutions.

`problem` is what machines ask for and what they get back, `box` what makes coefficients optimal (rates, gap, bias,
objective: the one definition), `certificate` the independent pass over all pairs that ends every fit. Two solvers:
`smo` is the classical reference; `active_set` takes, step by step, a `working_set` of pairs to the methods of `inner`,
or all pairs at once where the table in `whole` says so, until the gap, the `clock` or `stagnation` ends it. All tuned
numbers stand in `tuning`. Compiled loops are in `pairlearn.loops`, dense factors in `pairlearn.linalg`.
"""

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


def solver_for(name: str, tol: float, time_budget: float | None, memory: float, seed: int) -> Solver:
    """The solver of this name with these limits; `memory` is what it may take, in bytes."""
    if name == "active_set":
        return ActiveSet(tol=tol, time_budget=time_budget, memory=memory, seed=seed)
    if name == "smo":
        return PlainSMO(tol=tol, time_budget=time_budget, memory=min(memory, PlainSMO.memory))
    raise InputError(f'unknown solver {name!r}; choose "active_set" or "smo"')
