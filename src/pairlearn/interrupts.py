"""Ctrl-C that waits for the end of what must not be done by halves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def delayed() -> Iterator[None]:
    """Hold a Ctrl-C back until the end of the block; only the main thread gets any.

    A module whose import is broken off stays half loaded. Solvers and searches turn Ctrl-C into an early end and go on
    to compute with what they have, so what is imported while they run must be whole.

    >>> import os
    >>> try:
    ...     with delayed():
    ...         os.kill(os.getpid(), signal.SIGINT)
    ...         print("done")
    ... except KeyboardInterrupt:
    ...     print("and then interrupted")
    done
    and then interrupted
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[Any] = []
    signal.signal(signal.SIGINT, lambda *arrived: caught.append(arrived))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught:
            before(*caught[0])
