"""All pairs of many examples without a list of them: time, memory and certified gap, and the list itself where it fits.

Metric kernel, linear base in 50 dimensions, C = 1 over the mean self value of a pair, labels by classes
(`pl.ClassLabels`). Real rows are MNIST digits (PCA 50, needs PAIRLEARN_DATA), the others overlapping Gaussian classes
of ten examples. Every row has a process of its own, so that its peak memory is its own; times are in products of
2500 × 2500 matrices ("gemm").
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, gemm_seconds, peak_memory, print_figures, run_rows, timed
from pairlearn.errors import InputError

DIMENSIONS = 50
Data = tuple[np.ndarray, np.ndarray]


def digits(m: int) -> Data:
    """m images of MNIST in 50 dimensions, and their digits."""
    data = np.load(data_folder() / "mnist" / "mnist.npz")
    images, classes = data["X_train"][: max(m, 5000)], data["y_train"][:m]
    flat = images.reshape(len(images), -1) / 255.0
    return PCA(DIMENSIONS, random_state=0).fit_transform(flat)[:m], classes


def gaussians(m: int) -> Data:
    """m examples of m/10 overlapping classes in 50 dimensions."""
    rng, classes = np.random.default_rng(0), np.arange(m) // 10
    return rng.normal(size=(-(-m // 10), DIMENSIONS))[classes] + 0.7 * rng.normal(size=(m, DIMENSIONS)), classes


def fit(data: Data, tol: float, memory: float, solver: str) -> tuple[float, pl.PairSVC, pl.Pairs]:
    """(seconds, machine, pairs) of a fit of all pairs."""
    X, classes = data
    pairs = pl.all_pairs(X, reflexive=False)
    some = pairs[np.random.default_rng(0).choice(len(pairs), min(len(pairs), 10_000), replace=False)]
    mean = float(np.mean(0.25 * ((X[some.left] - X[some.right]) ** 2).sum(axis=1) ** 2))
    labels = pl.ClassLabels(classes) if solver == "implicit" else pairs.labels(classes)
    machine = pl.PairSVC(
        "metric", "linear", C=1.0 / mean, tol=tol, random_state=0, memory_budget=memory, solver=solver, time_budget=900
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return *timed(lambda: machine.fit(pairs, labels)), pairs


def row(make: Callable[[int], Data], m: int, tol: float, memory: float, listed: bool = False) -> Any:
    """A row of m examples; `listed` also fits the list."""

    def measure(quick: bool) -> dict[str, Any]:
        size = min(m, 400) if quick else m
        try:
            data = make(size)
        except InputError as error:
            return {"skipped": str(error)}
        fit((data[0][:300], data[1][:300]), 1e-2, 4e9, "implicit")  # loads what is compiled
        before = peak_memory()
        seconds, machine, pairs = fit(data, tol, memory, "implicit")
        found = {
            "pairs": len(pairs),
            "seconds": seconds,
            "gemm": seconds / gemm_seconds(),
            "gap": machine.kkt_gap_,
            "status": machine.fit_status_,
            "rounds": machine.n_iter_,
            "support": machine.n_support_,
            "peak_gb": peak_memory(),
            "before_gb": before,
            "plan": str(machine.plan_),
            "objective": machine.objective_,
        }
        if listed:
            theirs, other, _ = fit(data, tol, 8e9, "auto")
            some = pairs[np.random.default_rng(1).choice(len(pairs), min(len(pairs), 20_000), replace=False)]
            expected = other.decision_function(some)
            found["off"] = float(np.abs(machine.decision_function(some) - expected).max() / np.abs(expected).max())
            found["objective_off"] = abs(machine.objective_ - other.objective_) / abs(other.objective_)
            found["listed_seconds"], found["listed_path"] = theirs, other.path_
        return found

    return measure


ROWS = {
    "digits 2500": row(digits, 2500, 1e-3, 2e9, listed=True),
    "digits 10000": row(digits, 10_000, 1e-3, 2e9),
    "classes 10000": row(gaussians, 10_000, 1e-3, 2e9),
    "classes 20000": row(gaussians, 20_000, 1e-2, 6e9),
}
GOALS = {
    "digits 10000": ("<= 200", "<= 0.001", "<= 2"),
    "classes 10000": ("<= 200", "<= 0.001", "<= 2"),
    "classes 20000": (None, "<= 0.01", "<= 6"),
}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """The goals."""
    found: list[Figure] = []
    for name, cells in rows.items():
        if "skipped" in cells:
            print(f"{name}: {cells['skipped']}")
            continue
        gemm, gap, memory = GOALS.get(name, (None, "<= 0.001", None))
        found += [
            Figure(f"{name}: pairs", cells["pairs"]),
            Figure(f"{name}: gemm", cells["gemm"], gemm, judged=not quick),
            Figure(f"{name}: certified gap", cells["gap"], gap),
            Figure(f"{name}: peak GB of the process", cells["peak_gb"], memory, judged=not quick),
        ]
        if "off" in cells:
            found += [
                Figure(f"{name}: decision values off those of the list, relative", cells["off"], "<= 0.001"),
                Figure(f"{name}: objective off that of the list, relative", cells["objective_off"], "<= 1e-05"),
                Figure(f"{name}: seconds / seconds of the list", cells["seconds"] / cells["listed_seconds"]),
            ]
    return found


if __name__ == "__main__":
    sys.exit(print_figures(figures(*run_rows(__file__, ROWS))))
