"""`pairlearn select`: from examples and identities to a model that is honest about unseen identities."""

from __future__ import annotations

import json
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

import pairlearn as pl
from pairlearn.cli.fit import memory_bytes
from pairlearn.cli.score import MODEL, AsJson, ClassColumn, titled
from pairlearn.data.files import ExampleTable, check_target, read_examples, write_whole
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, equal_error_rate
from pairlearn.examples import take_examples
from pairlearn.selection.drawing import class_codes
from pairlearn.selection.search.development import pairs_of
from pairlearn.selection.search.runner import Step
from pairlearn.selection.search.settings import BASES, CS, KERNELS
from pairlearn.selection.search.staged import RECORD
from pairlearn.types import Bools, Examples

PLOT = "eer-per-stage.png"


def select(
    examples: Annotated[
        Path, typer.Argument(metavar="EXAMPLES", help="Examples with classes: .csv, .csv.gz, .parquet or .npz.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("model.safetensors"),
    directory: Annotated[
        Path, typer.Option("--dir", help="Journal, record and plot. A killed selection goes on from here.")
    ] = Path("pairlearn-selection"),
    budget: Annotated[float, typer.Option(help="Seconds for the whole selection.")] = 600.0,
    kernel: Annotated[
        list[str] | None,
        typer.Option(help="Pair kernel to try; repeat for several.", show_default=", ".join(KERNELS)),
    ] = None,
    base: Annotated[
        list[str] | None,
        typer.Option(help="Base kernel to try; repeat for several.", show_default=", ".join(BASES)),
    ] = None,
    C: Annotated[
        list[float] | None,
        typer.Option(
            "--C",
            help="Box to try, in units of 1 / mean kernel value; repeat for several.",
            show_default=", ".join(f"{C:g}" for C in CS),
        ),
    ] = None,
    test_share: Annotated[
        float, typer.Option(help="Share of the classes kept for the final test, never used before; 0 for none.")
    ] = 0.2,
    jobs: Annotated[int, typer.Option(help="Processes that fit at the same time; -1 for all cores.")] = 1,
    memory_budget: Annotated[
        str | None, typer.Option(help="Most memory of one fit, e.g. 4GB. Default: 60 % of what is free.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 0,
    class_column: ClassColumn = None,
    as_json: AsJson = False,
) -> None:
    """Choose kernel, C and training set in stages, judge on classes never seen, and write the best model.

    Every baseline runs beside the machines, and a machine that does not beat them says so. Ctrl-C ends the search
    and keeps the best machine so far.
    """
    check_target(out)
    console = Console(stderr=as_json)
    table = read_examples(examples, class_column)
    development, tested = _parts(table, test_share, seed)
    search = pl.StagedSearch(
        kernel or KERNELS,
        {name: BASES.get(name, name) for name in base or BASES},
        C or CS,
        time_budget=budget,
        memory_budget=memory_bytes(memory_budget),
        directory=directory,
        n_jobs=jobs,
        random_state=seed,
    )
    with _watched() as report, _announced_interrupt(console), warnings.catch_warnings():
        # joblib reports in length how it ends its processes after Ctrl-C.
        warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
        search.set_params(progress=report).fit(*development)
    pl.save(search.best_estimator_, out)
    record = {**search.record_, "out": str(out), "test": _final_test(search, tested, seed)}
    write_whole(directory / RECORD, json.dumps(record, indent=1).encode())
    _show(console, record)
    _draw(console, record, directory / PLOT)
    if as_json:
        print(json.dumps(record))


# --------------------------------------------------------------------------- data

Part = tuple[Examples, Any]


def _parts(table: ExampleTable, share: float, seed: int) -> tuple[Part, Part | None]:
    """Examples and classes to develop on, and those of other classes for the final test."""
    if table.classes is None:
        raise InputError(f"{table.source} holds no classes; name their column with --class-column")
    if not 0 <= share < 1:
        raise InputError(f"--test-share lies from 0 to below 1, got {share}; 0.2 keeps a fifth of the classes")
    codes = class_codes(table.classes)
    n = int(codes.max()) + 1
    n_test = round(share * n)
    if n_test == 0:
        return (table.examples, table.classes), None
    test = np.isin(codes, np.random.default_rng(seed).permutation(n)[:n_test])
    return _part(table, ~test), _part(table, test)


def _part(table: ExampleTable, mask: Bools) -> Part:
    chosen = np.flatnonzero(mask)
    return take_examples(table.examples, chosen), np.asarray(table.classes)[chosen]


def _final_test(search: Any, tested: Part | None, seed: int) -> dict[str, Any] | None:
    """Equal error rates on the test classes, of the machine and of every baseline learnt from the same pairs."""
    if tested is None:
        return None
    pairs, labels = pairs_of(*tested, seed=seed)
    if abs(int(labels.sum())) == len(labels):
        return None
    values = {MODEL: search.decision_function(pairs)}
    scores, skipped = search.score_by_baselines(pairs)
    eers = {name: equal_error_rate(Scores(value, labels)) for name, value in {**values, **scores}.items()}
    return {
        "classes": len(set(np.asarray(tested[1]).tolist())),
        "pairs": len(pairs),
        "positives": int((labels > 0).sum()),
        "eer": eers,
        "skipped": skipped,
    }


# --------------------------------------------------------------------------- progress


@contextmanager
def _watched() -> Iterator[Callable[[Step], None]]:
    """A bar per task and size on stderr."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:

        def report(step: Step) -> None:
            name = f"{step.stage:>12}, {step.size}"
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=step.total, state="")
            state = "" if step.best is None else f"best EER {100 * step.best:.2f} %"
            bar.update(tasks[name], total=step.total, completed=step.done, state=f"{step.done}/{step.total} {state}")

        yield report


@contextmanager
def _announced_interrupt(console: Console) -> Iterator[None]:
    """Say what Ctrl-C does before it does it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def tell(number: int, frame: Any) -> None:
        console.print("stopping the search and fitting the best machine so far; Ctrl-C again ends that fit early")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, tell)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --------------------------------------------------------------------------- telling


def _show(console: Console, record: dict[str, Any]) -> None:
    for stage in record["stages"]:
        console.print(_stage_line(stage), highlight=False, soft_wrap=True)
    for note in record["notes"]:
        console.print(f"[yellow]note:[/] {note}", soft_wrap=True)
    chosen = record["chosen"]
    start = "" if chosen["start"] is None else f", started from {chosen['start']}"
    console.print(
        f"[bold]chosen[/] {chosen['kernel']} on {chosen['base']}, C = {chosen['absolute_C']:.3g}{start}; "
        f"{record['fit']['support_pairs']:,} support pairs, {record['fit']['status']}, "
        f"{record['seconds']:.0f} s in all",
        highlight=False,
        soft_wrap=True,
    )
    console.print(record["verdict"], highlight=False, soft_wrap=True)
    if record["test"] is not None:
        console.print(_test_title(record["test"]), highlight=False, soft_wrap=True)
        console.print(_test_table(record["test"]))
        console.print(_test_verdict(record["test"]["eer"]), highlight=False, soft_wrap=True)
    console.print(f"model written to {record['out']}", highlight=False, soft_wrap=True)


def _stage_line(stage: dict[str, Any]) -> str:
    last = stage["rungs"][-1]
    machines = [[result for result in rung["results"] if result["kind"] == "machine"] for rung in stage["rungs"]]
    best, size = machines[-1][0], f"{last['n_classes']} classes × {last['epcr']}"
    tried = len({result["what"] for results in machines for result in results})
    epcr = f"; {stage['epcr']} examples per class suffice" if "epcr" in stage else ""
    return (
        f"[bold]{stage['task']} task[/]: {tried} settings tried, {len(stage['kept'])} kept; best at {size}: "
        f"{best['what']}, EER {100 * best['eer']:.2f} %{epcr}"
    )


def _test_title(test: dict[str, Any]) -> str:
    return (
        f"[bold]final test[/]: {test['pairs']:,} pairs of {test['classes']} classes never used before, "
        f"{test['positives']:,} positive"
    )


def _test_table(test: dict[str, Any]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("EER", justify="right")
    for name, rate in sorted(test["eer"].items(), key=lambda item: item[1]):
        style = "bold" if name == MODEL else ""
        table.add_row(name if name == MODEL else titled(name), f"{100 * rate:.2f} %", style=style)
    return table


def _test_verdict(eers: dict[str, float]) -> str:
    own = eers[MODEL]
    name = min((name for name in eers if name != MODEL), key=lambda name: eers[name])
    relation = "beats" if own < eers[name] else "does NOT beat"
    return (
        f"On unseen classes the model {relation} the best baseline: EER {100 * own:.2f} % against "
        f"{100 * eers[name]:.2f} % of {titled(name)}."
    )


def _draw(console: Console, record: dict[str, Any], path: Path) -> None:
    from pairlearn.evaluation.plots import draw_stages

    try:
        draw_stages(record["stages"], path)
        console.print(f"EER per stage drawn to {path}", highlight=False, soft_wrap=True)
    except ImportError as error:
        console.print(f"no figure: {error}", markup=False, highlight=False, soft_wrap=True)
