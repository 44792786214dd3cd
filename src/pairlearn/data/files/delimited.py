"""Text tables: what stands between their columns, and headers and lines that no reader should accept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice

from pairlearn.data.files.cells import is_number
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError
from pairlearn.words import counted

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may stand between columns, and its name."""
SAMPLED = 20
"""Lines that must agree on the delimiter."""
csv.field_size_limit(2**31 - 1)


def find_delimiter(source: Source) -> str:
    """The delimiter with which the first lines have the same number of fields, the more the better; else a comma.

    >>> find_delimiter(Source("x", "csv", None, b"id;x\\na;1,5\\nb;2,5\\n"))
    ';'
    """
    if source.format == "tsv":
        return "\t"
    found = {delimiter: _fields(source, delimiter) for delimiter in DELIMITERS}
    return max(found, key=lambda delimiter: found[delimiter])


def _fields(source: Source, delimiter: str) -> int:
    """Fields of every line of the sample, 1 if they differ."""
    counts = {len(row) for _, row in islice(rows_of(source, delimiter), SAMPLED) if row}
    return counts.pop() if len(counts) == 1 else 1


def check_header(source: Source, delimiter: str) -> None:
    """Refuse what Polars would read without complaint: no header, numbers instead of one, two columns of one name."""
    header = next((row for _, row in rows_of(source, delimiter) if row), None)
    if header is None:
        raise InputError(f"{source} is empty; it needs a header line and one row per example or pair")
    if all(is_number(name) for name in header):
        raise InputError(f"{source}: line 1 holds numbers where the names of the columns belong; add a header")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise InputError(f"{source}: line 1 names the column {name!r} twice; rename one of them")
        seen.add(name)


def refuse_ragged(source: Source, delimiter: str) -> None:
    """Name the first line with more or fewer fields than the header."""
    expected = None
    for line, row in rows_of(source, delimiter):
        expected = len(row) if expected is None else expected
        if row and len(row) != expected:
            raise InputError(
                f"{source}: line {line} has {counted(len(row), 'field')}, but the header has {expected} (read with "
                f"{DELIMITERS[delimiter]} between columns)"
            )


def rows_of(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Lines with their numbers, cells as text."""
    with source.open() as file:
        # newline="": line breaks inside quotes belong to the cell; a byte order mark does not belong to the header.
        reader = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), delimiter=delimiter)
        try:
            for row in reader:
                yield reader.line_num, row
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{source} is not a text table in UTF-8: {error}; save it as UTF-8 text") from error
