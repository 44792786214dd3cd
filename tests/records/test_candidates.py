"""Candidates, assignment and clusters against brute force."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.records import candidates as module
from pairlearn.records.assignment import clusters, one_to_one
from pairlearn.records.candidates import Blocking, estimate_recall, find_candidates, join
from pairlearn.records.compare.comparer import Comparer

Beers = tuple[pl.Records, pl.Records, np.ndarray]


def found(left: pl.Records, right: pl.Records | None, how: Blocking) -> module.Candidates:
    comparer = Comparer.learn(left, right)
    return find_candidates(comparer, comparer.prepare(left, right), left, right, how)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table is small enough for all pairs."""
    monkeypatch.setattr(module, "ALL_PAIRS", 0)


def test_join_against_loops() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(-1, 6, 40), rng.integers(-1, 6, 30)
    a, b = join(left, right, most=40)
    counts = {v: (left == v).sum() * (right == v).sum() for v in range(6)}
    expected = {(i, j) for i in range(40) for j in range(30) if left[i] == right[j] >= 0 and counts[left[i]] <= 40}
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == expected
    assert len(a) == len(expected)


def test_small_tables_are_compared_completely(beers: Beers) -> None:
    left, right, _ = beers
    every = found(left, right, Blocking())
    assert len(every.pairs) == every.possible == 120 * 150
    one = found(left, None, Blocking())
    assert (one.pairs.left_rows < one.pairs.right_rows).all()


@pytest.mark.usefixtures("large")
def test_matches_are_among_few_candidates(beers: Beers) -> None:
    left, right, same = beers
    some = found(left, right, Blocking(neighbours=3))
    assert some.share < 0.2
    truth = pl.records.RecordPairs(left, right, same, same)
    assert np.isin(truth.keys, some.pairs.keys).mean() > 0.95
    assert (some.neighbours | some.rules).all()


@pytest.mark.usefixtures("large")
def test_limit_keeps_the_nearest(beers: Beers) -> None:
    left, right, same = beers
    some = found(left, right, Blocking(limit=150))
    assert len(some.pairs) == 150
    assert np.isin(pl.records.RecordPairs(left, right, same, same).keys, some.pairs.keys).mean() > 0.8


@pytest.mark.usefixtures("large")
def test_rules_join_columns() -> None:
    table = pl.Records.of({"a": ["x", "x", "x", "y"], "b": ["1", "1", "2", "1"], "t": ["k", "l", "m", "n"]})
    some = found(table, None, Blocking(neighbours=0, rules=("a+b",)))
    assert list(zip(some.pairs.left_rows, some.pairs.right_rows, strict=True)) == [(0, 1)]
    with pytest.raises(InputError, match="no column 'c'"):
        found(table, None, Blocking(rules=("a+c",)))


def test_recapture_finds_the_true_number() -> None:
    """Two independent ways that find 80 % and 50 % of 10,000 matches: 90 % are found by either."""
    rng = np.random.default_rng(0)
    one, two = rng.random(10_000) < 0.8, rng.random(10_000) < 0.5
    kept = one | two
    table = pl.Records.of({"x": ["a"] * 200})
    rows = np.divmod(np.flatnonzero(kept), 200)
    some = module.Candidates(pl.records.RecordPairs(table, table, *rows), one[kept], two[kept], 40_000)
    recall = estimate_recall(some, np.ones(int(kept.sum())), pl.records.RecordPairs(table, table, *rows)[:10])
    assert recall.independent == pytest.approx(0.9, abs=0.01)
    assert recall.labelled == 1.0


def test_assignment_against_all_permutations() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        table = np.where(rng.random((4, 5)) < 0.6, rng.normal(0.5, 1.0, (4, 5)), -1.0)
        left, right = (side.ravel() for side in np.indices((4, 5)))
        chosen = one_to_one(left, right, table.ravel())
        best = max(sum(max(table[i, p[i]], 0.0) for i in range(4)) for p in permutations(range(5), 4))
        assert table.ravel()[chosen].sum() == pytest.approx(best)
        assert len(set(left[chosen])) == len(set(right[chosen])) == chosen.sum()


def test_large_components_are_taken_greedily(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairlearn.records.assignment.LARGEST", 1)
    chosen = one_to_one(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.0]))
    assert chosen.tolist() == [True, False, False]


def test_clusters_keep_their_promise() -> None:
    """No two clusters are left whose pairs speak for joining them; every cluster of several has evidence for it."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        left, right = np.array(list(combinations(range(9), 2))).T
        weights = rng.normal(-0.3, 1.0, len(left)) * (rng.random(len(left)) < 0.7)
        found = clusters(left, right, weights, 9)
        between: dict[tuple[int, int], float] = {}
        for a, b, w in zip(found[left], found[right], weights, strict=True):
            key = (min(a, b), max(a, b))
            between[key] = between.get(key, 0.0) + w
        for (a, b), total in between.items():
            assert total <= 1e-9 if a != b else total > 0
