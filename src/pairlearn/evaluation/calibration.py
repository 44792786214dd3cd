"""From scores to probabilities, and how far probabilities can be trusted.

A calibration learns the log-likelihood ratio llr(s) = log p(s | same)/p(s | different); a prior π, the share of
positive pairs where it is used, makes it a probability: expit(llr + logit π). Reflexive pairs of `Scores` are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from pairlearn.errors import InputError
from pairlearn.evaluation.fusion import both_labels, check_probabilities, platt, standardise
from pairlearn.evaluation.resampling.units import units_of
from pairlearn.evaluation.scores import Scores
from pairlearn.examples import refuse_nonfinite
from pairlearn.interrupts import delayed
from pairlearn.types import Floats, Ints

BENT = 0.8
"""Share of what the llr of a line cost below which a curve is worth its wiggles."""


@dataclass(frozen=True)
class Line:
    """llr(s) = slope·(s − centre) + level."""

    slope: float
    centre: float
    level: float

    def __call__(self, values: Floats) -> Floats:
        return self.slope * (values - self.centre) + self.level


@dataclass(frozen=True, eq=False)
class Knots:
    """llr(s) through the points (values, llrs), both of shape (n_knots,): linear between, constant outside."""

    values: Floats
    llrs: Floats

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.values.shape != self.llrs.shape or not len(self.values):
            raise InputError(f"a curve has one llr per value, got shapes {self.llrs.shape} and {self.values.shape}")

    def __call__(self, values: Floats) -> Floats:
        return np.interp(values, self.values, self.llrs)


@dataclass(frozen=True)
class FittedCalibration:
    """probability(s) = expit(llr(s) + logit prior); `dataclasses.replace(fitted, prior=…)` moves it elsewhere.

    >>> fitted = FittedCalibration(Line(2.0, 1.0, 0.0), prior=0.5)
    >>> fitted.llr([1.0, 2.0]).tolist(), fitted.probability([1.0]).tolist()
    ([0.0, 2.0], [0.5])
    """

    curve: Line | Knots
    prior: float

    def __post_init__(self) -> None:
        if not 0 < self.prior < 1:
            raise InputError(f"prior is the share of positive pairs, between 0 and 1, got {self.prior}; try 0.5")

    def llr(self, values: Any) -> Floats:
        """Log-likelihood ratio of each value, the same shape; it never falls as values rise."""
        array = np.asarray(values, dtype=np.float64)
        refuse_nonfinite(array, "values")
        return self.curve(array)

    def probability(self, values: Any) -> Floats:
        """Probability that a pair with this value is positive, the same shape."""
        return np.asarray(expit(self.llr(values) + logit(self.prior)))


@dataclass(frozen=True)
class LogisticCalibration:
    """Platt's curve: log-odds a·s + b with a ≥ 0 and the least log loss against targets that never reach 0 or 1.

    Targets: (N₊ + 1)/(N₊ + 2) for positive and 1/(N₋ + 2) for negative pairs, so separated scores have a finite curve.
    Scores that rank the wrong way get llr = 0. `prior` is the share of positive pairs where the probabilities are
    used; None takes the mean target, nearly the share among the scores, which gives Platt's probabilities.

    >>> fitted = LogisticCalibration(prior=0.5).fit(Scores([0.0, 1.0, 2.0, 3.0], [-1, 1, -1, 1]))
    >>> fitted.probability([0.0, 1.5, 3.0]).round(3).tolist()
    [0.35, 0.5, 0.65]
    """

    prior: float | None = None

    def fit(self, scores: Scores) -> FittedCalibration:
        """Learn from positive and negative pairs."""
        scores = both_labels(scores)
        Z, centre, spread = standardise(scores.values[:, None])
        # The mean target is the mean probability of the curve, so it is the prior that the curve has learnt.
        slope, offset, learnt = platt(Z[:, 0], scores.labels > 0)
        line = Line(slope / float(spread[0]), float(centre[0]), offset - float(logit(learnt)))
        return FittedCalibration(line, learnt if self.prior is None else self.prior)


@dataclass(frozen=True)
class IsotonicCalibration:
    """The rising curve with the least log loss, one positive pair added below all scores and one negative above.

    Pool adjacent violators; linear in llr between the pools. The two added pairs keep llr finite and make it 0 for
    scores that say nothing. Needs more pairs than a line does. `prior` as there, None takes (N₊ + 1)/(N + 2).

    >>> fitted = IsotonicCalibration().fit(Scores([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-1, -1, 1, -1, 1, 1]))
    >>> np.exp(fitted.llr([-9.0, 1.0, 1.5, 2.0, 9.0])).round(3).tolist()
    [0.5, 0.5, 0.707, 1.0, 2.0]
    """

    prior: float | None = None

    def fit(self, scores: Scores) -> FittedCalibration:
        """Learn from positive and negative pairs."""
        scores = both_labels(scores)
        values, _, shares, counts = _by_value(scores)
        p = _rising(np.r_[1.0, shares, 0.0], np.r_[1.0, counts, 1.0])[1:-1]
        learnt = (len(scores.positives) + 1) / (len(scores) + 2)
        steps = np.r_[True, np.diff(p) > 0, True]
        ends = steps[:-1] | steps[1:]
        knots = Knots(values[ends], logit(p[ends]) - logit(learnt))
        return FittedCalibration(knots, learnt if self.prior is None else self.prior)


def cross_fitted(
    scores: Scores, calibration: LogisticCalibration | IsotonicCalibration, n_folds: int = 5, seed: int = 0
) -> Floats:
    """Probabilities (n_pairs,), each learnt from pairs that share no identity with its own pair.

    Identities are dealt into folds. A pair between folds f and g learns from the pairs outside both; so does a pair
    inside f, with g = f + 1, else positive pairs would have more to learn from than most negative ones. What is left
    has a larger share of positive pairs than the whole, so llr is learnt there and the prior is that of all scores.

    >>> left, right = np.triu_indices(40, 1)
    >>> same = left // 4 == right // 4
    >>> scores = Scores(same + np.sin(left * right), np.where(same, 1, -1), left, right, left // 4, right // 4)
    >>> p = cross_fitted(scores, LogisticCalibration())
    >>> bool(p[same].mean() > 1.5 * p[~same].mean())
    True
    """
    first, second = _folds(scores, n_folds, seed)
    partner = np.where(first == second, (first + 1) % n_folds, second)
    prior, llr = calibration.fit(scores).prior, np.empty(len(scores))
    for couple in combinations(range(n_folds), 2):
        own = np.isin(first, couple) & np.isin(partner, couple)
        outside = ~np.isin(first, couple) & ~np.isin(second, couple)
        try:
            llr[own] = calibration.fit(scores[outside]).llr(scores.values[own])
        except InputError as error:
            raise InputError(f"outside the folds {couple}: {error}, of more identities, or use more folds") from error
    return np.asarray(expit(llr + logit(prior)))


def calibrated(scores: Scores, prior: float | None = None) -> FittedCalibration:
    """Platt's curve, or the rising one where its llr, cross-fitted over identities, cost less than BENT times as much.

    A line in the scores serves most machines; scores with long tails or a ceiling need a bent one.

    >>> rng = np.random.default_rng(0)
    >>> left, right = np.triu_indices(60, 1)
    >>> same = left // 4 == right // 4
    >>> llr = np.where(same, 2.0, -2.0) + 2.0 * rng.normal(size=len(same))
    >>> straight, bent = (Scores(s, np.where(same, 1, -1), left, right, left // 4, right // 4)
    ...                   for s in (llr, -np.exp(-2.0 * llr)))
    >>> type(calibrated(straight).curve).__name__, type(calibrated(bent).curve).__name__
    ('Line', 'Knots')
    """
    scores, curve = both_labels(scores), IsotonicCalibration()
    line, rising = LogisticCalibration(prior).fit(scores), IsotonicCalibration(prior).fit(scores)
    try:
        llr = logit(cross_fitted(scores, curve)) - logit(curve.fit(scores).prior)
    except InputError:  # too few identities to learn a curve from
        return line
    straight, bent = (cllr(replace(scores, values=values)) for values in (line.llr(scores.values), llr))
    return rising if bent < BENT * straight else line


def cllr(scores: Scores) -> float:
    """Cost of log-likelihood ratios (the values) in bits: 0 is perfect, 1 is what llr = 0 for all pairs costs.

    ½ mean log₂(1 + e^−llr) over positive + ½ mean log₂(1 + e^llr) over negative pairs (Brümmer and du Preez 2006).

    >>> cllr(Scores([0.0, 0.0], [1, -1])), round(cllr(Scores([9.0, -9.0], [1, -1])), 5)
    (1.0, 0.00018)
    """
    scores = both_labels(scores)
    nats = np.logaddexp(0.0, -scores.positives).mean() + np.logaddexp(0.0, scores.negatives).mean()
    return float(nats / (2.0 * np.log(2.0)))


def min_cllr(scores: Scores) -> float:
    """The least `cllr` that a rising function of the values has on these pairs: what calibration cannot mend.

    >>> min_cllr(Scores([1.0, 2.0, 3.0], [-1, 1, 1])), min_cllr(Scores([2.0, 1.0], [-1, 1]))
    (0.0, 1.0)
    """
    scores = both_labels(scores)
    _, inverse, shares, counts = _by_value(scores)
    llr = logit(_rising(shares, counts)) - logit(np.mean(scores.labels > 0))
    return cllr(Scores(np.nan_to_num(llr)[inverse], scores.labels))  # pools of one label have llr = ±∞, at no cost


def brier(probabilities: Any, labels: Any) -> float:
    """Mean (1 − p)² over positive and p² over negative pairs.

    >>> brier([0.5, 0.0], [1, -1])
    0.125
    """
    p, positive = check_probabilities(probabilities, labels)
    return float(np.mean((p - positive) ** 2))


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of predicted probabilities: edges (n_bins + 1,), all others (n_bins,); NaN for the means of an empty bin.

    predicted: mean probability; observed: share of positive pairs; low, high: Wilson's limits of that share, as if
    pairs were independent, so too narrow where pairs share identities.
    """

    edges: Floats
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    counts: Ints

    @property
    def expected_calibration_error(self) -> float:
        """Σ counts·|observed − predicted| / Σ counts."""
        full = self.counts > 0
        return float(np.average(np.abs(self.observed - self.predicted)[full], weights=self.counts[full]))


def reliability(probabilities: Any, labels: Any, bins: Any = 10, level: float = 0.95) -> Reliability:
    """Compare probabilities with shares, bin by bin; `bins` is a number of equal bins or their edges from 0 to 1.

    >>> table = reliability([0.1, 0.2, 0.9, 0.8], [-1, 1, 1, 1], bins=2)
    >>> table.observed.tolist(), table.counts.tolist(), round(table.expected_calibration_error, 3)
    ([0.5, 1.0], [2, 2], 0.25)
    """
    p, positive = check_probabilities(probabilities, labels)
    whole = isinstance(bins, (int, np.integer))
    edges = np.linspace(0.0, 1.0, max(int(bins), 0) + 1) if whole else np.asarray(bins, np.float64)
    if edges.ndim != 1 or len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or np.any(np.diff(edges) <= 0):
        raise InputError(f"bins must be a number > 0 or rising edges from 0 to 1, got {bins!r}; try 10")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}; try 0.95")
    bin_of = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)
    n, hits, sums = (np.bincount(bin_of, weights, len(edges) - 1) for weights in (None, positive, p))
    with np.errstate(invalid="ignore"):
        return Reliability(edges, sums / n, hits / n, *_wilson(hits, n, float(ndtri(0.5 + level / 2))), n)


def _wilson(hits: Any, n: Any, z: float) -> tuple[Floats, Floats]:
    """All shares q with |hits − nq| ≤ z √(nq(1 − q)); from 0 to 1 where n = 0."""
    middle, half = hits + z * z / 2, z * np.sqrt(hits * (n - hits) / np.maximum(n, 1) + z * z / 4)
    return np.maximum((middle - half) / (n + z * z), 0.0), np.minimum((middle + half) / (n + z * z), 1.0)


def _folds(scores: Scores, n_folds: int, seed: int) -> tuple[Ints, Ints]:
    if scores.left_identity is None:
        raise InputError("cross-fitting needs to know who is in a pair; give Scores left_identity and right_identity")
    units = units_of(scores, "identity")
    if not 3 <= n_folds <= units.n_units:
        raise InputError(f"n_folds must be from 3 to the number of identities, {units.n_units}, got {n_folds}; try 5")
    fold = np.random.default_rng(seed).permutation(units.n_units) % n_folds
    return fold[units.first], fold[np.where(units.inside, units.first, units.second)]


def _rising(shares: Floats, weights: Floats) -> Floats:
    """The rising sequence nearest to the shares in weighted squares, which is also nearest in log loss; (n,)."""
    with delayed():
        from scipy.optimize import isotonic_regression  # takes longer to load than all else that intervals need

    return np.asarray(isotonic_regression(shares, weights=weights).x)


def _by_value(scores: Scores) -> tuple[Floats, Ints, Floats, Floats]:
    """Distinct values, the number of the value of each pair, and share of positives and number of pairs per value."""
    values, inverse, counts = np.unique(scores.values, return_inverse=True, return_counts=True)
    return values, inverse, np.bincount(inverse, scores.labels > 0) / counts, counts.astype(np.float64)
