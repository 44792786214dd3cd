"""Intervals against repeated pairs, closed forms, exact binomial limits and simulations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, area_under_roc, det_curve, equal_error_rate, fnmr_at_fmr
from pairlearn.evaluation.intervals import det_band, difference_interval, interval
from pairlearn.evaluation.measures import EER, FmrAt, FnmrAt, Rate
from pairlearn.evaluation.resampling import (
    Statistic,
    WeightedCurve,
    cell_variance,
    influences,
    leave_out,
    placements,
    units_of,
)

unhurried = settings(deadline=None, max_examples=15)
seeds = st.integers(0, 2**32 - 1)
METHODS = ["bootstrap", "jackknife"]
RATES = [equal_error_rate, area_under_roc, partial(fnmr_at_fmr, fmr=0.1), FmrAt(1.0), FnmrAt(1.0)]


def simulate(seed: int, n: int = 12, k: int = 3, shift: float = 1.5) -> Scores:
    """All pairs of n identities with k examples each; values are rounded, so that ties are common."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n * k, 1)
    one, other = left // k, right // k
    effect = rng.normal(size=n)
    values = shift * (one == other) + 0.5 * (effect[one] + effect[other]) + rng.normal(size=len(left))
    return Scores(values.round(1), np.where(one == other, 1, -1), left, right, one, other)


def repeat_identities(scores: Scores, weights: np.ndarray) -> Scores:
    """The data with copies of identities as if they were new ones: each pair of copies is written down by itself."""
    rows = []
    for row, (one, other) in enumerate(zip(scores.left_identity, scores.right_identity, strict=True)):
        if one == other:
            rows += [row for _ in range(weights[one])]
        else:
            rows += [row for _ in range(weights[one]) for _ in range(weights[other])]
    return scores[np.array(rows, dtype=int)]


@unhurried
@given(seeds)
def test_weighted_curve_is_the_curve_of_repeated_pairs(seed: int) -> None:
    scores = simulate(seed, n=6)
    weights = np.random.default_rng(seed).integers(0, 4, 6)
    weights[:2] += 1
    pair_weights = units_of(scores, "identity").pair_weights(weights.astype(float))
    curve, twin = WeightedCurve.of(scores)(pair_weights), det_curve(repeat_identities(scores, weights))
    assert curve.equal_error_rate == twin.equal_error_rate
    assert curve.area_under_roc == pytest.approx(twin.area_under_roc, abs=1e-14)
    for fmr in (0.0, 0.01, 0.1, 0.5):
        assert curve.fnmr_at(fmr) == twin.fnmr_at(fmr)
    kept = np.isin(curve.thresholds, twin.thresholds)
    np.testing.assert_array_equal(curve.fmr[kept], twin.fmr)
    np.testing.assert_array_equal(curve.fnmr[kept], twin.fnmr)


@pytest.mark.parametrize("rate", RATES)
def test_quick_rates_equal_the_same_rates_of_repeated_scores(rate: Rate) -> None:
    scores = simulate(3, n=7, k=2)
    options = {"n_resamples": 50, "seed": 4, "method": "bootstrap"}
    quick, slow = (interval(scores, each, unit="pair", **options) for each in (rate, lambda repeated: rate(repeated)))
    assert quick.standard_error == pytest.approx(slow.standard_error, rel=1e-9)
    # Pairs have no cells; those of identities are summed for quick rates and measured with coins for others.
    quick, slow = (interval(scores, each, **options) for each in (rate, lambda repeated: rate(repeated)))
    assert quick.standard_error == pytest.approx(slow.standard_error, rel=0.4)


@pytest.mark.parametrize("rate", [area_under_roc, FmrAt(1.0), FnmrAt(1.0)])
def test_effects_of_units_are_known_or_learnt_from_many_resamples(rate: Rate) -> None:
    scores = simulate(3, n=30, k=2)
    options = {"n_resamples": 4000, "seed": 4, "method": "bootstrap"}
    quick, slow = (interval(scores, each, **options) for each in (rate, lambda repeated: rate(repeated)))
    assert (quick.low, quick.high) == pytest.approx((slow.low, slow.high), rel=0.1)


@pytest.mark.parametrize("rate", [area_under_roc, FmrAt(1.0), FnmrAt(1.0)])
def test_influences_are_derivatives_by_the_weights(rate: Rate) -> None:
    scores = simulate(0, n=5, k=2)
    placed = {FmrAt: influences(scores, 1.0)[0], FnmrAt: influences(scores, 1.0)[1]}
    exact = placed.get(type(rate), placements(scores))
    for pair in range(len(scores)):
        many = np.full(len(scores), 300)
        many[pair] += 1
        moved = rate(scores[np.repeat(np.arange(len(scores)), many)]) - rate(scores)
        assert moved == pytest.approx(exact[pair] / 300, rel=2e-2, abs=1e-9)


def test_jackknife_of_the_equal_error_rate_has_its_normal_theory_error() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, -1], [4000, 12_000])
    scores = Scores(rng.normal(size=16_000) + labels, labels)
    # With equal densities where FMR = FNMR = Φ(−1), the rate moves by the mean of both deviations.
    rate = stats.norm.cdf(-1)
    theory = np.sqrt(rate * (1 - rate) * (1 / 4000 + 1 / 12_000)) / 2
    assert interval(scores, equal_error_rate, unit="pair", method="jackknife").standard_error == pytest.approx(
        theory, rel=0.05
    )


def test_jackknife_of_a_mean_over_independent_pairs_is_the_textbook_standard_error() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=80), np.repeat([1, -1], 40)
    found = interval(Scores(values, labels), FnmrAt(0.3), method="jackknife", unit="pair")
    share = np.mean(values[:40] < 0.3)
    # Leaving out one of the 40 negative pairs changes nothing, so that (n − 1)/n is 79/80 and not 39/40.
    assert found.standard_error**2 == pytest.approx(share * (1 - share) / 39 * (79 / 80) * (40 / 39), rel=1e-12)


@pytest.mark.parametrize("rate", [FnmrAt(1.0), lambda scores: FnmrAt(1.0)(scores)])
def test_jackknife_over_identities_leaves_each_out_with_all_its_pairs(rate: Rate) -> None:
    """Positive pairs have no cells, so that nothing is subtracted."""
    scores = simulate(1, n=8)
    one, other = scores.left_identity, scores.right_identity
    left_out = [rate(scores[(one != who) & (other != who)]) for who in range(8)]
    brute = 7 / 8 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2)
    assert interval(scores, rate, method="jackknife").standard_error ** 2 == pytest.approx(brute, rel=1e-12)


def test_variance_at_a_threshold_is_the_two_way_formula() -> None:
    """Σ over couples of pairs that share an identity of their deviations' product: the definition, by brute force."""
    scores = simulate(5, n=9, k=2)
    negatives = scores[scores.labels < 0]
    deviations = (negatives.values >= 0.5) - np.mean(negatives.values >= 0.5)
    ids = np.column_stack([negatives.left_identity, negatives.right_identity])
    share = (ids[:, None, :, None] == ids[None, :, None, :]).any(axis=(2, 3))
    exact = deviations @ share @ deviations / len(negatives) ** 2
    found = interval(scores, FmrAt(0.5), method="jackknife")
    n, rest = 9, 1 - 2 / 9  # the jackknife enlarges what a unit adds by n/(n−2), and takes (n−1)/n of the squares
    sums = np.array([deviations[(ids == who).any(axis=1)].sum() for who in range(n)]) / len(negatives)
    cells = np.sum(sums**2) - exact
    assert found.standard_error**2 == pytest.approx((n - 1) / n * np.sum(sums**2) / rest**2 - cells, rel=1e-9)


def test_coins_measure_the_cells_that_the_closed_form_knows() -> None:
    scores = simulate(2, n=15)
    units, rng = units_of(scores, "identity"), np.random.default_rng(0)
    negative = (scores.labels < 0).astype(float)
    errors = negative * (scores.values >= 0.5)
    coins = Statistic(lambda weights: (errors @ weights) / (negative @ weights), negative[None, :])
    found = float(cell_variance(coins, units, 20_000, rng))
    deviations = errors - negative * errors.sum() / negative.sum()
    exact = np.sum(np.bincount(units.cells[negative > 0], deviations[negative > 0]) ** 2) / negative.sum() ** 2
    assert found == pytest.approx(exact, rel=0.1)
    assert leave_out(coins, units, rng).shape == (15,)


def test_bootstrap_and_jackknife_agree_with_many_identities() -> None:
    scores = simulate(0, n=60, k=3)
    for rate in RATES:
        one, other = (interval(scores, rate, method=method, n_resamples=400) for method in METHODS)
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.25)


@unhurried
@given(seeds, st.sampled_from(METHODS), st.sampled_from(RATES))
def test_limits_surround_the_estimate_and_levels_nest(seed: int, method: str, rate: Rate) -> None:
    scores = simulate(seed, n=8, k=2)
    wide, narrow = (interval(scores, rate, method=method, level=level, n_resamples=50) for level in (0.99, 0.8))
    assert wide.estimate == narrow.estimate == rate(scores)
    assert 0 <= wide.low <= narrow.low <= wide.estimate <= narrow.high <= wide.high <= 1
    assert wide.low < wide.high


@unhurried
@given(seeds, st.sampled_from(METHODS))
def test_order_of_pairs_and_sides_and_names_do_not_matter(seed: int, method: str) -> None:
    scores = simulate(seed, n=8, k=2)
    scores = replace(scores, values=scores.values + 1e-6 * np.random.default_rng(seed).random(len(scores)))
    shuffled = scores[np.random.default_rng(seed).permutation(len(scores))]
    names = np.array([f"person {who}" for who in range(8)])
    renamed = replace(
        shuffled, left_identity=names[shuffled.right_identity], right_identity=names[shuffled.left_identity]
    )
    for rate in RATES:
        one, other = (interval(each, rate, method=method, n_resamples=50) for each in (scores, renamed))
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_the_seed_decides() -> None:
    scores = simulate(0)
    one, same, other = (
        interval(scores, equal_error_rate, n_resamples=50, seed=seed, method="bootstrap") for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_intervals_over_identities_are_wider_than_over_pairs() -> None:
    scores = simulate(0, n=30)
    over = {unit: interval(scores, FmrAt(1.0), unit=unit, method="jackknife") for unit in ("identity", "pair")}
    assert over["identity"].standard_error > 3 * over["pair"].standard_error
    negatives = scores.negatives >= 1.0
    binomial = np.sqrt(np.mean(negatives) * (1 - np.mean(negatives)) / len(negatives))
    assert over["pair"].standard_error == pytest.approx(binomial, rel=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_no_errors_leave_room_as_exact_binomial_limits_do(method: str) -> None:
    scores = simulate(0, n=50, k=2, shift=100.0)
    options = {"method": method, "n_resamples": 50}
    one_sided = stats.binomtest(0, 50).proportion_ci(0.95, "exact").high
    assert interval(scores, FnmrAt(50.0), **options).high == pytest.approx(one_sided)
    half = stats.binomtest(0, 25).proportion_ci(0.95, "exact").high
    for rate in (FmrAt(50.0), equal_error_rate):
        found = interval(scores, rate, **options)
        assert (found.estimate, found.low, found.standard_error) == (0.0, 0.0, 0.0)
        assert found.high == pytest.approx(half)
    perfect = interval(scores, area_under_roc, **options)
    assert (perfect.low, perfect.high) == pytest.approx((1 - half, 1.0))
    independent = interval(scores, FmrAt(50.0), unit="pair", **options)
    n = len(scores.negatives)
    assert independent.high == pytest.approx(stats.binomtest(0, n).proportion_ci(0.95, "exact").high)


@pytest.mark.parametrize("method", METHODS)
def test_a_system_does_not_differ_from_itself(method: str) -> None:
    scores = simulate(0)
    for rate in RATES:
        found = difference_interval(scores, scores, rate, method=method)
        assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)


def test_the_same_order_has_the_same_curve_whatever_is_drawn() -> None:
    """Other units of the scores change no measure of their order, ties included; shares at a threshold they do."""
    scores = simulate(0)
    scores = replace(scores, values=scores.values.round(1))
    other = replace(scores, values=np.exp(scores.values))
    found = difference_interval(scores, other, EER())
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)
    apart = difference_interval(scores, other, FmrAt(1.0))
    assert apart.low < apart.high


@pytest.mark.parametrize("method", METHODS)
def test_difference_cancels_what_both_systems_share_and_changes_sign_when_swapped(method: str) -> None:
    scores = simulate(0, n=30)
    noise = 0.3 * np.random.default_rng(1).normal(size=len(scores))
    other = replace(scores, values=scores.values + noise)
    for rate in RATES:
        found = difference_interval(scores, other, rate, method=method, n_resamples=100)
        assert found.estimate == rate(scores) - rate(other)
        assert found.standard_error < interval(scores, rate, method=method, n_resamples=100).standard_error
        swapped = difference_interval(other, scores, rate, method="jackknife")
        assert swapped.estimate == -found.estimate


def test_two_flawless_systems_may_still_differ() -> None:
    scores, other = simulate(0, n=50, shift=100.0), simulate(1, n=50, shift=100.0)
    found = difference_interval(scores, other, FnmrAt(50.0), n_resamples=50)
    upper = stats.binomtest(0, 50).proportion_ci(0.95, "exact").high
    assert (found.low, found.high) == pytest.approx((-upper, upper))


@pytest.mark.parametrize("method", METHODS)
def test_band_has_the_interval_of_each_point(method: str) -> None:
    scores = simulate(0, n=20)
    band = det_band(scores, [0.01, 0.1, 0.3], method=method, n_resamples=60, seed=5)
    for at, fmr in enumerate(band.fmr):
        point = interval(scores, partial(fnmr_at_fmr, fmr=float(fmr)), method=method, n_resamples=60, seed=5)
        assert band.fnmr[at] == point.estimate
        # The bootstrap measures the cells of a band with coins.
        near = {"bootstrap": 0.3, "jackknife": 1e-9}[method]
        assert (band.low[at], band.high[at]) == pytest.approx((point.low, point.high), rel=near)
    whole = det_band(scores, method=method, n_resamples=60)
    assert len(whole.fmr) == 50
    assert np.all((whole.low <= whole.fnmr) & (whole.fnmr <= whole.high))


def test_many_units_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, -1], 2000)
    scores = Scores(rng.normal(size=4000) + labels, labels)
    found = interval(scores, area_under_roc, unit="pair", method="jackknife")
    # DeLong's variance: that of the placement values of both kinds.
    wins = (scores.positives[:, None] > scores.negatives).astype(float)
    exact = wins.mean(1).var(ddof=1) / 2000 + wins.mean(0).var(ddof=1) / 2000
    assert found.standard_error == pytest.approx(np.sqrt(exact), rel=1e-3)
    in_groups = interval(scores, lambda each: area_under_roc(each), unit="pair", method="jackknife")
    assert in_groups.standard_error == pytest.approx(np.sqrt(exact), rel=0.1)


def test_limits_bend_towards_where_few_units_make_most_errors() -> None:
    # Errors per identity, positive pairs inside identities only: effects are centred shares, nothing else plays a part.
    errors, size = np.array([9, 4, 1, 0, 1, 0, 2, 0, 1, 0, 3, 0]), 10
    who = np.repeat(np.arange(12), size)
    wrong = np.concatenate([np.arange(size) < count for count in errors])
    one, other = np.append(who, 0), np.append(who, 1)  # the last pair is negative, FNMR does not look at it
    scores = Scores(
        np.append(np.where(wrong, 0.0, 2.0), 0.0),
        np.where(one == other, 1, -1),
        left_identity=one,
        right_identity=other,
    )
    found = interval(scores, FnmrAt(1.0))
    shares = errors / size
    effects = shares - shares.mean()
    variance = np.sum(effects**2) / (12 * 11)
    kurtosis = 3 + 11 / 90 * (13 * (12 * np.sum(effects**4) / np.sum(effects**2) ** 2 - 3) + 6)
    t = stats.t(min(11, 24 / (kurtosis - 1))).ppf(0.975)
    a = np.sum(effects**3) / (6 * np.sum(effects**2) ** 1.5)
    p = shares.mean()
    s = np.sqrt(variance) / (p * (1 - p))
    assert 0.02 < a < 0.1
    wanted = [special.expit(special.logit(p) + way * t * s / (1 - way * a * t)) for way in (-1, 1)]
    np.testing.assert_allclose([found.low, found.high], wanted, rtol=1e-9)


def test_covers_the_truth_about_as_often_as_promised() -> None:
    """FNMR of 40 identities with 3 positive pairs each; the normal model has the rate in closed form."""
    held = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        one = np.repeat(np.arange(40), 3)
        values = np.append(rng.normal(size=40)[one] + rng.normal(size=120), np.zeros(40))
        other = np.append(one, (np.arange(40) + 1) % 40)
        scores = Scores(
            values,
            np.repeat([1, -1], [120, 40]),
            left_identity=np.append(one, np.arange(40)),
            right_identity=other,
        )
        found = interval(scores, FnmrAt(-1.0), method="jackknife")
        held.append(found.low <= stats.norm.cdf(-1 / np.sqrt(2)) <= found.high)
    assert 0.91 <= np.mean(held) <= 0.985


def test_missing_ids_say_what_to_give() -> None:
    bare = Scores([0.1, 0.4, 0.3, 0.8], [-1, 1, -1, 1])
    with pytest.raises(InputError, match=r"left_identity and right_identity.*give both columns.*unit='pair'"):
        interval(bare, equal_error_rate)
    with_examples = replace(bare, left=[0, 1, 2, 3], right=[1, 2, 3, 0])
    with pytest.raises(InputError, match="unit='example'"):
        interval(with_examples, equal_error_rate)
    with_identities = replace(bare, left_identity=[0, 1, 2, 3], right_identity=[1, 1, 3, 3])
    with pytest.raises(InputError, match=r"left and right, .*unit='identity'"):
        interval(with_identities, equal_error_rate, unit="example")
    assert interval(bare, equal_error_rate, unit="pair").n_units == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level must be between 0 and 1, got 1.0; try 0.95"),
        ({"level": 95}, "try 0.95"),
        ({"level": float("nan")}, "try 0.95"),
        ({"method": "magic"}, "method must be bootstrap or jackknife"),
        ({"unit": "class"}, "unit must be identity, example or pair"),
        ({"n_resamples": 3}, "n_resamples must be at least 50"),
    ],
)
def test_bad_options_say_what_to_do(options: dict[str, object], message: str) -> None:
    for call in (interval, partial(difference_interval, simulate(1))):
        with pytest.raises(InputError, match=message):
            call(simulate(0), equal_error_rate, **options)
    with pytest.raises(InputError, match=message):
        det_band(simulate(0), **options)


def test_bad_scores_say_what_to_do() -> None:
    scores = simulate(0)
    with pytest.raises(InputError, match="0 negative"):
        interval(scores[scores.labels > 0], equal_error_rate)
    alone = replace(scores, left_identity=np.zeros(len(scores)), right_identity=np.zeros(len(scores)))
    with pytest.raises(InputError, match="one identity says nothing about others"):
        interval(alone, equal_error_rate)
    with pytest.raises(InputError, match="the rate is 7"):
        interval(scores, lambda _: 7.0)
    few = scores[(scores.labels < 0) | (scores.left_identity == 0)]
    for rate in (equal_error_rate, FnmrAt(1.0)):
        with pytest.raises(InputError, match="one unit takes part in all positive"):
            interval(few, rate, method="jackknife")
    with pytest.raises(InputError, match="differ in labels"):
        difference_interval(scores, replace(scores, labels=-scores.labels), equal_error_rate)
    with pytest.raises(InputError, match="differ in left"):
        difference_interval(scores, replace(scores, left=None, right=None), equal_error_rate)
    with pytest.raises(InputError, match="one or more rates"):
        det_band(scores, [2.0])


def test_reflexive_pairs_are_left_out() -> None:
    scores = simulate(0)
    columns = {name: np.append(getattr(scores, name), [0, 1]) for name in ("left", "right")}
    ids = {name: np.append(getattr(scores, name), [0, 0]) for name in ("left_identity", "right_identity")}
    more = Scores(np.append(scores.values, [9.0, 9.0]), np.append(scores.labels, [1, 1]), **columns, **ids)
    assert interval(more, equal_error_rate, n_resamples=50) == interval(scores, equal_error_rate, n_resamples=50)


def test_degrees_of_freedom_follow_the_kurtosis_and_count_the_contributors() -> None:
    """One identity in 50 makes all errors: its variance has hardly any degree of freedom."""
    identity = np.repeat(np.arange(50), 4)
    positives = np.where(identity == 0, 0.0, 2.0)
    partner = np.arange(1, 50)
    scores = Scores(
        np.append(positives, np.zeros(49)),
        np.repeat([1, -1], [200, 49]),
        left_identity=np.append(identity, partner - 1),
        right_identity=np.append(identity, partner),
    )
    lonely = interval(scores, FnmrAt(1.0), method="jackknife")
    assert lonely.degrees == pytest.approx(2, abs=0.2)
    values = np.append(np.random.default_rng(0).normal(size=50)[identity], np.zeros(49))
    deviations = np.bincount(identity, values[:200] < -1.2) / 200 - np.mean(values[:200] < -1.2) / 50
    expected = 100 / (stats.kurtosis(deviations, bias=False) + 2)
    spread = interval(replace(scores, values=values), FnmrAt(-1.2), method="jackknife")
    assert spread.degrees == pytest.approx(min(expected, 49), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [3, 7, 11])
def test_identities_that_are_all_alike_are_counted(method: str, size: int) -> None:
    """One error in each: sums of influences cancel but for their last digits, which are no variance."""
    who = np.repeat(np.arange(12), size)
    one, other = np.append(who, np.arange(12)), np.append(who, (np.arange(12) + 1) % 12)
    labels = np.where(one == other, 1, -1)
    first, last = (np.append(np.tile(np.arange(size) != place, 12), np.zeros(12)) for place in (0, size - 1))
    scores, moved = (Scores(values, labels, left_identity=one, right_identity=other) for values in (first, last))
    found = interval(scores, FnmrAt(0.5), method=method, n_resamples=50)
    share = 12 / size
    exact = stats.beta.ppf([0.025, 0.975], [share, share + 1], [12 - share + 1, 12 - share])
    assert [found.estimate, found.standard_error] == [pytest.approx(1 / size), 0.0]
    np.testing.assert_allclose([found.low, found.high], exact)
    apart = difference_interval(scores, moved, FnmrAt(0.5), method=method, n_resamples=50)
    upper = stats.binomtest(0, 12).proportion_ci(0.95, "exact").high
    assert (apart.low, apart.high) == pytest.approx((-upper, upper))
