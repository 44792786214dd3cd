"""`Records`: a table of cells with ids, whatever it comes from, and pairs of records by reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from pairlearn.data.files.cells import plain_text, shortened
from pairlearn.data.files.sheet import Sheet, listed, read_sheet
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError
from pairlearn.features import is_frame
from pairlearn.pairs import find_rows, rows_by_id
from pairlearn.pairs.columns import as_index
from pairlearn.records.cells import known, place
from pairlearn.types import Bools, Ints
from pairlearn.words import counted

IDS = ("id", "ids", "key", "rec_id", "record_id", "rowid", "row_id", "uid", "uuid", "identifier")
"""Names that mean ids when nothing else was said."""
LATITUDE, LONGITUDE = ("lat", "latitude"), ("lon", "lng", "long", "longitude")
Cells = tuple[str | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """Rows of named cells, all of them text (None: missing), each row with an id.

    `Records.of` takes a file, a data frame, columns by name or a list of rows.

    >>> beers = Records.of({"id": [7, 8], "name": ["Red Ale", None], "abv": [5.6, 4.0]})
    >>> beers, beers.ids, beers.columns["abv"]
    (Records(2 records: name, abv), ('7', '8'), ('5.6', '4'))
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Cells]
    source: str = "records"
    notes: tuple[str, ...] = ()
    id_column: str | None = field(default=None)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Records({counted(len(self), 'record')}: {', '.join(self.columns)})"

    @classmethod
    def of(cls, table: Any, id_column: str | None = None, drop: Sequence[str] = ()) -> Records:
        """Records from a path, a Sheet, a data frame, {name: cells} or [{name: cell}, …]; ids in `id_column`.

        Without a word ids are a column of a usual name (id, rec_id, key, …), else rows are numbered 0, 1, …
        """
        if isinstance(table, Records):
            return table
        name, given, notes = _columns_of(table)
        columns = _with_places(_stripped(given, name))
        if not columns:
            raise InputError(f"{name} has no columns; give one row per record")
        missing = [column for column in (*drop, *([id_column] if id_column else [])) if column not in columns]
        if missing:
            raise InputError(f"{name} has no column {missing[0]!r}; it has {listed(list(columns))}")
        ids = id_column or _id_column(columns)
        n = len(next(iter(columns.values())))
        keys = tuple(str(row) for row in range(n)) if ids is None else _unique(columns[ids], ids, name)
        notes += [] if ids else ["rows are numbered 0, 1, …, for no column is called id; name one with --id-column"]
        kept = {column: cells for column, cells in columns.items() if column != ids and column not in drop}
        return cls(keys, kept, name, tuple(notes), ids)

    @cached_property
    def row_of(self) -> dict[Any, int]:
        """The row of every id."""
        return rows_by_id(self.ids)

    def take(self, rows: Any) -> Records:
        """Some of the records."""
        chosen = np.asarray(rows)
        cells = {name: tuple(column[row] for row in chosen) for name, column in self.columns.items()}
        return Records(tuple(self.ids[row] for row in chosen), cells, self.source, (), self.id_column)

    def show(self, row: int) -> dict[str, str | None]:
        """One record."""
        return {name: cells[row] for name, cells in self.columns.items()}


class RecordPairs:
    """n pairs of records: the tables by reference and two columns of row numbers; slicing copies numbers only.

    `right` is None if both sides are of one table.

    >>> beers = Records.of({"id": ["a", "b", "c"], "name": ["Red", "red", "Pale"]})
    >>> pairs = RecordPairs.from_ids(beers, None, ["a", "a"], ["b", "c"])
    >>> len(pairs), pairs[[1]].right_rows.tolist()
    (2, [2])
    """

    def __init__(self, left: Records, right: Records | None, left_rows: Any, right_rows: Any) -> None:
        self.left, self.right = left, right
        self.left_rows: Ints = np.asarray(left_rows, dtype=np.int64)
        self.right_rows: Ints = np.asarray(right_rows, dtype=np.int64)
        if self.left_rows.shape != self.right_rows.shape or self.left_rows.ndim != 1:
            raise InputError("pairs are two columns of one length; give one left and one right record each")
        for table in (left, self.right_table):
            if not isinstance(table, Records):
                raise InputError(f"pairs are of pl.Records, got {type(table).__name__}; make them by pl.Records.of(…)")
        for rows, table in ((self.left_rows, left), (self.right_rows, self.right_table)):
            if len(rows) and not 0 <= rows.min() <= rows.max() < len(table):
                raise InputError(f"row numbers must be from 0 to {len(table) - 1:,}, those of {table.source}")

    @classmethod
    def from_ids(cls, left: Records, right: Records | None, left_ids: Iterable[Any], right_ids: Iterable[Any]) -> Self:
        """Pairs by ids, text or numbers."""
        other = left if right is None else right
        (a,) = find_rows(left.row_of, _as_text(left_ids))
        (b,) = find_rows(other.row_of, _as_text(right_ids))
        return cls(left, right, a, b)

    @property
    def right_table(self) -> Records:
        """The table that `right_rows` points into."""
        return self.left if self.right is None else self.right

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, 2), as scikit-learn expects of an array."""
        return (len(self), 2)

    def __len__(self) -> int:
        return len(self.left_rows)

    def __repr__(self) -> str:
        return f"RecordPairs({counted(len(self), 'pair')} of {self.left!r})"

    def __getitem__(self, key: Any) -> RecordPairs:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        index = as_index(key, len(self))
        return RecordPairs(self.left, self.right, self.left_rows[index], self.right_rows[index])

    @property
    def ids(self) -> tuple[list[str], list[str]]:
        """Ids of both sides."""
        return (
            [self.left.ids[row] for row in self.left_rows],
            [self.right_table.ids[row] for row in self.right_rows],
        )

    @property
    def names(self) -> tuple[Ints, Ints]:
        """Numbers that name the records of both sides; those of a right table come after the left ones."""
        return self.left_rows, self.right_rows + (0 if self.right is None else len(self.left))

    @property
    def reflexive(self) -> Bools:
        """Which pairs are of a record with itself; none where the sides are of two tables."""
        return (self.left_rows == self.right_rows) & (self.right_table is self.left)

    @property
    def keys(self) -> Ints:
        """One number per pair; (a, b) and (b, a) of one table have the same."""
        left, right = self.names
        n = len(self.left) + len(self.right_table)
        return np.minimum(left, right) * n + np.maximum(left, right)


# --------------------------------------------------------------------------- from anything to columns


def _as_text(ids: Iterable[Any]) -> list[Any]:
    return [(plain_text(key.item() if hasattr(key, "item") else key) or "").strip() for key in ids]


def _columns_of(table: Any) -> tuple[str, Mapping[str, Sequence[Any]], list[str]]:
    """Name, columns and notes of whatever was given."""
    if isinstance(table, (str, Path, Source)):
        table = read_sheet(table)
    if isinstance(table, Sheet):
        cells = {name: column.texts() for name, column in table.columns.items()}
        return str(table.source), cells, list(table.notes)
    if isinstance(table, Mapping):
        return "records", {str(name): list(cells) for name, cells in table.items()}, []
    if is_frame(table):
        return "records", {str(name): list(table[name]) for name in table.columns}, []
    rows = list(table) if isinstance(table, Iterable) else [table]
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "records are a file, a data frame, {name: cells} or a list of {name: cell}, got "
            f"{shortened(type(rows[0]).__name__) if rows else 'nothing'}"
        )
    texts = [{str(name): cell for name, cell in row.items()} for row in rows]  # names may be numbers
    names = dict.fromkeys(name for row in texts for name in row)
    return "records", {name: [row.get(name) for row in texts] for name in names}, []


def _stripped(columns: Mapping[str, Sequence[Any]], source: str) -> dict[str, Cells]:
    """Names and cells without blanks around them; all columns of one length."""
    found: dict[str, Cells] = {}
    for name, cells in columns.items():
        bare = name.strip()
        if bare in found:
            raise InputError(f"{source} has two columns called {bare!r}; rename one")
        found[bare] = tuple(known(plain_text(cell)) for cell in cells)
    lengths = {len(cells) for cells in found.values()}
    if len(lengths) > 1:
        raise InputError(f"{source} has columns of different lengths, {sorted(lengths)}; give one cell per record")
    if lengths == {0}:
        raise InputError(f"{source} has no rows; add some")
    return found


def _with_places(columns: dict[str, Cells]) -> dict[str, Cells]:
    """Latitude and longitude in two columns become one column of places."""
    by_name = {name.lower(): name for name in columns}
    one, other = (next((by_name[n] for n in names if n in by_name), None) for names in (LATITUDE, LONGITUDE))
    if one is None or other is None:
        return columns
    joined = [f"{a}, {b}" if a and b else None for a, b in zip(columns[one], columns[other], strict=True)]
    if not any(place(cell)[0] == place(cell)[0] for cell in joined):
        return columns
    kept = {name: cells for name, cells in columns.items() if name not in (one, other)}
    return {**kept, f"{one}, {other}": tuple(joined)}


def _id_column(columns: Mapping[str, Cells]) -> str | None:
    """The first column of a usual name; another name that ends in id only if its cells all differ."""
    usual = next((name for name in columns if name.lower() in IDS), None)
    first = next(iter(columns))
    if usual is None and first.lower().replace(" ", "_").endswith(("_id", "id")):
        cells = columns[first]
        return first if None not in cells and len(set(cells)) == len(cells) else None
    return usual


def _unique(cells: Cells, name: str, source: str) -> tuple[str, ...]:
    """Ids, if none is missing or occurs twice."""
    seen: dict[str, int] = {}
    for row, key in enumerate(cells):
        if key is None:
            raise InputError(f"{source}, row {row}: the id (column {name!r}) is empty; fill it in")
        if seen.setdefault(key, row) != row:
            raise InputError(
                f"{source}: the id {shortened(key)} (column {name!r}) stands in rows {seen[key]} and {row}; ids must "
                "be unique: remove one row, or name another column with --id-column"
            )
    return tuple(seen)
