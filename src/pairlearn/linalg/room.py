"""How much memory is free, and how large a dense matrix there is memory for."""

from __future__ import annotations

import ctypes
import os

FACTORED = 0.7
"""Share of the rows of the largest matrix that leaves room for a Cholesky factor of these rows beside it."""
BYTES = 13
"""Bytes per entry of the largest matrix: 8 for itself, 8 · FACTORED² = 3.9 for the factor of a smaller one, and the
columns that correct it."""
KEPT = 2**26
"""Bytes below which freed memory is kept: the next small fit takes it, and does not ask the system for every page."""
MOST = 60_000
"""Rows that no matrix needs, however much memory there is: 43 GB, and a factor of them takes hours."""


def order_within(memory: float) -> int:
    """Largest n so that an n × n matrix and a factor of 0.7 n of its rows need at most so many bytes.

    >>> order_within(1e9)
    8770
    """
    return min(int((max(0.0, memory) / BYTES) ** 0.5), MOST)


def give_back(used: int) -> None:
    """Return freed memory to the system now, if so much was in use that it is worth the time.

    The C library keeps up to 64 MB of it otherwise, of arrays below 32. A budget is for what a process takes, and a
    large array finds no room in what is kept of smaller ones.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if used > KEPT else None
    if trim is not None:
        trim(0)


def available_memory() -> int:
    """Bytes of memory free for use now."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
