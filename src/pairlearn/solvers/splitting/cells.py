"""Coefficients of pairs as cells of a matrix over examples, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn import loops
from pairlearn.errors import InputError
from pairlearn.operators.sandwich import Sandwich
from pairlearn.types import Floats, Ints, Precision

TWICE = (
    "the splitting solver takes every pair once, and some of these occur twice, or in both orders, as draws do; give "
    'them once, with sample_weight in place of copies (a ranker leaves draws out by draws="drop"), or choose '
    'solver="active_set"'
)
REFLEXIVE = 'reflexive pairs have no place in an antisymmetric matrix; drop them, or choose solver="active_set"'


@dataclass(frozen=True)
class Cells:
    """Where the pairs stand in the lower triangle (row by row) of S, or in the whole of it: S_cell = factor·θ.

    `factor` is 2 for reflexive pairs of a symmetric S, −1 for pairs above the diagonal of an antisymmetric one, else 1;
    `shape` is that of S, `size` the number of its cells.
    """

    index: Ints
    factor: Floats
    shape: tuple[int, int]
    sign: int

    @classmethod
    def of(cls, sandwich: Sandwich) -> Cells:
        """The cells of all pairs; an InputError where two of them share one."""
        a, b = sandwich.rows.astype(np.int64), sandwich.cols.astype(np.int64)
        if not cls.serve(sandwich):
            raise InputError(REFLEXIVE if sandwich.sign < 0 and (a == b).any() else TWICE)
        shape, sign = (len(sandwich.left), len(sandwich.right)), sandwich.sign
        low, high = np.minimum(a, b), np.maximum(a, b)
        index = high * (high + 1) // 2 + low if sign else a * shape[1] + b
        factor = np.where(a == b, 2.0, 1.0) if sign > 0 else np.where(a < b, -1.0, 1.0) if sign else np.ones(len(a))
        return cls(index, factor, shape, sign)

    @staticmethod
    def serve(sandwich: Sandwich) -> bool:
        """Whether every pair has a cell of its own: what `of` refuses is found out in a tenth of its time."""
        a, b, sign = sandwich.rows, sandwich.cols, sandwich.sign
        seen = np.zeros(n_cells(sandwich), dtype=np.uint8)
        return bool(loops.splitting.distinct(a, b, len(sandwich.right), bool(sign), sign >= 0, seen))

    @property
    def size(self) -> int:
        """Number of cells."""
        return _n_cells(self.shape, self.sign)

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        return self.index.nbytes + self.factor.nbytes

    def spread(self, values: Floats, dtype: Precision) -> Floats:
        """Values of pairs in their cells, 0 in all others."""
        out = np.zeros(self.size, dtype=dtype)
        out[self.index] = values
        return out

    def matrix(self, cells: Floats, out: Floats) -> None:
        """S from its cells."""
        if self.sign:
            loops.splitting.unpack(cells, float(self.sign), out)
        else:
            out[:] = cells.reshape(self.shape)

    def collect(self, S: Floats, out: Floats) -> None:
        """The cells of S."""
        if self.sign:
            loops.splitting.pack(S, out)
        else:
            out.reshape(self.shape)[:] = S


def n_cells(sandwich: Sandwich) -> int:
    """Number of cells of its S, before anything is computed of them."""
    return _n_cells((len(sandwich.left), len(sandwich.right)), sandwich.sign)


def _n_cells(shape: tuple[int, int], sign: int) -> int:
    return shape[0] * (shape[0] + 1) // 2 if sign else shape[0] * shape[1]
