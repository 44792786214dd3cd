"""A weighted sum of table kernels is a quadratic form: every decision value from two matrix products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.pair_kernels import Table
from pairlearn.types import Floats, Ints

Matrix = Any
"""Dense or sparse, square."""


@dataclass(frozen=True)
class PairForm:
    """g(a, b) = e_aᵀ M e_b + [e_aᵀ N e_a + n·e_a] + [the same at b] + constant.

    e_a is the row of example a: its base kernel values with the support examples, or its features.
    `cross` is M, `square_left`/`square_right` are N (None when zero), `linear_left`/`linear_right` are n.
    """

    cross: Matrix
    square_left: Matrix | None
    square_right: Matrix | None
    linear_left: Floats
    linear_right: Floats
    constant: float

    @classmethod
    def of(cls, table: Table, left: Ints, right: Ints, coefficients: Floats, n_examples: int) -> PairForm:
        """The form of Σ_k θ_k K(·, (left_k, right_k)) over rows of kernel values."""
        w = dict(table.terms)
        A = sparse.csr_array((coefficients, (left, right)), shape=(n_examples, n_examples))
        r = np.bincount(left, coefficients, n_examples)
        s = np.bincount(right, coefficients, n_examples)

        def get(*names: str) -> float:
            return w.get(names, 0.0)

        def matrix(straight: float, turned: float, on_left: float, on_right: float) -> Matrix | None:
            if not (straight or turned or on_left or on_right):
                return None
            # The sum of A and Aᵀ with equal weights is symmetric bit by bit.
            mixed = straight * A + turned * A.T if straight != turned else straight * (A + A.T)
            return sparse.csr_array(mixed + sparse.diags_array(on_left * r + on_right * s))

        cross = matrix(get("ac", "bd"), get("ad", "bc"), get("ac", "bc"), get("ad", "bd"))

        def own(half: float, squares: tuple[float, float], lines: tuple[float, float]) -> tuple[Matrix | None, Floats]:
            return matrix(half, half, *squares), lines[0] * r + lines[1] * s

        at_left = 0.5 * get("ac", "ad"), (get("ac", "ac"), get("ad", "ad")), (get("ac"), get("ad"))
        at_right = 0.5 * get("bc", "bd"), (get("bc", "bc"), get("bd", "bd")), (get("bc"), get("bd"))
        left_part = own(*at_left)
        right_part = left_part if at_left == at_right else own(*at_right)
        return cls(
            cross=cross,
            square_left=left_part[0],
            square_right=right_part[0],
            linear_left=left_part[1],
            linear_right=right_part[1],
            constant=get() * float(coefficients.sum()),
        )

    def collapsed(self, Z: Floats) -> PairForm:
        """The same function over features: rows of kernel values are Z z_a, so M becomes ZᵀMZ."""

        def fold(matrix: Matrix) -> Floats:
            folded = Z.T @ (matrix @ Z)
            return 0.5 * (folded + folded.T) if _is_symmetric(matrix) else folded

        return self._mapped(fold, lambda vector: Z.T @ vector)

    def dense(self) -> PairForm:
        """The same with dense matrices."""

        return self._mapped(lambda matrix: matrix.toarray() if sparse.issparse(matrix) else matrix, lambda v: v)

    def _mapped(self, fold: Callable[[Matrix], Floats], line: Callable[[Floats], Floats]) -> PairForm:
        square, linear = None if self.square_left is None else fold(self.square_left), line(self.linear_left)
        other = (square, linear)
        if not self.same_own:
            other = None if self.square_right is None else fold(self.square_right), line(self.linear_right)
        cross = None if self.cross is None else fold(self.cross)
        return PairForm(cross, square, other[0], linear, other[1], self.constant)

    @property
    def same_own(self) -> bool:
        """Whether both sides have the same own part, as in every symmetric kernel."""
        return self.square_left is self.square_right and self.linear_left is self.linear_right

    def own(self, E: Floats, *, left: bool, turned: Floats | None = None) -> Floats:
        """The part of g that depends on one side only, half of the constant included, (rows,).

        `turned` is E N when the caller has it already.
        """
        square, linear = (self.square_left, self.linear_left) if left else (self.square_right, self.linear_right)
        values = 0.5 * self.constant + (E @ linear if linear.any() else np.zeros(len(E)))
        if square is not None:
            values += np.einsum("ij,ij->i", times(E, square) if turned is None else turned, E)
        return values


def times(E: Floats, matrix: Matrix) -> Floats:
    """E @ matrix, through the non-zeros when they are few."""
    if not sparse.issparse(matrix):
        return E @ matrix
    if matrix.nnz * 12 > matrix.shape[0] * matrix.shape[1]:
        return E @ matrix.toarray()
    return (matrix.T @ E.T).T


def _is_symmetric(matrix: Matrix) -> bool:
    difference = abs(matrix - matrix.T)
    return difference.max() == 0 if matrix.shape[0] else True
