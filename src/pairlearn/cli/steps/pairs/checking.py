"""The steps of `pairlearn pairs check`: what is wrong with a table of pairs or examples, and what two of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.cli.options import PairOptions
from pairlearn.cli.run import Run
from pairlearn.cli.steps.pairs.splitting import by_id, holds_pairs
from pairlearn.cli.terminal import facts, say
from pairlearn.data.files.sheet import Sheet
from pairlearn.data.files.sources import Source
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.errors import InputError
from pairlearn.examples import merge_equal_rows
from pairlearn.pairs import Pairs
from pairlearn.selection import ContradictionError, Leaks, find_leaks, infer_labels
from pairlearn.types import Ints
from pairlearn.words import counted, listed

SHOWN = 5
TASKS = {
    "none": "none: it would test on pairs that it trains on",
    "pair": "new pairs of examples seen in training",
    "interexample": "new examples of classes seen in training",
    "interclass": "new classes",
    "unknown": "new examples; whether of new classes is not known: give --examples and --class-column",
}
"""What a test on these tables would speak for, by the task that their leaks allow."""

WRONG = {
    "contradictory": ("contradiction",),
    "against chains": ("label against chains of others", "labels against chains of others"),
    "against the classes": ("label against the classes", "labels against the classes"),
}
"""What cannot be right in a table, in words for one and for several."""
SHARED = {"examples": "example", "pairs": "pair", "classes": "class"}
"""What two tables can share, in words for one."""


@dataclass(frozen=True, eq=False)
class Checked:
    """A table as pairs over examples with ids and, if known, classes; of a table of examples each with itself.

    `labels` are ±1, 0 where unknown; None for a table of examples or without labels. `others` are cells of
    labels that are not same or different, but preferences or numbers.
    """

    source: str
    pairs: Pairs
    ids: Sequence[str]
    classes: tuple[str, ...] | None
    labels: Ints | None = None
    of_examples: bool = False
    others: tuple[str, ...] = ()

    @classmethod
    def of_table(cls, table: ExampleTable) -> Checked:
        """Examples alone."""
        every = np.arange(len(table.ids))
        return cls(table.source, Pairs(table.examples, every, every), table.ids, table.classes, of_examples=True)

    @classmethod
    def of_pairs(cls, given: PairTable, pairs: Pairs, ids: Sequence[str], classes: Any) -> Checked:
        """Pairs over examples."""
        if given.cells is not None and not given.tells_same:
            others = tuple(dict.fromkeys(cell for cell in given.cells.distinct if cell))
            return cls(str(given.source), pairs, ids, classes, others=others)
        labels = None if given.cells is None else given.some_labels()[0]
        return cls(str(given.source), pairs, ids, classes, labels)

    def named(self, rows: Any) -> list[str]:
        """Ids of these examples."""
        return [self.ids[row] for row in rows]


def read(
    run: Run,
    paths: list[Path],
    examples: Path | None,
    test_examples: Path | None,
    columns: Columns,
    names: tuple[str, str, str],
) -> list[Checked]:
    """One table or two, of pairs or of examples."""
    roles = ("train", "test")[: len(paths)]
    sheets = [run.sheet(path, role) for path, role in zip(paths, roles, strict=True)]
    if not any(holds_pairs(sheet, names) for sheet in sheets):
        _refuse_words_of_pairs(sheets[0], examples, names)
        known = run.examples(sheets[0].source, columns, role="train")
        others = [_like(run, "train", known, sheet.source, columns, "test") for sheet in sheets[1:]]
        return [Checked.of_table(each) for each in (known, *others)]
    tables = [run.pairs(sheet.source, *names, role=role) for sheet, role in zip(sheets, roles, strict=True)]
    if examples is None:
        if columns != Columns():
            raise InputError(f"{sheets[0].source} is a table of pairs: columns of examples are those of --examples")
        ids, found = by_id(*tables)
        return [Checked.of_pairs(table, pairs, ids, None) for table, pairs in zip(tables, found, strict=True)]
    first = run.examples(examples, columns)
    other = first if test_examples is None else _like(run, "examples", first, test_examples, columns, "test examples")
    return [
        Checked.of_pairs(table, table.on(over), over.ids, over.classes)
        for table, over in zip(tables, (first, other), strict=False)
    ]


def _refuse_words_of_pairs(sheet: Sheet, examples: Path | None, names: tuple[str, str, str]) -> None:
    """What was said of pairs would be overlooked where tables hold examples."""
    if examples is not None or names != PairOptions().names:
        raise InputError(
            f"{sheet.source} has no columns {names[0]} and {names[1]}, so it is a table of examples; leave --examples "
            "out, or name the columns of pairs with --left-column and --right-column"
        )


def _like(run: Run, known: str, first: ExampleTable, path: Path | Source, columns: Columns, role: str) -> ExampleTable:
    """A second table with the columns of the first, in their order: examples are compared number by number."""
    return run.examples(path, columns, learnt={**run.inputs[known]["layout"], "of": first.source}, role=role)


# --------------------------------------------------------------------------- one table


def faults_of(table: Checked) -> dict[str, Any]:
    """Figures of one table; what stands under `contradictory` and `against …` is wrong for sure."""
    return _faults_of_examples(table) if table.of_examples else _faults_of_pairs(table)


def _faults_of_examples(table: Checked) -> dict[str, Any]:
    """Sizes, and examples that occur more than once."""
    content = merge_equal_rows(np.asarray(table.pairs.examples) + 0.0)[1]
    found = {"examples": len(table.ids), "repeated": len(content) - len(np.unique(content))}
    if table.classes is None:
        return found
    classes = np.array(table.classes)
    _, first = np.unique(content, return_index=True)
    against = np.flatnonzero(classes != classes[first[content]])
    alone = int((np.unique(classes, return_counts=True)[1] == 1).sum())
    couples = [(table.ids[int(first[content[row]])], table.ids[int(row)]) for row in against]
    return {**found, "classes": len(set(table.classes)), "classes of one example": alone, "contradictory": couples}


def _faults_of_pairs(table: Checked) -> dict[str, Any]:
    """Counts of labels, repeated and reflexive pairs, and labels that cannot all be right."""
    pairs, labels = table.pairs, table.labels
    found: dict[str, Any] = {"pairs": len(pairs), "examples": len(pairs.used_examples())}
    if labels is not None:
        counts = {"positive": labels > 0, "negative": labels < 0, "unlabelled": labels == 0}
        found |= {name: int(mask.sum()) for name, mask in counts.items()}
    found |= {
        "repeated": len(pairs) - len(np.unique(pairs.codes())),
        "of an example with itself": int(pairs.reflexive.sum()),
    }
    if table.others:
        found["labels"] = f"not checked, since {listed(table.others)} are not same/different"
    if labels is None:
        return found
    known = np.flatnonzero(labels)
    return {**found, **_contradictions(table, pairs[known], labels[known])}


def _contradictions(table: Checked, pairs: Pairs, labels: Ints) -> dict[str, Any]:
    """Pairs with two labels; negative pairs whose examples positive ones join; labels against the classes."""
    twice = [tuple(table.named((a, b))) for _, _, a, b in pairs.conflicts(labels)]
    found: dict[str, Any] = {"contradictory": twice, **_joined(table, pairs, labels)}
    if table.classes is not None:
        against = np.flatnonzero(pairs.labels(table.classes) != labels)
        found["against the classes"] = [tuple(table.named((pairs.left[k], pairs.right[k]))) for k in against]
    return found


def _joined(table: Checked, pairs: Pairs, labels: Ints) -> dict[str, Any]:
    """Negative pairs that chains of positive ones make impossible, and the first of these chains."""
    positive, negative = np.flatnonzero(labels > 0), np.flatnonzero(labels < 0)
    implied = infer_labels(pairs[positive], labels[positive]).labels(pairs[negative]) if len(positive) else labels[:0]
    against = negative[np.flatnonzero(implied > 0)]
    found: dict[str, Any] = {"against chains": [tuple(table.named((pairs.left[k], pairs.right[k]))) for k in against]}
    try:
        infer_labels(pairs, labels)
    except ContradictionError as error:
        found["chain"] = table.named(error.chain)
    return found


# --------------------------------------------------------------------------- two tables


def leaks_between(train: Checked, test: Checked) -> dict[str, Any]:
    """What the tables share, by id of the test table, and what a test would speak for."""
    classes = (train.classes, test.classes) if train.classes and test.classes else (None, None)
    found: Leaks = find_leaks(train.pairs, test.pairs, *classes)
    shared: dict[str, Any] = {"examples": test.named(found.examples)}
    if not test.of_examples:
        left, right = test.pairs.columns
        shared["pairs"] = [tuple(test.named((left[k], right[k]))) for k in found.pairs]
    if found.identities is not None:
        shared["classes"] = list(found.identities)
    if found.identities is None and found.task == "interexample":
        return {"shared": shared, "task": "unknown"}
    # The pairs of an example with itself, which stand for a table of examples, are no test pairs.
    task = "pair" if test.of_examples and found.task == "none" else found.task
    return {"shared": shared, "task": task}


def result_of(tables: list[Checked]) -> dict[str, Any]:
    """What was found in every table and between two."""
    found: dict[str, Any] = {"tables": {table.source: faults_of(table) for table in tables}}
    return {**found, "leaks": leaks_between(*tables)} if len(tables) > 1 else found


def bad(result: Mapping[str, Any]) -> list[str]:
    """What leaks or contradicts itself, each with its number; empty if nothing does."""
    counts = {name: sum(len(table.get(name, ())) for table in result["tables"].values()) for name in WRONG}
    faults = [counted(n, *WRONG[name]) for name, n in counts.items() if n]
    shared = result.get("leaks", {"shared": {}})["shared"]
    return faults + [f"{counted(len(some), SHARED[name])} in both tables" for name, some in shared.items() if some]


# --------------------------------------------------------------------------- what is said


def show(run: Run, result: Mapping[str, Any]) -> None:
    """The figures of every table, and what two tables share."""
    for source, found in result["tables"].items():
        say(run.out, "", lead=source)
        rows = {name: _in_words(value) for name, value in found.items() if name != "chain"}
        run.out.print(facts({f"  {name}": text for name, text in rows.items()}), highlight=False)
        if "chain" in found:
            run.warn(f"{source}: labelled different, but joined by same: {' – '.join(found['chain'])}; correct a label")
    if "leaks" in result:
        shared = {f"  {name}": _in_words(values) for name, values in result["leaks"]["shared"].items()}
        say(run.out, "", lead="shared by both tables")
        run.out.print(facts({**shared, "  tests": TASKS[result["leaks"]["task"]]}), highlight=False)
    faults = bad(result)
    say(run.out, f"Found {', '.join(faults)}." if faults else "Nothing is wrong with what was checked.")


def _in_words(value: Any) -> str:
    """A sentence, a count, or how many there are and the first of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    shown = [" – ".join(entry) if isinstance(entry, tuple) else str(entry) for entry in value[:SHOWN]]
    more = ", …" if len(value) > SHOWN else ""
    return f"{len(value):,} ({', '.join(shown)}{more})" if value else "none"
