"""Tables in text, JSON lines and Parquet files, read by Polars, which is imported only when one is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pairlearn.data.files.arrays import read_arrays
from pairlearn.data.files.bounds import check_names
from pairlearn.data.files.cells import shortened
from pairlearn.data.files.delimited import (
    DELIMITERS,
    check_header,
    check_lines,
    find_delimiter,
    header_of,
    refuse_ragged,
)
from pairlearn.data.files.jsonlines import check_json_lines, refuse_bad_json
from pairlearn.data.files.parquet import check_parquet
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
        return list(told_delimiter(self.delimiter))


def told_delimiter(delimiter: str) -> tuple[str, ...]:
    """What stands between columns, if it is no comma."""
    return () if delimiter == "," else (f"read with {DELIMITERS[delimiter]} between columns",)


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
        return header_of(source, find_delimiter(source))
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
    check_names(source, frame.table.columns)
    if frame.table.height == 0:
        raise InputError(f"{source} has a header but no rows; add some")
    return frame


def _read_text(source: Source) -> Frame:
    delimiter = find_delimiter(source)
    header = header_of(source, delimiter)
    check_header(source, header)
    check_lines(source, delimiter, len(header))
    with foreign(source, "table") as pl, source.open() as file:
        try:
            table = pl.read_csv(file, infer_schema=False, separator=delimiter)
        except pl.exceptions.PolarsError:
            refuse_ragged(source, delimiter)
            raise
    if table.width == len(header):  # Polars leaves doubled quotes in names as they are
        table = table.rename(dict(zip(table.columns, header, strict=True)))
    # Polars fills up short lines; an empty last cell may be one of these, so the lines are counted.
    if table.width and table[table.columns[-1]].null_count():
        refuse_ragged(source, delimiter)
    return Frame(table, delimiter)


def _read_json_lines(source: Source) -> Frame:
    check_json_lines(source)
    with foreign(source, "table of JSON lines") as pl, source.open() as file:
        try:
            return Frame(pl.read_ndjson(file, infer_schema_length=None))
        except pl.exceptions.PolarsError:
            refuse_bad_json(source)
            raise


def _read_parquet(source: Source) -> Frame:
    check_parquet(source)
    with foreign(source, "Parquet file") as pl, source.open() as file:
        return Frame(pl.read_parquet(file))


def _read_parquet_names(source: Source) -> list[str]:
    check_parquet(source, streamed=True)
    with foreign(source, "Parquet file") as pl, source.open() as file:
        return list(pl.read_parquet_schema(file))


def _read_npz(source: Source) -> Frame:
    """The arrays of one dimension, as columns."""
    columns = {name: array for name, array in read_arrays(source).items() if len(array.shape) == 1}
    if len({array.shape for array in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {array.shape[0]:,}" for name, array in columns.items())
        raise InputError(f"{source} holds columns of different lengths, {lengths}; give one entry per row")
    with foreign(source, "table of arrays") as pl:
        return Frame(pl.DataFrame({name: array.load() for name, array in columns.items()}))


@contextmanager
def foreign(source: Source, what: str) -> Iterator[Any]:
    """Polars, at work on a file: whatever it raises becomes an error of ours, a panic too."""
    pl = load_polars()
    try:
        yield pl
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{source} is not a readable {what}: {shortened(lines[0], 200)}") from error
