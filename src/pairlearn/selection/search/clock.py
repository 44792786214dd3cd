"""The seconds of a search: how many are left, and what a piece of work is expected to take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf
from statistics import median

GROWTH = 1.3
"""Seconds of a machine's fit grow like pairs to this power; those of baselines like pairs."""


def now() -> float:
    """Seconds of a clock that never goes back; everything here asks this one, so that tests can put in their own."""
    return time.perf_counter()


class Clock:
    """Seconds of a search; `budget` None, like infinity, is without end.

    `spent` are the seconds of processes before this one. A search that goes on follows its plan again, and what it
    recalls happens when it happened (`reach`), so that it decides as it did; new work comes after all of it (`begins`).
    """

    def __init__(self, budget: float | None) -> None:
        self.budget = None if budget == inf else budget
        self.spent = 0.0
        self._began = now()

    def reach(self, seconds: float) -> None:
        """Be at this second at least."""
        self._began -= max(0.0, seconds - self.elapsed)

    def begins(self, expected: float, until: float | None) -> bool:
        """Whether new work that takes so long is expected to end by then; if so, it is after all that was spent.

        If not, nothing is begun, and it is as late as it was: what is recalled next decides as it did.
        """
        left = None if until is None else until - max(self.elapsed, self.spent)
        begun = left is None or 0.0 < left >= expected
        if begun:
            self.reach(self.spent)
        return begun

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return now() - self._began

    def share(self, share: float) -> float | None:
        """When this share of the budget is spent, in seconds of the clock; None for no end."""
        return None if self.budget is None else share * self.budget

    def share_of_rest(self, share: float) -> float | None:
        """When this share of what is left of the budget is spent."""
        left = self.left(self.budget)
        return None if left is None else self.elapsed + share * left

    def left(self, until: float | None) -> float | None:
        """Seconds until then; None for no end."""
        return None if until is None else max(0.0, until - self.elapsed)


def expected_seconds(known: Sequence[tuple[int, float]], n_pairs: int, growth: float = GROWTH) -> float | None:
    """What work takes on n pairs, from (pairs, seconds) of the same work: t · (n / n_t)^growth of the nearest; or None.

    The nearest in the number of pairs, since every extrapolation is a guess; the median of several as near.

    >>> expected_seconds([(100, 0.5), (1000, 3.0), (1000, 5.0)], 1000), expected_seconds([], 10)
    (4.0, None)
    """
    distances = {n: max(n, n_pairs) / max(1, min(n, n_pairs)) for n, _ in known}
    if not distances:
        return None
    nearest = min(distances, key=lambda n: (distances[n], n))
    found = median(seconds for n, seconds in known if n == nearest)
    return float(found * (n_pairs / max(1, nearest)) ** growth)
