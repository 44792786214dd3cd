"""What checkpoints cost, and what a fit that was broken off half way takes in all, on real data.

A row is one solver on all pairs of some images. The fit runs with a checkpoint a second, sixty times as many as usual;
its cost is all that comes with it, fingerprint, copies and files, as a share of the fit. Then the fit is broken off
after half of its time, and resumed: both runs together, as a ratio to the whole one. What is lost is the way since the
last report, and what a solver has to learn anew.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.base import clone

import pairlearn as pl
import pairlearn.machines.machine
from benchmarks.harness import Figure, print_figures, run_rows, skip_without_data, timed
from benchmarks.real_data import quick_row, task_of
from benchmarks.real_rows import exactly
from pairlearn import machines
from pairlearn.machines.resuming import Journey

ROWS = {
    "auto, olivetti": (exactly("olivetti", 400, "tensor_metric", "rbf", 10.0), "auto"),
    "active set, letter": (exactly("letter", 400, "tensor_metric", "rbf", 1.0), "active_set"),
    "nested, letter": (exactly("letter", 400, "tensor_metric", "rbf", 1.0), "nested"),
    "splitting, letter": (exactly("letter", 400, "tensor_metric", "rbf", 1.0), "splitting"),
    "newton, letter": (exactly("letter", 600, "metric", "linear", 1.0), "newton"),
    "interior, letter": (exactly("letter", 600, "metric", "linear", 1.0), "interior"),
    "smo, letter": (exactly("letter", 100, "tensor_metric", "rbf", 1.0), "smo"),
}
"""Real data and the solver of each row."""


class Timed(Journey):
    """A journey that counts its own seconds: the fingerprint, every report, and the end."""

    spent, ended = 0.0, False

    def __init__(self, *arguments: Any) -> None:
        self._count(Journey.__init__, *arguments)

    def keep(self, *arguments: Any) -> None:
        """The same, timed; what the end keeps is counted there."""
        if self.ended:
            super().keep(*arguments)
        else:
            self._count(Journey.keep, *arguments)

    def __call__(self, *arguments: Any) -> bool:
        return bool(self._count(Journey.__call__, *arguments))

    def end(self, *arguments: Any) -> Any:
        """The same, timed."""
        self.ended = True
        return self._count(Journey.end, *arguments)

    def _count(self, method: Callable[..., Any], *arguments: Any) -> Any:
        seconds, answer = timed(lambda: method(self, *arguments))
        Timed.spent += seconds
        return answer


def measured(name: str, quick: bool) -> dict[str, Any]:
    """The share of checkpoints, and the ratio of a broken fit to a whole one."""
    row, solver = ROWS[name]
    task = task_of(quick_row(row) if quick else row)
    pairs, y = task.pairs, task.y
    machine = pl.PairSVC(row.kernel, row.base, row.C, solver=solver, random_state=0)
    clone(machine).fit(pairs[:500], y[:500])  # compiles
    machines.machine.Journey, Timed.spent = Timed, 0.0  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checkpoint = pl.Checkpoint(Path(folder) / "run.checkpoint", every=1.0)
        whole = clone(machine).set_params(checkpoint=checkpoint).fit(pairs, y)
        share = Timed.spent / whole.fit_seconds_
        half = clone(machine).set_params(
            checkpoint=checkpoint, callback=lambda line: line.seconds > whole.fit_seconds_ / 2
        )
        broken = half.fit(pairs, y).fit_status_
        again = clone(machine).set_params(checkpoint=checkpoint).fit(pairs, y)
    return {
        "pairs": len(pairs),
        "seconds": whole.fit_seconds_,
        "share": share,
        "broken": broken,
        "ratio": again.total_seconds_ / whole.fit_seconds_,
        "objective": abs(again.objective_ / whole.objective_ - 1),
        "status": again.fit_status_,
    }


def main() -> int:
    """Measure all rows; goals are those of full sizes."""
    skip_without_data()
    results, quick = run_rows(__file__, {name: lambda quick, name=name: measured(name, quick) for name in ROWS})
    figures = []
    for name, found in results.items():
        figures += [
            Figure(f"{name}: share of checkpoints", found["share"], "<= 0.02", judged=not quick),
            Figure(f"{name}: broken off and resumed, by whole", found["ratio"]),
            Figure(f"{name}: objective, relative difference", found["objective"], "<= 1e-5"),
        ]
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
