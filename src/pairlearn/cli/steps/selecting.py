"""The steps of `pairlearn select`: from examples and identities to a model that is honest about unseen identities.

`StagedSearch` sets a share of the classes aside before anything else happens, chooses and fits on the rest, and judges
the model and every baseline, once, on the classes set aside; then the model is fitted on all classes. What the search
saw of its validation classes flatters the winner, since it was chosen by them; the final test does not.
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
from pairlearn.cli.comparison import MODEL, show_verdict, titled
from pairlearn.cli.steps.fitting import refuse_ignorant
from pairlearn.cli.terminal import percent, progress_bar, say, table
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import write_whole
from pairlearn.evaluation.measures import PERCENT
from pairlearn.evaluation.objectives.named import measure_named
from pairlearn.interrupts import on_interrupt
from pairlearn.selection.search.runner import Step
from pairlearn.selection.search.settings import BASES, CS, KERNELS
from pairlearn.selection.search.staged import RECORD
from pairlearn.words import counted

PLOT = "eer-per-stage.png"
BROKEN_OFF = "interrupted"
"""Status of a final fit that a second Ctrl-C ended."""
NO_TEST = (
    "No verdict: there was no final test. --test-share 0.2 keeps a fifth of the classes for it; they must be two at "
    "least, and leave four to learn from and choose by."
)


def search_of(
    kernels: Sequence[str] | None,
    bases: Sequence[str] | None,
    Cs: Sequence[float] | None,
    *,
    budget: float,
    test_share: float,
    memory: float | None,
    directory: Path,
    jobs: int,
    seed: int,
    objective: str,
) -> Any:
    """The staged search over what was asked for, by default over everything that it knows."""
    return pl.StagedSearch(
        kernels or KERNELS,
        {name: BASES.get(name, name) for name in bases or BASES},
        Cs or CS,
        time_budget=budget,
        test_share=test_share,
        memory_budget=memory,
        directory=directory,
        n_jobs=jobs,
        random_state=seed,
        objective=measure_named(objective),
    )


def with_parts(columns: Columns, texts: Sequence[str]) -> Columns:
    """What the user says of the table, with the columns of each representation."""
    parts = [tuple(part.strip() for part in text.split("=", 1)) for text in texts]
    if bad := [text for text, part in zip(texts, parts, strict=True) if len(part) != 2 or not all(part)]:
        raise pl.errors.InputError(f"--representation is NAME=COLUMNS, such as hog=h*, got {bad[0]!r}")
    return replace(columns, parts=tuple((part[0], part[1]) for part in parts))


def _examples(given: ExampleTable) -> Any:
    """The rows, or the representations that stand in them side by side."""
    if not given.parts:
        return given.examples
    places = np.cumsum([width for _, width in given.parts])[:-1]
    names = [name for name, _ in given.parts]
    return pl.selection.Representations(dict(zip(names, np.split(given.examples, places, axis=1), strict=True)))


# --------------------------------------------------------------------------- progress


def search(staged: Any, given: ExampleTable, console: Console) -> None:
    """Search with a bar per task and size; Ctrl-C ends the search, and the best machine so far is fitted."""

    def interrupt() -> None:
        say(
            console,
            "stopping the search; the best machine so far, if there is one, is fitted (Ctrl-C again ends that)",
        )
        raise KeyboardInterrupt

    with _watched() as report, on_interrupt(interrupt), warnings.catch_warnings():
        # joblib reports in length how it ends its processes after Ctrl-C.
        warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
        staged.set_params(progress=report).fit(_examples(given), given.required_classes())
    if staged.best_estimator_.fit_status_ == BROKEN_OFF:
        refuse_ignorant(staged.best_estimator_)


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
        say(console, _stage_line(stage, record["objective"]), lead=f"{stage['task']} task:")
    for note in record["notes"]:
        say(console, note, lead="note:", style="yellow")
    say(console, _chosen_line(record), lead="chosen")
    say(console, record["validation"], lead="validation:")
    if record["test"] is None:
        say(console, NO_TEST if record["fit"]["status"] != BROKEN_OFF else "No verdict: the final fit was broken off.")
    else:
        _show_test(console, record["test"], record["objective"])
        late = [name for name, why in record["test"]["skipped"].items() if why == "no time"]
        if late:
            say(console, f"no time to test {', '.join(late)}", lead="note:", style="yellow")
        if record["verdict"] is None and late:
            say(console, "No verdict: there was no time for a baseline to compare with; give a larger --budget.")
        else:
            show_verdict(console, record["verdict"])
        say(console, _refit_line(record), lead="refit:")


def keep(console: Console, record: dict[str, Any], directory: Path) -> None:
    """The record and the picture of the stages, beside the journal."""
    write_whole(directory / RECORD, json.dumps(record, indent=1).encode())
    _draw(console, record, directory / PLOT)


def _stage_line(stage: dict[str, Any], objective: dict[str, Any]) -> str:
    """One task: how many settings were tried and kept, and the best of its largest set."""
    machines = [[result for result in rung["results"] if result["kind"] == "machine"] for rung in stage["rungs"]]
    if not any(machines):
        return "no setting was tried on every split"
    last, best = [(rung, found[0]) for rung, found in zip(stage["rungs"], machines, strict=True) if found][-1]
    size = f"{counted(last['n_classes'], 'class')} × {last['epcr']}"
    n_kept = len(stage["kept"])
    kept = f", {n_kept} kept" if n_kept <= stage["tried"] else f"; {n_kept} go on, some of them untried here"
    epcr = f"; {counted(stage['epcr'], 'example')} per class taken" if "epcr" in stage else ""
    return (
        f"{counted(stage['tried'], 'setting')} tried{kept}; best at {size}: "
        f"{best['what']}, {objective['name']} {written(objective, best['value'], best['low'], best['high'])}{epcr}"
    )


def written(objective: dict[str, Any], value: float, low: float | None, high: float | None) -> str:
    """4.20 % [3.10 %, 5.30 %], or 0.8312 [0.8107, 0.8493]."""
    ends = limits_of(objective, low, high)
    return f"{one(objective, value)}{ends and ' '}{ends}"


def limits_of(objective: dict[str, Any], low: float | None, high: float | None) -> str:
    """Limits in brackets; nothing where there are none."""
    return "" if low is None or high is None else f"[{one(objective, low)}, {one(objective, high)}]"


def one(objective: dict[str, Any], value: float) -> str:
    """A value in the unit of the objective."""
    return percent(value) if objective["unit"] == PERCENT else f"{value:.4f}"


def _chosen_line(record: dict[str, Any]) -> str:
    chosen, fit = record["chosen"], record["fit"]
    more = " (whitened views: see the glossary)" if "whitened view" in chosen["sentence"] else ""
    return (
        f"{chosen['sentence']}{more}; {counted(fit['support_pairs'], 'support pair')}, {fit['status']}, "
        f"{record['seconds']:.0f} of {record['time_budget']:.0f} s in all"
    )


def _refit_line(record: dict[str, Any]) -> str:
    """What is written: the tested model, or the same setting fitted on more classes."""
    refit = record["refit"]
    if refit is None:
        return "the model is the one that was tested"
    size = f"{counted(refit['n_classes'], 'class')} × {refit['epcr']}"
    return f"the model is the same setting fitted once more on {size}, the test classes too; the test was before that"


def _show_test(console: Console, test: dict[str, Any], objective: dict[str, Any]) -> None:
    of = f"{counted(test['pairs'], 'pair')} of {counted(test['classes'], 'class')} never used before"
    say(console, f"{of}, {test['positives']:,} positive", lead="final test:")
    console.print(_test_table(test, objective))


def _test_table(test: dict[str, Any], objective: dict[str, Any]) -> Table:
    drawn = table(("", objective["name"], "95 % limits over identities"))
    best_last = objective["larger_is_better"]
    for name, value in sorted(test["values"].items(), key=lambda item: item[1], reverse=best_last):
        limits = limits_of(objective, *test["limits"].get(name, (None, None)))
        drawn.add_row(titled(name), one(objective, value), limits, style="bold" if name == MODEL else "")
    return drawn


def _draw(console: Console, record: dict[str, Any], path: Path) -> None:
    from pairlearn.evaluation.plots import draw_stages

    try:
        by_eer = record["objective"]["key"] == "eer"
        draw_stages(record["stages"], path, limits=by_eer)
        why = "" if by_eer else ", by which clearly bad settings are told whatever the objective,"
        say(console, f"EER per stage{why} drawn to {path}")
    except ImportError as error:
        say(console, f"no figure: {error}")
