"""Which file to read, in which format, and what messages call it; `-` is standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from pairlearn.errors import InputError

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
"""First bytes that tell the format of standard input; anything else is a text table."""


@dataclass(frozen=True)
class Source:
    """A file, its format, and its content if it does not stand on disk as it is read.

    >>> Source("standard input", "csv", None, b"id,x").place(0)
    'line 2'
    """

    name: str
    format: str
    path: Path | None
    content: bytes | None = None

    def __str__(self) -> str:
        return self.name

    def open(self) -> IO[bytes]:
        """The content from its beginning."""
        return self.path.open("rb") if self.path is not None and self.content is None else BytesIO(self.content or b"")

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
        return _standard_input()
    path = existing_file(path)
    packed = path.suffix == ".gz"
    known = FORMATS.get(Path(path.stem).suffix.lower() if packed else path.suffix.lower())
    if known is None or (packed and known not in TEXT):
        raise InputError(f"cannot read {path}; its name must end in one of {ENDINGS} (text also with .gz)")
    return Source(str(path), known, path, _unpacked(path) if packed else None)


def existing_file(path: str | Path) -> Path:
    """The path, if there is a file."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"there is no file {path}; it is a directory")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path} is empty")
    return path


def _standard_input() -> Source:
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InputError("standard input is empty; pipe a table into it")
    found = next((name for start, name in SIGNATURES if content.lstrip()[:8].startswith(start)), "csv")
    return Source("standard input", found, None, content)


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a gzip file or it is truncated ({error}); pack it again") from error
