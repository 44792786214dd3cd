"""`pairlearn explain`: contributions add up, names are those of the tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

import pairlearn as pl

Call = Callable[..., Any]


@pytest.mark.parametrize("by", ["feature", "example", "pair"])
def test_contributions_add_up_to_the_score(people: Path, call: Call, by: str) -> None:
    args = ("explain", people / "model.safetensors", people / "train.csv", "p01_0", "p02_3")
    found = json.loads(call(*args, "--by", by, "--json").stdout)
    X = polars.read_csv(people / "train.csv").select(f"e{t}" for t in range(6)).to_numpy()
    score = pl.load(people / "model.safetensors").decision_function(pl.Pairs(X, [5], [13]))[0]
    assert found["score"] == pytest.approx(score)
    assert sum(found[by].values()) + found["bias"] == pytest.approx(score, abs=1e-8)


def test_names_are_columns_and_ids(people: Path, call: Call) -> None:
    args = ("explain", people / "model.safetensors", people / "faces.parquet", "p30_0", "p30_1")
    found = json.loads(call(*args, "--json").stdout)
    assert list(found["feature"]) == [f"e{t}" for t in range(6)]
    pairs = {
        (row["left"], row["right"]): row["label"] for row in polars.read_csv(people / "pairs.csv").iter_rows(named=True)
    }
    for name in found["pair"]:
        ends, label = name.split(": ")
        assert pairs[tuple(ends.split(" – "))] == int(label)


def test_ids_are_found_whatever_the_order_of_the_table(people: Path, call: Call) -> None:
    table = polars.read_parquet(people / "faces.parquet")
    table.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(people / "mixed.parquet")
    args = (people / "model.safetensors", "p30_0", "p30_1", "--by", "pair", "--json")
    one, two = (
        json.loads(call("explain", args[0], people / name, *args[1:]).stdout)["pair"]
        for name in ("faces.parquet", "mixed.parquet")
    )
    assert one == pytest.approx(two)


def test_kernels_without_features_are_explained_by_example(people: Path, call: Call) -> None:
    model = people / "rbf.safetensors"
    call("fit", people / "train.csv", people / "pairs.csv", "--class-column", "person", "--base", "rbf", "--out", model)
    shown = call("explain", model, people / "train.csv", "p01_0", "p02_3")
    assert "not by feature" in shown.stderr
    assert "by training example" in shown.stdout
    refused = call("explain", model, people / "train.csv", "p01_0", "p02_3", "--by", "feature", code=1)
    assert "--by example" in refused.stderr


def test_words_and_picture(people: Path, call: Call) -> None:
    pl.save(pl.Verifier(pl.load(people / "model.safetensors"), 1e9), people / "strict.safetensors")
    pair = (people / "faces.parquet", "p30_0", "p30_1", "--class-column", "person")
    args = ("explain", people / "strict.safetensors", *pair)
    shown = call(*args, "--picture", people / "why.png", "--top", 3)
    assert "p30_0 and p30_1: score" in shown.stdout
    assert "different" in shown.stdout
    assert (people / "why.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((people / "why.png.run.json").read_text())["result"]["left"] == "p30_0"
    assert "--force" in call(*args, "--picture", people / "why.png", code=1).stderr


def test_what_cannot_be_explained_says_so(people: Path, call: Call) -> None:
    pl.save(pl.EuclidBaseline(threshold=-1.0), people / "euclid.safetensors")
    known = ("--class-column", "person")
    cases = {
        ("euclid.safetensors", "p30_0", "p30_1"): "PairSVC",
        ("model.safetensors", "p30_0", "p30_9"): "did you mean p30_",
        ("model.safetensors", "p30_0", "p30_1", "--by", "magic"): "feature, example, pair",
        ("model.safetensors", "p30_0", "p30_1", "--picture", "why.bmp"): ".png",
    }
    for (model, *rest), words in cases.items():
        assert words in call("explain", people / model, people / "faces.parquet", *rest, *known, code=1).stderr
