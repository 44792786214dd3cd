"""Label switching against every labelling of tiny problems, and the machines that it must fall back to."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import groupby, product
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError, TooLargeError
from pairlearn.kernels import Gaussian, Linear

FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "tensor": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2,
    "metric": lambda ac, ad, bc, bd: (ac - ad - bc + bd) ** 2 / 4,
    "tensor_metric": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2 + (ac - ad - bc + bd) ** 2 / 4,
    "difference": lambda ac, ad, bc, bd: (ac - ad - bc + bd) / 2,
    "wedge": lambda ac, ad, bc, bd: (ac * bd - ad * bc) / 2,
}
SIGN = {"tensor": 1, "metric": 1, "tensor_metric": 1, "difference": -1, "wedge": -1}
BASE = Gaussian(0.3)
rng = np.random.default_rng(0)
M = 12
CLASSES = np.arange(M) % 3
X = rng.normal(size=(M, 3)) + 1.5 * rng.normal(size=(3, 3))[CLASSES]
PAIRS = pl.all_pairs(X, reflexive=False)
N = len(PAIRS)
Y = PAIRS.labels(CLASSES)
KNOWN = np.where(np.arange(N) % 4 == 0, Y, 0)
WINS = np.sign(X[PAIRS.left, 0] - X[PAIRS.right, 0]).astype(int)
KNOWN_WINS = np.where(np.arange(N) % 4 == 0, WINS, 0)
NEW = pl.all_pairs(rng.normal(size=(7, 3)))
every_kernel = pytest.mark.parametrize("name", FORMULAS)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def known(name: str) -> np.ndarray:
    return KNOWN if SIGN[name] > 0 else KNOWN_WINS


def explicit(name: str, rows: pl.Pairs, cols: pl.Pairs = PAIRS, base: Any = BASE) -> np.ndarray:
    K = base(rows.examples, cols.examples)
    return FORMULAS[name](*(K[np.ix_(row, col)] for row in (rows.left, rows.right) for col in (cols.left, cols.right)))


def machine(**options: Any) -> pl.TransductivePairSVC:
    return pl.TransductivePairSVC(**{"base": BASE, "tol": 1e-6, "random_state": 0, **options})


def close(found: Any, expected: Any, rtol: float = 1e-3) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(1e-12, float(np.abs(expected).max())))


def dual(K: np.ndarray, y: np.ndarray, boxes: np.ndarray, sign: int) -> tuple[np.ndarray, float]:
    """(θ, ½‖w‖² + Σ C ξ) of the machine with these labels: LIBSVM with a bias, L-BFGS-B without."""
    if sign > 0:
        fit = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(K, y, sample_weight=boxes)
        theta = np.zeros(len(y))
        theta[fit.support_] = fit.dual_coef_[0]
    else:
        bounds = np.sort(np.stack([np.zeros(len(y)), y * boxes]), axis=0).T
        theta = minimize(
            lambda t: (0.5 * t @ K @ t - y @ t, K @ t - y),
            np.zeros(len(y)),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 10_000, "maxfun": 10**5, "ftol": 1e-14, "gtol": 1e-8},
        ).x
    return theta, float(y @ theta - 0.5 * theta @ K @ theta)


# --------------------------------------------------------------------------- what is found


@pytest.mark.parametrize("C", [0.3, 3.0])
@every_kernel
def test_the_model_is_the_machine_of_the_found_labels(name: str, C: float) -> None:
    ours = machine(kernel=name, C=C, C_unlabelled=0.5 * C).fit(PAIRS, known(name))
    y = ours.transduction_
    given_labels = known(name) != 0
    np.testing.assert_array_equal(y[given_labels], known(name)[given_labels])
    assert set(y) == {-1, 1}
    boxes = np.where(given_labels, C, 0.5 * C)
    K = explicit(name, PAIRS)
    theta, objective = dual(K, y, boxes, SIGN[name])
    assert ours.switching_[-1].objective == pytest.approx(objective, rel=1e-5)
    assert -ours.objective_ == ours.switching_[-1].objective
    close(ours.decision_function(NEW) - ours.intercept_, explicit(name, NEW) @ theta)
    np.testing.assert_array_equal(ours.predict(NEW), np.where(ours.decision_function(NEW) > 0, 1, -1))
    np.testing.assert_array_equal(ours.decision_function(NEW.swapped()), SIGN[name] * ours.decision_function(NEW))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(FORMULAS)), st.sampled_from([None, 1, 3]), st.floats(0.1, 2.0))
def test_the_objective_falls_strictly_within_each_stage(seed: int, name: str, most: int | None, C: float) -> None:
    random = np.random.default_rng(seed)
    y = np.where(random.random(N) < 0.2, random.choice([-1, 1], N), 0)
    y[:2] = 1, -1
    ours = machine(kernel=name, C=C, max_switches=most).fit(PAIRS, y)
    stages = [list(group) for _, group in groupby(ours.switching_, key=lambda step: step.box)]
    assert [stage[0].box for stage in stages] == pytest.approx([0.01 * C, 0.1 * C, C])
    for stage in stages:
        assert stage[0].switched == 0
        assert all(step.switched > 0 for step in stage[1:])
        assert all(step.kkt_gap <= 1e-6 for step in stage)
        assert (np.diff([step.objective for step in stage]) < 0).all()
        if most is not None:
            assert max(step.switched for step in stage) <= most * (2 if SIGN[name] > 0 else 1)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(FORMULAS)))
def test_no_couple_is_left_in_the_wrong_order(seed: int, name: str) -> None:
    """At the end no switch of an active couple could lower the objective."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(N) < 0.2, random.choice([-1, 1], N), 0)
    y[:2] = 1, -1
    ours = machine(kernel=name, C=0.5).fit(PAIRS, y)
    theta, g = np.zeros(N), ours.decision_function(PAIRS)
    theta[ours.support_] = ours.dual_coef_
    active = (y == 0) & (theta != 0)
    positive, negative = g[active & (theta > 0)], g[active & (theta < 0)]
    if SIGN[name] > 0:
        assert positive.min(initial=np.inf) >= negative.max(initial=-np.inf) - 1e-5
    else:
        assert (ours.transduction_ * g)[active].min(initial=0.0) >= -1e-5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["tensor_metric", "wedge"])
def test_against_every_labelling_of_a_tiny_problem(name: str, seed: int) -> None:
    """Not worse than the first labels, not better than the best of all, and its number is the true one."""
    random = np.random.default_rng(seed)
    pairs = pl.all_pairs(random.normal(size=(5, 2)), reflexive=False)
    n, sign = len(pairs), SIGN[name]
    y = np.zeros(n, dtype=int)
    y[:4] = 1, -1, 1, -1
    unknown = np.nonzero(y == 0)[0]
    K = explicit(name, pairs, pairs)
    C = 0.8
    ours = machine(kernel=name, C=C, anneal=(1.0,)).fit(pairs, y)
    ones = int((ours.transduction_[unknown] > 0).sum())
    costs = {}
    for choice in product([-1, 1], repeat=len(unknown)):
        if sign > 0 and sum(label > 0 for label in choice) != ones:
            continue
        full = y.copy()
        full[unknown] = choice
        costs[choice] = dual(K, full, np.full(n, C), sign)[1]
    found = ours.switching_[-1].objective
    assert found == pytest.approx(costs[tuple(ours.transduction_[unknown])], rel=1e-5)
    supervised = (pl.PairSVC if sign > 0 else pl.PairRanker)(kernel=name, base=BASE, C=C, tol=1e-6)
    g = supervised.fit(pairs[y != 0], y[y != 0]).decision_function(pairs[unknown])
    first = costs[tuple(np.where(g >= 0, 1, -1))]
    assert ours.switching_[0].objective == pytest.approx(first, rel=1e-5)
    assert min(costs.values()) - 1e-5 <= found <= first + 1e-5


# --------------------------------------------------------------------------- shares


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0), st.sampled_from([None, 1]))
def test_the_wanted_share_is_kept_exactly(seed: int, share: float, most: int | None) -> None:
    random = np.random.default_rng(seed)
    y = np.where(random.random(N) < 0.2, random.choice([-1, 1], N), 0)
    y[:2] = 1, -1
    ours = machine(kernel="tensor", positive_share=share, max_switches=most).fit(PAIRS, y)
    unknown = y == 0
    assert (ours.transduction_[unknown] > 0).sum() == round(share * unknown.sum())


def test_without_a_share_the_supervised_machine_sets_it() -> None:
    ours = machine(kernel="tensor_metric").fit(PAIRS, KNOWN)
    labelled = KNOWN != 0
    supervised = pl.PairSVC(kernel="tensor_metric", base=BASE, tol=1e-6).fit(PAIRS[labelled], KNOWN[labelled])
    expected = (supervised.decision_function(PAIRS[~labelled]) >= 0).sum()
    assert (ours.transduction_[~labelled] > 0).sum() == expected > 0


@pytest.mark.parametrize(("share", "threshold"), [(0.0, 2.1), (1.0, -0.15), (0.6, 0.925)])
def test_hard_margins_in_the_widest_gap(share: float, threshold: float) -> None:
    """Pairs on a line at −1, a cluster 0.7 … 1.2, and 3: the boundary is the middle of the gap that the share names."""
    z = np.array([-1.0, 3.0, 0.7, 0.8, 1.05, 1.1, 1.2])
    place = np.zeros((2, 1))
    pairs = pl.Pairs(place, np.zeros(7, dtype=int), np.ones(7, dtype=int), invariant=z)
    y = np.array([-1, 1, 0, 0, 0, 0, 0])
    ours = machine(kernel=pl.pair_kernels.on_invariant(), C=1e4, positive_share=share).fit(pairs, y)
    line = pl.Pairs(place, [0, 0], [1, 1], invariant=[0.0, 1.0])
    at0, at1 = ours.decision_function(line)
    assert -at0 / (at1 - at0) == pytest.approx(threshold, abs=1e-4)
    np.testing.assert_array_equal(ours.transduction_, np.where(z > threshold, 1, -1))


# --------------------------------------------------------------------------- special cases


@every_kernel
def test_fully_labelled_data_are_plain_classification(name: str) -> None:
    y = Y if SIGN[name] > 0 else WINS
    ours = machine(kernel=name, C=2.0).fit(PAIRS, y)
    kind = pl.PairSVC if SIGN[name] > 0 else pl.PairRanker
    plain = kind(kernel=name, base=BASE, C=2.0, tol=1e-6, random_state=0).fit(PAIRS, y)
    np.testing.assert_array_equal(ours.decision_function(NEW), plain.decision_function(NEW))
    np.testing.assert_array_equal(ours.transduction_, y)
    assert ours.switching_ == ()


@pytest.mark.parametrize("name", ["tensor_metric", "wedge"])
def test_a_vanishing_box_is_the_supervised_machine(name: str) -> None:
    y = known(name)
    ours = machine(kernel=name, C_unlabelled=1e-9).fit(PAIRS, y)
    plain = (pl.PairSVC if SIGN[name] > 0 else pl.PairRanker)(kernel=name, base=BASE, tol=1e-6)
    plain.fit(PAIRS[y != 0], y[y != 0])
    close(ours.decision_function(NEW), plain.decision_function(NEW), 1e-4)


def test_unlabelled_pairs_of_weight_zero_have_no_say() -> None:
    weights = np.where(KNOWN != 0, 2.0, 0.0)
    ours = machine(kernel="tensor").fit(PAIRS, KNOWN, sample_weight=weights)
    labelled = KNOWN != 0
    plain = pl.PairSVC(kernel="tensor", base=BASE, C=2.0, tol=1e-6).fit(PAIRS[labelled], KNOWN[labelled])
    close(ours.decision_function(NEW), plain.decision_function(NEW), 1e-4)


def test_one_class_of_wins_is_enough_for_antisymmetric_machines() -> None:
    won = np.where(KNOWN_WINS > 0, 1, 0)
    ours = machine(kernel="difference").fit(PAIRS, won)
    assert ours.intercept_ == 0.0
    np.testing.assert_array_equal(ours.transduction_[won > 0], 1)


@pytest.mark.parametrize("name", ["tensor_metric", "difference"])
def test_the_order_in_which_pairs_are_given_does_not_matter(name: str) -> None:
    flip = rng.random(N) < 0.5
    turned = pl.Pairs(X, np.where(flip, PAIRS.right, PAIRS.left), np.where(flip, PAIRS.left, PAIRS.right))
    y = known(name)
    one = machine(kernel=name).fit(PAIRS, y)
    two = machine(kernel=name).fit(turned, np.where(flip, SIGN[name] * y, y))
    np.testing.assert_array_equal(two.transduction_, np.where(flip, SIGN[name], 1) * one.transduction_)
    close(two.decision_function(NEW), one.decision_function(NEW), 1e-4)


def test_unlabelled_pairs_help() -> None:
    """Three clear clusters, four labelled pairs: the others make up for the missing labels."""
    random = np.random.default_rng(3)
    classes = np.arange(18) % 3
    examples = 4.0 * np.eye(3)[classes] + 0.4 * random.normal(size=(18, 3))
    pairs = pl.all_pairs(examples, reflexive=False)
    y = pairs.labels(classes)
    some = np.zeros(len(y), dtype=int)
    for label in (1, -1):
        some[np.nonzero(y == label)[0][:3]] = label
    ours = pl.TransductivePairSVC(kernel="metric", base=Linear(), positive_share=(y[some == 0] > 0).mean())
    assert (ours.fit(pairs, some).transduction_ == y).mean() > 0.95


@pytest.mark.parametrize("solver", ["active_set", "smo"])
@pytest.mark.parametrize("name", ["tensor_metric", "wedge"])
def test_without_time_the_model_is_usable(name: str, solver: str) -> None:
    with pytest.warns(ConvergenceWarning, match="stopped by time budget"):
        ours = machine(kernel=name, time_budget=0, solver=solver).fit(PAIRS, known(name))
    assert ours.fit_status_ == "time budget"
    assert np.isfinite(ours.decision_function(NEW)).all()
    assert set(ours.transduction_) <= {-1, 1}
    np.testing.assert_array_equal(ours.transduction_[known(name) != 0], known(name)[known(name) != 0])


def test_an_interrupted_fit_keeps_its_labels() -> None:
    calls = []

    def stop(progress: Any) -> bool:
        calls.append(progress)
        return len(calls) > 6

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        ours = machine(kernel="tensor", callback=stop).fit(PAIRS, KNOWN)
    assert set(ours.transduction_) == {-1, 1}
    np.testing.assert_array_equal(ours.decision_function(NEW), ours.decision_function(NEW.swapped()))


# --------------------------------------------------------------------------- refusals

REFUSED: dict[str, tuple[dict[str, Any], Any, Any, type[Exception], str]] = {
    "no labels": ({}, PAIRS, np.zeros(N), InputError, "no pair is labelled; at least one of each class"),
    "one class": ({}, PAIRS, np.abs(KNOWN), InputError, "all labelled pairs have the same label"),
    "labels 2": ({}, PAIRS, 2 * KNOWN, InputError, r"labels must be \+1, -1 or 0 \(unlabelled\), found"),
    "labels nan": ({}, PAIRS, np.full(N, np.nan), InputError, r"labels must be \+1, -1 or 0"),
    "few labels": ({}, PAIRS, KNOWN[1:], InputError, r"one label per pair, 66, got shape \(65,\)"),
    "C": ({"C": 0.0}, PAIRS, KNOWN, InputError, "C must be a finite number > 0"),
    "C_unlabelled": ({"C_unlabelled": -1.0}, PAIRS, KNOWN, InputError, "C_unlabelled must be a finite number > 0"),
    "share": ({"positive_share": 1.2}, PAIRS, KNOWN, InputError, "positive_share is a share between 0 and 1"),
    "share skew": (
        {"kernel": "wedge", "positive_share": 0.3},
        PAIRS,
        KNOWN_WINS,
        InputError,
        r"antisymmetric machine has positive_share = 0\.5 over both orders",
    ),
    "switches": (
        {"max_switches": 0},
        PAIRS,
        KNOWN,
        InputError,
        "max_switches must be a whole number ≥ 1 or None, got 0",
    ),
    "switches part": ({"max_switches": 1.5}, PAIRS, KNOWN, InputError, "a whole number ≥ 1 or None, got 1.5"),
    "labels true": ({}, PAIRS, KNOWN > 0, InputError, r"labels must be \+1, -1 or 0 \(unlabelled\), found \['False'"),
    "mirrored other": ({"mirrored": "both"}, PAIRS, KNOWN, InputError, 'mirrored is True, False, "symmetric" or'),
    "mirrored zero": (
        {"kernel": "tensor", "mirrored": "antisymmetric"},
        PAIRS,
        KNOWN_WINS,
        SymmetryError,
        "antisymmetric question, but this pair kernel is symmetric",
    ),
    "anneal end": ({"anneal": (0.1, 0.5)}, PAIRS, KNOWN, InputError, "anneal must rise to 1"),
    "anneal falls": ({"anneal": (0.5, 0.1, 1.0)}, PAIRS, KNOWN, InputError, "anneal must rise to 1"),
    "anneal empty": ({"anneal": ()}, PAIRS, KNOWN, InputError, "anneal must rise to 1"),
    "anneal zero": ({"anneal": (0.0, 1.0)}, PAIRS, KNOWN, InputError, "anneal must rise to 1"),
    "reflexive": (
        {"kernel": "difference"},
        pl.Pairs(X, [0, 1, 2], [1, 1, 0]),
        [1, 0, 0],
        InputError,
        r"g\(a, a\) = 0; drop reflexive pairs",
    ),
    "mirrored": ({"kernel": "poly_tensor", "mirrored": True}, PAIRS, KNOWN, SymmetryError, 'mirrored="symmetric" or'),
    "memory": ({"memory_budget": 1e4}, PAIRS, KNOWN, TooLargeError, "raise memory_budget"),
}


@pytest.mark.parametrize(("options", "pairs", "y", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_fits_are_refused_and_leave_the_model_alone(
    options: dict[str, Any], pairs: Any, y: Any, error: type[Exception], message: str
) -> None:
    ours = machine().fit(PAIRS, KNOWN)
    state = dict(vars(ours))
    ours.set_params(**options)
    with pytest.raises(error, match=message):
        ours.fit(pairs, y)
    ours.set_params(**{name: state[name] for name in options})
    assert vars(ours) == state


# --------------------------------------------------------------------------- scikit-learn


def test_parameters_clone_and_pickle() -> None:
    ours = machine(kernel="wedge", C_unlabelled=0.2, max_switches=3, anneal=(0.5, 1.0), random_state=4)
    assert clone(ours).get_params() == ours.get_params()
    assert "warm_start" not in ours.get_params()
    assert clone(ours).set_params(max_switches=5).max_switches == 5
    positional = pl.TransductivePairSVC("wedge", "rbf", 2.0, 0.3, None, 4, (1.0,), 1e-4, 9.0, 1e9, 7)
    assert (positional.max_switches, positional.anneal, positional.random_state) == (4, (1.0,), 7)
    assert repr(pl.TransductivePairSVC(max_switches=2)) == "TransductivePairSVC(max_switches=2)"
    again = pickle.loads(pickle.dumps(ours.fit(PAIRS, KNOWN_WINS)))
    np.testing.assert_array_equal(again.decision_function(NEW), ours.decision_function(NEW))
    np.testing.assert_array_equal(again.transduction_, ours.transduction_)
    assert again.switching_ == ours.switching_


def test_cross_validation_splits_pairs() -> None:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = machine(kernel="tensor_metric")
    found = cross_val_score(model, PAIRS, Y, cv=folds)
    splits = folds.split(np.zeros(N), Y)
    expected = [clone(model).fit(PAIRS[train], Y[train]).score(PAIRS[test], Y[test]) for train, test in splits]
    np.testing.assert_allclose(found, expected)


def test_held_out_pairs_may_be_the_unlabelled_ones() -> None:
    """The transductive setting itself: hide labels, find them, compare."""
    random = np.random.default_rng(5)
    examples = random.normal(size=(M, 3)) + 3.0 * np.eye(3)[CLASSES]
    pairs = pl.all_pairs(examples, reflexive=False)
    hidden = np.where(random.random(N) < 0.4, 0, Y)
    share = (Y[hidden == 0] > 0).mean()
    found = machine(kernel="tensor_metric", positive_share=share).fit(pairs, hidden).transduction_
    assert (found == Y)[hidden == 0].mean() > max(share, 1 - share)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("tensor", r"all pairs with label \+1 have weight 0; both classes are needed"),
        ("wedge", "all labelled pairs have weight 0"),
    ],
)
def test_weights_that_leave_unlabelled_pairs_alone_are_refused(kernel: str, words: str) -> None:
    weights = np.where(known(kernel) > 0, 0.0, 1.0) if SIGN[kernel] > 0 else np.where(known(kernel) == 0, 1.0, 0.0)
    with pytest.raises(InputError, match=words):
        pl.TransductivePairSVC(kernel, BASE).fit(PAIRS, known(kernel), sample_weight=weights)
