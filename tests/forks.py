"""Fit here, then in workers of the kind named, and compare: run by `test_threads.py` in processes of its own."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
from threadpoolctl import threadpool_info

import pairlearn as pl
from pairlearn.loops import threaded

threaded.SMALL = 2**18  # so that few pairs are enough for threads
X, CLASSES = pl.data.double_interval(12, 5, n=30, seed=0)
PAIRS = pl.all_pairs(X, reflexive=False)


def found(number: int = 0) -> float:
    """What a fit finds, as one number."""
    machine = pl.PairSVC(base="rbf", C=10.0, tol=1e-7).fit(PAIRS, PAIRS.labels(CLASSES))
    return float(np.abs(machine.decision_function(PAIRS)).sum())


def pooled(method: str) -> list[float]:
    """In two processes that start like this."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map_async(found, range(2)).get(timeout=90)


WAYS: dict[str, Callable[[], list[float]]] = {
    "fork": lambda: pooled("fork"),
    "spawn": lambda: pooled("spawn"),
    "forkserver": lambda: pooled("forkserver"),
    "loky": lambda: list(joblib.Parallel(2)(joblib.delayed(found)() for _ in range(2))),
    "threads": lambda: list(ThreadPoolExecutor(3).map(found, range(6))),
}


def blas() -> set[int]:
    """Numbers of threads of the BLAS libraries."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


if __name__ == "__main__":
    before, here = blas(), found()
    assert threaded.THREADS.started or threaded.THREADS.alone, "workers of a process without threads show nothing"
    print(len(os.listdir("/proc/self/task")))
    assert all(abs(there / here - 1) < 1e-5 for way in sys.argv[1:] for there in WAYS[way]())
    assert blas() == before, "the number of BLAS threads is the user's again"
