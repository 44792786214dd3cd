"""People with photos, for the commands that find, explain and describe: tables, a model, and how to run a command."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app

PERSONS, PHOTOS = 40, 5


def run(*args: object) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "120"})


@pytest.fixture
def call() -> Callable[..., Any]:
    """Run a command that shall end well, and return what it said."""

    def checked(*args: object, code: int = 0) -> Any:
        result = run(*args)
        assert result.exit_code == code, result.output
        return result

    return checked


@pytest.fixture(scope="session")
def made_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of 40 persons: 25 to train on, a gallery of the next 10, probes of these and of 5 strangers."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(PERSONS), PHOTOS)
    X = rng.normal(size=(PERSONS, 6))[person] + 0.4 * rng.normal(size=(len(person), 6))
    photo = np.arange(len(person)) % PHOTOS
    ids = [f"p{who:02d}_{number}" for who, number in zip(person, photo, strict=True)]
    columns = {f"e{t}": X[:, t] for t in range(6)}
    frame = polars.DataFrame({"photo": ids, "person": [f"p{who:02d}" for who in person], **columns})
    enrolled = (person >= 25) & (person < 35) & (photo < 2)
    frame.write_parquet(folder / "faces.parquet")
    frame.filter(enrolled).write_csv(folder / "gallery.csv")
    frame.filter((person >= 25) & ~enrolled).write_parquet(folder / "probes.parquet")
    frame.filter(person < 25).write_csv(folder / "train.csv")
    known = ("--class-column", "person", "--id-column", "photo")
    sampled = run("pairs", "sample", folder / "train.csv", *known, "--ratio", 2, "--out", folder / "pairs.csv")
    assert sampled.exit_code == 0, sampled.output
    fitted = run("fit", folder / "train.csv", folder / "pairs.csv", *known, "--out", folder / "model.safetensors")
    assert fitted.exit_code == 0, fitted.output
    return folder


@pytest.fixture
def people(made_people: Path, tmp_path: Path) -> Path:
    """The same in a folder that the test may change."""
    return Path(shutil.copytree(made_people, tmp_path / "people"))
