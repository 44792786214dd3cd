"""Scores: what a machine says about pairs, next to what is true.

Everything right of the machines takes this value and nothing else, so scores of any other system can be evaluated,
fused and calibrated like ours. Columns are checked once, here; what is passed on is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pairlearn import inline
from pairlearn.errors import InputError
from pairlearn.pairs import as_pairs
from pairlearn.types import Floats, Ints

Column = np.ndarray[Any, Any]
COMPARABLE: tuple[set[type], ...] = ({str}, {bool, int})
"""Types of names of which none is missing and each is before or after each other."""


@dataclass(frozen=True, eq=False)
class Scores:
    """One value per pair, larger = more alike, with its label and, if known, who is in the pair.

    values, labels (+1 same, −1 different), and the optional columns left, right (example ids; the same id
    means the same example on both sides), left_identity, right_identity (class ids): all of shape (n_pairs,).

    >>> scores = Scores([0.9, 0.2, 1.5], [1, -1, 1], left=[0, 0, 1], right=[1, 2, 1])
    >>> len(scores), scores.positives.tolist(), len(scores.without_reflexive())
    (3, [0.9, 1.5], 2)
    """

    values: Floats
    labels: Ints
    left: Column | None = None
    right: Column | None = None
    left_identity: Column | None = None
    right_identity: Column | None = None

    def __post_init__(self) -> None:
        for name, column in _columns(self).items():
            object.__setattr__(self, name, column)

    @classmethod
    def of(cls, model: Any, X: Any, y: Any = None, classes: Any = None) -> Scores:
        """What a fitted model says of pairs; examples go by their row numbers, identities by `classes`.

        y: labels ±1; without it they follow from classes, one per example.

        >>> import pairlearn as pl
        >>> pairs = pl.all_pairs(np.array([[0.0], [1.0], [5.0]]), reflexive=False)
        >>> scores = Scores.of(pl.EuclidBaseline(), pairs, classes=["a", "a", "b"])
        >>> scores.values.tolist(), scores.labels.tolist(), scores.right_identity.tolist()
        ([-1.0, -5.0, -4.0], [1, -1, -1], ['a', 'b', 'b'])
        """
        pairs = as_pairs(X)
        if y is None and classes is None:
            raise InputError(
                "scores need to know what is true: give y, one label per pair, or classes, one per example"
            )
        if pairs.right_examples is not None:  # row numbers of two tables name different things
            return cls(model.decision_function(pairs), y)
        labels = pairs.labels(classes) if y is None else y
        left, right = pairs.columns
        names = None if classes is None else np.asarray(classes)
        sides = (None, None) if names is None else (names[left], names[right])
        return cls(model.decision_function(pairs), labels, left, right, *sides)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: slice | Column) -> Scores:
        """Return the chosen pairs, by slice, mask or index array."""
        columns: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: column[key] for name, column in columns.items() if column is not None})

    def __repr__(self) -> str:
        known = [field.name for field in fields(self)[2:] if getattr(self, field.name) is not None]
        named = f", with {', '.join(known)}" if known else ""
        return f"Scores({len(self.positives):,} same, {len(self.negatives):,} different pairs{named})"

    def _repr_html_(self) -> str:
        same, different = self.positives, self.negatives
        ends = (float(self.values.min()), float(self.values.max())) if len(self) else (0.0, 0.0)
        unit = max(map(abs, ends)) or 1.0  # the largest numbers have differences that are none
        edges = drawn_range(ends[0] / unit, ends[1] / unit)
        upper, lower = (np.histogram(side / unit, inline.BINS, edges)[0].tolist() for side in (same, different))
        words = (
            f"{len(same):,} same above, {len(different):,} different pairs below, from {ends[0]:.4g} to {ends[1]:.4g}"
        )
        return inline.histogram(upper, lower, f"Scores of {words}{_error_rate(self)}")

    @property
    def positives(self) -> Floats:
        """Values of the pairs with label +1, in the given order."""
        return self.values[self.labels > 0]

    @property
    def negatives(self) -> Floats:
        """Values of the pairs with label −1, in the given order."""
        return self.values[self.labels < 0]

    def without_reflexive(self) -> Scores:
        """Return the pairs of two different examples; all of them when the example ids are unknown."""
        if self.left is None or self.right is None:
            return self
        different = self.left != self.right
        return self if different.all() else self[different]


def drawn_range(low: float, high: float) -> tuple[float, float]:
    """The range of a histogram: around numbers that hardly differ it is widened, since bins between them have no width.

    >>> drawn_range(0.0, 2.0), drawn_range(3.0, 3.0), drawn_range(1.0, 1.0 + 1e-15)[0] < 1.0
    ((0.0, 2.0), (3.0, 3.0), True)
    """
    least = 1e-12 * max(abs(low), abs(high))
    if low == high or high - low >= least:  # equal ends have a range of their own in NumPy
        return low, high
    middle = low + (high - low) / 2
    return middle - least / 2, middle + least / 2


def _error_rate(scores: Scores) -> str:
    """In words, where there are pairs of both kinds."""
    from pairlearn.evaluation.rates import equal_error_rate

    both = len(scores.positives) and len(scores.negatives)
    return f"; equal error rate {100 * equal_error_rate(scores):.2f} %" if both else ""


def _columns(scores: Scores) -> dict[str, Column | None]:
    """All columns as arrays of one length, or an error that says which is wrong."""
    values = _check_values(scores.values)
    columns: dict[str, Column | None] = {"values": values, "labels": _check_labels(scores.labels)}
    for one, other in (("left", "right"), ("left_identity", "right_identity")):
        columns[one], columns[other] = _check_ids(one, getattr(scores, one), other, getattr(scores, other))
    for name, column in columns.items():
        if column is not None and column.shape != values.shape:
            raise InputError(
                f"{name} has shape {column.shape} but there are {values.size} values; give one entry per pair"
            )
    return columns


def check_scores(scores: Any) -> Scores:
    """The scores, or an error for whatever else was given."""
    if not isinstance(scores, Scores):
        kind = type(scores).__name__
        raise InputError(f"values alone say nothing, they need labels: pass pl.Scores(values, labels), not a {kind}")
    return scores


def _check_values(values: object) -> Floats:
    """One finite number per pair: NaN has no place in an order, and infinity none on an axis."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("values must be numbers, one score per pair") from error
    if array.ndim != 1:
        raise InputError(f"values must be one column, got shape {array.shape}; try values.ravel()")
    bad = ~np.isfinite(array)
    if bad.any():
        raise InputError(
            f"values contain NaN or infinity (first at pair {bad.argmax()}, {bad.sum()} in all); "
            "drop these pairs, or give failed comparisons a low finite score"
        )
    return array


def _check_labels(labels: object) -> Ints:
    """+1 or −1, nothing else: booleans and 0/1 are refused because 0 might mean different or unlabelled."""
    array = np.asarray(labels)
    if array.dtype.kind not in "iuf" or not np.all((array == 1) | (array == -1)):
        raise InputError(
            "labels must be +1 (same class) or -1 (different); use np.where(same, 1, -1) for booleans "
            "or 0/1, and drop unlabelled pairs"
        )
    return array.astype(np.int8, copy=False)


def _check_ids(one: str, ones: object, other: str, others: object) -> tuple[Column | None, Column | None]:
    """Both columns of ids or neither; text on one side and numbers on the other would never be equal."""
    if ones is None and others is None:
        return None, None
    if ones is None or others is None:
        raise InputError(f"{one} and {other} belong together: give both or neither")
    first, second = as_names(ones), as_names(others)
    for name, column in ((one, first), (other, second)):
        if (pair := first_missing(column)) is not None:
            raise InputError(
                f"{name} of pair {pair} is missing ({column[pair]}); who is unknown would count as one and the same: "
                f"name all, drop these pairs, or leave out {one} and {other}"
            )
    if {first.dtype.kind, second.dtype.kind} & set("US") and first.dtype.kind != second.dtype.kind:
        raise InputError(
            f"{one} has ids of type {first.dtype} and {other} of type {second.dtype}; "
            "an example must have the same id on both sides"
        )
    _refuse_mixed(one, first, other, second)
    return first, second


def _refuse_mixed(one: str, first: Column, other: str, second: Column) -> None:
    """Units are numbered in the order of their ids, so that each id must be before or after each other."""
    kinds = _kinds(first) | _kinds(second)
    if first.ndim != 1 or second.ndim != 1 or any(kinds <= alike for alike in COMPARABLE):
        return
    try:
        if "O" in (first.dtype.kind, second.dtype.kind):
            sorted({*first.tolist(), *second.tolist()})
        else:
            np.result_type(first, second)  # dates beside numbers have none
    except TypeError as error:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"ids in {one} and {other} are of types that cannot be compared ({names}); write all of them as text"
        ) from error


# --------------------------------------------------------------------------- names of any kind


def as_names(given: Any) -> Column:
    """Names as an array; a NaN among the texts of a list stays one, which NumPy would write as the text nan."""
    column = np.asarray(given)
    if column.dtype.kind == "U" and isinstance(given, (list, tuple)) and not set(map(type, given)) <= {str, np.str_}:
        return np.array(given, dtype=object) if any(map(is_missing, given)) else column
    return column


def first_missing(column: Column) -> int | None:
    """The first place of a column that holds None, NaN or the like; None if all are there.

    >>> first_missing(np.array([1.0, np.nan])), first_missing(np.array(["a", None])), first_missing(np.array(["a"]))
    (1, 1, None)
    """
    if column.ndim != 1:  # refused for its shape
        return None
    if column.dtype.kind == "O":
        plain = any(_kinds(column) <= alike for alike in COMPARABLE)
        return None if plain else next((place for place, name in enumerate(column) if is_missing(name)), None)
    if column.dtype.kind not in "fcmM":
        return None
    missing = column != column  # NaN and NaT differ from themselves
    return int(missing.argmax()) if missing.any() else None


def is_missing(name: Any) -> bool:
    """Whether one name is None, NaN or the like."""
    try:
        return name is None or bool(name != name)
    except (TypeError, ValueError):  # pandas.NA is neither true nor false
        return True


def _kinds(column: Column) -> set[type]:
    """The types of the entries, of which those of a plain array have one."""
    return set(map(type, column if column.dtype.kind == "O" else column[:1].tolist()))
