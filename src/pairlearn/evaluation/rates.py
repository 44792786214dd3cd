"""Numbers of scores as plain functions: error rates as the threshold moves, areas, distances, shares.

A pair is accepted when its value >= threshold b. FMR(b) = share of negative pairs accepted, FNMR(b) = share of positive
pairs rejected. Reflexive pairs (an example with itself) flatter a result: they are left out when the scores know their
examples, unless `reflexive=True`. `pairlearn.evaluation.measures` makes measures of these functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.scores import Scores, check_scores
from pairlearn.types import Floats


class Rates(NamedTuple):
    """Error rates at one threshold."""

    fmr: float
    fnmr: float


@dataclass(frozen=True, eq=False)
class DetCurve:
    """Points of a DET curve by rising threshold, from (FMR, FNMR) = (1, 0) to (0, 1); shapes (n_points,).

    >>> curve = DetCurve(np.array([0.0, 1.0, np.inf]), np.array([1.0, 0.1, 0.0]), np.array([0.0, 0.3, 1.0]))
    >>> round(curve.equal_error_rate, 4), curve.fnmr_at(0.1), round(curve.area_under_roc, 3)
    (0.25, 0.3, 0.8)
    """

    thresholds: Floats
    fmr: Floats
    fnmr: Floats

    def __post_init__(self) -> None:
        if not len(self.thresholds) == len(self.fmr) == len(self.fnmr) >= 2:
            raise InputError("thresholds, fmr and fnmr need the same length, two or more points")
        if not self.fmr[0] - self.fnmr[0] > 0 > self.fmr[-1] - self.fnmr[-1]:
            raise InputError("a DET curve runs from (fmr, fnmr) = (1, 0) to (0, 1); sort by rising threshold")

    @property
    def equal_error_rate(self) -> float:
        """The rate where the polyline through the points crosses FMR = FNMR."""
        before, after = 0, len(self.fmr) - 1
        while after - before > 1:  # FMR − FNMR falls along the curve
            middle = (before + after) // 2
            before, after = (middle, after) if self.fmr[middle] > self.fnmr[middle] else (before, middle)
        high, low = self.fmr[before] - self.fnmr[before], self.fmr[after] - self.fnmr[after]
        return float(self.fmr[before] + high / (high - low) * (self.fmr[after] - self.fmr[before]))

    @property
    def area_under_roc(self) -> float:
        """The area below the polyline (FMR, 1 − FNMR)."""
        return float(np.trapezoid(self.fnmr - 1.0, self.fmr))

    def fnmr_at(self, fmr: float) -> float:
        """Return the smallest FNMR of a threshold whose FMR is at most `fmr`."""
        check_fmr(fmr)
        return float(self.fnmr[np.argmax(self.fmr <= fmr)])

    def fnmrs_at(self, fmr: Floats) -> Floats:
        """The same for many FMRs at once, any shape; rates are not checked."""
        # FMR falls along the curve, so the first point with FMR ≤ fmr is found from the end.
        return np.asarray(self.fnmr[len(self.fmr) - np.searchsorted(self.fmr[::-1], fmr, side="right")])


def det_curve(scores: Scores, *, reflexive: bool = False) -> DetCurve:
    """Return the DET curve: one point per distinct value, then the end point, which rejects all.

    FMR(b) = #{negatives ≥ b}/#negatives, FNMR(b) = #{positives < b}/#positives.

    >>> curve = det_curve(Scores([0.1, 0.4, 0.4, 0.8], [-1, -1, 1, 1]))
    >>> curve.thresholds.tolist(), curve.fmr.tolist(), curve.fnmr.tolist()
    ([0.1, 0.4, 0.8, inf], [1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0])
    """
    scores = with_both_labels(scores, reflexive)
    # Sorting values is several times faster than sorting indices, so the labels are not carried along.
    values, positives = np.sort(scores.values), np.sort(scores.positives)
    n_positives, n_negatives = positives.size, values.size - positives.size
    ties = values[1:] == values[:-1]
    if ties.any():
        first = np.flatnonzero(np.append(True, ~ties))
        thresholds, fmr = np.append(values[first], np.inf), np.append(first, values.size).astype(np.float64)
    else:
        thresholds, fmr = np.append(values, np.inf), np.arange(values.size + 1.0)
    # The few sorted positives are looked up among the thresholds, not the other way round; then all goes in place.
    places = np.searchsorted(thresholds, positives, side="right")
    fnmr = np.repeat(np.arange(n_positives + 1.0), np.diff(places, prepend=0, append=len(thresholds)))
    fmr -= fnmr
    np.subtract(n_negatives, fmr, out=fmr)
    fmr /= n_negatives
    fnmr /= n_positives
    return DetCurve(thresholds, fmr, fnmr)


def equal_error_rate(scores: Scores, *, reflexive: bool = False) -> float:
    """Return the rate where the polyline through the DET points crosses FMR = FNMR.

    It depends on the order of the values only, not on their scale.

    >>> equal_error_rate(Scores([0.1, 0.4, 0.6, 0.8], [-1, 1, -1, 1]))
    0.5
    """
    return det_curve(scores, reflexive=reflexive).equal_error_rate


def fnmr_at_fmr(scores: Scores, fmr: float, *, reflexive: bool = False) -> float:
    """Return the smallest FNMR that a threshold reaches with FMR at most `fmr`.

    min {FNMR(b) : FMR(b) ≤ fmr}; with fewer than 1/fmr negative pairs no false match is allowed at all.

    >>> fnmr_at_fmr(Scores([0.1, 0.7, 0.6, 0.8], [-1, -1, 1, 1]), 1e-2)
    0.5
    """
    return det_curve(scores, reflexive=reflexive).fnmr_at(fmr)


def area_under_roc(scores: Scores, *, reflexive: bool = False) -> float:
    """Return the chance that a positive pair scores above a negative one, ties counting ½.

    AUC = P(p > n) + ½·P(p = n) for a random positive value p and a random negative value n.

    >>> area_under_roc(Scores([0.1, 0.4, 0.4, 0.8], [-1, -1, 1, 1]))
    0.875
    """
    return det_curve(scores, reflexive=reflexive).area_under_roc


def rates_at(scores: Scores, threshold: float, *, reflexive: bool = False) -> Rates:
    """Return FMR and FNMR when pairs with value >= threshold are accepted.

    >>> rates_at(Scores([0.1, 0.4, 0.4, 0.8], [-1, -1, 1, 1]), 0.5)
    Rates(fmr=0.0, fnmr=0.5)
    """
    if np.isnan(threshold):
        raise InputError("threshold is NaN; pass a number, or use det_curve for all thresholds")
    scores = with_both_labels(scores, reflexive)
    fmr = np.mean(scores.negatives >= threshold)
    return Rates(float(fmr), float(np.mean(scores.positives < threshold)))


def d_prime(scores: Scores) -> float:
    """How far positive and negative values lie apart: (μ₊ − μ₋)/√(½(σ₊² + σ₋²)).

    For normal values of equal spread the equal error rate is Φ(−d′/2). Unlike rates it depends on the scale of values.

    >>> round(d_prime(Scores([1.0, 3.0, -1.0, 1.0], [1, 1, -1, -1])), 6)
    1.414214
    """
    kept = with_both_labels(scores, reflexive=False)
    if min(len(kept.positives), len(kept.negatives)) < 2:
        raise InputError("d′ needs two or more positive and negative pairs each; give more pairs")
    spread = np.sqrt(0.5 * (kept.positives.var(ddof=1) + kept.negatives.var(ddof=1)))
    if spread == 0:
        raise InputError("d′ has no value: all positive pairs score the same, and all negative pairs too")
    return float((kept.positives.mean() - kept.negatives.mean()) / spread)


def accuracy_at(scores: Scores, threshold: float) -> float:
    """The share of pairs decided rightly when values ≥ threshold are accepted; a `Threshold` will do too.

    >>> accuracy_at(Scores([0.1, 0.4, 0.4, 0.8], [-1, -1, 1, 1]), 0.5)
    0.75
    """
    value = float(threshold)
    if np.isnan(value):
        raise InputError("threshold is NaN; pass a number, or use det_curve for all thresholds")
    kept = scores.without_reflexive()
    if len(kept) == 0:
        raise InputError("there are no pairs of two different examples; give some")
    return float(np.mean((kept.values >= value) == (kept.labels > 0)))


# --------------------------------------------------------------------------- what can be measured at all


@dataclass(frozen=True)
class Measurable:
    """Whether an FMR can be told from none with this many negative pairs; true or false as such, a sentence as text."""

    fmr: float
    n_negatives: int
    n_needed: int

    def __bool__(self) -> bool:
        return self.n_negatives >= self.n_needed

    def __str__(self) -> str:
        if self:
            return f"FMR {self.fmr:g} is measurable with {self.n_negatives} negative pairs"
        return f"FMR {self.fmr:g} is not measurable with {self.n_negatives} negative pairs; {self.n_needed} are needed"


def measurable(scores: Scores, fmr: float, *, errors: int = 3) -> Measurable:
    """Whether there are negative pairs enough to expect `errors` false matches at this FMR.

    With 3, no error seen refutes the rate at 95 % (rule of three); 30 give it to within 30 % (Doddington's rule), both
    for independent pairs: pairs that share identities need more, see `pairlearn.evaluation.intervals`.

    >>> print(measurable(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]), 1e-3))
    FMR 0.001 is not measurable with 2 negative pairs; 3000 are needed
    """
    if not 0 < fmr <= 1:
        raise InputError(f"fmr must be a rate above 0 and at most 1, got {fmr}; try 1e-3 for 0.1 %")
    if errors < 1:
        raise InputError(f"errors must be at least 1, got {errors}; try 3, or 30 for a good estimate")
    return Measurable(fmr, len(scores.without_reflexive().negatives), int(np.ceil(errors / fmr - 1e-9)))


def check_fmr(fmr: float) -> None:
    """Refuse what is not a rate."""
    if not (isinstance(fmr, Real) and 0 <= fmr <= 1):
        raise InputError(f"fmr must be a rate between 0 and 1, got {fmr!r}; try 1e-3 for 0.1 %")


def with_both_labels(scores: Scores, reflexive: bool) -> Scores:
    """The scores, without reflexive pairs unless these are asked for; refused if one label has no pair."""
    kept = check_scores(scores) if reflexive else check_scores(scores).without_reflexive()
    n_positives = int(np.count_nonzero(kept.labels > 0))
    if 0 < n_positives < len(kept):
        return kept
    left_out = len(scores) - len(kept)
    note = f" (reflexive pairs left out: {left_out}; reflexive=True keeps them)" if left_out else ""
    raise InputError(
        f"rates need positive and negative pairs, got {n_positives} positive and {len(kept) - n_positives} "
        f"negative{note}; add pairs of {'different classes' if n_positives else 'the same class'}"
    )
