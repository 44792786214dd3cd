"""Problems and the solvers that certify their solutions.

`problem` is what machines ask for and what they get back, `box` what makes coefficients optimal (rates, gap, bias,
objective: the one definition), `certificate` the independent pass over all pairs that ends every fit. The solvers:
`active.active_set` takes, step by step, a working set of pairs to the methods of `inner` until the gap, the `clock` or
stagnation ends it; `active.nested` finds it a start on subsets of the pairs, `newton` one on a smoothed problem where
some hundred features tell pairs apart; `interior` takes all pairs at once where a handful does; `splitting` needs a few
matrices over examples only, however many pairs are free; `ridge` solves linear equations instead (least squares); `smo`
is the classical reference. `choice` is the one place that chooses between them. All tuned numbers stand in `tuning`.
Compiled loops are in `pairlearn.loops`, dense factors in `pairlearn.linalg`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pairlearn.errors import InputError
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.active.active_set import ActiveSet
from pairlearn.solvers.active.nested import Nested
from pairlearn.solvers.choice import Auto
from pairlearn.solvers.interior import Interior
from pairlearn.solvers.newton import Newton
from pairlearn.solvers.problem import Callback, Problem, Progress, Solution, Status
from pairlearn.solvers.smo import PlainSMO
from pairlearn.solvers.splitting import Splitting
from pairlearn.types import Floats

__all__ = [
    "ActiveSet",
    "Auto",
    "Callback",
    "Interior",
    "Nested",
    "Newton",
    "PlainSMO",
    "Problem",
    "Progress",
    "Solution",
    "Solver",
    "Splitting",
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


def solver_for(
    name: str, tol: float, time_budget: float | None, memory: float, seed: int, begun: str = "", reached: int = 0
) -> Solver:
    """The solver of this name with these limits; `memory` is what it may take, in bytes.

    `begun` and `reached` say where a start comes from (`Auto`); those that end with the active set go on with it.
    """
    if name == "implicit":
        raise InputError(
            'solver="implicit" learns from pl.all_pairs(examples) with pl.ClassLabels(classes) as y, and without '
            "sample_weight"
        )
    if name == "smo":
        return PlainSMO(tol=tol, time_budget=time_budget, memory=min(memory, PlainSMO.memory))
    active = ActiveSet(tol=tol, time_budget=time_budget, memory=memory, seed=seed)
    solvers: dict[str, Callable[[], Solver]] = {
        "auto": lambda: Auto(active, begun, reached),
        "active_set": lambda: active,
        "nested": lambda: Nested(active, reached),
        "newton": lambda: active if begun == "ActiveSet" else Newton(active),
        "interior": lambda: active if begun == "ActiveSet" else Interior(active),
        "splitting": lambda: Splitting(tol=tol, time_budget=time_budget, memory=memory, seed=seed),
    }
    if name not in solvers:
        raise InputError(f"unknown solver {name!r}; choose one of {', '.join([*solvers, 'smo', 'implicit'])}")
    return solvers[name]()
