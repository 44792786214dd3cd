"""The linear system of least squares on pairs, and how far from its solution coefficients are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats


@dataclass(frozen=True)
class System:
    """(K + diag(ridge)) θ + b = targets with Σθ = 0, or without both where there is no bias.

    That is where Σ w_i (y_i − g_i)² + α‖f‖² is least, f = g − b, ridge = α / w: targets and ridge (n,), ridge > 0.

    >>> system = System(np.array([1.0, -1.0]), np.ones(2), biased=True)
    >>> system.gap(np.array([0.3, -0.1])), len(system)
    (0.4, 2)
    """

    targets: Floats
    ridge: Floats
    biased: bool

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def problem(self) -> Problem:
        """The same without its ridge, for whoever asks which bounds (none) and which sum coefficients keep."""
        free = np.full(len(self), np.inf)
        return Problem(self.targets, -free, free, total=0.0 if self.biased else None)

    def residual(self, operator: PairOperator, theta: Floats) -> Floats:
        """targets − (K + diag(ridge)) θ by a product over all pairs, (n,); at the solution all of it is b."""
        return self.targets - self.ridge * theta - operator @ theta

    def gap(self, residual: Floats) -> float:
        """The largest violation of the equations: the range of the residual, or its largest size without a bias."""
        if not np.isfinite(residual).all():
            return np.inf
        return float(np.ptp(residual) if self.biased else np.abs(residual).max())

    def bias(self, residual: Floats) -> float:
        """The b that leaves the least of it."""
        return float(residual.mean()) if self.biased else 0.0

    def objective(self, theta: Floats, residual: Floats) -> float:
        """½θᵀ(K + diag(ridge))θ − targetsᵀθ, without another product."""
        return -0.5 * float(theta @ (self.targets + residual))
