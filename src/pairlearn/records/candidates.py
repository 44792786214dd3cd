"""Which pairs are worth a look: nearest records by n-grams, and rules; never all pairs of large tables.

Two ways that fail for different reasons find candidates: *neighbours*, the records whose wording is nearest, and
*rules*, pairs with an equal value in a column (or several) or a rare word in common. What one way finds and the other
misses tells how much both miss (capture and recapture).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.records.compare.comparer import Comparer, Ready, Side
from pairlearn.records.compare.nearest import nearest
from pairlearn.records.compare.terms import TERMS
from pairlearn.records.table import RecordPairs, Records
from pairlearn.types import Bools, Floats, Ints

RULED = ("code", "date", "name")
"""Kinds of columns whose equal values make candidates when no rules were given."""
ALL_PAIRS = 20_000
"""Tables with at most so many pairs are compared completely."""
MOST_BLOCK = 200
"""Pairs that one value may bring; a value that more pairs share (a first name, a town) is no reason to look."""
RARE = 10
"""Records of both tables together that may hold a word for it to be a rare one."""


@dataclass(frozen=True)
class Blocking:
    """How candidates are found.

    neighbours: nearest records of each record, both ways. rules: columns whose equal values make candidates, several
    joined by "+" ("surname+postcode"); None takes codes, dates and names, one by one, and rare words. limit: the most
    candidates; beyond it those that only rules brought go first, then the farther neighbours.
    """

    neighbours: int = 10
    rules: tuple[str, ...] | None = None
    limit: int = 2_000_000


class Candidates(NamedTuple):
    """Pairs worth a look, which of them are neighbours and which follow a rule, and of how many pairs in all."""

    pairs: RecordPairs
    neighbours: Bools
    rules: Bools
    possible: int

    @property
    def share(self) -> float:
        """Share of all pairs that is looked at."""
        return len(self.pairs) / max(self.possible, 1)


class Recall(NamedTuple):
    """Share of all matches that are among the candidates, as far as it can be told.

    labelled: share of the known matches, `of` so many; independent: by capture and recapture, given probabilities.
    NaN where nothing tells.
    """

    labelled: float
    of: int
    independent: float


def find_candidates(
    comparer: Comparer, ready: Ready, left: Records, right: Records | None, blocking: Blocking | None = None
) -> Candidates:
    """Candidates of two tables, or of one (then i < j)."""
    how = blocking or Blocking()
    one, n, m = right is None, len(left), len(left if right is None else right)
    possible = n * (n - 1) // 2 if one else n * m
    if possible <= ALL_PAIRS:
        rows = np.triu_indices(n, 1) if one else (np.repeat(np.arange(n), m), np.tile(np.arange(m), n))
        every = np.ones(possible, dtype=bool)
        return Candidates(RecordPairs(left, right, *rows), every, every, possible)
    near, scores = _neighbours(ready, how.neighbours, one, m)
    ruled = _ruled(comparer, ready, left, right, how.rules)
    keys = np.union1d(near, ruled)
    if len(keys) > how.limit:
        keys = _limited(near, scores, ruled, how.limit)
    pairs = RecordPairs(left, right, keys // m, keys % m)
    return Candidates(pairs, np.isin(keys, near), np.isin(keys, ruled), possible)


def estimate_recall(candidates: Candidates, probabilities: Floats, matches: RecordPairs | None = None) -> Recall:
    """How many of all matches are among the candidates.

    With expected matches n₁ among neighbours, n₂ by rules and m by both, all matches are (n₁ + 1)(n₂ + 1)/(m + 1) − 1
    (Chapman). An estimate and no bound: too high where both ways miss the same records, too low where probabilities
    count pairs as likely matches that only one way finds and that are none.
    """
    first, second = (float(probabilities[mask].sum()) for mask in (candidates.neighbours, candidates.rules))
    both = float(probabilities[candidates.neighbours & candidates.rules].sum())
    every = (first + 1.0) * (second + 1.0) / (both + 1.0) - 1.0
    complete = len(candidates.pairs) == candidates.possible
    found = float(probabilities.sum())
    independent = 1.0 if complete else min(1.0, found / every) if second >= 10 and both >= 5 else float("nan")
    if matches is None or not len(matches):
        return Recall(float("nan"), 0, independent)
    inside = np.isin(matches.keys, candidates.pairs.keys)
    return Recall(float(inside.mean()), len(matches), independent)


# --------------------------------------------------------------------------- neighbours


def _neighbours(ready: Ready, k: int, one: bool, m: int) -> tuple[Ints, Floats]:
    """Keys a·m + b of the nearest pairs by n-grams, both ways, and their cosines."""
    if k < 1:
        return np.empty(0, dtype=np.int64), np.empty(0)
    a, b = ready.left.whole.rows["grams"], ready.right.whole.rows["grams"]
    there = nearest(a, b, k, same=one)
    rows = np.repeat(np.arange(len(there.found)), k)
    found, scores = there.found.ravel(), there.scores.ravel()
    if one:
        rows, found = np.minimum(rows, found), np.maximum(rows, found)
    else:
        back = nearest(b, a, k, same=False)
        rows = np.concatenate([rows, back.found.ravel()])
        found = np.concatenate([found, np.repeat(np.arange(m), k)])
        scores = np.concatenate([scores, back.scores.ravel()])
    known = (rows >= 0) & (found >= 0)
    keys, first = np.unique(rows[known] * m + found[known], return_index=True)
    return keys, scores[known][first]


def _limited(near: Ints, scores: Floats, ruled: Ints, limit: int) -> Ints:
    """Not more than `limit` keys: those of both ways first, then neighbours by their cosine, then rules."""
    rank = np.concatenate([scores + 2.0 * np.isin(near, ruled), np.full(len(ruled), -1.0)])
    keys = np.concatenate([near, ruled])
    _, first = np.unique(keys, return_index=True)
    best = first[np.argsort(-rank[first], kind="stable")[:limit]]
    return np.sort(keys[best])


# --------------------------------------------------------------------------- rules


def _ruled(comparer: Comparer, ready: Ready, left: Records, right: Records | None, rules: Sequence[str] | None) -> Ints:
    """Keys of the pairs that follow a rule."""
    one, m = right is None, len(left if right is None else right)
    joined: list[tuple[Ints, Ints]] = []
    if rules is None:
        columns: list[tuple[int, ...]] = [
            (place,) for place, column in enumerate(comparer.columns) if column.kind in RULED
        ]
        joined.append(_shared_words(ready))
    else:
        columns = [_places(comparer, rule) for rule in rules]
    joined += [join(*_values(ready, places), MOST_BLOCK) for places in columns]
    a, b = (np.concatenate([pair[side] for pair in joined] or [np.empty(0, dtype=np.int64)]) for side in (0, 1))
    if one:
        a, b = np.minimum(a, b), np.maximum(a, b)
        a, b = a[a != b], b[a != b]
    return np.unique(a * m + b)


def _places(comparer: Comparer, rule: str) -> tuple[int, ...]:
    names = [column.name for column in comparer.columns]
    parts = [rule] if rule in names else [part.strip() for part in rule.split("+")]
    for part in parts:
        if part not in names:
            raise InputError(f"the rule {rule!r} names no column {part!r}; columns are {', '.join(names)}")
    return tuple(names.index(part) for part in parts)


def _values(ready: Ready, places: tuple[int, ...]) -> tuple[Ints, Ints]:
    """One number per record and side: equal where all these columns are; −1 where one is missing."""
    known: dict[tuple[str, ...], int] = {}

    def codes(side: Side) -> Ints:
        cells = zip(*(side.columns[place].texts for place in places), strict=True)
        return np.array([known.setdefault(key, len(known)) if all(key) else -1 for key in cells], dtype=np.int64)

    return codes(ready.left), codes(ready.right)


def _shared_words(ready: Ready) -> tuple[Ints, Ints]:
    """Pairs of records that have a word in common that is rare in both tables."""
    rows = [side.whole.rows["words"] for side in (ready.left, ready.right)]
    counts = np.bincount(np.concatenate([r.indices for r in rows]), minlength=TERMS)
    entries = []
    for r in rows:
        rare = counts[r.indices] <= RARE * (1 + (ready.left is ready.right))
        entries.append((np.repeat(np.arange(len(r.indptr) - 1), np.diff(r.indptr))[rare], r.indices[rare]))
    a, b = join(entries[0][1], entries[1][1], MOST_BLOCK)
    return entries[0][0][a], entries[1][0][b]


def join(left: Ints, right: Ints, most: int) -> tuple[Ints, Ints]:
    """Places with equal numbers ≥ 0 in both columns; numbers that more than `most` pairs have are left out.

    >>> [side.tolist() for side in join(np.array([5, 7, -1]), np.array([7, 5, 5, -1]), most=10)]
    [[0, 0, 1], [1, 2, 0]]
    """
    order, other = np.argsort(left, kind="stable"), np.argsort(right, kind="stable")
    a, b = left[order], right[other]
    values = np.intersect1d(a, b)
    values = values[values >= 0]
    start, stop = np.searchsorted(a, values), np.searchsorted(a, values, side="right")
    start2, stop2 = np.searchsorted(b, values), np.searchsorted(b, values, side="right")
    n, n2 = stop - start, stop2 - start2
    few = n * n2 <= most
    start, start2, n, n2 = start[few], start2[few], n[few], n2[few]
    total = n * n2
    block = np.repeat(np.arange(len(total)), total)
    inside = np.arange(int(total.sum())) - np.repeat(np.cumsum(total) - total, total)
    return order[start[block] + inside // n2[block]], other[start2[block] + inside % n2[block]]
