"""One vector per record: character n-grams of all its words, reduced to a few dimensions.

Terms are folded to 2¹⁴ columns and projected on the leading directions of the training tables (TruncatedSVD), so that
records with similar wording lie close together; the pair kernels take it from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.records.compare.terms import Rows
from pairlearn.types import Floats, Ints

FOLDED = 2**14
SAMPLED = 20_000
"""Records that the directions are learnt from."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Projection of the folded columns `known`, (k,), on the rows of `components`, (d, k), float32.

    >>> from pairlearn.records.compare.terms import Terms
    >>> texts = ["red ale", "pale ale", "brown porter"]
    >>> rows = Terms.learn("grams", texts).rows(texts)
    >>> Vectors.learn([rows], dimensions=2).of(rows).shape
    (3, 2)
    """

    known: Ints
    components: Floats

    @classmethod
    def learn(cls, tables: list[Rows], dimensions: int = 48, seed: int = 0) -> Vectors:
        """The leading directions of these tables."""
        from sklearn.utils.extmath import randomized_svd

        known = np.unique(np.concatenate([rows.indices for rows in tables]) % FOLDED).astype(np.int64)
        if not len(known):
            return cls(known, np.zeros((1, 0), dtype=np.float32))
        matrix = sparse.vstack([_folded(rows, known) for rows in tables], format="csr")
        if matrix.shape[0] > SAMPLED:
            matrix = matrix[np.random.default_rng(seed).choice(matrix.shape[0], SAMPLED, replace=False)]
        d = max(1, min(dimensions, *matrix.shape))
        _, _, components = randomized_svd(matrix, d, random_state=seed, n_iter=4)
        return cls(known, np.ascontiguousarray(components, dtype=np.float32))

    def of(self, rows: Rows) -> Floats:
        """Vectors (n, d), float64, of length one unless empty."""
        if not len(self.known):
            return np.zeros((len(rows.indptr) - 1, 1))
        found = np.asarray(_folded(rows, self.known) @ self.components.T, dtype=np.float64)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def _folded(rows: Rows, known: Ints) -> Any:
    """Rows over the known columns; terms of other columns count nothing."""
    places = np.full(FOLDED, -1)
    places[known] = np.arange(len(known))
    columns = places[rows.indices % FOLDED]
    data = np.where(columns >= 0, rows.data, 0.0).astype(np.float32)
    shape = (len(rows.indptr) - 1, len(known))
    return sparse.csr_matrix((data, np.maximum(columns, 0), rows.indptr), shape=shape)
