"""Options that would do nothing are refused before anything is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import pairlearn as pl
from pairlearn.cli.app import COMMANDS, load_command
from pairlearn.cli.needs import NEEDS

Call = Callable[..., Any]
KNOWN = ("--class-column", "person", "--id-column", "photo")


def every_command() -> Iterator[tuple[str, Any]]:
    """Commands and steps of commands by what is typed."""
    for name in COMMANDS:
        command = load_command(name)
        yield from ((f"{name} {step}", inner) for step, inner in getattr(command, "commands", {}).items())
        yield name, command


def test_the_table_speaks_of_options_that_there_are() -> None:
    commands = dict(every_command())
    for name, needs in NEEDS.items():
        parameters = commands[name].params
        shown = {word for each in parameters for word in (*each.opts, *each.secondary_opts)}
        shown |= {each.name.upper() for each in parameters}
        for options, condition in needs:
            assert {*options.split(), *condition.by} <= shown, (name, options, condition.words)


def test_a_rate_of_zero_was_given(tmp_path: Path, call: Call) -> None:
    """What is wrong is the rate, not what stands beside it."""
    given = ("score", tmp_path / "m.safetensors", tmp_path / "x.csv", tmp_path / "p.csv", "--fmr", 0.0, "--prior", 0.3)
    assert "can take effect only" not in call(*given, code=1).output


def test_options_of_other_tables_are_told_of_wherever_there_are_any() -> None:
    for name, command in every_command():
        told = {option for options, _ in NEEDS.get(name, ()) for option in options.split()}
        shown = {word for each in command.params for word in each.opts}
        assert "--right-id-column" not in shown or "--right-id-column" in told, name
        assert not {"--checkpoint-every"} & shown - told, name


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("score m e p --prior 0.3", "--prior can take effect only with --fmr"),
        ("score m e p --prior 0.5 --confidence 0.9", "--confidence, --prior can take effect only with --fmr"),
        ("score m e p --development d", "--development can take effect only with --fmr"),
        ("score m e p --reflexive --stream", "--reflexive can take effect only without --stream or --skip"),
        ("score m e p --reflexive --skip 3", "--reflexive can take effect only without --stream or --skip"),
        ("score m e p --right-features x", "--right-features can take effect only with --right-examples"),
        ("decide m e p --right-drop x", "only with --right-examples"),
        ("explain m e a b --right-id-column x", "only with --right-examples"),
        ("select e p --jobs 2", "--jobs can take effect only without PAIRS"),
        ("select e p --representation a=b", "--representation can take effect only without PAIRS"),
        ("select e --task link", "--task can take effect only with PAIRS"),
        ("select e --right-examples r", "--right-examples can take effect only with PAIRS"),
        ("select e --label-column y", "--label-column can take effect only with PAIRS"),
        ("select e p --task order --right-examples r", "only with --task link or number"),
        ("fit e p --machine ridge --C 1", "--C can take effect only with --machine svc or transductive"),
        ("fit e p --machine ridge --class-weight balanced", "only with --machine svc"),
        ("fit e p --machine transductive --class-weight 2,1", "only with --machine svc"),
        ("fit e p --alpha 2", "--alpha can take effect only with --machine ridge"),
        ("fit e p --nu 0.2", "--nu can take effect only with --machine one_class or sphere"),
        ("fit e p --reflexive", "--reflexive can take effect only without PAIRS"),
        ("fit e --left-column a", "--left-column can take effect only with PAIRS"),
        ("fit e --checkpoint-every 5", "--checkpoint-every can take effect only with --checkpoint"),
        ("regress e p --machine ridge --epsilon 0.2", "--epsilon can take effect only with --machine svr"),
        ("regress e p --alpha auto", "--alpha can take effect only with --machine ridge"),
        ("regress e p --folds 0 --unseen left", "only with --folds of 1 or more, or --alpha auto"),
        ("rank fit p --features x", "--features can take effect only with --examples"),
        ("rank fit p --unseen both --folds 0", "--unseen can take effect only with --folds of 1 or more"),
        ("rank predict m p --drop x", "--drop can take effect only with --examples"),
        ("rank order m --id-column x", "--id-column can take effect only with --examples"),
        ("stream p --features x", "--features can take effect only with --examples"),
        ("stream p --save-every 5", "--save-every can take effect only with --model"),
        ("evaluate s --baselines", "--baselines can take effect only with --examples"),
        ("evaluate s --class-column x", "--class-column can take effect only with --examples or --train"),
        ("evaluate s --title T", "only with --report or --csv or --markdown or --json"),
        ("pairs sample e --candidates 5", "--candidates can take effect only with --hard"),
        ("pairs sample e --random-share 0.5", "--random-share can take effect only with --hard"),
        ("pairs split p --id-column x", "--id-column can take effect only with --examples"),
        ("pairs split p --examples e --apart left", "--examples can take effect only with --apart both"),
        ("pairs check p --test-examples e", "--test-examples can take effect only with --examples"),
        ("match a b --model m --kind x=text", "--kind can take effect only without --model"),
        ("match a b --questions 5", "--questions can take effect only with --review"),
        ("dedupe a --model m --no-rivals", "--no-rivals can take effect only without --model"),
        ("dedupe a --label-column y", "--label-column can take effect only with --labels"),
    ],
)
def test_what_would_be_overlooked_is_refused(tmp_path: Path, call: Call, line: str, words: str) -> None:
    said = call(*line.split(), code=1)
    assert said.stdout == ""
    assert words in said.stderr


@pytest.mark.parametrize(
    "line",
    [
        "score m e p --prior 0.3 --fmr 0.1",
        "fit e p --machine ridge --alpha 2",
        "fit e p --machine sphere --nu 0.2",
        "fit e p --machine transductive --C 2",
        "regress e p --machine ridge --alpha auto --folds 0 --unseen left",
        "select e p --task number --right-examples r --right-features x",
        "evaluate s --train t --class-column x",
        "rank fit p --examples e --features x",
        "evaluate s --no-baselines",
        "fit e p --no-reflexive",
    ],
)
def test_what_has_an_effect_goes_on_to_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "can take effect only" not in call(*line.split(), code=1).stderr


def test_machines_have_what_the_table_says() -> None:
    """The table names machines by hand, so that help needs none of them."""
    from pairlearn.cli.steps.fitting import MACHINES
    from pairlearn.cli.tasks import regressing

    for command, machines in (("fit", MACHINES), ("regress", regressing.MACHINES)):
        for options, condition in NEEDS[command]:
            if condition.by != ("--machine",):
                continue
            for name in (option[2:].replace("-", "_") for option in options.split()):
                having = {key for key, machine in machines.items() if name in machine().get_params(deep=False)}
                assert having == {key for key in machines if condition.holds({"--machine": key})}, name


# --------------------------------------------------------------------------- by what files hold


def test_reflexive_pairs_are_counted_in_error_rates_or_not_at_all(people: Path, call: Call) -> None:
    scored = ("score", people / "model.safetensors", people / "train.csv")
    polars.read_csv(people / "pairs.csv").drop("label").write_csv(people / "plain.csv")
    assert "since" in call(*scored, people / "plain.csv", *KNOWN, "--reflexive", code=1).stderr
    call(*scored, people / "pairs.csv", *KNOWN, "--reflexive")


def test_options_about_error_rates_are_refused_of_other_answers(tmp_path: Path, call: Call) -> None:
    answers = tmp_path / "ranks.csv"
    answers.write_text("left,right,advantage,label\na,b,0.5,left\nb,c,-0.2,right\na,c,0.1,left\n")
    call("evaluate", answers)
    for more in (("--fmr", 0.1), ("--level", 0.9), ("--cost", "10,1"), ("--train", answers)):
        assert f"{more[0]}: for scores of same and different" in call("evaluate", answers, *more, code=1).stderr


def test_words_of_pairs_are_refused_of_a_table_of_examples_and_the_other_way(people: Path, call: Call) -> None:
    faces, pairs, out = people / "train.csv", people / "pairs.csv", ("--out-dir", people / "parts")
    known = ("--class-column", "person")
    assert "table of examples" in call("pairs", "split", faces, *known, *out, "--apart", "left", code=1).stderr
    assert "table of examples" in call("pairs", "split", faces, *known, *out, "--examples", faces, code=1).stderr
    assert "no column 'a'" in call("pairs", "split", faces, *known, *out, "--left-column", "a", code=1).stderr
    assert "needs --examples" in call("pairs", "split", pairs, *known, *out, code=1).stderr
    assert "table of examples" in call("pairs", "check", faces, *KNOWN, "--examples", faces, code=1).stderr
    assert "those of --examples" in call("pairs", "check", pairs, *known, code=1).stderr


def test_a_metric_goes_on_with_its_own_settings(tmp_path: Path, call: Call) -> None:
    lines, model = tmp_path / "pairs.jsonl", tmp_path / "metric.safetensors"
    row = {"left": [0.0, 1.0], "right": [1.0, 0.0], "label": -1}
    lines.write_text(2 * (json.dumps(row) + "\n"))
    call("stream", lines, "--model", model, "--gamma", 0.5)
    call("stream", lines, "--model", model, "--gamma", 0.5)
    assert "goes on with its --gamma 0.5" in call("stream", lines, "--model", model, "--gamma", 0, code=1).stderr
    assert "its --threshold 1" in call("stream", lines, "--model", model, "--threshold", 2, code=1).stderr
    assert pl.load(model).gamma == 0.5


def test_select_takes_a_table_as_a_matrix(tmp_path: Path, call: Call) -> None:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(10), 4)
    X = rng.normal(size=(10, 5))[who] + 0.3 * rng.normal(size=(40, 5))
    ids, K = [f"x{row}" for row in range(40)], X @ X.T
    head = {"id": ids, "class": [f"c{each}" for each in who]}
    polars.DataFrame(head | {ids[t]: K[:, t] for t in rng.permutation(40)}).write_csv(tmp_path / "matrix.csv")
    polars.DataFrame(head | {f"e{t}": X[:, t] for t in range(5)}).write_csv(tmp_path / "features.csv")
    common = ("--base", "precomputed", "--dir", tmp_path / "run", "--out", tmp_path / "model.safetensors")
    small = ("--kernel", "metric", "--C", 1, "--budget", 20, "--test-share", 0)
    (tmp_path / "pairs.csv").write_text("left,right\nx0,x1\n")
    said = call("select", tmp_path / "matrix.csv", *common, *small)
    assert "columns are taken in the order of the rows" in said.stderr
    call("score", tmp_path / "model.safetensors", tmp_path / "matrix.csv", tmp_path / "pairs.csv")
    assert "has a row and a column" in call("select", tmp_path / "features.csv", *common, "--force", code=1).stderr
    assert (
        "give it alone" in call("select", tmp_path / "matrix.csv", *common, "--base", "rbf", "--force", code=1).stderr
    )
    told = call(
        "select", tmp_path / "matrix.csv", tmp_path / "pairs.csv", "--base", "rbf", *common, "--force", code=1
    ).stderr
    assert "give it alone" in told
