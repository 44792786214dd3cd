"""Examples and pairs from files of any kind: CSV, Parquet or NumPy.

Ids are strings inside; a table of examples without ids is numbered 0, 1, … by row. Polars reads CSV and Parquet and
is imported only when one is read: pip install 'pairlearn[cli]'.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.arrays import Arrays, as_strings, feature_matrix, read_npy, read_npz
from pairlearn.data.cells import existing_file, is_number, place_of, read_ids, require_columns
from pairlearn.data.frames import numbers_of, read_frame, text_of
from pairlearn.data.labels import read_labels
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.errors import InputError
from pairlearn.types import Floats
from pairlearn.words import counted

if TYPE_CHECKING:
    import polars


def read_examples(path: str | Path, class_column: str | None = None) -> ExampleTable:
    """Read examples from .npz, .npy, .csv, .csv.gz or .parquet.

    A column `id`, or a first column that is not numeric, holds the ids; `class_column` (by default a column
    `class`, if there is one) the classes; all others are features. In .npz files: `X`, `ids`, `classes`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "faces.csv"
    >>> _ = path.write_text("id,class,x\\nann1,ann,1.5\\nbob1,bob,2\\n")
    >>> table = read_examples(path)
    >>> table.ids, table.classes, table.examples.tolist()
    (('ann1', 'bob1'), ('ann', 'bob'), [[1.5], [2.0]])
    """
    path = existing_file(path)
    if path.suffix == ".npy":
        return _examples_of_arrays(path, {"X": read_npy(path)}, class_column)
    if path.suffix == ".npz":
        return _examples_of_arrays(path, read_npz(path), class_column)
    return _examples_of_frame(path, read_frame(path), class_column)


def read_pairs(path: str | Path, left: str = "left", right: str = "right", label: str = "label") -> PairTable:
    """Read a pair table from .csv, .csv.gz, .parquet or .npz; the column of labels may be absent.

    `left`, `right` and `label` name the columns.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("left,right,label\\nann1,ann2,same\\nann1,bob1,different\\n")
    >>> table = read_pairs(path)
    >>> table.right, table.labels.tolist()
    (('ann2', 'bob1'), [1, -1])
    """
    path = existing_file(path)
    columns = _text_columns(path)
    require_columns(path, columns, (left, right))
    lefts, rights = (read_ids(path, name, columns[name]) for name in (left, right))
    if len(lefts) != len(rights):
        raise InputError(f"{path}: {left!r} and {right!r} have {len(lefts)} and {len(rights)} entries")
    if not lefts:
        raise InputError(f"{path} holds no pairs; add one row per pair under the header {left},{right}")
    if label not in columns:
        return PairTable(str(path), lefts, rights)
    if len(columns[label]) != len(lefts):
        raise InputError(
            f"{path}: {counted(len(columns[label]), 'label')} for {counted(len(lefts), 'pair')}; give one per pair"
        )
    labels, spelling = read_labels(columns[label], f"{path}, column {label!r}")
    return PairTable(str(path), lefts, rights, labels, spelling)


def _text_columns(path: Path) -> dict[str, list[str | None]]:
    """Every column of a table as text, by name."""
    if path.suffix == ".npz":
        return {name: as_strings(path, name, array) for name, array in read_npz(path).items()}
    frame = read_frame(path)
    return {name: text_of(frame, name) for name in frame.columns}


def _examples_of_arrays(path: Path, arrays: Arrays, class_column: str | None) -> ExampleTable:
    examples = feature_matrix(path, arrays)
    if class_column is not None:
        require_columns(path, arrays, (class_column,))
    ids, classes = (_column(path, arrays, name, len(examples)) for name in ("ids", class_column or "classes"))
    return _checked(path, examples, ids, classes, "ids")


def _column(path: Path, arrays: Arrays, name: str, rows: int) -> tuple[str, ...] | None:
    """One text per example from the array of this name, None if there is no such array."""
    if name not in arrays:
        return None
    column = read_ids(path, name, as_strings(path, name, arrays[name]))
    if len(column) != rows:
        raise InputError(
            f"{path}: {name} has {counted(len(column), 'entry')} for {counted(rows, 'example')}; give one per row"
        )
    return column


def _examples_of_frame(path: Path, frame: polars.DataFrame, class_column: str | None) -> ExampleTable:
    if class_column is not None:
        require_columns(path, frame.columns, (class_column,))
    class_name = class_column or ("class" if "class" in frame.columns else None)
    names = [name for name in frame.columns if name != class_name]
    id_name = _id_column(frame, names)
    features = [name for name in names if name != id_name]
    if not features:
        raise InputError(f"{path} holds no features; its columns are {', '.join(frame.columns)}")
    examples = np.column_stack([numbers_of(path, frame, name) for name in features])
    ids = None if id_name is None else read_ids(path, id_name, text_of(frame, id_name))
    classes = None if class_name is None else read_ids(path, class_name, text_of(frame, class_name))
    return _checked(path, examples, ids, classes, id_name or "id")


def _id_column(frame: polars.DataFrame, names: Sequence[str]) -> str | None:
    """The column of ids: `id`, else the first one if it holds anything but numbers."""
    if "id" in names:
        return "id"
    first = names[0] if names else None
    if first is None or all(is_number(cell) for cell in text_of(frame, first) if cell is not None):
        return None
    return first


def _checked(
    path: Path,
    examples: Floats,
    ids: tuple[str, ...] | None,
    classes: tuple[str, ...] | None,
    id_name: str,
) -> ExampleTable:
    """The table, if no id occurs twice; a message names both places. Without ids rows are numbered."""
    ids = ids or tuple(str(row) for row in range(len(examples)))
    seen: dict[str, int] = {}
    for row, key in enumerate(ids):
        if seen.setdefault(key, row) != row:
            raise InputError(
                f"{path}: the id {key!r} (column {id_name!r}) stands in {place_of(path, seen[key])} and "
                f"{place_of(path, row)}; ids must be unique"
            )
    return ExampleTable(str(path), examples, ids, classes)
