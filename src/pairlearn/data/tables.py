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
from pairlearn.data.texts import Numerals, Texts
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.pairs import Pairs, rows_by_id
from pairlearn.pairs.ids import missing_words
from pairlearn.types import Floats, Ints
from pairlearn.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class ExampleTable:
    """Examples with their ids and, if the file has them, their classes.

    `source` is the file, `layout` what was taken from it, `notes` how it was read, for messages; `parts` are how many
    numbers of a row belong to each part, by name, where parts were asked for.

    >>> table = ExampleTable("faces.csv", np.eye(2), ("ann", "bob"))
    >>> table
    ExampleTable(faces.csv: 2 examples)
    """

    source: str
    examples: Floats
    ids: Sequence[str]
    classes: tuple[str, ...] | None = None
    layout: Layout | None = None
    notes: tuple[str, ...] = ()
    parts: tuple[tuple[str, int], ...] = ()

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f" of {counted(len(set(self.classes)), 'class')}"
        return f"ExampleTable({self.source}: {counted(len(self.ids), 'example')}{classes})"

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of every id."""
        return rows_by_id(self.ids)

    def find(self, names: Sequence[str]) -> Ints:
        """The row of each of these ids, −1 where there is none, (n,); numbers of rows are found without a look-up.

        >>> ExampleTable("faces.npy", np.eye(3), Numerals(range(3))).find(Numerals(np.array([2, 3]))).tolist()
        [2, -1]
        """
        if isinstance(self.ids, Numerals) and isinstance(names, Numerals) and isinstance(self.ids.values, range):
            numbers = np.asarray(names.values, dtype=np.int64)
            return np.where((numbers >= 0) & (numbers < len(self.ids)), numbers, -1)
        return np.fromiter((self.rows.get(name, -1) for name in names), dtype=np.int64, count=len(names))

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
        named = self.right is None and not isinstance(self.table.ids, Numerals)
        return Pairs(self.table.examples, [0], [0], right_examples=other, ids=self.table.ids if named else None)

    def __call__(self, pairs: PairTable) -> Pairs:
        """These pairs, or an error with the ids that are not among the examples and where the first of them stands."""
        sides = ((pairs.left, self.table), (pairs.right, self.right or self.table))
        found = [table.find(column.distinct) for column, table in sides]
        if any((rows < 0).any() for rows in found):
            raise self._missing(pairs, [(column, rows) for (column, _), rows in zip(sides, found, strict=True)])
        left, right = (rows[column.codes] for (column, _), rows in zip(sides, found, strict=True))
        return self._pairs.with_columns(left, right)

    def _missing(self, pairs: PairTable, found: list[tuple[Texts, Ints]]) -> MissingIdsError:
        """Which ids have no row, and where the first of them stands."""
        lacking = [(column, np.flatnonzero(rows < 0).tolist()) for column, rows in found if (rows < 0).any()]
        named = (column.distinct[code] for column, codes in lacking for code in codes)
        missing: list[object] = list(dict.fromkeys(named))
        place = pairs.place(min(column.first(codes[0]) for column, codes in lacking))
        tables = self.table.source if self.right is None else f"{self.table.source} and {self.right.source}"
        return MissingIdsError(
            f"{pairs.source} ({place}) with {tables}: {missing_words(missing)}; add their rows or drop these pairs",
            missing,
        )
