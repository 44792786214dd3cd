"""`pairlearn distil`: a smaller file that scores the same, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl

COLUMNS = ("--class-column", "person", "--id-column", "photo")


def test_a_smaller_file_that_scores_nearly_the_same(
    made_people: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    model, out = made_people / "model.safetensors", tmp_path / "small.safetensors"
    told = call("distil", model, made_people / "faces.parquet", *COLUMNS, "--out", out, "--json")
    result = json.loads(told.stdout)
    assert result["file_after"] == out.stat().st_size < result["file_before"] == model.stat().st_size
    assert result["rms"] <= 0.07 * result["spread"]
    assert len(result["eer_difference"]) == 3
    pairs = pl.all_pairs(np.random.default_rng(0).normal(size=(9, 6)))
    small, large = (pl.load(path).decision_function(pairs) for path in (out, model))
    assert np.corrcoef(small, large)[0, 1] > 0.99
    assert "do two examples belong together?" in call("info", out).output
    said = call("explain", out, made_people / "faces.parquet", "p00_0", "p00_1", "--id-column", "photo").output
    assert "by feature" in said


def test_what_it_says_and_refuses(made_people: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    model, faces = made_people / "model.safetensors", made_people / "faces.parquet"
    said = call("distil", model, faces, *COLUMNS, "--loss", 0, "--out", tmp_path / "exact.safetensors").output
    assert "s per 100,000 pairs" in " ".join(said.split())
    again = call("distil", model, faces, *COLUMNS, "--out", tmp_path / "exact.safetensors", code=1)
    assert "--force" in again.output
    wrong = call("distil", model, faces, *COLUMNS, "--dtype", "int8", "--out", tmp_path / "b.safetensors", code=1)
    assert "float32" in wrong.output


def test_a_small_model_answers_the_question_of_the_large_one(tmp_path: Path, call: Callable[..., Any]) -> None:
    X = np.random.default_rng(0).normal(size=(40, 4))
    rows = [f"x{k},{','.join(map(str, row))}" for k, row in enumerate(X)]
    (tmp_path / "things.csv").write_text("\n".join(["id,a,b,c,d", *rows]) + "\n")
    left, right = np.triu_indices(40, 1)
    sides = list(zip(left.tolist(), right.tolist(), strict=True))
    numbers = [f"x{a},x{b},{X[a, 0] * X[b, 0]}" for a, b in sides]
    (tmp_path / "numbers.csv").write_text("\n".join(["left,right,label", *numbers]) + "\n")
    games = [f"x{a},x{b}" if X[a, 0] > X[b, 0] else f"x{b},x{a}" for a, b in sides]
    (tmp_path / "games.csv").write_text("\n".join(["winner,loser", *games]) + "\n")
    things, number, order = (tmp_path / name for name in ("things.csv", "number.safetensors", "order.safetensors"))
    call("regress", things, tmp_path / "numbers.csv", "--base", "linear", "--folds", 0, "--out", number)
    call("rank", "fit", tmp_path / "games.csv", "--examples", things, "--folds", 0, "--out", order)
    for model in (number, order):
        call("distil", model, things, "--out", model.with_stem(f"small-{model.stem}"))
    scored = call("score", tmp_path / "small-number.safetensors", things, tmp_path / "numbers.csv", "--json")
    assert json.loads(scored.stdout)["task"] == "regression"
    small = tmp_path / "small-order.safetensors"
    told = call("rank", "predict", small, tmp_path / "games.csv", "--examples", things, "--json")
    assert json.loads(told.stdout)["task"] == "preference"
    names = "id,who,a,b,c,d"
    (tmp_path / "people.csv").write_text("\n".join([names, *(row.replace(",", ",p,", 1) for row in rows)]) + "\n")
    known = ("--class-column", "who", "--id-column", "id")
    refused = call("identify", small, tmp_path / "people.csv", things, *known, code=1)
    assert "which of two examples comes first" in refused.output
    ridge = tmp_path / "ridge.safetensors"
    same = [f"x{a},x{b},{1 if X[a, 0] * X[b, 0] > 0 else -1}" for a, b in sides]
    (tmp_path / "same.csv").write_text("\n".join(["left,right,label", *same]) + "\n")
    call("fit", things, tmp_path / "same.csv", "--machine", "ridge", "--base", "linear", "--out", ridge)
    call("distil", ridge, things, "--out", tmp_path / "small-ridge.safetensors")
    told = json.loads(call("info", tmp_path / "small-ridge.safetensors", "--json").stdout)
    assert told["answers"] == "do two examples belong together?"
    call("identify", tmp_path / "small-ridge.safetensors", tmp_path / "people.csv", things, *known)
