"""Ctrl-C: what it calls, and how it waits for the end of what must not be done by halves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Entry = TypeVar("Entry")


@contextmanager
def on_interrupt(handle: Callable[[], None]) -> Iterator[None]:
    """Call `handle` at every Ctrl-C inside, instead of raising KeyboardInterrupt; only the main thread can."""
    # Whoever started this in the background (nohup, & in a script) wants it to go on; None is not Python's to replace.
    others = signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None)
    if others or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: handle())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def delayed() -> Iterator[None]:
    """Hold a Ctrl-C back until the end of the block.

    A module whose import is broken off stays half loaded. Solvers and searches turn Ctrl-C into an early end and go on
    to compute with what they have, so what is imported while they run must be whole.

    >>> import os
    >>> _ = signal.signal(signal.SIGINT, signal.default_int_handler)     # as if started in the foreground
    >>> try:
    ...     with delayed():
    ...         os.kill(os.getpid(), signal.SIGINT)
    ...         print("done")
    ... except KeyboardInterrupt:
    ...     print("and then interrupted")
    done
    and then interrupted
    """
    caught: list[bool] = []
    try:
        with on_interrupt(lambda: caught.append(True)):
            yield
    finally:
        if caught:
            signal.raise_signal(signal.SIGINT)


class Stop:
    """A Ctrl-C that waits for the end of what must not be done by halves, but not for more of a stream to come."""

    def __init__(self) -> None:
        self._waiting = self._asked = False

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Note every Ctrl-C inside; between two entries it is raised."""
        with on_interrupt(self._ask):
            yield

    def between(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries; KeyboardInterrupt comes before one of them, also while it is waited for."""
        entries = iter(entries)
        while True:
            self._waiting = True
            if self._asked:
                raise KeyboardInterrupt
            try:
                entry = next(entries)
            except StopIteration:
                return
            finally:
                self._waiting = False
            yield entry

    def _ask(self) -> None:
        self._asked = True
        if self._waiting:
            self._waiting = False  # once: what follows is the saving
            raise KeyboardInterrupt
