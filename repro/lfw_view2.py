"""LFW View 2 with dlib embeddings: accuracy in ten folds, EER, and FNMR at fixed FMR with limits over persons.

Needs PAIRLEARN_DATA. Each fold has 300 pairs of one person and 300 of two; the threshold of a fold's accuracy is chosen
on the other nine. The scores are untrained (Euclid and cosine of 128 numbers per face). The expected accuracy of Euclid
is that of the data set's description, 99.02 %. EER per fold, mean and standard error of the mean; limits over persons
for all 6,000 pairs together, by the jackknife.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.evaluation import accuracy_over_folds, over_folds

SCORERS = {"Euclid": pl.EuclidBaseline(), "cosine": pl.CosineBaseline()}
FMRS = (1e-2, 1e-3)


def system(name: str) -> dict[str, Any]:
    """All figures of one scorer."""
    folder = data_folder() / "lfw"
    protocol = np.load(folder / "lfw_protocol.npz")
    X = np.load(folder / "lfw_dlib128.npz")["E"].astype(float)
    left, right = protocol["view2_pairs"].astype(int).T
    labels, folds = np.where(protocol["view2_same"] > 0, 1, -1), protocol["view2_fold"].astype(int)
    person = protocol["person"].astype(int)
    values = SCORERS[name].decision_function(pl.Pairs(X, left, right))
    scores = pl.Scores(values, labels, left, right, left_identity=person[left], right_identity=person[right])
    accuracy, eers = accuracy_over_folds(scores, folds), over_folds(scores, folds, pl.equal_error_rate)
    found: dict[str, Any] = {
        "accuracy": accuracy.mean,
        "accuracy SEM": accuracy.standard_error,
        "EER": eers.mean,
        "EER SEM": eers.standard_error,
    }
    for fmr in FMRS:
        limits = pl.interval(scores, partial(pl.evaluation.fnmr_at_fmr, fmr=fmr))
        found[f"FNMR at FMR {fmr:g}"] = [limits.estimate, limits.low, limits.high, limits.n_units]
    return found


def main() -> int:
    """Print all figures in per cent."""
    skip_without_data()
    results, _ = run_rows(__file__, {name: lambda quick, name=name: system(name) for name in SCORERS})
    figures = []
    for name, row in results.items():
        paper = "99.02" if name == "Euclid" else None
        figures.append(Figure(f"{name}: accuracy over ten folds, %", 100 * row["accuracy"], paper=paper))
        figures.append(Figure(f"{name}: its standard error", 100 * row["accuracy SEM"]))
        figures.append(Figure(f"{name}: EER, mean of ten folds, %", 100 * row["EER"]))
        figures.append(Figure(f"{name}: its standard error", 100 * row["EER SEM"]))
        for fmr in FMRS:
            estimate, low, high, persons = row[f"FNMR at FMR {fmr:g}"]
            for what, value in (("", estimate), (", lower limit", low), (f", upper limit ({persons} persons)", high)):
                figures.append(Figure(f"{name}: FNMR at FMR {fmr:g}{what}, %", 100 * value))
    distance = abs(100 * results["Euclid"]["accuracy"] - 99.02)
    figures.append(Figure("Euclid: distance from 99.02 % accuracy, points", distance, "<= 0.1"))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
