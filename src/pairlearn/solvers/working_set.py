"""The pairs that are optimised together: which they are, and their Gram matrix, updated slot by slot."""

from __future__ import annotations

import numpy as np

from pairlearn import loops
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Look
from pairlearn.types import Floats, Ints


class WorkingSet:
    """The working set W and K_WW.

    From one outer step to the next most pairs stay. Their entries of K_WW stay too: new pairs take the slots of those
    that leave, and only their rows are computed. Assembling the matrix anew cost as much as the algebra on it.
    """

    def __init__(self, operator: PairOperator, limit: int) -> None:
        self.operator, self.limit = operator, limit
        self.pairs = np.zeros(0, dtype=np.int64)
        """Numbers of the pairs, slot by slot."""
        self.store = np.empty((0, 0))
        """K_WW is its leading part; contiguous rows keep the compiled loops fast."""
        self.rows = 0
        """Rows of the store that were ever in use: memory that was never written to takes none."""

    @property
    def nbytes(self) -> int:
        """Bytes of the store."""
        return 8 * self.rows * self.store.shape[1]

    def update(self, free: Ints, candidates: Ints, look: Look | None = None) -> None:
        """Bring in the candidates and all free pairs, or as many as there is room for; drop the others first.

        `look` looks at the clock; once it has raised, the set is of no use any more.
        """
        if len(self.pairs) > self.limit:
            self.pairs = self.pairs[:0]
        wanted = self._wanted(free, candidates)
        fresh = wanted[~np.isin(wanted, self.pairs, assume_unique=True)]
        left = np.nonzero(~np.isin(self.pairs, wanted, assume_unique=True))[0][: len(fresh)]
        size = len(self.pairs) + len(fresh) - len(left)
        slots = np.concatenate([left, np.arange(len(self.pairs), size)])
        self._reserve(size)
        self.rows = max(self.rows, size)
        self.pairs = np.concatenate([self.pairs, np.zeros(size - len(self.pairs), dtype=np.int64)])
        self.pairs[slots] = fresh
        self._fill(slots, fresh, look)

    def _wanted(self, free: Ints, candidates: Ints) -> Ints:
        """The best candidates, at least half the room for them, then the free pairs."""
        room = max(2, self.limit // 2, self.limit - len(free))
        return _unique_in_order(candidates[:room], free)[: self.limit]

    def _fill(self, slots: Ints, fresh: Ints, look: Look | None) -> None:
        """Rows and columns of the new pairs, some at a time."""
        step = max(1, self.operator.block_bytes // (8 * max(1, len(self.pairs))))
        for start in range(0, len(fresh), step):
            if look is not None:
                look()
            part = slice(start, start + step)
            loops.blocks.set_rows_and_columns(self.store, slots[part], self.operator.submatrix(fresh[part], self.pairs))

    def _reserve(self, n: int) -> None:
        """Room for n pairs and some more."""
        if n <= len(self.store):
            return
        size, kept = max(int(1.3 * n), 1024), len(self.pairs)
        # The last step comes early, while two stores and the factor of the old one have room side by side.
        size = size if size <= 0.45 * self.limit else self.limit
        # An odd number of cache lines per row keeps the entries of a column apart in the cache.
        store = np.empty((size, size // 16 * 16 + 24))
        store[:kept, :kept] = self.store[:kept, :kept]
        self.store, self.rows = store, kept


def steepest_pairs(box: Box, theta: Floats, v: Floats, count: int, noise: Floats | None = None) -> Ints:
    """The pairs whose coefficients gain most by rising and by falling, `count` of each, from both sides in turn.

    Near-margin pairs that do not violate yet fill up the count in the order of their slack: without them the last outer
    steps uncover a few new violators each, and the gap only halves. `noise` (n,) decides between equal rates.
    """
    up, low = np.empty(len(v), dtype=np.float32), np.empty(len(v), dtype=np.float32)
    loops.rates.fill_keys(theta, box.lower, box.upper, v, box.eps, up, low)
    if noise is not None:
        up += noise
        low += noise
    sides = largest(up, count), largest(low, count)
    alternating = np.full(2 * max(map(len, sides)), -1, dtype=np.int64)
    for offset, side in enumerate(sides):
        alternating[offset : offset + 2 * len(side) : 2] = side
    return alternating[alternating >= 0]


def largest(values: Floats, count: int) -> Ints:
    """Indices of the `count` largest finite values, largest first.

    >>> largest(np.array([1.0, -np.inf, 3.0, 2.0]), 2).tolist()
    [2, 3]
    """
    count = min(count, len(values))
    chosen = np.argpartition(values, len(values) - count)[len(values) - count :] if count else np.zeros(0, np.int64)
    chosen = chosen[np.isfinite(values[chosen])]
    return chosen[np.argsort(-values[chosen], kind="stable")]


def _unique_in_order(*parts: Ints) -> Ints:
    """All numbers once, each where it came first.

    >>> _unique_in_order(np.array([5, 2]), np.array([2, 7])).tolist()
    [5, 2, 7]
    """
    joined = np.concatenate(parts)
    _, first = np.unique(joined, return_index=True)
    return joined[np.sort(first)]
