"""What `real_solver.py` measures of a row, each in a process of its own: our fit, a forced path, LIBSVM, LIBLINEAR.

The process loads the data and warms up first, so that neither imports nor compiled loops are measured. It also runs
with the source of an older commit, for the part "old", and so asks of a fitted machine only what both have.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import pairlearn as pl
from benchmarks.budgets import grown
from benchmarks.harness import gemm_seconds, timed
from benchmarks.real_data import Task, quick_row, task_of
from benchmarks.real_rows import BY_NAME, Row
from pairlearn.errors import InputError, TooLargeError

EPSILON = 0.1
MOST_DENSE = 20_000
"""Pairs up to which LIBSVM is given the matrix of all pair kernel values."""
MOST_FEATURES, MOST_NUMBERS = 500, 4 * 10**7
"""Explicit features, and numbers in all, up to which LIBLINEAR is given them."""
QUICK_STEPS = 1000
"""Passes of LIBLINEAR and tens of steps of LIBSVM in a quick run, whose jobs share a process that no alarm may end."""
AGREE = 1e-4
"""Relative distance of objectives at which LIBLINEAR has solved the same problem."""


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """One part of one row: {"row", "part", "quick", "cap" in seconds, "C", "objective"} → plain numbers and strings."""
    row = BY_NAME[job["row"]]
    row = quick_row(row) if job["quick"] else row
    task = task_of(row)
    kind, _, solver = job["part"].partition(" ")
    measure = {"ours": ours, "old": fitted, "forced": fitted, "libsvm": libsvm, "linear": liblinear}[kind]
    if solver:
        job = {**job, "solver": solver}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(row, task, job)


# --------------------------------------------------------------------------- our machines


def machine_of(row: Row, job: dict[str, Any], **options: Any) -> Any:
    """The machine of a row; a job without C has it in units of 1 / mean K(p, p)."""
    base = (row.base, row.base) if row.data.startswith("davis") else row.base
    options |= {"solver": job["solver"]} if "solver" in job else {}
    options |= {"epsilon": EPSILON} if row.machine == "PairSVR" else {}
    return getattr(pl, row.machine)(row.kernel, base, C=job["C"], random_state=0, **options)


def ours(row: Row, task: Task, job: dict[str, Any]) -> dict[str, Any]:
    """The fit that a user gets, with the C that all other parts take, and the unit of time."""
    C = row.C if row.absolute else row.C / mean_self_value(row, task)
    found = fitted(row, task, {**job, "C": C})
    n = 500 if job["quick"] else 2500
    return {**found, "C": C, "gemm": gemm_seconds(n)}


def mean_self_value(row: Row, task: Task) -> float:
    """Mean K(p, p) over at most 2,000 pairs."""
    chosen = np.random.default_rng(0).permutation(len(task.pairs))[:2000]
    return float(operator_on(row, task.pairs[np.sort(chosen)]).diagonal().mean())


def operator_on(row: Row, pairs: pl.Pairs) -> Any:
    """The pair kernel on these pairs."""
    from pairlearn.kernels import as_kernel
    from pairlearn.operators.build import build

    base = (row.base, row.base) if row.data.startswith("davis") else row.base
    return build(pl.pair_kernel(row.kernel).on(as_kernel(base)), pairs).operator


def fitted(row: Row, task: Task, job: dict[str, Any]) -> dict[str, Any]:
    """One fit by the source at hand: time, steps, support, certificate, memory beside the plan's, path."""
    try:
        warm_up(row, job)
        machine = machine_of(row, job, time_budget=job["cap"])
        alarm(None if job["quick"] else 2 * job["cap"] + 60)
        used, (seconds, _) = grown(lambda: timed(lambda: machine.fit(task.pairs, task.y, task.weight)))
        alarm(None)
    except (InputError, TooLargeError) as error:
        return {"status": f"refused: {error}"}
    bounded = machine.support_bounded_
    return {
        "pairs": len(task.pairs),
        "seconds": seconds,
        "outer": machine.n_iter_,
        "support": len(bounded),
        "free": int((~bounded).sum()),
        "gap": machine.kkt_gap_,
        "objective": machine.objective_,
        "status": str(machine.fit_status_),
        "used_gb": used / 1e3,
        "plan_gb": machine.plan_.bytes / 1e9,
        "path": str(getattr(machine, "path_", "")),
    }


def warm_up(row: Row, job: dict[str, Any]) -> None:
    """Load what this fit loads, on a few pairs and, for a full row, on some thousand; BLAS takes its buffers."""
    load_loops()
    if job["quick"]:
        return
    small = [quick_row(row), replace(quick_row(row), m=min(row.m, 8 * quick_row(row).m // 3))]
    fits = [(small[0], job["C"]), (small[0], 100 * job["C"]), (small[1], job["C"])]
    for each, C in fits[: 1 if "solver" in job else 3]:  # paths by name share a process that is warm already
        task = task_of(each)
        with suppress(InputError, TooLargeError):  # a solver may serve for the row and not for so few pairs
            machine_of(each, {**job, "C": C}, time_budget=3.0).fit(task.pairs, task.y, task.weight)
    A = np.ones((1500, 1500))
    A @ A


@cache
def load_loops() -> None:
    """Small fits by the usual ways."""
    X = np.random.default_rng(0).normal(size=(40, 5))
    pairs = pl.all_pairs(X, reflexive=False)
    for kernel, base in (("metric", "linear"), ("tensor", "rbf"), ("tensor_metric", "poly")):
        pl.PairSVC(kernel, base, C=10.0, time_budget=3.0).fit(pairs, pairs.labels(np.arange(40) // 4))


def alarm(seconds: float | None) -> None:
    """End this process after so many seconds, even within compiled code; None: no longer."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0.0)


# --------------------------------------------------------------------------- LIBSVM


def libsvm(row: Row, task: Task, job: dict[str, Any]) -> dict[str, Any]:
    """LIBSVM to the same gap, on difference vectors where it can, else on the matrix, whose making is not measured.

    A ranker has no bias and LIBSVM always has one: no reference there.
    """
    if row.machine == "PairRanker" or (row.machine == "PairSVR" and row.kernel == "difference"):
        return {"status": "refused: LIBSVM has a bias"}
    inputs, options = None, {"kernel": "precomputed"}
    if (row.kernel, row.base) == ("metric", "linear"):
        inputs = np.subtract(*sides_of(task.pairs))
        options = {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 0.0}
    elif (row.kernel, row.base) == ("direct_sum", "linear"):
        inputs, options = explicit_features(row, task.pairs), {"kernel": "linear"}
    elif len(task.y) <= MOST_DENSE:
        inputs = operator_on(row, task.pairs).submatrix(np.arange(len(task.y)))
    if inputs is None:
        return {"status": "refused: too many pairs for a matrix"}
    kind, more = (SVR, {"epsilon": EPSILON}) if row.machine == "PairSVR" else (SVC, {})
    most = 10 * QUICK_STEPS if job["quick"] else -1
    machine = kind(C=job["C"], tol=1e-3, cache_size=2000, max_iter=most, **options, **more)
    alarm(None if job["quick"] else job["cap"])
    seconds, _ = timed(lambda: machine.fit(inputs, task.y, task.weight))
    alarm(None)
    found = {"status": "converged", "seconds": seconds, "support": len(machine.support_)}
    if len(machine.support_) <= MOST_DENSE:
        found["objective"] = dual_objective(machine, inputs, task.y)
    return found


def sides_of(pairs: pl.Pairs) -> tuple[np.ndarray, np.ndarray]:
    """The examples on the left and on the right of every pair."""
    return pairs.examples[pairs.left], pairs.examples[pairs.right]


def dual_objective(machine: Any, inputs: np.ndarray, y: np.ndarray) -> float:
    """½θᵀKθ − yᵀθ + ε‖θ‖₁ of LIBSVM's θ."""
    theta, support = machine.dual_coef_[0], machine.support_
    values = machine.decision_function if isinstance(machine, SVC) else machine.predict
    fit = 0.5 * theta @ (values(inputs[support]) - machine.intercept_[0])
    slack = EPSILON * np.abs(theta).sum() if isinstance(machine, SVR) else 0.0
    return float(fit - theta @ y[support] + slack)


# --------------------------------------------------------------------------- LIBLINEAR


def explicit_features(row: Row, pairs: pl.Pairs) -> np.ndarray | None:
    """Z with K = ZZᵀ for a linear base with few features; None elsewhere.

    difference, direct_sum: (a ∓ b)/√2. metric: (a − b)(a − b)ᵀ/2, tensor: (abᵀ + baᵀ)/2, as d(d + 1)/2 numbers.
    """
    d = pairs.examples.shape[1]
    width = d if row.kernel in ("difference", "direct_sum") else d * (d + 1) // 2
    known = row.base == "linear" and row.kernel in ("difference", "direct_sum", "metric", "tensor")
    two_tables = row.data.startswith("davis")
    if not known or two_tables or width > MOST_FEATURES or width * len(pairs) > MOST_NUMBERS:
        return None
    a, b = sides_of(pairs)
    if row.kernel in ("difference", "direct_sum"):
        return (a - b if row.kernel == "difference" else a + b) / np.sqrt(2.0)
    a, b = (a - b, (a - b) / 2.0) if row.kernel == "metric" else (a, b)
    i, j = np.triu_indices(d)
    return (a[:, i] * b[:, j] + a[:, j] * b[:, i]) * np.where(i == j, 0.5, np.sqrt(0.5))


def liblinear(row: Row, task: Task, job: dict[str, Any]) -> dict[str, Any]:
    """The fastest LIBLINEAR run whose objective is that of our fit to 1e-4, on explicit features, given to it.

    It punishes its bias, which we do not: the true objective is computed with the bias free, and of the scales of its
    bias feature the fastest good one counts. Its tolerance is tightened until one is good, and only that run counts.
    """
    Z = explicit_features(row, task.pairs)
    if Z is None:
        return {"status": "refused: no few explicit features"}
    best: dict[str, Any] = {}
    for tol in 10.0 ** np.arange(-1, -3 if job["quick"] else -8, -1):
        for machine in linear_machines(row, job["C"], tol):
            machine.set_params(max_iter=QUICK_STEPS if job["quick"] else 10**7)
            alarm(None if job["quick"] else job["cap"])
            seconds, _ = timed(lambda machine=machine: machine.fit(Z, task.y, task.weight))
            alarm(None)
            excess = primal_objective(row, task, job["C"], machine, Z) / -job["objective"] - 1.0
            if excess <= AGREE and seconds <= best.get("seconds", np.inf):
                best = {"status": "converged", "seconds": seconds, "excess": excess, "tol": tol}
        if best:
            return {**best, "features": Z.shape[1]}
    return {"status": "never within 1e-4"}


def linear_machines(row: Row, C: float, tol: float) -> Iterator[Any]:
    """Hinge or ε-insensitive loss, by dual coordinate descent; with a bias at three scales of its feature."""
    options: dict[str, Any] = {"C": C, "tol": tol, "dual": True, "random_state": 0}
    if row.machine == "PairSVR":
        options |= {"epsilon": EPSILON, "loss": "epsilon_insensitive"}
    kind = LinearSVR if row.machine == "PairSVR" else LinearSVC
    options |= {} if row.machine == "PairSVR" else {"loss": "hinge"}
    if row.kernel == "difference":
        yield kind(fit_intercept=False, **options)
        return
    for scale in (1.0, 10.0, 100.0):
        yield kind(fit_intercept=True, intercept_scaling=scale, **options)


def primal_objective(row: Row, task: Task, C: float, machine: Any, Z: np.ndarray) -> float:
    """½‖w‖² + C Σ weight · loss: minus the dual objective, at the optimum."""
    w = np.ravel(machine.coef_)
    values = Z @ w + (np.ravel(machine.intercept_)[0] if machine.fit_intercept else 0.0)
    if row.machine == "PairSVR":
        losses = np.maximum(0.0, np.abs(task.y - values) - EPSILON)
    else:
        losses = np.maximum(0.0, 1.0 - task.y * values)
    weights = 1.0 if task.weight is None else task.weight
    return float(0.5 * w @ w + C * np.sum(weights * losses))
