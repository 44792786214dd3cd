"""The doors that commands go through with a file, by the first word of its name: `scores-….csv` is read as scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from pairlearn.cli.run import Run
from pairlearn.data.files.frames import column_names
from pairlearn.data.files.sources import find_source
from pairlearn.data.layout import Columns
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.report.tables import read_scores


def _examples(path: Path) -> str:
    return str(read_examples(path))


def _noted(path: Path) -> str:
    """As `fit` reads examples: with the hash of the file, and in words."""
    run = Run("fit", {})
    run.err = Console(file=None, quiet=True)
    return str(run.examples(path, Columns(features=("*",))))


def _labelled(path: Path) -> str:
    return f"{read_pairs(path).required_labels()[1]}"


def _outcomes(path: Path) -> str:
    return f"{read_pairs(path).labelled().outcomes()[1]}"


def _numbers(path: Path) -> str:
    return f"{len(read_pairs(path).labelled().numbers())} numbers"


def _scores(path: Path) -> str:
    return f"{len(read_scores(path).scores.values)} scores"


def _columns(path: Path) -> str:
    return f"{len(column_names(find_source(path)))} columns"


DOORS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "examples": ("examples", _examples),
    "noted": ("examples", _noted),
    "pairs": ("pairs", _labelled),
    "games": ("games", _outcomes),
    "numbers": ("numbers", _numbers),
    "scores": ("scores", _scores),
    "columns": ("pairs", _columns),
}
"""For each first word the kind of table that is expected, and the door."""


def through(path: Path) -> str:
    """Use a file as the first word of its name says."""
    return DOORS[path.name.partition("-")[0]][1](path)
