"""The page of `match` and `dedupe`: what each cutoff costs, precision and recall with limits over records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pairlearn._version import __version__
from pairlearn.evaluation.scores import Scores
from pairlearn.records.judging import Cutoff, cutoffs
from pairlearn.records.matcher import Matches
from pairlearn.report.html import environment, policy, read_part, trusted

WIDTH, HEIGHT, EDGE = 520, 260, 36
"""Of the drawing, in pixels."""


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
        drawn=None if held_out is None else drawn(rows),
        recall=recall,
        size=(WIDTH, HEIGHT),
    )  # fmt: skip


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
