"""The steps of `pairlearn select` on labelled pairs: links, orders or numbers, of one table or two."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, show_verdict
from pairlearn.cli.options import RightOptions
from pairlearn.cli.run import Run
from pairlearn.cli.steps import fitting, selecting
from pairlearn.cli.tasks import matrices, ranking
from pairlearn.cli.terminal import progress_bar, say, table
from pairlearn.data.layout import Columns
from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.evaluation.objectives.named import QUESTIONS, Question, judgement_named
from pairlearn.interrupts import on_interrupt
from pairlearn.pairs import Pairs
from pairlearn.selection.labelled.runner import Step
from pairlearn.selection.labelled.search import RECORD
from pairlearn.selection.labelled.tasks import UNSEEN
from pairlearn.words import counted

USUAL = ("left", "right", "label")
"""Columns of pairs unless others are named."""
STOPPING = "stopping the search and fitting the best machine so far; Ctrl-C again ends everything without a model"
STOPPED = "stopping without a model"
"""What Ctrl-C does while settings are tried; and before the first machine, or in the final fit and test."""


def question_of(text: str) -> Question:
    """--task as a question."""
    for question in QUESTIONS:
        if question == text:
            return question
    raise InputError(f"--task is one of {', '.join(QUESTIONS)}, got {text!r}")


class Asked(NamedTuple):
    """What was asked for on the command line."""

    task: Question
    unseen: str
    objective: str | None
    kernels: list[str] | None
    bases: list[str] | None
    Cs: list[float] | None
    budget: float
    test_share: float
    memory: float | None
    directory: Path
    seed: int

    def search(self) -> pl.PairSearch:
        """The search, which checks everything else."""
        return pl.PairSearch(
            self.task,
            self.unseen,
            self.objective,
            kernels=self.kernels,
            bases=None if self.bases is None else {name: fitting.base_of(name) for name in self.bases},
            Cs=self.Cs,
            time_budget=self.budget,
            test_share=self.test_share,
            memory_budget=self.memory,
            directory=self.directory,
            random_state=self.seed,
        )


def select(
    run: Run,
    asked: Asked,
    examples: Path,
    pairs: Path,
    out: Path,
    columns: Columns,
    right: RightOptions,
    names: tuple[str, str, str],
) -> None:
    """Read, search, say what came out, and write model and record."""
    judgement_named(asked.objective, asked.task)
    search = asked.search()
    known, labels = _training(run, asked, examples, pairs, columns, right, names)
    with warnings.catch_warnings(record=True) as caught, _watched(run, search):
        warnings.simplefilter("always")
        search.fit(known, labels)
    for sentence in fitting.sentences(caught):
        run.warn(sentence)
    result = {**search.record_, "out": str(out), "mean": float(labels.mean())}
    show(run, result)
    run.save(search.best_estimator_, out, result)
    write_whole(asked.directory / RECORD, json.dumps(result, indent=1).encode())
    run.finish(result)


def _training(
    run: Run,
    asked: Asked,
    examples: Path,
    pairs: Path,
    columns: Columns,
    right: RightOptions,
    names: tuple[str, str, str],
) -> tuple[Pairs, Any]:
    """Pairs joined to their examples, and what is known of each."""
    bases = None if asked.bases is None else [fitting.base_of(name) for name in asked.bases]
    tables = matrices.tables_of(run, examples, columns, right, matrices.common_base(bases))
    if asked.task == "order":
        chosen = [None if name == usual else name for name, usual in zip(names, USUAL, strict=True)]
        given = ranking.preferences(run, pairs, *chosen)
        training = ranking.training_of(run, tables[0], given)
        return training.pairs, training.labels
    given = run.pairs(pairs, *names)
    labels = given.numbers() if asked.task == "number" else given.required_labels()[0]
    return given.on(*tables), labels


@contextmanager
def _watched(run: Run, search: pl.PairSearch) -> Iterator[None]:
    """A bar of the seconds; Ctrl-C ends the search, and the best machine so far is fitted, if there is one."""

    def interrupt() -> None:
        say(run.err, STOPPING if search.stoppable else STOPPED)
        raise KeyboardInterrupt

    with progress_bar() as bars, on_interrupt(interrupt):
        bar = bars.add_task("searching", total=search.time_budget, state="")

        def report(step: Step) -> None:
            state = f"{counted(step.done, 'trial')}, {step.size:,} pairs"
            bars.update(bar, completed=min(step.seconds, search.time_budget or step.seconds), state=state)

        search.set_params(progress=report)
        yield


# --------------------------------------------------------------------------- what came out


def show(run: Run, record: dict[str, Any]) -> None:
    """The record in words: sizes, notes, choice, validation, final test, verdict, refit."""
    for rung in record["rungs"]:
        say(run.out, _rung_line(rung, record["objective"]), lead=f"{rung['pairs']:,} pairs:")
    for note in record["notes"]:
        say(run.out, note, lead="note:", style="yellow")
    say(run.out, _chosen_line(record), lead="chosen")
    say(run.out, record["validation"], lead="validation:")
    if record["test"] is None:
        say(run.out, "No verdict: there was no final test. --test-share 0.2 keeps a fifth for it.")
        return
    _show_test(run, record)
    if record["verdict"] is None:
        say(run.out, "No verdict: there was no time for a baseline in the final test; --budget gives more.")
    else:
        show_verdict(run.out, record["verdict"])
    say(run.out, _refit_line(record), lead="refit:")


def _rung_line(rung: dict[str, Any], objective: dict[str, Any]) -> str:
    best = rung["results"][0]
    shown = selecting.written(objective, best["value"], best["low"], best["high"])
    return f"{counted(rung['tried'], 'setting')} and baselines tried; best {best['what']}, {objective['name']} {shown}"


def _chosen_line(record: dict[str, Any]) -> str:
    fit, budget = record["fit"], record["time_budget"]
    return f"{record['chosen']['sentence']}; {fit['status']}, {record['seconds']:.0f} of {budget:.0f} s in all"


def _refit_line(record: dict[str, Any]) -> str:
    refit = record["refit"]
    if refit is None:
        return "the model is the one that was tested"
    return f"the model is the same setting fitted once more on {counted(refit['pairs'], 'pair')}, those of the test too"


def _show_test(run: Run, record: dict[str, Any]) -> None:
    test, objective = record["test"], record["objective"]
    say(run.out, f"{counted(test['judged'], 'pair')} never used before: {UNSEEN[record['unseen']]}", lead="final test:")
    drawn = table(("", objective["name"], "95 % limits over examples"))
    ranked = sorted(test["values"].items(), key=lambda item: item[1], reverse=objective["larger_is_better"])
    for name, value in ranked:
        limits = selecting.limits_of(objective, *test["limits"][name])
        drawn.add_row(name, selecting.one(objective, value), limits, style="bold" if name == MODEL else "")
    run.out.print(drawn)
