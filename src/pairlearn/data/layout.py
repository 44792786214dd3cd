"""Which columns of a table are ids, classes and features: what was asked for, and what was taken."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pairlearn.data.files.cells import is_missing, quoted
from pairlearn.data.files.sheet import Sheet, listed
from pairlearn.errors import InputError
from pairlearn.words import counted

IDS, CLASSES = ("id", "ids"), ("class", "classes")
"""Names that mean ids and classes when nothing else was said."""


@dataclass(frozen=True)
class Columns:
    """What the user says of a table; what is not said is found.

    `features` and `drop` hold names, globs (`e*`) and ranges of neighbours (`e0:e127`); commas part several.
    `parts` are columns that belong together, by name, each with such words; they are the features then.
    `matrix` says that the numbers of a row are similarities to all rows, not features: none looks like an id by itself.

    >>> Columns(drop=("camera", "meta_*")).drop
    ('camera', 'meta_*')
    """

    id: str | None = None
    classes: str | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    matrix: bool = False
    parts: tuple[tuple[str, str], ...] = ()

    def like(self, learnt: Mapping[str, Any], sheet: Sheet) -> Columns:
        """The same with the columns that a model was learnt from, where nothing else was said.

        A table that has none of them, such as an array without names, is read as if nothing were known; one that has
        some of them lacks the others.
        `learnt` may be the layout of another table as well, with its name under "of".
        """
        names = () if self.features else tuple(learnt.get("columns", ()))
        missing = [name for name in names if name not in sheet.columns]
        if missing and len(missing) < len(names):
            whose = f"{learnt['of']} has" if "of" in learnt else "the model was learnt from"
            raise InputError(
                f"{sheet.source} lacks {len(missing):,} of the {counted(len(names), 'column')} that {whose}: "
                f"{listed(missing, 6)}; give a table with the same columns, or name them with --features"
            )
        known = {role: learnt.get(role) for role in ("id", "class") if learnt.get(role) in sheet.columns}
        features = self.features or (() if missing else names)
        return Columns(self.id or known.get("id"), self.classes or known.get("class"), features, self.drop)


@dataclass(frozen=True)
class Layout:
    """What was taken from a table: columns of features and how many numbers they are, ids, classes, and the rest.

    >>> print(Layout(("e0", "e1", "e2"), 3, "photo_id", "person", ("date",)))
    3 features e0 … e2; id photo_id; class person; left out: date
    """

    columns: tuple[str, ...]
    n_features: int
    id: str | None = None
    classes: str | None = None
    left_out: tuple[str, ...] = ()
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        features = f"{counted(self.n_features, 'feature')} {self._names()}"
        found = "id " + self.id if self.id else "ids by row number"
        classes = f"; class {self.classes}" if self.classes else ""
        rest = ", ".join(self.left_out[:6]) + (" …" if len(self.left_out) > 6 else "")
        left_out = f"; left out: {rest}" if rest else ""
        return f"{features}; {found}{classes}{left_out}"

    def _names(self) -> str:
        if len(self.columns) == 1:
            return f"in {self.columns[0]}" if self.n_features > 1 else self.columns[0]
        return f"{self.columns[0]} … {self.columns[-1]}" if len(self.columns) > 2 else " and ".join(self.columns)

    def as_json(self) -> dict[str, Any]:
        """What a model file keeps, so that scoring takes the same columns."""
        return {"columns": list(self.columns), "n_features": self.n_features, "id": self.id, "class": self.classes}


def find_layout(sheet: Sheet, asked: Columns) -> Layout:
    """The columns to take; refuses what is not there, and text among the features."""
    classes = _role(sheet, asked.classes, CLASSES, "--class-column")
    dropped = {classes, *matching(sheet, asked.drop, "--drop")}
    parts = _parts(sheet, asked, classes)
    wanted = dict.fromkeys(matching(sheet, asked.features, "--features"))
    wanted |= {column: None for _, columns in parts for column in columns}
    free = [name for name in sheet.columns if name not in dropped]
    ids = _role(sheet, asked.id, IDS, "--id-column") or _first_text(sheet, free, wanted)
    free = [name for name in free if name != ids]
    kept = set(free)
    taken = [name for name in wanted if name in kept] if wanted else _without_a_word(sheet, free)
    if not taken:
        raise InputError(f"{sheet.source} holds no features; its columns are {listed(list(sheet.columns))}")
    used = {*taken, ids, classes}
    left_out = tuple(name for name in sheet.columns if name not in used)
    return Layout(tuple(taken), len(taken), ids, classes, left_out, parts)


def _parts(sheet: Sheet, asked: Columns, classes: str | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The columns of each part, none in two; globs and ranges leave ids, classes and what is dropped out."""
    meanings = dict.fromkeys(matching(sheet, asked.drop, "--drop"), "left out by --drop")
    if (ids := _role(sheet, asked.id, IDS, "--id-column")) is not None:
        meanings[ids] = "the id column"
    if classes is not None:
        meanings[classes] = "the class column"
    found: dict[str, tuple[str, ...]] = {}
    for name, words in asked.parts:
        if name in found:
            raise InputError(f"--representation names {name!r} twice; give every representation a name of its own")
        named = {words, *(word.strip() for word in words.split(","))}
        meant = matching(sheet, (words,), "--representation")
        columns = [column for column in meant if column in named or column not in meanings]
        known = meanings | {
            column: f"in representation {other!r}" for other, those in found.items() for column in those
        }
        if taken := [column for column in columns or meant if column in known]:
            raise InputError(
                f"--representation {name}={words} takes column {taken[0]!r}, which is {known[taken[0]]} already"
            )
        found[name] = tuple(columns)
    if found and asked.features:
        raise InputError("--representation names the features already; leave --features out")
    return tuple(found.items())


def matching(sheet: Sheet, patterns: Sequence[str], option: str) -> list[str]:
    """Columns that these names, globs and ranges mean, in the order in which they are mentioned.

    A model's columns come back in the model's order, whatever that of the table.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        parts = [pattern] if pattern in sheet.columns else [part.strip() for part in pattern.split(",") if part.strip()]
        for part in parts:
            some = _meant(sheet, part)
            if not some:
                there = listed(list(sheet.columns))
                raise InputError(f"{sheet.source} has no column that {option} {part!r} means; it has {there}")
            found |= dict.fromkeys(some)
    return list(found)


def _meant(sheet: Sheet, part: str) -> list[str]:
    """The columns of one name, range or glob."""
    if part in sheet.columns:
        return [part]
    first, colon, last = part.partition(":")
    if colon and first in sheet.columns and last in sheet.columns:
        names = list(sheet.columns)
        low, high = sorted((names.index(first), names.index(last)))
        return names[low : high + 1]
    return [name for name in sheet.columns if fnmatchcase(name, part)]


def _role(sheet: Sheet, asked: str | None, usual: Sequence[str], option: str) -> str | None:
    """The column that was named, else the first of the usual names that is there."""
    if asked is not None:
        sheet.require((asked,), f"; see {option}")
        return asked
    return next((name for name in usual if name in sheet.columns), None)


def _first_text(sheet: Sheet, free: Sequence[str], wanted: Collection[str]) -> str | None:
    """The first column that is no feature, if a cell of it is text."""
    first = next((name for name in free if name not in wanted), None)
    if first is None or sheet.columns[first].kind not in ("text", "numbers"):
        return None
    read = zip(sheet.columns[first].numbers().values[:, 0].tolist(), sheet.columns[first].texts(), strict=True)
    return first if any(number != number and not is_missing(cell) for number, cell in read) else None


def _without_a_word(sheet: Sheet, free: Sequence[str]) -> list[str]:
    """Features when none were named: the one column of vectors, else all numbers; text is asked about."""
    vectors = [name for name in free if sheet.columns[name].kind == "vectors"]
    if "X" in vectors or len(vectors) == 1:
        return ["X" if "X" in vectors else vectors[0]]
    if vectors:
        raise InputError(
            f"{sheet.source} has several columns of vectors, {listed(vectors)}; choose with --features {vectors[0]}"
        )
    strange = [name for name in free if sheet.columns[name].kind != "numbers"]
    if strange:
        first = strange[0]
        raise InputError(
            f"{sheet.source}: column {first!r} holds {sheet.columns[first].holds}, but features are numbers"
            + (f" (so do {listed(strange[1:], 6)})" if strange[1:] else "")
            + f"; leave it out with --drop {quoted(strange)}, or say what it is with --class-column or "
            "--id-column"
        )
    return list(free)
