"""The journeys of docs/journeys, run in order: every command ends as written, and says what is written there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pairlearn.selection.search import stages
from tools.journeys import TIMED, differences, journeys, rerun, words_of

pytest.importorskip("matplotlib")
JOURNEYS = {path.stem: path for path in journeys()}
TAKES_ITS_TIME = [name for name, path in JOURNEYS.items() if TIMED in path.read_text()]


def is_as_written(path: Path, folder: Path, timed: tuple[str, ...] = (TIMED,)) -> None:
    written = path.read_text()
    assert "Traceback" not in written
    assert differences(written, rerun(written, folder), timed) == []


@pytest.mark.parametrize("name", JOURNEYS)
def test_a_journey_is_as_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search ends with its plan, and `info` may then describe another model than after all its time."""
    monkeypatch.setattr(stages, "MOST_SPLITS", 1)
    is_as_written(JOURNEYS[name], tmp_path, (TIMED, "info verifier") if name in TAKES_ITS_TIME else (TIMED,))


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKES_ITS_TIME)
def test_a_journey_with_all_its_time_is_as_written(name: str, tmp_path: Path) -> None:
    is_as_written(JOURNEYS[name], tmp_path)


def test_other_words_and_commands_are_seen() -> None:
    written = "```console\n$ echo a\nthe model is better than Euclid\n$ false\n(exit code 1)\n```\n"
    assert differences(written, written) == []
    assert differences(written, written.replace("the model is better than Euclid", "no such file or directory")) != []
    assert differences(written, written.replace("echo a", "echo b")) == ["the commands differ"]
    others = "```console\n$ echo a\n" + "other words\n" * 6 + "$ false\n(exit code 1)\n```\n"
    assert differences(written, others, ("echo",)) != []
    assert words_of("EER 0.1 % [0.05, 0.2] e17 2026-11-17T01:02:03+00:00 0a1b2c3d4e5f… ── 1e-3") == ["EER"]


def test_there_is_a_journey_for_every_kind_of_user() -> None:
    kinds = {"verification", "labelled-pairs", "preferences", "two-tables", "own-similarity", "stream"}
    assert set(JOURNEYS) == kinds
    assert TAKES_ITS_TIME == ["verification"]
