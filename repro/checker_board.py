"""The checker board task: only the difference of two points tells; how near a machine comes to the best use of it.

Reproduces section 6.1 of the report on pairwise kernels and Figure 5.1 of the thesis at their sizes: 25 × 25 cells,
C = 1. Pair task: 50 classes, 5 examples each, 75 % of all pairs train (as in the double interval task; not stated
here). These examples are Test Set 1. Interexample task: the same classes, other examples, 5 to 25 per class. Interclass
task: 50, 75, …, 200 other classes, 5 examples each; two more test sets of 50 further classes. Smaller training sets lie
in larger ones. The papers' kernels: SD or DS is `direct_sum`, ML or DA `metric`, TL or TS `tensor`, TM or TD
`tensor_metric`, D (DS in the report) `direct_metric`; "poly" is the homogeneous polynomial base of degree 2.

C: the papers' 2C on the set of unordered pairs is our C; both readings are measured for metric/linear. Training uses
reflexive pairs, tests leave them out. The papers show curves and no numbers, so the goals are ours, in percentage
points: "little influence" means EERs within 0.5, "similar curves" within 0.3; "about chance" means 50 ± 10 %; robust
means a standard deviation of the EER over test sets of at most a quarter of its mean. The Bayes curve knows the
difference of the two points only: P(same | δ) = Π s·max(0, 1 − |δ_t|) / (s − |δ_t|).

The polynomial base takes values up to 10⁶ here, pair kernels over it 10¹², and no machine can separate the pairs: some
stop at a gap that float64 cannot improve. Training ends after 20 minutes for the metric machines and after 3 for the
others, which are only to be worse; the status in the row and a figure say so.
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
    pair_task,
    print_known,
    row,
    scored,
    spread,
    tested,
    trained,
    unfinished,
    untrained,
    value,
    variation,
)

import pairlearn as pl
from benchmarks.harness import Figure, Row, run_rows

C = 1.0
KERNELS = ("metric", "direct_sum", "tensor", "tensor_metric", "direct_metric")
MACHINES: list[Machine] = [(kernel, base) for kernel in KERNELS for base in ("linear", "poly")]
BEST, OTHERS = MACHINES[:2], MACHINES[2:]
"""The two machines that the papers choose, and those that they leave."""
TIME_BUDGET = {machine: 1200.0 if machine in BEST else 180.0 for machine in MACHINES}
"""Seconds for the training of a machine."""
CURVE = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0)
"""FMRs in per cent where curves are compared; about 0.5 % of the negative pairs lie within one cell of each other."""


PAPER = 25, Design(50, 5, epcrs=(5, 10, 15, 20, 25), class_counts=(50, 75, 100, 125, 150, 175, 200), test_sets=3)
QUICK = 10, Design(15, 4, epcrs=(4, 8), class_counts=(15, 30), test_sets=3)
"""Cells along a side, and the sizes of all sets."""
S, DESIGN = QUICK if "--quick" in sys.argv else PAPER


@cache
def world() -> Sample:
    """All classes."""
    return DESIGN.draw(pl.data.checker_board, S)


def test_set(number: int) -> Sample:
    """Test Set 1, 2, …."""
    return DESIGN.test_set(world(), number)


# --------------------------------------------------------------------------- rows


class Bayes:
    """The best decision that knows the difference of the two points only."""

    def decision_function(self, pairs: pl.Pairs) -> np.ndarray:
        """The posterior of "same"."""
        delta = pairs.examples[pairs.left] - pairs.examples[pairs.right]
        return pl.data.checker_board_difference_posterior(delta, S)


def curve(scorer: Any, test: Sample) -> list[float]:
    """FNMR at the FMRs of `CURVE`, all in per cent."""
    points = pl.det_curve(scored(scorer, test.pairs, test.classes))
    return [100.0 * points.fnmr_at(fmr / 100.0) for fmr in CURVE]


def without_training() -> dict[str, Any]:
    """Untrained scores on Test Set 1, the Bayes curve on all test sets."""
    return {**untrained(test_set(1)), **on_all_tests(Bayes())}


def on_all_tests(scorer: Any) -> dict[str, Any]:
    """EER and curve on each of the test sets."""
    tests = [test_set(number) for number in range(1, DESIGN.test_sets + 1)]
    return {"EERs": [tested(scorer, test)["EER"] for test in tests], "curves": [curve(scorer, test) for test in tests]}


def pair(machine: Machine) -> dict[str, Any]:
    """Known examples, new pairs."""
    return pair_task(machine, C, test_set(1), TIME_BUDGET[machine])


def interexample(machine: Machine, epcr: int) -> dict[str, Any]:
    """Known classes, new examples."""
    train = DESIGN.interexample_set(world(), epcr)
    clf, training = trained(machine, C, train.pairs, train.classes, TIME_BUDGET[machine])
    return {**training, **tested(clf, test_set(1))}


def interclass(machine: Machine, n_classes: int, C: float) -> dict[str, Any]:
    """New classes."""
    train = DESIGN.interclass_set(world(), n_classes)
    clf, training = trained(machine, C, train.pairs, train.classes, TIME_BUDGET[machine])
    return {**training, **tested(clf, test_set(1)), **on_all_tests(clf)}


def rows() -> dict[str, Row]:
    """One row per machine and size."""
    few = min(DESIGN.class_counts)
    found = {"untrained": row(without_training)}
    for count in DESIGN.class_counts:
        for machine in MACHINES if count == few else BEST:
            found[f"interclass {count}, {name(machine)}"] = row(interclass, machine, count, C)
    found[f"interclass {few}, metric/linear, half C"] = row(interclass, BEST[0], few, C / 2)
    for machine in MACHINES:
        found[f"pair, {name(machine)}"] = row(pair, machine)
    for epcr in DESIGN.epcrs:
        for machine in MACHINES if epcr == DESIGN.epcr else BEST:
            found[f"interexample {epcr}, {name(machine)}"] = row(interexample, machine, epcr)
    return found


# --------------------------------------------------------------------------- findings


def figures(results: Results, judged: bool) -> list[Figure]:
    """The papers' findings; all rates in per cent."""
    few = min(DESIGN.class_counts)
    tasks = {"pair": "pair, ", "interexample": f"interexample {DESIGN.epcr}, ", "interclass": f"interclass {few}, "}
    eer = {(task, m): value(results, start + name(m)) for task, start in tasks.items() for m in MACHINES}
    found = [Figure(f"{score}: EER", value(results, "untrained", score)) for score in ("cosine", "Euclid")]
    found += [Figure(f"{tasks[task]}{name(m)}: EER", rate) for (task, m), rate in eer.items()]
    for task in ("interexample", "interclass"):
        gap = lead([eer[task, m] for m in BEST], [eer[task, m] for m in OTHERS])
        found.append(Figure(f"{task}: EER of the worse metric machine − best other", gap, "< 0", "best", judged))
    for base in ("linear", "poly"):
        off = abs(eer["interclass", ("direct_sum", base)] - 50.0)
        found.append(Figure(f"interclass, direct_sum/{base}: |EER − 50|", off, "<= 10", "very bad", judged))
    for machine in BEST:
        by_epcr = [value(results, f"interexample {epcr}, {name(machine)}") for epcr in DESIGN.epcrs]
        by_count = [value(results, f"interclass {count}, {name(machine)}") for count in DESIGN.class_counts]
        for what, series in (("EPCR", by_epcr), ("classes", by_count)):
            found += [
                Figure(f"{name(machine)}: EER, fewest {what}", series[0]),
                Figure(f"{name(machine)}: EER, most {what}", series[-1]),
                Figure(f"{name(machine)}: spread of EER over {what}", spread(series), "<= 0.5", "slight", judged),
            ]
        eers = results.get(f"interclass {few}, {name(machine)}", {}).get("EERs", [np.nan] * DESIGN.test_sets)
        found += [Figure(f"{name(machine)}, Test Set {i}: EER", rate) for i, rate in enumerate(eers, start=1)]
        text = f"{name(machine)}: deviation / mean of EER over test sets"
        found.append(Figure(text, variation(eers), f"<= {ROBUST}", "robust", judged))
    half = value(results, f"interclass {few}, metric/linear, half C")
    found.append(Figure("interclass, metric/linear, half C: EER", half))
    found.append(Figure("machines that did not converge", unfinished(results)))
    return found + same_curve(results, few, judged)


def same_curve(results: Results, few: int, judged: bool) -> list[Figure]:
    """Curves that the papers call similar."""
    missing = {"EERs": [np.nan] * DESIGN.test_sets, "curves": [[np.nan] * len(CURVE)] * DESIGN.test_sets}
    bayes = results.get("untrained", missing)
    machine = results.get(f"interclass {few}, metric/linear", missing)
    found = []
    for test in range(DESIGN.test_sets):
        text = f"Test Set {test + 1}: EER"
        gap = machine["EERs"][test] - bayes["EERs"][test]
        found.append(Figure(f"{text}, Bayes on differences", bayes["EERs"][test]))
        found.append(Figure(f"{text}, |metric/linear − Bayes|", abs(gap), "<= 0.3", "similar", judged))
    for fmr, best, mine in zip(CURVE, bayes["curves"][0], machine["curves"][0], strict=True):
        text = f"Test Set 1: FNMR at FMR {fmr:g} %"
        found += [
            Figure(f"{text}, Bayes on differences", best),
            Figure(f"{text}, metric/linear", mine, None, "similar"),
        ]
    for kernel in ("direct_sum", "direct_metric"):
        one, two = (value(results, f"interclass {few}, {kernel}/{base}") for base in ("linear", "poly"))
        found.append(Figure(f"interclass, {kernel}: EER, poly − linear", two - one, None, "same curve"))
    return found


def main() -> int:
    """Print the findings beside the papers'."""
    results, quick = run_rows(__file__, rows())
    return print_known(figures(results, judged=not quick))


if __name__ == "__main__":
    sys.exit(main())
