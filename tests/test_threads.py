"""What is computed does not depend on how many threads compute it; all other tests run with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import numpy as np
import pytest

import pairlearn as pl

MOST = numba.config.NUMBA_NUM_THREADS

pytestmark = pytest.mark.skipif(MOST < 2, reason="one core")


@contextmanager
def threads(number: int) -> Iterator[None]:
    before = numba.get_num_threads()
    numba.set_num_threads(number)
    try:
        yield
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("base", ["linear", "rbf"])
@pytest.mark.parametrize(("machine", "kernel"), [(pl.PairSVC, "tensor_metric"), (pl.PairRanker, "wedge")])
def test_a_machine_is_the_same(machine: type, kernel: str, base: str) -> None:
    X, classes = pl.data.double_interval(12, 10, n=30, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes) if machine is pl.PairSVC else np.where(classes[pairs.left] < classes[pairs.right], 1, -1)
    values = []
    for number in (1, MOST):
        with threads(number):
            fitted = machine(kernel, base, C=10.0, tol=1e-7).fit(pairs, y)
            values.append(fitted.decision_function(pairs))
    np.testing.assert_allclose(values[1], values[0], rtol=1e-4, atol=1e-4 * np.abs(values[0]).max())
