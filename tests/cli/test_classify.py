"""`pairlearn classify`: classes from a matrix of similarities or distances, or from features."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app


def run(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "160"})


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Distances of 40 points of two classes, by name, to the first 30 of them; the last ten are new."""
    rng = np.random.default_rng(0)
    kinds = np.array(["cat", "dog"] * 20)
    X = rng.normal(size=(40, 2)) + np.where(kinds == "dog", 4.0, 0.0)[:, None]
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    ids = [f"w{i}" for i in range(40)]
    frame = polars.DataFrame({"word": ids, "kind": kinds, **{ids[j]: D[:, j] for j in range(30)}})
    frame[:30].write_csv(tmp_path / "known.csv")
    frame[30:].select("word", "kind", *reversed(ids[:30])).write_csv(tmp_path / "new.csv")
    polars.DataFrame({"id": ids, "class": kinds, "x": X[:, 0], "y": X[:, 1]}).write_csv(tmp_path / "features.csv")
    return tmp_path


def test_distances_of_all_with_all_and_new_rows(words: Path) -> None:
    model, out = words / "c.safetensors", words / "told.csv"
    result = run("classify", "fit", words / "known.csv", "--class-column", "kind", "--out", model)
    assert result.exit_code == 0, result.output
    assert "holds distances, by its diagonal" in result.stderr
    for word in ("the nearest neighbour", "the largest class", "30 of 2 classes"):
        assert word in result.stdout
    told = run("classify", "predict", model, words / "new.csv", "--out", out)
    assert told.exit_code == 0, told.output
    frame = polars.read_csv(out)
    assert frame.columns == ["id", "prediction", "lead", "class"]
    assert (frame["prediction"] == frame["class"]).mean() >= 0.9
    assert (frame["lead"] >= 0).all()
    assert "holds classes of single examples" in run("evaluate", out).stderr


def test_a_column_of_a_matrix_is_no_suspect(words: Path) -> None:
    """Points in the order of a line: their distances to the first are whole, unique and rise like row numbers."""
    ids, place = [f"w{i}" for i in range(24)], np.arange(24)
    D = np.abs(place[:, None] - place)
    frame = polars.DataFrame({"id": ids, "class": ["low"] * 12 + ["high"] * 12, **dict(zip(ids, D.T, strict=True))})
    frame.write_csv(words / "line.csv")
    features = run("classify", "fit", words / "line.csv", "--similarity", "rbf", "--out", words / "f.safetensors")
    assert "would be learnt as a feature" in features.stderr
    result = run("classify", "fit", words / "line.csv", "--out", words / "c.safetensors", "--folds", 0)
    assert result.exit_code == 0, result.output
    assert run("classify", "predict", words / "c.safetensors", words / "line.csv").exit_code == 0


def test_a_named_similarity_of_features(words: Path) -> None:
    model = words / "c.safetensors"
    result = run("classify", "fit", words / "features.csv", "--similarity", "rbf", "--out", model, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["classes"] == {"cat": 20, "dog": 20}
    assert found["held_out"]["systems"]["model"]["accuracy"] > 0.9
    assert found["held_out"]["systems"]["the largest class"]["accuracy"] == pytest.approx(0.5, abs=0.1)


def test_nonsense_is_one_line(words: Path) -> None:
    model = words / "c.safetensors"
    new = polars.read_csv(words / "new.csv")
    new.select("word", "kind", *[f"w{j}" for j in range(10)]).write_csv(words / "square.csv")
    polars.read_csv(words / "known.csv").with_columns(kind=polars.lit("cat")).write_csv(words / "one.csv")
    cases = {
        ("fit", words / "one.csv", "--class-column", "kind"): "one class only, 'cat'",
        ("fit", words / "features.csv"): "40 rows and 2 columns of numbers",
        ("fit", words / "known.csv"): "kind",
        ("fit", words / "square.csv", "--class-column", "kind"): "but no row of this id",
        ("predict", words / "new.csv", words / "new.csv"): "new.csv",
    }
    for (step, *args), message in cases.items():
        out = () if step == "predict" else ("--out", model)
        result = run("classify", step, *args, *out)
        assert result.exit_code == 1
        last = result.stderr.splitlines()[-1]
        assert last.startswith("error: ")
        assert message in last
    assert not model.exists()
