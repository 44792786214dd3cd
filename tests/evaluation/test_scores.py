"""Scores check their columns once, at the border."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores


def test_keeps_values_labels_and_order() -> None:
    scores = Scores([3, 1, 2], [1.0, -1.0, 1.0])
    assert len(scores) == 3
    assert scores.values.dtype == np.float64
    assert scores.positives.tolist() == [3.0, 2.0]
    assert scores.negatives.tolist() == [1.0]


def test_one_label_only_and_no_pairs_are_fine() -> None:
    assert len(Scores([1.0, 2.0], [1, 1]).negatives) == 0
    assert len(Scores([], np.array([], dtype=int))) == 0


def test_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scores([1.0], [1]).values = np.zeros(1)


def test_without_reflexive_drops_exactly_the_pairs_of_one_example() -> None:
    scores = Scores(
        [5.0, 1.0, 6.0, 2.0],
        [1, -1, 1, 1],
        left=["a", "a", "b", "b"],
        right=["a", "b", "b", "c"],
        left_identity=[0, 0, 1, 1],
        right_identity=[0, 1, 1, 1],
    )
    kept = scores.without_reflexive()
    assert kept.values.tolist() == [1.0, 2.0]
    assert kept.labels.tolist() == [-1, 1]
    assert kept.left.tolist() == ["a", "b"]
    assert kept.right.tolist() == ["b", "c"]
    assert kept.left_identity.tolist() == [0, 1]
    assert kept.right_identity.tolist() == [1, 1]
    assert len(scores) == 4


def test_equal_identities_are_not_reflexive_pairs() -> None:
    scores = Scores([1.0], [1], left=[0], right=[1], left_identity=[7], right_identity=[7])
    assert len(scores.without_reflexive()) == 1


def test_without_ids_nothing_is_dropped() -> None:
    scores = Scores([1.0, 2.0], [1, -1])
    assert scores.without_reflexive() is scores


def test_chooses_pairs_by_mask_index_and_slice() -> None:
    scores = Scores([1.0, 2.0, 3.0], [1, -1, 1], left=[0, 1, 2], right=[1, 2, 0])
    for key in (np.array([True, False, True]), np.array([0, 2]), slice(None, None, 2)):
        assert scores[key].values.tolist() == [1.0, 3.0]
        assert scores[key].right.tolist() == [1, 0]
        assert scores[key].left_identity is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1.0, np.nan], "labels": [1, -1]}, "NaN or infinity .first at pair 1"),
        ({"values": [np.inf, 1.0], "labels": [1, -1]}, "low finite score"),
        ({"values": ["high", "low"], "labels": [1, -1]}, "must be numbers"),
        ({"values": [[1.0], [2.0]], "labels": [1, -1]}, "ravel"),
        ({"values": [1.0, 2.0], "labels": [1, 0]}, r"np\.where\(same, 1, -1\)"),
        ({"values": [1.0, 2.0], "labels": [True, False]}, r"np\.where\(same, 1, -1\)"),
        ({"values": [1.0, 2.0], "labels": [1]}, "labels has shape .1,. but there are 2 values"),
        ({"values": [1.0], "labels": [1], "left": [0]}, "left and right belong together"),
        ({"values": [1.0], "labels": [1], "right_identity": [0]}, "both or neither"),
        ({"values": [1.0], "labels": [1], "left": [0], "right": [0, 1]}, "right has shape"),
        ({"values": [1.0], "labels": [1], "left": [0], "right": ["0"]}, "same id on both sides"),
    ],
)
def test_bad_input_says_what_to_do(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scores(**arguments)


def test_scores_of_a_model_know_examples_and_identities() -> None:
    X, who = np.array([[0.0], [1.0], [5.0], [5.5]]), np.array([3, 3, 7, 7])
    pairs = pl.all_pairs(X)
    found = Scores.of(pl.EuclidBaseline(), pairs, classes=who)
    assert found.values.tolist() == pl.EuclidBaseline().decision_function(pairs).tolist()
    assert found.labels.tolist() == pairs.labels(who).tolist()
    assert (found.left.tolist(), found.right.tolist()) == (pairs.left.tolist(), pairs.right.tolist())
    assert found.left_identity.tolist() == who[pairs.left].tolist()
    assert len(found.without_reflexive()) == 6
    given = Scores.of(pl.EuclidBaseline(), pairs, -pairs.labels(who), who)
    assert given.labels.tolist() == (-pairs.labels(who)).tolist()
    assert Scores.of(pl.EuclidBaseline(), pairs, pairs.labels(who)).left_identity is None


def test_scores_of_a_model_need_to_know_what_is_true() -> None:
    with pytest.raises(InputError, match="give y"):
        Scores.of(pl.EuclidBaseline(), pl.all_pairs(np.eye(3)))


def test_scores_of_two_tables_have_no_example_numbers() -> None:
    class Sum:
        def decision_function(self, pairs: pl.Pairs) -> np.ndarray:
            return pairs.examples[pairs.left, 0] + pairs.right_examples[pairs.right, 0]

    pairs = pl.Pairs(np.eye(2), [0, 1], [0, 0], right_examples=np.eye(2))
    found = Scores.of(Sum(), pairs, [1, -1])
    assert found.values.tolist() == [2.0, 1.0]
    assert found.left is None


class Unsaid:
    """As pandas.NA: neither equal to anything nor different."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("neither")

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (["a", None], ["a", "b"], "left_identity of pair 1 is missing .None.; .*drop these pairs"),
        (["a", "b"], ["a", np.nan], "right_identity of pair 1 is missing .nan."),
        ([np.nan, 1.0], [1.0, 1.0], "left_identity of pair 0 is missing .nan."),
        (np.array(["a", Unsaid()], dtype=object), ["a", "b"], "left_identity of pair 1 is missing"),
        (np.array(["2026-01-01", "NaT"], "datetime64[D]"), np.array(["2026-01-01"] * 2, "datetime64[D]"), "pair 1"),
        (np.array([1, "a"], dtype=object), np.array([1, 2], dtype=object), r"cannot be compared \(int, str\)"),
        (np.array(["a", "b"], dtype=object), [1, 2], "write all of them as text"),
        (np.array(["2026-01-01"] * 2, "datetime64[D]"), [1.0, 2.0], "cannot be compared"),
    ],
)
def test_ids_that_are_missing_or_of_several_kinds_are_refused(left: object, right: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scores([0.9, 0.1], [1, -1], left_identity=left, right_identity=right)


@pytest.mark.parametrize(
    "ids", [["a", "b"], [1, 2], [1.5, 2.5], [(1, 2), (1, 3)], [True, False], [b"a", b"b"], ["a", "nan"]]
)
def test_ids_of_any_one_kind_are_taken(ids: list[object]) -> None:
    column = np.empty(2, dtype=object)
    column[:] = ids
    for given in [column] if isinstance(ids[0], tuple) else [ids, np.array(ids), column]:
        found = Scores([0.9, 0.1], [1, -1], left=given, right=given[::-1])
        assert list(found.left) == ids


def test_scores_that_hardly_differ_can_be_looked_at() -> None:
    for high in (np.nextafter(1.0, 2.0), 1.0 + 1e-14, 1.0):
        for scale in (1.0, -1e300, 1e-300):
            page = Scores(scale * np.array([1.0, high, high]), [1, -1, -1])._repr_html_()
            assert "1 same above, 2 different pairs below" in page
