"""Curves small enough for a page: a thinned DET curve with limits, and a histogram. Only curves are thinned.

A million pairs have nearly a million points, of which a page shows some hundred. Rates, limits and the points worth
knowing are computed from all pairs; the points that are kept hold exact counts, so the slider of the page shows what
the library says, threshold by threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from pairlearn.evaluation import DetCurve, Scores
from pairlearn.evaluation.resampling.along import fmr_limits_along, fnmr_limits_along
from pairlearn.evaluation.resampling.units import Units
from pairlearn.types import Floats, Ints

MOST_POINTS = 900
"""Points of a curve on a page: more than it has pixels across, few enough to send."""
BINS = 60
"""Bins of a histogram."""
TAIL = 5e-4
"""Share of the values on each side that may lie outside of a histogram; a few outliers would squeeze all else."""


def finite_thresholds(curve: DetCurve) -> Floats:
    """Thresholds of the curve; the last one, ∞, becomes the next number above all values, which rejects all too."""
    thresholds = curve.thresholds.copy()
    thresholds[-1] = np.nextafter(thresholds[-2], np.inf)
    return thresholds


def thin(curve: DetCurve, n_positives: int, n_negatives: int, keep: Ints, most: int = MOST_POINTS) -> Ints:
    """Numbers of at most `most` points, evenly spaced along the curve on normal-deviate axes, and those to keep.

    >>> rates = np.linspace(1, 0, 10_001)
    >>> chosen = thin(DetCurve(np.arange(10_001), rates, 1 - rates), 10_000, 10_000, np.array([77]), 100)
    >>> len(chosen) <= 101, 77 in chosen, 0 in chosen, 10_000 in chosen
    (True, True, True, True)
    """
    if len(curve.fmr) <= most:
        return np.arange(len(curve.fmr))
    x = ndtri(np.clip(curve.fmr, 0.5 / n_negatives, 1 - 0.5 / n_negatives))
    y = ndtri(np.clip(curve.fnmr, 0.5 / n_positives, 1 - 0.5 / n_positives))
    # Both rates are monotone, so |Δx| + |Δy| adds up to a length that steps of the staircase do not inflate.
    length = (x[0] - x) + (y - y[0])
    wanted = np.searchsorted(length, np.linspace(0, length[-1], most))
    return np.unique(np.concatenate([wanted, keep, [0, len(x) - 1]]).clip(0, len(x) - 1))


def curve_record(
    scores: Scores, curve: DetCurve, thresholds: Floats, chosen: Ints, units: Units | None, level: float
) -> dict[str, Any]:
    """The curve at the chosen rows: exact counts of errors at each threshold, limits of both rates to four digits.

    Counts instead of rates: they are short in JSON, and the page divides. Without units there are no limits.
    """
    n_positives, n_negatives = len(scores.positives), len(scores.negatives)
    thresholds = thresholds[chosen]
    record: dict[str, Any] = {
        "thresholds": thresholds.tolist(),
        "false_matches": np.rint(curve.fmr[chosen] * n_negatives).astype(int).tolist(),
        "false_non_matches": np.rint(curve.fnmr[chosen] * n_positives).astype(int).tolist(),
        "fmr_low": None,
        "fmr_high": None,
        "fnmr_low": None,
        "fnmr_high": None,
    }
    if units is not None:
        fmr = fmr_limits_along(scores, units, thresholds, level)
        fnmr = fnmr_limits_along(scores, units, thresholds, level)
        record |= {"fmr_low": digits(fmr.low), "fmr_high": digits(fmr.high)}
        record |= {"fnmr_low": digits(fnmr.low), "fnmr_high": digits(fnmr.high)}
    return record


def digits(values: Floats) -> list[float]:
    """Numbers with four significant digits.

    >>> digits(np.array([0.123456, 1e-7 / 3]))
    [0.1235, 3.333e-08]
    """
    return [float(f"{value:.4g}") for value in values]


def histogram(scores: Scores, bins: int = BINS) -> dict[str, list[float] | list[int]]:
    """Counts of positive and negative pairs in equal bins; far values are counted in the first or last bin.

    >>> histogram(Scores([0.0, 1.0, 2.0, 4.0], [-1, -1, 1, 1]), bins=2)
    {'edges': [0.0, 2.0, 4.0], 'positives': [0, 2], 'negatives': [2, 0]}
    """
    low, high = _span(scores)
    edges = np.linspace(low, high, bins + 1)
    counts = {}
    for name, values in (("positives", scores.positives), ("negatives", scores.negatives)):
        counts[name] = np.histogram(values.clip(low, high), edges)[0].tolist()
    return {"edges": edges.tolist(), **counts}


def _span(scores: Scores) -> tuple[float, float]:
    """Where nearly all values of both labels lie, with a margin, but not beyond the values."""
    ends = np.array([np.quantile(values, [TAIL, 1 - TAIL]) for values in (scores.positives, scores.negatives)])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    margin = 0.05 * (high - low)
    low, high = max(low - margin, float(scores.values.min())), min(high + margin, float(scores.values.max()))
    return (low, high) if high > low else (low - 0.5, low + 0.5)
