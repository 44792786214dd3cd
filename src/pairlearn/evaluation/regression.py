"""How well predicted numbers order the true ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite


def concordance_index(truth: Any, predictions: Any) -> float:
    """Share of couples with different truth that the predictions order the same way; equal predictions count half.

    C = (#{y_i < y_j, p_i < p_j} + ½·#{y_i < y_j, p_i = p_j}) / #{y_i < y_j}; truth and predictions (n,). ½ is what
    guessing gives, 1 the right order; for truth ±1 it is the area under the ROC curve. Groups of equal truth are taken
    in rising order and looked up among the sorted predictions below, so that no couple is counted by itself.

    >>> concordance_index([1.0, 2.0, 3.0], [0.1, 0.3, 0.2])
    0.6666666666666666
    """
    y, p = np.asarray(truth, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
    if y.ndim != 1 or y.shape != p.shape:
        raise InputError(f"truth and predictions must be two columns of equal length, got {y.shape} and {p.shape}")
    refuse_nonfinite(y, "truth")
    refuse_nonfinite(p, "predictions")
    order = np.argsort(y, kind="stable")
    starts = np.nonzero(np.diff(y[order], prepend=-np.inf))[0]
    if len(starts) < 2:
        raise InputError("all true values are equal, so there is no order to find; give at least two different ones")
    right, couples = 0.0, 0
    below = np.zeros(0)
    for group in np.split(p[order], starts[1:]):
        less, up_to = np.searchsorted(below, group, "left"), np.searchsorted(below, group, "right")
        right += 0.5 * float((less + up_to).sum())
        couples += len(group) * len(below)
        below = np.insert(below, np.searchsorted(below, np.sort(group)), np.sort(group))
    return right / couples
