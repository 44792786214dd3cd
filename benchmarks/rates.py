"""How fast are DET curve and equal error rate of ten million scores? Beside scikit-learn's curve in the same run.

Both are given scores without ties; scikit-learn's curve is taken alone, pairlearn's with its equal error rate. That the
curves are the same is checked on 100,000 scores, with ties and without.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.metrics import det_curve as reference

import pairlearn as pl
from benchmarks.harness import Figure, peak_memory, print_figures, run_rows, timed


def simulate(n: int, decimals: int | None = None) -> pl.Scores:
    """One positive pair for nine negative ones, two normal distributions."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(n) < 0.1, 1, -1)
    values = rng.normal(size=n) + labels
    return pl.Scores(values if decimals is None else values.round(decimals), labels)


def speed(quick: bool) -> dict[str, Any]:
    """Seconds of both, the quickest of several runs in turn, so that a busy moment meets both alike."""
    scores = simulate(10**6 if quick else 10**7)
    own, other = [], []
    for _ in range(3 if quick else 4):
        own.append(timed(lambda: pl.det_curve(scores).equal_error_rate)[0])
        other.append(timed(lambda: reference(scores.labels, scores.values))[0])
    sort, _ = timed(lambda: np.sort(scores.values))
    return {"pairlearn": min(own), "scikit-learn": min(other), "sort": sort, "peak_gb": peak_memory()}


def equality(quick: bool) -> dict[str, Any]:
    """Largest difference between the two curves at common thresholds."""
    found = {}
    for name, decimals in (("without ties", None), ("with ties", 2)):
        scores = simulate(100_000, decimals)
        curve = pl.det_curve(scores)
        fpr, fnr, thresholds = reference(scores.labels, scores.values)
        # scikit-learn drops points at the ends that add nothing to the curve.
        at = np.searchsorted(curve.thresholds, thresholds)
        known = np.isfinite(thresholds)
        same = np.array_equal(curve.thresholds[at], thresholds)
        gaps = np.abs(curve.fmr[at] - fpr)[known], np.abs(curve.fnmr[at] - fnr)[known]
        found[name] = float(max(gap.max() for gap in gaps)) if same else 1.0
    return found


ROWS = {"speed": speed, "equality": equality}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """Goal: eight times as fast; equal to rounding."""
    found = []
    if "speed" in rows:
        ratio = rows["speed"]["scikit-learn"] / rows["speed"]["pairlearn"]
        found.append(Figure("scikit-learn's time / pairlearn's", ratio, ">= 8", judged=not quick))
        found.append(Figure("pairlearn's time / one sort", rows["speed"]["pairlearn"] / rows["speed"]["sort"]))
    for name, gap in rows.get("equality", {}).items():
        found.append(Figure(f"largest difference of the curves, {name}", gap, "<= 1e-12"))
    return found


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, ROWS)
    sys.exit(print_figures(figures(results, is_quick)))
