"""Everything that is known of a pair of records: columns compared, the whole, its rivals, its words, two vectors.

`Comparer` is learnt from tables alone, never from labels, and stays with the model: new tables are compared with the
same kinds and the same rarity. `Comparer.prepare` does once what depends on single records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.records.cells import LONGEST, plain
from pairlearn.records.compare.comparisons import RECORD, Comparison, Prepared
from pairlearn.records.compare.nearest import Nearest, nearest
from pairlearn.records.compare.terms import TERMS
from pairlearn.records.compare.vectors import Vectors
from pairlearn.records.kinds import Kind, check_kind, recognise
from pairlearn.records.table import Records
from pairlearn.types import Floats, Ints

WHOLE = "whole record"
SILENT = ("number", "geo")
"""Kinds whose cells are no words of the whole record."""
RIVALS = 10
"""Nearest others that a pair is held against."""
RIVALRY = tuple(
    f"{what} ({how})"
    for how in ("characters", "words")
    for what in ("above the best rival, both sides", "above the best rival, one side", "rank, both sides", "rank, one")
)
MARKED, LEAST = 200, 3
"""Words whose presence on one side or both is seen by itself: the most frequent ones, in at least so many records."""


@dataclass(frozen=True, eq=False)
class Side:
    """A table made ready: every column, the whole records, and their vectors."""

    columns: tuple[Prepared, ...]
    whole: Prepared
    marks: Floats
    vectors: Floats


class Ready(NamedTuple):
    """Both sides, and the nearest others of each side by n-grams and by words, if rivals count."""

    left: Side
    right: Side
    nearest: tuple[tuple[Nearest, Nearest], ...]


@dataclass(frozen=True, eq=False)
class Comparer:
    """How pairs of these tables are compared; `marked` are the words that are seen by themselves.

    >>> beers = Records.of({"id": ["a", "b"], "name": ["Red Ale", "Pale Ale"], "abv": ["5.6", "4.0"]})
    >>> comparer = Comparer.learn(beers, None)
    >>> [(c.name, c.kind) for c in comparer.columns]
    [('name', 'name'), ('abv', 'number')]
    >>> ready = comparer.prepare(beers, None)
    >>> comparer.features(ready, np.array([0]), np.array([1])).shape == (1, len(comparer.feature_names))
    True
    """

    columns: tuple[Comparison, ...]
    whole: Comparison
    marked: Ints
    vectors: Vectors
    rivals: bool = True

    @classmethod
    def learn(
        cls, left: Records, right: Records | None, kinds: Mapping[str, str] | None = None, *, rivals: bool = True
    ) -> Comparer:
        """Kinds of the columns that both tables have, and the rarity of what stands in them."""
        tables = [left] if right is None else [left, right]
        found = find_kinds(tables, kinds or {})
        columns = [Comparison.learn(name, kind, [t.columns[name] for t in tables]) for name, kind in found.items()]
        wholes = [whole_texts(table, found) for table in tables]
        whole = Comparison.learn(WHOLE, RECORD, [tuple(texts) for texts in wholes])
        grams = [whole.terms[1].rows(texts) for texts in wholes]
        marked = _frequent(whole)
        return cls(tuple(columns), whole, marked, Vectors.learn(grams), rivals)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of every column that is compared."""
        return {column.name: check_kind(column.kind, column.name) for column in self.columns}

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """What the columns of `features` are: "title: words", …"""
        names = [f"{part.name}: {name}" for part in (*self.columns, self.whole) for name in part.feature_names]
        return (*names, *(f"{WHOLE}: {name}" for name in RIVALRY if self.rivals))

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """The column that every feature speaks of."""
        own = [part.name for part in (*self.columns, self.whole) for _ in part.feature_names]
        return (*own, *(WHOLE for _ in RIVALRY if self.rivals))

    def prepare(self, left: Records, right: Records | None) -> Ready:
        """Both tables made ready to be compared; of one table, both sides are the same."""
        one = self._side(left)
        other = one if right is None else self._side(right)
        return Ready(one, other, self._nearest(one, other) if self.rivals else ())

    def features(self, ready: Ready, left: Ints, right: Ints) -> Floats:
        """Numbers of every pair, (n, q), float32."""
        sides = zip(
            (*self.columns, self.whole),
            (*ready.left.columns, ready.left.whole),
            (*ready.right.columns, ready.right.whole),
            strict=True,
        )
        found = [column.features(a, b, left, right) for column, a, b in sides]
        return np.hstack([*found, *self._rivalry(ready, left, right, found[-1])]).astype(np.float32, copy=False)

    def words(self, ready: Ready, left: Ints, right: Ints) -> Floats:
        """Of every marked word: how much only one record has it, and how much both have it; (n, 2·marked)."""
        a, b = ready.left.marks[left], ready.right.marks[right]
        return np.hstack([np.abs(a - b), np.minimum(a, b)])

    # -- parts

    def _side(self, table: Records) -> Side:
        lacking = [column.name for column in self.columns if column.name not in table.columns]
        if lacking:
            raise InputError(
                f"{table.source} lacks the column {lacking[0]!r} that the model compares; it has "
                f"{', '.join(list(table.columns)[:8])}"
            )
        columns = tuple(column.prepare(table.columns[column.name]) for column in self.columns)
        whole = self.whole.prepare(tuple(whole_texts(table, self.kinds)))
        words = whole.rows["words"].matrix()
        marks = words[:, self.marked].toarray().astype(np.float32)
        return Side(columns, whole, marks, self.vectors.of(whole.rows["grams"]))

    def _nearest(self, one: Side, other: Side) -> tuple[tuple[Nearest, Nearest], ...]:
        found = []
        for which in ("grams", "words"):
            a, b = one.whole.rows[which], other.whole.rows[which]
            there = nearest(a, b, RIVALS, same=one is other)
            found.append((there, there if one is other else nearest(b, a, RIVALS, same=False)))
        return tuple(found)

    def _rivalry(self, ready: Ready, left: Ints, right: Ints, whole: Floats) -> list[Floats]:
        """How the pair stands beside the nearest others of both records, by n-grams and by words."""
        out = []
        for place, (there, back) in enumerate(ready.nearest):
            scores = whole[:, place]
            (margin, rank), (margin2, rank2) = there.rivals(left, right, scores), back.rivals(right, left, scores)
            both = (np.minimum, np.maximum)
            out += [pick(margin, margin2) for pick in both] + [pick(rank, rank2) for pick in both]
        return [np.column_stack(out)] if out else []


# --------------------------------------------------------------------------- columns and words


def find_kinds(tables: Sequence[Records], said: Mapping[str, str]) -> dict[str, Kind]:
    """Kinds of the columns that all tables have: as said, else recognised; empty columns are left out."""
    shared = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
    for name, kind in said.items():
        if name not in shared:
            raise InputError(f"there is no column {name!r} to be of kind {kind}; columns are {', '.join(shared)}")
        check_kind(kind, name)
    found = {name: said.get(name) or recognise([c for t in tables for c in t.columns[name]]) for name in shared}
    kinds = {name: check_kind(kind, name) for name, kind in found.items() if kind is not None}
    if not kinds:
        raise InputError(
            f"{' and '.join(table.source for table in tables)} have no column with values in common; rename the "
            "columns that mean the same"
        )
    return kinds


def whole_texts(table: Records, kinds: Mapping[str, Kind]) -> list[str]:
    """All words of every record, in the order of the columns."""
    parts = [table.columns[name] for name, kind in kinds.items() if kind not in SILENT]
    if not parts:
        return [""] * len(table)
    return [" ".join(filter(None, map(plain, cells)))[:LONGEST] for cells in zip(*parts, strict=True)]


def _frequent(whole: Comparison) -> Ints:
    """The most frequent words of the tables that occur often enough, by number."""
    terms = whole.terms[0]
    order = np.lexsort((terms.known, -terms.counts))[:MARKED]
    chosen = order[terms.counts[order] >= LEAST]
    return np.sort(terms.known[chosen]).astype(np.int64) % TERMS
