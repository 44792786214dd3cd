"""What scikit-learn calls the features of a table: their number and, for a data frame, the names of its columns.

Data frames (pandas, polars) are known by `columns`, `dtypes` and `to_numpy`, so that neither library is needed here.
"""

from __future__ import annotations

import re
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from pairlearn.errors import InputError
from pairlearn.types import Examples
from pairlearn.words import listed

Table = TypeVar("Table")
"""Pairs, or a table of examples."""

# --------------------------------------------------------------------------- columns of a data frame

NOT_NUMBERS: tuple[tuple[str, str, str], ...] = (
    (r"date|time|duration|period|interval", "dates", "drop it, or count days or seconds as a number"),
    (r"^(list|array|struct)|^fixed_size", "lists", "pass np.array(table[{column!r}].to_list()) as the examples"),
    (r"^str|^utf8|^large_str|categ|enum|dictionary|^binary", "text", "drop it, or encode it as numbers"),
)
"""How the types of columns that are no numbers are called, what they hold, and what to do about it."""


def is_frame(table: Any) -> bool:
    """Whether a table is a data frame, of whatever library."""
    return hasattr(table, "to_numpy") and hasattr(table, "columns")


def check_columns(frame: Any, name: str) -> None:
    """Refuse a data frame with columns that hold no numbers: text has no value, and dates would pass for numbers."""
    for column, dtype in zip(frame.columns, getattr(frame, "dtypes", ()), strict=False):
        what, advice = _no_numbers(frame, column, str(dtype).lower())
        if what:
            raise InputError(f"column {column!r} of the {name} holds {what}; {advice.format(column=column)}")


def _no_numbers(frame: Any, column: Any, dtype: str) -> tuple[str, str]:
    """What a column holds instead of numbers, and what to do; both empty for numbers."""
    if dtype.startswith("object") and not all(isinstance(value, Real) for value in frame[column]):
        return NOT_NUMBERS[-1][1:]
    found = (words for pattern, *words in NOT_NUMBERS if re.search(pattern, dtype))
    what, advice = next(found, ("", ""))
    return what, advice


# --------------------------------------------------------------------------- features of an estimator


def feature_names(examples: Examples) -> Any:
    """The column names of a data frame as an array of objects; None for tables without, as in scikit-learn.

    >>> feature_names(np.eye(2)) is None
    True
    """
    names = np.asarray(examples.columns if is_frame(examples) else (), dtype=object)
    return names if len(names) and all(isinstance(name, str) for name in names) else None


def note_features(estimator: Any, pairs: Any) -> None:
    """Set `n_features_in_` and `feature_names_in_` of an estimator that was fitted on these pairs.

    Both are those of the examples; of two tables the number is that of the left one, and there are no names. Examples
    that are not rows of numbers have no features, and an estimator that forgets old ones must not keep their names.
    """
    shape: tuple[int, ...] = getattr(pairs.examples, "shape", ())
    found = {"n_features_in_": shape[1] if len(shape) == 2 else None, "feature_names_in_": pairs.feature_names}
    for name, value in found.items():
        vars(estimator).pop(name, None)
        if value is not None:
            setattr(estimator, name, value)


def same_features(estimator: Any, table: Table) -> Table:
    """The pairs or examples, if their columns are those that the estimator was fitted on, in the same order.

    Only names can tell: where fit saw none, or the table has none, there is nothing to compare.
    """
    known = getattr(estimator, "feature_names_in_", None)
    names = feature_names(table) if is_frame(table) else getattr(table, "feature_names", None)
    if known is not None and names is not None and list(known) != list(names):
        raise InputError(f"{_difference(list(known), list(names))}; pass table[list(model.feature_names_in_)]")
    return table


def _difference(known: list[str], names: list[str]) -> str:
    """How the columns differ from those at fit."""
    unknown, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    found = [f"{listed(these)} {what}" for these, what in ((missing, "missing"), (unknown, "unknown")) if these]
    if found or len(known) != len(names):
        return f"columns differ from those at fit: {', '.join(found) or 'some stand there twice'}"
    old, now = next((old, now) for old, now in zip(known, names, strict=True) if old != now)
    return f"columns stand in another order than at fit: {now!r} where {old!r} was"
