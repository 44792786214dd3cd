"""Choice of bases."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.errors import InputError
from pairlearn.similarities.bases import STRATEGIES, choose_bases, count_bases, fair_shares, kernel_distances, medoids

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
Y = np.repeat(["a", "b", "c"], [5, 10, 15])


def similarity(index: np.ndarray) -> np.ndarray:
    return -np.abs(X[index, None] - X[None, index]).sum(axis=2)


def choose(strategy: Any, k: int, seed: int = 0) -> np.ndarray:
    return choose_bases(strategy, k, len(X), Y, similarity, np.random.default_rng(seed))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("k", [1, 7, 30])
def test_bases_are_different_rising_and_as_many_as_asked_for(strategy: str, k: int) -> None:
    index = choose(strategy, k)
    assert len(index) == k
    assert (np.diff(index) > 0).all()
    assert 0 <= index.min() <= index.max() < 30
    np.testing.assert_array_equal(index, choose(strategy, k))


def test_random_bases_depend_on_the_seed() -> None:
    assert not np.array_equal(choose("random", 7), choose("random", 7, seed=1))


def test_index_bases_lie_evenly() -> None:
    assert choose("index", 6).tolist() == [0, 5, 10, 15, 20, 25]


@pytest.mark.parametrize("strategy", ["per_class", "medoids_per_class"])
def test_every_class_has_its_share(strategy: str) -> None:
    labels, counts = np.unique(Y[choose(strategy, 9)], return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {"a": 3, "b": 3, "c": 3}


@settings(deadline=None)
@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=8), share=st.floats(0.0, 1.0))
def test_shares_add_up_and_differ_only_where_a_class_is_used_up(sizes: list[int], share: float) -> None:
    total = int(share * sum(sizes))
    shares = fair_shares(np.array(sizes), total)
    assert shares.sum() == total
    assert (shares <= sizes).all()
    not_used_up = shares[shares < sizes]
    if len(not_used_up):
        assert shares.max() - not_used_up.min() <= 1


def groups_cost(D: np.ndarray, centres: Any) -> float:
    return float(D[:, list(centres)].min(axis=1).sum())


def test_medoids_of_separated_groups_are_the_best_of_all_choices() -> None:
    points = np.concatenate([rng.normal(size=4) * 0.1 + centre for centre in (0, 5, 10)])
    D = np.abs(np.subtract.outer(points, points))
    best = min(groups_cost(D, choice) for choice in combinations(range(12), 3))
    assert groups_cost(D, medoids(D, 3, np.random.default_rng(0))) == pytest.approx(best)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(1, 10))
def test_no_medoid_can_be_moved_inside_its_group(seed: int, k: int) -> None:
    """Also where the similarity is indefinite and distances are negative."""
    generator = np.random.default_rng(seed)
    S = generator.normal(size=(20, 20))
    D = kernel_distances(S)
    centres = medoids(D, k, generator)
    assert len(np.unique(centres)) == k
    group = D[:, centres].argmin(axis=1)
    group[centres] = np.arange(k)
    for number, centre in enumerate(centres):
        members = np.nonzero(group == number)[0]
        sums = D[np.ix_(members, members)].sum(axis=0)
        assert D[members, centre].sum() <= sums.min() + 1e-9


def test_kernel_distances_of_a_definite_similarity_are_squared_distances() -> None:
    expected = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel_distances(X @ X.T), expected, atol=1e-12)


def test_medoids_of_equal_examples_are_still_different() -> None:
    assert len(np.unique(medoids(np.zeros((5, 5)), 3, np.random.default_rng(0)))) == 3


def test_medoids_look_at_a_bounded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairlearn.similarities.bases.MEDOID_SAMPLE", 12)
    seen: list[int] = []

    def watched(index: np.ndarray) -> np.ndarray:
        seen.append(len(index))
        return similarity(index)

    assert len(choose_bases("medoids", 3, 30, None, watched, np.random.default_rng(0))) == 3
    assert seen == [12]


def test_given_bases_are_kept_in_their_order() -> None:
    assert choose([4, 2, 9], 3).tolist() == [4, 2, 9]


@pytest.mark.parametrize("bases", [[0, 0], [30], [-1], [0.5], [[0, 1]], []])
def test_given_bases_that_are_no_examples_are_refused(bases: Any) -> None:
    with pytest.raises(InputError, match="bases"):
        choose(bases, 1)


def test_numbers_of_bases() -> None:
    assert count_bases(None, 30) == 30
    assert count_bases(None, 5000) == 1000
    assert count_bases(7, 30) == 7
    with pytest.raises(InputError, match="more than the 30 training examples"):
        count_bases(31, 30)
    for bad in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="integer ≥ 1"):
            count_bases(bad, 30)  # type: ignore[arg-type]


def test_unknown_strategies_and_missing_classes_are_refused() -> None:
    with pytest.raises(InputError, match="bases is"):
        choose("best", 3)
    with pytest.raises(InputError, match="needs the classes"):
        choose_bases("per_class", 3, 30, None, similarity, rng)
