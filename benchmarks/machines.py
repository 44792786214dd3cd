"""Are the other machines fast too? PairRanker and PairSVR against plain SMO on 100,000 pairs of 1,000 examples.

Both solvers get the same operator, tolerance and problem in the same run; first a small fit of each compiles the loops.
Plain SMO is cut off after a time limit: its ratio is then a lower bound, and its gap tells how far it was.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed
from pairlearn.kernels import Gaussian

LIMIT = 240.0
"""Seconds for plain SMO."""


def data(n_pairs: int, n_examples: int) -> tuple[pl.Pairs, np.ndarray]:
    """Random pairs and noisy differences of a smooth utility."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_examples, 10))
    utility = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]
    left = rng.integers(n_examples, size=n_pairs)
    right = (left + rng.integers(1, n_examples, size=n_pairs)) % n_examples
    return pl.Pairs(X, left, right), utility[left] - utility[right] + 0.3 * rng.normal(size=n_pairs)


def compare(machine: Any, y: Any, quick: bool) -> dict[str, Any]:
    """Seconds, gaps and decision values of both solvers."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    small, values = data(500, 50)
    for solver in ("active_set", "smo"):
        machine(solver=solver, random_state=0).fit(small, y(values))
    pairs, values = data(5_000 if quick else 100_000, 200 if quick else 1_000)
    fast_seconds, fast = timed(lambda: machine(solver="active_set", random_state=0).fit(pairs, y(values)))
    plain = machine(solver="smo", random_state=0, time_budget=10.0 if quick else LIMIT)
    plain_seconds, _ = timed(lambda: plain.fit(pairs, y(values)))
    g, h = fast.decision_function(pairs), plain.decision_function(pairs)
    return {
        "seconds": fast_seconds,
        "plain": plain_seconds,
        "gap": fast.kkt_gap_,
        "plain_gap": plain.kkt_gap_,
        "support": fast.n_support_,
        "difference": float(np.abs(g - h).max() / np.abs(g).max()),
    }


def ranker(quick: bool) -> dict[str, Any]:
    """Difference kernel, Gaussian base, C = 1."""
    return compare(lambda **o: pl.PairRanker("difference", Gaussian(0.1), C=1.0, **o), np.sign, quick)


def regression(quick: bool) -> dict[str, Any]:
    """The same with ε = 0.1 of the spread of the targets, which is 1.2."""
    return compare(lambda **o: pl.PairSVR("difference", Gaussian(0.1), C=1.0, epsilon=0.1, **o), np.asarray, quick)


def symmetric_regression(quick: bool) -> dict[str, Any]:
    """A number that no order changes, with the tensor_metric kernel on a linear base and a bias; the spread is 0.7."""
    return compare(lambda **o: pl.PairSVR("tensor_metric", "linear", C=1.0, epsilon=0.1, **o), np.abs, quick)


if __name__ == "__main__":
    results, is_quick = run_rows(
        __file__, {"PairRanker": ranker, "PairSVR": regression, "PairSVR, symmetric": symmetric_regression}
    )
    figures = []
    for name, row in results.items():
        figures += [
            Figure(f"{name}: plain SMO / ours", row["plain"] / row["seconds"], ">= 20", judged=not is_quick),
            Figure(f"{name}: our KKT gap", row["gap"], "<= 1e-3"),
            Figure(f"{name}: plain SMO's KKT gap", row["plain_gap"]),
            Figure(f"{name}: largest relative difference of values", row["difference"]),
        ]
    sys.exit(print_figures(figures))
