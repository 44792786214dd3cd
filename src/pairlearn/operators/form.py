"""A weighted sum of table kernels is a quadratic form: every decision value from two matrix products.

The fast products of training and the fast scores of learnt functions are both this one trick.
"""

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
class SideForm:
    """e ↦ eᵀNe + n·e: what depends on one example of a pair only; `square` is N, None when zero."""

    square: Matrix | None
    linear: Floats

    def values(self, E: Floats, product: Floats | None = None) -> Floats:
        """Values of the rows of E, (m,); `product` is E N when the caller has it already."""
        values = E @ self.linear if self.linear.any() else np.zeros(len(E))
        if self.square is not None:
            values += np.einsum("ij,ij->i", times(E, self.square) if product is None else product, E)
        return values

    def collapsed(self, Z: Floats | None) -> SideForm:
        """The same over features: rows of kernel values are Z z_a."""
        if Z is None:
            return self
        return SideForm(None if self.square is None else fold(self.square, Z, Z), Z.T @ self.linear)

    def dense(self) -> SideForm:
        """The same with dense matrices."""
        return SideForm(_dense(self.square), self.linear)


@dataclass(frozen=True)
class PairForm:
    """g(a, b) = e_aᵀ M e_b + [e_aᵀ N e_a + n·e_a] + [the same at b] + constant.

    e_a is the row of example a: its base kernel values with the s support examples, or its features. A table is a
    polynomial of degree ≤ 2 in ac, ad, bc, bd, so a weighted sum of n support pairs collects into one s × s matrix
    per kind of product: ac·bd goes to M, ac·ad to N at a, and so on. Scoring then costs what s costs, however many
    support pairs there are. In two domains e_b is a row of the other table and `cross`, M, is rectangular.
    """

    cross: Matrix | None
    left: SideForm
    right: SideForm
    constant: float

    @classmethod
    def of(cls, table: Table, left: Ints, right: Ints, coefficients: Floats, n_examples: int) -> PairForm:
        """The form of Σ_k θ_k K(·, (left_k, right_k)) over rows of kernel values with n_examples.

        With A[i, j] = Σ_{k: pair_k = (i, j)} θ_k, r = A·1 and s = Aᵀ·1:  Σ θ ac·bd = e_aᵀ A e_b,
        Σ θ ac·bc = e_aᵀ diag(r) e_b,  Σ θ ac·ad = e_aᵀ ½(A + Aᵀ) e_a,  Σ θ ac² = e_aᵀ diag(r) e_a,  Σ θ ac = r·e_a.
        """
        w = dict(table.terms)
        A = sparse.csr_array((coefficients, (left, right)), shape=(n_examples, n_examples))
        r, s = np.bincount(left, coefficients, n_examples), np.bincount(right, coefficients, n_examples)

        def get(*names: str) -> float:
            return w.get(names, 0.0)

        def matrix(straight: float, swapped: float, on_left: float, on_right: float) -> Matrix | None:
            if not (straight or swapped or on_left or on_right):
                return None
            # The sum of A and Aᵀ with equal weights is symmetric bit by bit.
            mixed = straight * A + swapped * A.T if straight != swapped else straight * (A + A.T)
            return sparse.csr_array(mixed + sparse.diags_array(on_left * r + on_right * s))

        def side(half: float, squares: tuple[float, float], lines: tuple[float, float]) -> SideForm:
            return SideForm(matrix(half, half, *squares), lines[0] * r + lines[1] * s)

        at_left = 0.5 * get("ac", "ad"), (get("ac", "ac"), get("ad", "ad")), (get("ac"), get("ad"))
        at_right = 0.5 * get("bc", "bd"), (get("bc", "bc"), get("bd", "bd")), (get("bc"), get("bd"))
        left_part = side(*at_left)
        return cls(
            cross=matrix(get("ac", "bd"), get("ad", "bc"), get("ac", "bc"), get("ad", "bd")),
            left=left_part,
            right=left_part if at_left == at_right else side(*at_right),
            constant=get() * float(coefficients.sum()),
        )

    @classmethod
    def of_two_tables(
        cls, table: Table, left: Ints, right: Ints, coefficients: Floats, n_left: int, n_right: int
    ) -> PairForm:
        """The same for two domains, over rows of kernel values with n_left and with n_right examples: ad = bc = 0."""
        w = dict(table.apart().terms)

        def side(name: str, index: Ints, n: int) -> SideForm:
            r, square = np.bincount(index, coefficients, n), w.get((name, name), 0.0)
            return SideForm(sparse.diags_array(square * r).tocsr() if square else None, w.get((name,), 0.0) * r)

        straight = w.get(("ac", "bd"), 0.0)
        A = sparse.csr_array((coefficients, (left, right)), shape=(n_left, n_right))
        return cls(
            cross=straight * A if straight else None,
            left=side("ac", left, n_left),
            right=side("bd", right, n_right),
            constant=w.get((), 0.0) * float(coefficients.sum()),
        )

    def collapsed(self, Z: Floats | None, W: Floats | None) -> PairForm:
        """The same function over features of the left (Z) and right (W) examples: M becomes ZᵀMW.

        None leaves the rows of that side as they are.
        """
        left = self.left.collapsed(Z)
        right = left if self.same_sides else self.right.collapsed(W)
        return PairForm(None if self.cross is None else fold(self.cross, Z, W), left, right, self.constant)

    def dense(self) -> PairForm:
        """The same with dense matrices."""
        left = self.left.dense()
        return PairForm(_dense(self.cross), left, left if self.same_sides else self.right.dense(), self.constant)

    @property
    def same_sides(self) -> bool:
        """Whether what depends on one example is the same on both sides, as in every symmetric kernel."""
        return self.left is self.right

    def at_left(self, E: Floats, product: Floats | None = None) -> Floats:
        """What depends on the left example only, half of the constant included, (rows,)."""
        return 0.5 * self.constant + self.left.values(E, product)

    def at_right(self, E: Floats, product: Floats | None = None) -> Floats:
        """What depends on the right example only, half of the constant included, (rows,)."""
        return 0.5 * self.constant + self.right.values(E, product)


def fold(matrix: Matrix, Z: Floats | None, W: Floats | None) -> Matrix:
    """ZᵀMW, symmetric bit by bit where M is and Z is W; None stands for the identity.

    Rounding would leave the last bits of a symmetric product unequal, and g(a, b) ≠ g(b, a) with them.
    """
    folded = matrix if W is None else matrix @ W
    folded = folded if Z is None else (folded.T @ Z).T
    return 0.5 * (folded + folded.T) if Z is W and Z is not None and _is_symmetric(matrix) else folded


def times(E: Floats, matrix: Matrix) -> Floats:
    """E @ matrix, through the non-zeros when these are fewer than one entry in twelve."""
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
