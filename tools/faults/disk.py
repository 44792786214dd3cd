"""A full disk: one line that names the file, the old file as it was, and no drafts."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pairlearn as pl
from tools.faults import Row
from tools.faults.jobs import JOBS, MODEL, PAIRLEARN, Job

ROOM = 2**20
"""Bytes of the small disk; what a job does not need is filled before it starts."""


@contextmanager
def small_disk() -> Iterator[tuple[Path, bool]]:
    """A folder on a file system of 1 MiB, and whether it is one: only root may mount it."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", folder]
        mounted = subprocess.run(mount, capture_output=True).returncode == 0 if hasattr(os, "geteuid") else False
        try:
            yield Path(folder), mounted
        finally:
            if mounted:
                subprocess.run(["umount", "-l", folder], check=True)


def _fill(folder: Path, left: int) -> None:
    """Leave so many bytes."""
    free = os.statvfs(folder)
    with (folder / "filling").open("wb") as file:
        file.write(bytes(max(0, free.f_bavail * free.f_frsize - left)))


def _limit() -> None:
    """Files end after 4 KiB: what a quota does where nothing can be mounted."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def full(job: Job) -> Row:
    """A job whose result does not fit beside an older model; a stream would go on with that, so it names another."""
    target = "other.safetensors" if job.name == "stream" else MODEL
    with small_disk() as (folder, mounted), tempfile.TemporaryDirectory() as tables:
        job.prepare(Path(tables))
        pl.save(pl.EuclidBaseline(7.0), folder / MODEL)
        if mounted:
            _fill(folder, 4096)
        there = {path.name: str(path) for path in Path(tables).iterdir()} | {MODEL: target}
        command = [there.get(word, word) for word in job.command]
        limit = None if mounted else _limit
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limit)
        wrong = _wrong(folder, done, target)
        how = "file system of 1 MiB, full" if mounted else "files of 4 KiB at most"
        said = wrong or f"{how}: {done.stderr.splitlines()[-1][:90]}"
        return f"disk full {job.name}", 1, int(wrong is not None), said


def _wrong(folder: Path, done: subprocess.CompletedProcess[str], named: str) -> str | None:
    if done.returncode != 1:
        return f"exit code {done.returncode}: {done.stderr[-200:]}"
    if "Traceback" in done.stderr and done.args[1] != "-c":  # a script of its own shows the error as Python does
        return "a traceback: " + done.stderr.splitlines()[-1]
    if named not in done.stderr.splitlines()[-1] and "trials.jsonl" not in done.stderr.splitlines()[-1]:
        return "the file is not named: " + done.stderr.splitlines()[-1]
    if hidden := [path.name for path in folder.rglob(".*")]:
        return f"orphans {hidden}"
    return None if pl.load(folder / MODEL).threshold == 7.0 else "the old model is gone"


def full_output(*words: str) -> Row:
    """A command whose standard output takes nothing."""
    with open("/dev/full", "wb") as sink:
        done = subprocess.run([*PAIRLEARN, *words], stdout=sink, stderr=subprocess.PIPE, text=True)
    wrong = "a traceback" if "Traceback" in done.stderr or "Exception" in done.stderr else None
    if not wrong and done.returncode != 1:
        wrong = f"exit code {done.returncode}"
    said = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
    return f"output full {' '.join(words)}", 1, int(wrong is not None), f"{wrong or 'one line'}: {said[:90]}"


def run() -> list[Row]:
    """A row per job: name, runs, runs that went wrong, and what was said."""
    rows = [full(job) for job in JOBS]
    if Path("/dev/full").exists() and sys.platform == "linux":
        rows += [full_output("--help"), full_output("info", "--help"), full_output("--version")]
    return rows
