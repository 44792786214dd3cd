"""Synthetic tasks: exact supports, counts, laws and posteriors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pairlearn import data
from pairlearn.data.synthetic import SHIFT_PROBABILITIES, SHIFTS
from pairlearn.errors import InputError

# generator, a small size, and how many classes it then has
TASKS = {
    "checker_board": (data.checker_board, {"s": 5}, 25),
    "double_interval": (data.double_interval, {"n": 9}, 21),
    "orthant": (data.orthant, {"n": 5}, 16),
    "disturbed_orthant": (data.disturbed_orthant, {"n": 5}, 16),
    "disturbed_single_interval": (data.disturbed_single_interval, {"n": 12}, 12),
}
each_task = pytest.mark.parametrize(("draw", "size", "available"), TASKS.values(), ids=TASKS)


def not_rejected(observed: np.ndarray, expected: np.ndarray) -> bool:
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-4


# --------------------------------------------------------------------------- what all share


@each_task
@settings(max_examples=15, deadline=None)
@given(share=st.floats(0, 1), epcr=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_shapes_and_classes(draw, size, available, share, epcr, seed) -> None:
    n_classes = 1 + round(share * (available - 1))
    X, classes = draw(n_classes, epcr, **size, seed=seed)
    assert X.dtype == np.float64
    assert classes.dtype.kind == "i"
    assert len(X) == len(classes) == n_classes * epcr
    runs = [(c, len(list(g))) for c, g in itertools.groupby(classes.tolist())]
    assert len({c for c, _ in runs}) == len(runs) == n_classes
    assert {length for _, length in runs} == {epcr}
    assert 0 <= classes.min() <= classes.max() < available


@each_task
def test_the_same_seed_gives_the_same_data(draw, size, available) -> None:
    first = draw(4, 3, **size, seed=7)
    for again in (7, np.random.default_rng(7), np.int64(7)):
        X, classes = draw(4, 3, **size, seed=again)
        np.testing.assert_array_equal(X, first[0])
        np.testing.assert_array_equal(classes, first[1])
    assert not np.array_equal(draw(4, 3, **size, seed=8)[0], first[0])
    assert not np.array_equal(draw(4, 3, **size)[0], draw(4, 3, **size)[0])
    rng = np.random.default_rng(7)
    draw(4, 3, **size, seed=rng)
    assert not np.array_equal(draw(4, 3, **size, seed=rng)[0], first[0])


@each_task
def test_all_classes_can_be_drawn_and_not_one_more(draw, size, available) -> None:
    _, classes = draw(available, 1, **size, seed=0)
    assert sorted(classes.tolist()) == list(range(available))
    for bad in (available + 1, 0, -1, None, 2.0, "3"):
        with pytest.raises(InputError, match=rf"n_classes must be an integer from 1 to {available} .*got"):
            draw(bad, 1, **size)
    for bad in (0, None, 1.5):
        with pytest.raises(InputError, match="epcr must be an integer at least 1"):
            draw(1, bad, **size)


@each_task
def test_classes_are_drawn_uniformly(draw, size, available) -> None:
    rng = np.random.default_rng(0)
    drawn = np.concatenate([draw(2, 1, **size, seed=rng)[1] for _ in range(3000)])
    # Two without replacement vary less than two with: the test is conservative.
    assert not_rejected(np.bincount(drawn, minlength=available), np.ones(available))


def test_default_sizes_are_those_of_the_tasks() -> None:
    assert data.checker_board(625, 1, seed=0)[0].shape == (625, 2)
    assert data.double_interval(2, 3, seed=0)[0].shape == (6, 500)
    assert data.disturbed_single_interval(500, 1, seed=0)[0].shape == (500, 500)
    with pytest.raises(InputError, match="from 1 to 123753 "):
        data.double_interval(123_754, 1)
    with pytest.raises(InputError, match="from 1 to 512 "):
        data.orthant(513, 1)


@pytest.mark.parametrize(
    ("draw", "size", "message"),
    [
        (data.checker_board, {"s": 0}, "s must be an integer at least 1, got 0"),
        (data.double_interval, {"n": 3}, "n must be an integer at least 4, got 3"),
        (data.orthant, {"n": 64}, "n must be an integer from 1 to 63, got 64"),
        (data.disturbed_orthant, {"n": 1}, "n must be an integer from 2 to 63, got 1"),
        (data.disturbed_orthant, {"p1": 0.9}, "need 0 <= p1 <= p2 <= 1, got p1=0.9, p2=0.85"),
        (data.disturbed_orthant, {"p2": float("nan")}, "need 0 <= p1 <= p2 <= 1"),
        (data.disturbed_single_interval, {"n": 0}, "n must be an integer at least 1, got 0"),
    ],
)
def test_bad_sizes_are_refused(draw, size, message) -> None:
    with pytest.raises(InputError, match=message):
        draw(1, 1, **size)


# --------------------------------------------------------------------------- checker board


def test_checker_board_fills_its_cells_uniformly() -> None:
    X, classes = data.checker_board(9, 2000, s=3, seed=1)
    cells = np.floor(X)
    np.testing.assert_array_equal(cells[:, 0] * 3 + cells[:, 1], classes)
    for column in (X - cells).T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef((X - cells).T)[0, 1]) < 0.03


class AlmostOne:
    """A generator whose uniform numbers are the largest below one."""

    def choice(self, available: int, size: int, replace: bool) -> np.ndarray:
        return np.arange(available)[-size:]

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.full(shape, np.nextafter(1.0, 0.0))


def test_checker_board_never_rounds_into_the_next_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.random, "default_rng", lambda seed: AlmostOne())
    X, classes = data.checker_board(1, 1, s=25)
    assert (np.floor(X) @ [25, 1]).tolist() == classes.tolist() == [624]


def test_checker_board_difference_posterior_matches_simulation() -> None:
    rng = np.random.default_rng(2)
    s = 3
    a, b = rng.uniform(0, s, (2, 400_000, 2))
    same = np.all(np.floor(a) == np.floor(b), axis=1)
    posterior = data.checker_board_difference_posterior(a - b, s)
    assert posterior.mean() == pytest.approx(1 / s**2, abs=2e-3)
    for low in np.arange(0, 1, 0.1):
        chosen = (posterior > low) & (posterior <= low + 0.1)
        assert same[chosen].mean() == pytest.approx(posterior[chosen].mean(), abs=0.02)
    assert not same[posterior == 0].any()


def test_checker_board_difference_posterior_at_special_places() -> None:
    posterior = data.checker_board_difference_posterior
    assert posterior([[0.0, 0.0], [1.0, 0.0], [-1.5, 0.5]]).tolist() == [1.0, 0.0, 0.0]
    assert posterior([[-0.5, 0.25]], s=4)[0] == pytest.approx((4 * 0.5 / 3.5) * (4 * 0.75 / 3.75))
    assert posterior([[0.3, -0.9]], s=1)[0] == pytest.approx(1.0)
    with pytest.raises(InputError, match="differences on this board"):
        posterior([[30.0, 0.0]])
    with pytest.raises(InputError, match="one row per example"):
        posterior([0.5, 0.5])


# --------------------------------------------------------------------------- double interval


def runs_of_plus(x: np.ndarray) -> list[tuple[int, int]]:
    """First and last place (from 1) of each run of +1."""
    edges = np.flatnonzero(np.diff(x > 0, prepend=False, append=False))
    return [(int(start) + 1, int(stop)) for start, stop in edges.reshape(-1, 2)]


@pytest.mark.parametrize("n", [4, 5, 9, 16])
def test_double_interval_classes_are_the_starts(n: int) -> None:
    available = (n - 3) * (n - 2) // 2
    X, classes = data.double_interval(available, 5, n=n, seed=0)
    starts = {}
    for x, c in zip(X, classes.tolist(), strict=True):
        assert set(x.tolist()) <= {-1.0, 1.0}
        (i, j), (k, end) = runs_of_plus(x)
        assert 2 <= i <= j
        assert j + 2 <= k <= end <= n
        assert starts.setdefault(c, (i, k)) == (i, k)
    assert len(set(starts.values())) == available


def test_double_interval_ends_are_uniform_and_independent() -> None:
    n, epcr = 9, 6000
    X, classes = data.double_interval(21, epcr, n=n, seed=3)
    for c in range(21):
        rows = X[classes == c]
        (i, _), (k, _) = runs_of_plus(rows[0])
        ends = [(j, end) for j in range(i, k - 1) for end in range(k, n + 1)]
        groups, counts = np.unique(rows, axis=0, return_counts=True)
        assert sorted(tuple(stop for _, stop in runs_of_plus(x)) for x in groups) == ends
        assert len(ends) == 1 or not_rejected(counts, np.ones(len(ends)))


# --------------------------------------------------------------------------- orthants


def class_of_signs(X: np.ndarray) -> np.ndarray:
    return np.array([sum(2**t for t, v in enumerate(x[1:]) if v < 0) for x in X])


@pytest.mark.parametrize("n", [1, 2, 6])
def test_orthant_classes_are_the_signs(n: int) -> None:
    X, classes = data.orthant(2 ** (n - 1), 400, n=n, seed=0)
    assert np.all(X[:, 0] >= 0)
    np.testing.assert_array_equal(class_of_signs(X), classes)
    assert stats.kstest(np.abs(X).ravel(), "uniform").pvalue > 1e-4


def test_orthants_of_the_largest_dimension() -> None:
    for draw in (data.orthant, data.disturbed_orthant):
        X, classes = draw(50, 2, n=63, seed=0)
        assert X.shape == (100, 63)
        assert np.unique(classes).size == 50
        assert classes.max() > 2**61


def test_disturbed_orthant_follows_its_three_rules() -> None:
    n, p1, p2 = 3, 0.4, 0.7
    X, classes = data.disturbed_orthant(4, 20_000, n=n, p1=p1, p2=p2, seed=5)
    assert np.all(X[:, 0] >= 0)
    outside = np.abs(X).max(axis=1) > 2 ** (-1 / n)
    visible = class_of_signs(X)
    assert np.all(visible[outside] == classes[outside])
    lies = ~outside & (visible != classes)
    observed = np.array([outside.sum(), (~outside & ~lies).sum(), lies.sum()])
    assert not_rejected(observed, np.array([p1, p2 - p1, 1 - p2]))
    # A lie shows each other class equally often.
    shown = np.bincount((visible - classes)[lies] % 4, minlength=4)
    assert shown[0] == 0
    assert not_rejected(shown[1:], np.ones(3))


def test_disturbed_orthant_is_uniform_inside_and_outside_the_small_cube() -> None:
    n, r = 3, 2 ** (-1 / 3)
    X, _ = data.disturbed_orthant(4, 15_000, n=n, seed=6)
    sizes = np.abs(X)
    outside = sizes.max(axis=1) > r
    assert stats.kstest((sizes[~outside] / r).ravel(), "uniform").pvalue > 1e-4
    rng = np.random.default_rng(0)
    reference = rng.random((200_000, n))
    reference = reference[reference.max(axis=1) > r]
    for statistic in (lambda u: u[:, 0], lambda u: u[:, 2], lambda u: u.max(axis=1), lambda u: u.min(axis=1)):
        assert stats.ks_2samp(statistic(sizes[outside]), statistic(reference)).pvalue > 1e-4


@pytest.mark.parametrize(("p1", "p2"), [(0.5, 0.85), (0.2, 0.3), (0.0, 0.5), (0.3, 1.0), (1.0, 1.0)])
def test_disturbed_orthant_posterior_sums_to_one_and_matches_frequencies(p1: float, p2: float) -> None:
    X, classes = data.disturbed_orthant(4, 10_000, n=3, p1=p1, p2=p2, seed=8)
    posterior = data.disturbed_orthant_posterior(X, p1, p2)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, atol=1e-12)
    visible = class_of_signs(X)
    outside = np.abs(X).max(axis=1) > 2 ** (-1 / 3)
    for where, shown in itertools.product([outside, ~outside], range(4)):
        rows = where & (visible == shown)
        if rows.any():
            frequencies = np.bincount(classes[rows], minlength=4) / rows.sum()
            np.testing.assert_allclose(posterior[rows].mean(axis=0), frequencies, atol=0.04)
            np.testing.assert_array_equal(posterior[rows], np.broadcast_to(posterior[rows][0], (rows.sum(), 4)))


def test_disturbed_orthant_posterior_of_chosen_classes() -> None:
    X, classes = data.disturbed_orthant(6, 3, n=6, seed=0)
    whole = data.disturbed_orthant_posterior(X)
    np.testing.assert_array_equal(data.disturbed_orthant_posterior(X, classes=classes), whole[:, classes])
    large, classes = data.disturbed_orthant(6, 3, n=63, seed=0)
    with pytest.raises(InputError, match="too many columns; pass classes="):
        data.disturbed_orthant_posterior(large)
    chosen = data.disturbed_orthant_posterior(large, classes=classes)
    assert set(np.diag(chosen).round(9)) <= {1.0, 0.7, 0.0}
    assert 1.0 in np.diag(chosen)
    with pytest.raises(InputError, match="class numbers from 0 to 31"):
        data.disturbed_orthant_posterior(X, classes=[32])


def test_posteriors_refuse_examples_of_other_tasks() -> None:
    with pytest.raises(InputError, match="pass examples of disturbed_orthant"):
        data.disturbed_orthant_posterior([[-0.1, 0.5]])
    with pytest.raises(InputError, match="pass examples of disturbed_orthant"):
        data.disturbed_orthant_posterior([[0.1, 1.5]])
    for x in ([-1.0, -1.0], [1.0, -1.0, 1.0], [0.5, -1.0]):
        with pytest.raises(InputError, match="one interval of \\+1"):
            data.disturbed_single_interval_posterior([x])
    with pytest.raises(InputError, match="NaN or infinity"):
        data.disturbed_orthant_posterior([[np.nan, 0.0]])


# --------------------------------------------------------------------------- single interval


def test_disturbed_single_interval_shifts_and_ends() -> None:
    n = 15
    X, classes = data.disturbed_single_interval(n, 4000, n=n, seed=9)
    spans = np.array([run for x in X for run in runs_of_plus(x)])
    assert len(spans) == len(X)
    shifts = (spans[:, 0] - 1 - classes + 5) % n
    counts = np.bincount(shifts, minlength=n)
    assert not counts[11:].any()
    assert not_rejected(counts[:11], SHIFT_PROBABILITIES)
    for start in range(1, n):
        ends = spans[spans[:, 0] == start, 1]
        assert not_rejected(np.bincount(ends - start, minlength=n - start + 1), np.ones(n - start + 1))


def test_shift_probabilities_are_those_of_the_task() -> None:
    assert SHIFTS.tolist() == list(range(-5, 6))
    assert SHIFT_PROBABILITIES.tolist() == [0.01, 0.02, 0.02, 0.05, 0.05, 0.7, 0.05, 0.05, 0.02, 0.02, 0.01]


@pytest.mark.parametrize("n", [1, 4, 12])
def test_disturbed_single_interval_posterior(n: int) -> None:
    X, classes = data.disturbed_single_interval(n, 48_000 // n, n=n, seed=10)
    posterior = data.disturbed_single_interval_posterior(X)
    assert posterior.shape == (len(X), n)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, atol=1e-12)
    starts = np.argmax(X > 0, axis=1)
    ends = n - 1 - np.argmax(X[:, ::-1] > 0, axis=1)
    for start in range(n):
        for last in (start, n - 1):
            rows = (starts == start) & (ends == last)
            frequencies = np.bincount(classes[rows], minlength=n) / rows.sum()
            np.testing.assert_allclose(posterior[rows][0], frequencies, atol=5 / np.sqrt(rows.sum()) * 0.5)
    np.testing.assert_array_equal(
        data.disturbed_single_interval_posterior(X, classes=[n - 1, 0]), posterior[:, [n - 1, 0]]
    )


def test_disturbed_single_interval_posterior_by_hand() -> None:
    x = -np.ones(20)
    x[1:4] = 1.0  # k̃ = 2
    (posterior,) = data.disturbed_single_interval_posterior([x])
    assert posterior[1] == 0.70
    assert posterior[0] == 0.05  # k = 1, s = +1
    assert posterior[16] == 0.01  # k = 17, s = +5 around the end
    assert posterior[6] == 0.01  # k = 7, s = −5
    assert posterior[7:16].tolist() == [0.0] * 9


# --------------------------------------------------------------------------- repeats and pairs


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([-1.0, -0.0, 0.0, 2.0]), st.sampled_from([0.0, 1.0])), max_size=12))
def test_identical_examples_are_the_equal_rows(rows: list[tuple[float, float]]) -> None:
    X = np.array(rows).reshape(-1, 2)
    groups = data.identical_examples(X)
    equal = np.all(X[:, None] == X[None], axis=2)
    np.testing.assert_array_equal(groups[:, None] == groups, equal)
    firsts = list(dict.fromkeys(groups.tolist()))
    assert firsts == list(range(len(firsts)))


def test_small_double_interval_classes_repeat_examples() -> None:
    X, classes = data.double_interval(1, 5, n=4, seed=0)
    assert data.identical_examples(X).tolist() == [0] * 5
    assert classes.tolist() == [0] * 5


@settings(deadline=None)
@given(
    st.integers(2, 6),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_sliding_memory_pairs_follow_the_definition(n_classes, epcr, memory, spare, random) -> None:
    memory = min(memory, n_classes - 1)
    classes = [f"c{c}" for c in range(n_classes) for _ in range(epcr + spare)]
    random.shuffle(classes)
    order = list(dict.fromkeys(classes))
    members = {c: [i for i, name in enumerate(classes) if name == c][:epcr] for c in order}
    steps = list(data.sliding_memory_pairs(classes, memory, epcr))
    assert len(steps) == n_classes - memory
    for t, (left, right) in enumerate(steps, start=memory):
        new = members[order[t]]
        own = {(a, b) for a in new for b in new if a <= b}
        remembered = {(old, a) for c in order[t - memory : t] for old in members[c] for a in new}
        couples = list(zip(left.tolist(), right.tolist(), strict=True))
        assert len(couples) == epcr * (epcr + 1) // 2 + epcr**2 * memory
        assert set(couples[: len(own)]) == own
        assert set(couples) == own | remembered


def test_sliding_memory_pairs_never_repeat_a_pair_and_stay_ordered() -> None:
    steps = list(data.sliding_memory_pairs(np.repeat(np.arange(30), 4), memory=3, epcr=4))
    pairs = np.concatenate([np.column_stack(step) for step in steps])
    assert len(np.unique(pairs, axis=0)) == len(pairs) == 27 * (10 + 48)
    assert np.all(pairs[:, 0] <= pairs[:, 1])


@pytest.mark.parametrize(
    ("classes", "memory", "epcr", "message"),
    [
        ([0, 0, 1, 1], 2, 2, "needs at least 3 classes, got 2; use memory <= 1"),
        ([0, 0, 1], 1, 2, "class 1 has 1 example but epcr=2 are needed; use epcr <= 1"),
        ([0, 1], 0, 1, "memory must be an integer at least 1, got 0"),
        ([0, 1], 1, None, "epcr must be an integer at least 1, got None"),
        ([[0, 1]], 1, 1, r"got shape \(1, 2\)"),
        ([], 1, 1, "one class per example"),
    ],
)
def test_sliding_memory_pairs_complain_at_once(classes, memory, epcr, message) -> None:
    with pytest.raises(InputError, match=message):
        data.sliding_memory_pairs(classes, memory, epcr)  # before the first step is asked for
