"""`pairlearn fit`: learn a model from files.

Read a table of examples and perhaps one of labelled pairs → fit a PairSVC with a progress bar and a Ctrl-C that keeps
the model → write it → show what was learnt beside the untrained baselines, on the training pairs and with that warning.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, compare, titled
from pairlearn.cli.options import (
    AsJson,
    ClassColumn,
    LabelColumn,
    LeftColumn,
    RightColumn,
    Seed,
    class_weights,
    memory_bytes,
)
from pairlearn.cli.score import spelled
from pairlearn.cli.terminal import GapBar, facts, on_interrupt, percent, print_json, progress_bar, say
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import check_target
from pairlearn.errors import ConflictWarning, DefinitenessWarning, InputError, SymmetryWarning
from pairlearn.pairs import Pairs
from pairlearn.types import Ints
from pairlearn.words import counted

if TYPE_CHECKING:
    from pairlearn.solvers.problem import Progress as Step

MOST_SCORED = 200_000
"""Training pairs that are scored for the training figures; beyond that a sample is."""
SHOWN_WARNINGS = (ConflictWarning, DefinitenessWarning, SymmetryWarning)


class Training(NamedTuple):
    """Pairs, their labels ±1, and how the labels were spelled in the file, if they came from one."""

    pairs: Pairs
    labels: Ints
    spelling: dict[str, int] | None


def fit(
    examples: Annotated[
        Path, typer.Argument(metavar="EXAMPLES", help="Examples: .csv, .csv.gz, .parquet, .npz or .npy.")
    ],
    pairs: Annotated[
        Path | None,
        typer.Argument(
            metavar="PAIRS",
            help="Labelled pairs: columns left, right, label. Without it: all pairs of the examples' classes.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("model.safetensors"),
    kernel: Annotated[
        str, typer.Option(help="Pair kernel: tensor_metric, metric, tensor, direct_sum, direct_metric, …")
    ] = "tensor_metric",
    base: Annotated[
        str, typer.Option(help="Base kernel of two examples: linear, poly, rbf, cosine or precomputed.")
    ] = "linear",
    C: Annotated[float, typer.Option("--C", help="Box of every pair; larger fits the training pairs closer.")] = 1.0,
    tol: Annotated[float, typer.Option(help="KKT gap at which the solver stops.")] = 1e-3,
    class_weight: Annotated[
        str | None, typer.Option(help="`balanced`, or the weights of positive and negative pairs: 10,1")
    ] = None,
    time_budget: Annotated[
        float | None, typer.Option(help="Seconds after which the best model so far is kept.")
    ] = None,
    memory_budget: Annotated[
        str | None, typer.Option(help="Most memory to use, e.g. 4GB. Default: 60 % of what is free.")
    ] = None,
    seed: Seed = 0,
    reflexive: Annotated[
        bool,
        typer.Option("--reflexive/--no-reflexive", help="Without PAIRS: also pair every example with itself."),
    ] = False,
    class_column: ClassColumn = None,
    left_column: LeftColumn = "left",
    right_column: RightColumn = "right",
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Learn from labelled pairs, or from all pairs of classes, and write a model file.

    Ctrl-C ends the training early and keeps the model learnt so far.
    """
    check_target(out)
    table = read_examples(examples, class_column)
    columns = (left_column, right_column, label_column)
    training = _pairs_of_classes(table, reflexive) if pairs is None else _given_pairs(table, pairs, columns)
    machine = pl.PairSVC(
        kernel,
        base,
        C=C,
        tol=tol,
        class_weight=class_weights(class_weight),
        time_budget=time_budget,
        memory_budget=memory_bytes(memory_budget),
        random_state=seed,
    )
    began = time.perf_counter()
    notes = train(machine, training.pairs, training.labels)
    seconds = time.perf_counter() - began
    pl.save(machine, out)
    chosen = {"out": str(out), "kernel": kernel, "base": base, "C": C, "seconds": seconds, "warnings": notes}
    record = {**chosen, **_described(machine, training), "training": _training_figures(machine, training, seed)}
    _show(Console(stderr=as_json), record)
    print_json(record, wanted=as_json)


# --------------------------------------------------------------------------- what to learn from


def _pairs_of_classes(table: ExampleTable, reflexive: bool) -> Training:
    """All pairs of the examples, positive where the classes agree."""
    if table.classes is None:
        raise InputError(
            f"{table.source} holds no classes; name their column with --class-column, or give a table of "
            "labelled pairs as PAIRS"
        )
    pairs = pl.all_pairs(table.examples, reflexive=reflexive)
    return Training(pairs, pairs.labels(table.classes), None)


def _given_pairs(table: ExampleTable, path: Path, columns: tuple[str, str, str]) -> Training:
    """The labelled pairs of a file, by the ids of their examples."""
    given = read_pairs(path, *columns)
    if given.labels is None or given.spelling is None:
        raise InputError(f"{path} has no column {columns[2]!r}, but learning needs labels; see --label-column")
    return Training(table.pairs(given), given.labels, dict(given.spelling))


# --------------------------------------------------------------------------- training


def train(machine: Any, pairs: Pairs, labels: Ints) -> list[str]:
    """Fit with a progress bar; Ctrl-C ends it early. Returns warnings for the reader."""
    with warnings.catch_warnings(record=True) as caught, _watched(machine.tol, machine.time_budget) as report:
        warnings.simplefilter("always")
        machine.set_params(callback=report).fit(pairs, labels)
    machine.set_params(callback=None)
    return list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SHOWN_WARNINGS)))


@contextmanager
def _watched(tol: float, budget: float | None) -> Iterator[Callable[[Step], bool]]:
    """A callback that shows progress and answers True after Ctrl-C, which ends the fit after this iteration.

    The next Ctrl-C breaks off the iteration itself, where the solver turns an interrupt into a model: not before its
    first report, not after the last, where it would lose what was learnt.
    """
    asked = threading.Event()
    latest: list[Step] = []

    def interrupt() -> None:
        running = latest and latest[0].gap > tol and (budget is None or latest[0].seconds < budget)
        if asked.is_set() and running:
            raise KeyboardInterrupt
        asked.set()
        say(bars.console, "stopping after this iteration and keeping the model; Ctrl-C again stops it now")

    def report(step: Step) -> bool:
        latest[:] = [step]
        bar.update(step.gap, f"KKT gap {step.gap:.2g}, {counted(step.n_support, 'support pair')}")
        return asked.is_set()

    with progress_bar() as bars, on_interrupt(interrupt):
        bar = GapBar(bars, "learning", tol, state="preparing")
        yield report


# --------------------------------------------------------------------------- what came out


def _described(machine: Any, training: Training) -> dict[str, Any]:
    """What was learnt from, and what came out."""
    return {
        "examples": training.pairs.n_examples,
        "pairs": len(training.pairs),
        "positives": int((training.labels > 0).sum()),
        "labels": training.spelling,
        "status": machine.fit_status_,
        "kkt_gap": machine.kkt_gap_,
        "support_pairs": machine.n_support_,
        "plan": str(machine.plan_),
    }


def _training_figures(machine: Any, training: Training, seed: int) -> dict[str, Any] | None:
    """EER on the training pairs themselves, without reflexive ones; None when one label is left alone."""
    kept = np.nonzero(~training.pairs.reflexive)[0]
    sampled = len(kept) > MOST_SCORED
    if sampled:
        kept = np.sort(np.random.default_rng(seed).choice(kept, MOST_SCORED, replace=False))
    labels = training.labels[kept]
    if abs(int(labels.sum())) == len(kept):
        return None
    curves = compare(machine, training.pairs[kept], labels)
    eers = {name: curve.equal_error_rate for name, curve in curves.items()}
    return {"pairs": len(kept), "sampled": sampled, "eer": eers}


def _show(console: Console, record: dict[str, Any]) -> None:
    """The record of a fit in words."""
    for note in record["warnings"]:
        say(console, note, lead="warning:", style="yellow")
    examples = counted(record["examples"], "example")
    rows = {
        "pairs": f"{record['pairs']:,} of {examples}, {record['positives']:,} positive",
        "labels": spelled(record["labels"]) if record["labels"] else "from classes: same → +1, different → −1",
        "kernel": f"{record['kernel']} on {record['base']}, C = {record['C']:g}",
        "status": record["status"],
        "KKT gap": f"{record['kkt_gap']:.2g}",
        "support pairs": f"{record['support_pairs']:,}",
        "time": f"{record['seconds']:.1f} s",
        "plan": record["plan"],
        "training EER": _in_words(record["training"]),
    }
    console.print(facts(rows), highlight=False)
    if record["status"] != "converged":
        early = f"Stopped early ({record['status']})"
        say(console, f"{early}: the model is usable, but not yet the best one for these pairs.")
    say(console, f"model written to {record['out']}")


def _in_words(training: dict[str, Any] | None) -> str:
    """The training EER of the model and of the baselines, with what it is worth."""
    if training is None:
        return "not defined: these pairs have one label only"
    of = f"a sample of {training['pairs']:,} training pairs" if training["sampled"] else "the training pairs"
    eers = {name: percent(eer) for name, eer in training["eer"].items()}
    beside = ", ".join(f"untrained {titled(name)} {eer}" for name, eer in eers.items() if name != MODEL)
    return f"{eers[MODEL]}" + (f" (beside {beside})" if beside else "") + f" on {of}: flattering, test on others"
