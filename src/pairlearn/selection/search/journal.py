"""The journal of a search: every trial is a line of a file, so that a killed search goes on where it was.

It follows its plan again and recalls each trial when the plan comes to it; those that came later decide nothing before.
JSON lines that are only ever appended and synced: whatever kills the process, all lines but the last are whole, and
half a last line is one trial to run again. A database would promise the same with more to go wrong.
"""

from __future__ import annotations

import json
import os
import pickle
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

import joblib

from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.sources import existing_file
from pairlearn.data.writing import naming
from pairlearn.errors import InputError
from pairlearn.selection.ended import Ended
from pairlearn.selection.search.clock import GROWTH, Clock, expected_seconds
from pairlearn.selection.search.trials import Trial, as_number

T = TypeVar("T")
Tried = TypeVar("Tried", bound=Ended)
NAME = "trials.jsonl"
PACES, LEAST_SECONDS = 9, 0.05
"""Trials by which the pace is told, those that repeat others on other splits; shorter ones tell nothing."""


class Lines:
    """Trials in a file, one JSON line each; the first line is a fingerprint of data and settings.

    The file of another search is refused, since its trials would be taken for those of this one.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._known: list[tuple[int, str]] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            self._read(fingerprint)
        else:
            self.write({"fingerprint": fingerprint})

    def write(self, record: dict[str, Any]) -> None:
        """One more line, safe on the disk."""
        with naming(self._path), self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record) + "\n")
            lines.flush()
            os.fsync(lines.fileno())

    def each(self, taken: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """What `taken` makes of every line that was there before, which any editor may have spoilt."""
        for number, line in self._known:
            try:
                yield taken(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise InputError(
                    f"{self._path}: line {number} is not the record of a trial; delete the line, and the trial runs "
                    "again"
                ) from None

    def _read(self, fingerprint: str) -> None:
        content = existing_file(self._path).read_bytes()
        # A kill may leave half a line: it is dropped, and the trial runs again.
        whole = content[: content.rfind(b"\n") + 1]
        first = json.dumps({"fingerprint": fingerprint}) + "\n"
        if not (whole or content).startswith(first.encode()[: len(content)]):
            raise InputError(
                f"{self._path} belongs to a selection with other data or other settings; name another "
                "directory (--dir), or delete this one to start anew"
            )
        os.truncate(self._path, len(whole))
        if not whole:
            self.write({"fingerprint": fingerprint})
        self._known = list(islice(enumerate(lines_of(self._path, BytesIO(whole)), start=1), 1, None))


class Memory(Generic[Tried]):
    """Trials by what was tried where; with a file they are also lines of it, which `read` takes and `write` makes.

    `trials` are those so far: made by this process, or recalled from one before it. `spent` are the seconds of those
    processes, so that a budget is not begun anew by a restart.
    """

    def __init__(
        self,
        path: Path | None,
        fingerprint: str,
        read: Callable[[dict[str, Any]], Tried],
        write: Callable[[Tried], dict[str, Any]],
    ) -> None:
        self.trials: dict[tuple[Any, ...], Tried] = {}
        self.spent = 0.0
        self._write = write
        self._before: dict[tuple[Any, ...], tuple[float, Tried]] = {}
        self._seconds: dict[Hashable, list[tuple[int, float]]] = {}
        self._at_least: dict[Hashable, list[tuple[int, float]]] = {}
        self._paces: deque[float] = deque(maxlen=PACES)
        self._lines = None if path is None else Lines(path, fingerprint)

        def taken(line: dict[str, Any]) -> tuple[float, Tried]:
            return as_number(line.pop("elapsed")), read(line)

        for elapsed, trial in () if self._lines is None else self._lines.each(taken):
            self.spent = max(self.spent, elapsed)  # a search that goes on begins at the first second again
            # What was broken off and tried again was first tried when the plan came to it.
            first, _ = self._before.get(trial.key, (elapsed, trial))
            self._before[trial.key] = first, trial

    def __len__(self) -> int:
        return len(self._before.keys() | self.trials.keys())

    def tried(self, key: tuple[Any, ...], clock: Clock) -> bool:
        """Whether it was, by this process or one before it; what was broken off is tried again where there is time."""
        if key in self._before:
            seconds, trial = self._before.pop(key)
            clock.reach(seconds)
            self.know(trial)
        known = self.trials.get(key)
        return known is not None and not known.broken_off

    @property
    def rest(self) -> list[Tried]:
        """Those of processes before this one that the plan has not come to."""
        return [trial for _, trial in self._before.values()]

    def recall_rest(self) -> list[Tried]:
        """Know these as well, now."""
        rest = self.rest
        self._before.clear()
        for trial in rest:
            self.know(trial)
        return rest

    def add(self, trials: Iterable[Tried], elapsed: float) -> None:
        """Keep these trials, after so many seconds of the whole search."""
        for trial in trials:
            self.know(trial)
            if self._lines is not None:
                self._lines.write({"elapsed": elapsed, **self._write(trial)})

    def know(self, trial: Tried) -> None:
        """Take a trial for one of those so far, and its seconds for those of its kinds."""
        self.trials[trial.key] = trial
        took = (trial.n_trained, trial.seconds)
        if trial.broken_off:
            self._at_least.setdefault(trial.kinds[0], []).append(took)
        elif trial.score is not None:
            self._compare(trial)
            for kind in trial.kinds:
                self._seconds.setdefault(kind, []).append(took)

    # -- seconds

    @property
    def pace(self) -> float:
        """How many times longer work takes now than it did before, 1 at least: others may use the machine too."""
        return max(1.0, median(self._paces)) if self._paces else 1.0

    def expected(self, kinds: Sequence[Hashable], n_pairs: int, growth: float = GROWTH) -> float | None:
        """Seconds of work of the first of these kinds that is known; None if none is.

        At least those after which the first kind itself was broken off.
        """
        known = next((self._seconds[kind] for kind in kinds if kind in self._seconds), [])
        found = expected_seconds(known, n_pairs, growth)
        least = [seconds * (n_pairs / n) ** growth for n, seconds in self._at_least.get(kinds[0], [])]
        longest = max([*least, *([] if found is None else [found])], default=None)
        return None if longest is None else self.pace * longest

    def _compare(self, trial: Tried) -> None:
        """What this trial took, beside those before of the same setting on as many pairs."""
        n_pairs, known = trial.n_trained, self._seconds.get(trial.kinds[0], [])
        before = expected_seconds([each for each in known if abs(each[0] - n_pairs) <= 0.1 * each[0]], n_pairs)
        if before is not None and min(before, trial.seconds) > LEAST_SECONDS:
            self._paces.append(trial.seconds / before)


class Journal(Memory[Trial]):
    """The trials of a staged search; with a directory they are also lines of a file there."""

    def __init__(self, directory: str | Path | None, fingerprint: str) -> None:
        path = None if directory is None else Path(directory) / NAME
        super().__init__(path, fingerprint, Trial.from_json, Trial.as_json)


def fingerprint(parts: Any, directory: str | Path | None) -> str:
    """Of the data and of every option that decides results, the same in every process; "" without a directory."""
    if directory is None:
        return ""
    try:
        return str(joblib.hash(parts))
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise InputError(
            f"a search that can go on needs kernels, splits and objectives that can be pickled ({error}); define "
            "functions in a module, or leave directory out"
        ) from error
