"""Thresholds against brute force, exact binomial limits, the two-way variance and a simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, rates_at
from pairlearn.evaluation.resampling import earlier_equals, influences, units_of
from pairlearn.evaluation.thresholds import (
    Threshold,
    _tally,
    fmr_limits,
    threshold_at_eer,
    threshold_at_fmr,
    threshold_by_cost,
)

unhurried = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def simulate(seed: int, n: int = 12, k: int = 3, effect: float = 0.5, decimals: int = 1) -> Scores:
    """All pairs of n identities with k examples each; values are rounded, so that ties are common."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n * k, 1)
    one, other = left // k, right // k
    a = effect * rng.normal(size=n)
    values = 1.5 * (one == other) + a[one] + a[other] + rng.normal(size=len(left))
    return Scores(values.round(decimals), np.where(one == other, 1, -1), left, right, one, other)


def candidates(scores: Scores) -> list[float]:
    values = np.unique(scores.values)
    return [*values, np.nextafter(values[-1], np.inf)]


# --------------------------------------------------------------------------- plain rules


@unhurried
@given(seeds, st.floats(0, 1))
def test_plain_threshold_is_the_smallest_that_meets_the_rate(seed: int, fmr: float) -> None:
    scores = simulate(seed, n=5)
    found = threshold_at_fmr(scores, fmr)
    brute = next(value for value in candidates(scores) if rates_at(scores, value).fmr <= fmr)
    assert found.value == brute
    assert (found.fmr, found.fnmr) == rates_at(scores, brute)
    assert found.confidence is None


@unhurried
@given(seeds)
def test_equal_error_threshold_has_the_smallest_larger_rate(seed: int) -> None:
    scores = simulate(seed, n=5)
    found = threshold_at_eer(scores)
    brute = min((max(rates_at(scores, value)), sum(rates_at(scores, value))) for value in candidates(scores))
    assert (max(found.fmr, found.fnmr), found.fmr + found.fnmr) == brute
    assert (found.fmr, found.fnmr) == rates_at(scores, found.value)


@unhurried
@given(seeds, st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_no_threshold_costs_less(seed: int, miss: float, false_match: float, prior: float) -> None:
    scores = simulate(seed, n=5)
    found = threshold_by_cost(scores, miss, false_match, prior)

    def cost(value: float) -> float:
        rates = rates_at(scores, value)
        return prior * miss * rates.fnmr + (1 - prior) * false_match * rates.fmr

    assert cost(found.value) == pytest.approx(min(map(cost, candidates(scores))), rel=1e-12)


def test_cost_threshold_of_likelihood_ratios_is_the_bayes_threshold() -> None:
    """Of normal scores ±1 the log-likelihood ratio is 2s, so accept when 2s ≥ log of the odds of costs and priors."""
    labels = np.repeat([1, -1], 200_000)
    scores = Scores(np.random.default_rng(0).normal(size=400_000) + labels, labels)
    found = threshold_by_cost(scores, miss=2.0, false_match=3.0, prior=0.3)
    assert found.value == pytest.approx(0.5 * np.log(0.7 * 3 / (0.3 * 2)), abs=0.05)


def test_reflexive_pairs_do_not_count() -> None:
    scores = simulate(0)
    n = len(scores)
    more = Scores(
        np.append(scores.values, np.full(9, 50.0)),
        np.append(scores.labels, np.full(9, 1)),
        *(np.append(column, np.zeros(9, dtype=int)) for column in (scores.left, scores.right)),
        *(np.append(column, np.zeros(9, dtype=int)) for column in (scores.left_identity, scores.right_identity)),
    )
    assert len(more) == n + 9
    assert threshold_at_fmr(more, 0.1) == threshold_at_fmr(scores, 0.1)
    assert threshold_at_fmr(more, 0.5, confidence=0.9) == threshold_at_fmr(scores, 0.5, confidence=0.9)


# --------------------------------------------------------------------------- limits


@given(st.lists(st.integers(0, 5), max_size=40))
def test_earlier_counts_equals(entries: list[int]) -> None:
    brute = [entries[:place].count(entry) for place, entry in enumerate(entries)]
    assert earlier_equals(np.array(entries, dtype=int)).tolist() == brute


@unhurried
@given(seeds)
def test_variance_of_all_thresholds_is_that_of_each(seed: int) -> None:
    """One pass over the errors against the sums over units and cells at each threshold by itself."""
    scores = simulate(seed, n=8, k=2)
    negatives = scores[scores.labels < 0]
    negatives = negatives[np.argsort(-negatives.values, kind="stable")]
    units, n = units_of(negatives, "identity"), 8
    p, variance, _ = _tally(units, np.arange(len(negatives)), 0.0)
    some_positive = Scores([99.0], [1], [90], [91], [0], [0])
    for errors in (1, 3, 10, len(negatives) - 5):
        if negatives.values[errors - 1] == negatives.values[errors]:
            continue
        both = Scores(
            *(np.append(getattr(negatives, name), getattr(some_positive, name)) for name in ("values", "labels"))
        )
        psi = influences(both, negatives.values[errors - 1])[0][:-1]
        sums, cells = units.sums(psi) / (1 - 2 / n), np.bincount(units.cells, psi)
        brute = (n - 1) / n * (sums @ sums) - cells @ cells
        assert p[errors - 1] == pytest.approx(errors / len(negatives))
        assert variance[errors - 1] == pytest.approx(max(brute, cells @ cells), rel=1e-9)


def test_worst_unit_is_counted_more_often() -> None:
    """Errors at the pairs (0, 1), (0, 2), (3, 4), and all pairs of five identities: unit 0 has two errors of four."""
    left, right = np.triu_indices(5, 1)
    values = np.isin(5 * left + right, [1, 2, 19]) * (10.0 - np.arange(10))
    scores = Scores(values, np.full(10, -1), left_identity=left, right_identity=right)
    order = np.argsort(-values, kind="stable")
    p, _, _ = _tally(units_of(scores, "identity"), order[:3], 2.0)
    np.testing.assert_allclose(p, [(1 + 2 * 1) / 18, (2 + 2 * 2) / 18, (3 + 2 * 2) / 18])


def test_limits_of_independent_pairs_are_clopper_and_pearsons() -> None:
    rng = np.random.default_rng(0)
    scores = Scores(rng.normal(size=3000), np.repeat([1, -1], [500, 2500]))
    limits = fmr_limits(scores, 0.95, unit="pair", most=0.1)
    for at in (0, 3, 30, 200):
        errors = round(limits.fmr[at] * 2500)
        exact = stats.beta.ppf(0.95, errors + 1, 2500 - errors)
        assert limits.high[at] == pytest.approx(exact, rel=0.02)
    assert limits.none == pytest.approx(1 - 0.05 ** (1 / 2500))


@unhurried
@given(seeds, st.sampled_from(["identity", "example", "pair"]))
def test_limits_lie_above_the_rates_and_rise_with_confidence(seed: int, unit: str) -> None:
    scores = simulate(seed, n=10)
    low, high = (fmr_limits(scores, confidence, unit=unit) for confidence in (0.7, 0.99))
    assert np.all(low.high >= low.fmr)
    assert np.all(high.high >= low.high - 1e-9)
    assert np.all(high.high <= 1)
    assert low.none < high.none


# --------------------------------------------------------------------------- promises


@unhurried
@given(seeds)
def test_promised_threshold_is_the_lowest_below_which_the_limit_fails(seed: int) -> None:
    scores = simulate(seed, n=15, effect=0.3, decimals=2)
    limits = fmr_limits(scores, 0.9)
    found = threshold_at_fmr(scores, 0.3, confidence=0.9)
    met = limits.values >= found.value
    assert np.all(limits.high[met] <= 0.3)
    assert limits.high[~met][0] > 0.3
    assert found.fmr_limit == limits.high[met].max()
    assert (found.fmr, found.fnmr) == rates_at(scores, found.value)
    assert (found.confidence, found.unit, found.n_units) == (0.9, "identity", 15)


@unhurried
@given(seeds)
def test_stricter_promises_have_higher_thresholds(seed: int) -> None:
    scores = simulate(seed, n=15, effect=0.3, decimals=3)
    values = [threshold_at_fmr(scores, 0.4).value]
    values += [threshold_at_fmr(scores, 0.4, confidence=confidence).value for confidence in (0.6, 0.9, 0.99)]
    assert values == sorted(values)
    assert values[-1] <= threshold_at_fmr(scores, 0.35, confidence=0.99).value


@unhurried
@given(seeds)
def test_order_of_pairs_and_sides_and_names_do_not_matter(seed: int) -> None:
    scores = simulate(seed, n=15, decimals=8)
    shuffled = scores[np.random.default_rng(seed).permutation(len(scores))]
    names = np.array([f"person {who}" for who in range(15)])
    renamed = replace(
        shuffled, left_identity=names[shuffled.right_identity], right_identity=names[shuffled.left_identity]
    )
    one, other = (threshold_at_fmr(each, 0.4, confidence=0.9) for each in (scores, renamed))
    assert one.value == other.value
    assert one.fmr_limit == pytest.approx(other.fmr_limit, rel=1e-9)


def test_no_error_is_worth_the_counted_limit() -> None:
    """Negative pairs that all score the same allow either no error or all of them."""
    left, right = np.triu_indices(200, 1)
    scores = Scores(
        np.append(np.zeros(len(left)), [1.0, 1.0]),
        np.append(np.full(len(left), -1), [1, 1]),
        left_identity=np.append(left, [0, 1]),
        right_identity=np.append(right, [0, 1]),
    )
    limit = 1 - 0.1 ** (1 / 100)  # 200 identities are worth 100 independent pairs between them
    found = threshold_at_fmr(scores, 0.03, confidence=0.9)
    assert (found.value, found.fmr, found.fnmr) == (1.0, 0.0, 0.0)
    assert found.fmr_limit == pytest.approx(limit)
    with pytest.raises(InputError, match=rf"lowest FMR that can be promised is {limit:.3g}"):
        threshold_at_fmr(scores, 0.02, confidence=0.9)


def test_lowest_promise_named_in_the_error_can_be_had() -> None:
    scores = simulate(1, n=20)
    with pytest.raises(InputError, match=r"1,710 negative pairs of 20 identities; the lowest FMR") as caught:
        threshold_at_fmr(scores, 1e-4, confidence=0.95)
    lowest = float(str(caught.value).split("promised is ")[1].split(":")[0])
    assert lowest < fmr_limits(scores, 0.95).none
    assert threshold_at_fmr(scores, 1.01 * lowest, confidence=0.95).fmr_limit <= 1.01 * lowest


def test_promise_is_kept_where_plain_and_pairwise_thresholds_break_it() -> None:
    """Sixty identities with normal effects: the true FMR of a threshold has a closed form."""
    kept: dict[str, list[bool]] = {"identity": [], "pair": [], "plain": []}
    one, other = np.triu_indices(60, 1)
    positive = {"left_identity": np.append(one, 0), "right_identity": np.append(other, 0)}
    for seed in range(250):
        rng = np.random.default_rng(seed)
        a = 0.6 * rng.normal(size=60)
        values = np.append(a[one] + a[other] + rng.normal(size=len(one)), 9.0)
        scores = Scores(values, np.append(np.full(len(one), -1), 1), **positive)
        for name, options in (
            ("identity", {"confidence": 0.9}),
            ("pair", {"confidence": 0.9, "unit": "pair"}),
            ("plain", {}),
        ):
            found = threshold_at_fmr(scores, 0.05, **options)
            kept[name].append(stats.norm.sf(found.value, scale=np.sqrt(1 + 2 * 0.36)) <= 0.05)
    assert np.mean(kept["identity"]) >= 0.87
    assert np.mean(kept["pair"]) <= 0.75
    assert np.mean(kept["plain"]) <= 0.65


# --------------------------------------------------------------------------- values and errors


def test_threshold_is_a_number_and_a_sentence() -> None:
    promised = Threshold(1.5, "FMR at most 0.01", 0.004, 0.1, 0.95, 0.0098, "identity", 50)
    assert float(promised) == 1.5
    assert str(promised).endswith("true FMR at most 0.0098 with 95 % confidence")


def test_limits_stand_at_every_threshold_with_a_false_match() -> None:
    scores = simulate(0)
    limits = fmr_limits(scores, 0.9)
    assert limits.values.tolist() == sorted(set(scores.negatives), reverse=True)
    assert limits.fmr.tolist() == [rates_at(scores, value).fmr for value in limits.values]
    assert limits.n_units == len({*scores.left_identity.tolist(), *scores.right_identity.tolist()})
    strict = fmr_limits(scores, 0.9, most=0.2)
    kept = limits.fmr <= 0.2
    assert 0 < kept.sum() < len(kept)
    assert (strict.values.tolist(), strict.high.tolist()) == (limits.values[kept].tolist(), limits.high[kept].tolist())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: threshold_at_fmr(s, 1.5), "fmr must be a rate"),
        (lambda s: threshold_at_fmr(s, 0.1, confidence=1.0), "between 0.5 and 1"),
        (lambda s: threshold_at_fmr(s, 0.1, confidence=0.9, unit="person"), "unit must be"),
        (lambda s: threshold_at_fmr(replace(s, left_identity=None, right_identity=None), 0.1, confidence=0.9), "give"),
        (lambda s: threshold_by_cost(s, 0.0, 1.0, 0.5), "costs must be"),
        (lambda s: threshold_by_cost(s, 1.0, 1.0, 1.0), "prior is"),
        (lambda s: threshold_at_fmr(s[s.labels > 0], 0.1, confidence=0.9), "negative"),
    ],
)
def test_errors_say_what_to_do(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(simulate(0))  # type: ignore[operator]


def test_too_few_identities_are_refused() -> None:
    with pytest.raises(InputError, match="3 of unit identity say nothing"):
        threshold_at_fmr(simulate(0, n=3), 0.1, confidence=0.9)


@pytest.mark.parametrize("unit", ["identity", "example"])
def test_one_identity_in_all_negative_pairs_promises_nothing_about_others(unit: str) -> None:
    values = np.append(np.random.default_rng(0).normal(size=500), [5.0, 6.0])
    one, other = np.zeros(502, dtype=int), np.append(np.arange(1, 501), [0, 0])
    side = np.append(np.arange(1, 501), [501, 502])
    scores = Scores(values, np.repeat([-1, 1], [500, 2]), one, side, one, other)
    with pytest.raises(InputError, match=f"one {unit} takes part in all negative pairs.*unit='pair'"):
        threshold_at_fmr(scores, 0.01, confidence=0.95, unit=unit)
    assert threshold_at_fmr(scores, 0.05, confidence=0.95, unit="pair").fmr_limit <= 0.05
