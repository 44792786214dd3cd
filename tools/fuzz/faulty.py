"""A reader that keeps no promise, to see that each breach is noticed; the content of a file says how it fails."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from pairlearn.errors import InputError

NAME = "_faulty"
MUCH = 300_000_000
"""Bytes: more than a case may take, and no more: a busy machine takes seconds to hand out a gigabyte."""
FAULTS = ("use", "refuse", "nameless", "foreign", "crash", "hang", "memory")


def make(rng: np.random.Generator, folder: Path) -> Path:
    """A file with one of the words."""
    path = folder / "fault.txt"
    path.write_text(FAULTS[int(rng.integers(len(FAULTS)))])
    return path


def use(path: Path) -> str:
    """Do what the file says."""
    fault = path.read_text()
    if fault == "refuse":
        raise InputError(f"{path} is refused")
    if fault == "nameless":
        raise InputError("something is refused")
    if fault == "foreign":
        raise KeyError("x")
    if fault == "crash":
        os.abort()
    if fault == "hang":
        time.sleep(1000)
    return f"{len(bytearray(b'x') * MUCH) if fault == 'memory' else 0} bytes"
