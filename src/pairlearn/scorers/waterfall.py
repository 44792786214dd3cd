"""An explanation as a picture: bars from the bias to the score.

Each bar starts where the one above it ends, so the eye adds them up; what pulls up is blue, what pulls down vermilion.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.errors import InputError
from pairlearn.scorers.explain import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP, DOWN, TOTAL = "#0072B2", "#D55E00", "#000000"
"""Okabe and Ito's blue, vermilion and black: told apart by everyone."""
SUFFIXES = (".png", ".svg", ".pdf")


def draw_waterfall(explanation: Explanation, path: str | Path | None = None, most: int = 12) -> Axes:
    """Draw the bias, the largest contributions one after the other, and the score; needs matplotlib.

    >>> ax = draw_waterfall(Explanation(("u", "v"), np.array([0.5, -2.0]), bias=0.5, score=-1.0))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['bias', 'v', 'u', 'score']
    """
    if path is not None and Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot write {Path(path).name!r}; the name must end in {', '.join(SUFFIXES)}")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'pairlearn[plots]'") from error
    shown = explanation.largest(most)
    steps = np.array([explanation.bias, *shown.values])
    starts = np.cumsum(steps) - steps
    names, widths = ["bias", *shown.names, "score"], [*steps, explanation.score]
    figure = Figure(figsize=(6.5, 0.8 + 0.32 * len(names)), layout="constrained")
    ax: Axes = figure.subplots()
    colours = [UP if step >= 0 else DOWN for step in steps] + [TOTAL]
    bars = ax.barh(range(len(names)), widths, left=[*starts, 0.0], color=colours, height=0.7)
    ax.bar_label(bars, labels=[f"{width:+.3g}".replace("-", "−") for width in widths], padding=3, fontsize=8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.invert_yaxis()
    ax.axvline(0.0, color="0.55", linewidth=0.7, zorder=0)
    ax.use_sticky_edges = False  # room for the figures beside the outermost bars
    ax.margins(x=0.15)
    ax.set_xlabel("contribution to the score")
    ax.spines[["top", "right"]].set_visible(False)
    if path is not None:
        figure.savefig(path, dpi=200)
    return ax
