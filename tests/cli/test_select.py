"""`pairlearn select`: what it writes, what it says, how it goes on and how it fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import pairlearn as pl
from pairlearn.cli.app import app
from pairlearn.cli.steps import selecting
from pairlearn.selection.search import stages
from pairlearn.selection.search.journal import NAME

COMMAND = [sys.executable, "-c", "from pairlearn.cli import main; main()"]
FEW = ("--kernel", "tensor_metric", "--base", "linear", "--C", "1", "--C", "100")


def run(*args: object) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(app, ["select", *(str(arg) for arg in args)], env={"COLUMNS": "120"})


@pytest.fixture(autouse=True)
def no_more_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan alone: what is left of the time is not used for more splits."""
    monkeypatch.setattr(stages, "MOST_SPLITS", 1)


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    """Examples of ten persons."""
    X, classes = pl.data.double_interval(12, 6, n=20, seed=0)
    frame = polars.DataFrame({"person": [f"p{c}" for c in classes], **{f"x{t}": X[:, t] for t in range(20)}})
    frame.write_csv(tmp_path / "faces.csv")
    return tmp_path


def select(faces: Path, *more: object) -> Any:
    places = ("--out", faces / "model.safetensors", "--dir", faces / "run")
    return run(faces / "faces.csv", "--class-column", "person", *places, *FEW, *more)


def test_a_model_a_record_and_a_plot_and_a_second_run_that_only_reads_the_journal(faces: Path) -> None:
    shown = select(faces)
    assert shown.exit_code == 0, shown.output
    record = json.loads((faces / "run" / "selection.json").read_text())
    assert [stage["task"] for stage in record["stages"]] == ["pair", "interexample", "interclass"]
    assert (faces / "run" / "eer-per-stage.png").read_bytes().startswith(b"\x89PNG")
    for text in ("pair task", "interclass task", "best baseline", "never used before", "model written"):
        assert text in shown.output
    # The test classes were kept apart: the figures can be had again from the files alone.
    table = polars.read_csv(faces / "faces.csv")
    names = list(dict.fromkeys(table["person"]))
    held = [names[k] for k in np.random.default_rng(0).permutation(12)[:2]]
    assert record["test"]["classes"] == 2
    assert record["data"]["classes"] == 10
    rest = table.filter(polars.col("person").is_in(held))
    pairs = pl.all_pairs(rest.drop("person").to_numpy().astype(float), reflexive=False)
    truth = pairs.labels(rest["person"].to_list())
    by_hand = pl.equal_error_rate(pl.Scores(pl.EuclidBaseline().decision_function(pairs), truth))
    assert record["test"]["eer"]["euclid"] == pytest.approx(by_hand)
    # The model that is written learnt from the test classes too, after the test.
    assert record["fit"]["n_classes"] == 10
    assert record["refit"]["n_classes"] == 12
    assert "fitted once more on 12 classes" in " ".join(shown.output.split())
    assert np.isfinite(pl.load(faces / "model.safetensors").decision_function(pairs)).all()
    rate = record["test"]["eer"]["model"]
    assert set(record["test"]["eer"]) >= {"model", "euclid", "cosine", "plda", "logistic"}
    told = record["verdict"]
    assert told["baselines"][told["best"]] == min(r for name, r in record["test"]["eer"].items() if name != "model")
    assert (told["value"], told["relation"] in ("better", "tied", "worse")) == (pytest.approx(rate), True)
    assert shown.output.count("verdict:") == 1
    assert f"verdict: {told['words']}" in shown.output
    assert f"next: {told['next_step']}" in shown.output
    assert "pairlearn select" not in told["next_step"]
    journal = (faces / "run" / NAME).read_text()
    assert select(faces, "--force").exit_code == 0
    assert (faces / "run" / NAME).read_text() == journal


def test_json_on_stdout_and_no_test_classes(faces: Path) -> None:
    shown = select(faces, "--json", "--test-share", 0)
    record = json.loads(shown.stdout.splitlines()[-1])
    assert record["test"] is record["verdict"] is None
    assert "No verdict: there was no final test" in shown.stderr
    assert record["data"]["classes"] == 12
    assert record["out"] == str(faces / "model.safetensors")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--test-share", 1), "test_share lies from 0"),
        (("--budget", -1), "time_budget"),
        (("--kernel", "wedge"), "not symmetric"),
        (("--base", "what"), "what"),
        (("--class-column", "nobody"), "nobody"),
        (("--out", "nowhere/model.safetensors"), "nowhere"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(faces: Path, options: tuple[object, ...], message: str) -> None:
    shown = select(faces, *options)
    assert shown.exit_code == 1
    assert message in shown.stderr
    assert not (faces / "model.safetensors").exists()


def test_examples_without_classes(faces: Path) -> None:
    np.save(faces / "x.npy", np.eye(4))
    shown = run(faces / "x.npy", "--out", faces / "m.safetensors")
    assert shown.exit_code == 1
    assert "--class-column" in shown.stderr


def started(folder: Path) -> subprocess.Popen[str]:
    """A selection in a process of its own that has written some lines of its journal."""
    X, classes = pl.data.double_interval(12, 4, n=20, seed=0)
    np.savez(folder / "x.npz", examples=X, classes=classes)
    command = [*COMMAND, "select", str(folder / "x.npz"), *map(str, places(folder))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal, deadline = folder / "run" / NAME, time.monotonic() + 120
    while time.monotonic() < deadline and not (journal.exists() and len(journal.read_text().splitlines()) > 5):
        time.sleep(0.05)
    return process


def places(folder: Path) -> tuple[object, ...]:
    few = ("--kernel", "metric", "--kernel", "tensor", "--base", "linear", "--base", "rbf", "--C", 1, "--C", 100)
    few = (*few, "--budget", 8)
    return "--out", folder / "m.safetensors", "--dir", folder / "run", *few


def test_ctrl_c_leaves_a_model(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "interrupted" in output
    X = np.load(tmp_path / "x.npz")["examples"]
    assert np.isfinite(pl.load(tmp_path / "m.safetensors").decision_function(pl.all_pairs(X[:4]))).all()


def test_a_killed_selection_goes_on(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.kill()
    process.wait()
    lines = (tmp_path / "run" / NAME).read_text().splitlines()
    assert not (tmp_path / "m.safetensors").exists()
    shown = run(tmp_path / "x.npz", *places(tmp_path))
    assert shown.exit_code == 0, shown.output
    after = (tmp_path / "run" / NAME).read_text().splitlines()
    assert after[: len(lines) - 1] == lines[:-1]
    assert len(after) > len(lines)
    assert (tmp_path / "m.safetensors").exists()


def test_a_base_of_low_rank_is_chosen(faces: Path) -> None:
    places = ("--out", faces / "model.safetensors", "--dir", faces / "run")
    few = ("--kernel", "metric", "--base", "lowrank(rbf, 10)", "--C", 1, "--test-share", 0, "--budget", 5)
    shown = run(faces / "faces.csv", "--class-column", "person", *places, *few)
    assert shown.exit_code == 0, shown.output
    record = json.loads((faces / "run" / "selection.json").read_text())
    assert "lowrank(rbf, 10)" in json.dumps(record)


def test_representations_are_parts_of_the_columns(faces: Path) -> None:
    shown = select(faces, "--representation", "late=x1?", "--representation", "early=x0:x9")
    assert shown.exit_code == 0, shown.output
    record = json.loads((faces / "run" / "selection.json").read_text())
    assert {"cosine on late", "cosine on early", "cosine on late & early"} <= set(record["test"]["eer"])
    assert "linear on early" in {trial["setting"]["base"] for trial in record["trials"] if trial["setting"]}
    # The columns of a table are found by name when it is scored, in whatever order they stand.
    table = polars.read_csv(faces / "faces.csv")
    layout = pl.persist.read_about(faces / "model.safetensors")["about"]["inputs"]["examples"]["layout"]
    assert layout["columns"] == [f"x{t}" for t in (*range(10, 20), *range(10))]
    pairs = pl.all_pairs(table.select(layout["columns"]).to_numpy().astype(float), reflexive=False)
    assert np.isfinite(pl.load(faces / "model.safetensors").decision_function(pairs)).all()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["x1?"], "NAME=COLUMNS"),
        (["a=x1?", "a=x0"], "names 'a' twice"),
        (["a=x1?", "b=x10"], "'x10', which is in representation 'a' already"),
        (["a=person", "b=x1?"], "'person', which is the class column already"),
        (["a=p*", "b=x1?"], "'person', which is the class column already"),
        (["a=z*"], "no column that --representation 'z*' means"),
    ],
)
def test_bad_representations_are_refused(faces: Path, parts: list[str], words: str) -> None:
    shown = select(faces, *(each for part in parts for each in ("--representation", part)))
    assert shown.exit_code != 0
    assert words in " ".join(shown.output.split())


@pytest.mark.parametrize(("kept", "words"), [(1, "1 setting tried, 1 kept"), (3, "1 setting tried; 3 go on, some")])
def test_more_may_go_on_than_were_tried(kept: int, words: str) -> None:
    """The interexample task tries one C of a family, and all Cs of it go on."""
    best = {"kind": "machine", "what": "metric / linear, C = 1", "value": 0.1, "low": None, "high": None}
    stage = {"tried": 1, "kept": ["a"] * kept, "rungs": [{"n_classes": 8, "epcr": 2, "results": [best]}]}
    assert selecting._stage_line(stage, {"name": "EER", "unit": "%"}).startswith(words)
