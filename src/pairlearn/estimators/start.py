"""Warm starts: carry the coefficients of one fit over to another set of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.examples import count_examples
from pairlearn.kernels.similarity import Columns
from pairlearn.operators.function import PairFunction
from pairlearn.pairs import Pairs
from pairlearn.solvers.problem import Problem
from pairlearn.types import Examples, Floats, Ints


def carry_over(function: PairFunction, boxes: Floats, pairs: Pairs, problem: Problem) -> Floats:
    """A feasible start for `problem`: old coefficients where the same pair occurs again, zero elsewhere.

    Examples are matched by content, pairs in either order when the kernel is symmetric. A coefficient that was at its
    old bound (`boxes`) starts at the new one: most of them stay there when C changes.
    """
    theta = np.zeros(len(problem))
    match = _match_examples(function.anchor, pairs.examples)
    left, right = match[function.left], match[function.right]
    known = (left >= 0) & (right >= 0)
    m = pairs.n_examples
    old = _keys(left, right, m, ordered=function.sign == 0)
    new = _keys(pairs.left.astype(np.int64), pairs.right.astype(np.int64), m, ordered=function.sign == 0)
    order = np.argsort(new, kind="stable")
    place = np.searchsorted(new, old, sorter=order)
    place[place == len(new)] = 0
    found = known & (new[order[place]] == old)
    target = order[place[found]]
    # A repeated pair passes its coefficient on once; labels that changed sign are cut off by the new bounds.
    bounded = np.abs(function.coefficients) >= boxes * (1.0 - 1e-12)
    theta[target] = np.where(bounded, np.sign(function.coefficients) * np.inf, function.coefficients)[found]
    return feasible(theta, problem)


def feasible(theta: Floats, problem: Problem) -> Floats:
    """Clip into the box; with a total, take the excess away from as few coefficients as possible, free ones first."""
    theta = np.clip(theta, problem.lower, problem.upper)
    if problem.total is None:
        return theta
    excess = float(theta.sum()) - problem.total
    side = np.nonzero(theta > 0 if excess > 0 else theta < 0)[0]
    inside = (theta[side] > problem.lower[side]) & (theta[side] < problem.upper[side])
    side = side[np.argsort(~inside, kind="stable")]
    amounts = np.abs(theta[side])
    if float(amounts.sum()) < abs(excess):
        return np.zeros(len(theta))
    # Rounding errors are no excess: they would only take coefficients off their bounds.
    if abs(excess) > 1e-12 * float(amounts.sum()):
        last = int(np.searchsorted(np.cumsum(amounts), abs(excess)))
        rest = abs(excess) - float(amounts[:last].sum())
        theta[side[:last]] = 0.0
        theta[side[last]] -= np.sign(excess) * rest
    return theta


def _keys(left: Ints, right: Ints, m: int, *, ordered: bool) -> Ints:
    low, high = (left, right) if ordered else (np.minimum(left, right), np.maximum(left, right))
    return low.astype(np.int64) * m + high


def _match_examples(anchor: Any, examples: Examples) -> Ints:
    """Row of each support example among the new examples, −1 where it is gone."""
    if isinstance(anchor, Columns):
        return np.where(anchor.index < count_examples(examples), anchor.index, -1).astype(np.int64)
    where: dict[Any, int] = {}
    for row, key in enumerate(_contents(examples)):
        where.setdefault(key, row)
    return np.array([where.get(key, -1) for key in _contents(anchor)], dtype=np.int64)


def _contents(examples: Examples) -> list[Any]:
    if isinstance(examples, np.ndarray):
        return [row.tobytes() for row in np.ascontiguousarray(examples)]
    if sparse.issparse(examples):
        rows = sparse.csr_array(examples)
        return [
            (rows.indices[a:b].tobytes(), rows.data[a:b].tobytes())
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    try:
        return [example for example in examples if hash(example) is not None]
    except TypeError:
        return [id(example) for example in examples]
