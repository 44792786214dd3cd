"""Cells as they are compared: plain words, codes, numbers, days, places and items of lists.

Everything here takes cells as text, None for a missing one, and never fails: what cannot be read is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache

import numpy as np

from pairlearn.data.files.cells import is_missing
from pairlearn.types import Floats

LONGEST = 1000
"""Characters of a cell that are compared; more would cost time and change nothing."""
EMPTY = frozenset({"-", "--", "?", "unknown", "n.a.", "n.a", "nil", "(null)", "#n/a", "<na>", "nat", "''", '""'})
"""Spellings of a missing cell beyond those of all tables."""
WORD = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?:[.,]\d+)?")
THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+$")
PLACE = re.compile(r"^[(\[]?\s*([-+]?\d{1,3}(?:\.\d+)?)\s*[,;/ ]\s*([-+]?\d{1,3}(?:\.\d+)?)\s*[)\]]?$")
ITEMS = re.compile(r"\s*[,;|]\s*|\s+and\s+|\s+&\s+")
DAYS = (
    (re.compile(r"^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?$"), (0, 1, 2)),
    (re.compile(r"^(\d{4})(\d{2})(\d{2})$"), (0, 1, 2)),
    (re.compile(r"^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$"), (2, 1, 0)),
)
"""Ways to write a day, and where year, month and day stand; day/month or month/day is settled by what is possible."""
_SHORT = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: number for number, name in enumerate(_SHORT, start=1)}
_MONTH = rf"(?P<month>(?:{'|'.join(MONTHS)})[a-z]{{0,6}})\.?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_DAY}[ .-]+{_MONTH}[ ,.-]+{_YEAR}$",
        rf"^{_MONTH}[ .-]+{_DAY}[ ,.-]+{_YEAR}$",
        rf"^{_YEAR}[ ,.-]+{_MONTH}[ .-]+{_DAY}$",
    )
)
"""Ways to write a day with the name of its month."""


def known(cell: str | None) -> str | None:
    """The cell without blanks around it, None if it holds no value.

    >>> [known(cell) for cell in (" ale ", "N/A", "-", None)]
    ['ale', None, None, None]
    """
    text = (cell or "")[: 4 * LONGEST].strip()
    return None if is_missing(text) or text.lower() in EMPTY else text


@lru_cache(maxsize=200_000)
def plain(cell: str | None) -> str:
    """Words in small letters without accents, one blank between them; "" for a missing cell.

    >>> plain("Café  O'Brien, v.2.0!"), plain("N/A")
    ('cafe o brien v 2.0', '')
    """
    text = known(cell)
    if text is None:
        return ""
    folded = unicodedata.normalize("NFKD", text[:LONGEST]).casefold()
    bare = folded if folded.isascii() else "".join(c for c in folded if not unicodedata.combining(c))
    return " ".join(WORD.findall(bare))


def code(cell: str | None) -> str:
    """Letters and digits only: 404/351-9533 and 404 351 9533 are one code.

    >>> code("404/351 -9533"), code("AB-12")
    ('4043519533', 'ab12')
    """
    return plain(cell).replace(" ", "").replace(".", "")


def number(cell: str | None) -> float:
    """The first number of a cell, NaN if there is none.

    >>> number("$1,299.00"), number("8.10 %"), number("3,5"), number("1000,200,300"), number("free")
    (1299.0, 8.1, 3.5, 1000200300.0, nan)
    """
    found = NUMBER.search(known(cell) or "")
    if found is None:
        return float("nan")
    text = found.group()
    # Several commas, or one before a point, are no decimal comma, wherever they stand.
    thousands = THOUSANDS.match(text) or text.count(",") > 1 or "." in text
    value = float(text.replace(",", "" if thousands else "."))
    return value if abs(value) < 1e100 else float("nan")


def day(cell: str | None) -> float:
    """Days since the year 1, NaN if the cell is no date.

    >>> day("2000-03-01") - day("28/02/2000"), day("19991301")
    (2.0, nan)
    >>> day("March 1st, 2000") - day("28 Feb. 2000"), day("3 Blind Mice 2000")
    (2.0, nan)
    """
    text = _month_as_number(known(cell) or "")
    for pattern, order in DAYS:
        found = pattern.match(text)
        if found:
            year, month, of_month = (int(found.group(1 + place)) for place in order)
            if month > 12 and order[0] == 2:
                month, of_month = of_month, month
            try:
                return float(date(year, month, of_month).toordinal())
            except ValueError:
                return float("nan")
    return float("nan")


def _month_as_number(text: str) -> str:
    """`4 Apr 1956` and `April 4th, 1956` as 1956-4-4; anything else as it is."""
    for pattern in NAMED:
        found = pattern.match(text)
        if found:  # `re` without regard to case takes the long s (ſ) for an s, as casefold does
            return f"{found['year']}-{MONTHS[found['month'][:3].casefold()]}-{found['day']}"
    return text


def place(cell: str | None) -> tuple[float, float]:
    """Latitude and longitude in degrees, NaN if the cell is no place.

    >>> place("52.52, 13.405"), place("Berlin")
    ((52.52, 13.405), (nan, nan))
    """
    found = PLACE.match(known(cell) or "")
    latitude, longitude = (float(found.group(1)), float(found.group(2))) if found else (float("nan"),) * 2
    inside = abs(latitude) <= 90 and abs(longitude) <= 180
    return (latitude, longitude) if inside else (float("nan"), float("nan"))


def items(cell: str | None) -> str:
    """The items of a list as single words: each becomes its plain words without blanks.

    >>> items("Ann Lee; Bob Ray")
    'annlee bobray'
    """
    return " ".join(filter(None, (code(part) for part in ITEMS.split(known(cell) or ""))))


def values(cells: Sequence[str | None], read: Callable[[str | None], float]) -> Floats:
    """One number per cell, each distinct cell read once."""
    seen: dict[str | None, float] = {}
    return np.array([seen[cell] if cell in seen else seen.setdefault(cell, read(cell)) for cell in cells], np.float64)
