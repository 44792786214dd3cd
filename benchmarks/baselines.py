"""How long does every baseline take? Seconds to learn from all pairs and to score all test pairs.

Needs PAIRLEARN_DATA: isolet and raw MNIST in the splits of `repro/unseen_classes.py`.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, skip_without_data
from pairlearn.evaluation import equal_error_rate
from repro.unseen_classes import task

NAMES = ("isolet", "mnist")


def row(name: str, quick: bool) -> dict[str, Any]:
    """Seconds and EER of every baseline on one data set."""
    data, began, marks = task(name, 7), time.perf_counter(), {}
    keep = np.arange(0, len(data.X), 4 if quick else 1)
    pairs = pl.all_pairs(data.X[keep], reflexive=False)

    def noted(each: str) -> None:
        marks[each] = time.perf_counter() - began

    labels = pairs.labels(data.classes[keep])
    scores, skipped = pl.run_baselines(pairs, labels, data.test, classes=data.classes[keep], before=noted)
    ends = [*list(marks.values())[1:], time.perf_counter() - began]
    seconds = {each: end - start for (each, start), end in zip(marks.items(), ends, strict=True)}
    rates = {each: 100.0 * equal_error_rate(pl.Scores(found, data.truth)) for each, found in scores.items()}
    return {"pairs": len(pairs), "seconds": seconds, "eer": rates, "skipped": skipped}


if __name__ == "__main__":
    skip_without_data()
    results, _ = run_rows(__file__, {name: partial(row, name) for name in NAMES})
    figures = []
    for name, found in results.items():
        for each, seconds in found["seconds"].items():
            rate = found["eer"].get(each, float("nan"))
            print(f"{name:<8} {each:<22} {seconds:8.2f} s   EER {rate:6.2f} %   {found['skipped'].get(each, '')}")
        figures += [Figure(f"{name}: the slowest baseline, seconds", max(found["seconds"].values()))]
        figures += [Figure(f"{name}: all baselines, seconds", sum(found["seconds"].values()))]
    sys.exit(print_figures(figures))
