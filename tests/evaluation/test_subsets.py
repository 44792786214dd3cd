"""Folds and subgroups against brute force and the definitions."""

from __future__ import annotations

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pairlearn.errors import InputError
from pairlearn.evaluation import (
    Scores,
    accuracy_at,
    accuracy_over_folds,
    equal_error_rate,
    fnmr_at_fmr,
    over_folds,
    pair_groups,
    rates_at,
    rates_by_group,
)

unhurried = settings(deadline=None, max_examples=40)
seeds = st.integers(0, 2**32 - 1)


def simulate(seed: int, n: int = 60, decimals: int = 1) -> Scores:
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n) % 3 == 0, 1, -1)
    values = (rng.normal(size=n) + labels).round(decimals)
    return Scores(values, labels, rng.integers(0, 8, n), rng.integers(8, 16, n))


@unhurried
@given(seeds, st.sampled_from([0, 1, 6]))
def test_fold_thresholds_are_the_most_accurate_on_the_other_folds(seed: int, decimals: int) -> None:
    scores = simulate(seed, decimals=decimals)
    folds = np.arange(len(scores)) // 15
    found = accuracy_over_folds(scores, folds)
    for fold, (threshold, accuracy) in enumerate(zip(found.thresholds, found.values, strict=True)):
        others = scores[folds != fold]
        tried = [*np.unique(others.values), np.inf]
        assert accuracy_at(others, threshold) == pytest.approx(max(accuracy_at(others, each) for each in tried))
        assert accuracy == accuracy_at(scores[folds == fold], threshold)
    assert found.mean == pytest.approx(np.mean(found.values))
    assert found.standard_error == pytest.approx(stats.sem(found.values))


def test_extreme_folds_accept_or_reject_all() -> None:
    labels = np.array([1, 1, 1, -1, 1, 1, 1, -1])
    folds = np.arange(8) // 4
    values = np.array([1.0, 2.0, 3.0, 9.0] * 2)  # the wrong way round: accepting all is best
    assert accuracy_over_folds(Scores(values, labels), folds).values.tolist() == [0.75, 0.75]
    assert accuracy_over_folds(Scores(-values[::-1], -labels[::-1]), folds).values.tolist() == [0.75, 0.75]


def test_adjacent_floats_have_no_middle() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    scores = Scores([low, high] * 3, [-1, 1] * 3)
    assert accuracy_over_folds(scores, [0, 0, 1, 1, 2, 2]).values.tolist() == [1.0, 1.0, 1.0]


def test_any_rate_over_folds() -> None:
    scores = simulate(3)
    folds = np.array(list("abcd"))[np.arange(60) % 4]
    found = over_folds(scores, folds, lambda part: fnmr_at_fmr(part, 0.1))
    assert found.values.tolist() == [fnmr_at_fmr(scores[folds == fold], 0.1) for fold in "abcd"]
    assert str(found) == f"{np.mean(found.values):.4g} ± {stats.sem(found.values):.4g}"
    for wrong, message in ((folds[1:], "one value per pair"), (np.zeros(60), "one fold")):
        with pytest.raises(InputError, match=message):
            over_folds(scores, wrong, equal_error_rate)


@unhurried
@given(seeds)
def test_rates_of_groups_are_rates_of_their_pairs_and_add_up(seed: int) -> None:
    scores = simulate(seed)
    groups = np.random.default_rng(seed).integers(0, 3, len(scores))
    found = rates_by_group(scores, 0.2, groups)
    for each in found:
        part = scores[groups == each.group]
        if each.n_positives and each.n_negatives:
            assert (each.fmr, each.fnmr) == rates_at(part, 0.2)
    whole = rates_at(scores, 0.2)
    assert sum(each.fmr * each.n_negatives for each in found if each.n_negatives) == pytest.approx(
        whole.fmr * len(scores.negatives)
    )
    assert sum(each.n_positives for each in found) == len(scores.positives)


def test_group_without_pairs_of_a_label_has_no_rate() -> None:
    found = rates_by_group(Scores([0.1, 0.6, 0.7], [-1, 1, 1]), 0.5, ["u", "u", "v"])
    assert [each.group for each in found] == ["u", "v"]
    assert np.isnan(found[1].fmr)
    assert found[1].fnmr == 0.0


def test_groups_of_examples_become_groups_of_pairs_in_either_order() -> None:
    scores = Scores([0.1, 0.2, 0.3, 9.0], [-1, -1, 1, 1], left=["a", "c", "a", "b"], right=["b", "a", "c", "b"])
    groups = {"a": 20, "b": 30, "c": 20}
    assert pair_groups(scores, groups).tolist() == ["20 & 30", "20", "20", "30"]
    assert [each.group for each in rates_by_group(scores, 0.5, pair_groups(scores, groups))] == ["20", "20 & 30"]
    with pytest.raises(InputError, match="1 example has no group"):
        pair_groups(scores, {"a": 1, "b": 2})
    with pytest.raises(InputError, match="do not know their examples"):
        pair_groups(Scores([0.1, 0.2], [-1, 1]), groups)
    with pytest.raises(InputError, match="pair_groups"):
        rates_by_group(scores, 0.5, [20, 30, 20])


def test_groups_of_any_kind_have_the_same_rates() -> None:
    scores, numbers = simulate(1), np.arange(60) // 7 % 3
    names = np.array(["u", "v", "w"])[numbers]
    wanted = rates_by_group(scores, 0.2, names)
    for groups in (names.astype(object), polars.Series(names.tolist()), names.tolist()):
        assert rates_by_group(scores, 0.2, groups) == wanted
    for kind in (int, float, object, "datetime64[s]"):
        found = rates_by_group(scores, 0.2, numbers.astype(kind))
        assert [(each.fmr, each.fnmr) for each in found] == [(each.fmr, each.fnmr) for each in wanted]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["u", None, "v"], "pair 1 has no group .None.; .*'unknown'"),
        (["u", "v", float("nan")], "pair 2 has no group .nan."),
        ([1.0, 2.0, np.nan], "pair 2 has no group"),
        (np.array(["u", 1, "v"], dtype=object), "write all of them as text"),
    ],
)
def test_missing_groups_do_not_vanish(groups: object, message: str) -> None:
    scores = Scores([0.1, 0.6, 0.7], [-1, 1, 1], left=[0, 1, 0], right=[1, 2, 2])
    with pytest.raises(InputError, match=message):
        rates_by_group(scores, 0.5, groups)
    with pytest.raises(InputError, match="1 example has no group"):
        pair_groups(scores, {0: "u", 1: "v", 2: None})


def test_a_threshold_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="threshold is NaN"):
        rates_by_group(simulate(0), float("nan"), np.zeros(60))
