"""The pairs that are optimised together: which they are, and their Gram matrix, updated slot by slot."""

from __future__ import annotations

import numpy as np

from pairlearn import loops
from pairlearn.linalg.tiles import evenly
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Look
from pairlearn.types import Floats, Ints

WHOLE = 2**29
"""Bytes of a matrix that is computed in some tenths of a second, without a look at the clock: of 8,192 pairs."""


class WorkingSet:
    """The working set W and K_WW.

    From one outer step to the next most pairs stay. Their entries of K_WW stay too: new pairs take the slots of those
    that leave, and only their rows are computed. Assembling the matrix anew cost as much as the algebra on it.
    """

    def __init__(self, operator: PairOperator, limit: int) -> None:
        self.operator, self.limit = operator, limit
        self.pairs: Ints = np.zeros(0, dtype=np.int64)
        """Numbers of the pairs, slot by slot."""
        self.store: Floats = np.empty((0, 0))
        """K_WW is its leading part; contiguous rows keep the compiled loops fast."""
        self.rows = 0
        """Rows of the store that were ever in use: memory that was never written to takes none."""
        self.most = 0
        """Most bytes of stores at once while it was last updated: where it grows there are two."""

    @property
    def nbytes(self) -> int:
        """Bytes of the store."""
        return 8 * self.rows * self.store.shape[1]

    def update(self, free: Ints, candidates: Ints, look: Look | None = None) -> None:
        """Bring in the candidates and all free pairs, or as many as there is room for; drop the others first.

        `look` looks at the clock; once it has raised, the set is of no use any more.
        """
        self.most = 0
        if len(self.pairs) > self.limit:
            self.pairs = self.pairs[:0]
        wanted = self._wanted(free, candidates)
        fresh = wanted[~np.isin(wanted, self.pairs, assume_unique=True)]
        left = np.nonzero(~np.isin(self.pairs, wanted, assume_unique=True))[0][: len(fresh)]
        if not len(self.pairs) and self._comes_whole(len(fresh)):
            # No copy is made of what small problems need only once.
            self.pairs, self.rows = fresh, len(fresh)
            self.store = self.operator.submatrix(fresh)
            self.most = self.nbytes
            return
        size = len(self.pairs) + len(fresh) - len(left)
        slots = np.concatenate([left, np.arange(len(self.pairs), size)])
        self._reserve(size, look)
        self.pairs = np.concatenate([self.pairs, np.zeros(size - len(self.pairs), dtype=np.int64)])
        self.pairs[slots] = fresh
        self._fill(slots, fresh, look)

    def _comes_whole(self, n: int) -> bool:
        """Whether a first set of so many pairs is computed at once: soon, and with little beside it."""
        return 8 * n**2 <= WHOLE and min(8 * n**2, self.operator.alongside(n)) <= self.operator.block_bytes

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
            part, self.rows = slice(start, start + step), max(self.rows, len(self.pairs))
            rows = self.operator.submatrix(fresh[part], self.pairs)
            if len(fresh) == len(self.pairs):  # in their order, and every column comes with another row
                self.store[start : start + len(rows), : len(fresh)] = rows
            else:
                loops.blocks.set_rows_and_columns(self.store, slots[part], rows)
            del rows  # before the next block is made

    def _reserve(self, n: int, look: Look | None) -> None:
        """Room for n pairs and some more: memory that was never used comes page by page, and may take seconds."""
        if n <= len(self.store):
            return
        size, kept = max(int(1.3 * n), 1024), len(self.pairs)
        # The last step comes early, while two stores and the factor of the old one have room side by side.
        size = size if size <= 0.45 * self.limit else self.limit
        # An odd number of cache lines per row keeps the entries of a column apart in the cache.
        store = np.empty((size, size // 16 * 16 + 24))
        for rows in evenly(kept, -(-8 * kept**2 // self.operator.block_bytes)):
            if look is not None:
                look()
            store[rows, :kept] = self.store[rows, :kept]
        self.most = self.nbytes + 8 * kept * store.shape[1]
        self.store, self.rows = store, kept


AT_ONCE = 2**18
"""Pairs that are looked at together for the steepest: their keys take a few megabytes, however many pairs there are."""


def steepest_pairs(box: Box, theta: Floats, v: Floats, count: int, rng: np.random.Generator | None = None) -> Ints:
    """The pairs whose coefficients gain most by rising and by falling, `count` of each, from both sides in turn.

    Near-margin pairs that do not violate yet fill up the count in the order of their slack: without them the last outer
    steps uncover a few new violators each, and the gap only halves. With `rng` chance decides between equal rates.
    """
    best: list[tuple[Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * 2
    for start in range(0, len(v), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        sides = _keys(box.take(part), theta[part], v[part], rng)
        best = [_leading(known, start, keys, count) for known, keys in zip(best, sides, strict=True)]
    return _alternating(best[0][0], best[1][0])


def _keys(box: Box, theta: Floats, v: Floats, rng: np.random.Generator | None) -> tuple[Floats, Floats]:
    """What raising and what lowering each coefficient gains, in float32."""
    up, low = np.empty(len(v), dtype=np.float32), np.empty(len(v), dtype=np.float32)
    loops.rates.fill_keys(theta, box.lower, box.upper, v, box.eps, up, low)
    if rng is not None:
        noise = rng.random(len(v), dtype=np.float32) * np.float32(1e-3)
        up += noise
        low += noise
    return up, low


def _leading(known: tuple[Ints, Floats], start: int, keys: Floats, count: int) -> tuple[Ints, Floats]:
    """The largest of those known already, with their keys, and of the pairs that begin at `start`."""
    # Once there are so many, most others are below all of them and need not be looked at again.
    above = np.nonzero(keys >= known[1][-1])[0] if len(known[0]) == count else np.arange(len(keys))
    found = above[largest(keys[above], count)]
    pairs, values = np.concatenate([known[0], start + found]), np.concatenate([known[1], keys[found]])
    order = np.argsort(-values, kind="stable")[:count]
    return pairs[order], values[order]


def _alternating(*sides: Ints) -> Ints:
    """The first of each side, then the second of each, and so on."""
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
