"""Tables in text, JSON lines and Parquet files, read by Polars, which is imported only when one is read."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pairlearn.data.files.arrays import read_arrays
from pairlearn.data.files.delimited import DELIMITERS, check_header, find_delimiter, refuse_ragged, rows_of
from pairlearn.data.files.sources import ENDINGS, Source
from pairlearn.errors import InputError

if TYPE_CHECKING:
    import polars


class Frame(NamedTuple):
    """A table with at least one row, and what stood between its columns (a comma where nothing did)."""

    table: polars.DataFrame
    delimiter: str = ","

    def notes(self) -> list[str]:
        """What a reader would want to know about how the table was read."""
        return [] if self.delimiter == "," else [f"read with {DELIMITERS[self.delimiter]} between columns"]


def load_polars() -> Any:
    """The module, or how to install it."""
    try:
        import polars
    except ImportError as error:
        raise ImportError("reading and writing tables needs Polars: pip install 'pairlearn[cli]'") from error
    return polars


def column_names(source: Source) -> list[str]:
    """The names of the columns, from the head of the file alone."""
    if source.format in ("csv", "tsv"):
        return next((row for _, row in rows_of(source, find_delimiter(source)) if row), [])
    if source.format == "parquet":
        return _read_parquet_names(source)
    if source.format in ("npz", "npy"):
        return list(read_arrays(source))
    return read_frame(source).table.columns


def read_frame(source: Source) -> Frame:
    """The table of a source.

    Cells of text files stay text: ids such as 007 stay as written, and a message can name the cell that is no number.
    """
    read = {
        "csv": _read_text,
        "tsv": _read_text,
        "jsonl": _read_json_lines,
        "parquet": _read_parquet,
        "npz": _read_npz,
    }
    if source.format not in read:
        raise InputError(f"cannot read {source} as a table; its name must end in one of {ENDINGS}")
    frame = read[source.format](source)
    if frame.table.height == 0:
        raise InputError(f"{source} has a header but no rows; add some")
    return frame


def _read_text(source: Source) -> Frame:
    pl = load_polars()
    delimiter = find_delimiter(source)
    check_header(source, delimiter)
    try:
        with source.open() as file:
            table = pl.read_csv(file, infer_schema=False, separator=delimiter)
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        refuse_ragged(source, delimiter)
        raise InputError(f"{source} is not a readable table: {_first_line(error)}") from error
    # Polars fills up short lines; an empty last cell may be one of these, so the lines are counted.
    if table.width and table[table.columns[-1]].null_count():
        refuse_ragged(source, delimiter)
    return Frame(table, delimiter)


def _read_json_lines(source: Source) -> Frame:
    pl = load_polars()
    try:
        with source.open() as file:
            return Frame(pl.read_ndjson(file, infer_schema_length=None))
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        _refuse_bad_json(source)
        raise InputError(f"{source} is not a readable table of JSON lines: {_first_line(error)}") from error


def _refuse_bad_json(source: Source) -> None:
    """Name the first line that is not an object."""
    with source.open() as file:
        for number, line in enumerate(io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace"), start=1):
            if not line.strip():
                continue
            try:
                good = isinstance(json.loads(line), dict)
            except (ValueError, RecursionError):
                good = False
            if not good:
                raise InputError(f'{source}: line {number} is not a JSON object such as {{"id": "a", "x": 0.5}}')


def _read_parquet(source: Source) -> Frame:
    pl = load_polars()
    try:
        with source.open() as file:
            return Frame(pl.read_parquet(file))
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        raise _not_parquet(source, error) from error


def _read_parquet_names(source: Source) -> list[str]:
    pl = load_polars()
    try:
        with source.open() as file:
            return list(pl.read_parquet_schema(file))
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        raise _not_parquet(source, error) from error


def _not_parquet(source: Source, error: Exception) -> InputError:
    return InputError(f"{source} is not a readable Parquet file: {_first_line(error)}")


def _read_npz(source: Source) -> Frame:
    """The arrays of one dimension, as columns."""
    columns = {name: array for name, array in read_arrays(source).items() if array.ndim == 1}
    if len({len(array) for array in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(array):,}" for name, array in columns.items())
        raise InputError(f"{source} holds columns of different lengths, {lengths}; give one entry per row")
    return Frame(load_polars().DataFrame(columns))


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
