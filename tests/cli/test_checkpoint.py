"""`pairlearn fit --checkpoint`: the same command goes on; and the time that is left, where it can be known."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.cli.long_runs import LEAST, UNKNOWN, TimeLeft, in_words, seconds_left
from pairlearn.persist.checkpoint import FILE
from pairlearn.solvers.problem import Progress
from tests.cli.conftest import run


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of people who overlap."""
    path = tmp_path_factory.mktemp("faces") / "faces.csv"
    rng, who = np.random.default_rng(0), np.repeat(np.arange(14), 8)
    X = rng.normal(size=(14, 8))[who] + rng.normal(size=(len(who), 8))
    columns = {f"e{t}": X[:, t] for t in range(8)}
    polars.DataFrame({"id": [f"p{i}" for i in range(len(who))], "class": [f"c{k}" for k in who], **columns}).write_csv(
        path
    )
    return path


def command(faces: Path, folder: Path, *more: object) -> list[object]:
    files = ("--out", folder / "model.safetensors", "--checkpoint", folder / "run.checkpoint")
    return ["fit", faces, "--base", "rbf", "--C", 100, "--force", "--checkpoint-every", 1e-3, *files, *more]


def test_the_same_command_goes_on_and_removes_the_checkpoint_after_the_model(faces: Path, tmp_path: Path) -> None:
    whole = run("fit", faces, "--base", "rbf", "--C", 100, "--out", tmp_path / "whole.safetensors")
    assert whole.exit_code == 0, whole.output
    first = run(*command(faces, tmp_path, "--time-budget", 0))
    assert first.exit_code == 0, first.output
    assert "run.checkpoint stays: the same command goes on from it" in first.output
    second = run(*command(faces, tmp_path, "--json"))
    assert second.exit_code == 0, second.output
    assert "going on from" in second.stderr
    result = json.loads(second.stdout)
    assert (result["status"], result["runs"]) == ("converged", 2)
    assert result["total_seconds"] > result["seconds"]
    assert not (tmp_path / "run.checkpoint").exists()
    models = [pl.load(tmp_path / f"{name}.safetensors") for name in ("whole", "model")]
    assert models[1].objective_ == pytest.approx(models[0].objective_, rel=1e-5)
    assert models[1].n_runs_ == 2


def test_runs_are_told(faces: Path, tmp_path: Path) -> None:
    run(*command(faces, tmp_path, "--time-budget", 0))
    assert "of fitting in 2 runs" in run(*command(faces, tmp_path)).output


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--C", 3), "it differs in C (100.0 there, 3.0 here)"),
        (("--kernel", "metric"), "it differs in kernel"),
        (("--features", "e0:e6"), "it differs in examples"),
        (("--machine", "transductive"), "cannot go on from a file; leave --checkpoint out"),
    ],
)
def test_another_fit_is_refused_and_changes_nothing(more: Any, words: str, faces: Path, tmp_path: Path) -> None:
    run(*command(faces, tmp_path, "--time-budget", 0))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = run(*command(faces, tmp_path, *more))
    assert result.exit_code != 0
    assert words in f"{result.output} {result.exception}"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_table_named_by_mistake_is_left_alone(faces: Path, tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("left,right,label\n" * 50)
    result = run("fit", faces, "--out", tmp_path / "model.safetensors", "--checkpoint", table)
    assert result.exit_code != 0
    assert "pairs.csv is not a checkpoint file" in f"{result.output} {result.exception}"
    assert table.read_text() == "left,right,label\n" * 50
    assert not (tmp_path / "model.safetensors").exists()


def test_a_checkpoint_never_takes_the_place_of_the_model(faces: Path, tmp_path: Path) -> None:
    same = tmp_path / "model.safetensors"
    result = run("fit", faces, "--out", same, "--checkpoint", same)
    assert "--checkpoint and --out are the same file" in f"{result.output} {result.exception}"
    assert list(tmp_path.iterdir()) == []


def test_a_killed_command_goes_on(faces: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pairlearn", *map(str, command(faces, tmp_path, "--tol", 1e-9))]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    began = time.perf_counter()
    while not (tmp_path / "run.checkpoint").exists() and process.poll() is None:
        assert time.perf_counter() - began < 120
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    if process.wait() == -signal.SIGKILL:  # not so quick that it was over
        assert FILE.read(tmp_path / "run.checkpoint")[0]["state"]["runs"] == 1
        assert not (tmp_path / "model.safetensors").exists()
    result = run(*command(faces, tmp_path, "--tol", 1e-9))
    assert result.exit_code == 0, result.output
    assert pl.load(tmp_path / "model.safetensors").fit_status_ == "converged"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.safetensors", "model.safetensors.run.json"]


# --------------------------------------------------------------------------- time left


def line(seconds: float, gap: float, n_pairs: int = 1000, n_support: int = 70) -> Progress:
    return Progress(0, gap, 0.0, n_support, 0, seconds, n_pairs)


@settings(deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0.05, 3.0), st.integers(LEAST, 40))
def test_an_even_fall_is_told_to_the_second(each: float, fall: float, steps: int) -> None:
    """gap = e^(−fall·step), a step every `each` seconds: log(gap / tol) / fall steps are left."""
    tol = math.exp(-fall * 100)
    pace, lines = TimeLeft(tol, 1000), []
    for step in range(steps):
        lines.append((step * each, -fall * step))
        said = pace.after(line(step * each, math.exp(-fall * step)))
        assert said.startswith("about") == (step + 1 >= LEAST)
    found = seconds_left(np.array(lines), math.log(tol))
    assert found == pytest.approx((100 - (steps - 1)) * each, rel=1e-6)


def test_nothing_is_promised_where_the_gap_does_not_fall() -> None:
    for gaps in ([1.0] * 8, [1.0, 0.1] * 4, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1.0, 0.9, 1.1, 0.8, 1.2, 1.0]):
        pace = TimeLeft(1e-3, 1000)
        assert [pace.after(line(float(t), gap)) for t, gap in enumerate(gaps)][-1] == UNKNOWN


def test_subsets_and_the_end_say_nothing() -> None:
    pace = TimeLeft(1e-3, 1000)
    assert {pace.after(line(float(t), 2.0**-t, n_pairs=500)) for t in range(9)} == {""}
    for t in range(LEAST - 1):
        assert pace.after(line(float(t), 2.0**-t)) == ""
    assert "left if it goes on" in pace.after(line(LEAST - 1.0, 2.0 ** (1 - LEAST)))
    assert pace.after(line(99.0, 1e-4)) == ""


def test_one_clock_tick_and_infinite_gaps_do_no_harm() -> None:
    pace = TimeLeft(1e-3, 1000)
    assert {pace.after(line(1.0, gap)) for gap in (1.0, math.inf, math.nan, 0.5)} == {""}
    assert [pace.after(line(1.0, 0.4)) for _ in range(LEAST)][-1] == UNKNOWN


def test_a_line_in_words() -> None:
    assert in_words(line(1.0, 0.012, 1000), 1000, "") == "KKT gap 0.012, 70 support pairs"
    assert in_words(line(1.0, 0.012, 200), 1000, "") == "200 of 1,000 pairs: KKT gap 0.012, 70 support pairs"
    assert in_words(line(1.0, 0.012, 1000, 1), 1000, "about 3 min left").endswith("1 support pair, about 3 min left")
