"""What a distilled model costs and what it saves, on pairs that are given."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation import EER
from pairlearn.evaluation.intervals import Interval, difference_interval
from pairlearn.evaluation.scores import Scores
from pairlearn.linalg.held import held_bytes
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.types import Floats
from pairlearn.words import counted, sized

TIMED = 20_000
"""Pairs that are timed, at most."""
ROUNDING = 1e-6
"""Differences of scores, in standard deviations of scores, that are nothing but float32."""
PER = 100_000
"""Pairs that seconds are told for."""


@dataclass(frozen=True)
class Loss:
    """Before and after: bytes of arrays, seconds per 100,000 pairs; scores after minus before on so many pairs.

    `rms` and `largest` are differences of scores, `spread` is the standard deviation of the scores before. `eer` is the
    difference of equal error rates with limits over identities (None without labels), `changed` the share of pairs that
    are decided otherwise (None for models that do not decide).
    """

    bytes: tuple[int, int]
    seconds: tuple[float, float]
    n_pairs: int
    rms: float
    largest: float
    spread: float
    eer: Interval | None = None
    changed: float | None = None

    def __str__(self) -> str:
        (before, after), (slow, quick) = self.bytes, self.seconds
        lines = [
            f"size {sized(before)} → {sized(after)}, {slow:.3g} → {quick:.3g} s per {PER:,} pairs",
            f"scores differ by {self.rms:.3g} (root mean square), {self.largest:.3g} at most, where they vary by "
            f"{self.spread:.3g}; on {counted(self.n_pairs, 'pair')}",
        ]
        if self.eer is not None:
            shown = [f"{100.0 * value:+.2f}" for value in (self.eer.estimate, self.eer.low, self.eer.high)]
            lines.append(f"EER {shown[0]} points [{shown[1]}, {shown[2]}]")
        if self.changed is not None:
            lines.append(f"{100.0 * self.changed:.2f} % of the decisions change")
        return "; ".join(lines)


def loss_between(model: Any, small: Any, X: Any, y: Any = None, *, classes: Any = None) -> Loss:
    """What `small` loses and saves against `model` on these pairs.

    y: labels ±1 of the pairs; or classes, one per example, which also name the identities of the limits.

    >>> import pairlearn as pl
    >>> pairs = pl.all_pairs(np.random.default_rng(0).normal(size=(9, 2)), reflexive=False)
    >>> loss_between(pl.EuclidBaseline(), pl.EuclidBaseline(), pairs).largest
    0.0
    """
    pairs = as_pairs(X)
    if len(pairs) == 0:
        raise InputError("there are no pairs to compare the two models on; give at least one")
    before, after = _scores(model, pairs), _scores(small, pairs)
    gaps = after - before
    return Loss(
        bytes=(held_bytes(model), held_bytes(small)),
        seconds=(_seconds(model, pairs), _seconds(small, pairs)),
        n_pairs=len(pairs),
        rms=float(np.sqrt(np.mean(gaps**2))),
        largest=float(np.abs(gaps).max()),
        spread=float(before.std()),
        eer=_eer(before, after, pairs, y, classes),
        changed=_changed(model, small, pairs),
    )


def _scores(model: Any, pairs: Pairs) -> Floats:
    return np.asarray(model.decision_function(pairs), dtype=np.float64)


def _seconds(model: Any, pairs: Pairs) -> float:
    """Per 100,000 pairs, the quicker of two runs."""
    some = pairs if len(pairs) <= TIMED else pairs[np.linspace(0, len(pairs) - 1, TIMED).astype(np.int64)]
    found = []
    for _ in range(2):
        began = time.perf_counter()
        model.decision_function(some)
        found.append(time.perf_counter() - began)
    return min(found) * PER / len(some)


def _eer(before: Floats, after: Floats, pairs: Pairs, y: Any, classes: Any) -> Interval | None:
    if y is None and classes is None:
        return None
    labels = pairs.labels(classes) if y is None else y
    left, right = pairs.columns
    who = (None, None) if classes is None else (np.asarray(classes)[left], np.asarray(classes)[right])
    if np.abs(after - before).max() <= ROUNDING * before.std():
        after = before  # what only rounding changes is the same
    was, now = (Scores(values, labels, left, right, *who) for values in (before, after))
    try:
        unit = "identity" if classes is not None else "example"
        return difference_interval(now, was, EER(), method="jackknife", unit=unit)
    except InputError:  # too few identities, or too few pairs of each: no limits, which is no reason for no model
        return None


def _changed(model: Any, small: Any, pairs: Pairs) -> float | None:
    """Of models that say ±1."""
    if not hasattr(model, "classes_"):
        return None
    try:
        return float(np.mean(model.predict(pairs) != small.predict(pairs)))
    except InputError:  # a distance without a threshold decides nothing
        return None
