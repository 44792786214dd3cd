"""What whole fits allocate against their budget and their plan: NumPy reports every array to tracemalloc."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import TooLargeError

rng = np.random.default_rng(0)
CLASSES = np.arange(200) // 5
X = rng.normal(size=(40, 8))[CLASSES] + rng.normal(size=(200, 8))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
SEEN = pl.Pairs(X, PAIRS.left, PAIRS.right, invariant=rng.normal(size=(len(PAIRS), 5)))
WITH_VIEW = pl.pair_kernel("tensor_metric") + pl.pair_kernels.on_invariant(pl.kernels.Linear())
WINS = np.where(X[PAIRS.left, 0] + rng.normal(size=len(Y)) > X[PAIRS.right, 0], 1, -1)
CASES: dict[str, tuple[Any, pl.Pairs, Any]] = {
    "linear": (pl.PairSVC(), PAIRS, Y),
    "Gaussian": (pl.PairSVC(base="rbf"), PAIRS, Y),
    "low rank": (pl.PairSVC(base="lowrank(rbf, 40)"), PAIRS, Y),
    "large C": (pl.PairSVC(base="rbf", C=100.0), PAIRS, Y),
    "sampled": (pl.PairSVC(base="rbf"), PAIRS[::2], Y[::2]),
    "view": (pl.PairSVC(WITH_VIEW), SEEN, Y),
    "mirrored": (pl.PairSVC(mirrored=True), PAIRS, Y),
    "SMO": (pl.PairSVC(solver="smo"), PAIRS[::4], Y[::4]),
    "regression": (pl.PairSVR(base="rbf"), PAIRS, Y + 0.3 * rng.normal(size=len(Y))),
    "least squares": (pl.PairRidge("tensor", "rbf"), PAIRS, Y),
    "least squares, sampled": (pl.PairRidge("tensor_metric", "rbf"), PAIRS[::2], Y[::2]),
    "ranker": (pl.PairRanker(), PAIRS, WINS),
    "one class": (pl.OneClassPairSVM(), PAIRS, None),
}


def peak(machine: Any, pairs: pl.Pairs, y: Any) -> int:
    """Most bytes that a fit holds beside what was there before."""
    tracemalloc.start()
    try:
        machine.fit(pairs, y)
    except TooLargeError:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("budget", [20e6, 60e6])
@pytest.mark.parametrize("name", CASES)
def test_fits_keep_to_their_budget(name: str, budget: float) -> None:
    machine, pairs, y = CASES[name]
    machine.set_params(memory_budget=budget, time_budget=1.0)
    if "random_state" in machine.get_params():
        machine.set_params(random_state=0)
    machine.fit(pairs[:2000], None if y is None else y[:2000])  # compiles
    assert peak(machine, pairs, y) <= 1.1 * budget
    assert machine.plan_.bytes <= budget


def test_a_refused_fit_has_used_next_to_nothing() -> None:
    """Less than a number per pair."""
    pairs = pl.all_pairs(rng.normal(size=(1500, 2)))
    y = np.where(np.arange(len(pairs)) % 2 == 0, 1, -1)
    for options in ({}, {"mirrored": True}):
        machine = pl.PairSVC(memory_budget=60e6, **options)  # type: ignore[arg-type]
        assert peak(machine, pairs, y) < 10**6
        assert not hasattr(machine, "plan_")


def test_classes_are_listed_as_labels_only_where_there_is_room_for_pairs() -> None:
    pairs, labels = pl.all_pairs(rng.normal(size=(1500, 2))), pl.ClassLabels(np.arange(1500) // 3)
    machine = pl.PairSVC(memory_budget=60e6, solver="active_set")
    with pytest.raises(TooLargeError):
        machine.fit(pairs, labels)
    assert peak(machine, pairs, labels) < 10**6


def test_the_plan_of_a_fitted_machine_says_what_it_took() -> None:
    """Few support pairs take little of a large budget."""
    fitted = pl.PairSVC(base="rbf", C=0.01, random_state=0, memory_budget=2e9).fit(PAIRS[:3000], Y[:3000])
    used = peak(pl.PairSVC(base="rbf", C=0.01, random_state=0, memory_budget=2e9), PAIRS[:3000], Y[:3000])
    assert fitted.plan_.bytes < 0.2 * fitted.plan_.budget
    assert used <= 1.8 * fitted.plan_.bytes  # a store is larger than the part that is in use
