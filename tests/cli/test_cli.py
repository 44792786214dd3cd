"""The command line: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import builtins
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import pairlearn as pl
from pairlearn.cli import main
from pairlearn.cli.app import app
from pairlearn.cli.options import class_weights, memory_bytes
from pairlearn.cli.terminal import gap_share

COMMAND = [sys.executable, "-c", "from pairlearn.cli import main; main()"]


def run(*args: object) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "120"})


def start(*args: object) -> subprocess.Popen[str]:
    """Run a command in a process of its own, which hears Ctrl-C also where this one was told to ignore it."""
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """faces.csv with ids and classes, train.csv and test.csv with pairs, and a model in a folder of its own."""
    folder = tmp_path_factory.mktemp("made")
    X, classes = pl.data.orthant(12, 4, n=5, seed=0)
    ids = [f"face{i}" for i in range(len(X))]
    frame = polars.DataFrame({"id": ids, "class": classes, **{f"x{t}": X[:, t] for t in range(5)}})
    frame.write_csv(folder / "faces.csv")
    pairs = pl.all_pairs(X)
    labels = np.where(pairs.labels(classes) > 0, "same", "different")
    table = polars.DataFrame(
        {"left": [ids[i] for i in pairs.left], "right": [ids[i] for i in pairs.right], "label": labels}
    )
    seen = (pairs.left < 32) & (pairs.right < 32)
    unseen = (pairs.left >= 32) & (pairs.right >= 32)
    table.filter(seen & ~pairs.reflexive).write_csv(folder / "train.csv")
    table.filter(unseen).write_csv(folder / "test.csv")
    (folder / "models").mkdir()
    out = folder / "models" / "model.safetensors"
    assert run("fit", folder / "faces.csv", folder / "train.csv", "--out", out, "--base", "poly").exit_code == 0
    return folder


@pytest.fixture
def files(made: Path, tmp_path: Path) -> Path:
    """The tables in a folder that the test may change."""
    for table in made.glob("*.csv"):
        shutil.copy(table, tmp_path)
    return tmp_path


@pytest.fixture
def model(made: Path, files: Path) -> Path:
    """A model beside the tables."""
    return Path(shutil.copy(made / "models" / "model.safetensors", files))


def one_line(result: Any, *words: str) -> None:
    """A user's error: exit code 1, one last line on stderr with these words, nothing on stdout."""
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    for word in words:
        assert word in last


# --------------------------------------------------------------------------- help


def test_help_reads_well() -> None:
    for args, words in {
        (): ("fit", "score", "demo", "--version"),
        ("fit",): ("EXAMPLES", "--kernel", "--class-weight", "Example: pairlearn fit"),
        ("score",): ("MODEL", "PAIRS", "Example: pairlearn score"),
        ("demo",): ("--out-dir", "Example: pairlearn demo"),
    }.items():
        result = run(*args, "--help")
        assert result.exit_code == 0
        plain = re.sub(r"\x1b\[[0-9;]*m", "", result.output)
        assert all(word in plain for word in words)
    assert "--quick" not in run("demo", "--help").output
    assert "From a table to a decision" in run().output


def test_version() -> None:
    assert run("--version").output.strip() == f"pairlearn {pl.__version__}"


def test_a_missing_extra_is_explained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = builtins.__import__

    def without_typer(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "typer":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return found(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.startswith("pairlearn.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_typer)
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 1
    assert "pip install 'pairlearn[cli]'" in capsys.readouterr().err


def test_a_time_without_end_keeps_the_model(made: Path, tmp_path: Path) -> None:
    """JSON has no infinity, and what a command notes of its options must not cost what it learnt."""
    out = tmp_path / "endless.safetensors"
    tables = made / "faces.csv", made / "train.csv"
    result = run("fit", *tables, "--class-column", "class", "--time-budget", "inf", "--out", out)
    assert result.exit_code == 0, result.output
    assert pl.persist.read_about(out)["about"]["options"]["time_budget"] == "inf"


@pytest.mark.parametrize("args", [["fit"], ["fit", "a.csv", "--C", "many"], ["learn"], ["--fast"]])
def test_usage_errors_are_one_line(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(args)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert "--help" in error


# --------------------------------------------------------------------------- fit


def test_fit_on_labelled_pairs(files: Path) -> None:
    out = files / "model.safetensors"
    result = run("fit", files / "faces.csv", files / "train.csv", "--out", out, "--base", "poly", "--C", 10)
    assert result.exit_code == 0
    for word in ("496 of 32 examples", "same → +1", "tensor_metric on poly, C = 10", "converged", "KKT gap"):
        assert word in result.output
    assert "untrained Euclid" in result.output
    assert "training pairs" in result.output
    loaded = pl.load(out)
    assert (loaded.C, loaded.fit_status_, loaded.callback) == (10.0, "converged", None)


def test_fit_on_classes(files: Path) -> None:
    for option, n_pairs in (("--no-reflexive", 1128), ("--reflexive", 1176)):
        result = run("fit", files / "faces.csv", "-o", files / "m.safetensors", option, "--json", "--force")
        assert result.exit_code == 0
        record = json.loads(result.stdout)
        assert (record["pairs"], record["positives"] - record["pairs"] + 1128) == (n_pairs, 72)
        assert record["training"]["pairs"] == 1128
        assert "model written" in result.stderr


def test_fit_json_holds_what_the_model_knows(files: Path) -> None:
    out = files / "m.safetensors"
    args = ("--class-weight", "2,1", "--memory-budget", "1GB", "--seed", 3, "--json")
    result = run("fit", files / "faces.csv", files / "train.csv", "--out", out, *args)
    record, loaded = json.loads(result.stdout), pl.load(out)
    assert record["kkt_gap"] == loaded.kkt_gap_
    assert record["support_pairs"] == loaded.n_support_
    assert (record["verdict"], record["time_budget"]) == ("converged", None)
    assert 0 < record["seconds"] == loaded.fit_seconds_
    assert record["labels"] == {"same": 1, "different": -1}
    assert set(record["training"]["eer"]) == {"model", "euclid", "cosine"}
    assert (loaded.class_weight, loaded.memory_budget, loaded.random_state) == ({1: 2.0, -1: 1.0}, 1e9, 3)


def test_fit_on_a_precomputed_matrix(files: Path) -> None:
    X, classes = pl.data.orthant(6, 4, n=5, seed=0)
    np.savez(files / "gram.npz", X=X @ X.T, classes=classes)
    result = run("fit", files / "gram.npz", "--base", "precomputed", "-o", files / "m.safetensors", "--json")
    assert result.exit_code == 0
    assert set(json.loads(result.stdout)["training"]["eer"]) == {"model"}


def test_fit_on_a_kernel_of_low_rank(files: Path) -> None:
    """Named in one word, told with its error, saved, and used on other pairs."""
    out = files / "m.safetensors"
    told = run("fit", files / "faces.csv", files / "train.csv", "--base", "lowrank(rbf, 8, pivoted)", "-o", out)
    assert told.exit_code == 0, told.output
    (base,) = pl.load(out).function_.kernel.bases
    assert len(base.landmarks) == 8
    assert f"rank 8, error {base.error:.2g}" in " ".join(told.output.split())
    scored = run("score", out, files / "faces.csv", files / "train.csv", "--out", files / "scores.csv")
    assert scored.exit_code == 0, scored.output


def test_fit_warns_of_a_rank_that_is_too_low(files: Path) -> None:
    out = files / "m.safetensors"
    base = "lowrank(rbf, 2, uniform, 0.001)"
    result = run("fit", files / "faces.csv", files / "train.csv", "--base", base, "-o", out, "--json")
    record = json.loads(result.stdout)
    assert any("2 landmarks leave an error" in note for note in record["warnings"])
    assert "rank 2, error" in record["low_rank"][0]


@pytest.mark.parametrize("base", ["lowrank(rbf, few)", "lowrank(precomputed, 5)", "lowrank(rbf, 0)"])
def test_fit_refuses_a_low_rank_that_is_none(base: str, files: Path) -> None:
    out = files / "m.safetensors"
    result = run("fit", files / "faces.csv", files / "train.csv", "--base", base, "-o", out)
    assert result.exit_code != 0
    assert "Traceback" not in result.output
    assert not out.exists()


def test_fit_within_a_time_budget_says_so(files: Path) -> None:
    out = files / "m.safetensors"
    result = run("fit", files / "faces.csv", "--out", out, "--time-budget", 0, "--C", 100)
    assert result.exit_code == 0
    assert "Stopped early (time budget)" in result.output
    assert pl.load(out).fit_status_ == "time budget"


def test_brackets_in_a_name_are_shown_as_they_are(files: Path) -> None:
    out = files / "[bold]m.safetensors"
    assert f"model written to {out}" in run("fit", files / "faces.csv", "--out", out).output


def test_contradictions_are_told(files: Path) -> None:
    (files / "odd.csv").write_text("left,right,label\nface0,face1,1\nface1,face0,0\nface0,face9,0\n")
    result = run("fit", files / "faces.csv", files / "odd.csv", "-o", files / "m.safetensors")
    assert result.exit_code == 0
    assert "contradictory labels" in result.output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("absent.csv",), ("there is no file", "absent.csv")),
        (("faces.csv", "absent.csv"), ("there is no file", "absent.csv")),
        (("plain.csv",), ("no classes", "--class-column")),
        (("faces.csv", "strangers.csv"), ("1 id of", "'eve'", "strangers.csv")),
        (("faces.csv", "unlabelled.csv"), ("no column 'label'",)),
        (("faces.csv", "train.csv", "--C", "-1"), ("C must be a finite number > 0", "try C=1.0")),
        (("faces.csv", "--kernel", "tensr"), ("unknown pair kernel 'tensr'", "tensor_metric")),
        (("faces.csv", "--kernel", "wedge"), ("antisymmetric",)),
        (("faces.csv", "--base", "cubic"), ("unknown base kernel",)),
        (("faces.csv", "--memory-budget", "1kB"), ("budget",)),
        (("faces.csv", "--class-column", "who"), ("no column 'who'", "'class'")),
        (("faces.csv", "--out", "absent/model.safetensors"), ("create it first",)),
        (("hole.csv",), ("hole.csv", "line 3", "'x'")),
    ],
)
def test_fit_refuses_bad_input_and_changes_nothing(
    args: tuple[str, ...], words: tuple[str, ...], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    (files / "plain.csv").write_text("id,x\na,1\nb,2\n")
    (files / "hole.csv").write_text("id,class,x\na,1,1\nb,1,\n")
    (files / "strangers.csv").write_text("left,right,label\nface0,eve,1\n")
    (files / "unlabelled.csv").write_text("left,right\nface0,face1\n")
    (files / "model.safetensors").write_bytes(b"older model")
    before = sorted(os.listdir(files))
    one_line(run("fit", *args, "--force"), *words)
    one_line(run("fit", "faces.csv"), "model.safetensors exists", "--force")
    assert (files / "model.safetensors").read_bytes() == b"older model"
    assert sorted(os.listdir(files)) == before


@pytest.mark.parametrize(("option", "value"), [("--class-weight", "heavy"), ("--memory-budget", "lots")])
def test_options_that_cannot_be_read(option: str, value: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fit", str(files / "faces.csv"), option, value])
    assert stopped.value.code == 2
    assert option in capsys.readouterr().err


def test_amounts_of_memory() -> None:
    assert [memory_bytes(text) for text in ("4GB", "500 MB", "2GiB", "1e9", "12")] == [4e9, 5e8, 2**31, 1e9, 12.0]
    assert memory_bytes(None) is None
    assert class_weights("balanced") == "balanced"


def test_share_of_the_way() -> None:
    assert gap_share(1.0, 1.0, 1e-2) == 0.0
    assert gap_share(1.0, 1e-1, 1e-2) == pytest.approx(0.5)
    assert gap_share(1.0, 5.0, 1e-2) == 0.0
    assert gap_share(1.0, 0.0, 1e-2) == gap_share(0.0, 0.0, 1e-2) == 1.0


INTERRUPTED = """
import os, signal, sys
import pairlearn.cli.terminal as terminal
share, reports = terminal.gap_share, [0]
def interrupt(*args):
    reports[0] += 1
    if reports[0] == REPORT:
        os.kill(os.getpid(), signal.SIGINT)
    return share(*args)
terminal.gap_share = interrupt
from pairlearn.cli import main
main(sys.argv[1:])
"""


def interrupted_fit(folder: Path, report: int) -> subprocess.CompletedProcess[str]:
    """A fit that gets Ctrl-C while the solver reports this iteration."""
    X, classes = pl.data.double_interval(40, 8, n=200, seed=0)
    np.savez(folder / "x.npz", X=X, classes=classes)
    program = INTERRUPTED.replace("REPORT", str(report))
    args = ["fit", folder / "x.npz", "--base", "poly", "--C", "1000", "--out", folder / "m.safetensors", "--json"]
    command = [sys.executable, "-c", program, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_leaves_a_model(tmp_path: Path) -> None:
    done = interrupted_fit(tmp_path, report=3)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "interrupted"
    assert "keeping the model" in done.stderr
    loaded = pl.load(tmp_path / "m.safetensors")
    assert loaded.fit_status_ == "interrupted"
    assert loaded.n_support_ > 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_model_that_knows_nothing_is_not_written(tmp_path: Path) -> None:
    done = interrupted_fit(tmp_path, report=1)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "stopped; no result was written"
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.5])
def test_an_early_ctrl_c_shows_no_traceback(seconds: float, files: Path) -> None:
    with start("fit", files / "faces.csv", "--out", files / "m.safetensors") as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=60)[1]
    assert not (files / "m.safetensors").exists()
    # On a busy machine it may still be Python's own start, before the first line of `main`; its `site` has a main, too.
    if re.search(r"pairlearn.*, in main", stderr) or not stderr.endswith("KeyboardInterrupt\n"):
        assert process.returncode in (130, -signal.SIGINT)
        assert "Traceback" not in stderr


def test_a_fit_that_was_stopped_says_so_in_its_record(files: Path) -> None:
    result = run(
        "fit", files / "faces.csv", "--time-budget", 0, "--tol", 1e-9, "--out", files / "m.safetensors", "--json"
    )
    record = json.loads(result.stdout)
    assert (record["status"], record["time_budget"]) == ("time budget", 0)
    assert re.match(r"stopped by time budget at KKT gap [\d.e-]+ > tol = 1e-09", record["verdict"])
    assert record["seconds"] > 0


# --------------------------------------------------------------------------- score


def test_score_to_a_file(files: Path, model: Path) -> None:
    out = files / "scores.csv"
    result = run("score", model, files / "faces.csv", files / "test.csv", "--out", out)
    assert result.exit_code == 0
    for word in ("EER", "AUC", "FNMR at FMR 1 %", "Euclid (untrained)", "cosine (untrained)", "136 scores"):
        assert word in result.output
    assert "16 pairs of an example with itself are left out" in result.output
    sentence = r"verdict: The model is (better than|tied with|worse than) (Euclid|cosine), .* over 4 identities"
    assert re.search(sentence, result.output)
    assert "next: " in result.output
    frame = polars.read_csv(out)
    assert frame.columns == ["left", "right", "score", "label"]
    assert (len(frame), set(frame["label"])) == (136, {1, -1})
    examples = pl.data.orthant(12, 4, n=5, seed=0)[0]
    pairs = pl.Pairs(examples, *([int(i[4:]) for i in frame[side]] for side in ("left", "right")))
    expected = pl.load(model).decision_function(pairs)
    np.testing.assert_allclose(frame["score"].to_numpy(), expected, rtol=1e-9, atol=1e-12)


def test_score_to_stdout_is_a_table_and_nothing_else(files: Path, model: Path) -> None:
    result = run("score", model, files / "faces.csv", files / "test.csv")
    lines = result.stdout.splitlines()
    assert lines[0] == "left,right,score,label"
    assert len(lines) == 137
    assert "EER" in result.stderr


def test_score_json(files: Path, model: Path) -> None:
    args = ("score", model, files / "faces.csv", files / "test.csv", "--json")
    record = json.loads(run(*args).stdout)
    assert len(record["scores"]) == record["pairs"] == 136
    assert record["reflexive_left_out"] == 16
    assert set(record["rates"]) == {"model", "euclid", "cosine"}
    assert set(record["rates"]["model"]) == {"eer", "auc", "fnmr@fmr=0.01", "fnmr@fmr=0.001"}
    assert record["verdict"]["value"] == record["rates"]["model"]["eer"]
    assert record["verdict"]["baselines"] == {
        name.replace("euclid", "Euclid"): record["rates"][name]["eer"] for name in ("euclid", "cosine")
    }
    assert (record["verdict"]["unit"], record["verdict"]["n_units"]) == ("identity", 4)
    kept = json.loads(run(*args, "--reflexive").stdout)
    assert kept["reflexive_left_out"] == 0
    assert kept["rates"]["euclid"]["eer"] < record["rates"]["euclid"]["eer"]
    written = json.loads(run(*args, "--out", files / "s.parquet").stdout)
    assert "scores" not in written
    assert polars.read_parquet(files / "s.parquet")["score"].to_list() == record["scores"]


def test_score_without_labels(files: Path, model: Path) -> None:
    (files / "new.csv").write_text("left,right\nface0,face1\n")
    result = run("score", model, files / "faces.csv", files / "new.csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("left,right,score\nface0,face1,")
    assert "EER" not in result.stderr


def test_a_model_that_does_not_help_is_called_so(files: Path) -> None:
    pl.save(pl.CosineBaseline(), files / "cosine.safetensors")
    result = run("score", files / "cosine.safetensors", files / "faces.csv", files / "test.csv")
    assert "verdict: The model is tied with Euclid, the best of 2 baselines here" in result.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("absent.safetensors", "faces.csv", "test.csv"), ("no model file",)),
        (("faces.csv", "faces.csv", "test.csv"), ("not a model file",)),
        (("model.safetensors", "narrow.csv", "narrow-pairs.csv"), ("1 feature", "fitted with 5")),
        (("model.safetensors", "faces.csv", "strangers.csv"), ("'eve'",)),
        (("model.safetensors", "faces.csv", "test.csv", "--out", "scores.txt"), ("must end in one of .csv",)),
    ],
)
def test_score_refuses_bad_input(
    args: tuple[str, ...], words: tuple[str, ...], files: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    (files / "narrow.csv").write_text("id,x\na,1\nb,2\n")
    (files / "narrow-pairs.csv").write_text("left,right\na,b\n")
    (files / "strangers.csv").write_text("left,right,label\nface0,eve,1\n")
    before = sorted(os.listdir(files))
    result = run("score", *args)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    assert all(word in last for word in words)
    assert sorted(os.listdir(files)) == before


# --------------------------------------------------------------------------- demo and the real command


def test_demo(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "demo"
    result = run("demo", "--quick", "--out-dir", out)
    assert result.exit_code == 0
    assert "interclass task" in result.output
    record = json.loads((out / "results.json").read_text())
    told = record["verdict"]
    assert told["value"] == record["rows"][-1]["eer"]
    assert (told["unit"], told["n_units"]) == ("identity", 10)
    assert result.output.splitlines()[-2:] == [f"verdict: {told['words']}", f"next: {told['next_step']}"]
    assert [row["classes"] for row in record["rows"]] == [4, 8]
    assert all(row["status"] == "converged" for row in record["rows"])
    assert set(record["baselines"]) == {"euclid", "cosine"}
    assert (out / "det.png").read_bytes().startswith(b"\x89PNG")


def test_demo_refuses_a_file_as_directory(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    one_line(run("demo", "--quick", "--out-dir", tmp_path / "taken"), "is a file", "--out-dir")
    assert (tmp_path / "taken").read_text() == "mine"


def test_the_real_command(files: Path) -> None:
    args = ("fit", files / "faces.csv", files / "train.csv", "--out", files / "m.safetensors", "--json")
    with start(*args) as process:
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["status"] == "converged"
    with start("fit", files / "absent.csv") as process:
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (1, "")
    assert stderr.startswith("error: there is no file")
