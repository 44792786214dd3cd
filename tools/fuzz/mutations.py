"""What targets share: friendly tables to start from, and mutations of bytes that know no format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Rng = np.random.Generator
Mutation = Callable[[Rng, bytes], bytes]

NASTY: tuple[Any, ...] = (
    *(
        "",
        " ",
        "nan",
        "NA",
        "inf",
        "-Infinity",
        "1e400",
        "1e-400",
        "0x10",
        "1_000",
        "1,5",
        "true",
        "[1, 2",
        "[[1],[2]]",
    ),
    *("9" * 5000, "٣", "\u202e", "é", "\x00", '"', "'", "=1+1", "2024-01-01", "-0", "1e101", "None", "a" * 70_000),
)
"""Cells that readers take differently."""


def pick(rng: Rng, values: Sequence[Any]) -> Any:
    """One of these."""
    return values[int(rng.integers(len(values)))]


def friendly(rng: Rng, kind: str) -> dict[str, Any]:
    """Columns of a table that is read without complaint: examples, pairs, games, numbers or scores."""
    n, d = int(rng.integers(3, 40)), int(rng.integers(1, 6))
    ids = [f"ann{k}" for k in range(n)]
    if kind == "examples":
        features = {f"x{j}": rng.normal(size=n).round(3) for j in range(d)}
        return {"id": ids, "class": [f"c{k % 3}" for k in range(n)], **features}
    sides = {"left": [pick(rng, ids) for _ in ids], "right": [pick(rng, ids) for _ in ids]}
    labels = {"games": [1, -1, 0], "numbers": [0.5, 2.25, -7.0]}.get(kind, [1, -1])
    label = {"label": [labels[k % len(labels)] for k in range(n)]}
    return {**sides, **({"score": rng.normal(size=n)} if kind == "scores" else {}), **label}


# --------------------------------------------------------------------------- bytes


def flipped(rng: Rng, content: bytes) -> bytes:
    """A few bytes replaced by any others."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 8))):
        if found:
            found[int(rng.integers(len(found)))] = int(rng.integers(256))
    return bytes(found)


def cut(rng: Rng, content: bytes) -> bytes:
    """Only the beginning."""
    return content[: int(rng.integers(len(content) + 1))]


def spliced(rng: Rng, content: bytes) -> bytes:
    """A part taken out, said twice, or put somewhere else."""
    low, high = sorted(int(place) for place in rng.integers(0, len(content) + 1, size=2))
    part, place = content[low:high], int(rng.integers(len(content) + 1))
    rest = content[:low] + content[high:] if rng.random() < 0.5 else content
    return rest if rng.random() < 0.5 else rest[:place] + part + rest[place:]


def filled(rng: Rng, content: bytes) -> bytes:
    """Foreign bytes in the middle: zeros, ones, noise, marks of other encodings."""
    place, n = int(rng.integers(len(content) + 1)), int(rng.integers(1, 64))
    part = pick(rng, (b"\x00" * n, b"\xff" * n, rng.bytes(n), b"\xef\xbb\xbf", b"\xff\xfe", b'"', b"\r", b"\n" * n))
    return content[:place] + part + content[place + (len(part) if rng.random() < 0.5 else 0) :]


BYTES: tuple[Mutation, ...] = (flipped, cut, spliced, filled)
"""Mutations that know no format."""


def bytes_mutated(rng: Rng, content: bytes) -> bytes:
    """One or two of them."""
    for _ in range(int(rng.integers(1, 3))):
        content = pick(rng, BYTES)(rng, content)
    return content
