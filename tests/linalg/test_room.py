"""Orders of matrices against the bytes that NumPy takes for them."""

from __future__ import annotations

import numpy as np
import pytest

from pairlearn.linalg.room import FACTORED, MOST, order_within


@pytest.mark.parametrize("memory", [13, 1e4, 123_456, 1e7])
def test_matrix_and_factor_fit(memory: float) -> None:
    """With the columns that correct a factor, a tenth of its rows, and their solution."""
    n = order_within(memory)
    k = int(FACTORED * n)
    arrays = [np.empty((n, n)), np.empty((k, k)), *(np.empty((k, int(0.1 * k))) for _ in range(2))]
    assert sum(array.nbytes for array in arrays) <= memory
    larger = int(1.02 * n) + 2
    assert 8 * larger**2 * (1 + 1.2 * FACTORED**2) > memory


def test_no_memory_and_more_than_enough() -> None:
    assert order_within(0) == order_within(-1e6) == 0
    assert order_within(1e15) == MOST
