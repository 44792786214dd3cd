"""Everything the commands show: sentences, tables and progress.

Results go to stdout; with `--json` stdout holds one JSON object and the words go to stderr. Progress is always on
stderr and only shown to a terminal, so that logs and pipes stay clean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

# --------------------------------------------------------------------------- sentences and tables


def percent(rate: float, digits: int = 2) -> str:
    """A rate as it is written in a sentence: 0.0123 → 1.23 %."""
    return f"{100 * rate:.{digits}f} %"


def say(console: Console, text: str, *, lead: str = "", style: str = "bold") -> None:
    """One sentence, perhaps after a lead in colour or bold; never broken, and no bracket in a file name is markup."""
    sentence = Text.assemble((lead, style), " " if lead else "", text)
    console.print(sentence, highlight=False, soft_wrap=True)


def safe(text: str, style: str = "") -> Text:
    """Text without markup and without characters that steer a terminal."""
    return Text("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text), style)


def table(headings: Sequence[str], title: str = "", *, names: bool = True) -> Table:
    """An empty table of figures; the first column holds names, if `names`, and stands left."""
    drawn = Table(title=safe(title) if title else None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        drawn.add_column(heading, justify="left" if names and place == 0 else "right")
    return drawn


def facts(rows: Mapping[str, str]) -> Table:
    """Names and values, one per line."""
    drawn = Table(show_header=False, box=None, pad_edge=False)
    for name, value in rows.items():
        drawn.add_row(Text(name, "bold"), Text(value))
    return drawn


# --------------------------------------------------------------------------- progress


def progress_bar(*, transient: bool = True) -> Progress:
    """Bars on stderr, each with a name and a state; none if nobody watches."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)


class GapBar:
    """One bar that fills as the KKT gap of a fit falls from its first value to `tol`, on a logarithmic scale."""

    def __init__(self, bars: Progress, name: str, tol: float, state: str) -> None:
        self._bars, self._tol = bars, tol
        self._task = bars.add_task(name, total=1.0, state=state)
        self._first: float | None = None

    def update(self, gap: float, state: str) -> None:
        """Show the gap of one more iteration."""
        self._first = gap if self._first is None else self._first
        self._bars.update(self._task, completed=gap_share(self._first, gap, self._tol), state=state)


def gap_share(first: float, gap: float, tol: float) -> float:
    """How far the gap has fallen from the first one towards tol, 0 … 1: log(first / gap) / log(first / tol)."""
    if gap <= tol or first <= tol:
        return 1.0
    return min(1.0, max(0.0, math.log(first / gap) / math.log(first / tol)))
