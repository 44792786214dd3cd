"""A graph whose arcs are pairs of nodes, with features of nodes and of arcs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.graphs.neighbourhoods import neighbourhoods_of, sums_over_neighbours
from pairlearn.graphs.reading import (
    Names,
    arc_counts,
    as_block,
    as_ids,
    attributes_of,
    is_networkx,
    merged_arcs,
    structure_of,
)
from pairlearn.pair_kernels.finite import arc_keys, find_arcs, node_numbers
from pairlearn.pairs import Columns, Pairs, find_rows, rows_by_id
from pairlearn.types import Floats, Ints
from pairlearn.words import counted


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Graph:
    """An undirected graph whose arcs are pairs of nodes, with features of nodes and of arcs.

    Parameters
    ----------
    adjacency : square matrix, dense or sparse; a non-zero entry in either direction joins two nodes. Its values are
        not used: give weights as `invariant` features.
    nodes : features x of the nodes, (n_nodes, d); without them, `features` is the degree.
    ids : names of the nodes, 0, 1, … unless given; kernels on arcs know nodes by them.
    invariant : features z of the arcs that stay when an arc is reversed, (n_arcs, q).
    signed : features w of the arcs (left, right) that change sign when an arc is reversed, (n_arcs, q).

    Arc k joins the nodes `left[k]` < `right[k]`, row by row of the upper triangle.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> path = pl.graphs.Graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), nodes=[[1.0], [2.0], [4.0]])
    >>> path, path.left.tolist(), path.right.tolist()
    (Graph(3 nodes, 2 arcs), [0, 1], [1, 2])
    """

    adjacency: sparse.csr_array
    left: Ints
    right: Ints
    nodes: Floats | None
    ids: tuple[Any, ...]
    invariant: Floats | None
    signed: Floats | None

    def __init__(
        self, adjacency: Any, nodes: Any = None, ids: Any = None, invariant: Any = None, signed: Any = None
    ) -> None:
        structure = structure_of(adjacency)
        upper = sparse.triu(structure, k=1, format="coo")
        parts = {
            "adjacency": structure,
            "left": upper.row.astype(np.int64),
            "right": upper.col.astype(np.int64),
            "nodes": as_block(nodes, "nodes", structure.shape[0], "node"),
            "ids": as_ids(ids, structure.shape[0]),
            "invariant": as_block(invariant, "invariant", upper.nnz, "arc"),
            "signed": as_block(signed, "signed", upper.nnz, "arc"),
        }
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    # -- other ways to make a graph

    @classmethod
    def from_arcs(
        cls, left: Any, right: Any, nodes: Any = None, ids: Any = None, invariant: Any = None, signed: Any = None
    ) -> Graph:
        """A graph from two columns of node numbers, in any order and direction; `signed` is for (left, right).

        An arc may occur more than once, in either direction, if its features agree.

        >>> import pairlearn as pl
        >>> graph = pl.graphs.Graph.from_arcs([2, 0], [1, 1], signed=[[5.0], [3.0]])
        >>> graph.left.tolist(), graph.right.tolist(), graph.signed.tolist()
        ([0, 1], [1, 2], [[3.0], [-5.0]])
        """
        n = next((len(rows) for rows in (ids, nodes) if rows is not None), None)
        first, second = node_numbers(left, "left", n), node_numbers(right, "right", n)
        if len(first) != len(second):
            raise InputError(
                f"left has {counted(len(first), 'entry')} and right has {len(second)}; each arc needs one of both"
            )
        n = 1 + int(max(first.max(initial=-1), second.max(initial=-1))) if n is None else n
        _, chosen, group = np.unique(arc_keys((first, second), n), return_index=True, return_inverse=True)
        direction = np.where(first < second, 1.0, -1.0)[:, None]
        z, w = as_block(invariant, "invariant", len(first), "arc"), as_block(signed, "signed", len(first), "arc")
        blocks = {"invariant": z, "signed": None if w is None else direction * w}
        merged = {name: merged_arcs(block, chosen, group, name) for name, block in blocks.items()}
        return cls(arc_counts(first, second, n), nodes, ids, **merged)

    @classmethod
    def from_networkx(cls, graph: Any, nodes: Names = None, invariant: Names = None, signed: Names = None) -> Graph:
        """A graph from a NetworkX graph; its node labels become `ids`.

        `nodes` names node attributes, `invariant` and `signed` name edge attributes: numbers or lists of numbers.
        A signed attribute is read for the direction (u, v) in which NetworkX stores the edge, as `graph.edges` lists
        it; in a DiGraph that is its own direction.

        >>> import networkx as nx, pairlearn as pl
        >>> g = nx.Graph([("b", "a", {"margin": 2.0}), ("a", "c", {"margin": 1.0})])
        >>> graph = pl.graphs.Graph.from_networkx(g, signed="margin")
        >>> graph.ids, graph.signed.tolist()
        (('b', 'a', 'c'), [[2.0], [1.0]])
        """
        if not is_networkx(graph) or graph.is_multigraph():
            raise InputError(f"expected a networkx Graph or DiGraph, got {type(graph).__name__}; try networkx.Graph(g)")
        ids = list(graph.nodes)
        place = rows_by_id(ids)
        arcs = [((u, v), attributes) for u, v, attributes in graph.edges(data=True)]
        return cls.from_arcs(
            np.array([place[u] for (u, _), _ in arcs], dtype=np.int64),
            np.array([place[v] for (_, v), _ in arcs], dtype=np.int64),
            nodes=attributes_of(graph.nodes(data=True), nodes, "node"),
            ids=ids,
            invariant=attributes_of(arcs, invariant, "edge"),
            signed=attributes_of(arcs, signed, "edge"),
        )

    def subgraph(self, arcs: Any) -> Graph:
        """All nodes, but only the arcs where this mask is True, e.g. to hide test links.

        >>> import numpy as np, pairlearn as pl
        >>> pl.graphs.Graph(np.ones((3, 3)) - np.eye(3)).subgraph([True, False, True])
        Graph(3 nodes, 2 arcs)
        """
        kept = np.asarray(arcs)
        if kept.dtype != bool or kept.shape != self.left.shape:
            raise InputError(f"give a mask with one True or False per arc, {len(self.left)}, got {kept.shape}")
        blocks = {name: None if block is None else block[kept] for name, block in self._arc_blocks.items()}
        return Graph(arc_counts(self.left[kept], self.right[kept], self.n_nodes), self.nodes, self.ids, **blocks)

    def without_arc_features(self) -> Graph:
        """The same graph with features of nodes only."""
        return Graph(self.adjacency, self.nodes, self.ids)

    # -- shape

    @property
    def n_nodes(self) -> int:
        """Number of nodes m."""
        return len(self.ids)

    @property
    def degrees(self) -> Ints:
        """Number of neighbours of every node, (n_nodes,)."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    @property
    def features(self) -> Floats:
        """Features of every node: `nodes`, or the degree when there are none, (n_nodes, d)."""
        return self.degrees[:, None].astype(np.float64) if self.nodes is None else self.nodes

    def __repr__(self) -> str:
        return f"Graph({counted(self.n_nodes, 'node')}, {counted(len(self.left), 'arc')})"

    def numbers(self, labels: Iterable[Any]) -> Ints:
        """Node numbers of these ids.

        >>> import numpy as np, pairlearn as pl
        >>> pl.graphs.Graph(np.ones((2, 2)) - np.eye(2), ids=["u", "v"]).numbers(["v", "u", "v"]).tolist()
        [1, 0, 1]
        """
        rows, *_ = find_rows(
            rows_by_id(self.ids), labels, absent="{are} not among the nodes", advice="graph.ids has all"
        )
        return rows

    # -- pairs

    def pairs(self, left: Any = None, right: Any = None, *, invariant: Any = None, signed: Any = None) -> Pairs:
        """The arcs, or these candidate pairs of nodes, as pairs of node features; they carry the ids of the nodes.

        Features of arcs are looked up in either direction; pairs that are not arcs have none, so give `invariant` and
        `signed` for all pairs then. Without `nodes`, the degree of a node counts the arc itself.

        >>> import numpy as np, pairlearn as pl
        >>> graph = pl.graphs.Graph.from_arcs([0, 1], [1, 2], signed=[[1.0], [7.0]])
        >>> graph.pairs([2], [1]).signed.tolist()
        [[-7.0]]
        """
        columns = self._columns(left, right)
        return Pairs(self.features, *columns, ids=self.ids, **self._features_of(columns, invariant, signed))

    def neighbourhoods(
        self, left: Any = None, right: Any = None, *, invariant: Any = None, signed: Any = None
    ) -> Pairs:
        """The arcs, or these candidate pairs of nodes, as pairs of neighbourhoods.

        The example of a in (a, b) is (x_a, mean of X_an over the neighbours n ≠ b of a), X_an = (x_a, z_an, w_an, x_n);
        an empty mean is 0. So an arc never describes itself, and without `nodes` its degrees do not count it either.
        `pl.pair_kernels.group_linear` and its kin on these pairs are the multiple-pairs kernels on
        (mean of X_na, X_ab, mean of X_bn); with other pair kernels every machine works on them too.

        >>> import numpy as np, pairlearn as pl
        >>> star = pl.graphs.Graph.from_arcs([0, 0, 0], [1, 2, 3], nodes=[[8.0], [1.0], [2.0], [4.0]])
        >>> pairs = star.neighbourhoods([0], [1])
        >>> pairs.examples[pairs.left].tolist(), pairs.examples[pairs.right].tolist()
        ([[8.0, 8.0, 3.0]], [[1.0, 0.0, 0.0]])
        """
        columns = self._columns(left, right)
        return Pairs(*neighbourhoods_of(self, columns), **self._features_of(columns, invariant, signed))

    @cached_property
    def neighbour_sums(self) -> Floats:
        """Σ_n (z_an, w_an, x_n) over all neighbours n of every node a, (n_nodes, q), computed once."""
        return sums_over_neighbours(self)

    def find(self, columns: Columns) -> tuple[Ints, Ints]:
        """Which arc joins the two nodes of each pair, −1 for none, and +1 or −1 for its direction, 0 for none."""
        return find_arcs((self.left, self.right), columns, self.n_nodes)

    def _columns(self, left: Any, right: Any) -> Columns:
        if left is None and right is None:
            return self.left, self.right
        if left is None or right is None or np.shape(left) != np.shape(right):
            raise InputError("give left and right of every candidate pair, or neither for the arcs of the graph")
        return node_numbers(left, "left", self.n_nodes), node_numbers(right, "right", self.n_nodes)

    @property
    def _arc_blocks(self) -> dict[str, Floats | None]:
        return {"invariant": self.invariant, "signed": self.signed}

    def _features_of(self, columns: Columns, invariant: Any, signed: Any) -> dict[str, Any]:
        """Features of these pairs: the given ones, or those of the arcs."""
        number, direction = self.find(columns)
        blocks = {"invariant": invariant, "signed": signed}
        for name, block in self._arc_blocks.items():
            if blocks[name] is None and block is not None:
                self._check_known(columns, number, name)
                blocks[name] = block[number] * (direction[:, None] if name == "signed" else 1.0)
        return blocks

    def _check_known(self, columns: Columns, number: Ints, name: str) -> None:
        if (number >= 0).all():
            return
        first = int((number < 0).argmax())
        a, b = (self.ids[int(column[first])] for column in columns)
        raise InputError(
            f"{int((number < 0).sum())} of {len(number)} pairs are not arcs, the first is ({a!r}, {b!r}), so their "
            f"`{name}` features are unknown; pass {name}=features of all these pairs (zeros, if that is meant), "
            "or use graph.without_arc_features()"
        )
