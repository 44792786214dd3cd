"""Tables of scores in files, ours or not: score and label, and whatever else is known about the pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.files import (
    MISSING,
    PairTable,
    existing_file,
    place_of,
    plain_text,
    read_frame,
    read_labels,
    require_columns,
)
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.evaluation.scores import Column
from pairlearn.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import polars

IDS = (("left", "right"), ("left_identity", "right_identity"))


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of labelled pairs, their groups if the file has them, and how many pairs had no label."""

    source: str
    scores: Scores
    groups: Column | None
    unlabelled: int
    spelling: Mapping[str, int]

    def pair_table(self) -> PairTable:
        """Ids and labels, to be joined to a table of examples."""
        if self.scores.left is None or self.scores.right is None:
            raise InputError(f"{self.source} has no columns 'left' and 'right', so its pairs have no examples; add ids")
        left, right = (tuple(column.tolist()) for column in (self.scores.left, self.scores.right))
        return PairTable(self.source, left, right, self.scores.labels)

    def ordered_like(self, other: ScoreTable) -> ScoreTable:
        """The same pairs in the order of another table, if it holds the same pairs; else this table as it is."""
        mine, theirs = _order(self.scores), _order(other.scores)
        if mine is None or theirs is None or len(mine) != len(theirs):
            return self
        rows = np.empty_like(mine)
        rows[theirs] = mine
        moved = self.scores[rows]
        sides = (("left", moved, other.scores), ("right", moved, other.scores))
        if not all(np.array_equal(getattr(one, side), getattr(two, side)) for side, one, two in sides):
            return self
        return replace(self, scores=moved, groups=None if self.groups is None else self.groups[rows])


def _order(scores: Scores) -> Ints | None:
    if scores.left is None or scores.right is None:
        return None
    return np.lexsort((scores.right, scores.left))


def read_scores(path: str | Path, *, label: str = "label", group: str = "group") -> ScoreTable:
    """Read score and label, and left, right, left_identity, right_identity, group where present.

    .csv, .csv.gz or .parquet; pairs without a label are counted and dropped.
    """
    path = existing_file(path)
    frame = read_frame(path)
    require_columns(path, frame.columns, ("score", label))
    labels, labelled, spelling = _labels(path, frame, label)
    # Values are checked in the whole file, so that a message names the right line.
    values = _values(path, frame)[labelled]
    columns: dict[str, Column] = {}
    for pair in IDS:
        there = [name for name in pair if name in frame.columns]
        if len(there) == 1:
            raise InputError(
                f"{path} has a column {there[0]!r} but not its partner; {' and '.join(pair)} belong together"
            )
        columns |= {name: text_column(path, frame, name)[labelled] for name in there}
    groups = text_column(path, frame, group)[labelled] if group in frame.columns else None
    return ScoreTable(str(path), Scores(values, labels, **columns), groups, int((~labelled).sum()), spelling)


def text_column(path: Path, frame: polars.DataFrame, name: str) -> Column:
    """A column of names as an array of strings; an empty cell is refused."""
    column = frame[name]
    cells = [plain_text(cell) for cell in column.to_list()] if column.dtype.is_float() else column.cast(str).to_list()
    row = next((row for row, cell in enumerate(cells) if cell is None or not cell.strip()), None)
    if row is not None:
        raise InputError(f"{path}, {place_of(path, row)}, column {name!r} is empty; fill it in")
    return np.array([cell.strip() for cell in cells if cell is not None])


def _values(path: Path, frame: polars.DataFrame) -> Floats:
    column = frame["score"]
    if column.dtype == str:
        column = column.str.strip_chars()
    values = np.asarray(column.cast(float, strict=False).fill_null(np.nan).to_numpy(), dtype=np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{path}, {place_of(path, row)}, column 'score' holds {frame['score'][row]!r}, which is no finite number "
            f"({bad.sum()} such cells); drop these pairs, or give failed comparisons a low score"
        )
    return values


def _labels(path: Path, frame: polars.DataFrame, name: str) -> tuple[Ints, Bools, dict[str, int]]:
    """Labels ±1 of the labelled pairs, which these are, and the spelling."""
    cells = frame[name].cast(str).fill_null("").str.strip_chars().str.to_lowercase()
    names = sorted(cells.unique().to_list())
    known = [each for each in names if each not in MISSING]
    unlabelled = set(names) - set(known)
    # 0 beside 1 and -1 is the mark of an unlabelled pair.
    if {_whole(each) for each in known} == {"1", "-1", "0"}:
        unlabelled |= {each for each in known if _whole(each) == "0"}
        known = [each for each in known if each not in unlabelled]
    if not known:
        raise InputError(f"{path}: no pair has a label in column {name!r}; rates need labels")
    meanings, spelling = read_labels(known, f"{path}, column {name!r}")
    meaning = {**dict.fromkeys(unlabelled, 0), **dict(zip(known, meanings.tolist(), strict=True))}
    codes = np.array([meaning[cell] for cell in cells.to_list()], dtype=np.int8)
    return codes[codes != 0], codes != 0, spelling


def _whole(cell: str) -> str:
    """1 for 1.0, and so on."""
    return cell.removesuffix(".0")


def identities(table: Any, rows: Ints) -> Column | None:
    """Classes of examples by row, if the table has classes."""
    return None if table.classes is None else np.array(table.classes)[rows]
