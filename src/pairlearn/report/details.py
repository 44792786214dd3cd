"""Where a system errs: the worst pairs and the subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, equal_error_rate, rates_at
from pairlearn.evaluation.intervals import FmrAt, FnmrAt, Rate, interval
from pairlearn.evaluation.scores import Column
from pairlearn.report.measures import chance_of, counts, rate, rate_of
from pairlearn.types import Ints

WORST = 20
MOST_GROUPS = 50


def worst_errors(scores: Scores, most: int = WORST) -> dict[str, list[dict[str, Any]]]:
    """The highest negative and the lowest positive pairs, with who is in them.

    >>> found = worst_errors(Scores([0.9, 0.2, 0.5], [-1, 1, 1], left=[0, 0, 1], right=[1, 2, 2]), most=1)
    >>> found["false_matches"][0]["value"], found["false_non_matches"][0]["right"]
    (0.9, '2')
    """
    return {
        "false_matches": [_told(scores, row) for row in _lowest(-scores.values, scores.labels < 0, most)],
        "false_non_matches": [_told(scores, row) for row in _lowest(scores.values, scores.labels > 0, most)],
    }


def _lowest(values: Any, chosen: Any, most: int) -> Ints:
    rows = np.flatnonzero(chosen)
    if len(rows) > most:
        rows = rows[values[rows] <= np.partition(values[rows], most - 1)[most - 1]]
    return rows[np.argsort(values[rows], kind="stable")][:most]


def _told(scores: Scores, row: int) -> dict[str, Any]:
    told: dict[str, Any] = {"value": float(scores.values[row])}
    for name in ("left", "right", "left_identity", "right_identity"):
        column = getattr(scores, name)
        told[name] = None if column is None else str(column[row])
    return told


def group_rates(scores: Scores, groups: Column, threshold: float, level: float) -> list[dict[str, Any]]:
    """Rates of each subgroup of pairs at the common threshold, and the EER each would have by itself."""
    names, codes = np.unique(groups, return_inverse=True)
    if len(names) > MOST_GROUPS:
        raise InputError(f"there are {len(names)} groups of pairs; a report shows at most {MOST_GROUPS}, merge some")
    rows = []
    for code, name in enumerate(names):
        part = scores[codes == code]
        rows.append({"group": str(name), "counts": counts(part), **_rates(part, threshold, level)})
    return rows


def _rates(part: Scores, threshold: float, level: float) -> dict[str, Any]:
    if not (len(part.positives) and len(part.negatives)):
        # One label alone has one rate, and too little for limits over units of both.
        accepted = part.values >= threshold
        missing = {"unit": None, "eer": None, "fmr": None, "fnmr": None}
        return missing | (
            {"fnmr": rate(float(np.mean(~accepted)))}
            if len(part.positives)
            else {"fmr": rate(float(np.mean(accepted)))}
        )
    unit = chance_of(part, level).unit
    if unit is None:
        both = rates_at(part, threshold)
        return {"unit": None, "eer": rate(equal_error_rate(part)), "fmr": rate(both.fmr), "fnmr": rate(both.fnmr)}
    found: dict[str, Rate] = {"eer": equal_error_rate, "fmr": FmrAt(threshold), "fnmr": FnmrAt(threshold)}
    return {"unit": unit} | {
        name: rate_of(interval(part, measured, level=level, method="jackknife", unit=unit))
        for name, measured in found.items()
    }
