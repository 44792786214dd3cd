"""Tables of scores in files, ours or not: score and label, and whatever else is known about the pairs.

Text is slow: a million ids as strings take seconds to sort and compare. So ids become numbers while Polars still holds
them, names are kept beside, and tables of several systems are brought to common names and one order before anything is
measured. Everything that can be wrong in a file is refused with the file, the line and the column.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from pairlearn.data.files.cells import MISSING, plain_text, shortened
from pairlearn.data.files.frames import read_frame
from pairlearn.data.files.sheet import listed
from pairlearn.data.files.sources import Source, find_source
from pairlearn.data.labels import read_labels
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.data.texts import Texts
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.evaluation.scores import Column
from pairlearn.pairs import Pairs, find_rows, rows_by_id, sorted_classes
from pairlearn.report.codes import KINDS, Names, distinct, numbered
from pairlearn.report.doubts import same_pairs
from pairlearn.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of labelled pairs, their groups if the file has them, and how many pairs had no label.

    Examples and identities are numbers in the scores, and `names` says what they are called: text is slow to sort.
    """

    source: str
    scores: Scores
    names: Names
    groups: Column | None
    unlabelled: int
    spelling: Mapping[str, int]

    def pairs(self, known: ExampleTable) -> Pairs:
        """The pairs joined to a table of examples."""
        if self.scores.left is None or self.scores.right is None:
            raise InputError(f"{self.source} has no columns 'left' and 'right', so its pairs have no examples; add ids")
        names = Texts.of(self.names["examples"])
        rows = PairTable(Source(self.source, "csv", None), names, names).on(known).left
        return Pairs(known.examples, rows[self.scores.left], rows[self.scores.right], ids=known.ids)

    def with_identities(self, pairs: Pairs, classes: Sequence[str] | None) -> ScoreTable:
        """The same with the classes of the joined examples as identities, if they have some and this table has none."""
        if classes is None or self.scores.left_identity is not None:
            return self
        names, codes = sorted_classes(classes)
        scores = replace(self.scores, left_identity=codes[pairs.left], right_identity=codes[pairs.right])
        return replace(self, scores=scores, names={**self.names, "identities": names})

    def renamed(self, names: Names) -> ScoreTable:
        """The same with numbers from longer lists of names."""
        if names == self.names:
            return self
        columns: dict[str, Column] = {}
        for kind, own in self.names.items():
            (codes,) = find_rows(rows_by_id(names[kind]), own)
            columns |= {side: codes[getattr(self.scores, side)] for side in KINDS[kind]}
        return replace(self, scores=replace(self.scores, **columns), names=names)

    def ordered_like(self, other: ScoreTable) -> ScoreTable:
        """The same pairs in the order of another table with the same names, if it holds them; else as they are."""
        if same_pairs(self.scores, other.scores):
            return self
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
    """Rows by left and right example: two tables of the same pairs have the same pairs in this order."""
    if scores.left is None or scores.right is None:
        return None
    return np.lexsort((scores.right, scores.left))


def common_names(tables: Collection[ScoreTable]) -> dict[str, list[str]]:
    """All names of several tables, by kind."""
    kinds = {kind for table in tables for kind in table.names}
    return {kind: sorted({name for table in tables for name in table.names.get(kind, ())}) for kind in sorted(kinds)}


def read_scores(path: str | Path | Source, *, label: str = "label", group: str = "group") -> ScoreTable:
    """Read score and label, and left, right, left_identity, right_identity, group where present.

    .csv, .tsv, .jsonl, .parquet or .npz, or - for standard input; pairs without a label are counted and dropped.
    """
    source = find_source(path)
    frame = read_frame(source).table
    for name in ("score", label):
        if name not in frame.columns:
            raise InputError(f"{source} has no column {name!r}; it has {listed(frame.columns)}")
    frame = _plain(source, frame, {"score", label, group, *(side for sides in KINDS.values() for side in sides)})
    labels, labelled, spelling = _labels(source, frame, label)
    # Values are checked in the whole file, so that a message names the right line.
    values = _values(source, frame)[labelled]
    columns: dict[str, Ints] = {}
    names: dict[str, list[str]] = {}
    for kind, sides in KINDS.items():
        there = [name for name in sides if name in frame.columns]
        if len(there) == 1:
            raise InputError(
                f"{source} has a column {there[0]!r} but not its partner; {' and '.join(sides)} belong together"
            )
        if there:
            found, names[kind] = _kept(*_numbered(source, frame, sides), labelled)
            columns |= zip(sides, found, strict=True)
    groups = None
    if group in frame.columns:
        (codes,), known = _numbered(source, frame, [group])
        groups = np.array(known)[codes[labelled]]
    scores = Scores(values, labels, **columns)
    return ScoreTable(str(source), scores, names, groups, int((~labelled).sum()), spelling)


def _plain(source: Source, frame: polars.DataFrame, names: Collection[str]) -> polars.DataFrame:
    """The columns of these names, categories as text; lists and objects are no cells."""
    frame = frame.select(name for name in frame.columns if name in names)
    text = []
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or str(dtype).startswith(("Binary", "Object", "Duration")):
            raise InputError(f"{source}: column {name!r} holds {shortened(dtype)} values; give one number or text each")
        if str(dtype).startswith(("Categorical", "Enum")):
            text.append(frame[name].cast(str))
    return frame.with_columns(text)


def _numbered(source: Source, frame: polars.DataFrame, columns: Sequence[str]) -> tuple[list[Ints], list[str]]:
    """Numbers of the names in each column, and the names in alphabetical order, each once; no cell may be empty."""
    texts = [_text(frame[name]) for name in columns]
    cells = [text.unique().to_list() for text in texts]
    for name, text, found in zip(columns, texts, cells, strict=True):
        blank = [cell for cell in found if not (cell or "").strip()]
        if blank:
            row = (text.is_null() | text.is_in([cell for cell in blank if cell is not None])).arg_max()
            raise InputError(f"{source}, {source.place(row or 0)}, column {name!r} is empty; fill it in")
    spellings = sorted(set().union(*cells))
    names = sorted({cell.strip() for cell in spellings})
    return [_looked_up(text, spellings, names) for text in texts], names


def _text(column: polars.Series) -> polars.Series:
    """Cells as text; 7.0 is the id 7, which another file may have written as a whole number."""
    if column.dtype.is_float():
        cells = column.unique()
        column = column.replace_strict(cells, [plain_text(cell) for cell in cells.to_list()])
    return column.cast(str)


def _looked_up(text: polars.Series, spellings: Sequence[str], names: Sequence[str]) -> Ints:
    """The number of the stripped name in each row; Polars looks text up by hash, NumPy would sort it."""
    import polars

    numbers = rows_by_id(names)
    codes = np.array([numbers[cell.strip()] for cell in spellings], dtype=np.int32)
    return cast("Ints", codes[text.cast(polars.Enum(spellings)).to_physical().to_numpy()])


def _kept(codes: Sequence[Ints], names: Sequence[str], chosen: Bools) -> tuple[tuple[Ints, Ints], list[str]]:
    """Numbers and names of the chosen rows only."""
    left, right = (column[chosen] for column in codes)
    return numbered(left, right), [names[code] for code in distinct(left, right)]


def _values(source: Source, frame: polars.DataFrame) -> Floats:
    """The scores, all finite, (n_pairs,)."""
    column = frame["score"]
    if column.dtype == str:
        column = column.str.strip_chars()
    values = np.asarray(column.cast(float, strict=False).fill_null(np.nan).to_numpy(), dtype=np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{source}, {source.place(row)}, column 'score' holds {shortened(frame['score'][row])}, which is not a "
            f"finite number ({bad.sum()} such cells); drop these pairs, or give failed comparisons a low score"
        )
    return values


def _labels(source: Source, frame: polars.DataFrame, name: str) -> tuple[Ints, Bools, dict[str, int]]:
    """Labels ±1 of the labelled pairs, which these are, and the spelling."""
    cells = frame[name].cast(str).fill_null("").str.to_lowercase()
    spellings = sorted(cells.unique().to_list())
    names = sorted({cell.strip() for cell in spellings})
    known = [each for each in names if each not in MISSING]
    unlabelled = set(names) - set(known)
    # 0 beside 1 and -1 is the mark of an unlabelled pair.
    if {_whole(each) for each in known} == {"1", "-1", "0"}:
        unlabelled |= {each for each in known if _whole(each) == "0"}
        known = [each for each in known if each not in unlabelled]
    if not known:
        raise InputError(f"{source}: no pair has a label in column {name!r}; rates need labels")
    meanings, spelling = read_labels(known, f"{source}, column {name!r}")
    meaning = {**dict.fromkeys(unlabelled, 0), **dict(zip(known, meanings.tolist(), strict=True))}
    codes = np.array([meaning[each] for each in names], dtype=np.int8)[_looked_up(cells, spellings, names)]
    return codes[codes != 0], codes != 0, spelling


def _whole(cell: str) -> str:
    """1 for 1.0, and so on."""
    return cell.removesuffix(".0")
