"""Where a system errs: the worst pairs and the subgroups.

The highest negative and the lowest positive pairs show what kind of error is made, or which labels are wrong.
Subgroups share the threshold of the whole, because that is what a system in use does; the EER that each would have by
itself tells a shifted threshold from a harder group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation import EER, FmrAt, FnmrAt, Measure, Scores
from pairlearn.evaluation.scores import Column
from pairlearn.report.codes import KINDS, Names, named
from pairlearn.report.system import basis_of, counts, rate, with_limits
from pairlearn.types import Floats, Ints

WORST = 20
"""Pairs of each kind that are listed."""
MOST_GROUPS = 50
"""More subgroups than this are most likely a column that is not one of groups."""


def worst_errors(scores: Scores, names: Names | None = None, most: int = WORST) -> dict[str, list[dict[str, Any]]]:
    """The highest negative and the lowest positive pairs, with who is in them; names: what their numbers stand for.

    Two examples are listed once, whichever stands left and however often they were scored: by their worst score.

    >>> found = worst_errors(Scores([0.9, 0.8, 0.2, 0.5], [-1, -1, 1, 1], left=[0, 1, 0, 1], right=[1, 0, 2, 2]))
    >>> [row["value"] for row in found["false_matches"]], found["false_non_matches"][0]["right"]
    ([0.9], '2')
    """
    kinds = {
        "false_matches": (-scores.values, scores.labels < 0),
        "false_non_matches": (scores.values, scores.labels > 0),
    }
    return {
        kind: [_row(scores, row, names or {}) for row in _worst(scores, values, np.flatnonzero(chosen), most)]
        for kind, (values, chosen) in kinds.items()
    }


def _worst(scores: Scores, values: Floats, rows: Ints, most: int) -> list[int]:
    """Rows of the lowest values, rising, each two examples once; as many more are looked at as are repeated."""
    looked = most
    while True:
        found = _once(scores, _lowest(values, rows, looked))
        if len(found) >= most or looked >= len(rows):
            return found[:most]
        looked *= 4


def _lowest(values: Floats, rows: Ints, most: int) -> Ints:
    """Those of the rows with the lowest values, rising; partitioned first: sorting a million for twenty is slow."""
    if len(rows) > most:
        rows = rows[values[rows] <= np.partition(values[rows], most - 1)[most - 1]]
    return rows[np.argsort(values[rows], kind="stable")][:most]


def _once(scores: Scores, rows: Ints) -> list[int]:
    """The first row of each two examples, in whichever order they stand; all rows where examples are unknown."""
    if scores.left is None or scores.right is None:
        return rows.tolist()
    first: dict[frozenset[Any], int] = {}
    for row in rows.tolist():
        first.setdefault(frozenset((scores.left[row], scores.right[row])), row)
    return list(first.values())


def _row(scores: Scores, row: int, names: Names) -> dict[str, Any]:
    """One pair as it stands in a record: its value and who is in it, None where that is unknown."""
    found: dict[str, Any] = {"value": float(scores.values[row])}
    for kind, sides in KINDS.items():
        for side in sides:
            column = getattr(scores, side)
            found[side] = None if column is None else named(column[row], names.get(kind))
    return found


def shown_examples(record: Mapping[str, Any]) -> set[str]:
    """The examples in the worst errors of a record."""
    rows = [row for system in record["systems"] for errors in system["worst"].values() for row in errors]
    return {row[side] for row in rows for side in KINDS["examples"] if row[side] is not None}


def group_rates(scores: Scores, groups: Column, threshold: float, level: float) -> list[dict[str, Any]]:
    """Rates of each subgroup of pairs at the common threshold, and the EER each would have by itself."""
    names = np.unique(groups)
    if len(names) > MOST_GROUPS:
        raise InputError(f"there are {len(names)} groups of pairs; a report shows at most {MOST_GROUPS}, merge some")
    rows = []
    for name in names:
        part = scores[groups == name]
        rows.append({"group": str(name), "counts": counts(part), **_rates(part, threshold, level)})
    return rows


def _rates(part: Scores, threshold: float, level: float) -> dict[str, Any]:
    """EER, FMR and FNMR of a subgroup, None where it has no pairs of a label."""
    if not (len(part.positives) and len(part.negatives)):
        # One label alone has one rate, and too little for limits over units of both.
        accepted = part.values >= threshold
        missing = {"unit": None, "eer": None, "fmr": None, "fnmr": None}
        return missing | (
            {"fnmr": rate(float(np.mean(~accepted)))}
            if len(part.positives)
            else {"fmr": rate(float(np.mean(accepted)))}
        )
    basis = basis_of(part, level)
    found: tuple[Measure, ...] = (EER(), FmrAt(threshold), FnmrAt(threshold))
    return {"unit": basis.unit} | {measure.key: with_limits(measure, basis) for measure in found}
