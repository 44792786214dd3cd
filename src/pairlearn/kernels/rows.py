"""Arithmetic on rows of numbers, dense or sparse: what the kernels of `vector` are made of."""

from __future__ import annotations

from sys import float_info
from typing import Any, cast

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.linalg.mapped import row_blocks
from pairlearn.linalg.tiles import gram, product
from pairlearn.types import Examples, Floats
from pairlearn.words import counted

HIGHEST_DEGREE = 100
"""Of a polynomial: powers are repeated products, and beyond this nearly all of them are 0 or overflow."""


def has_rows(A: Examples) -> bool:
    """Whether a table holds rows of numbers, dense or sparse."""
    return bool(sparse.issparse(A) or (isinstance(A, np.ndarray) and A.ndim == 2 and A.dtype.kind in "fiub"))


def rows(A: Examples) -> Examples:
    """The table itself if it holds rows of numbers, or an error that says what to do."""
    if not has_rows(A):
        shape = f" of shape {A.shape}" if isinstance(A, np.ndarray) else ""
        raise InputError(
            f"this kernel needs rows of numbers, got {type(A).__name__}{shape}; "
            "flatten the examples or pass base=pl.kernels.FromFunction(similarity)"
        )
    return A


def dense(A: Examples) -> Floats:
    """Rows of numbers in float64, if none of them are sparse: subtracting a mean would fill their zeros."""
    if sparse.issparse(rows(A)):
        raise InputError("a standardised base needs dense rows; pass examples.toarray(), or take another base")
    return np.asarray(A, dtype=np.float64)


def inner(A: Examples, B: Examples) -> Floats:
    """⟨a, b⟩ for all rows, dense (len(A), len(B)); whole numbers are multiplied as float64, so that none overflows."""
    A, B = rows(A), rows(B)
    if A.shape[1] != B.shape[1]:
        raise InputError(f"examples have {counted(A.shape[1], 'feature')}, but the model was fitted with {B.shape[1]}")
    kind = np.result_type(A.dtype, B.dtype)
    left = A.astype(kind if kind.kind == "f" else np.float64, copy=False)
    if sparse.issparse(A) or sparse.issparse(B):
        values = left @ B.T
        return cast(Floats, values.toarray() if sparse.issparse(values) else np.asarray(values))
    return gram(left) if A is B else product(left, B.astype(left.dtype, copy=False).T)


def squared_norms(A: Examples) -> Floats:
    """‖a‖² of every row, (len(A),); of whole numbers and truth values as float64, for their products wrap around."""
    A = rows(A)
    A = A if A.dtype.kind == "f" else A.astype(np.float64)
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def is_positive(value: object) -> bool:
    """Whether this is a finite number > 0.

    >>> [is_positive(value) for value in (0.5, 2, 0.0, np.inf, 10**400, True, "2")]
    [True, True, False, False, False, False, False]
    """
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return bool(number and 0 < cast(float, value) <= float_info.max)


def check_spread(spread: float, X: Examples) -> float:
    """The spread of examples if float64 has it and its inverse, or an error that names their scale."""
    if np.isfinite(spread) and 1.0 / spread < np.inf:
        return spread
    raise unheld(largest(X))


def largest(X: Examples) -> float:
    """The largest |value| of a table, 0 of an empty one; no copy is made of it, which may be a mapped file."""
    return max(float(X.max()), -float(X.min())) if X.shape[0] and X.shape[1] else 0.0


def unheld(most: float) -> InputError:
    """What to say of examples whose squares are no numbers."""
    return InputError(f"examples have values up to {most:.3g}, whose squares float64 does not hold; scale the examples")


def check_degree(degree: int) -> None:
    """Refuse what is no whole number from 1 to 100."""
    if not 1 <= degree <= HIGHEST_DEGREE or int(degree) != degree:
        raise InputError(f"degree must be a whole number from 1 to {HIGHEST_DEGREE}, got {degree!r:.40}; try degree=2")


LARGE = 2**23
"""Numbers beyond which no copy of all of them is made to compute their variance."""
FAR = 100.0
"""Squared distance from 0, in variances, beyond which examples lie far from it: two digits of a distance are lost."""


def moved_to_zero(A: Examples, B: Examples) -> tuple[Examples, Examples]:
    """Both tables less the mean row of B where B lies far from 0, else as they are: distances stay, digits do too.

    >>> [table.tolist() for table in moved_to_zero(np.array([[1e9 + 3.0]]), np.array([[1e9], [1e9 + 2.0]]))]
    [[[2.0]], [[-1.0], [1.0]]]
    """
    if sparse.issparse(A) or sparse.issparse(B) or A.shape[1] != B.shape[1] or not len(B):
        return A, B
    mean = B.mean(axis=0, dtype=np.float64)
    if float(mean @ mean) <= FAR * float(np.var(B, axis=0, dtype=np.float64).sum()):
        return A, B
    moved = B - mean
    return (moved if A is B else A - mean), moved


def power(values: Floats, degree: int) -> Floats:
    """values^degree, entry by entry."""
    # Repeated products keep integers exact and are faster than a float power.
    result = values
    with np.errstate(over="ignore", invalid="ignore"):  # told where kernel values are used
        for _ in range(int(degree) - 1):
            result = result * values
    return result


EQUAL = 64.0 * float_info.epsilon
"""Range of numbers, relative to the largest, below which they are equal but for rounding."""


def equal_but_rounding(low: Any, high: Any) -> Any:
    """Whether numbers from `low` to `high` differ by no more than rounding does.

    >>> equal_but_rounding(np.array([0.1, 0.1]), np.array([0.3 - 0.2, 0.1001])).tolist()
    [True, False]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return high - low <= EQUAL * np.maximum(np.abs(low), np.abs(high))


def variance(X: Examples) -> float:
    """Variance of all entries, zeros of a sparse matrix included, in two passes: one pass cancels far from 0.

    It is 0 of entries that are equal but for rounding, of which their mean has some too.
    """
    if X.shape[0] and X.shape[1] and equal_but_rounding(float(X.min()), float(X.max())):
        return 0.0
    if not sparse.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            if X.size <= LARGE:
                return float(np.var(X, dtype=np.float64))
            mean = float(np.mean(X, dtype=np.float64))
            parts = (np.subtract(X[part], mean, dtype=np.float64) for part in row_blocks(X))
            return sum(float(np.square(part, out=part).sum()) for part in parts) / X.size
    size, values = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean = values.sum() / size
    return float((((values - mean) ** 2).sum() + (size - len(values)) * mean**2) / size)
