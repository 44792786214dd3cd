"""The matrix Q of ½xᵀQx, held in two ways, and what the interior point needs of it.

Every step of the interior point solves with Q + diag D for a new D. How depends on what holds Q: a Cholesky factor of
the matrix itself, |W|³/3 operations, or Woodbury's identity where Q = GGᵀ with few columns,

    (D + GGᵀ)⁻¹ = D⁻¹ − D⁻¹G (I + GᵀD⁻¹G)⁻¹ GᵀD⁻¹,

which costs nr² and works for all pairs at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from pairlearn import loops
from pairlearn.linalg.cholesky import cholesky, factor_bytes
from pairlearn.linalg.tiles import gram
from pairlearn.operators.thin import AnyThin
from pairlearn.solvers.clock import Look
from pairlearn.solvers.inner.low_rank import bytes_of_search, low_rank_factor, samples
from pairlearn.types import Floats, Ints


class Quadratic(ABC):
    """A symmetric positive semidefinite matrix."""

    @abstractmethod
    def __matmul__(self, x: Floats) -> Floats:
        """Q x."""

    @abstractmethod
    def factored(self, D: Floats) -> Factor:
        """(Q + diag D)⁻¹."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """About how much Q x changes when every entry of x moves by one."""

    @property
    @abstractmethod
    def factor_bytes(self) -> int:
        """Memory of a factor, and of what it is made from unless that is a working set's matrix."""


class Explicit(Quadratic):
    """The Gram matrix of a working set: the leading n × n part of a contiguous store, `pairs` (n,) are its rows.

    With `rng` it is looked at, once and only when asked, whether its rank is low; without it never counts as low.
    `look` looks at the clock while factors are made. `rank` is known to be the least, from sets before.
    """

    def __init__(
        self,
        store: Floats,
        pairs: Ints,
        rng: np.random.Generator | None = None,
        look: Look | None = None,
        rank: int = 0,
    ) -> None:
        self.store, self.pairs, self._rng, self.look, self.rank = store, pairs, rng, look, rank
        self.searched = 0
        """Bytes that the look at its rank took, or what was done with a factor of low rank that is gone."""

    @property
    def view(self) -> Floats:
        """Q alone, (n, n)."""
        n = len(self.pairs)
        return self.store[:n, :n]

    @cached_property
    def low_rank(self) -> Floats | None:
        """G with Q = GGᵀ, (n, r), where r is at most .6 n, else None."""
        if self._rng is None:
            return None
        n, least = len(self.pairs), self.rank
        G = low_rank_factor(self.view, self._rng, least, self.look)
        self.rank = max(least, *samples(n, least), 0) if G is None else G.shape[1]
        self.searched = bytes_of_search(n, None if G is None else self.rank, least)
        return G

    @property
    def spanned_bytes(self) -> int:
        """Bytes of G, if it was ever asked for and is kept."""
        G: Floats | None = self.__dict__.get("low_rank")
        return 0 if G is None else G.nbytes

    def exact(self) -> Explicit:
        """The same matrix, never taken for one of low rank; nor is this one any more: its factor needs the memory."""
        self.searched = max(self.searched, self.factor_bytes)
        self.low_rank = None
        return Explicit(self.store, self.pairs, look=self.look)

    def __matmul__(self, x: Floats) -> Floats:
        return self.view @ x if self.low_rank is None else self.low_rank @ (self.low_rank.T @ x)

    def times(self, x: Floats) -> Floats:
        """Q x through the non-zeros of x: whole rows of the store, read in order."""
        index = np.nonzero(x)[0]
        out = np.empty(len(x))
        loops.blocks.sum_rows(self.store, index, x[index], out)
        return out

    def factored(self, D: Floats) -> Factor:
        return _Dense(self.view, D, self.look) if self.low_rank is None else _LowRank(self.low_rank, D)

    @property
    def weight(self) -> float:
        return float(np.mean([np.abs(row).sum() for row in self.view]))

    @property
    def factor_bytes(self) -> int:
        return factor_bytes(len(self.pairs)) if self.low_rank is None else _bytes_with_columns(self.low_rank)


@dataclass(frozen=True)
class ThinForm(Quadratic):
    """All pairs at once, where their matrix has a thin form.

    >>> from pairlearn.operators.thin import Columns
    >>> (ThinForm(Columns(np.ones((2, 1)))) @ np.ones(2)).tolist()
    [2.0, 2.0]
    """

    thin: AnyThin

    def __matmul__(self, x: Floats) -> Floats:
        return self.thin @ x

    def factored(self, D: Floats) -> Factor:
        return _ThinFactor(self.thin, D)

    @property
    def weight(self) -> float:
        return float(np.abs(self.thin @ np.ones(len(self.thin))).mean())

    @property
    def factor_bytes(self) -> int:
        return self.thin.nbytes


def _bytes_with_columns(G: Floats) -> int:
    """G, its scaled copy and the system of its columns."""
    return 2 * G.nbytes + 8 * G.shape[1] ** 2


class Factor(ABC):
    """(Q + diag D)⁻¹ and its product with the vector of ones."""

    D: Floats

    @cached_property
    def ones(self) -> Floats:
        """(Q + diag D)⁻¹ 1, (n,): what Σx = total needs, in every solution with this factor."""
        return self.solve(np.ones(len(self.D)))

    @abstractmethod
    def solve(self, right: Floats) -> Floats:
        """(Q + diag D)⁻¹ right, (n,)."""


class _Dense(Factor):
    """By a Cholesky factor of the whole matrix."""

    def __init__(self, Q: Floats, D: Floats, look: Look | None) -> None:
        self.D = D
        self.L = np.array(Q.T, order="F")  # symmetric: row by row, which takes a tenth of the time across them
        self.L[np.diag_indices(len(D))] += D
        if not cholesky(self.L, look=look):
            raise np.linalg.LinAlgError("the working set's Gram matrix is not positive semidefinite")

    def solve(self, right: Floats) -> Floats:
        return lapack.dpotrs(self.L, right, lower=1)[0]


class _Woodbury(Factor):
    """By a Cholesky factor of I + GᵀD⁻¹G, r × r; S comes in as GᵀD⁻¹G and is overwritten."""

    def __init__(self, D: Floats, S: Floats) -> None:
        self.D = D
        S[np.diag_indices(len(S))] += 1.0
        self.L = S
        if not cholesky(S):
            raise np.linalg.LinAlgError("the interior point met a singular system")

    def solve(self, right: Floats) -> Floats:
        first = right / self.D
        inner = lapack.dpotrs(self.L, self._gathered(first), lower=1)[0]
        return first - self._spread(inner) / self.D

    @abstractmethod
    def _gathered(self, x: Floats) -> Floats:
        """Gᵀ x, (r,)."""

    @abstractmethod
    def _spread(self, y: Floats) -> Floats:
        """G y, (n,)."""


class _LowRank(_Woodbury):
    """G held as a matrix."""

    def __init__(self, G: Floats, D: Floats) -> None:
        self.G = G
        # Symmetric, so that its transpose is the same, column-major.
        super().__init__(D, gram((G / np.sqrt(D)[:, None]).T).T)

    def _gathered(self, x: Floats) -> Floats:
        return self.G.T @ x

    def _spread(self, y: Floats) -> Floats:
        return self.G @ y


class _ThinFactor(_Woodbury):
    """By the thin form."""

    def __init__(self, thin: AnyThin, D: Floats) -> None:
        self.thin = thin
        super().__init__(D, thin.weighted(1.0 / D))

    def _gathered(self, x: Floats) -> Floats:
        return self.thin.gathered(x)

    def _spread(self, y: Floats) -> Floats:
        return self.thin.spread(y)
