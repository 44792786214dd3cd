"""How many BLAS threads a piece of work gets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 2e9
"""Floating point operations below which one thread serves best."""


class Blas:
    """The BLAS libraries of this process, whose number of threads is one setting for all that run in it.

    Whoever comes first notes what the user had set, and that is the most that anyone takes; whoever leaves last sets it
    again, however the work of several threads overlapped in between.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.every = Lock(), 0, [1]

    @cached_property
    def libraries(self) -> list[Any]:
        """What can be asked for its number of threads, and be given another."""
        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    def found(self) -> list[int]:
        """Threads of each library now."""
        return [library.num_threads or 1 for library in self.libraries]

    def set(self, numbers: list[int]) -> None:
        """Give each library its number."""
        for library, number in zip(self.libraries, numbers, strict=True):
            library.set_num_threads(number)

    def enter(self, alone: bool) -> list[int]:
        """Take one thread or every one; what was set before."""
        with self.lock:
            before = self.found()
            self.every = self.every if self.users else before
            self.users += 1
            self.set([1] * len(before) if alone else self.every)
            return before

    def leave(self, before: list[int]) -> None:
        """Set what was set before, or what the user had set if nobody is left."""
        with self.lock:
            self.users -= 1
            self.set(before if self.users else self.every)

    def forked(self) -> None:
        """Begin anew in a child: the threads that would have left are not in it."""
        if self.users:
            self.set(self.every)
        self.lock, self.users = Lock(), 0


BLAS = Blas()
os.register_at_fork(after_in_child=BLAS.forked)


@contextmanager
def blas_threads(operations: float) -> Iterator[None]:
    """One BLAS thread for small work, all of them for large work; nested calls decide anew.

    BLAS threads keep spinning for a while after their work is done; the compiled loops that come next would share
    the cores with them, and on a busy machine two BLAS threads wait for each other longer than they work.
    """
    before = BLAS.enter(operations < SMALL)
    try:
        yield
    finally:
        BLAS.leave(before)
