"""The Gram matrix itself: for pairs that are fewer than their examples, and the reference in tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairlearn import loops
from pairlearn.operators.base import PairOperator, pieces
from pairlearn.types import Floats, Ints


class DenseOperator(PairOperator):
    """An explicit symmetric (n, n) matrix.

    A product reads only the rows of non-zeros, which are its columns, since the matrix is symmetric.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        self.n_pairs = len(self.matrix)

    @classmethod
    def of(cls, operator: PairOperator) -> DenseOperator:
        """The same matrix, all of it, some rows after the other."""
        n, every = operator.n_pairs, np.arange(operator.n_pairs)
        matrix, step = np.empty((n, n)), max(1, operator.block_bytes // (8 * max(1, n)))
        for start in range(0, n, step):
            matrix[start : start + step] = operator.submatrix(every[start : start + step], every)
        dense = cls(matrix)
        dense.block_bytes = operator.block_bytes
        return dense

    def diagonal(self) -> Floats:
        return np.diagonal(self.matrix).copy()

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        return self.matrix[np.ix_(rows, rows if cols is None else cols)]

    def restricted(self, index: Ints) -> DenseOperator:
        return DenseOperator(self.submatrix(index))

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        used, values = np.nonzero(coefficients)[0], np.empty(self.n_pairs)
        loops.blocks.sum_rows(self.matrix, used, coefficients[used], values)
        yield from pieces(values)
