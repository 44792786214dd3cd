"""How two cells of a column compare: one row of numbers per pair, nearly all of them between 0 and 1.

Everything that depends on a cell alone (words, n-grams, numbers, days) is made once per record by `Comparison.prepare`;
`Comparison.features` then compares prepared cells pair by pair in compiled loops. Rarity is learnt from the tables and
stays with the model: two rare surnames that agree say more than two Smiths. Nothing depends on which side is which, so
that features are those of the unordered pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from pairlearn import loops
from pairlearn.records import cells as read
from pairlearn.records.compare.terms import Rows, Terms, cosines
from pairlearn.records.kinds import Kind
from pairlearn.records.table import Cells
from pairlearn.types import Bools, Floats, Ints

RECORD: Literal["record"] = "record"
"""The kind of all words of a record together: text without edit similarities, which take long and add little."""
TERMS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("text", "name", RECORD), ("words", "grams")),
    "list": ("words", "grams", "items"),
    **dict.fromkeys(("category", "code", "number", "date"), ("values",)),
    "geo": (),
}
"""Which terms a column of each kind has: words, n-grams, items of lists, whole values."""
TEXTS: dict[str, Callable[[str | None], str]] = {
    "words": read.plain,
    "grams": read.plain,
    "items": read.items,
    "values": read.code,
}
EDITS = ("ratio", "token_set_ratio", "token_sort_ratio", "JaroWinkler")
RATIOS: dict[str, tuple[str, ...]] = {
    "text": (*EDITS, "partial_ratio"),
    **dict.fromkeys(("name", "list"), EDITS),
    "category": ("JaroWinkler",),
    "code": ("OSA", "JaroWinkler"),
    "date": ("OSA",),
}
"""Edit similarities of RapidFuzz for each kind."""
MISSING = ("one missing", "both missing")
SHARED = (
    *("words", "rarer words of one in the other", "words of one in the other", "words in common", "rarest shared word"),
    *("rarest word of both alone", "rarest word alone", "shared numbers", "numbers of both alone", "numbers alone"),
)
EARTH = 6371.0
"""Radius in km."""
MOST_NUMBERS = 3.0


class Prepared(NamedTuple):
    """Cells of one column of one table, ready to be compared; equal texts have equal codes."""

    texts: list[str]
    codes: Ints
    lengths: Floats
    repeated: bool
    rows: dict[str, Rows]
    numbers: Floats
    missing: Bools


@dataclass(frozen=True, eq=False)
class Comparison:
    """A column, its kind, and the rarity of its terms in the order of `TERMS_OF`.

    >>> names = Comparison.learn("name", "name", [("ann lee", "bob ray", "ann ray"), ("anne lee",)])
    >>> left, right = names.prepare(("ann lee", "bob ray")), names.prepare(("anne lee", None))
    >>> found = names.features(left, right, np.array([0, 1]), np.array([0, 1]))
    >>> found.shape == (2, len(names.feature_names)), found[1].sum()
    (True, np.float32(1.0))
    """

    name: str
    kind: Kind | Literal["record"]
    terms: tuple[Terms, ...]

    @classmethod
    def learn(cls, name: str, kind: Kind | Literal["record"], tables: Sequence[Cells]) -> Comparison:
        """Count the terms of a column in one table or two."""
        found = []
        for which in TERMS_OF[kind]:
            texts = [TEXTS[which](cell) for cells in tables for cell in cells]
            found.append(Terms.learn("grams" if which == "grams" else "words", texts))
        return cls(name, kind, tuple(found))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the columns of `features` are."""
        family = {"text": TEXT, "name": TEXT, RECORD: TEXT, "list": LIST, "number": NUMBER, "date": DATE, "geo": GEO}
        own = family.get(self.kind, VALUE)
        return (*own, *RATIOS.get(self.kind, ()), *MISSING)

    def prepare(self, cells: Cells) -> Prepared:
        """What depends on single cells."""
        rows = {
            which: terms.rows([TEXTS[which](cell) for cell in cells])
            for which, terms in zip(TERMS_OF[self.kind], self.terms, strict=True)
        }
        texts = [(read.code if "values" in rows else read.plain)(cell) for cell in cells]
        numbers = _numbers(self.kind, cells)
        codes = np.fromiter(map(hash, texts), dtype=np.int64, count=len(texts))
        lengths = np.fromiter(map(len, texts), dtype=np.float32, count=len(texts))
        repeated = 2 * len(set(texts)) < len(texts)
        unread = np.isnan(numbers).any(axis=1) if self.kind in ("number", "geo") else [not text for text in texts]
        return Prepared(texts, codes, lengths, repeated, rows, numbers, np.asarray(unread, dtype=np.bool_))

    def features(self, a: Prepared, b: Prepared, left: Ints, right: Ints) -> Floats:
        """(n, q), float32; all are 0 where a cell is missing, but for the two that say so."""
        columns = [*self._own(a, b, left, right), *self._ratios(a, b, left, right)]
        out = np.stack(columns, axis=1, dtype=np.float32) if columns else np.zeros((len(left), 0), dtype=np.float32)
        one, other = a.missing[left], b.missing[right]
        out[one | other] = 0.0
        return np.column_stack([out, one ^ other, one & other]).astype(np.float32, copy=False)

    def _own(self, a: Prepared, b: Prepared, left: Ints, right: Ints) -> list[Floats]:
        terms = dict(zip(TERMS_OF[self.kind], self.terms, strict=True))
        if self.kind == "number":
            return [*_number_features(a.numbers[left, 0], b.numbers[right, 0]), *_value(terms, a, b, left, right)]
        if self.kind == "date":
            return [*_date_features(a.numbers[left, 0], b.numbers[right, 0]), *_value(terms, a, b, left, right)]
        if self.kind == "geo":
            return _geo_features(a.numbers[left], b.numbers[right])
        if self.kind in ("category", "code"):
            return _value(terms, a, b, left, right)
        found = [*_text_features(terms, a, b, left, right), equal(a, b, left, right)]
        if self.kind == "list":
            shared = compared(terms["items"], a.rows["items"], b.rows["items"], left, right)
            found += [*_parts(shared)[:3]]
        return found

    def _ratios(self, a: Prepared, b: Prepared, left: Ints, right: Ints) -> list[Floats]:
        wanted = RATIOS.get(self.kind, ())
        if not wanted:
            return []
        first, second, inverse = distinct(a, b, left, right)
        ones, others = [a.texts[row] for row in first], [b.texts[row] for row in second]
        return [ratios(name, ones, others)[inverse] for name in wanted]


# --------------------------------------------------------------------------- texts

TEXT = ("characters", *SHARED, "length", "equal")
LIST = (*TEXT, "items of one in the other", "items of both", "items in common")
VALUE = ("equal", "rarity of what agrees")


def compared(terms: Terms, a: Rows, b: Rows, left: Ints, right: Ints) -> Floats:
    """What two rows of terms share, (n, 10); see `loops.terms.compare_rows`."""
    out = np.empty((len(left), loops.terms.ROW_FEATURES), dtype=np.float32)
    loops.terms.compare_rows(*a, *b, terms.idf, left, right, out)
    return out


def _text_features(terms: dict[str, Terms], a: Prepared, b: Prepared, left: Ints, right: Ints) -> list[Floats]:
    found = compared(terms["words"], a.rows["words"], b.rows["words"], left, right)
    rarest = float(terms["words"].idf.max())
    alone = [np.minimum(found[:, 5], found[:, 6]), np.maximum(found[:, 5], found[:, 6])]
    numbers = [found[:, 7], np.minimum(found[:, 8], found[:, 9]), np.maximum(found[:, 8], found[:, 9])]
    one, other = a.lengths[left], b.lengths[right]
    return [
        cosines(a.rows["grams"], b.rows["grams"], left, right),
        found[:, 0],
        *_parts(found),
        *(part / rarest for part in (found[:, 4], *alone)),
        *(np.minimum(part, MOST_NUMBERS) / MOST_NUMBERS for part in numbers),
        np.minimum(one, other) / np.maximum(np.maximum(one, other), 1.0),
    ]


def _parts(found: Floats) -> list[Floats]:
    """Shares of what is in common, idf-weighted: of the richer side, of the poorer one, of both together."""
    shared, one, other = found[:, 1], found[:, 2], found[:, 3]
    low, high = (shared / np.maximum(pick(one, other), 1e-9) for pick in (np.maximum, np.minimum))
    return [low, high, shared / np.maximum(one + other - shared, 1e-9)]


def equal(a: Prepared, b: Prepared, left: Ints, right: Ints) -> Floats:
    """1 where both texts are the same."""
    return (a.codes[left] == b.codes[right]).astype(np.float32)


def _value(terms: dict[str, Terms], a: Prepared, b: Prepared, left: Ints, right: Ints) -> list[Floats]:
    """Equality, and how rare the value is that both have."""
    same = equal(a, b, left, right)
    rows, idf = a.rows["values"], terms["values"].idf
    first = np.minimum(rows.indptr[:-1], max(len(rows.indices) - 1, 0))
    rarity = idf[rows.indices[first]] if len(rows.indices) else np.zeros(len(first), dtype=np.float32)
    return [same, same * rarity[left] / float(idf.max())]


def distinct(a: Prepared, b: Prepared, left: Ints, right: Ints) -> tuple[Ints, Ints, Any]:
    """Pairs of rows with different texts, each once, and which of them every pair is: values repeat in many columns."""
    if not (a.repeated and b.repeated):
        return left, right, slice(None)
    with np.errstate(over="ignore"):
        keys = a.codes[left] * np.int64(0x9E3779B97F4A7C1) + b.codes[right]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return left[first], right[first], inverse


def ratios(name: str, ones: list[str], others: list[str]) -> Floats:
    """A similarity of RapidFuzz of every pair of texts, 0 … 1, (n,)."""
    fuzz, distance, process = load_rapidfuzz()
    if name in ("JaroWinkler", "OSA"):
        scorer, scale = getattr(distance, name).normalized_similarity, 1.0
    else:
        scorer, scale = getattr(fuzz, name), 100.0
    return process.cpdist(ones, others, scorer=scorer, workers=-1, dtype=np.float32) / np.float32(scale)


def load_rapidfuzz() -> tuple[Any, Any, Any]:
    """Its modules, or how to install it."""
    try:
        from rapidfuzz import distance, fuzz, process
    except ImportError as error:
        raise ImportError("comparing records needs RapidFuzz: pip install 'pairlearn[records]'") from error
    return fuzz, distance, process


# --------------------------------------------------------------------------- numbers, days, places

NUMBER = ("relative difference", "ratio of sizes", *VALUE)
DATE = ("within days", "within months", "within years", "equal parts", *VALUE)
GEO = ("within 1 km", "within 20 km")


def _numbers(kind: str, cells: Cells) -> Floats:
    """(n, 1) or (n, 2): the number, the day, or latitude and longitude; NaN where there is none."""
    if kind == "geo":
        return np.array([read.place(cell) for cell in cells], dtype=np.float64).reshape(-1, 2)
    if kind in ("number", "date"):
        return read.values(cells, read.number if kind == "number" else read.day).reshape(-1, 1)
    return np.zeros((len(cells), 1))


def _number_features(one: Floats, other: Floats) -> list[Floats]:
    """1 − |a − b| / max(|a|, |b|), and the same on a logarithmic scale."""
    size = np.maximum(np.maximum(np.abs(one), np.abs(other)), 1e-12)
    ratio = np.abs(np.log1p(np.abs(one)) - np.log1p(np.abs(other))) + 3.0 * (one * other < 0)
    return [np.nan_to_num(1.0 - np.minimum(np.abs(one - other) / size, 1.0)), np.nan_to_num(np.exp(-3.0 * ratio))]


def _date_features(one: Floats, other: Floats) -> list[Floats]:
    """exp(−days/d) for 3, 60 and 1,000 days, and the share of year, month and day that are equal."""
    apart = np.abs(one - other)
    near = [np.nan_to_num(np.exp(-apart / days), nan=0.0) for days in (3.0, 60.0, 1000.0)]
    parts = [_date_parts(side) for side in (one, other)]
    return [*near, np.mean(parts[0] == parts[1], axis=1)]


def _date_parts(days: Floats) -> Floats:
    """Year, month and day, (n, 3); NaN, which equals nothing, where there is no date."""
    known = ~np.isnan(days)
    stamps = (np.where(known, days, 1).astype(np.int64) - 719163).astype("datetime64[D]")
    months = stamps.astype("datetime64[M]")
    parts = np.column_stack(
        [months.astype(np.int64) // 12, months.astype(np.int64) % 12, (stamps - months).astype(np.int64)]
    ).astype(np.float64)
    parts[~known] = np.nan
    return parts


def _geo_features(one: Floats, other: Floats) -> list[Floats]:
    """exp(−km/d) for 1 and 20 km, along the great circle."""
    a, b = np.radians(one), np.radians(other)
    half = np.sin((a - b) / 2.0) ** 2
    chord = half[:, 0] + np.cos(a[:, 0]) * np.cos(b[:, 0]) * half[:, 1]
    km = 2.0 * EARTH * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
    return [np.nan_to_num(np.exp(-km / scale), nan=0.0) for scale in (1.0, 20.0)]
