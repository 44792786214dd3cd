"""Tables that hold the similarity of every example with every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.cli.options import RightOptions
from pairlearn.cli.run import Run
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable
from pairlearn.errors import InputError
from pairlearn.words import counted

PRECOMPUTED = "precomputed"
"""The base kernel whose examples are rows of a matrix."""


def common_base(bases: Sequence[Any] | None) -> Any:
    """One of these bases, for reading the tables that all of them take: each side as features, or as a matrix.

    >>> common_base(None), common_base(["linear", "rbf"]), common_base([("precomputed", "rbf")])
    ('linear', 'linear', ('precomputed', 'rbf'))
    """
    first, *others = bases or ["linear"]
    if any(_matrices(base) != _matrices(first) for base in others):
        raise InputError(
            f"--base {PRECOMPUTED} takes a table as a matrix of similarities, other bases take it as features; give it "
            "alone"
        )
    return first


def _matrices(base: Any) -> list[bool]:
    """Which side is a matrix."""
    return [side == PRECOMPUTED for side in (base if isinstance(base, tuple) else (base, base))]


def tables_of(
    run: Run, path: Path, columns: Columns, right: RightOptions, base: Any
) -> tuple[ExampleTable, ExampleTable | None]:
    """The table of the left or of all examples and that of the right ones, each as its base kernel takes it."""
    bases = base if isinstance(base, tuple) else (base, base)
    left = table_of(run, path, columns, bases[0])
    if right.right_examples is None:
        return left, None
    return left, table_of(run, right.right_examples, right.columns(), bases[1], "right")


def table_of(run: Run, path: Path, columns: Columns, base: str, role: str = "examples") -> ExampleTable:
    """A table of features or, for a precomputed base, a matrix."""
    if base != PRECOMPUTED:
        return run.examples(path, columns, role=role)
    return as_matrix(run, run.examples(path, replace(columns, matrix=True), role=role), role)


def as_matrix(run: Run, table: ExampleTable, role: str) -> ExampleTable:
    """The table with its columns in the order of its rows, where their names are the ids; it must be square.

    The record remembers that order, so that new rows are read by the names of their columns.
    """
    n, width = table.examples.shape
    if n != width:
        raise InputError(
            f"{table.source} has {counted(n, 'row')} and {counted(width, 'column')} of numbers, but a precomputed "
            "matrix has a row and a column for every example; see --id-column and --drop"
        )
    names = () if table.layout is None else table.layout.columns
    if table.layout is None or table.layout.id is None or len(names) < n or names == tuple(table.ids):
        return table
    if set(names) != set(table.ids):
        strange = next(name for name in names if name not in set(table.ids))
        raise InputError(
            f"{table.source} has a column {strange!r}, but no row of this id; name the columns of the matrix by "
            "the ids of its rows"
        )
    places = {name: place for place, name in enumerate(names)}
    layout = replace(table.layout, columns=tuple(table.ids))
    run.inputs[role]["layout"] = layout.as_json()
    run.note(f"{table.source}: columns are taken in the order of the rows, by their names")
    matrix = np.ascontiguousarray(table.examples[:, [places[key] for key in table.ids]])
    return replace(table, examples=matrix, layout=layout)
