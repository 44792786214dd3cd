"""Precision, recall and F1 of records: limits against leaving out by hand, a bootstrap and counting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.evaluation import difference_interval, interval
from pairlearn.evaluation.measures import Measure
from pairlearn.records.judging import F1At, PrecisionAt, RecallAt, cutoffs, judge, limits, verdict


def one_right_record_each(left: np.ndarray, accepted: np.ndarray, match: np.ndarray) -> pl.Scores:
    """Every pair has a right record of its own, so that pairs have left records in common and nothing else."""
    right = len(left) + np.arange(len(left))
    return pl.Scores(np.where(accepted, 1.0, 0.0), np.where(match, 1, -1), left, right)


def shop(seed: int, n: int = 150) -> pl.Scores:
    """Left records with one match each, found or not, and up to three wrong pairs, often accepted together."""
    rng = np.random.default_rng(seed)
    wrong = rng.integers(0, 4, n)
    left = np.concatenate([np.arange(n), np.repeat(np.arange(n), wrong)])
    match = np.arange(len(left)) < n
    careless = rng.random(n) < 0.3
    accepted = np.where(match, rng.random(len(left)) < 0.8, careless[left] & (rng.random(len(left)) < 0.9))
    return one_right_record_each(left, accepted, match)


def precision(scores: pl.Scores) -> float:
    return float((scores.labels[scores.values >= 0.5] > 0).mean())


def recall(scores: pl.Scores) -> float:
    return float((scores.positives >= 0.5).mean())


def f1(scores: pl.Scores) -> float:
    return float(stats.hmean([precision(scores), recall(scores)]))


@pytest.mark.parametrize(
    ("measure", "by_hand"), [(PrecisionAt(0.5), precision), (RecallAt(0.5), recall), (F1At(0.5), f1)]
)
def test_limits_are_those_of_a_bootstrap_over_records(measure: Measure, by_hand: Callable[[pl.Scores], float]) -> None:
    scores = shop(0)
    rows = [np.flatnonzero(scores.left == one) for one in range(150)]
    rng = np.random.default_rng(1)
    drawn = [by_hand(scores[np.concatenate([rows[one] for one in rng.integers(0, 150, 150)])]) for _ in range(1500)]
    found = interval(scores, measure, unit="example")
    assert found.estimate == pytest.approx(by_hand(scores))
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.1)
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)


def test_a_record_with_many_false_positives_is_left_out_with_all_of_them() -> None:
    left = np.concatenate([np.arange(40), np.full(20, 40), [41, 42]])
    accepted, match = np.arange(62) < 60, (np.arange(62) < 40) | (np.arange(62) == 61)
    scores = one_right_record_each(left, accepted, match)
    who = np.column_stack([scores.left, scores.right])
    without = np.array([precision(scores[(who != one).all(axis=1)]) for one in np.unique(who)])
    n, p = len(without), 40 / 60
    cells = (40 * (1 - p) ** 2 + 20 * p**2) / 60**2
    variance = (n - 1) / n * np.sum((without - without.mean()) ** 2) - cells
    assert interval(scores, PrecisionAt(0.5), unit="example").standard_error ** 2 == pytest.approx(variance)


def test_precision_without_an_error_counts_accepted_pairs_only() -> None:
    match = np.arange(700) < 500
    scores = one_right_record_each(np.arange(700), np.arange(700) < 2, match)
    found = limits(scores, PrecisionAt(0.99))
    exact = stats.binomtest(2, 2).proportion_ci(0.95, "exact")
    assert (found.estimate, found.low, found.high) == pytest.approx((1.0, exact.low, 1.0))
    (last,) = (row for row in cutoffs(np.full(3, 0.5), scores) if row.probability == 0.99)
    assert last.precision is not None
    assert (last.precision.low, last.precision.high) == (found.low, found.high)
    assert last.recall is not None
    assert last.recall.estimate == pytest.approx(2 / 500)
    alone = one_right_record_each(np.arange(700), np.arange(700) < 1, match)
    assert cutoffs(np.full(3, 0.5), alone)[-1].precision is None
    with pytest.raises(InputError, match="lower the threshold"):
        interval(scores, PrecisionAt(2.0), unit="example")


def test_swapping_systems_swaps_the_limits_of_their_difference() -> None:
    scores = shop(2)
    other = pl.Scores(np.roll(scores.values, 1), scores.labels, scores.left, scores.right)
    for measure in (PrecisionAt(0.5), F1At(0.5)):
        there = difference_interval(scores, other, measure, unit="example")
        back = difference_interval(other, scores, measure, unit="example")
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
        assert there.estimate == pytest.approx(measure(scores) - measure(other))


def test_one_record_in_all_matches_leaves_everything_open() -> None:
    table = pl.Records.of({"name": list("abcdef")})
    pairs = pl.records.RecordPairs(table, None, [1, 2, 1, 2, 3], [0, 0, 3, 4, 5])
    labels = np.array([1, 1, -1, -1, -1])
    systems = {"matcher": np.array([3.0, 2.0, 1.0, 0.0, 0.0]), "cosine": np.array([2.0, 0.0, 1.0, 0.0, 0.0])}
    judged = judge(pairs, labels, systems)
    assert [(one.f1.low, one.f1.high, one.f1.n_units) for one in judged] == [(0.0, 1.0, 0)] * 2
    assert judged[0].f1.estimate == 1.0
    found = verdict(pairs, labels, judged, systems)
    assert found.outcome == "tied"
    assert found.words.endswith("too few pairs for limits")
    assert "[" not in found.words
