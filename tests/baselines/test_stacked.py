"""Machines that start from baselines: honest scores of the training pairs, one model in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score

import pairlearn as pl
from pairlearn.baselines.registry import BASELINES
from pairlearn.baselines.stacked import STACK, attach_baselines, cross_fit, with_scores
from pairlearn.baselines.training import joined_classes
from pairlearn.errors import InputError

X, CLASSES = pl.data.double_interval(12, 5, n=25, seed=0)
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
NEW, NEW_CLASSES = pl.data.double_interval(6, 5, n=25, seed=5)
NEW_PAIRS = pl.all_pairs(NEW, reflexive=False)


def key(pairs: pl.Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


@pytest.fixture(scope="module")
def model() -> pl.StackedPairSVC:
    return pl.StackedPairSVC(pl.PairSVC("tensor_metric", "rbf", C=0.1, random_state=0), weight=2.0).fit(
        PAIRS, Y, classes=CLASSES
    )


def test_no_score_of_a_training_pair_comes_from_a_model_that_saw_its_classes() -> None:
    stack = cross_fit(PAIRS, Y, CLASSES, ["wccn_cosine", "euclid"], n_folds=3, seed=1)
    mates: dict[Any, set[Any]] = {c: {c} for c in CLASSES}
    for i, j in key(stack.pairs):
        mates[CLASSES[i]].add(CLASSES[j])
        mates[CLASSES[j]].add(CLASSES[i])
    # Pairs stay within folds: classes that occur together form three sets of four.
    folds = {frozenset(group) for group in mates.values()}
    assert sorted(map(len, folds)) == [4, 4, 4]
    assert stack.pairs.invariant is not None
    for fold in folds:
        outside = [k for k, (i, j) in enumerate(key(PAIRS)) if not {CLASSES[i], CLASSES[j]} & fold]
        honest = BASELINES["wccn_cosine"]().fit(PAIRS[np.array(outside)], Y[outside], classes=CLASSES)
        rows = [k for k, (i, _) in enumerate(key(stack.pairs)) if CLASSES[i] in fold]
        expected = honest.decision_function(stack.pairs[np.array(rows)])
        assert np.allclose(stack.pairs.invariant[rows, 0], expected, atol=1e-12)
    assert np.allclose(stack.pairs.invariant[:, 1], pl.EuclidBaseline().decision_function(stack.pairs))


def test_all_positive_pairs_are_kept_with_their_labels() -> None:
    stack = cross_fit(PAIRS, Y, CLASSES)
    assert (stack.labels > 0).sum() == (Y > 0).sum()
    assert np.array_equal(stack.labels, stack.pairs.labels(CLASSES))


def test_the_machine_is_a_plain_one_on_the_same_features(model: pl.StackedPairSVC) -> None:
    stack = cross_fit(PAIRS, Y, CLASSES)
    kernel = with_scores(pl.pair_kernel("tensor_metric"), 2.0)
    plain = pl.PairSVC(kernel, "rbf", C=0.1, random_state=0).fit(stack.pairs, stack.labels)
    expected = plain.decision_function(stack.shown(NEW_PAIRS))
    assert np.allclose(model.decision_function(NEW_PAIRS), expected, atol=1e-9)
    assert np.array_equal(model.predict(NEW_PAIRS), np.where(expected > 0, 1, -1))


def test_a_block_is_its_pairs(model: pl.StackedPairSVC) -> None:
    block = model.score_block(NEW[:4], NEW[4:])
    left, right = (column[: 4 * 26].reshape(4, 26) for column in np.divmod(np.arange(4 * 26), 26))
    pairs = pl.Pairs(NEW, left.ravel(), 4 + right.ravel())
    assert np.allclose(block.ravel(), model.decision_function(pairs), atol=1e-9)


def test_it_is_symmetric_and_survives_a_file(model: pl.StackedPairSVC, tmp_path: Path) -> None:
    values = model.decision_function(NEW_PAIRS)
    assert np.array_equal(values, model.decision_function(NEW_PAIRS.swapped()))
    pl.save(model.machine_, tmp_path / "m.safetensors")
    again = pl.load(tmp_path / "m.safetensors")
    assert np.array_equal(again.decision_function(NEW_PAIRS), values)
    assert again.get_params()["C"] == 0.1


def test_one_baseline_alone_keeps_its_order() -> None:
    model = pl.StackedPairSVC(baselines=["plda"]).fit(PAIRS, Y, classes=CLASSES)
    baseline = pl.baselines.PLDABaseline().fit(PAIRS, Y, classes=CLASSES)
    ours, theirs = (each.decision_function(NEW_PAIRS).round(9) for each in (model, baseline))
    assert np.array_equal(rankdata(ours), rankdata(theirs))


def test_starting_from_good_baselines_beats_starting_from_nothing() -> None:
    truth = NEW_PAIRS.labels(NEW_CLASSES)
    plain = pl.PairSVC("tensor_metric", "rbf", C=0.1, class_weight="balanced").fit(PAIRS, Y)
    stacked = pl.StackedPairSVC(clone(plain), weight=10.0).fit(PAIRS, Y, classes=CLASSES)
    rates = [pl.equal_error_rate(pl.Scores(each.decision_function(NEW_PAIRS), truth)) for each in (stacked, plain)]
    assert rates[0] < 0.7 * rates[1]


def test_parameters_can_be_cloned() -> None:
    model = pl.StackedPairSVC(pl.PairSVC(C=3.0), ["rca"], weight=5.0)
    again = clone(model)
    assert again.machine.C == 3.0
    assert again.get_params(deep=False)["baselines"] == ["rca"]
    assert pl.StackedPairSVC().baselines == STACK


def test_without_classes_they_are_read_off_the_positive_pairs() -> None:
    chain = np.concatenate([np.flatnonzero(c == CLASSES)[[0, 0, 1, 2, 3]] for c in np.unique(CLASSES)])
    mates = np.concatenate([np.flatnonzero(c == CLASSES)[[1, 2, 2, 3, 4]] for c in np.unique(CLASSES)])
    apart = np.flatnonzero(Y < 0)
    pairs = pl.Pairs(X, [*chain, *PAIRS.left[apart]], [*mates, *PAIRS.right[apart]])
    y = pairs.labels(CLASSES)
    codes = joined_classes(*pairs.columns, y, len(X))
    assert len({*zip(codes.tolist(), CLASSES.tolist(), strict=True)}) == len(set(CLASSES.tolist()))
    one, two = (pl.StackedPairSVC().fit(pairs, y, classes=given) for given in (None, codes))
    assert np.array_equal(one.decision_function(NEW_PAIRS), two.decision_function(NEW_PAIRS))


def test_cross_validation_with_and_without_classes() -> None:
    model, folds = pl.StackedPairSVC(n_folds=2), StratifiedKFold(2, shuffle=True, random_state=0)
    plain = cross_val_score(model, PAIRS, Y, cv=folds, error_score="raise")
    with config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(classes=True)
        routed = cross_val_score(asked, PAIRS, Y, cv=folds, params={"classes": CLASSES}, error_score="raise")
    expected = [
        clone(model).fit(PAIRS[train], Y[train], classes=CLASSES).score(PAIRS[test], Y[test])
        for train, test in folds.split(np.zeros(len(Y)), Y)
    ]
    np.testing.assert_allclose(routed, expected)
    assert plain.mean() > np.mean(Y < 0)  # better than to call all pairs different


def test_the_fitted_machine_is_not_changed_by_its_baselines() -> None:
    stack = cross_fit(PAIRS, Y, CLASSES)
    machine = pl.PairSVC(with_scores(None, 1.0)).fit(stack.pairs, stack.labels)
    before, kernel, function = machine.decision_function(stack.pairs), machine.kernel, machine.function_
    asking = attach_baselines(machine, stack)
    assert machine.kernel is kernel
    assert machine.function_ is function
    np.testing.assert_array_equal(machine.decision_function(stack.pairs), before)
    shown = machine.decision_function(stack.shown(NEW_PAIRS))
    np.testing.assert_allclose(asking.decision_function(NEW_PAIRS), shown, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "classes", "message"),
    [
        ({"baselines": ["what"]}, CLASSES, "unknown baseline 'what'"),
        ({}, CLASSES[:-1], "one value per example"),
        ({}, np.zeros(60), "cannot be cut into 3 folds"),
        ({"n_folds": 1}, CLASSES, "1 folds"),
    ],
)
def test_bad_input(options: dict[str, Any], classes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.StackedPairSVC(**options).fit(PAIRS, Y, classes=classes)


def test_pairs_with_features_of_their_own_are_refused() -> None:
    pairs = pl.Pairs(X, PAIRS.left, PAIRS.right, invariant=np.ones((len(PAIRS), 1)))
    with pytest.raises(InputError, match="invariant features already"):
        pl.StackedPairSVC().fit(pairs, Y, classes=CLASSES)


def test_some_of_a_stack_is_a_stack_of_some() -> None:
    some, alone = cross_fit(PAIRS, Y, CLASSES, ["rca", "plda"]).only(["plda"]), cross_fit(PAIRS, Y, CLASSES, ["plda"])
    assert np.array_equal(some.pairs.invariant, alone.pairs.invariant)  # type: ignore[arg-type]
    assert list(some.models) == ["plda"]
