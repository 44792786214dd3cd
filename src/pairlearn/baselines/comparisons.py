"""Two ways to compare rows of numbers: minus Euclid's distance, and the cosine.

Each comes as one function of index columns and one of two whole tables; larger = more alike. Rows may be sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pairlearn.examples import by_blocks
from pairlearn.kernels import Cosine, Linear
from pairlearn.kernels.rows import largest, unheld
from pairlearn.types import Examples, Floats, Ints

LEAST, MOST = 1e-140, 1e150
"""Largest values of examples whose squares, and sums of some thousand of them, are numbers."""


@dataclass(frozen=True)
class Comparison:
    """`of_pairs(X, left, right)` scores rows of one table pair by pair, `of_tables(A, B)` every row with every row."""

    of_pairs: Callable[[Examples, Ints, Ints], Floats]
    of_tables: Callable[[Examples, Examples], Floats]


def squares_fit(*tables: Examples) -> None:
    """Refuse rows whose squares float64 does not hold: scores would be NaN, infinite or all the same."""
    for X in tables:
        most = largest(X)
        if most and not LEAST <= most <= MOST:
            raise unheld(most)


def _distances(X: Examples, left: Ints, right: Ints) -> Floats:
    return by_blocks(left, right, lambda a, b: -np.sqrt(Linear().diag(X[a] - X[b])), X.shape[1])


def _distance_table(A: Examples, B: Examples) -> Floats:
    """By ‖a‖² + ‖b‖² − 2⟨a, b⟩: a matrix product instead of all differences, exact to about 8 digits near 0."""
    norms = Linear().diag(A)[:, None] + Linear().diag(B)[None, :]
    return -np.sqrt(np.maximum(norms - 2.0 * Linear()(A, B), 0.0))


def _cosines(X: Examples, left: Ints, right: Ints) -> Floats:
    """A row of zeros has no direction; its cosine with anything is 0."""
    norms = np.sqrt(Linear().diag(X))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)

    def dots(a: Ints, b: Ints) -> Floats:
        product = X[a].multiply(X[b]).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X[a], X[b])
        return np.asarray(product).ravel() * (scale[a] * scale[b])

    return by_blocks(left, right, dots, X.shape[1])


EUCLID = Comparison(_distances, _distance_table)
COSINE = Comparison(_cosines, Cosine())
COMPARISONS = {"euclid": EUCLID, "cosine": COSINE}
