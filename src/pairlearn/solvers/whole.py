"""When all pairs go to the interior point at once instead of through working sets: a table and its reasons.

A working set takes in some thousand pairs per outer step. Where half of all pairs end up at a bound it takes as many
steps as that needs, while the interior point costs the same however many support pairs there are, if only its linear
systems are small: n numbers and an r × r system per step, with r the rank of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.solvers.inner.low_rank import sampled_factor
from pairlearn.solvers.inner.quadratic import Quadratic, Spanned, ThinForm
from pairlearn.solvers.problem import Problem
from pairlearn.solvers.tuning import Tuning
from pairlearn.types import Floats

THIN_ENTRY = 40
"""Bytes per entry of a sparse matrix while it is made: value, column, and both once more."""


@dataclass(frozen=True)
class Situation:
    """Where a fit stands when it asks for a shortcut; `distance` is the gap in tolerances, `memory` in bytes.

    `affordable` is how many rows of the matrix there is time for.
    """

    problem: Problem
    operator: PairOperator
    theta: Floats
    distance: float
    memory: float
    affordable: float
    rng: np.random.Generator
    tuning: Tuning

    def has_room(self, per_pair: int, order: int) -> bool:
        """Whether the problem is large enough to ask, and there is memory for the interior point on all pairs.

        `per_pair` are the bytes of the form for each pair, `order` is that of its equations.
        """
        n = len(self.problem)
        needed = bytes_of_path(self.problem, self.tuning) + per_pair * n + 5 * 8 * order**2
        return n >= max(self.tuning.small, self.tuning.pairs_per_equation * order) and needed <= self.memory


def bytes_of_path(problem: Problem, tuning: Tuning) -> int:
    """What the interior point takes on all pairs, beside their matrix and its factor."""
    return tuning.path_bytes * len(problem) * (2 if problem.epsilon else 1)


def thin_form(now: Situation) -> Quadratic | None:
    """The thin form of the matrix, if it has one with few equations."""
    size = now.operator.thin_size()
    if size is None or not now.has_room(THIN_ENTRY * size[0], size[1]):
        return None
    thin = now.operator.thin()
    return None if thin is None else ThinForm(thin)


def low_rank_form(now: Situation) -> Quadratic | None:
    """G with K = GGᵀ where all pairs at once are the shorter way: tiny rank, or low rank and many bounded pairs."""
    bounded = np.count_nonzero(now.problem.box.bounded(now.theta))
    sample = now.tuning.sample if bounded >= now.tuning.many * len(now.problem) else now.tuning.tiny_sample
    if now.distance <= now.tuning.far or not now.has_room(8 * sample, sample // 2):
        return None
    G = sampled_factor(now.operator, sample, now.rng, now.affordable)
    return None if G is None else Spanned(G)


@dataclass(frozen=True)
class Shortcut:
    """One row of the table: after so many outer steps, a form of the whole matrix that makes the path short."""

    after: Callable[[Tuning], int]
    form: Callable[[Situation], Quadratic | None]
    reason: str


SHORTCUTS = (
    Shortcut(
        lambda tuning: 0,
        thin_form,
        "`difference` and `direct_sum` see a pair through two entries of a row: Newton's equations of all pairs reduce "
        "to those of the examples, O(n + m³) a step; known before the first step, so no step is wasted",
    ),
    Shortcut(
        lambda tuning: tuning.trials,
        low_rank_form,
        "a linear base in few dimensions; with few support pairs the working set stays the shorter way, and a few "
        "outer steps show how many there will be. Near its end the working set is not interrupted",
    ),
)
"""The ways around the working set; each is tried once."""


def shortcut(step: int, now: Callable[[], Situation], tuning: Tuning) -> Quadratic | None:
    """The form of the whole matrix to go on with after this outer step, None to stay with the working set."""
    for row in SHORTCUTS:
        if step == row.after(tuning) and (form := row.form(now())) is not None:
            return form
    return None
