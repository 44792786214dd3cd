"""How many BLAS threads a piece of work gets."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

SMALL = 5e9
"""Floating point operations below which one thread serves best."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(operations: float) -> AbstractContextManager[object]:
    """One BLAS thread for small work.

    BLAS threads keep spinning for a while after their work is done; the compiled loops that come next would share
    the cores with them, and on a busy machine two BLAS threads wait for each other longer than they work.
    """
    return _controller().limit(limits=1, user_api="blas") if operations < SMALL else nullcontext()
