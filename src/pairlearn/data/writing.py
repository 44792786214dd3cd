"""Files written all or nothing: tables, and any content."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from pairlearn.data.files.frames import load_polars
from pairlearn.errors import InputError

TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".npz")
"""Endings of tables that can be written."""


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the new content is there, never half of it.

    The content goes to a draft in the same directory, reaches the disk, and takes the name of the target in one step:
    a crash, a full disk or two writers at once leave the old file or one of the new ones.
    """
    target = check_target(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with _draft(draft, path) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _draft(draft: Path, path: str | Path) -> IO[bytes]:
    try:
        return open(draft, "xb")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose another place") from error


def check_target(path: str | Path, *, force: bool = True) -> Path:
    """Where a file will be written, or what stands in its way: worth asking before a long computation.

    An older file stands in the way unless `force`.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a directory; name a file in it")
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
    frame = load_polars().DataFrame(dict(columns))
    write = {
        ".csv": frame.write_csv,
        ".tsv": partial(frame.write_csv, separator="\t"),
        ".jsonl": frame.write_ndjson,
        ".parquet": frame.write_parquet,
    }
    write[ending](buffer)
    return buffer.getvalue()


def check_table_target(path: str | Path, *, force: bool = False) -> Path:
    """Where a table will be written, or what stands in its way; - is standard output."""
    if str(path) == "-":
        return Path("-")
    if Path(path).suffix.lower() not in TABLES:
        raise InputError(f"cannot write {path}; the name must end in one of {', '.join(TABLES)}")
    return check_target(path, force=force)
