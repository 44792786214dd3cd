"""The steps of `pairlearn rank`: preferences with or without a table of examples, and everyone in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from rich.console import Console
from scipy import sparse

import pairlearn as pl
from pairlearn.baselines.labelled.strengths import BradleyTerry, Coin, WinShare
from pairlearn.cli.comparison import MODEL
from pairlearn.cli.run import Run, known_ids, learnt_from
from pairlearn.cli.steps import fitting
from pairlearn.cli.tasks import holdout
from pairlearn.cli.tasks.matrices import table_of
from pairlearn.cli.tasks.task import PREFERENCE, task_of
from pairlearn.cli.terminal import say, table
from pairlearn.data.files.frames import column_names
from pairlearn.data.files.sources import find_source
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.data.texts import Texts
from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.machines.pair_ranker import advantages
from pairlearn.machines.ranking import Ranking, rank_by
from pairlearn.pairs import Pairs
from pairlearn.types import Floats, Ints
from pairlearn.words import counted

SHOWN = 10
"""Lines of a ranking on the terminal; the table has all."""
TOL = 1e-3
"""Share of the largest score up to which scores are equal where no solver says it."""
WINNERS, SIDES = ("winner", "loser"), ("left", "right")
"""Usual names of the two columns: the first two say the order themselves, with the others a label does."""
TOLD = {
    "use": "Predict with `pairlearn rank predict`, or see everyone in order with `pairlearn rank order`.",
    "search": "another --C or --base, --kernel wedge (cycles), or features of the examples with --examples",
}
"""What to do after a verdict."""


# --------------------------------------------------------------------------- what to learn from


def preferences(
    run: Run, path: Path, left: str | None, right: str | None, label: str | None, *, role: str = "preferences"
) -> PairTable:
    """A table of preferences; winner and loser say the order themselves, left and right need a label to learn from."""
    source = find_source(path)
    usual = WINNERS if set(WINNERS) <= set(column_names(source)) else SIDES
    names = (left or usual[0], right or usual[1])
    given = run.pairs(source, *names, label or "label", role=role)
    if given.cells is None and names == WINNERS:
        given = replace(given, cells=Texts(np.zeros(len(given), dtype=np.int32), ("left",)))
    kept = given.labelled()
    for text in kept.notes[len(given.notes) :]:
        run.note(f"{given.source}: {text}")
    return kept


def examples(run: Run, path: Path | None, columns: Columns, base: str, given: PairTable) -> ExampleTable:
    """The table of examples, or ids alone: each is a feature of its own, so that strengths of the named are learnt."""
    if path is not None:
        return table_of(run, path, columns, base)
    ids = tuple(sorted({*given.left.distinct, *given.right.distinct}))
    run.inputs["examples"] = {"ids": list(ids)}
    run.note(f"{given.source}: {counted(len(ids), 'id')}; one strength is learnt for each (--examples gives features)")
    return named(str(given.source), ids)


def named(source: str, ids: Sequence[str]) -> ExampleTable:
    """A table of examples that are known by their ids only: row k is the k-th unit vector."""
    return ExampleTable(source, sparse.eye_array(len(ids), format="csr"), tuple(ids))


class Training(NamedTuple):
    """Pairs and labels +1 (left first), −1 (right first), 0 (tie), with their spelling."""

    pairs: Pairs
    labels: Ints
    spelling: Mapping[str, int]


def training_of(run: Run, known: ExampleTable, given: PairTable) -> Training:
    """Preferences joined to examples; says how many contradict each other, and refuses comparisons with oneself."""
    if given.cells is None:
        raise InputError(
            f"{given.source} says nowhere who came first; name the columns winner and loser, or the labels (1/-1/0 or "
            "left/right/tie) with --label-column"
        )
    labels, spelling = given.outcomes()
    pairs = given.on(known)
    same = np.flatnonzero(pairs.reflexive)
    if len(same):
        more = f" (so do {len(same) - 1:,} more)" if len(same) > 1 else ""
        raise InputError(
            f"{given.source}, {given.place(int(same[0]))} compares {given.left[same[0]]!r} with itself{more}; drop it"
        )
    _note_contradictions(run, given, pairs, labels)
    return Training(pairs, labels, spelling)


def _note_contradictions(run: Run, given: PairTable, pairs: Pairs, labels: Ints) -> None:
    """Pairs that were judged both ways, with one of them by name."""
    codes = pairs.codes()
    turned = np.where(pairs.left > pairs.right, -labels, labels)
    both = np.intersect1d(codes[turned > 0], codes[turned < 0])
    if not len(both):
        return
    row = int(np.flatnonzero(codes == both[0])[0])
    run.note(
        f"{given.source}: {len(both):,} of {counted(len(np.unique(codes)), 'compared couple')} went both ways, such as "
        f"{given.left[row]} and {given.right[row]}: every preference counts, none is dropped"
    )


# --------------------------------------------------------------------------- learning


def result_of(
    run: Run, machine: Any, training: Training, notes: list[str], *, unseen: str, folds: int, seed: int
) -> dict[str, Any]:
    """What was learnt from, and how well it predicts what was held out."""
    systems = {MODEL: machine, "Bradley–Terry": BradleyTerry(), "win share": WinShare(), "a coin": Coin()}
    labels = training.labels
    return {
        **fitting.facts_of(machine, training.pairs, notes),
        "ties": int((labels == 0).sum()),
        "labels": dict(training.spelling),
        "held_out": holdout.tested(
            run,
            PREFERENCE,
            systems,
            training.pairs,
            labels,
            unseen=unseen,
            folds=folds,
            seed=seed,
            **TOLD,
        ),
    }


def show(run: Run, result: Mapping[str, Any]) -> None:
    """The result of `rank fit` in words."""
    ties = f", {counted(result['ties'], 'tie')} (half a win for either side)" if result["ties"] else ""
    rows = {"preferences": f"{result['pairs']:,} of {counted(result['examples'], 'example')}{ties}"}
    if len(result["labels"]) > 1:
        rows["labels"] = fitting.spelled(result["labels"], PREFERENCE.words)
    fitting.show_facts(run, result, rows, {})
    holdout.show(run, PREFERENCE, result["held_out"])


# --------------------------------------------------------------------------- using


def ranker_of(run: Run, path: Path) -> tuple[Any, dict[str, Any]]:
    """A model that tells who comes first from its file, and what the file says about it."""
    machine, about = run.model(path)
    if task_of(machine, about) is not PREFERENCE:
        raise InputError(
            f"{path} holds a {type(machine).__name__}, which ranks nothing; learn a ranker with pairlearn rank fit"
        )
    return machine, about


def known_examples(
    run: Run, model: Path, about: Mapping[str, Any], path: Path | None, columns: Columns
) -> ExampleTable:
    """The examples that a ranker can speak of: those of a table, or the ids that it learnt."""
    ids = known_ids(about)
    if ids is None and path is None:
        raise InputError(f"{model} was learnt from features; give the table of the examples with --examples")
    if ids is not None and path is not None:
        raise InputError(f"{model} was learnt from ids alone and knows no features; leave --examples out")
    return named(str(model), ids) if ids else run.examples(cast(Path, path), columns, learnt=learnt_from(about))


def in_order(machine: Any, known: ExampleTable) -> tuple[Ranking, dict[str, Any]]:
    """Everyone in order, best first: the ranking, and its table.

    Neighbours whose scores differ by no more than tol · largest score share a rank: such a difference is what the
    solver left over, not something that was learnt.
    """
    ranking = machine.rank(known.examples) if isinstance(machine, pl.PairRanker) else _ranked(machine, known.examples)
    scores = ranking.scores[ranking.order]
    tol = max(getattr(one, "tol", TOL) for one in getattr(machine, "machines_", [machine]))
    new = np.append(True, scores[:-1] - scores[1:] > tol * np.abs(scores).max())
    ranks = np.flatnonzero(new)[np.cumsum(new) - 1] + 1
    return ranking, {"rank": ranks, "id": [known.ids[row] for row in ranking.order.tolist()], "score": scores}


def _ranked(machine: Any, examples: Any) -> Ranking:
    """The order of a least squares machine, or of a mean of machines, as a ranker would tell it."""
    m = count_examples(examples)

    def relation(rows: Ints) -> Floats:
        if hasattr(machine, "function_"):
            return advantages(machine.function_, examples, rows)
        pairs = Pairs(examples, np.repeat(rows, m), np.tile(np.arange(m), len(rows)))
        return np.asarray(machine.decision_function(pairs)).reshape(len(rows), m)

    return rank_by(relation, m)


def ranking_facts(ranking: Ranking, columns: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    """Ties, cycles and inconsistency by the ids of the examples."""
    ends = np.flatnonzero(np.diff(columns["rank"])) + 1
    groups = np.split(np.array(columns["id"], dtype=object), ends)
    return {
        "examples": len(ids),
        "ties": [group.tolist() for group in groups if len(group) > 1],
        "cycles": None if ranking.n_cycles < 0 else ranking.n_cycles,
        "cycle": [ids[row] for row in ranking.cycle],
        "inconsistency": ranking.inconsistency,
    }


def show_ranking(console: Console, columns: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """The first of the ranking, and what an order hides: ties, cycles, and the share that it does not explain."""
    drawn = table(("rank", "id", "score"), f"{counted(found['examples'], 'example')}, best first", names=False)
    for row in list(zip(*columns.values(), strict=True))[:SHOWN]:
        drawn.add_row(str(row[0]), str(row[1]), f"{round(row[2], 9) + 0.0:.4g}")
    console.print(drawn)
    if found["ties"]:
        first = ", ".join(found["ties"][0][:4]) + (" …" if len(found["ties"][0]) > 4 else "")
        groups = counted(len(found["ties"]), "group shares a rank", "groups share a rank")
        within = "their scores differ by no more than the solver's tolerance"
        say(console, f"{groups}, such as {first}: {within}; a smaller --tol or another --C may tell them apart")
    say(console, cycles_words(found))


def check_page(run: Run, page: Path | None, *, force: bool) -> None:
    """Refuse a page that cannot be written before the work begins."""
    run.check_outputs(page, force=force)
    if page is not None:
        from pairlearn.report.html import environment

        environment()


def write_page(
    run: Run,
    page: Path,
    machine: Any,
    known: ExampleTable,
    ranking: Ranking,
    columns: Mapping[str, Any],
    found: Mapping[str, Any],
) -> None:
    """The order, and who comes before whom among the first of it."""
    from pairlearn.report.ranking import MOST, ranking_page

    first = ranking.order[:MOST]
    left, right = np.repeat(first, len(first)), np.tile(first, len(first))
    relation = machine.decision_function(Pairs(known.examples, left, right)).reshape(len(first), -1)
    rows = list(zip(columns["rank"].tolist(), columns["id"], columns["score"].tolist(), strict=True))
    write_whole(page, ranking_page(rows, relation, cycles_words(found)).encode(errors="replace"))
    run.note(f"page written to {page}")


def cycles_words(found: Mapping[str, Any]) -> str:
    """What runs in circles, in words."""
    if found["cycles"] is None:
        return "too many examples to count cycles"
    if not found["cycles"]:
        return "no cycles: every order of two follows from the scores"
    example = " before ".join((*found["cycle"], found["cycle"][0]))
    share = f"{100 * found['inconsistency']:.2g} %"
    return (
        f"{counted(found['cycles'], 'cycle')} of three that no order can show, such as {example}; {share} of the "
        "learnt relation runs in circles"
    )
