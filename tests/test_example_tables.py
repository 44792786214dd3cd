"""Tables of examples of every kind: rows taken, stacked and found again are the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pairlearn.examples import Columns, count_examples, match_examples, stack_examples, take_examples, take_used

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
