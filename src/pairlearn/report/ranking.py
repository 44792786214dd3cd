"""The page of `rank order`: everyone in order, and who comes before whom as a chart that also shows circles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pairlearn._version import __version__
from pairlearn.report.html import environment, policy, read_part, trusted
from pairlearn.types import Floats
from pairlearn.words import counted

MOST = 60
"""Examples of the chart, from the first."""
CELL, LETTER, BAR = 16, 7, 180
"""Pixels: side of a cell of the chart, width of a letter, and of all bars."""
LONGEST = 18
"""Letters of a name that the chart shows."""
FAINTEST = 0.08


class Cell(NamedTuple):
    """One pair of the chart: where, how strongly the row comes before the column (or after), in words."""

    x: int
    y: int
    before: bool
    strength: float
    words: str


def ranking_page(rows: Sequence[tuple[int, str, float]], relation: Floats, cycles: str) -> str:
    """One file without a script; rows are (rank, id, score), best first, relation g(a, b) among the first of them."""
    style = read_part("page.css")
    names = [name for _, name, _ in rows[: len(relation)]]
    largest = max((abs(score) for *_, score in rows), default=0.0) or 1.0
    return environment().from_string(read_part("ranking.html.jinja")).render(
        title="Who comes first",
        version=__version__,
        policy=policy("", style),
        style=trusted(style),
        total=counted(len(rows), "example"),
        rows=[(*row, row[2] / largest * BAR / 2) for row in rows],
        names=names,
        cells=chart(names, relation),
        cycles=cycles,
        longest=LONGEST,
        size=(10 + LETTER * min(LONGEST, max(map(len, names), default=0)), CELL, BAR),
    )  # fmt: skip


def chart(names: Sequence[str], relation: Floats) -> list[Cell]:
    """A cell for every pair of two, as strong as its share of the largest value.

    >>> chart(["ann", "bob"], np.array([[0.0, 2.0], [-2.0, 0.0]]))[1].words
    'bob after ann: -2'
    """
    largest = float(np.abs(relation).max(initial=0.0)) or 1.0
    return [
        Cell(j, i, bool(g > 0), FAINTEST + (1.0 - FAINTEST) * abs(g) / largest,
             f"{names[i]} {'before' if g > 0 else 'after'} {names[j]}: {g:+.3g}")
        for i, row in enumerate(relation.tolist()) for j, g in enumerate(row) if g
    ]  # fmt: skip
