"""Gram matrices of low rank with a sparse row per pair: differences and sums of examples, features of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import blas, block_diag, lapack

from pairlearn import loops
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.source import AnySource, Source
from pairlearn.pair_kernels import Table
from pairlearn.pair_kernels.catalog import PROJECTIONS
from pairlearn.types import Floats, Ints


@dataclass(frozen=True)
class Thin:
    """K = S L (S L)ᵀ with S sparse (n, k) and L dense (k, r); r is far below n.

    Interior points solve systems with K + D, D diagonal, n × n; through this form they need r × r ones only.

    `triangular` says that L is square, lower triangular and column-major, which halves the work.
    """

    S: sparse.csr_array
    L: Floats
    triangular: bool = False

    @property
    def rank(self) -> int:
        """Upper bound of the rank of K."""
        return self.L.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of both factors and of the matrices that a weighted product passes through."""
        S, passing = self.S, 8 * len(self.L) ** 2 + (0 if self.triangular else self.L.nbytes)
        return int(S.data.nbytes + S.indices.nbytes + S.indptr.nbytes + self.L.nbytes + passing)

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
        W = np.zeros((k, k), order="F")
        # W is symmetric, so its transpose may be filled row by row.
        loops.products.add_weighted_gram(self.S.indptr, self.S.indices, self.S.data, d, W.T)
        with blas_threads(4.0 * k**2 * self.rank):
            if not self.triangular:
                return np.asfortranarray(self.L.T @ (W @ self.L))
            W = blas.dtrmm(1.0, self.L, W, side=1, lower=1, overwrite_b=1)
            return blas.dtrmm(1.0, self.L, W, side=0, lower=1, trans_a=1, overwrite_b=1)

    def beside(self, other: Thin) -> Thin:
        """The sum of two such matrices on the same pairs."""
        return Thin(sparse.hstack([self.S, other.S], format="csr"), block_diag(self.L, other.L))


def projection(table: Table, source: AnySource) -> tuple[float, float] | None:
    """(w, sign) where the table is w(φ(a) ± φ(b))·(φ(c) ± φ(d)) on one table of examples, else None."""
    scale = dict(table.terms).get(("ac",), 0.0)
    for name, sign in (("difference", -1.0), ("direct_sum", 1.0)):
        if isinstance(source, Source) and scale > 0 and table.terms == PROJECTIONS[name].scaled(2.0 * scale).terms:
            return scale, sign
    return None


def thin_table(table: Table, source: AnySource, left: Ints, right: Ints) -> Thin | None:
    """½(e_a ± e_b) K (e_c ± e_d)ᵀ for multiples of `difference` and `direct_sum` on one table, else None.

    Their value is an inner product of φ(a) ± φ(b) and φ(c) ± φ(d), so with K = L Lᵀ a row of S has two entries ±√w,
    at the examples of its pair.
    """
    found = projection(table, source)
    if found is None or not isinstance(source, Source):
        return None
    scale, sign = found
    order, L = _rows(source)
    n, ones = len(left), np.full(len(left), np.sqrt(scale))
    columns = np.stack([order[left], order[right]], axis=1).ravel()
    values = np.stack([ones, sign * ones], axis=1).ravel()
    S = sparse.csr_array((values, columns, np.arange(0, 2 * n + 1, 2)), shape=(n, source.n_examples))
    return Thin(S, L, triangular=source.features is None and L.shape[0] == L.shape[1])


def _rows(source: Source) -> tuple[Ints, Floats]:
    """L with K = L Lᵀ over the examples in some order, and the place of every example in it.

    Without features by Cholesky with pivoting, which needs no K of full rank and stops at the rank that it has.
    """
    if source.features is not None:
        return np.arange(source.n_examples), source.features
    K = source.rows
    factor, pivots, rank, _ = lapack.dpstrf(K, tol=1e-13 * float(K.diagonal().max(initial=0.0)), lower=1)
    place = np.empty(len(K), dtype=np.int64)
    place[pivots - 1] = np.arange(len(K))
    return place, np.asfortranarray(np.tril(factor)[:, :rank])
