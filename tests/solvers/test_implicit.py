"""All pairs that are never listed: the optimum is that of the list, and a dense twin confirms the certificate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError, TooLargeError
from pairlearn.machines import implicit as machines_implicit
from pairlearn.operators.build import build
from pairlearn.solvers import ActiveSet, implicit
from pairlearn.solvers.certificate import certify
from pairlearn.solvers.implicit.everyone import Scored
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
    def solve(left: Ints, right: Ints, problem: Problem, seconds: float | None) -> Solution:
        start = feasible(np.zeros(len(problem)), problem)
        return ActiveSet(tol=1e-5).solve(problem, build(kernel, pl.Pairs(X, left, right)).operator, start)

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
@pytest.mark.parametrize("half", [0.0, 0.3])
def test_assignments_and_judgements_are_those_of_a_loop_over_pairs(
    kernel: str, half: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(implicit.everyone, "BLOCK", 700)  # several blocks
    boxes = (2.0, 0.5)
    everyone, resolved = everyone_of(kernel, boxes)
    operator, (left, right) = build(resolved, PAIRS).operator, PAIRS.columns
    first = 0.01 * RNG.normal(size=len(PAIRS))
    scored = Scored(everyone.Z, everyone.form(left, right, first))
    bias = 0.1
    found = everyone.assigned(scored, bias, half)
    rates = Y - operator @ first - bias
    far = np.abs(rates) > half
    theta = np.where(far, np.where(Y > 0, boxes[0] * (rates > 0), -boxes[1] * (rates < 0)), 0.0)
    np.testing.assert_array_equal(found.left, left[~far])
    np.testing.assert_array_equal(found.right, right[~far])
    assert found.total == pytest.approx(theta.sum(), abs=1e-9)
    near = 0.3 * whole(boxes).upper[~far] + 0.4 * whole(boxes).lower[~far]
    theta[~far] = near
    after = Scored(everyone.Z, found.far + everyone.form(left[~far], right[~far], near))
    product = operator @ theta
    np.testing.assert_allclose(after.values(left, right), product, atol=1e-9 * np.abs(product).max())
    certificate, (own, cross, support) = everyone.judged(after, found)
    expected = certify(
        Problem(Y[far], whole(boxes).lower[far], whole(boxes).upper[far], total=0.0), _Given(product[far]), theta[far]
    )
    assert certificate.up == pytest.approx(expected.up, rel=1e-9)
    assert certificate.low == pytest.approx(expected.low, rel=1e-9)
    assert certificate.objective == pytest.approx(expected.objective, rel=1e-9)
    assert support == np.count_nonzero(theta[far])
    assert own == pytest.approx(theta[far] @ product[far], rel=1e-9)
    assert cross == pytest.approx(theta[far] @ (operator @ first)[far], rel=1e-9)


class _Given:
    """An operator whose product is known."""

    def __init__(self, product: Floats) -> None:
        self.product = product

    def blocks(self, coefficients: Floats) -> list[tuple[int, Floats]]:
        return [(0, self.product)]


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "direct_sum"])  # its best function is constant
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("reflexive", [False, True])
def test_the_optimum_is_that_of_the_list(
    kernel: str, C: float, reflexive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the pairs is listed at most, and the first function is that of a twentieth."""
    pairs = pl.all_pairs(X, reflexive=reflexive)
    monkeypatch.setattr(implicit.solver, "SAMPLE", len(pairs) // 20)
    monkeypatch.setattr(machines_implicit, "LISTED", len(pairs) // 5)
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


def test_a_first_round_is_finished_and_a_callback_may_stop_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(implicit.solver, "SAMPLE", 300)
    everyone, kernel = everyone_of("metric")
    found = implicit.Implicit(tol=1e-9, most=500, seed=0).solve(everyone, solved_by(kernel), lambda step: True)
    assert found.status == Status.INTERRUPTED
    assert 1 <= len(found.history) <= 2  # a second one where the first has no coefficients of all pairs
    late = implicit.Implicit(tol=1e-9, most=500, seed=0, time_budget=0.0).solve(everyone, solved_by(kernel))
    assert late.status == Status.TIME_BUDGET
    assert 1 <= len(late.history) <= 2


def test_a_constant_optimum_ends_with_a_true_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all pairs are free there is no margin to look at: the fit ends, and says how far it came."""
    monkeypatch.setattr(implicit.solver, "SAMPLE", 300)
    everyone, kernel = everyone_of("direct_sum")
    found = implicit.Implicit(most=500, seed=0, max_rounds=3).solve(everyone, solved_by(kernel))
    assert found.status != Status.CONVERGED
    assert found.gap > 1e-3


def test_what_was_learnt_without_a_list_can_be_saved(tmp_path: Path) -> None:
    found = pl.PairSVC("metric", "linear", solver="implicit", random_state=0).fit(PAIRS, pl.ClassLabels(CLASSES))
    pl.save(found, tmp_path / "model.safetensors")
    again = pl.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.decision_function(PAIRS), found.decision_function(PAIRS))
    assert str(again.plan_) == str(found.plan_)


def test_interrupted_before_anything_was_learnt_it_stays_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second later there was an AttributeError in its place, and later interrupts were not heeded at all."""
    monkeypatch.setattr(implicit.solver, "SAMPLE", 300)
    everyone, kernel = everyone_of("metric")

    def interrupted(left: Ints, right: Ints, problem: Problem, seconds: float | None) -> Solution:
        return replace(solved_by(kernel)(left, right, problem, seconds), status=Status.INTERRUPTED)

    with pytest.raises(KeyboardInterrupt):
        implicit.Implicit(most=500).solve(everyone, interrupted)

    def later(left: Ints, right: Ints, problem: Problem, seconds: float | None) -> Solution:
        found = solved_by(kernel)(left, right, problem, seconds)
        return (
            found if (problem.linear == np.round(problem.linear)).all() else replace(found, status=Status.INTERRUPTED)
        )

    assert implicit.Implicit(tol=1e-12, most=500).solve(everyone, later).status == Status.INTERRUPTED


def test_labels_of_pairs_cannot_be_learnt_from_implicitly() -> None:
    with pytest.raises(InputError, match=r"pl\.ClassLabels"):
        pl.PairSVC("metric", "linear", solver="implicit").fit(PAIRS, Y)
