"""What a stored field may hold: a test, its words, and the sizes that it shares with other fields.

A `Kind` is a value: `floats("m, d")` is an array of finite numbers whose sides are called m and d, and every field of
the same object that speaks of m must have it so long; `indices("n", below="m")` are row numbers of such a table. The
words are those of error messages and of docs/model-format.md. Kinds are tested on Python values, before anything is
saved and before a constructor sees what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral, Real
from sys import float_info
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import Columns, count_examples
from pairlearn.words import counted

Sizes = Iterable[tuple[str, int]]
"""Names of sizes and how long each is here, such as ("m", 40), ("d", 3)."""
WIDEST = 2**24
"""The most features that a number alone may claim: rows so wide take 128 MiB each."""
LARGEST = 2**63
"""Whole numbers are below this, on either side of 0."""


@dataclass(frozen=True)
class Kind:
    """What a field may hold, in words and as a test; `sizes` tells how long a value that passed is, by name.

    `below` names the size that all its entries are below, as row numbers are; `always` is False for what some models
    of a class lack.
    """

    words: str
    fits: Callable[[Any], bool]
    sizes: Callable[[Any], Sizes] = lambda value: ()
    below: str | None = None
    always: bool = True


def sized(kind: Kind, **sizes: Callable[[Any], int | None]) -> Kind:
    """The same kind with more sizes, each measured by a function; one that gives None is not known."""

    def measure(value: Any) -> Sizes:
        found = ((name, size(value)) for name, size in sizes.items())
        return chain(kind.sizes(value), ((name, n) for name, n in found if n is not None))

    return replace(kind, sizes=measure)


def sometimes(kind: Kind) -> Kind:
    """The same kind, for a learnt attribute that some models of the class lack."""
    return replace(kind, always=False)


# --------------------------------------------------------------------------- numbers and texts


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _is_finite(value: Any) -> bool:
    return _is_number(value) and abs(value) <= float_info.max


def whole(low: int = -LARGEST, high: int = LARGEST - 1, words: str = "") -> Kind:
    """A whole number from low to high.

    >>> whole(1, 100).words, whole(1, 100).fits(3), whole(1, 100).fits(3.0), whole(1, 100).fits(101)
    ('a whole number from 1 to 100', True, False, False)
    """
    first, last = ("" if abs(end) >= LARGEST - 1 else f"{end:,}" for end in (low, high))
    span = f" from {first} to {last}" if first and last else f" ≥ {first}" if first else ""

    def fits(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high

    return Kind(words or f"a whole number{span}", fits)


NUMBER = Kind("a number", _is_number)
FINITE = Kind("a finite number", _is_finite)
POSITIVE = Kind("a finite number > 0", lambda value: _is_finite(value) and value > 0)
LEAST_ZERO = Kind("a finite number ≥ 0", lambda value: _is_finite(value) and value >= 0)
NOT_ZERO = Kind("a finite number other than 0", lambda value: _is_finite(value) and value != 0)
SHARE = Kind("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
COUNT = whole(0)
FLAG = Kind("true or false", lambda value: isinstance(value, (bool, np.bool_)))
TEXT = Kind("a text", lambda value: isinstance(value, str))
NOTHING = Kind("none", lambda value: value is None)
DTYPE = Kind("float32 or float64", lambda value: value in (np.float32, np.float64))


def width(name: str, most: int = WIDEST) -> Kind:
    """A number of features or examples: a size by itself."""
    return sized(whole(0, most, f"{name}, a whole number from 0 to {most:,}"), **{name: int})


def one_of(*choices: Any) -> Kind:
    """One of these texts or numbers, and of their type.

    >>> one_of("mean", "max").words
    '"mean" or "max"'
    """
    words = " or ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in choices)
    return Kind(words, lambda value: any(isinstance(value, type(choice)) and value == choice for choice in choices))


# --------------------------------------------------------------------------- arrays


def _array(kind: str, axes: str, test: Callable[[Any], bool], below: str | None = None) -> Kind:
    """An array with these axes, "m, d"; no axes: of any shape."""
    names = axes.split(", ") if axes else []

    def fits(value: Any) -> bool:
        return isinstance(value, np.ndarray) and (not names or value.ndim == len(names)) and test(value)

    return Kind(
        f"{kind} ({axes})" if axes else kind,
        fits,
        lambda value: zip(names, value.shape, strict=True) if names else (),
        below,
    )


def are_finite(values: np.ndarray[Any, Any]) -> bool:
    """Whether no entry is NaN or infinite; whole numbers are finite."""
    if values.dtype.kind != "f" or not values.size:
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64))) or bool(np.isfinite(values).all())


def floats(axes: str = "") -> Kind:
    """Finite numbers in float32 or float64.

    >>> floats("m, d").words, floats("m, d").fits(np.eye(2)), floats("m, d").fits(np.full((2, 2), np.nan))
    ('finite float32 or float64 numbers (m, d)', True, False)
    """
    return _array(
        "finite float32 or float64 numbers", axes, lambda a: a.dtype in (np.float32, np.float64) and are_finite(a)
    )


def doubles(axes: str, above: float = -np.inf, most: float = np.inf) -> Kind:
    """Finite numbers in float64, for loops that know no other type and values that would copy another.

    >>> doubles("d", above=0.0).words, doubles("d", above=0.0).fits(np.zeros(3))
    ('finite float64 numbers > 0 (d)', False)
    """
    bounds = (f" > {above:g}" if above > -np.inf else "") + (f" of size up to {most:g}" if most < np.inf else "")

    def test(array: np.ndarray[Any, Any]) -> bool:
        within = array.min(initial=np.inf) > above and np.abs(array).max(initial=0.0) <= most
        return array.dtype == np.float64 and are_finite(array) and bool(within)

    return _array(f"finite float64 numbers{bounds}", axes, test)


def numbers(axes: str) -> Kind:
    """Finite numbers of any width, whole or not."""
    return _array("finite numbers", axes, lambda a: a.dtype.kind in "fiu" and are_finite(a))


def flags(axes: str) -> Kind:
    """An array of true and false."""
    return _array("true or false", axes, lambda a: a.dtype == np.bool_)


def indices(axes: str, below: str | None = None) -> Kind:
    """Numbers of rows: int32 or int64, ≥ 0 and below a size.

    >>> indices("n", below="m").words
    'row numbers 0 … m − 1 in int32 or int64 (n)'
    """
    words = f"row numbers 0 … {below} − 1 in int32 or int64" if below else "row numbers ≥ 0 in int32 or int64"
    return _array(words, axes, lambda a: a.dtype in (np.int32, np.int64) and a.min(initial=0) >= 0, below)


def bounded(kind: Kind, most: int) -> Kind:
    """Row numbers that are below a fixed number too."""
    return replace(
        kind, words=f"{kind.words}, below {most:,}", fits=lambda value: kind.fits(value) and value.max(initial=0) < most
    )


def names(axes: str, words: str = "texts or numbers") -> Kind:
    """Ids of classes, identities or columns: texts, or numbers of any width."""
    return _array(words, axes, lambda a: a.dtype.kind in "biufUO" and are_finite(a))


def is_rows(value: Any) -> bool:
    """Whether this is a table of finite numbers in float32 or float64, dense or sparse.

    Rows without any feature take no byte of a file, so that any number of them could be claimed.
    """
    table = value.data if sparse.issparse(value) else value
    known = isinstance(table, np.ndarray) and table.dtype in (np.float32, np.float64) and value.ndim == 2
    return known and bool(value.shape[1] or not value.shape[0]) and are_finite(table)


def _is_sequence(value: Any) -> bool:
    """A text, a series of numbers, or texts and numbers one after the other."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iufU" and are_finite(value)
    return isinstance(value, str) or (
        isinstance(value, (tuple, list)) and all(TEXT.fits(entry) or FINITE.fits(entry) for entry in value)
    )


def _is_examples(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_sequence, value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        return value.ndim == 1
    wide = isinstance(value, np.ndarray) and value.ndim > 2 and value.dtype in (np.float32, np.float64)
    return isinstance(value, Columns) or is_rows(value) or (wide and value.size > 0 and are_finite(value))


def features_of(examples: Any) -> int | None:
    """Features of rows of numbers; examples of other kinds have none."""
    return int(examples.shape[1]) if is_rows(examples) else None


def rows(axis: str, features: str) -> Kind:
    """A table of examples that machines compare: rows of numbers or columns of a precomputed matrix."""
    words = (
        f"finite float32 or float64 numbers ({axis}, {features}), dense or sparse, or columns of a precomputed matrix; "
        'examples of another kind cannot be stored safely: compute their similarities and fit with base="precomputed"'
    )
    kind = Kind(words, lambda value: isinstance(value, Columns) or is_rows(value))
    return sized(kind, **{axis: count_examples, features: features_of})


def examples(axis: str, features: str = "") -> Kind:
    """A table of examples of any kind that a file can hold."""
    words = f"{axis} examples: finite numbers, dense or sparse, texts, series, or columns of a precomputed matrix"
    kind = sized(Kind(words, _is_examples), **{axis: count_examples})
    return sized(kind, **{features: features_of}) if features else kind


# --------------------------------------------------------------------------- values and several


def value(*classes: Any, words: str = "") -> Kind:
    """A value of one of these classes, which has a schema of its own."""
    listed = words or " or ".join(kind.__name__ for kind in classes)
    return Kind(listed, lambda value: isinstance(value, classes))


def either(*kinds: Kind) -> Kind:
    """Any of these kinds; sizes are those of the first that fits.

    >>> either(POSITIVE, one_of("scale")).words
    'a finite number > 0 or "scale"'
    """

    def measure(value: Any) -> Sizes:
        return next((kind.sizes(value) for kind in kinds if kind.fits(value)), ())

    below = next((kind.below for kind in kinds if kind.below), None)
    words = " or ".join(dict.fromkeys(kind.words for kind in kinds))
    return Kind(words, lambda value: any(kind.fits(value) for kind in kinds), measure, below)


def maybe(kind: Kind) -> Kind:
    """This kind, or none."""
    return either(kind, NOTHING)


def several(kind: Kind, container: type[Any] = tuple, least: int = 0) -> Kind:
    """A tuple (or list) of values of one kind, at least so many.

    >>> several(FINITE).words, several(FINITE).fits((1.0, 2.0)), several(FINITE).fits([1.0])
    ('several: a finite number', True, False)
    """

    def fits(value: Any) -> bool:
        return isinstance(value, container) and len(value) >= least and all(map(kind.fits, value))

    return Kind(f"several: {kind.words}", fits)


def in_turn(*kinds: Kind) -> Kind:
    """A tuple with a kind for each place."""

    def fits(value: Any) -> bool:
        known = isinstance(value, tuple) and len(value) == len(kinds)
        return known and all(kind.fits(entry) for kind, entry in zip(kinds, value, strict=True))

    return Kind(f"({'; '.join(kind.words for kind in kinds)})", fits)


PLAIN = replace(
    either(NOTHING, FLAG, NUMBER, TEXT, several(NUMBER)),
    words="none, true, false, a text, a number, or several numbers",
)
"""A parameter that its own library understands."""

# --------------------------------------------------------------------------- from annotations

SIMPLE: dict[Any, Kind] = {int: whole(), float: FINITE, bool: FLAG, str: TEXT, NoneType: NOTHING}


def annotated(hint: Any) -> Kind | None:
    """The kind that an annotation tells, None where it tells nothing.

    >>> annotated(tuple[float, ...] | None).words
    'several: a finite number or none'
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is None:
        return SIMPLE.get(hint) or (value(hint) if isinstance(hint, type) and hint is not Any else None)
    if origin is Literal:
        return one_of(*args)
    if origin is np.ndarray:
        return _annotated_array(args)
    parts = [annotated(arg) for arg in args if arg is not Ellipsis] if origin in (Union, UnionType, tuple) else [None]
    known = [kind for kind in parts if kind is not None]
    if len(known) < len(parts):
        return None
    if origin is not tuple:
        return either(*known)
    return several(known[0]) if args[-1] is Ellipsis else in_turn(*known)


def _annotated_array(args: tuple[Any, ...]) -> Kind:
    """The kind of `NDArray[…]`: its scalar type alone is told, not its shape."""
    scalar = get_args(args[1])[0]
    wide = {np.floating: floats(), np.integer: indices(""), np.bool_: flags("")}
    return wide[get_origin(scalar) or scalar]


# --------------------------------------------------------------------------- the test of a whole object


def check_fields(owner: str, kinds: dict[str, Kind], parts: dict[str, Any], place: str) -> None:
    """Refuse parts of an object that do not fit their kinds or each other; `place` is where it stands.

    >>> kinds = {"table": floats("m, d"), "left": indices("n", below="m")}
    >>> check_fields("Pairs", kinds, {"table": np.eye(2), "left": np.array([0, 2])}, "")
    Traceback (most recent call last):
    pairlearn.errors.InputError: left[1] is 2, but must be below m = 2
    """
    sizes: dict[str, tuple[int, str]] = {}
    for name, part in parts.items():
        if name not in kinds:
            raise InputError(f"a {owner} has no {place}{name}")
        _check_part(kinds[name], part, place + name, sizes)
    for name, part in parts.items():
        below = kinds[name].below
        if below in sizes and isinstance(part, np.ndarray):
            _check_below(part, below, sizes[below][0], place + name)


def _check_part(kind: Kind, part: Any, place: str, sizes: dict[str, tuple[int, str]]) -> None:
    if not kind.fits(part):
        raise InputError(f"{place} is {shown(part)}, but must be {kind.words}")
    for size, n in kind.sizes(part):
        known, where = sizes.setdefault(size, (n, place))
        if known != n:
            raise InputError(f"{place} has {size} = {n:,}, but {where} has {size} = {known:,}")


def _check_below(index: np.ndarray[Any, Any], name: str, size: int, place: str) -> None:
    if index.size and index.max() >= size:
        first = int(np.argmax(index >= size))
        raise InputError(f"{place}[{first}] is {index.flat[first]:,}, but must be below {name} = {size:,}")


def shown(part: Any) -> str:
    """A value in an error message: short, whatever it is.

    >>> shown(np.eye(2)), shown([1, 2]), shown("high")
    ('float64 (2, 2)', 'a list of 2 entries', "'high'")
    """
    if isinstance(part, np.ndarray) or sparse.issparse(part):
        lacks = "" if is_rows(part) or part.dtype.kind != "f" else " with NaN or infinity" * (not _all_finite(part))
        return f"{part.dtype} {part.shape}{lacks}"
    if isinstance(part, (tuple, list, dict)):
        return f"a {type(part).__name__} of {counted(len(part), 'entry')}"
    if part is None or isinstance(part, (bool, Real, str)):
        text = repr(part) if not isinstance(part, int) or abs(part) < LARGEST else "a number of many digits"
        return text if len(text) < 60 else f"{text[:57]}…"
    return f"a {type(part).__name__}"


def _all_finite(part: Any) -> bool:
    return are_finite(part.data if sparse.issparse(part) else part)


def lengths(values: Sequence[Any]) -> int:
    """The lengths of several values together."""
    return sum(map(len, values))
