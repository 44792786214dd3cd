from __future__ import annotations

import numpy as np
import pytest

from pairlearn.linalg.cholesky import cholesky


def random_matrix(n: int) -> np.ndarray:
    X = np.random.default_rng(n).normal(size=(n, n + 3))
    return np.asfortranarray(X @ X.T)


@pytest.mark.parametrize(("n", "panel"), [(1, 8), (7, 8), (8, 8), (9, 8), (50, 8), (64, 8), (65, 16)])
def test_panels_give_the_factor(n: int, panel: int) -> None:
    A = random_matrix(n)
    L = A.copy(order="F")
    assert cholesky(L, panel)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A), atol=1e-10)


@pytest.mark.parametrize("place", [0, 20, 49])
def test_indefinite_matrices_are_found_in_any_panel(place: int) -> None:
    A = random_matrix(50)
    A[place, place] = -1.0
    assert not cholesky(A, 8)


@pytest.mark.slow
def test_large_factors_do_not_crash() -> None:
    """Beyond the size at which some BLAS libraries crash."""
    n = 16_500
    A = np.zeros((n, n), order="F")
    A[np.diag_indices(n)] = 4.0
    assert cholesky(A)
    assert (A.diagonal() == 2.0).all()
