"""Chosen pairs against lists of all pairs, written out."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.data.synthetic import sliding_memory_pairs
from pairlearn.errors import InputError
from pairlearn.selection.mining import HardNegatives
from pairlearn.selection.sampling import PairCounts, PairSampler, count_pairs, sliding_memory

CLASSES = np.array([2, 0, 1, 0, 0, 2, 1, 0, 3])
X = np.random.default_rng(5).normal(size=(9, 2))
columns_of_classes = st.lists(st.integers(0, 3), min_size=2, max_size=12)

Couples = list[tuple[int, int]]


def couples(pairs: pl.Pairs) -> Couples:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def split(pairs: pl.Pairs, classes: Any) -> tuple[Couples, Couples]:
    labels = pairs.labels(classes).tolist()
    chosen = couples(pairs)
    assert labels == sorted(labels, reverse=True)  # positives first
    return chosen[: labels.count(1)], chosen[labels.count(1) :]


def written_out(classes: Any, reflexive: bool = True) -> tuple[Couples, Couples]:
    every = (combinations_with_replacement if reflexive else combinations)(range(len(classes)), 2)
    found: tuple[Couples, Couples] = ([], [])
    for i, j in every:
        found[0 if classes[i] == classes[j] else 1].append((i, j))
    return found


def table(classes: Any) -> np.ndarray:
    return np.arange(float(len(classes)))[:, None]


# --------------------------------------------------------------------------- all pairs, counts


@pytest.mark.parametrize("reflexive", [True, False])
def test_everything_is_all_pairs_by_arithmetic(reflexive: bool) -> None:
    pairs = PairSampler(reflexive=reflexive).draw(X, CLASSES)
    assert pairs.triangle is not None
    assert couples(pairs) == couples(pl.all_pairs(X, reflexive))


@given(columns_of_classes, st.booleans())
@settings(max_examples=50, deadline=None)
def test_counts_and_complete_draws(classes: list[int], reflexive: bool) -> None:
    positives, negatives = written_out(classes, reflexive)
    assert count_pairs(classes, reflexive=reflexive) == PairCounts(len(positives), len(negatives))
    if positives or negatives:
        sampler = PairSampler(positives=len(positives), negatives=len(negatives), reflexive=reflexive)
        drawn = split(sampler.draw(table(classes), classes), classes)
        assert (sorted(drawn[0]), sorted(drawn[1])) == (positives, negatives)


@given(columns_of_classes, st.booleans(), st.booleans(), st.integers(0, 3), st.data())
@settings(max_examples=80, deadline=None)
def test_exactly_the_asked_numbers_without_repeats(
    classes: list[int], reflexive: bool, balanced: bool, seed: int, data: st.DataObject
) -> None:
    positives, negatives = written_out(classes, reflexive)
    p, n = (data.draw(st.integers(0, len(all_of))) for all_of in (positives, negatives))
    if p + n == 0:
        return
    sampler = PairSampler(positives=p, negatives=n, reflexive=reflexive, balanced=balanced, seed=seed)
    same, other = split(sampler.draw(table(classes), classes), classes)
    assert (len(same), len(other)) == (len(set(same)), len(set(other))) == (p, n)
    assert set(same) <= set(positives)
    assert set(other) <= set(negatives)


def test_classes_may_have_names_and_examples_may_be_objects() -> None:
    words, names = ["a", "bb", "ccc", "dddd"], ["u", "v", "u", "w"]
    pairs = PairSampler(negatives=2, reflexive=False).draw(words, names)
    assert pairs.examples is words
    assert couples(pairs)[0] == (0, 2)
    assert pairs.labels(names).tolist() == [1, -1, -1]


def test_equal_seeds_give_equal_pairs() -> None:
    options: list[dict[str, Any]] = [{}, {"per_class_cap": 2}, {"balanced": True, "positives": 4}]
    for option in options:
        drawn = [couples(PairSampler(negatives=9, seed=seed, **option).draw(X, CLASSES)) for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1] != drawn[2]


def test_a_generator_goes_on() -> None:
    sampler = PairSampler(negatives=9, seed=np.random.default_rng(1))
    assert couples(sampler.draw(X, CLASSES)) != couples(sampler.draw(X, CLASSES))


def test_inputs_stay_unchanged() -> None:
    examples, classes = X.copy(), CLASSES.copy()
    PairSampler(negatives=3, per_class_cap=2, hard=HardNegatives(pl.EuclidBaseline())).draw(examples, classes)
    np.testing.assert_array_equal(examples, X)
    np.testing.assert_array_equal(classes, CLASSES)


# --------------------------------------------------------------------------- numbers and ratios


@pytest.mark.parametrize(("ratio", "expected"), [(0, 0), (0.5, 8), (1, 17), (1.25, 21)])
def test_ratio_counts_negatives_per_positive(ratio: float, expected: int) -> None:
    assert count_pairs(CLASSES) == PairCounts(17, 28)
    same, other = split(PairSampler(ratio=ratio).draw(X, CLASSES), CLASSES)
    assert (len(same), len(other)) == (17, expected)


def test_ratio_follows_the_chosen_positives() -> None:
    same, other = split(PairSampler(positives=5, ratio=3).draw(X, CLASSES), CLASSES)
    assert (len(same), len(other)) == (5, 15)


@pytest.mark.parametrize("n_negatives", [3, 5, 20, 26])
def test_negatives_are_uniform(n_negatives: int) -> None:
    rng, repeats, negatives = np.random.default_rng(0), 800, written_out(CLASSES)[1]
    sampler = PairSampler(positives=0, negatives=n_negatives, seed=rng)
    counts = Counter(couple for _ in range(repeats) for couple in couples(sampler.draw(X, CLASSES)))
    share = n_negatives / len(negatives)
    # Every pair is in with probability `share`: the sum of squares is about one per pair, with deviation √(2/28).
    deviations = [(counts[c] - repeats * share) ** 2 / (repeats * share * (1 - share)) for c in negatives]
    assert 0.3 < np.mean(deviations) < 2.0


def test_positives_below_a_cap_are_uniform_within_each_class() -> None:
    sampler = PairSampler(negatives=0, per_class_cap=2, reflexive=False, seed=np.random.default_rng(0))
    counts = Counter(couple for _ in range(1500) for couple in couples(sampler.draw(X, CLASSES)))
    big = [counts[couple] for couple in combinations([1, 3, 4, 7], 2)]
    assert sum(big) == 3000
    assert max(abs(count - 500) for count in big) < 5 * np.sqrt(1500 * 2 / 9)
    assert counts[0, 5] == counts[2, 6] == 1500


# --------------------------------------------------------------------------- caps and balance


@given(columns_of_classes, st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_a_cap_limits_positives_and_the_examples_of_negatives(classes: list[int], cap: int, seed: int) -> None:
    same, other = split(PairSampler(per_class_cap=cap, seed=seed).draw(table(classes), classes), classes)
    sizes = Counter(classes)
    assert Counter(classes[i] for i, _ in same) == {c: min(cap, n * (n + 1) // 2) for c, n in sizes.items()}
    used = {k for couple in other for k in couple}
    if len(sizes) > 1:
        assert Counter(classes[k] for k in used) == {c: min(cap, n) for c, n in sizes.items()}
    assert other == [] or len(other) == len(written_out([classes[k] for k in sorted(used)])[1])


@given(columns_of_classes, st.integers(1, 4), st.data())
@settings(max_examples=80, deadline=None)
def test_a_number_below_a_cap(classes: list[int], cap: int, data: st.DataObject) -> None:
    most = sum(min(cap, n * (n + 1) // 2) for n in Counter(classes).values())
    n = data.draw(st.integers(1, most))
    same, _ = split(PairSampler(positives=n, negatives=0, per_class_cap=cap).draw(table(classes), classes), classes)
    assert len(set(same)) == n
    assert max(Counter(classes[i] for i, _ in same).values()) <= cap


def is_even(chosen: dict[Any, int], limits: dict[Any, int]) -> bool:
    most = max(chosen.values(), default=0)
    return all(chosen.get(key, 0) >= min(limit, most - 1) for key, limit in limits.items())


@given(columns_of_classes, st.data())
@settings(max_examples=80, deadline=None)
def test_balanced_choice_is_even(classes: list[int], data: st.DataObject) -> None:
    kinds = [Counter(frozenset((classes[i], classes[j])) for i, j in part) for part in written_out(classes)]
    p, n = (data.draw(st.integers(0, sum(kind.values()))) for kind in kinds)
    if p + n == 0:
        return
    pairs = PairSampler(positives=p, negatives=n, balanced=True).draw(table(classes), classes)
    for part, kind in zip(split(pairs, classes), kinds, strict=True):
        assert is_even(Counter(frozenset((classes[i], classes[j])) for i, j in part), kind)


def test_balance_within_a_cap() -> None:
    classes = np.repeat([0, 1, 2], [20, 3, 1])
    sampler = PairSampler(positives=11, negatives=9, per_class_cap=5, balanced=True, reflexive=True)
    same, other = split(sampler.draw(table(classes), classes), classes)
    assert Counter(classes[i] for i, _ in same) == {0: 5, 1: 5, 2: 1}
    assert Counter((classes[i], classes[j]) for i, j in other) == {(0, 1): 3, (0, 2): 3, (1, 2): 3}
    assert len({i for i, _ in other if i < 20}) <= 5


# --------------------------------------------------------------------------- hard negatives


class ByPair:
    """A scorer of pairs only."""

    def __init__(self) -> None:
        self.scored = 0

    def decision_function(self, pairs: pl.Pairs) -> np.ndarray:
        self.scored += len(pairs)
        return np.asarray(pl.EuclidBaseline().decision_function(pairs))


class ByBlock:
    """A scorer of blocks only."""

    def score_block(self, probe: Any, gallery: Any) -> np.ndarray:
        return np.asarray(pl.EuclidBaseline().score_block(probe, gallery))


def sample(m: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 3)), rng.integers(n_classes, size=m)


def by_brute_force(X: np.ndarray, among: Couples, n: int) -> Couples:
    return sorted(among, key=lambda c: (float(np.linalg.norm(X[c[0]] - X[c[1]])), c))[:n]


@pytest.mark.parametrize("scorer", [ByPair(), ByBlock(), pl.EuclidBaseline()])
@pytest.mark.parametrize("batch", [1, 7, 100, 2**18])
@pytest.mark.parametrize("n", [1, 25, 400])
def test_hard_negatives_are_the_highest_scores(scorer: Any, batch: int, n: int) -> None:
    X, classes = sample(40, 6, seed=3)
    sampler = PairSampler(positives=0, negatives=n, hard=HardNegatives(scorer, batch=batch))
    assert couples(sampler.draw(X, classes)) == by_brute_force(X, written_out(classes)[1], n)


@pytest.mark.parametrize("scorer", [ByPair(), ByBlock()])
def test_hard_negatives_among_candidates(scorer: Any) -> None:
    X, classes = sample(60, 6, seed=4)
    pool = couples(PairSampler(positives=0, negatives=700, seed=8).draw(X, classes))
    hard = HardNegatives(scorer, candidates=700, batch=300)
    found = couples(PairSampler(positives=0, negatives=30, hard=hard, seed=8).draw(X, classes))
    assert found == by_brute_force(X, pool, 30)


def test_only_candidates_are_scored() -> None:
    X, classes = sample(60, 6, seed=4)
    scorer = ByPair()
    PairSampler(negatives=30, hard=HardNegatives(scorer, candidates=200, batch=64)).draw(X, classes)
    assert scorer.scored == 200


@given(st.integers(0, 20), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_a_share_of_random_negatives(seed: int, share: float, n: int) -> None:
    X, classes = sample(15, 3, seed=seed)
    negatives = written_out(classes)[1]
    n = min(n, len(negatives))
    hard = HardNegatives(pl.EuclidBaseline(), random_share=share)
    _, other = split(PairSampler(negatives=n, hard=hard, seed=seed).draw(X, classes), classes)
    n_hard = n - round(share * n)
    assert other[:n_hard] == by_brute_force(X, negatives, n_hard)
    assert len(set(other)) == n
    assert set(other) <= set(negatives)


def test_hard_negatives_within_a_cap() -> None:
    X, classes = sample(40, 4, seed=6)
    drawn = PairSampler(positives=0, per_class_cap=3, seed=2).draw(X, classes)
    hard = HardNegatives(pl.EuclidBaseline(), batch=20)
    found = PairSampler(positives=0, negatives=10, per_class_cap=3, hard=hard, seed=2).draw(X, classes)
    assert couples(found) == by_brute_force(X, couples(drawn), 10)


def test_equal_scores_go_by_pair() -> None:
    hard = HardNegatives(pl.EuclidBaseline(), batch=9)
    found = PairSampler(positives=0, negatives=6, hard=hard).draw(np.zeros((9, 1)), CLASSES)
    assert couples(found) == written_out(CLASSES)[1][:6]


def test_a_fitted_machine_mines() -> None:
    X, classes = sample(30, 5, seed=1)
    pairs = PairSampler(ratio=1).draw(X, classes)
    machine = pl.PairSVC(kernel="metric").fit(pairs, pairs.labels(classes))
    found = PairSampler(positives=0, negatives=12, hard=HardNegatives(machine)).draw(X, classes)
    every = PairSampler(positives=0).draw(X, classes)
    best = np.sort(machine.decision_function(every))[::-1][:12]
    np.testing.assert_allclose(machine.decision_function(found), best, atol=1e-9)


# --------------------------------------------------------------------------- size


@pytest.mark.parametrize("option", [{}, {"per_class_cap": 20}, {"balanced": True}])
def test_many_examples_need_little_memory(option: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X, classes = np.zeros((60_000, 1)), rng.integers(500, size=60_000)
    classes[:5000] = 0  # one class has 12.5 million positives
    tracemalloc.start()
    pairs = PairSampler(positives=10_000, negatives=90_000, **option).draw(X, classes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20  # all 1.8 thousand million pairs would need 14 GB
    keys = pairs.left.astype(np.int64) * 60_000 + pairs.right
    assert len(np.unique(keys)) == 100_000
    assert int((pairs.labels(classes) == 1).sum()) == 10_000


def test_the_largest_numbers_are_pairs_too() -> None:
    classes = np.repeat(np.arange(50_000), 2)
    pairs = PairSampler(positives=50_000, negatives=1000, reflexive=False).draw(np.zeros((100_000, 1)), classes)
    assert couples(pairs)[:50_000:25_000] == [(0, 1), (50_000, 50_001)]
    assert pairs.labels(classes).sum() == 49_000
    assert int(pairs.left[50_000:].max()) > 90_000


# --------------------------------------------------------------------------- sliding memory


def test_sliding_memory_joins_all_steps() -> None:
    classes = np.repeat(np.arange(5), 3)
    pairs = sliding_memory(np.eye(15), classes, memory=2, epcr=3)
    steps = list(sliding_memory_pairs(classes, 2, 3))
    assert len(pairs) == 3 * (6 + 18)
    np.testing.assert_array_equal(pairs.left, np.concatenate([left for left, _ in steps]))
    np.testing.assert_array_equal(pairs.right, np.concatenate([right for _, right in steps]))


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positives": -1}, "positives must be an integer ≥ 0 or None, got -1"),
        ({"negatives": 2.5}, "negatives must be an integer"),
        ({"negatives": True}, "negatives must be an integer"),
        ({"per_class_cap": 0}, "per_class_cap must be an integer ≥ 1"),
        ({"negatives": 3, "ratio": 1.0}, "give one of them"),
        ({"ratio": -0.5}, "ratio is the number of negatives per positive"),
        ({"ratio": float("nan")}, "ratio is the number of negatives per positive"),
        ({"positives": 18}, "18 positives were asked for, but only 17 exist; ask for at most 17$"),
        ({"positives": 9, "reflexive": False}, "only 8 exist"),
        ({"negatives": 29}, "29 negatives were asked for, but only 28 exist"),
        ({"ratio": 2}, "34 negatives were asked for, but only 28 exist"),
        ({"positives": 8, "per_class_cap": 2}, r"only 7 exist; ask for at most 7 \(or raise per_class_cap\)"),
        ({"positives": 0, "negatives": 0}, "no pairs were asked for"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairSampler(**options).draw(X, CLASSES)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (CLASSES[:8], r"one value per example, 9, got shape \(8,\)"),
        (CLASSES[:, None], "one value per example"),
        (np.where(CLASSES == 3, np.nan, 1.0), "classes contain a missing or infinite value"),
    ],
)
def test_bad_classes_are_refused(classes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairSampler(negatives=1).draw(X, classes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scorer": 3}, "int has neither decision_function"),
        ({"random_share": 1.5}, "random_share must lie from 0 to 1"),
        ({"batch": 0}, "batch must be an integer ≥ 1"),
        ({"candidates": -3}, "candidates must be an integer"),
        ({"candidates": 4}, "5 hard negatives cannot be among 4 candidates; score more"),
        ({"candidates": 40}, "40 candidates were asked for, but only 28 exist"),
    ],
)
def test_bad_mining_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairSampler(negatives=5, hard=HardNegatives(**{"scorer": ByPair(), **options})).draw(X, CLASSES)


class Broken:
    """A scorer that returns what it was given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def decision_function(self, pairs: pl.Pairs) -> Any:
        return self.answer(len(pairs))


@pytest.mark.parametrize(
    ("answer", "message"),
    [(lambda n: np.full(n, np.nan), "returned NaN"), (lambda n: np.zeros(n - 1), "one per pair")],
)
def test_bad_scores_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairSampler(negatives=5, hard=HardNegatives(Broken(answer))).draw(X, CLASSES)
