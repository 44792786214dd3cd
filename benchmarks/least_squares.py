"""How long do least squares on pairs take: in closed form, by conjugate gradients, and leaving out.

Examples are normal in ten dimensions with a Gaussian base, targets a smooth function with noise; α = .1, tol = 1e-4.
Times are multiples of one 2500³ product ("gemm").

    grid       all pairs of two tables, tensor: the eigenbasis
    holes      nine of ten of them: conjugate gradients in the eigenbasis
    everyone   all pairs of one table, tensor and tensor_metric
    few        a twentieth of the pairs of one table: conjugate gradients with the fast product
    left out   a path of 13 α by unseen pairs, left and right examples, in fits; both for 60 × 400 examples
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, gemm_seconds, print_figures, run_rows, timed

PATH = tuple(10.0 ** np.arange(-4.0, 2.5, 0.5))


def tables(m: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Left and right examples."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(m, 10)), rng.normal(size=(k, 10))


def targets(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """One number per row of both."""
    noise = np.random.default_rng(1).normal(size=len(A))
    return np.sin(A[:, 0]) * np.cos(B[:, 1]) + A[:, 2] * B[:, 3] + 0.5 * noise


def grid(m: int, k: int) -> tuple[pl.Pairs, np.ndarray]:
    """All pairs of two tables."""
    (X, Z), (a, b) = tables(m, k), np.divmod(np.arange(m * k), k)
    return pl.Pairs(X, a, b, right_examples=Z), targets(X[a], Z[b])


def triangle(m: int) -> tuple[pl.Pairs, np.ndarray]:
    """All pairs of one table, targets the same in both orders."""
    X, _ = tables(m, 1)
    pairs = pl.all_pairs(X, reflexive=False)
    a, b = np.asarray(pairs.left), np.asarray(pairs.right)
    return pairs, targets(X[a], X[b]) + targets(X[b], X[a])


def fitted(pairs: pl.Pairs, y: np.ndarray, kernel: str = "tensor", **options: Any) -> dict[str, Any]:
    """One fit: seconds, steps and the largest violation."""
    pl.PairRidge(kernel, "rbf", 0.1).fit(pairs[:500], y[:500])  # compiles
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, model = timed(lambda: pl.PairRidge(kernel, "rbf", 0.1, **options).fit(pairs, y))
    facts = {"seconds": seconds, "pairs": len(pairs), "gap": model.kkt_gap_}
    return {**facts, "steps": model.n_iter_ - 1, "path": model.path_, "status": model.fit_status_}


def some(pairs: pl.Pairs, y: np.ndarray, share: float) -> tuple[pl.Pairs, np.ndarray]:
    """A random part."""
    chosen = np.sort(np.random.default_rng(2).permutation(len(y))[: int(share * len(y))])
    return pairs[chosen], y[chosen]


def left_out(m: int, k: int, settings: tuple[Any, ...]) -> dict[str, Any]:
    """A path of α for every setting, in fits with one α."""
    pairs, y = grid(m, k)
    one = fitted(pairs, y)["seconds"]
    found = {}
    for unseen in settings:
        seconds, _ = timed(lambda unseen=unseen: pl.PairRidge("tensor", "rbf", PATH, unseen=unseen).fit(pairs, y))
        found[unseen] = seconds / one
    return {"pairs": len(pairs), "fit": one, **found}


def main() -> int:
    """Print times, steps and violations."""
    rows = {
        "gemm": lambda quick: {"seconds": gemm_seconds(repeats=1 if quick else 5)},
        "grid": lambda quick: fitted(*grid(*((300, 200) if quick else (1000, 1000)))),
        "holes": lambda quick: fitted(*some(*grid(*((300, 200) if quick else (1000, 1000))), 0.9)),
        "everyone, tensor": lambda quick: fitted(*triangle(200 if quick else 1000)),
        "everyone, tensor_metric": lambda quick: fitted(*triangle(200 if quick else 1000), "tensor_metric"),
        "few": lambda quick: fitted(*some(*triangle(300 if quick else 2000), 0.05)),
        "left out": lambda quick: left_out(*((150, 200) if quick else (600, 600)), ("pair", "left", "right")),
        "left out, both": lambda quick: left_out(*((20, 100) if quick else (60, 400)), ("both",)),
    }
    results, quick = run_rows(__file__, rows)
    figures = []
    for row, found in results.items():
        if "gap" in found:
            title = f"{row}, {found['pairs']:,} pairs ({found['path']})"
            figures += [Figure(f"{title}: {what}", found[what]) for what in ("seconds", "steps")]
            if "gemm" in results:
                figures += [Figure(f"{title}: gemm", found["seconds"] / results["gemm"]["seconds"])]
            figures += [Figure(f"{title}: largest violation", found["gap"], "<= 0.0001")]
        elif row != "gemm":
            told = {unseen: found[unseen] for unseen in ("pair", "left", "right", "both") if unseen in found}
            figures += [
                Figure(f"{row}, {found['pairs']:,} pairs: 13 α by unseen {unseen}, in fits", value)
                for unseen, value in told.items()
            ]
    if "left out" in results:
        most = max(results["left out"][unseen] for unseen in ("pair", "left", "right"))
        figures.append(Figure("left out: 13 α, in fits, at most", most, "<= 13", judged=not quick))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
