"""What every inner method is given, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar

from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.quadratic import Explicit, Quadratic
from pairlearn.types import Floats

Matrix = TypeVar("Matrix", bound=Quadratic, covariant=True)


@dataclass(frozen=True)
class Subproblem(Generic[Matrix]):
    """min ½xᵀQx − pᵀx + ε‖x‖₁ over a box, with Σx kept when `constrained`, and the point θ where it stands.

    `v` = p − Qθ takes the place of p: for a working set it is the residual of all pairs at W, so that the coefficients
    outside W are in it. θ and v, (n,) float64 each, are the only things that inner methods change, in place and both
    together; θ is feasible before and after.

    >>> import numpy as np
    >>> from pairlearn.operators.thin import Columns
    >>> from pairlearn.solvers.inner.quadratic import ThinForm
    >>> Q, zero = ThinForm(Columns(np.ones((2, 1)))), np.zeros(2)
    >>> sub = Subproblem(Q, zero, np.array([1.0, 0.5]), Box(zero, np.ones(2), 0.0), constrained=False)
    >>> sub.gap
    1.0
    >>> x = np.array([1.0, 0.0])
    >>> sub.move(x, sub.linear() - Q @ x)
    >>> sub.gap, sub.objective
    (0.0, -0.5)
    """

    Q: Matrix
    theta: Floats
    v: Floats
    box: Box
    constrained: bool

    def __len__(self) -> int:
        return len(self.v)

    def linear(self) -> Floats:
        """p = v + Qθ, (n,)."""
        return self.v + self.Q @ self.theta

    @property
    def gap(self) -> float:
        """KKT gap at θ."""
        return self.gap_at(self.theta, self.v)

    def gap_at(self, x: Floats, v: Floats) -> float:
        """KKT gap at another point with its residual v."""
        return self.box.gap(x, v, self.constrained)

    @property
    def rates(self) -> tuple[Floats, Floats]:
        """Descent rates (up, low) at θ, (n,) each."""
        return self.box.rates(self.theta, self.v)

    @property
    def objective(self) -> float:
        """Value at θ."""
        return self.box.objective(self.theta, self.linear(), self.v)

    def move(self, x: Floats, v: Floats) -> None:
        """Go to this point."""
        self.theta[:], self.v[:] = x, v


class Outcome(Enum):
    """How an inner method ended; whatever it was, θ is feasible and v is its residual."""

    SOLVED = auto()
    """The gap of the subproblem is at most the tolerance."""
    STUCK = auto()
    """This method does not get there; another may."""
    OUT_OF_TIME = auto()
    STOPPED = auto()
    """The caller's report said so."""
    NO_ROOM = auto()
    """There is no memory for the factor that the next method needs: a smaller working set has to do."""


Working = Subproblem[Explicit]
"""The subproblem of a working set."""


class Method(Protocol):
    """An inner method: a frozen value with its settings, and one way to run it."""

    def run(self, sub: Working, tol: float, clock: Clock) -> Outcome:
        """Bring the gap of the subproblem to `tol`, or do what is possible; change θ and v in place."""
