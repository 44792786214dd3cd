"""The one optimisation problem behind every machine, and what a solver returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.tuning import RATES, set_numbers
from pairlearn.types import UNSAVED, Floats


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


BROKEN_OFF = (Status.INTERRUPTED, Status.TIME_BUDGET)
"""By the user or the clock, at any step: what was known before may be better than what is at hand."""


@dataclass(frozen=True)
class Progress:
    """One line of a solver's history; gap, objective and support are those of the `n_pairs` at hand, all or a subset.

    `n_pairs` is for whoever watches: model files do not hold it.
    """

    iteration: int
    gap: float
    objective: float
    n_support: int
    working_set: int
    seconds: float
    n_pairs: int = field(default=0, compare=False, metadata=UNSAVED)


Callback = Callable[[Progress], bool | None]
"""Called after each iteration; returning True stops the solver."""


class Keeper(ABC):
    """A callback that is shown the coefficients of a line before the line itself."""

    @abstractmethod
    def keep(self, theta: Floats, line: Progress, by: str) -> None:
        """Coefficients that the solver `by` (the name of its class) could go on from; they change afterwards.

        θ of fewer pairs than all comes from a subset. The gap of a line is infinite where nobody has looked at all
        pairs: θ was then guessed from a subset of `line.n_pairs`.
        """

    @abstractmethod
    def __call__(self, line: Progress) -> bool | None:
        """Whether to stop, as of any callback."""


def tell(callback: Callback | None, line: Progress, theta: Floats, by: str) -> bool:
    """Show a line, and its coefficients to whoever keeps them; whether to stop.

    >>> import numpy as np
    >>> tell(lambda line: line.gap < 0.1, Progress(0, 0.01, 0.0, 0, 2, 0.0), np.zeros(2), "ActiveSet")
    True
    """
    if isinstance(callback, Keeper):
        callback.keep(theta, line, by)
    return bool(callback(line)) if callback is not None else False


@dataclass(frozen=True)
class Solution:
    """Coefficients θ, bias, and how good they are.

    `gap` is the largest violation of the optimality conditions over all pairs, from a fresh float64 product, which took
    `pass_seconds`; `path` is the way that the solver went; `taken` are the most bytes in use at once beside what every
    fit holds: the solver's arrays, and what the operator passed through (`operator.passed`) while these existed;
    `spread` is the largest value of the function on these pairs less the smallest; without a bias on both orders of
    them.
    """

    coefficients: Floats
    bias: float
    status: Status
    gap: float
    objective: float
    history: tuple[Progress, ...]
    pass_seconds: float = 0.0
    taken: int = 0
    path: str = ""
    spread: float = float("inf")


class Relay(Keeper):
    """One history of several solvers that follow each other: a callback for each of them.

    It numbers their lines through, tells the time since the first began, and asks.

    >>> relay = Relay(Clock.start(), None)
    >>> relay(Progress(0, 1.0, 0.0, 0, 2, 0.0)), relay(Progress(0, 0.5, 0.0, 0, 2, 0.0))
    (False, False)
    >>> [line.iteration for line in relay.lines]
    [0, 1]
    """

    def __init__(self, clock: Clock, callback: Callback | None) -> None:
        self.clock, self.callback = clock, callback
        self.lines: list[Progress] = []
        self.costs: list[float] = []
        """About how many seconds each step took, by counted work: its factors, the working set's matrix several times,
        and passes over all pairs. The clock would tell of what else this machine does."""
        self.factored = 0.0
        """Operations of factors that it has counted so far."""
        self.leave: Callable[[Progress], bool] | None = None
        """Asked after each line whether another solver should go on; `left` says that it did."""
        self.left = False
        self._counted = 0.0

    def keep(self, theta: Floats, line: Progress, by: str) -> None:
        """Hand the coefficients on."""
        if isinstance(self.callback, Keeper):
            self.callback.keep(theta, line, by)

    def __call__(self, progress: Progress) -> bool:
        """Keep the line; whether the user wants to stop."""
        self.lines.append(replace(progress, iteration=len(self.lines), seconds=self.clock.seconds))
        new = self.factored - self._counted if self.factored >= self._counted else self.factored
        self.costs.append(RATES.seconds(new, set_numbers(progress.working_set, progress.n_pairs)))
        self._counted, self.left = self.factored, False
        if self.callback is not None and self.callback(self.lines[-1]):
            return True
        self.left = self.leave is not None and self.leave(progress)
        return self.left

    def whole(self, solution: Solution, path: str, taken: int = 0) -> Solution:
        """The last solution with the history of all, the way that led to it and the most that was taken on it."""
        return replace(solution, history=tuple(self.lines), path=path, taken=max(taken, solution.taken))
