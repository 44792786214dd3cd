"""Rates against brute force, exact fractions and scikit-learn."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from pairlearn.errors import InputError
from pairlearn.evaluation import (
    DetCurve,
    Rates,
    Scores,
    area_under_roc,
    det_curve,
    equal_error_rate,
    fnmr_at_fmr,
    rates_at,
)
from pairlearn.evaluation.intervals import interval

# Few distinct values, so that ties within and between the labels are common.
columns = st.lists(st.integers(-4, 4).map(lambda v: v / 2), min_size=1, max_size=12)
both = st.tuples(columns, columns)
unhurried = settings(deadline=None)


def make(positives: list[float], negatives: list[float]) -> Scores:
    return Scores([*positives, *negatives], [1] * len(positives) + [-1] * len(negatives))


def points(positives: list[float], negatives: list[float]) -> list[tuple[Fraction, Fraction]]:
    thresholds = [*sorted({*positives, *negatives}), float("inf")]
    return [
        (
            Fraction(sum(v >= b for v in negatives), len(negatives)),
            Fraction(sum(v < b for v in positives), len(positives)),
        )
        for b in thresholds
    ]


def exact_equal_error_rate(positives: list[float], negatives: list[float]) -> Fraction:
    polyline = points(positives, negatives)
    crossings = set()
    for (x0, y0), (x1, y1) in pairwise(polyline):
        before, after = x0 - y0, x1 - y1
        if before >= 0 >= after:
            crossings.add(x0 + before / (before - after) * (x1 - x0))
    assert len(crossings) == 1
    return crossings.pop()


@unhurried
@given(both)
def test_det_curve_has_one_exact_point_per_distinct_value(lists: tuple[list[float], list[float]]) -> None:
    curve = det_curve(make(*lists))
    expected = points(*lists)
    assert curve.thresholds.tolist() == [*sorted({*lists[0], *lists[1]}), np.inf]
    assert curve.fmr.tolist() == [float(x) for x, _ in expected]
    assert curve.fnmr.tolist() == [float(y) for _, y in expected]


@unhurried
@given(both)
def test_equal_error_rate_is_the_crossing_of_the_polyline(lists: tuple[list[float], list[float]]) -> None:
    assert equal_error_rate(make(*lists)) == pytest.approx(float(exact_equal_error_rate(*lists)), abs=1e-14)


@unhurried
@given(both)
def test_equal_error_rate_ignores_scale_and_swaps_with_sign(lists: tuple[list[float], list[float]]) -> None:
    scores = make(*lists)
    stretched = Scores(np.exp(3 * scores.values), scores.labels)
    assert equal_error_rate(stretched) == equal_error_rate(scores)
    mirrored = Scores(-scores.values, -scores.labels)
    assert equal_error_rate(mirrored) == pytest.approx(equal_error_rate(scores), abs=1e-14)
    reversed_order = Scores(scores.values[::-1], scores.labels[::-1])
    assert equal_error_rate(reversed_order) == equal_error_rate(scores)


@unhurried
@given(both)
def test_area_under_roc_counts_pairs_with_ties_as_half(lists: tuple[list[float], list[float]]) -> None:
    positives, negatives = lists
    wins = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    expected = wins / (len(positives) * len(negatives))
    assert area_under_roc(make(*lists)) == pytest.approx(expected, abs=1e-13)


@unhurried
@given(both, st.integers(-9, 9).map(lambda v: v / 4))
def test_rates_at_a_threshold_accepts_equality(lists: tuple[list[float], list[float]], threshold: float) -> None:
    positives, negatives = lists
    rates = rates_at(make(*lists), threshold)
    assert rates.fmr == sum(v >= threshold for v in negatives) / len(negatives)
    assert rates.fnmr == sum(v < threshold for v in positives) / len(positives)


@unhurried
@given(both, st.sampled_from([0.0, 1e-4, 0.1, 1 / 3, 0.5, 2 / 3, 1.0]))
def test_fnmr_at_fmr_is_the_best_threshold_that_is_allowed(lists: tuple[list[float], list[float]], fmr: float) -> None:
    expected = min(y for x, y in points(*lists) if float(x) <= fmr)
    assert fnmr_at_fmr(make(*lists), fmr) == float(expected)


def test_fnmr_at_fmr_counts_an_exact_share_as_allowed() -> None:
    negatives = np.arange(300.0)
    scores = make([296.5, 297.5], negatives.tolist())
    assert fnmr_at_fmr(scores, 0.01) == 0.0  # threshold 296.5 lets in exactly 3 of 300
    assert fnmr_at_fmr(scores, 0.0099) == 0.5


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_agrees_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.append([1, -1], rng.choice([-1, 1], size=500))
    values = rng.normal(size=502).round(1) + 0.7 * labels
    scores = Scores(values, labels)
    assert area_under_roc(scores) == pytest.approx(metrics.roc_auc_score(labels, values), abs=1e-12)
    # scikit-learn leaves out some end points, so each of its points is looked up by its threshold.
    fmr, fnmr, thresholds = metrics.det_curve(labels, values)
    curve = det_curve(scores)
    at = np.searchsorted(curve.thresholds, thresholds)
    np.testing.assert_array_equal(curve.thresholds[at], thresholds)
    np.testing.assert_allclose(curve.fmr[at], fmr, atol=1e-14)
    np.testing.assert_allclose(curve.fnmr[at], fnmr, atol=1e-14)


def test_normal_scores_reach_their_theoretical_rates() -> None:
    rng = np.random.default_rng(1)
    scores = make((rng.normal(size=100_000) + 2).tolist(), rng.normal(size=100_000).tolist())
    assert equal_error_rate(scores) == pytest.approx(0.158655, abs=0.003)  # Φ(−1)
    assert area_under_roc(scores) == pytest.approx(0.921350, abs=0.003)  # Φ(√2)


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [
        ([2.0, 3.0], [0.0, 1.0], 0.0),
        ([0.0, 1.0], [2.0, 3.0], 1.0),
        ([1.0], [1.0], 0.5),
        ([0.0, 0.0, 1.0], [0.0, 1.0], 4 / 7),
    ],
)
def test_equal_error_rate_by_hand(positives: list[float], negatives: list[float], expected: float) -> None:
    assert equal_error_rate(make(positives, negatives)) == pytest.approx(expected, abs=1e-15)


def test_minus_zero_ties_with_zero() -> None:
    assert det_curve(make([0.0], [-0.0])).fmr.tolist() == [1.0, 0.0]


def test_reflexive_pairs_are_left_out_unless_asked_for() -> None:
    scores = Scores([9.0, 1.0, 0.0, 2.0], [1, 1, -1, -1], left=[0, 0, 0, 1], right=[0, 1, 2, 3])
    assert rates_at(scores, 1.5) == Rates(fmr=0.5, fnmr=1.0)
    assert rates_at(scores, 1.5, reflexive=True) == Rates(fmr=0.5, fnmr=0.5)
    assert len(det_curve(scores).thresholds) == 4
    assert len(det_curve(scores, reflexive=True).thresholds) == 5
    assert area_under_roc(scores) == 0.5
    assert area_under_roc(scores, reflexive=True) == 0.75
    assert equal_error_rate(scores) == 0.5
    assert equal_error_rate(scores, reflexive=True) == 0.5
    assert fnmr_at_fmr(scores, 0.0) == 1.0
    assert fnmr_at_fmr(scores, 0.0, reflexive=True) == 0.5


def test_large_sets_do_not_overflow_or_crawl() -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(1_000_000) < 0.01, 1, -1)
    curve = det_curve(Scores(rng.normal(size=labels.size) + labels, labels))
    assert curve.fmr.size == np.unique(curve.thresholds).size
    assert np.all(np.diff(curve.fmr) <= 0)
    assert np.all(np.diff(curve.fnmr) >= 0)
    assert curve.equal_error_rate == pytest.approx(0.1587, abs=0.01)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 1], "2 positive and 0 negative; add pairs of different classes"),
        ([-1, -1], "0 positive and 2 negative; add pairs of the same class"),
    ],
)
def test_one_label_only_is_refused_with_advice(labels: list[int], message: str) -> None:
    scores = Scores([0.0, 1.0], labels)
    for rate in (det_curve, equal_error_rate, area_under_roc):
        with pytest.raises(InputError, match=message):
            rate(scores)
    with pytest.raises(InputError, match=message):
        rates_at(scores, 0.0)
    with pytest.raises(InputError, match=message):
        fnmr_at_fmr(scores, 0.1)


def test_when_only_reflexive_pairs_were_positive_the_message_says_so() -> None:
    scores = Scores([1.0, 0.0], [1, -1], left=[0, 0], right=[0, 1])
    with pytest.raises(InputError, match="reflexive pairs left out: 1; reflexive=True keeps them"):
        equal_error_rate(scores)


def test_bad_arguments_are_refused_with_advice() -> None:
    scores = Scores([0.0, 1.0], [-1, 1])
    with pytest.raises(InputError, match="threshold is NaN"):
        rates_at(scores, float("nan"))
    for fmr in (-0.1, 10, float("nan")):
        with pytest.raises(InputError, match="between 0 and 1"):
            fnmr_at_fmr(scores, fmr)
    with pytest.raises(InputError, match="same length"):
        DetCurve(np.zeros(2), np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match=r"from \(fmr, fnmr\) = \(1, 0\)"):
        DetCurve(np.arange(2), np.array([0.0, 1.0]), np.array([1.0, 0.0]))


def test_the_worked_example_of_scikit_learns_manual() -> None:
    """y = 0, 0, 1, 1 and scores 0.1, 0.4, 0.35, 0.8: FPR ½, ½, 0, FNR 0, ½, ½ at 0.35, 0.4, 0.8; area ¾."""
    scores = Scores([0.1, 0.4, 0.35, 0.8], [-1, -1, 1, 1])
    curve = det_curve(scores)
    at = np.searchsorted(curve.thresholds, [0.35, 0.4, 0.8])
    assert curve.fmr[at].tolist() == [0.5, 0.5, 0.0]
    assert curve.fnmr[at].tolist() == [0.0, 0.5, 0.5]
    assert area_under_roc(scores) == 0.75


def test_the_worked_example_of_hanley_and_mcneil() -> None:
    """109 tomograms rated 1 to 5 (Radiology 143, 1982): area 0.893 with standard error 0.032."""
    normal, abnormal = (33, 6, 6, 11, 2), (3, 2, 2, 11, 33)
    ratings = np.repeat(np.tile(np.arange(1.0, 6.0), 2), normal + abnormal)
    scores = Scores(ratings, np.repeat([-1, 1], [sum(normal), sum(abnormal)]))
    assert round(area_under_roc(scores), 3) == 0.893
    found = interval(scores, area_under_roc, unit="pair")
    assert abs(found.standard_error - 0.032) < 0.002
