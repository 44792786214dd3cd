"""The columns of a table of pairs, and its rows some after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pairlearn.data.files.batches import ROWS, read_batches
from pairlearn.data.files.delimited import find_delimiter
from pairlearn.data.files.frames import column_names, told_delimiter
from pairlearn.data.files.sheet import listed
from pairlearn.data.files.sources import Source
from pairlearn.data.tables import PairTable
from pairlearn.data.texts import Texts
from pairlearn.errors import InputError

if TYPE_CHECKING:
    import polars

SIDES = "; see --left-column and --right-column"


class PairColumns(NamedTuple):
    """The columns of a table of pairs; `label` is None where there is none."""

    left: str
    right: str
    label: str | None
    asked: str = "label"

    @classmethod
    def of(cls, source: Source, left: str, right: str, label: str | None) -> PairColumns:
        """The columns, if they are there."""
        there = column_names(source)
        for name, advice in ((left, SIDES), (right, SIDES), (label, "; see --label-column")):
            if name is not None and name not in there and (name != "label" or advice == SIDES):
                raise InputError(f"{source} has no column {name!r}; it has {listed(there)}{advice}")
        return cls(left, right, label if label in there else None, label or "label")

    @property
    def all(self) -> list[str]:
        """Their names, each once."""
        return list(dict.fromkeys(name for name in (self.left, self.right, self.label) if name is not None))

    @staticmethod
    def notes(source: Source) -> tuple[str, ...]:
        """What a reader would want to know about how the table is read."""
        return told_delimiter(find_delimiter(source)) if source.format in ("csv", "tsv") else ()

    def batches(
        self, source: Source, skip: int = 0, rows: int = ROWS, *, kept: bool = False
    ) -> Iterator[tuple[polars.DataFrame, int]]:
        """Rows of the table, some after the other, and the number of the first of them; at least one."""
        first = skip
        for part in read_batches(source, self.all, skip=skip, rows=rows, kept=kept):
            if part.height:
                yield part, first
                first += part.height
        if first == skip:
            more = f" behind the first {skip:,}, which are passed over" if skip else "; add some"
            raise InputError(f"{source} has no rows{more}")

    def table(
        self, source: Source, found: Mapping[str, Texts], *, first: int = 0, notes: Sequence[str] = ()
    ) -> PairTable:
        """The table of these columns; no id may be empty."""
        for name in (self.left, self.right):
            if "" in found[name].distinct:
                place = source.place(first + found[name].first(found[name].distinct.index("")))
                raise InputError(f"{source}, {place}, column {name!r} is empty; fill it in")
        cells = None if self.label is None else found[self.label]
        return PairTable(source, found[self.left], found[self.right], cells, self.asked, tuple(notes), first=first)
