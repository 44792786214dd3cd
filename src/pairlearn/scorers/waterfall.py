"""An explanation as a picture: bars from the bias to the score.

Each bar starts where the one above it ends, so the eye adds them up; what pulls up is blue, what pulls down vermilion.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from pairlearn.evaluation.plots import check_suffix, new_axes, plain, written
from pairlearn.scorers.explain import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UP, DOWN, TOTAL = "#0072B2", "#D55E00", "#000000"
"""Okabe and Ito's blue, vermilion and black: told apart by everyone."""


def draw_waterfall(explanation: Explanation, path: str | Path | None = None, most: int = 12) -> Axes:
    """Draw the bias, the largest contributions one after the other, and the score; needs matplotlib.

    The title names the two examples, where their ids are known.

    >>> ax = draw_waterfall(Explanation(("u", "v"), np.array([0.5, -2.0]), bias=0.5, score=-1.0, pair=("a1", "b2")))
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.figure.get_suptitle()
    (['bias', 'v', 'u', 'score'], 'a1 and b2: score −1')
    """
    if path is not None:
        check_suffix(path)
    shown = explanation.largest(most)
    steps = np.array([explanation.bias, *shown.values])
    names = ["bias", *map(plain, shown.names), "score"]
    ax = new_axes(width=6.5, height=1.1 + 0.32 * len(names))
    cast("Figure", ax.figure).suptitle(_title(explanation), fontsize=9, x=0.02, ha="left")
    _draw_bars(ax, steps, explanation.score)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="x", labelsize=8)
    ax.set_xlabel("contribution to the score", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    return written(ax, path)


def _title(explanation: Explanation) -> str:
    """Who is compared, on two lines if one would not hold it, and the score."""
    score = f"score {_signed(explanation.score, '')}"
    if explanation.pair is None:
        return score
    left, right = map(plain, explanation.pair)
    return f"{left}{' ' if len(left + right) < 60 else chr(10)}and {right}: {score}"


def _draw_bars(ax: Axes, steps: np.ndarray, score: float) -> None:
    """One bar per step from where the last one ended, thin lines between them, and the score from 0."""
    starts, places = np.cumsum(steps) - steps, range(len(steps) + 1)
    widths, lefts = [*steps, score], [*starts, 0.0]
    colours = [UP if step >= 0 else DOWN for step in steps] + [TOTAL]
    ax.axvline(0.0, color="0.55", linewidth=0.7, zorder=0)
    ax.vlines(starts + steps, places[:-1], places[1:], color="0.55", linewidth=0.7, zorder=1)
    bars = ax.barh(places, widths, left=lefts, color=colours, height=0.7, zorder=2)
    texts = ax.bar_label(bars, labels=[_signed(width) for width in widths], padding=3, fontsize=8)
    for text in texts:  # readable where a line runs behind it
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    ax.use_sticky_edges = False  # room for the figures beside the outermost bars
    ax.margins(x=0.15)


def _signed(value: float, sign: str = "+") -> str:
    return f"{value:{sign}.3g}".replace("-", "−")
