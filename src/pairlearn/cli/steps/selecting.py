"""The steps of `pairlearn select`: from examples and identities to a model that is honest about unseen identities.

A share of the classes is set aside before anything else happens → `StagedSearch` chooses and fits on the rest → the
model and every baseline are judged, once, on the classes set aside. What the search saw of its validation classes
flatters the winner, since it was chosen by them; the final test does not.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import TaskID
from rich.table import Table

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, show_verdict, titled, verdict
from pairlearn.cli.terminal import percent, progress_bar, say, table
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, equal_error_rate
from pairlearn.examples import take_examples
from pairlearn.interrupts import on_interrupt
from pairlearn.pairs import class_codes
from pairlearn.selection.search.development import pairs_of
from pairlearn.selection.search.runner import Step
from pairlearn.selection.search.settings import BASES, CS, KERNELS
from pairlearn.selection.search.staged import RECORD
from pairlearn.types import Bools, Examples
from pairlearn.words import counted

PLOT = "eer-per-stage.png"


def search_of(
    kernels: Sequence[str] | None,
    bases: Sequence[str] | None,
    Cs: Sequence[float] | None,
    *,
    budget: float,
    memory: float | None,
    directory: Path,
    jobs: int,
    seed: int,
) -> Any:
    """The staged search over what was asked for, by default over everything that it knows."""
    return pl.StagedSearch(
        kernels or KERNELS,
        {name: BASES.get(name, name) for name in bases or BASES},
        Cs or CS,
        time_budget=budget,
        memory_budget=memory,
        directory=directory,
        n_jobs=jobs,
        random_state=seed,
    )


# --------------------------------------------------------------------------- data

Part = tuple[Examples, Any]


def parts(given: ExampleTable, share: float, seed: int) -> tuple[Part, Part | None]:
    """Examples and classes to develop on, and those of other classes for the final test."""
    classes = given.required_classes()
    if not 0 <= share < 1:
        raise InputError(f"--test-share lies from 0 to below 1, got {share}; 0.2 keeps a fifth of the classes")
    codes = class_codes(classes)
    n = int(codes.max()) + 1
    n_test = round(share * n)
    if n_test == 0:
        return (given.examples, given.classes), None
    test = np.isin(codes, np.random.default_rng(seed).permutation(n)[:n_test])
    return _part(given, ~test), _part(given, test)


def _part(given: ExampleTable, mask: Bools) -> Part:
    """The examples of a mask and their classes."""
    chosen = np.flatnonzero(mask)
    return take_examples(given.examples, chosen), np.asarray(given.classes)[chosen]


def final_test(search: Any, tested: Part | None, seed: int) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The machine and every baseline, learnt from the same pairs, on the test classes: error rates and the verdict."""
    if tested is None:
        return None, None
    pairs, labels = pairs_of(*tested, seed=seed)
    if abs(int(labels.sum())) == len(labels):
        return None, None
    values, skipped = search.score_by_baselines(pairs)
    model = Scores.of(search, pairs, labels, tested[1])
    systems = {MODEL: model, **{name: replace(model, values=each) for name, each in values.items()}}
    test = {
        "classes": len(set(np.asarray(tested[1]).tolist())),
        "pairs": len(pairs),
        "positives": int((labels > 0).sum()),
        "eer": {name: equal_error_rate(scores) for name, scores in systems.items()},
        "skipped": skipped,
    }
    return test, verdict(systems, search="")


# --------------------------------------------------------------------------- progress


def search(staged: Any, development: Part, console: Console) -> None:
    """Search with a bar per task and size; Ctrl-C ends the search, and the best machine so far is fitted."""

    def interrupt() -> None:
        say(console, "stopping the search and fitting the best machine so far; Ctrl-C again ends that fit early")
        raise KeyboardInterrupt

    with _watched() as report, on_interrupt(interrupt), warnings.catch_warnings():
        # joblib reports in length how it ends its processes after Ctrl-C.
        warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
        staged.set_params(progress=report).fit(*development)


@contextmanager
def _watched() -> Iterator[Callable[[Step], None]]:
    """A callback that shows a bar per task and size."""
    tasks: dict[str, TaskID] = {}
    with progress_bar(transient=False) as bars:

        def report(step: Step) -> None:
            name = f"{step.stage:>12}, {step.size}"
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=step.total, state="")
            state = "" if step.best is None else f"best EER {percent(step.best)}"
            bars.update(tasks[name], total=step.total, completed=step.done, state=f"{step.done}/{step.total} {state}")

        yield report


# --------------------------------------------------------------------------- what came out


def show(console: Console, record: dict[str, Any]) -> None:
    """The record of a search in words, stage by stage."""
    for stage in record["stages"]:
        say(console, _stage_line(stage), lead=f"{stage['task']} task:")
    for note in record["notes"]:
        say(console, note, lead="note:", style="yellow")
    say(console, _chosen_line(record), lead="chosen")
    say(console, record["validation"], lead="validation:")
    if record["test"] is None:
        say(console, "No verdict: no classes were kept for a final test; --test-share 0.2 keeps a fifth of them.")
    else:
        _show_test(console, record["test"])
        show_verdict(console, record["verdict"])


def keep(console: Console, record: dict[str, Any], directory: Path) -> None:
    """The record and the picture of the stages, beside the journal."""
    write_whole(directory / RECORD, json.dumps(record, indent=1).encode())
    _draw(console, record, directory / PLOT)


def _stage_line(stage: dict[str, Any]) -> str:
    """One task: how many settings were tried and kept, and the best of its largest set."""
    machines = [[result for result in rung["results"] if result["kind"] == "machine"] for rung in stage["rungs"]]
    if not any(machines):
        return "no setting was tried on every split"
    last, best = [(rung, found[0]) for rung, found in zip(stage["rungs"], machines, strict=True) if found][-1]
    size = f"{counted(last['n_classes'], 'class')} × {last['epcr']}"
    tried = len({result["what"] for results in machines for result in results})
    epcr = f"; {counted(stage['epcr'], 'example')} per class suffice" if "epcr" in stage else ""
    return (
        f"{counted(tried, 'setting')} tried, {len(stage['kept'])} kept; best at {size}: "
        f"{best['what']}, EER {percent(best['eer'])}{epcr}"
    )


def _chosen_line(record: dict[str, Any]) -> str:
    chosen, fit = record["chosen"], record["fit"]
    start = "" if chosen["start"] is None else f", started from {chosen['start']}"
    return (
        f"{chosen['kernel']} on {chosen['base']}, C = {chosen['absolute_C']:.3g}{start}; "
        f"{counted(fit['support_pairs'], 'support pair')}, {fit['status']}, {record['seconds']:.0f} s in all"
    )


def _show_test(console: Console, test: dict[str, Any]) -> None:
    of = f"{counted(test['pairs'], 'pair')} of {counted(test['classes'], 'class')} never used before"
    say(console, f"{of}, {test['positives']:,} positive", lead="final test:")
    console.print(_test_table(test))


def _test_table(test: dict[str, Any]) -> Table:
    drawn = table(("", "EER"))
    for name, rate in sorted(test["eer"].items(), key=lambda item: item[1]):
        drawn.add_row(titled(name), percent(rate), style="bold" if name == MODEL else "")
    return drawn


def _draw(console: Console, record: dict[str, Any], path: Path) -> None:
    from pairlearn.evaluation.plots import draw_stages

    try:
        draw_stages(record["stages"], path)
        say(console, f"EER per stage drawn to {path}")
    except ImportError as error:
        say(console, f"no figure: {error}")
