"""What notebooks show of values: small HTML without script, and a line of progress that stays one line.

Everything that comes from data is text: `escaped` is the only way into the markup, and leaves no character that could
end an element or an attribute, turn the direction of writing, or break the line.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST, BAR = 60, 160
"""Letters of a cell, and pixels of the longest bar."""
ROWS, BINS = 10, 40
"""Rows of a table that is only looked at, and bins of a histogram."""
FOR, AGAINST = "#0072B2", "#D55E00"
"""Colours of what raises and what lowers, or of same and different: told apart by everyone."""


def escaped(value: Any) -> str:
    """A value as text inside markup; long ones are cut, what cannot be printed is replaced.

    >>> escaped("<b>a&b</b>"), escaped('"x"\\u202e')
    ('&lt;b&gt;a&amp;b&lt;/b&gt;', '&quot;x&quot;\N{REPLACEMENT CHARACTER}')
    """
    text = str(value)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return html.escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


class Markup(str):
    """A cell that is markup already: a bar, never anything from data."""


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """A table; cells are escaped unless they are `Markup`; `total` rows there are, if not all are given.

    >>> "1 &lt; 2" in table("", ["a"], [["1 < 2"]])
    True
    """
    given = [[cell if isinstance(cell, Markup) else escaped(cell) for cell in row] for row in rows]
    left = 0 if total is None else total - len(given)
    more = f'<tr><td colspan="{len(headings)}">… {left:,} more</td></tr>' if left > 0 else ""
    head = "".join(f"<th>{escaped(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in given)
    return f"<p>{escaped_words(caption)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def escaped_words(text: str) -> str:
    """A whole sentence of ours, which may hold names from data; not cut."""
    return html.escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def bar(value: float, largest: float) -> Markup:
    """A bar from the middle to the right, or to the left below 0, as long as its share of the largest."""
    length = 0.0 if not largest else max(-1.0, min(1.0, value / largest)) * BAR / 2
    x, colour = (BAR / 2, FOR) if length >= 0 else (BAR / 2 + length, AGAINST)
    rect = f'<rect x="{x:.1f}" y="1" width="{abs(length):.1f}" height="10" fill="{colour}"/>'
    return Markup(f'<svg width="{BAR}" height="12" role="img" aria-label="{value:.3g}">{rect}</svg>')


def histogram(upper: Sequence[float], lower: Sequence[float], words: str, height: int = 60) -> str:
    """Two histograms over the same bins, one upwards and one downwards, each by its own largest bin."""
    step, parts = 400 / max(1, len(upper)), []
    for bins, colour, sign in ((upper, FOR, -1), (lower, AGAINST, 1)):
        largest = max(bins, default=0.0) or 1.0
        for place, count in enumerate(bins):
            tall = height * count / largest
            y = height if sign > 0 else height - tall
            parts.append(
                f'<rect x="{place * step:.1f}" y="{y:.1f}" width="{step:.1f}" height="{tall:.1f}" fill="{colour}"/>'
            )
    label = escaped_words(words)
    return (
        f'<svg width="400" height="{2 * height}" role="img" aria-label="{label}">{"".join(parts)}</svg><p>{label}</p>'
    )


# --------------------------------------------------------------------------- progress


class ProgressLine:
    """A `callback` of a machine or the `progress` of a search: one line that is written over, however long it takes.

    In a notebook one output that is updated, on a terminal one line of stderr, elsewhere nothing; `seconds` apart.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.eye(4), reflexive=False)
    >>> clf = pl.PairSVC(callback=ProgressLine()).fit(pairs, pairs.labels([0, 0, 1, 1]))
    """

    def __init__(self, seconds: float = 0.2) -> None:
        self.seconds = seconds
        self._last, self._shown = -float("inf"), None

    def __call__(self, line: Any) -> None:
        """Show this line of a fit or this step of a search, unless the last one has just been shown."""
        now = time.monotonic()
        if now - self._last < self.seconds:
            return
        self._last = now
        words = told(line)
        if (display := _notebook()) is not None:
            self._in_notebook(display, words)
        elif sys.stderr.isatty():
            print(f"\r{words}\x1b[K", end="", file=sys.stderr, flush=True)

    def _in_notebook(self, display: Any, words: str) -> None:
        line = Line(words)
        if self._shown is None:
            self._shown = display(line, display_id=True)
        else:
            self._shown.update(line)

    def __getstate__(self) -> dict[str, Any]:
        # A handle of a notebook stays where it is; copies, as scikit-learn makes them, show a line of their own.
        return {"seconds": self.seconds, "_last": -float("inf"), "_shown": None}


class Line(str):
    """A line as notebooks show it."""

    def _repr_html_(self) -> str:
        return f"<pre>{escaped_words(self)}</pre>"


def told(line: Any) -> str:
    """A line of a fit or a step of a search in words."""
    if hasattr(line, "gap"):
        return (
            f"step {line.iteration:,}: KKT gap {line.gap:.2g}, {line.n_support:,} support pairs, {line.seconds:.1f} s"
        )
    if not hasattr(line, "stage"):
        return f"{line.done:,} of {line.total:,}"
    best = "" if line.best is None else f", best {line.best:.4g}"
    return f"{line.stage}, {line.done:,} of {line.total:,}{best}, {line.seconds:.0f} s"


def _notebook() -> Any:
    """IPython's `display`, if this runs in the kernel of a notebook; None elsewhere, without importing anything."""
    found = sys.modules.get("IPython")
    shell = None if found is None else found.get_ipython()
    return None if shell is None or not hasattr(shell, "kernel") else sys.modules["IPython.display"].display
