"""Factors of low rank from samples: features that few pairs have, ranks known from before, a look at the clock."""

from __future__ import annotations

import numpy as np
import pytest

from pairlearn.solvers.clock import OutOfTimeError
from pairlearn.solvers.inner.low_rank import SIZES, low_rank_factor
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.types import Floats


def gram(n: int, common: int, rare: int) -> Floats:
    """Q of n pairs with so many features that all have, and others that one pair has each."""
    Z = np.random.default_rng(0).normal(size=(n, common + rare))
    Z[:, common:] = 0.0
    Z[7 * np.arange(rare), common + np.arange(rare)] = 3.0
    return Z @ Z.T


@pytest.mark.parametrize("seed", range(5))
def test_features_that_one_pair_has_are_found(seed: int) -> None:
    Q = gram(1000, 60, 40)
    G = low_rank_factor(Q, np.random.default_rng(seed))
    assert G is not None
    assert G.shape == (1000, np.linalg.matrix_rank(Q))
    np.testing.assert_allclose(G @ G.T, Q, atol=1e-9 * Q.max())


def test_a_high_rank_is_none() -> None:
    assert low_rank_factor(gram(500, 400, 0), np.random.default_rng(0)) is None


def test_sets_know_the_rank_of_those_before() -> None:
    Q, drawn = gram(2000, 300, 0), []

    class Counting:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(0)

        def choice(self, n: int, size: int, replace: bool) -> np.ndarray:
            drawn.append(size)
            return self.rng.choice(n, size, replace=replace)

    first = Explicit(Q, np.arange(2000), Counting())  # type: ignore[arg-type]
    assert first.low_rank is not None
    assert (first.rank, drawn) == (300, [256, 512])
    second = Explicit(Q, np.arange(2000), Counting(), rank=first.rank)  # type: ignore[arg-type]
    assert second.low_rank is not None
    assert drawn == [256, 512, 512]
    full = Explicit(np.eye(900), np.arange(900), Counting())  # type: ignore[arg-type]
    assert full.low_rank is None
    assert full.rank == 512


def test_there_may_be_no_time_for_a_sample() -> None:
    def look() -> None:
        raise OutOfTimeError

    Q = Explicit(gram(600, 50, 0), np.arange(600), np.random.default_rng(0), look)
    with pytest.raises(OutOfTimeError):
        _ = Q.low_rank
    assert SIZES[0] <= 0.6 * 600
