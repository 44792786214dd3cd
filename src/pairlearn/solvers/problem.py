"""The one optimisation problem behind every machine, and what a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from pairlearn.solvers.box import Box
from pairlearn.types import Floats


@dataclass(frozen=True)
class Problem:
    """min ½θᵀKθ − pᵀθ + ε‖θ‖₁ over l ≤ θ ≤ u, optionally Σθ = total.

    θ = yα for classification, so that p = y, and l, u are 0 and C on the side of the label. Regression has p = y, a box
    from −C to C and the ε of its insensitive zone; one class p = 0 and a total. All arrays are float64 of length n;
    l ≤ 0 ≤ u where ε > 0.

    >>> import numpy as np
    >>> y = np.array([1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    >>> len(problem), problem.constrained
    (2, True)
    """

    linear: Floats
    lower: Floats
    upper: Floats
    epsilon: float = 0.0
    total: float | None = None

    def __len__(self) -> int:
        return len(self.linear)

    @property
    def constrained(self) -> bool:
        """Whether Σθ is kept, that is, whether the learnt function has a bias."""
        return self.total is not None

    @cached_property
    def box(self) -> Box:
        """l, u and ε: what rates and gap need of the problem."""
        return Box(self.lower, self.upper, self.epsilon)


class Status(StrEnum):
    """Why a solver stopped; every status comes with a usable solution and its certified gap.

    Model files hold these strings.
    """

    CONVERGED = "converged"
    """The certified gap is at most the tolerance, whatever made the solver stop; unless that was the user."""
    TIME_BUDGET = "time budget"
    INTERRUPTED = "interrupted"
    """By the callback or from the keyboard."""
    ITERATION_LIMIT = "iteration limit"
    """The solver took as many steps as its options allow."""
    ROUNDING = "rounding"
    """Float64 does not tell better solutions from this one: the gap no longer falls and is of the size of rounding, or
    the solver's own figure met the tolerance and a fresh product over all pairs does not confirm it."""
    STALLED = "no progress"
    """The gap is more than rounding explains, but no method lowers it any more."""


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

    `gap` is the largest violation of the optimality conditions over all pairs, from a fresh float64 product, which took
    `pass_seconds`; `taken` are the bytes that the solver took beside what every fit holds.
    """

    coefficients: Floats
    bias: float
    status: Status
    gap: float
    objective: float
    history: tuple[Progress, ...]
    pass_seconds: float = 0.0
    taken: int = 0
