"""The commands of README.md and of every --help, run in their order on one table that looks like a real one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars
import pytest

from pairlearn.cli.app import COMMANDS, load_command
from tools.journey_data import write_tables
from tools.journeys import inside, run

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """faces.parquet with ids, people and embeddings, and the other tables of the journeys."""
    write_tables(tmp_path)
    photos = polars.read_parquet(tmp_path / "photos.parquet").drop("camera")
    photos.rename({"photo_id": "id"}).write_parquet(tmp_path / "faces.parquet")
    polars.read_parquet(tmp_path / "visitors.parquet").rename({"photo_id": "id"}).write_parquet(
        tmp_path / "visitors.parquet"
    )
    return tmp_path


def test_the_commands_of_the_readme(folder: Path) -> None:
    block = README.read_text().split("## Command line\n```sh\n")[1].split("```")[0]
    commands = [line.split("#")[0].strip() for line in block.splitlines()]
    assert len(commands) > 5
    with inside(folder):
        for command in commands:
            quick = command.replace("--budget 600", "--budget 3 --kernel metric --base linear --C 1")
            output = run(quick.replace("tail -f", "cat"))
            assert "(exit code" not in output, f"{command}\n{output}"
    assert "<html" in (folder / "report.html").read_text()
    assert polars.read_csv(folder / "scores.csv").columns == [
        "left",
        "right",
        "score",
        "decision",
        "probability",
        "label",
    ]


def test_the_examples_of_help(folder: Path) -> None:
    few = "--budget 3 --kernel metric --base linear --C 1"
    quicker = {"--budget 600": few, "tail -f": "cat", "-demo": "-demo --quick"}
    with inside(folder):
        for name, command in COMMANDS.items():
            line = command.example
            for slow, quick in quicker.items():
                line = line.replace(slow, quick)
            output = run(line)
            assert "(exit code" not in output, f"{name}: {line}\n{output}"
            if name == "pairs":
                for part, out in (("development", "dev-pairs.csv"), ("test", "test-pairs.csv")):
                    source = f"parts/{part}.parquet --class-column person"
                    run(f"pairlearn pairs sample {source} --ratio 20 --out {out}")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_the_list_says(name: str) -> None:
    command = load_command(name)
    assert " ".join(str(command.help).split()).startswith(COMMANDS[name].help)
    assert COMMANDS[name].example in str(command.epilog)
    assert re.match(r"[A-Z].*\.$", COMMANDS[name].help)


def test_commands_are_light() -> None:
    code = "from pairlearn.cli.app import COMMANDS, load_command; [load_command(name) for name in COMMANDS]"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "scipy", "sklearn", "polars", "numba"} & set(done.stdout.split())
