"""Gram matrices of low rank with a sparse row per pair: differences and sums of examples, features of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag, lapack

from pairlearn.loops.products import add_weighted_gram
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import Table
from pairlearn.pair_kernels.catalog import PROJECTIONS
from pairlearn.threads import blas_threads
from pairlearn.types import Floats, Ints


@dataclass(frozen=True)
class Thin:
    """K = S L (S L)ᵀ with S sparse (n, k) and L dense (k, r); r is far below n."""

    S: sparse.csr_array
    L: Floats

    @property
    def rank(self) -> int:
        """Upper bound of the rank of K."""
        return self.L.shape[1]

    def __matmul__(self, x: Floats) -> Floats:
        """K x."""
        return self.spread(self.gathered(x))

    def gathered(self, x: Floats) -> Floats:
        """(S L)ᵀ x, (r,)."""
        return self.L.T @ (x @ self.S)

    def spread(self, y: Floats) -> Floats:
        """S L y, (n,)."""
        return self.S @ (self.L @ y)

    def weighted(self, d: Floats) -> Floats:
        """(S L)ᵀ diag(d) (S L), (r, r): n operations, then products of examples only."""
        k = len(self.L)
        W = np.zeros((k, k))
        add_weighted_gram(self.S.indptr, self.S.indices, self.S.data, d, W)
        with blas_threads(4.0 * k**2 * self.rank):
            return self.L.T @ (W @ self.L)

    def beside(self, other: Thin) -> Thin:
        """The sum of two such matrices on the same pairs."""
        return Thin(sparse.hstack([self.S, other.S], format="csr"), block_diag(self.L, other.L))


def thin_table(table: Table, source: Source, left: Ints, right: Ints) -> Thin | None:
    """½(e_a ± e_b) K (e_c ± e_d)ᵀ for multiples of `difference` and `direct_sum` on one table, else None."""
    for name, sign in (("difference", -1.0), ("direct_sum", 1.0)):
        scale = dict(table.terms).get(("ac",), 0.0)
        if source.other is None and scale > 0 and table.terms == PROJECTIONS[name].scaled(2.0 * scale).terms:
            n, ones = len(left), np.full(len(left), np.sqrt(scale))
            columns = np.stack([left, right], axis=1).ravel()
            values = np.stack([ones, sign * ones], axis=1).ravel()
            S = sparse.csr_array((values, columns, np.arange(0, 2 * n + 1, 2)), shape=(n, source.n_examples))
            return Thin(S, source.features if source.features is not None else square_root(source.rows))
    return None


def square_root(K: Floats) -> Floats:
    """L with K = L Lᵀ to rounding, (m, rank), by Cholesky with pivots."""
    factor, pivots, rank, _ = lapack.dpstrf(K, tol=1e-13 * float(K.diagonal().max(initial=0.0)), lower=1)
    L = np.zeros((len(K), rank))
    L[pivots - 1] = np.tril(factor)[:, :rank]
    return L
