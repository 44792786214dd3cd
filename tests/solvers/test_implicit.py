"""All pairs that are never listed: the optimum is that of the list, and a dense twin confirms the certificate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning

import pairlearn as pl
from pairlearn.errors import InputError, TooLargeError
from pairlearn.machines import implicit as machines_implicit
from pairlearn.operators.build import build
from pairlearn.solvers import ActiveSet, implicit
from pairlearn.solvers.certificate import certify
from pairlearn.solvers.implicit.everyone import Ramps, Scored
from pairlearn.solvers.problem import Problem, Solution, Status
from pairlearn.solvers.start import feasible
from pairlearn.types import Floats, Ints

RNG = np.random.default_rng(0)
CLASSES = np.arange(120) % 12
X = RNG.normal(size=(12, 4))[CLASSES] + 0.3 * RNG.normal(size=(120, 4))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES).astype(float)
KERNELS = ("metric", "tensor", "tensor_metric", "direct_sum", "direct_metric")


def everyone_of(
    kernel: str, boxes: tuple[float, float] = (1.0, 1.0)
) -> tuple[implicit.Everyone, pl.pair_kernels.PairKernel]:
    machine = pl.PairSVC(kernel, "linear")
    setting = machines_implicit.setting_for(machine, PAIRS)
    assert PAIRS.triangle is not None
    return implicit.Everyone(setting.table, setting.Z, CLASSES, PAIRS.triangle, boxes), setting.kernel


def solved_by(kernel: pl.pair_kernels.PairKernel) -> implicit.Listed:
    def solve(left: Ints, right: Ints, problem: Problem, start: Floats, seconds: float | None) -> Solution:
        operator = build(kernel, pl.Pairs(X, left, right)).operator
        return ActiveSet(tol=1e-5).solve(problem, operator, feasible(start, problem))

    return solve


def whole(boxes: tuple[float, float] = (1.0, 1.0)) -> Problem:
    return Problem(Y, np.where(Y > 0, 0.0, -boxes[1]), np.where(Y > 0, boxes[0], 0.0), total=0.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_forms_of_blocks_are_those_of_the_list(kernel: str) -> None:
    everyone, resolved = everyone_of(kernel)
    theta = RNG.normal(size=len(PAIRS))
    scored = Scored(everyone.Z, everyone.form(*PAIRS.columns, theta))
    expected = build(resolved, PAIRS).operator @ theta
    np.testing.assert_allclose(scored.values(*PAIRS.columns), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("half", "apart", "centre"), [(0.3, 0.0, 1.0), (1e-200, 0.3, 1.0), (0.3, 0.1, 0.7)])
def test_ramps_and_judgements_are_those_of_a_loop_over_pairs(
    kernel: str, half: float, apart: float, centre: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(implicit.everyone, "BLOCK", 700)  # several blocks
    boxes = (2.0, 0.5)
    everyone, resolved = everyone_of(kernel, boxes)
    operator, (left, right), box = build(resolved, PAIRS).operator, PAIRS.columns, whole(boxes)
    first, bias = 0.01 * RNG.normal(size=len(PAIRS)), 0.1
    ramps = Ramps(Scored(everyone.Z, everyone.form(left, right, first)), bias, half, centre, apart)
    s = centre - Y * (operator @ first + bias)
    far = np.abs(s) >= apart
    share = np.clip((s + half) / (2 * half), 0.0, 1.0)
    theta = np.where(far, (box.lower + box.upper) * share, 0.0)
    found = everyone.ramped(ramps)
    assert found.total == pytest.approx(theta.sum(), abs=1e-9)
    assert found.absolute == pytest.approx(np.abs(theta).sum(), abs=1e-9)
    on = far & (share > 0) & (share < 1)
    assert found.counts == ((on & (Y > 0)).sum(), (on & (Y < 0)).sum())
    if apart == 0.0:
        area = [
            quad(lambda x: np.clip((x + half) / (2 * half), 0, 1), -half, max(at, -half), points=[half])[0]
            for at in s[:50]
        ]
        value = np.where(s < half, half * share**2, s)
        np.testing.assert_allclose(value[:50], area, atol=1e-6)
        assert found.loss == pytest.approx(np.abs(box.lower + box.upper) @ value)
    near = everyone.near(replace(ramps, half=max(half, apart)))
    np.testing.assert_array_equal(PAIRS.triangle.number(*near), np.nonzero(np.abs(s) < max(half, apart))[0])
    product = operator @ theta
    after = Scored(everyone.Z, found.form)
    np.testing.assert_allclose(after.values(left, right), product, atol=1e-9 * np.abs(product).max())
    certificate, support = everyone.judged(ramps, after)
    rest = Problem(Y[far], box.lower[far], box.upper[far], total=0.0)
    expected = certify(rest, _Given(product[far]), theta[far])
    for name in ("up", "low", "objective", "free_sum", "n_free"):
        assert getattr(certificate, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9), name
    assert support == np.count_nonzero(theta)


def _ramp(x: float, half: float) -> float:
    return float(np.clip((x + half) / (2 * half), 0.0, 1.0))


class _Given:
    """An operator whose product is known."""

    def __init__(self, product: Floats) -> None:
        self.product = product

    def blocks(self, coefficients: Floats) -> list[tuple[int, Floats]]:
        return [(0, self.product)]


@pytest.mark.parametrize("kernel", KERNELS)  # the best function of direct_sum is constant: all pairs stay on ramps
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("reflexive", [False, True])
def test_the_optimum_is_that_of_the_list(
    kernel: str, C: float, reflexive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = pl.all_pairs(X, reflexive=reflexive)
    monkeypatch.setattr(machines_implicit, "LISTED", len(pairs) // 5)
    monkeypatch.setattr(implicit.descent, "LEAST", 200)  # curvature of a sample
    weights = {1: 3.0, -1: 1.0}
    options = {"C": C, "random_state": 0, "class_weight": weights}
    listed = pl.PairSVC(kernel, "linear", **options).fit(pairs, pairs.labels(CLASSES))
    found = pl.PairSVC(kernel, "linear", solver="implicit", **options).fit(pairs, pl.ClassLabels(CLASSES))
    assert found.fit_status_ == "converged"
    assert found.kkt_gap_ <= 1e-3
    assert found.objective_ == pytest.approx(listed.objective_, rel=1e-5)
    expected = listed.decision_function(pairs)
    np.testing.assert_allclose(found.decision_function(pairs), expected, atol=2e-3 * max(1.0, np.abs(expected).max()))
    assert found.path_ == "implicit"
    assert "never listed" in str(found.plan_)
    assert len(found.support_) < len(pairs)


def test_without_memory_for_a_list_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*rest: object) -> None:
        raise TooLargeError("no room for a list")

    monkeypatch.setattr(machines_implicit, "refuse_large", refuse)
    found = pl.PairSVC("metric", "linear", random_state=0).fit(PAIRS, pl.ClassLabels(CLASSES))
    assert found.path_ == "implicit"


def test_labels_of_classes_are_listed_where_that_is_better() -> None:
    options = {"C": 1.0, "random_state": 0}
    one = pl.PairSVC("metric", "linear", **options).fit(PAIRS, pl.ClassLabels(CLASSES))
    other = pl.PairSVC("metric", "linear", **options).fit(PAIRS, Y)
    assert one.path_ == other.path_ != "implicit"
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize(
    ("machine", "pairs", "words"),
    [
        (pl.PairSVC("metric", "rbf", solver="implicit"), PAIRS, "few features"),
        (pl.PairSVC("metric", "linear", solver="implicit"), PAIRS[:50], "pl.all_pairs"),
        (pl.PairSVC("metric", "linear", solver="implicit", mirrored=True), PAIRS, "mirrored=False"),
        (pl.PairSVC("metric", "linear", solver="implicit", memory_budget=150e6), PAIRS, "raise memory_budget"),
    ],
)
def test_what_cannot_be_learnt_without_a_list_is_refused(machine: pl.PairSVC, pairs: pl.Pairs, words: str) -> None:
    with pytest.raises((InputError, TooLargeError), match=words):
        machine.fit(pairs, pl.ClassLabels(CLASSES))


@pytest.mark.parametrize("classes", [np.zeros(120), np.arange(120)])
def test_one_label_only_is_refused(classes: Ints) -> None:
    with pytest.raises(InputError, match="at least two classes"):
        pl.PairSVC("metric", "linear", solver="implicit").fit(PAIRS, pl.ClassLabels(classes))


@pytest.mark.parametrize("seed", range(4))
def test_with_many_pairs_for_each_feature_none_is_listed(seed: int) -> None:
    """Two features: at the end of a wide tolerance there are still enough pairs on their ramps."""
    rng = np.random.default_rng(seed)
    classes = np.arange(400) % 8
    points = rng.normal(size=(8, 2))[classes] + 0.5 * rng.normal(size=(400, 2))
    pairs = pl.all_pairs(points, reflexive=False)
    setting = machines_implicit.setting_for(pl.PairSVC("metric", "linear"), pairs)
    everyone = implicit.Everyone(setting.table, setting.Z, classes, setting.triangle, (1.0, 0.1))

    def nobody(*rest: object) -> Solution:
        raise AssertionError("a list")

    found = implicit.Implicit(tol=1e-2, seed=seed).solve(everyone, nobody)
    assert found.status == Status.CONVERGED
    assert found.gap <= 1e-2
    machine = pl.PairSVC("metric", "linear", C=1.0, class_weight={1: 1.0, -1: 0.1}, tol=1e-4, solver="interior")
    listed = machine.fit(pairs, pairs.labels(classes))
    assert listed.fit_status_ == "converged"
    assert found.objective == pytest.approx(listed.objective_, rel=1e-4)


@pytest.mark.parametrize("last", [0, 3])
def test_a_callback_stops_at_any_step(last: int) -> None:
    everyone, kernel = everyone_of("metric")
    stop = implicit.Implicit(tol=1e-9, most=500).solve(everyone, solved_by(kernel), lambda x: x.iteration == last)
    assert stop.status == Status.INTERRUPTED
    assert len(stop.history) == last + 1
    assert stop.gap > 1e-9


@pytest.mark.parametrize("last", range(6))
def test_a_function_that_was_broken_off_is_far_better_than_none(last: int) -> None:
    """Coefficients of the first steps are far too large, and so was the function of their sum."""
    stop = pl.PairSVC("metric", "linear", solver="implicit", callback=lambda step: step.iteration == last, C=1.0)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        values = stop.fit(PAIRS, pl.ClassLabels(CLASSES)).decision_function(PAIRS)
    assert stop.kkt_gap_ == np.inf
    assert np.maximum(0.0, 1.0 - Y * values).sum() < 0.5 * len(PAIRS)  # that of the zero function


def test_without_time_there_is_one_step_that_nothing_certifies() -> None:
    everyone, kernel = everyone_of("metric")
    late = implicit.Implicit(tol=1e-9, most=500, time_budget=0.0).solve(everyone, solved_by(kernel))
    assert late.status == Status.TIME_BUDGET
    assert len(late.history) == 1
    assert late.gap == np.inf
    assert np.isfinite(late.coefficients).all()


@pytest.mark.parametrize("kernel", ["metric", "direct_sum"])
def test_the_gap_of_an_early_end_is_that_of_its_coefficients(kernel: str) -> None:
    """The coefficients follow from the function before; a dense twin computes their gap."""
    everyone, resolved = everyone_of(kernel, (2.0, 0.5))
    steps = implicit.descent.Descent(everyone, 0).steps(1e-4)
    now = [next(steps) for _ in range(4)][-1][0].balanced()
    box, operator = whole((2.0, 0.5)), build(resolved, PAIRS).operator
    s = now.ramps.centre - Y * (now.ramps.scored.values(*PAIRS.columns) + now.ramps.bias)
    theta = (box.lower + box.upper) * np.clip(0.5 + 0.5 * s / now.ramps.half, 0.0, 1.0)
    assert abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()
    dense = certify(box, operator, theta)
    found, _ = everyone.judged(now.ramps, Scored(everyone.Z, now.ramped.form))
    assert found.up - found.low == pytest.approx(dense.up - dense.low, rel=1e-6)


def test_what_was_learnt_without_a_list_can_be_saved(tmp_path: Path) -> None:
    found = pl.PairSVC("metric", "linear", solver="implicit", random_state=0).fit(PAIRS, pl.ClassLabels(CLASSES))
    pl.save(found, tmp_path / "model.safetensors")
    again = pl.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.decision_function(PAIRS), found.decision_function(PAIRS))
    assert str(again.plan_) == str(found.plan_)


def test_an_interrupt_leaves_a_function_as_soon_as_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone, kernel = everyone_of("metric")

    def interrupted(*rest: object) -> Solution:
        raise KeyboardInterrupt

    found = implicit.Implicit(most=500).solve(everyone, interrupted)
    assert found.status == Status.INTERRUPTED
    assert np.isfinite(found.coefficients).all()
    monkeypatch.setattr(implicit.solver, "Descent", interrupted)
    with pytest.raises(KeyboardInterrupt):
        implicit.Implicit(most=500).solve(everyone, solved_by(kernel))


def test_labels_of_pairs_cannot_be_learnt_from_implicitly() -> None:
    with pytest.raises(InputError, match=r"pl\.ClassLabels"):
        pl.PairSVC("metric", "linear", solver="implicit").fit(PAIRS, Y)
