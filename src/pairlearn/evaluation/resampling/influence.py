"""What one pair adds to a measure, in closed form, and the rates of weighted pairs.

The influence ψ_i of pair i is the derivative of a measure by the weight of the pair, so that with weights w_i near 1
the measure moves by about Σ_i (w_i − 1)·ψ_i; Σψ_i = 0 over the pairs of each label. Sums of ψ over the pairs of a unit
give the variance (`spread.py`) without any resampling. Means have exact influences. A rate at a threshold that itself
depends on the pairs moves along the DET curve too: its influence needs the slope of the curve, `det_slope`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from pairlearn.evaluation.rates import DetCurve
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Bools, Floats, Ints


def deviations(column: Any, chosen: Bools) -> Floats:
    """Influences on the mean of a column over the chosen pairs: (x_i − mean)/n, and 0 for the others.

    >>> deviations(np.array([1.0, 3.0, 9.0]), np.array([True, True, False])).tolist()
    [-0.5, 0.5, 0.0]
    """
    return np.where(chosen, column - np.mean(column[chosen]), 0.0) / np.sum(chosen)


def influences(scores: Scores, threshold: float) -> tuple[Floats, Floats]:
    """Influences on FMR and on FNMR at a fixed threshold, both (n_pairs,): (error − rate)/n of their label.

    >>> influences(Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1]), 0.5)[0].tolist()
    [-0.25, 0.25, 0.0, 0.0]
    """
    below, negative = scores.values < threshold, scores.labels < 0
    return deviations(~below, negative), deviations(below, ~negative)


def placements(scores: Scores) -> Floats:
    """Influences on the area under the ROC curve: the share of the other label that a pair wins against, centred.

    AUC is the mean over positive pairs of the share of negative pairs below them, and the same the other way round
    (DeLong 1988); ties win half. Shape (n_pairs,).

    >>> placements(Scores([1.0, 3.0, 0.0, 2.0], [1, 1, -1, -1])).tolist()
    [-0.125, 0.125, 0.125, -0.125]
    """
    positives, negatives = np.sort(scores.positives), np.sort(scores.negatives)
    positive, wins = scores.labels > 0, np.empty(len(scores))
    for chosen, others, sign in ((positive, negatives, 1), (~positive, positives, -1)):
        ranks = sum(np.searchsorted(others, scores.values[chosen], side) for side in ("left", "right"))
        wins[chosen] = sign * ranks / (2 * len(others))
    return deviations(wins, positive) + deviations(wins, ~positive)


def separations(scores: Scores, value: float) -> Floats:
    """Influences on d′ = `value`: dd′ = (dμ₊ − dμ₋)/s − d′·(dσ₊² + dσ₋²)/(4s²), s² = (σ₊² + σ₋²)/2; (n_pairs,).

    Means move by (x − μ)/n, variances by ((x − μ)² − σ²)/n; the rest is the chain rule.
    """
    influence = np.zeros(len(scores))
    masks = (scores.labels > 0, scores.labels < 0)
    square = sum(float(scores.values[mask].var()) for mask in masks) / 2
    for mask, sign in zip(masks, (1.0, -1.0), strict=True):
        apart = scores.values[mask] - scores.values[mask].mean()
        tilt = value * (apart**2 - np.mean(apart**2)) / (4 * square)
        influence[mask] = (sign * apart / np.sqrt(square) - tilt) / len(apart)
    return influence


def det_slope(curve: DetCurve, fmr: float, effects: Floats) -> float:
    """−dFNMR/dFMR of the DET curve, from as far left to as far right as chance may move FMR, on its logit scale.

    effects: what each unit adds to FMR, (n_units,); two standard errors either way. The curve is a staircase, so that a
    derivative at a point is 0 or ∞, and one over a fixed piece is right for no sample size.
    """
    fmr = float(np.clip(fmr, 0.5 / len(curve.fmr), 1 - 0.5 / len(curve.fmr)))
    reach = np.clip(2 * np.sqrt(effects @ effects) / (fmr * (1 - fmr)), 1e-3, 1.0)
    strict, lax = curve.fnmrs_at(expit(logit(fmr) + reach * np.array([-1.0, 1.0])))
    return float((strict - lax) / (2 * reach * fmr * (1 - fmr)))


@dataclass(frozen=True, eq=False)
class WeightedCurve:
    """DET curves of the same values under changing weights: sorted once, then O(n_pairs) per curve.

    below: how many pairs are below each threshold, positives_below: how many positive ones, both (n_points,);
    positives: the places of the positive pairs in the sorted order, (n_positives,).

    >>> curve = WeightedCurve.of(Scores([0.8, 0.1, 0.4], [1, -1, 1]))(np.array([1.0, 1.0, 3.0]))
    >>> curve.thresholds.tolist(), curve.fmr.tolist(), curve.fnmr.tolist()
    ([0.1, 0.4, 0.8, inf], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.75, 1.0])
    """

    order: Ints | None
    positives: Ints
    thresholds: Floats
    below: Ints
    positives_below: Ints

    @classmethod
    def of(cls, scores: Scores) -> WeightedCurve:
        """Sort the scores; scores that are sorted already save a permutation per curve."""
        is_sorted = bool(np.all(scores.values[1:] >= scores.values[:-1]))
        order = None if is_sorted else np.argsort(scores.values, kind="stable")
        sorted_scores = scores if order is None else scores[order]
        values = sorted_scores.values
        first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        below, positives = np.append(first, values.size), np.flatnonzero(sorted_scores.labels > 0)
        return cls(order, positives, np.append(values[first], np.inf), below, np.searchsorted(positives, below))

    def __call__(self, weights: Floats) -> DetCurve:
        """The DET curve when pair k counts weights[k] times; the weights are whole numbers, so sums are exact."""
        weights = weights if self.order is None else weights[self.order]
        rejected = _running_sums(weights)[self.below]
        rejected_positives = _running_sums(weights[self.positives])[self.positives_below]
        n_positives = rejected_positives[-1]
        n_negatives = rejected[-1] - n_positives
        accepted = n_negatives - (rejected - rejected_positives)
        return DetCurve(self.thresholds, accepted / n_negatives, rejected_positives / n_positives)


def repeated(scores: Scores, weights: Floats) -> Scores:
    """The scores with pair k written down weights[k] times: the slow twin of any weighted measure.

    >>> repeated(Scores([0.8, 0.1], [1, -1]), np.array([2.0, 1.0])).values.tolist()
    [0.8, 0.8, 0.1]
    """
    return scores[np.repeat(np.arange(len(scores)), weights.astype(np.int64))]


def _running_sums(weights: Floats) -> Floats:
    """Sums of the first 0, 1, …, n weights, (n + 1,)."""
    sums = np.zeros(weights.size + 1)
    np.cumsum(weights, out=sums[1:])
    return sums
