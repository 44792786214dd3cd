"""A weighted sum of table kernels is a quadratic form: every decision value from two matrix products.

The fast products of training and the fast scores of learnt functions are both this one trick.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.linalg.symmetric import add_transpose
from pairlearn.linalg.tiles import product
from pairlearn.pair_kernels import Table
from pairlearn.types import Floats, Ints

Matrix = Any
"""Dense, sparse or `Mixed`."""
FEW = 1 / 12
"""Share of the entries of a matrix up to which it is held and multiplied through its non-zeros."""
ROWS = 16
"""Parts of the rows that are multiplied one after the other where the whole product is not needed."""


@dataclass(frozen=True)
class Sums:
    """A[i, j] = Σ_{k: pair_k = (i, j)} θ_k, sparse or dense, r = A·1 and s = Aᵀ·1: what a form needs of θ."""

    A: Matrix
    r: Floats
    s: Floats

    @classmethod
    def sparse(cls, left: Ints, right: Ints, coefficients: Floats, shape: tuple[int, int]) -> Sums:
        """Of few pairs."""
        A = sparse.csr_array((coefficients, (left, right)), shape=shape)
        r, s = np.bincount(left, coefficients, shape[0]), np.bincount(right, coefficients, shape[1])
        return cls(A, cast(Floats, r), cast(Floats, s))

    @classmethod
    def dense(cls, left: Ints, right: Ints, coefficients: Floats, shape: tuple[int, int]) -> Sums:
        """Of many pairs: no copy of them is made."""
        A = np.zeros(shape)
        loops.products.add_scattered(left, right, coefficients, A)
        return cls(A, A.sum(axis=1), A.sum(axis=0))

    @property
    def total(self) -> float:
        """Σθ."""
        return float(self.r.sum())

    def mixed(self, straight: float, swapped: float, own: Floats) -> Matrix:
        """straight·A + swapped·Aᵀ + diag(own)."""
        if isinstance(self.A, np.ndarray):
            return Mixed(self.A, straight, swapped, own)
        # The sum of A and Aᵀ with equal weights is symmetric bit by bit.
        mixed = straight * self.A + swapped * self.A.T if straight != swapped else straight * (self.A + self.A.T)
        return sparse.csr_array(mixed + sparse.diags_array(own))

    def scaled(self, straight: float) -> Matrix:
        """straight·A; a dense A is overwritten by it."""
        if isinstance(self.A, np.ndarray):
            return np.multiply(self.A, straight, out=self.A)
        return straight * self.A

    def left(self, square: float, line: float) -> SideForm:
        """e ↦ square·eᵀdiag(r)e + line·r·e."""
        return _of_one_side(self.r, square, line)

    def right(self, square: float, line: float) -> SideForm:
        """e ↦ square·eᵀdiag(s)e + line·s·e."""
        return _of_one_side(self.s, square, line)

    def line(self, own: Floats) -> Floats:
        """A number per example as one per entry of e."""
        return own


@dataclass(frozen=True)
class FoldedSums:
    """Sums over features Z of left and W of right examples: what a form over these needs of θ.

    A is never mixed with its transpose: that is done to B = ZᵀAW, `folded`, which is as small as features are few.
    """

    sums: Sums
    Z: Floats
    W: Floats

    @cached_property
    def folded(self) -> Floats:
        """ZᵀAW."""
        return product(self.Z.T, product(self.sums.A, self.W))

    @property
    def r(self) -> Floats:
        """A·1."""
        return self.sums.r

    @property
    def s(self) -> Floats:
        """Aᵀ·1."""
        return self.sums.s

    @property
    def total(self) -> float:
        """Σθ."""
        return self.sums.total

    def mixed(self, straight: float, swapped: float, own: Floats) -> Floats:
        """Zᵀ(straight·A + swapped·Aᵀ + diag(own))Z; with equal weights symmetric bit by bit, as that sum is."""
        mixed = _weighted_gram(self.Z, own)
        if straight or swapped:
            B = self.folded
            mixed += straight * B + swapped * B.T if straight != swapped else straight * (B + B.T)
        return mixed

    def scaled(self, straight: float) -> Floats:
        """straight·ZᵀAW."""
        return straight * self.folded

    def left(self, square: float, line: float) -> SideForm:
        """e ↦ square·eᵀZᵀdiag(r)Ze + line·Zᵀr·e."""
        return SideForm(_weighted_gram(self.Z, square * self.r) if square else None, self.Z.T @ (line * self.r))

    def right(self, square: float, line: float) -> SideForm:
        """e ↦ square·eᵀWᵀdiag(s)We + line·Wᵀs·e."""
        return SideForm(_weighted_gram(self.W, square * self.s) if square else None, self.W.T @ (line * self.s))

    def line(self, own: Floats) -> Floats:
        """A number per example as one per feature."""
        return self.Z.T @ own


AnySums = Sums | FoldedSums


@dataclass(frozen=True)
class Mixed:
    """straight·A + swapped·Aᵀ + diag(own) of a dense A, never formed for products: several of them share one A."""

    A: Floats
    straight: float
    swapped: float
    own: Floats

    def after(self, E: Floats) -> Floats:
        """E @ itself."""
        total = E * self.own
        for weight, A in ((self.straight, self.A), (self.swapped, self.A.T)):
            if weight:
                part = product(E, A)
                part *= weight
                total += part
        return total

    def toarray(self) -> Floats:
        """The matrix."""
        matrix = self.straight * self.A
        if self.swapped:
            matrix += self.swapped * self.A.T
        matrix[np.diag_indices(len(matrix))] += self.own
        return matrix


@dataclass(frozen=True)
class SideForm:
    """e ↦ eᵀNe + n·e: what depends on one example of a pair only; `square` is N, None when zero."""

    square: Matrix | None
    linear: Floats

    def values(self, E: Floats) -> Floats:
        """Values of the rows of E, (m,); E N is never held as a whole."""
        values = E @ self.linear if self.linear.any() else np.zeros(len(E))
        N = None if self.square is None else factor(self.square)
        for rows in slices(len(E) if N is not None else 0):
            values[rows] += np.einsum("ij,ij->i", times(E[rows], N), E[rows])
        return values

    def __add__(self, other: SideForm) -> SideForm:
        square = None if self.square is None else self.square + other.square
        return SideForm(square, self.linear + other.linear)

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
    def of(cls, table: Table, sums: AnySums) -> PairForm:
        """The form of Σ_k θ_k K(·, (left_k, right_k)) over rows of kernel values with as many examples as A has rows.

        Σ θ ac·bd = e_aᵀ A e_b,  Σ θ ac·bc = e_aᵀ diag(r) e_b,  Σ θ ac·ad = e_aᵀ ½(A + Aᵀ) e_a,
        Σ θ ac² = e_aᵀ diag(r) e_a,  Σ θ ac = r·e_a. A dense A becomes A + Aᵀ where nothing else is asked for.
        Folded sums give the same over features.
        """
        w = dict(table.terms)
        r, s = sums.r, sums.s

        def get(*names: str) -> float:
            return w.get(names, 0.0)

        symmetric = get("ac", "bd") == get("ad", "bc")
        if paired := symmetric and isinstance(sums, Sums) and isinstance(sums.A, np.ndarray):
            add_transpose(sums.A)

        def matrix(straight: float, swapped: float, on_left: float, on_right: float) -> Matrix | None:
            if not (straight or swapped or on_left or on_right):
                return None
            return sums.mixed(straight, 0.0 if paired else swapped, on_left * r + on_right * s)

        def side(half: float, squares: tuple[float, float], lines: tuple[float, float]) -> SideForm:
            return SideForm(matrix(half, half, *squares), sums.line(lines[0] * r + lines[1] * s))

        at_left = 0.5 * get("ac", "ad"), (get("ac", "ac"), get("ad", "ad")), (get("ac"), get("ad"))
        at_right = 0.5 * get("bc", "bd"), (get("bc", "bc"), get("bd", "bd")), (get("bc"), get("bd"))
        left_part = side(*at_left)
        return cls(
            cross=matrix(get("ac", "bd"), get("ad", "bc"), get("ac", "bc"), get("ad", "bd")),
            left=left_part,
            right=left_part if at_left == at_right else side(*at_right),
            constant=get() * sums.total,
        )

    @classmethod
    def of_two_tables(cls, table: Table, sums: AnySums) -> PairForm:
        """The same for two domains, over rows of kernel values with left and with right examples: ad = bc = 0."""
        w = dict(table.apart().terms)

        def get(*names: str) -> float:
            return w.get(names, 0.0)

        return cls(
            cross=sums.scaled(get("ac", "bd")) if get("ac", "bd") else None,
            left=sums.left(get("ac", "ac"), get("ac")),
            right=sums.right(get("bd", "bd"), get("bd")),
            constant=get() * sums.total,
        )

    def __add__(self, other: PairForm) -> PairForm:
        """The form of both sums together."""
        left = self.left + other.left
        cross = None if self.cross is None else self.cross + other.cross
        right = left if self.same_sides else self.right + other.right
        return PairForm(cross, left, right, self.constant + other.constant)

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

    def at_left(self, E: Floats) -> Floats:
        """What depends on the left example only, half of the constant included, (rows,)."""
        return 0.5 * self.constant + self.left.values(E)

    def at_right(self, E: Floats) -> Floats:
        """What depends on the right example only, half of the constant included, (rows,)."""
        return 0.5 * self.constant + self.right.values(E)


def fold(matrix: Matrix, Z: Floats | None, W: Floats | None) -> Matrix:
    """ZᵀMW, symmetric bit by bit where M is and Z is W; None stands for the identity.

    Rounding would leave the last bits of a symmetric product unequal, and g(a, b) ≠ g(b, a) with them.
    """
    folded = matrix if W is None else _product(matrix, W)
    folded = folded if Z is None else _product(folded.T, Z).T
    return 0.5 * (folded + folded.T) if Z is W and Z is not None and _is_symmetric(matrix) else folded


def _weighted_gram(Z: Floats, own: Floats) -> Floats:
    """Zᵀ diag(own) Z, symmetric bit by bit."""
    folded = product((Z * own[:, None]).T, Z)
    return 0.5 * (folded + folded.T)


def _of_one_side(r: Floats, square: float, line: float) -> SideForm:
    """e ↦ square·eᵀdiag(r)e + line·r·e."""
    return SideForm(sparse.diags_array(square * r).tocsr() if square else None, line * r)


def _product(matrix: Matrix, Z: Floats) -> Floats:
    return product(matrix, Z) if isinstance(matrix, np.ndarray) else matrix @ Z


def times(E: Floats, matrix: Matrix) -> Floats:
    """E @ matrix, through the non-zeros when these are few."""
    matrix = factor(matrix)
    if isinstance(matrix, Mixed):
        return matrix.after(E)
    return (matrix.T @ E.T).T if sparse.issparse(matrix) else product(E, matrix)


def factor(matrix: Matrix) -> Matrix:
    """The matrix as products want it: dense, unless its non-zeros are few."""
    return matrix.toarray() if sparse.issparse(matrix) and not is_few(matrix) else matrix


def is_few(matrix: Matrix) -> bool:
    """Whether a matrix is held, and worth multiplying, by its non-zeros."""
    return sparse.issparse(matrix) and bool(matrix.nnz <= FEW * matrix.shape[0] * matrix.shape[1])


def slices(n: int, parts: int = ROWS) -> Iterator[slice]:
    """0 … n − 1 in so many parts of equal size."""
    step = max(64, -(-n // parts))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _dense(matrix: Matrix | None) -> Matrix | None:
    return matrix if matrix is None or isinstance(matrix, np.ndarray) else matrix.toarray()


def _is_symmetric(matrix: Matrix) -> bool:
    difference = abs(matrix - matrix.T)
    return difference.max() == 0 if matrix.shape[0] else True
