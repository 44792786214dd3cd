"""What is computed does not depend on how many threads compute it; all other tests run with one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import pairlearn as pl
from pairlearn import loops
from pairlearn.linalg.threads import BLAS, blas_threads
from pairlearn.loops import threaded
from pairlearn.loops.threaded import THREADS, Threads

MOST = numba.config.NUMBA_NUM_THREADS

several = pytest.mark.skipif(MOST < 2, reason="one core")


@contextmanager
def threads(number: int) -> Iterator[None]:
    """With one thread a loop runs its own compiled version, which knows nothing of threads."""
    before, wanted = numba.get_num_threads(), THREADS.wanted
    numba.set_num_threads(number)
    THREADS.wanted = number
    try:
        yield
    finally:
        numba.set_num_threads(before)
        THREADS.wanted = wanted


@several
@pytest.mark.parametrize("base", ["linear", "rbf"])
@pytest.mark.parametrize(("machine", "kernel"), [(pl.PairSVC, "tensor_metric"), (pl.PairRanker, "wedge")])
def test_a_machine_is_the_same(machine: type, kernel: str, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threaded, "SMALL", 2**18)  # so that few pairs are enough for threads
    monkeypatch.setattr(THREADS, "started", False)
    X, classes = pl.data.double_interval(12, 5, n=30, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes) if machine is pl.PairSVC else np.where(classes[pairs.left] < classes[pairs.right], 1, -1)
    values = []
    for number in (1, MOST):
        with threads(number):
            fitted = machine(kernel, base, C=10.0, tol=1e-7).fit(pairs, y)
            values.append(fitted.decision_function(pairs))
        assert THREADS.started == (number > 1)
    np.testing.assert_allclose(values[1], values[0], rtol=1e-4, atol=1e-4 * np.abs(values[0]).max())


def test_loops_give_the_same_bits_on_one_thread() -> None:
    rng = np.random.default_rng(0)
    T, E, Q = rng.normal(size=(50, 137)), rng.normal(size=(50, 137)), rng.normal(size=(40, 1500))
    left, right = rng.integers(0, 50, (2, 900))
    calls = [
        (loops.products.pair_dots, (T, E, left, right), np.zeros(900)),
        (loops.blocks.sum_rows, (Q, np.arange(40), rng.normal(size=40)), np.zeros(1500)),
    ]
    for loop, given, out in calls:
        alone = out.copy()
        loop.together(*given, out)
        loop.alone(*given, alone)
        np.testing.assert_array_equal(out, alone)


# --------------------------------------------------------------------------- processes and threads of others


def run_elsewhere(*ways: str, **environment: str) -> int:
    """Threads of a fresh process after a fit; it fails where workers of these kinds fail or find something else."""
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, str(Path(__file__).with_name("forks.py")), *ways]
    done = subprocess.run(command, env={**free, **environment}, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("ways", ["fork", "spawn", "forkserver", "loky threads"])
def test_workers_of_every_kind_find_the_same_after_a_fit(ways: str) -> None:
    run_elsewhere(*ways.split())


def test_one_thread_alone_is_respected() -> None:
    assert run_elsewhere(OMP_NUM_THREADS="1") == 1


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, MOST),
        ({"OMP_NUM_THREADS": "1"}, 1),
        ({"OMP_NUM_THREADS": " 1,2 "}, 1),
        ({"OMP_NUM_THREADS": "0"}, MOST),
        ({"OMP_NUM_THREADS": "many"}, MOST),
        ({"OMP_NUM_THREADS": "1000"}, MOST),
        ({"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}, MOST),
    ],
)
def test_what_the_environment_asks_for(environment: dict[str, str], wanted: int) -> None:
    assert Threads.of(environment).wanted == wanted


def test_a_child_runs_alone_only_if_its_parent_had_started_threads() -> None:
    idle, busy = Threads(2), Threads(2, started=True)
    idle.forked()
    busy.forked()
    assert (idle.alone, busy.alone) == (False, True)


# --------------------------------------------------------------------------- threads of BLAS


def test_overlapping_work_leaves_the_users_number_of_blas_threads() -> None:
    before, barrier = BLAS.found(), Barrier(2)

    def first() -> None:
        with blas_threads(0):
            barrier.wait()  # both are inside
            barrier.wait()  # the other one has noted 1 and stays longer

    def second() -> None:
        barrier.wait()
        with blas_threads(0):
            barrier.wait()

    with ThreadPoolExecutor(2) as pool:
        for task in [pool.submit(first), pool.submit(second)]:
            task.result()
    assert BLAS.found() == before


def test_large_work_takes_no_more_than_the_user_allows() -> None:
    with threadpool_limits(1, user_api="blas"), blas_threads(1e18):
        assert set(BLAS.found()) == {1}
