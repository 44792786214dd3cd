"""kill -9 at random moments of a fit with a checkpoint: the same model in the end, no corrupt and no orphaned file.

A run is killed three times in a row, each time at a random moment of what the fit takes undisturbed, and then left
alone. Its checkpoint is there after every kill, or was not written yet; its last process ends with the model of the
undisturbed fit, and leaves nothing else behind.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl
from tools.faults import Row

MODEL, CHECKPOINT = "model.safetensors", "run.checkpoint"
KILLS, CLOSE = 3, 1e-5
"""Kills of one run, and how far its objective may be from that of the undisturbed fit, relatively."""
SOLVERS, PEOPLE = ("auto", "smo"), 30
"""Few long steps, and many short ones."""
FIT = f"""
import pairlearn as pl
import sys
from tools.faults.resuming import data, machine
pl.save(machine("{CHECKPOINT}", sys.argv[1]).fit(*data(int(sys.argv[2]))), "{MODEL}")
"""


def data(people: int) -> tuple[pl.Pairs, Any]:
    """Pairs of so many people, who overlap."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(people), 8)
    X = rng.normal(size=(people, 16))[who] + rng.normal(size=(len(who), 16))
    pairs = pl.all_pairs(X, reflexive=False)
    return pairs, pairs.labels(who)


def machine(checkpoint: str | None, solver: Any = "auto") -> pl.PairSVC:
    """A machine that puts by what it finds at every step."""
    kept = None if checkpoint is None else pl.Checkpoint(checkpoint, every=1e-3)
    return pl.PairSVC(base="rbf", C=100.0, random_state=0, solver=solver, checkpoint=kept)


def start(folder: Path, solver: str, people: int) -> subprocess.Popen[bytes]:
    """The fit in this folder, which it goes on from; what it says goes to a log."""
    with (folder / "log").open("wb") as log:
        words = [sys.executable, "-c", FIT, solver, str(people)]
        return subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)


def wrong_after_kill(folder: Path) -> str | None:
    """What is wrong with what a killed process left: no checkpoint, or one that can be read."""
    from pairlearn.persist.checkpoint import FILE

    path = folder / CHECKPOINT
    if path.exists():
        try:
            FILE.read(path)
        except ValueError as error:
            return f"corrupt: {error}"
    return None


def wrong_at_the_end(folder: Path, code: int, objective: float) -> str | None:
    """What is wrong with the end of a run."""
    if code:
        return (folder / "log").read_text().strip().splitlines()[-1]
    found = pl.load(folder / MODEL)
    if found.fit_status_ != "converged" or abs(found.objective_ / objective - 1) > CLOSE:
        return f"another model: {found.fit_status_}, objective {found.objective_:.9g} instead of {objective:.9g}"
    others = sorted(path.name for path in folder.iterdir() if path.name not in ("log", MODEL))
    return f"left behind: {others}" if others else None


def killed(folder: Path, solver: str, moments: list[float], objective: float) -> tuple[str | None, list[bool]]:
    """(what went wrong, whether there was a checkpoint at each kill) of one run that is killed at these moments."""
    met: list[bool] = []
    for moment in moments:
        process = start(folder, solver, PEOPLE)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:  # it was over
            break
        met.append((folder / CHECKPOINT).exists())
        if wrong := wrong_after_kill(folder):
            return wrong, met
    return wrong_at_the_end(folder, start(folder, solver, PEOPLE).wait(), objective), met


def duration(folder: Path, solver: str, objective: float) -> float:
    """Seconds of the whole process undisturbed, the second time."""
    for _ in range(2):
        began = time.perf_counter()
        wrong = wrong_at_the_end(folder, start(folder, solver, PEOPLE).wait(), objective)
        assert wrong is None, wrong
    return time.perf_counter() - began


def sweep(kills: int, solver: str, rng: np.random.Generator) -> Row:
    """So many kills of runs by one solver."""
    objective = machine(None, solver).fit(*data(PEOPLE)).objective_
    with tempfile.TemporaryDirectory() as name:
        whole = duration(Path(name), solver, objective)
    met, wrong, runs = list[bool](), Counter[str](), 0
    while len(met) < kills:
        moments = rng.uniform(0.2 * whole, whole, min(KILLS, kills - len(met))).tolist()
        with tempfile.TemporaryDirectory() as name:
            found, resumed = killed(Path(name), solver, moments, objective)
        wrong.update([found] if found else [])
        met, runs = met + resumed, runs + 1
    if not any(met):
        wrong.update(["no kill found a checkpoint, so that nothing was resumed"])
    seen = f"{runs} runs of {whole:.1f} s, {sum(met)} kills found a checkpoint; all ended with the same objective"
    row = (
        f"kill -9, resume {solver}",
        len(met),
        wrong.total(),
        "; ".join([seen, *(f"{n} × {w}" for w, n in wrong.items())]),
    )
    print("  ".join(map(str, row)), flush=True)
    return row


def run(kills: int, seed: int = 0) -> list[Row]:
    """A row per solver: kills, runs that went wrong, and what was seen."""
    rng = np.random.default_rng(seed)
    return [sweep(kills // len(SOLVERS), solver, rng) for solver in SOLVERS]
