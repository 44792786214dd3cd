"""The one optimisation problem behind every machine, and what a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

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


class Extremes(NamedTuple):
    """Largest value that may still rise and smallest that may still fall."""

    up: float
    low: float


def directions(problem: Problem, theta: Floats, residual: Floats) -> tuple[Floats, Floats]:
    """Descent rates of raising and of lowering each θ_i, ∓inf where its bound forbids it.

    residual = p − Kθ; up_i = residual − (right derivative of ε|θ|), low_i = residual − (left derivative).
    """
    eps = problem.epsilon
    up = np.where(theta < problem.upper, residual - np.where(theta >= 0, eps, -eps), -np.inf)
    low = np.where(theta > problem.lower, residual - np.where(theta > 0, eps, -eps), np.inf)
    return up, low


def violation(extremes: Extremes, constrained: bool) -> float:
    """KKT gap: max up − min low with the equality constraint, the larger one-sided rate without."""
    if constrained:
        return max(0.0, extremes.up - extremes.low)
    return max(0.0, extremes.up, -extremes.low)


def bias_of(problem: Problem, theta: Floats, residual: Floats) -> float:
    """Bias from the free coefficients; the midpoint of the feasible interval when there is none."""
    if problem.total is None:
        return 0.0
    free = (theta > problem.lower) & (theta < problem.upper)
    if problem.epsilon > 0:
        free &= theta != 0
    up, low = directions(problem, theta, residual)
    if free.any():
        return float(np.mean(up[free]))
    highest, lowest = up.max(), low.min()
    if not np.isfinite(highest) or not np.isfinite(lowest):
        finite = [value for value in (highest, lowest) if np.isfinite(value)]
        return float(finite[0]) if finite else 0.0
    return float(0.5 * (highest + lowest))


def objective_of(problem: Problem, theta: Floats, residual: Floats) -> float:
    """½θᵀKθ − pᵀθ + ε‖θ‖₁ from the residual p − Kθ."""
    smooth = -0.5 * float(theta @ (problem.linear + residual))
    return smooth + problem.epsilon * float(np.abs(theta).sum())


def finish(
    problem: Problem,
    operator: PairOperator,
    theta: Floats,
    status: Status,
    tol: float,
    history: tuple[Progress, ...],
) -> Solution:
    """The solution with its certificate: gap, bias and objective from a fresh float64 product over all pairs."""
    residual = problem.linear - (operator @ theta if theta.any() else np.zeros(len(problem)))
    up, low = directions(problem, theta, residual)
    gap = violation(Extremes(float(up.max()), float(low.min())), problem.total is not None)
    if status is Status.CONVERGED and gap > tol:
        status = Status.ITERATION_LIMIT
    return Solution(
        theta, bias_of(problem, theta, residual), status, gap, objective_of(problem, theta, residual), history
    )
