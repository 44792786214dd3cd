"""PairRidge against dense equations, scikit-learn's kernel ridge and brute-force refits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import pairlearn as pl
from pairlearn.errors import ConstantWarning, InputError, SymmetryError, TooLargeError
from pairlearn.kernels import Gaussian, Linear, as_kernel
from pairlearn.machines.ridge import choosing
from pairlearn.operators.build import build
from pairlearn.solvers.ridge import preconditioners

rng = np.random.default_rng(0)
X = rng.normal(size=(14, 3))
EVERYONE = pl.all_pairs(X)
SOME = EVERYONE[rng.permutation(len(EVERYONE))[:40]]
NEW = pl.all_pairs(rng.normal(size=(7, 3)))
BASE = Gaussian(0.3)
KERNELS = ["tensor", "metric", "tensor_metric", "direct_metric", "direct_sum", "wedge_squared", "wedge", "difference"]
DRUGS, TARGETS = rng.normal(size=(6, 3)), rng.normal(size=(5, 4))
A, B = (index.ravel() for index in np.meshgrid(np.arange(6), np.arange(5), indexing="ij"))
GRID = pl.Pairs(DRUGS, A, B, right_examples=TARGETS)[rng.permutation(30)]
AFFINITY = DRUGS[GRID.left, 0] * TARGETS[GRID.right, 1] + 0.3 * rng.normal(size=30) + 5.0


def gram(name: str, pairs: pl.Pairs, base: Any = BASE) -> np.ndarray:
    """The whole matrix of a pair kernel."""
    operator = build(pl.pair_kernel(name).on(as_kernel(base)), pairs).operator
    return operator.submatrix(np.arange(len(pairs)))


def solved(K: np.ndarray, y: np.ndarray, ridge: Any, biased: bool = True) -> tuple[np.ndarray, float]:
    """θ and b of the equations, by elimination."""
    n = len(y)
    M = np.ones((n + 1, n + 1))
    M[:n, :n], M[n, n] = K + np.diag(np.broadcast_to(ridge, n)), 0.0
    if not biased:
        return np.linalg.solve(M[:n, :n], y), 0.0
    found = np.linalg.solve(M, np.append(y, 0.0))
    return found[:n], float(found[n])


def numbers_for(name: str, pairs: pl.Pairs) -> np.ndarray:
    """Numbers of any sign, 0 for reflexive pairs where they have to be."""
    y = np.random.default_rng(1).normal(size=len(pairs)) + (0.0 if name in ("wedge", "difference") else 4.0)
    return np.where(pairs.reflexive, 0.0, y) if name in ("wedge", "difference") else y


def coefficients(model: pl.PairRidge, n: int) -> np.ndarray:
    theta = np.zeros(n)
    theta[model.support_] = model.dual_coef_
    return theta


# --------------------------------------------------------------------------- the equations

SETS = {"all": EVERYONE, "not reflexive": pl.all_pairs(X, reflexive=False), "some": SOME}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("which", SETS)
def test_equals_elimination(name: str, which: str) -> None:
    pairs = SETS[which]
    y, biased = numbers_for(name, pairs), name not in ("wedge", "difference")
    model = pl.PairRidge(name, BASE, alpha=0.2, tol=1e-8).fit(pairs, y)
    theta, bias = solved(gram(name, pairs), y, 0.2, biased)
    assert model.fit_status_ == "converged"
    assert model.kkt_gap_ <= 1e-8
    np.testing.assert_allclose(coefficients(model, len(pairs)), theta, atol=1e-6)
    assert model.intercept_ == pytest.approx(bias, abs=1e-6)
    sign = 1 if biased else -1
    np.testing.assert_array_equal(model.predict(NEW.swapped()), sign * model.predict(NEW))
    np.testing.assert_allclose(model.predict(pairs), gram(name, pairs) @ theta + bias, atol=1e-6)


def test_without_a_bias_it_is_kernel_ridge_regression() -> None:
    pairs = SETS["not reflexive"]
    y = numbers_for("wedge", pairs)
    theirs = KernelRidge(alpha=0.5, kernel="precomputed").fit(gram("wedge", pairs), y)
    ours = pl.PairRidge("wedge", BASE, alpha=0.5, tol=1e-9).fit(pairs, y)
    assert ours.path_ == "eigenbasis"
    np.testing.assert_allclose(ours.predict(pairs), theirs.predict(gram("wedge", pairs)), atol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "pairs", "path"),
    [
        ("tensor", GRID, "eigenbasis"),
        ("tensor", GRID[:25], "conjugate gradients in the eigenbasis"),
        ("tensor", GRID[:10], "factor"),
        ("direct_sum", GRID, "factor"),
        ("tensor", EVERYONE, "conjugate gradients in the eigenbasis"),
        ("tensor_metric", EVERYONE, "conjugate gradients in the eigenbasis"),
        ("wedge_squared", EVERYONE, "factor"),
    ],
)
def test_the_way_that_is_taken(kernel: str, pairs: pl.Pairs, path: str) -> None:
    model = pl.PairRidge(kernel, "rbf").fit(pairs, numbers_for(kernel, pairs))
    assert model.path_ == path
    assert len(model.history_) == 2 if path in ("eigenbasis", "factor") else len(model.history_) > 2


def test_weights_equal_repeated_pairs() -> None:
    weights, y = rng.integers(0, 4, len(SOME)), numbers_for("tensor", SOME)
    again = np.repeat(np.arange(len(SOME)), weights)
    weighted = pl.PairRidge("tensor", BASE, tol=1e-9).fit(SOME, y, sample_weight=weights)
    repeated = pl.PairRidge("tensor", BASE, tol=1e-9).fit(SOME[again], y[again])
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-7)
    assert set(weighted.support_) <= set(np.flatnonzero(weights))


@settings(max_examples=25, deadline=None)
@given(st.floats(-3, 3), st.floats(-50, 50), st.floats(-8, 8), st.sampled_from(["tensor", "difference"]))
def test_units_of_the_targets_do_not_matter(power: float, shift: float, decades: float, name: str) -> None:
    """y → s(y + t) is g → s(g + t), t only where there is a bias; α stays."""
    y, factor, alpha = numbers_for(name, SOME), 10.0**decades, 10.0**power
    shift = 0.0 if name == "difference" else shift
    one, two = (pl.PairRidge(name, BASE, alpha, tol=1e-9).fit(SOME, t) for t in (y, factor * (y + shift)))
    np.testing.assert_allclose(two.predict(NEW), factor * (one.predict(NEW) + shift), atol=1e-5 * factor)
    assert two.scale_ == pytest.approx(factor * one.scale_)


def test_labels_serve_as_targets_and_values_as_scores() -> None:
    Z, classes = pl.data.double_interval(12, 4, n=30, seed=0)
    pairs = pl.all_pairs(Z, reflexive=False)
    y = pairs.labels(classes)
    model = pl.PairRidge("tensor_metric", "poly", alpha=1.0).fit(pairs, y)
    assert pl.equal_error_rate(pl.Scores(model.decision_function(pairs), y)) < 0.05


@pytest.mark.parametrize("base", [("linear", "rbf"), ("rbf", "poly")])
def test_two_tables_equal_elimination(base: tuple[str, str]) -> None:
    model = pl.PairRidge("tensor", base, alpha=0.3, tol=1e-9).fit(GRID, AFFINITY)
    K = gram("tensor", GRID, base)
    theta, bias = solved(K, AFFINITY, 0.3)
    np.testing.assert_allclose(model.predict(GRID), K @ theta + bias, atol=1e-7)
    block = model.score_block(DRUGS, TARGETS)
    np.testing.assert_allclose(block[GRID.left, GRID.right], model.predict(GRID), atol=1e-10)


# --------------------------------------------------------------------------- leaving out, and choosing by it


@pytest.mark.parametrize("unseen", ["pair", "left", "right", "both"])
def test_leaving_out_equals_machines_that_have_not_seen_it(unseen: Any) -> None:
    base = (Linear(), Gaussian(0.2))
    answers = pl.PairRidge("tensor", base, alpha=0.4).leave_one_out(GRID, AFFINITY, unseen)
    for row in rng.choice(30, 6, replace=False):
        left, right = GRID.left == GRID.left[row], GRID.right == GRID.right[row]
        out = {"pair": left & right, "left": left, "right": right, "both": left | right}[unseen]
        other = pl.PairRidge("tensor", base, alpha=0.4, tol=1e-10)
        other.fit(GRID[np.flatnonzero(~out)], AFFINITY[~out])
        assert answers[row] == pytest.approx(other.predict(GRID[[row]])[0], abs=1e-7)


@pytest.mark.parametrize("unseen", ["pair", "left", "right", "both"])
def test_the_chosen_alpha_has_the_least_error(unseen: Any) -> None:
    alphas = (0.01, 0.1, 1.0, 10.0)
    model = pl.PairRidge("tensor", "linear", alphas, unseen=unseen).fit(GRID, AFFINITY)
    single = [pl.PairRidge("tensor", "linear", alpha) for alpha in alphas]
    errors = [np.sqrt(np.mean((one.leave_one_out(GRID, AFFINITY, unseen) - AFFINITY) ** 2)) for one in single]
    np.testing.assert_allclose([error for _, error in model.choice_], errors, rtol=1e-8)
    assert model.alpha_ == alphas[int(np.argmin(errors))]
    fitted = single[int(np.argmin(errors))].fit(GRID, AFFINITY)
    np.testing.assert_allclose(model.predict(GRID), fitted.predict(GRID), atol=1e-10)
    both = pl.PairRidge("tensor", "linear", alphas).leave_one_out(GRID, AFFINITY, unseen)
    np.testing.assert_allclose(both, fitted.leave_one_out(GRID, AFFINITY, unseen), atol=1e-10)


def test_equal_weights_leave_the_choice_where_it_is() -> None:
    one = pl.PairRidge("tensor", "linear", (0.1, 1.0)).fit(GRID, AFFINITY)
    two = pl.PairRidge("tensor", "linear", (0.2, 2.0)).fit(GRID, AFFINITY, sample_weight=np.full(30, 2.0))
    np.testing.assert_allclose([e for _, e in two.choice_], [e for _, e in one.choice_])
    np.testing.assert_allclose(two.predict(GRID), one.predict(GRID))


def test_auto_does_not_depend_on_the_scale_of_the_kernel() -> None:
    models = [
        pl.PairRidge("tensor", (factor * Linear(), Linear()), "auto", unseen="left").fit(GRID, AFFINITY)
        for factor in (1.0, 1e6)
    ]
    np.testing.assert_allclose(models[1].predict(GRID), models[0].predict(GRID), rtol=1e-8)
    assert models[1].alpha_ == pytest.approx(1e6 * models[0].alpha_)
    assert len(models[0].choice_) == len(choosing.DECADES)


# --------------------------------------------------------------------------- stops, starts and files


def test_a_stopped_fit_is_usable_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preconditioners, "FACTORED", 0)
    y = numbers_for("direct_sum", SOME)
    model = pl.PairRidge("direct_sum", BASE, 1e-3, tol=1e-8, warm_start=True, callback=lambda line: line.iteration == 3)
    with pytest.warns(ConvergenceWarning, match="interrupted at KKT gap"):
        model.fit(SOME, y)
    assert model.fit_status_ == "interrupted"
    np.testing.assert_array_equal(model.predict(NEW), model.predict(NEW.swapped()))
    before = model.kkt_gap_
    model.set_params(callback=None).fit(SOME, y)
    assert model.fit_status_ == "converged"
    assert model.history_[0].gap == pytest.approx(before)


def test_without_time_it_is_the_mean() -> None:
    with pytest.warns(ConvergenceWarning, match="time budget"):
        model = pl.PairRidge("tensor", BASE, time_budget=0.0).fit(GRID, AFFINITY)
    np.testing.assert_allclose(model.predict(GRID), AFFINITY.mean())


def test_less_memory_takes_the_other_way() -> None:
    Z = rng.normal(size=(300, 3))
    pairs = pl.all_pairs(Z, reflexive=False)
    y = np.sin(Z[pairs.left, 0] + Z[pairs.right, 0])
    wide, narrow = (pl.PairRidge("tensor", BASE, memory_budget=b).fit(pairs, y) for b in (1e9, 1.7e7))
    assert wide.path_ != narrow.path_ == "conjugate gradients"
    assert narrow.plan_.bytes <= 1.7e7
    np.testing.assert_allclose(narrow.predict(NEW), wide.predict(NEW), atol=1e-3)


def test_saved_and_cloned(tmp_path: Path) -> None:
    model = pl.PairRidge("tensor", "rbf", np.array([0.1, 1.0]), unseen="both").fit(GRID, AFFINITY)
    pl.save(model, tmp_path / "ridge.safetensors")
    loaded = pl.load(tmp_path / "ridge.safetensors")
    np.testing.assert_array_equal(loaded.predict(GRID), model.predict(GRID))
    assert (loaded.choice_, loaded.alpha_, loaded.unseen) == (model.choice_, model.alpha_, "both")
    assert clone(model).get_params()["unseen"] == "both"


def test_searched_by_scikit_learn() -> None:
    search = GridSearchCV(pl.PairRidge("tensor", BASE), {"alpha": [1e-3, 1e3]}, cv=3)
    y = np.cos(X[SOME.left, 0] + X[SOME.right, 0])
    assert search.fit(SOME, y).best_params_ == {"alpha": 1e-3}


# --------------------------------------------------------------------------- refusals

ONE_ROW = pl.Pairs(DRUGS[:1], [0, 0], [0, 1], right_examples=TARGETS[:2])
REFUSED: dict[str, tuple[dict[str, Any], pl.Pairs, Any, type[Exception], str]] = {
    "alpha": ({"alpha": 0.0}, SOME, None, InputError, "alpha must be a finite number > 0"),
    "alpha nan": ({"alpha": np.nan}, SOME, None, InputError, "alpha must be a finite number > 0"),
    "alpha text": ({"alpha": "best"}, SOME, None, InputError, "\"auto\", got 'best'"),
    "no alphas": ({"alpha": ()}, SOME, None, InputError, "alpha must be a finite number > 0"),
    "one bad alpha": ({"alpha": (1.0, -1.0)}, GRID, None, InputError, "several of them to choose from"),
    "unseen": ({"unseen": "none"}, GRID, None, InputError, "unseen is one of pair, left, right, both, got 'none'"),
    "auto, one table": ({"alpha": "auto"}, EVERYONE, None, InputError, "all pairs of two tables"),
    "auto, holes": ({"alpha": "auto"}, GRID[:29], None, InputError, "all pairs of two tables"),
    "auto, another kernel": ({"alpha": (1.0, 2.0), "kernel": "direct_sum"}, GRID, None, InputError, "tensor"),
    "auto, one row": ({"alpha": "auto"}, ONE_ROW, None, InputError, "single example on one side"),
    "tol": ({"tol": 0.0}, SOME, None, InputError, "tol must be a finite number > 0"),
    "few numbers": ({}, SOME, [1.0], InputError, "y must hold one number per pair"),
    "nan": ({}, SOME, np.full(len(SOME), np.nan), InputError, "y contains NaN"),
    "reflexive": ({"kernel": "wedge"}, EVERYONE, np.ones(len(EVERYONE)), InputError, "reflexive pair must be 0"),
    "order of two tables": ({"kernel": "wedge"}, GRID, None, SymmetryError, "two tables needs a symmetric kernel"),
    "memory": ({"memory_budget": 1000.0}, SOME, None, TooLargeError, "raise memory_budget"),
    "overflow": ({"base": "linear"}, pl.Pairs(1e150 * X, [0, 1], [2, 3]), None, InputError, "scale the examples"),
}


@pytest.mark.parametrize(("options", "pairs", "y", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused(options: Any, pairs: pl.Pairs, y: Any, error: Any, message: str) -> None:
    model = pl.PairRidge(**{"kernel": "tensor", "base": "rbf", **options})
    with pytest.raises(error, match=message):
        model.fit(pairs, np.arange(float(len(pairs))) if y is None else y)
    assert not hasattr(model, "function_")


def test_leaving_out_is_refused_for_unequal_weights_and_too_little_memory() -> None:
    weights = np.where(np.arange(30) < 3, 2.0, 1.0)
    with pytest.raises(InputError, match="equal weights"):
        pl.PairRidge("tensor", "rbf", "auto").fit(GRID, AFFINITY, weights)
    with pytest.raises(InputError, match="unseen is one of"):
        pl.PairRidge("tensor", "rbf").leave_one_out(GRID, AFFINITY, "none")  # type: ignore[arg-type]


def test_its_words_speak_of_alpha_and_not_of_a_box() -> None:
    with pytest.warns(ConstantWarning, match="a smaller alpha"):
        pl.PairRidge().fit(SOME, np.ones(len(SOME)))
    with pytest.warns(ConvergenceWarning, match=r"scale the examples or raise alpha") as told:
        model = pl.PairRidge(tol=1e-300).fit(SOME, rng.normal(size=len(SOME)))  # beyond what rounding leaves
    assert model.fit_status_ == "rounding"
    assert not any(" C " in str(each.message) for each in told)


def test_a_choice_that_takes_long_is_foretold(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = pl.PairRidge("tensor", "rbf", [0.1, 1.0], unseen="both")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alpha = machine.fit(GRID, AFFINITY).alpha_
    monkeypatch.setattr(choosing, "LONG", 0.0)
    with pytest.warns(UserWarning, match=r'2 alpha with unseen="both" takes about .* each of 5 examples; give fewer'):
        assert machine.fit(GRID, AFFINITY).alpha_ == alpha
