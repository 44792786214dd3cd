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
    assert "in less room and time" in call("info", out).output
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
