"""The budget of a staged selection, on a clock that only made-up fits move: kept, used, and fair to every family."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.selection.ended import first_near
from pairlearn.selection.search import clock, stages
from pairlearn.selection.search.clock import expected_seconds
from pairlearn.selection.search.development import Development
from pairlearn.selection.search.finish import Finish, Fitted
from pairlearn.selection.search.journal import Journal
from pairlearn.selection.search.preparation import Preparation
from pairlearn.selection.search.record import Winner
from pairlearn.selection.search.results import Result, still_in
from pairlearn.selection.search.runner import Runner
from pairlearn.selection.search.settings import NO_KERNEL, Setting, Space, baselines_of
from pairlearn.selection.search.sizes import Size
from pairlearn.selection.search.trials import BaselineFit, MachinePath, Trial, ViewFits

X, CLASSES = pl.data.double_interval(30, 12, n=12, seed=0)


class World:
    """Fits that take as long as a law says, on a clock of their own; their error rates are made up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, speed: float, noise: float = 0.0) -> None:
        self.seconds, self.speed, self.noise, self.calls = 0.0, speed, noise, 0
        self.neighbour = float("inf")
        monkeypatch.setattr(clock, "now", lambda: self.seconds)
        monkeypatch.setattr(MachinePath, "run", lambda job, space, scoring: self.path(job))
        monkeypatch.setattr(BaselineFit, "run", lambda job, space, scoring: self.baseline(job))
        monkeypatch.setattr(ViewFits, "run", lambda job, space, scoring: self.views(job))
        monkeypatch.setattr(Preparation, "grams", lambda own, rung, families: {})
        monkeypatch.setattr(Preparation, "scale", lambda own, family: 1.0)
        monkeypatch.setattr(Preparation, "with_scores", lambda own, rung, starts: self.stack(rung, list(starts)))
        monkeypatch.setattr(Finish, "_fitted", lambda own, data, size, until: self.fitted(own, data, size, until))
        monkeypatch.setattr(Finish, "test", lambda own, found: self.test(own, found))

    def spend(self, seconds: float, most: float | None = None) -> tuple[str, float]:
        """Let time pass, at most so much: how the fit ended, and its gap."""
        self.calls += 1
        seconds *= 2.0 if self.seconds > self.neighbour else 1.0
        seconds *= self.speed * (1.0 + self.noise * ((7 * self.calls) % 5 - 2) / 2)
        if most is not None and seconds > most:
            self.seconds += most
            return "time budget", 5.0
        self.seconds += seconds
        return "converged", 1e-4

    def cost(self, setting: Setting, n_pairs: int) -> float:
        if setting.quick:
            return 4.0 * self.quick(n_pairs)
        if setting.kernel == NO_KERNEL:
            return n_pairs / 20_000
        return (n_pairs / 5000) ** 1.3 * (1 + len(str(setting.family)) % 3) * setting.C**0.1

    def path(self, job: MachinePath) -> list[Trial]:
        trials, began = [], self.seconds
        for C in sorted(job.Cs, reverse=True):
            before, setting = self.seconds, job.family.at(C)
            left = None if job.seconds is None else job.seconds - (before - began)
            if left is not None and left <= 0 and trials:
                break
            status, gap = self.spend(self.cost(setting, len(job.rung.training)), left)
            rate = 0.1 + 0.3 / job.rung.size.epcr + 0.01 * (sum(map(ord, str(setting))) % 7) + 0.001 * job.rung.split
            shown: dict[str, Any] = {"eer": rate, "score": -rate, "seconds": self.seconds - before, "gap": gap}
            trials.append(Trial.on(job.rung, setting, status=status, **shown))
        return trials

    def quick(self, n_pairs: int) -> float:
        """Seconds of a baseline: they grow about like examples."""
        return 0.1 * float(n_pairs / 2000) ** 0.45

    def views(self, job: ViewFits) -> list[Trial]:
        trials = []
        for setting in job.settings:
            before = self.seconds
            self.spend(0.1 * len(setting.views) * self.quick(len(job.rung.training)))
            rate = 0.13 + 0.3 / job.rung.size.epcr + 0.01 * (sum(map(ord, str(setting))) % 7)
            shown = {"eer": rate, "score": -rate, "seconds": self.seconds - before}
            trials.append(Trial.on(job.rung, setting, status="fitted", **shown))
        return trials

    def baseline(self, job: BaselineFit) -> list[Trial]:
        before = self.seconds
        self.spend(self.quick(len(job.rung.training)))
        rate = 0.12 + 0.3 / job.rung.size.epcr + 0.01 * (sum(map(ord, job.name)) % 7)
        shown = {"eer": rate, "score": -rate, "seconds": self.seconds - before}
        return [Trial.on(job.rung, job.name, status="fitted", **shown)]

    def stack(self, rung: Any, starts: list[str]) -> dict[str | None, Any]:
        for _ in {name for start in starts for name in baselines_of(start)}:
            self.spend(2.3 * self.quick(len(rung.training)))
        return dict.fromkeys(starts, rung)

    def fitted(self, finish: Finish, data: Development, size: Size, until: float | None) -> Fitted:
        most = None if until is None else max(1.0, until - self.seconds)
        status, gap = self.spend(self.cost(finish.setting, data.n_pairs(size)), most)
        return Fitted(SimpleNamespace(fit_status_=status, kkt_gap_=gap), data.everything(size), size)  # type: ignore[arg-type]

    def test(self, finish: Finish, found: Fitted) -> tuple[dict[str, Any], dict[str, str]]:
        for _ in finish.rivals:
            self.spend(self.quick(len(found.training.pairs)))
        return {}, {}


def select(world: World, budget: float | None) -> tuple[Runner, Fitted, Fitted]:
    """A whole selection in a made-up world: what ran, what was tested, what is the model."""
    search = pl.StagedSearch(time_budget=budget, test_share=0.2, n_splits=2)
    runner, held = search._runner(X, CLASSES)
    list(stages.run_stages(runner, held))
    winner = Winner.of(runner)
    rivals = tuple(result.what for result in winner.baselines[: stages.RIVALS])
    finish = Finish(runner, winner.setting, runner.data.ladder.widest_epcr(), held, rivals)
    tested = finish.fit()
    finish.test(tested)
    return runner, tested, finish.refit(tested)


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("speed", [0.2, 0.4, 1.0])
def test_the_budget_is_kept_and_used_and_the_model_converged(
    monkeypatch: pytest.MonkeyPatch, speed: float, noise: float
) -> None:
    runner, tested, last = select(World(monkeypatch, speed, noise), 60.0)
    assert 0.85 <= runner.clock.elapsed / 60.0 <= 1.05
    assert tested.machine.fit_status_ == last.machine.fit_status_ == "converged"


@pytest.mark.parametrize("begins", [15.0, 30.0, 45.0])
def test_the_budget_is_kept_when_somebody_else_takes_half_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, begins: float
) -> None:
    world = World(monkeypatch, 0.4, 0.3)
    world.neighbour = begins
    runner, tested, _ = select(world, 60.0)
    assert 0.85 <= runner.clock.elapsed / 60.0 <= 1.05
    assert tested.machine.fit_status_ == "converged"


def test_every_family_gets_a_converged_trial_at_the_first_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, _, _ = select(World(monkeypatch, 1.0), 60.0)
    first = runner.data.ladder.pair()[0]
    trials = [each for each in runner.journal.trials.values() if (each.stage, each.size) == ("pair", first)]
    converged = {each.setting.family for each in trials if each.setting and each.status == "converged"}
    assert len(runner.space.families) == 12
    assert set(runner.space.families) <= converged


def test_one_seed_gives_one_search_and_time_decides_only_where_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    one, again = (list(select(World(monkeypatch, 0.4), 60.0)[0].journal.trials) for _ in range(2))
    assert one == again
    slow, _, _ = select(World(monkeypatch, 2.0), 60.0)
    shared = [theirs == ours for theirs, ours in zip(slow.journal.trials, one, strict=False)]
    n_shared = shared.index(False) if False in shared else len(shared)
    assert n_shared >= len(slow.space.families)
    assert n_shared == len(shared) or any("no time for" in note for note in slow.notes)


def test_a_budget_far_too_short_gives_the_best_baseline_after_four_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, tested, _ = select(World(monkeypatch, 1.0), 1.0)
    assert Winner.of(runner).setting.start in {"euclid", "cosine"}
    assert tested.machine.fit_status_ == "converged"
    names = [each.baseline or (each.setting and each.setting.start) for each in runner.journal.trials.values()]
    assert len(names) == 4
    assert set(names) <= {None, "euclid", "cosine"}


def test_without_a_budget_everything_planned_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, tested, last = select(World(monkeypatch, 1.0), None)
    assert not [note for note in runner.notes if "no time" in note]
    assert tested.size.n_classes == 24
    assert last.size.n_classes == 30
    assert set(last.training.classes.tolist()) == set(range(30))


def test_an_infinite_budget_is_none() -> None:
    endless = clock.Clock(float("inf"))
    assert endless.share(0.5) is None
    assert endless.left(endless.share_of_rest(0.3)) is None


def test_the_widths_of_gaussians_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, _, _ = select(World(monkeypatch, 0.1), None)
    bases = {each.setting.base for each in runner.journal.trials.values() if each.setting}
    assert {"rbf", "rbf, gamma × 0.3", "rbf, gamma × 3"} <= bases
    gammas = [runner.space.bases[name].gamma for name in ("rbf, gamma × 0.3", "rbf, gamma × 3")]  # type: ignore[attr-defined]
    own = pl.kernels.Gaussian().resolved(runner.data.examples).gamma  # type: ignore[attr-defined]
    assert gammas == pytest.approx([0.3 * own, 3.0 * own])


def test_who_did_not_play_has_not_lost() -> None:
    good, bad, absent = (Setting(kernel, "linear", 1.0) for kernel in ("metric", "tensor", "tensor_metric"))
    results = [Result(good, -0.02, 0.02, 1.0, 1), Result(bad, -0.4, 0.4, 1.0, 1)]
    assert still_in([bad, absent, good], results) == [good, absent]


def test_seconds_are_foreseen_from_those_of_the_nearest_size() -> None:
    known = [(100, 1.0), (1000, 8.0), (1000, 10.0)]
    assert expected_seconds(known, 2000) == pytest.approx(9.0 * 2**1.3)
    assert expected_seconds(known, 2000, growth=1.0) == pytest.approx(18.0)
    assert expected_seconds(known, 120) == pytest.approx(1.2**1.3)
    assert expected_seconds([], 5) is None


def test_neighbours_are_half_a_step_away_and_stay_within_the_grid() -> None:
    space = Space.of(["metric"], ["linear", "rbf"], [0.1, 1.0, 10.0], [1.0]).on(X)
    around = space.neighbours(Setting("metric", "rbf", 1.0))
    assert [each.C for each in around] == [3.16, 0.316, 1.0, 1.0]
    assert {each.base for each in around} == {"rbf", "rbf, gamma × 0.3", "rbf, gamma × 3"}
    assert [each.C for each in space.neighbours(Setting("metric", "linear", 0.1))] == [0.316]
    assert space.neighbours(Setting("metric", "linear", 1.0, "stack", 1.0)) == [
        Setting("metric", "linear", 0.316, "stack", 1.0)
    ]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting("metric", "rbf", 1.0), "pair kernel metric on the base kernel rbf, C = 1"),
        (Setting("scores", "scores", 0.1, "plda", 1.0), "the scores of plda, no machine beside it"),
        (Setting("metric", "rbf", 0.1, "stack", 10.0), "beside the scores of 6 baselines (euclid, cosine,"),
    ],
)
def test_a_setting_is_told_in_words(setting: Setting, words: str) -> None:
    assert words in setting.sentence


def test_the_pace_is_that_of_repeated_trials() -> None:
    journal = Journal(None, "")
    size = Size(4, 5)

    def took(split: int, seconds: float) -> None:
        setting = Setting("metric", "linear", 1.0)
        journal.add([Trial("interclass", size, split, setting, None, 0.1, -0.1, "converged", seconds, 100)], 0.0)

    assert journal.pace == 1.0
    for split in range(4):
        took(split, 1.0)
    assert journal.pace == 1.0
    for split in range(4, 13):
        took(split, 3.0)
    assert 1.0 < journal.pace <= 3.0
    for split in range(13, 40):
        took(split, 0.5)
    assert journal.pace == 1.0


# --------------------------------------------------------------------------- fits that were broken off


LINEAR = [Setting(kernel, "linear", 1.0) for kernel in ("metric", "tensor", "tensor_metric")]


def raced(world: World, directory: Path | None = None) -> tuple[Runner, stages.Interclass, Size]:
    """Three families that were tried on the first split of the first rung of the interclass task."""
    runner, held = pl.StagedSearch(test_share=0.2, n_splits=2, directory=directory)._runner(X, CLASSES)
    size = runner.data.ladder.interclass(4)[0]
    assert runner.try_machines(stages.Round("interclass", size), LINEAR)
    runner.splits.done(("interclass", size))
    return runner, stages.Interclass(runner, held, 4), size


def test_a_fit_that_its_time_broke_off_is_no_loss_and_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A leader that takes longer than was foreseen did not see the second split, and was out; others were not."""
    world = World(monkeypatch, 1.0)
    runner, interclass, size = raced(world, tmp_path)
    before = runner.machines("interclass", size)
    *others, leader = [result.what for result in reversed(before)]
    cost = world.cost
    world.cost = lambda setting, n: cost(setting, n) * (1e3 if setting == leader else 1.0)  # type: ignore[method-assign]
    until = runner.clock.elapsed + 8.0 * sum(cost(each, runner.data.n_pairs(size)) for each in LINEAR)
    second = stages.Round("interclass", size, 1, until)
    assert not interclass._split(second, [*others, leader], [])
    ended = {each: runner.journal.trials["interclass", size, 1, each].status for each in LINEAR}
    assert [each for each, status in ended.items() if status == "time budget"] == [leader]
    assert runner.machines("interclass", size) == before
    assert Winner.of(runner).setting == leader
    for again in (runner, raced(world, tmp_path)[0]):
        assert again.untried(second, LINEAR) == [leader]
    assert interclass._split(replace(second, until=None), LINEAR, [])
    assert {each.n_splits for each in runner.machines("interclass", size)} == {2}
    assert runner.machines("interclass", size)[0].what == leader


def test_what_was_broken_off_is_expected_to_take_longer_than_it_was_given() -> None:
    journal, size, setting = Journal(None, ""), Size(4, 5), Setting("metric", "linear", 1.0)

    def took(split: int, seconds: float, gap: float, n_pairs: int = 100) -> None:
        status = "converged" if gap < 1e-3 else "time budget"
        shown: tuple[Any, ...] = (0.1, -0.1, status, seconds, n_pairs, 1.0, gap)
        journal.add([Trial("interclass", size, split, setting, None, *shown)], 0.0)

    def expected(n_pairs: int) -> float | None:
        return journal.expected((setting, setting.family, Setting), n_pairs)

    took(0, 30.0, 5.0)
    took(1, 10.0, 5.0)
    assert expected(100) == 30.0
    assert expected(200) == pytest.approx(30.0 * 2**1.3)
    took(2, 1.0, 1e-4, 50)
    assert expected(50) == pytest.approx(30.0 * 0.5**1.3)
    took(0, 50.0, 1e-4)
    assert expected(100) == 50.0
    assert journal.expected((LINEAR[1], Setting), 100) == 50.0


def test_a_family_whose_first_look_was_broken_off_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, 1.0)
    slow, cost = ("tensor", "poly"), world.cost
    world.cost = lambda setting, n: 1e4 if setting.family[:2] == slow and n < 3000 else cost(setting, n)  # type: ignore[method-assign]
    runner, _ = pl.StagedSearch(time_budget=60.0, n_splits=2)._runner(X, CLASSES)
    kept = stages.pair_stage(runner).kept
    assert any(each.family[:2] == slow for each in kept)


@pytest.mark.parametrize(("far", "kept"), [((), 2), ((2,), 1), ((2, 1), 0), ((2, 1, 0), 0)])
def test_a_final_fit_that_ends_far_from_convergence_is_made_on_less(
    monkeypatch: pytest.MonkeyPatch, far: tuple[int, ...], kept: int
) -> None:
    world = World(monkeypatch, 0.01)
    runner, held = pl.StagedSearch(time_budget=60.0, n_splits=2)._runner(X, CLASSES)
    runner.try_machines(stages.Round("pair", runner.data.ladder.pair()[0]), LINEAR[:1])
    finish = Finish(runner, LINEAR[0], 12, held)
    sizes = finish._sizes()
    assert len(sizes) == 3

    def fitted(own: Finish, data: Development, size: Size, until: float | None) -> Fitted:
        gap = 5.0 if sizes.index(size) in far else 1e-4
        status = "time budget" if gap > 1 else "converged"
        return Fitted(SimpleNamespace(fit_status_=status, kkt_gap_=gap), data.everything(size), size)  # type: ignore[arg-type]

    monkeypatch.setattr(Finish, "_fitted", fitted)
    monkeypatch.setattr(Finish, "_first_place", lambda own, sizes: 2)
    found = finish.fit()
    assert found.size == sizes[kept]
    assert any("far from its end" in note for note in runner.notes) is bool(far)
    assert world.seconds < 60.0


@pytest.mark.parametrize("status", ["rounding", "no progress", "iteration limit"])
def test_a_final_fit_that_no_time_broke_off_is_not_made_on_less(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    World(monkeypatch, 0.01)
    runner, held = pl.StagedSearch(n_splits=2)._runner(X, CLASSES)
    finish, tried = Finish(runner, LINEAR[0], 12, held), list[Size]()

    def fitted(own: Finish, data: Development, size: Size, until: float | None) -> Fitted:
        tried.append(size)
        gap = 5.0 if size == finish._sizes()[-1] else 0.5
        return Fitted(SimpleNamespace(fit_status_=status, kkt_gap_=gap), data.everything(size), size)  # type: ignore[arg-type]

    monkeypatch.setattr(Finish, "_fitted", fitted)
    assert finish.fit().size == finish._sizes()[-1]
    assert tried == finish._sizes()[-1:]
    assert [note for note in runner.notes if "final fit" in note] == [f"final fit stopped by {status} at KKT gap 5"]


def ended(status: str, gap: float) -> Any:
    return SimpleNamespace(machine=SimpleNamespace(fit_status_=status, kkt_gap_=gap))


@pytest.mark.parametrize(
    ("fits", "kept", "made"),
    [
        ([("time budget", 5.0), ("converged", 1e-4), ("converged", 1e-4)], 1, 2),
        ([("time budget", 5.0), ("time budget", 0.09), ("converged", 1e-4)], 1, 2),
        ([("time budget", 5.0), ("rounding", 7.0), ("converged", 1e-4)], 0, 2),
        ([("time budget", 5.0), ("rounding", 3.0), ("converged", 1e-4)], 1, 2),
        ([("time budget", 5.0), ("interrupted", 7.0), ("converged", 1e-4)], 1, 2),
        ([("time budget", 5.0), ("time budget", 3.0), ("time budget", 4.0)], 1, 3),
        ([("time budget", 5.0), None, ("converged", 1e-4)], 0, 2),
    ],
)
def test_less_is_fitted_while_time_breaks_off_and_nothing_fails(
    fits: list[tuple[str, float] | None], kept: int, made: int
) -> None:
    found = [None if each is None else ended(*each) for each in fits]
    asked: list[Any] = []

    def fit(place: int) -> Any:
        asked.append(place)
        if found[place] is None:
            raise InputError("one label")
        return found[place]

    assert first_near(fit(place) for place in range(len(fits))) is found[kept]
    assert asked == list(range(made))


# --------------------------------------------------------------------------- a killed search


class KilledError(Exception):
    """Stands for a process that ends at once."""


def planned(world: World, budget: float | None, directory: Path | None = None, most: float = inf) -> Runner:
    """The tasks of a selection, killed after so many reports of its progress."""
    seen: list[Any] = []

    def progress(step: Any) -> None:
        seen.append(step)
        if len(seen) > most:
            raise KilledError

    search = pl.StagedSearch(time_budget=budget, test_share=0.2, n_splits=2, directory=directory, progress=progress)
    runner, held = search._runner(X, CLASSES)
    with suppress(KilledError):
        list(stages.run_stages(runner, held))
    assert (len(seen) > most) is (most < inf)
    return runner


@pytest.mark.parametrize(("budget", "killed"), [(None, 60), (None, 150), (60.0, 100), (60.0, 300)])
def test_a_killed_search_decides_as_if_nothing_had_happened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, budget: float | None, killed: int
) -> None:
    """What is recalled happens when it happened: later trials, and the time that they took, decide nothing before."""
    whole = planned(World(monkeypatch, 0.4), budget)
    world = World(monkeypatch, 0.4)
    planned(world, budget, tmp_path, killed)
    spent = world.seconds
    world = World(monkeypatch, 0.4)
    again = planned(world, budget, tmp_path)
    assert set(again.journal.trials) == set(whole.journal.trials)
    assert again.splits == whole.splits
    assert Winner.of(again).setting == Winner.of(whole).setting
    if budget is not None:
        assert world.seconds + spent <= budget


def test_a_killed_search_does_not_lose_the_time_of_its_replay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Paths of slow Gaussians were cut short: asked for again while the search is recalled, they had no time then."""

    def world() -> World:
        found = World(monkeypatch, 0.4)
        cost = found.cost

        def slower(setting: Setting, n_pairs: int) -> float:
            return cost(setting, n_pairs) * (8.0 if setting.base.startswith("rbf") and setting.C >= 10 else 1.0)

        found.cost = slower  # type: ignore[method-assign]
        return found

    whole = planned(world(), 200.0)
    planned(world(), 200.0, tmp_path, 200)
    again = planned(world(), 200.0, tmp_path)
    assert set(again.journal.trials) == set(whole.journal.trials)
    assert again.splits == whole.splits
    assert Winner.of(again).setting == Winner.of(whole).setting


def test_what_is_not_begun_leaves_the_clock_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 0.0)
    own = clock.Clock(1000.0)
    own.spent = 500.0
    own.reach(70.0)
    assert not own.begins(1.0, until=100.0)
    assert not own.begins(501.0, until=1000.0)
    assert own.elapsed == 70.0
    assert own.begins(500.0, until=1000.0)
    assert own.elapsed == 500.0
    own.spent = 600.0
    assert own.begins(inf, until=None)
    assert own.elapsed == 600.0


def test_what_was_spent_is_the_last_second_and_not_that_of_the_last_line(tmp_path: Path) -> None:
    journal, setting = Journal(tmp_path, ""), Setting("metric", "linear", 1.0)
    for split, elapsed in enumerate((3.0, 50.0, 7.0)):
        tried = Trial("interclass", Size(4, 5), split, setting, None, 0.1, -0.1, "converged", 1.0, 100)
        journal.add([tried], elapsed)
    assert Journal(tmp_path, "").spent == 50.0


def test_a_rung_on_which_only_baselines_saw_all_splits_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed search met it: baselines tried on more splits than any machine leave no machine to compare."""
    World(monkeypatch, 0.2)
    runner, held = pl.StagedSearch(time_budget=60.0, n_splits=2)._runner(X, CLASSES)
    size = runner.data.ladder.interclass(4)[0]
    runner.try_baselines(stages.Round("interclass", size), ["euclid"])
    runner.splits.done(("interclass", size))
    stages.Interclass(runner, held, 4)._use_the_rest(size)
    assert runner.machines("interclass", size) == []
