"""What a training set and a test set share: pairs, examples, identities. Works on anyone's split.

Examples are compared by content, since the two sets usually come from two tables: every example that occurs in a pair
gets a number, equal examples the same one (a dictionary from a digest of the row to the number), and after that
sharing is a question about integers. Sharing decides which generalisation task a split may be reported as: no shared
pair makes it a pair task, no shared example an interexample task, no shared identity an interclass task.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.pairs import Pairs, as_pairs, class_names
from pairlearn.types import Examples, Ints
from pairlearn.words import counted, plural_of

Task = Literal["none", "pair", "interexample", "interclass"]
TASKS: tuple[Task, ...] = ("none", "pair", "interexample", "interclass")
SHOWN = 5


# --------------------------------------------------------------------------- the finding


@dataclass(frozen=True, eq=False)
class Leaks:
    """What test pairs share with training pairs; true if anything.

    `pairs` are numbers of test pairs, `examples` and `right_examples` rows of the test tables (the second one only if
    training and test are pairs of two tables), `identities` names, or None if no identities were given.
    """

    pairs: Ints
    examples: Ints
    right_examples: Ints
    identities: tuple[Any, ...] | None

    def __bool__(self) -> bool:
        return bool(len(self.pairs) or len(self.examples) or len(self.right_examples) or self.identities)

    @property
    def task(self) -> Task:
        """The hardest generalisation task that this split can stand for; "none" if pairs are shared.

        Without identities nothing harder than "interexample" can be claimed.
        """
        if len(self.pairs):
            return "none"
        if len(self.examples) or len(self.right_examples):
            return "pair"
        return "interexample" if self.identities is None or self.identities else "interclass"

    def __str__(self) -> str:
        examples = [*(f"{row}" for row in self.examples), *(f"{row} (right)" for row in self.right_examples)]
        names = "identities were not given" if self.identities is None else _listed("identity", self.identities)
        shared = "; ".join([names, _listed("example", examples), _listed("pair", self.pairs.tolist())])
        if self.task == "none":
            return f"{shared}: this split belongs to no task, because it tests on pairs it trains on"
        return f"{shared}: this split belongs to the {self.task} task"


def _listed(what: str, shared: Iterable[Any]) -> str:
    values = [value if isinstance(value, str) else repr(value) for value in shared]
    if not values:
        return f"no shared {plural_of(what)}"
    shown = ", ".join(values[:SHOWN]) + (", …" if len(values) > SHOWN else "")
    return f"{counted(len(values), f'shared {what}')} ({shown})"


# --------------------------------------------------------------------------- the search


def find_leaks(train_pairs: Any, test_pairs: Any, train_identities: Any = None, test_identities: Any = None) -> Leaks:
    """What the two sets share: examples by content (of any tables), pairs in either order, identities by name.

    Identities are one name per example of a table; for pairs of two tables a tuple (of the left, of the right table).
    Only examples that occur in the pairs count. If both sets share their tables, the identities are given once.

    >>> import numpy as np, pairlearn as pl
    >>> train, test = pl.Pairs(np.eye(4), [0], [1]), pl.Pairs(np.eye(4), [2], [3])
    >>> print(find_leaks(train, test, ["ann", "bob", "cat", "bob"], ["ann", "bob", "cat", "bob"]))
    1 shared identity (bob); no shared examples; no shared pairs: this split belongs to the interexample task
    """
    train, test = as_pairs(train_pairs), as_pairs(test_pairs)
    names = _shared_names(train, test, train_identities, test_identities)
    by_side = train.right_examples is not None and test.right_examples is not None
    left_numbers: Numbers = {}
    right_numbers: Numbers = {} if by_side else left_numbers
    dtype = _coarser_type(train, test)
    trained, tested = (_contents(pairs, left_numbers, right_numbers, dtype) for pairs in (train, test))
    shared = np.isin(_codes(tested, by_side), _codes(trained, by_side))
    if not by_side:
        trained = (np.concatenate(trained),) * 2
    return Leaks(np.flatnonzero(shared), *_shared_rows(test, trained, tested), names)


def refuse_leaks(
    train_pairs: Any,
    test_pairs: Any,
    train_identities: Any = None,
    test_identities: Any = None,
    task: Task = "interclass",
) -> None:
    """Raise InputError if the sets share what the task forbids: pairs; examples too; identities too, if given.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.eye(3), reflexive=False)
    >>> refuse_leaks(pairs[:2], pairs[2:], task="pair")
    >>> refuse_leaks(pairs[:2], pairs[2:], task="interexample")
    Traceback (most recent call last):
    ...
    pairlearn.errors.InputError: this is not an interexample split: identities were not given; \
2 shared examples (1, 2); no shared pairs: this split belongs to the pair task; \
drop what is shared or report the pair task
    """
    if task not in TASKS[1:]:
        raise InputError(f"task must be one of {', '.join(TASKS[1:])}, got {task!r}")
    leaks = find_leaks(train_pairs, test_pairs, train_identities, test_identities)
    # Unknown identities keep a clean split from being called interclass, but are not a leak.
    if leaks and TASKS.index(leaks.task) < TASKS.index(task):
        advice = "drop what is shared" + ("" if leaks.task == "none" else f" or report the {leaks.task} task")
        article = "a" if task == "pair" else "an"
        raise InputError(f"this is not {article} {task} split: {leaks}; {advice}")


Numbers = dict[Hashable, int]
Columns = tuple[Ints, Ints]


def _contents(pairs: Pairs, left_numbers: Numbers, right_numbers: Numbers, dtype: Any) -> Columns:
    """Columns of the pairs in which equal examples have equal numbers."""
    left, right = pairs.columns
    return _number(pairs.examples, left, left_numbers, dtype), _number(pairs.right_table, right, right_numbers, dtype)


def _number(table: Examples, column: Ints, numbers: Numbers, dtype: Any) -> Ints:
    """The number of each example of a column; `numbers` grows by contents that were not met before."""
    used, place = np.unique(column, return_inverse=True)
    return np.array([numbers.setdefault(key, len(numbers)) for key in _row_keys(table, used, dtype)])[place]


def _codes(contents: Columns, ordered: bool) -> Ints:
    """One integer per pair of contents; (a, b) and (b, a) are the same pair unless the sides are two tables."""
    left, right = contents if ordered else (np.minimum(*contents), np.maximum(*contents))
    return left * 2**31 + right


def _shared_rows(test: Pairs, trained: Columns, tested: Columns) -> tuple[Ints, Ints]:
    """Rows of the left and of the right test table whose content was trained on; all left if they are one table."""
    rows = [
        column[np.isin(content, known)] for column, content, known in zip(test.columns, tested, trained, strict=True)
    ]
    if test.right_examples is None:
        return np.unique(np.concatenate(rows)), np.zeros(0, dtype=np.int64)
    return np.unique(rows[0]), np.unique(rows[1])


# --------------------------------------------------------------------------- equal content


def _coarser_type(train: Pairs, test: Pairs) -> Any:
    # A float32 copy of float64 examples is the same data: compare in the coarser type.
    tables = (train.examples, train.right_table, test.examples, test.right_table)
    return np.float32 if any(getattr(table, "dtype", None) == np.float32 for table in tables) else np.float64


def _row_keys(table: Examples, used: Ints, dtype: Any) -> Iterable[Hashable]:
    if sparse.issparse(table):
        return (_digest(*_sparse_row(table, row), table.shape[1:], dtype) for row in used)
    if isinstance(table, np.ndarray) and table.dtype.kind == "f":
        return (_dense_digest(table[row], dtype) for row in used)
    return (_object_key(table[int(row)], (id(table), int(row))) for row in used)


def _sparse_row(table: Any, row: int) -> tuple[Ints, Any]:
    part = slice(table.indptr[row], table.indptr[row + 1])
    # Stored zeros, repeated entries and unsorted columns are all lawful in a CSR matrix.
    columns, place = np.unique(table.indices[part], return_inverse=True)
    return columns, np.bincount(place, weights=table.data[part], minlength=len(columns))


def _dense_digest(row: Any, dtype: Any) -> bytes:
    return _digest(np.arange(row.size), row.ravel(), row.shape, dtype)


def _digest(columns: Ints, values: Any, shape: tuple[int, ...], dtype: Any) -> bytes:
    # Only what is not zero counts, so that dense and sparse rows, 0.0 and -0.0 agree.
    kept = values.astype(dtype)
    there = kept != 0
    parts = (columns[there].astype(np.int64).tobytes(), kept[there].tobytes())
    return blake2b(repr(shape).encode() + parts[0] + parts[1], digest_size=16).digest()


def _object_key(value: Any, place: Hashable) -> Hashable:
    """Equal for equal objects; an object that cannot be compared equals only itself."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, place if value.dtype == object else value.tobytes())
    if isinstance(value, (list, tuple)):
        return (type(value), *(_object_key(part, (place, k)) for k, part in enumerate(value)))
    try:
        hash(value)
    except TypeError:
        return place
    return value


# --------------------------------------------------------------------------- identities


def _shared_names(train: Pairs, test: Pairs, train_names: Any, test_names: Any) -> tuple[Any, ...] | None:
    if train_names is None and test_names is None:
        return None
    if train.examples is test.examples and train.right_table is test.right_table:
        train_names = test_names if train_names is None else train_names
        test_names = train_names if test_names is None else test_names
    if train_names is None or test_names is None:
        raise InputError(
            "identities were given for one of two tables; give train_identities and test_identities (a table of "
            "integers is copied by each Pairs: pass floats, or pairs made of one another, to share it)"
        )
    known = _used_names(train, train_names, "train_identities")
    return tuple(name for name in _used_names(test, test_names, "test_identities") if name in known)


def _used_names(pairs: Pairs, identities: Any, what: str) -> dict[Any, None]:
    """Names that occur in the pairs, in order of their rows."""
    tables = pairs.tables.sides
    given = identities if len(tables) == 2 else (identities,)
    if not isinstance(given, tuple) or len(given) != len(tables):
        raise InputError(f"{what} of pairs of two tables are a tuple (of the left table, of the right table)")
    names = [class_names(one, count_examples(table), what) for one, table in zip(given, tables, strict=True)]
    return dict.fromkeys(of[row] for of, rows in zip(names, pairs.used_rows(), strict=True) for row in rows)
