"""Kernels on a finite set of pairs, the arcs of a graph: a matrix, and a view that finds each pair in it.

A kernel that diffusion makes knows the arcs of one graph and nothing else: it is a matrix. As a pair kernel it is an
ordinary view, which shows of each pair the number of its arc and its direction, with an ordinary kernel on these rows,
which looks the value up. So it adds, multiplies, is stored and fitted like all others; a pair that is not an arc is
refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite
from pairlearn.kernels import Kernel
from pairlearn.kernels.content import ByContent, shape_of
from pairlearn.kernels.similarity import check_symmetric
from pairlearn.pair_kernels.kernel import PairKernel, from_view
from pairlearn.pair_kernels.views import Law, PairsOnly, ViewKernel
from pairlearn.pairs import Columns, Pairs, rows_by_id
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

NO_IDS = (
    "this kernel knows arcs by the ids of their two nodes, but these pairs carry no ids; "
    "build the pairs with graph.pairs(…) or pl.Pairs(…, ids=…)"
)


def find_arcs(arcs: Columns, pairs: Columns, n_nodes: int) -> tuple[Ints, Ints]:
    """Which arc joins the two nodes of each pair, −1 for none, and +1 or −1 for its direction, 0 for none.

    >>> import numpy as np
    >>> arcs, pairs = (np.array([0, 2]), np.array([1, 1])), (np.array([1, 2, 0]), np.array([0, 1, 2]))
    >>> [column.tolist() for column in find_arcs(arcs, pairs, n_nodes=3)]
    [[0, 1, -1], [-1, 1, 0]]

    A sorted search, O((n_arcs + n_pairs) log n_arcs): a dictionary would cost a Python object for every arc.
    """
    keys, wanted = arc_keys(arcs, n_nodes), arc_keys(pairs, n_nodes)
    if len(keys) == 0:
        return np.full(len(wanted), -1), np.zeros(len(wanted), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    found = keys[place] == wanted
    direction = np.where(arcs[0][place] == pairs[0], 1, -1)
    return np.where(found, place, -1), np.where(found, direction, 0)


def arc_keys(columns: Columns, n_nodes: int) -> Ints:
    """One number per unordered pair of nodes, negative when one of them is unknown (−1): min · n_nodes + max."""
    first, second = (np.asarray(column, dtype=np.int64) for column in columns)
    return np.minimum(first, second) * n_nodes + np.maximum(first, second)


@dataclass(frozen=True, eq=False, repr=False)
class Arcs(PairsOnly, ByContent):
    """Shows of every pair the number of its arc and, in the antisymmetric case, its direction: +1 as stored, else −1.

    Arc k joins the nodes `ids[left[k]]` and `ids[right[k]]`; pairs are found by their ids, in either order.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.eye(3), [2, 0], [1, 1], ids=["u", "v", "w"])
    >>> Arcs(("v", "u", "w"), np.array([0, 0]), np.array([1, 2]), antisymmetric=True).show(pairs).tolist()
    [[1.0, -1.0], [0.0, -1.0]]
    """

    ids: tuple[str | int, ...]
    left: Ints
    right: Ints
    antisymmetric: bool

    def __post_init__(self) -> None:
        _check_names(self.ids)
        for name in ("left", "right"):
            object.__setattr__(self, name, node_numbers(getattr(self, name), name, len(self.ids)))
        if len(self.left) != len(self.right):
            raise InputError(
                f"left has {counted(len(self.left), 'entry')} and right has {len(self.right)}; arcs need both"
            )
        if (self.left == self.right).any():
            raise InputError("an arc joins two different nodes; drop the arcs with left == right")
        if len(np.unique(arc_keys((self.left, self.right), len(self.ids)))) < len(self.left):
            raise InputError("an arc occurs twice, perhaps in both directions; give every arc once")

    def __len__(self) -> int:
        return len(self.left)

    @property
    def blocks(self) -> tuple[str, ...]:
        return ()

    def law(self, kernel: Kernel) -> Law:
        """Without directions a swapped pair shows the same row; with them, `Finite` multiplies by its sign."""
        if not self.antisymmetric:
            return "symmetric"
        return "antisymmetric" if isinstance(kernel, Finite) else "none"

    def show(self, pairs: Pairs) -> Floats:
        left, right = pairs.columns
        node = self._nodes(pairs)
        arc, direction = find_arcs((self.left, self.right), (node[left], node[right]), len(self.ids))
        if (arc < 0).any():
            raise InputError(self._outside(pairs, arc < 0))
        return np.column_stack([arc, direction if self.antisymmetric else np.ones(len(arc))]).astype(np.float64)

    @cached_property
    def _places(self) -> dict[str | int, int]:
        return rows_by_id(self.ids)

    def _nodes(self, pairs: Pairs) -> Ints:
        """Node of every example that occurs, −1 for one that the graph does not have."""
        ids = pairs.require_one_table(NO_IDS).ids
        if ids is None:
            raise InputError(NO_IDS)
        node = np.full(pairs.n_examples, -1)
        used = pairs.used_examples()
        node[used] = [self._places.get(ids[i], -1) for i in used]
        return node

    def _outside(self, pairs: Pairs, outside: np.ndarray[Any, Any]) -> str:
        assert pairs.ids is not None
        first = int(outside.argmax())
        ends = [pairs.ids[int(column[first])] for column in pairs.columns]
        return (
            f"{int(outside.sum())} of {len(pairs)} pairs are not arcs of the graph that this kernel was made for, "
            f"the first is ({ends[0]!r}, {ends[1]!r}); make the kernel on a graph with every arc that is to be "
            "scored, or use a kernel on features, which knows any pair"
        )

    def _content(self) -> Iterator[Any]:
        yield repr((self.ids, self.antisymmetric, len(self.left))).encode()
        yield self.left.data
        yield self.right.data

    def _summary(self) -> str:
        return f"{counted(len(self.left), 'arc')}, {counted(len(self.ids), 'node')}"


@dataclass(frozen=True, eq=False, repr=False)
class Finite(ByContent, Kernel):
    """s·s'·M[p, q] of rows (p, s), (q, s'): the number p of an arc and the sign s of its direction.

    The matrix is not copied, only made read-only: it may fill a good part of the memory.

    >>> import numpy as np
    >>> Finite(np.array([[2.0, 1.0], [1.0, 3.0]]))(np.array([[0.0, 1.0]]), np.array([[1.0, -1.0]])).tolist()
    [[-1.0]]
    """

    matrix: Floats

    definite = None

    def __post_init__(self) -> None:
        matrix = np.ascontiguousarray(self.matrix, dtype=np.float64).view()
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"a kernel on n arcs is a matrix of shape (n, n), got {matrix.shape}")
        refuse_nonfinite(matrix, "the kernel values")
        check_symmetric(matrix)
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    def __call__(self, A: Examples, B: Examples) -> Floats:
        values = self.matrix[np.ix_(A[:, 0].astype(np.int64), B[:, 0].astype(np.int64))]
        values *= A[:, 1:]
        values *= B[:, 1]
        return values

    def diag(self, A: Examples) -> Floats:
        return np.diagonal(self.matrix)[A[:, 0].astype(np.int64)]

    def _content(self) -> Iterator[Any]:
        yield repr(self.matrix.shape).encode()
        yield self.matrix.data

    def _summary(self) -> str:
        return shape_of(self.matrix)


def finite(arcs: Arcs, matrix: Floats) -> PairKernel:
    """The pair kernel with these values between these arcs; reversed arcs have the same or the opposite value.

    >>> import numpy as np
    >>> arcs = Arcs((0, 1, 2), np.array([0, 1]), np.array([1, 2]), antisymmetric=True)
    >>> finite(arcs, np.eye(2)).symmetry
    'antisymmetric'
    """
    kernel = Finite(matrix)
    if len(kernel.matrix) != len(arcs):
        raise InputError(f"{len(arcs)} arcs need a matrix of shape {(len(arcs), len(arcs))}, got {kernel.matrix.shape}")
    return from_view(ViewKernel(arcs, kernel))


def _check_names(ids: tuple[str | int, ...]) -> None:
    """Strings and integers alone can be stored in a model file and are found again after loading it."""
    strange = [key for key in ids if isinstance(key, bool) or not isinstance(key, (str, int))]
    if strange:
        raise InputError(
            f"nodes of a kernel on arcs are named by strings or integers, got {strange[0]!r}; "
            "name them so, e.g. ids=range(n), or networkx.convert_node_labels_to_integers(g)"
        )
    if len(set(ids)) < len(ids):
        raise InputError("two nodes have the same id; give every node its own")


def node_numbers(column: Any, name: str, n_nodes: int | None) -> Ints:
    """A column of node numbers 0 … n_nodes − 1 (None: any number), or an error that says what to do."""
    index = np.asarray(column)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise InputError(f"{name} must be a list of node numbers, got {index.dtype} of shape {index.shape}")
    if index.size and (index.min() < 0 or (n_nodes is not None and index.max() >= n_nodes)):
        most = "" if n_nodes is None else n_nodes - 1
        raise InputError(f"{name} has a node number outside 0 … {most}; nodes are numbered as in ids")
    return np.ascontiguousarray(index, dtype=np.int64)
