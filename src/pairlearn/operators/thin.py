"""Gram matrices of low rank: a sparse row per pair over the examples, or few explicit features of each pair.

Interior points solve systems with K + D, D diagonal, n × n; where K = GGᵀ with few columns they need r × r ones only.
`Thin` holds G as S L, two entries per row of S (differences and sums of many examples); `Columns` holds G itself, one
row of features per pair (a linear base in few dimensions, features that came with the pairs).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag, lapack

from pairlearn import loops
from pairlearn.linalg.pool import POOL, SMALL
from pairlearn.linalg.tiles import CORES, evenly, product
from pairlearn.operators.source import AnySource, Source
from pairlearn.pair_kernels import Table
from pairlearn.pair_kernels.catalog import PROJECTIONS
from pairlearn.pair_kernels.table import weights
from pairlearn.types import Floats, Ints

MOST_ROWS = 0.8
"""Share of rows with a weight up to which the others are left out: taking the rows out takes time, too."""
PART = 2**12
"""Pairs whose features are weighted or computed together."""
SHARES = 4
"""Sums of such parts that threads add up beside each other."""
FEW_EXAMPLES = 8
"""Examples per feature from which on a row of features per pair is less work than a matrix of all examples."""
COLUMNS = 256
"""Columns of a tile of a product with a triangle."""


@dataclass(frozen=True)
class Thin:
    """K = S L (S L)ᵀ with S sparse (n, k) and L dense (k, r); r is far below n.

    `triangular` says that L is square, lower triangular and column-major, which halves the work.
    """

    S: sparse.csr_array
    L: Floats
    triangular: bool = False

    @property
    def rank(self) -> int:
        """Upper bound of the rank of K."""
        return self.L.shape[1]

    def __len__(self) -> int:
        return int(self.S.shape[0])

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
        """(S L)ᵀ diag(d) (S L), (r, r) column-major: n operations, then products of examples only."""
        k = len(self.L)
        W = np.zeros((k, k), order="F")
        # W is symmetric, so its transpose may be filled row by row.
        loops.products.add_weighted_gram(self.S.indptr, self.S.indices, self.S.data, d, W.T)
        if not self.triangular:
            return product(self.L.T, product(W, self.L)).T
        return _after_triangle(self.L, _after_triangle(self.L, W).T)


@dataclass(frozen=True)
class Columns:
    """K = GGᵀ, a row of G per pair, (n, r).

    >>> form = Columns(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> (form @ np.ones(2)).tolist(), form.weighted(np.ones(2)).tolist()
    ([7.0, 3.0], [[1.0, 2.0], [2.0, 5.0]])
    """

    G: Floats

    @property
    def rank(self) -> int:
        """Upper bound of the rank of K."""
        return self.G.shape[1]

    def __len__(self) -> int:
        return len(self.G)

    @property
    def nbytes(self) -> int:
        """Bytes of G, of weighted parts of its rows and of systems of its columns."""
        parts = min(len(self), CORES * PART)
        return int(self.G.nbytes + 8 * parts * self.rank + 8 * (2 + SHARES) * self.rank**2)

    def __matmul__(self, x: Floats) -> Floats:
        """K x."""
        return self.spread(self.gathered(x))

    def gathered(self, x: Floats) -> Floats:
        """Gᵀ x, (r,)."""
        return x @ self.G

    def spread(self, y: Floats) -> Floats:
        """G y, (n,)."""
        return self.G @ y

    def weighted(self, d: Floats) -> Floats:
        """Gᵀ diag(d) G, (r, r) column-major, for d ≥ 0: in parts, so that no scaled copy of the whole is made."""
        n, roots, work = len(self), np.sqrt(d), 1.0 * len(self) * self.rank**2
        parts = evenly(n, max(-(-n // PART), SHARES if work >= SMALL else 1))
        shares = evenly(len(parts), min(SHARES, len(parts)))
        sums = np.zeros((len(shares), self.rank, self.rank))

        def add(number: int) -> None:
            for part in parts[shares[number]]:
                some = np.flatnonzero(roots[part])  # often a third
                few = len(some) < MOST_ROWS * len(roots[part])
                rows = roots[part][some, None] * self.G[part][some] if few else roots[part, None] * self.G[part]
                sums[number] += rows.T @ rows  # a matrix with itself: half the work, and symmetric

        POOL.run(add, len(shares), work)
        return sums.sum(axis=0).T


def _after_triangle(L: Floats, W: Floats) -> Floats:
    """W L, column-major, for a lower triangle L: the rows above the diagonal are left out of every tile of columns."""
    out = np.empty((len(W), len(L)), order="F")
    parts = evenly(len(L), -(-len(L) // COLUMNS))

    def tile(number: int) -> None:
        at = parts[number]
        np.matmul(L[at.start :, at].T, W[:, at.start :].T, out=out[:, at].T)

    POOL.run(tile, len(parts), 1.0 * out.size * len(L))
    return out


AnyThin = Thin | Columns


def beside(first: AnyThin, second: AnyThin) -> AnyThin:
    """The sum of two such matrices on the same pairs."""
    if isinstance(first, Columns) and isinstance(second, Columns):
        return Columns(np.hstack([first.G, second.G]))
    one, two = _sparse(first), _sparse(second)
    return Thin(sparse.hstack([one.S, two.S], format="csr"), block_diag(one.L, two.L))


def _sparse(form: AnyThin) -> Thin:
    return form if isinstance(form, Thin) else Thin(sparse.csr_array(form.G), np.eye(form.rank))


# --------------------------------------------------------------------------- tables over one table of examples


def thin_size(table: Table, source: AnySource) -> tuple[int, int] | None:
    """(entries per row, columns) of the form at most, before anything is computed of it; None without one."""
    if not isinstance(source, Source):
        return None
    width = features_of(table, source)
    if width is not None and not _spans_examples(table, source):
        return width, width
    return None if projection(table, source) is None else (2, source.rows.shape[1])


def thin_table(table: Table, source: AnySource, left: Ints, right: Ints) -> AnyThin | None:
    """The form of a table over pairs of one table of examples, None where it has none."""
    if not isinstance(source, Source):
        return None
    if source.features is not None and features_of(table, source) and not _spans_examples(table, source):
        return Columns(pair_features(table, source.features, left, right))
    return _differences(table, source, left, right)


def _spans_examples(table: Table, source: Source) -> bool:
    """Whether two entries per pair and a matrix of examples are less work than features of each pair."""
    return projection(table, source) is not None and source.rows.shape[1] * FEW_EXAMPLES > source.n_examples


def features_of(table: Table, source: Source) -> int | None:
    """Number of explicit features of a pair under this table, None where it has none."""
    if source.features is None or (parts := _parts(table)) is None:
        return None
    return sum(FEATURES[name].width(source.features.shape[1]) for name in parts)


def pair_features(table: Table, F: Floats, left: Ints, right: Ints) -> Floats:
    """φ with K = φφᵀ, (n, D): every part of the table has its own columns.

    With s = a + b, t = a − b the parts are 1, s, t, and the symmetric matrices ssᵀ, ttᵀ, (abᵀ + baᵀ)/2 and the
    antisymmetric (abᵀ − baᵀ)/2, off-diagonal entries times √2, so that inner products are those of the matrices.
    """
    parts, d = _parts(table) or {}, F.shape[1]
    out = np.empty((len(left), sum(FEATURES[name].width(d) for name in parts)))
    for start in range(0, len(left), PART):
        a, b, rows = F[left[start : start + PART]], F[right[start : start + PART]], out[start : start + PART]
        first = 0
        for name, weight in parts.items():
            # Straight to where they belong: copies of features took three times as long as the features.
            FEATURES[name].put(a, b, float(np.sqrt(weight)), rows, first)
            first += FEATURES[name].width(d)
    return out


@dataclass(frozen=True)
class PairFeature:
    """One part of the features of a pair: how wide it is, and `put(a, b, scale, out, first)` from a column on."""

    width: Callable[[int], int]
    put: Callable[[Floats, Floats, float, Floats, int], None]


def _linear(own: Callable[[Floats, Floats], Floats | float], width: Callable[[int], int]) -> PairFeature:
    """A part that is a sum of the rows."""

    def put(a: Floats, b: Floats, scale: float, out: Floats, first: int) -> None:
        np.multiply(own(a, b), scale, out=out[:, first : first + width(a.shape[1])])

    return PairFeature(width, put)


def _square(own: Callable[[Floats, Floats], tuple[Floats, Floats]], sign: float = 1.0) -> PairFeature:
    """(xyᵀ ± yxᵀ)/2 on and above the diagonal (−: above), off-diagonal entries times √2."""

    def put(a: Floats, b: Floats, scale: float, out: Floats, first: int) -> None:
        loops.products.squares(*own(a, b), sign, scale, out, first)

    return PairFeature(lambda d: d * (d + int(sign)) // 2, put)


def _parts(table: Table) -> dict[str, float] | None:
    """The parts of a table and their weights, None where one of them is negative or mixes s and t."""
    w = weights(table)
    if w is None or w[5] != 0.0:
        return None
    names = dict(zip(FEATURES, [w[0], w[1], w[2], w[3], w[4], w[6] + w[7], w[6] - w[7]], strict=True))
    return {name: weight for name, weight in names.items() if weight} if min(names.values()) >= 0 else None


FEATURES = {
    "one": _linear(lambda a, b: 1.0, lambda d: 1),
    "sum": _linear(lambda a, b: a + b, lambda d: d),
    "difference": _linear(lambda a, b: a - b, lambda d: d),
    "sum_squared": _square(lambda a, b: (a + b, a + b)),
    "difference_squared": _square(lambda a, b: (a - b, a - b)),
    "tensor": _square(lambda a, b: (a, b)),
    "wedge": _square(lambda a, b: (a, b), -1.0),
}
"""Features of a pair whose inner products are 1, s, t, s², t², ½(ac·bd + ad·bc) and ½(ac·bd − ad·bc) of `weights`."""


def projection(table: Table, source: Source) -> tuple[float, float] | None:
    """(w, sign) where the table is w(φ(a) ± φ(b))·(φ(c) ± φ(d)) on one table of examples, else None."""
    scale = dict(table.terms).get(("ac",), 0.0)
    for name, sign in (("difference", -1.0), ("direct_sum", 1.0)):
        if scale > 0 and table.terms == PROJECTIONS[name].scaled(2.0 * scale).terms:
            return scale, sign
    return None


def _differences(table: Table, source: Source, left: Ints, right: Ints) -> Thin | None:
    """½(e_a ± e_b) K (e_c ± e_d)ᵀ for multiples of `difference` and `direct_sum` on one table, else None.

    Their value is an inner product of φ(a) ± φ(b) and φ(c) ± φ(d), so with K = L Lᵀ a row of S has two entries ±√w,
    at the examples of its pair.
    """
    found = projection(table, source)
    if found is None:
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
