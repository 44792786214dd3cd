"""Text tables: what stands between their columns, and headers and lines that no reader should accept."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from pairlearn.data.files.bounds import MOST_CELL, PIECE, refuse_unpacked
from pairlearn.data.files.cells import is_number, shortened
from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError
from pairlearn.words import counted, sized

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may stand between columns, and its name."""
SAMPLED = 20
"""Lines that must agree on the delimiter."""
FEW_CELLS = 1_000_000
"""Cells that need no look at how many bytes they stand in."""
WIDE, PER_COLUMN, PER_CELL, ROOM = 10_000, 6_000, 28, 130e6
"""Columns of a wide table, bytes that a column and a cell of it take, and what they may take beside 10 × the file."""
END = "\x00the end of the table"
"""A line that no table has, behind the last one: a quote that is not closed swallows it."""
csv.field_size_limit(MOST_CELL)


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


def header_of(source: Source, delimiter: str) -> list[str]:
    """The names of the columns."""
    return next((row for _, row in rows_of(source, delimiter) if row), [])


def check_header(source: Source, header: list[str]) -> None:
    """Refuse what Polars would read without complaint: no header, numbers instead of one, two columns of one name."""
    if not header:
        raise InputError(f"{source} is empty; it needs a header line and one row per example or pair")
    if all(is_number(name) for name in header):
        raise InputError(f"{source}: line 1 holds numbers where the names of the columns belong; add a header")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise InputError(f"{source}: line 1 names the column {shortened(name)} twice; rename one of them")
        seen.add(name)


class Marks(NamedTuple):
    """How many lines and quotes a file holds."""

    lines: int
    quotes: int

    @classmethod
    def of(cls, source: Source) -> Marks:
        """Counted piece by piece."""
        lines = quotes = 0
        with source.open() as file:
            while piece := file.read(PIECE):
                lines, quotes = lines + piece.count(b"\n"), quotes + piece.count(b'"')
        return cls(lines, quotes)


def check_lines(source: Source, delimiter: str, width: int) -> None:
    """Refuse what Polars would fill up or swallow: columns or short lines by the million, an open quote."""
    marks = Marks.of(source)
    if width > WIDE and width * (PER_COLUMN + PER_CELL * marks.lines) > ROOM + 10 * source.size:
        raise InputError(
            f"{source} has {counted(width, 'column')} in {sized(source.size)}; save so wide a table as .npz "
            "(np.savez(path, X=X, ids=ids)), or its features as one column of lists in Parquet"
        )
    cells = marks.lines * width
    crowded = cells > max(0.75 * source.size, FEW_CELLS)
    if crowded or marks.quotes % 2:
        refuse_ragged(source, delimiter)
    if crowded:
        # A cell takes two bytes, with the comma or line end behind it, and an empty one a single byte.
        raise InputError(f"{source}: most cells of its {counted(marks.lines, 'line')} are empty; fill or remove them")
    if source.packed is not None and PER_CELL * cells > ROOM + 100 * source.packed:
        refuse_unpacked(source, source.packed, PER_CELL * cells, "unpack it first (gunzip)")


def refuse_ragged(source: Source, delimiter: str) -> None:
    """Name the first line with more or fewer fields than the header, or with a quote that is not closed."""
    expected = None
    for line, row in rows_of(source, delimiter):
        expected = len(row) if expected is None else expected
        if row and len(row) != expected:
            raise InputError(
                f"{source}: line {line} has {counted(len(row), 'field')}, but the header has {expected} (read with "
                f"{DELIMITERS[delimiter]} between columns)"
            )


def rows_of(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Lines with the numbers of their last line, cells as text; line breaks inside quotes belong to the cell."""
    with source.open() as file:
        reader, line = csv.reader(chain(lines_of(source, file), [END]), delimiter=delimiter), 0
        try:
            for row in reader:
                if row == [END]:
                    return
                if row and row[-1].endswith(END):
                    raise InputError(f"{source}: line {line + 1} opens a quote that is not closed; close it")
                line = reader.line_num
                yield line, row
        except csv.Error as error:
            advice = "close the quote that it opens, or save the table anew as UTF-8 text"
            raise InputError(f"{source}: line {line + 1} is not a line of a table ({error}); {advice}") from error
