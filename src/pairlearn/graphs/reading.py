"""What a graph is made from: adjacency matrices, features of nodes and arcs, attributes of NetworkX graphs; checked.

Everything is brought to one form here, so that `Graph` need not ask again: a symmetric 0/1 matrix without diagonal and
with sorted columns, blocks of float64 (n, q), ids that are plain Python values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import as_float, refuse_nonfinite
from pairlearn.types import Floats, Ints
from pairlearn.words import counted

Names = str | Sequence[str] | None
"""One or more attributes of a NetworkX graph, or none."""


def is_networkx(graph: Any) -> bool:
    """Whether this is a NetworkX graph; who has one has loaded NetworkX already, so it need not be imported here."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(graph, networkx.Graph)


def structure_of(adjacency: Any) -> sparse.csr_array:
    """Symmetric 0/1 matrix of who is joined with whom, (n_nodes, n_nodes), from any square matrix.

    An entry in either direction joins two nodes; duplicates of a sparse matrix are added first, for they may cancel.
    """
    arcs = sparse.coo_array(_square(adjacency))
    arcs.sum_duplicates()
    refuse_nonfinite(arcs.data, "adjacency")
    row, col = arcs.row[arcs.data != 0], arcs.col[arcs.data != 0]
    _refuse_loops(row[row == col])
    both = arc_counts(np.concatenate([row, col]), np.concatenate([col, row]), arcs.shape[0])
    both.data[:] = 1.0
    return both


def _square(adjacency: Any) -> Any:
    """A square matrix, dense or sparse, or an error that says what to do."""
    if is_networkx(adjacency):
        raise InputError("this is a NetworkX graph; use pl.graphs.Graph.from_networkx(g)")
    matrix = adjacency if sparse.issparse(adjacency) else as_float(np.asarray(adjacency), "adjacency")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InputError(f"an adjacency matrix has one row and one column per node, got shape {matrix.shape}")
    return matrix


def _refuse_loops(nodes: Ints) -> None:
    """Nodes joined with themselves: an arc is a pair of two, and swapping such a one would change nothing."""
    if len(nodes):
        many = f"{len(nodes)} nodes are joined with themselves, the first is number {nodes[0]}"
        raise InputError(
            f"{f'node number {nodes[0]} is joined with itself' if len(nodes) == 1 else many}; an arc joins "
            "two different nodes: set the diagonal to 0, or g.remove_edges_from(networkx.selfloop_edges(g))"
        )


def arc_counts(left: Ints, right: Ints, n_nodes: int) -> sparse.csr_array:
    """Number of times that each arc occurs, with sorted columns."""
    matrix = sparse.csr_array((np.ones(len(left)), (left, right)), shape=(n_nodes, n_nodes))
    matrix.sort_indices()
    return matrix


def as_block(values: Any, name: str, n: int, what: str) -> Floats | None:
    """Features as an (n, q) array, or an error that says what to do."""
    if values is None:
        return None
    if sparse.issparse(values):
        raise InputError(f"{name} is sparse, but means over neighbours are not; pass {name}.toarray()")
    block = as_float(np.asarray(values), name)
    block = block[:, None] if block.ndim == 1 else block
    if block.ndim != 2 or len(block) != n:
        raise InputError(f"{name} needs one row per {what}, {n} in all, got shape {block.shape}")
    refuse_nonfinite(block, name)
    return block


def as_ids(ids: Any, n_nodes: int) -> tuple[Any, ...]:
    """One name per node, as plain Python values where they are NumPy numbers."""
    if ids is None:
        return tuple(range(n_nodes))
    names = tuple(key.item() if isinstance(key, np.generic) else key for key in ids)
    if len(names) != n_nodes or len(set(names)) != n_nodes:
        raise InputError(
            f"{counted(len(set(names)), 'different id')} for {counted(n_nodes, 'node')}; give every node one of its own"
        )
    return names


def merged_arcs(block: Floats | None, chosen: Ints, group: Ints, name: str) -> Floats | None:
    """Features of every arc once, for left < right; `chosen` is one place of each arc, `group` the arc of each place.

    Several mentions of an arc must agree: a mean, or the last one, would hide a mistake in the data.
    """
    if block is None:
        return None
    if (block != block[chosen][group]).any():
        law = "opposite" if name == "signed" else "the same"
        raise InputError(
            f"an arc occurs twice with `{name}` features that do not agree (both directions must have {law} ones); "
            "give every arc once"
        )
    return block[chosen]


def attributes_of(rows: Iterable[tuple[Any, Mapping[str, Any]]], names: Names, what: str) -> Floats | None:
    """Attributes of nodes or edges side by side, (n, q)."""
    if names is None:
        return None
    wanted = [names] if isinstance(names, str) else list(names)
    table = []
    for key, attributes in rows:
        lacking = [name for name in wanted if name not in attributes]
        if lacking:
            raise InputError(f"{what} {key!r} has no attribute {lacking[0]!r}; set it, or name another")
        table.append(np.concatenate([np.ravel(attributes[name]) for name in wanted]))
    if len({len(row) for row in table}) > 1:
        raise InputError(f"{what} attributes {wanted} differ in length; give every {what} as many numbers")
    return as_float(np.array(table), f"{what} attributes {wanted}")
