"""SIGINT and SIGKILL at random moments: a usable symmetric model or none, no traceback, no corrupt or orphaned file."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pairlearn as pl
from tools.faults import Row
from tools.faults.jobs import JOBS, MODEL, Job, check_model

PATIENCE = 60.0
"""Seconds after SIGINT in which a job has to end."""

ENDS = {signal.SIGINT: (0, 130), signal.SIGKILL: (0, -signal.SIGKILL)}
"""Exit codes that a signal may lead to."""


@dataclass(frozen=True)
class Outcome:
    """What a disturbed job left: what is wrong with it (None: nothing), and whether there is a model."""

    wrong: str | None
    model: bool
    seconds: float


def duration(job: Job, folder: Path) -> float:
    """Seconds of the job undisturbed."""
    began = time.perf_counter()
    code = job.start(folder, folder / "log").wait()
    assert code == 0, (folder / "log").read_text()
    return time.perf_counter() - began


def disturb(job: Job, folder: Path, sign: signal.Signals, moment: float) -> Outcome:
    """Run a job, send the signal at this moment, and look at what is left after the next file is written."""
    log = folder / "log"
    process = job.start(folder, log)
    time.sleep(moment)
    process.send_signal(sign)
    sent = time.perf_counter()
    try:
        code: int | None = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait() and None
    waited = time.perf_counter() - sent
    wrong = _wrong(folder, log.read_text(errors="replace"), code, sign)
    return Outcome(wrong, (folder / MODEL).exists(), waited)


def _wrong(folder: Path, said: str, code: int | None, sign: signal.Signals) -> str | None:
    if _is_early(said, code):
        return None
    if code is None:
        return f"went on for more than {PATIENCE:.0f} s"
    if "Traceback" in said or "Exception ignored" in said:
        return "a traceback: " + said.strip().splitlines()[-1]
    if code not in ENDS[sign]:
        return f"exit code {code}"
    pl.save(pl.EuclidBaseline(), folder / "next.safetensors")
    hidden = [path.name for path in folder.rglob(".*")]
    return f"orphans {hidden}" if hidden else check_model(folder / MODEL)


def _is_early(said: str, code: int | None) -> bool:
    """Whether a signal met Python's own start, before the first line of `main`: no program can answer it."""
    return code == -signal.SIGINT or (said.endswith("KeyboardInterrupt\n") and ", in main" not in said)


def _in_fresh_folder(job: Job, made: Path, sign: signal.Signals, moment: float) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        shutil.copytree(made, folder)
        return disturb(job, folder, sign, moment)


def sweep(job: Job, sign: signal.Signals, count: int, seed: int) -> list[Outcome]:
    """So many runs of a job, each disturbed at a random moment of its undisturbed duration."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        made, trial = Path(name) / "made", Path(name) / "trial"
        made.mkdir()
        job.prepare(made)
        shutil.copytree(made, trial)
        whole = duration(job, trial)
        return [_in_fresh_folder(job, made, sign, moment) for moment in rng.uniform(0.1, whole, count)]


def run(count: int, names: Collection[str] = (), seed: int = 0) -> list[Row]:
    """A row per job and signal: name, runs, runs that went wrong, and what was found; of these jobs, () for all."""
    rows: list[Row] = []
    for sign in (signal.SIGINT, signal.SIGKILL):
        shares = np.diff(np.linspace(0, count, len(JOBS) + 1).round().astype(int)).tolist()
        for number, (job, share) in enumerate(zip(JOBS, shares, strict=True)):
            if names and job.name not in names:
                continue
            found = sweep(job, sign, share, seed + 10 * number + sign)
            rows.append((f"{sign.name} {job.name}", share, *_summary(found)))
            print("  ".join(map(str, rows[-1])), flush=True)
    return rows


def _summary(found: list[Outcome]) -> tuple[int, str]:
    wrong = Counter(each.wrong for each in found if each.wrong)
    left = f"{sum(each.model for each in found)} with a model, ended within {max(each.seconds for each in found):.1f} s"
    return wrong.total(), "; ".join([left, *(f"{n} × {what}" for what, n in wrong.items())])
