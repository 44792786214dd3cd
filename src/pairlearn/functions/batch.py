"""Pairs that are scored together: the examples that occur in them, each once, and what the views show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pairlearn.examples import widened
from pairlearn.kernels import Kernel
from pairlearn.operators.rows import PairRows, show
from pairlearn.operators.source import AnySource, Source, join_sources
from pairlearn.pair_kernels import PairKernel
from pairlearn.pairs import Pairs
from pairlearn.types import Examples


@dataclass(frozen=True, eq=False)
class Batch:
    """Some pairs to score: the tables of the examples that occur in them, sorted, and the pairs as places in these.

    Every example is compared with the support examples once, however many pairs it is in. Sorted order makes a table
    of swapped pairs the same table, so that these compute the same bit by bit.
    """

    tables: tuple[Examples, ...]
    rows: PairRows

    @classmethod
    def of(cls, pairs: Pairs, kernel: PairKernel, *, both_orders: bool) -> Batch:
        """These pairs as the kernel sees them, `both_orders` with what its views show of the swapped ones.

        Pairs of two tables have one order, which stands for the other: no model has seen the tables swapped.
        """
        apart = len(pairs.tables.sides) > 1
        shown = show(kernel, pairs, both_orders=both_orders and not apart)
        if both_orders and apart:
            shown = {(view, not order): table for (view, order), table in shown.items()} | dict(shown)
        if not kernel.bases:  # the views have seen all that it needs
            return cls((), PairRows(*pairs.columns, shown))
        compact = pairs.compacted().pairs
        return cls(tuple(map(widened, compact.tables.sides)), PairRows(*compact.columns, shown))

    @property
    def left(self) -> Examples:
        """The left examples."""
        return self.tables[0]

    @property
    def right(self) -> Examples:
        """The right examples: the same table, or that of the other side."""
        return self.tables[-1]


def sources_of(kernel: PairKernel, tables: tuple[Any, ...]) -> dict[Kernel | None, AnySource]:
    """Values between the examples of these tables, for self values of pairs.

    Nothing but features is computed before it is asked for: of a precomputed matrix there are no such values.
    """
    return {base: join_sources(_sides(base, tables)) for base in kernel.bases if base is not None}


def _sides(base: Kernel, tables: tuple[Any, ...]) -> list[Source]:
    return [Source(side, X, features=side.features(X)) for side, X in zip(base.sides, tables, strict=True)]
