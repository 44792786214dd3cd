"""Which α: by the errors on pairs, or on examples, that are left out of a complete grid in closed form."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from pairlearn.errors import InputError, TooLargeError, warn_user
from pairlearn.kernels.rows import is_positive
from pairlearn.machines.training import Scale, Training
from pairlearn.operators.base import PairOperator
from pairlearn.operators.build import Operation
from pairlearn.solvers.ridge import SETTINGS, Grid, Setting, System, fills
from pairlearn.solvers.ridge.preconditioners import bytes_needed
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis
from pairlearn.types import Floats

Choice = tuple[tuple[float, float], ...]
"""(α, root mean squared error of what is left out, in the unit of the targets) of every α that was tried."""
DECADES = np.arange(-4.0, 2.5, 0.5)
"""Powers of ten that "auto" tries, times the mean K(i, i)."""
LONG = 20.0
"""Seconds of a choice that is worth a word before."""
UNFIT = (
    "leaving out in closed form, and a choice of alpha by it, takes all pairs of two tables, each once and with equal "
    'weights, and a kernel that is a product of one base value of either side ("tensor"); give alpha a number, or '
    "search for it with GridSearchCV and a splitter of pl.selection"
)


@dataclass(frozen=True)
class Prepared:
    """Pairs without those of weight 0, their targets in units of `scale`, weights, and the operator of the pairs.

    `binary` says that all targets are +1 or −1.
    """

    training: Training
    targets: Floats
    weights: Floats
    scale: Scale
    operation: Operation
    binary: bool

    @property
    def operator(self) -> PairOperator:
        """The Gram matrix of the pairs."""
        return self.operation.operator

    def system(self, alpha: float) -> System:
        """The equations for this α."""
        return System(self.targets, alpha / self.weights, biased=self.training.sign > 0)

    def basis(self) -> Eigenbasis:
        """The eigenbasis of a complete grid; an InputError where the pairs are none."""
        sandwich = self.operator.sandwich()
        two = self.training.pairs.right_examples is not None
        if sandwich is None or not (two and fills(sandwich) and np.ptp(self.weights) == 0):
            raise InputError(UNFIT)
        if min(len(sandwich.left), len(sandwich.right)) < 2:
            raise InputError("with a single example on one side nothing can be left out; give alpha a number")
        needed, memory = bytes_needed(sandwich), self.operation.plan.memory
        if needed > memory:
            raise TooLargeError(
                f"the eigenbasis needs about {needed / 2**20:,.1f} MiB, but {memory / 2**20:,.1f} MiB are left to it; "
                "raise memory_budget (--memory-budget), or give alpha a number"
            )
        return Eigenbasis.of(sandwich)

    def candidates(self, alpha: Any) -> list[float]:
        """The α to choose from."""
        if isinstance(alpha, str):
            return [float(10.0**decade * self.operator.diagonal().mean()) for decade in DECADES]
        return [float(value) for value in alpha]

    def choice(self, basis: Eigenbasis, alpha: Any, unseen: Setting) -> Choice:
        """The errors of all candidates."""
        alphas, grid = self.candidates(alpha), Grid.of(basis, self.targets)
        ridges = [alpha / float(self.weights[0]) for alpha in alphas]
        if unseen == "both":
            foretell(grid, ridges)
        found = self.scale.size * grid.errors(ridges, unseen)
        return tuple(zip(alphas, found.tolist(), strict=True))

    def left_out(self, basis: Eigenbasis, alpha: float, unseen: Setting) -> Floats:
        """The answer of every pair, (n,), by what is learnt without it or without its examples."""
        answers = Grid.of(basis, self.targets).left_out(alpha / float(self.weights[0]), unseen)
        return self.scale.centre + self.scale.size * answers[basis.sandwich.rows, basis.sandwich.cols]


def foretell(grid: Grid, alphas: Sequence[float]) -> None:
    """A word before a choice that takes long: the seconds of one example of the smaller table, times all of them."""
    rows = min(grid.targets.shape)
    began = perf_counter()
    deque(islice(SETTINGS["both"](grid, alphas), len(alphas)), maxlen=0)
    expected = rows * (perf_counter() - began)
    if expected > LONG:
        warn_user(
            f'choosing among {len(alphas)} alpha with unseen="both" takes about {expected:,.0f} s, a decomposition for '
            f'each of {rows:,} examples; give fewer alpha, or choose with unseen="left" or "right"',
            UserWarning,
        )


def check_alpha(alpha: Any) -> None:
    """Refuse what is neither a number > 0 nor several of them nor "auto"."""
    several = list(alpha) if isinstance(alpha, (tuple, list, np.ndarray)) else [alpha]
    if isinstance(alpha, str) and alpha == "auto":
        return
    if not several or not all(map(is_positive, several)):
        raise InputError(
            f'alpha must be a finite number > 0, several of them to choose from, or "auto", got {alpha!r}; '
            "try alpha=1.0"
        )


def check_unseen(unseen: Any) -> None:
    """Refuse unknown settings."""
    if unseen not in SETTINGS:
        raise InputError(f"unseen is one of {', '.join(SETTINGS)}, got {unseen!r}")
