"""Answers of pairs that were not learnt from: folds, with progress and a Ctrl-C that keeps the model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.base import clone

from pairlearn.cli.long_runs import sparing_the_model
from pairlearn.cli.run import Run
from pairlearn.cli.tasks import judging
from pairlearn.cli.tasks.task import Task
from pairlearn.cli.terminal import progress_bar
from pairlearn.errors import InputError
from pairlearn.pairs import Pairs
from pairlearn.selection import ColdStartKFold, ExampleKFold, PairKFold
from pairlearn.selection.tasks import Side
from pairlearn.types import Floats, Ints
from pairlearn.words import counted

UNSEEN = {
    "none": "pairs that were not learnt from, of examples that were",
    "left": "pairs of left examples that were not learnt from",
    "right": "pairs of right examples that were not learnt from",
    "both": "pairs of two examples that were not learnt from",
}
"""What the pairs of the held-out test are new in, by --unseen."""


class HeldOut(NamedTuple):
    """Rows of the pairs that were tested, and what each system said of them."""

    rows: Ints
    answers: dict[str, Floats]


def splits_of(pairs: Pairs, unseen: str, folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and to test on, for every fold."""
    if unseen not in UNSEEN:
        raise InputError(f"--unseen is one of {', '.join(UNSEEN)}, got {unseen!r}")
    two_tables = pairs.right_examples is not None
    if unseen in ("left", "right") and not two_tables:
        raise InputError(f"--unseen {unseen} is for two tables, with --right-examples; for one table use --unseen both")
    options: dict[str, Any] = {"n_splits": folds, "random_state": seed}
    if unseen == "none":
        return list(PairKFold(**options).split(pairs))
    splitter = ColdStartKFold(cast(Side, unseen), **options) if two_tables else ExampleKFold(None, **options)
    return list(splitter.split(pairs))


def held_out(run: Run, systems: Mapping[str, Any], pairs: Pairs, labels: Any, splits: Sequence[Any]) -> HeldOut | None:
    """Every system learns without each fold and answers it; after Ctrl-C the folds so far, None without any."""
    rows: list[Ints] = []
    answers: dict[str, list[Floats]] = {name: [] for name in systems}
    with interruptible(run, lambda: f" after {len(rows)} of {len(splits)} folds"), progress_bar() as bars:
        task = bars.add_task("held-out test", total=len(splits), state="")
        for train, test in splits:
            found = {
                name: clone(system).fit(pairs[train], labels[train]).decision_function(pairs[test])
                for name, system in systems.items()
            }
            rows.append(test)
            for name, values in found.items():
                answers[name].append(values)
            bars.update(task, advance=1, state=f"fold {len(rows)} of {len(splits)}")
    if not rows:
        return None
    return HeldOut(np.concatenate(rows), {name: np.concatenate(parts) for name, parts in answers.items()})


@contextmanager
def interruptible(run: Run, so_far: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Quiet about warnings of folds, which are those of the model again; Ctrl-C ends the test and not the command."""

    def told() -> None:
        run.warn(f"the held-out test was stopped{so_far()}; the model is kept")

    with sparing_the_model(told), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tested(
    run: Run,
    task: Task,
    systems: Mapping[str, Any],
    pairs: Pairs,
    labels: Any,
    *,
    unseen: str,
    folds: int,
    seed: int,
    **told: Any,
) -> dict[str, Any] | None:
    """The held-out test of a model beside baselines, for the record; None if there is none, and why on stderr."""
    if folds == 0:
        return None
    try:
        splits = splits_of(pairs, unseen, folds, seed)
    except InputError as error:
        if unseen != "none":
            raise
        distinct = len(np.unique(pairs.codes()))
        few = f"{counted(distinct, 'distinct pair')} cannot fill {folds} folds; add pairs, or use fewer --folds"
        run.warn(f"no held-out test: {few if distinct < folds else error}")
        return None
    found = held_out(run, systems, pairs, labels, splits)
    if found is None:
        return None
    left, right = judging.sides_of(pairs[found.rows])
    record = judging.judge_pairs(task, found.answers, labels[found.rows], left, right, **told)
    return {"unseen": unseen, "folds": folds, **record}


def show(run: Run, task: Task, record: Mapping[str, Any] | None) -> None:
    """The held-out test in words."""
    if record is None:
        return
    assert task.judgement is not None
    title = f"Held out, {record['folds']} folds: {record['pairs']:,} {UNSEEN[record['unseen']]}"
    judging.show(run.out, task.judgement, record, title)
