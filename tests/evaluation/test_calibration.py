"""Calibration against scikit-learn, brute force and closed forms; measures against their definitions."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.evaluation.calibration import (
    FittedCalibration,
    IsotonicCalibration,
    Knots,
    Line,
    LogisticCalibration,
    brier,
    calibrated,
    cllr,
    cross_fitted,
    min_cllr,
    reliability,
)
from pairlearn.evaluation.fusion import log_loss

# Few distinct values, so that ties within and between the labels are common.
columns = st.lists(st.integers(-4, 4).map(lambda v: v / 2), min_size=1, max_size=12)
both = st.tuples(columns, columns)
unhurried = settings(deadline=None, max_examples=60)
every_calibration = pytest.mark.parametrize("calibration", [LogisticCalibration(), IsotonicCalibration()])


def make(positives: Any, negatives: Any) -> Scores:
    return Scores([*positives, *negatives], [1] * len(positives) + [-1] * len(negatives))


def normal_scores(n: int, share: float, seed: int, shift: float = 2.0) -> Scores:
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < share, 1, -1)
    return Scores(rng.normal(size=n) + shift * (labels > 0), labels)


def of_identities(n: int, each: int, seed: int, signal: float = 1.5) -> Scores:
    """All pairs of n identities with `each` examples."""
    left, right = np.triu_indices(n * each, 1)
    who = np.repeat(np.arange(n), each)
    same = who[left] == who[right]
    rng = np.random.default_rng(seed)
    values = signal * same + 0.3 * rng.normal(size=n)[who[left]] + rng.normal(size=len(left))
    return Scores(values, np.where(same, 1, -1), left, right, who[left], who[right])


# --------------------------------------------------------------------------- logistic


@pytest.mark.parametrize("seed", range(5))
def test_logistic_is_platt_as_in_scikit_learn(seed: int) -> None:
    scores = normal_scores(400, 0.2, seed)
    fitted = LogisticCalibration().fit(scores)
    a, b = _sigmoid_calibration(scores.values, scores.labels)
    np.testing.assert_allclose(fitted.probability(scores.values), expit(-(a * scores.values + b)), atol=2e-4)


def platt_loss(scores: Scores, a: float, b: float) -> float:
    p, n = len(scores.positives), len(scores.negatives)
    targets = np.where(scores.labels > 0, (p + 1) / (p + 2), 1 / (n + 2))
    eta = a * scores.values + b
    return float(np.sum(targets * np.logaddexp(0, -eta) + (1 - targets) * np.logaddexp(0, eta)))


@unhurried
@given(both)
def test_logistic_minimises_the_loss_of_the_docstring(lists: tuple[list[float], list[float]]) -> None:
    scores = make(*lists)
    fitted = LogisticCalibration().fit(scores)
    assert isinstance(fitted.curve, Line)
    a = fitted.curve.slope
    b = float(logit(fitted.prior)) + fitted.curve.level - a * fitted.curve.centre
    brute = minimize(lambda x: platt_loss(scores, *x), [0.0, 0.0], method="L-BFGS-B", bounds=[(0, None), (None, None)])
    assert a >= 0
    assert platt_loss(scores, a, b) <= brute.fun + 1e-9


@unhurried
@given(both, st.sampled_from([1e-80, 1e-3, 1.0, 1e6, 1e80]), st.sampled_from([0.0, -3.0]))
def test_logistic_does_not_see_scale_and_shift(
    lists: tuple[list[float], list[float]], scale: float, shift: float
) -> None:
    scores = make(*lists)
    moved = Scores((scores.values + shift) * scale, scores.labels)
    one = LogisticCalibration().fit(scores).llr(scores.values)
    np.testing.assert_allclose(LogisticCalibration().fit(moved).llr(moved.values), one, atol=1e-6)


def test_separated_scores_reach_platts_targets() -> None:
    fitted = LogisticCalibration().fit(make([3.0, 3.0, 3.0], [1.0]))
    np.testing.assert_allclose(fitted.probability([3.0, 1.0]), [4 / 5, 1 / 3], atol=1e-9)


def test_separated_scores_far_apart_or_close_are_finite_and_fast() -> None:
    for gap in (1e-13, 1e-3, 1e9):
        scores = make([1.0 + gap] * 50, [1.0] * 500)
        p = LogisticCalibration().fit(scores).probability(scores.values)
        np.testing.assert_allclose(np.unique(p), [1 / 502, 51 / 52], atol=1e-9)


def test_one_very_low_score_still_gives_the_optimum() -> None:
    scores = make(np.linspace(0, 3, 50), [*np.linspace(-2, 1, 200), -1e6])
    fitted = LogisticCalibration().fit(scores)
    a, b = (
        fitted.curve.slope,
        float(logit(fitted.prior)) + fitted.curve.level - fitted.curve.slope * fitted.curve.centre,
    )
    at = platt_loss(scores, a, b)
    for da, db in [(1e-9, 0), (-1e-9, 0), (0, 1e-3), (0, -1e-3), (1e-8, -1e-3)]:
        assert at <= platt_loss(scores, a + da, b + db) + 1e-9


def test_normal_scores_have_their_theoretical_llr() -> None:
    # log N(s; 2, 1)/N(s; 0, 1) = 2 s − 2, whatever the share of positive pairs.
    for share in (0.5, 0.05):
        fitted = LogisticCalibration().fit(normal_scores(200_000, share, 1))
        np.testing.assert_allclose(fitted.llr([0.0, 1.0, 2.0]), [-2.0, 0.0, 2.0], atol=0.1)
        isotonic = IsotonicCalibration().fit(normal_scores(200_000, share, 1))
        np.testing.assert_allclose(isotonic.llr([0.5, 1.0, 1.5]), [-1.0, 0.0, 1.0], atol=0.3)


# --------------------------------------------------------------------------- isotonic


def padded(scores: Scores) -> tuple[Any, Any]:
    """Values and 0/1 labels with one positive pair below all and one negative above."""
    low, high = scores.values.min() - 1, scores.values.max() + 1
    return np.r_[low, scores.values, high], np.r_[1.0, scores.labels > 0, 0.0]


@unhurried
@given(both)
def test_isotonic_is_scikit_learns_with_two_more_pairs(lists: tuple[list[float], list[float]]) -> None:
    scores = make(*lists)
    values, labels = padded(scores)
    expected = IsotonicRegression().fit(values, labels).predict(scores.values)
    np.testing.assert_allclose(IsotonicCalibration().fit(scores).probability(scores.values), expected, atol=1e-12)


@unhurried
@given(both)
def test_isotonic_is_the_min_max_formula(lists: tuple[list[float], list[float]]) -> None:
    scores = make(*lists)
    values, labels = padded(scores)
    distinct = np.unique(values)

    def mean(low: float, high: float) -> float:
        return float(labels[(values >= low) & (values <= high)].mean())

    for s in np.unique(scores.values):
        best = max(min(mean(low, high) for high in distinct if high >= s) for low in distinct if low <= s)
        assert IsotonicCalibration().fit(scores).probability(s) == pytest.approx(best, abs=1e-12)


def test_isotonic_keeps_only_the_ends_of_its_pools() -> None:
    fitted = IsotonicCalibration().fit(normal_scores(5000, 0.3, 0))
    assert isinstance(fitted.curve, Knots)
    assert len(fitted.curve.values) < 200
    assert np.all(np.diff(fitted.curve.values) > 0)


# --------------------------------------------------------------------------- both


@every_calibration
@unhurried
@given(lists=both)
def test_llr_is_finite_and_never_falls(calibration: Any, lists: tuple[list[float], list[float]]) -> None:
    fitted = calibration.fit(make(*lists))
    llr = fitted.llr(np.linspace(-5, 5, 201))
    assert np.isfinite(llr).all()
    assert np.all(np.diff(llr) >= -1e-12)


@every_calibration
@unhurried
@given(lists=both, prior=st.sampled_from([1e-6, 0.01, 0.5, 0.9]))
def test_prior_shifts_log_odds_only(calibration: Any, lists: tuple[list[float], list[float]], prior: float) -> None:
    plain, moved = calibration.fit(make(*lists)), replace(calibration, prior=prior).fit(make(*lists))
    grid = np.linspace(-3, 3, 13)
    np.testing.assert_array_equal(plain.llr(grid), moved.llr(grid))
    odds = plain.probability(grid) / (1 - plain.probability(grid))
    expected = odds * prior / (1 - prior) * (1 - plain.prior) / plain.prior
    np.testing.assert_allclose(moved.probability(grid), expected / (1 + expected), rtol=1e-9)
    np.testing.assert_array_equal(replace(plain, prior=prior).probability(grid), moved.probability(grid))


@every_calibration
def test_scores_that_say_nothing_or_the_contrary_have_llr_0(calibration: Any) -> None:
    for scores in (make([1.0] * 3, [1.0] * 40), make([0.0] * 3, [1.0] * 40), make([0.1] * 7, [0.1] * 3)):
        np.testing.assert_allclose(calibration.fit(scores).llr([-1.0, 0.0, 5.0]), 0.0, atol=1e-12)


@every_calibration
def test_mean_probability_is_the_learnt_prior(calibration: Any) -> None:
    scores = normal_scores(3000, 0.1, 3)
    fitted = calibration.fit(scores)
    assert fitted.probability(scores.values).mean() == pytest.approx(fitted.prior, abs=1e-3)
    assert fitted.prior == pytest.approx(np.mean(scores.labels > 0), abs=1e-3)


@every_calibration
def test_reflexive_pairs_teach_nothing(calibration: Any) -> None:
    scores = Scores([0.0, 1.0, 2.0, 3.0], [-1, 1, -1, 1], [0, 1, 2, 3], [1, 2, 3, 0])
    more = Scores([*scores.values, 99.0], [*scores.labels, 1], [*scores.left, 5], [*scores.right, 5])
    grid = np.linspace(0, 3, 7)
    np.testing.assert_array_equal(calibration.fit(scores).llr(grid), calibration.fit(more).llr(grid))
    assert cllr(scores) == cllr(more)
    assert min_cllr(scores) == min_cllr(more)


@every_calibration
def test_bad_input_says_what_to_do(calibration: Any) -> None:
    with pytest.raises(InputError, match=r"2 positive and 0 negative .* add pairs of different classes"):
        calibration.fit(make([1.0, 2.0], []))
    with pytest.raises(InputError, match=r"0 positive and 2 negative .* add pairs of the same class"):
        calibration.fit(make([], [1.0, 2.0]))
    for prior in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="between 0 and 1"):
            replace(calibration, prior=prior).fit(make([1.0], [0.0]))
    fitted = calibration.fit(make([1.0], [0.0]))
    with pytest.raises(InputError, match="NaN"):
        fitted.llr([np.nan])
    with pytest.raises(FrozenInstanceError):
        fitted.prior = 0.5


def test_scores_beyond_double_precision_are_refused() -> None:
    with pytest.raises(InputError, match="rescale"):
        LogisticCalibration().fit(make([1e200], [-1e200]))
    with pytest.raises(InputError, match="rescale"):
        LogisticCalibration().fit(make([1e-200], [-1e-200]))
    assert np.isfinite(IsotonicCalibration().fit(make([1e308], [-1e308])).llr([-1e308, 0.0, 1e308])).all()


# --------------------------------------------------------------------------- cross-fitting


class Spy:
    """Remembers which identities were calibrated on, and answers with a quarter of the number of the fit."""

    prior = None

    def __init__(self) -> None:
        self.seen: list[tuple[set[int], int]] = []

    def fit(self, scores: Scores) -> FittedCalibration:
        self.seen.append(({*scores.left_identity.tolist(), *scores.right_identity.tolist()}, len(scores)))
        return FittedCalibration(Line(0.0, 0.0, (len(self.seen) - 1) / 4), 0.5)


@pytest.mark.parametrize("n_folds", [3, 4, 5, 12])
def test_cross_fitting_shares_no_identity_with_a_pair(n_folds: int) -> None:
    scores, spy = of_identities(12, 3, 0), Spy()
    fits = np.rint(4 * logit(cross_fitted(scores, spy, n_folds, seed=1))).astype(int)
    assert len(spy.seen) == 1 + n_folds * (n_folds - 1) // 2
    for one, other, fit in zip(scores.left_identity, scores.right_identity, fits, strict=True):
        assert fit > 0  # the first fit is that of all pairs, for the prior
        assert not {int(one), int(other)} & spy.seen[fit][0]
    # Positive pairs learn from as many pairs as negative ones do.
    sizes = np.array([n for _, n in spy.seen])[fits]
    if 12 % n_folds == 0:
        assert len(np.unique(sizes)) == 1


def test_cross_fitting_by_hand() -> None:
    scores = of_identities(20, 3, 0)
    p = cross_fitted(scores, LogisticCalibration(), seed=3)
    prior = LogisticCalibration().fit(scores).prior
    fold = np.random.default_rng(3).permutation(20) % 5
    left, right = fold[scores.left_identity], fold[scores.right_identity]
    for k in range(0, len(scores), 97):
        f, g = left[k], right[k] if left[k] != right[k] else (left[k] + 1) % 5
        kept = [(a not in (f, g)) and (b not in (f, g)) for a, b in zip(left, right, strict=True)]
        fitted = LogisticCalibration(prior=prior).fit(scores[np.array(kept)])
        assert p[k] == pytest.approx(float(fitted.probability(scores.values[k])), abs=1e-12)


def test_cross_fitted_probabilities_keep_the_prior_and_tell_nothing_from_noise() -> None:
    noise = of_identities(60, 4, 5, signal=0.0)
    p = cross_fitted(noise, LogisticCalibration())
    share = np.mean(noise.labels > 0)
    assert p.mean() == pytest.approx(share, rel=0.1)
    # The calibration sets hold 1.7 times this share of positive pairs, which must not leak into the probabilities.
    assert p[noise.labels > 0].mean() == pytest.approx(p[noise.labels < 0].mean(), rel=0.1)
    moved = cross_fitted(noise, LogisticCalibration(prior=0.5))
    assert moved.mean() == pytest.approx(0.5, abs=0.05)


@every_calibration
def test_cross_fitted_probabilities_are_reliable(calibration: Any) -> None:
    scores = of_identities(80, 4, 2)
    p = cross_fitted(scores, calibration)
    assert reliability(p, scores.labels).expected_calibration_error < 0.01
    assert log_loss(p, scores.labels) < log_loss(np.full(len(p), np.mean(scores.labels > 0)), scores.labels)


def test_cross_fitting_refuses_with_advice() -> None:
    scores = of_identities(6, 2, 0)
    with pytest.raises(InputError, match="left_identity and right_identity"):
        cross_fitted(make([1.0], [0.0]), LogisticCalibration())
    for n_folds in (2, 7):
        with pytest.raises(InputError, match="from 3 to the number of identities, 6"):
            cross_fitted(scores, LogisticCalibration(), n_folds)
    few = scores[(scores.labels < 0) | (scores.left_identity == 0)]
    with pytest.raises(InputError, match=r"outside the folds .* add pairs of the same class, of more identities"):
        cross_fitted(few, LogisticCalibration(), 3)


# --------------------------------------------------------------------------- measures


@unhurried
@given(both)
def test_cllr_by_its_definition(lists: tuple[list[float], list[float]]) -> None:
    positives, negatives = lists
    own = sum(np.log2(1 + np.exp(-v)) for v in positives) / len(positives)
    other = sum(np.log2(1 + np.exp(v)) for v in negatives) / len(negatives)
    assert cllr(make(*lists)) == pytest.approx((own + other) / 2, abs=1e-12)


def test_cllr_of_large_ratios_does_not_overflow() -> None:
    assert cllr(make([1e4], [-1e4])) == 0.0
    assert cllr(make([-1e4], [1e4])) == pytest.approx(1e4 / np.log(2))


@unhurried
@given(both, st.lists(st.floats(-3, 3), min_size=9, max_size=9))
def test_no_rising_function_has_a_lower_cllr(lists: tuple[list[float], list[float]], steps: list[float]) -> None:
    scores = make(*lists)
    least = min_cllr(scores)
    assert 0 <= least <= 1 + 1e-12
    rising = np.cumsum(np.abs(steps)) + steps[0]
    index = np.searchsorted(np.arange(-4, 5) / 2, scores.values)
    assert cllr(Scores(rising[index], scores.labels)) >= least - 1e-12
    assert cllr(Scores(rising[index] - rising.mean(), scores.labels)) >= least - 1e-12


@unhurried
@given(both)
def test_min_cllr_is_that_of_scikit_learns_isotonic_regression(lists: tuple[list[float], list[float]]) -> None:
    scores = make(*lists)
    positive = scores.labels > 0
    weights = np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum())  # prior ½, another way to the llr
    p = IsotonicRegression(y_min=0, y_max=1).fit(scores.values, positive, weights).predict(scores.values)
    own = np.where(positive, p, 1 - p)
    assert min_cllr(scores) == pytest.approx(float(-(weights * np.log2(own)).sum()), abs=1e-9)
    rank = np.searchsorted(np.unique(scores.values), scores.values)
    assert min_cllr(Scores(rank, scores.labels)) == pytest.approx(min_cllr(scores), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_brier_and_log_loss_agree_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, labels = rng.random(50), np.append([1, -1], rng.choice([-1, 1], 48))
    assert brier(p, labels) == pytest.approx(metrics.brier_score_loss(labels, p), abs=1e-12)
    assert log_loss(p, labels) == pytest.approx(metrics.log_loss(labels, p), abs=1e-12)
    assert log_loss([0.0, 1.0], [1, 1]) == pytest.approx(-np.log(np.finfo(float).eps) / 2)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([-1, 1])), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_reliability_by_loops(pairs: list[tuple[float, int]], bins: int) -> None:
    p, labels = np.array([q for q, _ in pairs]), np.array([y for _, y in pairs])
    table = reliability(p, labels, bins)
    error = 0.0
    for b, (low, high) in enumerate(zip(table.edges[:-1], table.edges[1:], strict=True)):
        inside = (p >= low) & ((p < high) | (b == bins - 1))
        assert table.counts[b] == inside.sum()
        if not inside.any():
            assert np.isnan(table.observed[b])
            assert (table.low[b], table.high[b]) == pytest.approx((0.0, 1.0), abs=1e-12)
            continue
        share = float((labels[inside] > 0).mean())
        assert table.predicted[b] == pytest.approx(float(p[inside].mean()), abs=1e-12)
        assert table.observed[b] == pytest.approx(share, abs=1e-12)
        assert table.low[b] - 1e-12 <= share <= table.high[b] + 1e-12
        error += inside.sum() * abs(share - p[inside].mean())
    assert table.expected_calibration_error == pytest.approx(error / len(p), abs=1e-12)


def test_a_number_of_bins_may_come_from_numpy() -> None:
    for bins in (np.int64(4), np.uint8(4)):
        assert reliability([0.1, 0.9], [-1, 1], bins).edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_wilson_limits_are_the_roots_of_their_equation() -> None:
    labels = np.array([1] * 3 + [-1] * 17)
    table = reliability(np.full(20, 0.4), labels, bins=[0, 0.3, 1], level=0.9)
    for q in (table.low[1], table.high[1]):
        assert (3 - 20 * q) ** 2 == pytest.approx(1.6448536269514722**2 * 20 * q * (1 - q), rel=1e-9)
    wide = reliability(np.full(20, 0.4), labels, bins=[0, 0.3, 1], level=0.99)
    assert wide.low[1] < table.low[1] < table.high[1] < wide.high[1]


def test_measures_refuse_bad_input_with_advice() -> None:
    for measure in (brier, log_loss, reliability):
        with pytest.raises(InputError, match="from 0 to 1; calibrate scores first"):
            measure([0.5, 1.5], [1, -1])
        with pytest.raises(InputError, match="NaN"):
            measure([0.5, np.nan], [1, -1])
        with pytest.raises(InputError, match="labels must be"):
            measure([0.5, 0.5], [1, 0])
        with pytest.raises(InputError, match="one or more"):
            measure([], np.array([], dtype=int))
    for bins in (0, -3, [0.0, 0.5], [0.0, 0.5, 0.5, 1.0], [1.0]):
        with pytest.raises(InputError, match="rising edges from 0 to 1"):
            reliability([0.5], [1], bins)
    with pytest.raises(InputError, match="level"):
        reliability([0.5], [1], level=95)
    for measure in (cllr, min_cllr):
        with pytest.raises(InputError, match="add pairs of different classes"):
            measure(make([1.0], []))


def test_scores_with_a_ceiling_get_a_curve_and_others_a_line() -> None:
    """Scores of known ratios, as they are and squeezed below 0: either way llr are nearly those that made them."""
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(160, 1)
    same = left // 4 == right // 4
    truth = np.where(same, 2.0, -2.0) + 2.0 * rng.normal(size=len(same))  # N(±2, 4): llr = s
    labels, ids = np.where(same, 1, -1), (left, right, left // 4, right // 4)
    for values, kind in ((truth, Line), (-np.exp(-2.0 * truth), Knots)):
        fitted = calibrated(Scores(values, labels, *ids), prior=0.5)
        assert isinstance(fitted.curve, kind)
        cost = cllr(Scores(fitted.llr(values), labels))
        assert cost == pytest.approx(cllr(Scores(truth, labels)), abs=0.03)
    squeezed = Scores(-np.exp(-2.0 * truth), labels)
    assert cllr(Scores(LogisticCalibration().fit(squeezed).llr(squeezed.values), labels)) > 0.9


def test_too_few_identities_for_a_curve_have_a_line() -> None:
    scores = Scores([0.0, 1.0, 2.0, 3.0], [-1, 1, -1, 1], [0, 0, 1, 2], [1, 2, 3, 3], [0, 0, 1, 2], [1, 2, 3, 3])
    assert isinstance(calibrated(scores).curve, Line)
