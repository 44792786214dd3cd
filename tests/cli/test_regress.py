"""`pairlearn regress`: a number per pair, of one table, of two, and of matrices."""

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


def run(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "160"})


def table(path: Path, ids: list[str], X: Any, names: list[str] | None = None) -> Path:
    columns = names or [f"x{j}" for j in range(X.shape[1])]
    polars.DataFrame({"id": ids, **{name: X[:, j] for j, name in enumerate(columns)}}).write_csv(path)
    return path


@pytest.fixture
def drugs(tmp_path: Path) -> dict[str, Any]:
    """12 drugs, 10 targets, and how strongly they bind: a product of features, so that means alone do not tell it."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(12, 2)), rng.normal(size=(10, 2))
    left, right = (index.ravel() for index in np.indices((12, 10)))
    names = [f"d{i}" for i in range(12)], [f"t{i}" for i in range(10)]
    y = (A[left] * B[right]).sum(axis=1) + 5.0
    pairs = polars.DataFrame({"left": [names[0][i] for i in left], "right": [names[1][i] for i in right], "label": y})
    pairs.write_csv(tmp_path / "pairs.csv")
    table(tmp_path / "drugs.csv", names[0], A)
    table(tmp_path / "targets.csv", names[1], B)
    return {"folder": tmp_path, "A": A, "B": B, "names": names, "left": left, "right": right, "y": y}


def test_two_tables_beat_means_and_score_speaks_of_numbers(drugs: dict[str, Any]) -> None:
    folder, model = drugs["folder"], drugs["folder"] / "m.safetensors"
    tables = (folder / "drugs.csv", folder / "pairs.csv", "--right-examples", folder / "targets.csv")
    result = run("regress", *tables, "--base", "linear", "--C", 10, "--epsilon", 0.01, "--out", model, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["held_out"]["verdict"]["relation"] == "better"
    assert found["mean"] == pytest.approx(drugs["y"].mean())
    scored = run("score", model, *tables, "--out", folder / "scores.csv")
    assert "the mean of the training" in scored.stdout
    for word in ("EER", "Euclid", "same"):
        assert word not in scored.output
    frame = polars.read_csv(folder / "scores.csv")
    assert frame.columns == ["left", "right", "prediction", "label"]
    error = float(np.sqrt(np.mean((frame["prediction"].to_numpy() - drugs["y"]) ** 2)))
    figures = json.loads(run("evaluate", folder / "scores.csv", "--json").stdout)
    assert figures["systems"]["scores"]["systems"]["scores"]["rmse"] == pytest.approx(error)


def test_matrices_by_the_names_of_their_columns(drugs: dict[str, Any]) -> None:
    """Columns in another order, in training and in scoring, change nothing."""
    folder, rng = drugs["folder"], np.random.default_rng(1)
    sides = {}
    for side, X, names in (("left", drugs["A"], drugs["names"][0]), ("right", drugs["B"], drugs["names"][1])):
        K, order = X @ X.T + 1e-9 * np.eye(len(X)), rng.permutation(len(X))
        sides[side] = table(folder / f"{side}.csv", names, K[:, order], [names[j] for j in order])
        table(folder / f"{side}_plain.csv", names, K, names)
    model, out = folder / "m.safetensors", folder / "scores.csv"
    told = ("--base", "precomputed", "--C", 10, "--epsilon", 0.01, "--folds", 0, "--tol", 1e-6)
    result = run("regress", sides["left"], folder / "pairs.csv", "--right-examples", sides["right"], *told, "-o", model)
    assert result.exit_code == 0, result.output
    plain = (folder / "left_plain.csv", folder / "pairs.csv", "--right-examples", folder / "right_plain.csv")
    assert run("score", model, *plain, "--out", out).exit_code == 0
    pairs = pl.Pairs(drugs["A"], drugs["left"], drugs["right"], right_examples=drugs["B"])
    expected = pl.PairSVR("tensor", "linear", 10.0, epsilon=0.01, tol=1e-6).fit(pairs, drugs["y"]).predict(pairs)
    np.testing.assert_allclose(polars.read_csv(out)["prediction"].to_numpy(), expected, atol=1e-3)


def test_a_large_matrix_gets_no_advice_for_python(tmp_path: Path) -> None:
    n = 220  # more than the sample whose eigenvalues are looked at
    names = [f"m{i}" for i in range(n)]
    table(tmp_path / "large.csv", names, np.eye(n), names)
    rows = "".join(f"m{i},m{i + 1},{i % 3}\n" for i in range(n - 1))
    (tmp_path / "pairs.csv").write_text("left,right,label\n" + rows)
    told = ("--base", "precomputed", "--folds", 0, "--out", tmp_path / "m.safetensors")
    result = run("regress", tmp_path / "large.csv", tmp_path / "pairs.csv", *told)
    assert result.exit_code == 0, result.output
    assert "not known to be positive semidefinite" in result.stderr
    assert "definite=True" not in result.stderr


@pytest.mark.parametrize("command", ["fit", "rank"])
def test_other_machines_take_matrices_by_name_too(tmp_path: Path, command: str) -> None:
    """A minimum is definite and rises like a row number; columns in another order are another matrix."""
    n, rng = 24, np.random.default_rng(2)
    names, order = [f"m{i}" for i in range(n)], rng.permutation(n)
    K = np.minimum.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1))
    table(tmp_path / "plain.csv", names, K, names)
    table(tmp_path / "turned.csv", names, K[:, order], [names[j] for j in order])
    left, right = rng.permutation([(i, j) for i in range(n) for j in range(i)])[:60].T
    labels = np.where(left + right > n, 1, -1) if command == "fit" else np.where(left > right, 1, -1)
    rows = [f"m{i},m{j},{y}\n" for i, j, y in zip(left, right, labels, strict=True)]
    (tmp_path / "pairs.csv").write_text("left,right,label\n" + "".join(rows))
    said = []
    for name in ("plain.csv", "turned.csv"):
        model, out, pairs = tmp_path / f"{name}.safetensors", tmp_path / f"said-{name}", tmp_path / "pairs.csv"
        fit = (
            ("fit", tmp_path / name, pairs)
            if command == "fit"
            else ("rank", "fit", pairs, "--folds", 0, "--examples", tmp_path / name)
        )
        result = run(*fit, "--base", "precomputed", "--out", model, "--tol", 1e-6)
        assert result.exit_code == 0, result.output
        assert run("score", model, tmp_path / "plain.csv", pairs, "--out", out).exit_code == 0
        said.append(polars.read_csv(out)["score" if command == "fit" else "advantage"].to_numpy())
    np.testing.assert_allclose(said[0], said[1], atol=1e-4)


def test_the_order_of_a_pair_is_what_the_kernel_says(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    ids = [f"e{i}" for i in range(30)]
    left, right = np.triu_indices(30, 1)
    gaps = X[left, 0] - X[right, 0]
    polars.DataFrame({"left": [ids[i] for i in left], "right": [ids[i] for i in right], "gap": gaps}).write_csv(
        tmp_path / "gaps.csv"
    )
    table(tmp_path / "x.csv", ids, X)
    told = ("--label-column", "gap", "--kernel", "difference", "--base", "linear", "--C", 10, "--unseen", "both")
    result = run("regress", tmp_path / "x.csv", tmp_path / "gaps.csv", *told, "--folds", 2, "-o", tmp_path / "m")
    assert result.exit_code == 0, result.output
    assert "g(b, a) = −g(a, b)" in result.stdout
    assert "pairs of two examples that were not learnt from" in result.stdout
    assert "better than" in result.stdout


@pytest.mark.parametrize(
    ("cells", "told", "words"),
    [
        ("7.5,low,3", (), ("line 3", "'low'", "one finite number per pair")),
        ("7.5,1,3", ("--unseen", "left"), ("--unseen left", "--right-examples")),
        ("7.5,1,3", ("--unseen", "new"), ("--unseen is one of none, left, right, both",)),
        ("7.5,1,3", ("--base", "precomputed"), ("3 rows and 1 column", "a row and a column for every example")),
        ("7.5,1,3", ("--kernel", "cubic"), ("cubic",)),
    ],
)
def test_nonsense_is_one_line(tmp_path: Path, cells: str, told: tuple[str, ...], words: tuple[str, ...]) -> None:
    table(tmp_path / "x.csv", ["a", "b", "c"], np.array([[1.5], [2.5], [0.5]]))
    rows = zip("abc", "bca", cells.split(","), strict=True)
    (tmp_path / "pairs.csv").write_text("\n".join(["left,right,label", *map(",".join, rows)]) + "\n")
    result = run("regress", tmp_path / "x.csv", tmp_path / "pairs.csv", *told, "-o", tmp_path / "m.safetensors")
    assert result.exit_code == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    for word in words:
        assert word in last
    assert not (tmp_path / "m.safetensors").exists()


# --------------------------------------------------------------------------- least squares


@pytest.mark.parametrize("unseen", ["none", "left", "both"])
def test_least_squares_choose_alpha_by_what_is_left_out(drugs: dict[str, Any], unseen: str) -> None:
    folder, model = drugs["folder"], drugs["folder"] / "m.safetensors"
    tables = (folder / "drugs.csv", folder / "pairs.csv", "--right-examples", folder / "targets.csv")
    told = ("--machine", "ridge", "--alpha", "auto", "--base", "linear", "--unseen", unseen)
    result = run("regress", *tables, *told, "--out", model, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    pairs = pl.Pairs(drugs["A"], drugs["left"], drugs["right"], right_examples=drugs["B"])
    setting: Any = "pair" if unseen == "none" else unseen
    expected = pl.PairRidge("tensor", "linear", "auto", unseen=setting).fit(pairs, drugs["y"])
    assert found["alpha"] == pytest.approx(expected.alpha_)
    assert (found["machine"], found["path"]) == ("PairRidge", "eigenbasis")
    assert found["held_out"]["verdict"]["relation"] == "better"
    np.testing.assert_allclose(pl.load(model).predict(pairs), expected.predict(pairs), atol=1e-6)
    assert "which number belongs to a pair?" in run("info", model).stdout


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (("--machine", "lasso"), "--machine is one of svr, ridge"),
        (("--machine", "ridge", "--alpha", "best"), "--alpha is a number > 0 or auto, got 'best'"),
        (("--machine", "ridge", "--alpha", "-1"), "alpha must be a finite number > 0"),
        (("--machine", "ridge", "--kernel", "direct_sum", "--alpha", "auto"), "takes all pairs of two tables"),
    ],
)
def test_bad_options_of_least_squares(drugs: dict[str, Any], told: tuple[str, ...], words: str) -> None:
    folder = drugs["folder"]
    tables = (folder / "drugs.csv", folder / "pairs.csv", "--right-examples", folder / "targets.csv")
    result = run("regress", *tables, *told, "--out", folder / "m.safetensors")
    assert result.exit_code != 0
    assert words in " ".join(result.output.split())


def test_least_squares_of_labels_tell_pairs_apart(drugs: dict[str, Any]) -> None:
    """`fit --machine ridge` learns ±1, and `score` then speaks of error rates and not of numbers."""
    folder, model = drugs["folder"], drugs["folder"] / "m.safetensors"
    labels = np.where(drugs["y"] > 5.0, 1, -1)
    frame = polars.read_csv(folder / "pairs.csv").with_columns(label=polars.Series(labels))
    frame.write_csv(folder / "binds.csv")
    tables = (folder / "drugs.csv", folder / "binds.csv", "--right-examples", folder / "targets.csv")
    result = run("fit", *tables, "--machine", "ridge", "--alpha", "auto", "--base", "rbf", "--out", model, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["training"]["eer"]["model"] < 0.2
    scored = run("score", model, *tables, "--out", folder / "scores.csv")
    assert "EER" in scored.stdout
    pairs = pl.Pairs(drugs["A"], drugs["left"], drugs["right"], right_examples=drugs["B"])
    machine = pl.PairRidge("tensor", "rbf", found["alpha"]).fit(pairs, labels)
    assert machine.binary_
    np.testing.assert_allclose(
        polars.read_csv(folder / "scores.csv")["score"].to_numpy(), machine.decision_function(pairs), atol=1e-3
    )
