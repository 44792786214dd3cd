"""Names of examples: the one way from an id to its row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pairlearn.errors import InputError, MissingIdsError
from pairlearn.types import Ints
from pairlearn.words import counted, listed

ABSENT = "of the pair table {are} not among the examples"


def check_ids(ids: Any, n_examples: int) -> list[Any]:
    """One id per example, no two alike."""
    names = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if len(names) != n_examples:
        raise InputError(f"{counted(len(names), 'id')} for {counted(n_examples, 'example')}; give one id per row")
    rows = rows_by_id(names)
    if len(rows) != len(names):
        twice = next(key for row, key in enumerate(names) if rows[key] != row)
        raise InputError(f"example ids must be unique, but {twice!r} occurs more than once; drop the copies")
    return names


def rows_by_id(ids: Iterable[Hashable]) -> dict[Any, int]:
    """The row of every id; of copies the last.

    >>> rows_by_id(["ann", "bob"])
    {'ann': 0, 'bob': 1}
    """
    return {key: row for row, key in enumerate(ids)}


def find_rows(
    rows: Mapping[Any, int],
    *columns: Iterable[Hashable],
    absent: str = ABSENT,
    advice: str = "add their rows or drop these pairs",
) -> list[Ints]:
    """Rows of the ids in every column, or an error that carries all the missing ones.

    `absent` says what is wrong with these, `advice` what to do.

    >>> [found.tolist() for found in find_rows({"ann": 0, "bob": 1}, ["bob", "bob"], ["ann", "bob"])]
    [[1, 1], [0, 1]]
    """
    given = [list(column) for column in columns]
    try:
        return [np.fromiter(map(rows.__getitem__, column), dtype=np.int64, count=len(column)) for column in given]
    except KeyError:
        missing = list(dict.fromkeys(key for column in given for key in column if key not in rows))
    raise MissingIdsError(f"{missing_words(missing, absent)}; {advice}", missing)


def missing_words(missing: Sequence[Any], absent: str = ABSENT) -> str:
    """How many ids are missing, what is wrong with them, and the first of them."""
    problem = absent.format(are="is" if len(missing) == 1 else "are")
    return f"{counted(len(missing), 'id')} {problem}: {listed(missing)}"
