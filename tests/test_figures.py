"""The pages made of kept figures: they say what the figures say, and the figures say what their goals say."""

from __future__ import annotations

import json
import operator
from pathlib import Path

import pytest

from tools import figures as pages
from tools import record

SIGNS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "==": operator.eq}


@pytest.mark.parametrize("target", pages.PAGES, ids=lambda path: path.name)
def test_pages_are_what_the_kept_figures_give(target: Path) -> None:
    assert target.read_text(encoding="utf-8") == pages.PAGES[target](), "run python tools/figures.py"


@pytest.mark.parametrize("name", pages.kept())
def test_a_verdict_is_that_of_value_and_goal_at_full_size_and_none_at_quick_size(name: str) -> None:
    run = pages.kept()[name]
    assert run["figures"]
    for figure in run["figures"]:
        if figure["ok"] is not None:
            sign, bound = figure["goal"].split()
            assert SIGNS[sign](figure["value"], float(bound)) == figure["ok"], figure


def test_a_missed_goal_stands_on_the_page() -> None:
    run = {
        "figures": [
            {"name": "error | in points", "value": 2.5, "goal": "<= 2", "paper": "1.9", "ok": False},
            {"name": "seconds", "value": 1.0, "goal": None, "paper": None, "ok": None},
        ]
    }
    lines = list(pages.findings(run))
    assert "| error ∣ in points | 1.9 | <= 2 | 2.5 | **MISSED** |" in lines
    assert any("1 further figure" in line for line in lines)
    assert pages.counted(run) == "0 met, **1 missed**"


def test_a_tool_that_timed_out_stands_in_the_table() -> None:
    rows = {
        "A": {"version": "a 1.0", "EER, %": 12.3456, "95 % limits": "10 to 14"},
        "B": {"version": "b 2.0", "ended": "timed out after 60 s"},
    }
    run = {
        "command": "python x.py",
        "date": "2026-11-17",
        "rows": {f"faces: {tool}": row for tool, row in rows.items()},
    }
    lines = list(pages.tables_of("identities", run))
    assert lines[:2] == ["`python x.py`, 2026-11-17\n", "**faces**\n"]
    assert "|  | by | EER, % | 95 % limits |" in lines
    assert "| A | a 1.0 | 12.35 | 10 to 14 |" in lines
    assert "| B | b 2.0 | timed out after 60 s |  |" in lines


def test_every_comparison_has_its_place_on_the_page() -> None:
    scripts = {path.stem.removeprefix("compare_") for path in (pages.ROOT / "benchmarks").glob("compare_*.py")}
    lines = pages.WORDS.read_text(encoding="utf-8").splitlines()
    assert {line[5:-4] for line in lines if line.startswith("<!-- ")} == scripts


def run_of(folder: Path, monkeypatch: pytest.MonkeyPatch, printed: str, *options: str) -> Path | None:
    """A script that prints a few lines, recorded in a folder of its own."""
    monkeypatch.setattr(record, "ROOT", folder)
    monkeypatch.setattr(record, "KEPT", folder / "results" / "figures")
    (folder / "script.py").write_text(f"print('a table')\nprint({printed!r})\nraise SystemExit(1)\n")
    return record.run("script.py", list(options))


def test_the_last_line_is_kept_also_of_a_run_that_missed_a_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = [{"name": "x", "value": 1.0, "goal": ">= 2", "paper": None, "ok": False}]
    target = run_of(tmp_path, monkeypatch, json.dumps(figures))
    assert target is not None
    found = json.loads(target.read_text())
    assert (found["figures"], found["quick"], found["command"]) == (figures, False, "python script.py")


def test_rows_that_are_not_measured_again_are_kept_ones_also_in_a_new_clone(tmp_path: Path) -> None:
    target, rows = tmp_path / "figures.json", tmp_path / "rows.json"
    record.restore(target, rows)
    assert not rows.exists()
    target.write_text(json.dumps({"rows": {"faces: A": {"EER, %": 1.0}}}))
    record.restore(target, rows)
    assert json.loads(rows.read_text()) == {"faces: A": {"EER, %": 1.0}}
    rows.write_text("{}")
    record.restore(target, rows)
    assert rows.read_text() == "{}"


def test_a_run_that_was_broken_off_leaves_its_rows_but_takes_no_whole_ones_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_of(tmp_path, monkeypatch, "no figures") is None
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "script.json").write_text('{"a": {"x": 1}}')
    target = run_of(tmp_path, monkeypatch, "no figures")
    assert target is not None
    found = json.loads(target.read_text())
    assert (found["rows"], found["figures"], found["quick"]) == ({"a": {"x": 1}}, [], False)
    whole = [{"name": "x", "value": 1.0, "goal": None, "paper": None, "ok": None}]
    assert run_of(tmp_path, monkeypatch, json.dumps(whole)) == target
    assert run_of(tmp_path, monkeypatch, "no figures") is None
    assert json.loads(target.read_text())["figures"] == whole


def test_a_quick_run_takes_no_full_ones_place_and_a_broken_one_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = run_of(tmp_path, monkeypatch, '[{"name": "full"}]')
    assert full is not None
    assert run_of(tmp_path, monkeypatch, '[{"name": "quick"}]', "--quick") is None
    assert run_of(tmp_path, monkeypatch, "Killed") is None
    assert run_of(tmp_path, monkeypatch, "[]") is None
    assert json.loads(full.read_text())["figures"] == [{"name": "full"}]
