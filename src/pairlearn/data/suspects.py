"""Columns that look like numbers and are none: ids, row numbers, codes of classes, dates, constants.

Among the features such a column is a leak (rows are often sorted by class, and then a row number tells the class) or
drowns all others. So a column that nobody named as a feature is refused when it looks like one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from pairlearn.data.files.cells import quoted
from pairlearn.errors import InputError
from pairlearn.pairs.classes import class_codes
from pairlearn.types import Bools, Floats, Ints

FEW_ROWS = 10
"""Fewer rows say too little: three whole numbers differ or rise by chance."""
CHANCE = 1e-6
"""A column is called sorted if the order of its rows would be so by chance less often than this, over all columns."""
LARGEST = 2.0**64
"""Ids and row numbers are smaller."""
TOGETHER = 1 << 22
"""Numbers looked at together, so that wide tables need no second copy of themselves."""


class Suspect(NamedTuple):
    """A column, what it looks like, and what to do about it besides naming it as a feature."""

    name: str
    looks: str
    advice: str


def refuse_suspects(source: object, names: Sequence[str], values: Floats, classes: Sequence[str] | None) -> None:
    """Raise with the first suspect column and what to do; values are (n, d), one column per name."""
    found = list(find_suspects(names, values, classes))
    if not found:
        return
    first = found[0]
    more = f" (also {', '.join(repr(each.name) for each in found[1:6])})" if found[1:] else ""
    raise InputError(
        f"{source}: column {first.name!r} {first.looks}, and would be learnt as a feature{more}; say what it is: "
        f"{first.advice}--drop {quoted([each.name for each in found])}, or --features to name all features "
        f"yourself ('*' for every column)"
    )


def find_suspects(names: Sequence[str], values: Floats, classes: Sequence[str] | None = None) -> Iterator[Suspect]:
    """Columns that look like ids, row numbers, codes of classes or constants.

    >>> rows = np.column_stack([np.arange(20.0), np.sin(np.arange(20.0))])
    >>> [suspect.name for suspect in find_suspects(["photo_id", "x"], rows)]
    ['photo_id']
    """
    if len(values) < FEW_ROWS:
        return
    codes = None if classes is None else class_codes(classes)
    size = float(np.mean(np.square(values).sum(axis=1)))
    for block, columns in _blocks(values):
        constant = _is_constant(columns)
        whole = _is_whole(columns).all(axis=0) & ~constant
        rising = _is_sorted(columns) & ~constant
        for place in np.flatnonzero(constant | whole | rising):
            name, column = names[block + int(place)], columns[:, place]
            if not constant[place]:
                suspect = _judged(name, column, codes, values.shape[1])
            else:
                suspect = _drowning(name, float(column[0]), size)
            if suspect is not None:
                yield suspect


def constant_columns(names: Sequence[str], values: Floats) -> list[str]:
    """Columns that hold one number other than 0 in every row; zeros change no distance, product or angle."""
    if len(values) < FEW_ROWS:
        return []
    found = (block + np.flatnonzero(_is_constant(columns) & (columns[0] != 0)) for block, columns in _blocks(values))
    return [names[place] for places in found for place in places.tolist()]


def class_columns(names: Sequence[str], values: Floats, classes: Sequence[str] | None) -> list[str]:
    """Columns with one value in every class, not in all: measured of the class, not of the example.

    >>> rows = np.column_stack([np.repeat([7.0, 7.0, 9.0], 4), np.arange(12.0)])
    >>> class_columns(["photos_of_person", "x"], rows, ["ann"] * 4 + ["bob"] * 4 + ["cem"] * 4)
    ['photos_of_person']
    """
    codes = None if classes is None else class_codes(classes)
    if codes is None or len(values) < FEW_ROWS or 2 * (codes.max() + 1) > len(values):
        return []
    first: Ints = np.unique(codes, return_index=True)[1][codes]
    found = (
        block + np.flatnonzero((columns == columns[first]).all(axis=0) & ~_is_constant(columns))
        for block, columns in _blocks(values)
    )
    return [names[place] for places in found for place in places.tolist()]


def _drowning(name: str, number: float, size: float) -> Suspect | None:
    """A constant that is larger than everything else together: ‖x‖² has a mean of `size`."""
    looks = f"holds {number:g} in every row and drowns all others"
    return Suspect(name, looks, "") if number**2 > 0.5 * size and number else None


def _judged(name: str, column: Floats, codes: Ints | None, width: int) -> Suspect | None:
    """What one column looks like, the most telling first."""
    tests: tuple[tuple[Callable[[], bool], str, str], ...] = (
        (
            lambda: len(np.unique(column)) == len(column) and bool(_is_whole(column).all()),
            "holds a different whole number in every row, as ids and row numbers do",
            f"--id-column {name}, ",
        ),
        (
            lambda: codes is not None and _tells_classes(column, codes),
            "has one value of its own for every class, as a code of the classes has",
            "",
        ),
        (
            lambda: bool(_is_sorted(column[:, None])[0]) and _chance_of_order(column) < CHANCE / width,
            "is sorted along the rows, as row numbers, codes of classes and dates are",
            "",
        ),
    )
    return next((Suspect(name, looks, advice) for test, looks, advice in tests if test()), None)


def _blocks(values: Floats) -> Iterator[tuple[int, Floats]]:
    """Neighbouring columns, few enough to look at together."""
    width = max(1, TOGETHER // len(values))
    for first in range(0, values.shape[1], width):
        yield first, values[:, first : first + width]


def _is_constant(columns: Floats) -> Bools:
    return np.asarray((columns == columns[0]).all(axis=0))


def _is_whole(columns: Floats) -> Bools:
    """Which numbers are whole; beyond 2⁵³ all floats are, so that huge ones say nothing."""
    return np.asarray((columns == np.floor(columns)) & (np.abs(columns) < LARGEST))


def _is_sorted(columns: Floats) -> Bools:
    """Which columns rise or fall throughout."""
    rises, falls = columns[1:] >= columns[:-1], columns[1:] <= columns[:-1]
    return np.asarray(rises.all(axis=0) | falls.all(axis=0))


def _chance_of_order(column: Floats) -> float:
    """How probable it is that these values stand sorted in random order: 2 ∏ count! / n!."""
    counts = np.unique_counts(column).counts
    return float(np.exp(min(0.0, log(2) + sum(lgamma(count + 1) for count in counts) - lgamma(len(column) + 1))))


def _tells_classes(column: Floats, codes: Ints) -> bool:
    """Whether classes and values name each other, with several examples in some class."""
    values = np.unique_inverse(column).inverse_indices
    n_classes, n_values = int(codes.max()) + 1, int(values.max()) + 1
    pairs = len(np.unique(codes.astype(np.int64) * n_values + values))
    return 2 < n_classes == n_values == pairs < len(codes)
