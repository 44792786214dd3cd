"""Tables in CSV and Parquet files, read by Polars, which is imported only here and only when one is read."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.cells import MISSING, is_number, place_of, plain_text
from pairlearn.errors import InputError
from pairlearn.types import Floats
from pairlearn.words import counted

if TYPE_CHECKING:
    import polars

CSV_NAMES = (".csv", ".csv.gz")


def load_polars() -> Any:
    """The module, or how to install it."""
    try:
        import polars
    except ImportError as error:
        raise ImportError("reading and writing tables needs Polars: pip install 'pairlearn[cli]'") from error
    return polars


def read_frame(path: Path) -> polars.DataFrame:
    """A CSV or Parquet table with at least one row.

    Cells of CSV files stay text: ids such as 007 stay as written, and a message can name the cell that is no number.
    """
    if path.name.endswith(CSV_NAMES):
        frame = _read_csv(path)
    elif path.suffix == ".parquet":
        frame = _read_parquet(path)
    else:
        raise InputError(f"cannot read {path}; use .csv, .csv.gz, .parquet, .npz or .npy")
    if frame.height == 0:
        raise InputError(f"{path} has a header but no rows; add some")
    return frame


def _read_csv(path: Path) -> polars.DataFrame:
    pl = load_polars()
    _check_header(path)
    try:
        frame = pl.read_csv(path, infer_schema=False, glob=False)
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        _refuse_ragged(path)
        raise InputError(f"{path} is not a readable CSV table: {_first_line(error)}") from error
    # Polars fills up short lines; an empty last cell may be one of these, so the lines are counted.
    if frame.null_count().row(0)[-1]:
        _refuse_ragged(path)
    return frame


def _read_parquet(path: Path) -> polars.DataFrame:
    pl = load_polars()
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {_first_line(error)}") from error


def text_of(frame: polars.DataFrame, name: str) -> list[str | None]:
    """The cells of a column as text, None where they are empty."""
    return [plain_text(value) for value in frame[name].to_list()]


def numbers_of(path: Path, frame: polars.DataFrame, name: str) -> Floats:
    """A column of features: finite numbers, float32 where the file has them in float32, else float64."""
    pl = load_polars()
    column = frame[name]
    if not (column.dtype == pl.String or column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(f"{path}, column {name!r} holds {column.dtype}; features are numbers")
    if column.dtype == pl.String:
        column = column.str.strip_chars()
    numeric = pl.Float32 if column.dtype == pl.Float32 else pl.Float64
    values = column.cast(numeric, strict=False).fill_null(np.nan).to_numpy()
    bad = ~np.isfinite(values)
    if bad.any():
        raise _bad_cell(path, name, int(bad.argmax()), frame[name][int(bad.argmax())], int(bad.sum()))
    return values


def _bad_cell(path: Path, name: str, row: int, cell: object, count: int) -> InputError:
    place = f"{path}, {place_of(path, row)}, column {name!r}"
    if cell is None or str(cell).strip().lower() in MISSING:
        return InputError(f"{place} is missing ({count} bad cells in this column); impute it or drop the row")
    return InputError(
        f"{place} holds {str(cell)!r}, which is not a finite number; drop this column, or name it as the class "
        "column (--class-column) or `id`"
    )


def _check_header(path: Path) -> None:
    """Refuse what Polars would read without complaint: no header, numbers instead of one, two columns of one name."""
    try:
        header = next((row for _, row in _rows_of_csv(path) if row), None)
    except (UnicodeDecodeError, OSError, EOFError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV table in UTF-8: {error}; save it as UTF-8 text") from error
    if header is None:
        raise InputError(f"{path} is empty; it needs a header line and one row per example or pair")
    if all(is_number(name) for name in header):
        raise InputError(f"{path}: line 1 holds numbers where the names of the columns belong; add a header")
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise InputError(f"{path}: line 1 names the column {min(twice)!r} twice; rename one of them")


def _refuse_ragged(path: Path) -> None:
    """Name the first line with more or fewer fields than the header."""
    expected = None
    for line, row in _rows_of_csv(path):
        expected = len(row) if expected is None else expected
        if row and len(row) != expected:
            raise InputError(f"{path}: line {line} has {counted(len(row), 'field')}, but the header has {expected}")


def _rows_of_csv(path: Path) -> Iterable[tuple[int, list[str]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        for row in reader:
            yield reader.line_num, row


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
