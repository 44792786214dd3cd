"""How pure the top of a list of links is: the area under the precision-recall curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.evaluation.measures import Measure
from pairlearn.evaluation.rates import with_both_labels
from pairlearn.evaluation.resampling.units import Units
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Floats, Ints


@dataclass(frozen=True)
class AUPR(Measure):
    """Average precision: mean over positive pairs i of #{positive, s ≥ s_i} / #{s ≥ s_i}; a coin has their share.

    For links, of which few exist among many pairs: an area under the ROC curve hardly sees the top of the list.

    >>> AUPR().value(Scores([0.9, 0.8, 0.7, 0.1], [1, -1, 1, -1]))
    0.8333333333333333
    """

    key, name, larger_is_better = "aupr", "AUPR", True

    def value(self, scores: Scores) -> float:
        """The mean precision at the value of a positive pair."""
        ranked = _Ranked.of(with_both_labels(scores, reflexive=False))
        return float(ranked.precision[ranked.positive].mean())

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        """Its own precision, and what it adds to that of all positives at its value or below.

        With N_i = #{s ≥ s_i}, P positives: positive k: (p_k − AP)/P + Σ_{i positive, s_i ≤ s_k} (1 − p_i)/(P·N_i);
        negative k: −Σ_{i positive, s_i ≤ s_k} p_i/(P·N_i).
        """
        ranked = _Ranked.of(scores)
        positive, precision = ranked.positive, ranked.precision
        gains = ranked.sum_below(np.where(positive, (1.0 - precision) / ranked.above, 0.0))
        losses = ranked.sum_below(np.where(positive, precision / ranked.above, 0.0))
        own = precision - precision[positive].mean()
        return np.asarray(np.where(positive, own + gains, -losses) / positive.sum())


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Pairs with how many lie at their value or above, all (`above`) and positive ones; `last` in falling order."""

    order: Ints
    last: Ints
    positive: np.ndarray[tuple[int], np.dtype[np.bool_]]
    above: Floats
    precision: Floats

    @classmethod
    def of(cls, scores: Scores) -> _Ranked:
        order, positive = np.argsort(-scores.values, kind="stable"), scores.labels > 0
        falling = scores.values[order]
        # The last place of each run of equal values, for every pair in the given order.
        ends = np.searchsorted(-falling, -scores.values, side="right") - 1
        above = ends + 1.0
        return cls(order, ends, positive, above, np.cumsum(positive[order])[ends] / above)

    def sum_below(self, column: Floats) -> Floats:
        """Σ of a column over all pairs at or below the value of each pair, (n,)."""
        totals = np.cumsum(column[self.order])
        first = np.searchsorted(self.last[self.order], self.last, side="left")
        return np.asarray(totals[-1] - np.append(0.0, totals)[first])
