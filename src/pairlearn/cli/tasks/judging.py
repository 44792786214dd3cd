"""Answers of a model beside those of baselines: figures with limits, and one verdict."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

import numpy as np
from rich.console import Console

from pairlearn.cli.comparison import MODEL
from pairlearn.cli.run import Run
from pairlearn.cli.tasks.task import Task
from pairlearn.cli.terminal import say, table
from pairlearn.data.files.sheet import Sheet
from pairlearn.data.reading import read_pairs
from pairlearn.data.tables import PairTable
from pairlearn.errors import InputError
from pairlearn.evaluation.figures import Figure, judged
from pairlearn.evaluation.intervals import Interval
from pairlearn.evaluation.measures import PERCENT
from pairlearn.evaluation.objectives.answers import Judgement
from pairlearn.evaluation.resampling.units import Units, numbered_units
from pairlearn.pairs import Pairs
from pairlearn.words import counted


def judge(
    judgement: Judgement, answers: Mapping[str, Any], truth: Any, units: Units, unit: str = "example", **told: Any
) -> dict[str, Any]:
    """Figures of every system and, if there are baselines, the verdict on the model, for the record.

    answers: of the model and of baselines by name, (n,) each; truth: what they should be; units: what pairs share.
    told: what to do with a better model, and what may find one, as `Verdict` wants it.
    """
    figure = judgement.figure
    worth = {name: judgement.worth(values, truth) for name, values in answers.items()}
    record: dict[str, Any] = {"pairs": len(truth), "systems": {}}
    for name, values in answers.items():
        found = figure.interval(worth[name], units, unit)
        further = {key: _defined(each(values, truth)) for key, each in judgement.further.items()}
        record["systems"][name] = {figure.key: found.estimate, **_limits(found), **further}
    baselines = {name: each for name, each in worth.items() if name != MODEL}
    if MODEL in worth and baselines:
        record["verdict"] = judged(figure, worth[MODEL], baselines, units, unit, **told).as_json()
    return record


def judge_pairs(
    task: Task, answers: Mapping[str, Any], truth: Any, left: Any, right: Any, **told: Any
) -> dict[str, Any]:
    """The same for pairs by the numbers or ids of their examples; ties, which no order can get right, are left out."""
    assert task.judgement is not None
    rows = np.flatnonzero(task.judgement.counts(truth))
    if not len(rows):
        return {"pairs": 0, "left_out": len(truth), "systems": {}}
    units = numbered_units(np.asarray(left)[rows], np.asarray(right)[rows])
    kept = {name: values[rows] for name, values in answers.items()}
    found = judge(task.judgement, kept, truth[rows], units, **told)
    return {**found, "left_out": len(truth) - len(rows)}


def sides_of(pairs: Pairs) -> tuple[Any, Any]:
    """Numbers of the examples of both sides; those of a second table are told apart from those of the first."""
    shift = 0 if pairs.right_examples is None else pairs.n_examples
    return pairs.left, pairs.right + shift


def _defined(value: float) -> float | None:
    """The number; None where it is not defined, as JSON has it."""
    return None if isnan(value) else value


def _limits(found: Interval) -> dict[str, float | None]:
    known = found.n_units > 0
    return {"low": found.low if known else None, "high": found.high if known else None}


def judge_tables(run: Run, task: Task, sheets: Mapping[str, Sheet], label: str) -> None:
    """Tables of answers, as `pairlearn score` writes them, one by one: a table says nothing of baselines."""
    assert task.judgement is not None
    result: dict[str, Any] = {}
    for name, sheet in sheets.items():
        _refuse_classes(sheet)
        given = read_pairs(sheet.source, label=label).labelled()
        truth, _ = task.labels(given)
        values = sheet.features([task.column]).ravel()
        values = values if given.rows is None else values[list(given.rows)]
        result[name] = judge_pairs(task, {name: values}, truth, given.left, given.right)
        show(run.out, task.judgement, result[name], f"{name}: {counted(result[name]['pairs'], 'labelled pair')}")
    run.finish({"task": task.name, "systems": result})


def _refuse_classes(sheet: Sheet) -> None:
    """Classes of single examples are judged where they are told."""
    if "left" not in sheet.columns and {"id", "prediction", "lead"} <= set(sheet.columns):
        raise InputError(
            f"{sheet.source} holds classes of single examples, as pairlearn classify predict writes them; "
            "that command itself says how often they are right, if EXAMPLES has a column of classes"
        )


# --------------------------------------------------------------------------- in words


def show(console: Console, judgement: Judgement, record: Mapping[str, Any], title: str) -> None:
    """The figures as a table, what was left out, and the verdict."""
    if not record["systems"]:
        say(console, "all of these pairs are ties, so there is no order to judge")
        return
    figure = judgement.figure
    drawn = table(("", f"{figure.name} [95 %]", *judgement.further), title)
    for name, found in record["systems"].items():
        drawn.add_row(name, _with_limits(figure, found), *(_plain(found[key]) for key in judgement.further))
    console.print(drawn)
    if record.get("left_out"):
        say(console, f"{counted(record['left_out'], 'tie is', 'ties are')} left out")
    if "verdict" in record:
        say(console, f"{record['verdict']['words']} {record['verdict']['next_step']}")


def _with_limits(figure: Figure, found: Mapping[str, Any]) -> str:
    """72.1 % [69.8, 74.2], or 0.513 [0.501, 0.525]."""
    scale, digits = (100.0, ".1f") if figure.unit == PERCENT else (1.0, ".3g")
    value = f"{scale * found[figure.key]:{digits}}" + (" %" if figure.unit == PERCENT else "")
    if found["low"] is None:
        return value
    return f"{value} [{scale * found['low']:{digits}}, {scale * found['high']:{digits}}]"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def written_labels(task: Task, given: PairTable) -> Any:
    """Labels as a table of answers has them, so that they can be read again: left, right or tie; or numbers."""
    truth, _ = task.labels(given)
    if task.words.keys() != {1, 0, -1}:
        return truth
    return [{1: "left", -1: "right", 0: "tie"}[label] for label in truth.tolist()]
