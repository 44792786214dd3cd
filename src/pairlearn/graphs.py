"""Arcs of a graph as pairs of nodes: features of neighbourhoods, and diffusion between arcs that share a node."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, factorial, log2
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotri
from scipy.sparse.linalg import LinearOperator, eigsh

from pairlearn.errors import DefinitenessWarning, InputError, SymmetryError, TooLargeError
from pairlearn.examples import as_float, refuse_nonfinite
from pairlearn.linalg.cholesky import cholesky
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.build import build
from pairlearn.operators.plan import check_budget
from pairlearn.pair_kernels import PairKernel, pair_kernel
from pairlearn.pair_kernels.finite import Arcs, arc_keys, find_arcs, finite, node_numbers
from pairlearn.pairs import Columns, Pairs, find_rows, rows_by_id
from pairlearn.types import Floats, Ints

Names = str | Sequence[str] | None
"""One or more attributes of a NetworkX graph, or none."""
Weighting = Literal["shared", "none"]
Function = Literal["exp", "resolvent"] | Sequence[float]

TILE = 1024
"""Rows of a large matrix that are worked on at a time."""
SMALL = 500
"""Matrices up to this size have all their eigenvalues computed; larger ones are asked for one end only."""
COPIES = {"exp": 4, "resolvent": 2, "series": 4}
"""Matrices of all arcs that each way to diffuse holds at a time."""
STEEPEST = 300.0
"""Largest βρ(𝒦) at which exp(β𝒦) and its row sums stay far from overflow."""


# --------------------------------------------------------------------------- graphs


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
        structure = _structure(adjacency)
        upper = sparse.triu(structure, k=1, format="coo")
        parts = {
            "adjacency": structure,
            "left": upper.row.astype(np.int64),
            "right": upper.col.astype(np.int64),
            "nodes": _block(nodes, "nodes", structure.shape[0], "node"),
            "ids": _names(ids, structure.shape[0]),
            "invariant": _block(invariant, "invariant", upper.nnz, "arc"),
            "signed": _block(signed, "signed", upper.nnz, "arc"),
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
            raise InputError(f"left has {len(first)} entries and right has {len(second)}; each arc needs one of both")
        n = 1 + int(max(first.max(initial=-1), second.max(initial=-1))) if n is None else n
        _, chosen, group = np.unique(arc_keys((first, second), n), return_index=True, return_inverse=True)
        direction = np.where(first < second, 1.0, -1.0)[:, None]
        z, w = _block(invariant, "invariant", len(first), "arc"), _block(signed, "signed", len(first), "arc")
        blocks = {"invariant": z, "signed": None if w is None else direction * w}
        merged = {name: _merged(block, chosen, group, name) for name, block in blocks.items()}
        return cls(_matrix(first, second, n), nodes, ids, **merged)

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
        if not hasattr(graph, "edges") or graph.is_multigraph():
            raise InputError(f"expected a networkx Graph or DiGraph, got {type(graph).__name__}; try networkx.Graph(g)")
        ids = list(graph.nodes)
        place = rows_by_id(ids)
        arcs = [((u, v), attributes) for u, v, attributes in graph.edges(data=True)]
        return cls.from_arcs(
            np.array([place[u] for (u, _), _ in arcs], dtype=np.int64),
            np.array([place[v] for (_, v), _ in arcs], dtype=np.int64),
            nodes=_attributes(graph.nodes(data=True), nodes, "node"),
            ids=ids,
            invariant=_attributes(arcs, invariant, "edge"),
            signed=_attributes(arcs, signed, "edge"),
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
        return Graph(_matrix(self.left[kept], self.right[kept], self.n_nodes), self.nodes, self.ids, **blocks)

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
        return f"Graph({self.n_nodes} nodes, {len(self.left)} arcs)"

    def numbers(self, labels: Iterable[Any]) -> Ints:
        """Node numbers of these ids.

        >>> import numpy as np, pairlearn as pl
        >>> pl.graphs.Graph(np.ones((2, 2)) - np.eye(2), ids=["u", "v"]).numbers(["v", "u", "v"]).tolist()
        [1, 0, 1]
        """
        return find_rows(rows_by_id(self.ids), labels, absent="{are} not among the nodes", advice="graph.ids has all")[
            0
        ]

    # -- pairs

    def pairs(self, left: Any = None, right: Any = None, *, invariant: Any = None, signed: Any = None) -> Pairs:
        """The arcs, or these candidate pairs of nodes, as pairs of node features; they carry the ids of the nodes.

        Features of arcs are looked up in either direction; pairs that are no arcs have none, so give `invariant` and
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
        a, b = columns = self._columns(left, right)
        joined = self._find(columns)[0] >= 0
        # One row of the table for every node and neighbour left out; n_nodes stands for nobody.
        base = self.n_nodes + 1
        keys = [node * base + np.where(joined, other, self.n_nodes) for node, other in ((a, b), (b, a))]
        rows, places = np.unique(np.concatenate(keys), return_inverse=True)
        examples = self._neighbourhoods(*np.divmod(rows, base))
        return Pairs(examples, *np.split(places, 2), **self._features_of(columns, invariant, signed))

    def _neighbourhoods(self, node: Ints, left_out: Ints) -> Floats:
        """(x_a, mean of X_an over the neighbours n of a but the one left out)."""
        out = left_out < self.n_nodes
        count = (self.degrees[node] - out)[:, None]
        mean = self._sums[node]
        mean[out] -= self._beside((node[out], left_out[out]))
        mean /= np.maximum(count, 1)
        own = count.astype(np.float64) if self.nodes is None else self.nodes[node]
        return np.hstack([own, own * (count > 0), mean])

    @cached_property
    def _sums(self) -> Floats:
        """Σ_n (z_an, w_an, x_n) over all neighbours n of every node a."""
        a, n = np.concatenate([self.left, self.right]), np.concatenate([self.right, self.left])
        incidence = sparse.csr_array((np.ones(len(a)), (a, np.arange(len(a)))), shape=(self.n_nodes, len(a)))
        return np.asarray(incidence @ self._beside((a, n)))

    def _beside(self, arcs: Columns) -> Floats:
        """(z_an, w_an, x_n) of these arcs (a, n)."""
        number, direction = self._find(arcs)
        z = [] if self.invariant is None else [self.invariant[number]]
        w = [] if self.signed is None else [direction[:, None] * self.signed[number]]
        return np.hstack([*z, *w, self.features[arcs[1]]])

    def _find(self, columns: Columns) -> tuple[Ints, Ints]:
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
        number, direction = self._find(columns)
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
            f"{int((number < 0).sum())} of {len(number)} pairs are no arcs, the first is ({a!r}, {b!r}), so their "
            f"`{name}` features are unknown; pass {name}=features of all these pairs (zeros, if that is meant), "
            "or use graph.without_arc_features()"
        )


def _structure(adjacency: Any) -> sparse.csr_array:
    """Symmetric 0/1 matrix of who is joined with whom."""
    if hasattr(adjacency, "edges"):
        raise InputError("this is a NetworkX graph; use pl.graphs.Graph.from_networkx(g)")
    matrix = adjacency if sparse.issparse(adjacency) else as_float(np.asarray(adjacency), "adjacency")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InputError(f"an adjacency matrix has one row and one column per node, got shape {matrix.shape}")
    arcs = sparse.coo_array(matrix)
    arcs.sum_duplicates()
    refuse_nonfinite(arcs.data, "adjacency")
    row, col = arcs.row[arcs.data != 0], arcs.col[arcs.data != 0]
    if (row == col).any():
        node = int(row[row == col][0])
        raise InputError(
            f"{int((row == col).sum())} nodes are joined with themselves, the first is number {node}; an arc joins "
            "two different nodes: set the diagonal to 0, or g.remove_edges_from(networkx.selfloop_edges(g))"
        )
    both = _matrix(np.concatenate([row, col]), np.concatenate([col, row]), matrix.shape[0])
    both.data[:] = 1.0
    return both


def _matrix(left: Ints, right: Ints, n_nodes: int) -> sparse.csr_array:
    """Number of times that each arc occurs, with sorted columns."""
    matrix = sparse.csr_array((np.ones(len(left)), (left, right)), shape=(n_nodes, n_nodes))
    matrix.sort_indices()
    return matrix


def _block(values: Any, name: str, n: int, what: str) -> Floats | None:
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


def _names(ids: Any, n_nodes: int) -> tuple[Any, ...]:
    """One name per node, as plain Python values where they are NumPy numbers."""
    if ids is None:
        return tuple(range(n_nodes))
    names = tuple(key.item() if isinstance(key, np.generic) else key for key in ids)
    if len(names) != n_nodes or len(set(names)) != n_nodes:
        raise InputError(f"{len(set(names))} different ids for {n_nodes} nodes; give every node one of its own")
    return names


def _merged(block: Floats | None, chosen: Ints, group: Ints, name: str) -> Floats | None:
    """Features of every arc once, for left < right."""
    if block is None:
        return None
    if (block != block[chosen][group]).any():
        law = "opposite" if name == "signed" else "the same"
        raise InputError(
            f"an arc occurs twice with `{name}` features that do not agree (both directions must have {law} ones); "
            "give every arc once"
        )
    return block[chosen]


def _attributes(rows: Iterable[tuple[Any, Mapping[str, Any]]], names: Names, what: str) -> Floats | None:
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


# --------------------------------------------------------------------------- diffusion


def diffusion(
    graph: Graph,
    kernel: PairKernel,
    *,
    weighting: Weighting = "shared",
    function: Function = "exp",
    strength: float = 1.0,
    memory_budget: float | None = None,
) -> PairKernel:
    """f(β𝒦) on the arcs of a graph: arcs are similar when chains of arcs that share nodes lead from one to the other.

    𝒦[i, j] is `kernel` between arcs that share a node, 0 elsewhere. The result is a pair kernel as symmetric or
    antisymmetric as `kernel`; it knows the arcs of this graph only, by `ids`, and keeps one n_arcs × n_arcs matrix.

    Parameters
    ----------
    kernel : symmetric or antisymmetric, with its base: `pl.pair_kernel("tensor").on(pl.kernels.Linear())`.
    weighting : "shared" multiplies by the number of shared nodes, 2 on the diagonal, which keeps 𝒦 positive
        semidefinite; "none" has a zero diagonal, so that 𝒦 is indefinite.
    function : "exp" for exp(β𝒦), "resolvent" for (I − β𝒦)⁻¹, both positive semidefinite for either weighting, or
        numbers λ₀, λ₁, … ≥ 0 for Σ λ_l (β𝒦)^l, which is refused when it turns out to be indefinite.
    strength : β > 0; "resolvent" needs β < 1/ρ(𝒦), ρ the largest absolute eigenvalue.
    memory_budget : bytes; None takes 60 % of the free memory.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> path = pl.graphs.Graph.from_arcs([0, 1, 2], [1, 2, 3], nodes=np.eye(4))
    >>> wedge = pl.pair_kernel("wedge").on(pl.kernels.Linear())
    >>> pl.graphs.diffusion(path, wedge, strength=0.1).symmetry
    'antisymmetric'
    """
    kernel = pair_kernel(kernel)
    if kernel.symmetry == "none":
        raise SymmetryError("arcs have no order of their own; diffuse kernel.balanced() or kernel.skewed()")
    if not (np.isfinite(strength) and strength > 0):
        raise InputError(f"strength must be a finite number > 0, got {strength!r}; try 0.1")
    name, series = (function, None) if isinstance(function, str) else ("series", _check_series(function))
    if name not in COPIES or (name == "series" and series is None):
        raise InputError(f'function is "exp", "resolvent" or a list of numbers, got {function!r}')
    arcs = Arcs(graph.ids, graph.left, graph.right, kernel.symmetry == "antisymmetric")
    _check_memory(len(arcs), COPIES[name], check_budget(memory_budget))
    K = base_similarity(graph, kernel, weighting, memory_budget=memory_budget)
    K *= strength
    with blas_threads(2.0 * len(arcs) ** 3):
        if series is not None:
            return finite(arcs, _series(K, series))
        return finite(arcs, _exponential(K, strength) if name == "exp" else _resolvent(K, strength))


def base_similarity(
    graph: Graph, kernel: PairKernel, weighting: Weighting = "shared", *, memory_budget: float | None = None
) -> Floats:
    """𝒦[i, j] = (number of nodes that arcs i and j share) · K(arc i, arc j), (n_arcs, n_arcs), exactly symmetric.

    With the diagonal (two shared nodes) it is the entrywise product of two Gram matrices, K and BᵀB with the unsigned
    incidence matrix B, hence positive semidefinite; weighting "none" has a zero diagonal.
    """
    if weighting not in ("shared", "none"):
        raise InputError(f'weighting is "shared" or "none", got {weighting!r}')
    operator = build(kernel, graph.pairs(), memory_budget=memory_budget).operator
    n = operator.n_pairs
    K = np.empty((n, n))
    for start in range(0, n, TILE):
        rows = np.arange(start, min(n, start + TILE))
        K[start : start + TILE] = operator.submatrix(rows, np.arange(n))
        K[start : start + TILE] *= _shared(graph, rows)
    if weighting == "none":
        np.fill_diagonal(K, 0.0)
    return _symmetrised(K)


def _shared(graph: Graph, rows: Ints) -> Ints:
    """BᵀB: how many nodes these arcs share with every arc, 0, 1 or 2."""
    ends = graph.left, graph.right
    total = np.zeros((len(rows), len(graph.left)), dtype=np.int8)
    for here in ends:
        for there in ends:
            total += here[rows, None] == there
    return total


def _check_series(function: Sequence[float]) -> Floats:
    series = as_float(np.asarray(function), "the series")
    if series.ndim != 1 or not np.isfinite(series).all() or (series < 0).any() or not series.any():
        raise InputError(f"a series is λ₀, λ₁, … ≥ 0, finite and not all 0, got {function!r}; try [1, 0.5, 0.25]")
    return series


def _check_memory(n: int, copies: int, budget: int) -> None:
    needed = 8 * copies * n**2
    if needed > budget:
        raise TooLargeError(
            f"diffusion between {n:,} arcs needs about {needed / 2**20:,.0f} MiB, but the budget is "
            f"{budget / 2**20:,.0f} MiB; raise memory_budget, take fewer arcs (graph.subgraph(mask)), "
            'function="resolvent" (half as much), or graph.neighbourhoods(), which needs no such matrix'
        )


def _series(A: Floats, series: Floats) -> Floats:
    """Σ λ_l A^l by Horner's rule, refused when it is indefinite."""
    total = np.zeros_like(A)
    np.fill_diagonal(total, series[-1])
    for coefficient in series[-2::-1]:
        total = total @ A
        total[np.diag_indices(len(A))] += coefficient
    total = _symmetrised(total)
    _check_definite(total)
    return total


def _exponential(A: Floats, strength: float) -> Floats:
    """exp(A) = (Σ_{l ≤ 13} (A/2^s)^l / l!)^(2^s), s ≥ 1 with ρ(A/2^s) ≤ ½, so that the series is exact to 1e-15.

    The last step squares a symmetric matrix, so that the result is positive semidefinite. A is overwritten.
    """
    radius = _radius(A)
    if radius > STEEPEST:
        raise InputError(
            f"exp(β𝒦) overflows at strength {strength:g}, as βρ(𝒦) = {radius:.4g}; "
            f"try strength={strength / radius:.2g}, which is 1/ρ(𝒦)"
        )
    halvings = max(1, ceil(log2(2.0 * radius))) if radius else 1
    A *= 0.5**halvings
    square = A @ A.T
    total = np.zeros_like(A)
    for degree in range(12, -1, -2):
        total = total @ square if degree < 12 else total
        _add(total, A, 1.0 / factorial(degree + 1))
        total[np.diag_indices(len(A))] += 1.0 / factorial(degree)
    total = _symmetrised(total)
    for _ in range(halvings):
        total = total @ total.T
    return _symmetrised(total)


def _resolvent(A: Floats, strength: float) -> Floats:
    """(I − A)⁻¹ by Cholesky's factorisation, for ρ(A) < 1. A is overwritten."""
    radius = _radius(A)
    if radius < 1.0:
        np.negative(A, out=A)
        A[np.diag_indices(len(A))] += 1.0
        # The transpose of a symmetric matrix is itself, stored by columns as LAPACK wants it.
        if cholesky(A.T):
            inverse, _ = dpotri(A.T, lower=1, overwrite_c=1)
            return _mirrored(inverse)
    raise InputError(
        f"(I − β𝒦)⁻¹ needs a strength below 1/ρ(𝒦) = {strength / radius:.6g}, got {strength:g}; "
        f"try {0.5 * strength / radius:.2g}"
    )


def _radius(A: Floats) -> float:
    """ρ(A), the largest absolute eigenvalue of a symmetric matrix."""
    if len(A) <= SMALL:
        return float(np.abs(np.linalg.eigvalsh(A)).max())
    return abs(_extreme(A)) if A.any() else 0.0


def _smallest(A: Floats, radius: float) -> float:
    """The smallest eigenvalue of a symmetric matrix; for a large one, an upper bound within 1e-7·ρ(A)."""
    if len(A) <= SMALL:
        return float(np.linalg.eigvalsh(A)[0])
    # Counted from the top, the smallest eigenvalue is the one of largest modulus, which Lanczos' method finds.
    shifted = LinearOperator(A.shape, matvec=lambda x: radius * x - A @ x, dtype=A.dtype)
    return radius - _extreme(shifted)


def _extreme(A: Any) -> float:
    start = np.random.default_rng(0).normal(size=A.shape[0])
    return float(eigsh(A, k=1, which="LM", v0=start, tol=1e-8, return_eigenvectors=False)[0])


def _check_definite(A: Floats) -> None:
    """Refuse a clearly indefinite matrix, and warn of one that is so by little more than rounding."""
    radius = _radius(A)
    smallest = _smallest(A, radius)
    if smallest >= -1e-10 * radius:
        return
    message = (
        f"this series is not positive semidefinite: its smallest eigenvalue is {smallest:.4g}, its largest in "
        f'modulus {radius:.4g}; use weighting="shared" (a zero diagonal makes odd powers indefinite), '
        'function="exp" or "resolvent", or more weight on even powers, λ₀ above all'
    )
    if smallest < -1e-6 * radius:
        raise InputError(message)
    warnings.warn(message, DefinitenessWarning, stacklevel=4)


def _tiles(n: int) -> Iterable[tuple[slice, slice]]:
    """Square tiles of the lower triangle."""
    starts = range(0, n, TILE)
    return ((slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if j <= i)


def _add(total: Floats, A: Floats, factor: float) -> None:
    """total += factor · A, without a third matrix."""
    for start in range(0, len(A), TILE):
        total[start : start + TILE] += factor * A[start : start + TILE]


def _symmetrised(A: Floats) -> Floats:
    """½(A + Aᵀ) in place, symmetric bit by bit."""
    for rows, cols in _tiles(len(A)):
        A[rows, cols] = 0.5 * (A[rows, cols] + A[cols, rows].T)
        A[cols, rows] = A[rows, cols].T
    return A


def _mirrored(A: Floats) -> Floats:
    """The matrix with this lower triangle and its mirror image above, in place."""
    for rows, cols in _tiles(len(A)):
        if rows == cols:
            lower = np.tril(A[rows, rows])
            A[rows, rows] = lower + np.tril(lower, -1).T
        else:
            A[cols, rows] = A[rows, cols].T
    return A
