"""How many BLAS threads a piece of work gets."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

SMALL = 2e9
"""Floating point operations below which one thread serves best."""


@cache
def _controller() -> tuple[ThreadpoolController, int]:
    """The BLAS libraries in use and the number of threads they were given before anyone asked for fewer."""
    controller = ThreadpoolController().select(user_api="blas")
    return controller, max((library["num_threads"] for library in controller.info()), default=1)


def blas_threads(operations: float) -> AbstractContextManager[object]:
    """One BLAS thread for small work, all of them for large work; nested calls decide anew.

    BLAS threads keep spinning for a while after their work is done; the compiled loops that come next would share
    the cores with them, and on a busy machine two BLAS threads wait for each other longer than they work.
    """
    controller, every = _controller()
    context: AbstractContextManager[object] = controller.limit(limits=1 if operations < SMALL else every)
    return context
