"""How many BLAS threads a piece of work gets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 2e9
"""Floating point operations below which one thread serves best."""


class Blas:
    """The BLAS libraries of this process, whose number of threads is one setting for all that run in it.

    Whoever comes first notes what the user had set, and that is the most that anyone takes; whoever leaves last sets it
    again, however the work of several threads overlapped in between. While any thread asks for one, it is one: tiles
    that were computed by more would have other bits.
    """

    def __init__(self) -> None:
        self.lock, self.every, self.now = Lock(), [1], [1]
        self.wishes: dict[int, list[bool]] = {}
        """Of every thread inside: whether it asks for one thread, and what it asked for before that."""

    @cached_property
    def libraries(self) -> list[Any]:
        """What can be asked for its number of threads, and be given another."""
        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    def found(self) -> list[int]:
        """Threads of each library now."""
        return [library.num_threads or 1 for library in self.libraries]

    def set(self, numbers: list[int]) -> None:
        """Give each library its number.

        Newer versions of threadpoolctl let one thread of a process decide and ignore all others, so that a fit in a
        thread would run with everything; here all threads have agreed before.
        """
        for library, number, now in zip(self.libraries, numbers, self.now, strict=True):
            if number != now:
                getattr(library, "_real_set_num_threads", library.set_num_threads)(number)
        self.now = numbers

    def allowed(self) -> int:
        """Threads that the user left to BLAS: the least of any library, 1 where none can be asked."""
        with self.lock:
            return min(self.every if self.wishes else self.found(), default=1)

    def enter(self, alone: bool) -> None:
        """Ask for one thread, or for every one."""
        with self.lock:
            if not self.wishes:
                self.every = self.now = self.found()
            self.wishes.setdefault(get_ident(), []).append(alone)
            self._heed()

    def leave(self) -> None:
        """Take the last wish of this thread back."""
        with self.lock:
            mine = self.wishes[get_ident()]
            mine.pop()
            if not mine:
                del self.wishes[get_ident()]
            self._heed()

    def _heed(self) -> None:
        alone = any(wishes[-1] for wishes in self.wishes.values())
        self.set([1] * len(self.every) if alone else self.every)

    def forked(self) -> None:
        """Begin anew in a child: the threads that would have left are not in it."""
        if self.wishes:
            self.set(self.every)
        self.lock, self.wishes = Lock(), {}


BLAS = Blas()
os.register_at_fork(after_in_child=BLAS.forked)


@contextmanager
def blas_threads(operations: float) -> Iterator[None]:
    """One BLAS thread for small work, all of them for large work; nested calls decide anew.

    Large products go by `tiles`; this is for what LAPACK does as a whole. BLAS threads keep spinning for a while after
    their work is done; the compiled loops that come next would share the cores with them, and on a busy machine two
    BLAS threads wait for each other longer than they work.
    """
    BLAS.enter(operations < SMALL)
    try:
        yield
    finally:
        BLAS.leave()
