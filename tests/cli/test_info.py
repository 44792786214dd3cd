"""`pairlearn info`: what a file is, what it was learnt from, and whether a table is that one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import pairlearn as pl
from pairlearn.cli.steps.kinds import KINDS
from pairlearn.persist.known import MODELS

Call = Callable[..., Any]


def test_a_model_remembers_its_tables_and_settings(people: Path, call: Call) -> None:
    found = json.loads(call("info", people / "model.safetensors", "--json").stdout)
    model = pl.load(people / "model.safetensors")
    assert found["class"] == "PairSVC"
    assert found["bytes"] == (people / "model.safetensors").stat().st_size
    assert (found["learnt"]["support_pairs"], found["learnt"]["status"]) == (model.n_support_, "converged")
    made = found["made"][0]
    assert (made["command"], made["options"]["C"]) == ("fit", 1.0)
    digest = hashlib.sha256((people / "train.csv").read_bytes()).hexdigest()
    assert made["inputs"]["examples"]["sha256"] == digest


def test_words(people: Path, call: Call) -> None:
    shown = " ".join(call("info", people / "model.safetensors").stdout.split())
    for words in ("do two examples belong together?", "KKT gap", "pairlearn fit", "6 features e0 … e5; id photo"):
        assert words in shown


def test_a_verifier_tells_of_its_threshold_and_of_the_fit_before(people: Path, call: Call) -> None:
    table, pairs = people / "faces.parquet", people / "dev.csv"
    known = ("--class-column", "person")
    call("pairs", "sample", people / "gallery.csv", *known, "--ratio", 10, "--out", pairs)
    out = people / "verifier.safetensors"
    call("decide", people / "model.safetensors", table, pairs, *known, "--fmr", 0.2, "--confidence", 0.6, "--out", out)
    found = json.loads(call("info", out, "--json").stdout)
    assert [step["command"] for step in found["made"]] == ["decide", "fit"]
    assert "FMR at most 0.2" in found["learnt"]["threshold"]
    # The pairs of both commands are known, though both were read as `pairs`.
    for used in ("dev.csv", "pairs.csv", "train.csv", "faces.parquet"):
        call("info", out, "--verify", people / used)


def test_a_ranker_of_names_alone_knows_its_file(tmp_path: Path, call: Call) -> None:
    games, model = tmp_path / "games.csv", tmp_path / "ranker.safetensors"
    games.write_text("winner,loser\nann,bob\nbob,cem\nann,cem\ncem,dan\n")
    call("rank", "fit", games, "--out", model, "--folds", 0)
    assert "was read as preferences" in call("info", model, "--verify", games).stdout
    (tmp_path / "other.csv").write_text("winner,loser\nbob,ann\n")
    assert "NOT" in call("info", model, "--verify", tmp_path / "other.csv", code=1).stdout


def test_another_file_is_not_the_one(people: Path, call: Call) -> None:
    table = polars.read_csv(people / "train.csv")
    table.reverse().write_csv(people / "train.csv")
    result = call("info", people / "model.safetensors", "--verify", people / "train.csv", code=1)
    assert "NOT" in result.stdout


def test_a_model_written_in_python_says_what_it_can(people: Path, call: Call) -> None:
    pl.save(pl.load(people / "model.safetensors"), people / "plain.safetensors")
    shown = call("info", people / "plain.safetensors")
    assert "Written in Python" in shown.stdout
    assert "support pairs" in shown.stdout
    asked = call("info", people / "plain.safetensors", "--verify", people / "train.csv", code=1)
    assert "nothing can be verified" in asked.stderr


@pytest.mark.parametrize(
    "about",
    [
        {"made_from": "fit"},
        {"result": 3},
        {"result": {"status": "converged", "kkt_gap": "small"}},
        {"command": "fit", "inputs": []},
        {"command": "fit", "inputs": {"pairs": {"file": "a.csv", "sha256": 3}}},
        {"options": {}},
    ],
)
def test_notes_of_another_form_are_one_line(about: Any, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "model.safetensors"
    pl.save(pl.EuclidBaseline(), path, about=about)
    assert "model.safetensors has notes that no command of pairlearn wrote" in call("info", path, code=1).stderr


def test_no_model_is_one_line(people: Path, call: Call) -> None:
    for name in ("train.csv", "nothing.safetensors"):
        assert call("info", people / name, code=1).stderr.count("\n") == 1


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_has_words_of_its_own_unless_it_is_a_baseline(name: str) -> None:
    assert name in KINDS or name.endswith("Baseline")


@pytest.mark.parametrize(
    ("kernel", "labels", "words"),
    [
        ("difference", (1, -1), "which of two examples comes first?"),
        ("tensor_metric", (1, -1), "do two examples belong together?"),
        ("difference", (0.5, -3.0), "which number belongs to a pair?"),
    ],
)
def test_least_squares_answer_what_labels_and_kernel_ask(
    tmp_path: Path, call: Call, kernel: str, labels: tuple[float, float], words: str
) -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    y = np.where(X[pairs.left, 0] > X[pairs.right, 0], *labels)
    pl.save(pl.PairRidge(kernel).fit(pairs, y), tmp_path / "ridge.safetensors")
    assert words in call("info", tmp_path / "ridge.safetensors").stdout
