"""Conjugate gradients with the fast product: two matrix products over examples a step, however many pairs there are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.clock import Clock, Pace
from pairlearn.solvers.problem import Callback, Progress, Solution, Status, tell
from pairlearn.solvers.ridge.preconditioners import Preconditioner, preconditioner_for
from pairlearn.solvers.ridge.system import System
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis
from pairlearn.types import Floats

SAFE = 0.5
"""Tolerances at which the running residual is compared with a fresh one: it is a little off."""
FALLEN = 0.5
"""A fresh gap above this share of the one before, although the running one met the tolerance, is rounding."""
VECTORS = 6
"""Numbers per pair: θ, residual, direction, its product, the preconditioned residual, and M⁻¹1 for the bias."""


@dataclass(frozen=True)
class ConjugateGradients:
    """(K + diag(ridge)) θ + b = y by preconditioned conjugate gradients, projected onto Σθ = 0 where there is a bias.

    With M the preconditioner, z = M⁻¹(r − β) for the β that makes Σz = 0 (Gould, Hribar and Nocedal, 2001): every
    iterate keeps the sum, and β becomes the bias. It stops when a fresh float64 residual meets `tol`; where rounding
    has led the running one astray it begins anew from there.

    >>> from pairlearn.operators.dense import DenseOperator
    >>> system = System(np.array([3.0, 1.0]), np.ones(2), biased=True)
    >>> solution = ConjugateGradients().solve(system, DenseOperator(np.eye(2)))
    >>> solution.coefficients.tolist(), solution.bias, str(solution.status)
    ([0.5, -0.5], 2.0, 'converged')
    """

    tol: float = 1e-6
    memory: float = 4e9
    max_steps: int = 5000
    time_budget: float | None = None

    def solve(
        self,
        system: System,
        operator: PairOperator,
        start: Floats | None = None,
        callback: Callback | None = None,
        basis: Eigenbasis | None = None,
    ) -> Solution:
        """Coefficients for this system, from zero or from a start whose sum is 0; `basis`, if it is known already."""
        return _Run(self, system, operator, start, callback).solution(basis)


class _Run:
    """One solution under way: θ, the residual that moves along with it, and what was told of it."""

    def __init__(
        self,
        options: ConjugateGradients,
        system: System,
        operator: PairOperator,
        start: Floats | None,
        callback: Callback | None,
    ) -> None:
        self.options, self.system, self.operator, self.callback = options, system, operator, callback
        self.clock, self.pace = Clock.start(options.time_budget), Pace(operator)
        self.theta = np.zeros(len(system)) if start is None else start.astype(np.float64)
        self.residual = system.targets.copy()
        self.history: list[Progress] = []
        self.path, self.taken = "start", 8 * VECTORS * len(system)

    def solution(self, basis: Eigenbasis | None) -> Solution:
        """What is found until the end, whatever ends it."""
        status = Status.INTERRUPTED
        with blas_threads(0), np.errstate(all="ignore"):
            with suppress(KeyboardInterrupt):
                status = self._iterate(basis)
            try:
                return self._finished(status)
            except KeyboardInterrupt:
                # The coefficients are worth the seconds that their certificate takes; a second interrupt is obeyed.
                return self._finished(Status.INTERRUPTED)

    def _iterate(self, basis: Eigenbasis | None) -> Status:
        """Descend until a fresh residual says that this is the end."""
        if self.theta.any():
            self._refresh()
        status = self._tell()
        gap = self.system.gap(self.residual)
        if status is not None or gap <= self.options.tol:
            return status or Status.CONVERGED
        inverse = preconditioner_for(self.system, self.operator, self.options.memory - self.taken, self.clock, basis)
        self.path, self.taken = inverse.name, self.taken + inverse.taken
        gap = np.inf
        while (status := self._descend(inverse)) is None:
            self._refresh()
            last, gap = gap, self.system.gap(self.residual)
            if gap <= self.options.tol:
                return Status.CONVERGED
            if gap > FALLEN * last:
                return Status.ROUNDING
        return status

    def _descend(self, inverse: Preconditioner) -> Status | None:
        """Steps until the running residual meets the tolerance (None), or something else ends them."""
        ones = inverse.solve(np.ones(len(self.system))) if self.system.biased else None
        z = self._projected(inverse, ones)
        direction, power = z, float(z @ self.residual)
        while True:
            product = self.system.ridge * direction
            self.pace.add_product(direction, product)
            curvature = float(direction @ product)
            if not 0 < curvature < np.inf:
                return Status.STALLED
            step = power / curvature
            self.theta += step * direction
            self.residual -= step * product
            status = self._tell()
            if status is not None or self.system.gap(self.residual) <= SAFE * self.options.tol:
                return status
            z = self._projected(inverse, ones)
            before, power = power, float(z @ self.residual)
            if not power > 0:
                return Status.ROUNDING  # nothing is left but rounding, and its direction is none
            direction = z + (power / before) * direction

    def _projected(self, inverse: Preconditioner, ones: Floats | None) -> Floats:
        """z = M⁻¹(r − β) with Σz = 0; β is taken off the residual first, so that it hides no digits."""
        if ones is None:
            return inverse.solve(self.residual)
        centred = self.residual - self.residual.mean()
        z = inverse.solve(centred)
        z -= (z.sum() / ones.sum()) * ones
        self.residual = centred
        return z

    def _tell(self) -> Status | None:
        """Note a line and ask; a status if this was the last step."""
        gap, n = self.system.gap(self.residual), len(self.system)
        objective = self.system.objective(self.theta, self.residual)
        line = Progress(
            len(self.history), gap, objective, int(np.count_nonzero(self.theta)), n, self.clock.seconds, n_pairs=n
        )
        self.history.append(line)
        if tell(self.callback, line, self.theta, "ConjugateGradients"):
            return Status.INTERRUPTED
        if not np.isfinite(gap):
            return Status.STALLED
        if self._is_late():
            return Status.TIME_BUDGET
        return Status.ITERATION_LIMIT if len(self.history) > self.options.max_steps else None

    def _is_late(self) -> bool:
        """Whether another step, and the product that certifies the end, would take too long."""
        if not self.clock.ends or self.clock.expired:
            return self.clock.expired
        return self.clock.left < 2.0 * self.pace.seconds(len(self.system))

    def _refresh(self) -> None:
        self.residual = self.system.residual(self.operator, self.theta)

    def _finished(self, status: Status) -> Solution:
        """The solution with its certificate, from a fresh product."""
        began = self.clock.seconds
        if status not in (Status.CONVERGED, Status.ROUNDING):
            self._refresh()
        gap, seconds = self.system.gap(self.residual), self.clock.seconds - began
        if gap <= self.options.tol and status is not Status.INTERRUPTED:
            status = Status.CONVERGED
        return Solution(
            self.theta,
            self.system.bias(self.residual),
            status,
            gap,
            self.system.objective(self.theta, self.residual),
            tuple(self.history),
            seconds,
            self.taken,
            self.path,
        )
