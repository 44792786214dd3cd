"""Tables of examples of any kind: a float array, a sparse matrix, a sequence of objects, or columns of a matrix.

Everything that must know which kind a table is stands here, in the order of its use: check what the user gave, count
rows, take some, put tables one after the other, find rows again, merge equal rows. All else works on any table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.features import check_columns, is_frame, same_features
from pairlearn.linalg.mapped import is_mapped, on_disk, row_blocks
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

# --------------------------------------------------------------------------- what the user gave


def check_examples(examples: Examples, name: str = "examples") -> Examples:
    """Return the examples as a float array, a CSR matrix or a sequence, or say what is wrong with them.

    Arrays of float32 and float64 are shared, not copied; other numbers become float64; data frames become arrays;
    lists of lists of numbers become arrays, arrays of texts or objects lists, all other sequences stay what they are.
    """
    if sparse.issparse(examples):
        matrix = sparse.csr_array(examples)
        refuse_nonfinite(matrix.data, name)
        return matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)
    if is_frame(examples):
        check_columns(examples, name)
    if hasattr(examples, "to_numpy") and not isinstance(examples, np.ndarray):
        examples = examples.to_numpy()
    elif hasattr(examples, "collect"):
        raise InputError(f"{name} are a {type(examples).__name__}, which holds no rows yet; pass examples.collect()")
    if isinstance(examples, np.ndarray) and examples.dtype.kind in "biufc":
        return check_numbers(examples, name)
    if isinstance(examples, (str, bytes)) or not hasattr(examples, "__getitem__"):
        raise InputError(
            f"{name} must be a 2-D array, a sparse matrix or a list of objects, got {type(examples).__name__}"
        )
    if isinstance(examples, np.ndarray) and examples.ndim != 1:
        return check_numbers(as_float(examples, name), name)
    if _is_numeric_rows(examples):
        return check_numbers(as_float(np.asarray(examples), name), name)
    # An array is rows of numbers to everyone else: its texts would be read as some, and "12" has a value.
    return _as_list(examples) if isinstance(examples, np.ndarray) else examples


def check_sides(model: Any, probe: Examples, gallery: Examples) -> tuple[Examples, Examples]:
    """Probe and gallery for a model, each as `check_examples` gives it; columns with names must be those of its fit."""
    sides = ((probe, "probe"), (gallery, "gallery"))
    first, second = (check_examples(same_features(model, table), name) for table, name in sides)
    return first, second


def check_numbers(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Rows of finite real numbers, as float32 or float64; two dimensions or more."""
    if array.dtype.kind == "c":
        raise InputError(f"{name} are complex numbers; pass real features, e.g. their absolute values")
    if array.ndim < 2:
        raise InputError(
            f"{name} must have one row per example, got shape {array.shape}; "
            "use examples.reshape(-1, 1) for a single feature"
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    refuse_nonfinite(array, name)
    return array


def refuse_nonfinite(values: Floats, name: str) -> None:
    """Refuse NaN and infinity, and say where the first is."""
    # One sum is much cheaper than a mask; the mask is only built to name the culprit.
    with np.errstate(all="ignore"):
        if values.size == 0 or np.isfinite(np.sum(values, dtype=np.float64)):
            return
    first, count, nans = -1, 0, False
    for part in row_blocks(values):
        bad = ~np.isfinite(values[part])
        if bad.any():
            first = part.start + int(np.nonzero(bad)[0][0]) if first < 0 else first
            count, nans = count + int(bad.sum()), nans or bool(np.isnan(values[part]).any())
    if not count:
        return
    kind, where = "NaN" if nans else "infinity", f"{'row' if values.ndim > 1 else 'entry'} {first}"
    verb = "contain" if name.endswith("s") else "contains"
    raise InputError(f"{name} {verb} {kind} (first in {where}, {count} in all); impute or drop these rows first")


def as_float(array: np.ndarray[Any, Any], name: str) -> Floats:
    """The array in float64, if it holds numbers."""
    try:
        return cast(Floats, array.astype(np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is a {array.ndim}-D array of non-numbers; pass a list of objects") from error


def _as_list(examples: np.ndarray[Any, Any]) -> list[Any]:
    """The objects of a 1-D array, texts as those of Python; times stay what they are, for Python has none as fine."""
    return list(examples) if examples.dtype.kind in "mMV" else cast(list[Any], examples.tolist())


def _is_numeric_rows(examples: Sequence[Any]) -> bool:
    if len(examples) == 0:
        return False
    return all(
        isinstance(row, (list, tuple))
        and len(row) == len(examples[0]) > 0
        and isinstance(row[0], (int, float, np.number))
        for row in examples
    )


# --------------------------------------------------------------------------- rows of any table


@dataclass(frozen=True)
class Columns:
    """Training examples known only by their columns in a precomputed matrix of any rows × n_columns."""

    index: Ints
    n_columns: int

    def __len__(self) -> int:
        return len(self.index)


def count_examples(examples: Examples) -> int:
    """Number of rows m of a table of examples."""
    return int(examples.shape[0]) if hasattr(examples, "shape") else len(examples)


def take_examples(examples: Examples, index: Ints) -> Examples:
    """Rows `index` of a table of examples of any kind."""
    if isinstance(examples, np.ndarray) or sparse.issparse(examples):
        return examples[index]
    if isinstance(examples, Columns):
        return Columns(examples.index[index], examples.n_columns)
    return [examples[int(i)] for i in index]


def take_used(examples: Examples, used: Ints) -> Examples:
    """Rows `used`, ascending and each once; all of them are the table itself, not a copy."""
    return examples if len(used) == count_examples(examples) else take_examples(examples, used)


def widened(examples: Examples) -> Examples:
    """Rows of float32 numbers as float64, which changes none of them; any other table as it is.

    Kernels compute in the type of their examples. What is learnt and certified is the problem of the given numbers, not
    of their products rounded to seven digits.

    >>> widened(np.float32([[0.1]])).dtype, widened(["a"])
    (dtype('float64'), ['a'])
    """
    numbers = isinstance(examples, np.ndarray) or sparse.issparse(examples)
    return examples.astype(np.float64) if numbers and examples.dtype == np.float32 else examples


def in_use(examples: Examples, used: Ints, room: float = np.inf) -> Examples:
    """Rows `used`, ascending and each once, in float64 if they are numbers; the table itself if that is what it is.

    Of a table in a memory-mapped file, a copy of more than `room` bytes goes to a temporary file as well.
    """
    if not is_mapped(examples) or 8 * len(used) * (examples.size // max(1, len(examples))) <= room:
        return widened(take_used(examples, used))
    if len(used) == len(examples) and examples.dtype == np.float64:
        return examples
    rows = on_disk((len(used), *examples.shape[1:]))
    for part in row_blocks(rows):
        rows[part] = examples[used[part]]
    return rows


def stack_examples(*tables: Examples) -> Examples:
    """The rows of these tables of one kind, one table after the other.

    >>> stack_examples(["a"], ["b", "c"])
    ['a', 'b', 'c']
    """
    first = tables[0]
    _refuse_unlike(tables)
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack(tables, format="csr"))
    if isinstance(first, Columns):
        return Columns(np.concatenate([table.index for table in tables]), first.n_columns)
    return [row for table in tables for row in table]


def _refuse_unlike(tables: Sequence[Examples]) -> None:
    """Refuse tables of numbers that are not of one kind and width: no model has learnt from both."""
    shapes = [table.shape[1:] for table in tables if isinstance(table, np.ndarray) or sparse.issparse(table)]
    if len(set(map(sparse.issparse, tables))) > 1 and len(shapes) == len(tables):
        raise InputError("some of these examples are sparse and some dense; pass either all with .toarray() or none")
    found = [counted(shape[0], "feature") if len(shape) == 1 else f"shape {shape}" for shape in dict.fromkeys(shapes)]
    if len(found) > 1:
        raise InputError(
            f"some of these examples have {found[0]} and some {found[1]}; both examples of a pair are of the kind that "
            "the model was fitted with"
        )


def match_examples(wanted: Examples, examples: Examples) -> Ints:
    """Row of each wanted example among `examples`, the first with the same content, −1 where there is none.

    Rows of a precomputed matrix have no content that tells them apart: they are matched by their number.

    >>> match_examples(["b", "z"], ["a", "b", "b"]).tolist()
    [1, -1]
    """
    if isinstance(wanted, Columns):
        return np.where(wanted.index < count_examples(examples), wanted.index, -1).astype(np.int64)
    where: dict[Any, int] = {}
    for row, key in enumerate(_contents(examples)):
        where.setdefault(key, row)
    return np.array([where.get(key, -1) for key in _contents(wanted)], dtype=np.int64)


def _contents(examples: Examples) -> list[Any]:
    """A key per example: equal where the content is equal, or where it is the same object if that cannot be said."""
    if isinstance(examples, np.ndarray):
        return [row.tobytes() for row in np.ascontiguousarray(examples)]
    if sparse.issparse(examples):
        rows = sparse.csr_array(examples)
        return [
            (rows.indices[a:b].tobytes(), rows.data[a:b].tobytes())
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    try:
        return [example for example in examples if hash(example) is not None]
    except TypeError:
        return [id(example) for example in examples]


def by_blocks(left: Ints, right: Ints, score: Callable[[Ints, Ints], Floats], width: int = 128) -> Floats:
    """score(left, right) block by block, so that gathered rows of `width` numbers stay within 32 MB.

    Pairs gather a row per side: a million pairs of 1,000 numbers would be 16 GB at once.
    """
    step = max(1, 2**22 // max(width, 1))
    parts = [score(left[t : t + step], right[t : t + step]) for t in range(0, len(left), step)]
    return np.concatenate(parts) if parts else np.zeros(0)


def merge_equal_rows(rows: Floats) -> tuple[Floats, Ints]:
    """Distinct rows in order of first appearance, and the index of each row among them.

    Rows are compared as strings of bytes, so equal means equal in every bit: add 0.0 first if −0.0 may occur.

    >>> rows, index = merge_equal_rows(np.array([[2.0], [1.0], [2.0]]))
    >>> rows.ravel().tolist(), index.tolist()
    ([2.0, 1.0], [0, 1, 0])
    """
    rows = np.ascontiguousarray(rows)
    keys = rows.reshape(len(rows), -1).view(np.dtype((np.void, rows[0].nbytes))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rows[first[order]], rank[inverse.ravel()]
