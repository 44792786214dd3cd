"""Measures as values: their numbers against other libraries and definitions, their influences against weights.

A new measure has one line in `TWINS`, with the same number found another way.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from sklearn import metrics
from sklearn.isotonic import IsotonicRegression

from pairlearn import evaluation
from pairlearn.errors import InputError
from pairlearn.evaluation import (
    AUC,
    EER,
    MEASURES,
    AccuracyAt,
    Cllr,
    DPrime,
    FmrAt,
    FnmrAt,
    FnmrAtFmr,
    Measure,
    MinCllr,
    Scores,
    accuracy_at,
    d_prime,
    difference_interval,
    equal_error_rate,
    interval,
    measurable,
    rates_at,
    threshold_at_eer,
)
from pairlearn.evaluation.measures import BITS, PERCENT, PLAIN, Share, as_measure

unhurried = settings(deadline=None, max_examples=40)
seeds = st.integers(0, 2**32 - 1)


def simulate(seed: int, n: int = 60, decimals: int = 1) -> Scores:
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n) % 3 == 0, 1, -1)
    values = (rng.normal(size=n) + labels).round(decimals)
    return Scores(values, labels, rng.integers(0, 8, n), rng.integers(8, 16, n))


# --------------------------------------------------------------------------- the same number found another way


def crossing(scores: Scores) -> float:
    """Where scikit-learn's ROC polyline meets FMR = FNMR, by a root along it."""
    fpr, tpr, _ = metrics.roc_curve(scores.labels, scores.values, drop_intermediate=False)
    along = np.arange(len(fpr))
    at = brentq(lambda t: np.interp(t, along, fpr) - 1 + np.interp(t, along, tpr), 0, len(fpr) - 1, xtol=1e-13)
    return float(np.interp(at, along, fpr))


def separation(scores: Scores) -> float:
    """Cohen's d with the mean of both variances."""
    one, other = (stats.describe(each) for each in (scores.positives, scores.negatives))
    return float((one.mean - other.mean) / np.sqrt((one.variance + other.variance) / 2))


def bits(scores: Scores) -> float:
    """Half the mean surprise, in bits, of each label at even prior odds."""
    surprise = [-np.log2(1 / (1 + np.exp(-label * value))) for value, label in zip(*columns(scores), strict=True)]
    return float(sum(np.mean(np.array(surprise)[scores.labels == label]) for label in (1, -1)) / 2)


def columns(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    return scores.values, scores.labels


def calibrated_bits(scores: Scores) -> float:
    """The same after scikit-learn's isotonic regression, with posteriors moved to even prior odds."""
    p = IsotonicRegression(y_min=0, y_max=1).fit(scores.values, scores.labels > 0).predict(scores.values)
    share = np.mean(scores.labels > 0)
    with np.errstate(divide="ignore"):
        llr = np.log(p) - np.log1p(-p) - np.log(share / (1 - share))
    return bits(replace(scores, values=np.clip(llr, -700, 700)))


def best_fnmr(scores: Scores, fmr: float) -> float:
    tried = [rates_at(scores, b) for b in [*scores.values, np.inf]]
    return min(rates.fnmr for rates in tried if rates.fmr <= fmr)


TWINS: dict[Measure, Callable[[Scores], float]] = {
    EER(): crossing,
    AUC(): lambda scores: float(metrics.roc_auc_score(scores.labels, scores.values)),
    DPrime(): separation,
    MinCllr(): calibrated_bits,
    Cllr(): bits,
    FnmrAtFmr(0.1): lambda scores: best_fnmr(scores, 0.1),
    FmrAt(0.2): lambda scores: 1 - float(metrics.recall_score(scores.labels < 0, scores.values < 0.2)),
    FnmrAt(0.2): lambda scores: 1 - float(metrics.recall_score(scores.labels > 0, scores.values >= 0.2)),
    AccuracyAt(0.2): lambda scores: float(metrics.accuracy_score(scores.labels > 0, scores.values >= 0.2)),
}
KNOWN = [measure for measure in TWINS if measure.influence(simulate(0)) is not None]


def test_every_listed_measure_has_a_twin_and_its_own_key() -> None:
    assert set(MEASURES) <= set(TWINS)
    assert len({measure.key for measure in MEASURES}) == len(MEASURES)
    assert [measure.key for measure in MEASURES[:5]] == ["eer", "auc", "d_prime", "min_cllr", "cllr"]
    assert {measure.unit for measure in TWINS} <= {PERCENT, BITS, PLAIN}


@pytest.mark.parametrize("measure", TWINS, ids=lambda measure: measure.key)
def test_values_are_those_of_the_twins_within_their_bounds(measure: Measure) -> None:
    for seed in range(20):
        scores = simulate(seed)
        assert measure.value(scores) == pytest.approx(TWINS[measure](scores), rel=1e-9, abs=1e-12)
        assert measure(scores) == measure.value(scores)
        assert measure.bounds[0] <= measure.value(scores) <= measure.bounds[1]


@pytest.mark.parametrize("measure", TWINS, ids=lambda measure: measure.key)
def test_a_better_system_is_better_in_the_direction_of_the_measure(measure: Measure) -> None:
    scores = simulate(0, n=300, decimals=6)
    better = replace(scores, values=scores.values + 0.5 * scores.labels)
    gain = measure.value(better) - measure.value(scores)
    assert gain > 0 if measure.larger_is_better else gain < 0


def test_reflexive_pairs_are_left_out_of_every_measure() -> None:
    scores = simulate(0)
    ends = Scores([9.0, -9.0], [1, -1], left=[3, 4], right=[3, 4])
    both = [np.append(getattr(scores, name), getattr(ends, name)) for name in ("values", "labels", "left", "right")]
    for measure in TWINS:
        assert measure.value(Scores(*both)) == pytest.approx(measure.value(scores), rel=1e-12)


# --------------------------------------------------------------------------- weights and influences


@pytest.mark.parametrize("measure", TWINS, ids=lambda measure: measure.key)
def test_weights_count_pairs_as_often(measure: Measure) -> None:
    scores = simulate(1)
    weights = np.random.default_rng(0).integers(0, 4, len(scores)).astype(float)
    written_down = scores[np.concatenate([np.full(int(n), k) for k, n in enumerate(weights)]).astype(int)]
    assert measure.weighted(scores)(weights) == pytest.approx(measure.value(written_down), rel=1e-12)
    np.testing.assert_array_equal(
        measure.needed(scores).sum(axis=0) > 0, np.isin(scores.labels, sum(measure.kinds, ()))
    )


@pytest.mark.parametrize("measure", [AUC(), DPrime(), FmrAt(1.0), FnmrAt(1.0), AccuracyAt(1.0)])
def test_influences_are_derivatives_by_the_weights(measure: Measure) -> None:
    scores, many = simulate(0, n=24), 3000
    whole = np.repeat(np.arange(24), many)
    exact = measure.influence(scores[whole])
    assert exact is not None
    moved = [measure.value(scores[np.append(whole, k)]) - measure.value(scores[whole]) for k in range(24)]
    np.testing.assert_allclose(np.array(moved) * many, exact[::many] * many, rtol=2e-3, atol=1e-5)


@pytest.mark.parametrize("measure", KNOWN, ids=lambda measure: measure.key)
def test_influences_have_mean_zero_over_each_kind(measure: Measure) -> None:
    scores = simulate(2)
    influence = measure.influence(scores)
    assert influence is not None
    np.testing.assert_allclose(measure.needed(scores) @ influence, 0.0, atol=1e-12)
    assert np.abs(influence).max() > 1e-3


@pytest.mark.parametrize(("measure", "rate"), [(EER(), stats.norm.cdf(-1)), (FnmrAtFmr(0.1), None)])
def test_influences_at_a_moving_threshold_have_the_error_of_many_samples(measure: Measure, rate: float | None) -> None:
    rng, labels = np.random.default_rng(0), np.repeat([1, -1], [400, 1200])
    samples = [Scores(rng.normal(size=1600) + labels, labels) for _ in range(400)]
    found = np.array([measure.value(each) for each in samples])
    if rate is not None:
        assert found.mean() == pytest.approx(rate, abs=0.003)
    predicted = [np.sqrt(np.sum(np.square(measure.influence(each)))) for each in samples[:40]]
    assert np.mean(predicted) == pytest.approx(found.std(ddof=1), rel=0.1)


def test_d_prime_has_its_normal_theory_error() -> None:
    """Var d′ = (1/n₊ + 1/n₋)·(1 + d′²/8) for normal values of equal spread."""
    rng, labels = np.random.default_rng(0), np.repeat([1, -1], [4000, 12_000])
    scores = Scores(rng.normal(size=16_000) + labels, labels)
    theory = np.sqrt((1 / 4000 + 1 / 12_000) * (1 + 2**2 / 8))
    found = interval(scores, DPrime(), unit="pair")
    assert found.standard_error == pytest.approx(theory, rel=0.03)
    t = stats.t.ppf(0.975, found.degrees)
    assert (found.low, found.high) == pytest.approx(
        (found.estimate - t * found.standard_error, found.estimate + t * found.standard_error)
    )


def test_costs_in_bits_have_limits_by_resampling_that_stay_above_zero() -> None:
    rng, labels = np.random.default_rng(0), np.repeat([1, -1], [40, 120])
    scores = Scores(rng.normal(size=160) + labels, labels)
    surprise = np.logaddexp(0, -scores.labels * scores.values) / np.log(2)
    wanted = np.sqrt(sum(surprise[labels == label].var(ddof=1) / (4 * np.sum(labels == label)) for label in (1, -1)))
    found = interval(scores, Cllr(), unit="pair")
    assert found.standard_error == pytest.approx(wanted, rel=0.05)
    few = interval(Scores([9.0, 8.0, -9.0, -1.0], [1, 1, -1, -1]), Cllr(), unit="pair")
    assert 0 == few.low < few.estimate < few.high


# --------------------------------------------------------------------------- functions, equality, scorers


@pytest.mark.parametrize(
    ("function", "measure"),
    [
        (equal_error_rate, EER()),
        (evaluation.area_under_roc, AUC()),
        (partial(evaluation.fnmr_at_fmr, fmr=0.1), FnmrAtFmr(0.1)),
        (partial(accuracy_at, threshold=0.5), AccuracyAt(0.5)),
        (d_prime, DPrime()),
        (evaluation.cllr, Cllr()),
        (evaluation.min_cllr, MinCllr()),
    ],
)
def test_a_function_is_its_measure(function: Callable[[Scores], float], measure: Measure) -> None:
    scores, other = simulate(0), replace(simulate(0), values=simulate(7).values)
    assert as_measure(function) == measure
    assert function(scores) == measure.value(scores)
    options = {"unit": "pair", "n_resamples": 60}
    assert interval(scores, function, **options) == interval(scores, measure, **options)
    one, two = (difference_interval(scores, other, each, **options) for each in (function, measure))
    assert one == two


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, scores: Scores) -> float:
        return rates_at(scores, 0.2).fmr


def test_other_functions_are_shares() -> None:
    scores = simulate(0)
    with_reflexive = partial(equal_error_rate, reflexive=True)
    for function in (
        with_reflexive,
        partial(rates_at, threshold=0.2),
        lambda _: 0.5,
        Unhashable(),
        equal_error_rate.__call__,
    ):
        assert isinstance(as_measure(function), Share)
    slow, quick = interval(scores, Unhashable(), unit="pair"), interval(scores, FmrAt(0.2), unit="pair")
    assert slow.standard_error == pytest.approx(quick.standard_error, rel=1e-9)
    with pytest.raises(InputError, match=r"the rate is 1\.5"):
        interval(scores, lambda _: 1.5, unit="pair")
    with pytest.raises(InputError, match="the rate is nan"):
        interval(scores, lambda _: float("nan"), unit="pair")


def test_measures_are_equal_by_value_and_survive_pickling() -> None:
    assert FnmrAtFmr(0.1) == FnmrAtFmr(0.1) != FnmrAtFmr(0.2)
    for measure in TWINS:
        assert pickle.loads(pickle.dumps(measure)) == measure
        assert pickle.loads(pickle.dumps(measure.scorer())) == measure.scorer()
    assert FnmrAtFmr(0.001).name == "FNMR at FMR 0.1 %"
    assert FnmrAtFmr(0.001).heading.split("\n") == ["FNMR at", "FMR 0.1 %"]


def test_a_class_stands_for_its_measure_if_that_has_no_parameter() -> None:
    assert as_measure(EER) == EER()
    for wrong in (FnmrAtFmr, "eer", float, None):
        with pytest.raises(InputError, match=r"is no measure; pass one such as EER\(\)"):
            as_measure(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("scoring", [EER, EER(), FnmrAtFmr, FnmrAtFmr(0.1)])
def test_a_measure_in_place_of_a_scorer_says_what_to_pass(scoring: Callable[..., float]) -> None:
    class Model:
        def decision_function(self, X: object) -> None: ...

    with pytest.raises(InputError, match=r"not a scorer.*; pass scoring=pl\.evaluation\.EER\(\)\.scorer\(\)"):
        scoring(Model(), [], [])


@pytest.mark.parametrize("fmr", ["0.01", None, [0.1]])
def test_rates_that_are_no_numbers_are_refused(fmr: object) -> None:
    with pytest.raises(InputError, match="fmr must be a rate between 0 and 1, got"):
        FnmrAtFmr(fmr)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="fmr must be a rate between 0 and 1, got"):
        evaluation.threshold_at_fmr(Scores([0.0, 1.0], [-1, 1]), fmr)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "use",
    [
        lambda values: evaluation.interval(values, EER()),
        lambda values: evaluation.difference_interval(values, values, EER()),
        EER(),
        evaluation.det_curve,
        evaluation.cllr,
        evaluation.LogisticCalibration().fit,
        lambda values: evaluation.threshold_at_fmr(values, 0.1),
    ],
)
def test_values_without_labels_are_refused(use: Callable[[object], object]) -> None:
    for values in ([1.0, 2.0], np.ones(2), ([1.0], [1])):
        with pytest.raises(InputError, match=r"pass pl\.Scores\(values, labels\), not a (list|ndarray|tuple)"):
            use(values)


@pytest.mark.parametrize("fmr", [-0.1, 1.5, float("nan")])
def test_rates_out_of_range_are_refused(fmr: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        FnmrAtFmr(fmr)


# --------------------------------------------------------------------------- d', accuracy, what can be measured


def test_d_prime_of_normal_scores_gives_their_equal_error_rate() -> None:
    labels = np.repeat([1, -1], 200_000)
    scores = Scores(np.random.default_rng(0).normal(size=400_000) + 0.8 * labels, labels)
    assert d_prime(scores) == pytest.approx(1.6, abs=0.01)
    assert stats.norm.cdf(-d_prime(scores) / 2) == pytest.approx(equal_error_rate(scores), abs=0.003)


@unhurried
@given(seeds, st.floats(0.1, 10), st.floats(-5, 5))
def test_d_prime_does_not_depend_on_unit_or_origin(seed: int, unit: float, origin: float) -> None:
    scores = simulate(seed)
    moved = Scores(unit * scores.values + origin, scores.labels)
    assert d_prime(moved) == pytest.approx(d_prime(scores), rel=1e-9)
    assert d_prime(Scores(-scores.values, scores.labels)) == pytest.approx(-d_prime(scores), rel=1e-12)


def test_d_prime_refuses_what_has_none() -> None:
    with pytest.raises(InputError, match="two or more"):
        d_prime(Scores([1.0, 0.0, 0.5], [1, -1, -1]))
    with pytest.raises(InputError, match="no value"):
        d_prime(Scores([1.0, 1.0, 0.0, 0.0], [1, 1, -1, -1]))
    with pytest.raises(InputError, match="positive and negative"):
        d_prime(Scores([1.0, 1.0], [1, 1]))


@unhurried
@given(seeds, st.floats(-3, 3))
def test_accuracy_weighs_both_rates_by_their_pairs(seed: int, threshold: float) -> None:
    scores = simulate(seed)
    rates, share = rates_at(scores, threshold), np.mean(scores.labels > 0)
    assert accuracy_at(scores, threshold) == pytest.approx(1 - share * rates.fnmr - (1 - share) * rates.fmr)


def test_accuracy_takes_a_threshold_value_and_leaves_out_reflexive_pairs() -> None:
    scores = simulate(0)
    found = threshold_at_eer(scores)
    assert accuracy_at(scores, found) == accuracy_at(scores, found.value)  # type: ignore[arg-type]
    one = Scores([0.9, 0.1, 9.0], [1, -1, 1], left=[0, 0, 1], right=[1, 2, 1])
    assert accuracy_at(one, 0.95) == 0.5
    with pytest.raises(InputError, match="NaN"):
        accuracy_at(one, float("nan"))
    with pytest.raises(InputError, match="no pairs"):
        accuracy_at(one[2:], 0.5)


def test_rule_of_three() -> None:
    """Among independent pairs, no error of n refutes the rate 3/n at 95 %."""
    scores = Scores(np.zeros(301), np.append(np.full(300, -1), 1))
    assert measurable(scores, 0.01)
    assert not measurable(scores, 0.0099)
    assert measurable(scores, 0.0099).n_needed == 304
    assert not measurable(scores, 0.01, errors=30)
    assert stats.binom.pmf(0, 300, 0.01) < 0.05
    assert "is measurable" in str(measurable(scores, 0.5))
    for options, message in (({"fmr": 0.0}, "fmr must"), ({"fmr": 0.1, "errors": 0}, "errors must")):
        with pytest.raises(InputError, match=message):
            measurable(scores, **options)
