"""Long fits: the file that they go on from, the time that is left by the fall of the KKT gap, and Ctrl-C after them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pairlearn as pl
from pairlearn.cli.run import Run
from pairlearn.errors import InputError
from pairlearn.interrupts import on_interrupt
from pairlearn.words import counted

if TYPE_CHECKING:
    from pairlearn.solvers.problem import Progress as Step

LEAST, MOST = 5, 12
"""Lines before anything is said, and the last ones that are looked at."""
SURE = 3.0
"""Standard errors by which the gap must fall: the time is then right to within a factor of about two, if it goes on."""
UNKNOWN = "time left unknown: the gap does not fall steadily"
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def checkpointed(run: Run, machine: Any, path: Path | None, every: float, out: Path) -> pl.Checkpoint | None:
    """Let the machine keep what it finds in this file, until its model is written; says what is there already."""
    if path is None:
        return None
    if "checkpoint" not in machine.get_params(deep=False):
        raise InputError(f"a {type(machine).__name__} cannot go on from a file; leave --checkpoint out")
    if path.resolve() == out.resolve():
        raise InputError(f"--checkpoint and --out are the same file, {path}; name another one for the checkpoint")
    checkpoint = pl.Checkpoint(path, every, keep=True)
    machine.set_params(checkpoint=checkpoint)
    if path.exists():
        run.note(f"going on from {path}, if it is of this fit; delete it to start anew")
    return checkpoint


def settle(run: Run, machine: Any, checkpoint: pl.Checkpoint) -> None:
    """After the model was written its checkpoint goes, unless there is something left to go on with."""
    if machine.fit_status_ == "converged":
        checkpoint.remove()
    else:
        run.note(f"{checkpoint.path} stays: the same command goes on from it (--force replaces the model)")


# --------------------------------------------------------------------------- after the fit


class StoppedError(Exception):
    """Ctrl-C after the model was learnt: solvers would turn a KeyboardInterrupt into a model and go on."""


@contextmanager
def sparing_the_model(told: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C ends what is inside and not the command, since the model is learnt and not yet written; then `told`."""

    def stop() -> None:
        raise StoppedError

    try:
        with on_interrupt(stop):
            yield
    except StoppedError:
        told()


# --------------------------------------------------------------------------- time left


class TimeLeft:
    """The line through log gap over time of the last lines, and where it meets the tolerance.

    t_left = log(gap / tol) / −slope. Lines of subsets, half of the `n_pairs` at most, tell nothing of the whole.
    """

    def __init__(self, tol: float, n_pairs: int) -> None:
        self.tol, self.n_pairs = tol, n_pairs
        self._lines: deque[tuple[float, float]] = deque(maxlen=MOST)

    def after(self, step: Step) -> str:
        """What to say after one more line: "" before anything can be known."""
        if 2 * step.n_pairs <= self.n_pairs or step.gap <= self.tol or not math.isfinite(step.gap):
            return ""
        self._lines.append((step.seconds, math.log(step.gap)))
        if len(self._lines) < LEAST:
            return ""
        seconds = seconds_left(np.array(self._lines), math.log(self.tol))
        return UNKNOWN if seconds is None else f"about {rounded(seconds)} left if it goes on like this"


def seconds_left(lines: np.ndarray, target: float) -> float | None:
    """Seconds until log gap meets the target, by lines (seconds, log gap); None where it does not surely fall.

    >>> seconds_left(np.array([[0.0, 0.0], [1.0, -1.1], [2.0, -1.9], [3.0, -3.0]]), -6.0)
    3.06...
    """
    t, y = lines.T - lines.mean(axis=0)[:, None]
    spread = float(t @ t)
    if spread <= 0:
        return None
    slope = float(t @ y) / spread
    error = math.sqrt(float(((y - slope * t) ** 2).sum()) / (len(t) - 2) / spread)
    if slope >= -SURE * error or slope == 0:
        return None
    return max(0.0, float(lines[-1, 1] - target) / -slope)


def rounded(seconds: float) -> str:
    """A time as it is said: 170 → 3 min, 4,000 → 1 h.

    >>> rounded(0.2), rounded(47), rounded(170), rounded(9000), rounded(4e5)
    ('1 s', '47 s', '3 min', '2 h', '5 d')
    """
    size, unit = next((each for each in UNITS if seconds >= 1.5 * each[0]), UNITS[-1])
    return f"{max(1, round(seconds / size)):,} {unit}"


def in_words(step: Step, n_pairs: int, left: str) -> str:
    """A line of the solver's history; of a subset with its size."""
    some = f"{step.n_pairs:,} of {n_pairs:,} pairs: " if 2 * step.n_pairs <= n_pairs else ""
    return f"{some}KKT gap {step.gap:.2g}, {counted(step.n_support, 'support pair')}{left and f', {left}'}"
