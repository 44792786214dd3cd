"""Tables of examples of every kind: rows taken, stacked and found again are the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.examples import (
    Columns,
    check_examples,
    count_examples,
    match_examples,
    stack_examples,
    take_examples,
    take_used,
)

DENSE = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0], [0.0, 2.0]])
TABLES = {
    "array": DENSE,
    "sparse": sparse.csr_array(DENSE),
    "objects": ["a", "b", "c", "b"],
    "columns": Columns(np.array([5, 1, 7, 2]), 9),
}


def listed(table: Any) -> list[Any]:
    if isinstance(table, Columns):
        assert table.n_columns == 9
        return table.index.tolist()
    return table.toarray().tolist() if sparse.issparse(table) else list(np.asarray(table).tolist())


@pytest.mark.parametrize("kind", TABLES)
def test_rows_are_taken_and_stacked(kind: str) -> None:
    table = TABLES[kind]
    rows = listed(table)
    assert count_examples(table) == 4
    taken = take_examples(table, np.array([2, 0, 2]))
    assert type(taken) is type(table)
    assert listed(taken) == [rows[2], rows[0], rows[2]]
    stacked = stack_examples(taken, table, table)
    assert type(stacked) is type(table)
    assert listed(stacked) == listed(taken) + rows + rows


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_in_full_use_is_not_copied(kind: str) -> None:
    table = TABLES[kind]
    assert take_used(table, np.arange(4)) is table
    assert listed(take_used(table, np.array([1, 3]))) == [listed(table)[1], listed(table)[3]]


@pytest.mark.parametrize("kind", ["array", "sparse", "objects"])
def test_rows_are_found_again_by_content(kind: str) -> None:
    table = TABLES[kind]
    assert match_examples(table, table).tolist() == [0, 1, 2, 1]  # of equal rows the first
    assert match_examples(take_examples(table, np.array([3, 0])), take_examples(table, np.array([2, 3]))).tolist() == [
        1,
        -1,
    ]


def test_unhashable_objects_are_found_by_identity() -> None:
    one, twin = [1], [1]
    assert match_examples([one, twin], [twin, one]).tolist() == [1, 0]


def test_columns_are_found_by_their_number() -> None:
    assert match_examples(TABLES["columns"], np.zeros((6, 9))).tolist() == [5, 1, -1, 2]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (DENSE, np.ones((2, 3)), "some of these examples have 2 features and some 3 features"),
        (TABLES["sparse"], sparse.csr_array(np.ones((2, 1))), "2 features and some 1 feature;"),
        (DENSE, np.ones((2, 2, 2)), r"2 features and some shape \(2, 2\)"),
        (DENSE, TABLES["sparse"], "some of these examples are sparse and some dense"),
    ],
)
def test_unlike_tables_are_not_stacked(one: Any, other: Any, words: str) -> None:
    for tables in ((one, other), (one, one, other)):
        with pytest.raises(InputError, match=words):
            stack_examples(*tables)


TEXTS = ["12", "1e3", "pair", "nan", "learn", "112", "pairs", "2"]


@pytest.mark.parametrize("dtype", ["U", object, "S"])
def test_arrays_of_texts_are_lists_of_them(dtype: Any) -> None:
    found = check_examples(np.array(TEXTS, dtype=dtype))
    assert found == [text.encode() if dtype == "S" else text for text in TEXTS]
    assert {type(text) for text in found} == {bytes if dtype == "S" else str}


def test_arrays_of_objects_are_lists_of_them() -> None:
    rows = np.empty(2, dtype=object)
    rows[:] = [np.ones(3), np.ones(5)]
    assert all(one is other for one, other in zip(check_examples(rows), rows, strict=True))
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[ns]")
    assert check_examples(days) == list(days)


@pytest.mark.parametrize("dtype", ["U", object])
@pytest.mark.parametrize(
    "base",
    [
        pl.kernels.FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True, definite=True),
        pl.kernels.Clipped(pl.kernels.EditSimilarity()),
    ],
    ids=["function", "edit"],
)
def test_machines_learn_from_arrays_of_texts_as_from_lists(base: Any, dtype: Any) -> None:
    given = pl.all_pairs(TEXTS, reflexive=False)
    y = np.where(np.arange(len(given)) % 3, -1, 1)
    table = np.array(TEXTS, dtype=dtype)
    listed = pl.PairSVC("tensor", base, tol=1e-6, random_state=0).fit(given, y)
    ours = pl.PairSVC("tensor", base, tol=1e-6, random_state=0).fit(pl.all_pairs(table, reflexive=False), y)
    scores = listed.decision_function(pl.all_pairs(TEXTS))
    np.testing.assert_array_equal(ours.decision_function(pl.all_pairs(table)), scores)
    np.testing.assert_array_equal(ours.score_block(table[:3], table), listed.score_block(TEXTS[:3], TEXTS))
