"""Do matrix products in tiles keep up with BLAS's own threads, and do they stand a busy neighbour?

Each row times one piece of work three ways, in turn, so that all of them see the same machine: BLAS with two threads,
with one, and in tiles; once alone and once beside a process that never rests. Run it alone: whatever else runs makes
both of them measurements of a busy machine, and two threads of BLAS then get less than two cores.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack
from threadpoolctl import threadpool_limits

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed
from pairlearn.linalg.cholesky import cholesky
from pairlearn.linalg.tiles import gram, product

WAYS = ("two", "one", "tiles")
SPIN = 0.3
"""Seconds that threads of BLAS spin after their work, at most: whoever comes next must not meet them."""


@contextmanager
def neighbour() -> Iterator[None]:
    """A process beside this one that takes a core."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    time.sleep(0.2)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def compared(plain: Callable[[], Any], tiled: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Median seconds of each way, alone and beside a neighbour, and how many cores there were when it was alone."""
    result = {}
    for name, place in (("alone", nullcontext()), ("beside", neighbour())):
        with place:
            found = [[_once(plain, tiled, way) for way in WAYS] for _ in range(repeats)]
        seconds, cores = np.median(np.array(found), axis=0).T
        result |= {f"{name} {way}": float(value) for way, value in zip(WAYS, seconds, strict=True)}
        result |= {"cores": float(cores[0])} if name == "alone" else {}
    return result


def _once(plain: Callable[[], Any], tiled: Callable[[], Any], way: str) -> tuple[float, float]:
    """(seconds, cores in use) of one way; BLAS spins while it waits, so that two of its threads take all they get."""
    time.sleep(SPIN)
    with threadpool_limits(1 if way == "one" else 2, user_api="blas"):
        began = time.process_time()
        seconds, _ = timed(tiled if way == "tiles" else plain)
        return seconds, (time.process_time() - began) / seconds


def gemm(quick: bool) -> dict[str, float]:
    n = 1200 if quick else 2500
    A, B = np.random.default_rng(0).random((2, n, n))
    out = np.empty((n, n))
    return compared(lambda: np.matmul(A, B, out=out), lambda: product(A, B, out), 3 if quick else 7)


def gemm_float32(quick: bool) -> dict[str, float]:
    n = 1500 if quick else 3500
    A, B = np.random.default_rng(0).random((2, n, n), dtype=np.float32)
    out = np.empty((n, n), dtype=np.float32)
    return compared(lambda: np.matmul(A, B, out=out), lambda: product(A, B, out), 3 if quick else 7)


def syrk(quick: bool) -> dict[str, float]:
    G = np.asfortranarray(np.random.default_rng(0).random((9_000 if quick else 44_850, 465)))
    return compared(lambda: blas.dsyrk(1.0, G, trans=1, lower=1), lambda: gram(G.T), 3 if quick else 7)


def factor(quick: bool) -> dict[str, float]:
    n = 2500 if quick else 8000
    X = np.random.default_rng(0).random((n, n))
    A = np.asfortranarray(X + X.T)
    A[np.diag_indices(n)] += n
    L = A.copy("F")

    def again(work: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> None:
            L[:] = A
            work()

        return call

    plain = again(lambda: lapack.dpotrf(L, lower=1, overwrite_a=1, clean=0))
    return compared(plain, again(lambda: cholesky(L)), 2 if quick else 3)


def fit(quick: bool) -> dict[str, float]:
    """A whole fit, with as many threads as there are and with one: BLAS and compiled loops both."""
    X, classes = pl.data.double_interval(20, 10 if quick else 30, n=100, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes)
    pl.PairSVC("tensor", "rbf", C=1.0).fit(pairs[:500], y[:500])  # what is compiled, is compiled
    work = lambda: pl.PairSVC("tensor", "rbf", C=1.0).fit(pairs, y)  # noqa: E731
    found = compared(work, work, 1 if quick else 3)
    return {name: seconds for name, seconds in found.items() if not name.endswith("two")}


ROWS = {"gemm": gemm, "gemm_float32": gemm_float32, "syrk": syrk, "cholesky": factor, "fit": fit}


def figures(results: dict[str, dict[str, float]], quick: bool) -> Iterator[Figure]:
    for name, row in results.items():
        if "alone two" in row:
            yield Figure(f"{name}: cores that two threads of BLAS got alone", row["cores"], ">= 1.9", judged=not quick)
            rate, quiet = row["alone two"] / row["alone tiles"], row["cores"] >= 1.9
            yield Figure(f"{name}: rate alone, of two threads of BLAS", rate, ">= 0.95", judged=quiet and not quick)
            slowed = row["beside two"] / row["beside one"]
            yield Figure(f"{name}: seconds of two threads of BLAS beside a neighbour, of one thread", slowed)
        slower = row["beside tiles"] / row["beside one"]
        yield Figure(f"{name}: seconds in tiles beside a neighbour, of one thread", slower, "<= 1", judged=not quick)


if __name__ == "__main__":
    sys.exit(print_figures(figures(*run_rows(__file__, ROWS))))
