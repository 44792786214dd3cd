"""Drawings of curves that are already computed; needs matplotlib, which is imported only when drawing.

Every function takes values that others computed (`det_curve`, `det_band`, `reliability`, …), draws on a bare figure or
on given axes, and returns the axes; with `path` it also writes a file. DET curves stand on axes of normal deviates, on
which normal scores give straight lines and small rates have room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.special import ndtr, ndtri

from pairlearn.errors import InputError
from pairlearn.evaluation.calibration import Reliability
from pairlearn.evaluation.intervals import DetBand, Interval
from pairlearn.evaluation.rates import DetCurve
from pairlearn.evaluation.scores import Scores
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
) -> Axes:
    """Draw DET curves, FNMR over FMR, and return the axes; nearer to the lower left corner is better.

    scale: "normal" (normal deviates Φ⁻¹(rate)), "log" or "linear". A circle on the thin diagonal marks
    the equal error rate. `bands` shades the limits of the curves with these names. With `path` the figure is written
    as .png, .svg or .pdf.

    >>> rates = np.linspace(1, 0, 11)
    >>> ax = draw_det({"a guess": DetCurve(np.arange(11), rates, 1 - rates)})
    >>> ax.get_xlabel(), ax.get_legend().get_texts()[0].get_text()
    ('False match rate (%)', 'a guess  (EER 50.0 %)')
    """
    named = {"": curves} if isinstance(curves, DetCurve) else dict(curves)
    _check_drawing(named, path, scale)
    if ax is None:
        ax = _new_axes()
        ax.set_box_aspect(1)
    _prepare_axes(ax, named.values(), scale)
    ax.axline((0.1, 0.1), (0.2, 0.2), color="0.55", linewidth=0.7, zorder=1)
    for (name, curve), colour, dashes in zip(named.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        _draw_curve(ax, name, curve, color=colour, linestyle=dashes)
        if bands is not None and name in bands:
            band = bands[name]
            fmr, low, high = (np.clip(rates, 1e-9, 1 - 1e-9) for rates in (band.fmr, band.low, band.high))
            ax.fill_between(fmr, low, high, color=colour, alpha=0.16, linewidth=0)
    ax.legend(loc="best", fontsize=9, framealpha=0.9, edgecolor="none", handlelength=3.2)
    if path is not None:
        cast("Figure", ax.figure).savefig(path, dpi=200)
    return ax


def draw_histogram(scores: Scores, path: str | Path | None = None, threshold: float | None = None) -> Axes:
    """Draw how often scores of positive and negative pairs occur, each kind as shares of its own.

    >>> draw_histogram(Scores([0.1, 0.4, 0.6, 0.8], [-1, -1, 1, 1])).get_xlabel()
    'Score'
    """
    ax = _open(path)
    edges = np.histogram_bin_edges(scores.values, bins=60).tolist()
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
    """New axes, after a look at the name of the file: better before the drawing than after."""
    if path is not None:
        _check_suffix(path)
    return _new_axes()


def _close(ax: Axes, path: str | Path | None, xlabel: str, ylabel: str) -> Axes:
    """Labels, grid and legend, the same for all, and the file."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if any(ax.get_legend_handles_labels()[1]):
        ax.legend(loc="best", fontsize=9, framealpha=0.9, edgecolor="none")
    if path is not None:
        cast("Figure", ax.figure).savefig(path, dpi=200)
    return ax


def draw_stages(stages: Sequence[Mapping[str, Any]], path: str | Path | None = None, most: int = 6) -> Axes:
    """Draw how the equal error rate of the best settings and the best baseline went through the stages of a selection.

    `stages` is the entry of the same name in the record of a StagedSearch; `most` machines are drawn, best first.

    >>> rung = {"n_classes": 5, "epcr": 3, "results": [{"what": "metric", "kind": "machine", "eer": 0.1}]}
    >>> draw_stages([{"task": "pair", "rungs": [rung]}]).get_ylabel()
    'Equal error rate (%)'
    """
    rungs = [(stage["task"], rung) for stage in stages for rung in stage["rungs"]]
    if not rungs:
        raise InputError("there is no stage to draw; pass search.record_['stages']")
    if path is not None:
        _check_suffix(path)
    ax = _new_axes(width=7.5)
    for (name, points), colour, dashes in zip(_lines(rungs, most).items(), cycle(COLOURS), cycle(DASHES), strict=False):
        style: dict[str, Any] = {"color": "0.45", "linestyle": ":"} if name == BASELINE else {"color": colour}
        ax.plot(list(points), list(points.values()), "o", linestyle=style.pop("linestyle", dashes), label=name, **style)
    _label_rungs(ax, rungs)
    if path is not None:
        cast("Figure", ax.figure).savefig(path, dpi=200)
    return ax


BASELINE = "best baseline"


def _lines(rungs: Sequence[tuple[str, Mapping[str, Any]]], most: int) -> dict[str, dict[int, float]]:
    """EER by rung of the machines that went farthest, best first, and of the best baseline of each rung."""
    lines: dict[str, dict[int, float]] = {}
    for place, (_, rung) in enumerate(rungs):
        for result in rung["results"]:
            if result["kind"] == "machine":
                lines.setdefault(result["what"], {})[place] = max(result["eer"], 1e-4)
    far = sorted(lines, key=lambda name: (-max(lines[name]), lines[name][max(lines[name])]))[:most]
    found = {name: lines[name] for name in far}
    for place, (_, rung) in enumerate(rungs):
        rates = [result["eer"] for result in rung["results"] if result["kind"] == "baseline"]
        if rates:
            found.setdefault(BASELINE, {})[place] = max(min(rates), 1e-4)
    return found


def _label_rungs(ax: Axes, rungs: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """A logarithmic axis of rates, the size of every rung below it, and lines between the tasks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{100 * rate:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xticks(range(len(rungs)), [f"{task}\n{rung['n_classes']} × {rung['epcr']}" for task, rung in rungs])
    ax.tick_params(axis="x", labelsize=8)
    ax.set(xlabel="task, training classes × examples per class", ylabel="Equal error rate (%)")
    ax.grid(color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    cast("Figure", ax.figure).legend(loc="outside lower center", ncols=2, fontsize=8, edgecolor="none")
    tasks = [task for task, _ in rungs]
    for place in range(1, len(tasks)):
        if tasks[place] != tasks[place - 1]:
            ax.axvline(place - 0.5, color="0.8", linewidth=0.8)


def _check_suffix(path: str | Path) -> None:
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
        _check_suffix(path)


def _new_axes(width: float = 5.4) -> Axes:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'pairlearn[plots]'") from error
    # A bare Figure leaves pyplot's global state and the choice of a backend alone.
    return Figure(figsize=(width, 5.4), layout="constrained").subplots()


def _prepare_axes(ax: Axes, curves: Iterable[DetCurve], scale: str) -> None:
    """Scale, limits that show where curves can be told apart, labels and grid."""
    curves = list(curves)
    worst = max(curve.equal_error_rate for curve in curves)
    _set_scale(ax, scale)
    ax.set_xlim(_limits(scale, worst, [curve.fmr for curve in curves]))
    ax.set_ylim(_limits(scale, worst, [curve.fnmr for curve in curves]))
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


def _limits(scale: str, worst: float, rates: list[Floats]) -> tuple[float, float]:
    """From a little below the smallest rate that was seen to a little above the worst equal error rate."""
    if scale == "linear":
        return 0.0, float(np.clip(4 * worst, 0.02, 1.0))
    smallest = min(float(r[r > 0].min()) for r in rates)
    upper = 1.0 if scale == "log" else (0.6 if worst < 0.3 else 0.97)
    return float(np.clip(0.8 * smallest, 8e-8, 0.02)), upper


def _draw_curve(ax: Axes, name: str, curve: DetCurve, **style: Any) -> None:
    """The curve, and a circle at its equal error rate, which the legend names too."""
    eer = curve.equal_error_rate
    label = f"{name}  (EER {_per_cent(eer)} %)" if name else f"EER {_per_cent(eer)} %"
    ax.plot(*_visible_points(ax, curve), label=label, linewidth=1.7, **style)
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
