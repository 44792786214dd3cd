"""`pairlearn select` on labelled pairs and with objectives: files, words, errors."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import pairlearn as pl
from pairlearn.cli.app import app
from pairlearn.selection.labelled import runner
from pairlearn.selection.search import stages

FEW = ("--base", "linear", "--C", "1", "--budget", "600")


def run(*args: object) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "140"})


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Drugs and targets with their bonds, and teams with matches."""
    rng = np.random.default_rng(0)
    for name, n in (("drugs", 20), ("targets", 12), ("teams", 16)):
        X = rng.normal(size=(n, 3))
        columns = {f"x{t}": X[:, t] for t in range(3)}
        polars.DataFrame({"id": [f"{name}{k}" for k in range(n)], **columns}).write_csv(tmp_path / f"{name}.csv")
    left, right = np.divmod(np.arange(240), 12)
    sides = {"left": [f"drugs{k}" for k in left], "right": [f"targets{k}" for k in right]}
    bond = rng.normal(size=20)[left] + rng.normal(size=12)[right]
    polars.DataFrame({**sides, "label": bond}).write_csv(tmp_path / "bonds.csv")
    polars.DataFrame({**sides, "label": np.where(bond > 0, 1, -1)}).write_csv(tmp_path / "links.csv")
    first, second = rng.integers(0, 16, (2, 150))
    second = np.where(first == second, (second + 1) % 16, second)
    low, high = np.minimum(first, second), np.maximum(first, second)
    named = {"winner": [f"teams{k}" for k in low], "loser": [f"teams{k}" for k in high]}
    polars.DataFrame(named).write_csv(tmp_path / "matches.csv")
    return tmp_path


@pytest.fixture(autouse=True)
def no_more_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan alone: what is left of the time is not used for more splits."""
    monkeypatch.setattr(stages, "MOST_SPLITS", 1)
    monkeypatch.setattr(runner, "MOST_SPLITS", 1)


def places(tables: Path) -> tuple[object, ...]:
    return ("--out", tables / "model.safetensors", "--dir", tables / "run", *FEW)


def test_numbers_of_two_tables_for_unseen_drugs(tables: Path) -> None:
    two = ("--right-examples", tables / "targets.csv", "--unseen", "left", "--objective", "concordance")
    shown = run("select", tables / "drugs.csv", tables / "bonds.csv", "--task", "number", *two, *places(tables))
    assert shown.exit_code == 0, shown.output
    record = json.loads((tables / "run" / "selection.json").read_text())
    assert (record["question"], record["unseen"], record["objective"]["key"]) == ("number", "left", "concordance")
    for words in ("pairs with new left examples", "concordance", "verdict:", "fitted once more on 240 pairs", "chosen"):
        assert words in shown.output
    assert isinstance(pl.load(tables / "model.safetensors"), (pl.PairRidge, pl.PairSVR, pl.scorers.PairMean))
    scored = run(
        "score",
        tables / "model.safetensors",
        tables / "drugs.csv",
        tables / "bonds.csv",
        *two[:2],
        "--out",
        tables / "s.csv",
    )
    assert scored.exit_code == 0, scored.output
    assert len(polars.read_csv(tables / "s.csv")) == 240


def test_matches_and_links_as_json(tables: Path) -> None:
    options = ("--json", "--force", *places(tables))
    order = run("select", tables / "teams.csv", tables / "matches.csv", "--task", "order", *options)
    assert order.exit_code == 0, order.output
    found = json.loads(order.stdout)
    assert set(found["test"]["values"]) == {"model", "Bradley–Terry", "Elo", "win share", "a coin"}
    two = ("--right-examples", tables / "targets.csv", "--objective", "aupr")
    link = run("select", tables / "drugs.csv", tables / "links.csv", *two, *options)
    assert link.exit_code == 0, link.output
    assert json.loads(link.stdout)["objective"]["name"] == "AUPR"


def test_classes_are_chosen_and_judged_by_the_objective(tables: Path) -> None:
    X, classes = pl.data.double_interval(12, 6, n=20, seed=0)
    frame = polars.DataFrame({"class": [f"p{c}" for c in classes], **{f"x{t}": X[:, t] for t in range(20)}})
    frame.write_csv(tables / "faces.csv")
    kernels = ("--kernel", "tensor_metric", "--objective", "fnmr@fmr=0.1", "--test-share", "0.3")
    shown = run("select", tables / "faces.csv", *kernels, *places(tables))
    assert shown.exit_code == 0, shown.output
    assert "FNMR at FMR 10 %" in shown.output
    assert "by which clearly bad settings are told whatever the objective" in " ".join(shown.output.split())
    record = json.loads((tables / "run" / "selection.json").read_text())
    assert record["verdict"]["measure"] == "fnmr"
    assert record["test"]["values"]["model"] == record["verdict"]["value"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--objective", "speed"), "eer, auc, aupr"),
        (("--unseen", "both"), "can take effect only with PAIRS"),
    ],
)
def test_what_cannot_be_asked_of_classes(tables: Path, more: tuple[str, ...], words: str) -> None:
    shown = run("select", tables / "teams.csv", *more, *places(tables))
    assert shown.exit_code != 0
    assert words in " ".join(shown.output.split())


def test_unknown_tasks_list_the_known(tables: Path) -> None:
    shown = run("select", tables / "teams.csv", tables / "matches.csv", "--task", "rank", *places(tables))
    assert "link, order, number" in " ".join(shown.output.split())


def test_contradictory_links_are_told(tables: Path) -> None:
    links = polars.read_csv(tables / "links.csv")
    turned = links.head(1).with_columns(-polars.col("label"))
    polars.concat([links, turned]).write_csv(tables / "links.csv")
    two = ("--right-examples", tables / "targets.csv")
    shown = run("select", tables / "drugs.csv", tables / "links.csv", *two, *places(tables))
    assert shown.exit_code == 0, shown.output
    assert " ".join(shown.stderr.split()).count("1 pair carries contradictory labels") == 1


@pytest.mark.parametrize(("place", "words"), [(0, "stopping without a model"), (6, "fitting the best machine so far")])
def test_ctrl_c_says_what_it_does(tables: Path, monkeypatch: pytest.MonkeyPatch, place: int, words: str) -> None:
    """The first trial is that of a baseline."""
    tried, trial = iter(range(10_000)), runner.run_trial

    def interrupted(*given: Any) -> Any:
        if next(tried) == place:
            signal.raise_signal(signal.SIGINT)
        return trial(*given)

    monkeypatch.setattr(runner, "run_trial", interrupted)
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    shown = run("select", tables / "teams.csv", tables / "matches.csv", "--task", "order", *places(tables))
    assert words in " ".join(shown.stderr.split())
    assert (tables / "model.safetensors").exists() == (place > 0)


def test_the_help_says_what_the_directory_holds() -> None:
    """Labelled pairs have no stages to draw."""
    words = " ".join(run("select", "--help").output.replace("│", " ").split())
    assert "With PAIRS: no plot." in words
