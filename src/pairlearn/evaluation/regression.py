"""How well predicted numbers order the true ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite
from pairlearn.types import Floats, Ints


def concordance_index(truth: Any, predictions: Any) -> float:
    """Share of couples with different truth that the predictions order the same way; equal predictions count half.

    C = (#{y_i < y_j, p_i < p_j} + ½·#{y_i < y_j, p_i = p_j}) / #{y_i < y_j}; truth and predictions (n,). ½ is what
    guessing gives, 1 the right order; for truth ±1 it is the area under the ROC curve.

    >>> concordance_index([1.0, 2.0, 3.0], [0.1, 0.3, 0.2])
    0.6666666666666666
    """
    return float(np.mean(concordance_worth(truth, predictions)))


def concordance_worth(truth: Any, predictions: Any) -> Floats:
    """What each number is worth to the concordance index C, (n,): C + n·(r_i − C·c_i)/couples, with the mean C.

    c_i: couples of i with another truth, r_i: those of them in the right order. (r_i − C·c_i)/couples is the derivative
    of C by the weight of i, so that the spread of these numbers is that of C.

    >>> concordance_worth([1.0, 2.0, 3.0], [0.1, 0.3, 0.2]).round(3).tolist()
    [1.333, 0.333, 0.333]
    """
    y, p = _columns(truth, predictions)
    (y_rank, p_rank), n = (np.unique(column, return_inverse=True)[1] for column in (y, p)), len(y)
    if not y_rank.any():
        raise InputError("all true values are equal, so there is no order to find; give at least two different ones")
    below = _right_below(y_rank, p_rank)
    right = below + _right_below(y_rank.max() - y_rank, p_rank.max() - p_rank)
    different = n - np.bincount(y_rank)[y_rank]
    couples = 0.5 * different.sum()
    share = below.sum() / couples
    return np.asarray(share + n * (right - share * different) / couples)


def _columns(truth: Any, predictions: Any) -> tuple[Floats, Floats]:
    y, p = np.asarray(truth, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
    if y.ndim != 1 or y.shape != p.shape:
        raise InputError(f"truth and predictions must be two columns of equal length, got {y.shape} and {p.shape}")
    refuse_nonfinite(y, "truth")
    refuse_nonfinite(p, "predictions")
    return y, p


def _right_below(y: Ints, p: Ints) -> Floats:
    """#{j: y_j < y_i, p_j < p_i} + ½·#{j: y_j < y_i, p_j = p_i} of every i, (n,), for whole numbers ≥ 0.

    In rising order of y, blocks of 1, 2, 4, … are looked up among the sorted p of the block before: n·log²n steps.
    Within equal y p falls, so that of these only equal p come before, which are taken off again.
    """
    order, width = np.lexsort((-p, y)), int(p.max()) + 1
    places, values, found = np.arange(len(y)), p[order], np.zeros(len(y))
    size = 1
    while size < len(y):
        later, block = (places // size) % 2 == 1, places // (2 * size)
        keys = block * width + values
        known, asked = np.sort(keys[~later]), keys[later]
        before = np.searchsorted(known, block[later] * width)
        found[later] += 0.5 * sum(np.searchsorted(known, asked, side) - before for side in ("left", "right"))
        size *= 2
    runs = np.flatnonzero(np.diff(y[order] * width + values, prepend=-1))
    found -= 0.5 * (places - runs[np.searchsorted(runs, places, side="right") - 1])
    result = np.empty(len(y))
    result[order] = found
    return result
