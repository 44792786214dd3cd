"""Locks on files, which end with the process that holds them."""

from __future__ import annotations

from typing import IO, Any

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[Any], *, wait: bool = True) -> bool:
    """Lock an open file until it is closed; whether it is locked now. Where there are no locks nothing is."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # held by another, or a file system without locks
        return False
    return True
