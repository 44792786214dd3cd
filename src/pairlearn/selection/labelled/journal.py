"""The journal of a search on labelled pairs: every trial is a line of a file, with its answers, for a killed search."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from pairlearn.errors import InputError
from pairlearn.selection.labelled.trials import Labelled, Trial, What
from pairlearn.selection.search.journal import Lines
from pairlearn.selection.search.trials import as_number

NUMBERS = ("value", "score", "low", "high", "slope", "seconds", "gap")
Key = tuple[str, int, int]
"""What was tried, by name, on how many pairs of which split."""


class Journal:
    """Trials of this process and of those before it, in a file of their own for every data and every settings.

    `spent` are the seconds of the search so far, over all its processes, so that a budget is not begun anew.
    """

    def __init__(self, directory: str | Path | None, fingerprint: str) -> None:
        self.spent = 0.0
        self._lines = None if directory is None else Lines(Path(directory) / f"pairs-{fingerprint}.jsonl", fingerprint)
        self._before: dict[Key, Trial] = {}
        for trial in self._lines.each(self._taken) if self._lines is not None else ():
            self._before[str(trial.what), trial.size, trial.split] = trial

    def known(self, what: What, size: int, split: int) -> Trial | None:
        """The trial, if a process before this one made it."""
        return self._before.get((str(what), size, split))

    def add(self, trial: Trial, elapsed: float) -> None:
        """Keep a trial, after so many seconds of the whole search."""
        if self._lines is not None:
            held = None if trial.answers is None else base64.b64encode(np.float64(trial.answers).tobytes()).decode()
            self._lines.write({"elapsed": elapsed, **trial.as_json(), "answers": held})

    def _taken(self, record: dict[str, Any]) -> Trial:
        """The trial of a line; ValueError, TypeError or KeyError if it is none."""
        self.spent = as_number(record["elapsed"])
        numbers = {name: None if record[name] is None else as_number(record[name]) for name in NUMBERS}
        held = record["answers"]
        answers = None if held is None else np.frombuffer(base64.b64decode(held, validate=True), dtype=np.float64)
        place = str(record["what"]), int(record["size"]), int(record["split"])
        return Trial(*place, **numbers, status=str(record["status"]), answers=answers)  # type: ignore[arg-type]


def fingerprint(data: Labelled, options: list[Any], directory: str | Path | None) -> str:
    """Of the data and of every option that decides results, the same in every process; "" without a directory."""
    if directory is None:
        return ""
    pairs = data.pairs
    parts = (pairs.examples, pairs.right_examples, pairs.left, pairs.right, pairs.signed, pairs.invariant, data.labels)
    try:
        return str(joblib.hash((parts, options)))
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise InputError(
            f"a search that can go on needs kernels, splits and objectives that can be pickled ({error}); define "
            "functions in a module, or leave directory out"
        ) from error
