"""What both searches ask of a trial: whether it tells something, and whether it was broken off before it did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

from pairlearn.solvers.problem import Status

Fitted = TypeVar("Fitted", bound=Any)
NEAR = 0.1
"""Largest KKT gap of a fit whose score says something of its setting: a tenth of the margin."""


def is_near(status: Any, gap: float) -> bool:
    """Whether a fit converged, or was broken off when little was left to do."""
    return bool(status == Status.CONVERGED or gap <= NEAR)


def is_no_worse(machine: Any, than: Any) -> bool:
    """Whether one machine converged, or came as near to it as another one."""
    return bool(machine.fit_status_ == Status.CONVERGED or machine.kkt_gap_ <= than.kkt_gap_)


def first_near(fits: Iterable[Fitted]) -> Fitted:
    """The first of these fits, made one after the other, that comes near its end; else the one that comes nearest."""
    best: Fitted | None = None
    for found in fits:
        best = found if best is None or is_no_worse(found.machine, best.machine) else best
        status = found.machine.fit_status_
        if status == Status.INTERRUPTED or is_near(status, found.machine.kkt_gap_):
            return found
    assert best is not None
    return best


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
