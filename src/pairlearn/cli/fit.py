"""`pairlearn fit`: learn a model from files."""

from __future__ import annotations

import json
import math
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import pairlearn as pl
from pairlearn.cli.score import AsJson, ClassColumn, LabelColumn, LeftColumn, RightColumn, compare, spelled, titled
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import check_target
from pairlearn.errors import ConflictWarning, DefinitenessWarning, InputError, SymmetryWarning
from pairlearn.pairs import Pairs
from pairlearn.types import Ints

if TYPE_CHECKING:
    from pairlearn.solvers.problem import Progress as Step

MOST_SCORED = 200_000
"""Training pairs that are scored for the training figures; beyond that a sample is."""


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
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 0,
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
    console = Console(stderr=as_json)
    table = read_examples(examples, class_column)
    if pairs is None:
        training, labels, spelling = *_pairs_of_classes(table, reflexive), None
    else:
        training, labels, spelling = _given_pairs(table, pairs, (left_column, right_column, label_column))
    machine = pl.PairSVC(
        kernel,
        base,
        C=C,
        tol=tol,
        class_weight=_class_weight(class_weight),
        time_budget=time_budget,
        memory_budget=memory_bytes(memory_budget),
        random_state=seed,
    )
    began = time.perf_counter()
    notes = train(machine, training, labels)
    seconds = time.perf_counter() - began
    pl.save(machine, out)
    record = {
        "out": str(out),
        "examples": training.n_examples,
        "pairs": len(training),
        "positives": int((labels > 0).sum()),
        "labels": spelling,
        "kernel": kernel,
        "base": base,
        "C": C,
        "status": machine.fit_status_,
        "kkt_gap": machine.kkt_gap_,
        "support_pairs": machine.n_support_,
        "seconds": seconds,
        "plan": str(machine.plan_),
        "warnings": notes,
        "training": _training_figures(machine, training, labels, seed),
    }
    _show(console, record)
    if as_json:
        print(json.dumps(record))


# --------------------------------------------------------------------------- what to learn from


def _pairs_of_classes(table: ExampleTable, reflexive: bool) -> tuple[Pairs, Ints]:
    if table.classes is None:
        raise InputError(
            f"{table.source} holds no classes; name their column with --class-column, or give a table of "
            "labelled pairs as PAIRS"
        )
    pairs = pl.all_pairs(table.examples, reflexive=reflexive)
    return pairs, pairs.labels(table.classes)


def _given_pairs(table: ExampleTable, path: Path, columns: tuple[str, str, str]) -> tuple[Pairs, Ints, dict[str, int]]:
    given = read_pairs(path, *columns)
    if given.labels is None or given.spelling is None:
        raise InputError(f"{path} has no column {columns[2]!r}, but learning needs labels; see --label-column")
    return table.pairs(given), given.labels, dict(given.spelling)


def _class_weight(text: str | None) -> Any:
    if text is None or text == "balanced":
        return text
    try:
        positive, negative = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--class-weight is `balanced` or two numbers, positive first, such as 10,1; got {text!r}"
        ) from None
    return {1: positive, -1: negative}


def memory_bytes(text: str | None) -> float | None:
    """Bytes of a text such as 500MB or 4GB."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None:
        raise InputError(f"--memory-budget is a number of bytes such as 500MB or 4GB, got {text!r}")
    number, prefix, binary = found.groups()
    return float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " ")


# --------------------------------------------------------------------------- training


def train(machine: Any, pairs: Pairs, labels: Ints) -> list[str]:
    """Fit with a progress bar; Ctrl-C ends it early. Returns warnings for the reader."""
    with warnings.catch_warnings(record=True) as caught, _watched(machine.tol, machine.time_budget) as report:
        warnings.simplefilter("always")
        machine.set_params(callback=report).fit(pairs, labels)
    machine.set_params(callback=None)
    told = (ConflictWarning, DefinitenessWarning, SymmetryWarning)
    return list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, told)))


def gap_bar() -> Progress:
    """A bar on stderr that fills as the KKT gap falls, on a logarithmic scale."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def gap_share(first: float, gap: float, tol: float) -> float:
    """How far the gap has fallen from the first one towards tol, 0 … 1."""
    if gap <= tol or first <= tol:
        return 1.0
    return min(1.0, max(0.0, math.log(first / gap) / math.log(first / tol)))


@contextmanager
def _watched(tol: float, budget: float | None) -> Iterator[Callable[[Step], bool]]:
    """A callback that shows progress and answers True after Ctrl-C."""
    first: list[Step] = []
    latest: list[Step] = []
    with gap_bar() as bar, _interruptible(lambda: _may_break(latest, tol, budget), bar.console) as asked:
        task = bar.add_task("learning", total=1.0, state="preparing")

        def report(step: Step) -> bool:
            first[:] = first or [step]
            latest[:] = [step]
            state = f"KKT gap {step.gap:.2g}, {step.n_support:,} support pairs"
            bar.update(task, completed=gap_share(first[0].gap, step.gap, tol), state=state)
            return asked.is_set()

        yield report


def _may_break(latest: list[Step], tol: float, budget: float | None) -> bool:
    # Only inside an iteration does the solver turn an interrupt into a model.
    return bool(latest) and latest[0].gap > tol and (budget is None or latest[0].seconds < budget)


@contextmanager
def _interruptible(may_break: Callable[[], bool], console: Console) -> Iterator[threading.Event]:
    """Set the event at the first Ctrl-C; at the next one break off the running iteration."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, frame: Any) -> None:
        if asked.is_set() and may_break():
            raise KeyboardInterrupt
        asked.set()
        console.print("stopping after this iteration and keeping the model; Ctrl-C again stops it now")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


# --------------------------------------------------------------------------- what came out


def _training_figures(machine: Any, pairs: Pairs, labels: Ints, seed: int) -> dict[str, Any] | None:
    """EER on the training pairs themselves, without reflexive ones; None when one label is left alone."""
    kept = np.nonzero(~pairs.reflexive)[0]
    sampled = len(kept) > MOST_SCORED
    if sampled:
        kept = np.sort(np.random.default_rng(seed).choice(kept, MOST_SCORED, replace=False))
    if abs(int(labels[kept].sum())) == len(kept):
        return None
    curves = compare(machine, pairs[kept], labels[kept])
    eers = {name: curve.equal_error_rate for name, curve in curves.items()}
    return {"pairs": len(kept), "sampled": sampled, "eer": eers}


def _show(console: Console, record: dict[str, Any]) -> None:
    for note in record["warnings"]:
        console.print(f"[yellow]warning:[/] {note}", soft_wrap=True)
    table = Table(show_header=False, box=None, pad_edge=False)
    rows = {
        "pairs": f"{record['pairs']:,} of {record['examples']:,} examples, {record['positives']:,} positive",
        "labels": spelled(record["labels"]) if record["labels"] else "from classes: same → +1, different → −1",
        "kernel": f"{record['kernel']} on {record['base']}, C = {record['C']:g}",
        "status": record["status"],
        "KKT gap": f"{record['kkt_gap']:.2g}",
        "support pairs": f"{record['support_pairs']:,}",
        "time": f"{record['seconds']:.1f} s",
        "plan": record["plan"],
        "training EER": _in_words(record["training"]),
    }
    for name, value in rows.items():
        table.add_row(f"[bold]{name}[/]", value)
    console.print(table, highlight=False)
    if record["status"] != "converged":
        console.print(
            f"Stopped early ({record['status']}): the model is usable, but not yet the best one for these pairs.",
            soft_wrap=True,
        )
    console.print(f"model written to {record['out']}", highlight=False, soft_wrap=True)


def _in_words(training: dict[str, Any] | None) -> str:
    if training is None:
        return "not defined: these pairs have one label only"
    of = f"a sample of {training['pairs']:,} training pairs" if training["sampled"] else "the training pairs"
    eers = {name: f"{100 * eer:.2f} %" for name, eer in training["eer"].items()}
    beside = ", ".join(f"untrained {titled(name)} {eer}" for name, eer in eers.items() if name != "model")
    return f"{eers['model']}" + (f" (beside {beside})" if beside else "") + f" on {of}: flattering, test on others"
