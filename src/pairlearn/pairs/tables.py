"""Where the examples of pairs are: both sides in one table, or each side in its own.

Whatever depends on this asks the tables instead of testing for a second one. Both kinds list what they have *per
table* as tuples of one or two entries: `sides[0]` belongs to the left examples and `sides[-1]` to the right ones, so
most code treats both kinds alike. What truly differs stands here: only examples of one table can be compared with
each other, so only there a pair has a mirror image (b, a) and may be reflexive (a, a).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_used
from pairlearn.pairs.columns import Columns
from pairlearn.types import Bools, Examples, Ints


@dataclass(frozen=True, eq=False)
class OneTable:
    """Left and right examples are rows of one table of m examples."""

    examples: Examples

    @property
    def sides(self) -> tuple[Examples, ...]:
        """The table."""
        return (self.examples,)

    def swapped(self) -> OneTable:
        """The tables of swapped pairs: the same."""
        return self

    def pointing(self, columns: Columns) -> tuple[tuple[Ints, ...], ...]:
        """The columns that point into each table: both into the one."""
        return (columns,)

    def reflexive(self, columns: Columns) -> Bools:
        """Mask of the pairs (i, i)."""
        return cast(Bools, columns[0] == columns[1])

    def falling(self, columns: Columns) -> Bools:
        """Mask of the pairs i > j, each the mirror image of a pair j < i."""
        return columns[0] > columns[1]


@dataclass(frozen=True, eq=False)
class TwoTables:
    """Left examples are rows of one table and right examples of another, as in drugs and targets."""

    examples: Examples
    right_examples: Examples

    @property
    def sides(self) -> tuple[Examples, ...]:
        """Both tables."""
        return self.examples, self.right_examples

    def swapped(self) -> TwoTables:
        """The tables of swapped pairs: these change places."""
        return TwoTables(self.right_examples, self.examples)

    def pointing(self, columns: Columns) -> tuple[tuple[Ints, ...], ...]:
        """The columns that point into each table: one into each."""
        return tuple((column,) for column in columns)

    def reflexive(self, columns: Columns) -> Bools:
        """No pair joins an example with itself: equal row numbers mean different things."""
        return np.zeros(len(columns[0]), dtype=bool)

    def falling(self, columns: Columns) -> Bools:
        """No pair is the mirror image of another."""
        return np.zeros(len(columns[0]), dtype=bool)


Tables = OneTable | TwoTables


def tables_of(sides: tuple[Examples, ...]) -> Tables:
    """The tables with these sides, one or two."""
    return OneTable(*sides) if len(sides) == 1 else TwoTables(*sides)


def sizes(tables: Tables) -> tuple[int, ...]:
    """Number of rows of each table."""
    return tuple(count_examples(side) for side in tables.sides)


def require_one_table(tables: Tables, message: str) -> None:
    """Refuse pairs of two tables with this message."""
    if len(tables.sides) > 1:
        raise InputError(message)


class Renumbered(NamedTuple):
    """The rows in use of each table, ascending, and the columns as places among them."""

    used: tuple[Ints, ...]
    columns: Columns


def used_rows(tables: Tables, columns: Columns) -> tuple[Ints, ...]:
    """Sorted rows of each table that the columns point at."""
    return tuple(
        _occurring(pointing, count_examples(side))
        for pointing, side in zip(tables.pointing(columns), tables.sides, strict=True)
    )


def renumbered(tables: Tables, columns: Columns, used: tuple[Ints, ...]) -> Renumbered:
    """The columns as places among the rows in use, which are ascending: equal examples keep their order."""
    left = _places(columns[0], used[0], count_examples(tables.sides[0]))
    right = _places(columns[1], used[-1], count_examples(tables.sides[-1]))
    return Renumbered(used, (left, right))


def take_rows(tables: Tables, used: tuple[Ints, ...], take: Callable[[Examples, Ints], Examples] = take_used) -> Tables:
    """The same tables with these rows only; a table whose rows are all used is shared, not copied."""
    return tables_of(tuple(take(side, rows) for side, rows in zip(tables.sides, used, strict=True)))


def _occurring(columns: tuple[Ints, ...], n_examples: int) -> Ints:
    # A mask costs n + m steps; sorting the columns, as np.unique does, n log n.
    used = np.zeros(n_examples, dtype=bool)
    for column in columns:
        used[column] = True
    return np.nonzero(used)[0]


def _places(column: Ints, used: Ints, n_examples: int) -> Ints:
    if len(used) == n_examples:
        return column
    position = np.zeros(n_examples, dtype=np.int32)
    position[used] = np.arange(len(used), dtype=np.int32)
    return position[column]
