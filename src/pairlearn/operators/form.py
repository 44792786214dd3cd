"""A weighted sum of table kernels is a quadratic form: every decision value from two matrix products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.pair_kernels import Table
from pairlearn.types import Floats, Ints

Matrix = Any
"""Dense or sparse."""


@dataclass(frozen=True)
class Own:
    """e_aᵀ N e_a + n·e_a: what depends on one side only; `square` is N, None when zero."""

    square: Matrix | None
    linear: Floats

    def collapsed(self, Z: Floats | None) -> Own:
        """The same over features: rows of kernel values are Z z_a."""
        if Z is None:
            return self
        return Own(None if self.square is None else fold(self.square, Z, Z), Z.T @ self.linear)

    def dense(self) -> Own:
        """The same with dense matrices."""
        return Own(_dense(self.square), self.linear)


@dataclass(frozen=True)
class PairForm:
    """g(a, b) = e_aᵀ M e_b + [e_aᵀ N e_a + n·e_a] + [the same at b] + constant.

    e_a is the row of example a: its base kernel values with the support examples, or its features;
    in two domains e_b is a row of the other table and `cross`, M, is rectangular.
    """

    cross: Matrix | None
    left: Own
    right: Own
    constant: float

    @classmethod
    def of(
        cls, table: Table, left: Ints, right: Ints, coefficients: Floats, n_left: int, n_right: int | None = None
    ) -> PairForm:
        """The form of Σ_k θ_k K(·, (left_k, right_k)) over rows of kernel values; `n_right` only in two domains."""
        if n_right is not None:
            return cls._of_two(dict(table.apart().terms), left, right, coefficients, n_left, n_right)
        w = dict(table.terms)
        A = sparse.csr_array((coefficients, (left, right)), shape=(n_left, n_left))
        r, s = np.bincount(left, coefficients, n_left), np.bincount(right, coefficients, n_left)

        def get(*names: str) -> float:
            return w.get(names, 0.0)

        def matrix(straight: float, turned: float, on_left: float, on_right: float) -> Matrix | None:
            if not (straight or turned or on_left or on_right):
                return None
            # The sum of A and Aᵀ with equal weights is symmetric bit by bit.
            mixed = straight * A + turned * A.T if straight != turned else straight * (A + A.T)
            return sparse.csr_array(mixed + sparse.diags_array(on_left * r + on_right * s))

        def own(half: float, squares: tuple[float, float], lines: tuple[float, float]) -> Own:
            return Own(matrix(half, half, *squares), lines[0] * r + lines[1] * s)

        at_left = 0.5 * get("ac", "ad"), (get("ac", "ac"), get("ad", "ad")), (get("ac"), get("ad"))
        at_right = 0.5 * get("bc", "bd"), (get("bc", "bc"), get("bd", "bd")), (get("bc"), get("bd"))
        left_part = own(*at_left)
        return cls(
            cross=matrix(get("ac", "bd"), get("ad", "bc"), get("ac", "bc"), get("ad", "bd")),
            left=left_part,
            right=left_part if at_left == at_right else own(*at_right),
            constant=get() * float(coefficients.sum()),
        )

    @classmethod
    def _of_two(
        cls, w: dict[tuple[str, ...], float], left: Ints, right: Ints, coefficients: Floats, n_left: int, n_right: int
    ) -> PairForm:
        def own(name: str, index: Ints, n: int) -> Own:
            r, square = np.bincount(index, coefficients, n), w.get((name, name), 0.0)
            return Own(sparse.diags_array(square * r).tocsr() if square else None, w.get((name,), 0.0) * r)

        straight = w.get(("ac", "bd"), 0.0)
        A = sparse.csr_array((coefficients, (left, right)), shape=(n_left, n_right))
        return cls(
            cross=straight * A if straight else None,
            left=own("ac", left, n_left),
            right=own("bd", right, n_right),
            constant=w.get((), 0.0) * float(coefficients.sum()),
        )

    def collapsed(self, Z: Floats | None, W: Floats | None) -> PairForm:
        """The same function over features of the left (Z) and right (W) examples: M becomes ZᵀMW.

        None leaves the rows of that side as they are.
        """
        left = self.left.collapsed(Z)
        right = left if self.same_own else self.right.collapsed(W)
        return PairForm(None if self.cross is None else fold(self.cross, Z, W), left, right, self.constant)

    def dense(self) -> PairForm:
        """The same with dense matrices."""
        left = self.left.dense()
        return PairForm(_dense(self.cross), left, left if self.same_own else self.right.dense(), self.constant)

    @property
    def same_own(self) -> bool:
        """Whether both sides have the same own part, as in every symmetric kernel."""
        return self.left is self.right

    def own(self, E: Floats, *, left: bool, turned: Floats | None = None) -> Floats:
        """The part of g that depends on one side only, half of the constant included, (rows,).

        `turned` is E N when the caller has it already.
        """
        part = self.left if left else self.right
        values = 0.5 * self.constant + (E @ part.linear if part.linear.any() else np.zeros(len(E)))
        if part.square is not None:
            values += np.einsum("ij,ij->i", times(E, part.square) if turned is None else turned, E)
        return values


def fold(matrix: Matrix, Z: Floats | None, W: Floats | None) -> Matrix:
    """ZᵀMW, symmetric bit by bit where M is and Z is W; None stands for the identity."""
    folded = matrix if W is None else matrix @ W
    folded = folded if Z is None else (folded.T @ Z).T
    return 0.5 * (folded + folded.T) if Z is W and Z is not None and _is_symmetric(matrix) else folded


def times(E: Floats, matrix: Matrix) -> Floats:
    """E @ matrix, through the non-zeros when they are few."""
    if not sparse.issparse(matrix):
        return E @ matrix
    if matrix.nnz * 12 > matrix.shape[0] * matrix.shape[1]:
        return E @ matrix.toarray()
    return (matrix.T @ E.T).T


def _dense(matrix: Matrix | None) -> Matrix | None:
    return matrix if matrix is None or isinstance(matrix, np.ndarray) else matrix.toarray()


def _is_symmetric(matrix: Matrix) -> bool:
    difference = abs(matrix - matrix.T)
    return difference.max() == 0 if matrix.shape[0] else True
