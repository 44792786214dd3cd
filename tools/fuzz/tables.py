"""Text tables: CSV and its relatives, packed or not, with cells, lines, quotes and encodings that nobody expects."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from pairlearn.data.writing import table_bytes
from tools.fuzz.doors import DOORS, through
from tools.fuzz.mutations import NASTY, Rng, bytes_mutated, cut, flipped, friendly, pick

NAME = "tables"
DELIMITERS = {"csv": b",;|", "tsv": b"\t"}
Rows = list[list[bytes]]


def make(rng: Rng, folder: Path) -> Path:
    """One table, mutated as rows or as bytes, packed or not."""
    door, ending = pick(rng, list(DOORS)), pick(rng, ("csv", "csv", "tsv"))
    mark = bytes([pick(rng, DELIMITERS[ending])])
    content = table_bytes(friendly(rng, DOORS[door][0]), ".csv")
    content = pick(rng, (_as_rows, _as_rows, _as_bytes, _as_shape))(rng, content, mark)
    packed = rng.random() < 0.35
    path = folder / f"{door}-table.{ending}{'.gz' if packed else ''}"
    path.write_bytes(pick(rng, PACKED)(rng, content) if packed else content)
    return path


def use(path: Path) -> str:
    """Read it as its name says."""
    return through(path)


# --------------------------------------------------------------------------- rows


def _as_rows(rng: Rng, content: bytes, mark: bytes) -> bytes:
    rows = [line.split(b",") for line in content.splitlines()]
    for _ in range(int(rng.integers(1, 4))):
        pick(rng, ROWS)(rng, rows)
    end = pick(rng, (b"\n", b"\n", b"\r\n", b"\r"))
    return end.join(mark.join(row) for row in rows) + pick(rng, (end, b"", end * 30))


def _cell(rng: Rng, rows: Rows) -> None:
    row = pick(rng, rows)
    if row:
        row[int(rng.integers(len(row)))] = pick(rng, NASTY).encode()


def _column(rng: Rng, rows: Rows) -> None:
    """All cells of a column of one nasty kind."""
    place, cell = int(rng.integers(max(1, len(rows[0])))), pick(rng, NASTY).encode()
    for row in rows[1:]:
        if place < len(row):
            row[place] = cell


def _quoted(rng: Rng, rows: Rows) -> None:
    """Quotes, closed or not, with line breaks inside."""
    row = pick(rng, rows)
    if row:
        row[int(rng.integers(len(row)))] = pick(rng, (b'"', b'"a', b'a"', b'"a\nb"', b'"a""b"', b'"a"b', b'"\n'))


def _ragged(rng: Rng, rows: Rows) -> None:
    row = pick(rng, rows)
    row.append(b"1") if rng.random() < 0.5 else row and row.pop()


def _header(rng: Rng, rows: Rows) -> None:
    names = (
        b"",
        b"id",
        b"x0",
        b"left",
        b"label",
        b"score",
        b"left_identity",
        b"group",
        b"class",
        b"7",
        b"x\x00",
        b"\xff",
    )
    if rows[0]:
        rows[0][int(rng.integers(len(rows[0])))] = pick(rng, names)


def _fewer(rng: Rng, rows: Rows) -> None:
    del rows[int(rng.integers(len(rows))) :]
    rows or rows.append([])


def _vectors(rng: Rng, rows: Rows) -> None:
    """A column of lists, some of another length."""
    for row in rows[1:]:
        if row:
            row[-1] = b'"[' + b", ".join([b"1.5"] * int(rng.integers(0, 4))) + b']"'


ROWS: tuple[Callable[[Rng, Rows], object], ...] = (_cell, _cell, _column, _quoted, _ragged, _header, _fewer, _vectors)


# --------------------------------------------------------------------------- bytes and shapes


def _as_bytes(rng: Rng, content: bytes, mark: bytes) -> bytes:
    content = content.replace(b",", mark)
    if rng.random() < 0.15:
        return content.decode().encode(pick(rng, ("utf-16", "utf-16-be", "utf-32", "cp037", "utf-8-sig")))
    return bytes_mutated(rng, content)


def _as_shape(rng: Rng, content: bytes, mark: bytes) -> bytes:
    """A header and rows of sizes that nobody writes; most of them stay small, for the time they take."""
    width = int(10 ** rng.uniform(0, pick(rng, (2, 2, 2, 4, 6))))
    height = int(10 ** rng.uniform(0, pick(rng, (2, 2, 4, 5))))
    row = pick(rng, (b"", b"1", mark, mark * (width - 1), mark.join([b"1"] * width), b'"' + b"a" * height))
    height = min(height, 4_000_000 // (len(row) + 1))
    return mark.join(b"c%d" % k for k in range(width)) + b"\n" + (row + b"\n") * height


# --------------------------------------------------------------------------- packing


def _packed(rng: Rng, content: bytes) -> bytes:
    return gzip.compress(content)


def _damaged(rng: Rng, content: bytes) -> bytes:
    return pick(rng, (flipped, cut, bytes_mutated))(rng, gzip.compress(content))


def _joined(rng: Rng, content: bytes) -> bytes:
    """Members one after the other, and something behind them."""
    return gzip.compress(content) + gzip.compress(content) + pick(rng, (b"", b"\x00" * 9, b"junk"))


def _bomb(rng: Rng, content: bytes) -> bytes:
    """Up to a gigabyte in a megabyte."""
    packer, found = zlib.compressobj(9, wbits=31), BytesIO()
    found.write(packer.compress(content))
    piece = pick(rng, (b"\x00", b"a", b",", b"\n", b"1,2,3\n")) * 200_000
    for _ in range(int(10 ** rng.uniform(0, pick(rng, (1, 1, 1, 3))))):
        found.write(packer.compress(piece))
    return found.getvalue() + packer.flush()


PACKED = (_packed, _damaged, _damaged, _joined, _bomb)
