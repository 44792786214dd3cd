"""Model files as they are read: one safetensors file from one open descriptor, every size checked before room is made.

A safetensors file is the length of its head in eight bytes, the head in JSON (type, shape and place of every tensor,
and texts of whoever wrote it), and the tensors without gaps. It is read here and not by a map of the file into memory:
a file that someone shortens meanwhile would then end the process, and shapes would be trusted before anyone saw them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.persist.kinds import LARGEST, WIDEST

DTYPES = {
    "BOOL": "bool",
    **{
        f"{letter}{bits}": f"{name}{bits}" for letter, name in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)
    },
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
}
"""Types of tensors: what the file calls them, and NumPy."""
DEEPEST = 64
"""Levels of lists and objects in a document; the deepest model of the tests has 19."""
DIGITS = 20
"""Of a whole number in a document: 2⁶³ has 19."""
LONGEST_HEAD = 10**8
"""Bytes, the limit of safetensors itself."""
MOST_WORDS = 500
"""Characters of a message that a file may choose."""
ENTRY, FREE = 64, 2**27
"""Bytes that an entry of a document takes in memory, and how many of them any file may take."""

Tensors = dict[str, np.ndarray[Any, Any]]
"""The arrays of a file by the name of their place, such as "function_.coefficients"."""


@dataclass(frozen=True)
class Entry:
    """Type, shape and place of one tensor, as the head tells them."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"

    @property
    def nbytes(self) -> int:
        """Bytes that the shape stands for."""
        return prod(self.shape) * np.dtype(DTYPES[self.dtype]).itemsize


@dataclass(frozen=True)
class ModelFile:
    """An open file whose head was read: the texts in it, the tensors that it lists, and its size in bytes."""

    stream: IO[bytes]
    texts: Mapping[str, Any]
    entries: Mapping[str, Entry]
    size: int

    def tensors(self) -> Tensors:
        """All arrays, in the order of the file; each owns its memory, like those of a fresh fit."""
        ordered = sorted(self.entries.items(), key=lambda item: item[1].start)
        return {name: self._read(entry) for name, entry in ordered}

    def _read(self, entry: Entry) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = np.empty(entry.shape, dtype=DTYPES[entry.dtype])
        raw = array.reshape(-1).view(np.uint8)
        if self.stream.readinto(raw.data) != raw.size:  # type: ignore[attr-defined]
            raise InputError("it ends too early")
        if entry.dtype == "BOOL" and raw.max(initial=0) > 1:
            raise InputError("a tensor of true and false holds other numbers")
        return array


@contextmanager
def opened(path: Path, what: str = "model") -> Iterator[ModelFile]:
    """The file at this path, with its head checked; only regular files are read, for others may have no end."""
    try:
        there, is_dir = path.exists(), path.is_dir()
    except (OSError, ValueError) as error:  # longer than names may be, or with a zero in it
        said = getattr(error, "strerror", None) or error
        raise InputError(f"there is no {what} file {str(path)[:60]!r}: {said}") from error
    if is_dir:
        raise InputError(f"{path} is a directory; name the {what} file in it")
    if not there:
        raise InputError(f"there is no {what} file {path}")
    if not path.is_file():
        raise InputError(f"{path} is not a regular file but a device, a pipe or a socket; copy the {what} to a file")
    with _stream(path) as stream:
        try:
            file = _with_head(stream, path.stat().st_size)
        except (ValueError, RecursionError, TypeError, KeyError) as error:
            raise InputError(
                f"{path} is not a {what} file, or it is truncated or damaged ({in_one_line(error)})"
            ) from error
        yield file


def _stream(path: Path) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def _with_head(stream: IO[bytes], size: int) -> ModelFile:
    length = int.from_bytes(stream.read(8), "little")
    if size < 8 or length > min(size - 8, LONGEST_HEAD):
        raise InputError(f"its head would take {length:,} of {size:,} bytes")
    head = stream.read(length)
    entries = sum(map(head.count, (b",", b"[", b"{")))
    if ENTRY * entries > 2 * size + FREE:
        raise InputError(f"its head has {entries:,} entries in {size:,} bytes")
    listed = parsed(head.decode())
    texts = listed.pop("__metadata__", {})
    found = {name: _entry(name, line) for name, line in listed.items()}
    _check_places(found, size - 8 - length)
    return ModelFile(stream, texts, found, size)


def _entry(name: str, line: dict[str, Any]) -> Entry:
    shape, (start, stop) = tuple(line["shape"]), line["data_offsets"]
    entry = Entry(line["dtype"], shape, start, stop)
    if line["dtype"] not in DTYPES or any(type(n) is not int or n < 0 for n in (*shape, start, stop)):
        raise InputError(f"tensor {name!r} is of type {line['dtype']!r} and shape {shape}")
    if entry.nbytes != stop - start or (0 in shape and max(shape) > WIDEST):
        raise InputError(f"tensor {name!r} of shape {shape} does not fit in {stop - start:,} bytes")
    return entry


def _check_places(entries: Mapping[str, Entry], room: int) -> None:
    """Tensors follow each other without gaps up to the end, so that none shares bytes with another."""
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].stop)):
        if entry.start != end:
            raise InputError(f"tensor {name!r} is not where the one before ends")
        end = entry.stop
    if end != room:
        raise InputError(f"its tensors take {end:,} bytes, but {room:,} are there")


def in_one_line(words: Any) -> str:
    """What a file may have put into a message, no longer than is read."""
    return " ".join(str(words).split())[:MOST_WORDS]


# --------------------------------------------------------------------------- JSON with bounds


def parsed(text: str) -> Any:
    """What a JSON text says; deep nesting, long numbers, NaN and infinity are refused.

    >>> parsed('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parsed("[" * 65 + "]" * 65)
    Traceback (most recent call last):
    pairlearn.errors.InputError: the document is nested deeper than 64 levels
    """
    found = json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
    check_depth(found)
    return found


def _whole(digits: str) -> int:
    if len(digits) > DIGITS or abs(number := int(digits)) >= LARGEST:
        raise InputError(f"the document has a number of {len(digits):,} digits")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise InputError(f"the document has the number {digits[:20]}")
    return number


def check_depth(document: Any) -> None:
    """Refuse lists and objects within each other beyond 64 levels: what reads them calls itself for each."""
    level = _nested([document])
    for _ in range(DEEPEST):
        level = _nested(entry for part in level for entry in (part.values() if isinstance(part, dict) else part))
        if not level:
            return
    raise too_deep()


def _nested(parts: Iterable[Any]) -> list[Any]:
    return [part for part in parts if isinstance(part, (dict, list))]


def too_deep() -> InputError:
    """What lists and objects within each other beyond the bound are refused with."""
    return InputError(f"the document is nested deeper than {DEEPEST} levels")
