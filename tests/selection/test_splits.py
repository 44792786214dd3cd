"""Splitters against their definitions, written out pair by pair."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_val_score

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.selection import (
    ClassKFold,
    ClassSplit,
    ColdStartKFold,
    ColdStartSplit,
    ExampleKFold,
    ExampleSplit,
    PairKFold,
    PairSplit,
    nested_by_class_count,
    nested_by_epcr,
)

CLASSES = [c for c in "abcdefgh" for _ in range(6)]
ALL = pl.all_pairs(np.eye(len(CLASSES)))
Y = ALL.labels(CLASSES)

SPLITTERS = [
    PairSplit(n_splits=3, random_state=5),
    PairKFold(n_splits=3, n_repeats=2, random_state=5),
    ExampleSplit(CLASSES, test_share=0.4, n_splits=3, random_state=5),
    ExampleSplit(None, test_share=0.4, n_splits=3, random_state=5),
    ExampleKFold(CLASSES, n_splits=3, n_repeats=2, random_state=5),
    ExampleKFold(None, n_splits=3, n_repeats=2, random_state=5),
    ClassSplit(CLASSES, n_splits=3, random_state=5),
    ClassKFold(CLASSES, n_splits=4, n_repeats=2, random_state=5),
]
GRID = pl.Pairs(np.eye(6), *np.divmod(np.arange(48), 8), right_examples=np.eye(8))
COLD = [make(side, n_splits=3) for make in (ColdStartSplit, ColdStartKFold) for side in ("left", "right", "both")]
EVERY = [(splitter, ALL) for splitter in SPLITTERS] + [(splitter, GRID) for splitter in COLD]


def couples(pairs: pl.Pairs, numbers: np.ndarray) -> set[frozenset[int]]:
    return {frozenset((int(pairs.left[k]), int(pairs.right[k]))) for k in numbers}


def examples_of(pairs: pl.Pairs, numbers: np.ndarray) -> set[int]:
    return {int(i) for k in numbers for i in (pairs.left[k], pairs.right[k])}


def as_lists(splits: object) -> list[tuple[list[int], list[int]]]:
    return [(train.tolist(), test.tolist()) for train, test in splits]  # type: ignore[attr-defined]


@st.composite
def some_pairs(draw: st.DrawFn) -> tuple[pl.Pairs, list[int]]:
    """Random pairs with repeats, swapped and reflexive ones, and a class for each example."""
    m = draw(st.integers(4, 12))
    sides = st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, m - 1)), min_size=5, max_size=60)
    left, right = zip(*draw(sides), strict=True)
    return pl.Pairs(np.eye(m), left, right), draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))


def drawn(splitter: object, pairs: pl.Pairs) -> list[tuple[np.ndarray, np.ndarray]]:
    """All splits, unless these pairs cannot be split this way."""
    try:
        return list(splitter.split(pairs))  # type: ignore[attr-defined]
    except InputError:
        assume(False)
        raise


def possible(splitter: object, pairs: pl.Pairs) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The splits up to the first that would be of no use."""
    with suppress(InputError):
        yield from splitter.split(pairs)  # type: ignore[attr-defined]


# --------------------------------------------------------------------------- all splitters


@pytest.mark.parametrize(("splitter", "pairs"), EVERY)
def test_splits_are_determined_by_the_seed(splitter: object, pairs: pl.Pairs) -> None:
    first = as_lists(splitter.split(pairs))  # type: ignore[attr-defined]
    assert first == as_lists(pickle.loads(pickle.dumps(copy.deepcopy(splitter))).split(pairs))
    other = type(splitter)(**{**_options(splitter), "random_state": 77})
    assert first != as_lists(other.split(pairs))
    assert len({str(split) for split in first}) == len(first)


def _options(splitter: object) -> dict[str, object]:
    return {option.name: getattr(splitter, option.name) for option in fields(splitter) if option.init}  # type: ignore[arg-type]


@pytest.mark.parametrize(("splitter", "pairs"), EVERY)
def test_the_number_of_splits_is_as_announced(splitter: object, pairs: pl.Pairs) -> None:
    assert len(list(splitter.split(pairs))) == splitter.get_n_splits(pairs, None, None)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("splitter", "pairs"), EVERY)
def test_options_are_frozen(splitter: object, pairs: pl.Pairs) -> None:
    with pytest.raises(AttributeError):
        splitter.n_splits = 7  # type: ignore[attr-defined]


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_reflexive_pairs_are_tested_only_on_demand(splitter: object) -> None:
    assert not any(ALL.reflexive[test].any() for _, test in splitter.split(ALL))  # type: ignore[attr-defined]
    allowed = type(splitter)(**{**_options(splitter), "reflexive_tests": True})
    assert any(ALL.reflexive[test].any() for _, test in allowed.split(ALL))


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_a_slice_of_pairs_can_be_split_again(splitter: object) -> None:
    """Only what occurs is drawn: half of the classes still give full folds."""
    half = ALL[(ALL.left < 24) & (ALL.right < 24)]
    for train, test in splitter.split(half):  # type: ignore[attr-defined]
        assert len(train) > len(test) > 0


class Distance(ClassifierMixin, BaseEstimator):
    """Knows the answer: all that is tested is the way of the data."""

    def __init__(self, sign: int = 1) -> None:
        self.sign = sign

    def fit(self, X: pl.Pairs, y: np.ndarray) -> Distance:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: pl.Pairs) -> np.ndarray:
        return self.sign * X.labels(CLASSES)


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_splitters_are_cv_of_scikit_learn(splitter: object) -> None:
    scores = cross_val_score(Distance(), ALL, Y, cv=splitter)
    assert scores.tolist() == [1.0] * splitter.get_n_splits()  # type: ignore[attr-defined]


def test_a_grid_search_takes_a_splitter() -> None:
    search = GridSearchCV(Distance(), {"sign": [-1, 1]}, cv=ClassKFold(CLASSES, n_splits=4)).fit(ALL, Y)
    assert search.best_params_ == {"sign": 1}


def test_arrays_of_pairs_are_folded() -> None:
    array = np.asarray(ALL[:40])
    assert as_lists(PairSplit().split(array)) == as_lists(PairSplit().split(pl.Pairs.from_array(array)))


# --------------------------------------------------------------------------- pair task


@settings(max_examples=60, deadline=None)
@given(some_pairs(), st.integers(0, 9), st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_pair_split_is_a_partition_without_shared_pairs(made: tuple, seed: int, share: float) -> None:
    pairs, _ = made
    for train, test in drawn(PairSplit(test_share=share, n_splits=2, random_state=seed), pairs):
        assert sorted([*train, *test]) == list(range(len(pairs)))
        assert not couples(pairs, train) & couples(pairs, test)
        distinct = {c for c in couples(pairs, range(len(pairs))) if len(c) == 2}
        assert len(couples(pairs, test)) == min(max(round(share * len(distinct)), 1), len(distinct) - 1)


@settings(max_examples=60, deadline=None)
@given(some_pairs(), st.integers(0, 9), st.integers(2, 4), st.integers(1, 2))
def test_pair_folds_test_every_pair_once(made: tuple, seed: int, k: int, repeats: int) -> None:
    pairs, _ = made
    splits = drawn(PairKFold(n_splits=k, n_repeats=repeats, random_state=seed), pairs)
    tested = Counter(int(number) for _, test in splits for number in test)
    assert tested == dict.fromkeys(np.flatnonzero(~pairs.reflexive).tolist(), repeats)
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(pairs)))
        assert not couples(pairs, train) & couples(pairs, test)
    sizes = [len(couples(pairs, test)) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


def test_pairs_of_two_tables_are_ordered() -> None:
    """(0, 1) and (1, 0) are different pairs when the sides are different tables."""
    pairs = pl.Pairs(np.eye(2), [0, 1], [1, 0], right_examples=np.eye(2))
    train, test = next(PairSplit(test_share=0.5).split(pairs))
    assert len(train) == len(test) == 1


# --------------------------------------------------------------------------- interexample task


def check_examples_split(pairs: pl.Pairs, train: np.ndarray, test: np.ndarray, unseen: set[int]) -> None:
    """The brute-force twin: a pair trains, is tested or is dropped by where both its examples are."""
    for k, (a, b) in enumerate(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)):
        assert (k in test) == (a in unseen and b in unseen and a != b)
        assert (k in train) == (a not in unseen and b not in unseen)


@settings(max_examples=60, deadline=None)
@given(some_pairs(), st.integers(0, 9))
def test_example_split_keeps_examples_apart(made: tuple, seed: int) -> None:
    pairs, classes = made
    for splitter in (
        ExampleSplit(classes, test_share=0.4, n_splits=2, random_state=seed),
        ExampleSplit(None, test_share=0.4, n_splits=2, random_state=seed),
    ):
        for train, test in possible(splitter, pairs):
            assert not examples_of(pairs, train) & examples_of(pairs, test)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=20), st.integers(0, 9), st.integers(2, 3))
def test_classes_of_two_or_more_are_on_both_sides(classes: list[int], seed: int, k: int) -> None:
    pairs, sizes = pl.all_pairs(np.eye(len(classes))), Counter(classes)
    shared = {c for c, size in sizes.items() if size > 1}
    options = {"random_state": seed, "reflexive_tests": True}
    for train, test in drawn(ExampleSplit(classes, **options), pairs):
        train_classes, test_classes = ({classes[i] for i in examples_of(pairs, half)} for half in (train, test))
        assert train_classes == set(classes)
        assert test_classes == shared
    for train, test in drawn(ExampleKFold(classes, n_splits=k, **options), pairs):
        train_classes, test_classes = ({classes[i] for i in examples_of(pairs, half)} for half in (train, test))
        assert train_classes == set(classes)
        assert test_classes <= shared
        assert all(c in test_classes for c, size in sizes.items() if size >= k and size > 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=20), st.integers(0, 9), st.integers(2, 3))
def test_example_folds_test_every_example_once(classes: list[int], seed: int, k: int) -> None:
    pairs = pl.all_pairs(np.eye(len(classes)))
    tested: Counter[int] = Counter()
    for train, test in drawn(
        ExampleKFold(classes, n_splits=k, n_repeats=1, random_state=seed, reflexive_tests=True), pairs
    ):
        unseen = examples_of(pairs, test)
        tested.update(unseen)
        check_examples_split(pairs, train, np.setdiff1d(test, np.flatnonzero(pairs.reflexive)), unseen)
    sizes = Counter(classes)
    assert tested == {i: 1 for i, c in enumerate(classes) if sizes[c] > 1}


def test_the_share_is_taken_of_each_class() -> None:
    train, test = next(ExampleSplit(CLASSES, test_share=0.33).split(ALL))
    assert Counter(CLASSES[i] for i in examples_of(ALL, test)) == dict.fromkeys("abcdefgh", 2)
    assert Counter(CLASSES[i] for i in examples_of(ALL, train)) == dict.fromkeys("abcdefgh", 4)


# --------------------------------------------------------------------------- interclass task


@settings(max_examples=60, deadline=None)
@given(some_pairs(), st.integers(0, 9), st.integers(2, 3))
def test_class_splits_keep_classes_apart_on_both_sides(made: tuple, seed: int, k: int) -> None:
    pairs, classes = made
    for splitter in (
        ClassSplit(classes, test_share=0.3, n_splits=2, random_state=seed),
        ClassKFold(classes, n_splits=k, n_repeats=1, random_state=seed),
    ):
        for train, test in possible(splitter, pairs):
            known, new = ({classes[i] for i in examples_of(pairs, half)} for half in (train, test))
            assert not known & new


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=6, max_size=20), st.integers(0, 9), st.integers(2, 3))
def test_class_folds_test_every_class_once(classes: list[int], seed: int, k: int) -> None:
    pairs, tested = pl.all_pairs(np.eye(len(classes))), Counter[int]()
    for train, test in drawn(
        ClassKFold(classes, n_splits=k, n_repeats=1, random_state=seed, reflexive_tests=True), pairs
    ):
        new = {classes[i] for i in examples_of(pairs, test)}
        tested.update(new)
        unseen = {i for i, c in enumerate(classes) if c in new}
        check_examples_split(pairs, train, np.setdiff1d(test, np.flatnonzero(pairs.reflexive)), unseen)
    assert tested == dict.fromkeys(classes, 1)


@pytest.mark.parametrize("kind", [np.array, list, tuple, lambda v: np.array(v, dtype=object)])
def test_classes_may_be_of_any_kind(kind: object) -> None:
    numbers = [ord(c) for c in CLASSES]
    expected = as_lists(ClassSplit(CLASSES).split(ALL))
    assert as_lists(ClassSplit(kind(CLASSES)).split(ALL)) == expected  # type: ignore[operator]
    assert as_lists(ClassSplit(kind(numbers)).split(ALL)) == expected  # type: ignore[operator]
    assert as_lists(ClassSplit([("person", c) for c in CLASSES]).split(ALL)) == expected


# --------------------------------------------------------------------------- cold start


@st.composite
def two_tables(draw: st.DrawFn) -> pl.Pairs:
    sides = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=6, max_size=60)
    left, right = zip(*draw(sides), strict=True)
    return pl.Pairs(np.eye(6), left, right, right_examples=np.eye(8))


def sides_of(pairs: pl.Pairs, numbers: np.ndarray) -> tuple[set[int], set[int]]:
    return set(pairs.left[numbers].tolist()), set(pairs.right[numbers].tolist())


@settings(max_examples=60, deadline=None)
@given(two_tables(), st.sampled_from(["left", "right", "both"]), st.integers(0, 9))
def test_cold_examples_are_unseen(pairs: pl.Pairs, side: str, seed: int) -> None:
    for splitter in (
        ColdStartSplit(side, test_share=0.3, n_splits=2, random_state=seed),
        ColdStartKFold(side, n_splits=2, n_repeats=1, random_state=seed),
    ):
        for train, test in possible(splitter, pairs):
            (left, right), (new_left, new_right) = sides_of(pairs, train), sides_of(pairs, test)
            assert side == "right" or not left & new_left
            assert side == "left" or not right & new_right
            assert side == "both" or len(train) + len(test) == len(pairs)


@pytest.mark.parametrize("side", ["left", "right", "both"])
def test_cold_folds_test_every_pair_once_per_repeat(side: str) -> None:
    splits = list(ColdStartKFold(side, n_splits=3, n_repeats=2).split(GRID))
    assert Counter(int(k) for _, test in splits for k in test) == dict.fromkeys(range(48), 2)
    for train, test in splits:
        new_left, new_right = sides_of(GRID, test)
        for k, (a, b) in enumerate(zip(GRID.left.tolist(), GRID.right.tolist(), strict=True)):
            cold = {"left": [a in new_left], "right": [b in new_right], "both": [a in new_left, b in new_right]}[side]
            assert (k in test) == all(cold)
            assert (k in train) == (not any(cold))


def test_both_sides_are_drawn_independently() -> None:
    square = pl.Pairs(np.eye(8), *np.divmod(np.arange(64), 8), right_examples=np.eye(8))
    sides = [sides_of(square, test) for _, test in ColdStartSplit("both", n_splits=5).split(square)]
    assert any(left != right for left, right in sides)


# --------------------------------------------------------------------------- nested sets


@settings(max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 9), st.data())
def test_class_counts_are_nested(classes: list[int], seed: int, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, len(set(classes))), min_size=1, max_size=4))
    sets = nested_by_class_count(classes, counts, seed)
    for count, chosen in zip(counts, sets, strict=True):
        names = {classes[i] for i in chosen}
        assert len(names) == count
        assert chosen.tolist() == [i for i, c in enumerate(classes) if c in names]
    in_order = sorted((set(chosen.tolist()) for chosen in sets), key=len)
    assert all(small <= large for small, large in pairwise(in_order))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(0, 9), st.data())
def test_epcr_sets_are_nested_and_of_the_same_classes(classes: list[int], seed: int, data: st.DataObject) -> None:
    held = Counter(classes)
    sizes = data.draw(st.lists(st.integers(1, max(held.values())), min_size=1, max_size=4))
    sets = nested_by_epcr(classes, sizes, seed)
    taking_part = [c for c, count in held.items() if count >= max(sizes)]
    for size, chosen in zip(sizes, sets, strict=True):
        assert Counter(classes[i] for i in chosen) == dict.fromkeys(taking_part, size)
        assert np.all(np.diff(chosen) > 0)
    in_order = sorted((set(chosen.tolist()) for chosen in sets), key=len)
    assert all(small <= large for small, large in pairwise(in_order))


def test_a_longer_list_of_sizes_keeps_the_sets() -> None:
    for nested in (nested_by_class_count, nested_by_epcr):
        few, many = nested(CLASSES, [2, 3], 4), nested(CLASSES, [1, 2, 3, 5], 4)
        np.testing.assert_array_equal(few[0], many[1])
        np.testing.assert_array_equal(few[1], many[2])


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("make", [ExampleSplit, ExampleKFold, ClassSplit, ClassKFold])
@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([1.0] * 47 + [np.nan], r"missing or infinite value \(example 47\)"),
        (["a"] * 47 + [np.nan], "example 47"),
        ([None] + ["a"] * 47, "example 0"),
        ([np.inf] * 48, "missing or infinite"),
        (["a", "b"], r"one value per example, 48, got shape \(2,\)"),
        (np.zeros((48, 1)), r"got shape \(48, 1\)"),
        ("a" * 48, "one value per example"),
        (5, "one value per example"),
        ([{}] * 48, "hashable"),
        ([("a", [])] * 48, "hashable"),
    ],
)
def test_bad_classes_are_refused(make: type, classes: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(classes).split(ALL)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PairSplit(test_share=0), "between 0 and 1, got 0"),
        (lambda: PairSplit(test_share=1.0), "between 0 and 1"),
        (lambda: ClassSplit(CLASSES, test_share=np.nan), "between 0 and 1"),
        (lambda: PairSplit(test_share="half"), "between 0 and 1"),
        (lambda: PairSplit(n_splits=0), "n_splits must be a whole number of at least 1, got 0"),
        (lambda: PairKFold(n_splits=1), "n_splits must be a whole number of at least 2"),
        (lambda: ExampleKFold(None, n_splits=2.5), "n_splits must be a whole number"),
        (lambda: ClassKFold(CLASSES, n_repeats=0), "n_repeats"),
        (lambda: PairKFold(random_state=-1), "random_state"),
        (lambda: PairSplit(random_state=None), "random_state"),
        (lambda: ColdStartSplit("up"), "'left', 'right' or 'both', got 'up'"),
        (lambda: ColdStartKFold("", n_splits=2), "'left', 'right' or 'both'"),
    ],
)
def test_bad_options_are_refused_at_once(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("splitter", "pairs", "message"),
    [
        (ClassKFold(CLASSES, n_splits=9), ALL, "8 classes cannot fill 9 folds; use fewer folds"),
        (ClassSplit(["a"] * 48), ALL, "^1 class cannot be shared out"),
        (ExampleKFold(None, n_splits=49), ALL, "48 examples cannot fill 49 folds"),
        (ExampleSplit(list(range(48))), ALL, "cannot be shared out"),
        (PairKFold(n_splits=4), ALL[[1, 2, 1, 2, 3]], "3 distinct pairs cannot fill 4 folds"),
        (PairSplit(), ALL[[0, 0]], "0 distinct pairs cannot be shared out"),
        (ExampleSplit(None), GRID, "needs pairs of one table; for two tables use ColdStartSplit"),
        (ClassSplit(CLASSES[:6]), GRID, "needs pairs of one table"),
        (ColdStartSplit("left"), ALL, "right_examples; for one table use ExampleSplit"),
        (ColdStartKFold("right", n_splits=9), GRID, "8 right examples cannot fill 9 folds"),
        (PairSplit(), "text", "expected pl.Pairs"),
    ],
)
def test_pairs_that_cannot_be_split_are_refused_at_once(splitter: object, pairs: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        splitter.split(pairs)  # type: ignore[attr-defined]


def test_splits_without_pairs_are_refused() -> None:
    chain = pl.Pairs(np.eye(4), [0, 2], [1, 3])
    with pytest.raises(InputError, match=r"leaves no (training|test) pairs"):
        list(ExampleSplit(None, test_share=0.25).split(chain))


def test_splits_with_one_label_are_refused_if_labels_are_given() -> None:
    splitter = ExampleKFold(CLASSES, n_splits=6)
    with pytest.raises(InputError, match=r"split 0 has one label only, -1, in its [0-9,]+ test pairs; use fewer"):
        list(splitter.split(ALL, Y))
    assert len(list(splitter.split(ALL))) == 6
    with pytest.raises(InputError, match=r"split 0 has one label only, 1.0, in its [0-9,]+ training pairs"):
        list(PairSplit().split(ALL, np.ones(len(ALL))))
    with pytest.raises(InputError, match="one label per pair"):
        PairSplit().split(ALL, Y[:5])


@pytest.mark.parametrize(
    ("nested", "sizes", "message"),
    [
        (nested_by_class_count, [2, 9], "asks for 9 classes, but there are 8"),
        (nested_by_epcr, [7], "asks for 7 of a class, but the largest class has 6 examples"),
        (nested_by_class_count, [], "empty"),
        (nested_by_epcr, [0, 2], "at least 1, got 0"),
        (nested_by_epcr, [1.5], "whole number"),
    ],
)
def test_bad_sizes_are_refused(nested: object, sizes: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        nested(CLASSES, sizes)  # type: ignore[operator]
    with pytest.raises(InputError, match="missing"):
        nested([np.nan, 1.0], [1])  # type: ignore[operator]
