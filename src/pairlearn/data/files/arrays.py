"""Arrays of NumPy files, .npz and .npy: known by their headers, loaded when they are used, never unpickled."""

from __future__ import annotations

import math
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np

from pairlearn.data.files.bounds import refuse_unpacked
from pairlearn.data.files.cells import shortened
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError

ENDING = ".npy"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How NumPy packs; others are not read, since their sizes cannot be trusted."""
MOST_ARRAYS = 1000
LARGE = 2**26
"""Bytes of an array from which on it is mapped into memory instead of read."""
SURROGATES = 0xD800 // 2**11
"""Halves of characters in UTF-16, which mean nothing alone."""
UNKNOWN: np.dtype[Any] = np.dtype(float)
"""The type of an array whose header was not read yet."""


@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array as its header describes it; `member` is its name within an .npz file, `together` the bytes of all that
    are loaded with it: one column of a table seldom comes alone."""

    source: Source
    member: str | None
    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] = UNKNOWN
    together: int = 0

    def __str__(self) -> str:
        return str(self.source) if self.member is None else f"{self.source}: {shortened(self.member)}"

    @property
    def bytes(self) -> int:
        """Of the loaded array."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def is_mapped(self) -> bool:
        """Whether it is read from its file when it is used: large rows of float32 or float64 in an .npy file."""
        alone = self.member is None and self.source.path is not None and self.source.content is None
        return alone and self.bytes > LARGE and len(self.shape) == 2 and self.dtype in (np.float32, np.float64)

    def load(self) -> np.ndarray[Any, Any]:
        """The array itself; objects are not loaded."""
        if self.dtype.hasobject:
            raise InputError(
                f"{self} holds pickled objects, which are never loaded; save numbers, and ids as strings: "
                "np.savez(path, X=X, ids=np.array(ids, dtype=str))"
            )
        if self.is_mapped:
            with _foreign(self):
                return np.asarray(np.load(str(self.source.path), mmap_mode="c", allow_pickle=False))
        advice = "save it again with np.savez, which does not pack"
        refuse_unpacked(self, self.source.size, max(self.bytes, self.together), advice)
        with _foreign(self), self.source.open() as file, _opened(file, self.member) as content:
            array: np.ndarray[Any, Any] = np.lib.format.read_array(content, allow_pickle=False)
            if array.dtype.kind == "U":
                _check_characters(array)
        return array


def read_arrays(source: Source) -> dict[str, StoredArray]:
    """All arrays of an .npz file by name, or that of an .npy file as X; none is loaded yet."""
    with source.open() as file:
        packed = file.read(2) == b"PK"
        file.seek(0)
        if packed != (source.format == "npz"):
            holds = "several arrays: name it .npz" if packed else "a single array (name it .npy) or is no NumPy file"
            raise InputError(f"{source} holds {holds}; or write it again with np.savez")
        if not packed:
            return {"X": _described(StoredArray(source, None), file, source.size)}
        with _foreign(source), zipfile.ZipFile(file) as archive:
            found = [_member(source, archive, member) for member in archive.infolist()]
    arrays = [array for array in found if array is not None]
    columns = sum(array.bytes for array in arrays if len(array.shape) == 1)
    return {
        str(array.member).removesuffix(ENDING): replace(array, together=columns) if len(array.shape) == 1 else array
        for array in arrays
    }


def _member(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> StoredArray | None:
    """The array of a member, None if it is something else."""
    if not member.filename.endswith(ENDING):
        return None
    if len(archive.namelist()) > MOST_ARRAYS:
        raise InputError(f"{source} holds more than {MOST_ARRAYS:,} arrays; save the features as one array X")
    name = StoredArray(source, member.filename)
    with _foreign(name), _packed(archive, member.filename) as content:
        return _described(name, content, member.file_size)


def _described(array: StoredArray, content: IO[bytes], size: int) -> StoredArray:
    """The array with what the header says, if the bytes behind it suffice."""
    with _foreign(array):
        version = np.lib.format.read_magic(content)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(content)
        found = replace(array, shape=tuple(map(int, shape)), dtype=dtype)
        # Rows without columns take no bytes, but whoever numbers them needs some for each.
        lacking = min(found.shape, default=1) < 0 or not dtype.itemsize or max(found.shape[:1], default=0) > size
        lacking = lacking or content.tell() + found.bytes > size
        if lacking and not dtype.hasobject:
            raise ValueError(f"its header tells of {shape} values, which are not there")
    return found


def _check_characters(array: np.ndarray[Any, Any]) -> None:
    """Refuse text of numbers that are no characters; Python would make strings of them that cannot be used."""
    codes = np.ascontiguousarray(array).view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
    if ((codes > sys.maxunicode) | (codes // 2**11 == SURROGATES)).any():
        raise ValueError("its text holds numbers that are no characters")


@contextmanager
def _opened(file: IO[bytes], member: str | None) -> Iterator[IO[bytes]]:
    """The content of an .npy file, or of a member of an .npz file."""
    if member is None:
        yield file
        return
    with zipfile.ZipFile(file) as archive, _packed(archive, member) as content:
        yield content


def _packed(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    if archive.getinfo(member).compress_type not in METHODS:
        raise ValueError("packed in a way that NumPy does not write")
    return archive.open(member)


@contextmanager
def _foreign(name: object) -> Iterator[None]:
    """Whatever zipfile and NumPy raise on a file that is not what its name says becomes an error of ours."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        words = shortened(str(error) or type(error).__name__, 200)
        raise InputError(
            f"{name} is truncated, damaged or not a NumPy file ({words}); write it again with np.savez"
        ) from error
