"""Posteriors of pairs against enumeration and simulation, Bayes DET curves against their theorems."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pairlearn import data
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, det_curve
from pairlearn.evaluation.bayes import (
    CHUNK,
    ClassPosteriors,
    at_prior,
    bayes_det,
    bayes_threshold,
    expected_rates,
    fnmr_on_line,
    interval_posteriors,
    orthant_posteriors,
    peaked_posteriors,
    risk,
)

unhurried = settings(deadline=None, max_examples=60)
# Posteriors in eighths: ties and the ends 0 and 1 are common; weights from 0 to 5.
weighted_pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=2, max_size=25).filter(
    lambda pairs: sum(p * w for p, w in pairs) > 0 and sum((8 - p) * w for p, w in pairs) > 0
)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(pairs, dtype=float)
    return array[:, 0] / 8, array[:, 1]


def random_posteriors(m: int, c: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(c, 0.5), size=m)


def enumerated(P: np.ndarray, u: int, v: int) -> float:
    """Over all couples of classes, one for each example."""
    couples = itertools.product(range(P.shape[1]), repeat=2)
    return sum(P[u, a] * P[v, b] for a, b in couples if a == b)


# --------------------------------------------------------------------------- posteriors of pairs


@unhurried
@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_pairs_of_a_matrix_by_enumeration(m: int, c: int, seed: int) -> None:
    P = random_posteriors(m, c, seed)
    expected = np.array([[enumerated(P, u, v) for v in range(m)] for u in range(m)])
    u, v = (index.ravel() for index in np.indices((m, m)))
    for found in (ClassPosteriors.of(P), ClassPosteriors.of(sparse.csr_array(P))):
        np.testing.assert_allclose(found.matrix(), expected, rtol=1e-11)
        np.testing.assert_allclose(found.same(u, v).reshape(m, m), expected, rtol=1e-11)
        np.testing.assert_array_equal(found.same(u, v), found.same(v, u))


@unhurried
@given(st.integers(2, 7), st.data())
def test_absent_classes_are_dropped_and_the_others_renormalised(c: int, data: st.DataObject) -> None:
    P = random_posteriors(5, c, seed=c)
    present = sorted(data.draw(st.sets(st.integers(0, c - 1), min_size=1)))
    Q = P[:, present] / P[:, present].sum(axis=1, keepdims=True)
    for posteriors in (ClassPosteriors.of(P), ClassPosteriors.of(sparse.csr_array(P))):
        found = posteriors.among(np.repeat(present, 2))
        assert found.n_classes == len(present)
        np.testing.assert_allclose(found.matrix(), Q @ Q.T, rtol=1e-11)


def test_the_examples_of_the_thesis() -> None:
    u = ClassPosteriors.of([[0.6, 0.2, 0.2], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(u.same([0, 0, 1, 2], [0, 1, 1, 2]), [0.44, 0.6, 1.0, 1 / 3], rtol=1e-11)
    abcd = ClassPosteriors.of([[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.7, 0.1, 0.2], [0.7, 0.3, 0.0]], classes=[1, 2, 3])
    np.testing.assert_allclose(abcd.same([0, 2], [1, 3]), [0.26, 0.52], rtol=1e-11)
    np.testing.assert_allclose(abcd.among([2, 3]).same([0, 2], [1, 3]), [0.625, 1 / 3], rtol=1e-11)


@pytest.mark.parametrize(("p1", "p2"), [(0.5, 0.85), (0.0, 0.3), (0.2, 0.2), (0.5, 1.0), (1.0, 1.0)])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_orthants_without_listing_classes_equal_the_list(n: int, p1: float, p2: float) -> None:
    X, classes = data.disturbed_orthant(2 ** (n - 1), 4, n, p1, p2, seed=1)
    listed = data.disturbed_orthant_posterior(X, p1, p2)
    np.testing.assert_allclose(listed.sum(axis=1), 1.0, rtol=1e-12)
    found = orthant_posteriors(X, p1, p2)
    np.testing.assert_allclose(found.matrix(), listed @ listed.T, rtol=1e-10, atol=1e-15)
    some = np.unique(classes)[::2]
    own = np.isin(classes, some) & (listed[:, some].sum(axis=1) > 0)
    Q = listed[own][:, some] / listed[own][:, some].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(orthant_posteriors(X[own], p1, p2).among(some).matrix(), Q @ Q.T, rtol=1e-10, atol=1e-15)


def test_the_largest_orthant_by_exact_fractions() -> None:
    n = 63
    X = np.full((3, n), 0.5)
    X[2, 5] = -0.5
    p, others = 0.35 / 0.5, 2**62 - 1
    q = (1 - Fraction(p)) / others
    together, apart = Fraction(p) ** 2 + others * q**2, 2 * Fraction(p) * q + (others - 1) * q**2
    expected = [float(together), float(apart)]
    np.testing.assert_allclose(orthant_posteriors(X).same([0, 0], [1, 2]), expected, rtol=1e-11)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 11, 12, 40])
def test_intervals_equal_the_list(n: int) -> None:
    X, classes = data.disturbed_single_interval(n, 3, n, seed=n)
    listed = data.disturbed_single_interval_posterior(X)
    found = interval_posteriors(X)
    np.testing.assert_allclose(found.matrix(), listed @ listed.T, rtol=1e-11)
    half = classes[: len(classes) // 6 * 3 + 3]
    Q = listed[: len(half)][:, np.unique(half)]
    Q /= Q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(interval_posteriors(X[: len(half)]).among(half).matrix(), Q @ Q.T, rtol=1e-11)


def test_equal_posteriors_stay_ties() -> None:
    starts = np.arange(40)
    found = interval_posteriors(np.where(starts == starts[:, None], 1.0, -1.0))
    # Only the distance of the two starts counts, also across the seam of the circle: 0, …, 10 and too far.
    assert len(np.unique(found.same(*np.indices((40, 40)).reshape(2, -1)))) == 12
    X, _ = data.disturbed_orthant(50, 4, 9, seed=0)
    assert len(np.unique(orthant_posteriors(X).matrix())) == 6


def test_many_pairs_come_in_chunks() -> None:
    P = ClassPosteriors.of(random_posteriors(30, 4, seed=0))
    u, v = np.random.default_rng(0).integers(30, size=(2, 2 * CHUNK + 7))
    np.testing.assert_allclose(P.same(u, v), P.matrix()[u, v], rtol=1e-11)


# --------------------------------------------------------------------------- agreement with the generators

TASKS: dict[str, tuple[Callable[..., tuple[np.ndarray, np.ndarray]], Callable[..., ClassPosteriors], int, int]] = {
    "orthant": (data.disturbed_orthant, orthant_posteriors, 4, 8),
    "interval": (data.disturbed_single_interval, interval_posteriors, 14, 14),
}


def agrees(posteriors: np.ndarray, same: np.ndarray, n_bins: int = 20) -> bool:
    """Share of "same" in bins of the posterior: all within 4.5 standard deviations of the mean posterior."""
    order = np.argsort(posteriors, kind="stable")
    for part in np.array_split(order, n_bins):
        expected, variance = posteriors[part].sum(), (posteriors[part] * (1 - posteriors[part])).sum()
        if abs(same[part].sum() - expected) > 4.5 * np.sqrt(variance) + 1e-6:
            return False
    return True


@pytest.mark.parametrize("n_present", [None, 3])
@pytest.mark.parametrize("task", TASKS)
def test_pairs_are_positive_as_often_as_the_posterior_says(task: str, n_present: int | None) -> None:
    draw, posteriors_of, n, available = TASKS[task]
    n_classes, epcr = n_present or available, 60_000 // (n_present or available)
    X, classes = draw(n_classes, epcr, n, seed=3)
    # Every example is in one pair only, so that pairs are as good as independent.
    left, right = np.random.default_rng(0).permutation(len(X) // 2 * 2).reshape(2, -1)
    P = posteriors_of(X)
    found = (P if n_present is None else P.among(classes)).same(left, right)
    found = at_prior(found, 1 / n_classes, (epcr - 1) / (len(X) - 1))
    same = classes[left] == classes[right]
    assert agrees(found, same)
    if n_present is not None:
        assert not agrees(P.same(left, right), same)
    # The expected curve is the curve of the draw, up to noise.
    grid = np.linspace(0, 1, 50)
    gap = fnmr_on_line(bayes_det(found), grid) - fnmr_on_line(det_curve(Scores(found, np.where(same, 1, -1))), grid)
    assert np.abs(gap).max() < 0.05


def test_checker_board_differences_are_positive_as_often_as_the_posterior_says() -> None:
    X, classes = data.checker_board(9, 8000, s=3, seed=0)
    left, right = np.random.default_rng(1).permutation(len(X)).reshape(2, -1)
    found = data.checker_board_difference_posterior(X[left] - X[right], s=3)
    assert agrees(at_prior(found, 1 / 9, 7999 / (len(X) - 1)), classes[left] == classes[right])


@pytest.mark.parametrize("n_classes", [8, 64])
def test_the_expected_curve_of_all_orthants_in_closed_form(n_classes: int) -> None:
    """Six kinds of pairs: two clear, one clear or no clear example, the same or another visible class."""
    n, p1, p = int(np.log2(n_classes)) + 1, 0.5, 0.7
    q = (1 - p) / (n_classes - 1)
    values = [1, 0, p, q, p * p + (n_classes - 1) * q * q, 2 * p * q + (n_classes - 2) * q * q]
    sizes = np.repeat([p1**2, 2 * p1 * (1 - p1), (1 - p1) ** 2], 2) * np.tile([1, n_classes - 1], 3) / n_classes
    exact = bayes_det(values, sizes)
    assert np.dot(values, sizes) == pytest.approx(1 / n_classes)
    X, _ = data.disturbed_orthant(n_classes, 1600 // n_classes, n, seed=0)
    u, v = np.triu_indices(len(X), 1)
    prior = (1600 // n_classes - 1) / (len(X) - 1)
    drawn = bayes_det(at_prior(orthant_posteriors(X).same(u, v), 1 / n_classes, prior))
    grid = np.linspace(0, 1, 100)
    np.testing.assert_allclose(fnmr_on_line(drawn, grid), fnmr_on_line(exact, grid), atol=0.03)


@pytest.mark.parametrize("task", TASKS)
def test_interexample_becomes_interclass_as_classes_are_added(task: str) -> None:
    draw, posteriors_of, _, _ = TASKS[task]
    n, available = {"orthant": (9, 256), "interval": (256, 256)}[task]
    distances = []
    for seed in range(5):
        X, classes = draw(16, 8, n, seed=seed)
        absent = np.setdiff1d(np.arange(available), classes)
        order = np.append(np.unique(classes), np.random.default_rng(seed).permutation(absent))
        P = posteriors_of(X)
        P_all = P.matrix()
        distances.append([np.abs(P.among(order[:k]).matrix() - P_all).mean() for k in (16, 64, 192, 256)])
    means = np.mean(distances, axis=0)
    assert np.all(np.diff(means) < 0)
    assert means[-1] < 1e-11


# --------------------------------------------------------------------------- curves and risks


@unhurried
@given(weighted_pairs)
def test_the_curve_counts_every_pair_as_both_kinds(pairs: list[tuple[int, int]]) -> None:
    """Whole numbers of positives and negatives in place of shares: the curve that they have by counting."""
    curve = bayes_det(*columns(pairs))
    positives = [p / 8 for p, w in pairs for _ in range(p * w)]
    negatives = [p / 8 for p, w in pairs for _ in range((8 - p) * w)]
    counted = det_curve(Scores([*positives, *negatives], [1] * len(positives) + [-1] * len(negatives)))
    np.testing.assert_array_equal(curve.thresholds, counted.thresholds)
    np.testing.assert_allclose(curve.fmr, counted.fmr, atol=1e-14)
    np.testing.assert_allclose(curve.fnmr, counted.fnmr, atol=1e-14)


@unhurried
@given(weighted_pairs)
def test_the_curve_is_convex_and_strictly_monotone(pairs: list[tuple[int, int]]) -> None:
    curve = bayes_det(*columns(pairs))
    assert (curve.fmr[0], curve.fnmr[0], curve.fmr[-1], curve.fnmr[-1]) == (1, 0, 0, 1)
    falls, rises = -np.diff(curve.fmr), np.diff(curve.fnmr)
    inside = (curve.thresholds[:-1] > 0) & (curve.thresholds[:-1] < 1)
    assert np.all(falls[inside] > 0)
    assert np.all(rises[inside] > 0)
    # The slope −ΔFNMR/ΔFMR grows with the threshold: later steps turn to the left.
    assert np.all(falls[:-1] * rises[1:] - falls[1:] * rises[:-1] > -1e-14)


@unhurried
@given(weighted_pairs, st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1 / 3, 1.0, 2.5, 7.0]))
def test_no_rule_beats_the_bayes_rule(pairs: list[tuple[int, int]], seed: int, d: float) -> None:
    rng = np.random.default_rng(seed)
    posteriors, weights = columns(pairs)
    positive = posteriors @ weights / weights.sum()

    def risk_of(accepted: np.ndarray) -> float:
        return risk(expected_rates(posteriors, accepted, weights), positive, d)

    best = risk_of(posteriors >= bayes_threshold(d))
    direct = weights @ np.minimum(d * posteriors, 1 - posteriors) / weights.sum()
    assert best == pytest.approx(direct, abs=1e-14)
    assert best == pytest.approx(risk_of(posteriors > bayes_threshold(d)), abs=1e-14)  # at the threshold both are best
    curve = bayes_det(posteriors, weights)
    for accepted in (rng.random(len(pairs)), rng.random(len(pairs)) < 0.5, posteriors >= rng.random()):
        assert risk_of(accepted) >= best - 1e-14
        rates = expected_rates(posteriors, accepted, weights)
        assert rates.fnmr >= fnmr_on_line(curve, rates.fmr) - 1e-12  # no point below the curve


def test_the_risk_without_weights_is_the_share_of_errors() -> None:
    posteriors, accepted = np.array([0.1, 0.4, 0.8]), np.array([0, 1, 1])
    errors = np.mean([0.1, 0.6, 0.2])
    assert risk(expected_rates(posteriors, accepted), posteriors.mean()) == pytest.approx(errors)


@unhurried
@given(weighted_pairs, st.floats(0.01, 0.99))
def test_another_share_of_positives_leaves_the_curve(pairs: list[tuple[int, int]], new: float) -> None:
    posteriors, weights = columns(pairs)
    old = posteriors @ weights / weights.sum()
    moved = at_prior(posteriors, old, new)
    again = weights * (posteriors * new / old + (1 - posteriors) * (1 - new) / (1 - old))
    assert moved @ again / again.sum() == pytest.approx(new)
    one, other = bayes_det(posteriors, weights), bayes_det(moved, again)
    np.testing.assert_allclose(other.fmr, one.fmr, atol=1e-12)
    np.testing.assert_allclose(other.fnmr, one.fnmr, atol=1e-12)
    np.testing.assert_allclose(at_prior(moved, new, old), posteriors, atol=1e-12)


def test_the_line_takes_the_smallest_fnmr_where_fmr_stays() -> None:
    curve = bayes_det([0.0, 0.5, 1.0])
    assert fnmr_on_line(curve, [0.0, 1.0]).tolist() == [pytest.approx(1 / 3), 0.0]


# --------------------------------------------------------------------------- complaints


def test_bad_input_is_refused_with_advice() -> None:
    P = ClassPosteriors.of([[0.5, 0.5, 0.0]])
    for action, message in {
        lambda: ClassPosteriors.of([0.5, 0.5]): "one row per example",
        lambda: ClassPosteriors.of([[0.5, 0.6]]): "sum to one",
        lambda: ClassPosteriors.of([[1.5, -0.5]]): "sum to one",
        lambda: ClassPosteriors.of([[0.5, 0.5]], classes=[1, 1]): "each of the 2 columns",
        lambda: P.among([]): "some of the 3 classes",
        lambda: P.among([0, 7]): "some of the 3 classes",
        lambda: P.among([2]): "example 0 cannot be of any",
        lambda: P.same([0], [0, 0]): "two columns",
        lambda: P.same([0], [-1]): "0 or more",
        lambda: peaked_posteriors([0, 1, 2], 0.5, 2): "count unseen",
        lambda: peaked_posteriors([0, 1], 1.5, 2): "between 0 and 1",
        lambda: orthant_posteriors([[-0.5, 0.5]]): "first column",
        lambda: interval_posteriors([[1.0, -1.0, 1.0]]): "one interval",
        lambda: at_prior([0.5], 0.0, 0.5): "strictly between",
        lambda: bayes_det([0.5, 1.5]): "probabilities",
        lambda: bayes_det([0.5, np.nan]): "probabilities",
        lambda: bayes_det([1.0, 1.0]): "both kinds",
        lambda: bayes_det([0.5, 0.5], [1.0]): "one per pair",
        lambda: bayes_det([0.5, 0.5], [1.0, -1.0]): "not negative",
        lambda: expected_rates([0.5], [2.0]): "one probability per pair",
    }.items():
        with pytest.raises(InputError, match=message):
            action()
