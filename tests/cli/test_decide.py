"""Thresholds, probabilities and what is said of pairs that cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import pairlearn as pl
from pairlearn.cli.app import app


def call(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "120"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """faces.csv with 40 people, train.csv, development.csv and test.csv of other people each, and a model."""
    made = tmp_path_factory.mktemp("decide")
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 4)
    X = rng.normal(size=(60, 6))[who] + 0.3 * rng.normal(size=(240, 6))
    columns = {f"e{t}": X[:, t] for t in range(6)}
    polars.DataFrame({"id": [f"a{i}" for i in range(240)], "class": who, **columns}).write_csv(made / "faces.csv")
    pairs = pl.all_pairs(X, reflexive=False)
    labels = pairs.labels(who)
    for name, low, high in (("train", 0, 20), ("development", 20, 40), ("test", 40, 60)):
        chosen = (
            (who[pairs.left] >= low) & (who[pairs.right] >= low) & (who[pairs.left] < high) & (who[pairs.right] < high)
        )
        ids = {side: [f"a{i}" for i in getattr(pairs, side)[chosen]] for side in ("left", "right")}
        polars.DataFrame({**ids, "label": labels[chosen]}).write_csv(made / f"{name}.csv")
    result = call("fit", made / "faces.csv", made / "train.csv", "--kernel", "metric", "--out", made / "m.safetensors")
    assert result.exit_code == 0, result.output
    return made


def decide(folder: Path, pairs: str, *more: object) -> Any:
    files = (folder / "m.safetensors", folder / "faces.csv", folder / pairs)
    return call("decide", *files, "--out", folder / "v.safetensors", "--force", *more)


def test_probabilities_are_at_even_odds_or_at_the_prior(folder: Path) -> None:
    assert decide(folder, "development.csv", "--fmr", 0.05).exit_code == 0
    even = pl.load(folder / "v.safetensors")
    told = decide(folder, "development.csv", "--fmr", 0.05, "--prior", 0.01)
    assert "a share of 0.01 of all pairs belongs together" in told.output
    rare = pl.load(folder / "v.safetensors")
    assert (even.calibration.prior, rare.calibration.prior) == (0.5, 0.01)
    scores = np.array([-1.0, 0.0, 1.0])
    odds = [c.probability(scores) / (1 - c.probability(scores)) for c in (even.calibration, rare.calibration)]
    np.testing.assert_allclose(odds[0] / odds[1], 99.0)


def test_the_advised_rate_can_be_reached(folder: Path) -> None:
    refused = decide(folder, "development.csv", "--fmr", 0.0001)
    assert refused.exit_code == 1
    lowest = refused.stderr.split("can be promised is ")[1].split(":")[0]
    assert decide(folder, "development.csv", "--fmr", lowest).exit_code == 0


def test_without_a_confidence_the_rate_holds_on_these_pairs(folder: Path) -> None:
    assert decide(folder, "development.csv", "--fmr", 0.01, "--confidence", 0).exit_code == 0
    threshold = pl.load(folder / "v.safetensors").threshold
    assert threshold.confidence is None
    assert threshold.fmr <= 0.01


@pytest.mark.parametrize("fmr", [0, 1, 1.5, "nan"])
def test_rates_that_decide_nothing(folder: Path, fmr: object) -> None:
    refused = decide(folder, "development.csv", "--fmr", fmr)
    assert refused.exit_code == 1
    assert "between 0 and 1" in refused.stderr


@pytest.mark.parametrize(("out", "words"), [("-", "standard output; name a file"), ("v.pkl", "name it v.safetensors")])
def test_a_name_that_is_none_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = call("decide", "nothing.safetensors", "nothing.csv", "nothing.csv", "--out", out)
    assert refused.exit_code == 1
    assert words in refused.stderr
    assert not list(tmp_path.iterdir())


def test_the_training_file_sets_no_threshold(folder: Path) -> None:
    refused = decide(folder, "train.csv", "--fmr", 0.05)
    assert refused.exit_code == 1
    assert "learnt from this very file" in refused.stderr
    shown = call("score", folder / "m.safetensors", folder / "faces.csv", folder / "train.csv")
    assert shown.exit_code == 0
    assert "flattering" in shown.stderr


def test_a_model_may_be_decided_anew_by_the_same_pairs(folder: Path) -> None:
    """Only its threshold came from them; also where a smaller model was made in between."""
    assert decide(folder, "development.csv", "--fmr", 0.05).exit_code == 0
    files = folder / "v.safetensors", folder / "faces.csv", folder / "development.csv"
    shown = call("score", *files)
    assert "threshold was set by this very file" in shown.stderr
    again = call("decide", *files, "--fmr", 0.1, "--out", folder / "w.safetensors")
    assert (again.exit_code, "this very file" in again.stderr) == (0, False)
    small = folder / "small.safetensors"
    assert call("distil", folder / "v.safetensors", folder / "faces.csv", "--out", small).exit_code == 0
    assert call("decide", small, *files[1:], "--fmr", 0.1, "--out", folder / "u.safetensors").exit_code == 0
    refused = call(
        "decide", folder / "u.safetensors", files[1], folder / "train.csv", "--out", folder / "t.safetensors"
    )
    assert "learnt from this very file" in refused.stderr


def test_identities_without_a_pair_are_not_counted(folder: Path) -> None:
    assert "of 20 identities" in decide(folder, "development.csv", "--fmr", 0.05).output


def test_the_pairs_of_a_stream_are_not_its_examples(folder: Path) -> None:
    """The table of all people was there when it learnt, the pairs of these were not."""
    metric, faces = folder / "metric.safetensors", folder / "faces.csv"
    ids = ("--id-column", "id", "--class-column", "class")
    streamed = call(
        "stream", folder / "train.csv", "--examples", faces, "--model", metric, "--out", folder / "p.csv", *ids
    )
    assert streamed.exit_code == 0, streamed.output
    decided = call("decide", metric, faces, folder / "development.csv", "--fmr", 0.1, "--out", folder / "x.safetensors")
    assert decided.exit_code == 0, decided.output


def test_decisions_and_probabilities_in_the_table(folder: Path) -> None:
    assert decide(folder, "development.csv", "--fmr", 0.05).exit_code == 0
    model, out = pl.load(folder / "v.safetensors"), folder / "s.jsonl"
    result = call("score", folder / "v.safetensors", folder / "faces.csv", folder / "test.csv", "--out", out, "--force")
    assert result.exit_code == 0
    frame = polars.read_ndjson(out)
    values = frame["score"].to_numpy()
    assert frame["decision"].to_list() == np.where(values >= float(model.threshold), "same", "different").tolist()
    np.testing.assert_allclose(frame["probability"].to_numpy(), model.calibration.probability(values))
    record = json.loads((folder / "s.jsonl.run.json").read_text())
    assert record["command"] == "score"
    assert set(record["inputs"]) == {"model", "examples", "pairs"}


def test_one_kind_of_pair_is_scored_without_rates(folder: Path) -> None:
    (folder / "one.csv").write_text("left,right,label\na0,a1,1\na0,a2,1\n")
    result = call("score", folder / "m.safetensors", folder / "faces.csv", folder / "one.csv")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 3
    assert "No error rates" in result.stderr


def test_pairs_with_both_labels_are_told(folder: Path) -> None:
    (folder / "odd.csv").write_text("left,right,label\na0,a1,1\na1,a0,-1\na0,a9,-1\n")
    result = call("score", folder / "m.safetensors", folder / "faces.csv", folder / "odd.csv")
    assert "1 pair has both labels" in result.stderr


def test_untrained_models_need_no_file(folder: Path) -> None:
    result = call("score", "euclid", folder / "faces.csv", folder / "test.csv", "--json")
    rates = json.loads(result.stdout)["rates"]
    assert rates["model"] == rates["euclid"]


def test_a_table_of_pairs_is_no_table_of_examples(folder: Path) -> None:
    refused = call("score", folder / "m.safetensors", folder / "test.csv", folder / "faces.csv")
    assert refused.exit_code == 1
    assert "table of pairs" in refused.stderr
