"""Warm starts: carry the coefficients of one fit over to another set of pairs."""

from __future__ import annotations

import numpy as np

from pairlearn.examples import count_examples, match_examples
from pairlearn.functions.function import PairFunction
from pairlearn.pairs import Pairs
from pairlearn.solvers.problem import Problem
from pairlearn.solvers.start import feasible
from pairlearn.types import Bools, Floats, Ints

WITHIN = 0.999
"""Share of its box that a coefficient takes which was free, and would now be beyond."""


def carry_over(function: PairFunction, bounded: Bools, pairs: Pairs, problem: Problem) -> Floats:
    """A feasible start θ, (n,), for `problem`: old coefficients where the same pair occurs again, zero elsewhere.

    Examples are matched by content, pairs in either order when the kernel is symmetric; only a pair whose box has
    room for its sign takes a coefficient. One that was at its old bound (`bounded`) starts at the new one: most of
    them stay there when C changes. One that was not starts within the new one, so that solvers look at it first.
    """
    theta = np.zeros(len(problem))
    if function.anchor is None:
        return feasible(theta, problem)
    match = match_examples(function.anchor, pairs.examples)
    match_right = match if function.right_anchor is None else match_examples(function.right_anchor, pairs.right_table)
    left, right = match[function.left], match_right[function.right]
    known = (left >= 0) & (right >= 0)
    m = max(pairs.n_examples, count_examples(pairs.right_table))
    old = _keys(left, right, m, ordered=function.sign != 1)
    new = _keys(pairs.left.astype(np.int64), pairs.right.astype(np.int64), m, ordered=function.sign != 1)
    values = np.where(bounded, np.sign(function.coefficients) * np.inf, function.coefficients)
    for has_room, given in ((problem.upper > 0, values > 0), (problem.lower < 0, values < 0)):
        places, chosen = np.nonzero(has_room)[0], np.nonzero(known & given)[0]
        target, found = _match_keys(old[chosen], new[places])
        theta[places[target]] = values[chosen[found]]
    nearest = np.clip(theta, problem.lower, problem.upper)
    return feasible(np.where(np.isfinite(theta) & (theta != nearest), WITHIN * nearest, nearest), problem)


# Pairs are matched by one number each, low · m + high for m examples: sorting numbers finds millions of them at once.


def _keys(left: Ints, right: Ints, m: int, *, ordered: bool) -> Ints:
    low, high = (left, right) if ordered else (np.minimum(left, right), np.maximum(left, right))
    return low.astype(np.int64) * m + high


def _match_keys(old: Ints, new: Ints) -> tuple[Ints, Ints]:
    """(place in `new`, place in `old`) of keys in both; one that occurs k times is matched up to k times.

    Repeated pairs share a coefficient in any way they like, so the first of the old goes to the first of the new, the
    second to the second: `before` counts how many equal keys stand before each old one.
    """
    order, rank = np.argsort(new, kind="stable"), np.argsort(old, kind="stable")
    before = np.arange(len(old)) - np.searchsorted(old[rank], old[rank])
    place = np.searchsorted(new[order], old[rank]) + before
    found = place < len(new)
    found[found] = new[order[place[found]]] == old[rank[found]]
    return order[place[found]], rank[found]
