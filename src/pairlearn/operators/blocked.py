"""Blocks on demand: any pair kernel in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pairlearn.kernels import Kernel
from pairlearn.operators.base import Divisible
from pairlearn.operators.fill import blocks_of
from pairlearn.operators.rows import PairRows, diagonal_by_parts
from pairlearn.operators.source import AnySource
from pairlearn.pair_kernels import Leaf, PairKernel, Table, ViewKernel
from pairlearn.types import Floats, Ints

Sources = Mapping[Kernel | None, AnySource]
"""Where the values of every base of a kernel come from."""


class BlockedOperator(Divisible):
    """Gram matrix of n pairs of any kernel, computed block by block.

    A product K θ costs n × (non-zeros of θ) kernel values, computed anew each time in blocks of `block_bytes`; it
    serves kernels that are not sums of tables, and examples whose Gram matrix does not fit.
    """

    def __init__(self, kernel: PairKernel, sources: Sources, rows: PairRows) -> None:
        self.kernel, self.sources, self.pairs = kernel, sources, rows
        self.n_pairs = len(rows)

    def diagonal(self) -> Floats:
        return diagonal_by_parts(self.pairs, lambda part: kernel_diagonal(self.kernel, self.sources, part))

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        return self._block(self.pairs.take(rows), self.pairs.take(rows if cols is None else cols))

    def _block(self, rows: PairRows, cols: PairRows) -> Floats:
        self.passes(self._passing(len(rows), len(cols)))
        return kernel_block(self.kernel, self.sources, rows, cols)

    @property
    def shared(self) -> Divisible:
        return self.over(self.held(np.arange(0)))

    def held(self, index: Ints) -> PairRows:
        return self.pairs.take(index)

    def _over(self, held: PairRows) -> BlockedOperator:
        return BlockedOperator(self.kernel, self.sources, held)

    def _passing(self, n_rows: int, n_cols: int) -> int:
        """Bytes of a block: the sum so far, a product so far and one factor of it; views compare in two blocks."""
        leaves = self.kernel.leaves
        factors = [blocks_of(leaf) if isinstance(leaf, Table) else 2 for leaf in leaves]
        values = max((source.passing(n_rows, n_cols) for source in self.sources.values()), default=0)
        return 8 * n_rows * n_cols * (min(2, len(leaves) - 1) + max(factors)) + values

    def told(self, coefficients: Floats) -> tuple[PairRows, Floats]:
        """The pairs with θ ≠ 0, and their θ."""
        used = np.nonzero(coefficients)[0]
        return self.pairs.take(used), coefficients[used]

    def spread(self, told: tuple[PairRows, Floats]) -> Iterator[tuple[int, Floats]]:
        support, theta = told
        step = max(1, self.block_bytes // (8 * max(1, len(theta))))
        for start in range(0, self.n_pairs, step):
            part = np.arange(start, min(start + step, self.n_pairs))
            yield start, self._block(self.pairs.take(part), support) @ theta if len(theta) else np.zeros(len(part))


def kernel_block(kernel: PairKernel, sources: Sources, rows: PairRows, cols: PairRows) -> Floats:
    """K(row pair, column pair) for any pair kernel, (len rows, len cols).

    The kernel puts the values of its leaves together; tables take theirs from a source, views from what they show. Self
    values of rows and columns are for outer functions such as exp(−γ(K₁₁ + K₂₂ − 2K₁₂)).
    """

    def across(leaf: Leaf) -> Floats:
        if isinstance(leaf, ViewKernel):
            return rows.compared(leaf, cols)
        return sources[leaf.base].table_block(leaf, rows, cols)

    return kernel.evaluate(
        across, lambda leaf: self_values(leaf, sources, rows), lambda leaf: self_values(leaf, sources, cols)
    )


def kernel_diagonal(kernel: PairKernel, sources: Sources, pairs: PairRows) -> Floats:
    """K(pair, pair) for any pair kernel, (n,)."""
    return kernel.self_values(lambda leaf: self_values(leaf, sources, pairs))


def self_values(leaf: Leaf, sources: Sources, pairs: PairRows) -> Floats:
    """Value of a leaf of every pair with itself, (n,)."""
    if isinstance(leaf, ViewKernel):
        return pairs.compared_with_itself(leaf)
    return sources[leaf.base].table_diagonal(leaf, pairs)
