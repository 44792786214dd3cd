"""Workers of every kind after a fit, and a fit beside busy neighbours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.faults import Row

FORKS = Path(__file__).parents[2] / "tests" / "forks.py"
WAYS = ("fork", "spawn", "forkserver", "loky", "threads")

FIT = """
import time, pairlearn as pl
X, classes = pl.data.double_interval(40, 12, n=60, seed=0)
pairs = pl.all_pairs(X)
machine = pl.PairSVC(base="rbf", C=10.0, time_budget=20.0)
pl.PairSVC(base="rbf").fit(pairs[:2000], pairs.labels(classes)[:2000])
began = time.perf_counter()
machine.fit(pairs, pairs.labels(classes))
print(time.perf_counter() - began, machine.fit_status_)
"""


def after_a_fit(way: str) -> Row:
    """Workers that start like this find what the parent found, within two minutes."""
    command = [sys.executable, str(FORKS), way]
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        wrong = done.stderr.strip().splitlines()[-1] if done.returncode else None
    except subprocess.TimeoutExpired:
        wrong = "hangs"
    return f"workers {way}", 1, int(wrong is not None), wrong or f"the same result, {time.perf_counter() - began:.0f} s"


@contextmanager
def neighbours(number: int) -> Iterator[None]:
    """So many processes that do nothing but take time."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def beside_neighbours() -> list[Row]:
    """Seconds of a fit beside none, one and as many busy processes as there are cores, as a ratio to the first."""
    rows: list[Row] = []
    first = 0.0
    for number in dict.fromkeys((0, 1, os.cpu_count() or 1)):
        with neighbours(number):
            done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, timeout=300)
        seconds, status = done.stdout.split(maxsplit=1) if not done.returncode else ("nan", done.stderr[-100:])
        first = first or float(seconds)
        rows.append(
            (
                f"fit beside {number} busy",
                1,
                int(status.strip() != "converged"),
                f"{status.strip()}, {float(seconds) / first:.1f} × the time of a quiet one ({first:.1f} s)",
            )
        )
    return rows


def run() -> list[Row]:
    """A row per kind of worker and number of neighbours."""
    return [*map(after_a_fit, WAYS), *beside_neighbours()]
