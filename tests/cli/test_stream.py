"""`pairlearn stream` against the same learning in Python."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.cli.app import run as main
from pairlearn.cli.run import read_about
from pairlearn.cli.steps.streaming import Tally
from pairlearn.data.files import lines as files
from pairlearn.data.files.passing import Lenient
from pairlearn.evaluation import verdict

LISTENING = """
import signal  # a process started in the background may ignore Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)
from pairlearn.cli import main
main()
"""


def pairs(n: int = 120, seed: int = 0) -> list[dict[str, Any]]:
    """Pairs that are similar when their first numbers are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2, 3)) / 2
    labels = np.where(np.abs(X[:, 0, 0] - X[:, 1, 0]) < 0.5, 1, -1)
    return [{"left": a.tolist(), "right": b.tolist(), "label": int(y)} for (a, b), y in zip(X, labels, strict=True)]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def by_hand(lines: list[dict[str, Any]]) -> tuple[Any, list[float]]:
    """The metric, and the scores before each pair was learnt."""
    metric, scores = pl.OnlinePseudoMetric(), []
    for line in lines:
        pair = pl.Pairs(np.array([line["left"], line["right"]]), [0], [1])
        scores.append(float(metric.decision_function(pair)[0]) if hasattr(metric, "state_") else 1.0)
        metric.partial_fit(pair, [line["label"]])
    return metric, scores


def test_predicts_before_it_learns_and_writes_what_it_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = pairs()
    source, model, out = write(tmp_path / "pairs.jsonl", lines), tmp_path / "m.safetensors", tmp_path / "said.csv"
    assert main(["stream", str(source), "--model", str(model), "--out", str(out), "--every", "50", "--json"]) == 0
    metric, scores = by_hand(lines)
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["score"]) for row in rows] == scores
    assert [int(row["label"]) for row in rows] == [line["label"] for line in lines]
    assert np.array_equal(pl.load(model).mahalanobis_matrix_, metric.mahalanobis_matrix_)
    printed = capsys.readouterr()
    record = json.loads(printed.out)
    wrong = sum((score > 0) != (line["label"] > 0) for score, line in zip(scores, lines, strict=True))
    assert (record["pairs"], record["mistakes"], record["stopped_by"]) == (120, wrong, "end of the stream")
    labels = [line["label"] for line in lines]
    assert record["eer"]["metric"] == pytest.approx(pl.equal_error_rate(pl.Scores(scores, labels)))
    euclid = [-np.linalg.norm(np.subtract(line["left"], line["right"])) for line in lines]
    told = verdict(pl.Scores(scores, labels), {"Euclid": pl.Scores(euclid, labels)})
    assert record["verdict"]["relation"] == told.relation
    assert f"verdict: {told.words}" in printed.err
    assert "120 pairs, taken for independent" in told.words
    assert "50 pairs" in printed.err


def test_a_run_in_two_parts_is_the_run_in_one(tmp_path: Path) -> None:
    lines = pairs()
    source, whole, parts = (tmp_path / name for name in ("pairs.jsonl", "whole.safetensors", "parts.safetensors"))
    write(source, lines)
    assert main(["stream", str(source), "--model", str(whole)]) == 0
    write(tmp_path / "first.jsonl", lines[:70])
    out = tmp_path / "said.csv"
    assert main(["stream", str(tmp_path / "first.jsonl"), "--model", str(parts), "--out", str(out)]) == 0
    assert main(["stream", str(source), "--model", str(parts), "--skip", "70", "--out", str(out)]) == 0
    one, other = pl.load(whole), pl.load(parts)
    assert np.array_equal(one.state_.matrix, other.state_.matrix)
    assert one.state_.loss == other.state_.loss
    assert [row.split(",")[0] for row in out.read_text().splitlines()] == ["line", *map(str, range(1, 121))]


def test_ids_of_a_table_and_pairs_without_a_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = pairs(6)
    header = "id,x,y,z\n"
    rows = [
        f"{side}{k}," + ",".join(map(repr, line[name]))
        for k, line in enumerate(lines)
        for side, name in (("a", "left"), ("b", "right"))
    ]
    (tmp_path / "rows.csv").write_text(header + "\n".join(rows) + "\n")
    labels = ["same" if line["label"] > 0 else "different" for line in lines]
    labels[3] = ""
    body = "".join(f"a{k},b{k},{label}\n" for k, label in enumerate(labels))
    (tmp_path / "pairs.csv").write_text("left,right,label\n" + body)
    model, out = tmp_path / "m.safetensors", tmp_path / "said.csv"
    code = main(
        [
            "stream",
            str(tmp_path / "pairs.csv"),
            "--examples",
            str(tmp_path / "rows.csv"),
            "-m",
            str(model),
            "-o",
            str(out),
            "--json",
        ]
    )
    assert code == 0
    metric, _ = by_hand(lines[:3] + lines[4:])
    np.testing.assert_array_equal(pl.load(model).mahalanobis_matrix_, metric.mahalanobis_matrix_)
    assert out.read_text().splitlines()[4].endswith(",")
    assert json.loads(capsys.readouterr().out)["pairs"] == 5


def test_columns_in_another_order_are_learnt_on(tmp_path: Path) -> None:
    lines, names = pairs(60), ["x", "y", "z"]
    sides = [(f"{side[0]}{k}", line[side]) for k, line in enumerate(lines) for side in ("left", "right")]
    for path, order in (("rows.csv", [0, 1, 2]), ("turned.csv", [2, 0, 1])):
        header = ",".join(["id", *(names[t] for t in order)])
        rows = [",".join([key, *(repr(values[t]) for t in order)]) for key, values in sides]
        (tmp_path / path).write_text("\n".join([header, *rows]) + "\n")
    body = [f"l{k},r{k},{line['label']}" for k, line in enumerate(lines)]
    source, model = tmp_path / "pairs.csv", tmp_path / "m.safetensors"
    common = ["stream", str(source), "--model", str(model), "--examples"]
    source.write_text("\n".join(["left,right,label", *body[:40]]) + "\n")
    assert main([*common, str(tmp_path / "rows.csv")]) == 0
    source.write_text("\n".join(["left,right,label", *body]) + "\n")
    assert main([*common, str(tmp_path / "turned.csv"), "--skip", "40"]) == 0
    np.testing.assert_array_equal(pl.load(model).mahalanobis_matrix_, by_hand(lines)[0].mahalanobis_matrix_)


def test_a_stream_may_begin_without_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was learnt yet, so there is neither a rate to show nor a metric to save."""
    lines = pairs(8)
    unlabelled = [{**line, "label": None} for line in lines[:4]]
    source, model = write(tmp_path / "pairs.jsonl", unlabelled + lines[4:]), tmp_path / "m.safetensors"
    options = ("--model", str(model), "--every", "2", "--save-every", "2", "--json")
    assert main(["stream", str(source), *options]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["pairs"] == 4
    assert printed.err.count(" updates ") == 2  # after the second and the fourth labelled pair, once each
    assert np.array_equal(pl.load(model).mahalanobis_matrix_, by_hand(lines[4:])[0].mahalanobis_matrix_)
    assert main(["stream", str(write(tmp_path / "none.jsonl", unlabelled))]) == 0
    assert "no labelled pair was read" in capsys.readouterr().out


def test_standard_input_and_ctrl_c_leave_a_metric_to_go_on_with(tmp_path: Path) -> None:
    lines, model = pairs(), tmp_path / "m.safetensors"
    command = [
        sys.executable,
        "-c",
        LISTENING,
        "stream",
        "-",
        "--model",
        str(model),
        "--every",
        "30",
        "--json",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdin is not None
    assert process.stderr is not None
    for line in lines[:60]:
        process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    seen = ""
    deadline = time.monotonic() + 120
    while "60 pairs" not in seen and time.monotonic() < deadline:
        seen += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    record = json.loads(out)
    assert (record["stopped_by"], record["last_line"]) == ("Ctrl-C", 60)
    assert "--skip 60" in err
    metric, _ = by_hand(lines[:60])
    assert np.array_equal(pl.load(model).mahalanobis_matrix_, metric.mahalanobis_matrix_)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"left": [1, 2], "right": [1, 2, 3], "label": 1}', "2 and 3 numbers"),
        ('{"left": [1, 2, 3], "right": [1, 2, 1e200], "label": 1}', "too large to compare"),
        ('{"left": [1, 2, -1e71], "right": [1, 2, 3], "label": null}', "too large to compare"),
        ('{"left": [1, 2, 3], "right": [1, 2, "x"], "label": 1}', "finite numbers"),
        ('{"left": [1, 2, 3], "right": [1, 2, NaN], "label": 1}', "finite numbers"),
        ('{"left": [1, 2, 3], "right": [1, 2, 3], "label": 7}', "label is 7"),
        ('{"left": [1, 2, 3]}', "not an object such as"),
        ("a,b,1", "not an object such as"),
        ('{"left": [1, 2], "right": [1, 2], "label": 1}', "rows of 3 numbers"),
    ],
)
def test_a_bad_line_is_named_and_what_was_learnt_is_kept(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = pairs(9)
    source, model = write(tmp_path / "pairs.jsonl", good), tmp_path / "m.safetensors"
    source.write_text(source.read_text() + line + "\n")
    assert main(["stream", str(source), "--model", str(model)]) == 1
    told = capsys.readouterr().err
    assert message in told
    assert f"error: {source}, pair 10" in told
    metric, _ = by_hand(good)
    assert np.array_equal(pl.load(model).mahalanobis_matrix_, metric.mahalanobis_matrix_)


def test_other_models_and_missing_columns_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "pairs.jsonl", pairs(3))
    pl.save(pl.EuclidBaseline(), tmp_path / "e.safetensors")
    assert main(["stream", str(source), "--model", str(tmp_path / "e.safetensors")]) == 1
    assert "not a metric" in capsys.readouterr().err
    (tmp_path / "rows.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "pairs.csv").write_text("one,two\na,b\n")
    assert main(["stream", str(tmp_path / "pairs.csv"), "--examples", str(tmp_path / "rows.csv")]) == 1
    assert "no column 'left'" in capsys.readouterr().err
    (tmp_path / "pairs.csv").write_text("left,right,label\na,c,1\n")
    assert main(["stream", str(tmp_path / "pairs.csv"), "--examples", str(tmp_path / "rows.csv")]) == 1
    assert "no example 'c'" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("label", [1, -1])
def test_the_largest_numbers_that_are_taken_leave_a_finite_metric(tmp_path: Path, label: int) -> None:
    large = {"left": [1e70, -1e70, 1e70], "right": [-1e70, 1e70, -1e70], "label": label}
    lines = [*pairs(9), large, *pairs(9, seed=1), large]
    model = tmp_path / "m.safetensors"
    assert main(["stream", str(write(tmp_path / "pairs.jsonl", lines)), "--model", str(model)]) == 0
    assert np.isfinite(pl.load(model).mahalanobis_matrix_).all()


def test_predictions_on_standard_output_have_it_to_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = pairs(20)
    source = write(tmp_path / "pairs.jsonl", lines)
    assert main(["stream", str(source), "--out", "-"]) == 0
    printed = capsys.readouterr()
    assert [float(row["score"]) for row in csv.DictReader(printed.out.splitlines())] == by_hand(lines)[1]
    assert "20 labelled pairs" in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.jsonl"]
    assert main(["stream", str(source), "--out", "-", "--json"]) == 1
    assert "--json and --out -" in capsys.readouterr().err


@pytest.mark.parametrize(("skip", "code"), [(9, 0), (10, 1)])
def test_nothing_to_learn_leaves_the_model_file_alone(
    skip: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, model = write(tmp_path / "pairs.jsonl", pairs(9)), tmp_path / "m.safetensors"
    assert main(["stream", str(source), "--model", str(model)]) == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert main(["stream", str(source), "--model", str(model), "--skip", str(skip)]) == code
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    printed = capsys.readouterr()
    assert "metric written" not in printed.err
    assert (f"{source} holds 9 pairs, fewer than --skip 10" in printed.err) == (code == 1)


@pytest.mark.parametrize(("label", "kind"), [(1, "similar"), (-1, "dissimilar")])
def test_one_kind_of_pairs_is_told(label: int, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{**line, "label": label} for line in pairs(5)]
    assert main(["stream", str(write(tmp_path / "pairs.jsonl", lines))]) == 0
    assert f"all of them are {kind}:" in capsys.readouterr().out


def test_lines_of_numbers_leave_the_names_of_columns_known(tmp_path: Path) -> None:
    lines, names, model = pairs(60), ["x", "y", "z"], tmp_path / "m.safetensors"
    sides = [(f"{side[0]}{k}", line[side]) for k, line in enumerate(lines) for side in ("left", "right")]
    for path, order in (("rows.csv", [0, 1, 2]), ("turned.csv", [2, 0, 1])):
        header = ",".join(["id", *(names[t] for t in order)])
        rows = [",".join([key, *(repr(values[t]) for t in order)]) for key, values in sides]
        (tmp_path / path).write_text("\n".join([header, *rows]) + "\n")
    source = tmp_path / "pairs.csv"

    def ids(some: slice) -> Path:
        body = [f"l{k},r{k},{lines[k]['label']}" for k in range(60)[some]]
        source.write_text("\n".join(["left,right,label", *body]) + "\n")
        return source

    common = ["--model", str(model)]
    assert main(["stream", str(ids(slice(0, 20))), *common, "--examples", str(tmp_path / "rows.csv")]) == 0
    assert main(["stream", str(write(tmp_path / "pairs.jsonl", lines[20:40])), *common]) == 0
    layout = read_about(model)["inputs"]["examples"]["layout"]
    assert layout["columns"] == names
    assert main(["stream", str(ids(slice(40, 60))), *common, "--examples", str(tmp_path / "turned.csv")]) == 0
    np.testing.assert_array_equal(pl.load(model).mahalanobis_matrix_, by_hand(lines)[0].mahalanobis_matrix_)


def table_of(lines: list[dict[str, Any]], folder: Path) -> tuple[str, ...]:
    """Pairs as a CSV of ids with a table of examples: the arguments of a stream."""
    sides = [(f"{side[0]}{k}", line[side]) for k, line in enumerate(lines) for side in ("left", "right")]
    rows = [",".join([key, *map(repr, values)]) for key, values in sides]
    (folder / "rows.csv").write_text("\n".join(["id,x,y,z", *rows]) + "\n")
    body = [f"l{k},r{k},{line['label']}" for k, line in enumerate(lines)]
    (folder / "pairs.csv").write_text("\n".join(["left,right,label", *body]) + "\n")
    return str(folder / "pairs.csv"), "--examples", str(folder / "rows.csv")


# --------------------------------------------------------------------------- labels in blocks


def test_labels_in_blocks_are_told_and_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = pairs()
    blocks = sorted(lines, key=lambda line: -line["label"])
    assert main(["stream", str(write(tmp_path / "blocks.jsonl", blocks)), "--json"]) == 0
    printed = capsys.readouterr()
    record = json.loads(printed.out)
    assert (record["labels_in_blocks"], record["verdict"]) == (True, None)
    assert "better than" not in printed.err
    assert "warning: no verdict: labels come in blocks" in printed.err
    assert "Shuffle the table" in printed.err
    assert main(["stream", str(write(tmp_path / "mixed.jsonl", lines)), "--json"]) == 0
    printed = capsys.readouterr()
    record = json.loads(printed.out)
    assert record["labels_in_blocks"] is False
    assert record["verdict"] is not None
    assert "blocks" not in printed.err


@pytest.mark.parametrize(
    ("labels", "blocks"),
    [
        ([1] * 25 + [-1] * 25, True),
        ([1] * 24 + [-1] * 25, False),  # too few to say
        ([1] * 60, False),  # of one kind, which is told in other words
        ([1, -1] * 30, False),
        (([1] * 20 + [-1] * 20) * 3, True),
        (([1] * 4 + [-1] * 4) * 15, False),
        ([1] * 500 + [-1] * 2, False),  # two of a kind may well stand together
    ],
)
def test_blocks_are_far_fewer_changes_than_by_chance(labels: list[int], blocks: bool) -> None:
    assert Tally(labels=labels).in_blocks is blocks


def test_shuffled_labels_are_no_blocks_however_rare_one_kind_is() -> None:
    rng = np.random.default_rng(0)
    for n, similar in ((50, 25), (60, 5), (1000, 30), (3000, 150)):
        labels = [1] * similar + [-1] * (n - similar)
        assert not any(Tally(labels=rng.permutation(labels).tolist()).in_blocks for _ in range(100))


def test_a_drawn_sample_is_no_stream_in_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, classes = pl.data.double_interval(12, 5, n=10, seed=1)
    np.savez(tmp_path / "faces.npz", X=X, classes=classes, ids=[f"e{k}" for k in range(len(X))])
    faces, drawn = str(tmp_path / "faces.npz"), str(tmp_path / "drawn.csv")
    assert main(["pairs", "sample", faces, "--ratio", "3", "--out", drawn]) == 0
    capsys.readouterr()
    assert main(["stream", drawn, "--examples", faces, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels_in_blocks"] is False


# --------------------------------------------------------------------------- passing over a bad line

BAD = [
    b'{"left": [1, 2, 3]}',
    b'{"left": [1, 2',
    b"no json",
    b'{"left": [1, 2, 3], "right": [1, 2, "x"], "label": 1}',
    b'{"left": [1, 2], "right": [1, 2], "label": 1}',
    b'{"left": [1, 2, 3], "right": [1, 2, 3], "label": "caf\xe9"}',
    b"\xff\xfe",
]


def goes_on(args: list[str], told: str, out: Path) -> int:
    """Go on with the number that the message names; returns that number."""
    named = re.search(r"--skip (\d+) goes on behind it", told)
    assert named, told
    assert main(["stream", *args, "--skip", named[1], "--out", str(out)]) == 0
    return int(named[1])


@pytest.mark.parametrize(("place", "bad"), [*((5, bad) for bad in BAD), *((1, bad) for bad in BAD[:4])])
def test_a_bad_line_can_be_passed_over(
    bad: bytes, place: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, model, out = pairs(9), tmp_path / "m.safetensors", tmp_path / "said.csv"
    text = write(tmp_path / "pairs.jsonl", lines).read_bytes().splitlines()
    source = tmp_path / "bad.jsonl"
    source.write_bytes(b"\n\n".join([*text[: place - 1], bad, *text[place - 1 :]]))
    args = [str(source), "--model", str(model)]
    assert main(["stream", *args, "--out", str(out)]) == 1
    told = capsys.readouterr().err
    assert goes_on(args, told, out) == place
    assert [row.split(",")[0] for row in out.read_text().splitlines()[1:]] == [
        str(k) for k in range(1, 11) if k != place
    ]
    np.testing.assert_array_equal(pl.load(model).mahalanobis_matrix_, by_hand(lines)[0].mahalanobis_matrix_)


@pytest.mark.parametrize("bad", [b"l1,nobody,1", b"l1,r1,perhaps", b"l1,r\xe9,1", b"l1", b"l1," + b"r" * 200_000])
def test_a_bad_row_of_ids_can_be_passed_over(bad: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, model, out = pairs(9), tmp_path / "m.safetensors", tmp_path / "said.csv"
    source, *examples = table_of(lines, tmp_path)
    rows = Path(source).read_bytes().splitlines()
    Path(source).write_bytes(b"\n".join([*rows[:5], bad, *rows[5:]]))
    args = [source, *examples, "--model", str(model)]
    assert main(["stream", *args, "--out", str(out)]) == 1
    assert goes_on(args, capsys.readouterr().err, out) == 5
    np.testing.assert_array_equal(pl.load(model).mahalanobis_matrix_, by_hand(lines)[0].mahalanobis_matrix_)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"one,two\nl1,r1\n", "no column 'left'"), ("left,right,label\n".encode("utf-16"), "is text in UTF-16")],
)
def test_a_fault_of_the_whole_table_has_nothing_to_go_on_behind(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, *examples = table_of(pairs(3), tmp_path)
    Path(source).write_bytes(content)
    assert main(["stream", source, *examples]) == 1
    told = capsys.readouterr().err
    assert words in told
    assert "--skip" not in told
    for skip in ("0", "1"):
        (tmp_path / "pairs.jsonl").write_bytes('{"left": [1]}\n'.encode("utf-16"))
        assert main(["stream", str(tmp_path / "pairs.jsonl"), "--skip", skip]) == 1
        told = capsys.readouterr().err
        assert "is text in UTF-16; save it as UTF-8" in told
        assert "--skip" not in told


def test_a_line_without_an_end_is_passed_over_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_LINE", 8)
    file = Lenient(BytesIO(b"one\n" + b"far too long" * 9 + b"\ntwo\n"), on=True)
    assert list(files.lines_of("x", file)) == ["one\n", "far \n", "two\n"]


# --------------------------------------------------------------------------- after a kill


def test_a_killed_stream_says_where_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every third pair has no label, so labelled ones do not count the lines."""
    lines = [{**line, "label": None if k % 3 == 0 else line["label"]} for k, line in enumerate(pairs(120))]
    source, model, out = write(tmp_path / "pairs.jsonl", lines), tmp_path / "m.safetensors", tmp_path / "said.csv"
    whole = tmp_path / "whole.safetensors"
    dying = (
        "import os, json\n"
        "from pairlearn.cli import app\n"
        "from pairlearn.cli.steps import streaming\n"
        "learn = streaming._learn\n"
        "streaming._learn = lambda metric, line: os._exit(9) if line.number == 90 else learn(metric, line)\n"
        f"app.run({['stream', str(source), '--model', str(model), '--out', str(out), '--save-every', '40']!r})\n"
    )
    assert subprocess.run([sys.executable, "-c", dying], capture_output=True).returncode == 9
    assert read_about(model)["stream"] == {"source": str(source), "lines": 80}
    rows = out.read_text()
    assert rows.endswith("\n")
    assert [row.split(",")[0] for row in rows.splitlines()[1:]] == [str(k) for k in range(1, 90)]
    assert main(["info", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made"][0]["stream"]["lines"] == 80
    assert main(["stream", str(source), "--model", str(model), "--skip", "80"]) == 0
    assert main(["stream", str(source), "--model", str(whole)]) == 0
    assert np.array_equal(pl.load(model).state_.matrix, pl.load(whole).state_.matrix)
    assert read_about(model)["stream"]["lines"] == 120


def test_beginning_a_stream_again_names_the_lines_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, other, model = tmp_path / "pairs.jsonl", tmp_path / "other.jsonl", tmp_path / "m.safetensors"
    write(source, pairs(9))
    write(other, pairs(9, seed=1))
    common = ["--model", str(model)]
    words = f"has taken 9 lines of {source} before; --skip 9 goes on behind them"
    for args, told in (([source], False), ([source, "--skip", "9"], False), ([source], True), ([other], False)):
        assert main(["stream", *map(str, args), *common]) == 0
        assert (words in capsys.readouterr().err) is told
