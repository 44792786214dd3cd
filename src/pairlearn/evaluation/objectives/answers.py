"""Who comes first, and how much: answers are judged by what each of them is worth, one number per pair.

A judgement is a figure (a mean, or a root of one) and the worth of every answer. What is no mean has worths too: with
the influence ψ_i of pair i on a number M, M + n·ψ_i have the mean M and its spread, so that areas and rates of links
are judged in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.figures import Figure
from pairlearn.evaluation.measures import PERCENT, Measure
from pairlearn.evaluation.objectives.precision import AUPR
from pairlearn.evaluation.regression import concordance_worth
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Bools, Floats

Further = Callable[[Any, Any], float]
WIDEST = 12.0
"""Largest |log slope| that is looked for: beyond it every answer is a coin, or sure."""


def every(truth: Any) -> Bools:
    """All pairs count."""
    return np.ones(len(truth), dtype=bool)


def decided(truth: Any) -> Bools:
    """Ties, which no order can get right, do not count."""
    return np.asarray(np.asarray(truth) != 0)


def accept(truth: Any) -> None:
    """Any labels can be judged."""


@dataclass(frozen=True)
class Judgement:
    """How answers are judged: the figure that decides, what each answer is worth, and further figures by name.

    counts: which pairs are judged at all, by their labels. odds: whether answers are taken as log odds, so that their
    unit matters and has to be learnt (`slope_of`) from other pairs than those that are judged. check: refuses labels
    by which nothing can be judged.
    """

    figure: Figure
    worth: Callable[[Any, Any], Floats]
    further: Mapping[str, Further] = field(default_factory=dict)
    counts: Callable[[Any], Bools] = every
    odds: bool = False
    check: Callable[[Any], None] = accept

    def value(self, answers: Floats, truth: Any) -> float:
        """The figure of the answers whose pairs count."""
        rows = np.flatnonzero(self.counts(truth))
        return self.figure.value(self.worth(answers[rows], np.asarray(truth)[rows]))

    def score(self, value: float) -> float:
        """The same with the sign that makes larger better."""
        return value if self.figure.larger_is_better else -value


# --------------------------------------------------------------------------- who comes first?


def order_right(advantages: Floats, truth: Any) -> Floats:
    """1 where the order is right, ½ where the advantage is 0, else 0; truth ±1, (n,)."""
    return np.asarray((1.0 + np.sign(advantages * truth)) / 2.0)


def log_losses(odds: Floats, truth: Any) -> Floats:
    """−log P(what happened) = log(1 + e^(−y·g)) with g the log odds that left comes first; truth ±1, (n,).

    >>> log_losses(np.array([0.0, 2.0]), np.array([1, 1])).round(4).tolist()
    [0.6931, 0.1269]
    """
    return np.logaddexp(0.0, -np.asarray(truth) * odds)


def slope_of(answers: Floats, truth: Any) -> float:
    """The a > 0 with the least Σ log(1 + e^(−a·y·g)): in this unit answers are log odds; truth ±1, 0 does not count.

    One tied pair with the mean |g| is added, so that answers which are all right are sure, but not beyond all bounds.

    >>> round(slope_of(np.array([1.0, 1.0, 1.0, 1.0]), np.array([1, 1, 1, -1])), 4)  # log of 3.5 to 1.5
    0.8473
    """
    from scipy.optimize import minimize_scalar  # loaded where it is needed: commands start sooner

    rows = np.flatnonzero(decided(truth))
    won = (np.asarray(truth) * answers)[rows]
    unit = float(np.abs(won).mean()) if len(won) else 0.0
    if unit == 0.0:
        return 1.0
    shown = won / unit

    def loss(log_slope: float) -> float:
        slope = np.exp(log_slope)
        tie = 0.5 * (np.logaddexp(0.0, -slope) + np.logaddexp(0.0, slope))
        return float(np.logaddexp(0.0, -slope * shown).sum() + tie)

    found = minimize_scalar(
        loss,
        bounds=(-WIDEST, WIDEST),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(np.exp(found.x) / unit)


ACCURACY = Figure("accuracy", "accuracy", PERCENT, larger_is_better=True, bounds=(0.0, 1.0))
ORDER: dict[str, Judgement] = {
    "accuracy": Judgement(ACCURACY, order_right, counts=decided),
    "log_loss": Judgement(Figure("log_loss", "log loss"), log_losses, counts=decided, odds=True),
}
"""What an order may be judged by; the first unless asked otherwise."""

# --------------------------------------------------------------------------- how much?

NUMBERS: dict[str, Judgement] = {
    "rmse": Judgement(Figure("rmse", "RMSE", root=True), lambda values, truth: np.asarray((values - truth) ** 2)),
    "mae": Judgement(Figure("mae", "MAE"), lambda values, truth: np.abs(values - truth)),
    "concordance": Judgement(
        Figure("concordance", "concordance", larger_is_better=True, bounds=(0.0, 1.0)),
        lambda values, truth: concordance_worth(truth, values),
    ),
}
"""What numbers may be judged by; the first unless asked otherwise."""


def aupr_above(threshold: float) -> Judgement:
    """How well numbers find the pairs whose truth is above a threshold: strong bonds, say."""
    figure = replaced(AUPR(), f"aupr@{threshold:g}", f"AUPR above {threshold:g}")
    return Judgement(figure, partial(_worth_above, threshold), check=partial(_check_above, threshold))


def _check_above(threshold: float, truth: Any) -> None:
    """Labels on both sides of the threshold.

    >>> _check_above(7.0, [5.0, 6.5])
    Traceback (most recent call last):
    pairlearn.errors.InputError: no label is above 7; the largest is 6.5: choose a threshold below it
    """
    low, high = float(np.min(truth)), float(np.max(truth))
    if not high > threshold:
        raise InputError(f"no label is above {threshold:g}; the largest is {high:g}: choose a threshold below it")
    if low > threshold:
        raise InputError(f"every label is above {threshold:g}; the smallest is {low:g}: choose a threshold from it on")


def _worth_above(threshold: float, values: Floats, truth: Any) -> Floats:
    return link_worth(AUPR(), values, np.where(np.asarray(truth) > threshold, 1, -1))


# --------------------------------------------------------------------------- do they belong together?


def of_measure(measure: Measure) -> Judgement:
    """A measure of scores as a judgement of links, labels ±1."""
    return Judgement(replaced(measure, measure.key, measure.name), partial(link_worth, measure))


def replaced(measure: Measure, key: str, name: str) -> Figure:
    """The figure that a measure is, under this name."""
    return Figure(key, name, measure.unit, measure.larger_is_better, bounds=measure.bounds)


def link_worth(measure: Measure, values: Floats, truth: Any) -> Floats:
    """M + n·ψ, (n,): the mean is the measure; without influences all are equal, so that nothing is known of limits."""
    scores = Scores(values, truth)
    influence = measure.influence(scores)
    return np.full(len(values), measure.value(scores)) + (0.0 if influence is None else len(values) * influence)
