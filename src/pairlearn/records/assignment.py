"""From probabilities of pairs to matches and clusters: one to one, one to many, or groups of the same."""

from __future__ import annotations

import heapq

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from pairlearn.types import Bools, Floats, Ints

LARGEST = 4_000_000
"""Cells of the matrix of one component that is solved exactly; larger ones are taken greedily."""


def one_to_one(left: Ints, right: Ints, weights: Floats) -> Bools:
    """The pairs with the largest sum of weights > 0, each record in at most one of them.

    Exact within each group of records that pairs join; groups above `LARGEST` cells best pair first.

    >>> one_to_one(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.0])).tolist()
    [False, True, True]
    """
    from scipy.optimize import linear_sum_assignment

    chosen = np.zeros(len(left), dtype=bool)
    worth = np.flatnonzero(weights > 0)
    for places in _components(left[worth], right[worth], worth):
        (rows, i), (columns, j) = (np.unique(side[places], return_inverse=True) for side in (left, right))
        if len(rows) * len(columns) > LARGEST:
            chosen[_greedy(left, right, weights, places)] = True
            continue
        table, which = np.zeros((len(rows), len(columns))), np.full((len(rows), len(columns)), -1)
        table[i, j], which[i, j] = weights[places], places
        best = which[linear_sum_assignment(table, maximize=True)]
        chosen[best[best >= 0]] = True
    return chosen


def _components(left: Ints, right: Ints, places: Ints) -> list[Ints]:
    """Pairs that are joined by common records, group by group."""
    if not len(left):
        return []
    n = int(left.max()) + 1
    size = n + int(right.max()) + 1
    graph = sparse.csr_array((np.ones(len(left)), (left, right + n)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    order = np.argsort(labels[left], kind="stable")
    cuts = np.flatnonzero(np.diff(labels[left][order])) + 1
    return [places[part] for part in np.split(order, cuts)]


def _greedy(left: Ints, right: Ints, weights: Floats, places: Ints) -> list[int]:
    used: tuple[set[int], set[int]] = set(), set()
    taken = []
    for place in places[np.argsort(-weights[places], kind="stable")]:
        if left[place] not in used[0] and right[place] not in used[1]:
            used[0].add(left[place])
            used[1].add(right[place])
            taken.append(int(place))
    return taken


def clusters(left: Ints, right: Ints, weights: Floats, n: int) -> Ints:
    """A cluster for each of n records, by joining the two clusters with the largest sum of weights while it is > 0.

    Weights are log-odds of "same" less those of the threshold; pairs that nobody looked at count 0. The promise: every
    cluster grew by evidence that spoke for it in sum, and no two clusters are left whose pairs speak for joining them.
    So a chain a–b–c does not hold together if a and c speak against it more. (Greedy additive edge contraction.)

    >>> clusters(np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([2.0, 1.0, -3.0]), 4).tolist()
    [0, 0, 1, 2]
    """
    around: list[dict[int, float]] = [{} for _ in range(n)]
    for a, b, weight in zip(left.tolist(), right.tolist(), weights.tolist(), strict=True):
        if a != b:
            around[a][b] = around[b][a] = around[a].get(b, 0.0) + weight
    heap = [(-w, a, b) for a in range(n) for b, w in around[a].items() if a < b and w > 0]
    heapq.heapify(heap)
    parent = np.arange(n)
    while heap:
        weight, a, b = heapq.heappop(heap)
        if around[a].get(b) != -weight:
            continue  # one of them was joined with others since
        _contract(a, b, around, heap)
        parent[b] = a
    for record in range(n):
        while parent[parent[record]] != parent[record]:
            parent[record] = parent[parent[record]]
    return np.unique(parent, return_inverse=True)[1]


def contradictions(left: Ints, right: Ints, labels: Ints, n: int) -> list[list[int]]:
    """Chains of records that labels join, though their ends are labelled different: no cluster can respect all of them.

    >>> contradictions(np.array([0, 1, 0, 2]), np.array([1, 2, 2, 3]), np.array([1, 1, -1, 1]), 4)
    [[0, 1, 2]]
    """
    same = labels > 0
    graph = sparse.csr_array((np.ones(int(same.sum())), (left[same], right[same])), shape=(n, n))
    _, joined = connected_components(graph, directed=False)
    broken = np.flatnonzero(~same & (left != right) & (joined[left] == joined[right]))
    found = []
    for place in broken:
        before = breadth_first_order(graph, int(left[place]), directed=False)[1]
        chain = [int(right[place])]
        while chain[-1] != left[place]:
            chain.append(int(before[chain[-1]]))
        found.append(chain[::-1])
    return found


def _contract(a: int, b: int, around: list[dict[int, float]], heap: list[tuple[float, int, int]]) -> None:
    """Join b to a: edges of both to a third add up."""
    del around[a][b], around[b][a]
    for c, weight in around[b].items():
        del around[c][b]
        total = around[a].get(c, 0.0) + weight
        around[a][c] = around[c][a] = total
        if total > 0:
            heapq.heappush(heap, (-total, min(a, c), max(a, c)))
    around[b] = {}
