"""What the Gram matrix of a pair kernel can do, whatever holds it.

n pairs have n² kernel values: 100,000 pairs 80 GB of them. Solvers therefore never ask for the matrix, only for what an
operator can do with it: its diagonal, blocks of a working set, and products with mostly empty vectors. A new operator
has the four abstract methods; everything else follows from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from pairlearn.types import Floats, Ints

if TYPE_CHECKING:
    from pairlearn.operators.sandwich import Sandwich
    from pairlearn.operators.thin import AnyThin


PIECE = 2**16
"""Pairs whose values of a product are looked at together: a certificate takes seven numbers for each of them."""


class PairOperator(ABC):
    """The n × n Gram matrix of n pairs, never formed unless it is small."""

    n_pairs: int
    block_bytes: int = 2**26
    """Bytes of kernel values that may be asked for at once; the plan has room for what computing them takes."""
    grows: bool = True
    """Whether a product takes a kernel value for every pair and every non-zero coefficient, so that it grows with both.

    Where it does not, it takes the same few matrix products always."""

    passed: int = 0
    """Most bytes that a product or a block took on its way so far, the result included; by the shapes of its arrays."""

    lasted: float = 0.0
    """Seconds of the last product over all pairs that was timed; 0 before the first."""

    def passes(self, nbytes: int) -> None:
        """Note that so many bytes were in use at once, beside what the operator holds."""
        self.passed = max(self.passed, nbytes)

    @abstractmethod
    def diagonal(self) -> Floats:
        """K(i, i) of every pair, (n,)."""

    @cached_property
    def largest(self) -> float:
        """The largest K(i, i), at least 0; NaN if one of them is."""
        return float(self.diagonal().max(initial=0.0))

    @abstractmethod
    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        """Block of these pairs, (len(rows), len(cols)); square and symmetric without `cols`."""

    def alongside(self, n: int) -> int:
        """Bytes at most that the block of n pairs with each other takes while it is computed, beside itself."""
        return 8 * n**2

    @abstractmethod
    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        """K @ coefficients piece by piece: (number of the first pair, values); cost follows the non-zeros.

        Pieces come in order and cover every pair once, so that whoever only looks for extremes (the scan of a solver)
        never holds n numbers.
        """

    @abstractmethod
    def restricted(self, index: Ints) -> PairOperator:
        """The same of these pairs alone, at the cost of these."""

    def thin(self) -> AnyThin | None:
        """The same matrix as a thin product, where its rank is far below the number of pairs; None elsewhere.

        Solvers then take all pairs at once instead of a working set.
        """
        return None

    def thin_size(self) -> tuple[int, int] | None:
        """(entries per row, order) of that form at most, before anything is computed of it; None without one."""
        return None

    def sandwich(self) -> Sandwich | None:
        """The same matrix as products from both sides of a matrix over examples; None where it is no such one."""
        return None

    def add_product(self, coefficients: Floats, out: Floats) -> None:
        """out += K @ coefficients."""
        for start, values in self.blocks(coefficients):
            out[start : start + len(values)] += values

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n_pairs, self.n_pairs

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Always float64."""
        return np.dtype(np.float64)

    def __matmul__(self, coefficients: Floats) -> Floats:
        out = np.zeros(self.n_pairs)
        self.add_product(np.asarray(coefficients, dtype=np.float64), out)
        return out

    def rows(self, index: Ints) -> Floats:
        """Whole rows, (len(index), n)."""
        return self.submatrix(np.asarray(index), np.arange(self.n_pairs))

    def as_linear_operator(self) -> LinearOperator:
        """The same for SciPy's iterative methods."""
        return LinearOperator(self.shape, matvec=self.__matmul__, rmatvec=self.__matmul__, dtype=self.dtype)


class Divisible(PairOperator):
    """An operator whose products are made for some pairs at a time, by whoever holds what is needed of these pairs.

    (K θ) of some pairs takes `shared`, the same for all of them, what is `held` of these pairs alone, and what is
    `told` of θ: a form, sums of features, the support pairs. So that with `part = shared.over(held(index))` the pieces
    of `part.spread(told(θ))` are those of (K θ)[index], on this machine or on another one.
    """

    @abstractmethod
    def told(self, coefficients: Floats) -> Any:
        """What a product needs to know of θ, whatever the pairs whose values are asked for."""

    @abstractmethod
    def spread(self, told: Any) -> Iterator[tuple[int, Floats]]:
        """The product piece by piece, as `blocks` gives it."""

    @property
    @abstractmethod
    def shared(self) -> Divisible:
        """The same of no pairs, with nothing but what products need."""

    @abstractmethod
    def held(self, index: Ints) -> Any:
        """What is held of these pairs alone."""

    @abstractmethod
    def _over(self, held: Any) -> Divisible:
        """The same over the pairs of which this is held."""

    def over(self, held: Any) -> Divisible:
        """The same over the pairs of which this is held, in blocks of the same size."""
        part = self._over(held)
        part.block_bytes = self.block_bytes
        return part

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        yield from self.spread(self.told(coefficients))

    def restricted(self, index: Ints) -> Divisible:
        return self.over(self.held(index))


def pieces(values: Floats, step: int = PIECE) -> Iterator[tuple[int, Floats]]:
    """Values of all pairs as `blocks` gives them, so that whoever looks at them needs room for a piece only."""
    return ((start, values[start : start + step]) for start in range(0, len(values), step))
