"""Cells of tables as text: ids, empty cells, and where a row stands, for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pairlearn.errors import InputError

MISSING = ("", "nan", "na", "null", "none", "n/a")
"""Spellings of a cell without a value."""


def plain_text(value: object) -> str | None:
    """A cell as text, None for an empty one.

    >>> [plain_text(cell) for cell in (7.0, 0.5, "007", None)]
    ['7', '0.5', '007', None]
    """
    # Parquet and NumPy may hold whole numbers as floats: 7.0 is the id 7.
    if isinstance(value, float):
        return None if np.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    return None if value is None else str(value)


def read_ids(path: Path, name: str, cells: Sequence[str | None]) -> tuple[str, ...]:
    """Ids or classes as text without blanks around it; no cell may be empty."""
    ids = tuple("" if cell is None else cell.strip() for cell in cells)
    if "" in ids:
        raise InputError(f"{path}, {place_of(path, ids.index(''))}, column {name!r} is empty; fill it in")
    return ids


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def existing_file(path: str | Path) -> Path:
    """The path, if there is a file."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}" + ("; it is a directory" if path.is_dir() else ""))
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")
    return path


def require_columns(path: Path, there: Iterable[str], wanted: Iterable[str]) -> None:
    """Refuse a file that lacks a column."""
    there = list(there)
    for name in wanted:
        if name not in there:
            raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, there))}")


def place_of(source: str | Path, row: int) -> str:
    """Where a row stands: the line of a CSV file, else the number of the row."""
    return f"line {row + 2}" if ".csv" in str(source) else f"row {row}"
