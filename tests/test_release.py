"""What is said of the version in several places is the same, and the release tool reads bounds as pip does."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import pairlearn
from tools.release import MINORS, lower_bounds

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEXT = re.match(r"\d+\.\d+\.\d+", pairlearn.__version__)


def test_version_citation_and_changelog_agree() -> None:
    assert NEXT is not None
    assert re.search(rf"^version: {re.escape(NEXT[0])}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert released[0] == NEXT[0]
    assert released == sorted(released, key=lambda version: [int(part) for part in version.split(".")], reverse=True)


def test_the_day_of_the_release_is_said_once_and_cited() -> None:
    """The newest version has a day and the citation has the same."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    day = re.search(r"^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert day is not None
    assert date.fromisoformat(day[1]).isoformat() == day[1]
    assert f"{NEXT and NEXT[0]} ({day[1]})" in headings


def test_every_dependency_has_a_lower_bound_that_is_tried() -> None:
    given = [*PROJECT["dependencies"], *(line for lines in PROJECT["optional-dependencies"].values() for line in lines)]
    names = {re.split("[>\\[]", line)[0] for line in given} - {"pairlearn"}
    assert {bound.split("==")[0] for bound in lower_bounds(PROJECT)} == names


def test_the_oldest_python_is_the_one_that_pip_asks_for() -> None:
    assert PROJECT["requires-python"] == f">=3.{min(MINORS)}"
