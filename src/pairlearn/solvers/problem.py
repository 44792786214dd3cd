"""The one optimisation problem behind every machine, and what a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.types import Floats


@dataclass(frozen=True)
class Problem:
    """min ½θᵀKθ − pᵀθ + ε‖θ‖₁ over l ≤ θ ≤ u, optionally Σθ = total.

    θ = yα for classification. All arrays are float64 of length n; l ≤ 0 ≤ u where ε > 0.
    """

    linear: Floats
    lower: Floats
    upper: Floats
    epsilon: float = 0.0
    total: float | None = None

    def __len__(self) -> int:
        return len(self.linear)


class Status(StrEnum):
    """Why a solver stopped; every status comes with a usable solution."""

    CONVERGED = "converged"
    TIME_BUDGET = "time budget"
    INTERRUPTED = "interrupted"
    ITERATION_LIMIT = "iteration limit"
    ROUNDING = "rounding"


@dataclass(frozen=True)
class Progress:
    """One line of a solver's history."""

    iteration: int
    gap: float
    objective: float
    n_support: int
    working_set: int
    seconds: float


Callback = Callable[[Progress], bool | None]
"""Called after each iteration; returning True stops the solver."""


@dataclass(frozen=True)
class Solution:
    """Coefficients θ, bias, and how good they are.

    `gap` is the largest violation of the optimality conditions over all pairs, from a fresh float64 product.
    """

    coefficients: Floats
    bias: float
    status: Status
    gap: float
    objective: float
    history: tuple[Progress, ...]


def objective_of(problem: Problem, theta: Floats, residual: Floats) -> float:
    """½θᵀKθ − pᵀθ + ε‖θ‖₁ from the residual p − Kθ."""
    smooth = -0.5 * float(theta @ (problem.linear + residual))
    return smooth + problem.epsilon * float(np.abs(theta).sum())


def finish(
    problem: Problem, operator: PairOperator, theta: Floats, status: Status, tol: float, history: tuple[Progress, ...]
) -> Solution:
    """The solution with its certificate: gap, bias and objective from a fresh float64 scan of all pairs."""
    try:
        scan = operator.scan(theta, problem)
    except KeyboardInterrupt:
        # The coefficients are worth the seconds that their certificate takes; a second interrupt is obeyed.
        status, scan = Status.INTERRUPTED, operator.scan(theta, problem)
    constrained = problem.total is not None
    gap = scan.gap(constrained)
    if status is Status.CONVERGED and gap > tol:
        status = Status.ITERATION_LIMIT
    return Solution(theta, scan.bias() if constrained else 0.0, status, gap, scan.objective, history)
