"""What is said about one system: rates with intervals, thresholds, counts, the worst errors, subgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from pairlearn.errors import InputError
from pairlearn.evaluation import DetCurve, Scores, area_under_roc, det_curve, equal_error_rate
from pairlearn.evaluation.calibration import cllr, min_cllr
from pairlearn.evaluation.intervals import Interval, det_band, interval
from pairlearn.evaluation.measures import d_prime
from pairlearn.evaluation.resampling import Statistic, Units, jackknife, units_of
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
    """What to measure, the same for every system."""

    fmrs: tuple[float, ...]
    level: float
    cost: Cost | None = None


@dataclass(frozen=True, eq=False)
class Chance:
    """The units that intervals are made over, with the first interval that they gave, or why there are none.

    ordered: the scores by rising value; intervals sort what they are given, which costs little when it is sorted.
    """

    ordered: Scores
    unit: str | None
    units: Units | None
    auc: Interval | None
    refused: tuple[str, ...] = ()


def chance_of(scores: Scores, level: float) -> Chance:
    """Units of the first kind, from identities to examples to pairs, that can be left out one by one."""
    known = {"identity": scores.left_identity is not None, "example": scores.left is not None, "pair": True}
    refused: list[str] = []
    ordered = scores[np.argsort(scores.values, kind="stable")]
    for unit in (unit for unit, is_known in known.items() if is_known):
        try:
            auc = interval(ordered, area_under_roc, level=level, unit=unit, method="jackknife")
        except InputError as error:
            refused.append(f"{unit}: {error}")
        else:
            return Chance(ordered, unit, units_of(scores, unit), auc, tuple(refused))
    return Chance(ordered, None, None, None, tuple(refused))


def measure(scores: Scores, chance: Chance, plan: Plan, threshold: float | None) -> dict[str, Any]:
    """Everything about one system whose reflexive pairs are left out; `threshold` is the one that the user gave."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _measured(scores, chance, plan, threshold)


def _measured(scores: Scores, chance: Chance, plan: Plan, threshold: float | None) -> dict[str, Any]:
    curve = det_curve(scores)
    thresholds = finite_thresholds(curve)
    points = _points(scores, curve, plan)
    if threshold is not None:
        # No value lies between the given threshold and the next one on the curve, so the rates there are the same.
        row = int(np.searchsorted(curve.thresholds, threshold))
        thresholds[row] = threshold
        points.insert(0, {"kind": "given", "at": None, "measurable": True, "row": row})
    chosen = thin(curve, len(scores.positives), len(scores.negatives), _rows(points))
    drawn = curve_record(scores, curve, thresholds, chosen, chance.units, plan.level)
    _add_limits(points, drawn, chosen, scores)
    _add_band(points, chance, plan)
    return {
        "unit": chance.unit,
        "n_units": chance.units.n_units if chance.units else None,
        "counts": counts(scores),
        "eer": _with_limits(scores, equal_error_rate, chance, plan.level),
        "auc": rate(area_under_roc(scores)) if chance.auc is None else rate_of(chance.auc),
        "d_prime": _finite(d_prime_record(scores, chance.units, plan.level)),
        "min_cllr": rate(min_cllr(scores)),
        "cllr": _finite(rate(cllr(scores))),
        "points": points,
        "operating": _operating(points),
        "curve": drawn,
        "histogram": histogram(scores),
        "ties": tied_share(scores),
    }


def counts(scores: Scores) -> dict[str, int | None]:
    """How many pairs, examples and identities there are."""
    return {
        "pairs": len(scores),
        "positives": len(scores.positives),
        "negatives": len(scores.negatives),
        "examples": _distinct(scores.left, scores.right),
        "identities": _distinct(scores.left_identity, scores.right_identity),
    }


def _distinct(left: Any, right: Any) -> int | None:
    return None if left is None else len(distinct(left, right))


def rate(value: float, low: float | None = None, high: float | None = None) -> dict[str, float | None]:
    """A number between its limits, as it stands in a record."""
    return {"value": float(value), "low": low, "high": high}


def rate_of(found: Interval) -> dict[str, float | None]:
    """An interval as it stands in a record."""
    return rate(found.estimate, found.low, found.high)


def _finite(measured: dict[str, float | None] | None) -> dict[str, float | None] | None:
    """The measure, or None where values are so large that sums or squares of them overflow."""
    known = [] if measured is None else [each for each in measured.values() if each is not None]
    return measured if np.all(np.isfinite(known)) else None


def _with_limits(scores: Scores, measured: Any, chance: Chance, level: float) -> dict[str, float | None]:
    if chance.unit is None:
        return rate(measured(scores))
    return rate_of(interval(chance.ordered, measured, level=level, method="jackknife", unit=chance.unit))


# --------------------------------------------------------------------------- d'


def d_prime_record(scores: Scores, units: Units | None, level: float) -> dict[str, float | None] | None:
    """d' with limits by Student's t, from what each pair adds to its deviation."""
    try:
        value = d_prime(scores)
    except InputError:
        return None
    if units is None:
        return rate(value)
    needed = np.array([scores.labels > 0, scores.labels < 0], dtype=np.float64)
    statistic = Statistic(lambda weights: 0.0, needed, _d_prime_influence(scores, value))
    spread = jackknife(statistic, units, 50, np.random.default_rng(0))
    half = float(stdtrit(spread.degrees, 0.5 + level / 2) * np.sqrt(spread.variance))
    return rate(value, value - half, value + half)


def _d_prime_influence(scores: Scores, value: float) -> Floats:
    """dd' = (dμ₊ − dμ₋)/s − d'·(dσ₊² + dσ₋²)/(4s²) with s² = (σ₊² + σ₋²)/2."""
    influence = np.zeros(len(scores))
    masks = (scores.labels > 0, scores.labels < 0)
    square = sum(float(scores.values[mask].var()) for mask in masks) / 2
    for mask, sign in zip(masks, (1.0, -1.0), strict=True):
        apart = scores.values[mask] - scores.values[mask].mean()
        tilt = value * (apart**2 - np.mean(apart**2)) / (4 * square)
        influence[mask] = (sign * apart / np.sqrt(square) - tilt) / len(apart)
    return influence


# --------------------------------------------------------------------------- thresholds


def _points(scores: Scores, curve: DetCurve, plan: Plan) -> list[dict[str, Any]]:
    """Thresholds worth knowing with their rows of the curve; those that cannot be measured have none."""
    n, cost = len(scores.negatives), plan.cost
    rows: list[tuple[str, float | None, int | None]] = [("eer", None, int(np.argmax(curve.fmr <= curve.fnmr)))]
    if cost is not None:
        rows.append(("cost", float(cost.of(curve).min()), int(np.argmin(cost.of(curve)))))
    for fmr in plan.fmrs:
        rows.append(("fmr", fmr, int(np.argmax(curve.fmr <= fmr)) if n * fmr >= 1 - 1e-9 else None))
    return [{"kind": kind, "at": at, "measurable": row is not None, "row": row} for kind, at, row in rows]


def _rows(points: Sequence[dict[str, Any]]) -> Ints:
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


def _add_band(points: list[dict[str, Any]], chance: Chance, plan: Plan) -> None:
    """FNMR at an FMR with limits that know that the threshold was found on the same pairs."""
    chosen = [point for point in points if point["kind"] == "fmr" and point["measurable"]]
    if not chosen or chance.unit is None:
        return
    fmrs = [point["at"] for point in chosen]
    band = det_band(chance.ordered, fmrs, level=plan.level, method="jackknife", unit=chance.unit)
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
