"""Classes of examples, of any kind, as numbers."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs.ids import find_rows, rows_by_id
from pairlearn.types import Ints

PLAIN = {bool, int, str}
"""Kinds of values of which none is missing and all can be compared."""


def class_codes(classes: Any, n_examples: int | None = None, rows: Ints | None = None) -> Ints:
    """Classes of any kind as numbers 0, 1, … in order of appearance, (n_examples,).

    With `rows` only the classes of these examples are looked at and numbered, (len(rows),): an example that no pair
    uses may have no class. The order is that of appearance, and not of the alphabet, so that classes of mixed or
    unordered kinds have numbers too, and names do not decide which class a random draw takes.

    >>> class_codes(["v", "u", "v", None], rows=[0, 1, 2]).tolist()
    [0, 1, 0]
    """
    values = _one_per_example(classes, n_examples, "classes")
    chosen = values if rows is None else _taken(values, rows)
    if isinstance(chosen, np.ndarray) and chosen.dtype.kind in "biufU":
        return _codes_of_array(chosen)
    names = _checked(chosen, "classes")
    codes = rows_by_id(dict.fromkeys(names))
    return np.fromiter(map(codes.__getitem__, names), dtype=np.int64, count=len(names))


def sorted_classes(classes: Any, n_examples: int | None = None) -> tuple[list[Any], Ints]:
    """The names of the classes in alphabetical order, and the place of each example's class among them.

    >>> names, places = sorted_classes(["v", "u", "v"])
    >>> names, places.tolist()
    (['u', 'v'], [1, 0, 1])
    """
    given = class_names(classes, n_examples)
    names = sorted(set(given))
    return names, find_rows(rows_by_id(names), given)[0]


def class_names(classes: Any, n_examples: int | None = None, name: str = "classes") -> list[Any]:
    """One class or identity per example, as a list, or what is wrong with them."""
    return _checked(_one_per_example(classes, n_examples, name), name)


def _codes_of_array(values: np.ndarray[Any, Any]) -> Ints:
    """The same numbers by sorting, several times as fast as a dictionary where NumPy can sort."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(_missing("classes", int((~np.isfinite(values)).argmax())))
    _, first, code = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[code.ravel()]


def _one_per_example(classes: Any, n_examples: int | None, name: str) -> Any:
    shape = np.shape(classes) if isinstance(classes, np.ndarray) or not hasattr(classes, "__len__") else (len(classes),)
    if len(shape) != 1 or isinstance(classes, (str, bytes)) or (n_examples is not None and shape[0] != n_examples):
        wanted = "" if n_examples is None else f", {n_examples}"
        raise InputError(f"{name} must hold one value per example{wanted}, got shape {shape}")
    if shape[0] == 0:
        raise InputError(f"{name} are empty; give one value per example")
    return classes if isinstance(classes, np.ndarray) else _as_list(classes)


def _as_list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _taken(values: Any, rows: Ints) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[int(row)] for row in rows]


def _checked(values: Any, name: str) -> list[Any]:
    names = _as_list(values)
    if set(map(type, names)) <= PLAIN:
        return names
    bad = next((row for row, value in enumerate(names) if _is_missing(value)), None)
    if bad is not None:
        raise InputError(_missing(name, bad))
    try:
        set(names)
    except TypeError as error:
        raise InputError(f"{name} must be numbers, strings or other hashable values, one per example") from error
    return names


def _missing(name: str, row: int) -> str:
    return f"{name} contain a missing or infinite value (example {row}); name it or drop the pairs of this example"


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be true or false
        return True
