"""Inferred labels against a closure by loops, the bound, and chains behind contradictions."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.selection.transitivity import ContradictionError, Inference, fewest_pairs, infer_labels

Labelled = list[tuple[int, int, int]]


def infer(m: int, labelled: Labelled) -> Inference:
    left, right, y = zip(*labelled, strict=True)
    return infer_labels(pl.Pairs(np.eye(m), list(left), list(right)), list(y))


def closure(m: int, labelled: Labelled) -> np.ndarray:
    """Labels of all ordered pairs, 0 where unknown, 9 on the diagonal or elsewhere where both signs follow."""
    same, differ = np.eye(m, dtype=bool), np.zeros((m, m), dtype=bool)
    for i, j, y in labelled:
        (same if y > 0 else differ)[[i, j], [j, i]] = True
    for k, i, j in product(range(m), repeat=3):
        same[i, j] |= same[i, k] and same[k, j]
    for _ in range(2):  # once from either side
        for k, i, j in product(range(m), repeat=3):
            differ[i, j] |= same[i, k] and differ[k, j]
        differ |= differ.T
    return np.where(same & differ, 9, same.astype(int) - differ.astype(int))


def ordered_pairs(m: int) -> pl.Pairs:
    index = np.arange(m * m)
    return pl.Pairs(np.eye(m), index // m, index % m)


@st.composite
def any_labels(draw: st.DrawFn) -> tuple[int, Labelled]:
    m = draw(st.integers(1, 8))
    one = st.tuples(st.integers(0, m - 1), st.integers(0, m - 1), st.sampled_from([1, -1]))
    return m, draw(st.lists(one, min_size=1, max_size=14))


@st.composite
def true_labels(draw: st.DrawFn) -> tuple[list[int], Labelled]:
    classes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=8))
    places = st.integers(0, len(classes) - 1)
    chosen = draw(st.lists(st.tuples(places, places), min_size=1, max_size=14))
    return classes, [(i, j, 1 if classes[i] == classes[j] else -1) for i, j in chosen]


# --------------------------------------------------------------------------- inference


@given(any_labels())
@settings(max_examples=150, deadline=None)
def test_labels_are_the_closure_or_a_contradiction(drawn: tuple[int, Labelled]) -> None:
    m, labelled = drawn
    expected = closure(m, labelled)
    if (expected == 9).any():
        with pytest.raises(ContradictionError) as caught:
            infer(m, labelled)
        check_chain(caught.value, labelled)
        return
    np.testing.assert_array_equal(infer(m, labelled).labels(ordered_pairs(m)), expected.ravel())


@given(true_labels())
@settings(max_examples=80, deadline=None)
def test_true_labels_are_never_contradicted(drawn: tuple[list[int], Labelled]) -> None:
    classes, labelled = drawn
    m = len(classes)
    known = infer(m, labelled)
    found = known.labels(ordered_pairs(m))
    truth = ordered_pairs(m).labels(classes)
    assert set((found * truth).tolist()) <= {0, 1}
    unknown = int((found == 0).sum()) // 2
    assert known.n_unknown == unknown
    assert known.is_complete == (unknown == 0)
    assert known.n_components >= len(set(classes))


@given(true_labels())
@settings(max_examples=60, deadline=None)
def test_classes_and_negatives(drawn: tuple[list[int], Labelled]) -> None:
    classes, labelled = drawn
    known = infer(len(classes), labelled)
    seen = {k for i, j, _ in labelled for k in (i, j)}
    assert {k for k, number in enumerate(known.classes.tolist()) if number >= 0} == seen
    numbers = [number for number in known.classes.tolist() if number >= 0]
    assert list(dict.fromkeys(numbers)) == list(range(len(set(numbers))))  # by first example
    expected = {tuple(sorted((known.classes[i], known.classes[j]))) for i, j, y in labelled if y < 0}
    assert [tuple(couple) for couple in known.negatives.tolist()] == sorted(expected)


@given(true_labels(), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_open_pairs_are_unknown_and_complete_everything(drawn: tuple[list[int], Labelled], limit: int) -> None:
    classes, labelled = drawn
    known = infer(len(classes), labelled)
    asked = known.open_pairs(limit)
    assert len(set(asked)) == len(asked)
    for i, j in asked:
        assert known.labels(pl.Pairs(np.eye(len(classes)), [i], [j])).tolist() == [0]
    for _ in range(len(classes) ** 2):
        if known.is_complete:
            break
        labelled = labelled + [(i, j, 1 if classes[i] == classes[j] else -1) for i, j in known.open_pairs(1)]
        known = infer(len(classes), labelled)
    assert known.is_complete
    assert known.open_pairs() == []
    np.testing.assert_array_equal(
        known.labels(ordered_pairs(len(classes))), ordered_pairs(len(classes)).labels(classes)
    )


def test_the_sampled_pairs_need_not_be_complete() -> None:
    known = infer(5, [(0, 1, 1), (2, 3, -1)])
    assert known.labels(pl.Pairs(np.eye(5), [4, 4, 1], [4, 0, 0])).tolist() == [1, 0, 1]
    assert not known.is_complete


def test_all_pairs_by_arithmetic() -> None:
    classes = [0, 1, 0, 2, 1]
    pairs = pl.all_pairs(np.eye(5))
    known = infer_labels(pairs, pairs.labels(classes))
    assert known.is_complete
    assert known.classes.tolist() == [0, 1, 0, 2, 1]
    assert known.labels(pairs).tolist() == pairs.labels(classes).tolist()


def test_one_kind_of_label_is_enough() -> None:
    assert infer(3, [(0, 1, 1), (1, 2, 1)]).is_complete
    assert infer(3, [(0, 1, -1), (1, 2, -1), (2, 0, -1)]).is_complete
    assert infer(1, [(0, 0, 1)]).is_complete


# --------------------------------------------------------------------------- the bound


def spanning_pairs(classes: list[int], rng: np.random.Generator) -> Labelled:
    """A random tree of every class and a random negative of every two classes."""
    members = [np.nonzero(np.array(classes) == c)[0].tolist() for c in dict.fromkeys(classes)]
    labelled: Labelled = []
    for group in members:
        order = rng.permutation(group).tolist()
        labelled += [(order[t], order[rng.integers(t)], 1) for t in range(1, len(order))]
    labelled += [(int(rng.choice(a)), int(rng.choice(b)), -1) for a, b in combinations(members, 2)]
    return labelled


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_spanning_pairs_reach_the_bound_and_none_is_superfluous(classes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    labelled = rng.permutation(spanning_pairs(classes, rng)).tolist()
    known = infer(len(classes), labelled)
    assert len(labelled) == known.bound == fewest_pairs(len(classes), len(set(classes)))
    assert known.is_complete
    if len(labelled) > 1:
        assert not infer(len(classes), labelled[1:]).is_complete


@given(true_labels())
@settings(max_examples=80, deadline=None)
def test_fewer_pairs_never_fix_all_labels(drawn: tuple[list[int], Labelled]) -> None:
    classes, labelled = drawn
    known = infer(len(classes), labelled)
    assume(len(labelled) < fewest_pairs(len(classes), len(set(classes))) or len(labelled) < known.bound)
    assert not known.is_complete


def test_bound_by_hand() -> None:
    assert [fewest_pairs(6, c) for c in range(1, 7)] == [5, 5, 6, 8, 11, 15]
    with pytest.raises(InputError, match="from 1 to the number of examples, 6, got 7"):
        fewest_pairs(6, 7)


# --------------------------------------------------------------------------- contradictions


def check_chain(error: ContradictionError, labelled: Labelled) -> None:
    i, j, y = labelled[error.pair]
    assert y == -1
    assert (error.chain[0], error.chain[-1]) == (i, j)
    assert len(error.links) == len(error.chain) - 1
    for link, a, b in zip(error.links, error.chain[:-1], error.chain[1:], strict=True):
        assert labelled[link][2] == 1
        assert {labelled[link][0], labelled[link][1]} == {a, b}
    assert len(set(error.chain)) == len(error.chain)


def test_the_shortest_chain_is_named() -> None:
    labelled = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (4, 0, 1), (3, 4, 1), (5, 5, 1), (3, 0, -1), (1, 3, -1)]
    message = (
        "pair 6 labels examples 3 and 0 -1, but the positive pairs 4, 3 join them: 3 – 4 – 0; "
        r"correct one of these labels \(and 1 more negative pair contradicted\)"
    )
    with pytest.raises(ContradictionError, match=message) as caught:
        infer(6, labelled)
    assert (caught.value.pair, caught.value.chain, caught.value.links) == (6, (3, 4, 0), (4, 3))


def test_both_labels_of_one_pair_contradict() -> None:
    with pytest.raises(ContradictionError, match="the positive pairs 1 join them: 0 – 1") as caught:
        infer(2, [(0, 1, -1), (1, 0, 1)])
    check_chain(caught.value, [(0, 1, -1), (1, 0, 1)])


def test_a_negative_reflexive_pair_contradicts_itself() -> None:
    with pytest.raises(ContradictionError, match="pair 1 is labelled -1 but joins example 2 to itself") as caught:
        infer(3, [(0, 1, 1), (2, 2, -1)])
    assert (caught.value.chain, caught.value.links) == ((2,), ())


def test_long_chains_are_shortened_in_the_message_only() -> None:
    labelled = [(k, k + 1, 1) for k in range(300)] + [(0, 300, -1)]
    with pytest.raises(ContradictionError, match="0 – 1 – 2 – 3 – … – 297 – 298 – 299 – 300") as caught:
        infer(301, labelled)
    assert len(str(caught.value)) < 250
    check_chain(caught.value, labelled)


def test_many_repeats_are_no_trouble() -> None:
    known = infer(3, [(0, 1, 1), (1, 0, 1)] * 300 + [(1, 2, -1)] * 300)
    assert known.is_complete


# --------------------------------------------------------------------------- size


def test_a_million_pairs() -> None:
    rng = np.random.default_rng(0)
    m, classes = 20_000, rng.integers(10, size=20_000)
    pairs = pl.Pairs(np.zeros((m, 1)), rng.integers(m, size=1_000_000), rng.integers(m, size=1_000_000))
    y = pairs.labels(classes)
    known = infer_labels(pairs, y)
    np.testing.assert_array_equal(known.labels(pairs), y)
    y[int(np.nonzero(y == -1)[0][0])] = 1  # joins two large components
    with pytest.raises(ContradictionError) as caught:
        infer_labels(pairs, y)
    check_chain(caught.value, list(zip(pairs.left.tolist(), pairs.right.tolist(), y.tolist(), strict=True)))


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1], r"one label per pair, 2, got shape \(1,\)"),
        ([1, 0], r"labels must be \+1 or -1; drop unlabelled pairs"),
        (["a", "b"], r"labels must be \+1 or -1"),
        ([True, False], r"labels must be \+1 or -1"),
        ([1.0, np.nan], r"labels must be \+1 or -1"),
    ],
)
def test_bad_labels_are_refused(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        infer_labels(pl.Pairs(np.eye(3), [0, 1], [1, 2]), y)


def test_other_tables_are_refused() -> None:
    known = infer(3, [(0, 1, 1)])
    with pytest.raises(InputError, match="of 4 examples, the labelled ones of 3"):
        known.labels(pl.Pairs(np.eye(4), [0], [1]))
    two = pl.Pairs(np.eye(3), [0], [1], right_examples=np.eye(3))
    with pytest.raises(InputError, match="join the tables first"):
        known.labels(two)
    with pytest.raises(InputError, match="join the tables first"):
        infer_labels(two, [1])
