"""The journeys of docs/journeys, run in order: every command ends as written, and says what is written there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.journeys import differences, journeys, rerun, words_of

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("path", journeys(), ids=lambda path: path.stem)
def test_a_journey_is_as_written(path: Path, tmp_path: Path) -> None:
    written = path.read_text()
    assert "Traceback" not in written
    assert differences(written, rerun(written, tmp_path)) == []


def test_other_words_and_commands_are_seen() -> None:
    written = "```console\n$ echo a\nthe model is better than Euclid\n$ false\n(exit code 1)\n```\n"
    assert differences(written, written) == []
    assert differences(written, written.replace("the model is better than Euclid", "no such file or directory")) != []
    assert differences(written, written.replace("echo a", "echo b")) == ["the commands differ"]
    assert words_of("EER 0.1 % [0.05, 0.2] e17 2026-11-17T01:02:03+00:00 0a1b2c3d4e5f… ── 1e-3") == ["EER"]


def test_there_is_a_journey_for_every_kind_of_user() -> None:
    kinds = {"verification", "labelled-pairs", "preferences", "two-tables", "own-similarity", "stream"}
    assert {path.stem for path in journeys()} == kinds
