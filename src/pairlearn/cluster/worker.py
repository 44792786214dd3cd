"""What runs on a worker: one task takes one thread, as Dask counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pairlearn.linalg.pool import alone
from pairlearn.operators.base import Divisible
from pairlearn.types import Floats


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS, tiles and compiled loops on the calling thread: a worker runs as many tasks as it has threads."""
    import numba  # not before it is needed: models that score a few pairs never load it

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with alone():
            yield
    finally:
        numba.set_num_threads(before)


def run(work: Callable[..., Any], *given: Any) -> Any:
    """work(*given) on one thread."""
    with one_thread():
        return work(*given)


def keep(thing: Any) -> Any:
    """The thing itself: the result of this task is what other tasks of a worker find there."""
    return thing


def part_of(shared: Divisible, held: Any) -> Divisible:
    """The operator of some pairs."""
    return shared.over(held)


def product(part: Divisible, told: Any) -> Floats:
    """Values of the product of the pairs of one part, (n_part,)."""
    found = [values for _, values in part.spread(told)]
    return found[0] if len(found) == 1 else np.concatenate([*found, np.zeros(0)])
