"""Loops on several threads that outlive what users do to processes: fork them, or ask for one thread.

A fork copies a process without its threads. GNU OpenMP, the usual layer below Numba's parallel loops, ends a child that
runs such a loop after its parent did ("fork() called from a process already using GNU OpenMP"). So each loop is
compiled twice, when it is first needed: for all threads, and for one. Forked children of a parent whose threads had
started take the second, which gives the same bits, for no sum is split between threads; so does OMP_NUM_THREADS=1,
which Numba itself does not look at, and so do short arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import numba as nb

SMALL = 2**22
"""Numbers in all arrays of a call below which one thread is done in a few milliseconds. A second one saves half of them
at best, and costs more where a neighbour is busy: 820 rates took 11 ms instead of 5 µs."""


@dataclass
class Threads:
    """How many threads loops may use; `started` when one of them has used several, `lost` in a child of such a one."""

    wanted: int
    started: bool = False
    lost: bool = False

    @classmethod
    def of(cls, environment: dict[str, str]) -> Threads:
        """All that Numba has, or fewer if OMP_NUM_THREADS says so and NUMBA_NUM_THREADS does not say otherwise.

        >>> Threads.of({"OMP_NUM_THREADS": "1"}).wanted
        1
        """
        asked = environment.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        most: int = vars(nb.config)["NUMBA_NUM_THREADS"]
        counts = asked.isdecimal() and int(asked) > 0 and "NUMBA_NUM_THREADS" not in environment
        return cls(min(int(asked), most) if counts else most)

    def forked(self) -> None:
        """Note that this process is a copy without the threads of its parent."""
        self.lost = self.started

    @property
    def alone(self) -> bool:
        """Whether loops run on the calling thread."""
        return self.lost or self.wanted == 1


THREADS = Threads.of(dict(os.environ))
os.register_at_fork(after_in_child=THREADS.forked)


class Threaded:
    """A compiled loop over `nb.prange`, called like the function it is made of."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.py_func, self.options = function, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    @cached_property
    def together(self) -> Any:
        """On all threads."""
        return nb.njit(cache=True, parallel=True, **self.options)(self.py_func)

    @cached_property
    def alone(self) -> Any:
        """On one thread. Numba's cache on disk knows functions by their names, hence one of its own."""
        f = self.py_func
        twin = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        twin.__qualname__ = f"{f.__qualname__}_alone"
        return nb.njit(cache=True, **self.options)(twin)

    def __call__(self, *args: Any) -> Any:
        if THREADS.alone or sum(getattr(given, "size", 0) for given in args) < SMALL:
            return self.alone(*args)
        THREADS.started = True
        before = nb.get_num_threads()
        if before <= THREADS.wanted:
            return self.together(*args)
        nb.set_num_threads(THREADS.wanted)
        try:
            return self.together(*args)
        finally:
            nb.set_num_threads(before)


def threaded(**options: Any) -> Callable[[Callable[..., None]], Threaded]:
    """Compile a loop over `nb.prange` for several threads, with these options of `nb.njit`."""
    return lambda function: Threaded(function, options)
