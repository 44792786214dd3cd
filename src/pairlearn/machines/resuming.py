"""Long runs: coefficients are put by on the way, and a fit of the same problem goes on from them.

A `Journey` is one fit that may have begun in another process. It stands between the solver and the user's callback,
notes the best coefficients, and hands them to a `Store` now and then: `pl.Checkpoint`, which knows files.
What makes a problem this problem is its `fingerprint`, part by part, so that a refusal can say what differs.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import joblib
import numpy as np
from scipy import sparse

from pairlearn._version import __version__
from pairlearn.errors import CheckpointWarning, InputError, OutputError, warn_user
from pairlearn.machines.training import Training
from pairlearn.solvers.problem import Callback, Keeper, Problem, Progress, Solution, Status
from pairlearn.solvers.start import feasible
from pairlearn.types import Floats, Ints

Fingerprint = dict[str, str]
"""What defines a problem, by name: plain parameters as they are written, all else by a digest."""
SESSION = ("kernel", "base", "tol", "time_budget", "memory_budget", "random_state", "warm_start", "solver", "callback")
"""Parameters that leave the optimum where it is, or that are seen in the kernel."""
DERIVED = ("labels", "weights")
"""Parts that other parameters change too, so that they are named only where nothing else differs."""
SHARE = 0.01
"""Of the time that may go into writing: after one that took long the next comes later."""
WARM = "warm_start=True continues from here"
AGAIN = "the same fit again continues from here"
ANEW = "a larger time_budget leads further: Newton's method and the interior point keep little before their end"
PER_PAIR = 48
"""Bytes per support pair of what is put by: its number and coefficient, the same for the file, and the file."""


@dataclass(frozen=True)
class State:
    """Coefficients of the support pairs on the way, how good they are, and what it took in all runs so far.

    `begun` is the solver that found them; `reached` are the pairs that it has looked at, fewer than all for a guess
    from a subset, whose gap nobody knows (infinite).
    """

    support: Ints
    coefficients: Floats
    gap: float = np.inf
    objective: float = 0.0
    begun: str = ""
    reached: int = 0
    steps: int = 0
    seconds: float = 0.0
    runs: int = 0

    def theta(self, problem: Problem) -> Floats:
        """Feasible coefficients of all pairs, whatever these are: (n,)."""
        theta = np.zeros(len(problem))
        theta[self.support] = self.coefficients
        return feasible(theta, problem)


NOTHING = State(np.zeros(0, np.int64), np.zeros(0))


@runtime_checkable
class Store(Protocol):
    """Where a state is kept between runs."""

    @property
    def every(self) -> float:
        """Seconds between two states."""

    def read(self, fingerprint: Fingerprint, n_pairs: int) -> State | None:
        """The state of this problem, None if there is none yet; that of another problem is refused."""

    def write(self, fingerprint: Fingerprint, state: State) -> None:
        """Keep this state in place of the last one."""

    def finish(self) -> None:
        """The fit has converged: there is nothing left to go on from."""


def put_by(store: Store | None, n_pairs: int) -> int:
    """Bytes that it takes at most to keep a state of so many pairs in this store."""
    return 0 if store is None else PER_PAIR * n_pairs


class Journey(Keeper):
    """One fit, from where an earlier one of the same problem was broken off, if there was one."""

    def __init__(self, machine: Any, training: Training, problem: Problem) -> None:
        self.callback, self.store, self.n_pairs = machine.callback, machine.checkpoint, len(problem)
        self.clock, self.written = training.clock, training.clock.seconds
        self.before, self.fresh = NOTHING, False
        if self.store is not None:
            if not isinstance(self.store, Store):
                raise InputError(
                    f'checkpoint is a file to go on from, pl.Checkpoint("run.checkpoint"), got {self.store!r}'
                )
            self.fingerprint = fingerprint(machine, training, problem)
            self.before = self.store.read(self.fingerprint, self.n_pairs) or NOTHING
            self.pause = self.store.every
        self.state = replace(self.before, runs=self.before.runs + 1)

    @property
    def seconds(self) -> float:
        """Of all runs, as far as they were noted."""
        return self.before.seconds + self.clock.seconds

    @property
    def watch(self) -> Callback | None:
        """What the solver reports to."""
        return self.callback if self.store is None else self

    def start(self, problem: Problem) -> Floats | None:
        """Where an earlier run ended; None for the first one, or for one that found nothing."""
        return self.before.theta(problem) if self.before.begun else None

    @property
    def resumes(self) -> str:
        """How a fit that was broken off goes on, in words."""
        if self.store is None:
            return WARM
        return AGAIN if self.state.begun else ANEW

    # -- on the way

    def keep(self, theta: Floats, line: Progress, by: str) -> None:
        """Note these coefficients if they are the best so far: of more pairs, or of as many with no larger objective.

        Not by the gap: that often rises from one step to the next, above all from zero, and runs that are broken off
        after a step each would start from the same place forever. The objective falls with every step.
        """
        state, whole = self.state, len(theta) == self.n_pairs and np.isfinite(line.objective)
        if not whole or (line.n_pairs, -line.objective) < (state.reached, -state.objective):
            return
        support = np.flatnonzero(theta)
        self.fresh = True
        self.state = replace(
            state,
            support=support,
            coefficients=theta[support],
            gap=line.gap,
            objective=line.objective,
            begun=by,
            reached=line.n_pairs,
        )

    def __call__(self, line: Progress) -> bool:
        """Write what is new, if it is time for that, and ask the user."""
        self.state = replace(self.state, steps=self.state.steps + 1)
        if self.fresh and self.clock.seconds - self.written >= self.pause:
            self._write()
        return bool(self.callback(line)) if self.callback is not None else False

    def end(self, solution: Solution) -> Solution:
        """Keep the last coefficients, or nothing where the optimum was found; the solution with what this took."""
        if self.store is None:
            return solution
        # Coefficients from which no solver reported are none to go on from, as those of an interior point.
        if self.state.reached == self.n_pairs:
            line = Progress(0, solution.gap, solution.objective, 0, 0, 0.0, self.n_pairs)
            self.keep(solution.coefficients, line, self.state.begun)
        self._write()
        if solution.status is Status.CONVERGED:
            self.store.finish()
        return replace(solution, taken=solution.taken + PER_PAIR * len(self.state.support))

    def _write(self) -> None:
        """Write the state; a full disk is no reason to lose what was learnt."""
        began = self.clock.seconds
        try:
            self.store.write(self.fingerprint, replace(self.state, seconds=self.seconds))
        except OutputError as error:
            warn_user(f"{error}. The fit goes on, but could not be resumed from here", CheckpointWarning)
        self.written, self.fresh = self.clock.seconds, False
        self.pause = max(self.store.every, (self.written - began) / SHARE)


# --------------------------------------------------------------------------- what makes a problem this problem


def fingerprint(machine: Any, training: Training, problem: Problem) -> Fingerprint:
    """Everything that decides where the optimum is, by name.

    Labels and weights count to the digits of float32: other processors round standardised targets otherwise, and any
    coefficients are a start.
    """
    pairs = training.pairs
    given = {name: value for name, value in machine.get_params(deep=False).items() if name not in SESSION}
    del given["checkpoint"]
    return {
        "version of pairlearn": __version__,
        "machine": type(machine).__name__,
        **{name: repr(value) for name, value in given.items()},
        "kernel": _without_places(repr(training.kernel)),
        "examples": _digest(*pairs.tables.sides, pairs.ids),
        "pairs": _digest(pairs.left, pairs.right, pairs.invariant, pairs.signed),
        "labels": _digest(_rounded(problem.linear)),
        "weights": _digest(_rounded(problem.lower), _rounded(problem.upper)),
    }


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What tells two fingerprints apart, in words; "" if nothing does.

    >>> differences({"C": "1.0", "labels": "af", "pairs": "b2"}, {"C": "2.0", "labels": "e0", "pairs": "b2"})
    'C (1.0 there, 2.0 here)'
    """
    other = [name for name in here if there.get(name) != here[name]]
    other = [name for name in other if name not in DERIVED] or other
    return ", ".join(f"{name}{_told(there.get(name, 'none'), here[name])}" for name in other)


def _told(there: str, here: str) -> str:
    """Both values where they can be read."""
    plain = all(len(value) <= 60 and not re.fullmatch(r"[0-9a-f]{40}", value) for value in (there, here))
    return f" ({there} there, {here} here)" if plain else ""


def _without_places(text: str) -> str:
    """The same without places in memory, which are others in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _rounded(values: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return values.astype(np.float32)


def _digest(*parts: Any) -> str:
    """40 hexadecimal digits of the content of tables, columns and lists of objects."""
    found = hashlib.blake2b(digest_size=20)
    for part in parts:
        for content in _contents(part):
            found.update(content)
    return found.hexdigest()


def _contents(part: Any) -> Iterator[Any]:
    if isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
        yield f"{part.dtype} {part.shape}".encode()
        yield np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        return
    if sparse.issparse(part):
        rows = sparse.csr_array(part)
        for each in (np.array(rows.shape), rows.data, rows.indices, rows.indptr):
            yield from _contents(each)
        return
    try:
        yield str(joblib.hash(part)).encode()
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise InputError(
            f"a fit that can go on needs examples that can be pickled ({error}); leave checkpoint out"
        ) from error
