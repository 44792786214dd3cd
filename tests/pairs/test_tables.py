"""Pairs of one table and of two: what differs between them, and the examples in use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.pairs import OneTable, TwoTables

M, N = 7, 5


@st.composite
def some_pairs(draw: st.DrawFn) -> pl.Pairs:
    """Pairs of one table or two, of any kind of examples, that need not use all of them."""
    two = draw(st.booleans())
    n = draw(st.integers(1, 12))
    left = draw(st.lists(st.integers(0, M - 1), min_size=n, max_size=n))
    right = draw(st.lists(st.integers(0, (N if two else M) - 1), min_size=n, max_size=n))
    kind = draw(st.sampled_from([np.array, sparse.csr_array, lambda rows: [str(row) for row in rows.tolist()]]))
    first, second = kind(np.arange(2.0 * M).reshape(M, 2) + 1), kind(-np.arange(3.0 * N).reshape(N, 3) - 1)
    pairs = pl.Pairs(first, left, right, right_examples=second if two else None, invariant=np.arange(float(n)))
    return draw(st.sampled_from([pairs, pairs.swapped(), pairs[::-1]]))


def row(table: object, index: int) -> object:
    chosen = table[[index]] if sparse.issparse(table) else table[index]  # type: ignore[index]
    return chosen.toarray().tolist() if sparse.issparse(table) else np.asarray(chosen).tolist()


def contents(pairs: pl.Pairs) -> list[tuple[object, object]]:
    """What every pair joins, example by example."""
    left, right = pairs.columns
    return [(row(pairs.examples, a), row(pairs.right_table, b)) for a, b in zip(left, right, strict=True)]


@given(some_pairs())
def test_compaction_keeps_the_pairs_and_drops_the_rest(pairs: pl.Pairs) -> None:
    compact, used = pairs.compacted()
    assert contents(compact) == contents(pairs)
    assert type(compact.tables) is type(pairs.tables)
    np.testing.assert_array_equal(compact.invariant, pairs.invariant)
    sides = [pairs.left, pairs.right] if pairs.right_examples is not None else [np.concatenate(pairs.columns)]
    assert [rows.tolist() for rows in used] == [sorted(set(column.tolist())) for column in sides]
    # Everything is used now, so compacting again changes nothing and copies nothing.
    again, all_of_them = compact.compacted()
    assert again.examples is compact.examples
    assert [rows.tolist() for rows in all_of_them] == [list(range(len(rows))) for rows in used]


@given(some_pairs())
def test_compaction_of_swapped_pairs_is_the_same_table(pairs: pl.Pairs) -> None:
    straight, swapped = pairs.compacted().pairs, pairs.swapped().compacted().pairs
    for side, other in zip(straight.columns, swapped.columns[::-1], strict=True):
        np.testing.assert_array_equal(side, other)


@given(some_pairs())
def test_codes_are_equal_for_the_same_pair_only(pairs: pl.Pairs) -> None:
    couples = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    keys = couples if pairs.right_examples is not None else [tuple(sorted(couple)) for couple in couples]
    for codes, names in ((pairs.codes(), keys), (pairs.codes(ordered=True), couples)):
        equal = codes[:, None] == codes
        assert equal.tolist() == [[one == other for other in names] for one in names]


def test_a_table_in_full_use_is_shared() -> None:
    examples = np.eye(3)
    for pairs in (pl.all_pairs(examples), pl.Pairs(examples, [0, 1], [2, 2])):
        assert pairs.compacted().pairs.examples is examples
    assert pl.all_pairs(examples).compacted().pairs.triangle is not None


def test_ids_go_with_their_examples() -> None:
    pairs = pl.Pairs.from_ids(np.arange(8.0).reshape(4, 2), ["a", "b", "c", "d"], ["d", "b"], ["b", "d"])
    compact = pairs.compacted().pairs
    assert compact.ids == ("b", "d")
    assert compact.examples.tolist() == [[2.0, 3.0], [6.0, 7.0]]


def test_only_pairs_of_one_table_have_a_mirror_image() -> None:
    one, two = pl.Pairs(np.eye(3), [0, 1, 2], [0, 2, 1]), pl.Pairs(np.eye(3), [0, 1], [0, 2], right_examples=np.eye(4))
    assert isinstance(one.tables, OneTable)
    assert isinstance(two.tables, TwoTables)
    assert one.reflexive.tolist() == [True, False, False]
    assert not two.reflexive.any()
    assert one.swapped().tables is one.tables
    assert two.swapped().examples is two.right_examples
    assert two.swapped().right_examples is two.examples
    assert two.swapped().swapped().examples is two.examples
    assert repr(two) == "Pairs(2 pairs of 3 × 4 examples)"
    assert one.codes().tolist()[1:] == [1 * 3 + 2] * 2
    assert two.codes().tolist() == [0, 1 * 4 + 2]


def test_one_table_is_asked_for_in_words() -> None:
    one = pl.Pairs(np.eye(3), [0], [1])
    assert one.require_one_table("never") is one
    with pytest.raises(InputError, match=r"^say so$"):
        pl.Pairs(np.eye(3), [0], [1], right_examples=np.eye(2)).require_one_table("say so")
