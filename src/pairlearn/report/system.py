"""What is said about one system: every measure with its limits, thresholds worth knowing, counts, the curve.

Measures come from the list `MEASURES` and are asked for their value and limits; none is known here by name. Limits rest
on a `Sample`, which sorts the scores and numbers their units once for all measures, the curve and the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation import EER, MEASURES, DetCurve, Measure, Scores, det_curve
from pairlearn.evaluation.intervals import Interval, Options, Sample, best_sample
from pairlearn.evaluation.scores import Column
from pairlearn.report.codes import distinct
from pairlearn.report.curves import curve_record, finite_thresholds, histogram, thin
from pairlearn.types import Floats, Ints


@dataclass(frozen=True)
class Cost:
    """What errors cost, and the share of positive pairs where the system is used: c·(1 − π)·FMR + d·π·FNMR."""

    false_match: float
    false_non_match: float
    prior: float = 0.5

    def __post_init__(self) -> None:
        if not (self.false_match > 0 and self.false_non_match > 0 and 0 < self.prior < 1):
            raise InputError(
                "cost needs two positive costs and a share of positive pairs between 0 and 1, as in 10,1,0.5"
            )

    def of(self, curve: DetCurve) -> Floats:
        """Expected cost of a pair at each threshold, (n_points,).

        >>> Cost(2.0, 1.0).of(DetCurve(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))).tolist()
        [1.0, 0.5]
        """
        return self.false_match * (1 - self.prior) * curve.fmr + self.false_non_match * self.prior * curve.fnmr


@dataclass(frozen=True, eq=False)
class Plan:
    """What to measure, the same for every system: FMRs from lax to strict, the level of limits, and costs if known."""

    fmrs: tuple[float, ...]
    level: float
    cost: Cost | None = None


@dataclass(frozen=True, eq=False)
class Basis:
    """What the limits of a system rest on: its scores as a sample of units, or why there is none.

    scores: in the given order. refused: why units of a better kind, such as identities, could not be used.
    """

    scores: Scores
    sample: Sample | None
    refused: tuple[str, ...] = ()

    @property
    def unit(self) -> str | None:
        """What is left out to see how numbers vary: "identity", "example" or "pair"."""
        return None if self.sample is None else self.sample.options.unit

    @property
    def ordered(self) -> Scores:
        """The scores in the order that the units of the sample belong to."""
        return self.scores if self.sample is None else self.sample.scores


def basis_of(scores: Scores, level: float) -> Basis:
    """The sample with units of the first kind, from identities to examples to pairs, that can be left out one by one.

    >>> basis_of(Scores([0.1, 0.2, 0.8, 0.9], [-1, -1, 1, 1]), 0.95).unit
    'pair'
    """
    return Basis(scores, *best_sample(scores, Options(level), EER()))


def measure_system(basis: Basis, plan: Plan, threshold: float | None) -> dict[str, Any]:
    """Everything about one system whose reflexive pairs are left out; `threshold` is the one that the user gave."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _measured(basis, plan, threshold)


def _measured(basis: Basis, plan: Plan, threshold: float | None) -> dict[str, Any]:
    """First the points, which the thinned curve must keep; then the curve with limits, which serve the points too."""
    scores = basis.ordered
    curve = det_curve(scores)
    thresholds = finite_thresholds(curve)
    points = _points(scores, curve, plan)
    if threshold is not None:
        # No value lies between the given threshold and the next one on the curve, so the rates there are the same.
        row = int(np.searchsorted(curve.thresholds, threshold))
        thresholds[row] = threshold
        points.insert(0, {"kind": "given", "at": None, "measurable": True, "row": row})
    chosen = thin(curve, len(scores.positives), len(scores.negatives), _rows(points))
    units = None if basis.sample is None else basis.sample.units
    drawn = curve_record(scores, curve, thresholds, chosen, units, plan.level)
    _add_limits(points, drawn, chosen, scores)
    _add_band(points, basis.sample)
    return {
        "unit": basis.unit,
        "n_units": None if units is None else units.n_units,
        "counts": counts(scores),
        **{measure.key: with_limits(measure, basis) for measure in MEASURES},
        "points": points,
        "operating": _operating(points),
        "curve": drawn,
        "histogram": histogram(scores),
        "ties": tied_share(scores),
    }


def counts(scores: Scores) -> dict[str, int | None]:
    """How many pairs, examples and identities there are; None where the scores do not know who is in a pair."""
    return {
        "pairs": len(scores),
        "positives": len(scores.positives),
        "negatives": len(scores.negatives),
        "examples": _distinct(scores.left, scores.right),
        "identities": _distinct(scores.left_identity, scores.right_identity),
    }


def _distinct(left: Column | None, right: Column | None) -> int | None:
    return None if left is None or right is None else len(distinct(left, right))


def rate(value: float, low: float | None = None, high: float | None = None) -> dict[str, float | None]:
    """A number between its limits, as it stands in a record."""
    return {"value": float(value), "low": low, "high": high}


def rate_of(found: Interval) -> dict[str, float | None]:
    """An interval as it stands in a record."""
    return rate(found.estimate, found.low, found.high)


def with_limits(measure: Measure, basis: Basis) -> dict[str, float | None] | None:
    """A measure as it stands in a record: None where there is none, without limits where these would need resampling.

    Sums or squares of values near the largest number overflow; what is not finite then is left out.
    """
    try:
        found = None if basis.sample is None else basis.sample.quick_interval(measure)
        record = rate(measure.value(basis.scores)) if found is None else rate_of(found)
    except InputError:
        return None
    return record if np.all(np.isfinite([each for each in record.values() if each is not None])) else None


# --------------------------------------------------------------------------- thresholds


def _points(scores: Scores, curve: DetCurve, plan: Plan) -> list[dict[str, Any]]:
    """Thresholds worth knowing with their rows of the curve; those that cannot be measured have none.

    An FMR needs 1/FMR negative pairs: with fewer, FNMR "at" it is really FNMR at no false match at all.
    """
    n, cost = len(scores.negatives), plan.cost
    rows: list[tuple[str, float | None, int | None]] = [("eer", None, int(np.argmax(curve.fmr <= curve.fnmr)))]
    if cost is not None:
        rows.append(("cost", float(cost.of(curve).min()), int(np.argmin(cost.of(curve)))))
    for fmr in plan.fmrs:
        rows.append(("fmr", fmr, int(np.argmax(curve.fmr <= fmr)) if n * fmr >= 1 - 1e-9 else None))
    return [{"kind": kind, "at": at, "measurable": row is not None, "row": row} for kind, at, row in rows]


def _rows(points: Sequence[dict[str, Any]]) -> Ints:
    """Rows of the curve that must be kept when it is thinned."""
    return np.array([point["row"] for point in points if point["measurable"]])


def _add_limits(points: list[dict[str, Any]], drawn: dict[str, Any], chosen: Ints, scores: Scores) -> None:
    """Thresholds, errors and limits of the points, which are all among the chosen rows of the curve."""
    sizes = {"fmr": len(scores.negatives), "fnmr": len(scores.positives)}
    for point in points:
        row = point.pop("row")
        if row is None:
            continue
        k = int(np.searchsorted(chosen, row))
        point["threshold"] = drawn["thresholds"][k]
        for name, errors in (("fmr", "false_matches"), ("fnmr", "false_non_matches")):
            ends = (drawn[f"{name}_{side}"] for side in ("low", "high"))
            point[errors] = drawn[errors][k]
            point[name] = rate(drawn[errors][k] / sizes[name], *(end[k] if end else None for end in ends))


def _add_band(points: list[dict[str, Any]], sample: Sample | None) -> None:
    """FNMR at an FMR with limits that know that the threshold was found on the same pairs."""
    chosen = [point for point in points if point["kind"] == "fmr" and point["measurable"]]
    if not chosen or sample is None:
        return
    band = sample.band(np.array([point["at"] for point in chosen]))
    for point, *found in zip(chosen, band.fnmr.tolist(), band.low.tolist(), band.high.tolist(), strict=True):
        point["fnmr"] = rate(*found)


def _operating(points: Sequence[dict[str, Any]]) -> int:
    """The point that the report starts with: the given threshold, else the cheapest, else the equal error rate."""
    kinds = [point["kind"] for point in points]
    return next(kinds.index(kind) for kind in ("given", "cost", "eer") if kind in kinds)


def tied_share(scores: Scores) -> float:
    """Share of the pairs whose value also occurs with the other label.

    >>> tied_share(Scores([0.0, 1.0, 1.0, 2.0], [-1, -1, 1, 1]))
    0.5
    """
    p, n = np.sort(scores.positives), np.sort(scores.negatives)
    tied = sum(
        int(np.sum(np.searchsorted(others, values, "right") > np.searchsorted(others, values, "left")))
        for values, others in ((p, n), (n, p))
    )
    return tied / len(scores)
