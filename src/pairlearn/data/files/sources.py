"""Which file to read, in which format, and what messages call it; `-` is standard input.

Regular files are opened as often as needed; pipes are read once. Devices and sockets are never read.
"""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from pairlearn.data.files.bounds import most_held, most_unpacked, read_up_to, refuse_unpacked
from pairlearn.errors import InputError
from pairlearn.words import sized

FORMATS: dict[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".npz": "npz",
    ".npy": "npy",
}
"""Formats by the end of a name; all but .npz, .npy and .parquet may end in .gz too."""
TEXT = ("csv", "tsv", "jsonl")
ENDINGS = ", ".join(FORMATS)
SIGNATURES = ((b"PAR1", "parquet"), (b"PK\x03\x04", "npz"), (b"\x93NUMPY", "npy"), (b"{", "jsonl"))
"""First bytes that tell the format of a pipe; anything else is a text table."""
READABLE = {stat.S_IFREG, stat.S_IFIFO}
OTHERS = {stat.S_IFDIR: "directory", stat.S_IFSOCK: "socket"}
"""What stands in a file system and is not read, by its name; anything else is a device."""


@dataclass(frozen=True)
class Source:
    """A file, its format, its content if it does not stand on disk as it is read, and its size if it was packed.

    >>> Source("standard input", "csv", None, b"id,x").place(0)
    'line 2'
    """

    name: str
    format: str
    path: Path | None
    content: bytes | None = None
    packed: int | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return self.path.stat().st_size if self.path is not None and self.content is None else len(self.content or b"")

    def open(self) -> IO[bytes]:
        """The content from its beginning."""
        if self.path is None or self.content is not None:
            return BytesIO(self.content or b"")
        try:
            return self.path.open("rb")
        except OSError as error:
            raise _unreachable(self, error) from error

    def place(self, row: int) -> str:
        """Where a row stands: the line of a text file, else the number of the row."""
        return {"csv": f"line {row + 2}", "tsv": f"line {row + 2}", "jsonl": f"line {row + 1}"}.get(
            self.format, f"row {row}"
        )


def find_source(path: str | Path | Source) -> Source:
    """The source of a path; it is there and not empty, and its name tells a format that can be read."""
    if isinstance(path, Source):
        return path
    if str(path) == "-":
        return _of_pipe("standard input", sys.stdin.buffer)
    path = existing_file(path)
    if path.is_fifo():
        with _opened_pipe(path) as pipe:
            return _of_pipe(str(path), pipe)
    packed = path.suffix == ".gz"
    known = FORMATS.get(Path(path.stem).suffix.lower() if packed else path.suffix.lower())
    if known is None or (packed and known not in TEXT):
        raise InputError(f"cannot read {path}; its name must end in one of {ENDINGS} (text also with .gz)")
    return (
        Source(str(path), known, path, unpacked(path), path.stat().st_size)
        if packed
        else Source(str(path), known, path)
    )


def existing_file(path: str | Path) -> Path:
    """The path, if there is a file or a pipe."""
    path = Path(path)
    try:
        found = path.stat()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise _unreachable(path, error) from error
    kind = stat.S_IFMT(found.st_mode)
    if kind not in READABLE:
        raise InputError(f"there is no file {path}; it is a {OTHERS.get(kind, 'device')}")
    if kind == stat.S_IFREG and found.st_size == 0:
        raise InputError(f"{path} is empty")
    return path


def unpacked(path: Path) -> bytes:
    """The content of a gzip file, as far as a file of its size may have it."""
    size = path.stat().st_size
    try:
        with gzip.open(path) as file:
            content = read_up_to(file, most_unpacked(size))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a gzip file or it is truncated ({error}); pack it again") from error
    refuse_unpacked(path, size, len(content), "unpack it first (gunzip)")
    return content


def _unreachable(name: object, error: Exception) -> InputError:
    return InputError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}")


def _opened_pipe(path: Path) -> IO[bytes]:
    """A pipe, opened without waiting for somebody to write into it: then it is empty."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return open(descriptor, "rb")


def _of_pipe(name: str, pipe: IO[bytes]) -> Source:
    """All that comes out of a pipe; its first bytes tell the format."""
    most = most_held()
    content = read_up_to(pipe, most)
    if len(content) > most:
        raise InputError(f"{name} goes on after {sized(most)}, a quarter of the free memory; write it to a file")
    if not content.strip():
        raise InputError(f"{name} is empty; pipe a table into it")
    found = next((name for start, name in SIGNATURES if content.lstrip()[:8].startswith(start)), "csv")
    return Source(name, found, None, content)
