"""Kernels on anything: a precomputed matrix, or a function of two examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import Columns, count_examples
from pairlearn.kernels.base import Kernel, self_products
from pairlearn.types import Examples, Floats, Ints


@dataclass(frozen=True)
class Precomputed(Kernel):
    """`examples` is a matrix, any rows × training examples; square and symmetric at fit.

    `definite` is what you know of it: True, False or None (checked on a sample at fit). A fitted machine keeps the
    columns of its support examples (`Columns`) and looks k(new row, support example) up in the rows that it is given;
    k between two new rows is in no matrix, so pair kernels that need it (Gaussians of pair kernels) are refused.

    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> kept = Precomputed().anchor(K, np.array([1]))
    >>> Precomputed()(K, kept).tolist()
    [[1.0], [3.0]]
    """

    definite: bool | None = None

    precomputed = True

    def __call__(self, A: Examples, B: Examples) -> Floats:
        matrix = self._matrix(A)
        if isinstance(B, Columns):
            if matrix.shape[1] != B.n_columns:
                raise InputError(
                    f"the precomputed matrix has {matrix.shape[1]} columns, but the model was fitted with "
                    f"{B.n_columns} examples; give one column per training example, in their order"
                )
            return matrix[:, B.index]
        if A is not B:
            raise _unknown_values()
        return matrix

    def diag(self, A: Examples) -> Floats:
        return np.diagonal(self._square(A)).copy()

    def anchor(self, examples: Examples, index: Ints) -> Any:
        return Columns(np.asarray(index), self._square(examples).shape[1])

    @staticmethod
    def _matrix(A: Examples) -> Floats:
        if isinstance(A, Columns):
            raise _unknown_values()
        if not isinstance(A, np.ndarray) or A.ndim != 2:
            raise InputError("a precomputed kernel needs a 2-D array, rows × training examples")
        return cast(Floats, A)

    def _square(self, A: Examples) -> Floats:
        matrix = self._matrix(A)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"a precomputed Gram matrix must be square at fit, got {matrix.shape}; "
                "rows × training examples is for scoring only"
            )
        check_symmetric(matrix)
        return matrix


@dataclass(frozen=True)
class FromFunction(Kernel):
    """Any similarity: f(A, B) → matrix, or f(a, b) → number with `scalar=True`.

    `symmetrise=True` uses ½(f(a, b) + f(b, a)), the explicit choice for an asymmetric f.
    `definite` is what you know of it: True, False or None (checked on a sample at fit).

    >>> overlap = FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True)
    >>> overlap(["pair", "learn"], ["pear"]).tolist()
    [[3.0], [3.0]]
    """

    function: Callable[[Any, Any], Any]
    scalar: bool = False
    symmetrise: bool = False
    definite: bool | None = None

    symmetric = False

    def __call__(self, A: Examples, B: Examples) -> Floats:
        values = self._evaluate(A, B)
        return 0.5 * (values + self._evaluate(B, A).T) if self.symmetrise else values

    def diag(self, A: Examples) -> Floats:
        return self_products(self, A)

    def _evaluate(self, A: Examples, B: Examples) -> Floats:
        shape = (count_examples(A), count_examples(B))
        if self.scalar:
            values = np.array([[float(self.function(a, b)) for b in B] for a in A], dtype=np.float64)
        else:
            values = np.asarray(self.function(A, B), dtype=np.float64)
        if values.shape != shape:
            raise InputError(
                f"the kernel function must return a matrix of shape {shape}, got {values.shape}; "
                "if it compares two single examples, use pl.kernels.FromFunction(f, scalar=True)"
            )
        if not np.isfinite(values).all():
            raise InputError("the kernel function returned NaN or infinity; every similarity must be finite")
        return values


def _unknown_values() -> InputError:
    return InputError(
        "a precomputed kernel compares only examples of its matrix: this needs k(a, b) between new examples, which a "
        "matrix of rows × training examples does not hold; use a pair kernel of degree ≤ 2 or a computed base"
    )


def check_symmetric(matrix: Floats) -> None:
    """Refuse a Gram matrix that differs from its transpose by more than rounding."""
    scale = max(float(matrix.max(initial=0.0)), -float(matrix.min(initial=0.0)))
    step = max(1, 2**20 // max(1, len(matrix)))
    for start in range(0, len(matrix), step):
        rows = slice(start, start + step)
        difference = np.abs(matrix[rows] - matrix[:, rows].T)
        if difference.max(initial=0.0) > 1e-6 * scale:
            i, j = np.unravel_index(int(difference.argmax()), difference.shape)
            raise InputError(
                f"the Gram matrix is not symmetric: entries ({start + i}, {j}) and ({j}, {start + i}) are "
                f"{matrix[start + i, j]:.6g} and {matrix[j, start + i]:.6g}; "
                "symmetrise it, K = (K + K.T) / 2, or use FromFunction(f, symmetrise=True)"
            )
