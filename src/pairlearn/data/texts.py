"""Columns of text in which every distinct text stands once: the ids of ten million pairs are ten million numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from pairlearn.data.files.cells import plain_text
from pairlearn.data.files.frames import load_polars
from pairlearn.types import Ints

if TYPE_CHECKING:
    import polars


class Listed(Sequence[str]):
    """A sequence of texts that is equal to any other with the same texts."""

    def __eq__(self, other: object) -> bool:
        alike = isinstance(other, Sequence) and len(self) == len(other)
        return alike and all(a == b for a, b in zip(self, cast("Sequence[str]", other), strict=True))

    __hash__ = None  # type: ignore[assignment]


class Numerals(Listed):
    """Whole numbers as texts, none of which is stored.

    >>> list(Numerals(range(3))), list(Numerals(np.array([7, -1])))
    (['0', '1', '2'], ['7', '-1'])
    """

    def __init__(self, values: range | Ints) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> Numerals: ...
    def __getitem__(self, key: int | slice) -> str | Numerals:
        return Numerals(self.values[key]) if isinstance(key, slice) else str(self.values[key])

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and text.isdecimal() and any(text == each for each in self)

    def __iter__(self) -> Iterator[str]:
        return map(str, self.values if isinstance(self.values, range) else self.values.tolist())


@dataclass(frozen=True, eq=False, repr=False)
class Texts(Listed):
    """A column of text, (n,): entry k is distinct[codes[k]]; these stand in the order of their first appearance.

    Four bytes per entry instead of an object, and whatever is asked of every text is asked once. Empty cells are "".

    >>> names = Texts.of(["bob", "ann", None, "bob"])
    >>> names.distinct, names.codes.tolist(), names == ["bob", "ann", "", "bob"]
    (('bob', 'ann', ''), [0, 1, 2, 0], True)
    """

    codes: Ints
    distinct: Sequence[str]

    @classmethod
    def of(cls, cells: Iterable[str | None]) -> Texts:
        """These cells."""
        if isinstance(cells, Texts):
            return cells
        known: dict[str, int] = {}
        codes = [known.setdefault(cell or "", len(known)) for cell in cells]
        return cls(np.array(codes, dtype=np.int32), tuple(known))

    @classmethod
    def read(cls, cells: polars.Series) -> Texts:
        """The cells of a column of a table, without blanks around them; 7.0 is the id 7, as whole numbers are written.

        Polars finds the distinct texts, NumPy the distinct numbers; only these become objects of Python.
        """
        if cells.dtype.is_numeric() and not cells.null_count():
            codes, values = by_appearance(cells.to_numpy())
            if values.dtype.kind in "iu":
                return cls(codes, Numerals(values))
            texts = [plain_text(value) for value in values.tolist()]
        else:
            column = _as_text(cells)
            distinct = column.unique(maintain_order=True)
            codes = column.cast(load_polars().Enum(distinct)).to_physical().to_numpy()
            texts = distinct.str.strip_chars().to_list()
        merged = cls.of(texts)  # texts that only blanks told apart are one
        return cls(merged.codes[codes], merged.distinct)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> Texts: ...
    def __getitem__(self, key: int | slice) -> str | Texts:
        return self.take(np.arange(len(self))[key]) if isinstance(key, slice) else self.distinct[self.codes[key]]

    def __repr__(self) -> str:
        few = [*self[:3], "…"] if len(self) > 4 else list(self)
        return f"Texts({', '.join(few)})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(list(self.distinct), dtype=dtype)[self.codes]

    def take(self, rows: Ints) -> Texts:
        """Some of the entries."""
        codes, used = by_appearance(self.codes[rows])
        if isinstance(self.distinct, Numerals):
            return Texts(codes, Numerals(np.asarray(self.distinct.values)[used]))
        return Texts(codes, tuple(self.distinct[code] for code in used))

    def first(self, code: int) -> int:
        """The first entry with this code."""
        return int(np.argmax(self.codes == code))

    def series(self) -> polars.Series:
        """The column as Polars has it."""
        texts: Any = self.distinct.values if isinstance(self.distinct, Numerals) else self.distinct
        return load_polars().Series(texts).cast(load_polars().String).gather(self.codes)


class Collected:
    """A column that comes in parts and becomes Texts."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._parts: list[Ints] = []

    def add(self, cells: polars.Series) -> None:
        """One more part."""
        part = Texts.read(cells)
        numbers = [self._known.setdefault(text, len(self._known)) for text in part.distinct]
        self._parts.append(np.array(numbers, dtype=np.int32)[part.codes])

    def names(self) -> Texts:
        """All parts."""
        return Texts(np.concatenate(self._parts), tuple(self._known))


def _as_text(cells: polars.Series) -> polars.Series:
    """Cells as text, "" where there is none."""
    pl = load_polars()
    if cells.dtype in (pl.Binary, pl.Object, pl.Duration) or cells.dtype.is_nested() or cells.dtype.is_numeric():
        cells = pl.Series([plain_text(cell) for cell in cells.to_list()], dtype=pl.String)
    return cells.cast(pl.String).fill_null("")


def by_appearance(values: np.ndarray[Any, Any]) -> tuple[Ints, np.ndarray[Any, Any]]:
    """A code per value, and the distinct values in the order of their first appearance.

    >>> [found.tolist() for found in by_appearance(np.array([7, 2, 7]))]
    [[0, 1, 0], [7, 2]]
    """
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[inverse], distinct[order]
