"""Long runs: a fit that was broken off goes on from its checkpoint to the same optimum, and never from a wrong one."""

from __future__ import annotations

import json
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import pairlearn as pl
from pairlearn.errors import CheckpointWarning, InputError, OutputError, TooLargeError
from pairlearn.kernels import as_kernel
from pairlearn.operators.build import build
from pairlearn.operators.dense import DenseOperator
from pairlearn.pair_kernels import pair_kernel
from pairlearn.persist.checkpoint import FILE
from pairlearn.persist.documents import digest
from pairlearn.solvers import ActiveSet, Auto, Nested, PlainSMO
from pairlearn.solvers.problem import Keeper, Problem, Progress
from pairlearn.solvers.tuning import TUNING

RNG = np.random.default_rng(0)
WHO = np.repeat(np.arange(12), 8)
X = RNG.normal(size=(12, 6))[WHO] + 0.9 * RNG.normal(size=(len(WHO), 6))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(WHO)
FEW = slice(0, 400)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where a checkpoint goes; nothing but the checkpoint is ever left there."""
    yield tmp_path / "run.checkpoint"
    assert [each.name for each in tmp_path.iterdir() if each.name != "run.checkpoint"] == []


def often(path: Path, **options: Any) -> pl.Checkpoint:
    return pl.Checkpoint(path, every=1e-9, **options)


def broken_off(machine: Any, path: Path, lines: int, *data: Any) -> Any:
    """Fit until so many lines were reported, with a checkpoint."""
    seen: list[Progress] = []

    def stop(line: Progress) -> bool:
        seen.append(line)
        return len(seen) >= lines

    return clone(machine).set_params(callback=stop, checkpoint=often(path)).fit(*data)


def resumed(machine: Any, path: Path, *data: Any) -> Any:
    return clone(machine).set_params(checkpoint=often(path)).fit(*data)


def state_of(path: Path) -> dict[str, Any]:
    return FILE.read(path)[0]["state"]


# --------------------------------------------------------------------------- the same optimum

SOLVERS: dict[str, tuple[dict[str, Any], int]] = {
    "auto": ({"base": "rbf", "C": 10.0}, 3),
    "active_set": ({"base": "rbf", "C": 10.0}, 3),
    "nested": ({"base": "rbf", "C": 10.0}, 3),
    "newton": ({"base": "linear", "kernel": "metric", "C": 0.1}, 5),
    "interior": ({"base": "linear", "kernel": "metric", "C": 0.1}, 5),
    "splitting": ({"base": "rbf", "C": 10.0}, 4),
    "smo": ({"base": "rbf", "C": 10.0, "tol": 1e-4}, 2),
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_goes_on_to_the_same_optimum(solver: str, path: Path) -> None:
    settings, lines = SOLVERS[solver]
    machine = pl.PairSVC(solver=solver, random_state=0, **settings)  # type: ignore[arg-type]
    whole = clone(machine).fit(PAIRS, Y)
    first = broken_off(machine, path, lines, PAIRS, Y)
    assert first.fit_status_ == "interrupted"
    assert first.kkt_gap_ > machine.tol
    assert path.exists()
    second = resumed(machine, path, PAIRS, Y)
    assert second.fit_status_ == "converged"
    assert second.kkt_gap_ <= machine.tol
    assert second.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    assert second.n_runs_ == 2
    assert second.total_seconds_ > second.fit_seconds_
    assert not path.exists()


MACHINES = {
    "ranker": (pl.PairRanker(base="rbf", C=10.0), (PAIRS[FEW], np.where(RNG.random(400) < 0.5, 1, -1))),
    "regression": (
        pl.PairSVR(base="rbf", C=10.0),
        (PAIRS[FEW], 1e3 * np.abs(X[PAIRS.left, 0] - X[PAIRS.right, 0])[FEW]),
    ),
    "one class": (pl.OneClassPairSVM(nu=0.3), (PAIRS[Y > 0],)),
    "sphere": (pl.OneClassPairSphere(nu=0.3), (PAIRS[Y > 0],)),
    "mirrored": (pl.PairSVC(kernel="tensor_metric", base="rbf", C=10.0, mirrored=True), (PAIRS[FEW], Y[FEW])),
}


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_goes_on(name: str, path: Path) -> None:
    machine, data = MACHINES[name]
    machine = clone(machine).set_params(tol=1e-6, random_state=0)
    whole = clone(machine).fit(*data)
    first = broken_off(machine, path, 2, *data)
    assert first.fit_status_ == "interrupted"
    second = resumed(machine, path, *data)
    assert second.n_runs_ == 2
    assert second.fit_status_ == "converged"
    scores = whole.decision_function(data[0])
    np.testing.assert_allclose(second.decision_function(data[0]), scores, atol=1e-4 * np.abs(scores).max())


def test_the_file_holds_the_best_coefficients_so_far_and_they_are_feasible(path: Path) -> None:
    machine = pl.PairSVC(base="rbf", C=10.0, solver="active_set", random_state=0)
    first = broken_off(machine, path, 4, PAIRS, Y)
    state, tensors = state_of(path), FILE.read(path)[1]
    assert state["objective"] == pytest.approx(min(line.objective for line in first.history_), rel=1e-9)
    assert state["steps"] == len(first.history_)
    assert state["reached"] == len(PAIRS)
    theta = np.zeros(len(PAIRS))
    theta[tensors["support"]] = tensors["coefficients"]
    assert abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()
    assert (Y * theta >= 0).all()
    assert np.abs(theta).max() <= 10.0
    # The gap of these coefficients, from scratch.
    operator = build(pair_kernel("tensor_metric").on(as_kernel("rbf")), PAIRS).operator
    problem = problem_of(Y, 10.0)
    product = operator @ theta
    assert 0.5 * theta @ product - problem.linear @ theta == pytest.approx(state["objective"], rel=1e-9)
    assert problem.box.gap(theta, problem.linear - product, True) == pytest.approx(state["gap"], rel=1e-6)


def test_runs_and_their_seconds_add_up_and_a_time_budget_is_that_of_one_run(path: Path) -> None:
    machine = pl.PairSVC(base="rbf", C=100.0, tol=1e-8, solver="active_set", random_state=0)
    whole, spent = clone(machine).fit(PAIRS, Y), 0.0
    for run in (1, 2, 3):
        model = broken_off(machine, path, 2, PAIRS, Y)
        assert (model.n_runs_, model.fit_status_) == (run, "interrupted")
        assert model.total_seconds_ == pytest.approx(spent + model.fit_seconds_, abs=0.1)
        assert spent < state_of(path)["seconds"] <= model.total_seconds_
        spent = state_of(path)["seconds"]
    assert state_of(path)["steps"] == 6
    rewritten(path, lambda d, t: d["state"].update(seconds=1e6))
    model = resumed(clone(machine).set_params(time_budget=600.0), path, PAIRS, Y)
    assert (model.n_runs_, model.fit_status_) == (4, "converged")
    assert model.fit_seconds_ < 600
    assert model.total_seconds_ > 1e6
    assert len(model.history_) < len(whole.history_)
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-6)


class Noting(Keeper):
    """Notes what solvers hand out, and stops where it is told to."""

    def __init__(self, stops: Any = lambda line: False) -> None:
        self.kept: list[tuple[Any, Progress, str]] = []
        self.stops = stops

    def keep(self, theta: Any, line: Progress, by: str) -> None:
        self.kept.append((theta.copy(), line, by))

    def __call__(self, line: Progress) -> bool:
        return bool(self.stops(line))


def problem_of(y: Any, C: float) -> Problem:
    return Problem(y.astype(float), np.minimum(C * y, 0.0), np.maximum(C * y, 0.0), total=0.0)


def test_a_climb_goes_on_after_the_last_subset() -> None:
    """A start that was guessed from a subset is followed by the next larger one, not by the whole at once."""
    # Few features and labels by chance: most support pairs are at their bounds.
    operator = build(pair_kernel("metric").on(as_kernel("linear")), PAIRS[:2000]).operator
    active = ActiveSet(tuning=replace(TUNING, subset=40, subset_growth=3, candidates=(20, 40)))
    problem, noting = problem_of(np.random.default_rng(3).choice([-1, 1], 2000), 1.0), Noting()
    whole = Nested(active).solve(problem, operator, None, noting)
    climbed = sorted({line.n_pairs for line in whole.history})
    assert len(climbed) > 2
    guesses = [(theta, line) for theta, line, by in noting.kept if by == "Nested"]
    assert [line.n_pairs for _, line in guesses] == climbed[:-1]
    for theta, line in guesses:
        assert len(theta) == len(problem)
        assert line.gap == np.inf
        assert abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()
        assert ((theta >= problem.lower) & (theta <= problem.upper)).all()
        found = Nested(active, line.n_pairs).solve(problem, operator, theta)
        assert {one.n_pairs for one in found.history} == {n for n in climbed if n > line.n_pairs}
        assert found.objective == pytest.approx(whole.objective, rel=1e-5)
        chosen = Auto(active, "Nested", line.n_pairs).solve(problem, operator, theta)
        assert min(one.n_pairs for one in chosen.history) > line.n_pairs
        assert chosen.objective == pytest.approx(whole.objective, rel=1e-5)


# --------------------------------------------------------------------------- kill -9


def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    """Killed after its first checkpoint; `python -m tools.faults resume` does so twenty times, at any moment."""
    from tools.faults.resuming import data, machine, start

    whole = machine(None).fit(*data(15))
    process, began = start(tmp_path, "auto", 15), time.perf_counter()
    while not (tmp_path / "run.checkpoint").exists():
        assert process.poll() is None, (tmp_path / "log").read_text()
        assert time.perf_counter() - began < 120
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert start(tmp_path, "auto", 15).wait(120) == 0
    found = pl.load(tmp_path / "model.safetensors")
    assert found.fit_status_ == "converged"
    assert found.n_runs_ == 2
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log", "model.safetensors"]


@pytest.mark.slow
def test_twenty_kills_lead_to_the_same_model() -> None:
    from tools.faults.resuming import run

    assert [row[1:3] for row in run(20)] == [(10, 0), (10, 0)]


# --------------------------------------------------------------------------- another problem


def left_by(path: Path, **settings: Any) -> None:
    broken_off(pl.PairSVC(random_state=0, **settings), path, 2, PAIRS[FEW], Y[FEW])


OTHERS: dict[str, tuple[dict[str, Any], Any, Any, str]] = {
    "C": ({"C": 2.0}, PAIRS[FEW], Y[FEW], r"C \(1.0 there, 2.0 here\);"),
    "class weights": (
        {"class_weight": "balanced"},
        PAIRS[FEW],
        Y[FEW],
        r"class_weight \(None there, 'balanced' here\)",
    ),
    "base": ({"base": "linear"}, PAIRS[FEW], Y[FEW], "in kernel"),
    "kernel": ({"kernel": "metric"}, PAIRS[FEW], Y[FEW], "in kernel"),
    "labels": ({}, PAIRS[FEW], np.append(-Y[:1], Y[1:400]), "in labels"),
    "order of pairs": ({}, PAIRS[FEW][::-1], Y[FEW][::-1], "in pairs"),
    "one pair less": ({}, PAIRS[:399], Y[:399], "in pairs"),
    "examples": ({}, pl.Pairs(X + 1e-9, PAIRS.left[FEW], PAIRS.right[FEW]), Y[FEW], "in examples;"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_problem_is_refused_and_told_apart(name: str, path: Path) -> None:
    left_by(path, base="rbf")
    settings, pairs, y, words = OTHERS[name]
    before = path.read_bytes()
    machine = pl.PairSVC(**{"base": "rbf", **settings}, checkpoint=often(path))
    with pytest.raises(InputError, match=f"another fit: it differs in .*{words}|another fit: it differs {words}"):
        machine.fit(pairs, y)
    assert path.read_bytes() == before


def test_weights_another_machine_and_another_version_are_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_by(path, base="rbf")
    weights = np.ones(400)
    weights[7] = 2.0
    with pytest.raises(InputError, match="differs in weights;"):
        pl.PairSVC(base="rbf", checkpoint=often(path)).fit(PAIRS[FEW], Y[FEW], sample_weight=weights)
    with pytest.raises(InputError, match=r"machine \(PairSVC there, PairRanker here\)"):
        pl.PairRanker(checkpoint=often(path)).fit(PAIRS[FEW], Y[FEW])
    monkeypatch.setattr("pairlearn.machines.resuming.__version__", "9.9")
    with pytest.raises(InputError, match=r"version of pairlearn \(.* there, 9.9 here\);"):
        pl.PairSVC(base="rbf", checkpoint=often(path)).fit(PAIRS[FEW], Y[FEW])


def test_what_leaves_the_optimum_alone_may_differ(path: Path) -> None:
    left_by(path, base="rbf")
    other = pl.PairSVC(base=pl.kernels.Gaussian(), tol=1e-2, solver="active_set", random_state=5, memory_budget=1e9)
    assert resumed(other, path, PAIRS[FEW], Y[FEW]).n_runs_ == 2


@pytest.mark.parametrize("table", [sparse.csr_array(X), X.astype(np.float32), [tuple(row) for row in X]], ids=type)
def test_tables_of_every_kind_are_recognised(table: Any, path: Path) -> None:
    pairs = pl.Pairs(table, PAIRS.left[FEW], PAIRS.right[FEW])
    machine = pl.PairSVC(base="rbf", random_state=0)
    broken_off(machine, path, 2, pairs, Y[FEW])
    again = pl.Pairs(table.copy() if hasattr(table, "copy") else list(table), PAIRS.left[FEW], PAIRS.right[FEW])
    assert resumed(machine, path, again, Y[FEW]).n_runs_ == 2


# --------------------------------------------------------------------------- files that are no checkpoint


def rewritten(path: Path, change: Any) -> None:
    """The same checkpoint with something changed, and a checksum that is right."""
    document, tensors = FILE.read(path)
    change(document, tensors)
    document["sha256"] = digest(document, tensors)
    path.write_bytes(safetensors.numpy.save(tensors, metadata={"pairlearn": json.dumps(document)}))


CHANGES: dict[str, Any] = {
    "a pair that is not there": lambda d, t: t["support"].__setitem__(-1, 10**6),
    "a pair twice": lambda d, t: t["support"].__setitem__(1, t["support"][0]),
    "a negative pair": lambda d, t: t["support"].__setitem__(0, -5),
    "not a number": lambda d, t: t["coefficients"].__setitem__(0, np.nan),
    "too few": lambda d, t: t.update(coefficients=t["coefficients"][:-1].copy()),
    "another type": lambda d, t: t.update(coefficients=t["coefficients"].astype(np.float32)),
    "no coefficients": lambda d, t: t.pop("coefficients"),
    "no state": lambda d, t: d.pop("state"),
    "state is a list": lambda d, t: d.update(state=[1, 2]),
    "no problem": lambda d, t: d.pop("problem"),
    "problem is a text": lambda d, t: d.update(problem="x"),
    "runs are a text": lambda d, t: d["state"].update(runs="many"),
    "negative seconds": lambda d, t: d["state"].update(seconds=-1.0),
    "more than all pairs": lambda d, t: d["state"].update(reached=10**9),
    "one more field": lambda d, t: d["state"].update(code="import os"),
    "one more tensor": lambda d, t: t.update(more=np.ones(3)),
    "no support": lambda d, t: d["state"].pop("runs"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_hostile_checkpoint_is_one_clear_error(name: str, path: Path) -> None:
    left_by(path, base="rbf")
    rewritten(path, CHANGES[name])
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"run.checkpoint is (damaged: .*; delete it|the checkpoint of another fit)"):
        pl.PairSVC(base="rbf", checkpoint=often(path)).fit(PAIRS[FEW], Y[FEW])
    assert path.read_bytes() == before


def test_a_solver_that_nobody_knows_and_coefficients_out_of_their_boxes_do_no_harm(path: Path) -> None:
    left_by(path, base="rbf")
    rewritten(path, lambda d, t: (d["state"].update(begun="Simplex", reached=3), t["coefficients"].fill(1e300)))
    whole = pl.PairSVC(base="rbf", random_state=0).fit(PAIRS[FEW], Y[FEW])
    found = resumed(pl.PairSVC(base="rbf", random_state=0), path, PAIRS[FEW], Y[FEW])
    assert found.fit_status_ == "converged"
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-5)


def test_no_truncation_and_no_flipped_byte_is_taken_for_a_checkpoint(path: Path) -> None:
    left_by(path, base="rbf")
    whole, rng = path.read_bytes(), np.random.default_rng(3)
    machine = pl.PairSVC(base="rbf", checkpoint=often(path))
    for cut in (0, 1, 7, 8, 9, 100, *rng.integers(0, len(whole), 20).tolist(), len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError, match=r"run\.checkpoint"):
            machine.fit(PAIRS[FEW], Y[FEW])
    for place in rng.integers(0, len(whole), 60).tolist():
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(spoilt)
        with pytest.raises(InputError, match=r"run\.checkpoint"):
            machine.fit(PAIRS[FEW], Y[FEW])


def test_other_files_are_refused_and_left_alone(path: Path) -> None:
    machine = pl.PairSVC(base="rbf", checkpoint=often(path))
    pl.save(pl.EuclidBaseline(1.0), path)
    for content, words in (
        (path.read_bytes(), "not a pairlearn checkpoint"),
        (b"left,right,label\n1,2,1\n" * 100, "not a checkpoint file"),
        (b"\x00" * 4096, "run.checkpoint"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=words):
            machine.fit(PAIRS[FEW], Y[FEW])
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="is a directory"):
        machine.fit(PAIRS[FEW], Y[FEW])
    path.rmdir()


def test_bad_settings_are_refused_before_anything_is_computed(tmp_path: Path) -> None:
    for checkpoint, words in (
        ("run.checkpoint", r"pl\.Checkpoint\(\"run.checkpoint\"\), got 'run.checkpoint'"),
        (pl.Checkpoint(tmp_path / "none" / "run.checkpoint"), "no directory"),
        (pl.Checkpoint(tmp_path / "run.checkpoint", every=0.0), "seconds between two checkpoints"),
        (pl.Checkpoint(tmp_path / "run.checkpoint", every=float("nan")), "seconds between two checkpoints"),
    ):
        with pytest.raises(InputError, match=words):
            pl.PairSVC(checkpoint=checkpoint).fit(PAIRS[FEW], Y[FEW])  # type: ignore[arg-type]
    assert "checkpoint" not in pl.TransductivePairSVC().get_params()


# --------------------------------------------------------------------------- what it costs, and what may go wrong


def test_what_is_put_by_is_counted_before_anything_is_computed(path: Path) -> None:
    """A budget with room for the fit alone refuses at once what would leave less than nothing to the solver."""
    many = np.random.default_rng(0).normal(size=(700, 2))
    pairs = pl.all_pairs(many, reflexive=False)
    y = np.where(np.arange(len(pairs)) % 2, 1, -1)
    budget, each = 33e6, 48 * len(pairs)
    kernel = pair_kernel("tensor_metric").on(as_kernel("linear"))
    assert 0 < build(kernel, pairs, memory_budget=budget).plan.memory < each
    with pytest.raises(TooLargeError, match=r"244,650 pairs of 700 examples need about .*raise memory_budget"):
        pl.PairSVC(memory_budget=budget, checkpoint=often(path)).fit(pairs, y)
    assert not path.exists()
    # Just enough: the solver has what is left, and it is no less than a small working set takes.
    plan = build(kernel, pairs, memory_budget=budget + 1.2 * each, reserved=each).plan
    assert plan.memory > 0
    assert plan.bytes <= plan.budget


def test_nothing_is_written_before_its_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr(pl.Checkpoint, "write", lambda self, fingerprint, state: written.append(state))
    model = pl.PairSVC(base="rbf", C=10.0, checkpoint=pl.Checkpoint(path), random_state=0).fit(PAIRS, Y)
    assert len(model.history_) > 3
    assert len(written) == 1  # the last


def test_a_slow_disk_makes_checkpoints_rarer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[float] = []

    def slow(self: Any, fingerprint: Any, state: Any) -> None:
        written.append(time.perf_counter())
        time.sleep(0.05)

    monkeypatch.setattr(pl.Checkpoint, "write", slow)
    model = pl.PairSVC(base="rbf", C=10.0, solver="active_set", checkpoint=often(path), random_state=0).fit(PAIRS, Y)
    # 0.05 s are a share of 1 % of 5 s: after the first one, only the end is written.
    assert len(model.history_) > 3
    assert len(written) == 2


def test_a_full_disk_does_not_end_the_fit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, fingerprint: Any, state: Any) -> None:
        raise OutputError("cannot write run.checkpoint: No space left on device; make room, or choose another place")

    monkeypatch.setattr(pl.Checkpoint, "write", full)
    with pytest.warns(CheckpointWarning, match=r"No space left.*The fit goes on"):
        model = pl.PairSVC(base="rbf", checkpoint=often(path)).fit(PAIRS[FEW], Y[FEW])
    assert model.fit_status_ == "converged"


def test_keep_leaves_the_file_and_a_converged_fit_is_confirmed_at_once(path: Path) -> None:
    machine = pl.PairSVC(base="rbf", C=10.0, random_state=0, checkpoint=often(path, keep=True))
    first = clone(machine).fit(PAIRS, Y)
    assert path.exists()
    second = clone(machine).fit(PAIRS, Y)
    assert len(second.history_) == 1
    assert second.objective_ == pytest.approx(first.objective_, rel=1e-12)
    machine.checkpoint.remove()  # type: ignore[union-attr]
    assert not path.exists()


def test_the_model_is_that_of_a_fit_without_and_is_saved_without(tmp_path: Path) -> None:
    plain = pl.PairSVC(base="rbf", random_state=0)
    kept = clone(plain).set_params(checkpoint=often(tmp_path / "run.checkpoint"))
    one, two = plain.fit(PAIRS, Y), kept.fit(PAIRS, Y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    pl.save(two, tmp_path / "model.safetensors")
    loaded = pl.load(tmp_path / "model.safetensors")
    assert loaded.checkpoint is None
    assert (loaded.n_runs_, loaded.total_seconds_) == (1, two.total_seconds_)


def test_a_callback_is_still_asked_and_keepers_see_coefficients(path: Path) -> None:
    lines: list[Progress] = []
    pl.PairSVC(base="rbf", checkpoint=often(path), callback=lambda line: bool(lines.append(line))).fit(PAIRS, Y)
    assert len(lines) > 1
    assert {line.n_pairs for line in lines} == {len(PAIRS)}

    matrix = (X @ X.T)[:40, :40] + np.eye(40)
    problem, noting = problem_of(np.where(np.arange(40) % 2, 1, -1), 1.0), Noting()
    PlainSMO(tol=1e-6, report_every=5).solve(problem, DenseOperator(matrix), None, noting)
    assert len(noting.kept) > 3
    for theta, line, by in noting.kept:
        assert by == "PlainSMO"
        assert line.gap == pytest.approx(problem.box.gap(theta, problem.linear - matrix @ theta, True), abs=1e-9)


def test_places_of_functions_in_memory_are_no_part_of_the_problem(path: Path) -> None:
    def made() -> Any:
        def product(A: Any, B: Any) -> Any:
            return A @ B.T

        return product

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        broken_off(pl.PairSVC(base=made(), random_state=0), path, 2, PAIRS[FEW], Y[FEW])
        assert resumed(pl.PairSVC(base=made(), random_state=0), path, PAIRS[FEW], Y[FEW]).n_runs_ == 2


@pytest.mark.parametrize(
    ("solver", "words"), [("newton", "keep little before their end"), ("active_set", "the same fit again continues")]
)
def test_it_says_whether_the_same_fit_would_go_on(solver: str, words: str, tmp_path: Path) -> None:
    store = pl.Checkpoint(tmp_path / "run.checkpoint")
    rng = np.random.default_rng(0)
    pairs = pl.all_pairs(rng.normal(size=(40, 3)), reflexive=False)
    machine = pl.PairSVC("metric", C=0.1, solver=solver, checkpoint=store, callback=lambda line: line.iteration >= 1)
    with pytest.warns(ConvergenceWarning, match=words):
        machine.fit(pairs, np.where(rng.random(len(pairs)) < 0.5, 1, -1))
