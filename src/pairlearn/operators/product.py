"""The fast product: every value of K @ θ from two matrix products over examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.linalg.held import held_bytes
from pairlearn.linalg.symmetric import transposed
from pairlearn.linalg.tiles import product
from pairlearn.operators.base import PIECE, Divisible, pieces
from pairlearn.operators.fill import blocks_of
from pairlearn.operators.form import ROWS, Matrix, Mixed, PairForm, SideForm, factor, is_few, slices, times
from pairlearn.operators.rows import PairRows, diagonal_by_parts
from pairlearn.operators.sandwich import Sandwich, sandwich_of
from pairlearn.operators.source import PER_SUM, AnySource, Source, folded_cells
from pairlearn.operators.thin import AnyThin, Columns, beside, thin_size, thin_table
from pairlearn.pair_kernels import Table
from pairlearn.pairs import Triangle
from pairlearn.types import Floats, Ints

FEW_PAIRS = 0.03
"""Below this share of all m² pairs single dot products beat whole matrix products."""


class ProductOperator(Divisible):
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
        self._order: Ints | None = None
        if triangle is None and self.n_pairs > FEW_PAIRS * m * source.right.n_examples:
            self._order = np.argsort(left, kind="stable")
            ends = [rows.stop for rows in slices(m)]
            self._starts = np.concatenate([[0], np.cumsum(np.bincount(left, minlength=m))[np.array(ends) - 1]])
            parts = (right[self._order[first:last]] for first, last in pairwise(self._starts))
            self._spans = [(int(part.min()), int(part.max()) + 1) if len(part) else (0, 0) for part in parts]

    def diagonal(self) -> Floats:
        return diagonal_by_parts(self.pairs, lambda part: self.source.table_diagonal(self.table, part))

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        taken = self.pairs.take(rows)
        others = None if cols is None else self.pairs.take(cols)
        width = len(rows) if cols is None else len(cols)
        self.passes(8 * len(rows) * width + self._alongside(len(rows), width))
        return self.source.table_block(self.table, taken, others)

    def alongside(self, n: int) -> int:
        return self._alongside(n, n)

    def _alongside(self, n_rows: int, n_cols: int) -> int:
        return 8 * n_rows * n_cols * (blocks_of(self.table) - 1) + self.source.passing(n_rows, n_cols)

    @property
    def shared(self) -> ProductOperator:
        return ProductOperator(self.table, self.source.for_products(), *self.held(np.arange(0)))

    def held(self, index: Ints) -> tuple[Ints, Ints]:
        return self.pairs.left[index], self.pairs.right[index]

    def _over(self, held: tuple[Ints, Ints]) -> ProductOperator:
        return ProductOperator(self.table, self.source, *held)

    def thin(self) -> AnyThin | None:
        return thin_table(self.table, self.source, self.pairs.left, self.pairs.right)

    def thin_size(self) -> tuple[int, int] | None:
        return thin_size(self.table, self.source)

    def sandwich(self) -> Sandwich | None:
        return sandwich_of(self.table, self.source, self.pairs.left, self.pairs.right)

    def told(self, coefficients: Floats) -> PairForm:
        """The quadratic form of these coefficients over the rows of examples."""
        form = self.source.form(self.table, self.pairs, coefficients, little=True)
        by_loop = isinstance(form.cross, (np.ndarray, Mixed)) and self.source.left.features is None
        self.passes(0 if by_loop else self._summing(coefficients))
        return form

    def _summing(self, coefficients: Floats) -> int:
        """Bytes while coefficients are summed up: a matrix of all and its product with features, or some at a time."""
        left, right = self.source.left, self.source.right
        cells = folded_cells(coefficients, (left.n_examples, right.n_examples))
        if cells and left.features is not None and right.features is not None:
            return 8 * (cells + max(left.n_examples * right.features.shape[1], left.features.size, right.features.size))
        return PER_SUM * min(int(np.count_nonzero(coefficients)), max(left.summed, right.summed))

    def spread(self, told: PairForm) -> Iterator[tuple[int, Floats]]:
        form, E, F = told, self.source.left.rows, self.source.right.rows
        at_left = _side_values(self.source.left, form.left, form.constant)
        at_right = at_left if form.same_sides else _side_values(self.source.right, form.right, form.constant)
        crossed = None if form.cross is None else Crossed.of(self.source.left, form.cross)
        self.passes(self._passing(form, crossed))
        if crossed is not None and self.triangle is not None:
            yield from self._triangle_blocks(crossed, E, at_left, at_right, self.triangle)
        elif crossed is not None and self._order is not None:
            yield from pieces(self._gathered(crossed, F, at_left, at_right, self._order))
        else:
            T = None if crossed is None else crossed.all_rows()
            yield from self._sampled_blocks(T, F, at_left, at_right)

    def _passing(self, form: PairForm, crossed: Crossed | None) -> int:
        """Bytes of a product with a form, by row blocks of T and T Fᵀ; gathered values come all at once."""
        (m, width), others = self.source.left.rows.shape, self.source.right.n_examples
        whole, gathered = crossed is not None and crossed.whole is not None, self._order is not None
        step = max(64, -(-m // ROWS)) * ((1 if whole else 3) * width + (others if gathered or self.triangle else 0))
        return held_bytes((form, crossed), self.source) + 8 * step + (8 * self.n_pairs if gathered else 0)

    def _triangle_blocks(
        self, crossed: Crossed, E: Floats, at_left: Floats, at_right: Floats, triangle: Triangle
    ) -> Iterator[tuple[int, Floats]]:
        """Row blocks of the upper triangle: half the work of the whole product."""
        shift = 0 if triangle.reflexive else 1
        offsets = np.asarray(triangle.offset(np.arange(len(E) + 1, dtype=np.int64)))
        for rows in slices(len(E)):
            start, stop = offsets[rows.start], offsets[rows.stop]
            S = product(crossed.rows(rows), E[rows.start :].T)
            values = np.zeros(stop - start)
            loops.products.add_triangle(S, rows.start, shift, offsets - start, at_left, at_right, values)
            yield int(start), values

    def _gathered(self, crossed: Crossed, F: Floats, at_left: Floats, at_right: Floats, order: Ints) -> Floats:
        """Many pairs in any order: row blocks between the first and the last column in use; each pair picks its value.

        Of pairs in the order of a triangle that is little more than the triangle.
        """
        values, (left, right) = np.zeros(self.n_pairs), (self.pairs.left, self.pairs.right)
        for number, rows in enumerate(slices(len(at_left))):
            chosen = order[self._starts[number] : self._starts[number + 1]]
            if len(chosen):
                low, high = self._spans[number]
                S = product(crossed.rows(rows), F[low:high].T)
                loops.products.add_gathered(S, rows.start, low, chosen, left, right, at_left, at_right, values)
        return values

    def _sampled_blocks(
        self, T: Floats | None, F: Floats, at_left: Floats, at_right: Floats, step: int = PIECE
    ) -> Iterator[tuple[int, Floats]]:
        """Few pairs: one dot product each, some pairs at a time."""
        for start in range(0, self.n_pairs, step):
            left, right = self.pairs.left[start : start + step], self.pairs.right[start : start + step]
            values = np.zeros(len(left))
            if T is not None:
                loops.products.pair_dots(T, F, left, right, values)
            loops.products.add_own(at_left, at_right, left, right, values)
            yield start, values


@dataclass(frozen=True)
class Crossed:
    """T = E M, whose rows are asked for block by block: the whole, where it is cheap through non-zeros, or a factor."""

    whole: Floats | None
    E: Floats
    M: Matrix

    @classmethod
    def of(cls, source: Source, M: Matrix) -> Crossed:
        """E the rows of this source."""
        if source.features is None and is_few(M):
            return cls(gram_times(source.rows, M), source.rows, M)
        return cls(None, source.rows, factor(M))

    def rows(self, part: slice) -> Floats:
        """These rows of T."""
        return times(self.E[part], self.M) if self.whole is None else self.whole[part]

    def all_rows(self) -> Floats:
        """T, whose rows lie in one piece each."""
        if self.whole is None:
            return np.ascontiguousarray(times(self.E, self.M))
        return transposed(self.whole.T)


def _side_values(source: Source, side: SideForm, constant: float) -> Floats:
    """What depends on one example of a pair only, half of the constant included, (m,).

    Through few non-zeros of N the sum over columns j of (K N)[i, j] K[i, j] goes by some rows of Nᵀ K after the other.
    """
    K, N = source.rows, side.square
    if N is None or source.features is not None or not is_few(N):
        return 0.5 * constant + side.values(K)
    values = 0.5 * constant + SideForm(None, side.linear).values(K)
    transposed = sparse.csr_array(N.T)
    for rows in slices(len(K)):
        values += np.einsum("ji,ji->i", _rows_of(transposed, rows, K), K[rows])
    return values


def gram_times(K: Floats, matrix: Matrix) -> Floats:
    """K @ matrix for a symmetric K, through few non-zeros.

    (K M)ᵀ = Mᵀ K, so rows of K are added, which lie in one piece in memory, and nothing is transposed.
    """
    return _rows_of(sparse.csr_array(matrix.T), slice(0, matrix.shape[1]), K).T


def _rows_of(matrix: sparse.csr_array, rows: slice, K: Floats) -> Floats:
    """These rows of matrix @ K."""
    out = np.empty((rows.stop - rows.start, K.shape[1]))
    indptr = matrix.indptr[rows.start : rows.stop + 1]
    loops.products.add_rows(indptr, matrix.indices, matrix.data, K, out)
    return out


class FeatureOperator(Divisible):
    """ZZᵀ, a row of Z per pair, (n, q): a linear kernel on features of pairs. A product costs 2nq."""

    grows = False

    def __init__(self, Z: Floats) -> None:
        self.Z = Z
        self.n_pairs = len(Z)

    @property
    def shared(self) -> FeatureOperator:
        return FeatureOperator(self.Z[:0].copy())

    def held(self, index: Ints) -> Floats:
        return self.Z[index]

    def _over(self, held: Floats) -> FeatureOperator:
        return FeatureOperator(held)

    def thin(self) -> AnyThin | None:
        return Columns(self.Z)

    def thin_size(self) -> tuple[int, int] | None:
        return self.Z.shape[1], self.Z.shape[1]

    def diagonal(self) -> Floats:
        return np.einsum("ij,ij->i", self.Z, self.Z)

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        cols = rows if cols is None else cols
        self.passes(8 * (len(rows) * len(cols) + (len(rows) + len(cols)) * self.Z.shape[1]))
        return product(self.Z[rows], self.Z[cols].T)

    def told(self, coefficients: Floats) -> Floats:
        """Zᵀθ, (q,)."""
        return coefficients @ self.Z

    def spread(self, told: Floats) -> Iterator[tuple[int, Floats]]:
        self.passes(8 * self.n_pairs)
        yield from pieces(self.Z @ told)


class SumOperator(Divisible):
    """Sum of operators on the same pairs: one per base of the kernel, one for all features of pairs."""

    def __init__(self, parts: list[Divisible]) -> None:
        self.parts = parts
        self.n_pairs = parts[0].n_pairs
        self.grows = any(part.grows for part in parts)

    @property
    def shared(self) -> SumOperator:
        return SumOperator([part.shared for part in self.parts])

    def held(self, index: Ints) -> list[Any]:
        return [part.held(index) for part in self.parts]

    def _over(self, held: list[Any]) -> SumOperator:
        return SumOperator([part.over(own) for part, own in zip(self.parts, held, strict=True)])

    def thin(self) -> AnyThin | None:
        parts = [part.thin() for part in self.parts]
        found = [part for part in parts if part is not None]
        return reduce(beside, found) if len(found) == len(parts) else None

    def thin_size(self) -> tuple[int, int] | None:
        sizes = [part.thin_size() for part in self.parts]
        found = [size for size in sizes if size is not None]
        return (sum(size[0] for size in found), sum(size[1] for size in found)) if len(found) == len(sizes) else None

    def diagonal(self) -> Floats:
        total = self.parts[0].diagonal()
        for part in self.parts[1:]:
            total += part.diagonal()
        return total

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        total = self.parts[0].submatrix(rows, cols)
        for part in self.parts[1:]:
            total += part.submatrix(rows, cols)
        self.passes(total.nbytes + max(part.passed for part in self.parts))
        return total

    def told(self, coefficients: Floats) -> list[Any]:
        """What is told to each of them."""
        return [part.told(coefficients) for part in self.parts]

    def spread(self, told: list[Any]) -> Iterator[tuple[int, Floats]]:
        total = np.zeros(self.n_pairs)
        for part, own in zip(self.parts, told, strict=True):
            for start, values in part.spread(own):
                total[start : start + len(values)] += values
        self.passes(total.nbytes + max(part.passed for part in self.parts))
        yield from pieces(total)
