"""Drawings of curves that are already computed; needs matplotlib, which is imported only when drawing.

Every function takes values that others computed (`det_curve`, `det_band`, `reliability`, …), draws on a bare figure or
on given axes, and returns the axes; with `path` it also writes a file. DET curves stand on axes of normal deviates, on
which normal scores give straight lines and small rates have room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.special import ndtr, ndtri

from pairlearn.errors import InputError
from pairlearn.evaluation.calibration import Reliability
from pairlearn.evaluation.intervals import DetBand, Interval
from pairlearn.evaluation.rates import DetCurve
from pairlearn.evaluation.scores import Scores, drawn_range
from pairlearn.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCALES = ("normal", "log", "linear")
"""Kinds of axes of a DET curve."""
SUFFIXES = (".png", ".svg", ".pdf")
"""Files that can be written."""
# Okabe and Ito's colours without the pale ones; every line has its own dashes too, for print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
DASHES = ("-", (0, (6, 2)), (0, (1.2, 1.4)), (0, (7, 2, 1.2, 2)), (0, (3, 1.4)))
DECADES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
TICKS = {
    "normal": (*DECADES, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95),
    "log": (*DECADES, 0.01, 0.1, 1.0),
}


def draw_det(
    curves: DetCurve | Mapping[str, DetCurve],
    path: str | Path | None = None,
    ax: Axes | None = None,
    scale: str = "normal",
    bands: Mapping[str, DetBand] | None = None,
    baselines: Collection[str] = (),
) -> Axes:
    """Draw DET curves, FNMR over FMR, and return the axes; nearer to the lower left corner is better.

    scale: "normal" (normal deviates Φ⁻¹(rate)), "log" or "linear". A circle on the thin diagonal marks
    the equal error rate. `bands` shades the limits of the curves with these names; `baselines` names the curves that
    are drawn thin and grey. With `path` the figure is written as .png, .svg or .pdf.

    >>> rates = np.linspace(1, 0, 11)
    >>> ax = draw_det({"a guess": DetCurve(np.arange(11), rates, 1 - rates)})
    >>> ax.get_xlabel(), ax.figure.legends[0].get_texts()[0].get_text()
    ('False match rate (%)', 'a guess  (EER 50.0 %)')
    """
    named = {"": curves} if isinstance(curves, DetCurve) else dict(curves)
    _check_drawing(named, path, scale)
    # Below the axes a legend hides no curve; in a figure of others there may be no room for it.
    where = "best" if ax is not None else "outside lower left"
    if ax is None:
        ax = new_axes(height=5.4 + 0.19 * len(named))
        ax.set_box_aspect(1)
    _prepare_axes(ax, named.values(), scale)
    ax.axline((0.1, 0.1), (0.2, 0.2), color="0.55", linewidth=0.7, zorder=1)
    for (name, curve), style in zip(named.items(), _styles(list(named), baselines), strict=True):
        _draw_curve(ax, name, curve, **style)
        if bands is not None and name in bands:
            band = bands[name]
            fmr, low, high = (np.clip(rates, 1e-9, 1 - 1e-9) for rates in (band.fmr, band.low, band.high))
            ax.fill_between(fmr, low, high, color=style["color"], alpha=0.16, linewidth=0)
    legend: dict[str, Any] = {"loc": where, "fontsize": 8, "framealpha": 0.9, "edgecolor": "none"}
    (ax if where == "best" else cast("Figure", ax.figure)).legend(
        **legend, handlelength=4.2, borderaxespad=0.1, borderpad=0.9
    )
    return written(ax, path)


def _styles(names: Sequence[str], baselines: Collection[str]) -> Iterator[dict[str, Any]]:
    """Colour, dashes and width by name: dashes run through all, so that print in grey tells each from each."""
    colours = cycle(COLOURS)
    for name, dashes in zip(names, cycle(DASHES), strict=False):
        if name in baselines:
            yield {"color": "0.45", "linestyle": dashes, "linewidth": 1.1}
        else:
            yield {"color": next(colours), "linestyle": dashes, "linewidth": 1.7}


def draw_histogram(scores: Scores, path: str | Path | None = None, threshold: float | None = None) -> Axes:
    """Draw how often scores of positive and negative pairs occur, each kind as shares of its own.

    >>> draw_histogram(Scores([0.1, 0.4, 0.6, 0.8], [-1, -1, 1, 1])).get_xlabel()
    'Score'
    """
    ax = _open(path)
    ends = (float(scores.values.min()), float(scores.values.max())) if len(scores) else (0.0, 1.0)
    edges = np.histogram_bin_edges(scores.values, 60, drawn_range(*ends)).tolist()
    kinds = (("different", scores.negatives, COLOURS[1]), ("same", scores.positives, COLOURS[0]))
    for name, values, colour in kinds:
        weights = np.full(len(values), 100.0 / max(1, len(values)))
        label = f"{name} ({len(values):,} pairs)"
        ax.hist(values, edges, weights=weights, histtype="stepfilled", alpha=0.35, color=colour, label=label)
        ax.hist(values, edges, weights=weights, histtype="step", color=colour, linewidth=1.2)
    if threshold is not None:
        ax.axvline(threshold, color="black", linewidth=1.2, linestyle=DASHES[1], label=f"threshold {threshold:.4g}")
    return _close(ax, path, "Score", "Share of the pairs of each kind (%)")


def draw_reliability(found: Reliability | Mapping[str, Reliability], path: str | Path | None = None) -> Axes:
    """Draw observed shares of positive pairs over predicted probabilities; on the diagonal is right.

    >>> from pairlearn.evaluation import reliability
    >>> draw_reliability(reliability([0.1, 0.2, 0.8, 0.9], [-1, -1, 1, 1], bins=2)).get_xlabel()
    'Predicted probability'
    """
    named = dict(found) if isinstance(found, Mapping) else {"": found}
    ax = _open(path)
    ax.axline((0, 0), (1, 1), color="0.55", linewidth=0.7)
    for (name, each), colour, dashes in zip(named.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        there = each.counts > 0
        x, y = each.predicted[there], each.observed[there]
        sides = np.maximum([y - each.low[there], each.high[there] - y], 0.0)
        label = f"{name}  (calibration error {each.expected_calibration_error:.3f})".strip()
        ax.errorbar(x, y, sides, color=colour, linestyle=dashes, marker="o", markersize=4, capsize=2, label=label)
    ax.set_box_aspect(1)
    return _close(ax, path, "Predicted probability", "Observed share of positive pairs")


def draw_rates(
    sizes: Sequence[float],
    rates: Mapping[str, Sequence[float | Interval]],
    path: str | Path | None = None,
    xlabel: str = "Training classes",
    ylabel: str = "Equal error rate (%)",
) -> Axes:
    """Draw rates over growing training sets, such as the EER over classes or examples per class, with limits if given.

    >>> draw_rates([10, 20, 40], {"model": [0.2, 0.1, 0.05]}).get_xlabel()
    'Training classes'
    """
    ax = _open(path)
    for (name, values), colour, dashes in zip(rates.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        points = np.array([100 * (value.estimate if isinstance(value, Interval) else value) for value in values])
        ax.plot(sizes, points, color=colour, linestyle=dashes, marker="o", markersize=4, label=name)
        limits = [(value.low, value.high) for value in values if isinstance(value, Interval)]
        if len(limits) == len(points):
            ax.fill_between(sizes, *(100 * np.array(limits).T), color=colour, alpha=0.16, linewidth=0)
    ax.set_ylim(bottom=0)
    return _close(ax, path, xlabel, ylabel)


def _open(path: str | Path | None) -> Axes:
    """New axes, after a look at the name of the file."""
    if path is not None:
        check_suffix(path)
    return new_axes()


def _close(ax: Axes, path: str | Path | None, xlabel: str, ylabel: str) -> Axes:
    """Labels, grid and legend, the same for all, and the file."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if any(ax.get_legend_handles_labels()[1]):
        ax.legend(loc="best", fontsize=9, framealpha=0.9, edgecolor="none")
    return written(ax, path)


def written(ax: Axes, path: str | Path | None) -> Axes:
    """The axes, after their figure has gone into the file."""
    if path is not None:
        cast("Figure", ax.figure).savefig(path, dpi=200)
    return ax


def draw_stages(stages: Sequence[Mapping[str, Any]], path: str | Path | None = None, *, limits: bool = True) -> Axes:
    """Draw the equal error rates of a selection, one row per task and size: the best machine and the best baseline.

    `stages` is the entry of the same name in the record of a StagedSearch. Names and numbers stand beside their row, so
    that none hides another; lines are limits over classes, ticks the other machines that were tried. limits:
    False where those of the record are of another objective than the equal error rate.

    >>> rung = {"n_classes": 5, "epcr": 3, "results": [{"what": "metric", "kind": "machine", "eer": 0.1}]}
    >>> draw_stages([{"task": "pair", "rungs": [rung]}]).get_xlabel()
    'Equal error rate (%)'
    """
    rungs = [(stage["task"], rung) for stage in stages for rung in stage["rungs"]]
    if not rungs:
        raise InputError("there is no stage to draw; pass search.record_['stages']")
    if path is not None:
        check_suffix(path)
    ax = new_axes(width=9.6, height=1.1 + 0.5 * len(rungs))
    for place, (_, rung) in enumerate(rungs):
        kept = rung["results"] if limits else [{**each, "low": None, "high": None} for each in rung["results"]]
        _draw_rung(ax, place, kept)
    _label_rungs(ax, rungs)
    return written(ax, path)


FLOOR, GUESSING = 1e-4, 0.5
"""Rates beyond these are drawn here: an axis of logarithms has no 0, and nobody is worse than a coin for long."""
TESTED = {"pair": "unseen pairs", "interexample": "unseen examples", "interclass": "unseen classes"}
"""What each task of a selection tests on."""
KINDS = {"machine": ("o", COLOURS[0]), "baseline": ("s", COLOURS[1])}
"""Mark and colour of the best of each kind."""


def _draw_rung(ax: Axes, place: int, results: Sequence[Mapping[str, Any]]) -> None:
    """The best of each kind with limits, its name and numbers beside the axes, and ticks for the other machines."""
    by_kind = {kind: [each for each in results if each["kind"] == kind] for kind in KINDS}
    shown = {kind: sorted(found, key=lambda each: float(each["eer"])) for kind, found in by_kind.items() if found}
    heights = (place - 0.19, place + 0.19) if len(shown) > 1 else (float(place),)
    for y, (kind, found) in zip(heights, shown.items(), strict=True):
        _draw_best(ax, y, found[0], kind)
    rates = [_drawn(each["eer"]) for each in shown.get("machine", [])[1:]]
    ax.plot(rates, [heights[0]] * len(rates), "|", color="0.6", markersize=7, zorder=1, label="other machines")


def _draw_best(ax: Axes, y: float, best: Mapping[str, Any], kind: str) -> None:
    """A mark with its limits; rate, limits and name to the right of the axes."""
    mark, colour = KINDS[kind]
    limits = [best["eer"] if best.get(end) is None else best[end] for end in ("low", "high")]
    line: dict[str, Any] = {"color": colour, "linewidth": 1.8, "alpha": 0.55, "solid_capstyle": "butt"}
    ax.plot([_drawn(end) for end in limits], [y, y], label="95 % limits over classes", **line)
    ax.plot(_drawn(best["eer"]), y, mark, color=colour, markersize=6, zorder=3, label=f"best {kind}")
    ends = "" if best.get("low") is None else f" [{100 * limits[0]:.2g}, {100 * limits[1]:.2g}]"
    texts = {4: f"{100 * best['eer']:.3g} %{ends}", 100: plain(best["what"])}
    for right, text in texts.items():
        beside: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
        ax.annotate(text, (1.0, y), (right, 0), **beside, va="center", fontsize=8, color=colour)


def _drawn(rate: float) -> float:
    return float(np.clip(rate, FLOOR, GUESSING))


def _label_rungs(ax: Axes, rungs: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Task and size of every row, lines between the tasks, a logarithmic axis of rates, and a legend above."""
    rows = [f"{task} task: {TESTED[task]}\n{r['n_classes']} classes × {r['epcr']} examples" for task, r in rungs]
    ax.set_yticks(range(len(rungs)), rows, fontsize=8)
    ax.set_ylim(len(rungs) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    for place in range(1, len(rungs)):
        if rungs[place][0] != rungs[place - 1][0]:
            ax.axhline(place - 0.5, color="0.75", linewidth=0.8)
    _log_axis(ax)
    handles, labels = ax.get_legend_handles_labels()
    each = dict(zip(reversed(labels), reversed(handles), strict=True))  # of equal labels the first one stays
    style: dict[str, Any] = {"ncols": 4, "fontsize": 8, "edgecolor": "none", "handletextpad": 0.5}
    cast("Figure", ax.figure).legend(list(each.values())[::-1], list(each)[::-1], loc="outside upper left", **style)


def _log_axis(ax: Axes) -> None:
    """An axis of rates a little beyond them, with at least two and at most ten numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = ax.dataLim.intervalx
    middle = np.sqrt(low * high)
    low, high = min(low / 1.15, middle / 2.3), max(high * 1.15, middle * 2.3)
    ax.set(xscale="log", xlabel="Equal error rate (%)", xlim=(low, high))
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{100 * rate:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.tick_params(axis="x", labelsize=8)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def plain(name: Any, longest: int = 46) -> str:
    """A name as matplotlib shows it letter by letter: $ begins no formula, and the middle of a long one is cut.

    The middle, because names of many things often differ at their ends.

    >>> plain("a$b"), plain("training/photo_0042", longest=12)
    ('a\\\\$b', 'traini…_0042')
    """
    text = " ".join(str(name).split())
    tail = longest // 2 - 1
    return (text if len(text) <= longest else f"{text[: longest - tail - 1]}…{text[-tail:]}").replace("$", r"\$")


def check_suffix(path: str | Path) -> None:
    """Refuse a file that cannot be written, better before the drawing than after."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot write {Path(path).name!r}; the name must end in {', '.join(SUFFIXES)}")


def _check_drawing(curves: Mapping[str, DetCurve], path: str | Path | None, scale: str) -> None:
    if not curves:
        raise InputError("there is no curve to draw; pass {'name': det_curve(scores)}")
    for name, curve in curves.items():
        if not isinstance(curve, DetCurve):
            raise InputError(f"{name!r} is a {type(curve).__name__}, not a DetCurve; pass det_curve(scores)")
    if scale not in SCALES:
        raise InputError(f"scale must be one of {', '.join(SCALES)}, got {scale!r}")
    if path is not None:
        check_suffix(path)


def new_axes(width: float = 5.4, height: float = 5.4) -> Axes:
    """Axes on a figure of their own, of this size in inches."""
    return bare_figure(width, height).subplots()


def bare_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'pairlearn[plots]'") from error
    # A bare Figure leaves pyplot's global state and the choice of a backend alone.
    return Figure(figsize=(width, height), layout="constrained")


def _prepare_axes(ax: Axes, curves: Iterable[DetCurve], scale: str) -> None:
    """Scale, limits that show where curves can be told apart, labels and grid."""
    curves = list(curves)
    worst = max(curve.equal_error_rate for curve in curves)
    _set_scale(ax, scale)
    ax.set_xlim(_limits(scale, worst, [(curve.fmr, curve.fnmr) for curve in curves]))
    ax.set_ylim(_limits(scale, worst, [(curve.fnmr, curve.fmr) for curve in curves]))
    ax.set(xlabel="False match rate (%)", ylabel="False non-match rate (%)")
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _set_scale(ax: Axes, scale: str) -> None:
    """Both axes alike, with ticks at round rates in per cent."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    name = "function" if scale == "normal" else scale
    options: dict[str, Any] = {"functions": (ndtri, ndtr)} if scale == "normal" else {}
    ax.set_xscale(name, **options)
    ax.set_yscale(name, **options)
    for axis in (ax.xaxis, ax.yaxis):
        if scale in TICKS:
            axis.set_major_locator(FixedLocator(TICKS[scale]))
        axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{100 * rate:.6g}"))


def _limits(scale: str, worst: float, rates: list[tuple[Floats, Floats]]) -> tuple[float, float]:
    """From a little below the smallest rate that can be seen to a little above the worst equal error rate.

    rates: of this axis and of the other one; where the other one is beyond its end, nothing is seen.
    """
    if scale == "linear":
        return 0.0, float(np.clip(4 * worst, 0.02, 1.0))
    upper = 1.0 if scale == "log" else (0.6 if worst < 0.3 else 0.97)
    smallest = min(float(own[(own > 0) & (other <= upper)].min(initial=0.02)) for own, other in rates)
    return float(max(0.8 * smallest, 8e-8)), upper


def _draw_curve(ax: Axes, name: str, curve: DetCurve, **style: Any) -> None:
    """The curve, and a circle at its equal error rate, which the legend names too."""
    eer = curve.equal_error_rate
    label = f"{plain(name, 64)}  (EER {_per_cent(eer)} %)" if name else f"EER {_per_cent(eer)} %"
    ax.plot(*_visible_points(ax, curve), label=label, **style)
    ax.plot(eer, eer, "o", markersize=5, markerfacecolor="white", color=style["color"], zorder=3)


def _per_cent(rate: float) -> str:
    return f"{100 * rate:#.3g}".rstrip(".")


def _visible_points(ax: Axes, curve: DetCurve) -> tuple[Floats, Floats]:
    """Return points along the polyline: more where it is coarse, fewer where they fall on the same dot."""
    rates = np.column_stack([curve.fmr, curve.fnmr])
    if len(rates) < 2000:
        # A straight piece between two points is bent on other than linear axes.
        at = np.linspace(0, len(rates) - 1, 20 * len(rates))
        rates = np.column_stack([np.interp(at, np.arange(len(rates)), column) for column in rates.T])
    rates = np.clip(rates, 1e-9, 1 - 1e-9)
    dots = np.round(2000 * ax.transAxes.inverted().transform(ax.transData.transform(rates)))
    new = np.append(True, np.any(dots[1:] != dots[:-1], axis=1))
    return rates[new, 0], rates[new, 1]
