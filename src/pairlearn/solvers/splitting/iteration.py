"""The iteration itself: its state over cells, one step of it, and the choice of ρ."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn import loops
from pairlearn.solvers.problem import Problem
from pairlearn.solvers.splitting.anderson import Anderson
from pairlearn.solvers.splitting.cells import Cells
from pairlearn.solvers.splitting.correction import resolvent_for
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis, Resolvent
from pairlearn.solvers.splitting.nearest import nearest_feasible
from pairlearn.types import Floats

RELAX = 1.8
"""Over-relaxation; flat from 1.6 to 1.9."""
LEAST_CHANGE = 1.5
"""Factor by which ρ has to fall to be worth forgetting what the acceleration knows."""


class Iteration:
    """s over all cells; z is the point of the box nearest to s, and v = ρ(s − z) are the rates where x = z.

    The sum is kept by x and not by z: kept by z it would be learnt at the rate of ρ by the largest eigenvalue of K,
    which took five times as many steps.
    """

    def __init__(self, problem: Problem, cells: Cells, basis: Eigenbasis, depth: int, seed: int) -> None:
        self.problem, self.cells, self.basis, self.depth = problem, cells, basis, depth
        self.rng = np.random.default_rng(seed)

    def begin(self, theta: Floats, v: Floats, rho: float) -> None:
        """Start from these coefficients and rates, in float32."""
        factor = self.cells.factor
        s = self.cells.spread(factor * theta + np.sign(factor) * v / rho, np.float32)
        self._allocate(s, rho, self.depth)

    def refine(self) -> None:
        """Go on in float64; what is remembered has the same bytes.

        Products stay in float32: one linear step is exact, the *anchor*, and all others are float32 corrections of it,
        which are small and so lose little.
        """
        self._allocate(self.s.astype(np.float64), self.rho, max(2, self.depth // 2))

    def _allocate(self, s: Floats, rho: float, depth: int) -> None:
        self.s, self.dtype = s, s.dtype.type
        self._spread_problem()
        self.anderson = Anderson(depth, self.cells.size, self.dtype)
        self._set(rho)

    def _spread_problem(self) -> None:
        p, cells, factor = self.problem, self.cells, self.cells.factor
        ends = factor * p.lower, factor * p.upper
        self.P = cells.spread(np.sign(factor) * p.linear, self.dtype)
        self.lower, self.upper = (cells.spread(choose(*ends), self.dtype) for choose in (np.minimum, np.maximum))
        self.sums = cells.spread(1.0 / factor, self.dtype)
        self.x, self.f, self.q = (np.zeros(cells.size, self.dtype) for _ in range(3))
        self.matrix = np.empty(cells.shape, np.float32)
        self.anchor: tuple[Floats, Floats] | None = None

    @property
    def kink(self) -> float:
        """ε/ρ: how far the step into the box shrinks what it finds."""
        return self.problem.epsilon / self.rho

    @property
    def _box(self) -> tuple[Floats, Floats, Any]:
        return self.lower, self.upper, self.dtype(self.kink)

    def _set(self, rho: float) -> None:
        self.rho, self.anchor = rho, None
        self.anderson.forget()
        exact = resolvent_for(self.basis, rho, self.dtype, self.rng)
        S = self.matrix if self.dtype is np.float32 else np.empty(self.matrix.shape)
        if self.problem.constrained:
            self.q[:] = np.sign(self.sums)
            self._through(exact, S, self.q)
            self.weight = self._total(self.q)
        if self.dtype is np.float64:
            self._reflect()
            right = self.x.copy()
            self._through(exact, S, self.x)
            self.anchor = right, self.x.copy()
        self.resolvent = exact.in_float32()

    def _through(self, resolvent: Resolvent, S: Floats, R: Floats) -> None:
        """R ← (K + ρ)⁻¹ R over cells, by way of the matrix S."""
        self.cells.matrix(R, S)
        resolvent.solve(S)
        self.cells.collect(S, R)

    def _solve(self, R: Floats) -> None:
        if self.anchor is None:
            self._through(self.resolvent, self.matrix, R)
            return
        right, solved = self.anchor
        small = (R - right).astype(np.float32)
        self._through(self.resolvent, self.matrix, small)
        np.add(solved, small, out=R)

    def _reflect(self) -> None:
        loops.splitting.reflect(self.s, self.P, *self._box, self.dtype(self.rho), self.x)

    def _total(self, x: Floats) -> float:
        """Σθ of these cells."""
        return float(self.anderson.dots(self.sums[None], x)[0])

    def step(self) -> None:
        """One step of splitting, accelerated."""
        number = self.dtype
        self._reflect()
        self._solve(self.x)
        shift = 0.0 if self.problem.total is None else (self._total(self.x) - self.problem.total) / self.weight
        loops.splitting.advance(self.s, self.x, self.q, number(shift), *self._box, number(RELAX), self.f)
        self.anderson.advance(self.s, self.f)

    def point(self) -> Floats:
        """The feasible coefficients nearest to s, (n,), in float64."""
        factor = self.cells.factor
        t = self.s[self.cells.index].astype(np.float64) / factor
        return nearest_feasible(t, self.problem, self.kink, np.abs(factor))

    def reduce(self, rho: float) -> None:
        """The same point and rates with another ρ, unless it is at most this already, or hardly more."""
        if self.rho > LEAST_CHANGE * rho:
            loops.splitting.rescale(self.s, *self._box, self.dtype(self.rho / rho))
            self._set(rho)

    @property
    def balanced(self) -> float:
        """The ρ for which x − z relative to z would be what the change of z is relative to v/ρ."""
        out = np.empty((3, self.anderson.sums.shape[1]))
        loops.splitting.norms(self.s, self.anderson.x, *self._box, out)
        z, u, change = np.sqrt(out.sum(axis=1))
        apart = np.sqrt(self.anderson.norm) / RELAX
        return float(self.rho * np.sqrt(apart / z * u / change)) if min(z, u, change, apart) > 0 else self.rho
