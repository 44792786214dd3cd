"""The journal of a search: every trial is a line of a file, so that a killed search goes on where it was.

JSON lines that are only ever appended and synced: whatever kills the process, all lines but the last are whole, and
half a last line is one trial to run again. A database would promise the same with more to go wrong.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.sources import existing_file
from pairlearn.data.writing import naming
from pairlearn.errors import InputError
from pairlearn.selection.search.clock import expected_seconds
from pairlearn.selection.search.settings import Setting
from pairlearn.selection.search.trials import Trial, as_number
from pairlearn.selection.search.whitened.names import Part

T = TypeVar("T")
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


class Journal:
    """Trials by what was tried where; with a directory they are also lines of a file there.

    `spent` are the seconds of the search so far, over all its processes, so that
    a budget is not begun anew by a restart. `seconds` are (pairs, seconds) of the trials of every setting, of every
    family, of every baseline, of all settings, and of all single views.
    """

    def __init__(self, directory: str | Path | None, fingerprint: str) -> None:
        self.trials: dict[tuple[Any, ...], Trial] = {}
        self.spent = 0.0
        self.seconds: dict[Any, list[tuple[int, float]]] = {}
        self._paces: deque[float] = deque(maxlen=PACES)
        self._lines = None if directory is None else Lines(Path(directory) / NAME, fingerprint)
        for trial in self._lines.each(self._taken) if self._lines is not None else ():
            self._know(trial)

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def pace(self) -> float:
        """How many times longer work takes now than it did before, 1 at least: others may use the machine too."""
        return max(1.0, median(self._paces)) if self._paces else 1.0

    def add(self, trials: Iterable[Trial], elapsed: float) -> None:
        """Keep these trials, after so many seconds of the whole selection."""
        self.spent = elapsed
        for trial in trials:
            self._know(trial)
            if self._lines is not None:
                self._lines.write({"elapsed": elapsed, **trial.as_json()})

    def _taken(self, record: dict[str, Any]) -> Trial:
        """The trial of a line, and the seconds until then."""
        self.spent = as_number(record.pop("elapsed"))
        return Trial.from_json(record)

    def _know(self, trial: Trial) -> None:
        self.trials[trial.key] = trial
        if trial.succeeded:
            self._compare(trial)
            setting = trial.setting
            # Baselines and views as machines take a moment: their seconds tell nothing of others.
            more: tuple[Any, ...] = () if setting is None or setting.quick else (setting.family, Setting)
            more = (Part,) if setting is not None and len(setting.views) == 1 else more
            kinds: tuple[Any, ...] = (trial.what, *more)
            for what in kinds:
                self.seconds.setdefault(what, []).append((trial.n_pairs, trial.seconds))

    def _compare(self, trial: Trial) -> None:
        """What this trial took, beside those before of the same setting on as many pairs."""
        alike = [each for each in self.seconds.get(trial.what, []) if abs(each[0] - trial.n_pairs) <= 0.1 * each[0]]
        before = expected_seconds(alike, trial.n_pairs)
        if before is not None and min(before, trial.seconds) > LEAST_SECONDS:
            self._paces.append(trial.seconds / before)
