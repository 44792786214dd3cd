"""Time that a solver has."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

Look = Callable[[], None]
"""Called between pieces of a long computation; raises OutOfTimeError."""


class OutOfTimeError(Exception):
    """There is no time left for what was begun."""


@dataclass(frozen=True)
class Clock:
    """When a solver began and when it has to end, in seconds of `time.perf_counter`."""

    began: float
    deadline: float

    @classmethod
    def start(cls, budget: float | None = None) -> Clock:
        """A clock that starts now and has so many seconds; None has no end.

        >>> Clock.start(0.0).expired, Clock.start().expired
        (True, False)
        """
        now = time.perf_counter()
        return cls(now, float("inf") if budget is None else now + budget)

    @property
    def seconds(self) -> float:
        """Time gone."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Time that is left, never below 0."""
        return max(0.0, self.deadline - time.perf_counter())

    @property
    def expired(self) -> bool:
        """Whether there is no time left."""
        return time.perf_counter() >= self.deadline

    @property
    def ends(self) -> bool:
        """Whether there is an end at all."""
        return self.deadline < float("inf")

    @property
    def look(self) -> Look | None:
        """What long computations call in between; None without an end."""
        return self._look if self.ends else None

    def _look(self) -> None:
        if self.expired:
            raise OutOfTimeError

    def reserving(self, seconds: float) -> Clock:
        """The same with so many seconds less, which are kept for what comes after.

        >>> Clock(0.0, 10.0).reserving(4.0)
        Clock(began=0.0, deadline=6.0)
        """
        return replace(self, deadline=self.deadline - seconds)
