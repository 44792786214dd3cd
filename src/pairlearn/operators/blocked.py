"""Blocks on demand: any pair kernel in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pairlearn.kernels import Kernel
from pairlearn.loops import tables
from pairlearn.operators.base import PairOperator
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import Leaf, PairKernel, Quad, Table, ViewKernel
from pairlearn.pair_kernels.table import weights
from pairlearn.types import Floats, Ints

Sources = Mapping[Kernel | None, Source]


class BlockedOperator(PairOperator):
    """Gram matrix of n pairs, computed block by block."""

    def __init__(self, kernel: PairKernel, sources: Sources, rows: PairRows, block_bytes: int = 2**27) -> None:
        self.kernel, self.sources, self.pairs = kernel, sources, rows
        self.n_pairs = len(rows)
        self.block_bytes = block_bytes

    def diagonal(self) -> Floats:
        values = np.empty(self.n_pairs)
        step = 2**16
        for start in range(0, self.n_pairs, step):
            part = np.arange(start, min(start + step, self.n_pairs))
            values[part] = kernel_diagonal(self.kernel, self.sources, self.pairs.take(part))
        return values

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        cols = rows if cols is None else cols
        return kernel_block(self.kernel, self.sources, self.pairs.take(rows), self.pairs.take(cols))

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        used = np.nonzero(coefficients)[0]
        step = max(1, self.block_bytes // (8 * max(1, len(used))))
        for start in range(0, self.n_pairs, step):
            part = np.arange(start, min(start + step, self.n_pairs))
            yield start, self.submatrix(part, used) @ coefficients[used] if len(used) else np.zeros(len(part))


def kernel_block(kernel: PairKernel, sources: Sources, rows: PairRows, cols: PairRows) -> Floats:
    """K(row pair, column pair) for any pair kernel, (len rows, len cols)."""

    def across(leaf: Leaf) -> Floats:
        if isinstance(leaf, ViewKernel):
            return rows.compared(leaf, cols)
        return table_block(leaf, sources[leaf.base], rows, cols)

    return kernel.evaluate(
        across, lambda leaf: own_values(leaf, sources, rows), lambda leaf: own_values(leaf, sources, cols)
    )


def kernel_diagonal(kernel: PairKernel, sources: Sources, pairs: PairRows) -> Floats:
    """K(pair, pair) for any pair kernel, (n,)."""
    return kernel.self_values(lambda leaf: own_values(leaf, sources, pairs))


def own_values(leaf: Leaf, sources: Sources, pairs: PairRows) -> Floats:
    """Value of a leaf of every pair with itself."""
    if isinstance(leaf, ViewKernel):
        return pairs.compared_with_itself(leaf)
    return table_diagonal(leaf, sources[leaf.base], pairs)


def table_block(table: Table, source: Source, rows: PairRows, cols: PairRows) -> Floats:
    """Values of one table between row pairs and column pairs."""
    if source.other is not None:
        return _block_of_two_domains(table, source, rows, cols)
    if source.matrix is not None:
        return fill(table, source.matrix, (rows.left, rows.right), (cols.left, cols.right))
    n_rows, n_cols = len(rows), len(cols)
    both = np.concatenate([rows.left, rows.right]), np.concatenate([cols.left, cols.right])
    K, row_places, col_places = source.compact(*both)
    a, b, c, d = row_places[:n_rows], row_places[n_rows:], col_places[:n_cols], col_places[n_cols:]
    return fill(table, K, (a, b), (c, d))


def fill(table: Table, K: Floats, rows: tuple[Ints, Ints], cols: tuple[Ints, Ints]) -> Floats:
    """Values of one table from a matrix of the base kernel and the places of row and column pairs in it."""
    (a, b), (c, d) = rows, cols
    w = weights(table)
    if w is None:
        return table.evaluate(Quad(K[np.ix_(a, c)], K[np.ix_(a, d)], K[np.ix_(b, c)], K[np.ix_(b, d)]))
    out = np.empty((len(a), len(c)))
    if len(a) == 1:
        tables.fill_row(K[a[0]], K[b[0]], c, d, w, out[0])
    else:
        tables.fill_block(K, a, b, c, d, w, out)
    return out


def _block_of_two_domains(table: Table, source: Source, rows: PairRows, cols: PairRows) -> Floats:
    K, a, c = source.compact(rows.left, cols.left)
    L, b, d = source.right.compact(rows.right, cols.right)
    return fill_apart(table, K, L, (a, b), (c, d))


def fill_apart(table: Table, K: Floats, L: Floats, rows: tuple[Ints, Ints], cols: tuple[Ints, Ints]) -> Floats:
    """The same for two domains: K compares left examples, L right ones, and ad = bc = 0."""
    (a, b), (c, d) = rows, cols
    w = dict(table.terms)
    lines = np.array([w.get(m, 0.0) for m in ((), ("ac",), ("bd",), ("ac", "ac"), ("bd", "bd"), ("ac", "bd"))])
    out = np.empty((len(a), len(c)))
    tables.fill_apart(K, L, a, b, c, d, lines, out)
    return out


def table_diagonal(table: Table, source: Source, pairs: PairRows) -> Floats:
    """Value of one table of every pair with itself."""
    left, right = pairs.left, pairs.right
    aa, bb = source.elements(left, left), source.right.elements(right, right)
    ab = source.elements(left, right) if source.other is None else np.zeros(len(left))
    w = weights(table)
    if w is None:
        return table.evaluate(Quad(aa, ab, ab, bb))
    out = np.empty(len(left))
    tables.fill_self(aa, ab, bb, w, out)
    return out
