"""Staged selection: fair sets, honest figures, resumption, interruption."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import pairlearn as pl
from pairlearn.cli.steps import selecting
from pairlearn.errors import InputError
from pairlearn.selection.search.clock import Clock
from pairlearn.selection.search.development import Development, Rung, pairs_of
from pairlearn.selection.search.finish import Finish
from pairlearn.selection.search.journal import NAME, Journal
from pairlearn.selection.search.record import Winner
from pairlearn.selection.search.results import Result, better_half, promising
from pairlearn.selection.search.runner import Round, Runner
from pairlearn.selection.search.settings import BASES, Family, Setting, Space
from pairlearn.selection.search.sizes import Size, Stage
from pairlearn.selection.search.staged import RECORD
from pairlearn.selection.search.trials import Trial

X, CLASSES = pl.data.double_interval(14, 8, n=30, seed=0)
SMALL: dict[str, Any] = {
    "kernels": ["metric", "tensor_metric"],
    "bases": ["linear", "poly"],
    "Cs": [1.0, 100.0],
    "n_splits": 2,
}


def development(counts: list[int], seed: int = 0, max_examples: int = 3000, max_pairs: int = 10**6) -> Development:
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = np.arange(len(codes), dtype=float).reshape(-1, 1)
    return Development.of(rows, codes, seed, None, max_examples, max_pairs, square=False)


def who(data: Development, pairs: pl.Pairs) -> np.ndarray:
    """Numbers of the examples in these pairs: every example is its own number."""
    return np.asarray(pairs.examples)[pairs.used_examples(), 0].astype(int)


def couples(pairs: pl.Pairs) -> set[frozenset[float]]:
    rows = np.asarray(pairs.examples)[:, 0]
    return {frozenset((rows[i], rows[j])) for i, j in zip(*pairs.columns, strict=True)}


@st.composite
def developments(draw: Callable[..., Any]) -> Development:
    counts = draw(st.lists(st.integers(1, 14), min_size=5, max_size=30).filter(lambda c: sum(n > 4 for n in c) >= 4))
    return development(counts, draw(st.integers(0, 5)), draw(st.sampled_from([20, 60, 3000])))


def rungs(data: Development) -> list[Rung]:
    plans: list[tuple[Stage, Size]] = [("pair", size) for size in data.ladder.pair()]
    plans += [("interexample", size) for size in data.ladder.interexample()]
    plans += [("interclass", size) for size in data.ladder.interclass(data.ladder.widest_epcr())]
    return [data.rung(stage, size, data.n_splits - 1) for stage, size in plans]


# --------------------------------------------------------------------------- the sets


@given(developments())
@settings(max_examples=40, deadline=None)
def test_every_task_tests_on_what_it_promises(data: Development) -> None:
    for rung in rungs(data):
        train, test = who(data, rung.training), who(data, rung.test)
        ours, theirs = set(data.codes[train]), set(data.codes[test])
        if rung.stage == "pair":
            assert set(test) <= set(train)
            assert not couples(rung.training) & couples(rung.test)
        elif rung.stage == "interexample":
            assert not set(train) & set(test)
            assert theirs <= ours
        else:
            assert not ours & theirs
        assert not rung.test.reflexive.any()
        assert np.bincount(data.codes[train]).max() <= rung.size.epcr
        assert len(ours) <= rung.size.n_classes
        for pairs, labels in ((rung.training, rung.labels), (rung.test, rung.truth)):
            rows = np.asarray(pairs.examples)[:, 0].astype(int)
            same = data.codes[rows[pairs.left]] == data.codes[rows[pairs.right]]
            assert np.array_equal(labels, np.where(same, 1, -1))
        assert np.array_equal(rung.classes, data.codes[np.asarray(rung.training.examples)[:, 0].astype(int)])


@given(developments())
@settings(max_examples=30, deadline=None)
def test_smaller_sets_lie_in_larger_ones_of_the_same_stage(data: Development) -> None:
    ladder = data.ladder
    sizes = {"interexample": ladder.interexample(), "interclass": ladder.interclass(ladder.widest_epcr())}
    for stage, steps in sizes.items():
        assert [size.n_examples for size in steps] == sorted(size.n_examples for size in steps)
        found = [data.rung(stage, size, 0) for size in steps]  # type: ignore[arg-type]
        for small, large in pairwise(found):
            assert set(who(data, small.training)) <= set(who(data, large.training))
            assert set(who(data, small.test)) == set(who(data, large.test))


def test_the_final_fit_sees_all_useful_classes_and_no_lonely_one() -> None:
    data = development([1, 1, 3, 4, 5, 9])
    pairs, labels, classes = data.everything(Size(6, 4))
    assert sorted(np.bincount(data.codes[who(data, pairs)], minlength=6).tolist()) == [0, 0, 3, 4, 4, 4]
    assert set(classes.tolist()) == set(data.useful.tolist())
    assert len(labels) == 15 * 16 // 2


@pytest.mark.parametrize("most", [10, 60, 150, 10**6])
def test_a_limit_keeps_all_positives_if_it_can(most: int) -> None:
    classes = np.repeat(np.arange(6), 4)
    pairs, labels = pairs_of(np.arange(24.0).reshape(-1, 1), classes, most, reflexive=False)
    assert len(pairs) == min(most, 276)
    assert (labels > 0).sum() == (5 if most == 10 else 30 if most == 60 else 36)
    assert len(couples(pairs)) == len(pairs)


@pytest.mark.parametrize("n_splits", [None, 1])
def test_too_few_classes_are_refused_with_advice(n_splits: int | None) -> None:
    with pytest.raises(InputError, match=r"at least 4 classes with two examples.*PairSearch"):
        pl.StagedSearch(n_splits=n_splits).fit(np.eye(6), [0, 0, 1, 1, 2, 3])


def test_a_test_share_that_leaves_too_few_classes_is_named() -> None:
    rows, classes = np.eye(12), np.repeat(np.arange(4), 3)
    words = r"4 classes have two .* test_share=0\.2 leaves 3 .* at least 4 .* test_share=0 \(--test-share 0\)"
    with pytest.raises(InputError, match=words):
        pl.StagedSearch(test_share=0.2).fit(rows, classes)
    runner, held = pl.StagedSearch(test_share=0.0)._runner(rows, classes)
    assert (len(runner.data.useful), held) == (4, None)


# --------------------------------------------------------------------------- pruning


def result(kernel: str, C: float, eer: float) -> Result[Setting]:
    return Result(Setting(kernel, "linear", C), -eer, eer, 1.0, 1)


def test_only_what_is_nearer_to_guessing_than_to_the_best_goes() -> None:
    results = [result("metric", 1.0, 0.02), result("tensor", 1.0, 0.099), result("direct_sum", 1.0, 0.11)]
    assert [setting.kernel for setting in promising(results)] == ["metric", "tensor"]


def test_error_rates_below_one_per_cent_count_as_equal() -> None:
    results = [result("metric", 100.0, 0.0), result("metric", 1.0, 0.009), result("tensor", 1.0, 0.07)]
    assert promising(results) == [r.what for r in results]


def test_of_a_family_only_the_good_boxes_stay() -> None:
    results = [result("metric", 100.0, 0.04), result("metric", 1.0, 0.079), result("metric", 0.1, 0.081)]
    assert [setting.C for setting in promising(results)] == [100.0, 1.0]


def test_halving_keeps_the_best_box_of_the_better_families_and_two_at_least() -> None:
    results = [result(f"kernel {place // 2}", float(place), 0.01 * place) for place in range(10)]
    assert [setting.C for setting in better_half(results)] == [0.0, 2.0, 4.0]
    assert len(better_half(results[:4])) == 2


# --------------------------------------------------------------------------- the search


@pytest.fixture(scope="module")
def search() -> pl.StagedSearch:
    return pl.StagedSearch(**SMALL).fit(X, CLASSES)


def trials_of(search: pl.StagedSearch) -> list[Trial]:
    return [Trial.from_json(record) for record in search.record_["trials"]]


def test_every_figure_of_a_machine_is_that_of_a_fit_by_hand(search: pl.StagedSearch) -> None:
    data = Development.of(X, CLASSES, 0, 2, 3000, 2_000_000, square=False)
    plain = [t for t in trials_of(search) if t.setting is not None and t.setting.start is None]
    assert {trial.stage for trial in plain} == {"pair", "interexample", "interclass"}
    for trial in plain[:: max(1, len(plain) // 12)]:
        assert trial.setting is not None
        assert trial.C is not None
        rung = data.rung(trial.stage, trial.size, trial.split)
        machine = pl.PairSVC(trial.setting.kernel, trial.setting.base, C=trial.C, tol=1e-5, class_weight="balanced")
        machine.fit(rung.training, rung.labels)
        rate = pl.equal_error_rate(pl.Scores(machine.decision_function(rung.test), rung.truth))
        assert trial.eer == pytest.approx(rate, abs=0.01)
        assert trial.n_pairs == len(rung.training)


def test_every_figure_of_a_baseline_is_that_of_run_baselines(search: pl.StagedSearch) -> None:
    data = Development.of(X, CLASSES, 0, 2, 3000, 2_000_000, square=False)
    found = [t for t in trials_of(search) if t.baseline is not None and t.split == 0]
    rung = data.rung("interclass", found[0].size, 0)
    scores, _ = pl.run_baselines(rung.training, rung.labels, rung.test, classes=rung.classes)
    rates = {trial.baseline: trial.eer for trial in found if trial.size == rung.size and trial.eer is not None}
    assert rates.keys() == scores.keys()
    for name, values in scores.items():
        assert rates[name] == pytest.approx(pl.equal_error_rate(pl.Scores(values, rung.truth)), abs=1e-12)


def test_the_chosen_machine_is_the_best_of_the_last_rung(search: pl.StagedSearch) -> None:
    last = search.record_["stages"][-1]["rungs"][-1]
    machines = [line for line in last["results"] if line["kind"] == "machine"]
    assert search.record_["stages"][-1]["task"] == "interclass"
    assert str(search.best_setting_) == machines[0]["what"]
    assert search.record_["chosen"]["eer"] == min(line["eer"] for line in machines) == -search.best_score_
    best = min(line["eer"] for line in last["results"] if line["kind"] == "baseline")
    assert search.beats_baselines_ == (search.record_["chosen"]["eer"] < best)
    for rate in (search.record_["chosen"]["eer"], best):
        assert f"{100 * rate:.2f} %" in search.record_["validation"]
    assert "verdict" not in search.record_


def test_it_serves_as_a_model(search: pl.StagedSearch) -> None:
    new, classes = pl.data.double_interval(8, 5, n=30, seed=9)
    pairs = pl.all_pairs(new, reflexive=False)
    values = search.decision_function(pairs)
    assert np.array_equal(search.predict(pairs), np.where(values > 0, 1, -1))
    assert np.allclose(search.score_block(new[:3], new[3:5])[0, 1], values[(pairs.left == 0) & (pairs.right == 4)])
    assert search.score(pairs, pairs.labels(classes)) == -pl.equal_error_rate(
        pl.Scores(values, pairs.labels(classes), left=pairs.left, right=pairs.right)
    )
    assert set(search.score_by_baselines(pairs).scores) >= {"euclid", "cosine", "plda"}
    assert len(search.cv_results_["eer"]) == len(search.record_["trials"])
    assert clone(search).get_params()["Cs"] == SMALL["Cs"]
    json.dumps(search.record_)


def test_one_seed_gives_one_result_whatever_the_number_of_jobs(search: pl.StagedSearch) -> None:
    again = pl.StagedSearch(**SMALL, n_jobs=2).fit(X, CLASSES)
    assert again.best_setting_ == search.best_setting_
    rates = [{t.key: t.eer for t in trials_of(each)} for each in (search, again)]
    assert rates[0].keys() == rates[1].keys()
    assert all(rates[0][key] == pytest.approx(rates[1][key], abs=1e-9) for key in rates[0])


@pytest.mark.parametrize("scoring", [pl.evaluation.EER, pl.evaluation.EER(), "roc_auc", 3])
def test_what_is_no_scorer_is_refused_before_the_search(scoring: Any) -> None:
    with pytest.raises(InputError, match=r"scoring is a scorer, got .*EER\(\)\.scorer\(\)"):
        pl.StagedSearch(scoring=scoring).fit(np.eye(8), np.repeat(np.arange(4), 2))


def test_a_scorer_decides() -> None:
    options = {**SMALL, "bases": ["linear"], "weights": []}
    search = pl.StagedSearch(**options, scoring=pl.evaluation.AUC().scorer()).fit(X, CLASSES)
    last = search.record_["stages"][-1]["rungs"][-1]["results"]
    machines = [line for line in last if line["kind"] == "machine"]
    assert search.best_score_ == max(line["score"] for line in machines) > 0.5
    assert all(t.setting is None or t.setting.start is None for t in trials_of(search))


def test_a_matrix_of_similarities_gives_what_its_kernel_gives() -> None:
    options = {**SMALL, "weights": [], "kernels": ["tensor"]}
    linear = pl.StagedSearch(**{**options, "bases": ["linear"]}).fit(X, CLASSES)
    matrix = pl.StagedSearch(**{**options, "bases": ["precomputed"]}).fit(X @ X.T, CLASSES)
    assert matrix.best_setting_.C == linear.best_setting_.C
    assert matrix.record_["chosen"]["eer"] == pytest.approx(linear.record_["chosen"]["eer"], abs=1e-6)
    new, _ = pl.data.double_interval(4, 3, n=30, seed=9)
    ours, theirs = (model.decision_function(pl.all_pairs(rows)) for model, rows in ((matrix, new @ X.T), (linear, new)))
    assert np.allclose(ours, theirs, atol=1e-2)
    with pytest.raises(InputError, match="matrix of all"):
        pl.StagedSearch(bases=["precomputed"]).fit(X, CLASSES)


def test_an_error_rate_of_zero_is_a_result_like_any_other() -> None:
    """Classes far apart: every rung of every task has machines without an error."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(12), 6)
    far = 100 * rng.normal(size=(12, 5))[classes] + 0.01 * rng.normal(size=(72, 5))
    found = pl.StagedSearch(["metric"], ["linear"], [1.0], weights=[], n_splits=1).fit(far, classes)
    assert {each.eer for each in trials_of(found) if each.setting is not None} == {0.0}
    assert found.record_["chosen"]["task"] == "interclass"
    assert found.record_["chosen"]["eer"] == 0.0
    largest = max(rung["n_classes"] for rung in found.record_["stages"][-1]["rungs"])
    assert found.record_["chosen"]["size"]["n_classes"] == largest


def trial(stage: Stage, n_classes: int, eer: float | None) -> Trial:
    score = None if eer is None else -eer
    return Trial(stage, Size(n_classes, 5), 0, Setting("metric", "linear", 1.0), None, eer, score, "converged", 1.0, 9)


def test_the_winner_comes_from_the_hardest_task_and_its_largest_set_that_has_a_result() -> None:
    journal = Journal(None, "")
    tried: list[tuple[Stage, int, float | None]] = [("pair", 9, 0.1), ("interclass", 4, 0.2), ("interclass", 8, 0.0)]
    journal.add([trial(*each) for each in (*tried, ("interclass", 16, None))], 1.0)
    space, data = Space.of(["metric"], ["linear"], [1.0], []), development([5] * 20)
    runner = Runner(space, data, journal, Clock(None), pl.evaluation.EER().scorer(), None, {}, None)
    winner = Winner.of(runner)
    assert (winner.stage, winner.size, winner.result.eer) == ("interclass", Size(8, 5), 0.0)


def test_a_rung_whose_second_split_failed_for_every_machine_has_no_winner() -> None:
    journal = Journal(None, "")
    known = [trial("pair", 9, 0.1), trial("interclass", 4, 0.2), replace(trial("interclass", 4, None), split=1)]
    baseline = [replace(trial("interclass", 4, 0.3), setting=None, baseline="euclid", split=split) for split in (0, 1)]
    journal.add([*known, *baseline], 1.0)
    space, data = Space.of(["metric"], ["linear"], [1.0], []), development([5] * 20)
    runner = Runner(space, data, journal, Clock(None), pl.evaluation.EER().scorer(), None, {}, None)
    runner.splits.done(("interclass", Size(4, 5)), 1)
    assert Winner.of(runner).stage == "pair"


class OfTensors:
    """A scorer that has no number for machines with the metric kernel."""

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        if repr(getattr(model, "kernel", None)) == repr(pl.pair_kernel("metric")):
            return float("nan")
        return float(pl.evaluation.AUC().scorer()(model, X, y))


def test_a_score_that_is_no_number_is_a_failed_trial(tmp_path: Path) -> None:
    """It could be compared with nothing, came first or last by chance, and the journal could not be read again."""
    options = {**SMALL, "bases": ["linear"], "weights": [], "scoring": OfTensors(), "directory": tmp_path}
    found = [pl.StagedSearch(**options).fit(X, CLASSES) for _ in range(2)]
    for search in found:
        metric = [each for each in trials_of(search) if each.setting and each.setting.kernel == "metric"]
        assert metric
        assert {each.status for each in metric} == {"failed: its score is not a number"}
        assert search.best_setting_.kernel == "tensor_metric"
        assert np.isfinite(search.best_score_)


# --------------------------------------------------------------------------- budget, kill, Ctrl-C


def test_an_interexample_task_that_runs_out_of_time_keeps_what_was_promising(monkeypatch: pytest.MonkeyPatch) -> None:
    affordable = Runner.affordable

    seen: list[str] = []

    def short(runner: Runner, this: Round, settings: list[Setting], names: tuple[str, ...] = ()) -> list[Setting]:
        late = this.stage == "interexample" and this.stage in seen
        seen.append(this.stage)
        return [] if late else affordable(runner, this, settings, names)

    monkeypatch.setattr(Runner, "affordable", short)
    options = {**SMALL, "bases": ["poly"], "weights": [], "n_splits": 1}
    found = pl.StagedSearch(**options).fit(*pl.data.double_interval(8, 16, n=30, seed=0))
    stage = next(stage for stage in found.record_["stages"] if stage["task"] == "interexample")
    assert len(stage["rungs"]) == 1
    assert stage["kept"]
    assert found.record_["stages"][-1]["task"] == "interclass"


class KilledError(Exception):
    pass


def stopping_after(n: int, error: BaseException) -> Callable[[Any], None]:
    seen: list[Any] = []

    def progress(step: Any) -> None:
        seen.append(step)
        if len(seen) > n:
            raise error

    return progress


def test_a_killed_search_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path, search: pl.StagedSearch) -> None:
    for n in (3, 8):
        with pytest.raises(KilledError):
            pl.StagedSearch(**SMALL, directory=tmp_path, progress=stopping_after(n, KilledError())).fit(X, CLASSES)
    known = (tmp_path / NAME).read_text()
    with (tmp_path / NAME).open("a") as lines:
        lines.write('{"elapsed": 1.0, "sta')  # a line cut in half by the kill
    resumed = pl.StagedSearch(**SMALL, directory=tmp_path).fit(X, CLASSES)
    text = (tmp_path / NAME).read_text()
    assert text.startswith(known)
    assert len(text.splitlines()) - 1 == len(resumed.record_["trials"]) == len(search.record_["trials"])
    assert resumed.best_setting_ == search.best_setting_
    assert {t.key: t.eer for t in trials_of(resumed)} == {t.key: t.eer for t in trials_of(search)}
    assert json.loads((tmp_path / RECORD).read_text())["chosen"] == resumed.record_["chosen"]


def test_a_directory_of_other_data_is_refused_and_left_alone(tmp_path: Path) -> None:
    Journal(tmp_path, "one")
    before = (tmp_path / NAME).read_text()
    with pytest.raises(InputError, match="other data or other settings"):
        pl.StagedSearch(**SMALL, directory=tmp_path).fit(X, CLASSES)
    assert (tmp_path / NAME).read_text() == before


def test_ctrl_c_leaves_the_best_machine_so_far() -> None:
    search = pl.StagedSearch(**SMALL, progress=stopping_after(4, KeyboardInterrupt())).fit(X, CLASSES)
    assert search.record_["interrupted"]
    assert search.record_["chosen"]["task"] == "pair"
    assert np.isfinite(search.decision_function(pl.all_pairs(X[:5]))).all()
    with pytest.raises(KeyboardInterrupt):
        pl.StagedSearch(**SMALL, progress=stopping_after(0, KeyboardInterrupt())).fit(X, CLASSES)


def test_ctrl_c_while_a_search_goes_on_forgets_no_trial_that_is_on_the_disk(
    tmp_path: Path, search: pl.StagedSearch
) -> None:
    """One trial of the pair task is missing and is made first: nothing after it has been recalled by then."""
    pl.StagedSearch(**SMALL, directory=tmp_path).fit(X, CLASSES)
    lines = (tmp_path / NAME).read_text().splitlines(keepends=True)
    (tmp_path / NAME).write_text("".join(lines[:2] + lines[3:]))
    stop = stopping_after(0, KeyboardInterrupt())
    resumed = pl.StagedSearch(**SMALL, directory=tmp_path, progress=stop).fit(X, CLASSES)
    assert resumed.record_["interrupted"]
    assert len(resumed.record_["trials"]) == len(lines) - 2
    for name in ("task", "size"):
        assert resumed.record_["chosen"][name] == search.record_["chosen"][name]


def test_a_second_ctrl_c_tests_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the final fit has found until then is kept; a rate of it would be taken for that of the choice."""
    fitted, sizes = Finish._fitted, []

    def broken_off(self: Finish, data: Any, size: Size, until: Any) -> Any:
        found = fitted(self, data, size, until)
        found.machine.fit_status_ = "interrupted"
        sizes.append(size)
        return found

    monkeypatch.setattr(Finish, "_fitted", broken_off)
    stop = stopping_after(4, KeyboardInterrupt())
    search = pl.StagedSearch(**SMALL, test_share=0.3, progress=stop).fit(X, CLASSES)
    assert len(sizes) == 1
    assert search.record_["test"] is search.record_["refit"] is None
    assert search.test_scores_ == {}
    assert "the final fit was broken off, so nothing was tested" in search.record_["notes"]


def _trial_lines(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: line[name] for name in line if name != "elapsed"} for line in lines[1:]]


def test_machines_broken_off_before_the_splits_of_baselines_share_fewer(
    tmp_path: Path,
) -> None:
    pl.StagedSearch(**SMALL, directory=tmp_path).fit(X, CLASSES)
    lines = [json.loads(line) for line in (tmp_path / NAME).read_text().splitlines()]
    kept = [line for line in lines if line.get("setting") is None or line["stage"] == "pair" or line["split"] == 0]
    assert len(kept) < len(lines)
    (tmp_path / NAME).write_text("".join(json.dumps(line) + "\n" for line in kept))
    search = pl.StagedSearch(**SMALL, directory=tmp_path)
    runner, held = search._runner(X, CLASSES)
    for line in _trial_lines(kept):
        assert runner.journal.tried(Trial.from_json(line).key, runner.clock)
    winner = Winner.of(runner)
    assert {result.n_splits for result in (winner.result, *winner.baselines)} == {1}
    search._finish(runner, held, [], interrupted=True)
    assert np.isfinite(search.decision_function(pl.all_pairs(X[:5]))).all()
    objective = search.record_["objective"]
    assert all(selecting._stage_line(stage, objective) for stage in search.record_["stages"])


def test_no_time_at_all_still_gives_a_model_from_the_best_baseline_and_says_what_was_left_out() -> None:
    search = pl.StagedSearch(**SMALL, time_budget=0.01).fit(X, CLASSES)
    best = min(search.record_["baselines"].values())
    assert set(search.record_["baselines"]) == {"euclid", "cosine"}
    assert search.record_["chosen"]["eer"] <= best
    assert any("no time for" in note for note in search.record_["notes"])
    assert np.isfinite(search.decision_function(pl.all_pairs(X[:5]))).all()


# --------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": ["wedge"]}, "not symmetric"),
        ({"kernels": []}, "kernels is empty"),
        ({"kernels": "metric"}, "list of names"),
        ({"kernels": ["none"]}, "unknown pair kernel"),
        ({"Cs": [0.0]}, "Cs must be finite numbers > 0"),
        ({"Cs": []}, "Cs must be"),
        ({"weights": [-1.0]}, "weights must be"),
        ({"bases": ["precomputed", "linear"]}, "select it alone"),
        ({"time_budget": 0}, "time_budget"),
        ({"n_splits": 0}, "n_splits"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"max_pairs": 3}, "max_pairs"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.StagedSearch(**options, progress=stopping_after(0, AssertionError("ran"))).fit(X, CLASSES)


def test_a_kernel_that_cannot_be_fitted_is_passed_over() -> None:
    def indefinite(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return -(A @ B.T)

    bases = {"linear": "linear", "wrong": pl.kernels.FromFunction(indefinite)}
    search = pl.StagedSearch(["tensor_metric"], bases, [1.0], weights=[]).fit(X, CLASSES)
    failed = [t for t in trials_of(search) if t.setting and t.setting.base == "wrong"]
    assert failed
    assert all(t.eer is None and "not positive semidefinite" in t.status for t in failed)
    assert search.best_setting_.base == "linear"


def test_one_unit_of_c_is_the_mean_kernel_value_of_every_kernel_and_base() -> None:
    pairs = pl.all_pairs(X[:20])
    space = Space.of(["metric", "tensor"], BASES, [1.0], []).on(X[:20])
    i, j = pairs.columns
    for name, base in space.bases.items():
        K = base.resolved(X[:20])(X[:20], X[:20])
        expected = {
            "metric": np.mean(0.25 * (K[i, i] - 2 * K[i, j] + K[j, j]) ** 2),
            "tensor": np.mean(0.5 * (K[i, i] * K[j, j] + K[i, j] ** 2)),
        }
        for kernel, mean in expected.items():
            assert space.scale(Family(kernel, name), pairs, 0) == pytest.approx(mean)
    assert len(space.bases) == 6
