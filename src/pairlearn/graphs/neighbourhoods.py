"""Features of an arc's surroundings: what the other arcs at either end look like on average.

The multiple-pairs features of an arc (a, b) are (mean of X_na over n ≠ b, X_ab, mean of X_bn over n ≠ a) with
X_an = (x_a, z_an, w_an, x_n). The outer means belong to one end each, so they are features of that end: the arcs become
ordinary `Pairs` of richer examples, and every pair kernel and machine works on them. A table of one row per (node,
neighbour left out) keeps that cheap: a mean without b is the sum over all neighbours minus one summand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pairlearn.pairs import Columns
from pairlearn.types import Floats, Ints

if TYPE_CHECKING:
    from pairlearn.graphs.graph import Graph


def neighbourhoods_of(graph: Graph, columns: Columns) -> tuple[Floats, Ints, Ints]:
    """Examples (x_a, mean of X_an over the neighbours n ≠ b of a), each once, and both index columns of the pairs."""
    a, b = columns
    joined = graph.find(columns)[0] >= 0
    # One row of the table for every node and neighbour left out; n_nodes stands for nobody.
    base = graph.n_nodes + 1
    keys = [node * base + np.where(joined, other, graph.n_nodes) for node, other in ((a, b), (b, a))]
    rows, places = np.unique(np.concatenate(keys), return_inverse=True)
    left, right = np.split(places, 2)
    return _examples(graph, *np.divmod(rows, base)), left, right


def _examples(graph: Graph, node: Ints, left_out: Ints) -> Floats:
    """(x_a, mean of X_an over the neighbours n of a but the one left out), a row for each given node."""
    out = left_out < graph.n_nodes
    count = (graph.degrees[node] - out)[:, None]
    mean = graph.neighbour_sums[node]
    mean[out] -= _beside(graph, (node[out], left_out[out]))
    mean /= np.maximum(count, 1)
    own = count.astype(np.float64) if graph.nodes is None else graph.nodes[node]
    return np.hstack([own, own * (count > 0), mean])


def sums_over_neighbours(graph: Graph) -> Floats:
    """Σ_n (z_an, w_an, x_n) over all neighbours n of every node a, (n_nodes, q)."""
    a, n = np.concatenate([graph.left, graph.right]), np.concatenate([graph.right, graph.left])
    incidence = sparse.csr_array((np.ones(len(a)), (a, np.arange(len(a)))), shape=(graph.n_nodes, len(a)))
    return np.asarray(incidence @ _beside(graph, (a, n)))


def _beside(graph: Graph, arcs: Columns) -> Floats:
    """(z_an, w_an, x_n) of these arcs (a, n)."""
    number, direction = graph.find(arcs)
    z = [] if graph.invariant is None else [graph.invariant[number]]
    w = [] if graph.signed is None else [direction[:, None] * graph.signed[number]]
    return np.hstack([*z, *w, graph.features[arcs[1]]])
