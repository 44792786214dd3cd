"""Labels ±1 of pairs in the spellings that files use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pairlearn.errors import InputError
from pairlearn.types import Ints

SCHEMES: tuple[dict[str, int], ...] = (
    {"1": 1, "-1": -1},
    {"1": 1, "0": -1},
    {"true": 1, "false": -1},
    {"same": 1, "different": -1},
)
"""Spellings of labels that are accepted, each with its meaning."""


def read_labels(
    cells: Sequence[str | None], source: str = "labels", place: Callable[[int], str] = "row {}".format
) -> tuple[Ints, dict[str, int]]:
    """Labels ±1 from one of the accepted spellings, and that spelling; `place` says where a row stands.

    >>> labels, spelling = read_labels(["same", "different", "same"])
    >>> labels.tolist(), spelling
    ([1, -1, 1], {'same': 1, 'different': -1})
    """
    plain = [_plain_label(cell) for cell in cells]
    found = dict.fromkeys(plain)
    for scheme in SCHEMES:
        if found.keys() <= scheme.keys():
            return np.array([scheme[cell] for cell in plain]), scheme
    known = {name for scheme in SCHEMES for name in scheme}
    row = next((i for i, cell in enumerate(plain) if cell not in known), None)
    problem = (
        f"mixes {', '.join(sorted(found))}"
        if row is None
        else f"{place(row)} holds {repr(cells[row]) if cells[row] else 'nothing'}"
    )
    raise InputError(
        f"{source}: {problem}; labels are 1/-1, 1/0, true/false or same/different, one spelling per column, "
        "and unlabelled pairs must be dropped"
    )


def _plain_label(cell: str | None) -> str:
    text = (cell or "").strip().lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if np.isfinite(number) and number == int(number) else text
