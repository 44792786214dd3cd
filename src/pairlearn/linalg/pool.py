"""A small pool of threads that take pieces of work as they come.

BLAS cuts a product in as many equal parts as it has threads and waits, spinning, for the last one. Beside a neighbour
who takes half of one core everything then runs at half speed or less. Pieces that are taken as they come lose only what
the neighbour takes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np

from pairlearn.linalg.threads import BLAS, blas_threads

Work = Callable[[int], None]
"""Does the piece of this number; it must let other threads run, as NumPy's products do."""
SMALL = 2e8
"""Floating point operations below which nobody is asked to help: 3 ms, of which waking a thread and waiting for it
takes a good part, and most of it beside a busy neighbour."""


ALONE: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """Do all pieces inside on the calling thread, with one thread of BLAS."""
    token = ALONE.set(True)
    try:
        with blas_threads(0):
            yield
    finally:
        ALONE.reset(token)


class Pool:
    """Threads that help whoever computes; not more of them at work than there are cores, whoever else computes here.

    The thread that asks works too. Others join it while there are cores for them: those of this process (affinity,
    the quota of a container), and as many as BLAS was allowed by the user.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin anew in a child: a fork copies no threads."""
        self.lock, self.busy = Lock(), 0
        """Threads at work now."""
        self.__dict__.pop("cores", None)
        self.__dict__.pop("helpers", None)

    @cached_property
    def cores(self) -> int:
        """Cores that this process may use."""
        return max(1, min(_cores_by_affinity(), _cores_by_quota()))

    @cached_property
    def helpers(self) -> ThreadPoolExecutor:
        """Started when there is work for them."""
        return ThreadPoolExecutor(self.cores, thread_name_prefix="pairlearn")

    def threads(self) -> int:
        """Most threads at work at once."""
        allowed = 1 if ALONE.get() else BLAS.allowed()
        return 1 if allowed == 1 else min(allowed, self.cores)

    def run(self, work: Work, count: int, operations: float = math.inf) -> None:
        """Do the pieces 0, …, count − 1, each by one thread with one thread of BLAS; `operations` of all of them.

        An exception ends it, Ctrl-C too: pieces that were begun are waited for, so that nobody writes any more after.
        """
        with blas_threads(0), self._one_more():
            job = _Job(work, count)
            helping: list[Future[None]] = []
            threads = self.threads() if count > 1 and operations >= SMALL else 1
            try:
                for _ in range(min(threads - self.busy, count - 1)):
                    helping.append(self.helpers.submit(self._help, job, threads))
                job.work_on()
            finally:
                job.end()
                wait([helper for helper in helping if not helper.cancel()])
        for helper in helping:
            if not helper.cancelled():
                helper.result()

    def _help(self, job: _Job, threads: int) -> None:
        """Work on a job until it is done, or until others need the core."""
        with self._one_more():
            job.work_on(lambda: self.busy > threads)

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        with self.lock:
            self.busy += 1
        try:
            yield
        finally:
            with self.lock:
                self.busy -= 1


class _Job:
    """Pieces of work that are taken in order, by several threads."""

    def __init__(self, work: Work, count: int) -> None:
        self.work, self.lock, self.next, self.count = work, Lock(), 0, count

    def work_on(self, crowded: Callable[[], bool] = lambda: False) -> None:
        """Do pieces while there are some; what fails ends the job.

        Values that overflow are looked for, and told, where they are used: NumPy's own warnings are of no use here.
        """
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                while not crowded() and (piece := self._take()) is not None:
                    self.work(piece)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Let no piece be taken any more."""
        with self.lock:
            self.next = self.count

    def _take(self) -> int | None:
        with self.lock:
            if self.next >= self.count:
                return None
            self.next += 1
            return self.next - 1


def _cores_by_affinity() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cores_by_quota(group: Path = Path("/sys/fs/cgroup")) -> int:
    """Cores that the quota of a container is worth, a part of one counted as one; without a quota all there are."""
    for names in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        with suppress(OSError, ValueError):
            quota, period = (int(word) for name in names for word in (group / name).read_text().split())
            if quota > 0 and period > 0:
                return -(-quota // period)
    return os.cpu_count() or 1


POOL = Pool()
os.register_at_fork(after_in_child=POOL.renew)
