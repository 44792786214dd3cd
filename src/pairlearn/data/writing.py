"""Files written all or nothing: tables, and any content."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.files.cells import shortened
from pairlearn.data.files.frames import load_polars
from pairlearn.data.locks import lock
from pairlearn.data.texts import Texts
from pairlearn.errors import InputError, OutputError

if TYPE_CHECKING:
    import polars

TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".npz")
"""Endings of tables that can be written."""

DRAFT = ".pairlearn-{}.tmp"
"""Name of a file that is not yet whole."""

WRITTEN: list[Path] = []
"""Files that this process has written, in their order: what an interrupted command has to tell."""


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the new content is there, never half of it.

    The content goes to a draft in the same directory, reaches the disk, and takes the name of the target in one step:
    a crash, a full disk or two writers at once leave the old file or one of the new ones. Who may read the old file may
    read the new one. Drafts that a killed process has left in this directory are removed.
    """
    target = check_target(path)
    with naming(path), drafted(target) as file:
        _fill(file, content, target)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Say which file it is that cannot be written, and what to do."""
    try:
        yield
    except (OutputError, BrokenPipeError):
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        advice = "make room, or choose another place" if full else "choose another place"
        raise OutputError(f"cannot write {path}: {error.strerror or error}; {advice}") from error


def _fill(file: IO[bytes], content: bytes, target: Path) -> None:
    """Write the draft and let it take the place of the target; whatever fails, no draft stays."""
    try:
        file.write(content)
        take_place(file, target)
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def take_place(file: IO[bytes], target: Path) -> None:
    """Let a draft, which is whole now, reach the disk and take the name of the target in one step."""
    file.flush()
    if target.exists():
        os.chmod(file.name, stat.S_IMODE(target.stat().st_mode))
    os.fsync(file.fileno())
    os.replace(file.name, target)
    WRITTEN.append(target)


# Drafts. A writer holds a lock on its draft, and a lock goes with its process: a draft that nobody has locked is an
# orphan. One that was taken for an orphan before its writer could lock it has no name any more, and another is made.


def drafted(target: Path) -> IO[bytes]:
    """A new file beside the target, locked by this process; orphans beside it are removed."""
    remove_orphans(target.parent)
    while True:
        file = open(target.parent / DRAFT.format(secrets.token_hex(6)), "xb")  # noqa: SIM115 (the caller closes it)
        lock(file)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()


def remove_orphans(directory: Path) -> None:
    """Remove the drafts in this directory that killed processes have left."""
    for draft in directory.glob(DRAFT.format("*")):
        with suppress(OSError), open(draft, "rb") as file:
            if lock(file, wait=False):
                draft.unlink()


def check_target(path: str | Path, *, force: bool = True) -> Path:
    """Where a file will be written, or what stands in its way: worth asking before a long computation.

    An older file stands in the way unless `force`.
    """
    if not str(path):
        raise InputError("the name of the file to write is empty; give one")
    try:
        target = Path(os.path.realpath(path))
        is_dir = target.exists() and target.is_dir()
    except (OSError, ValueError) as error:  # longer than names may be, or with a zero in it
        said = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot write {shortened(str(path))}: {said}; choose another name") from error
    if is_dir:
        raise InputError(f"{path} is a directory; name a file in it")
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is a device, a pipe or a socket, which a file would replace; name a regular file")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no directory {target.parent}; create it first")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: no permission to write in {target.parent}; choose another place")
    if target.exists() and not force:
        raise InputError(f"{path} exists; name another file, or replace it with --force")
    return target


def write_table(path: str | Path, columns: Mapping[str, Any]) -> None:
    """Write columns of one length as a table, all or nothing; - is standard output, as CSV.

    The end of the name says how: .csv, .tsv, .jsonl, .parquet or .npz. Numbers are written with all their digits: read
    again they are equal to the last bit.
    """
    if str(path) == "-":
        sys.stdout.buffer.write(table_bytes(columns, ".csv"))
        sys.stdout.flush()
        return
    write_whole(path, table_bytes(columns, check_table_target(path, force=True).suffix.lower()))


def table_bytes(columns: Mapping[str, Any], ending: str) -> bytes:
    """A table as the content of a file with this ending.

    >>> table_bytes({"left": ["ann"], "score": np.array([0.5])}, ".csv")
    b'left,score\\nann,0.5\\n'
    """
    buffer = BytesIO()
    if ending == ".npz":
        arrays: dict[str, Any] = {name: np.asarray(column) for name, column in columns.items()}
        np.savez(buffer, **arrays)
        return buffer.getvalue()
    frame = as_frame(columns)
    write: dict[str, Any] = {
        ".csv": frame.write_csv,
        ".tsv": partial(frame.write_csv, separator="\t"),
        ".jsonl": frame.write_ndjson,
        ".parquet": frame.write_parquet,
    }
    write[ending](buffer)
    return buffer.getvalue()


def as_frame(columns: Mapping[str, Any]) -> polars.DataFrame:
    """Columns of one length as a table of Polars."""
    found = {name: column.series() if isinstance(column, Texts) else column for name, column in columns.items()}
    return load_polars().DataFrame(found)


def check_table_target(path: str | Path, *, force: bool = False) -> Path:
    """Where a table will be written, or what stands in its way; - is standard output."""
    if str(path) == "-":
        return Path("-")
    if Path(path).suffix.lower() not in TABLES:
        raise InputError(f"cannot write {path}; the name must end in one of {', '.join(TABLES)}")
    return check_target(path, force=force)
