"""Kernels that see differences of examples only do not feel where the origin is."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.pair_kernels.table import compares_only

RNG = np.random.default_rng(0)
X, CLASSES = RNG.normal(size=(40, 3)), np.arange(40) % 8
X += 0.7 * RNG.normal(size=(8, 3))[CLASSES]


def tables(name: str) -> list[bool]:
    kernel = pl.pair_kernel(name).on(pl.kernels.Linear())
    return [compares_only(table) for table in kernel.split()[0]]


@pytest.mark.parametrize("name", ["metric", "difference"])
def test_differences_are_all_that_these_kernels_see(name: str) -> None:
    assert tables(name) == [True]


@pytest.mark.parametrize("name", ["tensor", "tensor_metric", "direct_sum"])
def test_the_others_see_where_the_origin_is(name: str) -> None:
    assert tables(name) == [False]


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_a_large_offset_changes_no_value(offset: float) -> None:
    """Inner products of such rows are of the size 10¹⁶, and their differences have no digits."""
    here, there = pl.all_pairs(X, reflexive=False), pl.all_pairs(X + offset, reflexive=False)
    y = here.labels(CLASSES)
    one, two = (
        pl.PairSVC("metric", "linear", C=1.0, tol=1e-6, random_state=0).fit(pairs, y) for pairs in (here, there)
    )
    assert two.fit_status_ == "converged"
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
    expected = one.decision_function(here)
    np.testing.assert_allclose(two.decision_function(there), expected, atol=1e-4)
    a, b = X[:5] + offset, X[5:9] + offset
    np.testing.assert_allclose(two.score_block(a, b), one.score_block(X[:5], X[5:9]), atol=1e-4)
    np.testing.assert_array_equal(two.decision_function(there.swapped()), two.decision_function(there))


def test_a_ranker_far_from_the_origin_orders_the_same() -> None:
    y = np.sign(X[:20, 0] - X[20:, 0])
    scores = []
    for offset in (0.0, 1e8):
        pairs = pl.Pairs(X + offset, np.arange(20), np.arange(20, 40))
        scores.append(pl.PairRanker("difference", "linear", C=1.0, tol=1e-6).fit(pairs, y).decision_function(pairs))
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-5)
