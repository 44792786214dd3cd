"""Inverses of K + diag(ridge): a factor of few pairs, the eigenbasis of the base Gram matrices, or the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve

from pairlearn.errors import InputError
from pairlearn.linalg.cholesky import cholesky, factor_bytes
from pairlearn.operators.base import PairOperator
from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.ridge.system import System
from pairlearn.solvers.splitting.cells import Cells
from pairlearn.solvers.splitting.correction import resolvent_for
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis, Resolvent
from pairlearn.solvers.splitting.room import BASIS, CORRECTION
from pairlearn.solvers.tuning import RATES
from pairlearn.types import Floats

FILLED = 0.6
"""Share of the cells with a pair from which on the eigenbasis serves. A step takes three times as long with it; in a
trial with Davis affinities, α from .02 to 2, there were 22 to 152 steps without and 18 to 95 with it for a quarter of
the pairs, 34 to 274 and 19 to 98 for 70 %, 38 to 302 and 14 to 67 for 90 %."""
FACTORED = 5000
"""Pairs up to which their matrix is factored where the eigenbasis does not serve: half a second, where 1,000 of 4,950
pairs of 100 examples (tensor_metric, linear base) took more than 400 steps."""
UNEVEN = 4.0
"""Largest over smallest weight up to which one weight for all is near enough."""
MATRICES = 8 * 7
"""Bytes per cell: eigenvectors of either side, their transpose, D, a spare matrix, the cells and their matrix."""
DECOMPOSED = 20.0
"""Operations per cubed row of a Gram matrix that its eigenvectors take, in units of those of a product."""


class Preconditioner(Protocol):
    """An approximate inverse; `name` is for the path of a solution, `taken` are its bytes."""

    @property
    def name(self) -> str: ...

    @property
    def taken(self) -> int: ...

    def solve(self, residual: Floats) -> Floats:
        """About (K + diag(ridge))⁻¹ residual, (n,)."""


@dataclass(frozen=True)
class Diagonal:
    """1 / (K(i, i) + ridge_i)."""

    inverse: Floats
    name: str = "conjugate gradients"

    @property
    def taken(self) -> int:
        return int(self.inverse.nbytes)

    def solve(self, residual: Floats) -> Floats:
        return self.inverse * residual


@dataclass(frozen=True)
class Factored:
    """LLᵀ = K + diag(ridge): the inverse itself."""

    L: Floats
    name: str = "factor"

    @property
    def taken(self) -> int:
        return factor_bytes(len(self.L))

    def solve(self, residual: Floats) -> Floats:
        solved: Floats = cho_solve((self.L, True), residual, check_finite=False)
        return solved


@dataclass(frozen=True)
class InEigenbasis:
    """(K̄ + ρ)⁻¹ of all cells, of which those with pairs are taken: the inverse itself where all have one.

    The cells of a symmetric matrix hold θ_ab = S_ab, and 2θ_aa = S_aa: of all pairs of one table with reflexive ones
    the inverse is off by a factor between ½ and 1, and some steps are needed.
    """

    cells: Cells
    resolvent: Resolvent
    taken: int
    exact: bool

    @property
    def name(self) -> str:
        return "eigenbasis" if self.exact else "conjugate gradients in the eigenbasis"

    def solve(self, residual: Floats) -> Floats:
        cells, factor = self.cells, self.cells.factor
        S = np.empty(cells.shape)
        R = cells.spread(np.sign(factor) * residual, np.float64)
        cells.matrix(R, S)
        self.resolvent.solve(S)
        cells.collect(S, R)
        return R[cells.index] / factor


def bytes_needed(sandwich: Sandwich) -> int:
    """What the eigenbasis takes."""
    m, k = len(sandwich.left), len(sandwich.right)
    each = MATRICES + (CORRECTION if sandwich.corrected else 0)
    return max(BASIS * (m * m + k * k), each * max(m, k) * max(m, k))


def seconds_needed(sandwich: Sandwich) -> float:
    """About how long its decomposition takes."""
    sides = len(sandwich.left) ** 3 + len(sandwich.right) ** 3
    return RATES.seconds((3.0 if sandwich.corrected else 1.0) * DECOMPOSED * sides, 0.0)


def preconditioner_for(
    system: System, operator: PairOperator, memory: float, clock: Clock, basis: Eigenbasis | None = None
) -> Preconditioner:
    """The eigenbasis where pairs fill most of their matrix, a factor of few pairs, where there is memory and time."""
    sandwich = operator.sandwich()
    cells = None if sandwich is None else _cells(sandwich, system)
    if sandwich is None or cells is None or bytes_needed(sandwich) > memory or seconds_needed(sandwich) > clock.left:
        return _factored(system, operator, memory, clock) or Diagonal(1.0 / (operator.diagonal() + system.ridge))
    found = Eigenbasis.of(sandwich) if basis is None else basis
    rho, even = float(np.exp(np.log(system.ridge).mean())), bool(np.ptp(system.ridge) == 0)
    resolvent = resolvent_for(found, rho, np.float64, np.random.default_rng(0))
    return InEigenbasis(cells, resolvent, bytes_needed(sandwich), even and _is_whole(cells))


def _factored(system: System, operator: PairOperator, memory: float, clock: Clock) -> Factored | None:
    """A factor of the matrix of all pairs, where these are few and rounding leaves it positive definite."""
    n = len(system)
    if n > FACTORED or factor_bytes(n) > memory or RATES.seconds(n**3 / 3, 10.0 * n**2) > clock.left:
        return None
    A = np.asfortranarray(operator.submatrix(np.arange(n)))
    A[np.diag_indices(n)] += system.ridge
    return Factored(A) if cholesky(A) else None


def _cells(sandwich: Sandwich, system: System) -> Cells | None:
    """The cells of the pairs, if these fill most of them and weigh about the same."""
    if system.ridge.max() > UNEVEN * system.ridge.min():
        return None
    try:
        cells = Cells.of(sandwich)
    except InputError:  # a pair twice, or in both orders
        return None
    return cells if len(cells.index) >= FILLED * cells.size else None


def _is_whole(cells: Cells) -> bool:
    """Whether every cell has a pair; those of an antisymmetric matrix on its diagonal are 0 anyway."""
    if cells.sign > 0:
        return False
    return len(cells.index) == cells.size - (cells.shape[0] if cells.sign else 0)
