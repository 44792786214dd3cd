"""Labels of pairs in the spellings that files use: ±1, and for preferences 0 too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from pairlearn.data.files.cells import shortened
from pairlearn.errors import InputError
from pairlearn.types import Ints

SCHEMES: tuple[dict[str, int], ...] = (
    {"1": 1, "-1": -1},
    {"1": 1, "0": -1},
    {"true": 1, "false": -1},
    {"same": 1, "different": -1},
)
"""Spellings of labels that are accepted, each with its meaning."""
SAME = frozenset({"true", "false", "same", "different"})
"""Words that only labels same or different use."""
OUTCOMES: tuple[dict[str, int], ...] = (
    {"1": 1, "-1": -1, "0": 0},
    {"1": 1, "0": -1, "0.5": 0},
    {"left": 1, "right": -1, "tie": 0},
    {"win": 1, "loss": -1, "draw": 0},
)
"""Spellings of preferences: +1 left first, −1 right first, 0 a tie."""


def read_labels(
    cells: Sequence[str | None],
    source: str = "labels",
    place: Callable[[int], str] = "row {}".format,
    schemes: Sequence[dict[str, int]] = SCHEMES,
) -> tuple[Ints, dict[str, int]]:
    """Labels from one of the accepted spellings, and that spelling; `place` says where a row stands.

    >>> labels, spelling = read_labels(["same", "different", "same"])
    >>> labels.tolist(), spelling
    ([1, -1, 1], {'same': 1, 'different': -1})
    """
    plain = [plain_label(cell) for cell in cells]
    found = dict.fromkeys(plain)
    fitting = [scheme for scheme in schemes if found.keys() <= scheme.keys()]
    labels = [np.array([scheme[cell] for cell in plain], dtype=np.int64) for scheme in fitting]
    if labels and all(np.array_equal(labels[0], other) for other in labels[1:]):
        return labels[0], fitting[0]
    spellings = _listed("/".join(scheme) for scheme in schemes)
    raise InputError(
        f"{source}: {_problem(plain, cells, place, schemes)}; labels are {spellings}, one spelling per column, "
        "and unlabelled pairs must be dropped"
    )


def _problem(
    plain: Sequence[str],
    cells: Sequence[str | None],
    place: Callable[[int], str],
    schemes: Sequence[Mapping[str, int]],
) -> str:
    """Why no spelling fits, or more than one does."""
    known = {name for scheme in schemes for name in scheme}
    row = next((i for i, cell in enumerate(plain) if cell not in known), None)
    if row is not None:
        return f"{place(row)} holds {shortened(cells[row]) if cells[row] else 'nothing'}"
    names = ", ".join(sorted(set(plain)))
    meant = any(set(plain) <= scheme.keys() for scheme in schemes)
    return f"holds {names} only, which can mean two things" if meant else f"mixes {names}"


def _listed(names: Iterable[str]) -> str:
    """One, two or three."""
    *first, last = names
    return f"{', '.join(first)} or {last}"


def plain_label(cell: str | None) -> str:
    """A cell in small letters without blanks, whole numbers without a point."""
    text = (cell or "").strip().lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if np.isfinite(number) and number == int(number) else text
