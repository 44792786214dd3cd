"""The fast product: every value of K @ θ from two matrix products over examples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.base import PairOperator
from pairlearn.operators.form import Matrix, PairForm, SideForm, times
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import AnySource, Source
from pairlearn.operators.thin import Thin, thin_table
from pairlearn.pair_kernels import Table
from pairlearn.pairs import Triangle
from pairlearn.types import Floats, Ints

FEW = 0.03
"""Below this share of all m² pairs single dot products beat whole matrix products."""


class ProductOperator(PairOperator):
    """Gram matrix of one table over pairs of m examples; needs the Gram matrix or features of the examples.

    (K θ)_i = g(a_i, b_i) for the quadratic form g of θ, so with E a row per example: T = E M once, then T Eᵀ holds
    the crossed part of all m² pairs. That is two products of m × r matrices, whatever the number n of pairs. Who
    needs all pairs in order takes the upper triangle of T Eᵀ, who needs many picks from its row blocks, and who needs
    few multiplies single rows.
    """

    grows = False

    def __init__(
        self, table: Table, source: AnySource, left: Ints, right: Ints, triangle: Triangle | None = None
    ) -> None:
        self.table, self.source = table, source
        self.pairs, self.triangle = PairRows(left, right), triangle
        self.n_pairs = len(left)
        m = source.left.n_examples
        self.step = max(64, -(-m // 16))
        self._order: Ints | None = None
        if triangle is None and self.n_pairs > FEW * m * source.right.n_examples:
            self._order = np.argsort(left, kind="stable")
            self._starts = np.searchsorted(left[self._order], np.arange(0, m + self.step, self.step))

    def diagonal(self) -> Floats:
        return self.source.table_diagonal(self.table, self.pairs)

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        cols = rows if cols is None else cols
        return self.source.table_block(self.table, self.pairs.take(rows), self.pairs.take(cols))

    def thin(self) -> Thin | None:
        return thin_table(self.table, self.source, self.pairs.left, self.pairs.right)

    def form(self, coefficients: Floats) -> PairForm:
        """The quadratic form of these coefficients over the rows of examples."""
        used = np.nonzero(coefficients)[0]
        return self.source.form(self.table, self.pairs.take(used), coefficients[used])

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        form, E, F = self.form(coefficients), self.source.left.rows, self.source.right.rows
        with blas_threads(2.0 * E.shape[0] * E.shape[1] ** 2):
            T = None if form.cross is None else _rows_times(self.source.left, form.cross)
            at_left = form.at_left(E, _square_product(self.source.left, form.left))
            at_right = at_left if form.same_sides else form.at_right(F, _square_product(self.source.right, form.right))
        if T is not None and self.triangle is not None:
            yield from self._triangle_blocks(T, E, at_left, at_right, self.triangle)
        elif T is not None and self._order is not None:
            yield 0, self._gathered(T, F, at_left, at_right, self._order)
        else:
            yield from self._sampled_blocks(T, F, at_left, at_right)

    def _triangle_blocks(
        self, T: Floats, E: Floats, at_left: Floats, at_right: Floats, triangle: Triangle
    ) -> Iterator[tuple[int, Floats]]:
        """Row blocks of the upper triangle: half the work of the whole product."""
        shift = 0 if triangle.reflexive else 1
        offsets = np.asarray(triangle.offset(np.arange(len(E) + 1, dtype=np.int64)))
        for first in range(0, len(E), self.step):
            start, stop = offsets[first], offsets[min(first + self.step, len(E))]
            with blas_threads(2.0 * self.n_pairs * E.shape[1]):
                S = T[first : first + self.step] @ E[first:].T
            values = np.zeros(stop - start)
            loops.products.add_triangle(S, first, shift, offsets - start, at_left, at_right, values)
            yield int(start), values

    def _gathered(self, T: Floats, F: Floats, at_left: Floats, at_right: Floats, order: Ints) -> Floats:
        """Many pairs in any order: whole row blocks, of which each pair picks its value."""
        values = np.zeros(self.n_pairs)
        for number, first in enumerate(range(0, len(T), self.step)):
            chosen = order[self._starts[number] : self._starts[number + 1]]
            if len(chosen):
                with blas_threads(2.0 * T.size * len(F)):
                    S = T[first : first + self.step] @ F.T
                left, right = self.pairs.left, self.pairs.right
                loops.products.add_gathered(S, first, chosen, left, right, at_left, at_right, values)
        return values

    def _sampled_blocks(
        self, T: Floats | None, F: Floats, at_left: Floats, at_right: Floats, step: int = 2**20
    ) -> Iterator[tuple[int, Floats]]:
        """Few pairs: one dot product each, a million pairs at a time."""
        T = None if T is None else np.ascontiguousarray(T)
        for start in range(0, self.n_pairs, step):
            left, right = self.pairs.left[start : start + step], self.pairs.right[start : start + step]
            values = np.zeros(len(left))
            if T is not None:
                loops.products.pair_dots(T, F, left, right, values)
            loops.products.add_own(at_left, at_right, left, right, values)
            yield start, values


def _rows_times(source: Source, matrix: Matrix) -> Floats:
    """E M; a Gram matrix is symmetric, which saves a transposition."""
    return gram_times(source.rows, matrix) if source.features is None else times(source.rows, matrix)


def _square_product(source: Source, side: SideForm) -> Floats | None:
    """E N of one side, None where N is zero."""
    return None if side.square is None else _rows_times(source, side.square)


def gram_times(K: Floats, matrix: Matrix) -> Floats:
    """K @ matrix for a symmetric K, through the non-zeros when they are few.

    (K M)ᵀ = Mᵀ K, so rows of K are added, which lie in one piece in memory, and nothing is transposed.
    """
    if not sparse.issparse(matrix) or matrix.nnz * 12 > matrix.shape[0] * matrix.shape[1]:
        return times(K, matrix)
    transposed = sparse.csr_array(matrix.T)
    out = np.empty((matrix.shape[1], len(K)))
    loops.products.add_rows(transposed.indptr, transposed.indices, transposed.data, K, out)
    return out.T


class FeatureOperator(PairOperator):
    """ZZᵀ, a row of Z per pair, (n, q): a linear kernel on features of pairs. A product costs 2nq."""

    grows = False

    def __init__(self, Z: Floats) -> None:
        self.Z = Z
        self.n_pairs = len(Z)

    def thin(self) -> Thin | None:
        return Thin(sparse.csr_array(self.Z), np.eye(self.Z.shape[1]))

    def diagonal(self) -> Floats:
        return np.einsum("ij,ij->i", self.Z, self.Z)

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        return self.Z[rows] @ self.Z[rows if cols is None else cols].T

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        yield 0, self.Z @ (coefficients @ self.Z)


class SumOperator(PairOperator):
    """Sum of operators on the same pairs: one per base of the kernel, one for all features of pairs."""

    def __init__(self, parts: list[PairOperator]) -> None:
        self.parts = parts
        self.n_pairs = parts[0].n_pairs
        self.grows = any(part.grows for part in parts)

    def thin(self) -> Thin | None:
        parts = [part.thin() for part in self.parts]
        found = [part for part in parts if part is not None]
        return reduce(Thin.beside, found) if len(found) == len(parts) else None

    def diagonal(self) -> Floats:
        return np.sum([part.diagonal() for part in self.parts], axis=0)

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        total = self.parts[0].submatrix(rows, cols)
        for part in self.parts[1:]:
            total += part.submatrix(rows, cols)
        return total

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        total = np.zeros(self.n_pairs)
        for part in self.parts:
            part.add_product(coefficients, total)
        yield 0, total
