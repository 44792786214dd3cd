"""Pairs against index arithmetic written out, and every input they refuse."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.pairs import Triangle, as_pairs, check_labels

X = np.arange(12.0).reshape(4, 3)


def couples(pairs: pl.Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def some_pairs(**blocks: object) -> pl.Pairs:
    return pl.Pairs(X, [0, 1, 2, 3, 1], [1, 1, 0, 2, 3], **blocks)


# --------------------------------------------------------------------------- by index


def test_pairs_by_index_share_their_examples() -> None:
    pairs = pl.Pairs(X, [0, 2], np.array([1, 2], dtype=np.uint8))
    assert couples(pairs) == [(0, 1), (2, 2)]
    assert pairs.examples is X
    assert pairs.shape == (2, 2, 3)
    assert pairs.n_examples == 4
    assert pairs.reflexive.tolist() == [False, True]
    assert pairs.used_examples().tolist() == [0, 1, 2]


def test_inputs_stay_unchanged() -> None:
    examples, left, right = X.astype(np.int64), np.array([0, 1]), np.array([3, 1])
    invariant, signed = np.array([[1.0], [2.0]]), np.array([[3.0], [0.0]])
    copies = [v.copy() for v in (examples, left, right, invariant, signed)]
    pairs = pl.Pairs(examples, left, right, invariant=invariant, signed=signed)
    pairs.swapped()[[1]].labels([1, 2, 3, 4])
    pairs.conflicts([1, -1])
    for given_, before in zip((examples, left, right, invariant, signed), copies, strict=True):
        np.testing.assert_array_equal(given_, before)
    assert examples.dtype == np.int64


def test_repr_counts() -> None:
    assert repr(some_pairs()) == "Pairs(5 pairs of 4 examples)"
    assert repr(pl.all_pairs(X)) == "Pairs(all 10 pairs of 4 examples)"


# --------------------------------------------------------------------------- all pairs


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_all_pairs_with_reflexive(m: int) -> None:
    pairs = pl.all_pairs(np.eye(m))
    assert couples(pairs) == list(combinations_with_replacement(range(m), 2))
    assert len(pairs) == m * (m + 1) // 2


@pytest.mark.parametrize("m", [2, 3, 7])
def test_all_pairs_without_reflexive(m: int) -> None:
    pairs = pl.all_pairs(np.eye(m), reflexive=False)
    assert couples(pairs) == list(combinations(range(m), 2))
    assert not pairs.reflexive.any()


@pytest.mark.parametrize("reflexive", [True, False])
def test_triangle_equals_triu_indices(reflexive: bool) -> None:
    for m in [*range(2, 40), 257, 1000]:
        triangle = Triangle(m, reflexive)
        expected = np.triu_indices(m, 0 if reflexive else 1)
        np.testing.assert_array_equal(triangle.columns(np.arange(len(triangle))), expected)
        np.testing.assert_array_equal(triangle.all_columns(), expected)


@pytest.mark.parametrize("reflexive", [True, False])
@pytest.mark.parametrize("m", [2**16 - 1, 2**16, 2**16 + 1, 10**6, 2**24, 2**26])
def test_triangle_settles_the_rounding_of_the_square_root(m: int, reflexive: bool) -> None:
    """Number k of (i, j) is the sum of the row lengths before i, plus j − i: exact in Python's integers."""
    triangle, shift = Triangle(m, reflexive), 0 if reflexive else 1
    rng = np.random.default_rng(m)
    rows = [0, 1, m // 2, m - 4, m - 3, m - 2, *rng.integers(0, m - 1, 300).tolist()]
    numbers, expected = [], []
    for i in rows:
        for j in (i + shift, (i + shift + m - 1) // 2, m - 1):
            length = m - shift
            numbers.append(i * length - i * (i - 1) // 2 + j - i - shift)
            expected.append((i, j))
    left, right = triangle.columns(np.array(numbers))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


@given(st.integers(3, 2**22), st.booleans(), st.data())
def test_triangle_numbers_are_consecutive(m: int, reflexive: bool, data: st.DataObject) -> None:
    triangle = Triangle(m, reflexive)
    k = data.draw(st.integers(0, len(triangle) - 2))
    (i, i_next), (j, j_next) = (column.tolist() for column in triangle.columns(np.array([k, k + 1])))
    shift = 0 if reflexive else 1
    assert i + shift <= j < m
    assert (i_next, j_next) == ((i, j + 1) if j + 1 < m else (i + 1, i + 1 + shift))


def test_slices_of_all_pairs_equal_slices_of_the_columns() -> None:
    pairs = pl.all_pairs(np.eye(20), reflexive=False)
    chosen = np.random.default_rng(0).permutation(len(pairs))[:50]
    assert couples(pairs[chosen]) == [couples(pairs)[k] for k in chosen]
    assert pairs.triangle is not None
    assert pairs[chosen].triangle is None


@pytest.mark.parametrize(("m", "reflexive"), [(0, True), (0, False), (1, False)])
def test_too_few_examples_give_no_pairs(m: int, reflexive: bool) -> None:
    with pytest.raises(InputError, match=r"examples? gives? no pairs; pass at least"):
        pl.all_pairs(np.zeros((m, 2)), reflexive=reflexive)


# --------------------------------------------------------------------------- from an array


def test_from_array_merges_equal_rows() -> None:
    array = np.array([[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]], [[5.0, 6.0], [5.0, 6.0]]])
    pairs = pl.Pairs.from_array(array)
    assert pairs.examples.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert couples(pairs) == [(0, 1), (1, 0), (2, 2)]


def test_from_array_takes_both_zeros_as_one_value() -> None:
    array = np.array([[[0.0, 1.0], [-0.0, 1.0]]])
    pairs = pl.Pairs.from_array(array)
    assert pairs.n_examples == 1
    assert pairs.reflexive.tolist() == [True]
    assert np.signbit(array[0, 1, 0])


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.lists(st.integers(-2, 2), min_size=4 * n, max_size=4 * n).map(
            lambda v: np.array(v, dtype=np.float64).reshape(-1, 2, 2)
        )
    ),
    st.sampled_from([np.float64, np.float32, np.int64, object]),
)
def test_array_round_trip(array: np.ndarray, dtype: type) -> None:
    pairs = as_pairs(array.astype(dtype))
    np.testing.assert_array_equal(np.asarray(pairs), array)
    assert pairs.n_examples == len(np.unique(array.reshape(-1, 2), axis=0))


def test_from_array_keeps_float32() -> None:
    assert pl.Pairs.from_array(np.ones((2, 2, 3), dtype=np.float32)).examples.dtype == np.float32


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 2)), r"shape \(n_pairs, 2, n_features\), got \(3, 2\)"),
        (np.zeros((3, 3, 2)), r"got \(3, 3, 2\)"),
        (np.zeros((0, 2, 2)), "array of pairs is empty"),
        (np.zeros((2, 2, 0)), "array of pairs is empty"),
        (np.full((1, 2, 2), np.nan), "contain NaN"),
        (np.array([[["a"], ["b"]]]), "non-numbers"),
    ],
)
def test_from_array_refuses(array: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.Pairs.from_array(array)


def test_from_array_refuses_complex_numbers() -> None:
    with pytest.raises(InputError, match="complex"):
        pl.Pairs.from_array(np.full((1, 2, 2), 1j))


@pytest.mark.parametrize("bad", [7, "pairs", {1: 2}, None])
def test_as_pairs_refuses_other_things(bad: object) -> None:
    with pytest.raises(InputError, match=r"expected pl\.Pairs or an array"):
        as_pairs(bad)


# --------------------------------------------------------------------------- from ids


def test_from_ids_joins_strings_and_numbers() -> None:
    names = ["ann", "bob", "cid", "dot"]
    assert couples(pl.Pairs.from_ids(X, names, ["dot", "bob"], ["ann", "bob"])) == [(3, 0), (1, 1)]
    assert couples(pl.Pairs.from_ids(X, [10, 20, 30, 40], [40], [10])) == [(3, 0)]
    assert couples(pl.Pairs.from_ids(X, np.array(names), np.array(["cid"]), ["ann"])) == [(2, 0)]


def test_from_ids_lists_all_missing_ids() -> None:
    lost = [f"lost{k}" for k in range(7)]
    with pytest.raises(MissingIdsError, match=r"7 ids .* 'lost0', .*'lost4', …; add their rows") as caught:
        pl.Pairs.from_ids(X, ["a", "b", "c", "d"], ["a", *lost], [*lost, "b"])
    assert caught.value.missing == lost


def test_from_ids_refuses_duplicates_and_wrong_counts() -> None:
    with pytest.raises(InputError, match="must be unique, but 'b' occurs more than once"):
        pl.Pairs.from_ids(X, ["a", "b", "b", "c"], ["a"], ["b"])
    with pytest.raises(InputError, match="3 ids for 4 examples"):
        pl.Pairs.from_ids(X, ["a", "b", "c"], ["a"], ["b"])
    with pytest.raises(InputError, match="left has 2 entries and right has 1"):
        pl.Pairs.from_ids(X, ["a", "b", "c", "d"], ["a", "b"], ["b"])


# --------------------------------------------------------------------------- labels and conflicts


@pytest.mark.parametrize("classes", [[0, 0, 1, 0], ["u", "u", "v", "u"], [0.5, 0.5, -1, 0.5]])
def test_labels_compare_classes(classes: list[object]) -> None:
    pairs = some_pairs()
    expected = [1 if classes[a] == classes[b] else -1 for a, b in couples(pairs)]
    assert pairs.labels(classes).tolist() == expected
    assert pl.all_pairs(X).labels(classes).tolist() == [
        1 if classes[a] == classes[b] else -1 for a, b in combinations_with_replacement(range(4), 2)
    ]


def test_labels_refuse_bad_classes() -> None:
    pairs = some_pairs()
    with pytest.raises(InputError, match=r"one value per example, 4, got shape \(3,\)"):
        pairs.labels([0, 1, 2])
    with pytest.raises(InputError, match="classes contain a missing or infinite value"):
        pairs.labels([0, 1, 2, np.nan])
    with pytest.raises(InputError, match="needs one table of examples"):
        pl.Pairs(X, [0], [0], right_examples=X).labels([0, 1, 2, 3])


small_pairs = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([-1, 1])), min_size=1, max_size=12
)


@given(small_pairs, st.booleans())
def test_conflicts_equal_a_brute_force_search(rows: list[tuple[int, int, int]], antisymmetric: bool) -> None:
    """A pair conflicts with the first pair of the same two examples if their labels differ, once oriented."""
    left, right, y = (list(column) for column in zip(*rows, strict=True))
    expected = []
    for second, (a, b, label) in enumerate(rows):
        first, (c, _, known) = next((k, other) for k, other in enumerate(rows) if {other[0], other[1]} == {a, b})
        turned = a != c
        if known != (-label if antisymmetric and turned else label):
            expected.append((first, second, a, b))
    found = pl.Pairs(X, left, right).conflicts(y, antisymmetric=antisymmetric)
    assert list(found) == expected
    assert len(found) == len(expected)


featured = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(-1, 1), st.sampled_from([-1, 1])),
    min_size=1,
    max_size=14,
)


@given(featured, st.booleans(), st.booleans())
def test_conflicts_of_pairs_with_features_equal_a_brute_force_search(
    rows: list[tuple[int, int, int, int, int]], antisymmetric: bool, ordered: bool
) -> None:
    """Those with the same examples and features, with the sign of these where the pair is the other way round."""
    rows = [(a, b, z, 0 if a == b else w, label) for a, b, z, w, label in rows]

    def seen(row: tuple[int, int, int, int, int]) -> tuple[tuple[int, int, int, int], int]:
        a, b, z, w, label = row
        turned = a > b and not ordered
        return ((b, a, z, -w) if turned else (a, b, z, w)), (-label if turned and antisymmetric else label)

    expected = []
    for second, row in enumerate(rows):
        first = next(k for k, other in enumerate(rows) if seen(other)[0] == seen(row)[0])
        if seen(rows[first])[1] != seen(row)[1]:
            expected.append((first, second, *row[:2]))
    left, right, z, w, y = (np.array(column) for column in zip(*rows, strict=True))
    found = pl.Pairs(X, left, right, invariant=z, signed=w).conflicts(y, antisymmetric=antisymmetric, ordered=ordered)
    assert list(found) == expected


def test_conflicts_copy_no_features_of_pairs_that_occur_once() -> None:
    n, q = 20_000, 60
    couples_of = np.random.default_rng(0).choice(10**6, n, replace=False)
    columns = [np.append(column, column[:2]) for column in np.divmod(couples_of, 1000)]
    pairs = pl.Pairs(np.zeros((1000, 1)), *columns, invariant=np.ones((n + 2, q)))
    y = np.append(np.ones(n), [-1.0, 1.0])
    tracemalloc.start()
    found = pairs.conflicts(y, ordered=True)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(found) == [(0, n, columns[0][0], columns[1][0])]
    assert most < 0.3 * 8 * n * q


def test_conflicts_name_an_example() -> None:
    found = pl.Pairs(X, [0, 1, 2], [1, 0, 2]).conflicts([1, -1, 1])
    assert "1 pair carries contradictory labels, e.g. pairs 0 and 1 both join examples 1 and 0" in found.message()


def test_two_tables_are_never_turned_round() -> None:
    pairs = pl.Pairs(X, [0, 1], [1, 0], right_examples=X + 1)
    assert len(pairs.conflicts([1, -1])) == 0
    assert not pl.Pairs(X, [2], [2], right_examples=X + 1).reflexive.any()


def test_all_pairs_never_conflict() -> None:
    assert len(pl.all_pairs(X).conflicts(np.tile([1, -1], 5))) == 0


def test_conflicts_refuse_a_wrong_length() -> None:
    with pytest.raises(InputError, match=r"one label per pair, 5, got shape \(2,\)"):
        some_pairs().conflicts([1, -1])


# --------------------------------------------------------------------------- slicing and swapping


@pytest.mark.parametrize(
    "key",
    [
        slice(1, 4),
        slice(None, None, -1),
        slice(-2, None),
        [4, 0, 0],
        [-1, -5],
        np.array([2], dtype=np.uint8),
        np.array([True, False, True, False, True]),
        [False, True, False, False, False],
        [],
    ],
)
def test_slices_follow_numpy(key: object) -> None:
    rng = np.random.default_rng(0)
    invariant, signed = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    signed[1] = 0.0  # pair 1 is reflexive
    pairs = some_pairs(invariant=invariant, signed=signed)
    index = np.arange(5)[key] if np.size(key) else np.arange(0)
    for part in (pairs[key], pairs[key, ...]):
        assert couples(part) == [couples(pairs)[k] for k in index]
        np.testing.assert_array_equal(part.invariant, invariant[index])
        np.testing.assert_array_equal(part.signed, signed[index])
        assert part.examples is X


@pytest.mark.parametrize("triangle", [False, True])
@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([99], "out of range"),
        ([-99], "out of range"),
        ([0.5], "integers"),
        ([[0, 1]], "integers"),
        (3, "integers"),
        ([True, False], "mask needs one entry per pair"),
        (["a"], "integers"),
    ],
)
def test_bad_slices_raise(key: object, message: str, triangle: bool) -> None:
    with pytest.raises(IndexError, match=message):
        (pl.all_pairs(X) if triangle else some_pairs())[key]


def test_swapping_turns_pairs_and_signed_features() -> None:
    invariant, signed = np.arange(10.0).reshape(5, 2), np.array([1.0, 0.0, -2.0, 3.0, 4.0])
    pairs = some_pairs(invariant=invariant, signed=signed)
    turned = pairs.swapped()
    assert couples(turned) == [(b, a) for a, b in couples(pairs)]
    np.testing.assert_array_equal(turned.invariant, invariant)
    np.testing.assert_array_equal(turned.signed, -signed[:, None])
    again = turned.swapped()
    assert couples(again) == couples(pairs)
    np.testing.assert_array_equal(again.signed, pairs.signed)
    np.testing.assert_array_equal(np.asarray(turned), np.asarray(pairs)[:, ::-1])
    np.testing.assert_array_equal(pairs.signed, signed[:, None])


def test_swapping_exchanges_two_tables() -> None:
    other = -np.ones((2, 3))
    pairs = pl.Pairs(X, [3, 0], [1, 1], right_examples=other)
    np.testing.assert_array_equal(np.asarray(pairs), np.stack([X[[3, 0]], other[[1, 1]]], axis=1))
    turned = pairs.swapped()
    assert turned.examples is other
    assert turned.right_examples is X
    np.testing.assert_array_equal(np.asarray(turned), np.asarray(pairs)[:, ::-1])


def test_swapping_all_pairs() -> None:
    pairs = pl.all_pairs(X)
    assert couples(pairs.swapped()) == [(b, a) for a, b in couples(pairs)]
    assert pairs.swapped().triangle is None


# --------------------------------------------------------------------------- arrays and other tables


def test_array_of_pairs() -> None:
    pairs = some_pairs()
    array = np.asarray(pairs)
    assert array.shape == pairs.shape
    np.testing.assert_array_equal(array, np.stack([X[pairs.left], X[pairs.right]], axis=1))
    assert np.asarray(pairs, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="always a copy"):
        np.array(pairs, copy=False)


@pytest.mark.parametrize("examples", [sparse.csr_array(X), ["a", "b", "c", "d"], np.zeros((4, 2, 2))])
def test_examples_without_rows_of_numbers_have_no_array(examples: object) -> None:
    with pytest.raises(TypeError, match=r"use pairs\.examples"):
        np.asarray(pl.Pairs(examples, [0], [3]))


def test_examples_of_any_kind() -> None:
    words = ["a", "bb", "ccc", "dddd"]
    assert pl.Pairs(words, [3], [0]).examples is words
    assert couples(pl.all_pairs(words, reflexive=False)) == list(combinations(range(4), 2))
    assert pl.Pairs(words, [3], [0]).shape == (1, 2)
    table = pl.Pairs(sparse.coo_array(X), [0, 3], [1, 1])
    assert table.shape == (2, 2, 3)
    np.testing.assert_array_equal(table.examples.toarray(), X)
    np.testing.assert_array_equal(pl.Pairs(X.tolist(), [0], [1]).examples, X)
    assert pl.Pairs(X.astype(np.float32), [0], [1]).examples.dtype == np.float32
    assert pl.Pairs(X.astype(np.int8), [0], [1]).examples.dtype == np.float64
    assert pl.Pairs(sparse.csr_array(X.astype(int)), [0], [1]).examples.dtype == np.float64
    assert pl.Pairs(np.zeros((4, 5, 6)), [0], [1]).shape == (1, 2, 5, 6)


def test_objects_may_be_lists_of_different_lengths() -> None:
    documents = [[1, 2, 3], [4], [5, 6]]
    assert pl.Pairs(documents, [0], [2]).examples == documents


def test_with_examples_keeps_the_pairs() -> None:
    pairs = some_pairs(signed=[1.0, 0.0, 1.0, 2.0, 3.0])
    other = pairs.with_examples(X[:, :1])
    assert couples(other) == couples(pairs)
    assert other.shape == (5, 2, 1)
    np.testing.assert_array_equal(other.signed, pairs.signed)
    with pytest.raises(InputError, match="3 rows for 4 examples"):
        pairs.with_examples(X[:3])
    with pytest.raises(InputError, match="contain NaN"):
        pairs.with_examples(np.full((4, 1), np.nan))


def test_used_examples_are_sorted_and_unique() -> None:
    assert pl.Pairs(X, [3, 3], [0, 3]).used_examples().tolist() == [0, 3]
    assert pl.all_pairs(X).used_examples().tolist() == [0, 1, 2, 3]
    assert pl.all_pairs(X)[[0, 1]].used_examples().tolist() == [0, 1]


# --------------------------------------------------------------------------- what is refused


def spoilt(value: float) -> np.ndarray:
    examples = X.copy()
    examples[2, 1] = value
    return examples


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, lambda v: v.tolist(), np.float32])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_numbers_that_are_not_finite_are_refused(convert: object, value: float, name: str) -> None:
    with pytest.raises(InputError, match=rf"examples contain {name} \(first in .*, 1 in all\); impute or drop"):
        pl.Pairs(convert(spoilt(value)), [0], [1])  # type: ignore[operator]


def test_the_first_bad_row_is_named() -> None:
    with pytest.raises(InputError, match="first in row 2"):
        pl.Pairs(spoilt(np.nan), [0], [1])


def test_infinities_of_both_signs_are_refused() -> None:
    examples = X.copy()
    examples[0, 0], examples[3, 1] = np.inf, -np.inf
    with pytest.raises(InputError, match="infinity"):
        pl.Pairs(examples, [0], [1])


def test_large_finite_numbers_are_no_infinities() -> None:
    huge = np.full((4, 3), np.finfo(np.float64).max)
    assert len(pl.Pairs(huge, [0], [1])) == 1


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        (np.arange(4.0), "one row per example"),
        (np.ones((4, 2)) * 1j, "complex numbers"),
        (np.array([["a", "b"], ["c", "d"]]), "2-D array of non-numbers"),
        ("word", "must be a 2-D array, a sparse matrix or a list"),
        (7, "must be a 2-D array, a sparse matrix or a list"),
        (None, "must be a 2-D array, a sparse matrix or a list"),
    ],
)
def test_bad_examples_are_refused(examples: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.Pairs(examples, [0], [1])
    with pytest.raises(InputError, match=message):
        pl.all_pairs(examples)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([0, 4], [0, 1], "left has index 4, but the examples are 0 … 3"),
        ([0, 1], [0, -1], "right has index -1"),
        ([0.0, 1.0], [0, 1], r"left must hold integer row numbers, got float64; .*from_ids"),
        ([0, 1], [True, False], "right must hold integer row numbers, got bool"),
        (["a"], ["b"], "left must hold integer row numbers"),
        ([[0, 1]], [0, 1], r"left must be one-dimensional, got shape \(1, 2\)"),
        (0, [0], "left must be one-dimensional"),
        ([], [], "there are no pairs"),
        ([0, 1], [1], "left has 2 entries and right has 1"),
    ],
)
def test_bad_columns_are_refused(left: object, right: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.Pairs(X, left, right)


def test_the_right_column_counts_in_the_right_table() -> None:
    assert len(pl.Pairs(X, [0], [5], right_examples=np.zeros((6, 3)))) == 1
    with pytest.raises(InputError, match="right has index 2"):
        pl.Pairs(X, [0], [2], right_examples=np.zeros((2, 3)))
    with pytest.raises(InputError, match="right_examples contain NaN"):
        pl.Pairs(X, [0], [0], right_examples=np.full((1, 3), np.nan))


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"invariant": np.zeros((4, 2))}, r"invariant must have shape \(n_pairs, q\) with n_pairs = 5"),
        ({"signed": np.zeros((5, 2, 2))}, "signed must have shape"),
        ({"invariant": np.full(5, np.nan)}, "invariant contains NaN"),
        ({"signed": ["a", "b", "c", "d", "e"]}, "non-numbers"),
        ({"signed": np.ones(5)}, "reflexive pair is its own mirror"),
    ],
)
def test_bad_blocks_are_refused(blocks: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        some_pairs(**blocks)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, -1], r"one label per pair, 3, got shape \(2,\)"),
        ([0, 1, 1], r"labels must be \+1 or -1, found \['0', '1'\]; use np.where"),
        ([1, -1, np.nan], r"labels must be \+1 or -1"),
        (["a", "b", "a"], r"labels must be \+1 or -1, found \['a', 'b'\]; use np.where\(np.asarray\(y\) == 'same'"),
        ([True, False, True], r"labels must be \+1 or -1"),
        ([1, 1, 1], r"all 3 labels are \+1; both classes are needed"),
        ([-1, -1, -1], "all 3 labels are -1"),
    ],
)
def test_bad_labels_are_refused(y: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_labels(y, 3)


@settings(max_examples=25)
@given(st.lists(st.sampled_from([-1, 1]), min_size=2).filter(lambda y: abs(sum(y)) < len(y)))
def test_good_labels_become_floats(y: list[int]) -> None:
    labels = check_labels(np.array(y, dtype=np.int8), len(y))
    assert labels.dtype == np.float64
    assert labels.tolist() == y
