"""Examples and pairs from files of any kind: text tables, JSON lines, Parquet or NumPy.

Ids are strings inside; a table of examples without ids is numbered 0, 1, … by row. Polars reads tables and is imported
only when one is read: pip install 'pairlearn[cli]'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairlearn.data.files.batches import ROWS
from pairlearn.data.files.cells import shortened
from pairlearn.data.files.sheet import Sheet, listed, read_sheet
from pairlearn.data.files.sources import Source, find_source
from pairlearn.data.layout import Columns, find_layout
from pairlearn.data.pair_columns import PairColumns
from pairlearn.data.suspects import class_columns, constant_columns, find_suspects, refuse_suspects
from pairlearn.data.tables import ExampleTable, Join, PairTable
from pairlearn.data.texts import Collected, Numerals, Texts
from pairlearn.errors import InputError
from pairlearn.pairs import Pairs
from pairlearn.words import counted


def read_examples(
    path: str | Path | Source, columns: Columns | None = None, *, learnt: Mapping[str, Any] | None = None
) -> ExampleTable:
    """Read examples from .csv, .tsv, .jsonl, .parquet, .npz or .npy; - is standard input.

    `columns` says which are ids, classes and features; what it does not say is found: ids in `id`, or in the first
    column if that is text; classes in `class`; features in the one column of vectors, else in all others. Columns that
    look like ids or row numbers are refused, unless they are named as features or parts. `learnt` is what a model file
    says of the table it was learnt from: the same columns are taken.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "faces.csv"
    >>> _ = path.write_text("id,class,x\\nann1,ann,1.5\\nbob1,bob,2\\n")
    >>> table = read_examples(path)
    >>> table.ids, table.classes, table.examples.tolist()
    (('ann1', 'bob1'), ('ann', 'bob'), [[1.5], [2.0]])
    >>> print(table.layout)
    1 feature x; id id; class class
    """
    sheet = read_sheet(path)
    asked = columns or Columns()
    asked = asked.like(learnt, sheet) if learnt else asked
    if not asked.features and {"left", "right"} <= set(sheet.columns):
        raise InputError(
            f"{sheet.source} has columns 'left' and 'right', so it is a table of pairs; give the table of their "
            "examples here (EXAMPLES comes before PAIRS), or name its features with --features"
        )
    layout = find_layout(sheet, asked)
    if learnt and set(layout.columns) == set(learnt["columns"]):
        # A table may have its columns in another order than the one that was learnt from.
        layout = replace(layout, columns=tuple(learnt["columns"]))
    classes = None if layout.classes is None else sheet.ids(layout.classes)
    examples = sheet.features(layout.columns)
    if not asked.features and not asked.matrix and examples.shape[1] == len(layout.columns):
        if not asked.parts:
            refuse_suspects(sheet.source, layout.columns, examples, classes)
        constant = constant_columns(layout.columns, examples)
        if constant:
            some = counted(len(constant), "column holds", "columns hold")
            sheet.notes.append(f"{some} one number in every row: {listed(constant, 4)}; --drop leaves them out")
        of_classes = class_columns(layout.columns, examples, classes)
        if of_classes:
            some = counted(len(of_classes), "column has", "columns have")
            sheet.notes.append(
                f"{some} one value within every class: {listed(of_classes, 4)}; told of a class rather than of an "
                "example it gives the answer away, and --drop leaves it out"
            )
    ids = None if layout.id is None else _unique(sheet, layout.id)
    if ids is None:
        sheet.notes.extend(_unused_ids(sheet, layout.left_out))
    return ExampleTable(
        str(sheet.source),
        examples,
        ids or Numerals(range(len(examples))),
        classes,
        replace(layout, n_features=examples.shape[1]),
        tuple(sheet.notes),
        tuple((name, sheet.features(part).shape[1]) for name, part in layout.parts),
    )


def read_pairs(
    path: str | Path | Source, left: str = "left", right: str = "right", label: str | None = "label"
) -> PairTable:
    """Read a table of pairs from .csv, .tsv, .jsonl, .parquet or .npz.

    `left`, `right` and `label` name the columns. A column `label` may be absent; one of another name must be there,
    since somebody named it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("left,right,label\\nann1,ann2,same\\nann1,bob1,different\\n")
    >>> table = read_pairs(path)
    >>> list(table.right), table.labels.tolist()
    (['ann2', 'bob1'], [1, -1])
    """
    source = find_source(path)
    names = PairColumns.of(source, left, right, label)
    columns = {name: Collected() for name in names.all}
    for part, _ in names.batches(source, kept=True):
        for name, column in columns.items():
            column.add(part[name])
    found = {name: column.names() for name, column in columns.items()}
    return names.table(source, found, notes=names.notes(source))


class PairBatch(NamedTuple):
    """Some rows of a table of pairs, as they stand there and joined to their examples."""

    table: PairTable
    pairs: Pairs


def scan_pairs(
    path: str | Path | Source,
    examples: ExampleTable,
    right_examples: ExampleTable | None = None,
    *,
    left: str = "left",
    right: str = "right",
    label: str | None = "label",
    skip: int = 0,
    rows: int = ROWS,
) -> Iterator[PairBatch]:
    """A table of pairs of any size, `rows` pairs after the other, joined to its examples; not the first `skip`.

    Memory does not grow with the table. `pairlearn.data.appending.TableWriter` writes answers as they come. A row with
    an empty or unknown id ends it with an error that names its line.

    >>> import tempfile, pairlearn as pl
    >>> path = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("left,right\\nann,bob\\nbob,bob\\nann,ann\\n")
    >>> people = ExampleTable("people", np.array([[0.0], [3.0]]), ("ann", "bob"))
    >>> [pl.EuclidBaseline().decision_function(pairs).tolist() for _, pairs in scan_pairs(path, people, rows=2)]
    [[-3.0, -0.0], [-0.0]]
    """
    source, join = find_source(path), Join(examples, right_examples)
    names = PairColumns.of(source, left, right, label)
    for part, first in names.batches(source, skip, rows):
        found = {name: Texts.read(part[name]) for name in names.all}
        table = names.table(source, found, first=first)
        yield PairBatch(table, join(table))


def _unused_ids(sheet: Sheet, names: Sequence[str]) -> Iterator[str]:
    """A hint, if rows are numbered although a column looks like ids."""
    numbers = [name for name in names if sheet.columns[name].kind == "numbers"]
    values = [sheet.columns[name].numbers().values[:, :1] for name in numbers]
    if values:
        for suspect in find_suspects(numbers, np.nan_to_num(np.concatenate(values, axis=1))):
            if suspect.advice:
                yield f"rows are numbered 0, 1, …, but column {suspect.name!r} looks like ids; name it with --id-column"


def _unique(sheet: Sheet, name: str) -> tuple[str, ...]:
    """Ids, if none occurs twice; a message names both places."""
    ids = sheet.ids(name)
    seen: dict[str, int] = {}
    for row, key in enumerate(ids):
        if seen.setdefault(key, row) != row:
            first, second = (sheet.source.place(place) for place in (seen[key], row))
            raise InputError(
                f"{sheet.source}: the id {shortened(key)} (column {name!r}) stands in {first} and {second}; ids must "
                "be unique: remove one row, or name another column with --id-column"
            )
    return ids
