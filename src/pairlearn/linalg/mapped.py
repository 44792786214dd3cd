"""Arrays whose numbers stand in a file: the system holds those in memory that are in use, as long as there is room."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

import numpy as np

from pairlearn.errors import OutputError
from pairlearn.types import Floats
from pairlearn.words import sized

BLOCK = 2**24
"""Bytes of an array that are looked at together."""


def is_mapped(array: Any) -> bool:
    """Whether an array, or the one that it is a view of, is a memory-mapped file.

    >>> is_mapped(np.ones(3)), is_mapped(on_disk((3, 2))[1:])
    (False, True)
    """
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def on_disk(shape: tuple[int, ...], dtype: Any = np.float64) -> Floats:
    """An array in a temporary file without a name, which goes with the last reference to it.

    The file is where TMPDIR says. Its room is taken at once: a disk that is full would end the process later.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with TemporaryFile() as file:
        take_room(file, size, gettempdir())
        return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=shape))


def take_room(file: IO[bytes], size: int, where: object) -> None:
    """Let a file have so many bytes on its disk, or say what to do."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, max(1, size))
        else:
            for start in range(0, size, BLOCK):
                file.write(bytes(min(BLOCK, size - start)))
            file.flush()
    except OSError as error:
        raise OutputError(
            f"there is no room for a file of {sized(size)} in {where}: {error.strerror or error}; make some, or name "
            "another place with the environment variable TMPDIR"
        ) from error


def row_blocks(array: Any, most: int = BLOCK) -> Iterator[slice]:
    """The rows of an array in parts of so many bytes at most, at least one row each.

    >>> list(row_blocks(np.ones((5, 2)), 32))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n = len(array)
    step = max(1, most // max(1, array.nbytes // max(1, n)))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
