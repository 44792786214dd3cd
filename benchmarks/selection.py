"""Staged selection beside an exhaustive grid: how good is what it finds, and what does it cost?

Double intervals of n = 500: 50 classes with 10 examples each to select on, 50 other classes to test on. The grid is 5
pair kernels × 3 bases × 4 C, every machine fitted cold on all 125,250 pairs of the 500 examples and judged on the test
classes; the best of them is known only in hindsight. Selection gets the same kernels, bases and Cs and 600 s, once
with machines of their own only (`weights=()`), once with starts from baselines, which the grid does not have; it never
sees the test classes. C counts in units of 1 / mean K(p, p), and positive and negative pairs weigh the same in both.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed
from pairlearn.selection.search.settings import Family, Space

KERNELS = ("metric", "tensor", "tensor_metric", "direct_sum", "direct_metric")
BASES = ("linear", "poly", "rbf")
CS = (0.1, 1.0, 10.0, 100.0)
LIMIT = 240.0
"""Seconds of one fit of the grid; one that takes longer is judged as it is, and its status is shown."""


def data(quick: bool) -> tuple[Any, Any, pl.Pairs, np.ndarray]:
    """Examples and classes to select on, and labelled pairs of other classes."""
    n_classes, epcr, n = (12, 6, 40) if quick else (50, 10, 500)
    X, classes = pl.data.double_interval(2 * n_classes, epcr, n=n, seed=0)
    half = n_classes * epcr
    test = pl.all_pairs(X[half:], reflexive=False)
    return X[:half], classes[:half], test, test.labels(classes[half:])


def rate(model: Any, test: pl.Pairs, truth: np.ndarray) -> float:
    """Equal error rate on the test classes."""
    return pl.equal_error_rate(pl.Scores(model.decision_function(test), truth))


def grid(kernel: str, base: str, quick: bool) -> dict[str, Any]:
    """All Cs of one kernel and base, each fitted cold."""
    X, classes, test, truth = data(quick)
    space, family = Space.of([kernel], [base], CS, []), Family(kernel, base)
    pairs = pl.all_pairs(X)
    labels, scale = pairs.labels(classes), 0.0
    found: dict[str, Any] = {"seconds": 0.0, "eer": {}, "status": {}}
    warnings.simplefilter("ignore", ConvergenceWarning)
    scale = space.scale(family, pairs, 0)
    space.machine(family, scale).fit(pairs[:2000], labels[:2000])  # compiles
    for C in CS[1:3] if quick else CS:
        machine = space.machine(family, scale, time_budget=LIMIT).set_params(C=C / scale)
        seconds, _ = timed(lambda machine=machine: machine.fit(pairs, labels))
        found["seconds"] += seconds
        found["eer"][f"{C:g}"], found["status"][f"{C:g}"] = rate(machine, test, truth), machine.fit_status_
    return found


def selection(weights: tuple[float, ...], quick: bool) -> dict[str, Any]:
    """One staged selection, and how its machine does on the test classes."""
    X, classes, test, truth = data(quick)
    search = pl.StagedSearch(KERNELS, BASES, CS, weights=weights, time_budget=8.0 if quick else 600.0, n_jobs=2)
    seconds, _ = timed(lambda: search.fit(X, classes))
    baselines, _ = search.score_by_baselines(test)
    return {
        "seconds": seconds,
        "eer": rate(search, test, truth),
        "chosen": str(search.best_setting_),
        "validation_eer": search.record_["chosen"]["eer"],
        "size": search.record_["chosen"]["size"],
        "trials": len(search.record_["trials"]),
        "notes": search.record_["notes"],
        "baselines": {name: pl.equal_error_rate(pl.Scores(values, truth)) for name, values in baselines.items()},
    }


def main() -> int:
    """Print what both found and what they cost."""
    rows: dict[str, Any] = {
        "selection, own machines": lambda quick: selection((), quick),
        "selection, from baselines": lambda quick: selection((1.0, 10.0), quick),
    }
    pairs = [("tensor_metric", "linear"), ("metric", "linear")]
    if "--quick" not in sys.argv:
        pairs = [(kernel, base) for kernel in KERNELS for base in BASES]
    rows |= {f"grid {k}/{b}": lambda quick, k=k, b=b: grid(k, b, quick) for k, b in pairs}
    results, quick = run_rows(__file__, rows)
    cells = {
        f"{name[5:]}, C = {C}": value
        for name, row in results.items()
        if name.startswith("grid")
        for C, value in row["eer"].items()
    }
    best = min(cells, key=lambda name: cells[name])
    cost = sum(row["seconds"] for name, row in results.items() if name.startswith("grid"))
    own, started = (results[f"selection, {kind}"] for kind in ("own machines", "from baselines"))
    baseline = min(own["baselines"], key=lambda name: own["baselines"][name])
    judged = not quick and len(cells) == len(KERNELS) * len(BASES) * len(CS)
    return print_figures(
        [
            Figure(f"EER of the best of {len(cells)} grid machines ({best}), %", 100 * cells[best]),
            Figure("seconds of the grid", cost),
            Figure(f"EER of selection, own machines ({own['chosen']}), %", 100 * own["eer"]),
            Figure("EER relative to the best of the grid, own machines", own["eer"] / cells[best], "<= 1.1",
                   judged=judged),
            Figure("seconds of selection, own machines", own["seconds"], "<= 600", judged=judged),
            Figure(f"EER of selection, from baselines ({started['chosen']}), %", 100 * started["eer"]),
            Figure("EER relative to the best of the grid, from baselines", started["eer"] / cells[best], "<= 1.1",
                   judged=judged),
            Figure("seconds of selection, from baselines", started["seconds"], "<= 600", judged=judged),
            Figure("cost of selection over that of the grid", own["seconds"] / cost),
            Figure(f"EER of the best baseline in hindsight ({baseline}), %", 100 * own["baselines"][baseline]),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
