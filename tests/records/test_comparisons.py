"""Comparisons of cells: symmetric, within bounds, and what each kind shall tell."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.compare.comparisons import Comparison
from pairlearn.records.kinds import KINDS

CELLS = {
    "text": ("adobe photo shop 5", "Adobe Photoshop 5.0", None, "world of fish", "x" * 900),
    "name": ("Ann Lee", "Anne Lee", None, "Bob Ray", "Lee Ann"),
    "number": ("5.6", "5.60 %", None, "100", "-3"),
    "date": ("2001-05-17", "17/05/2001", None, "2001-05-20", "19010517"),
    "category": ("sa", "SA", None, "nsw", "vic"),
    "code": ("404/351-9533", "4043519533", None, "404-351-9532", "ab1"),
    "list": ("ann lee; bob ray", "Bob Ray, Ann Lee", None, "carl", "ann lee"),
    "geo": ("52.5, 13.4", "52.5; 13.4", None, "52.6, 13.4", "-52.5, 13.4"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_features_do_not_know_sides(kind: str) -> None:
    cells = CELLS[kind]
    column = Comparison.learn("c", kind, [cells])
    ready = column.prepare(cells)
    left, right = (side.ravel() for side in np.meshgrid(np.arange(5), np.arange(5)))
    there, back = column.features(ready, ready, left, right), column.features(ready, ready, right, left)
    np.testing.assert_array_equal(there, back)
    assert there.shape == (25, len(column.feature_names))
    assert np.isfinite(there).all()
    assert there.min() >= -1e-6
    assert there.max() <= 1 + 1e-5
    missing = (left == 2) | (right == 2)
    assert (there[missing, :-2] == 0).all()
    assert (there[missing, -2:].sum(axis=1) == 1).all()


@pytest.mark.parametrize("kind", KINDS)
def test_other_spelling_is_nearer_than_other_value(kind: str) -> None:
    cells = CELLS[kind]
    column = Comparison.learn("c", kind, [cells])
    ready = column.prepare(cells)
    found = column.features(ready, ready, np.array([0, 0]), np.array([1, 3]))
    assert found[0].sum() > found[1].sum()


def test_rare_agreement_counts_more() -> None:
    cells = ("smith",) * 50 + ("zyxwv", "zyxwv")
    column = Comparison.learn("surname", "name", [cells])
    ready = column.prepare(cells)
    place = column.feature_names.index("rarest shared word")
    common, rare = column.features(ready, ready, np.array([0, 50]), np.array([1, 51]))[:, place]
    assert rare > 2 * common


def test_kilometres_along_the_great_circle() -> None:
    """One degree of latitude is 111.2 km."""
    column = Comparison.learn("place", "geo", [])
    found = column.features(column.prepare(("0.0, 0.0",)), column.prepare(("1.0, 0.0",)), np.array([0]), np.array([0]))
    assert -20.0 * np.log(found[0, 1]) == pytest.approx(111.19, abs=0.1)


def test_repeated_values_are_compared_once_with_the_same_result() -> None:
    rng = np.random.default_rng(0)
    few = tuple(rng.choice(["ann", "anne", "bob", "rob"], 200))
    column = Comparison.learn("n", "name", [few])
    ready = column.prepare(few)
    left, right = rng.integers(0, 200, (2, 300))
    some = column.features(ready, ready, left, right)
    single = [column.features(ready, ready, left[k : k + 1], right[k : k + 1])[0] for k in range(300)]
    np.testing.assert_allclose(some, single, atol=1e-6)


def test_rivals_by_hand(beers: tuple[pl.Records, pl.Records, np.ndarray]) -> None:
    """The margin is the cosine less that of the best other record, the smaller one of both sides."""
    left, right, _ = beers
    comparer = Comparer.learn(left, right)
    ready = comparer.prepare(left, right)
    full = (ready.left.whole.rows["grams"].matrix() @ ready.right.whole.rows["grams"].matrix().T).toarray()
    rows, columns = np.arange(20), (np.arange(20) * 7) % 150
    features = comparer.features(ready, rows, columns)
    name = "whole record: above the best rival, both sides (characters)"
    for k in range(20):
        value = full[rows[k], columns[k]]
        rivals = np.delete(full[rows[k]], columns[k]).max(), np.delete(full[:, columns[k]], rows[k]).max()
        assert features[k, comparer.feature_names.index(name)] == pytest.approx(value - max(rivals), abs=1e-4)


def test_columns_without_values_are_left_out() -> None:
    table = pl.Records.of({"id": [1, 2], "name": ["ann", "bob"], "empty": [None, "N/A"]})
    assert list(Comparer.learn(table, None).kinds) == ["name"]
