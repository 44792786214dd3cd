"""Blocks on demand: any pair kernel in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pairlearn.kernels import Kernel
from pairlearn.loops import tables
from pairlearn.operators.base import PairOperator
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import PairKernel, Quad, Table
from pairlearn.pair_kernels.table import weights
from pairlearn.types import Floats, Ints

Sources = Mapping[Kernel | None, Source]


class BlockedOperator(PairOperator):
    """Gram matrix of pairs (left_i, right_i) of the sources' examples, computed block by block."""

    def __init__(self, kernel: PairKernel, sources: Sources, left: Ints, right: Ints, block_bytes: int = 2**27) -> None:
        self.kernel, self.sources = kernel, sources
        self.left, self.right = left, right
        self.n_pairs = len(left)
        self.block_bytes = block_bytes

    def diagonal(self) -> Floats:
        values = np.empty(self.n_pairs)
        step = 2**16
        for start in range(0, self.n_pairs, step):
            part = np.arange(start, min(start + step, self.n_pairs))
            values[part] = kernel_diagonal(self.kernel, self.sources, self.left[part], self.right[part])
        return values

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        cols = rows if cols is None else cols
        pairs = (self.left[rows], self.right[rows]), (self.left[cols], self.right[cols])
        return kernel_block(self.kernel, self.sources, *pairs)

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        used = np.nonzero(coefficients)[0]
        step = max(1, self.block_bytes // (8 * max(1, len(used))))
        for start in range(0, self.n_pairs, step):
            part = np.arange(start, min(start + step, self.n_pairs))
            yield start, self.submatrix(part, used) @ coefficients[used] if len(used) else np.zeros(len(part))


def kernel_block(kernel: PairKernel, sources: Sources, rows: tuple[Ints, Ints], cols: tuple[Ints, Ints]) -> Floats:
    """K(row pair, column pair) for any pair kernel, (len rows, len cols)."""
    return kernel.evaluate(
        lambda table: table_block(table, sources[table.base], rows, cols),
        lambda table: table_diagonal(table, sources[table.base], *rows),
        lambda table: table_diagonal(table, sources[table.base], *cols),
    )


def kernel_diagonal(kernel: PairKernel, sources: Sources, left: Ints, right: Ints) -> Floats:
    """K(pair, pair) for any pair kernel, (n,)."""

    def own(table: Table) -> Floats:
        return table_diagonal(table, sources[table.base], left, right)

    total = np.zeros(len(left))
    for coefficient, atoms in kernel.terms:
        value = np.full(len(left), coefficient)
        for atom in atoms:
            if isinstance(atom, Table):
                value *= own(atom)
            else:
                s11 = own(atom.projection)
                value *= atom.outer(own(atom.cross), s11, s11)
        total += value
    return total


def table_block(table: Table, source: Source, rows: tuple[Ints, Ints], cols: tuple[Ints, Ints]) -> Floats:
    """Values of one table between row pairs and column pairs."""
    (a, b), (c, d) = rows, cols
    if source.matrix is not None:
        K = source.matrix
    else:
        row_examples, positions = np.unique(np.concatenate([a, b]), return_inverse=True)
        col_examples, columns = np.unique(np.concatenate([c, d]), return_inverse=True)
        K = source.block(row_examples, col_examples)
        a, b = np.split(positions, 2)
        c, d = np.split(columns, 2)
    w = weights(table)
    if w is None:
        return table.evaluate(Quad(K[np.ix_(a, c)], K[np.ix_(a, d)], K[np.ix_(b, c)], K[np.ix_(b, d)]))
    out = np.empty((len(a), len(c)))
    if len(a) == 1:
        tables.fill_row(K[a[0]], K[b[0]], c, d, w, out[0])
    else:
        tables.fill_block(K, a, b, c, d, w, out)
    return out


def table_diagonal(table: Table, source: Source, left: Ints, right: Ints) -> Floats:
    """Value of one table of every pair with itself."""
    aa, ab, bb = source.elements(left, left), source.elements(left, right), source.elements(right, right)
    w = weights(table)
    if w is None:
        return table.evaluate(Quad(aa, ab, ab, bb))
    out = np.empty(len(left))
    tables.fill_self(aa, ab, bb, w, out)
    return out
