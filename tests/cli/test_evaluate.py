"""`pairlearn evaluate`: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import pairlearn as pl
from pairlearn.cli.app import app
from pairlearn.evaluation import Scores, equal_error_rate
from pairlearn.report.png import data_uri, png
from pairlearn.report.tables import read_scores


def run(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "160"})


def one_line(result: Any, *words: str) -> None:
    assert (result.exit_code, result.stdout) == (1, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    for word in words:
        assert word in last


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """faces.csv with people, and scores.csv and other.csv, which holds the same pairs in reverse."""
    X, person = pl.data.double_interval(n_classes=12, epcr=4, n=40, seed=0)
    ids = [f"face{i}" for i in range(len(X))]
    names = [f"p{k}" for k in person]
    frame = polars.DataFrame({"id": ids, "person": names, **{f"x{t}": X[:, t] for t in range(X.shape[1])}})
    frame.write_csv(tmp_path / "faces.csv")
    pairs = pl.all_pairs(X, reflexive=False)
    labels = pairs.labels(person)
    rng = np.random.default_rng(0)
    table = {
        "left": [ids[i] for i in pairs.left],
        "right": [ids[i] for i in pairs.right],
        "score": 2.0 * (labels > 0) + rng.normal(size=len(pairs)),
        "label": labels,
    }
    polars.DataFrame(table).write_csv(tmp_path / "scores.csv")
    other = polars.DataFrame(table | {"score": (labels > 0) + rng.normal(size=len(pairs))})
    other.reverse().write_parquet(tmp_path / "other.parquet")
    return tmp_path


def scores_of(path: Path) -> Scores:
    frame = polars.read_csv(path)
    return Scores(frame["score"].to_numpy(), frame["label"].to_numpy())


def test_help_and_a_plain_run(files: Path) -> None:
    assert "Example: pairlearn evaluate" in run("evaluate", "--help").output
    result = run("evaluate", files / "scores.csv")
    assert result.exit_code == 0
    for word in ("72 same and 1,056 different pairs", "EER", "FMR ≤ 1 %", "not measurable", "identities are unknown"):
        assert word in result.stdout
    assert f"{100 * equal_error_rate(scores_of(files / 'scores.csv')):.2f} %" in result.stdout


def test_examples_bring_identities_and_baselines(files: Path) -> None:
    outputs = ("--report", files / "r.html", "--csv", files / "r.csv", "--markdown", files / "r.md")
    faces = ("--examples", files / "faces.csv", "--class-column", "person")
    result = run(
        "evaluate", f"mine={files / 'scores.csv'}", *faces, *outputs, "--json", "--cost", "10,1", "--task", "t"
    )
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert [(system["name"], system["baseline"], system["unit"]) for system in record["systems"]] == [
        ("mine", False, "identity"),
        ("Euclid", True, "identity"),
        ("cosine", True, "identity"),
    ]
    assert record["systems"][0]["eer"]["value"] == equal_error_rate(scores_of(files / "scores.csv"))
    assert record["systems"][0]["counts"]["identities"] == 12
    assert {row["baseline"] for row in record["differences"]} == {"cosine", "Euclid"}
    assert "few_identities" in {warning["code"] for warning in record["warnings"]}
    assert "mine: EER" in result.stderr
    assert "untrained" in (files / "r.html").read_text()
    assert (files / "r.md").read_text().startswith("# Evaluation of mine")
    assert (files / "r.csv").read_text().startswith("system,baseline,group,measure")
    alone = run("evaluate", files / "scores.csv", *faces, "--no-baselines", "--json")
    assert len(json.loads(alone.stdout)["systems"]) == 1


def test_two_systems_in_any_order_of_pairs(files: Path) -> None:
    arguments = (
        "evaluate",
        files / "scores.csv",
        f"b={files / 'other.parquet'}",
        "--threshold",
        "b=0.5",
        "--fmr",
        0.05,
    )
    record = json.loads(run(*arguments, "--json").stdout)
    assert "other_pairs" not in {warning["code"] for warning in record["warnings"]}
    first, second = record["systems"]
    assert [point["kind"] for point in first["points"]] == ["eer", "fmr"]
    assert second["points"][0]["threshold"] == 0.5


def test_labels_groups_identities_and_reflexive_pairs(files: Path) -> None:
    frame = polars.read_csv(files / "scores.csv")
    n = len(frame)
    spelled = ["same" if label > 0 else "different" for label in frame["label"]]
    spelled[5], spelled[6] = "", "NA"
    frame = frame.with_columns(
        polars.Series("label", spelled),
        polars.Series("group", ["a", "b"] * (n // 2)),
        polars.Series("left_identity", np.arange(n) % 40),
        polars.Series("right_identity", np.arange(n) % 37),
        polars.when(polars.arange(n) == 0).then(polars.col("left")).otherwise(polars.col("right")).alias("right"),
    )
    frame.write_csv(files / "rich.csv")
    record = json.loads(run("evaluate", files / "rich.csv", "--json").stdout)
    system, told = record["systems"][0], {warning["code"]: warning["text"] for warning in record["warnings"]}
    assert told["note"] == "rich: 2 pairs without a label are left out"
    assert "reflexive" in told
    assert system["counts"]["pairs"] == n - 3
    assert [row["group"] for row in system["groups"]] == ["a", "b"]
    zero = frame.with_columns(polars.Series("label", [0] + [1, -1] * ((n - 2) // 2) + [1]))
    zero.write_csv(files / "zero.csv")
    record = json.loads(run("evaluate", files / "zero.csv", "--json").stdout)
    assert record["warnings"][0]["text"] == "zero: 1 pair without a label is left out"


def test_training_data_is_compared(files: Path) -> None:
    faces = ("--examples", files / "faces.csv", "--class-column", "person", "--json")
    pairs = polars.read_csv(files / "scores.csv").head(3)
    pairs.write_csv(files / "train.csv")
    found = json.loads(run("evaluate", files / "scores.csv", *faces, "--train", files / "train.csv").stdout)
    told = {warning["code"]: warning["text"] for warning in found["warnings"]}
    assert told["shared_examples"].startswith("4 of 48 examples")
    assert told["shared_identities"].startswith("1 of 12 identities")
    table = polars.read_csv(files / "faces.csv")
    table.head(8).with_columns(polars.Series("id", range(8))).write_csv(files / "trained.csv")
    found = json.loads(run("evaluate", files / "scores.csv", *faces, "--train", files / "trained.csv").stdout)
    told = {warning["code"]: warning["text"] for warning in found["warnings"]}
    assert told["shared_examples"].startswith("8 of 48 examples")
    assert told["shared_identities"].startswith("2 of 12 identities")
    fresh = table.with_columns(polars.col("person") + "x", *(polars.col(name) + 9 for name in table.columns[2:]))
    fresh.write_csv(files / "fresh.csv")
    found = json.loads(run("evaluate", files / "scores.csv", *faces, "--train", files / "fresh.csv").stdout)
    assert not {"shared_examples", "shared_identities"} & {warning["code"] for warning in found["warnings"]}


def test_training_data_is_compared_whatever_the_order_of_columns(files: Path) -> None:
    faces = ("--examples", files / "faces.csv", "--class-column", "person", "--json")
    table = polars.read_csv(files / "faces.csv")
    table.head(8).select("id", "person", *reversed(table.columns[2:])).write_csv(files / "turned.csv")
    found = json.loads(run("evaluate", files / "scores.csv", *faces, "--train", files / "turned.csv").stdout)
    told = {warning["code"]: warning["text"] for warning in found["warnings"]}
    assert told["shared_examples"].startswith("8 of 48 examples")


def test_hostile_names_do_not_steer_the_terminal(files: Path) -> None:
    name = "[bold]x[/nope]\x1b[31m<b>\udce9"  # the last one stands for a byte that is no UTF-8
    result = run("evaluate", f"{name}={files / 'scores.csv'}", "--report", files / "r.html", "--csv", files / "r.csv")
    assert result.exit_code == 0
    assert "[bold]x[/nope]\N{REPLACEMENT CHARACTER}[31m<b>" in result.stdout
    assert "\x1b[31m<b>" not in result.stdout
    assert "[31m&lt;b&gt;" in (files / "r.html").read_text()
    assert "[31m<b>" not in (files / "r.html").read_text()


def test_a_missing_extra_is_explained(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    one_line(run("evaluate", files / "scores.csv", "--report", files / "r.html"), "pip install 'pairlearn[report]'")
    assert run("evaluate", files / "scores.csv", "--csv", files / "r.csv").exit_code == 0


def test_bad_input_is_one_line(files: Path) -> None:
    scores = files / "scores.csv"
    one_line(run("evaluate", files / "no.csv"), "there is no file")
    one_line(run("evaluate", scores, scores), "two systems are called 'scores'")
    one_line(run("evaluate", files / "faces.csv"), "no column 'score'")
    one_line(run("evaluate", scores, "--label-column", "truth"), "no column 'truth'")
    one_line(run("evaluate", scores, "--threshold", "high"), "NAME=NUMBER")
    one_line(run("evaluate", scores, "--threshold", "b=1"), "the systems are 'scores'")
    one_line(run("evaluate", scores, "--cost", "a,b"), "10,1,0.5")
    one_line(run("evaluate", scores, "--fmr", 2), "between 0 and 1")
    one_line(run("evaluate", scores, "--report", files / "no" / "r.html"), "no directory")
    one_line(run("evaluate", scores, "--train", files / "no.csv"), "there is no file")
    for content, words in {
        "score,label\n1,1\nx,-1\n": ("line 3", "'x'", "not a finite number"),
        "score,label\n1,1\n2,maybe\n": ("labels are 1/-1",),
        "score,label\n1,\n2,\n": ("no pair has a label",),
        "score,label\n1,1\n2,1\n": ("positive and negative",),
        "score,label,left\n1,1,a\n2,-1,b\n": ("belong together",),
        "score,label,left,right\n1,1,a,b\n2,-1,b,\n": ("line 3", "'right' is empty"),
    }.items():
        (files / "bad.csv").write_text(content)
        one_line(run("evaluate", files / "bad.csv"), *words)
    (files / "bare.csv").write_text("score,label\n1,1\n2,-1\n")
    one_line(
        run("evaluate", files / "bare.csv", "--examples", files / "faces.csv", "--class-column", "person"), "add ids"
    )


# --------------------------------------------------------------------------- pictures


def worst_of(record: dict[str, Any]) -> list[str]:
    rows = [row for errors in record["systems"][0]["worst"].values() for row in errors]
    return sorted({row[side] for row in rows for side in ("left", "right")})


def test_pictures_of_the_worst_errors_are_on_the_page(files: Path) -> None:
    page, folder = files / "r.html", files / "images"
    folder.mkdir()
    command = ("evaluate", files / "scores.csv", "--report", page, "--json", "--force")
    first, second, third, *others = worst_of(json.loads(run(*command).stdout))
    assert "<img" not in page.read_text()
    (folder / f"{first}.png").write_bytes(png(np.eye(3)))
    (folder / f"{second}.jpg").write_bytes(b"GIF89a")
    (files / "outside.png").write_bytes(png(np.eye(5)))
    (folder / f"{third}.png").symlink_to(files / "outside.png")
    never = "not among the worst"
    (folder / f"{never}.png").write_bytes(png(np.eye(7)))
    record = json.loads(run(*command, "--images", folder).stdout)
    html = page.read_text()
    assert f'<img src="{data_uri(png(np.eye(3)))}"' in html
    assert data_uri(png(np.eye(5))) not in html
    assert data_uri(png(np.eye(7))) not in html
    told = [warning["text"] for warning in record["warnings"] if warning["code"] == "pictures"]
    total = len(others) + 3
    assert any(f"{len(others)} of {total} examples of the worst errors have no file" in text for text in told)
    assert any(f"1 of {total} " in text and "neither PNG nor JPEG" in text for text in told)
    assert any(f"1 of {total} " in text and "leads out of the folder" in text for text in told)


def test_hostile_ids_find_no_pictures(files: Path) -> None:
    folder = files / "images"
    folder.mkdir()
    (files / "x.png").write_bytes(png(np.eye(3)))
    frame = polars.read_csv(files / "scores.csv")
    replaced = polars.when(polars.col("left") == "face0")
    for hostile in ("../x", str(files / "x"), "a/../../x.png"):
        changed = frame.with_columns(replaced.then(polars.lit(hostile)).otherwise(polars.col("left")).alias("left"))
        top = changed.with_columns(
            polars.when(polars.col("left") == hostile).then(99 - 200 * (polars.col("label") > 0))
            .otherwise(polars.col("score")).alias("score")
        )  # fmt: skip
        top.write_parquet(files / "hostile.parquet")
        page = ("--report", files / "r.html", "--force")
        result = run("evaluate", files / "hostile.parquet", *page, "--images", folder, "--json")
        assert "<img" not in (files / "r.html").read_text()
        record = json.loads(result.stdout)
        assert hostile in worst_of(record)
        assert any("leads out of the folder" in warning["text"] for warning in record["warnings"])


def test_images_need_a_page_and_a_folder(files: Path) -> None:
    one_line(run("evaluate", files / "scores.csv", "--images", files), "can take effect only with --report")
    one_line(run("evaluate", files / "scores.csv", "--images", files / "no", "--report", files / "r.html"), "no folder")


# --------------------------------------------------------------------------- tables of scores


def test_ids_of_any_type_are_read_as_text(files: Path) -> None:
    frame = polars.read_csv(files / "scores.csv")
    numbers = {
        name: polars.col(name).str.strip_prefix("face").cast(kind)
        for kind in (polars.Int16, polars.Float64)
        for name in ("left", "right")
    }
    frame.with_columns(**numbers).write_parquet(files / "numbers.parquet")
    spaced = frame.with_columns((" " + polars.col("right").str.strip_prefix("face") + "\t").alias("right"))
    spaced.with_columns(polars.col("left").str.strip_prefix("face")).write_csv(files / "spaced.csv")
    for name in ("numbers.parquet", "spaced.csv"):
        table = read_scores(files / name)
        assert table.names["examples"] == sorted(str(i) for i in range(48))
        for side in ("left", "right"):
            names = [table.names["examples"][code] for code in getattr(table.scores, side)]
            assert names == [cell.removeprefix("face") for cell in frame[side]]


def test_names_of_unlabelled_pairs_are_left_out(files: Path) -> None:
    (files / "part.csv").write_text("score,label,left,right\n1,1,b,c\n2,,a,z\n0,-1,c,d\n")
    table = read_scores(files / "part.csv")
    assert table.names == {"examples": ["b", "c", "d"]}
    assert table.scores.left is not None
    assert table.scores.left.tolist() == [0, 1]


def test_empty_ids_are_refused_in_parquet_too(files: Path) -> None:
    for kind, cells in ((polars.Float64, [1.0, float("nan")]), (polars.String, ["a", "  "]), (polars.Int8, [1, None])):
        bad = polars.DataFrame({"score": [1.0, 2.0], "label": [1, -1], "left": polars.Series(cells, dtype=kind)})
        bad.with_columns(right=polars.Series(["a", "b"])).write_parquet(files / "bad.parquet")
        one_line(run("evaluate", files / "bad.parquet"), "row 1", "'left' is empty")


# --------------------------------------------------------------------------- progress


def test_a_terminal_shows_what_is_being_done_and_a_pipe_does_not(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("evaluate", files / "scores.csv", "--report", files / "r.html", "--json", "--force")
    silent = run(*command)
    assert f"writing {files / 'r.html'}" not in silent.output
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    shown = run(*command)
    assert json.loads(shown.stdout) == json.loads(silent.stdout)
    assert f"writing {files / 'r.html'} …" in shown.stderr


def test_a_wide_terminal_shows_cllr(files: Path) -> None:
    record = json.loads(run("evaluate", files / "scores.csv", "--json").stdout)
    wide = run("evaluate", files / "scores.csv").stdout
    assert f"{record['systems'][0]['min_cllr']['value']:.4f}" in wide
    assert "calibrated" in wide
    narrow = CliRunner().invoke(app, ["evaluate", str(files / "scores.csv")], env={"COLUMNS": "80"})
    assert "Cllr" not in narrow.stdout


def test_scores_from_standard_input(files: Path) -> None:
    content = (files / "scores.csv").read_bytes()
    piped = CliRunner().invoke(app, ["evaluate", "-", "--json"], input=content)
    assert piped.exit_code == 0, piped.output
    eer = json.loads(piped.stdout)["systems"][0]["eer"]["value"]
    assert eer == equal_error_rate(scores_of(files / "scores.csv"))
