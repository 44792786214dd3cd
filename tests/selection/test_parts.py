"""Parts share no unit, are as large as asked for, and linked examples stay together as far as they can."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.selection import linked_units, share_out


@given(st.lists(st.integers(1, 9), min_size=12, max_size=40), st.integers(0, 5))
def test_units_stay_whole_and_sizes_are_near_the_shares(sizes: list[int], seed: int) -> None:
    units = np.repeat(np.arange(len(sizes)), sizes)
    part = share_out(units, {"train": 1, "test": 1}, seed)
    assert all(len(set(part[units == unit])) == 1 for unit in range(len(sizes)))
    assert abs((part == 1).sum() - len(units) / 2) <= max(sizes)


def test_equal_seeds_give_equal_parts_and_others_do_not() -> None:
    units, shares = np.arange(500), {"a": 1.0, "b": 1.0}
    one, two, three = (share_out(units, shares, seed) for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != three).any()


@pytest.mark.parametrize("shares", [{"a": 1.0}, {"a": 1.0, "b": 0.0}, {"a": 1.0, "b": float("nan")}])
def test_shares_that_mean_nothing_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(InputError, match="shares > 0"):
        share_out([0, 1, 2], shares)


def test_too_few_units_are_refused() -> None:
    with pytest.raises(InputError, match="nothing is left for"):
        share_out([0, 0, 1], {"a": 1, "b": 1, "c": 1})


@pytest.mark.parametrize("n_pairs", [40, 400])
def test_units_are_chains_or_where_these_are_long_what_positive_pairs_join(n_pairs: int) -> None:
    rng = np.random.default_rng(n_pairs)
    left, right = rng.integers(0, 200, (2, n_pairs))
    labels = np.where(rng.random(n_pairs) < 0.3, 1, -1)
    units = linked_units(pl.Pairs(np.eye(200), left, right), labels)
    every, positive = networkx.Graph(), networkx.Graph()
    for graph, kept in ((every, labels != 0), (positive, labels > 0)):
        graph.add_nodes_from(range(200))
        graph.add_edges_from(zip(left[kept].tolist(), right[kept].tolist(), strict=True))
    expected = set()
    for chain in networkx.connected_components(every):
        small = len(chain) <= 10
        expected |= (
            {frozenset(chain)}
            if small
            else {frozenset(part) for part in networkx.connected_components(positive.subgraph(chain))}
        )
    assert {frozenset(np.flatnonzero(units == unit).tolist()) for unit in set(units.tolist())} == expected
