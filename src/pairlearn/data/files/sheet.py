"""One face for every table: named columns of text, numbers or vectors, whatever file they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from pairlearn.data.files.arrays import StoredArray, read_arrays
from pairlearn.data.files.bounds import check_names
from pairlearn.data.files.cells import is_missing, plain_text, quoted, shortened
from pairlearn.data.files.frames import load_polars, read_frame
from pairlearn.data.files.sources import Source, find_source
from pairlearn.errors import InputError
from pairlearn.linalg.mapped import row_blocks
from pairlearn.types import Bools, Floats, Ints
from pairlearn.words import counted

if TYPE_CHECKING:
    from pathlib import Path

    import polars

Kind = Literal["text", "numbers", "vectors", "other"]
DECIMAL_COMMA = r"^[+-]?\d+,\d+([eE][+-]?\d+)?$"
HUGE = 1e100
"""Larger numbers cannot be compared: distances and products of pairs are of fourth order."""
SAMPLED = 1000
"""Cells of a text column that decide whether it holds numbers; a later cell that does not is then named."""


TOGETHER = 2048
"""Columns of text that are read together: all of a wide table would take as much memory again."""


class Numbers(NamedTuple):
    """Values of a column, (n, d), NaN where a cell is no number; whether decimal commas were read as points."""

    values: Floats
    commas: bool = False


class Column(Protocol):
    """Cells of one column; `holds` says in words what they are."""

    @property
    def kind(self) -> Kind:
        """Text, numbers, vectors of numbers, or something else."""

    @property
    def holds(self) -> str:
        """What stands in the cells, for messages."""

    def cell(self, row: int) -> object:
        """One cell as it stands in the file."""

    def texts(self) -> list[str | None]:
        """Cells as text, None where they are empty."""

    def numbers(self) -> Numbers:
        """Cells as rows of numbers."""

    def take(self, rows: Ints) -> Any:
        """Some of the cells, to be written again."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table: its source, its columns by name in their order, and notes on how it was read."""

    source: Source
    columns: dict[str, Column]
    rows: int
    notes: list[str] = field(default_factory=list)

    def require(self, names: Iterable[str], advice: str = "") -> None:
        """Refuse a table that lacks a column."""
        for name in names:
            if name not in self.columns:
                raise InputError(f"{self.source} has no column {name!r}; it has {listed(list(self.columns))}{advice}")

    def ids(self, name: str) -> tuple[str, ...]:
        """Ids or classes as text without blanks around it; no cell may be empty."""
        ids = tuple("" if cell is None else cell.strip() for cell in self.columns[name].texts())
        if "" in ids:
            place = self.source.place(ids.index(""))
            raise InputError(f"{self.source}, {place}, column {name!r} is empty; fill it in")
        return ids

    def features(self, names: Sequence[str]) -> Floats:
        """These columns side by side, (n, d): finite numbers, float32 if all of them are, else float64."""
        found = {name: self._numbers(name) for name in names}
        self._refuse_two_marks(found)
        values = [numbers.values for numbers in found.values()]
        return values[0] if len(values) == 1 else np.concatenate(values, axis=1)

    def take(self, rows: Ints) -> dict[str, Any]:
        """Some of the rows with all their columns, as `write_table` takes them."""
        return {name: column.take(rows) for name, column in self.columns.items()}

    def _numbers(self, name: str) -> Numbers:
        """The numbers of a column, all of them finite and none huge."""
        numbers = self.columns[name].numbers()
        self._refuse_bad(name, numbers.values)
        self._refuse_huge(name, numbers.values)
        return numbers

    def _refuse_bad(self, name: str, values: Floats) -> None:
        bad = _rows_where(values, lambda part: np.asarray(~np.isfinite(part).all(axis=1)))
        if not len(bad):
            return
        row, count = int(bad[0]), counted(len(bad), "bad cell")
        place, cell = f"{self.source}, {self.source.place(row)}, column {name!r}", self.columns[name].cell(row)
        if is_missing(cell):
            raise InputError(f"{place} is missing ({count} in this column); impute it or drop the row")
        if self.columns[name].kind == "vectors":
            raise InputError(f"{place} {_flaw(values[row])} ({count} in this column); correct it or drop the row")
        raise InputError(
            f"{place} holds {shortened(cell)}, which is not a finite number ({count} in this column); correct it, "
            f"leave the column out (--drop {quoted([name])}), or say what it is (--class-column, --id-column)"
        )

    def _refuse_huge(self, name: str, values: Floats) -> None:
        huge = _rows_where(values, lambda part: np.abs(part).max(axis=1).astype(np.float64) > HUGE)
        if len(huge):
            place = self.source.place(int(huge[0]))
            raise InputError(
                f"{self.source}, {place}, column {name!r} holds a number beyond {HUGE:g}, too large to compare; scale "
                "the column, or correct the cell"
            )

    def _refuse_two_marks(self, found: dict[str, Numbers]) -> None:
        """1,5 beside 1.5 in one table: one of the points may part thousands."""
        commas = [name for name, numbers in found.items() if numbers.commas]
        points = [name for name in found if name not in commas] if commas else []
        points = [name for name in points if any("." in (cell or "") for cell in self.columns[name].texts())]
        if commas and points:
            raise InputError(
                f"{self.source}: column {commas[0]!r} has decimal commas and column {points[0]!r} has points; write "
                "the numbers of a table in one way"
            )
        if commas:
            self.notes.append("decimal commas read as points")


def read_sheet(path: str | Path | Source) -> Sheet:
    """The table of a file, or of standard input if the path is -."""
    source = find_source(path)
    if source.format in ("npz", "npy"):
        return _sheet_of_arrays(source, read_arrays(source))
    frame = read_frame(source)
    columns: dict[str, Column] = {
        name: SeriesColumn(frame.table[name], read, frame.delimiter) for name, read in _as_numbers(frame.table).items()
    }
    return Sheet(source, columns, frame.table.height, frame.notes())


def _as_numbers(table: polars.DataFrame) -> dict[str, polars.Series | None]:
    """Columns of text read as numbers, many at once: asking Polars column by column takes minutes for wide tables."""
    pl = load_polars()
    text = [name for name, dtype in table.schema.items() if dtype == pl.String]
    found: dict[str, polars.Series | None] = dict.fromkeys(table.columns)
    for first in range(0, len(text), TOGETHER):
        some = pl.col(text[first : first + TOGETHER])
        read = table.select(some.str.strip_chars().cast(pl.Float64, strict=False))
        found |= zip(read.columns, read.get_columns(), strict=True)
    return found


def _sheet_of_arrays(source: Source, arrays: dict[str, StoredArray]) -> Sheet:
    """Arrays as columns: one dimension is a column of cells, two are vectors; scalars are no columns."""
    check_names(source, arrays)
    lengths = {name: array.shape[0] for name, array in arrays.items() if array.shape}
    if not lengths:
        raise InputError(f"{source} holds no arrays with rows; save them with np.savez(path, X=X, ids=ids)")
    rows = lengths.get("X", max(lengths.values()))
    for name, length in lengths.items():
        if length != rows:
            raise InputError(
                f"{source}: {shortened(name)} has {counted(length, 'entry')} for {counted(rows, 'row')}; give one per "
                "row"
            )
    if rows == 0:
        raise InputError(f"{source} holds arrays without rows; add some")
    return Sheet(source, {name: ArrayColumn(arrays[name]) for name in lengths}, rows)


def _rows_where(values: Floats, is_so: Callable[[Floats], Bools]) -> Ints:
    """Numbers of the rows of which this is so, asked of some after the other: a table may be larger than memory."""
    return np.concatenate([part.start + np.flatnonzero(is_so(values[part])) for part in row_blocks(values)])


def _flaw(vector: Floats) -> str:
    """What is wrong with a vector of a column; one of another length was read as NaN throughout."""
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad) == len(vector):
        return f"is not a list of {len(vector)} numbers as most others are"
    return f"holds {vector[bad[0]]} at place {bad[0]} of its list, not a finite number"


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names for a message, the middle ones left out if they are many."""
    few = names if len(names) <= most else [*names[: most - 2], names[-1]]
    shown = [shortened(name) for name in few]
    return ", ".join(shown if len(names) <= most else [*shown[:-1], "…", shown[-1]])


# --------------------------------------------------------------------------- columns of NumPy files


@dataclass(frozen=True, eq=False)
class ArrayColumn:
    """A column of an .npz file, loaded when its cells are asked for."""

    stored: StoredArray

    @cached_property
    def array(self) -> np.ndarray[Any, Any]:
        """The cells."""
        return self.stored.load()

    @property
    def kind(self) -> Kind:
        """Two dimensions of numbers are vectors, if they have any."""
        shape, dtype = self.stored.shape, self.stored.dtype
        if dtype.kind in "biuf" and all(shape):
            return {1: "numbers", 2: "vectors"}.get(len(shape), "other")  # type: ignore[return-value]
        return "text" if dtype.kind in "US" and len(shape) == 1 else "other"

    @property
    def holds(self) -> str:
        """Shape and type."""
        return f"an array {self.stored.shape} of {shortened(self.stored.dtype)}"

    def cell(self, row: int) -> object:
        """One entry."""
        if self.kind == "other":
            return self.holds
        entry = self.array[row]
        if self.kind != "vectors":
            return entry
        bad = ~np.isfinite(entry)
        return entry[bad][0] if bad.any() else entry

    def texts(self) -> list[str | None]:
        """Entries as text; an array that is no column has none."""
        if self.kind not in ("text", "numbers"):
            return [None] * self._rows()
        try:
            array = np.char.decode(self.array, "utf-8") if self.array.dtype.kind == "S" else self.array
            return [plain_text(value) for value in array.tolist()]
        except ValueError as error:
            raise InputError(f"{self.stored} holds text that is not UTF-8; save it as strings (dtype=str)") from error

    def numbers(self) -> Numbers:
        """The array itself where it is of float32 or float64."""
        if self.kind not in ("numbers", "vectors"):
            return Numbers(np.full((self._rows(), 1), np.nan))
        with np.errstate(over="ignore"):
            array = self.array if self.array.dtype in (np.float32, np.float64) else self.array.astype(np.float64)
        return Numbers(array.reshape(len(array), -1))

    def _rows(self) -> int:
        """How many entries there are; nobody can tell of objects without loading them."""
        return self.stored.shape[0] if not self.stored.dtype.hasobject else len(self.array)

    def take(self, rows: Ints) -> Any:
        """Some of the entries."""
        return self.array[rows]


# --------------------------------------------------------------------------- columns of tables


@dataclass(frozen=True, eq=False)
class SeriesColumn:
    """A column of a text, JSON or Parquet table; `read` are its cells as numbers if they are text."""

    series: polars.Series
    read: polars.Series | None = None
    delimiter: str = ","

    @cached_property
    def kind(self) -> Kind:
        """Text that reads as numbers is numbers, and [1, 2] is a vector."""
        pl = load_polars()
        dtype = self.series.dtype
        if isinstance(dtype, (pl.List, pl.Array)):
            return "vectors" if dtype.inner.is_numeric() else "other"
        if dtype.is_numeric() or dtype == pl.Boolean:
            return "numbers"
        if self.read is not None:
            return self._kind_of_text(self.read)
        return "text" if dtype in (pl.Categorical, pl.Enum) else "other"

    def _kind_of_text(self, read: polars.Series) -> Kind:
        there = len(read) - self.series.null_count()
        if not there or read.null_count() == self.series.null_count():
            return "numbers" if there else "text"
        if str(self._first()).lstrip().startswith("["):
            return "vectors"
        cells = [cell for cell in self.series.head(SAMPLED).to_list() if not is_missing(cell)]
        numbers = np.isfinite(self._numbers_of_text(read).values[:SAMPLED]).sum()
        return "numbers" if 2 * numbers >= max(len(cells), 1) else "text"

    @property
    def holds(self) -> str:
        """The kind of cells, with the first of them."""
        pl = load_polars()
        if self._first() is None:
            return "nothing"
        if self.series.dtype in (pl.Date, pl.Datetime, pl.Time, pl.Duration):
            return f"dates or times such as {shortened(self._first())}"
        words = "text" if self.kind == "text" else f"{self.series.dtype} values"
        return f"{words} such as {shortened(self._first())}"

    def _first(self) -> object:
        there = self.series.null_count() < len(self.series)
        return self.series.drop_nulls().first() if there else None

    def cell(self, row: int) -> object:
        """One cell as it stands in the file."""
        return self.series[row]

    def texts(self) -> list[str | None]:
        """Cells as text."""
        return [plain_text(value) for value in self.series.to_list()]

    def numbers(self) -> Numbers:
        """Cells as numbers, true and false as 1 and 0; NaN throughout where they are neither numbers nor vectors."""
        pl = load_polars()
        if self.kind == "vectors":
            return Numbers(_vectors(self.series))
        if self.read is not None:
            return self._numbers_of_text(self.read)
        if self.kind != "numbers":
            return Numbers(np.full((len(self.series), 1), np.nan))
        numeric = pl.Float32 if self.series.dtype == pl.Float32 else pl.Float64
        return _column_of(self.series.cast(numeric, strict=False))

    def take(self, rows: Ints) -> Any:
        """Some of the cells; decimal commas become points where all are numbers, and text stays what it is."""
        if self.read is not None and self.delimiter != ",":
            numbers = self.numbers()
            if numbers.commas and np.isfinite(numbers.values[self.series.is_not_null().to_numpy(), 0]).all():
                return numbers.values[rows, 0]
        return self.series.gather(rows)

    def _numbers_of_text(self, read: polars.Series) -> Numbers:
        """The cells as they were read; if some could not be: as true and false, or with decimal commas."""
        pl = load_polars()
        if read.null_count() == self.series.null_count():
            return _column_of(read)
        cells = self.series.str.strip_chars()
        lower = cells.str.to_lowercase()
        if lower.is_in(["true", "false"]).all():
            return _column_of((lower == "true").cast(pl.Float64))
        commas = self.delimiter != "," and bool(cells.str.contains(DECIMAL_COMMA).any())
        if not commas:
            return _column_of(read)
        return _column_of(cells.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False), commas=True)


def _column_of(series: polars.Series, *, commas: bool = False) -> Numbers:
    """Numbers as one column, NaN for null."""
    return Numbers(series.to_numpy().reshape(-1, 1), commas)


def _vectors(series: polars.Series) -> Floats:
    """(n, d); rows that are no vector, or of another length than most, are NaN."""
    pl = load_polars()
    if series.dtype == pl.String:
        return _vectors_of_text(series.to_list())
    if isinstance(series.dtype, pl.Array):
        series = series.arr.to_list()
    lengths = series.list.len().fill_null(0).to_numpy()
    if len(set(lengths.tolist())) > 1 or not lengths[0]:
        return _vectors_of_lists(series.to_list())
    inner = pl.Float32 if series.dtype.inner == pl.Float32 else pl.Float64  # type: ignore[attr-defined]
    return series.explode().cast(inner, strict=False).to_numpy().reshape(len(series), -1)


def _vectors_of_text(cells: Sequence[str | None]) -> Floats:
    """Lists written as text, with commas or blanks between the numbers."""
    split = [re.sub(r"[\[\],]", " ", cell or "").split() for cell in cells]
    return _vectors_of_lists(split)


def _vectors_of_lists(rows: Sequence[Any]) -> Floats:
    """Rows of the most frequent length; all others are NaN, so that a message can name the first of them."""
    lengths = np.array([len(row) if row is not None else 0 for row in rows])
    d = int(np.bincount(lengths).argmax()) if len(rows) else 0
    found = np.full((len(rows), max(d, 1)), np.nan)
    for place, row in enumerate(rows):
        if row is not None and len(row) == d > 0:
            try:
                found[place] = np.asarray(row, dtype=np.float64)
            except (TypeError, ValueError):
                continue
    return found
