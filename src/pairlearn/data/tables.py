"""Tables as they were read: examples with ids and classes, pairs with ids and labels, and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pairlearn.data.files.cells import is_missing, is_number, shortened
from pairlearn.data.files.sources import Source
from pairlearn.data.labels import OUTCOMES, SAME, SCHEMES, plain_label, read_labels
from pairlearn.data.layout import Layout
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.pairs import Pairs, find_rows, rows_by_id
from pairlearn.types import Floats, Ints
from pairlearn.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class ExampleTable:
    """Examples with their ids and, if the file has them, their classes.

    `source` is the file, `layout` what was taken from it, `notes` how it was read, for messages.

    >>> table = ExampleTable("faces.csv", np.eye(2), ("ann", "bob"))
    >>> table
    ExampleTable(faces.csv: 2 examples)
    """

    source: str
    examples: Floats
    ids: tuple[str, ...]
    classes: tuple[str, ...] | None = None
    layout: Layout | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f" of {counted(len(set(self.classes)), 'class')}"
        return f"ExampleTable({self.source}: {counted(len(self.ids), 'example')}{classes})"

    def required_classes(self) -> tuple[str, ...]:
        """The classes, or what to do if there are none."""
        if self.classes is None:
            raise InputError(f"{self.source} holds no classes; name their column with --class-column")
        return self.classes


@dataclass(frozen=True, eq=False, repr=False)
class PairTable:
    """Ids of both sides of every pair and, if the file has them, the cells of its label column.

    What the cells mean depends on the task: `labels` reads them as same or different, `outcomes` as who comes first,
    `numbers` as a value per pair. `rows` are the rows of the file, where some were left out.
    """

    source: Source
    left: tuple[str, ...]
    right: tuple[str, ...]
    cells: tuple[str | None, ...] | None = None
    label: str = "label"
    notes: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        labelled = "no labels" if self.cells is None else "labelled"
        return f"PairTable({self.source}: {counted(len(self), 'pair')}, {labelled})"

    def on(self, table: ExampleTable, right: ExampleTable | None = None) -> Pairs:
        """These pairs joined to their examples; `right` holds the right ones, if they have their own table."""
        tables = table.source if right is None else f"{table.source} and {right.source}"
        try:
            if right is None:
                return Pairs.from_ids(table.examples, table.ids, self.left, self.right)
            (left_rows,) = find_rows(rows_by_id(table.ids), self.left)
            (right_rows,) = find_rows(rows_by_id(right.ids), self.right)
            return Pairs(table.examples, left_rows, right_rows, right_examples=right.examples)
        except MissingIdsError as error:
            raise MissingIdsError(f"{self.source} with {tables}: {error}", error.missing) from None

    def place(self, row: int) -> str:
        """Where a pair stands in the file."""
        return self.source.place(row if self.rows is None else self.rows[row])

    def required_cells(self) -> tuple[str | None, ...]:
        """The cells of the label column, or what to do if there is none."""
        if self.cells is None:
            raise InputError(f"{self.source} has no column {self.label!r}; name the labels with --label-column")
        return self.cells

    @cached_property
    def _read(self) -> tuple[Ints, dict[str, int]]:
        return read_labels(self.required_cells(), f"{self.source}, column {self.label!r}", self.place)

    @property
    def labels(self) -> Ints | None:
        """Labels ±1, None without a column of labels; cells of another spelling are refused."""
        return None if self.cells is None else self._read[0]

    @property
    def spelling(self) -> Mapping[str, int] | None:
        """What the labels were called in the file."""
        return None if self.cells is None else self._read[1]

    def required_labels(self) -> tuple[Ints, Mapping[str, int]]:
        """Labels ±1 and their spelling, or what to do if there are none."""
        return self._read

    def some_labels(self) -> tuple[Ints, Mapping[str, int]]:
        """Labels ±1, 0 where the cell is empty, and their spelling."""
        cells = self.required_cells()
        known = [row for row, cell in enumerate(cells) if not is_missing(cell)]
        found, spelling = read_labels(
            [cells[row] for row in known],
            f"{self.source}, column {self.label!r}",
            lambda place: self.place(known[place]),
        )
        labels = np.zeros(len(cells), dtype=np.int64)
        labels[known] = found
        return labels, spelling

    @property
    def tells_same(self) -> bool:
        """Whether the cells are labels same or different, also with mistakes among them; not preferences or numbers.

        >>> PairTable(Source("games.csv", "csv", None), ("a", "b"), ("b", "c"), ("left", "tie")).tells_same
        False
        """
        plain = {plain_label(cell) for cell in self.required_cells() if not is_missing(cell)}
        return not plain.isdisjoint(SAME) or any(plain <= scheme.keys() for scheme in SCHEMES)

    def outcomes(self) -> tuple[Ints, Mapping[str, int]]:
        """Preferences +1 (left first), −1 (right first), 0 (tie) and their spelling."""
        return read_labels(self.required_cells(), f"{self.source}, column {self.label!r}", self.place, OUTCOMES)

    def labelled(self) -> PairTable:
        """The pairs whose label is not empty; a note says how many were left out."""
        cells = self.cells or ()
        empty = [row for row, cell in enumerate(cells) if is_missing(cell)]
        if not empty:
            return self
        rows = tuple(row for row, cell in enumerate(cells) if not is_missing(cell))
        note = f"{counted(len(empty), 'pair')} without a label left out (column {self.label!r})"
        left, right = (tuple(side[row] for row in rows) for side in (self.left, self.right))
        kept = tuple(cells[row] for row in rows)
        return PairTable(self.source, left, right, kept, self.label, (*self.notes, note), rows)

    def numbers(self) -> Floats:
        """One finite number per pair, (n,)."""
        cells = self.required_cells()
        for row, cell in enumerate(cells):
            if cell is None or not is_number(cell) or not np.isfinite(float(cell)):
                raise InputError(
                    f"{self.source}, {self.place(row)}, column {self.label!r} holds "
                    f"{shortened(cell) if cell else 'nothing'}; give one finite number per pair, or drop the row"
                )
        return np.array([float(cell) for cell in cells if cell is not None])
