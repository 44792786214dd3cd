"""PairRanker against a generic bounded quadratic programme, its draws by hand, and orders with ties and cycles."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError, TooLargeError
from pairlearn.kernels import Gaussian
from pairlearn.machines import ranking
from pairlearn.machines.ranking import find_cycles, rank_by

FORMULAS = {
    "difference": lambda ac, ad, bc, bd: (ac - ad - bc + bd) / 2,
    "wedge": lambda ac, ad, bc, bd: (ac * bd - ad * bc) / 2,
}
rng = np.random.default_rng(0)
M, N = 12, 40
X = rng.normal(size=(M, 3))
PAIRS = pl.Pairs(X, *np.array(list(permutations(range(M), 2)))[rng.permutation(M * (M - 1))[:N]].T)
Y = np.where(rng.random(N) < 0.8, np.sign(X[PAIRS.left, 0] - X[PAIRS.right, 0]), -1).astype(int)
NEW = pl.all_pairs(rng.normal(size=(7, 3)))


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def explicit(name: str, base: Any, rows: pl.Pairs, cols: pl.Pairs) -> np.ndarray:
    K = base(rows.examples, cols.examples)
    return FORMULAS[name](*(K[np.ix_(row, col)] for row in (rows.left, rows.right) for col in (cols.left, cols.right)))


def boxed(K: np.ndarray, y: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """θ of min ½θᵀKθ − yᵀθ over 0 ≤ yθ ≤ box, by a method for any bounded problem, restarted until it is done."""
    lower, upper = np.minimum(0.0, y * boxes), np.maximum(0.0, y * boxes)
    theta = np.zeros(len(y))
    for _ in range(100):
        slope = K @ theta - y
        if np.abs(theta - np.clip(theta - slope, lower, upper)).max() < 1e-6:
            return theta
        theta = minimize(
            lambda t: (0.5 * t @ K @ t - y @ t, K @ t - y),
            theta,
            jac=True,
            method="L-BFGS-B",
            bounds=np.stack([lower, upper], axis=1),
            options={"maxiter": 2000, "ftol": 0.0, "gtol": 1e-9, "maxcor": 30},
        ).x
    raise AssertionError("the reference did not converge")


def ranker(**options: Any) -> pl.PairRanker:
    return pl.PairRanker(**{"tol": 1e-6, **options})


def close(found: Any, expected: Any, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(1e-12, float(np.abs(expected).max())))


# --------------------------------------------------------------------------- the problem


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("base", [Gaussian(0.3), pl.kernels.Linear()], ids=["rbf", "linear"])
@pytest.mark.parametrize("name", FORMULAS)
def test_equals_a_generic_quadratic_programme(name: str, base: Any, C: float) -> None:
    ours = ranker(kernel=name, base=base, C=C).fit(PAIRS, Y)
    K = explicit(name, base, PAIRS, PAIRS)
    theta = boxed(K, Y, np.full(N, C))
    assert ours.fit_status_ == "converged"
    assert ours.intercept_ == 0.0
    assert ours.objective_ == pytest.approx(0.5 * theta @ K @ theta - Y @ theta, rel=1e-5)
    close(ours.decision_function(NEW), explicit(name, base, NEW, PAIRS) @ theta)
    close(ours.decision_function(PAIRS), K @ theta)


def test_the_difference_kernel_is_the_ranking_svm() -> None:
    """min ½‖v‖² + C Σ max(0, 1 − y ⟨v, a − b⟩/√2) in the primal, on differences of examples."""
    ours = ranker(C=0.7).fit(PAIRS, Y)
    D = (X[PAIRS.left] - X[PAIRS.right]) / np.sqrt(2)

    def primal(v: np.ndarray) -> float:
        return float(0.5 * v @ v + 0.7 * np.maximum(0.0, 1.0 - Y * (D @ v)).sum())

    v = np.linalg.lstsq(D, ours.decision_function(PAIRS), rcond=None)[0]
    assert primal(v) == pytest.approx(-ours.objective_, rel=1e-6)  # no duality gap: v is optimal
    assert all(primal(v + 1e-3 * step) > primal(v) for step in np.vstack([np.eye(3), -np.eye(3)]))


@pytest.mark.parametrize("solver", ["active_set", "smo"])
def test_both_solvers_agree_and_certify(solver: str) -> None:
    ours = ranker(kernel="wedge", base="rbf", C=5.0, solver=solver).fit(PAIRS, Y)
    theta = np.zeros(N)
    theta[ours.support_] = ours.dual_coef_
    base = ours.function_.kernel.bases[0]
    slack = Y - explicit("wedge", base, PAIRS, PAIRS) @ theta  # of Y²: the rate of raising θ
    rate = Y * slack
    assert (rate[Y * theta < 5.0 - 1e-12] <= ours.kkt_gap_ + 1e-9).all()
    assert (rate[Y * theta > 1e-12] >= -ours.kkt_gap_ - 1e-9).all()
    assert ours.kkt_gap_ <= 1e-6
    assert (Y * theta >= 0).all()
    assert (Y * theta <= 5.0).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["difference", "wedge"]), st.booleans())
def test_the_order_in_which_pairs_are_given_does_not_matter(seed: int, name: str, linear: bool) -> None:
    flip = np.random.default_rng(seed).random(N) < 0.5
    left, right = np.where(flip, PAIRS.right, PAIRS.left), np.where(flip, PAIRS.left, PAIRS.right)
    base = "linear" if linear else Gaussian(0.4)
    one = ranker(kernel=name, base=base).fit(PAIRS, Y)
    two = ranker(kernel=name, base=base).fit(pl.Pairs(X, left, right), np.where(flip, -Y, Y))
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
    close(two.decision_function(NEW), one.decision_function(NEW), 1e-4)
    np.testing.assert_array_equal(one.decision_function(NEW.swapped()), -one.decision_function(NEW))


def test_winners_first_is_enough() -> None:
    won = Y > 0
    left, right = np.where(won, PAIRS.left, PAIRS.right), np.where(won, PAIRS.right, PAIRS.left)
    one, two = ranker().fit(PAIRS, Y), ranker().fit(pl.Pairs(X, left, right), np.ones(N))
    close(two.decision_function(NEW), one.decision_function(NEW), 1e-4)


@pytest.mark.parametrize("draws", ["half", "drop"])
def test_weights_that_leave_draws_alone_are_refused(draws: str) -> None:
    with pytest.raises(InputError, match="all decided pairs have weight 0"):
        ranker(draws=draws).fit(PAIRS[:2], [1, 0], sample_weight=[0, 1])


def test_weights_are_boxes_of_their_own() -> None:
    weights = rng.integers(0, 4, N)
    repeated = np.repeat(np.arange(N), weights)
    one = ranker(base=Gaussian(0.3)).fit(PAIRS, Y, sample_weight=weights)
    two = ranker(base=Gaussian(0.3)).fit(PAIRS[repeated], Y[repeated])
    theta = boxed(explicit("difference", Gaussian(0.3), PAIRS, PAIRS), Y, weights.astype(float))
    close(two.decision_function(NEW), one.decision_function(NEW), 1e-4)
    close(one.decision_function(NEW), explicit("difference", Gaussian(0.3), NEW, PAIRS) @ theta)


def test_predictions_are_signs() -> None:
    ours = ranker().fit(PAIRS, Y)
    values = ours.decision_function(NEW)
    np.testing.assert_array_equal(ours.predict(NEW), np.sign(values))
    assert not ours.predict(NEW[NEW.reflexive]).any()
    assert ours.score(PAIRS, Y) == np.mean(np.sign(ours.decision_function(PAIRS)) == Y)


# --------------------------------------------------------------------------- draws

DRAWN = np.where(np.arange(N) % 5 == 0, 0, Y)


def test_a_draw_is_half_a_win_for_either_side() -> None:
    decided, drawn = np.nonzero(DRAWN)[0], np.nonzero(DRAWN == 0)[0]
    both = np.concatenate([decided, drawn, drawn])
    y = np.concatenate([DRAWN[decided], np.ones(len(drawn)), -np.ones(len(drawn))])
    weights = np.where(np.arange(len(both)) < len(decided), 1.0, 0.5)
    ours = ranker(base=Gaussian(0.3), C=3.0).fit(PAIRS, DRAWN)
    by_hand = ranker(base=Gaussian(0.3), C=3.0).fit(PAIRS[both], y, sample_weight=weights)
    assert ours.n_draws_ == len(drawn)
    close(ours.decision_function(NEW), by_hand.decision_function(NEW), 1e-4)
    K = explicit("difference", Gaussian(0.3), PAIRS[both], PAIRS[both])
    theta = boxed(K, y, 3.0 * weights)
    close(ours.decision_function(NEW), explicit("difference", Gaussian(0.3), NEW, PAIRS[both]) @ theta)
    assert ours.objective_ == pytest.approx(0.5 * theta @ K @ theta - y @ theta, rel=1e-5)


def test_a_draw_pulls_large_differences_back() -> None:
    """Two examples far apart on the learnt axis: a draw between them costs beyond |g| = 1 and only there."""
    strength = np.array([[0.0], [1.0], [4.0]])
    wins = pl.Pairs(strength, [1, 2], [0, 1])
    free = ranker(C=10.0).fit(wins, [1, 1])
    assert free.decision_function(pl.Pairs(strength, [2], [0]))[0] > 2.0
    tied = pl.Pairs(strength, [1, 2, 2], [0, 1, 0])
    pulled = ranker(C=10.0).fit(tied, [1, 1, 0], sample_weight=[1.0, 1.0, 1e3])
    assert pulled.decision_function(tied)[2] == pytest.approx(1.0, abs=1e-4)
    near = pl.Pairs(strength, [2, 2, 1], [0, 0, 0])
    np.testing.assert_allclose(  # |g| < 1 between 1 and 0: the draw changes nothing
        ranker(C=10.0).fit(near, [1, 1, 0]).decision_function(near),
        ranker(C=10.0).fit(near[:2], [1, 1]).decision_function(near),
        atol=1e-5,
    )


def test_dropped_draws_leave_no_trace() -> None:
    ours = ranker(base="rbf", draws="drop").fit(PAIRS, DRAWN)
    kept = DRAWN != 0
    assert ours.n_draws_ == (~kept).sum() > 0
    expected = ranker(base=ours.function_.kernel.bases[0]).fit(PAIRS[kept], DRAWN[kept])
    close(ours.decision_function(NEW), expected.decision_function(NEW), 1e-4)


def test_without_draws_both_ways_are_one() -> None:
    one, two = (ranker(draws=draws).fit(PAIRS, Y) for draws in ("half", "drop"))
    np.testing.assert_array_equal(one.decision_function(NEW), two.decision_function(NEW))
    assert one.n_draws_ == 0


# --------------------------------------------------------------------------- orders


def test_differences_of_utilities_are_ranked_by_utility() -> None:
    ours = ranker(base=Gaussian(0.3), C=5.0).fit(PAIRS, Y)
    found = ours.rank(X)
    zero = pl.Pairs(X, np.arange(M), np.zeros(M, dtype=int))
    utility = ours.decision_function(zero)  # u(a) − u(0)
    assert (np.diff(utility[found.order]) <= 1e-9).all()
    np.testing.assert_allclose(found.scores, utility - utility.mean(), atol=1e-9)
    assert found.inconsistency == pytest.approx(0.0, abs=1e-9)
    assert (found.n_cycles, found.cycle) == (0, ())


def test_scores_are_mean_advantages() -> None:
    ours = ranker(kernel="wedge", base=Gaussian(0.3), C=5.0).fit(PAIRS, Y)
    found = ours.rank(X)
    g = ours.decision_function(pl.Pairs(X, *np.divmod(np.arange(M * M), M))).reshape(M, M)
    np.testing.assert_allclose(found.scores, g.mean(axis=1), atol=1e-12)
    best = (g - (found.scores[:, None] - found.scores)) ** 2
    assert found.inconsistency == pytest.approx(best.sum() / (g**2).sum(), abs=1e-9)
    assert 0.0 < found.inconsistency < 1.0
    for _ in range(20):  # no other scores explain g better
        other = found.scores + 0.1 * rng.normal(size=M)
        assert ((g - (other[:, None] - other)) ** 2).sum() > best.sum()
    assert found.n_cycles == cycles_by_hand(g > 0)


def cycles_by_hand(beats: np.ndarray) -> int:
    triples = permutations(range(len(beats)), 3)
    return sum(bool(beats[a, b] and beats[b, c] and beats[c, a]) for a, b, c in triples) // 3


ROCK_PAPER_SCISSORS = pl.Pairs(np.eye(3), [0, 1, 2], [1, 2, 0])


def test_a_cycle_can_be_learnt_by_the_wedge_kernel_alone() -> None:
    ours = ranker(kernel="wedge", C=10.0).fit(ROCK_PAPER_SCISSORS, [1, 1, 1])
    np.testing.assert_array_equal(ours.predict(ROCK_PAPER_SCISSORS), 1)
    found = ours.rank(np.eye(3))
    assert found.n_cycles == 1
    a, b, c = found.cycle
    np.testing.assert_array_equal(ours.predict(pl.Pairs(np.eye(3), [a, b, c], [b, c, a])), 1)
    assert found.inconsistency == pytest.approx(1.0)
    assert found.ties == ((0, 1, 2),)
    assert "1 cyclic triple (e.g." in str(found)
    flat = ranker(C=10.0).fit(ROCK_PAPER_SCISSORS, [1, 1, 1])
    assert np.abs(flat.decision_function(ROCK_PAPER_SCISSORS)).max() < 1e-6
    assert flat.rank(np.eye(3)).n_cycles == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 9), st.floats(0.0, 0.6))
def test_cycles_are_counted_and_shown(seed: int, m: int, blank: float) -> None:
    random = np.random.default_rng(seed)
    upper = np.triu(np.sign(random.normal(size=(m, m))) * (random.random((m, m)) >= blank), 1)
    beats = (upper - upper.T) > 0
    count, cycle = find_cycles(beats)
    assert count == cycles_by_hand(beats)
    assert (len(cycle) == 3) == (count > 0)
    if cycle:
        a, b, c = cycle
        assert beats[a, b]
        assert beats[b, c]
        assert beats[c, a]


@pytest.mark.parametrize("step", [1, 7, 30])
def test_ranking_in_small_pieces(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    upper = np.triu(rng.normal(size=(9, 9)), 1)
    g = upper - upper.T
    whole = rank_by(lambda rows: g[rows], 9)
    monkeypatch.setattr(ranking, "ROWS", step)
    found = rank_by(lambda rows: g[rows], 9)
    np.testing.assert_array_equal(found.order, whole.order)
    np.testing.assert_array_equal(found.scores, whole.scores)
    assert (found.n_cycles, found.inconsistency) == pytest.approx((whole.n_cycles, whole.inconsistency))
    assert whole.n_cycles == cycles_by_hand(g > 0) > 0


def test_too_many_examples_leave_cycles_uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MOST_FOR_CYCLES", 2)
    found = ranker(kernel="wedge", C=10.0).fit(ROCK_PAPER_SCISSORS, [1, 1, 1]).rank(np.eye(3))
    assert (found.n_cycles, found.cycle) == (-1, ())
    assert "cycles not counted" in str(found)


def test_equal_examples_tie_in_the_order_of_rows() -> None:
    examples = np.vstack([X[[3, 1, 3]], X[[7, 1, 3]]])
    found = ranker(base=Gaussian(0.3)).fit(PAIRS, Y).rank(examples)
    assert {tuple(sorted(group)) for group in found.ties} == {(0, 2, 5), (1, 4)}
    assert sorted(found.order) == list(range(6))
    for group in found.ties:
        assert np.ptp([list(found.order).index(i) for i in group]) == len(group) - 1


def test_one_example_is_an_order() -> None:
    found = ranker().fit(PAIRS, Y).rank(X[:1])
    assert (found.order.tolist(), found.scores.tolist(), found.ties, found.n_cycles) == ([0], [0.0], (), 0)


# --------------------------------------------------------------------------- home advantage


def home_games(seed: int, n: int = 60) -> tuple[np.ndarray, pl.Pairs, np.ndarray]:
    """Five teams of strengths 0…4 and one signed feature, +1 where the left one is at home, worth 1.5."""
    random = np.random.default_rng(seed)
    strength = np.arange(5.0)[random.permutation(5)]
    teams = np.eye(5)
    left, gap = random.integers(0, 5, n), random.integers(1, 5, n)
    right = (left + gap) % 5
    home = random.choice([-1.0, 1.0], n)
    y = np.sign(strength[left] - strength[right] + 1.5 * home).astype(int)
    return strength, pl.Pairs(teams, left, right, signed=home), y


@pytest.mark.parametrize(
    "kernel",
    [
        pl.pair_kernels.group_linear(invariant=False).skewed(),
        pl.pair_kernel("difference") + pl.pair_kernels.on_signed(),
    ],
)
def test_teams_are_ranked_at_neutral_ground(kernel: pl.pair_kernels.PairKernel) -> None:
    strength, games, y = home_games(0)
    ours = ranker(kernel=kernel, C=100.0).fit(games, y)
    np.testing.assert_array_equal(ours.predict(games), y)
    found = ours.rank(np.eye(5))
    np.testing.assert_array_equal(found.order, np.argsort(-strength))
    neutral = pl.Pairs(np.eye(5), *np.divmod(np.arange(25), 5), signed=np.zeros(25))
    np.testing.assert_allclose(found.scores, ours.decision_function(neutral).reshape(5, 5).mean(axis=1), atol=1e-12)
    at_home, away = (ours.decision_function(pl.Pairs(np.eye(5), [0], [1], signed=[s]))[0] for s in (1.0, -1.0))
    assert at_home > away
    np.testing.assert_array_equal(ours.decision_function(games.swapped()), -ours.decision_function(games))


def test_kernels_on_two_examples_side_by_side_rank_as_well() -> None:
    ours = ranker(kernel=pl.pair_kernels.on_blocks(Gaussian(0.3), ("left", "right")).skewed(), C=5.0).fit(PAIRS, Y)
    every = pl.Pairs(X, *np.divmod(np.arange(M * M), M))
    g = ours.decision_function(every).reshape(M, M)
    np.testing.assert_allclose(ours.rank(X).scores, g.mean(axis=1), atol=1e-12)
    with pytest.raises(InputError, match="examples have 4 features, but the model was fitted with 6"):
        ours.rank(X[:, :2])


def test_nothing_to_rank_is_refused() -> None:
    with pytest.raises(InputError, match="there are no examples to rank"):
        ranker().fit(PAIRS, Y).rank(np.zeros((0, 3)))


def test_orders_that_depend_on_the_pair_are_refused() -> None:
    _, games, y = home_games(0)
    blocks = {"signed": games.signed, "invariant": np.ones(len(games))}
    kernel = pl.pair_kernels.power(pl.pair_kernels.group_linear(), 2, 1.0).skewed()
    ours = ranker(kernel=kernel).fit(pl.Pairs(games.examples, games.left, games.right, **blocks), y)
    with pytest.raises(InputError, match="depends on `invariant` features"):
        ours.rank(np.eye(5))
    mixed = pl.pair_kernels.on_blocks(Gaussian(0.2), ("left", "signed", "right")).skewed()
    with pytest.raises(InputError, match=r"mixes `signed` features with others; score pl\.Pairs"):
        ranker(kernel=mixed).fit(games, y).rank(np.eye(5))


# --------------------------------------------------------------------------- refusals

REFUSED: dict[str, tuple[dict[str, Any], Any, Any, type[Exception], str]] = {
    "symmetric kernel": (
        {"kernel": "tensor"},
        PAIRS,
        Y,
        SymmetryError,
        "antisymmetric question, but .* is symmetric; use",
    ),
    "no symmetry": (
        {"kernel": "poly_tensor"},
        PAIRS,
        Y,
        SymmetryError,
        r"is not; use difference or wedge, or kernel\.skewed",
    ),
    "mirrored other": ({"mirrored": "both"}, PAIRS, Y, InputError, 'mirrored is True, False, "symmetric" or'),
    "mirrored zero": (
        {"kernel": "metric", "mirrored": "antisymmetric"},
        PAIRS,
        Y,
        SymmetryError,
        "antisymmetric question, but this pair kernel is symmetric",
    ),
    "mirrored symmetric": ({"kernel": "metric", "mirrored": True}, PAIRS, Y, SymmetryError, "antisymmetric question"),
    "reflexive": (
        {},
        pl.Pairs(X, [0, 1], [1, 1]),
        [1, 1],
        InputError,
        r"1 pairs compare an example with itself.*drop them",
    ),
    "labels 2": ({}, PAIRS, 2 * Y, InputError, r"labels must be \+1 \(left first\), -1 .*use np\.sign"),
    "labels true": ({}, PAIRS, Y > 0, InputError, r"labels must be \+1 .*found \['False', 'True'\]"),
    "labels nan": ({}, PAIRS, np.full(N, np.nan), InputError, r"labels must be \+1"),
    "labels text": ({}, PAIRS, np.full(N, "left"), InputError, r"found \['left'\]"),
    "few labels": ({}, PAIRS, Y[1:], InputError, r"one label per pair, 40, got shape \(39,\)"),
    "all draws": ({}, PAIRS, np.zeros(N), InputError, "all labels are 0; at least one pair must be decided"),
    "draws": ({"draws": "ignore"}, PAIRS, Y, InputError, '"half" or "drop", got \'ignore\''),
    "C": ({"C": 0.0}, PAIRS, Y, InputError, "C must be a finite number > 0"),
    "tol": ({"tol": -1.0}, PAIRS, Y, InputError, "tol must be a finite number > 0"),
    "two tables": (
        {},
        pl.Pairs(X, [0, 1], [1, 0], right_examples=X),
        [1, 1],
        SymmetryError,
        "needs a symmetric kernel",
    ),
    "blocks": (
        {},
        pl.Pairs(X, [0, 1], [1, 2], signed=[1.0, 1.0]),
        [1, 1],
        InputError,
        r"`signed` features, which this kernel ignores; add pl\.pair_kernels\.on_signed",
    ),
    "memory": ({"memory_budget": 1e4}, PAIRS, DRAWN, TooLargeError, "raise memory_budget"),
}


@pytest.mark.parametrize(("options", "pairs", "y", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_fits_are_refused_and_leave_the_model_alone(
    options: dict[str, Any], pairs: Any, y: Any, kind: type[Exception], message: str
) -> None:
    ours = pl.PairRanker().fit(PAIRS, Y)
    state = dict(vars(ours))
    ours.set_params(**options)
    with pytest.raises(kind, match=message):
        ours.fit(pairs, y)
    ours.set_params(**{name: state[name] for name in options})
    assert vars(ours) == state


def test_unfitted_use_is_refused() -> None:
    for use in (lambda: pl.PairRanker().predict(NEW), lambda: pl.PairRanker().rank(X)):
        with pytest.raises(NotFittedError):
            use()


# --------------------------------------------------------------------------- scikit-learn


def test_parameters_clone_and_pickle() -> None:
    ours = ranker(kernel="wedge", base="rbf", C=3.0, draws="drop", random_state=4)
    assert clone(ours).get_params() == ours.get_params()
    assert clone(ours).set_params(C=5.0).C == 5.0
    assert pl.PairRanker("wedge", "rbf", 2.0, "drop", 1e-4, 9.0, 1e9, 7).get_params()["random_state"] == 7
    assert repr(pl.PairRanker(C=2.0)) == "PairRanker(C=2.0)"
    again = pickle.loads(pickle.dumps(ours.fit(PAIRS, Y)))
    np.testing.assert_array_equal(again.decision_function(NEW), ours.decision_function(NEW))
    np.testing.assert_array_equal(again.rank(X).order, ours.rank(X).order)


def test_cross_validation_splits_pairs() -> None:
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(ranker(), PAIRS, Y, cv=folds)
    by_hand = []
    for train, test in folds.split(np.zeros(N)):
        model = ranker().fit(PAIRS[train], Y[train])
        by_hand.append(np.mean(model.predict(PAIRS[test]) == Y[test]))
    np.testing.assert_allclose(scores, by_hand)
    search = GridSearchCV(ranker(), {"kernel": ["difference", "wedge"], "C": [0.1, 1.0]}, cv=folds).fit(PAIRS, Y)
    assert search.best_score_ >= np.mean(scores)


def test_group_features_travel_through_cross_validation() -> None:
    _, games, y = home_games(1)
    kernel = pl.pair_kernel("difference") + pl.pair_kernels.on_signed()
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(ranker(kernel=kernel, C=100.0), games, y, cv=folds)
    by_hand = [
        ranker(kernel=kernel, C=100.0).fit(games[train], y[train]).score(games[test], y[test])
        for train, test in folds.split(np.zeros(len(y)))
    ]
    np.testing.assert_allclose(scores, by_hand)
    assert np.mean(scores) > 0.85


@pytest.mark.parametrize("name", FORMULAS)
def test_warm_starts_reach_the_same_solution(name: str) -> None:
    options = {"kernel": name, "base": Gaussian(0.3)}
    warm = ranker(**options, warm_start=True).fit(PAIRS[:25], DRAWN[:25])
    for C in (1.0, 0.2, 10.0):
        warm.set_params(C=C).fit(PAIRS, DRAWN)
        cold = ranker(**options, C=C).fit(PAIRS, DRAWN)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-7)
        close(warm.decision_function(NEW), cold.decision_function(NEW), 1e-4)
    warm.fit(PAIRS, DRAWN)
    assert warm.n_iter_ <= 2


def test_without_time_the_model_is_usable() -> None:
    # More pairs than are solved at once, and labels that nothing explains.
    rng = np.random.default_rng(0)
    pairs = pl.all_pairs(rng.normal(size=(90, 3)), reflexive=False)
    y = np.where(rng.random(len(pairs)) < 0.5, 1, -1)
    with pytest.warns(ConvergenceWarning, match="stopped by time budget at KKT gap"):
        ours = pl.PairRanker(base="rbf", time_budget=0, solver="active_set").fit(pairs, y)
    assert ours.kkt_gap_ > 1e-3
    assert ours.n_support_ > 0  # one step is always taken
    assert np.isfinite(ours.decision_function(NEW)).all()
