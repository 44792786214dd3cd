"""What a second core is worth: seconds with one and with two threads, of Gram matrices, fits and scores.

Every cell has a process of its own with OMP_NUM_THREADS set, which all of BLAS, tiles and compiled loops heed; what is
compiled is compiled before the clock starts, and the least of some repeats counts. Run it alone: beside others two
threads do not get two cores. Seconds of the processor stand beside those of the clock, so that a busy machine shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows
from pairlearn.functions.function import PairFunction

THREADS = (1, 2)
Work = tuple[Callable[[], Any], int]
"""What is timed, and how often."""


def gaussians(m: int, d: int) -> tuple[Any, Any]:
    """m examples of m/10 overlapping classes, and the classes."""
    rng, classes = np.random.default_rng(0), np.arange(m) // 10
    return rng.normal(size=(m // 10, d))[classes] + 0.7 * rng.normal(size=(m, d)), classes


def gram(quick: bool) -> Work:
    """The matrix of a Gaussian kernel."""
    X, _ = gaussians(1500 if quick else 6000, 200)
    return lambda: pl.kernels.Gram(pl.kernels.Gaussian(1e-3), X).matrix, 3


def fit(base: str, kernel: str, m: int, d: int) -> Work:
    """A fit of all pairs, C = 1 over the mean self value of a pair by the scale of the base."""
    X, classes = gaussians(m, d)
    if base == "linear":
        X = X / np.sqrt((X**2).sum(axis=1).mean())
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes)
    machine = pl.PairSVC(kernel, base, C=1.0, random_state=0)
    machine.fit(pairs[: len(pairs) // 50], y[: len(pairs) // 50])
    return lambda: machine.fit(pairs, y), 1


def fit_features(quick: bool) -> Work:
    """Metric kernel on 50 features."""
    return fit("linear", "metric", 500 if quick else 1000, 50)


def fit_gaussian(quick: bool) -> Work:
    """Tensor kernel on a Gaussian base."""
    return fit("rbf", "tensor", 400 if quick else 800, 50)


def function_of(support: int) -> PairFunction:
    """A learnt function with a Gaussian base and so many support examples in 50 dimensions."""
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, support, (2, 10 * support))
    kernel = pl.pair_kernel("tensor_metric").on(pl.kernels.Gaussian(gamma=0.01))
    return PairFunction(kernel, rng.normal(size=(support, 50)), left, right, rng.normal(size=10 * support), 0.0)


def score_pairs(quick: bool) -> Work:
    """Values of a million pairs of 10,000 examples."""
    m, n, support = (2000, 10**5, 300) if quick else (10_000, 10**6, 500)
    rng, function = np.random.default_rng(2), function_of(support)
    pairs = pl.Pairs(rng.normal(size=(m, 50)), *rng.integers(0, m, (2, n)))
    return lambda: function(pairs), 3


def score_block(quick: bool) -> Work:
    """3,000 probes with 9,000 examples of a gallery."""
    p, g, support = (500, 1500, 500) if quick else (3000, 9000, 1000)
    rng, function = np.random.default_rng(3), function_of(support)
    probe, gallery = rng.normal(size=(p, 50)), rng.normal(size=(g, 50))
    return lambda: function.block(probe, gallery), 3


WORKS = {
    "Gram matrix": gram,
    "fit, 50 features": fit_features,
    "fit, Gaussian": fit_gaussian,
    "score pairs": score_pairs,
    "score probe × gallery": score_block,
}


def cell(name: str, quick: bool) -> dict[str, float]:
    """Least seconds of a work in this process, and the cores that it used then."""
    warnings.simplefilter("ignore")
    work, repeats = WORKS[name](quick)
    if repeats > 1:
        work()
    found = []
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        work()
        seconds = time.perf_counter() - began
        found.append((seconds, (time.process_time() - used) / seconds))
    seconds, cores = min(found)
    return {"seconds": seconds, "cores": cores}


def measured(name: str) -> Callable[[bool], dict[str, Any]]:
    """A row: the cell with each number of threads."""

    def row(quick: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for threads in THREADS:
            environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
            environment.pop("NUMBA_NUM_THREADS", None)
            command = [sys.executable, __file__, "--cell", name, *(["--quick"] if quick else [])]
            run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
            one = json.loads(run.stdout.splitlines()[-1])
            found |= {f"seconds {threads}": one["seconds"], f"cores {threads}": one["cores"]}
        found["ratio"] = found["seconds 1"] / found["seconds 2"]
        found["load"] = os.getloadavg()[0]
        return found

    return row


def show(rows: dict[str, dict[str, Any]]) -> None:
    """The table of docs/scale.md."""
    print("\n| work | one thread: seconds, of the processor | two threads | times as fast |\n|---|---|---|---|")
    for name, row in rows.items():
        cells = [(row[f"seconds {threads}"], row[f"cores {threads}"]) for threads in THREADS]
        both = " | ".join(f"{seconds:.2f}, {seconds * cores:.2f}" for seconds, cores in cells)
        print(f"| {name} | {both} | {row['ratio']:.2f} |")


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """Two threads at least 1.4 times as fast where there is nothing else to do; judged on a machine that is quiet."""
    found = []
    for name, row in rows.items():
        quiet = row["load"] <= len(THREADS) + 0.5
        faster, judged = f"{name}: times as fast with two threads", quiet and not quick
        found.append(Figure(faster, row["ratio"], ">= 1.4", judged=judged))
        found.append(Figure(f"{name}: cores in use", row["cores 2"]))
    return found


if __name__ == "__main__":
    if "--cell" in sys.argv:
        print(json.dumps(cell(sys.argv[sys.argv.index("--cell") + 1], "--quick" in sys.argv)))
    else:
        results, is_quick = run_rows(__file__, {name: measured(name) for name in WORKS})
        show(results)
        sys.exit(print_figures(figures(results, is_quick)))
