"""`pairlearn rank`: preferences in files, with and without a table, to predictions and an order."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import pairlearn as pl
from pairlearn.cli.app import app
from pairlearn.cli.tasks.task import PREFERENCE, REGRESSION, VERIFICATION, area_of_both_orders, task_of
from pairlearn.evaluation.objectives.answers import order_right

STRENGTH = {"ann": 4.0, "bob": 3.0, "cat": 2.0, "dan": 1.0, "eve": 0.0}


def run(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "160"})


def one_line(result: Any, *words: str) -> None:
    """A user's error: exit code 1, and the last line on stderr has these words."""
    assert result.exit_code == 1
    assert result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    for word in words:
        assert word in last


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Everyone against everyone, the stronger wins, and cat once loses to eve."""
    names = sorted(STRENGTH)
    rows = [(a, b) for a in names for b in names if STRENGTH[a] > STRENGTH[b]] * 2 + [("eve", "cat")]
    path = tmp_path / "games.csv"
    polars.DataFrame(rows, schema=["winner", "loser"], orient="row").write_csv(path)
    return path


@pytest.fixture
def players(tmp_path: Path) -> Path:
    path = tmp_path / "players.csv"
    noise = np.sin(np.arange(5.0))
    polars.DataFrame({"name": list(STRENGTH), "speed": list(STRENGTH.values()), "height": noise}).write_csv(path)
    return path


def test_winners_and_losers_by_name_become_an_order(games: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "r.safetensors", tmp_path / "order.csv"
    result = run("rank", "fit", games, "--out", model, "--folds", 0)
    assert result.exit_code == 0, result.output
    assert "5 ids; one strength is learnt for each" in result.stderr
    assert "1 of 10 compared couples went both ways, such as cat and eve" in result.stderr
    assert run("rank", "order", model, "--out", out).exit_code == 0
    frame = polars.read_csv(out)
    assert frame.columns == ["rank", "id", "score"]
    assert frame["id"].to_list() == sorted(STRENGTH, key=lambda name: -STRENGTH[name])


def test_predictions_speak_of_order_and_can_be_evaluated(games: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "r.safetensors", tmp_path / "predictions.csv"
    run("rank", "fit", games, "--out", model, "--folds", 0)
    result = run("rank", "predict", model, games, "--out", out)
    assert "learnt from this very file" in result.stderr
    assert result.exit_code == 0, result.output
    for word in ("EER", "Euclid", "same"):
        assert word not in result.output
    assert "better than a coin" in result.output
    frame = polars.read_csv(out)
    assert frame.columns == ["left", "right", "advantage", "first", "label"]
    first = frame.filter(polars.col("advantage") > 0)
    assert (first["first"] == first["left"]).all()
    found = json.loads(run("evaluate", out, "--json").stdout)
    right = (frame["advantage"] > 0).mean()
    assert found["systems"]["predictions"]["systems"]["predictions"]["accuracy"] == pytest.approx(right)
    one_line(run("evaluate", out, "--report", tmp_path / "page.html"), "--report", "preference")


def test_features_rank_who_was_never_seen(games: Path, players: Path, tmp_path: Path) -> None:
    model = tmp_path / "r.safetensors"
    result = run("rank", "fit", games, "--examples", players, "--out", model, "--json", "--folds", 2)
    assert result.exit_code == 0, result.output
    assert set(json.loads(result.stdout)["held_out"]["systems"]) == {"model", "Bradley–Terry", "win share", "a coin"}
    new = tmp_path / "new.csv"
    new.write_text("name,height,speed\nslow,0.5,0.5\nfast,0.5,3.5\n")
    ranked = json.loads(run("rank", "order", model, "--examples", new, "--json").stdout)
    assert ranked["ranking"] == ["fast", "slow"]
    one_line(run("rank", "order", model), "--examples")


def test_scores_of_a_ranker_are_no_similarities(games: Path, players: Path, tmp_path: Path) -> None:
    model = tmp_path / "r.safetensors"
    run("rank", "fit", games, "--examples", players, "--out", model, "--folds", 0)
    sides = ("--left-column", "winner", "--right-column", "loser")
    result = run("score", model, players, games, *sides)
    assert result.stdout.splitlines()[0] == "left,right,advantage,first"
    assert "flattering" in result.stderr
    other = tmp_path / "other.csv"
    other.write_text("".join(games.read_text().splitlines(keepends=True)[:4]))
    one_line(run("decide", model, players, other, *sides, "-o", tmp_path / "v.safetensors"), "preference")


def test_ties_and_cycles_are_told(tmp_path: Path) -> None:
    path, model = tmp_path / "games.csv", tmp_path / "r.safetensors"
    path.write_text("a,b,who\nrock,scissors,left\npaper,rock,left\nscissors,paper,left\nrock,well,tie\npaper,well,\n")
    sides = ("--left-column", "a", "--right-column", "b", "--label-column", "who")
    result = run("rank", "fit", path, *sides, "--out", model, "--kernel", "wedge", "--folds", 0)
    assert result.exit_code == 0, result.output
    assert "1 pair without a label left out" in result.stderr
    assert "1 tie (half a win for either side)" in result.stdout
    order = run("rank", "order", model, "--out", tmp_path / "order.csv")
    assert "1 cycle of three that no order can show" in order.stdout
    assert " before " in order.stdout
    assert polars.read_csv(tmp_path / "order.csv")["rank"].to_list() == [1, 1, 1, 1]


@pytest.mark.parametrize("rows", ["ann,bob\n", "ann,bob\nbob,ann\nann,bob\n"])
def test_one_couple_is_learnt_without_a_held_out_test(rows: str, tmp_path: Path) -> None:
    path, model = tmp_path / "games.csv", tmp_path / "r.safetensors"
    path.write_text("winner,loser\n" + rows)
    result = run("rank", "fit", path, "--out", model)
    assert result.exit_code == 0, result.output
    assert "no held-out test: 1 distinct pair cannot fill 5 folds" in result.stderr


def test_a_tie_within_the_tolerance_is_called_so(tmp_path: Path) -> None:
    """Three who beat each other in a circle and lose to a fourth: the solver leaves small differences."""
    path, model = tmp_path / "games.csv", tmp_path / "r.safetensors"
    path.write_text("winner,loser\na,b\nb,c\nc,a\nd,a\nd,b\nd,c\n")
    assert run("rank", "fit", path, "--out", model, "--folds", 0).exit_code == 0
    order = run("rank", "order", model, "--out", tmp_path / "order.csv")
    assert polars.read_csv(tmp_path / "order.csv")["rank"].to_list() == [1, 2, 2, 2]
    assert "differ by no more than the solver's tolerance" in order.stdout


def test_nonsense_is_one_line(games: Path, players: Path, tmp_path: Path) -> None:
    model, bad = tmp_path / "r.safetensors", tmp_path / "bad.csv"
    bad.write_text("winner,loser\nann,bob\ncat,cat\n")
    one_line(run("rank", "fit", bad, "--out", model), "line 3 compares 'cat' with itself")
    bad.write_text("left,right\nann,bob\n")
    one_line(run("rank", "fit", bad, "--out", model), "says nowhere who came first", "--label-column")
    one_line(run("rank", "fit", games, "--label-column", "won", "--out", model), "no column 'won'")
    one_line(run("rank", "fit", games, "--unseen", "left", "--out", model), "--unseen left", "--right-examples")
    run("rank", "fit", games, "--out", model, "--folds", 0)
    bad.write_text("left,right\nann,zoe\n")
    one_line(run("rank", "predict", model, bad), "'zoe'")
    one_line(run("score", model, players, bad), "rank predict")
    one_line(run("rank", "order", model, "--examples", players), "leave --examples out")


def test_figures_of_order_do_not_depend_on_who_is_listed_first() -> None:
    rng = np.random.default_rng(0)
    values, truth = rng.normal(size=50), np.where(rng.random(50) < 0.5, 1, -1)
    turned = np.where(rng.random(50) < 0.5, 1, -1)
    assert order_right(values, truth).mean() == pytest.approx(order_right(turned * values, turned * truth).mean())
    assert area_of_both_orders(values, truth) == pytest.approx(area_of_both_orders(turned * values, turned * truth))
    won = values * truth
    brute = np.mean([(a > -b) + 0.5 * (a == -b) for a in won for b in won])
    assert area_of_both_orders(values, truth) == pytest.approx(brute)
    assert order_right(np.array([1.0, -1.0, 0.0]), np.array([1, 1, 1])).tolist() == [1.0, 0.0, 0.5]


TURNED = np.array([1, -1, 1, 1, -1, 1, -1, 1, 1, -1])
TIED = np.where(np.arange(10) == 8, 0, TURNED)
CHOSEN = {"result": {"question": "order"}}


@pytest.mark.parametrize(
    ("model", "labels", "about"),
    [
        (pl.PairRidge("difference", "linear", alpha=0.1), TURNED, {}),
        (pl.PairRidge("wedge", "rbf", alpha=0.1), TIED, CHOSEN),
        (pl.PairRidge("difference", "linear", alpha=0.1), TIED, {"made_from": CHOSEN}),
        (pl.scorers.PairMean([pl.PairRanker(base="linear"), pl.PairRidge("wedge", "rbf")]), TURNED, {}),
    ],
)
def test_every_model_of_preferences_puts_in_order(
    players: Path, tmp_path: Path, model: Any, labels: Any, about: dict[str, Any]
) -> None:
    """Scores are mean advantages over all, counted pair by pair."""
    X = polars.read_csv(players).select("speed", "height").to_numpy()
    model.fit(pl.all_pairs(X, reflexive=False), labels)
    path, out = tmp_path / "m.safetensors", tmp_path / "said.csv"
    pl.save(model, path, about=about)
    result = run("rank", "order", path, "--examples", players, "--out", out)
    assert result.exit_code == 0, result.output
    found = polars.read_csv(out)
    names, means = list(STRENGTH), model.decision_function(pl.Pairs(X, *np.indices((5, 5)).reshape(2, -1)))
    expected = dict(zip(names, means.reshape(5, 5).mean(axis=1).tolist(), strict=True))
    assert found["id"].to_list() == sorted(names, key=lambda name: -expected[name])
    np.testing.assert_allclose(found["score"], [expected[name] for name in found["id"]], atol=1e-12)
    asked = tmp_path / "next.csv"
    asked.write_text("winner,loser\nann,eve\neve,bob\n")
    sides = ("--left-column", "winner", "--right-column", "loser")
    for command in (("rank", "predict", path, asked, "--examples", players), ("score", path, players, asked, *sides)):
        result = run(*command)
        assert result.exit_code == 0, result.output
        said = polars.read_csv(result.stdout.encode())
        assert said.columns[:4] == ["left", "right", "advantage", "first"]
        np.testing.assert_allclose(said["advantage"], model.decision_function(pl.Pairs(X, [0, 4], [4, 1])))


def test_least_squares_of_numbers_rank_nothing(players: Path, tmp_path: Path) -> None:
    X = polars.read_csv(players).select("speed", "height").to_numpy()
    pairs = pl.all_pairs(X, reflexive=False)
    for kernel, labels in (("difference", np.arange(10.0)), ("metric", TURNED)):
        path = tmp_path / f"{kernel}.safetensors"
        pl.save(pl.PairRidge(kernel, "linear").fit(pairs, labels), path, about={"result": "of a notebook"})
        one_line(run("rank", "order", path, "--examples", players), "PairRidge, which ranks nothing")


def test_every_model_has_its_question() -> None:
    assert task_of(pl.PairRanker()) is PREFERENCE
    assert task_of(pl.PairSVR()) is REGRESSION
    assert task_of(pl.Verifier(pl.PairSVC(), 0.0)) is VERIFICATION
    assert task_of(pl.OneClassPairSVM()).name == "one class"
    with pytest.raises(pl.errors.InputError, match="classify predict"):
        task_of(pl.BasisSVC())


def test_football(tmp_path: Path) -> None:
    folder = os.environ.get("PAIRLEARN_DATA")
    if not folder:
        pytest.skip("set PAIRLEARN_DATA to the folder with preference/football_epl_2008_13.csv.gz")
    path = Path(folder) / "preference" / "football_epl_2008_13.csv.gz"
    sides = ("--left-column", "home", "--right-column", "away", "--label-column", "result")
    result = run("rank", "fit", path, *sides, "--out", tmp_path / "r.safetensors", "--json")
    found = json.loads(result.stdout)["held_out"]
    assert found["systems"]["model"]["accuracy"] > 0.64
    assert found["systems"]["Bradley–Terry"]["accuracy"] > 0.64
    assert found["left_out"] == json.loads(result.stdout)["ties"] == 505
