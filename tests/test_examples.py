"""Every script in examples/ runs as it stands."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from pairlearn.selection.search import stages

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
TAKE_THEIR_TIME = [path for path in EXAMPLES if "StagedSearch" in path.read_text()]


def test_there_are_examples() -> None:
    assert EXAMPLES
    assert TAKE_THEIR_TIME


def exit_code(script: Path) -> object:
    """What running this script as a program, but in this process, ends with."""
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        return ended.code
    return None


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stages, "MOST_SPLITS", 1)  # a search ends with its plan, whatever is left of its time
    assert exit_code(script) in (None, 0)
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize("script", TAKE_THEIR_TIME, ids=lambda path: path.stem)
def test_example_runs_with_all_its_time(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(script) in (None, 0)
    assert capsys.readouterr().out.strip()
