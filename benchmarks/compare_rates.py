"""Error rates of the same scores: pyeer, bob.measure and scikit-learn beside pairlearn.

"LFW": the 6,000 pairs of View 2 by the Euclidean distance of dlib embeddings (needs PAIRLEARN_DATA). "LFW, ties": the
same scores rounded to two decimals, so that many are equal. "a million": normal scores, 50,000 pairs of one identity
(mean 3) and 950,000 of two. Values of EER differ by convention where no threshold has equal rates: between two scores
the true rates jump. "by definition" are loops over all thresholds in NumPy: EER is the mean of both rates where they
are nearest, FNMR at FMR is that of the lowest threshold with at most this FMR. Limits are those that the tool gives, of
the EER; pairlearn's are over persons. Seconds of the processor: all figures of the row but the limits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import data_folder
from benchmarks.rivals import Tool, compare
from pairlearn.errors import InputError

FMRS = (1e-2, 1e-3)
Rates = tuple[float, float, float, float | str]
"""EER, FNMR at both FMRs, area under the ROC curve, or why there is none."""


def scores_of(data: str, quick: bool) -> pl.Scores:
    """The scores that all tools get."""
    if data == "a million":
        n, rng = (1000, 19_000) if quick else (50_000, 950_000), np.random.default_rng(0)
        return pl.Scores(np.concatenate([rng.normal(3.0, 1.0, n[0]), rng.normal(size=n[1])]), np.repeat([1, -1], n))
    protocol = np.load(data_folder() / "lfw" / "lfw_protocol.npz")
    left, right = protocol["view2_pairs"].astype(int).T
    person, labels = protocol["person"].astype(int), np.where(protocol["view2_same"] > 0, 1, -1)
    X = np.load(data_folder() / "lfw" / "lfw_dlib128.npz")["E"].astype(float)
    values = -np.linalg.norm(X[left] - X[right], axis=1)
    values = values.round(2) if "ties" in data else values
    return pl.Scores(values, labels, left, right, left_identity=person[left], right_identity=person[right])


def by_pyeer(positive: np.ndarray, negative: np.ndarray) -> Rates:
    """One call gives all."""
    from pyeer.eer_info import get_eer_stats

    found = get_eer_stats(positive, negative)
    return found.eer, found.fmr100, found.fmr1000, found.auc


def by_bob(positive: np.ndarray, negative: np.ndarray) -> Rates:
    """EER at its threshold, rates at thresholds for an FMR."""
    import bob.measure

    def fnmr(fmr: float) -> float:
        return bob.measure.farfrr(negative, positive, bob.measure.far_threshold(negative, positive, fmr))[1]

    first, second = map(fnmr, FMRS)
    try:
        area = bob.measure.roc_auc_score(negative, positive)
    except AttributeError as error:  # numpy.trapz is gone
        area = str(error)
    return bob.measure.eer(negative, positive), first, second, area


def by_scikit_learn(positive: np.ndarray, negative: np.ndarray) -> Rates:
    """Its DET curve, and what a user makes of it."""
    from sklearn.metrics import det_curve, roc_auc_score

    y, values = np.repeat([1, 0], [len(positive), len(negative)]), np.concatenate([positive, negative])
    fmr, fnmr, _ = det_curve(y, values)
    nearest = np.argmin(np.abs(fmr - fnmr))
    return (
        float((fmr[nearest] + fnmr[nearest]) / 2),
        *(float(fnmr[fmr <= most].min(initial=1.0)) for most in FMRS),
        float(roc_auc_score(y, values)),
    )


def by_definition(positive: np.ndarray, negative: np.ndarray) -> Rates:
    """Rates at every score and above all."""
    positive, negative = np.sort(positive), np.sort(negative)
    thresholds = np.append(np.unique(np.concatenate([positive, negative])), np.inf)
    fnmr = np.searchsorted(positive, thresholds) / len(positive)
    fmr = (len(negative) - np.searchsorted(negative, thresholds)) / len(negative)
    nearest = np.argmin(np.abs(fmr - fnmr))
    below, equal = (np.searchsorted(negative, positive, side=side).mean() for side in ("left", "right"))
    area = (below + equal) / 2 / len(negative)
    return (fmr[nearest] + fnmr[nearest]) / 2, *(fnmr[fmr <= most].min() for most in FMRS), area


def by_pairlearn(scores: pl.Scores) -> Rates:
    """Measures as values."""
    measures = (pl.evaluation.EER(), *map(pl.evaluation.FnmrAtFmr, FMRS), pl.evaluation.AUC())
    eer, first, second, area = (float(measure(scores)) for measure in measures)
    return eer, first, second, area


def row(rates: Callable[[pl.Scores], Rates], limits: bool = False) -> Callable[[str, bool], dict[str, Any]]:
    """All figures of one tool in per cent, limits where it has them."""

    def measure(data: str, quick: bool) -> dict[str, Any]:
        scores = scores_of(data, quick)
        rates(pl.Scores(scores.values[::50], scores.labels[::50]))  # compiles, imports
        began, times = time.process_time(), 0
        while times == 0 or time.process_time() - began < 0.5:  # the clock ticks in milliseconds
            found, times = rates(scores), times + 1
        seconds = (time.process_time() - began) / times
        names = ("EER, %", *(f"FNMR at FMR {fmr:g}, %" for fmr in FMRS), "AUC, %")
        shown: dict[str, Any] = {
            name: value if isinstance(value, str) else 100.0 * float(value)
            for name, value in zip(names, found, strict=True)
        }
        if limits and scores.left_identity is not None:
            around = pl.interval(scores, pl.evaluation.EER())
            shown["95 % limits of the EER"] = f"{100 * around.low:.2f} to {100 * around.high:.2f}"
        return {**shown, "seconds": seconds}

    return measure


def on_sides(rates: Callable[[np.ndarray, np.ndarray], Rates]) -> Callable[[pl.Scores], Rates]:
    """Scores of pairs of one identity and of two, apart."""
    return lambda scores: rates(scores.positives, scores.negatives)


TOOLS = (
    Tool("by definition", "numpy", row(on_sides(by_definition))),
    Tool("pyeer", "pyeer", row(on_sides(by_pyeer))),
    Tool("bob.measure", "bob.measure", row(on_sides(by_bob))),
    Tool("scikit-learn", "scikit-learn", row(on_sides(by_scikit_learn))),
    Tool("pairlearn", None, row(by_pairlearn, limits=True)),
)


if __name__ == "__main__":
    data = ("LFW", "LFW, ties", "a million")
    try:
        data_folder()
    except InputError as error:
        print(f"LFW is left out: {error}")
        data = ("a million",)
    sys.exit(compare(__file__, dict.fromkeys(data, TOOLS), 120.0))
