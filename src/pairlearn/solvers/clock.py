"""Time that a solver has."""

from __future__ import annotations

import time
from dataclasses import dataclass


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
    def expired(self) -> bool:
        """Whether there is no time left."""
        return time.perf_counter() >= self.deadline
