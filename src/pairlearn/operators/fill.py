"""Values of a table kernel between pairs, from a matrix of the base kernel and the places of their examples in it."""

from __future__ import annotations

import numpy as np

from pairlearn import loops
from pairlearn.pair_kernels import Quad, Table
from pairlearn.pair_kernels.table import weights
from pairlearn.types import Floats, Ints

Places = tuple[Ints, Ints]
"""Where the left and the right example of every pair stand in a matrix."""

APART = ((), ("ac",), ("bd",), ("ac", "ac"), ("bd", "bd"), ("ac", "bd"))
"""The monomials that remain when ad = bc = 0, in the order of the compiled loop."""


def fill(table: Table, K: Floats, rows: Places, cols: Places | None) -> Floats:
    """Values of one table between row pairs (a, b) and column pairs (c, d), (len rows, len cols).

    The four look-ups ac, ad, bc, bd are entries of K, so that K may be any matrix from the examples of the rows to
    those of the columns. One row is a loop of its own, because some solvers ask for single rows, and so are more rows
    than examples. Without columns these are the rows, and K is symmetric. All loops give the same bits.
    """
    (a, b), (c, d) = rows, rows if cols is None else cols
    w = weights(table)
    if w is None:
        return table.evaluate(Quad(K[np.ix_(a, c)], K[np.ix_(a, d)], K[np.ix_(b, c)], K[np.ix_(b, d)]))
    out = np.empty((len(a), len(c)))
    if len(a) == 1:
        loops.tables.fill_row(K[a[0]], K[b[0]], c, d, w, out[0])
    elif len(a) > len(K):
        loops.tables.fill_many(K, a, b, c, d, w, out)
    elif cols is None:
        loops.tables.fill_symmetric(K, a, b, w, out)
    else:
        loops.tables.fill_block(K, a, b, c, d, w, out)
    return out


def blocks_of(table: Table) -> int:
    """Blocks of the size of its result that `fill` takes, with the result: more where no compiled loop serves.

    These are the four look-ups, the sum so far, one term and the sum of both.
    """
    return 7 if weights(table) is None else 1


def fill_apart(table: Table, K: Floats, L: Floats, rows: Places, cols: Places) -> Floats:
    """The same for two domains: K compares left examples, L right ones, and ad = bc = 0."""
    (a, b), (c, d) = rows, cols
    w = dict(table.terms)
    out = np.empty((len(a), len(c)))
    loops.tables.fill_apart(K, L, a, b, c, d, np.array([w.get(monomial, 0.0) for monomial in APART]), out)
    return out


def fill_self(table: Table, aa: Floats, ab: Floats, bb: Floats) -> Floats:
    """Value of one table of every pair with itself, (n,), from k(a, a), k(a, b) and k(b, b)."""
    w = weights(table)
    if w is None:
        return table.evaluate(Quad(aa, ab, ab, bb))
    out = np.empty(len(aa))
    loops.tables.fill_self(aa, ab, bb, w, out)
    return out
