"""The steps of `pairlearn classify`: classes from any similarity, beside the nearest neighbour on that similarity."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import pairlearn as pl
from pairlearn.cli.comparison import MODEL
from pairlearn.cli.run import Run, learnt_from
from pairlearn.cli.tasks import holdout, judging
from pairlearn.cli.tasks.matrices import table_of
from pairlearn.cli.tasks.task import CLASSES
from pairlearn.cli.terminal import facts, progress_bar
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable
from pairlearn.errors import InputError
from pairlearn.evaluation.resampling.units import single_units
from pairlearn.types import Floats
from pairlearn.words import counted

TOLD = {
    "use": "Tell the classes of new examples with `pairlearn classify predict`.",
    "search": "another --C or --similarity",
}
"""What to do after a verdict."""


def training_of(run: Run, path: Path, columns: Columns, similarity: str) -> ExampleTable:
    """The table to learn from: it has several classes and, if similarities are given, a column for every row."""
    table = table_of(run, path, columns, similarity)
    names = set(table.required_classes())
    if len(names) < 2:
        raise InputError(f"{table.source} holds one class only, {names.pop()!r}; give examples of two classes or more")
    return table


def train(model: pl.BasisSVC, table: ExampleTable) -> None:
    """Fit; a progress bar moves as similarities are computed."""
    with progress_bar() as bars, warnings.catch_warnings():
        task = bars.add_task("similarities", total=len(table.ids), state="")
        warnings.simplefilter("ignore")
        model.set_params(progress=lambda done: bars.update(task, completed=done.done))
        model.fit(table.examples, np.array(table.required_classes()))
    model.set_params(progress=None)


# --------------------------------------------------------------------------- held-out test


def held_out(run: Run, model: pl.BasisSVC, table: ExampleTable, folds: int, seed: int) -> dict[str, Any] | None:
    """Accuracy on folds that were not learnt from, beside the nearest neighbour and the largest class."""
    classes = np.array(table.required_classes())
    smallest = int(np.unique(classes, return_counts=True)[1].min())
    if folds == 0 or smallest < 2:
        if folds:
            run.warn("no held-out test: a class has one example only")
        return None
    splits = StratifiedKFold(max(2, min(folds, smallest)), shuffle=True, random_state=seed)
    answers: dict[str, Any] = {}
    systems = _systems(run, model, table)
    with holdout.interruptible(run), progress_bar() as bars:
        task = bars.add_task("held-out test", total=None, state="")
        for name, (system, examples) in systems.items():
            bars.update(task, state=name)
            answers[name] = cross_val_predict(system, examples, classes, cv=splits)
    if len(answers) < len(systems):
        return None
    record = judging.judge(CLASSES, answers, classes, single_units(len(classes)), **TOLD)
    return {"folds": splits.n_splits, **record}


def _systems(run: Run, model: pl.BasisSVC, table: ExampleTable) -> dict[str, tuple[Any, Floats]]:
    """The model and its baselines, each with what it learns from."""
    nearest: tuple[Any, Floats] = (KNeighborsClassifier(1), table.examples)
    if model.similarity == "precomputed":
        nearest = (KNeighborsClassifier(1, metric="precomputed"), distances(run, table))
    return {
        MODEL: (model, table.examples),
        "the nearest neighbour": nearest,
        "the largest class": (DummyClassifier(), table.examples),
    }


def distances(run: Run, table: ExampleTable) -> Floats:
    """The matrix as distances ≥ 0: as it is if examples are nearest to themselves at the smallest number.

    Similarities s become max s − s; which of the two a matrix holds, its diagonal tells.
    """
    matrix = table.examples
    if np.diagonal(matrix).mean() < matrix.mean():
        run.note(f"{table.source} holds distances, by its diagonal: the nearest neighbour has the smallest number")
        return np.asarray(matrix - matrix.min())
    return np.asarray(matrix.max() - matrix)


def result_of(run: Run, model: pl.BasisSVC, table: ExampleTable, folds: int, seed: int) -> dict[str, Any]:
    """What was learnt from, and how well it tells what was held out."""
    names, counts = np.unique(table.required_classes(), return_counts=True)
    return {
        "examples": len(table.ids),
        "classes": dict(zip(names.tolist(), counts.tolist(), strict=True)),
        "similarity": model.similarity,
        "C": model.C,
        "bases": len(model.expansion_.basis_index_),
        "held_out": held_out(run, model, table, folds, seed),
    }


def show(run: Run, result: Mapping[str, Any]) -> None:
    """The result of `classify fit` in words."""
    rows = {
        "examples": f"{result['examples']:,} of {counted(len(result['classes']), 'class')}",
        "model": f"BasisSVC on {result['similarity']} similarities to {counted(result['bases'], 'example')}, "
        f"C = {result['C']:g}",
    }
    run.out.print(facts(rows), highlight=False)
    record = result["held_out"]
    if record is not None:
        title = f"Held out, {record['folds']} folds: {record['pairs']:,} examples that were not learnt from"
        judging.show(run.out, CLASSES, record, title)


# --------------------------------------------------------------------------- using


def classifier_of(run: Run, path: Path) -> tuple[pl.BasisSVC, dict[str, Any]]:
    """A classifier from its file, and what the file says about it."""
    model, about = run.model(path)
    if not isinstance(model, pl.BasisSVC):
        raise InputError(
            f"{path} holds a {type(model).__name__}, which tells no classes; learn one with pairlearn classify fit"
        )
    return model, about


def new_examples(run: Run, about: Mapping[str, Any], path: Path, columns: Columns) -> ExampleTable:
    """Examples with the columns that the model was learnt from; classes only if the table has them."""
    learnt = learnt_from(about)
    return run.examples(path, columns, learnt=learnt)


def told(model: pl.BasisSVC, table: ExampleTable) -> dict[str, Any]:
    """Columns: id, predicted class, and by how much its value leads that of the next class."""
    values = model.decision_function(table.examples)
    both = np.column_stack([-values, values]) if values.ndim == 1 else values
    ranked = np.sort(both, axis=1)
    columns = {
        "id": list(table.ids),
        "prediction": model.classes_[both.argmax(axis=1)].tolist(),
        "lead": ranked[:, -1] - ranked[:, -2],
    }
    return columns if table.classes is None else {**columns, "class": list(table.classes)}


def judged(about: Mapping[str, Any], table: ExampleTable, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Accuracy where classes are known, beside the largest class of the training."""
    truth = np.array(table.required_classes())
    counts = about.get("result", {}).get("classes", {})
    answers: dict[str, Any] = {MODEL: np.array(columns["prediction"])}
    if counts:
        answers["the largest class"] = np.full(len(truth), max(counts, key=lambda name: counts[name]))
    return judging.judge(CLASSES, answers, truth, single_units(len(truth)), use="", search="")
