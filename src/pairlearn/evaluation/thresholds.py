"""Thresholds from development scores: by a rate, by costs, or with a promise about identities not seen.

A threshold at which the *observed* FMR meets a target breaks it on other identities about every second time. With
`confidence` it is set so strictly that the *true* FMR, over draws of identities, meets the target that often.

**Limit.** At each threshold FMR has the upper limit of Clopper and Pearson for the number of independent pairs that its
variance stands for (Korn and Graubard 1998), reduced by (z/t)² for the degrees of freedom, and no more of them than
couples of identities. The variance respects shared identities: Σψ_u² − Σψ_uv², as in `pairlearn.evaluation.intervals`.

**The unseen.** Samples of identities tend to lack the worst ones; then rate and variance look too good together. With
confidence 1 − δ a share of at most −log(δ)/n of all identities is worse than the worst of n (3/n for 95 %). So
1 − log(δ) more identities as bad as the worst are counted in; the 1 because they may be worse still.

**Search.** From the strictest threshold with an error down, while the limit meets the target. So the promise fails only
if the limit fails at the one threshold whose true FMR is the target (or, should no error be seen there, at the first
one). No error at all is worth the counted limit of `Units.effective_number` pairs.

`benchmarks/thresholds.py` measures how often the promise holds. Student's t on the logit scale and a bootstrap-t over
identities were tried and left: both promise too much, the more so the more identities differ.
Nothing seen tells of identities *much* worse than all seen: where effects of identities are large and have heavy tails
(exponential), 95 % are about 92 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from pairlearn.errors import InputError
from pairlearn.evaluation.rates import DetCurve, check_fmr, det_curve, rates_at
from pairlearn.evaluation.resampling.spread import degrees_of_freedom
from pairlearn.evaluation.resampling.units import Units, earlier_equals, units_of
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Floats, Ints
from pairlearn.words import counted, plural_of


@dataclass(frozen=True)
class Threshold:
    """Accept pairs with value ≥ `value`; `fmr` and `fnmr` are the rates of the development scores there.

    With a promise, the true FMR is at most `fmr_limit` with probability `confidence`, for new draws of `n_units` units;
    without one these four are None.

    >>> threshold = Threshold(0.7, "equal error rate", fmr=0.1, fnmr=0.1)
    >>> float(threshold), str(threshold)
    (0.7, '0.7 by equal error rate: FMR 0.1, FNMR 0.1')
    """

    value: float
    rule: str
    fmr: float
    fnmr: float
    confidence: float | None = None
    fmr_limit: float | None = None
    unit: str | None = None
    n_units: int | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        text = f"{self.value:.6g} by {self.rule}: FMR {self.fmr:.3g}, FNMR {self.fnmr:.3g}"
        if self.confidence is None:
            return text
        return f"{text}; true FMR at most {self.fmr_limit:.3g} with {100 * self.confidence:g} % confidence"


@dataclass(frozen=True, eq=False)
class FmrLimits:
    """Upper limits of the true FMR by falling threshold, each for itself; shapes (n_points,).

    values: negative values with the share `fmr` of negatives at or above them. none: the limit if no error were seen.
    """

    values: Floats
    fmr: Floats
    high: Floats
    none: float
    confidence: float
    unit: str
    n_units: int


def threshold_at_fmr(
    scores: Scores, fmr: float, *, confidence: float | None = None, unit: str = "identity"
) -> Threshold:
    """The smallest threshold with FMR at most `fmr`: on these scores, or with `confidence` for identities not seen.

    unit: whose draws the promise is about, "identity", "example" or "pair" (as if all pairs were independent, which
    promises too much). Reflexive pairs are left out.

    >>> rng = np.random.default_rng(0)
    >>> left, right = np.triu_indices(300, 1)
    >>> same = left // 3 == right // 3
    >>> values = 3.0 * same + rng.normal(size=300)[left] / 4 + rng.normal(size=len(left))
    >>> scores = Scores(values, np.where(same, 1, -1), left, right, left // 3, right // 3)
    >>> plain, safe = threshold_at_fmr(scores, 0.01), threshold_at_fmr(scores, 0.01, confidence=0.95)
    >>> plain.value < safe.value, safe.fmr < safe.fmr_limit <= 0.01
    (True, True)
    """
    check_fmr(fmr)
    rule = f"FMR at most {fmr:g}"
    curve = det_curve(scores)
    if confidence is None:
        return _threshold(curve, int(np.argmax(curve.fmr <= fmr)), rule)
    limits = fmr_limits(scores, confidence, unit=unit, most=fmr)
    n_met = int(np.argmax(np.append(limits.high, np.inf) > fmr))
    if n_met == 0 and limits.none > fmr:
        raise InputError(_unreachable(fmr, fmr_limits(scores, confidence, unit=unit), scores))
    limit = limits.high[:n_met].max() if n_met else limits.none
    errors_allowed = limits.fmr[n_met - 1] if n_met else 0.0
    found = _threshold(curve, int(np.argmax(curve.fmr <= errors_allowed)), rule)
    return Threshold(found.value, rule, found.fmr, found.fnmr, confidence, float(limit), unit, limits.n_units)


def threshold_at_eer(scores: Scores) -> Threshold:
    """The threshold nearest to FMR = FNMR: the larger of them is as small as it can be, then the smaller one.

    >>> threshold_at_eer(Scores([0.1, 0.4, 0.6, 0.8], [-1, 1, -1, 1])).value
    0.4
    """
    curve = det_curve(scores)
    order = np.lexsort([curve.fmr + curve.fnmr, np.maximum(curve.fmr, curve.fnmr)])
    return _threshold(curve, int(order[0]), "equal error rate")


def threshold_by_cost(scores: Scores, miss: float, false_match: float, prior: float) -> Threshold:
    """The threshold with the least expected cost: prior·miss·FNMR + (1 − prior)·false_match·FMR.

    prior: the share of positive pairs where the threshold will be used.

    >>> scores = Scores([0.1, 0.4, 0.6, 0.8], [-1, 1, -1, 1])
    >>> [threshold_by_cost(scores, miss, 1.0, prior=0.5).value for miss in (0.5, 2.0)]
    [0.8, 0.4]
    """
    if not (0 < miss < np.inf and 0 < false_match < np.inf):
        raise InputError(f"costs must be finite and > 0, got miss={miss}, false_match={false_match}; try 1.0 for both")
    if not 0 < prior < 1:
        raise InputError(f"prior is the share of positive pairs, between 0 and 1, got {prior}; try 0.5")
    curve = det_curve(scores)
    cost = prior * miss * curve.fnmr + (1 - prior) * false_match * curve.fmr
    return _threshold(curve, int(np.argmin(cost)), f"cost {miss:g} : {false_match:g} at prior {prior:g}")


def fmr_limits(scores: Scores, confidence: float, *, unit: str = "identity", most: float = 1.0) -> FmrLimits:
    """One-sided upper limits of FMR at every threshold where the observed FMR is from one error up to `most`.

    >>> scores = Scores([0.1, 0.2, 0.3, 0.7, 0.6, 0.8], [-1, -1, -1, -1, 1, 1])
    >>> limits = fmr_limits(scores, 0.9, unit="pair")
    >>> limits.fmr.tolist(), bool(np.all(limits.high > limits.fmr)), round(limits.none, 3)
    ([0.25, 0.5, 0.75, 1.0], False, 0.438)
    """
    if not 0.5 < confidence < 1:
        raise InputError(f"confidence must be between 0.5 and 1, got {confidence}; try 0.95")
    rates_at(scores, 0.0)  # refuses scores without both labels
    scores = scores.without_reflexive()
    negatives = scores[scores.labels < 0]
    units = units_of(negatives, unit)
    if units.n_units < 4:
        raise InputError(f"{units.n_units} of unit {unit} say nothing about others; give 30 or more")
    _refuse_one_in_all(units, unit)
    order = np.argsort(-negatives.values, kind="stable")
    values = negatives.values[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # of each distinct value
    last = last[last + 1 <= most * len(values)]
    unseen = 1.0 - np.log1p(-confidence) if units.n_cells else 0.0
    tallied = _tally(units, order[: last[-1] + 1 if last.size else 0], float(unseen))
    p, variance, degrees = (column[last] for column in tallied)
    if not units.n_cells:  # pairs for themselves: the variance follows from the rate, so it is certain
        degrees = np.full(len(last), units.n_units - 1.0)
    high = _korn_graubard(p, variance, degrees, units.n_cells or len(values), confidence)
    none = 1 - (1 - confidence) ** (1 / units.effective_number(np.ones(len(values), dtype=bool)))
    return FmrLimits(values[last], (last + 1) / len(values), high, float(none), confidence, unit, units.n_units)


def _refuse_one_in_all(units: Units, unit: str) -> None:
    """A unit cannot be left out of pairs that are all its own."""
    if np.any(units.sums(np.ones(len(units.first))) == len(units.first)):
        raise InputError(
            f"one {unit} takes part in all negative pairs, so that these tell of it alone; give pairs of more "
            f"{plural_of(unit)}, or use unit='pair', which takes all pairs for independent"
        )


def _tally(units: Units, errors: Ints, unseen: float) -> tuple[Floats, Floats, Floats]:
    """FMR, its variance and degrees of freedom after 1, 2, … errors, with the worst unit counted `unseen` times more.

    With c_u errors among the m_u pairs of unit u, ψ_u = (c_u − p·m_u)/N, and likewise for cells. Each error adds to
    Σc_u² what the earlier errors of its units say, so that one pass serves all thresholds.
    """
    n_pairs, n, k = len(units.first), units.n_units, np.arange(1, len(errors) + 1)
    m = units.sums(np.ones(n_pairs))
    weight = (n - 1) / n / (1 - m / n_pairs) ** 2  # what leaving units out makes of ψ_u²
    steps, who = _incidences(units, errors)
    worst, worst_unit = _worst(steps, who, k)
    total = n_pairs + unseen * m[worst_unit]
    p = (k + unseen * worst) / total
    excess = worst - p * m[worst_unit]
    of_units = _powers(steps, who, m, weight, p, 2) + unseen * weight[worst_unit] * excess**2
    fourth = _powers(steps, who, m, weight**2, p, 4) + unseen * weight[worst_unit] ** 2 * excess**4
    sizes = np.bincount(units.cells[~units.inside]).astype(np.float64)
    between = np.flatnonzero(units.cells[errors] >= 0)
    of_cells = _powers(between, units.cells[errors][between], sizes, np.ones(len(sizes)), p, 2)
    variance = np.maximum(of_units - of_cells, of_cells) / total**2
    return p, variance, degrees_of_freedom(n + unseen, of_units, fourth)


def _incidences(units: Units, errors: Ints) -> tuple[Ints, Ints]:
    """Each error once for each of its units: the number of the error, rising, and the unit."""
    both = np.column_stack([units.first[errors], units.second[errors]])
    step, side = np.nonzero(both < units.n_units)
    return step, both[step, side]


def _powers(steps: Ints, who: Ints, m: Floats, weight: Floats, p: Floats, power: int) -> Floats:
    """Σ_u weight_u (c_u − p·m_u)^power after each step, c_u = entries equal to u up to then (binomial theorem)."""
    earlier, total = earlier_equals(who), (-p) ** power * float(weight @ m**power)
    for j in range(1, power + 1):
        grown = weight[who] * m[who] ** (power - j) * ((earlier + 1.0) ** j - earlier.astype(np.float64) ** j)
        total += comb(power, j) * (-p) ** (power - j) * np.cumsum(np.bincount(steps, grown, len(p)))
    return np.maximum(total, 0.0)


def _worst(steps: Ints, who: Ints, k: Ints) -> tuple[Ints, Ints]:
    """After each of the steps 1, …, k: the most errors of a unit, and the first unit that has them."""
    counts = earlier_equals(who) + 1
    most = np.maximum.accumulate(counts)
    raised = np.flatnonzero(np.diff(most, prepend=0))
    last = np.searchsorted(steps, k) - 1
    return most[last], who[raised[np.searchsorted(raised, last, side="right") - 1]]


def _korn_graubard(p: Floats, variance: Floats, degrees: Floats, most: int, confidence: float) -> Floats:
    """Clopper and Pearson's one-sided limit for as many pairs, at `most`, as have this variance when independent."""
    varies = (variance > 0) & (p < 1)
    number = np.where(varies, p * (1 - p), 1.0) / np.where(varies, variance, 1.0)
    number *= (ndtri(confidence) / stdtrit(degrees, confidence)) ** 2
    number = np.minimum(number, most)
    return np.where(varies, betaincinv(number * p + 1, np.maximum(number * (1 - p), 1e-9), confidence), 1.0)


def _threshold(curve: DetCurve, point: int, rule: str) -> Threshold:
    """At a point of the curve; its end, which rejects all, is put next to the largest value."""
    value = curve.thresholds[point]
    value = value if np.isfinite(value) else np.nextafter(curve.thresholds[-2], np.inf)
    return Threshold(float(value), rule, float(curve.fmr[point]), float(curve.fnmr[point]))


def _rounded_up(rate: float) -> float:
    """Three digits, upwards: what a message advises must be reachable.

    >>> _rounded_up(0.0032741)
    0.00328
    """
    step = 10.0 ** (np.floor(np.log10(rate)) - 2)
    return float(f"{np.ceil(rate / step) * step:.3g}")


def _unreachable(fmr: float, limits: FmrLimits, scores: Scores) -> str:
    lowest = _rounded_up(min(limits.none, float(limits.high[0])))
    n_negatives = len(scores.without_reflexive().negatives)
    return (
        f"FMR {fmr:g} with {100 * limits.confidence:g} % confidence is not reachable with {n_negatives:,} negative "
        f"pairs of {counted(limits.n_units, limits.unit)}; the lowest FMR that can be promised is {lowest:.3g}: "
        "ask for that, or give more identities"
    )
