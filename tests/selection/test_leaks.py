"""The leak check finds what was planted and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.selection import ClassKFold, ExampleKFold, Leaks, PairKFold, find_leaks, refuse_leaks

X = np.random.default_rng(0).normal(size=(12, 3))
NAMES = list("aabbccddeeff")


def found(leaks: Leaks) -> tuple[list[int], list[int], list[int], tuple | None]:
    return leaks.pairs.tolist(), leaks.examples.tolist(), leaks.right_examples.tolist(), leaks.identities


# --------------------------------------------------------------------------- planted leaks


def test_nothing_is_found_where_nothing_is_shared() -> None:
    leaks = find_leaks(pl.Pairs(X[:6], [0, 1], [2, 3]), pl.Pairs(X[6:], [0, 1], [2, 3]), NAMES[:6], NAMES[6:])
    assert found(leaks) == ([], [], [], ())
    assert not leaks
    assert leaks.task == "interclass"
    assert str(leaks) == (
        "no shared identities; no shared examples; no shared pairs: this split belongs to the interclass task"
    )


def test_a_shared_identity_is_named() -> None:
    leaks = find_leaks(pl.Pairs(X, [0, 2], [2, 4]), pl.Pairs(X, [6, 1], [7, 8]), NAMES)
    assert found(leaks) == ([], [], [], ("a",))
    assert leaks
    assert leaks.task == "interexample"
    assert "1 shared identity (a);" in str(leaks)


def test_only_identities_in_use_count() -> None:
    """Rows 0 and 1 are the same person, but row 1 is in no test pair."""
    assert not find_leaks(pl.Pairs(X, [0], [2]), pl.Pairs(X, [4], [6]), NAMES)


def test_identities_are_compared_by_name_across_tables_and_kinds() -> None:
    train, test = pl.Pairs(X[:3], [0], [1]), pl.Pairs(X[3:], [0], [1])
    assert find_leaks(train, test, np.array(["u", "v", "w"]), [*"vx", *"yyyyyyy"]).identities == ("v",)
    assert find_leaks(train, test, np.array([1, 2, 3]), [2, 9, 8, 8, 8, 8, 8, 8, 8]).identities == (2,)
    assert find_leaks(train, test, ["1", "2", "3"], [2, 9, 8, 8, 8, 8, 8, 8, 8]).identities == ()


def test_only_the_first_few_identities_are_shown() -> None:
    pairs = pl.Pairs(X, range(0, 12, 2), range(0, 12, 2))
    text = str(find_leaks(pairs, pl.Pairs(X, range(1, 12, 2), range(1, 12, 2)), NAMES))
    assert text.startswith("6 shared identities (a, b, c, d, e, …); no shared examples;")


COPIES = {
    "the same table": X,
    "a copy": X.copy(),
    "a float32 copy": X.astype(np.float32),
    "a sparse copy": sparse.csr_array(X),
    "a list of rows": X.tolist(),
    "Fortran order": np.asfortranarray(X),
}


@pytest.mark.parametrize("test_table", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("train_table", COPIES.values(), ids=COPIES.keys())
def test_examples_are_compared_by_content(train_table: object, test_table: object) -> None:
    leaks = find_leaks(pl.Pairs(train_table, [0, 1], [2, 3]), pl.Pairs(test_table, [4, 5, 6], [5, 2, 1]))
    assert found(leaks) == ([], [1, 2], [], None)
    assert leaks.task == "pair"
    assert "identities were not given; 2 shared examples (1, 2); no shared pairs" in str(leaks)


def test_rows_with_equal_content_are_one_example() -> None:
    doubled = np.vstack([X, X[:2]])
    leaks = find_leaks(pl.Pairs(doubled, [0], [1]), pl.Pairs(doubled, [13, 5], [12, 6]))
    assert found(leaks) == ([0], [12, 13], [], None)


def test_zeros_of_any_kind_agree() -> None:
    dense = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]])
    stored = sparse.csr_array((np.array([0.0, 1.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert find_leaks(pl.Pairs(dense, [0], [2]), pl.Pairs(dense, [1], [1])).examples.tolist() == [1]
    assert find_leaks(pl.Pairs(dense, [0], [2]), pl.Pairs(stored, [0], [1])).examples.tolist() == [0]


def test_rows_of_different_lengths_are_different() -> None:
    assert not find_leaks(pl.Pairs(np.eye(2), [0], [1]), pl.Pairs(np.eye(2, 3), [0], [1]))


@pytest.mark.parametrize(
    "table",
    [
        ["ann", "bob", "cat", "dan"],
        [[1, 2], [3], [4, 5, 6], []],
        [np.arange(3), np.arange(4), np.zeros((2, 2)), np.zeros(4)],
        [{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}],
    ],
)
def test_objects_are_compared_too(table: list) -> None:
    assert found(find_leaks(pl.Pairs(table, [0], [1]), pl.Pairs(table, [2, 3], [3, 1])))[1] == [1]
    if not isinstance(table[0], dict):
        assert found(find_leaks(pl.Pairs(table, [0], [1]), pl.Pairs(table[1:], [1, 2], [2, 0])))[1] == [0]


def test_shared_pairs_are_found_in_either_order() -> None:
    leaks = find_leaks(pl.Pairs(X, [0, 1, 5], [1, 2, 5]), pl.Pairs(X.copy(), [1, 0, 2, 5], [0, 2, 1, 5]))
    assert found(leaks) == ([0, 2, 3], [0, 1, 2, 5], [], None)
    assert leaks.task == "none"
    assert str(leaks).endswith("belongs to no task, because it tests on pairs it trains on")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_search_agrees_with_its_definition(data: st.DataObject) -> None:
    """Few distinct rows, many copies: every set computed by hand from the rows themselves."""
    tables = [data.draw(st.lists(st.integers(0, 6), min_size=3, max_size=8)) for _ in range(2)]
    sides = [[data.draw(st.lists(st.integers(0, len(t) - 1), min_size=3, max_size=3)) for _ in "lr"] for t in tables]
    train, test = (pl.Pairs(np.array(t, float)[:, None], *s) for t, s in zip(tables, sides, strict=True))
    rows = [[(t[a], t[b]) for a, b in zip(*s, strict=True)] for t, s in zip(tables, sides, strict=True)]
    known = {value for couple in rows[0] for value in couple}
    trained = {frozenset(couple) for couple in rows[0]}
    leaks = find_leaks(train, test, [v % 3 for v in tables[0]], [v % 3 for v in tables[1]])
    assert leaks.pairs.tolist() == [k for k, couple in enumerate(rows[1]) if frozenset(couple) in trained]
    assert leaks.examples.tolist() == sorted({i for s in sides[1] for i in s if tables[1][i] in known})
    assert set(leaks.identities or ()) == {v % 3 for v in known} & {v % 3 for couple in rows[1] for v in couple}


# --------------------------------------------------------------------------- two tables


def test_two_tables_are_compared_side_by_side() -> None:
    """Left and right rows may look alike (numbers, say) without being the same thing."""
    left, right = np.arange(4.0)[:, None], np.arange(4.0)[:, None]
    train = pl.Pairs(left, [0, 0], [1, 2], right_examples=right)
    test = pl.Pairs(left, [1, 2, 1], [0, 2, 3], right_examples=right)
    leaks = find_leaks(train, test, (list("pqrs"), list("klmn")))
    assert found(leaks) == ([], [], [2], ("m",))
    again = find_leaks(train, pl.Pairs(left, [2, 0], [0, 2], right_examples=right.copy()))
    assert found(again) == ([1], [0], [2], None)


def test_a_gallery_is_compared_with_training_pairs_of_one_table() -> None:
    test = pl.Pairs(X[6:], [0, 1], [0, 1], right_examples=X[:3])
    leaks = find_leaks(pl.Pairs(X, [0, 6], [5, 0]), test)
    assert found(leaks) == ([0], [0], [0], None)
    assert "2 shared examples (0, 0 (right))" in str(leaks)


# --------------------------------------------------------------------------- splitters have no leaks


def test_splitters_give_what_they_promise() -> None:
    pairs, classes = pl.all_pairs(np.eye(24)), np.repeat(np.arange(6), 4)
    for splitter, task in (
        (PairKFold(n_splits=3), "pair"),
        (ExampleKFold(classes, n_splits=2), "interexample"),
        (ClassKFold(classes, n_splits=3), "interclass"),
    ):
        for train, test in splitter.split(pairs):
            assert find_leaks(pairs[train], pairs[test], classes).task == task
            refuse_leaks(pairs[train], pairs[test], classes, task=task)


# --------------------------------------------------------------------------- refusing


def test_each_task_forbids_what_the_easier_ones_do_and_more() -> None:
    train = pl.Pairs(X, [0, 2], [2, 4])
    same_person, same_image, same_pair = (pl.Pairs(X, [i], [j]) for i, j in ((1, 7), (0, 7), (2, 0)))
    refused = {"pair": [same_pair], "interexample": [same_pair, same_image]}
    refused["interclass"] = [same_pair, same_image, same_person]
    for task, tests in refused.items():
        for test in (same_person, same_image, same_pair):
            if test in tests:
                with pytest.raises(InputError, match=rf"this is not an? {task} split: (1 shared identity|2 shared)"):
                    refuse_leaks(train, test, NAMES, task=task)
            else:
                refuse_leaks(train, test, NAMES, task=task)


def test_without_identities_pairs_and_examples_are_refused() -> None:
    refuse_leaks(pl.Pairs(X, [0], [1]), pl.Pairs(X, [2], [3]))
    with pytest.raises(InputError, match="drop what is shared or report the pair task"):
        refuse_leaks(pl.Pairs(X, [0], [1]), pl.Pairs(X, [2], [1]))
    with pytest.raises(InputError, match=r"drop what is shared$"):
        refuse_leaks(pl.Pairs(X, [0], [1]), pl.Pairs(X, [1], [0]))
    assert find_leaks(pl.Pairs(X, [0], [1]), pl.Pairs(X, [2], [3])).task == "interexample"


@pytest.mark.parametrize(
    ("identities", "message"),
    [
        ((NAMES, None), "give train_identities and test_identities"),
        ((None, NAMES), "give train_identities and test_identities"),
        (([[1]] * 12, NAMES), "train_identities must be numbers, strings or other hashable"),
        ((NAMES[:3], NAMES), "train_identities must hold one value per example, 12"),
        ((NAMES, [*NAMES[:11], None]), r"test_identities contain a missing or infinite value \(example 11\)"),
    ],
)
def test_bad_identities_are_refused(identities: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_leaks(pl.Pairs(X, [0], [1]), pl.Pairs(X.copy(), [2], [3]), *identities)


def test_two_tables_need_two_lists_of_identities() -> None:
    pairs = pl.Pairs(X, [0], [1], right_examples=X)
    with pytest.raises(InputError, match="two tables are a tuple"):
        find_leaks(pairs, pairs, NAMES)


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(InputError, match="task must be one of pair, interexample, interclass, got 'none'"):
        refuse_leaks(pl.Pairs(X, [0], [1]), pl.Pairs(X, [2], [3]), task="none")
