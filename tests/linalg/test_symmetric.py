"""Transposes in place against NumPy's copies."""

from __future__ import annotations

import numpy as np
import pytest

from pairlearn.linalg.symmetric import add_transpose, transposed


@pytest.mark.parametrize("n", [1, 7, 8, 20])
def test_sums_with_the_transpose_are_numpys_bit_by_bit(n: int) -> None:
    A = np.random.default_rng(n).normal(size=(n, n))
    expected = A + A.T
    add_transpose(A, tile=8)
    np.testing.assert_array_equal(A, expected)


@pytest.mark.parametrize("shape", [(1, 1), (20, 20), (5, 9)])
def test_transposes_have_rows_in_one_piece(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(0).normal(size=shape)
    expected = A.T.copy()
    found = transposed(A, tile=8)
    np.testing.assert_array_equal(found, expected)
    assert found.flags.c_contiguous
