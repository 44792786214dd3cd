"""Tables as they were read: examples with ids and classes, pairs with ids and labels, and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pairlearn.data.files.cells import is_missing, is_number, shortened
from pairlearn.data.files.sources import Source
from pairlearn.data.labels import OUTCOMES, SAME, SCHEMES, plain_label, read_labels
from pairlearn.data.layout import Layout
from pairlearn.data.texts import Texts
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
    """Ids of both sides of every pair and, if the file has them, the cells of its label column, "" where one is empty.

    What the cells mean depends on the task: `labels` reads them as same or different, `outcomes` as who comes first,
    `numbers` as a value per pair. `rows` are the rows of the file, where some were left out; `first` is the row of the
    first pair, where pairs before it were read apart.
    """

    source: Source
    left: Texts
    right: Texts
    cells: Texts | None = None
    label: str = "label"
    notes: tuple[str, ...] = ()
    rows: Ints | None = None
    first: int = 0

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        labelled = "no labels" if self.cells is None else "labelled"
        return f"PairTable({self.source}: {counted(len(self), 'pair')}, {labelled})"

    def on(self, table: ExampleTable, right: ExampleTable | None = None) -> Pairs:
        """These pairs joined to their examples; `right` holds the right ones, if they have their own table."""
        return Join(table, right)(self)

    def place(self, row: int) -> str:
        """Where a pair stands in the file."""
        return self.source.place(self.first + row if self.rows is None else int(self.rows[row]))

    def required_cells(self) -> Texts:
        """The cells of the label column, or what to do if there is none."""
        if self.cells is None:
            raise InputError(f"{self.source} has no column {self.label!r}; name the labels with --label-column")
        return self.cells

    def _meant(
        self, schemes: Sequence[dict[str, int]] = SCHEMES, *, missing: bool = False
    ) -> tuple[Ints, dict[str, int]]:
        """What every cell means, 0 where it is empty if some may be `missing`, and the spelling."""
        cells = self.required_cells()
        known = [code for code, text in enumerate(cells.distinct) if not (missing and is_missing(text))]
        found, spelling = read_labels(
            [cells.distinct[code] for code in known],
            f"{self.source}, column {self.label!r}",
            lambda place: self.place(cells.first(known[place])),
            schemes,
        )
        meanings = np.zeros(len(cells.distinct), dtype=np.int64)
        meanings[known] = found
        return meanings[cells.codes], spelling

    @cached_property
    def _read(self) -> tuple[Ints, dict[str, int]]:
        return self._meant()

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
        return self._meant(missing=True)

    @property
    def tells_same(self) -> bool:
        """Whether the cells are labels same or different, also with mistakes among them; not preferences or numbers.

        >>> names = Texts.of(("a", "b"))
        >>> PairTable(Source("games.csv", "csv", None), names, names, Texts.of(("left", "tie"))).tells_same
        False
        """
        plain = {plain_label(cell) for cell in self.required_cells().distinct if not is_missing(cell)}
        return not plain.isdisjoint(SAME) or any(plain <= scheme.keys() for scheme in SCHEMES)

    def outcomes(self) -> tuple[Ints, Mapping[str, int]]:
        """Preferences +1 (left first), −1 (right first), 0 (tie) and their spelling."""
        return self._meant(OUTCOMES)

    def labelled(self) -> PairTable:
        """The pairs whose label is not empty; a note says how many were left out."""
        if self.cells is None:
            return self
        there = np.array([not is_missing(text) for text in self.cells.distinct])[self.cells.codes]
        if there.all():
            return self
        rows = np.flatnonzero(there)
        note = f"{counted(len(there) - len(rows), 'pair')} without a label left out (column {self.label!r})"
        left, right, cells = (column.take(rows) for column in (self.left, self.right, self.cells))
        return PairTable(self.source, left, right, cells, self.label, (*self.notes, note), rows)

    def numbers(self) -> Floats:
        """One finite number per pair, (n,)."""
        cells = self.required_cells()
        for code, cell in enumerate(cells.distinct):
            if not is_number(cell) or not np.isfinite(float(cell)):
                raise InputError(
                    f"{self.source}, {self.place(cells.first(code))}, column {self.label!r} holds "
                    f"{shortened(cell) if cell else 'nothing'}; give one finite number per pair, or drop the row"
                )
        return np.array([float(cell) for cell in cells.distinct])[cells.codes]


@dataclass(frozen=True, eq=False)
class Join:
    """Examples to which tables of pairs are joined, one after the other: examples are checked and ids noted once.

    `right` holds the right ones, if they have their own table.

    >>> examples = ExampleTable("faces.csv", np.eye(2), ("ann", "bob"))
    >>> both = PairTable(Source("pairs.csv", "csv", None), Texts.of(["ann"]), Texts.of(["bob"]))
    >>> Join(examples)(both).columns
    (array([0], dtype=int32), array([1], dtype=int32))
    """

    table: ExampleTable
    right: ExampleTable | None = None

    @cached_property
    def _pairs(self) -> Pairs:
        """A pair of these tables, whose examples are checked; all others share them."""
        other = None if self.right is None else self.right.examples
        ids = self.table.ids if self.right is None else None
        return Pairs(self.table.examples, [0], [0], right_examples=other, ids=ids)

    @cached_property
    def _rows(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        left = rows_by_id(self.table.ids)
        return left, left if self.right is None else rows_by_id(self.right.ids)

    def __call__(self, pairs: PairTable) -> Pairs:
        """These pairs, or an error with the ids that are not among the examples and where the first of them stands."""
        left, right = self._rows
        try:
            if self.right is None:
                found = find_rows(left, pairs.left.distinct, pairs.right.distinct)
            else:
                found = [*find_rows(left, pairs.left.distinct), *find_rows(right, pairs.right.distinct)]
        except MissingIdsError as error:
            tables = self.table.source if self.right is None else f"{self.table.source} and {self.right.source}"
            row = min(
                column.first(code)
                for column, rows in ((pairs.left, left), (pairs.right, right))
                for code, text in enumerate(column.distinct)
                if text not in rows
            )
            where = f"{pairs.source} ({pairs.place(row)})"
            raise MissingIdsError(f"{where} with {tables}: {error}", error.missing) from None
        return self._pairs.with_columns(found[0][pairs.left.codes], found[1][pairs.right.codes])
