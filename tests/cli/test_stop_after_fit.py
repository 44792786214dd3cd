"""Ctrl-C after the training, while the model is judged: the model is written, and what was stopped is told."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pairlearn as pl
from pairlearn.cli.steps import fitting
from pairlearn.cli.tasks import classifying, holdout

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def foreground(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may run in the background, where Ctrl-C is ignored."""
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)


def interrupted(*given: Any, **named: Any) -> Any:
    """Something long, during which Ctrl-C comes."""
    signal.raise_signal(signal.SIGINT)
    raise AssertionError("not reached: the signal ends it")


def test_the_training_figure_is_left_out(people: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "compare", interrupted)
    out = people / "again.safetensors"
    args = ("fit", people / "train.csv", people / "pairs.csv", "--class-column", "person", "--out", out)
    said = call(*args, "--json")
    assert json.loads(said.stdout)["training"] is None
    assert "the training EER was stopped by Ctrl-C; the model is kept" in said.stderr
    assert "one label only" not in said.output
    one, other = pl.load(out), pl.load(people / "model.safetensors")
    assert one.fit_status_ == "converged"
    assert one.objective_ == pytest.approx(other.objective_)
    assert json.loads((people / "again.safetensors.run.json").read_text())["result"]["training"] is None


def test_the_held_out_test_of_classes_is_left_out(people: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifying, "cross_val_predict", interrupted)
    out = people / "classes.safetensors"
    args = ("classify", "fit", people / "gallery.csv", "--class-column", "person", "--similarity", "rbf", "--out", out)
    said = call(*args, "--json")
    assert json.loads(said.stdout)["held_out"] is None
    assert "the held-out test was stopped; the model is kept" in said.stderr
    assert isinstance(pl.load(out), pl.BasisSVC)


def test_folds_of_preferences_are_counted(people: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdout, "clone", interrupted)
    (people / "games.csv").write_text("winner,loser\na,b\nb,c\na,c\nc,d\nb,d\na,d\n")
    out = people / "ranker.safetensors"
    said = call("rank", "fit", people / "games.csv", "--out", out, "--json")
    assert json.loads(said.stdout)["held_out"] is None
    assert "the held-out test was stopped after 0 of 5 folds; the model is kept" in said.stderr
    assert isinstance(pl.load(out), pl.PairRanker)
