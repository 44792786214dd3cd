"""Time that a solver has, and how long a product over all pairs takes: what it has to know before it takes a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.linalg.tiles import product
from pairlearn.operators.base import PairOperator
from pairlearn.types import Floats

SAMPLES = (48, 192, 768)
"""Pairs whose values with each other are computed to learn what one costs, before the first product; more if quick."""
QUICK = 0.2
"""Seconds below which a measurement may be mostly overhead, or a moment in which others were busy."""
ORDER, TRIES = 384, 2
"""Rows of a product that shows how fast products are at this moment, in some milliseconds, and how many are made: the
slower one counts."""
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
    def budget(self) -> float | None:
        """What is left, as a time budget for whoever goes on: None without an end.

        >>> Clock.start().budget, Clock(0.0, 0.0).budget
        (None, 0.0)
        """
        return self.left if self.ends else None

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

    def affords(self, operations: float) -> bool:
        """Whether there is time for so many operations in products, by how long a small one takes at this moment.

        >>> Clock.start().affords(1e30), Clock.start(0.0).affords(1.0)
        (True, False)
        """
        return not self.ends or (not self.expired and operations * seconds_each() <= self.left)

    def reserving(self, seconds: float) -> Clock:
        """The same with so many seconds less, which are kept for what comes after.

        >>> Clock(0.0, 10.0).reserving(4.0)
        Clock(began=0.0, deadline=6.0)
        """
        return replace(self, deadline=self.deadline - seconds)


def seconds_each() -> float:
    """Seconds per operation of a product, at this moment."""
    A, taken = np.ones((ORDER, ORDER)), 0.0
    for _ in range(TRIES):
        began = time.perf_counter()
        product(A, A)
        taken = max(taken, time.perf_counter() - began)
    return taken / (2.0 * ORDER**3)


class Pace:
    """Products with an operator, and how long the next one would take by the last.

    Operators that compute kernel values block by block take as long as there are non-zeros, so that the size of the
    working set decides; the others take the same time always.
    """

    def __init__(self, operator: PairOperator) -> None:
        self.operator = operator
        self._each: float | None = None
        """Seconds per non-zero."""

    def add_product(self, coefficients: Floats, out: Floats) -> None:
        """out += K @ coefficients."""
        count, began = int(np.count_nonzero(coefficients)), time.perf_counter()
        self.operator.add_product(coefficients, out)
        self.operator.lasted = time.perf_counter() - began
        self._each = self.operator.lasted / count if count else self._each

    def seconds(self, count: int) -> float:
        """Time of a product with so many non-zeros; where none was made yet, one with a single non-zero shows it."""
        if self.operator.grows:
            return self._per_coefficient() * count
        if not self.operator.lasted:
            self.add_product(np.eye(1, self.operator.n_pairs)[0], np.zeros(self.operator.n_pairs))
        return self.operator.lasted

    def affordable(self, seconds: float) -> float:
        """Most non-zeros of a product that takes so long."""
        return seconds / self._per_coefficient() if self.operator.grows else np.inf

    def _per_coefficient(self) -> float:
        if self._each is None:
            self._each = self._value_seconds() * self.operator.n_pairs
        return max(self._each, 1e-12)

    def _value_seconds(self) -> float:
        """Seconds of one kernel value among many."""
        n, each = self.operator.n_pairs, np.inf
        for size in SAMPLES:
            sample, began = np.linspace(0, n - 1, min(size, n)).astype(np.int64), time.perf_counter()
            self.operator.submatrix(sample, sample)
            taken = time.perf_counter() - began
            each = min(each, taken / len(sample) ** 2)
            if taken > QUICK:
                break
        return each
