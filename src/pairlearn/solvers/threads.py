"""How many BLAS threads a factorisation gets."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

SMALL = 2500


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(n: int) -> AbstractContextManager[object]:
    """One thread for small factorisations: on a busy machine two wait for each other longer than they work."""
    return _controller().limit(limits=1, user_api="blas") if n < SMALL else nullcontext()
