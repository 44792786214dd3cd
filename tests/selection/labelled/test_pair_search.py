"""PairSearch: it finds what was planted, leaks nothing, keeps its time, and says what it did."""

from __future__ import annotations

import json
from contextlib import suppress
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

import pairlearn as pl
from pairlearn.baselines import Elo, NeighbourMeans
from pairlearn.errors import ConflictWarning, InputError
from pairlearn.evaluation import judgement_named
from pairlearn.scorers import PairMean
from pairlearn.selection.labelled import finish, race, runner, trials
from pairlearn.selection.labelled.record import use
from pairlearn.selection.labelled.settings import Setting, Space
from pairlearn.selection.labelled.tasks import splits
from pairlearn.selection.labelled.trials import Labelled
from pairlearn.selection.search import clock
from pairlearn.selection.search.journal import fingerprint

RNG = np.random.default_rng(0)
DRUGS, TARGETS = RNG.normal(size=(24, 3)), RNG.normal(size=(18, 3))
LEFT, RIGHT = np.divmod(np.arange(24 * 18), 18)
GRID = pl.Pairs(DRUGS, LEFT, RIGHT, right_examples=TARGETS)
BONDS = (DRUGS[LEFT] * TARGETS[RIGHT]).sum(axis=1) + 0.3 * RNG.normal(size=len(LEFT))
QUICK: dict[str, Any] = {"machines": ["ridge"], "bases": ["linear"], "Cs": [0.1, 1, 10]}


def matches(seed: int = 0, n: int = 300) -> tuple[pl.Pairs, np.ndarray]:
    """Matches of thirty teams that are as strong as their first feature says, ties included."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    left, right = rng.integers(0, 30, (2, n))
    right = np.where(left == right, (right + 1) % 30, right)
    margin = 2 * (X[left, 0] - X[right, 0]) + rng.normal(size=n)
    return pl.Pairs(X, left, right), np.where(np.abs(margin) < 0.2, 0, np.sign(margin))


# --------------------------------------------------------------------------- what it finds


def test_it_finds_the_kernel_that_was_planted() -> None:
    search = pl.PairSearch("number", "left", kernels=["direct_sum", "tensor"], **QUICK).fit(GRID, BONDS)
    assert search.best_setting_.kernel == "tensor"
    record = search.record_
    values = record["test"]["values"]
    assert values["model"] < 0.5 * values["the means of examples"]
    assert set(record["test"]["values"]) == {
        "model",
        "the mean of all",
        "the means of examples",
        "nearest neighbours",
        "kernel ridge",
    }
    assert record["refit"]["pairs"] == len(GRID)
    assert np.corrcoef(search.predict(GRID), BONDS)[0, 1] > 0.9


def test_cycles_are_found_by_the_kernel_that_can_express_them() -> None:
    """Rock, paper and scissors: no utility orders them."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 30)
    left, right = rng.integers(0, 30, (2, 400))
    kept = kinds[left] != kinds[right]
    left, right = left[kept], right[kept]
    won = np.where((kinds[left] - kinds[right]) % 3 == 1, 1, -1)
    search = pl.PairSearch("order", "both", Cs=[1, 10], bases=["linear"]).fit(
        pl.Pairs(np.eye(3)[kinds], left, right), won
    )
    assert search.best_setting_.kernel == "wedge"
    assert search.record_["test"]["values"]["model"] == 1.0


def test_links_are_judged_by_what_was_asked_for(tmp_path: Path) -> None:
    binds = np.where(BONDS > 1.5, 1, -1)
    search = pl.PairSearch("link", "both", "aupr", directory=tmp_path, **QUICK).fit(GRID, binds)
    _, test = next(splits(GRID, binds, "both", 0.2, 1, 1))
    for name, answers in search.test_answers_.items():
        by_hand = average_precision_score(binds[test] > 0, answers)
        assert search.record_["test"]["values"][name] == pytest.approx(by_hand)
    assert json.loads((tmp_path / "selection.json").read_text())["objective"]["key"] == "aupr"


def test_orders_are_judged_by_probabilities_whose_unit_no_test_pair_has_seen() -> None:
    pairs, won = matches()
    search = pl.PairSearch("order", "none", "log_loss", bases=["linear"], Cs=[0.1, 1]).fit(pairs, won)
    values = search.record_["test"]["values"]
    assert values["a coin"] == pytest.approx(np.log(2))
    assert values["model"] < values["win share"] < values["a coin"]
    assert search.record_["chosen"]["slope"] != 1.0


def test_a_trial_is_what_a_fit_by_hand_gives() -> None:
    search = pl.PairSearch("number", "right", "rmse", test_share=0.0, **QUICK).fit(GRID, BONDS)
    trial = next(each for each in search.record_["trials"] if each["kind"] == "machine" and each["split"] == 0)
    train, test = next(splits(GRID, None, "right", 0.25, 20, 0))
    assert trial["size"] == len(train)
    family = search.best_setting_.family
    machine = search.best_estimator_
    unit = 1.0 / (machine.alpha * search.best_setting_.C)  # 1 / mean K(p, p)
    wanted = next(
        each
        for each in search.record_["trials"]
        if each["what"] == str(family.at(1.0)) and each["split"] == 0 and each["size"] == len(train)
    )
    by_hand = pl.PairRidge(machine.kernel, machine.base, alpha=1.0 / unit).fit(GRID[train], BONDS[train])
    error = np.sqrt(np.mean((by_hand.predict(GRID[test]) - BONDS[test]) ** 2))
    assert wanted["value"] == pytest.approx(error, rel=1e-4)


# --------------------------------------------------------------------------- nothing leaks


@pytest.mark.parametrize("unseen", ["none", "left", "right", "both"])
def test_splits_share_exactly_what_they_may(unseen: str) -> None:
    for train, test in splits(GRID, None, unseen, 0.25, 3, 0):
        assert not set(train) & set(test)
        shared = [bool(set(column[train]) & set(column[test])) for column in GRID.columns]
        assert shared == [unseen in ("none", "right"), unseen in ("none", "left")]
        assert set(GRID.left[train]) | set(GRID.left[test]) == set(LEFT.tolist())


def test_what_is_held_never_decides_anything() -> None:
    """Other labels of held and mixed pairs change no trial and no choice."""
    train, _ = next(splits(GRID, None, "both", 0.2, 1, 1))
    other = np.where(np.isin(np.arange(len(GRID)), train), BONDS, 100.0 + RNG.normal(size=len(GRID)))
    first, second = (pl.PairSearch("number", "both", **QUICK).fit(GRID, y).record_ for y in (BONDS, other))
    assert _without_seconds(first) == _without_seconds(second)
    assert first["chosen"]["what"] == second["chosen"]["what"]
    assert first["test"]["values"]["model"] != second["test"]["values"]["model"]


def _without_seconds(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in trial.items() if name != "seconds"} for trial in record["trials"]]


def test_the_same_seed_is_the_same_search_and_another_one_is_not() -> None:
    pairs, won = matches()
    options: dict[str, Any] = {"bases": ["linear"], "Cs": [0.1, 1]}
    records = [pl.PairSearch("order", **options, random_state=seed).fit(pairs, won).record_ for seed in (0, 0, 1)]
    shown = [_without_seconds(record) for record in records]
    assert shown[0] == shown[1] != shown[2]


# --------------------------------------------------------------------------- time


class Pretended:
    """Fits that take (pairs / 500)^1.3 seconds on a clock of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, speed: float) -> None:
        self.seconds, self.speed = 0.0, speed
        monkeypatch.setattr(clock, "now", lambda: self.seconds)
        monkeypatch.setattr(runner, "run_trial", self.trial)
        monkeypatch.setattr(finish, "fit", lambda model, training: self.final(training))
        monkeypatch.setattr(runner.Runner, "model", lambda own, what, training, seconds: what)

    def spend(self, n_pairs: int) -> float:
        taken = self.speed * (n_pairs / 500) ** 1.3
        self.seconds += taken
        return taken

    def trial(self, what: Any, make: Any, sets: Any, judgement: Any, size: int, split: int) -> trials.Trial:
        value = 1.0 + 0.01 * (sum(map(ord, str(what))) % 7)
        seconds = self.spend(len(sets[0]))
        return trials.Trial(what, size, split, value, -value, seconds=seconds, status="converged")

    def final(self, data: Labelled) -> SimpleNamespace:
        seconds = self.spend(len(data))
        machine = SimpleNamespace(fit_status_="converged", fit_seconds_=seconds, kkt_gap_=0.0, n_support_=1)
        machine.decision_function = lambda pairs: np.zeros(len(pairs))
        return machine


@pytest.mark.parametrize("budget", [20.0, 60.0, 300.0])
def test_the_budget_is_kept_and_used(monkeypatch: pytest.MonkeyPatch, budget: float) -> None:
    """Twenty trials in 20 s or hundreds in 300: the seconds in all are between 70 and 105 % of the budget."""
    world = Pretended(monkeypatch, 0.5)
    pairs, won = matches(n=3000)
    search = pl.PairSearch("order", time_budget=budget).fit(pairs, won)
    assert 0.6 * budget <= world.seconds <= 1.05 * budget
    assert search.record_["seconds"] == world.seconds


def test_a_budget_too_short_for_anything_still_gives_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    Pretended(monkeypatch, 50.0)
    pairs, won = matches()
    record = pl.PairSearch("order", time_budget=1.0).fit(pairs, won).record_
    late = [note for note in record["notes"] if "no time for" in note and "(" in note]
    assert late
    assert all(("…" in note) == (int(note.split("no time for ")[1].split()[0]) > 3) for note in late)
    assert len({each["what"] for each in record["trials"] if each["kind"] == "machine"}) == 1


class KilledError(Exception):
    """Stands for a process that ends at once."""


def test_a_killed_search_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    options: dict[str, Any] = {**QUICK, "bases": ["linear", "rbf"]}
    whole = pl.PairSearch("number", "left", **options).fit(GRID, BONDS)
    made: list[int] = []

    def killed_at(n: int) -> Any:
        def progress(step: Any) -> None:
            made.append(step.done)
            if step.done == n:
                raise KilledError

        return progress

    for n in (4, 11):
        with pytest.raises(KilledError):
            pl.PairSearch("number", "left", directory=tmp_path, progress=killed_at(n), **options).fit(GRID, BONDS)
    (path,) = tmp_path.glob("pairs-*.jsonl")
    assert len(path.read_text().splitlines()) == 1 + 4 + 7
    with path.open("a") as lines:
        lines.write('{"elapsed": 1.0, "wh')  # half a line
    made.clear()
    search = pl.PairSearch("number", "left", directory=tmp_path, progress=killed_at(0), **options).fit(GRID, BONDS)
    assert _without_seconds(search.record_) == _without_seconds(whole.record_)
    assert search.best_setting_ == whole.best_setting_
    assert len(made) == len(whole.record_["trials"]) - 11
    np.testing.assert_allclose(search.decision_function(GRID), whole.decision_function(GRID), rtol=1e-9)


@pytest.mark.parametrize("killed", [20, 123, 241])
def test_a_killed_search_decides_as_if_nothing_had_happened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, killed: int
) -> None:
    """Looks at more splits were skipped, since they would take too much of the little time that was left by then."""

    def searched(most: float, directory: Path | None) -> tuple[pl.PairSearch, float]:
        world, made = Pretended(monkeypatch, 0.5), []

        def progress(step: Any) -> None:
            made.append(step)
            if len(made) > most:
                raise KilledError

        search = pl.PairSearch("order", time_budget=800.0, directory=directory, progress=progress)
        with suppress(KilledError):
            search.fit(*matches(n=3000))
        return search, world.seconds

    whole, _ = searched(inf, None)
    _, spent = searched(killed, tmp_path)
    again, seconds = searched(inf, tmp_path)
    tried = [{(each["what"], each["size"], each["split"]) for each in own.record_["trials"]} for own in (whole, again)]
    assert {split for *_, split in tried[0]} > {0, 1, 2}
    assert tried[0] == tried[1]
    assert again.best_setting_ == whole.best_setting_
    assert again.record_["seconds"] <= spent + seconds <= 800.0


def test_a_directory_keeps_searches_apart_and_spoilt_lines_are_refused(tmp_path: Path) -> None:
    for Cs in ([1.0], [10.0]):
        pl.PairSearch("number", "left", directory=tmp_path, **{**QUICK, "Cs": Cs}).fit(GRID, BONDS)
    first, second = sorted(tmp_path.glob("pairs-*.jsonl"))
    assert first.read_text() != second.read_text()
    first.write_text(first.read_text().replace('"split": 0', '"split": "no"'))
    second.write_text(second.read_text().replace('"split": 0', '"split": "no"'))
    with pytest.raises(InputError, match="line 2 is not the record of a trial"):
        pl.PairSearch("number", "left", directory=tmp_path, **{**QUICK, "Cs": [1.0]}).fit(GRID, BONDS)


def test_journals_of_versions_that_wrote_other_lines_are_other_files(tmp_path: Path) -> None:
    """Named by data and options alone, theirs had the same name, and every line of them was refused."""
    options: dict[str, Any] = {**QUICK, "Cs": [1.0], "test_share": 0.0, "directory": tmp_path}
    own = pl.PairSearch("number", "left", **options)
    names = "question unseen objective machines kernels bases Cs max_pairs random_state"
    mark = fingerprint((Labelled(GRID, BONDS).parts, [getattr(own, name) for name in names.split()]), tmp_path)
    before = tmp_path / f"pairs-{mark}.jsonl"
    before.write_text(json.dumps({"fingerprint": mark}) + "\n" + json.dumps({"elapsed": 1.0, "what": "ridge"}) + "\n")
    kept = before.read_text()
    own.fit(GRID, BONDS)
    assert before.read_text() == kept
    assert len(list(tmp_path.glob("pairs-*.jsonl"))) == 2


def test_ctrl_c_while_a_search_goes_on_forgets_no_trial_that_is_on_the_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One trial on few pairs is missing and is made first: nothing after it has been recalled by then."""
    Pretended(monkeypatch, 0.01)
    whole = pl.PairSearch("order", directory=tmp_path).fit(*matches(n=9000))
    (path,) = tmp_path.glob("pairs-*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3] + lines[4:]))
    made: list[Any] = []

    def stop(step: Any) -> None:
        made.append(search.stoppable)
        raise KeyboardInterrupt

    search = pl.PairSearch("order", directory=tmp_path, progress=stop)
    search.fit(*matches(n=9000))
    assert made == [True]
    assert search.record_["interrupted"]
    assert len(search.record_["trials"]) == len(whole.record_["trials"]) == len(lines) - 1
    assert [each["pairs"] for each in search.record_["rungs"]] == [each["pairs"] for each in whole.record_["rungs"]]
    assert search.best_setting_ == whole.best_setting_


def test_ctrl_c_keeps_the_best_so_far() -> None:
    def stop(step: Any) -> None:
        if step.done == 6:
            raise KeyboardInterrupt

    pairs, won = matches()
    search = pl.PairSearch("order", bases=["linear"], progress=stop).fit(pairs, won)
    assert search.record_["interrupted"]
    assert search.best_estimator_.fit_status_ == "converged"


class Priced(Pretended):
    """Fits of one second, but of `slow` seconds for the best machine and for the best baseline."""

    LEADER, RIVAL = Setting("svr", "tensor", "linear", 1.0), "nearest neighbours"
    slow, failing = 20.0, -1

    def trial(self, what: Any, make: Any, sets: Any, judgement: Any, size: int, split: int) -> trials.Trial:
        best, left, test = what in (self.LEADER, self.RIVAL), make.args[-1], sets[1]
        seconds = self.slow if best else 1.0
        if isinstance(what, Setting) and split == self.failing:
            return trials.Trial(what, size, split, status="failed: singular")
        ended: dict[str, Any] = {"status": "converged", "gap": 1e-4}
        if isinstance(what, Setting) and left is not None and seconds > left:
            seconds, ended = left, {"status": "time budget", "gap": 5.0}
        self.seconds += seconds
        rng = np.random.default_rng([split, *str(what).encode()])
        answers = test.labels + (0.3 if best else 1.0) * rng.normal(size=len(test))
        return trials.Trial(what, size, split, **trials.told(answers, test, judgement), seconds=seconds, **ended)


FOUR: dict[str, Any] = {
    "machines": ["ridge", "svr"],
    "kernels": ["tensor", "tensor_sum"],
    "bases": ["linear"],
    "Cs": [1.0],
}
"""Four settings, the leader of `Priced` among them."""


def racing(directory: Path | None = None) -> tuple[runner.Runner, list[Any], int]:
    """What runs trials, everything that there is to try, and on how many pairs."""
    search = pl.PairSearch("number", "left", test_share=0.0, directory=directory, **FOUR)
    own = search._runner(Labelled(GRID, BONDS), judgement_named(None, "number"), clock.Clock(None))
    return own, [*own.space.around(own.space.families), *own.rivals], own.sizes[-1]


def test_a_split_for_which_the_leaders_had_no_time_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds left and a leader of twenty: those of one second saw another split, and nobody else was left."""
    Priced(monkeypatch, 1.0)
    own, everything, size = racing()
    assert own.try_split(everything, size, 0, None)
    before = own.machines(size), own.baselines(size)
    assert [found[0].what for found in before] == [Priced.LEADER, Priced.RIVAL]
    assert not own.try_split(everything, size, 1, own.clock.elapsed + 10.0)
    late = {what for what in everything if (what, size, 1) not in own.trials}
    assert late == {Priced.LEADER, Priced.RIVAL}
    assert (own.machines(size), own.baselines(size)) == before
    assert own.score(everything[0], size) == own.trials[everything[0], size, 0].score
    assert own.try_split(everything, size, 1, None)
    assert {each.n_splits for each in own.results("machine", size) + own.results("baseline", size)} == {2}


def test_means_are_judged_on_the_splits_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for all machines on the second split, but not for all baselines."""
    Priced(monkeypatch, 1.0)
    own, everything, size = racing()
    own.try_split(everything, size, 0, None)
    assert not own.try_split(everything, size, 1, own.clock.elapsed + 25.0)
    assert all((what, size, 1) in own.trials for what in everything if isinstance(what, Setting))
    race._means(own, size)
    means = [trial for trial in own.trials.values() if isinstance(trial.what, Setting) and trial.what.beside]
    assert len(means) == 3
    assert {trial.split for trial in means} == {0}


@pytest.mark.parametrize("budget", [50.0, 70.0, 90.0, 100.0, 150.0, 300.0])
def test_the_leader_is_chosen_wherever_the_time_ends(monkeypatch: pytest.MonkeyPatch, budget: float) -> None:
    Priced(monkeypatch, 1.0)
    search = pl.PairSearch("number", "left", time_budget=budget, **FOUR).fit(GRID, BONDS)
    assert search.best_setting_ == Priced.LEADER
    tried = {each["what"] for each in search.record_["trials"] if each["kind"] == "baseline"}
    assert (Priced.RIVAL in search.record_["baselines"]) == (Priced.RIVAL in tried)


def test_a_trial_that_time_broke_off_is_made_again_and_its_split_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = Priced(monkeypatch, 1.0)
    own, everything, size = racing(tmp_path)
    own.try_split(everything, size, 0, None)
    before, world.slow = own.machines(size), 30.0
    assert not own.try_split(everything, size, 1, own.clock.elapsed + 25.0)  # twenty were foreseen
    assert own.trials[Priced.LEADER, size, 1].status == "time budget"
    assert own.machines(size) == before
    again, _, _ = racing(tmp_path)
    assert again.try_split(everything, size, 0, again.clock.elapsed)
    assert not again.try_split(everything, size, 1, again.clock.elapsed)
    assert again.machines(size) == before
    for each in (own, again):
        assert each.try_split(everything, size, 1, None)
        assert each.machines(size)[0].n_splits == 2
        assert each.machines(size)[0].what == Priced.LEADER


def test_ctrl_c_within_a_split_keeps_the_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sixth trial is the first on the second split: one machine alone has seen it."""
    Priced(monkeypatch, 1.0)

    def stop(step: Any) -> None:
        if step.done == 6:
            raise KeyboardInterrupt

    search = pl.PairSearch("number", "left", progress=stop, **FOUR).fit(GRID, BONDS)
    assert search.record_["interrupted"]
    assert [each["split"] for each in search.record_["trials"]] == [0, 0, 0, 0, 0, 1]
    assert search.best_setting_ == Priced.LEADER


def test_ctrl_c_within_the_first_split_of_more_pairs_keeps_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    Pretended(monkeypatch, 0.5)

    def stop(step: Any) -> None:
        if step.size > 3000:
            raise KeyboardInterrupt

    record = pl.PairSearch("order", progress=stop).fit(*matches(n=9000)).record_
    assert max(each["size"] for each in record["trials"]) > 3000
    assert [each["pairs"] for each in record["rungs"]] == [3000]


def test_a_size_on_which_every_machine_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Pretended(monkeypatch, 0.5)

    def failing(what: Any, *rest: Any) -> trials.Trial:
        *_, size, split = rest
        if isinstance(what, Setting) and size > 3000:
            return trials.Trial(what, size, split, status="failed: no memory")
        return world.trial(what, *rest)

    monkeypatch.setattr(runner, "run_trial", failing)
    record = pl.PairSearch("order").fit(*matches(n=9000)).record_
    assert any(each["status"] == "failed: no memory" for each in record["trials"])
    assert [each["pairs"] for each in record["rungs"]] == [3000]


def test_a_split_on_which_every_machine_fails_does_not_hold_up_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    Priced(monkeypatch, 1.0).failing = 2
    record = pl.PairSearch("number", "left", time_budget=5000.0, **FOUR).fit(GRID, BONDS).record_
    assert "ended early: everything was tried that could tell more" in record["notes"]
    assert {each["split"] for each in record["trials"]} == set(range(20))


# --------------------------------------------------------------------------- the final fits


@pytest.mark.parametrize(
    ("tested", "refit", "kept"),
    [
        (("converged", 1e-4), ("converged", 9e-4), True),
        (("converged", 1e-4), ("time budget", 3.0), False),
        (("time budget", 5.0), ("time budget", 3.0), True),
        (("time budget", 3.0), ("iteration limit", 5.0), False),
    ],
)
def test_a_refit_that_ended_worse_than_the_tested_model_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, tested: tuple[str, float], refit: tuple[str, float], kept: bool
) -> None:
    world = Pretended(monkeypatch, 0.01)
    pairs, won = matches()

    def final(model: Any, data: Labelled) -> SimpleNamespace:
        machine = world.final(data)
        machine.fit_status_, machine.kkt_gap_ = refit if len(data) == len(pairs) else tested
        return machine

    monkeypatch.setattr(finish, "fit", final)
    search = pl.PairSearch("order", bases=["linear"], Cs=[1.0]).fit(pairs, won)
    assert search.best_estimator_.kkt_gap_ == (refit if kept else tested)[1]
    assert (search.record_["refit"] is not None) is kept
    assert any("the model is the one that was tested" in note for note in search.record_["notes"]) is not kept


@pytest.mark.parametrize(("near", "part"), [(6000, 1), (2000, 4), (310, 16), (0, 16)])
def test_a_final_fit_that_ends_far_from_convergence_is_made_on_fewer_pairs(
    monkeypatch: pytest.MonkeyPatch, near: int, part: int
) -> None:
    world = Pretended(monkeypatch, 0.01)

    def final(model: Any, data: Labelled) -> SimpleNamespace:
        machine = world.final(data)
        if len(data) > near:
            machine.fit_status_, machine.kkt_gap_ = "time budget", len(data) / 100.0
        return machine

    monkeypatch.setattr(finish, "fit", final)
    record = pl.PairSearch("order", bases=["linear"], Cs=[1.0]).fit(*matches(n=6000)).record_
    n_pairs = record["data"]["development"]
    assert record["fit"]["pairs"] == n_pairs // part
    assert any(f"broken off far from its end on {n_pairs:,}" in note for note in record["notes"]) is (part > 1)
    assert (record["refit"] is not None) is (near == 6000)


@pytest.mark.parametrize("status", ["rounding", "no progress", "iteration limit"])
def test_a_final_fit_that_no_time_broke_off_is_not_made_on_fewer_pairs(
    monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    world = Pretended(monkeypatch, 0.01)

    def final(model: Any, data: Labelled) -> SimpleNamespace:
        machine = world.final(data)
        machine.fit_status_, machine.kkt_gap_ = status, len(data) / 100.0
        return machine

    monkeypatch.setattr(finish, "fit", final)
    record = pl.PairSearch("order", bases=["linear"], Cs=[1.0]).fit(*matches(n=6000)).record_
    assert record["fit"]["pairs"] == record["data"]["development"]
    assert not any("broken off" in note for note in record["notes"])


@pytest.mark.parametrize("failing", [0, 2000])
def test_fewer_pairs_have_both_labels_and_a_failure_on_them_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Of 5,000 links ten are positive: of 312 at random there is none, and the search died at its end."""
    world, tried = Pretended(monkeypatch, 0.01), list[tuple[int, int]]()

    def final(model: Any, data: Labelled) -> SimpleNamespace:
        positive = int((data.labels > 0).sum())
        tried.append((len(data), positive))
        if not 0 < positive < len(data) or len(data) < failing:
            raise InputError("one label")
        machine = world.final(data)
        machine.fit_status_, machine.kkt_gap_ = "time budget", 5.0 + len(data) / 1000.0
        return machine

    monkeypatch.setattr(finish, "fit", final)
    rng = np.random.default_rng(0)
    pairs = pl.Pairs(rng.normal(size=(200, 3)), rng.integers(0, 100, 5000), rng.integers(100, 200, 5000))
    data = Labelled(pairs, np.where(np.arange(5000) < 10, 1.0, -1.0))
    search = pl.PairSearch("link", bases=["linear"], Cs=[1.0], test_share=0.0)
    own = search._runner(data, judgement_named(None, "link"), clock.Clock(None))
    setting = Setting("ridge", "tensor", "linear", 1.0)
    own.journal.know(trials.Trial(setting, 1000, 0, 0.6, 0.6, seconds=1.0, status="converged"))
    found = finish.Finish(own, own.machines(1000)[0], [], None, data).fit()
    assert tried == [(5000, 10), (1250, 10)] + ([] if failing else [(312, 10)])
    assert found.n_pairs == (5000 if failing else 312)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 60), st.integers(2, 400), st.integers(0, 5), st.data())
def test_a_smaller_draw_is_in_a_larger_one_and_has_some_of_each_label(
    n_positive: int, n_negative: int, seed: int, data: st.DataObject
) -> None:
    labels = np.repeat([1.0, -1.0], [n_positive, n_negative])
    sizes = sorted(data.draw(st.integers(2, len(labels))) for _ in range(2))
    smaller, larger = (finish.drawn(labels, n, np.random.default_rng(seed)) for n in sizes)
    assert set(smaller) <= set(larger)
    for n, rows in zip(sizes, (smaller, larger), strict=True):
        assert len(set(rows)) == len(rows) == n
        for label, known in ((1.0, n_positive), (-1.0, n_negative)):
            assert (labels[rows] == label).sum() >= min(known, n // 2, finish.OF_EACH)
    plain = np.sort(np.random.default_rng(seed).permutation(len(labels))[: sizes[1]])
    enough = all((labels[plain] == label).sum() >= finish.OF_EACH for label in (1.0, -1.0))
    assert not enough or larger.tolist() == plain.tolist()


def test_what_follows_is_foreseen_for_as_many_pairs_as_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 6,000 pairs 1,000 are learnt from, in ten seconds; a baseline learns from all of the development pairs."""
    Pretended(monkeypatch, 1.0)
    pairs, won = matches(n=6000)
    everything = Labelled(pairs, won)
    search = pl.PairSearch("order", bases=["linear"], Cs=[1.0], max_pairs=1000)
    data = everything[np.arange(4800)]
    own = search._runner(data, judgement_named(None, "order"), clock.Clock(30.0))
    setting = Setting("ridge", "difference", "linear", 1.0)
    for what, seconds in ((setting, 10.0), ("Elo", 1.0)):
        own.journal.know(trials.Trial(what, 1000, 0, 0.6, 0.6, seconds=seconds, status="converged"))
    assert finish.tail_seconds(own, setting) == pytest.approx(1.4 * (10.0 + 4.8**1.3 + 10.0))
    last = finish.Finish(own, own.machines(1000)[0], [], everything[np.arange(4800, 6000)], everything)
    assert last._in_time(own.baselines(1000)[0], must=False)
    tested = last.fit()
    refit = last.refit(tested)
    assert refit is not tested
    assert tested.n_pairs == refit.n_pairs == 1000
    assert own.notes == []


def test_beyond_max_pairs_the_advice_says_how_many_pairs_were_learnt_from() -> None:
    search = pl.PairSearch("number", kernels=["direct_sum", "tensor"], max_pairs=100, **QUICK).fit(GRID, BONDS)
    assert search.record_["refit"]["pairs"] == 100
    assert "refitted on 100 of 432 pairs (max_pairs)" in json.dumps(search.record_["verdict"])


# --------------------------------------------------------------------------- use and misuse


@pytest.mark.parametrize("question", ["link", "number"])
def test_the_model_is_a_machine_like_any_other(question: Any, tmp_path: Path) -> None:
    y = BONDS if question == "number" else np.where(BONDS > 0, 1, -1)
    search = pl.PairSearch(question, "both", bases=["linear"], Cs=[1.0], test_share=0.0).fit(GRID, y)
    pl.save(search.best_estimator_, tmp_path / "model.safetensors")
    again = pl.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(again.decision_function(GRID), search.decision_function(GRID), atol=1e-9)


def test_features_of_a_match_are_learnt_beside_and_without_the_teams() -> None:
    pairs, won = matches()
    home = np.random.default_rng(1).choice([-1.0, 1.0], len(pairs))
    listed = pl.Pairs(pairs.examples, pairs.left, pairs.right, signed=home[:, None])
    search = pl.PairSearch("order", bases=["linear"], Cs=[1.0], test_share=0.0).fit(
        listed, np.where(won == 0, home, won)
    )
    kernels = {each["what"].split(" / ")[0].split(": ")[1] for each in search.record_["trials"] if "/" in each["what"]}
    assert kernels == {"difference + signed", "wedge + signed", "signed", "signed, bent"}


def test_splits_of_ones_own_are_taken_as_they_are() -> None:
    pairs, won = matches()
    past = np.arange(len(pairs)) < 200
    search = pl.PairSearch("order", [(past, ~past)], bases=["linear"], Cs=[1.0], test_share=0.0).fit(pairs, won)
    assert {trial["size"] for trial in search.record_["trials"]} == {200}
    assert search.record_["fit"]["pairs"] == len(pairs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"question": "which"}, "link, order, number"),
        ({"unseen": "top"}, "none, left, right, both"),
        ({"unseen": "left"}, "two tables"),
        ({"objective": "rmsd"}, "auc, aupr"),
        ({"machines": ["svr"]}, "ridge, svc"),
        ({"kernels": ["difference"]}, "no order"),
        ({"bases": "rbf"}, "a list of names"),
        ({"Cs": [0.0]}, "finite numbers > 0"),
        ({"time_budget": 0}, "seconds"),
        ({"test_share": 1.0}, "below 1"),
        ({"unseen": [([0], [1])]}, "test_share=0"),
        ({"unseen": [([0, 1], [1])], "test_share": 0.0}, "part them"),
        ({"max_pairs": 3}, "max_pairs"),
    ],
)
def test_bad_questions_are_refused_with_advice(options: dict[str, Any], words: str) -> None:
    pairs = pl.all_pairs(DRUGS, reflexive=False)
    labels = np.where(np.arange(len(pairs)) % 3 == 0, 1, -1)
    with pytest.raises(InputError, match=words):
        pl.PairSearch(**options).fit(pairs, labels)


def test_bad_labels_are_refused() -> None:
    for question, y in (("link", BONDS), ("order", BONDS), ("number", np.full(len(GRID), np.nan))):
        with pytest.raises(InputError):
            pl.PairSearch(question).fit(GRID, y)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one table"):
        pl.PairSearch("order").fit(GRID, np.sign(BONDS))


@pytest.mark.parametrize(
    ("objective", "words"),
    [("aupr@99", "no label is above 99; the largest is"), ("aupr@-99", "every label is above -99; the smallest is")],
)
def test_a_threshold_beyond_all_labels_is_refused_before_anything_is_learnt(objective: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        pl.PairSearch("number", objective=objective, progress=pytest.fail).fit(GRID, BONDS)


def test_a_threshold_beyond_all_labels_of_the_final_test_is_refused() -> None:
    train, _ = next(splits(GRID, None, "none", 0.2, 1, 1))
    y = np.where(np.arange(len(GRID)) == train[0], 100.0, BONDS)
    with pytest.raises(InputError, match="set aside for the final test no label is above 99"):
        pl.PairSearch("number", objective="aupr@99").fit(GRID, y)


def test_splits_that_cannot_be_judged_are_left_out() -> None:
    """Two matches in five were decided, and the first test of a split had none of them."""
    pairs, won = matches(n=40)
    rows = np.arange(40)
    given = [(rows[8:], rows[:8]), (rows[:32], rows[32:]), (rows[8:], rows[:4])]
    won = np.where(rows < 8, 0, np.where(won == 0, 1, won))
    record = pl.PairSearch("order", given, bases=["linear"], Cs=[1.0], test_share=0.0).fit(pairs, won).record_
    assert {trial["split"] for trial in record["trials"]} == {0}
    assert any(note.startswith("2 of 3 splits cannot be judged: all pairs are ties") for note in record["notes"])
    with pytest.raises(InputError, match="no split of the pairs can be judged: all pairs are ties"):
        pl.PairSearch("order", given[:1], bases=["linear"], test_share=0.0).fit(pairs, won)


def test_held_pairs_that_cannot_be_judged_are_refused_before_anything_is_learnt() -> None:
    _, held = next(splits(GRID, None, "none", 0.2, 1, 1))
    y = np.where(np.isin(np.arange(len(GRID)), held), 0.0, BONDS)
    with pytest.raises(InputError, match="set aside for the final test all true values are equal"):
        pl.PairSearch("number", objective="concordance", progress=pytest.fail).fit(GRID, y)


@pytest.mark.parametrize("unit", [1e150, 1e-150])
def test_numbers_too_large_or_small_for_squared_errors_are_refused(unit: float) -> None:
    with pytest.raises(InputError, match="rescale y"):
        pl.PairSearch("number", progress=pytest.fail).fit(GRID, unit * BONDS)


@pytest.mark.parametrize("machine", ["svc", "ridge"])
def test_contradictory_links_are_told_once(machine: str) -> None:
    y = np.where(BONDS > 0, 1, -1)
    pairs, labels = GRID[np.r_[np.arange(len(GRID)), 0]], np.r_[y, -y[0]]
    with pytest.warns(ConflictWarning, match="pairs 0 and 432") as caught:
        pl.PairSearch("link", machines=[machine], bases=["linear"], Cs=[1.0]).fit(pairs, labels)
    assert [each.category for each in caught] == [ConflictWarning]


# --------------------------------------------------------------------------- the plan and the new baselines


def test_the_better_half_has_at_most_two_of_a_family() -> None:
    results = [
        runner.Result(Setting("ridge", kernel, "linear", C), -value, value, None, None, 1.0, 1.0, 1)
        for value, (kernel, C) in enumerate([(k, C) for k in "abcdef" for C in (1.0, 2.0, 3.0)])
    ]
    kept = race.better_half(results)
    assert [(each.kernel, each.C) for each in kept] == [
        ("a", 1.0),
        ("a", 2.0),
        ("b", 1.0),
        ("b", 2.0),
        ("c", 1.0),
        ("c", 2.0),
    ]


def test_a_mean_is_judged_by_what_its_machines_answered() -> None:
    """Its trials were made of known answers: fitting it on the same split gives the same value."""
    search = pl.PairSearch("number", "left", test_share=0.0, machines=["ridge"], kernels=["tensor"], Cs=[1.0])
    record = search.set_params(bases=["linear", "rbf"]).fit(GRID, BONDS).record_
    told = [each for each in record["trials"] if each["what"].startswith("mean of") and each["split"] == 0]
    train, test = next(splits(GRID, None, "left", 0.25, 20, 0))
    unit = Space.of("number", GRID, ["ridge"], ["tensor"], ["linear", "rbf"], [1.0])
    parts = [unit.machine(Setting("ridge", "tensor", base, 1.0)) for base in ("linear", "rbf")]
    by_hand = PairMean(parts).fit(GRID[train], BONDS[train]).decision_function(GRID[test])
    assert told[0]["value"] == pytest.approx(np.sqrt(np.mean((by_hand - BONDS[test]) ** 2)), rel=1e-6)
    assert len(told) == 1


def test_a_mean_that_is_best_is_chosen_fitted_and_saved(tmp_path: Path) -> None:
    """Half of the answer is linear, half of it is local: each machine sees one of them."""
    y = BONDS / BONDS.std() + np.where(np.abs(DRUGS[LEFT, 0]) < 0.5, 3.0, 0.0)
    options: dict[str, Any] = {"machines": ["ridge"], "kernels": ["tensor_sum"], "Cs": [10.0], "test_share": 0.0}
    search = pl.PairSearch("number", "none", bases=["linear", "rbf", "poly"], **options).fit(GRID, y)
    values = {each["what"]: each["score"] for each in search.record_["rungs"][-1]["results"] if "C =" in each["what"]}
    assert search.best_score_ == max(values.values())
    assert str(search.best_setting_) == max(values, key=lambda name: values[name])
    assert any(name.startswith("mean of") for name in values)
    pl.save(search.best_estimator_, tmp_path / "model.safetensors")
    again = pl.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(again.decision_function(GRID), search.decision_function(GRID), atol=1e-9)


def test_a_complete_grid_is_taken_whole_and_others_are_not() -> None:
    left, right = np.divmod(np.arange(90 * 80), 80)
    grid = pl.Pairs(np.eye(90), left, right, right_examples=np.eye(80))

    def sizes(pairs: pl.Pairs) -> list[int]:
        search = pl.PairSearch("number", "left", test_share=0.0, **QUICK)
        data = Labelled(pairs, np.arange(len(pairs), dtype=np.float64))
        return search._runner(data, judgement_named(None, "number"), clock.Clock(None)).sizes

    assert sizes(grid) == [68 * 80]
    holes = grid[np.arange(len(grid)) % 7 > 0]
    assert sizes(holes)[0] == 3000


def test_the_leader_meets_its_neighbours_between_the_least_and_the_largest_c() -> None:
    record = pl.PairSearch("number", "left", test_share=0.0, **QUICK).fit(GRID, BONDS).record_
    Cs = {float(each["what"].split("C = ")[1]) for each in record["trials"] if each["what"][:5] == "ridge"}
    assert {0.1, 1.0, 10.0} < Cs <= {0.1, 0.32, 1.0, 3.2, 10.0}


def test_elo_is_the_recursion_of_the_book() -> None:
    pairs, won = matches(n=60)
    ratings = np.zeros(30)
    for left, right, result in zip(pairs.left, pairs.right, won, strict=True):
        expected = 1 / (1 + 10 ** ((ratings[right] - ratings[left]) / 400))
        ratings[[left, right]] += 20 * ((result + 1) / 2 - expected) * np.array([1, -1])
    found = Elo(step=20 * np.log(10) / 400).fit(pairs, won).decision_function(pairs)
    np.testing.assert_allclose(found, (ratings[pairs.left] - ratings[pairs.right]) * np.log(10) / 400)


@pytest.mark.parametrize("precomputed", [False, True])
def test_neighbours_are_those_of_a_sum_over_all_known_pairs(precomputed: bool) -> None:
    rng = np.random.default_rng(3)
    known = rng.random(len(LEFT)) < 0.3
    tables = (DRUGS @ DRUGS.T, TARGETS @ TARGETS.T) if precomputed else (DRUGS, TARGETS)
    pairs = pl.Pairs(tables[0], LEFT, RIGHT, right_examples=tables[1])
    base = ("precomputed", "precomputed") if precomputed else "linear"
    found = NeighbourMeans(base, n_neighbours=3).fit(pairs[known], BONDS[known]).decision_function(pairs)
    weights = []
    for X, column in ((DRUGS, LEFT[known]), (TARGETS, RIGHT[known])):
        seen = np.unique(column)
        order = np.argsort(((X[:, None] - X[seen]) ** 2).sum(axis=2), axis=1)[:, :3]
        table = np.zeros((len(X), len(X)))
        for rank in range(3):
            table[np.arange(len(X)), seen[order[:, rank]]] = 0.5**rank
        weights.append(table)
    each = weights[0][LEFT][:, LEFT[known]] * weights[1][RIGHT][:, RIGHT[known]]
    total = each.sum(axis=1)
    wanted = np.where(total > 0, (each @ BONDS[known]) / np.where(total > 0, total, 1), BONDS[known].mean())
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("budget", [None, 10.0])
@pytest.mark.parametrize("refitted", [True, False])
def test_advice_says_what_was_done(budget: float | None, refitted: bool) -> None:
    """A model that was not refitted was called refitted, and one that only a constant was compared with better."""
    runner: Any = SimpleNamespace(
        rivals={"the mean of all": 0, "nearest neighbours": 0}, clock=SimpleNamespace(budget=budget), max_pairs=70
    )
    every: Any = SimpleNamespace(answers={"model": 0, "the mean of all": 0, "nearest neighbours": 0})
    refit = finish.Fitted(None, 90) if refitted else None
    assert ("refitted on all pairs" in use(runner, every, refit, 90)) is refitted
    assert "refitted on 70 of 90 pairs (max_pairs)." in use(runner, every, finish.Fitted(None, 70), 90)
    assert "refitted on 60 of 90 pairs." in use(runner, every, finish.Fitted(None, 60), 90)
    one: Any = SimpleNamespace(answers={"model": 0, "the mean of all": 0})
    advice = use(runner, one, refit, 90)
    assert ("not compared with nearest neighbours" in advice) is (budget is not None)
    assert advice.startswith("Use it") is (budget is None)
