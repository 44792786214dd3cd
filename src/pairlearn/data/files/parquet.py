"""The footer of a Parquet file: how many values its columns say they hold, before any of them is unpacked.

Equal values take next to no room in Parquet: a file of a few kilobytes may hold a billion of them. The footer is a
struct of Thrift's compact protocol; fields are kept by their numbers.
"""

from __future__ import annotations

import struct
from typing import IO, Any

from pairlearn.data.files.bounds import refuse_unpacked
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError

MAGIC = b"PAR1"
BYTES = 8
"""Bytes of one value, or of the reference to a text."""
MOST_HEAD = 2**16
"""Bytes of the head of a page; statistics may hold a text."""
DEEPEST = 8
"""Structs within each other; a footer has five."""
DAMAGE = (IndexError, KeyError, TypeError, ValueError, OSError, OverflowError, struct.error)
"""What reading a footer meets where it is not one."""


class Field:
    """Numbers of fields in the structs of the format."""

    ROW_GROUPS = 4
    COLUMNS, ROWS = 1, 3
    FACTS = 3
    PATH, VALUES, UNPACKED, PACKED, PAGES, DICTIONARY = 3, 5, 6, 7, 9, 11
    PAGE_PACKED, PAGE, DICTIONARY_PAGE, PAGE_V2 = 3, 5, 7, 8
    PAGE_VALUES = 1


TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)
"""Types of fields."""


def check_parquet(source: Source, *, streamed: bool = False) -> None:
    """Refuse a file whose columns hold far more than its size explains; `streamed`, a group of rows at a time."""
    try:
        with source.open() as file:
            groups = _Thrift(_footer(file)).struct()[Field.ROW_GROUPS]
            sizes = [
                sum(_held(file, column[Field.FACTS], group) for column in group[Field.COLUMNS]) for group in groups
            ]
            held = max(sizes, default=0) if streamed else sum(sizes)
    except DAMAGE as error:
        raise InputError(
            f"{source} is not a readable Parquet file: it is damaged or cut off; write it again"
        ) from error
    refuse_unpacked(source, source.size, held, "write it as .csv or .npz")


def _footer(file: IO[bytes]) -> bytes:
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("no head")
    end = file.seek(-8, 2)
    (size,), magic = struct.unpack("<I", file.read(4)), file.read(4)
    if magic != MAGIC or size > end:
        raise ValueError("no footer")
    file.seek(end - size)
    return file.read(size)


def _held(file: IO[bytes], facts: dict[int, Any], group: dict[int, Any]) -> int:
    """Bytes that a column of a group becomes: its values, of lists those of all its pages, or what is unpacked."""
    flat = len(facts[Field.PATH]) == 1
    values = max(group[Field.ROWS], facts[Field.VALUES], 0 if flat else _values_of_pages(file, facts))
    return max(BYTES * values, int(facts[Field.UNPACKED]))


def _values_of_pages(file: IO[bytes], facts: dict[int, Any]) -> int:
    """Polars believes the heads of the pages, whatever the footer says of lists."""
    place = min(facts[name] for name in (Field.PAGES, Field.DICTIONARY) if name in facts)
    end, found = place + facts[Field.PACKED], 0
    while place < end:
        file.seek(place)
        head = _Thrift(file.read(MOST_HEAD))
        page = head.struct()
        kinds = (page[kind] for kind in (Field.PAGE, Field.DICTIONARY_PAGE, Field.PAGE_V2) if kind in page)
        found += sum(kind[Field.PAGE_VALUES] for kind in kinds)
        place += head.place + max(0, page[Field.PAGE_PACKED])
    return found


class _Thrift:
    """A reader of Thrift's compact protocol; every step takes a byte, so that it ends with the bytes."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Fields by number."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("too deep")
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            return self._list(depth + 1)
        if kind in (BINARY, DOUBLE):
            length = self._unsigned() if kind == BINARY else 8
            self.place += length
            return None
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind in INTEGERS:
            return self._integer()
        raise ValueError(f"type {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self._unsigned() if head >> 4 == 15 else head >> 4
        if size > len(self.content) - self.place:
            raise ValueError("a list longer than the footer")
        return [self._value(head & 15, depth) for _ in range(size)]

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _unsigned(self) -> int:
        found = shift = 0
        while (byte := self._byte()) > 127:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def _integer(self) -> int:
        """Signs alternate: 0, −1, 1, −2, …"""
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)
