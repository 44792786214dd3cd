"""What all tests share: how the suite uses the machine, and scores of simulated people.

By default pytest starts one worker per core for whole directories (`-n auto`), and none for single files, where
starting workers would take longer than the tests; `-n 0` or `-n 4` on the command line decide otherwise. Fixtures with
session scope are made once per worker.
"""

from __future__ import annotations

import os
import signal
import sys

CORES = os.cpu_count() or 1
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
# Before NumPy is imported: workers that each start a thread per core fight for them, and a small eigenproblem then
# takes fifty times as long. Processes that tests start inherit this.
if WORKERS > 1:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(max(1, CORES // WORKERS))
# Where byte code is not written, each of the many processes that tests start compiles the whole package, which takes
# longer than most of them run. Numba keeps its own beside it in any case.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Shells start what runs in their background with Ctrl-C ignored, and Python keeps that: tests of Ctrl-C, here and in
# processes that they start, would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

from collections.abc import Callable, Iterator  # noqa: E402
from typing import Any  # noqa: E402

import numba  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

import pairlearn as pl  # noqa: E402


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """None for single files, one per core for anything else."""
    files = [argument for argument in config.args if ".py" in argument]
    return 0 if files and len(files) == len(config.args) else CORES


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Loops as short as those of tests are done before a second thread has started; `test_threads.py` has them all."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


# --------------------------------------------------------------------------- scores of simulated people


def simulated(shift: float, seed: int = 0, n: int = 40, k: int = 3, **rename: Any) -> pl.Scores:
    """All pairs of n people with k pictures each, some people harder than others; names are strings."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n * k, 1)
    same = left // k == right // k
    effect = rng.normal(size=n)
    values = shift * same + 0.4 * (effect[left // k] + effect[right // k]) + rng.normal(size=len(left))
    pictures = np.array([rename.get("picture", "picture") + f" {i}" for i in range(n * k)])
    people = np.array([rename.get("person", "person") + f" {i // k}" for i in range(n * k)])
    return pl.Scores(values, np.where(same, 1, -1), pictures[left], pictures[right], people[left], people[right])


@pytest.fixture(scope="session")
def simulate() -> Callable[..., pl.Scores]:
    """Scores of simulated people: `simulate(shift, seed)`."""
    return simulated


@pytest.fixture(scope="session")
def systems() -> dict[str, pl.Scores]:
    """A good and a worse system on the same simulated people."""
    return {"model": simulated(3.0), "cosine": simulated(2.0, seed=1)}
