"""The iteration itself: its state over cells, one step of it, and the choice of ρ."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn import loops
from pairlearn.solvers.problem import Problem
from pairlearn.solvers.splitting.anderson import Anderson
from pairlearn.solvers.splitting.cells import Cells
from pairlearn.solvers.splitting.correction import apply, resolvent_for
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis
from pairlearn.solvers.splitting.nearest import nearest_feasible
from pairlearn.types import Floats

RELAX = 1.95
"""Over-relaxation. MNIST, tensor_metric, 319,600 pairs, gap after 180 steps: .0097 with 1.8, .005 with 1.95."""
NEGLIGIBLE = {np.float32: 0.1, np.float64: 0.03}
"""Share of ρ by which K may be off in a linear step, where it is small anyway: MNIST, tensor_metric, 1,279,200 pairs,
a step takes .15 s instead of .4, and as many of them are needed. Less near the end, where all counts."""


class Iteration:
    """s over all cells; z is the point of the box nearest to s, and v = ρ(s − z) are the rates where x = z.

    The sum is kept by x and not by z: kept by z it would be learnt at the rate of ρ by the largest eigenvalue of K,
    which took five times as many steps.
    """

    def __init__(self, problem: Problem, cells: Cells, basis: Eigenbasis, depth: int, seed: int) -> None:
        self.problem, self.cells, self.basis, self.depth = problem, cells, basis, depth
        self.rng = np.random.default_rng(seed)

    def begin(self, theta: Floats, v: Floats, bias: float, rho: float) -> None:
        """Start from these coefficients, their v = p − Kθ and a bias, in float32."""
        factor = self.cells.factor
        s = self.cells.spread(factor * theta + np.sign(factor) * (v - bias) / rho, np.float32)
        self._allocate(s, rho)
        self._know(theta)
        self._rate(v, bias)

    def refine(self) -> None:
        """Go on in float64; products stay in float32."""
        rates, known = self.rates, self.known
        self._allocate(self.s.astype(np.float64), self.rho)
        self.rates[:], self.known[:] = rates, known

    def anchor(self, theta: Floats, v: Floats, bias: float) -> None:
        """Take linear steps from these coefficients, whose v = p − Kθ is exact, to others.

        (K + ρ)x = R − b with R = p + ρ(2z − s) is x = θ + (K + ρ)⁻¹(R − b − Kθ − ρθ), where only the last term is
        approximate: in float32, and with what `Leading` leaves out. It vanishes where x = z = θ, so that steps lead to
        the exact optimum; what this bias lacks of b, the sum tells. Cells without a pair end with 0 whatever their p,
        as long as that stays the same: their v is 0 at first, and moves as −Kθ does (in float32, for moves fade). With
        v = 0 at every look 30,000 of 124,750 pairs as regression with C = 216 (penbased, tensor, Gaussian base) came
        from a gap of 6.7 to 8·10⁵ and stayed there, and so did all pairs, where only the diagonal has none.
        """
        moved = self.known
        self._know(theta)
        if self.cells.size > len(self.cells.index):
            # In place: of all cells there is memory for one array that passes.
            np.subtract(self.known, moved, out=moved)
            self.cells.matrix(moved, self.matrix)
            apply(self.basis.sandwich, self.matrix)
            self.cells.collect(self.matrix, moved)
            self.rates -= moved
        self._rate(v, bias)
        self.anderson.fresh = True

    def _know(self, theta: Floats) -> None:
        """These coefficients, 0 in cells without a pair."""
        self.known = self.cells.spread(self.cells.factor * theta, self.dtype)

    def _rate(self, v: Floats, bias: float) -> None:
        """The rates of pairs; those of cells without one stay."""
        self.rates[self.cells.index] = np.sign(self.cells.factor) * (v - bias)

    def _allocate(self, s: Floats, rho: float) -> None:
        self.s, self.dtype = s, s.dtype.type
        p, cells, factor = self.problem, self.cells, self.cells.factor
        ends = factor * p.lower, factor * p.upper
        self.lower, self.upper = (cells.spread(choose(*ends), self.dtype) for choose in (np.minimum, np.maximum))
        self.sums = cells.spread(1.0 / factor, self.dtype)
        self.x, self.f, self.q, self.rates, self.known = (np.zeros(cells.size, self.dtype) for _ in range(5))
        self.matrix = np.empty(cells.shape, np.float32)
        self.anderson = Anderson(self.depth, self.cells.size, self.dtype)
        self._set(rho)

    @property
    def kink(self) -> float:
        """ε/ρ: how far the step into the box shrinks what it finds."""
        return self.problem.epsilon / self.rho

    @property
    def _box(self) -> tuple[Floats, Floats, Any]:
        return self.lower, self.upper, self.dtype(self.kink)

    def _set(self, rho: float) -> None:
        self.rho = rho
        self.anderson.forget()
        self.resolvent = resolvent_for(self.basis, rho, np.float32, self.rng, NEGLIGIBLE[self.dtype])
        if self.problem.constrained:
            self.q[:] = np.sign(self.sums)
            self._solve(self.q)
            self.weight = self._total(self.q)

    def _solve(self, R: Floats) -> None:
        """R ← (K + ρ)⁻¹ R over cells, in float32 and approximately."""
        self.cells.matrix(R, self.matrix)
        self.resolvent.solve(self.matrix)
        self.cells.collect(self.matrix, R)

    def _reflect(self) -> None:
        loops.splitting.reflect(self.s, self.rates, self.known, *self._box, self.dtype(self.rho), self.x)

    def _total(self, x: Floats) -> float:
        """Σθ of these cells."""
        return float(self.anderson.dots(self.sums[None], x)[0])

    def step(self) -> None:
        """One step of splitting, accelerated."""
        number = self.dtype
        self._reflect()
        self._solve(self.x)
        self.x += self.known
        shift = 0.0 if self.problem.total is None else (self._total(self.x) - self.problem.total) / self.weight
        loops.splitting.advance(self.s, self.x, self.q, number(shift), *self._box, number(RELAX), self.f)
        self.anderson.advance(self.s, self.f)

    def point(self) -> Floats:
        """The feasible coefficients nearest to s, (n,), in float64."""
        factor = self.cells.factor
        t = self.s[self.cells.index].astype(np.float64) / factor
        return nearest_feasible(t, self.problem, self.kink, np.abs(factor))

    def reduce(self, rho: float) -> None:
        """The same point and rates with another ρ, unless it is at most this already or rounding allows no less."""
        rho = max(rho, self.basis.rounding)
        if self.rho > rho:
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
