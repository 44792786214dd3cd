"""What a pair kernel sees of some pairs: two index columns, and one row per pair from every view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pairlearn.examples import take_examples
from pairlearn.pair_kernels import PairKernel, View, ViewKernel
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats, Ints

Shown = Mapping[tuple[View, bool], Examples]
"""What a view shows of the pairs as they are (False) and swapped (True), a row per pair.

Swapped rows are shown too where a kernel needs K((b, a), ·): as a balanced or skew part, or to make a score symmetric.
"""


@dataclass(frozen=True)
class PairRows:
    """n pairs as columns of places among examples, and what the views show of them.

    This is all that a kernel needs to know of pairs: which examples they join (places in whatever matrix, features or
    table a source holds), and one row per pair from each view.
    """

    left: Ints
    right: Ints
    shown: Shown = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.left)

    def take(self, index: Ints) -> PairRows:
        """Some of the pairs."""
        shown = {key: take_examples(table, index) for key, table in self.shown.items()}
        return PairRows(self.left[index], self.right[index], shown)

    def swapped(self) -> PairRows:
        """Every pair (a, b) as (b, a)."""
        return PairRows(self.right, self.left, {(view, not order): t for (view, order), t in self.shown.items()})

    def compared(self, leaf: ViewKernel, others: PairRows) -> Floats:
        """k(φ(pair), φ(other pair)), (n, len(others)); a fresh array."""
        A, B = self.shown[leaf.view, leaf.swapped[0]], others.shown[leaf.view, leaf.swapped[1]]
        return np.array(leaf.kernel(A, B), dtype=np.float64)

    def compared_with_itself(self, leaf: ViewKernel) -> Floats:
        """k(φ(pair), φ(pair)), (n,).

        k(φ(a, b), φ(b, a)) is not on the diagonal of k, so blocks of 256 are computed of which the diagonal is kept.
        """
        if leaf.swapped[0] == leaf.swapped[1]:
            return np.array(leaf.kernel.diag(self.shown[leaf.view, leaf.swapped[0]]), dtype=np.float64)
        A, B = (self.shown[leaf.view, order] for order in leaf.swapped)
        step, n = 256, len(self)
        parts = [range(t, min(t + step, n)) for t in range(0, n, step)]
        blocks = [leaf.kernel(take_examples(A, np.array(p)), take_examples(B, np.array(p))) for p in parts]
        return np.concatenate([np.diagonal(block) for block in blocks]).astype(np.float64)


def show(kernel: PairKernel, pairs: Pairs, *, both_orders: bool = False) -> Shown:
    """What the kernel's views show of these pairs, swapped too where the kernel or the caller asks for it."""
    wanted = {(leaf.view, order) for leaf in kernel.leaves if isinstance(leaf, ViewKernel) for order in leaf.swapped}
    if both_orders:
        wanted |= {(view, not order) for view, order in wanted}
    if any(order and "left" in view.blocks for view, order in wanted):
        pairs.require_one_table(
            "pairs of two tables have one order; use the kernel itself, not its balanced or skew part"
        )
    orders = {order: pairs.swapped() if order else pairs for order in {order for _, order in wanted}}
    return {(view, order): view.show(orders[order]) for view, order in wanted}


DIAGONAL = 2**16
"""Pairs whose self values are computed together."""


def diagonal_by_parts(pairs: PairRows, self_values: Callable[[PairRows], Floats]) -> Floats:
    """Self values of all pairs, (n,), some pairs after the other."""
    values = np.empty(len(pairs))
    for start in range(0, len(pairs), DIAGONAL):
        part = np.arange(start, min(start + DIAGONAL, len(pairs)))
        values[part] = self_values(pairs.take(part))
    return values
