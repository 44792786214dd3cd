"""The orthant task: machines that tell unseen orthants apart with an EER of a few per cent.

Reproduces section 5.2.3 and Figure 5.5 of the thesis at its sizes: C = 1000, 8 examples per class, test sets of 100
classes, training on 100 and 200 other classes (the smaller set lies in the larger one), five more test sets of 100
further classes. The thesis' kernels: TS is `tensor`, TD `tensor_metric`, DA `metric`; "poly" is the homogeneous
polynomial base of degree 2. Which machines its figure shows cannot be read beyond tensor/linear and
tensor_metric/linear: these two are judged.

The dimension n is not stated in the text: several are measured, and the claim "EER of 1 to 3 %" is judged for the n
whose EERs come nearest to it, so it says only that such an n exists. Larger n give smaller EERs. n = 9, the size of a
later experiment of the thesis, has 256 classes, too few for these sets (800); n = 11 is the smallest that has enough,
63 the largest that `pl.data.orthant` draws. "Works well although the data is not normalised", said of tensor/linear, is
judged by the same bound; the untrained scores, which are good here, are printed beside it.

C: the thesis' 2C on the set of unordered pairs is our C; where the pairs can be separated C = 1000 is nearly a hard
margin, so the factor matters little. Training uses reflexive pairs, tests leave them out (EER_reflexive in the rows
counts them). Robust means: standard deviation of the EER over test sets at most a quarter of its mean (our choice).
Training stops after five minutes; the status in the row and a figure say so. Squared bases, which are not judged, are
trained on 200 classes for n = 20 alone: for other n they would tell nothing about the claim.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
from tasks import (
    ROBUST,
    Design,
    Machine,
    Results,
    Sample,
    lead,
    name,
    print_known,
    row,
    tested,
    trained,
    unfinished,
    untrained,
    value,
    variation,
)

import pairlearn as pl
from benchmarks.harness import Figure, Row, run_rows

C = 1000.0
TIME_BUDGET = 300.0
"""Seconds for the training of one machine."""
LEAST, MOST = 1.0, 3.0
"""The thesis' EERs, in per cent."""
TENSOR, JUDGED = ("tensor", "linear"), ("tensor_metric", "linear")
MACHINES: list[Machine] = [TENSOR, JUDGED, ("tensor", "poly"), ("tensor_metric", "poly"), ("metric", "linear")]
PAPER = (11, 20, 50, 63), Design(100, 8, epcrs=(), class_counts=(100, 200), test_sets=6)
QUICK = (8, 20), Design(10, 4, epcrs=(), class_counts=(10, 20), test_sets=6)
"""Dimensions and the sizes of all sets."""
DIMENSIONS, DESIGN = QUICK if "--quick" in sys.argv else PAPER
FEW, MANY = DESIGN.class_counts
SHOWN = 20
"""The n that the squared bases are trained for on many classes."""


@cache
def world(n: int) -> Sample:
    """All classes."""
    return DESIGN.draw(pl.data.orthant, n)


def without_training(n: int) -> dict[str, Any]:
    """Untrained scores on Test Set 1."""
    return untrained(DESIGN.test_set(world(n), 1))


def interclass(machine: Machine, n: int, n_classes: int) -> dict[str, Any]:
    """New classes; the EER on all test sets too."""
    train = DESIGN.interclass_set(world(n), n_classes)
    clf, training = trained(machine, C, train.pairs, train.classes, TIME_BUDGET)
    found = [tested(clf, DESIGN.test_set(world(n), number)) for number in range(1, DESIGN.test_sets + 1)]
    return {**training, **found[0], "EERs": [test["EER"] for test in found]}


def sizes(machine: Machine, n: int) -> tuple[int, ...]:
    """The numbers of classes that a machine is trained on."""
    return DESIGN.class_counts if machine[1] == "linear" or n == SHOWN else (FEW,)


def rows() -> dict[str, Row]:
    """One row per machine, dimension and number of classes."""
    found = {f"n = {n}, untrained": row(without_training, n) for n in DIMENSIONS}
    for machine in MACHINES:
        for n in DIMENSIONS:
            for count in sizes(machine, n):
                found[f"n = {n}, {count} classes, {name(machine)}"] = row(interclass, machine, n, count)
    return found


# --------------------------------------------------------------------------- findings


def figures(results: Results, judged: bool) -> list[Figure]:
    """The thesis' findings; every EER in per cent."""

    def eer(n: int, count: int, machine: Machine) -> float:
        return value(results, f"n = {n}, {count} classes, {name(machine)}")

    found = []
    for n in DIMENSIONS:
        for score in ("cosine", "Euclid"):
            found.append(Figure(f"n = {n}, {score}: EER", value(results, f"n = {n}, untrained", score)))
        for machine in MACHINES:
            for count in sizes(machine, n):
                found.append(Figure(f"n = {n}, {count} classes, {name(machine)}: EER", eer(n, count, machine)))
    judged_ones = [(count, machine) for machine in (TENSOR, JUDGED) for count in DESIGN.class_counts]
    outside = [sum(distance(eer(n, *one)) for one in judged_ones) for n in DIMENSIONS]
    nearest = DIMENSIONS[int(np.argmin(np.nan_to_num(outside, nan=np.inf)))]
    found.append(Figure("nearest n", nearest))
    for count, machine in judged_ones:
        text = f"nearest n, {count} classes, {name(machine)}: EER"
        reflexive = value(results, f"n = {nearest}, {count} classes, {name(machine)}", "EER_reflexive")
        found.append(Figure(text, eer(nearest, count, machine), f"<= {MOST:g}", "1 to 3", judged))
        found.append(Figure(f"{text} with reflexive test pairs", reflexive, None, "1 to 3"))
    for machine in MACHINES:
        gain = eer(nearest, MANY, machine) - eer(nearest, FEW, machine)
        found.append(Figure(f"nearest n, {name(machine)}: EER, {MANY} − {FEW} classes", gain))
    scores = [value(results, f"n = {nearest}, untrained", score) for score in ("cosine", "Euclid")]
    text = f"nearest n, {MANY} classes, {name(TENSOR)}: EER − better untrained score"
    found.append(Figure(text, lead([eer(nearest, MANY, TENSOR)], scores)))
    eers = results.get(f"n = {nearest}, {MANY} classes, {name(JUDGED)}", {}).get("EERs", [np.nan] * DESIGN.test_sets)
    found += [Figure(f"nearest n, {name(JUDGED)}, Test Set {i}: EER", rate) for i, rate in enumerate(eers, start=1)]
    text = f"nearest n, {name(JUDGED)}: deviation / mean of EER over test sets"
    found.append(Figure(text, variation(eers), f"<= {ROBUST}", "robust", judged))
    return [*found, Figure("machines that did not converge", unfinished(results))]


def distance(eer: float) -> float:
    """How far an EER lies outside the thesis' range."""
    return float(np.abs(eer - np.clip(eer, LEAST, MOST)))


def main() -> int:
    """Print the findings beside the thesis'."""
    results, quick = run_rows(__file__, rows())
    return print_known(figures(results, judged=not quick))


if __name__ == "__main__":
    sys.exit(main())
