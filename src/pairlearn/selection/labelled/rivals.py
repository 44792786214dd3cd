"""Baselines of each question, by name: what a machine has to beat there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pairlearn.baselines.labelled.neighbours import NeighbourMeans
from pairlearn.baselines.labelled.strengths import BradleyTerry, Coin, Elo, ExampleMeans, MeanValue, WinShare
from pairlearn.baselines.registry import BASELINES
from pairlearn.evaluation.objectives.named import Question
from pairlearn.kernels import as_kernel
from pairlearn.pairs import Pairs
from pairlearn.selection.labelled.settings import Setting, Space

Rival = Callable[[Pairs], Any]
"""A new baseline for pairs like these."""
RIDGE = "kernel ridge"
"""Least squares with the first kernel, the first base and C = 1: nothing is chosen."""
ORDER: dict[str, Rival] = {
    "Bradley–Terry": lambda pairs: BradleyTerry(),
    "Elo": lambda pairs: Elo(),
    "win share": lambda pairs: WinShare(),
    "a coin": lambda pairs: Coin(),
}
"""Whatever is known of examples by themselves, in rows that stand in the order of time."""


def rivals_of(question: Question, pairs: Pairs, space: Space) -> dict[str, Rival]:
    """The baselines of a question: of links also those of `run_baselines` where rows of one table can be compared."""
    if question == "order":
        return ORDER
    sign = -1 if all(kernel.symmetry == "antisymmetric" for kernel in space.kernels.values()) else 1
    base = next(iter(space.bases.values()))
    found: dict[str, Rival] = {
        "the mean of all": lambda pairs: MeanValue(),
        "the means of examples": lambda pairs: ExampleMeans(sign),
        "nearest neighbours": lambda pairs: NeighbourMeans(base, sign=sign),
    }
    first = next(family for family in space.families)
    if first.machine == "ridge":
        found[RIDGE] = lambda pairs: space.machine(Setting(*first, 1.0))
    precomputed = as_kernel(base).precomputed
    if question == "link" and pairs.right_examples is None and not precomputed:
        found |= {name: _registered(name) for name in BASELINES}
    return found


def _registered(name: str) -> Rival:
    return lambda pairs: BASELINES[name]().set_params(threshold=0.0)
