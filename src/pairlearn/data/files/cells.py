"""Cells of tables as text: ids, empty cells and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pairlearn.data.files.bounds import MOST_NAME

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


def is_missing(cell: object) -> bool:
    """Whether a cell holds no value."""
    return cell is None or str(cell).strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def shortened(cell: object, most: int = 40) -> str:
    """A cell for a message.

    >>> shortened("ann"), shortened("a" * 99, most=5), shortened(7)
    ("'ann'", "'aaaa…", '7')
    """
    plain = cell[: most + 1] if isinstance(cell, str) else cell if type(cell) in (int, float, bool) else str(cell)
    text = repr(plain)
    return text if len(text) <= most else f"{text[:most]}…"


def quoted(names: Sequence[str]) -> str:
    """The first of these names for a command line, as far as they are short; on one line, whatever they hold.

    >>> quoted(["a", "b"]), quoted(["two words"]), quoted(["two\\nlines"])
    ('a,b', "'two words'", "'two\\\\nlines'")
    """
    text = ",".join(names[:6]) if sum(map(len, names[:6])) <= MOST_NAME else names[0][:MOST_NAME]
    return text if text.replace("_", "").replace(",", "").isalnum() else repr(text)
