"""Rows of `real_solver.py` that are not one fit on real data: small ones, paths of C, a neighbour, made data."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import pairlearn as pl
from benchmarks.harness import timed
from benchmarks.real_data import Task, task_of
from benchmarks.real_parts import load_loops, machine_of, mean_self_value, operator_on
from benchmarks.real_rows import SHORT, Row
from benchmarks.solver import fit, identities

SMALL = [
    Row("mnist30", 41, "metric", "linear", 1.0),
    Row("letter", 41, "tensor", "rbf", 10.0),
    Row("mnist50", 41, "tensor_metric", "poly", 1.0),
    Row("isolet", 41, "tensor_metric", "rbf", 100.0),
    Row("cifar", 41, "direct_sum", "rbf", 1.0),
    Row("olivetti", 41, "metric", "rbf", 10.0),
]
"""Six kernels on 820 pairs each; the same on 1,770 pairs, of 60 examples."""
PATHS = [Row("mnist30", 300, "metric", "linear", 1.0), Row("mnist50", 300, "tensor", "rbf", 1.0)]
STEPS = (0.01, 0.1, 1.0, 10.0, 100.0)
BUSY = Row("mnist50", 1600, "tensor_metric", "linear", 0.01)


def run_special(job: dict[str, Any]) -> dict[str, Any]:
    """One of these rows."""
    load_loops()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"small": small, "c_path": c_path, "busy": busy, "synthetic": synthetic}[job["row"]](job["quick"])


def with_own_c(row: Row, task: Task) -> float:
    """The machine's C of a row."""
    return row.C / mean_self_value(row, task)


# --------------------------------------------------------------------------- small problems


def small(quick: bool) -> dict[str, Any]:
    """Our time per fit after the first / LIBSVM's, medians of many, for every kernel and size."""
    sizes = (41,) if quick else (41, 60)
    rows = [replace(row, m=m) for m in sizes for row in (SMALL[:2] if quick else SMALL)]
    return {"settings": {row.name: compared(row, 5 if quick else 31) for row in rows}}


def compared(row: Row, repeats: int) -> dict[str, float]:
    """LIBSVM has the matrix for nothing; `with_matrix` also counts making it."""
    task = task_of(row)
    job = {"C": with_own_c(row, task)}
    everything = np.arange(len(task.y))
    K = operator_on(row, task.pairs).submatrix(everything)

    actions: tuple[Callable[[], Any], ...] = (
        lambda: machine_of(row, job).fit(task.pairs, task.y),
        lambda: SVC(kernel="precomputed", C=job["C"], tol=1e-3).fit(K, task.y),
        lambda: operator_on(row, task.pairs).submatrix(everything),
    )
    # In turn, so that what else the machine does slows all of them down alike; the first round is not counted.
    rounds = [[timed(action)[0] for action in actions] for _ in range(repeats + 1)]
    mine, theirs, matrix = (float(seconds) for seconds in np.median(rounds[1:], axis=0))
    return {"seconds": mine, "libsvm": theirs, "ratio": mine / theirs, "with_matrix": mine / (theirs + matrix)}


# --------------------------------------------------------------------------- paths of C


def c_path(quick: bool) -> dict[str, Any]:
    """Five values of C with warm starts, upwards and downwards / the slowest of them cold."""
    rows = [replace(row, m=40) if quick else row for row in PATHS]
    return {"paths": {name: found for row in rows for name, found in both_ways(row).items()}}


def both_ways(row: Row) -> dict[str, dict[str, Any]]:
    """Ratios of one row, upwards and downwards."""
    task = task_of(row)
    values = [step * with_own_c(row, task) for step in STEPS]
    cold = max(timed(lambda C=C: path(row, task, [C]))[0] for C in values)
    found = {}
    for name, way in (("up", values), ("down", values[::-1])):
        seconds, ends = timed(lambda way=way: path(row, task, way))
        found[f"{row.name} {name}"] = {"ratio": seconds / cold, "cold": cold, "converged": set(ends) == {"converged"}}
    return found


def path(row: Row, task: Task, values: list[float]) -> list[str]:
    """How the fits with these C end, each from the one before."""
    machine = machine_of(row, {"C": values[0]}, warm_start=True, time_budget=300.0)
    return [str(machine.set_params(C=C).fit(task.pairs, task.y).fit_status_) for C in values]


# --------------------------------------------------------------------------- a busy machine


@contextmanager
def neighbour() -> Iterator[None]:
    """A process beside us that keeps one core busy."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def tiled_product() -> Callable[[Any, Any], Any]:
    """The matrix product of the package, or BLAS's own where it has none."""
    try:
        found: Callable[[Any, Any], Any] = importlib.import_module("pairlearn.linalg.tiles").product
    except (ImportError, AttributeError):
        return np.matmul
    return found


def busy(quick: bool) -> dict[str, Any]:
    """A 2500³ product and a fit on all pairs of 1,600 examples: alone, beside a busy process, there with one thread."""
    n, row = (500, replace(BUSY, m=40)) if quick else (2500, BUSY)
    A = np.random.default_rng(0).random((n, n))
    product, task = tiled_product(), task_of(row)
    job = {"C": with_own_c(row, task)}

    def products(multiply: Callable[[Any, Any], Any]) -> float:
        multiply(A, A)
        return float(np.median([timed(lambda: multiply(A, A))[0] for _ in range(9)]))

    def fit() -> float:
        return timed(lambda: machine_of(row, job, time_budget=200.0).fit(task.pairs, task.y))[0]

    quiet = {"blas": products(np.matmul), "product": products(product), "fit": fit()}
    with neighbour():
        loud = {"blas": products(np.matmul), "product": products(product), "fit": fit()}
        with threadpool_limits(1):
            single = {"product": products(np.matmul), "fit": fit()}
    return {"quiet": quiet, "loud": loud, "single": single, "tiled": product is not np.matmul}


# --------------------------------------------------------------------------- made data


def synthetic(quick: bool) -> dict[str, Any]:
    """Seconds of the fits of `benchmarks/solver.py` by the source at hand, with the solver that it takes by itself."""
    return {"fits": {name: quickest(make, params, quick) for name, (make, params) in SYNTHETIC.items()}}


def quickest(make: Callable[[bool], Any], params: dict[str, Any], quick: bool) -> float:
    """The least of three fits, of those that take long of one."""
    data, seconds = make(quick), []
    for _ in range(1 if quick else 3):
        seconds.append(fit(*data, **params)["seconds"])
        if seconds[-1] > SHORT:
            break
    return min(seconds)


def of_classes(n_classes: int, d: int = 50, spread: float = 0.5) -> Callable[[bool], Any]:
    """Gaussian classes of ten."""
    return lambda quick: identities(4 if quick else n_classes, 10, d, spread)


def of_intervals(m: int) -> Callable[[bool], Any]:
    """Double intervals, classes of five."""
    return lambda quick: pl.data.double_interval(8 if quick else m // 5, 5, n=500, seed=0)


SYNTHETIC: dict[str, tuple[Callable[[bool], Any], dict[str, Any]]] = {
    "metric_c1_320k": (of_classes(80, spread=0.7), {"kernel": "metric", "base": "linear", "C": 1.0}),
    "metric_c1_320k_easier": (of_classes(80, spread=0.5), {"kernel": "metric", "base": "linear", "C": 1.0}),
    "metric_c1_320k_harder": (of_classes(80, spread=0.85), {"kernel": "metric", "base": "linear", "C": 1.0}),
    "metric_c100_overlap": (of_classes(20, d=20, spread=1.0), {"kernel": "metric", "base": "linear", "C": 100.0}),
    "double_interval_500": (of_intervals(500), {"kernel": "tensor", "base": "linear", "C": 1000.0}),
    "double_interval_1000": (of_intervals(1000), {"kernel": "tensor", "base": "linear", "C": 1000.0}),
    "double_interval_2500": (of_intervals(2500), {"kernel": "tensor", "base": "linear", "C": 1000.0}),
    "tensor_gaussian_2500": (of_classes(250), {"kernel": "tensor", "base": "rbf", "C": 1.0}),
    "tensor_squared_2500": (of_classes(250), {"kernel": "tensor", "base": "poly", "C": 1.0}),
    "tensor_metric_gaussian_2500": (of_classes(250), {"kernel": "tensor_metric", "base": "rbf", "C": 1.0}),
    "tensor_metric_squared_2500": (of_classes(250), {"kernel": "tensor_metric", "base": "poly", "C": 1.0}),
    "metric_linear_2500": (of_classes(250), {"kernel": "metric", "base": "linear", "C": 1.0}),
}
"""Fits of `benchmarks/solver.py` by their names there."""
