"""Cases in worker processes: what was used, refused, or went wrong, and what memory and time it took.

A case is a target, a seed and a number, nothing else: it can be made again at any time. A worker imports a target once
and then takes case after case; the parent watches the clock. A file is *refused* by an error of the library that names
it; any other exception is *foreign*. A worker that dies is a crash, one that does not answer a hang.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pkgutil
import queue
import re
import resource
import shutil
import signal
import threading
import time
import traceback
import warnings
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

import tools.fuzz
from benchmarks.harness import Figure

SECONDS = 60.0
"""Time for one case, far more than any needs: beside busy neighbours only what never ends takes it."""
MEMORY = 200e6, 3.0
"""A case may take so many bytes beside those of the idle worker, and so many for every byte of its file."""
ROOM = 16e9
"""Address space of a worker: what asks for more fails there and not on the machine."""
GROWN = 60e6
"""A worker that keeps more than this is replaced, so that memory is measured from one level."""
SHOWN = 400
"""Characters of a complaint that are shown."""
READABLE = 1000
"""Characters that a refusal may have beside the path of its file."""
WARM = 2**32
"""Seed of the files with which a worker begins."""


class Target(Protocol):
    """What is attacked: how a file is made and how it is used."""

    NAME: str

    def make(self, rng: np.random.Generator, folder: Path) -> Path:
        """Write one mutated file."""

    def use(self, path: Path) -> str:
        """Read it as users do; a word for what came of it, or an error."""


@dataclass(frozen=True)
class Case:
    """One mutated file, by the name of its target, a seed and a number.

    >>> Case("tables", 0, 17)
    Case(target='tables', seed=0, number=17)
    """

    target: str
    seed: int
    number: int

    def make(self, folder: Path) -> Path:
        """The file; the same every time."""
        rng = np.random.default_rng([zlib.crc32(self.target.encode()), self.seed, self.number])
        return targets()[self.target].make(rng, folder)


class Outcome(NamedTuple):
    """What became of a case: used, refused, foreign, crash or hang; the complaint, bytes of memory and of the file."""

    case: Case
    verdict: str
    words: str = ""
    memory: float = 0.0
    size: int = 0
    seconds: float = 0.0

    @property
    def over_memory(self) -> bool:
        """Whether it took more than the file explains."""
        return self.memory > MEMORY[0] + MEMORY[1] * self.size

    @property
    def wrong(self) -> bool:
        """Whether a promise was broken."""
        return self.over_memory or self.verdict not in ("used", "refused")

    def __str__(self) -> str:
        fault = f"{self.verdict}{', over memory' if self.over_memory else ''}"
        place = f"--targets {self.case.target} --seed {self.case.seed} --case {self.case.number}"
        return f"{fault} ({place}; {self.size:,} bytes, {self.memory / 1e6:,.0f} MB): {self.words[-SHOWN:]}"


def targets() -> dict[str, Any]:
    """The modules of this package that are targets, by name; names with a stroke before them are for tests."""
    modules = (import_module(f"tools.fuzz.{each.name}") for each in pkgutil.iter_modules(tools.fuzz.__path__))
    return {module.NAME: module for module in modules if hasattr(module, "NAME")}


# --------------------------------------------------------------------------- in the worker


def work(pipe: Connection, folder: Path) -> None:
    """Take files until the parent ends it, and tell what became of them."""
    resource.setrlimit(resource.RLIMIT_AS, (int(ROOM), int(ROOM)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    complaints = os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(complaints, 2)
    level = _warm(folder)
    pipe.send("ready")
    while True:
        outcome = _outcome(*pipe.recv(), level)
        pipe.send((outcome, _memory("VmRSS") > level + GROWN))


def _warm(folder: Path) -> float:
    """Use a few files of every target, so that everything is imported; bytes of the idle worker.

    What is loaded late and only by few files (compiled loops) a target may load itself, by `warm()`.
    """
    for name, target in targets().items():
        if name.startswith("_"):
            continue
        getattr(target, "warm", int)()
        for number in range(3):
            case = Case(name, WARM, number)
            _outcome(case, case.make(_emptied(folder / "warm")), 0.0)
    return _memory("VmRSS")


def _outcome(case: Case, path: Path, level: float) -> Outcome:
    began, size = time.perf_counter(), path.stat().st_size
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    verdict, words = _judged(targets()[case.target], path)
    return Outcome(case, verdict, words, _memory("VmHWM") - level, size, time.perf_counter() - began)


def _judged(target: Target, path: Path) -> tuple[str, str]:
    """Used, refused in words that name the file, or foreign."""
    try:
        return "used", target.use(path)
    except BaseException as error:
        text = str(error)
        if not type(error).__module__.startswith("pairlearn"):
            return "foreign", traceback.format_exc()
        if path.name not in text or "\n" in text or len(text) > READABLE + len(str(path)):
            return "foreign", f"a refusal that is long or does not name {path.name}: {text}"
        return "refused", text


def _memory(what: str) -> float:
    """VmRSS or VmHWM of this process, in bytes."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024.0 * int(found[1]) if found else 0.0


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# --------------------------------------------------------------------------- in the parent


@dataclass
class Worker:
    """A process that takes cases, replaced when it dies, does not answer or has grown."""

    folder: Path
    kept: Path
    seconds: float = SECONDS
    _process: Any = None
    _pipe: Any = None

    def run(self, case: Case) -> Outcome:
        """The outcome of a case; a file that broke a promise is kept."""
        fresh = self._process is None
        outcome = self._watched(case)
        if (outcome.over_memory or outcome.verdict == "hang") and not fresh:
            # Earlier cases may have left memory behind, and the machine may have stood still: a new worker tells.
            self.stop()
            outcome = self._watched(case)
        if outcome.wrong:
            place = self.kept / f"{case.target}-{case.seed}-{case.number}"
            shutil.copytree(self.folder / "case", place, dirs_exist_ok=True)
            (place / "what").write_text(f"{outcome}\n{outcome.words}\n{self._said()}", errors="replace")
        return outcome

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, self.folder), daemon=True)
        self._process.start()
        theirs.close()
        self._pipe.recv()

    def _watched(self, case: Case) -> Outcome:
        if self._process is None:
            self._start()
        path = case.make(_emptied(self.folder / "case"))
        began, size = time.perf_counter(), path.stat().st_size
        try:
            self._pipe.send((case, path))
            outcome, grown = self._answer()
        except (EOFError, OSError) as error:
            hang = isinstance(error, TimeoutError)
            self.stop() if hang else self._process.join()
            words = "" if hang else f"exit code {self._process.exitcode}: {self._said()}"
            self._process = None
            return Outcome(case, "hang" if hang else "crash", words, 0.0, size, time.perf_counter() - began)
        if grown:
            self.stop()
        return outcome

    def _answer(self) -> Any:
        if not self._pipe.poll(self.seconds):
            raise TimeoutError
        return self._pipe.recv()

    def _said(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")[-2000:]


def run_cases(cases: Iterable[Case], folder: Path, workers: int) -> Iterator[Outcome]:
    """Outcomes as they come; `folder` keeps the files that broke a promise, in `kept`."""
    waiting, lock = iter(cases), threading.Lock()
    found: queue.Queue[Outcome | BaseException | None] = queue.Queue()

    def drive(worker: Worker) -> None:
        try:
            while (case := _next(waiting, lock)) is not None:
                found.put(worker.run(case))
            found.put(None)
        except BaseException as error:
            found.put(error)
        finally:
            worker.stop()

    for number in range(workers):
        place = Worker(folder / f"worker{number}", folder / "kept")
        threading.Thread(target=drive, args=(place,), daemon=True).start()
    while workers:
        outcome = found.get()
        if isinstance(outcome, BaseException):
            raise outcome
        workers -= outcome is None
        if outcome is not None:
            yield outcome


def _next(cases: Iterator[Case], lock: threading.Lock) -> Case | None:
    with lock:
        return next(cases, None)


# --------------------------------------------------------------------------- what is told


@dataclass
class Tally:
    """Outcomes of one target, counted."""

    name: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    memory: float = 0.0
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.counts["cases"] += 1
        self.counts[outcome.verdict] += 1
        self.counts["over memory"] += outcome.over_memory
        self.memory = max(self.memory, outcome.memory)
        self.seconds = max(self.seconds, outcome.seconds)

    def figures(self) -> list[dict[str, Any]]:
        """What scripts print as their last line: every count, those of broken promises with their goal."""
        values = {**self.counts, "most MB": round(self.memory / 1e6, 1), "longest s": round(self.seconds, 2)}
        wrong = ("foreign", "crash", "hang", "over memory")
        return [
            Figure(f"{self.name}: {name}", value, "== 0" if name in wrong else None).as_json()
            for name, value in values.items()
        ]

    def __str__(self) -> str:
        counts = "".join(f"{self.counts[name]:>{len(name) + 3},}" for name in COUNTED)
        return f"{self.name:<10}{counts}{self.memory / 1e6:>10,.0f}{self.seconds:>12.2f}"


COUNTED = ("cases", "used", "refused", "foreign", "crash", "hang", "over memory")


def print_tallies(tallies: Iterable[Tally]) -> int:
    """A table, then one JSON list as the last line; the exit code."""
    tallies = list(tallies)
    print(f"\n{'target':<10}{''.join(f'   {name}' for name in COUNTED)}{'most MB':>10}{'longest s':>12}")
    print("\n".join(map(str, tallies)))
    figures = [figure for tally in tallies for figure in tally.figures()]
    print(json.dumps(figures))
    return int(any(figure["ok"] is False for figure in figures))
