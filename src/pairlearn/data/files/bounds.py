"""How much of a file is believed: small files do not become large tables, lines and pipes end.

A packed file may become 16 MB, or 30 times its size: ten times is usual for text. What says that it becomes more is
refused before it is unpacked, or while it is; whoever trusts it can unpack it. docs/decisions/011-hostile-files.md
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Protocol

from pairlearn.errors import InputError
from pairlearn.linalg.room import available_memory
from pairlearn.words import sized

FREE, EXPANSION, SHARE = 2**24, 30, 0.25
"""Bytes that any file may become, times its own size that it may become, and the share of the free memory for it."""
MOST_LINE, MOST_CELL = 2**26, 2**24
"""Bytes of a line, characters of a cell: more than any table has, and few enough to hold."""
PIECE = 2**20
MOST_NAME = 200
"""Characters of the name of a column."""


class Readable(Protocol):
    """Something that gives bytes, piece by piece."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, none at the end."""


def most_unpacked(size: int) -> int:
    """Bytes that a packed file of this size may become."""
    return int(min(max(FREE, EXPANSION * size), most_held()))


def most_held() -> int:
    """Bytes of content that are held in memory at all."""
    return int(SHARE * available_memory())


def refuse_unpacked(name: object, size: int, unpacked: float, advice: str) -> None:
    """Refuse a file of so many bytes that becomes so many."""
    if unpacked > most_unpacked(size):
        raise InputError(
            f"{name} has {sized(size)}, but becomes {sized(unpacked)} or more when it is read, as tables do not; "
            f"if you trust it, {advice}"
        )


def read_up_to(file: Readable, most: int) -> bytes:
    """The content of a file, piece by piece; not much more than `most` bytes of it."""
    found = BytesIO()
    while found.tell() <= most and (piece := file.read(PIECE)):
        found.write(piece)
    return found.getvalue()


def check_names(name: object, columns: Iterable[str]) -> None:
    """Refuse names of columns that no message could hold."""
    for place, column in enumerate(columns, start=1):
        if len(column) > MOST_NAME:
            raise InputError(
                f"{name}: the name of column {place} has {len(column):,} characters, {column[:20]!r}…; names have at "
                f"most {MOST_NAME}: is this the header?"
            )
