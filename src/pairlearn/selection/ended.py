"""What both searches ask of a trial: whether it tells something, and whether it was broken off before it did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import numpy as np

from pairlearn.errors import InputError
from pairlearn.solvers.problem import Status

Fitted = TypeVar("Fitted", bound=Any)
FAILURES = (InputError, MemoryError, np.linalg.LinAlgError)
"""What a setting may do without ending the search: it is noted as a failed trial."""
NEAR = 0.1
"""Largest KKT gap of a fit whose score says something of its setting: a tenth of the margin."""


def is_near(status: Any, gap: float) -> bool:
    """Whether a fit converged, or was broken off when little was left to do."""
    return bool(status == Status.CONVERGED or gap <= NEAR)


def is_no_worse(machine: Any, than: Any) -> bool:
    """Whether one machine converged, or came as near to it as another one."""
    return bool(machine.fit_status_ == Status.CONVERGED or machine.kkt_gap_ <= than.kkt_gap_)


def first_near(fits: Iterable[Fitted]) -> Fitted:
    """The first of these fits, made one after the other, that time does not break off early; the nearest to its end.

    Less to learn from helps only where time was short, and what fails is no reason to lose the fits before it.
    """
    fits = iter(fits)
    best = next(fits)
    found: Fitted | None = best
    while found is not None and _broken_off(found.machine):
        try:
            found = next(fits, None)
        except FAILURES:
            found = None
        if found is not None and (is_no_worse(found.machine, best.machine) or _interrupted(found.machine)):
            best = found
    return best


def _broken_off(machine: Any) -> bool:
    """Whether the time of a fit was up when much was left to do."""
    return bool(machine.fit_status_ == Status.TIME_BUDGET) and not is_near(machine.fit_status_, machine.kkt_gap_)


def _interrupted(machine: Any) -> bool:
    return bool(machine.fit_status_ == Status.INTERRUPTED)


class Ended(ABC):
    """A trial, however it ended; `score` (larger = better) is None where it failed, `gap` where there is none."""

    what: Any
    score: Any
    status: Any
    gap: Any
    seconds: Any

    @property
    @abstractmethod
    def key(self) -> tuple[Any, ...]:
        """What was tried, where."""

    @property
    @abstractmethod
    def n_trained(self) -> int:
        """Pairs that it learnt from."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[Hashable, ...]:
        """What its seconds tell something of, itself first."""

    @property
    def tells(self) -> bool:
        """Whether its score is that of its setting: a fit broken off early has lost nothing, it was not played."""
        return self.score is not None and (self.gap is None or is_near(self.status, self.gap))

    @property
    def broken_off(self) -> bool:
        """Whether its time was up before it told anything."""
        return bool(self.status == Status.TIME_BUDGET) and not self.tells
