"""`pairlearn score --stream`: the same table as at once; Ctrl-C and bad rows leave no half of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from pairlearn.cli.steps import scanning
from pairlearn.data import reading
from pairlearn.data.appending import TableWriter

KNOWN = ("--class-column", "person", "--id-column", "photo")
Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = reading.scan_pairs
    monkeypatch.setattr(scanning, "scan_pairs", lambda *args, **options: whole(*args, **options, rows=50))


@pytest.fixture
def table(people: Path) -> Path:
    """Pairs without labels."""
    polars.read_csv(people / "pairs.csv").drop("label").write_parquet(people / "pairs.parquet")
    return people / "pairs.parquet"


def files(folder: Path, start: str) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith((start, ".")))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_it_writes_the_table_of_the_whole(people: Path, table: Path, call: Call, ending: str) -> None:
    one, other = people / f"one.{ending}", people / f"other.{ending}"
    args = ("score", people / "model.safetensors", people / "train.csv", table, *KNOWN)
    call(*args, "--out", one)
    call(*args, "--stream", "--out", other)
    assert other.read_bytes() == one.read_bytes()
    record = json.loads((people / f"other.{ending}.run.json").read_text())
    assert record["result"]["pairs"] == len(polars.read_parquet(table)) > 100
    assert call(*args, "--stream", "--out", "-").stdout == call(*args).stdout


def test_decisions_by_other_pairs(people: Path, table: Path, call: Call) -> None:
    args = ("score", people / "model.safetensors", people / "train.csv", table, *KNOWN, "--fmr", "0.1")
    assert "--development" in call(*args, "--stream", code=1).stderr
    args = (*args, "--development", people / "pairs.csv")
    call(*args, "--stream", "--out", people / "one.csv")
    call(*args, "--out", people / "other.csv")
    assert (people / "one.csv").read_text() == (people / "other.csv").read_text()
    assert polars.read_csv(people / "one.csv").columns == ["left", "right", "score", "decision", "probability"]


def test_labels_are_written_as_they_stand(people: Path, call: Call) -> None:
    given = polars.read_csv(people / "pairs.csv", infer_schema=False).with_columns(
        label=polars.col("label").replace({"1": "same", "-1": "different"})
    )
    given.write_csv(people / "words.csv")
    said = call(
        "score", "euclid", people / "train.csv", people / "words.csv", *KNOWN, "--stream", "--out", people / "s.csv"
    )
    assert polars.read_csv(people / "s.csv")["label"].to_list() == given["label"].to_list()
    assert "EER" not in said.output


def test_large_tables_without_labels_are_streamed(
    people: Path, table: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    write = TableWriter.write
    monkeypatch.setattr(TableWriter, "write", lambda self, columns: (seen.append(1), write(self, columns))[1])
    args = ("score", "euclid", people / "train.csv")
    call(*args, table, *KNOWN, "--out", people / "a.csv")
    monkeypatch.setattr(scanning, "LARGE", 10)
    call(*args, people / "pairs.csv", *KNOWN, "--out", people / "b.csv")
    call(*args, table, *KNOWN, "--no-stream", "--out", people / "c.csv")
    call(*args, table, *KNOWN, "--out", people / "c.npz")
    assert not seen
    call(*args, table, *KNOWN, "--out", people / "d.csv")
    assert len(seen) > 2
    assert (people / "d.csv").read_text() == (people / "c.csv").read_text()


def test_ctrl_c_keeps_what_was_written_and_skip_goes_on(
    people: Path, table: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("score", "euclid", people / "train.csv", table, *KNOWN)
    call(*args, "--stream", "--out", people / "whole.csv")
    write = TableWriter.write

    def interrupted(self: TableWriter, columns: Any) -> None:
        if self.rows == 50:
            os.kill(os.getpid(), signal.SIGINT)
        write(self, columns)

    with monkeypatch.context() as patch:
        patch.setattr(TableWriter, "write", interrupted)
        said = call(*args, "--stream", "--out", people / "s.csv", code=130)
    assert "100 pairs are in" in said.stderr
    assert "--skip 100" in said.stderr
    assert files(people, "s.") == ["s.partial-0.csv", "s.partial-0.csv.run.json"]
    call(*args, "--skip", "100", "--out", people / "rest.csv")
    first, rest, whole = (polars.read_csv(people / f"{name}.csv") for name in ("s.partial-0", "rest", "whole"))
    assert polars.concat([first, rest]).equals(whole)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_bad_row_leaves_nothing(people: Path, table: Path, call: Call, ending: str) -> None:
    frame = polars.read_parquet(table)
    frame[120, "right"] = "nobody"
    frame.write_parquet(table)
    out = people / f"s.{ending}"
    said = call("score", "euclid", people / "train.csv", table, *KNOWN, "--stream", "--out", out, code=1)
    assert "(row 120)" in said.stderr
    assert "'nobody'" in said.stderr
    assert files(people, "s.") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--stream", "--json"), "both write to standard output"),
        (("--skip", "5", "--no-stream"), "--no-stream"),
        (("--stream", "--out", "s.npz"), "part by part"),
        (("--skip", "100000", "--out", "s.csv"), "no rows behind the first 100,000"),
    ],
)
def test_what_cannot_be(people: Path, table: Path, call: Call, words: tuple[str, ...], message: str) -> None:
    placed = [people / word if "." in word else word for word in words]
    said = call("score", "euclid", people / "train.csv", table, *KNOWN, *placed, code=1)
    assert message in said.stderr
    assert files(people, "s.") == []


@pytest.mark.skipif(os.name == "nt", reason="pipes")
@pytest.mark.parametrize("stream", [["--stream"], []], ids=["parts", "at once"])
def test_a_closed_pipe_ends_it_silently(people: Path, table: Path, stream: list[str]) -> None:
    """`pairlearn score … --out - | head`: whoever has enough of it is no error; a shell says 141 too."""
    words = ["score", "euclid", people / "train.csv", table, *KNOWN, *stream, "--out", "-"]
    command = [sys.executable, "-c", "from pairlearn.cli import main; main()", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    assert "error" not in said.lower()
