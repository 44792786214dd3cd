"""The matrix of a base kernel on a table of examples, computed once and shared."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import DefinitenessWarning, InputError, warn_user
from pairlearn.examples import check_examples, count_examples, take_examples, take_used
from pairlearn.kernels.base import Kernel
from pairlearn.kernels.similarity import Precomputed, check_symmetric
from pairlearn.linalg.mapped import on_disk, row_blocks
from pairlearn.linalg.symmetric import add_transpose
from pairlearn.linalg.tiles import gram
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

SAMPLE = 200
"""Examples whose eigenvalues are computed when definiteness is unknown: about 5 ms, whatever the size of the table."""

BLOCK = 2**23
"""Bytes of rows of a Gram matrix that are computed together: a kernel may take several times that on its way."""


class Gram:
    """Gram(kernel, examples): a value that `base=` accepts, so that many fits share one matrix.

    >>> import numpy as np, pairlearn as pl
    >>> pl.kernels.Gram(pl.kernels.Linear(), np.eye(2)).matrix.tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Data-dependent parameters are fixed on *these* examples: give the training examples alone. The matrix is computed
    when it is first asked for. With `dtype=np.float32` a machine solves, and certifies, the problem of the rounded
    matrix. With `on_disk=True` it is computed, rows after rows, into a temporary file (where TMPDIR says), of which the
    system holds in memory what there is room for: m² numbers on disk instead of the time to compute them again.
    """

    def __init__(self, kernel: Kernel, examples: Examples, *, dtype: Any = np.float64, on_disk: bool = False) -> None:
        self.examples = check_examples(examples)
        self.kernel = kernel.resolved(self.examples)
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise InputError(f"a Gram matrix is float32 or float64, got {self.dtype}")
        self.on_disk = on_disk

    def __deepcopy__(self, memo: dict[int, Any]) -> Gram:
        # A value: scikit-learn's clone may share it instead of copying the matrix for every fold.
        return self

    def __repr__(self) -> str:
        return f"Gram({self.kernel!r}, {counted(len(self), 'example')})"

    def __len__(self) -> int:
        return count_examples(self.examples)

    @cached_property
    def matrix(self) -> Floats:
        """K with K[i, j] = k(i, j), shape (m, m), exactly symmetric."""
        out = on_disk((len(self), len(self)), self.dtype) if self.on_disk else None
        return gram_matrix(self.kernel, self.examples, np.arange(len(self)), self.dtype, out)


def gram_matrix(
    kernel: Kernel, examples: Examples, index: Ints, dtype: Any = np.float64, out: Floats | None = None
) -> Floats:
    """Gram matrix of the examples `index`, (len(index), len(index)), symmetric bit by bit.

    Computed in `dtype`, whatever the type of the examples: float32 examples in a float32 product would leave errors
    of 1e-7 in a matrix whose differences a `metric` kernel squares. Features are
    multiplied with themselves, unless the matrix goes to `out`, rows after rows.
    """
    Z = kernel.features(_wide(take_used(examples, index), dtype)) if out is None else None
    if Z is not None:
        return gram(np.ascontiguousarray(Z, dtype=dtype))
    anchor = _wide(kernel.anchor(examples, index), dtype)
    m = len(index)
    K = np.empty((m, m), dtype=dtype) if out is None else out
    step = max(1, BLOCK // (8 * max(1, m)))
    for start in range(0, m, step):
        rows = take_used(examples, index) if step >= m else take_examples(examples, index[start : start + step])
        K[start : start + step] = kernel(_wide(rows, dtype), anchor)
    if kernel.definite is not True or not kernel.symmetric:
        check_symmetric(K)
    # Rounding may leave K[i, j] != K[j, i] in the last bit; the average is symmetric bit by bit.
    add_transpose(K)
    K *= 0.5
    return K


def is_ready(kernel: Kernel, table: Examples, used: Ints) -> bool:
    """Whether a table is the Gram matrix of all its rows as it stands: precomputed, float64, symmetric bit by bit."""
    if type(kernel) is not Precomputed or len(used) < count_examples(table) or table.dtype != np.float64:
        return False
    return table.shape[0] == table.shape[1] and all(
        np.array_equal(table[part], table[:, part].T) for part in row_blocks(table)
    )


def _wide(table: Any, dtype: Any) -> Any:
    """Arrays and sparse matrices in this type; anything else (objects, columns of a matrix) as it is."""
    numbers = isinstance(table, np.ndarray) or sparse.issparse(table)
    return table.astype(dtype) if numbers and table.dtype != dtype else table


def check_definite(kernel: Kernel, matrix: Floats, table: str = "") -> None:
    """Refuse a kernel known to be indefinite; check an unknown one on a sample and warn. `table` names one of two.

    The sample is the leading principal block of an even spread of examples: if that has a clearly
    negative eigenvalue, so has the whole matrix.
    """
    check_sample(kernel, len(matrix), lambda some: matrix[np.ix_(some, some)], table)


def check_sample(kernel: Kernel, n_examples: int, block: Callable[[Ints], Floats], table: str = "") -> None:
    """The same where a block of the matrix of so many examples can be had, but not the whole."""
    if kernel.definite is True:
        return
    spread = np.unique(np.linspace(0, n_examples - 1, min(SAMPLE, n_examples)).astype(np.int64))
    eigenvalues = np.linalg.eigvalsh(np.asarray(block(spread), dtype=np.float64))
    smallest, largest = float(eigenvalues[0]), float(np.abs(eigenvalues).max(initial=0.0))
    if kernel.definite is False or smallest < -1e-6 * largest:
        raise InputError(
            f"the base kernel {table}is not positive semidefinite (smallest eigenvalue {smallest:.3g} of a sample, "
            f"largest {largest:.3g}), so the optimum is not defined; clip its spectrum, or expand the "
            "similarity over basis examples and use a linear base on these features"
        )
    if kernel.definite is None and len(spread) < n_examples:
        warn_user(
            f"{type(kernel).__name__} {table}is not known to be positive semidefinite; a sample of {len(spread)} "
            "examples showed no negative eigenvalue. Pass definite=True if you know better.",
            DefinitenessWarning,
        )
