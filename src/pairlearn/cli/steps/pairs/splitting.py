"""The steps of `pairlearn pairs split`: which rows of a table go into which part, and what is lost.

Examples are parted by class. Pairs are parted by the classes of their examples, or by what links the examples if
classes are not known; pairs of two parts are in none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairlearn.cli.options import PairOptions
from pairlearn.cli.run import Run
from pairlearn.cli.terminal import say
from pairlearn.cli.terminal import table as figures
from pairlearn.data.files.sheet import Sheet
from pairlearn.data.layout import CLASSES, IDS
from pairlearn.data.reading import read_pairs
from pairlearn.data.tables import PairTable
from pairlearn.data.writing import TABLES
from pairlearn.errors import InputError
from pairlearn.pairs import Pairs, find_rows, rows_by_id
from pairlearn.selection import linked_units, share_out
from pairlearn.types import Ints
from pairlearn.words import counted

APART = {"both": "examples", "left": "left examples", "right": "right examples", "pairs": "pairs"}
"""What --apart keeps from being in two parts."""


class Parts(NamedTuple):
    """Rows of a table by the name of their part, how many are in none, and what kept each part apart from the others.

    `labels` are those of the rows, ±1 or 0, if these are labelled pairs.
    """

    rows: Mapping[str, Ints]
    lost: int
    by: str
    labels: Ints | None = None


def shares_of(text: str) -> dict[str, float]:
    """Names and shares of a text such as train=0.8,test=0.2."""
    try:
        named = [part.split("=") for part in text.split(",")]
        shares = {name.strip(): float(share) for name, share in named}
    except ValueError:
        raise InputError(f"--parts {text!r} is not understood; write names and shares: train=0.8,test=0.2") from None
    if len(shares) < len(named) or not all(name.replace("_", "").replace("-", "").isalnum() for name in shares):
        raise InputError(f"--parts {text!r}: every part needs a name of its own, of letters and digits")
    return shares


def targets_of(run: Run, source: Path, folder: Path, ending: str | None, shares: Any, force: bool) -> dict[str, Path]:
    """The files to write, by part; of the same kind as the table unless asked otherwise."""
    known = next((end for end in source.suffixes[::-1] if end.lower() in TABLES), ".csv")
    ending = known if ending is None else f".{ending.lstrip('.')}"
    folder.mkdir(parents=True, exist_ok=True)
    targets = {name: folder / f"{name}{ending}" for name in shares}
    for path in targets.values():
        run.check_table(path, force=force)
    return targets


# --------------------------------------------------------------------------- which rows


def holds_pairs(sheet: Sheet, names: tuple[str, str, str]) -> bool:
    """Whether a table has the columns of pairs."""
    return all(name in sheet.columns for name in names[:2])


def is_of_pairs(
    sheet: Sheet, names: tuple[str, str, str], examples: Path | None, class_column: str | None, apart: str
) -> bool:
    """Whether a table holds pairs; what was asked of tables of the other kind is refused."""
    usual = PairOptions().names
    if names != usual:
        named = [name for name, other in zip(names, usual, strict=True) if name != other]
        sheet.require((*names[:2], *named), "; see --left-column, --right-column and --label-column")
    if holds_pairs(sheet, names):
        if examples is None and class_column is not None:
            raise InputError(f"{sheet.source} is a table of pairs: --class-column needs --examples, which has classes")
        return True
    if examples is not None or apart != "both":
        raise InputError(
            f"{sheet.source} has no columns {names[0]} and {names[1]}, so it is a table of examples; leave --examples "
            "and --apart out, or name the columns of pairs with --left-column and --right-column"
        )
    return False


def parts_of_examples(sheet: Sheet, class_column: str | None, shares: Mapping[str, float], seed: int) -> Parts:
    """Rows of a table of examples, no class in two parts."""
    part = share_out(classes_of(sheet, class_column), shares, seed)
    return Parts({name: np.flatnonzero(part == k) for k, name in enumerate(shares)}, 0, "classes")


def classes_of(sheet: Sheet, class_column: str | None) -> tuple[str, ...]:
    """The column of the classes."""
    name = class_column or next((name for name in CLASSES if name in sheet.columns), CLASSES[0])
    sheet.require((name,), "; name the column of the classes with --class-column")
    return sheet.ids(name)


def known_classes(run: Run, examples: Path | None, id_column: str | None, class_column: str | None) -> Any:
    """The class of every id of a table of examples; None without one."""
    if examples is None:
        return None
    sheet = run.sheet(examples, "examples")
    name = id_column or next((name for name in IDS if name in sheet.columns), IDS[0])
    sheet.require((name,), "; name the column of the ids with --id-column")
    return dict(zip(sheet.ids(name), classes_of(sheet, class_column), strict=True))


def parts_of_pairs(
    sheet: Sheet,
    names: tuple[str, str, str],
    known: Mapping[str, str] | None,
    shares: Mapping[str, float],
    seed: int,
    apart: str = "both",
) -> Parts:
    """Rows of a table of pairs by the parts of both sides, of the left or of the right one, or of the pairs themselves.

    No example stands in two parts on these sides, and no class if `known` gives it for every id.
    """
    if apart not in APART:
        raise InputError(f"--apart is one of {', '.join(APART)}, got {apart!r}")
    table = read_pairs(sheet.source, *names)
    labels = None if table.cells is None else _signs(table)
    left, right = (
        _sides(table, labels, known, shares, seed) if apart == "both" else _one_side(table, shares, seed, apart)
    )
    rows = {name: np.flatnonzero((left == k) & (right == k)) for k, name in enumerate(shares)}
    by = "classes" if known is not None and apart == "both" else APART[apart]
    return Parts(rows, int((left != right).sum()), by, labels)


def _signs(table: PairTable) -> Ints | None:
    """Labels ±1, 0 where there is none; None where the cells are no such labels but numbers, say."""
    try:
        return table.some_labels()[0]
    except InputError:
        return None


def _sides(
    table: PairTable, labels: Ints | None, known: Mapping[str, str] | None, shares: Mapping[str, float], seed: int
) -> tuple[Ints, Ints]:
    """The parts of the left and of the right example of every pair; two tables are parted each for itself."""
    if known is None and not set(table.left.distinct) & set(table.right.distinct):
        return share_out(table.left, shares, seed), share_out(table.right, shares, seed)
    ids, (pairs,) = by_id(table)
    units = linked_units(pairs, labels) if known is None else _known_classes(known, ids)
    parts = share_out(units, shares, seed)
    return parts[pairs.left], parts[pairs.right]


def _one_side(table: PairTable, shares: Mapping[str, float], seed: int, apart: str) -> tuple[Ints, Ints]:
    """The part of every pair by its left or right id, or by itself; twice, since nothing is lost."""
    if apart == "pairs":
        # Copies of a pair, and (b, a) beside (a, b), would give away its label in another part.
        units: Any = by_id(table)[1][0].codes()
    else:
        units = table.left if apart == "left" else table.right
    parts = share_out(units, shares, seed)
    return parts, parts


def _known_classes(known: Mapping[str, str], ids: Sequence[str]) -> list[str]:
    names = list(known.values())
    (rows,) = find_rows(rows_by_id(known), ids)
    return [names[row] for row in rows]


def by_id(*tables: PairTable) -> tuple[tuple[str, ...], list[Pairs]]:
    """All ids of these tables, and their pairs over one table of examples: an example is the number of its id."""
    ids = tuple(dict.fromkeys(key for table in tables for side in (table.left, table.right) for key in side.distinct))
    rows, examples = rows_by_id(ids), np.arange(len(ids), dtype=np.float64)[:, None]
    return ids, [Pairs(examples, *find_rows(rows, table.left, table.right)) for table in tables]


# --------------------------------------------------------------------------- what is said


def facts_of(parts: Parts) -> dict[str, Any]:
    """Sizes of the parts, and what was lost, for the record."""
    sizes = {name: {"rows": len(rows), **_labels_of(parts, rows)} for name, rows in parts.rows.items()}
    return {"disjoint": parts.by, "parts": sizes, "lost": parts.lost}


def _labels_of(parts: Parts, rows: Ints) -> dict[str, int]:
    if parts.labels is None:
        return {}
    of = parts.labels[rows]
    return {"positive": int((of > 0).sum()), "negative": int((of < 0).sum())}


def show(run: Run, facts: Mapping[str, Any]) -> None:
    """The parts as a table, what was lost, and parts that cannot be tested."""
    headings = list(next(iter(facts["parts"].values())))
    drawn = figures(("part", *headings))
    for name, sizes in facts["parts"].items():
        drawn.add_row(name, *(f"{size:,}" for size in sizes.values()))
        if 0 in sizes.values():
            run.warn(f"{name} lacks a label or is empty: try another --seed, larger shares or fewer parts")
    run.out.print(drawn)
    say(run.out, f"No two parts share {facts['disjoint']}.")
    total = sum(sizes["rows"] for sizes in facts["parts"].values()) + facts["lost"]
    if facts["lost"]:
        lost = f"{counted(facts['lost'], 'pair')} of {total:,} ({100 * facts['lost'] / total:.0f} %)"
        run.warn(f"{lost} lost: left and right came into two parts")
