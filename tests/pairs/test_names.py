"""Ids and classes: from names to rows and numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairlearn.errors import InputError, MissingIdsError
from pairlearn.pairs import class_codes, class_names, find_rows, rows_by_id, sorted_classes
from pairlearn.words import counted

names = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1),
    st.lists(st.sampled_from(["u", "v", "w", "ß"]), min_size=1),
    st.lists(st.sampled_from([0.5, -1.0, 2.0]), min_size=1),
    st.lists(st.booleans(), min_size=1),
)


@given(names, st.booleans())
def test_codes_number_classes_in_order_of_appearance(classes: list, as_array: bool) -> None:
    codes = class_codes(np.array(classes) if as_array else classes)
    order = list(dict.fromkeys(classes))
    assert codes.tolist() == [order.index(name) for name in classes]


@given(names)
def test_sorted_classes_are_their_names_in_order(classes: list) -> None:
    known, places = sorted_classes(classes)
    assert known == sorted(set(classes))
    assert [known[place] for place in places] == classes


@pytest.mark.parametrize("as_array", [True, False])
def test_classes_of_unused_examples_may_be_missing(as_array: bool) -> None:
    classes = [2.0, np.nan, 1.0, 2.0]
    given_ = np.array(classes) if as_array else classes
    assert class_codes(given_, 4, np.array([3, 2, 0])).tolist() == [0, 1, 0]
    with pytest.raises(InputError, match=r"missing or infinite value \(example 1\)"):
        class_codes(given_, 4)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([1, 2], r"one value per example, 3, got shape \(2,\)"),
        ("abc", "one value per example, 3"),
        (np.eye(3), r"got shape \(3, 3\)"),
        ([1, None, 2], r"missing or infinite value \(example 1\)"),
        ([1, [2], 3], "hashable"),
    ],
)
def test_classes_that_cannot_be_used(classes: object, message: str) -> None:
    for read in (class_codes, class_names):
        with pytest.raises(InputError, match=message):
            read(classes, 3)


def test_missing_ids_are_named_and_counted() -> None:
    rows = rows_by_id(["a", "b"])
    assert [found.tolist() for found in find_rows(rows, "ba", "bb")] == [[1, 0], [1, 1]]
    with pytest.raises(MissingIdsError, match=r"^1 id of the pair table is not among the examples: 'z'; add"):
        find_rows(rows, ["a", "z", "z"])
    with pytest.raises(MissingIdsError, match=r"among the examples: 83; add"):
        find_rows({1: 0}, np.array([1, 83]))
    with pytest.raises(MissingIdsError, match=r"^2 ids are strangers: 'z', 'y'; stay$") as caught:
        find_rows(rows, ["z"], ["y"], absent="{are} strangers", advice="stay")
    assert caught.value.missing == ["z", "y"]


def test_numbers_and_their_nouns() -> None:
    assert [counted(n, "id") for n in (0, 1, 2000)] == ["0 ids", "1 id", "2,000 ids"]
    assert counted(2, "class") == "2 classes"
