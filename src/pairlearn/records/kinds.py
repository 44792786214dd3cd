"""What the columns of a table hold: recognised from their cells, or said.

| kind | cells such as | compared by |
|---|---|---|
| text | titles, descriptions, addresses | words and character n-grams, their rarity, shared and differing numbers |
| name | persons, places, firms | the same and Jaro–Winkler |
| number | prices, sizes | relative difference |
| date | 2001-05-17, 17/05/2001, 20010517 | days apart, parts, digits that were mistyped |
| category | few values that repeat | equality, rarity of what agrees |
| code | phone numbers, postcodes, part numbers | equality without punctuation, rarity, edits |
| list | ann lee; bob ray | shared items, and as text |
| geo | 52.52, 13.405 | kilometres |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from pairlearn.errors import InputError
from pairlearn.records.cells import ITEMS, code, day, known, number, place, plain

Kind = Literal["text", "name", "number", "date", "category", "code", "list", "geo"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SAMPLED = 2000
"""Cells that decide."""
QUANTITY = re.compile(r"^\W*(?:[^\W\d]{1,3}\W+)?\d[\d.,]*\W*[^\W\d]{0,3}\W*$")
"""A number, a unit behind it, or a few letters before it and apart from it: K19 is a code."""
MOST = 0.9
"""Share of cells that must be dates, places or numbers."""


def recognise(cells: Sequence[str | None]) -> Kind | None:
    """The kind of a column, None if all its cells are missing.

    >>> recognise(["2001-05-17", "1999-12-31", None]), recognise(["$9.99", "12.5"]), recognise([None, "N/A"])
    ('date', 'number', None)
    >>> recognise([f"K{i}" for i in range(60)]), recognise(["4 Apr 1956", "March 12, 1960"])
    ('code', 'date')
    >>> recognise(["404/351-9533", "404-237-7601"]), recognise(["a. tomkins, p. raghavan", "b. liskov, a. adya"])
    ('code', 'list')
    """
    found = [text for text in (known(cell) for cell in _spread(cells)) if text is not None]
    if not found:
        return None
    if _share(found, lambda text: day(text) == day(text)) >= MOST:
        return "date"
    if _share(found, lambda text: place(text)[0] == place(text)[0] and "." in text) >= MOST:
        return "geo"
    if _is_code(found):
        return "code"
    if _share(found, _is_number) >= MOST:
        return "number"
    return _kind_of_words(found)


def check_kind(kind: str, column: str) -> Kind:
    """The kind, if there is one of this name."""
    if kind not in KINDS:
        raise InputError(f"column {column!r} cannot be of kind {kind!r}; kinds are {', '.join(KINDS)}")
    return kind


def _spread(cells: Sequence[str | None]) -> list[str | None]:
    """A sample from all over the table."""
    step = max(1, len(cells) // SAMPLED)
    return list(cells[::step])


def _share(cells: Sequence[str], test: object) -> float:
    return float(np.mean([bool(test(cell)) for cell in cells]))  # type: ignore[operator]


def _is_number(text: str) -> bool:
    """A number with at most a sign of money or a unit beside it."""
    return len(text) <= 24 and QUANTITY.match(text) is not None and number(text) == number(text)


def _is_code(found: Sequence[str]) -> bool:
    """Digits of one length (not years), or letters and digits mixed, without blanks inside."""
    bare = [code(text) for text in found]
    lengths = np.array([len(text) for text in bare])
    usual = int(np.bincount(lengths).argmax())
    digits = _share(bare, str.isdigit)
    points = _share(found, lambda text: "." in text or "%" in text or "$" in text)
    one_length = float(np.mean(lengths == usual)) >= 0.7 and usual >= 4 and digits >= MOST and points < 0.5
    years = usual == 4 and _share(bare, lambda text: text[:2] in ("18", "19", "20")) >= MOST
    mixed = _share(found, lambda text: " " not in text and any(map(str.isdigit, text)) and not _is_number(text))
    return (one_length and not years) or mixed >= 0.7


def _kind_of_words(found: Sequence[str]) -> Kind:
    distinct = len({plain(text) for text in found})
    if len(found) >= 20 and distinct <= max(2, min(50, len(found) // 20)):
        return "category"
    parts = [[plain(part) for part in ITEMS.split(text) if plain(part)] for text in found]
    several = np.mean([len(part) > 1 for part in parts])
    longest = np.mean([max((item.count(" ") + 1 for item in part), default=0) for part in parts])
    words = np.mean([plain(text).count(" ") + 1 for text in found])
    if several >= 0.5 and longest <= 4:
        return "list"
    return "name" if words <= 2.5 and np.mean([len(text) for text in found]) <= 25 else "text"
