"""The steps of `pairlearn demo`: learn to tell unseen classes apart, better with every class seen in training.

The double interval task: a class is where two intervals begin, an example where they end, so that what is learnt from
some classes (compare the beginnings, ignore the ends) holds for classes never seen. The untrained baselines stay where
they are while the model improves with every class.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, baselines, curves_of, show_verdict, titled, verdict
from pairlearn.cli.demos.demo import check_directory
from pairlearn.cli.terminal import GapBar, percent, progress_bar, say, table
from pairlearn.data.writing import write_whole
from pairlearn.evaluation import DetCurve, Scores, equal_error_rate
from pairlearn.pairs import Pairs
from pairlearn.types import Floats, Ints
from pairlearn.words import counted

if TYPE_CHECKING:
    from pairlearn.solvers.problem import Progress as Step

USE = "Try it on a table of your own: `pairlearn select EXAMPLES`."
TASK = "double interval, interclass task: the test classes were never seen in training"


@dataclass(frozen=True)
class Sizes:
    """How much data the demo uses, and how many seconds it may train in all."""

    classes: tuple[int, ...] = (10, 20, 40, 80)
    test_classes: int = 60
    epcr: int = 8
    n: int = 500
    seconds: float = 40.0


QUICK = Sizes(classes=(4, 8), test_classes=10, epcr=4, n=60)


@dataclass(frozen=True)
class Row:
    """One training set and what was learnt from it."""

    classes: int
    examples: int
    pairs: int
    support_pairs: int
    seconds: float
    status: str
    eer: float


def demonstrate(console: Console, out_dir: Path, seed: int, sizes: Sizes) -> None:
    """Learn, show, write DET curves and figures."""
    check_directory(out_dir)
    say(console, "", lead=TASK)
    rows, systems = _learn(sizes, seed)
    curves = curves_of(systems)
    eers = {name: curve.equal_error_rate for name, curve in curves.items()}
    console.print(_table(rows, eers))
    left_out = sizes.classes[len(rows) :]
    if left_out:
        say(console, f"left out, too long for this machine: {', '.join(map(str, left_out))} classes")
    last = {MODEL: systems[_name(rows[-1].classes)], **{name: systems[name] for name in baselines(None)}}
    found = verdict(last, use=USE, search="")
    conclusion = _conclusion(rows)
    by_name = {name: eers[name] for name in baselines(None)}
    figures = {"baselines": by_name, "conclusion": conclusion, "verdict": found}
    record = {"task": TASK, "seed": seed, "sizes": asdict(sizes), "rows": [asdict(row) for row in rows], **figures}
    _write(console, out_dir, record, rows, curves)
    say(console, conclusion)
    show_verdict(console, found)


# --------------------------------------------------------------------------- learning


def _learn(sizes: Sizes, seed: int) -> tuple[list[Row], dict[str, Scores]]:
    """Nested training sets and one test set; all classes come from one draw, so they are disjoint.

    A training set that would not end within the seconds left is not begun; the rows so far are a demo too.
    """
    cut = max(sizes.classes) * sizes.epcr
    X, classes = pl.data.double_interval(max(sizes.classes) + sizes.test_classes, sizes.epcr, sizes.n, seed=seed)
    test = pl.all_pairs(X[cut:], reflexive=False)
    systems = {name: Scores.of(machine, test, classes=classes[cut:]) for name, machine in baselines(None).items()}
    rows: list[Row] = []
    with progress_bar() as bars:
        # A tiny fit first, so that the seconds of the table hold no compilation.
        _fit(*_training(X, classes, 3 * sizes.epcr), sizes.seconds, bars, "warming up")
        deadline = time.perf_counter() + sizes.seconds
        for count in sizes.classes:
            training, labels = _training(X, classes, count * sizes.epcr)
            left = deadline - time.perf_counter()
            if rows and _expected_seconds(rows[-1], len(training)) > left:
                break
            machine, seconds = _fit(training, labels, left, bars, _name(count))
            systems[_name(count)] = Scores.of(machine, test, classes=classes[cut:])
            rows.append(_row(count, training, machine, seconds, equal_error_rate(systems[_name(count)])))
    return rows, systems


def _training(X: Floats, classes: Ints, m: int) -> tuple[Pairs, Ints]:
    pairs = pl.all_pairs(X[:m])
    return pairs, pairs.labels(classes[:m])


def _row(classes: int, training: Pairs, machine: Any, seconds: float, eer: float) -> Row:
    counts = (classes, training.n_examples, len(training), machine.n_support_)
    return Row(*counts, seconds=seconds, status=machine.fit_status_, eer=eer)


def _expected_seconds(row: Row, pairs: int) -> float:
    """Seconds for more pairs, from those of the last row; short fits say too little to judge by."""
    return 0.0 if row.seconds < 1 else row.seconds * float(pairs / row.pairs) ** 1.5


def _fit(pairs: Pairs, labels: Ints, seconds: float, bars: Progress, name: str) -> tuple[Any, float]:
    size = counted(len(pairs), "pair")

    def report(step: Step) -> None:
        bar.update(step.gap, f"{size}, KKT gap {step.gap:.2g}")

    machine = pl.PairSVC(
        "tensor_metric", "poly", C=1000.0, time_budget=max(0.5, seconds), random_state=0, callback=report
    )
    bar = GapBar(bars, f"{name:>12}", machine.tol, size)
    began = time.perf_counter()
    with warnings.catch_warnings():
        # A fit that ran out of time is marked in the table.
        warnings.simplefilter("ignore")
        machine.fit(pairs, labels)
    return machine, time.perf_counter() - began


def _name(classes: int) -> str:
    return counted(classes, "class")


# --------------------------------------------------------------------------- what came out


def _table(rows: Sequence[Row], eers: Mapping[str, float]) -> Table:
    """One line per training set, the baselines beside."""
    counts = ("classes", "examples", "pairs", "support\npairs", "seconds")
    title = "Pairs of unseen classes; cosine and Euclid are untrained"
    drawn = table((*counts, "EER\nmodel", "EER\ncosine", "EER\nEuclid"), title, names=False)
    for row in rows:
        cells = [f"{count:,}" for count in (row.classes, row.examples, row.pairs, row.support_pairs)]
        seconds = f"{row.seconds:.1f}" + ("" if row.status == "converged" else f" ({row.status})")
        rates = [percent(rate, 1) for rate in (row.eer, eers["cosine"], eers["euclid"])]
        drawn.add_row(*cells, seconds, *rates)
    return drawn


def _write(
    console: Console,
    out_dir: Path,
    record: Mapping[str, Any],
    rows: Sequence[Row],
    curves: Mapping[str, DetCurve],
) -> None:
    """results.json and, where there is matplotlib, det.png."""
    out_dir.mkdir(parents=True, exist_ok=True)
    learnt = {_name(row.classes): curves[_name(row.classes)] for row in rows}
    untrained = {f"untrained {titled(name)}": curves[name] for name in baselines(None)}
    drawn = _draw(console, learnt, untrained, out_dir / "det.png")
    write_whole(out_dir / "results.json", json.dumps(record, indent=2).encode())
    say(console, f"{'det.png and results.json' if drawn else 'results.json'} written to {out_dir}")


def _draw(console: Console, learnt: Mapping[str, DetCurve], untrained: Mapping[str, DetCurve], path: Path) -> bool:
    from pairlearn.evaluation.plots import draw_det

    try:
        draw_det({**learnt, **untrained}, path, baselines=untrained)
    except ImportError as error:
        say(console, f"no figure: {error}")
        return False
    return True


def _conclusion(rows: Sequence[Row]) -> str:
    last = rows[-1]
    trend = " → ".join(percent(row.eer, 1) for row in rows)
    return (
        f"Learnt from {counted(last.pairs, 'pair')} of {_name(last.classes)} to tell classes apart that it never saw "
        f"(EER {trend} with {', '.join(str(row.classes) for row in rows)} classes)."
    )
