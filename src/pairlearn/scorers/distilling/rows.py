"""How an example becomes a row of numbers: what a distilled function stores and computes per example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, widened
from pairlearn.kernels import Kernel
from pairlearn.linalg.tiles import product
from pairlearn.types import Examples, Floats
from pairlearn.words import counted


@dataclass(frozen=True, eq=False)
class LinearRows:
    """(x − centre) @ axes, (n, w); None stands for zeros and for the identity.

    >>> LinearRows(np.array([1.0]), np.array([[2.0, 3.0]]))(np.array([[2.0]])).tolist()
    [[2.0, 3.0]]
    """

    centre: Floats | None = None
    axes: Floats | None = None

    def __call__(self, examples: Examples) -> Floats:
        """(n, w) float64."""
        X = dense(examples)
        known = self.centre if self.centre is not None else None if self.axes is None else self.axes[:, 0]
        if known is not None and X.shape[1] != len(known):
            raise InputError(
                f"examples have {counted(X.shape[1], 'feature')}, but the model was distilled with {len(known)}"
            )
        X = X if self.centre is None else X - self.centre
        return X if self.axes is None else product(X, np.asarray(self.axes, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class UnitRows:
    """u / √(‖u‖² + rest) with u the linear rows; `rest` is the mean square of what was cut off. Zeros stay zeros.

    >>> UnitRows(LinearRows())(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """

    linear: LinearRows
    rest: float = 0.0

    def __call__(self, examples: Examples) -> Floats:
        """(n, w) float64."""
        U = self.linear(examples)
        lengths = np.sqrt(np.einsum("ij,ij->i", U, U) + self.rest)[:, None]
        return np.divide(U, lengths, out=np.zeros_like(U), where=lengths > 0)


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Kernel values with some examples, (n, landmarks).

    >>> from pairlearn.kernels import Polynomial
    >>> KernelRows(Polynomial(2), np.array([[2.0]]))(np.array([[3.0]])).tolist()
    [[36.0]]
    """

    kernel: Kernel
    landmarks: Examples

    def __call__(self, examples: Examples) -> Floats:
        """(n, landmarks) float64."""
        values = self.kernel(widened(examples), widened(self.landmarks))
        return np.ascontiguousarray(values, dtype=np.float64)

    def __len__(self) -> int:
        return count_examples(self.landmarks)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """The features of a kernel that has some, (n, w).

    >>> from pairlearn.kernels import Standardised
    >>> FeatureRows(Standardised((1.0,), (2.0,)))(np.array([[5.0]])).tolist()
    [[2.0]]
    """

    kernel: Kernel

    def __call__(self, examples: Examples) -> Floats:
        """(n, w) float64."""
        return np.ascontiguousarray(self.kernel.features(dense(examples)), dtype=np.float64)


def dense(examples: Examples) -> Floats:
    """Rows of numbers in float64."""
    if sparse.issparse(examples):
        return np.asarray(examples.toarray(), dtype=np.float64)
    if not isinstance(examples, np.ndarray) or examples.ndim != 2:
        raise InputError("this model was distilled for rows of numbers; pass a 2-D array of examples")
    return np.ascontiguousarray(examples, dtype=np.float64)
