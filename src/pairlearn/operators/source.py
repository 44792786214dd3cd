"""Where the base kernel's values between examples come from: a matrix, features, or the examples anew.

`Source` serves pairs of one table, `TwoSources` pairs of two. Both answer the same questions, so that no operator
asks which of them it has: `left` and `right` (the sources of either side), `table_block`, `table_diagonal`, `form`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np

from pairlearn import loops
from pairlearn.examples import Columns, count_examples, take_examples
from pairlearn.kernels import Kernel, Precomputed
from pairlearn.kernels.base import self_products
from pairlearn.linalg.mapped import row_blocks
from pairlearn.linalg.tiles import product
from pairlearn.operators.fill import fill, fill_apart, fill_self
from pairlearn.operators.form import FEW, AnySums, FoldedSums, PairForm, Sums
from pairlearn.operators.rows import PairRows
from pairlearn.pair_kernels import Table
from pairlearn.types import Examples, Floats, Ints

ROWS, ELEMENTS = 16, 2**14
"""Single values are computed together for so many rows, and so many of them: all pairs of a few examples with many
others then cost little more than themselves."""

PART, SHARE = 2**15, 16
"""Pairs with coefficients that are summed up together where a form is the sum of parts, and one for so many entries of
features, if that is more: each sum is multiplied by these."""
PER_SUM = 120
"""Bytes per pair while the coefficients of PART pairs at most are summed up by their examples, in sparse matrices."""
MANY = 2**15
"""Coefficients from which on a matrix of all sums is worth a compiled loop."""

CELLS, RARE = 4, 1 / 40
"""Entries per pair up to which a matrix of all sums is made to be folded to features, so that it takes 32 bytes per
pair at most, and the share of non-zeros from which on that is faster: all pairs of 1,600 examples with 30 features take
14 ms instead of 147, a 25th of them 15 either way."""

LITTLE = 2**15
"""Entries up to which that matrix is so small that sparse ones take longer to make: 1 of the 3 ms of a product."""

LOOKED_UP = 2**20
"""Bytes of values that are looked up together in a matrix of the caller's: either triangle takes as much on its way."""


@dataclass(frozen=True)
class Source:
    """Values k(i, j) between m examples of one table.

    `matrix` is the m × m Gram matrix or None when it does not fit; `features` is Z with K = ZZᵀ or None. Where a
    matrix compares rows with other columns (new examples with support examples), only `table_block` makes sense.
    """

    kernel: Kernel
    examples: Examples
    matrix: Floats | None = None
    features: Floats | None = None

    @property
    def left(self) -> Source:
        """The source of left examples."""
        return self

    @property
    def right(self) -> Source:
        """The source of right examples."""
        return self

    @property
    def rows(self) -> Floats:
        """E, a row per example: features when there are any, else the Gram matrix, (m, r)."""
        E = self.features if self.features is not None else self.matrix
        assert E is not None
        return E

    @property
    def n_examples(self) -> int:
        """Number of examples m."""
        held = self.matrix if self.matrix is not None else self.features
        return count_examples(self.examples) if held is None else len(held)

    def for_products(self) -> Source:
        """The same with nothing but its rows, which are all that fast products need."""
        return replace(self, examples=None, matrix=None if self.features is not None else self.matrix)

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """K[rows][:, cols], (len(rows), len(cols)), from the cheapest that is held: matrix, features, examples."""
        if self.matrix is not None:
            return self.matrix[np.ix_(rows, cols)]
        if self.features is not None:
            return product(self.features[rows], self.features[cols].T)
        return self.kernel(take_examples(self.examples, rows), take_examples(self.examples, cols))

    def compact(self, rows: Ints, cols: Ints) -> tuple[Floats, Ints, Ints]:
        """A matrix and the positions in it of rows and columns: the whole Gram matrix, or one of those that occur.

        Without a Gram matrix each of the examples is compared once, however many of the pairs it is in.
        """
        if self.matrix is not None:
            return self.matrix, rows, cols
        row_examples, row_places = np.unique(rows, return_inverse=True)
        col_examples, col_places = np.unique(cols, return_inverse=True)
        return self.block(row_examples, col_examples), row_places, col_places

    def elements(self, rows: Ints, cols: Ints) -> Floats:
        """k(rows_t, cols_t), one value each."""
        if self.matrix is not None:
            return self.matrix[rows, cols]
        if self.features is not None:
            dots = np.zeros(len(rows))
            loops.products.pair_dots(self.features, self.features, rows, cols, dots)
            return dots
        values, order = np.empty(len(rows)), np.argsort(rows, kind="stable")
        for part in _by_rows(rows[order], order):
            K, row_places, col_places = self.compact(rows[part], cols[part])
            values[part] = K[row_places, col_places]
        return values

    def table_block(self, table: Table, rows: PairRows, cols: PairRows | None) -> Floats:
        """Values of one table between row pairs and column pairs, (len(rows), len(cols)); None: the rows again."""
        if self.matrix is not None:
            columns = None if cols is None else (cols.left, cols.right)
            return fill(table, self.matrix, (rows.left, rows.right), columns)
        cols = rows if cols is None else cols
        both = np.concatenate([rows.left, rows.right]), np.concatenate([cols.left, cols.right])
        K, row_places, col_places = self.compact(*both)
        (a, b), (c, d) = np.split(row_places, 2), np.split(col_places, 2)
        return fill(table, K, (a, b), (c, d))

    def passing(self, n_rows: int, n_cols: int) -> int:
        """Bytes of base kernel values between the examples of so many pairs, where no matrix is held."""
        if self.matrix is not None:
            return 0
        a, b = (min(self.n_examples, 2 * n) for n in (n_rows, n_cols))
        return 8 * (a * b + (0 if self.features is None else (a + b) * self.features.shape[1]))

    def table_diagonal(self, table: Table, pairs: PairRows) -> Floats:
        """Value of one table of every pair with itself, (n,)."""
        a, b = pairs.left, pairs.right
        return fill_self(table, self.own(a), self.elements(a, b), self.own(b))

    def own(self, rows: Ints) -> Floats:
        """k(a, a) of these examples, each computed once."""
        used, places = np.unique(rows, return_inverse=True)
        return self.elements(used, used)[places]

    @property
    def summed(self) -> int:
        """Most pairs that are summed up together: their sums take no more than features do."""
        return max(PART, 0 if self.features is None else self.features.size // SHARE)

    def form(self, table: Table, pairs: PairRows, coefficients: Floats, *, little: bool = False) -> PairForm:
        """Σ_k θ_k K(·, pair_k) as a quadratic form over the rows of examples; `little` says that compiled loops are
        loaded, so that few examples take no sparse matrices."""
        return form_of(PairForm.of, table, pairs, coefficients, (self, self), little)


@dataclass(frozen=True)
class TwoSources:
    """Values between left examples and between right examples, which are tables of their own.

    Between the two tables k = 0: this is the disjoint union of both, whose zero blocks are never touched.
    """

    left: Source
    right: Source

    def for_products(self) -> TwoSources:
        """The same with nothing but the rows of both sides."""
        return TwoSources(self.left.for_products(), self.right.for_products())

    def table_block(self, table: Table, rows: PairRows, cols: PairRows | None) -> Floats:
        """Values of one table between row pairs and column pairs; None: the rows again."""
        cols = rows if cols is None else cols
        K, a, c = self.left.compact(rows.left, cols.left)
        L, b, d = self.right.compact(rows.right, cols.right)
        return fill_apart(table, K, L, (a, b), (c, d))

    def passing(self, n_rows: int, n_cols: int) -> int:
        """Bytes of base kernel values between the examples of so many pairs, where no matrix is held."""
        return self.left.passing(n_rows, n_cols) + self.right.passing(n_rows, n_cols)

    def table_diagonal(self, table: Table, pairs: PairRows) -> Floats:
        """Value of one table of every pair with itself, (n,)."""
        aa, bb = self.left.own(pairs.left), self.right.own(pairs.right)
        return fill_self(table, aa, np.zeros(len(pairs)), bb)

    def form(self, table: Table, pairs: PairRows, coefficients: Floats, *, little: bool = False) -> PairForm:
        """Σ_k θ_k K(·, pair_k) as a quadratic form over the rows of left and of right examples."""
        return form_of(PairForm.of_two_tables, table, pairs, coefficients, (self.left, self.right), little)


AnySource = Source | TwoSources


@dataclass(frozen=True, eq=False)
class LookedUp(Kernel):
    """A precomputed kernel on the numbers of examples in use, looked up in the caller's matrix, which is not copied.

    The values are those of the Gram matrix that there is no room for: the mean of both triangles, in float64.
    """

    kernel: Kernel
    table: Floats
    used: Ints

    def __call__(self, A: Examples, B: Examples) -> Floats:
        rows, cols = self.used[A], self.used[B]
        values = np.empty((len(rows), len(cols)))
        for part in row_blocks(values, LOOKED_UP):
            here, there = self.table[np.ix_(rows[part], cols)], self.table[np.ix_(cols, rows[part])]
            np.add(here, there.T, out=values[part], dtype=np.float64)
        values *= 0.5
        if type(self.kernel) is Precomputed:
            return values
        return self.kernel(values, Columns(np.arange(len(cols)), len(cols)))

    def diag(self, A: Examples) -> Floats:
        return self_products(self, A)


def form_of(
    make: Callable[[Table, AnySums], PairForm],
    table: Table,
    pairs: PairRows,
    coefficients: Floats,
    sides: tuple[Source, Source],
    little: bool,
) -> PairForm:
    """The form of all pairs with θ ≠ 0, over features where both sides have any.

    Over features it is the sum of the forms of some pairs after the other, unless the pairs are so many that a matrix
    of all examples takes little more than they do; over rows of a Gram matrix many pairs are summed up in a matrix of
    its size. Either way no copy of all pairs is made.
    """
    shape = sides[0].n_examples, sides[1].n_examples
    Z, W = (side.features for side in sides)
    if little and shape[0] * shape[1] <= LITTLE:
        return make(table, Sums.dense(pairs.left, pairs.right, coefficients, shape)).dense().collapsed(Z, W)
    if Z is None and W is None and np.count_nonzero(coefficients) > max(MANY, FEW * shape[0] * shape[1]):
        return make(table, Sums.dense(pairs.left, pairs.right, coefficients, shape))
    if Z is not None and W is not None and folded_cells(coefficients, shape):
        return make(table, FoldedSums(Sums.dense(pairs.left, pairs.right, coefficients, shape), Z, W))
    step = max(side.summed for side in sides)
    parts = ((pairs.left[used], pairs.right[used], coefficients[used]) for used in _nonzeros(coefficients, step))
    return reduce(add, (make(table, Sums.sparse(*part, shape)).collapsed(Z, W) for part in parts))


def folded_cells(coefficients: Floats, shape: tuple[int, int]) -> int:
    """Entries of the matrix of all sums, where it is made to be folded to features; else 0."""
    cells = shape[0] * shape[1]
    if cells > CELLS * len(coefficients):
        return 0
    return cells if np.count_nonzero(coefficients) > max(MANY, RARE * cells) else 0


def _nonzeros(values: Floats, most: int) -> Iterator[Ints]:
    """The places of the non-zeros, at most so many after the other: few of them at once, wherever they stand."""
    first = held = 0
    for start in range(0, len(values), most):
        count = int(np.count_nonzero(values[start : start + most]))
        if held + count > most:
            yield first + np.nonzero(values[first:start])[0]
            first, held = start, 0
        held += count
    yield first + np.nonzero(values[first:])[0]


def _by_rows(rows: Ints, order: Ints) -> Iterator[Ints]:
    """The order in parts with few different rows each; `rows` are sorted by it."""
    rank = np.cumsum(np.diff(rows, prepend=rows[:1]) != 0) // ROWS
    bounds = np.append(np.unique(rank, return_index=True)[1], len(rows))
    for first, last in pairwise(bounds):
        for start in range(first, last, ELEMENTS):
            yield order[start : min(start + ELEMENTS, last)]


def join_sources(sides: list[Source]) -> AnySource:
    """The source with these sides, one or two."""
    return sides[0] if len(sides) == 1 else TwoSources(*sides)
