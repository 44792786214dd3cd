"""Checkpoints: what a fit has found so far, in a file that the same fit goes on from."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.data.writing import check_target, remove_orphans
from pairlearn.errors import InputError
from pairlearn.kernels.rows import is_positive
from pairlearn.machines.resuming import Fingerprint, State, differences
from pairlearn.persist.documents import Format
from pairlearn.persist.files import Tensors
from pairlearn.persist.kinds import (
    COUNT,
    FINITE,
    LEAST_ZERO,
    TEXT,
    Kind,
    bounded,
    check_fields,
    doubles,
    indices,
    maybe,
)

FILE = Format("checkpoint", 1, "delete it, and the fit starts anew")
FIELDS: dict[str, Kind] = {
    "support": indices("n"),
    "coefficients": doubles("n"),
    "gap": maybe(FINITE),
    "objective": FINITE,
    "begun": TEXT,
    "reached": COUNT,
    "steps": COUNT,
    "seconds": LEAST_ZERO,
    "runs": COUNT,
}
"""What a state may hold; a gap that nobody knows is none."""
ARRAYS = ("support", "coefficients")


@dataclass(frozen=True)
class Checkpoint:
    """A file in which a fit puts by what it has found, and from which the same fit goes on after any end.

    Every `every` seconds, or at the next step of the solver, the coefficients with the least objective so far take the
    place of the last ones, all or nothing. A file of other data or settings is refused, and so is a damaged one:
    written in one step it cannot be half of a checkpoint, so that it may be something else that nobody wants replaced.
    When a fit converges its file is removed, unless `keep`. One file serves one fit at a time.

    >>> import os, tempfile, pairlearn as pl
    >>> X, classes = pl.data.double_interval(20, 5, n=50, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = pl.Checkpoint(os.path.join(folder, "run.checkpoint"))
    ...     clf = pl.PairSVC(base="poly", checkpoint=checkpoint, callback=lambda line: line.iteration == 2)
    ...     broken_off = clf.fit(pairs, pairs.labels(classes)).fit_status_
    ...     clf.set_params(callback=None).fit(pairs, pairs.labels(classes)).fit_status_, clf.n_runs_
    ('converged', 2)
    """

    path: str | Path
    every: float = 60.0
    keep: bool = False

    def read(self, fingerprint: Fingerprint, n_pairs: int) -> State | None:
        """The state of this problem, None without a file; what stands in the way of writing one is told now."""
        if not is_positive(self.every):
            raise InputError(
                f"seconds between two checkpoints (every=, --checkpoint-every) are > 0, got {self.every!r}; try 60"
            )
        target = check_target(self.path)
        if not target.exists():
            return None
        document, tensors = FILE.read(target)
        with FILE.noticing_damage(self.path):
            there = {str(name): str(part) for name, part in document["problem"].items()}
        if other := differences(there, fingerprint):
            raise InputError(
                f"{self.path} is the checkpoint of another fit: it differs in {other}; go on with that fit, name "
                "another file, or delete this one to start anew"
            )
        with FILE.noticing_damage(self.path):
            return _state(document["state"], tensors, n_pairs)

    def write(self, fingerprint: Fingerprint, state: State) -> None:
        """Put the state in the file."""
        parts: dict[str, Any] = {name: getattr(state, name) for name in FIELDS}
        tensors: Tensors = {name: parts.pop(name) for name in ARRAYS}
        parts["gap"] = state.gap if isfinite(state.gap) else None
        FILE.write(self.path, {"problem": fingerprint, "state": parts}, tensors)

    def finish(self) -> None:
        """Remove the file after a fit that converged; `keep` leaves that to whoever saves the model."""
        if not self.keep:
            self.remove()

    def remove(self) -> None:
        """Remove the file, and what killed processes may have left beside it."""
        target = check_target(self.path)
        target.unlink(missing_ok=True)
        remove_orphans(target.parent)


def _state(parts: dict[str, Any], tensors: Tensors, n_pairs: int) -> State:
    """The state that was written so, each field held against its kind."""
    found = {**parts, **tensors}
    if missing := [name for name in FIELDS if name not in found]:
        raise InputError(f"{missing[0]} is missing")
    kinds = {**FIELDS, "support": bounded(FIELDS["support"], n_pairs)}
    check_fields("checkpoint", kinds, found, "")
    if found["reached"] > n_pairs or (np.diff(found["support"]) <= 0).any():
        raise InputError("its support pairs are not in order, or more pairs were looked at than there are")
    return State(**{**found, "gap": np.inf if found["gap"] is None else found["gap"]})
