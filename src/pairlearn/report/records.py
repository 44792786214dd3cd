"""The page of `match` and `dedupe`: what each cutoff costs, precision and recall with limits over records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pairlearn._version import __version__
from pairlearn.evaluation.scores import Scores
from pairlearn.records.explain import explain_pairs
from pairlearn.records.judging import Cutoff, cutoffs
from pairlearn.records.matcher import Matcher, Matches
from pairlearn.report.html import environment, policy, read_part, trusted

WIDTH, HEIGHT, EDGE = 520, 260, 36
"""Of the drawing, in pixels."""
MOST = 6
"""Pairs shown on either side of the cutoff."""


def records_page(
    command: str, learnt: Any, scored: Matches, held_out: Scores | None, result: Mapping[str, Any], recall: str
) -> str:
    """One file without a script: tables, and precision and recall drawn along the cutoffs."""
    style = read_part("page.css")
    rows = cutoffs(scored.probabilities, held_out)
    return environment().from_string(read_part("records.html.jinja")).render(
        title=f"pairlearn {command}",
        version=__version__,
        policy=policy("", style),
        style=trusted(style),
        result=result,
        learnt=learnt,
        trials=getattr(learnt.matcher, "trials_", ()),
        rows=rows,
        shown=doubtful(learnt.matcher, scored),
        drawn=None if held_out is None else drawn(rows),
        recall=recall,
        size=(WIDTH, HEIGHT),
    )  # fmt: skip


class Shown(NamedTuple):
    """A pair as the page shows it: both cells of every column, and the reasons."""

    probability: float
    taken: bool
    cells: list[tuple[str | None, str | None]]
    why: str


def doubtful(matcher: Matcher, scored: Matches, most: int = MOST) -> list[Shown]:
    """The matches with the least and the others with the largest probability, the likeliest first."""
    p = scored.probabilities
    taken, left_out = np.flatnonzero(scored.chosen), np.flatnonzero(~scored.chosen)
    places = np.concatenate([taken[np.argsort(p[taken])][:most], left_out[np.argsort(-p[left_out])][:most]])
    places = places[np.lexsort((-p[places], ~scored.chosen[places]))]
    if not len(places):
        return []
    pairs = scored.pairs[places]
    why = explain_pairs(matcher, pairs).words()
    columns = [(pairs.left.columns[name], pairs.right_table.columns[name]) for name in matcher.comparer_.kinds]
    rows = zip(pairs.left_rows.tolist(), pairs.right_rows.tolist(), strict=True)
    return [
        Shown(float(p[place]), bool(scored.chosen[place]), [(left[i], right[j]) for left, right in columns], reasons)
        for place, (i, j), reasons in zip(places, rows, why, strict=True)
    ]


def drawn(rows: list[Cutoff]) -> dict[str, dict[str, str]]:
    """Points of the lines of precision and recall, and of the bands between their limits, for SVG."""
    found = {}
    for name in ("precision", "recall"):
        known = [(row.probability, each) for row in rows if (each := getattr(row, name)) is not None]
        line = [_point(cut, each.estimate) for cut, each in known]
        low, high = ([_point(cut, getattr(each, end)) for cut, each in known] for end in ("low", "high"))
        found[name] = {"line": " ".join(line), "band": " ".join([*low, *reversed(high)])}
    return found


def _point(x: float, y: float) -> str:
    return f"{EDGE + x * (WIDTH - 2 * EDGE):.1f},{HEIGHT - EDGE - y * (HEIGHT - 2 * EDGE):.1f}"
