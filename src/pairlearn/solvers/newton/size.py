"""How large the equations of a Newton step are, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.solvers.newton.equations import WHOLE
from pairlearn.solvers.problem import Problem
from pairlearn.solvers.tuning import RATES, Tuning

VECTORS, LOOKED = 12, 12
"""Numbers per pair that a descent holds while it takes a step, and as many again per pair that the step looks at."""
LEAST = 50
"""Pairs that lead a step, however little memory there is."""
STEPS, PASSES = 20, 150
"""Usual steps, and numbers per pair that one of them reads or writes."""
PRODUCTS = 5000
"""The same per pair that it looks at, by kernel values: a dozen products of some hundred columns."""


@dataclass(frozen=True)
class Size:
    """How many pairs a step looks at, how many of them lead it, and by how many features; None by kernel values."""

    looked: int
    sample: int
    features: int | None

    @classmethod
    def of(cls, problem: Problem, operator: PairOperator, tuning: Tuning, memory: float = np.inf) -> Size:
        """By features where a pair has few of them, else by as many kernel values as there is memory for."""
        n, thin = len(problem), operator.thin_size()
        r = thin[1] if thin is not None and thin[0] == thin[1] else None
        if r is None or r > tuning.newton_features:
            room = max(0.0, memory / 8 - VECTORS * n)
            looked = int(max(LEAST, min(n, tuning.newton_looked, 0.5 * room / LOOKED)))
            sample = int(max(LEAST, min(looked, tuning.newton_block, (0.25 * room) ** 0.5 / WHOLE)))
            return cls(min(n, looked), min(n, sample), None)
        sample = min(n, int(np.clip(tuning.newton_sample * r, 1000, 16_000)))
        return cls(sample, sample, r)

    @property
    def steepest(self) -> float:
        """How many times narrower the next ramps are at most: with few features the function is soon known well enough,
        with many of them a step that meets ramps of another kind leads nowhere."""
        return 4.0 if self.features is None else np.inf

    @property
    def numbers(self) -> int:
        """Held by the equations: features twice and a matrix three times, or kernel values twice."""
        r, leading = self.features, int(WHOLE * self.sample)
        return LOOKED * self.looked + (2 * leading**2 if r is None else 2 * leading * r + 3 * r**2)

    def bytes_needed(self, problem: Problem) -> int:
        """Vectors of all pairs, and the equations."""
        return 8 * (VECTORS * len(problem) + self.numbers)

    def seconds_needed(self, problem: Problem) -> float:
        """About how long the descent takes."""
        r, s, passed = self.features, self.sample, PASSES * len(problem)
        if r is not None:
            return STEPS * RATES.seconds(2.0 * s * r**2 + r**3 / 3, passed)
        return STEPS * RATES.seconds(s**3 / 3, passed + PRODUCTS * self.looked + 10 * s**2)
