"""The steps of `pairlearn regress`: a number per pair, from one table or two, or from matrices of similarities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sklearn.base import clone

import pairlearn as pl
from pairlearn.baselines.labelled.strengths import ExampleMeans, MeanValue
from pairlearn.cli.comparison import MODEL
from pairlearn.cli.run import Run
from pairlearn.cli.steps import fitting
from pairlearn.cli.tasks import holdout
from pairlearn.cli.tasks.task import REGRESSION
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.pairs import Pairs
from pairlearn.types import Floats

TOLD = {
    "use": "Predict with `pairlearn score`.",
    "search": "another --C (--alpha), --kernel or --base",
}
"""What to do after a verdict."""
MACHINES: dict[str, Callable[..., Any]] = {"svr": pl.PairSVR, "ridge": pl.PairRidge}
"""Machines that learn numbers, by the name of --machine."""


def unseen_of(text: str) -> str:
    """What a machine leaves out to choose its alpha, by --unseen."""
    return "pair" if text == "none" else text


class Training(NamedTuple):
    """Pairs and a number for each."""

    pairs: Pairs
    labels: Floats


def training_of(left: ExampleTable, right: ExampleTable | None, given: PairTable) -> Training:
    """Pairs joined to their examples, and their numbers."""
    return Training(given.on(left, right), given.numbers())


def systems_of(machine: Any, training: Training, unseen: str) -> dict[str, Any]:
    """The machine, and what it has to beat: the mean number, and what is known of either side by itself.

    Folds of single pairs leave holes, where no alpha can be chosen in closed form: they take the one that was chosen.
    """
    if unseen == "none" and getattr(machine, "choice_", None):
        machine = clone(machine).set_params(alpha=machine.alpha_)
    sign = -1 if pl.pair_kernel(machine.kernel).symmetry == "antisymmetric" else 1
    return {MODEL: machine, "the means of examples": ExampleMeans(sign), "the mean of all": MeanValue()}


def result_of(
    run: Run, machine: Any, training: Training, notes: list[str], *, unseen: str, folds: int, seed: int
) -> dict[str, Any]:
    """What was learnt from, and how well it predicts what was held out."""
    labels = training.labels
    systems = systems_of(machine, training, unseen)
    options: dict[str, Any] = {"unseen": unseen, "folds": folds, "seed": seed, **TOLD}
    return {
        **fitting.facts_of(machine, training.pairs, notes),
        "mean": float(labels.mean()),
        "range": [float(labels.min()), float(labels.max())],
        "held_out": holdout.tested(run, REGRESSION, systems, training.pairs, labels, **options),
    }


def show(run: Run, result: Mapping[str, Any]) -> None:
    """The result of `regress` in words."""
    low, high = result["range"]
    rows = {
        "pairs": f"{result['pairs']:,} of {fitting.examples_in(result)}",
        "numbers": f"{low:.4g} … {high:.4g}, mean {result['mean']:.4g}",
        "swapped pairs": result["swapped"],
    }
    fitting.show_facts(run, result, rows, {})
    holdout.show(run, REGRESSION, result["held_out"])


SWAPPED = {
    "symmetric": "g(b, a) = g(a, b): the kernel is symmetric",
    "antisymmetric": "g(b, a) = −g(a, b): the kernel is antisymmetric",
    "none": "g(b, a) ≠ g(a, b): order matters to the kernel",
}
"""What happens to the number of a pair when its sides change places, by the symmetry of the kernel."""


def symmetry_facts(kernel: str, two_tables: bool) -> dict[str, Any]:
    """What the kernel says of the order of a pair; two tables have none."""
    swapped = "left and right are of different kinds" if two_tables else SWAPPED[pl.pair_kernel(kernel).symmetry]
    return {"two_tables": two_tables, "swapped": swapped}
