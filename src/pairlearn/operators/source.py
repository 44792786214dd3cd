"""Where the base kernel's values between training examples come from: a matrix, features, or anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels import Kernel
from pairlearn.types import Examples, Floats, Ints


@dataclass(frozen=True)
class Source:
    """Values k(i, j) between m examples.

    `matrix` is the m × m Gram matrix or None when it does not fit; `features` is Z with K = ZZᵀ or None.
    `other` serves the right examples when they are a table of their own (two domains); between the two, k = 0.
    """

    kernel: Kernel
    examples: Examples
    matrix: Floats | None = None
    features: Floats | None = None
    other: Source | None = None

    @property
    def right(self) -> Source:
        """The source of right examples."""
        return self if self.other is None else self.other

    @property
    def rows(self) -> Floats:
        """E, a row per example: features when there are any, else the Gram matrix, (m, r)."""
        E = self.features if self.features is not None else self.matrix
        assert E is not None
        return E

    @property
    def n_examples(self) -> int:
        """Number of examples m."""
        return len(self.matrix) if self.matrix is not None else count_examples(self.examples)

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """K[rows][:, cols]."""
        if self.matrix is not None:
            return self.matrix[np.ix_(rows, cols)]
        if self.features is not None:
            return self.features[rows] @ self.features[cols].T
        return self.kernel(take_examples(self.examples, rows), take_examples(self.examples, cols))

    def compact(self, rows: Ints, cols: Ints) -> tuple[Floats, Ints, Ints]:
        """A matrix and the positions in it of rows and columns: the whole Gram matrix, or one of those that occur."""
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
            return np.einsum("ij,ij->i", self.features[rows], self.features[cols])
        return _elements(self, rows, cols)


def _elements(source: Source, rows: Ints, cols: Ints) -> Floats:
    values = np.empty(len(rows))
    step = 256
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        values[part] = np.diagonal(source.block(rows[part], cols[part]))
    return values
