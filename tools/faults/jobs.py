"""The jobs that are disturbed: commands as users type them, each in a folder of its own, on tables made here."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pairlearn as pl
from pairlearn.data.writing import write_table

MODEL = "model.safetensors"

SAVING = """
try:
    import numpy as np, pairlearn as pl
    X = np.random.default_rng(0).normal(size=(400, 200))
    pairs = pl.Pairs(X, np.arange(200), np.arange(200, 400))
    machine = pl.PairSVC(base="rbf").fit(pairs, np.where(np.arange(200) % 2, 1, -1))
    for number in range(150):
        pl.save(machine, "model.safetensors", about={"number": number})
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@dataclass(frozen=True)
class Job:
    """A command in a folder; `prepare` puts its tables there."""

    name: str
    command: tuple[str, ...]
    prepare: Callable[[Path], None]

    def start(self, folder: Path, log: Path) -> subprocess.Popen[bytes]:
        """Run it there; what it says goes to the log. It hears Ctrl-C, also where background jobs of a shell do not."""
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            with log.open("wb") as file:
                return subprocess.Popen(self.command, cwd=folder, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
        finally:
            signal.signal(signal.SIGINT, before)


def _faces(folder: Path, people: int = 30, pictures: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A table of people who overlap, so that a fit takes a few seconds."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(people), pictures)
    X = rng.normal(size=(people, 24))[who] + 0.9 * rng.normal(size=(len(who), 24))
    columns = {"id": [f"p{i}" for i in range(len(who))], "class": [f"person {k}" for k in who]}
    write_table(folder / "faces.csv", {**columns, **{f"e{j}": X[:, j] for j in range(X.shape[1])}})
    return X, who


def _pairs(folder: Path) -> None:
    """A stream of labelled pairs."""
    X, who = _faces(folder)
    rng = np.random.default_rng(1)
    rows = rng.integers(0, len(X), (4000, 2))
    lines = [
        {"left": X[a].tolist(), "right": X[b].tolist(), "label": 1 if who[a] == who[b] else -1}
        for a, b in rows.tolist()
    ]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


PAIRLEARN = (sys.executable, "-m", "pairlearn")

JOBS = (
    Job(
        "fit",
        (*PAIRLEARN, "fit", "faces.csv", "--base", "rbf", "--C", "10", "--out", MODEL, "--force"),
        lambda folder: _faces(folder) and None,
    ),
    Job(
        "select",
        (*PAIRLEARN, "select", "faces.csv", "--budget", "6", "--out", MODEL, "--force"),
        lambda folder: _faces(folder, 15, 8) and None,
    ),
    Job("stream", (*PAIRLEARN, "stream", "pairs.jsonl", "--model", MODEL, "--save-every", "100"), _pairs),
    Job("save", (sys.executable, "-c", SAVING), lambda folder: None),
)


def check_model(path: Path) -> str | None:
    """What is wrong with the model that a job left, if it left one: it loads, is finite and symmetric."""
    if not path.exists():
        return None
    try:
        model = pl.load(path)
    except ValueError as error:
        return f"not loadable: {error}"
    X = np.random.default_rng(2).normal(size=(20, 200 if model.n_features_in_ == 200 else 24))
    left, right = np.triu_indices(20, 1)
    there, back = (model.decision_function(pl.Pairs(X, *sides)) for sides in ((left, right), (right, left)))
    if not np.isfinite(there).all():
        return "scores are not finite"
    return None if np.allclose(there, back, rtol=1e-9, atol=1e-9) else "not symmetric"
