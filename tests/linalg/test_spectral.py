"""Eigenvectors against what they are, and by how many threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pairlearn.linalg import spectral
from pairlearn.linalg.threads import BLAS


def test_they_are_eigenvectors_found_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).normal(size=(40, 40))
    A, before, threads = A + A.T, BLAS.found(), []
    found = spectral.linalg.eigh

    def noted(*given: Any, **options: Any) -> Any:
        threads.append(BLAS.found())
        return found(*given, **options)

    monkeypatch.setattr(spectral.linalg, "eigh", noted)
    values, V = spectral.eigh(A)
    np.testing.assert_allclose(V * values @ V.T, A, atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(40), atol=1e-12)
    assert (np.diff(values) >= 0).all()
    assert threads == [[1] * len(before)]
    assert BLAS.found() == before
