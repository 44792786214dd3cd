"""Arcs of graphs as pairs: neighbourhoods and diffusion against the definitions in plain Python."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import clone

import pairlearn as pl
from pairlearn.errors import DefinitenessWarning, InputError, MissingIdsError, SymmetryError, TooLargeError
from pairlearn.graphs import Graph, arc_diffusion, base_similarity, diffusion, matrix_functions
from pairlearn.kernels import Linear
from pairlearn.operators.build import build
from pairlearn.pair_kernels import PairKernel
from pairlearn.pair_kernels.finite import Arcs, Finite, finite

Row = list[float]
few = settings(max_examples=25, deadline=None)


# --------------------------------------------------------------------------- a plain twin of a graph


@dataclass
class Plain:
    """Nodes, and arcs (u, v) in any direction with their features, as dictionaries and lists."""

    x: list[Row]
    arcs: dict[tuple[int, int], tuple[Row, Row]]
    widths: tuple[int, int]

    def graph(self, **changes: Any) -> Graph:
        left, right = ([arc[side] for arc in self.arcs] for side in (0, 1))
        z, w = (np.array([features[k] for features in self.arcs.values()]) for k in (0, 1))
        given = {"nodes": self.x, "invariant": z if self.widths[0] else None, "signed": w if self.widths[1] else None}
        columns = np.array(left, dtype=int), np.array(right, dtype=int)
        return Graph.from_arcs(*columns, **{**given, **changes})

    def neighbours(self, a: int) -> list[int]:
        return [v for u, v in self.arcs if u == a] + [u for u, v in self.arcs if v == a]

    def arc(self, u: int, v: int) -> tuple[Row, Row]:
        """z_uv and w_uv."""
        if (u, v) in self.arcs:
            return self.arcs[u, v]
        z, w = self.arcs.get((v, u), ([0.0] * self.widths[0], [0.0] * self.widths[1]))
        return z, [-value for value in w]

    def joint(self, u: int, v: int) -> Row:
        """X_uv = (x_u, z_uv, w_uv, x_v)."""
        z, w = self.arc(u, v)
        return [*self.x[u], *z, *w, *self.x[v]]

    def swap(self, X: Row) -> Row:
        """T(x_u, z, w, x_v) = (x_v, z, −w, x_u)."""
        d, q = len(self.x[0]), self.widths[0]
        return [*X[-d:], *X[d : d + q], *[-value for value in X[d + q : -d]], *X[:d]]

    def mean(self, rows: list[Row]) -> Row:
        width = 2 * len(self.x[0]) + sum(self.widths)
        return [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [0.0] * width

    def around(self, a: int, b: int) -> tuple[Row, Row, Row]:
        """Mean of X_na over n ≠ b, X_ab, mean of X_bn over n ≠ a."""
        first = self.mean([self.joint(n, a) for n in self.neighbours(a) if n != b])
        third = self.mean([self.joint(b, n) for n in self.neighbours(b) if n != a])
        return first, self.joint(a, b), third


@st.composite
def plain_graphs(draw: st.DrawFn, min_arcs: int = 0, with_features: bool = True) -> Plain:
    m = draw(st.integers(3, 8))
    possible = [(u, v) for u in range(m) for v in range(u)]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True, min_size=min_arcs, max_size=len(possible)))
    flips = draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    arcs = [(v, u) if flip else (u, v) for (u, v), flip in zip(chosen, flips, strict=True)]
    widths = draw(st.tuples(st.integers(0, 2), st.integers(0, 2))) if with_features else (0, 0)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    x = rng.normal(size=(m, draw(st.integers(1, 3)))).tolist()
    return Plain(
        x, {arc: (rng.normal(size=widths[0]).tolist(), rng.normal(size=widths[1]).tolist()) for arc in arcs}, widths
    )


def every_pair(m: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.divmod(np.arange(m * m), m)
    return a[a != b], b[a != b]


def values(kernel: PairKernel, pairs: pl.Pairs) -> np.ndarray:
    """All values between these pairs."""
    return build(kernel, pairs).operator.submatrix(np.arange(len(pairs)))


# --------------------------------------------------------------------------- graphs


SQUARE = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


def test_arcs_are_listed_once_by_rows_of_the_upper_triangle() -> None:
    graph = Graph(SQUARE)
    assert (graph.left.tolist(), graph.right.tolist()) == ([0, 0, 1, 2], [1, 3, 2, 3])
    assert graph.ids == (0, 1, 2, 3)
    assert graph.features.tolist() == [[2.0]] * 4


@pytest.mark.parametrize(
    "adjacency",
    [
        SQUARE.tolist(),
        np.triu(SQUARE).astype(bool),
        np.tril(SQUARE) * -2.5,
        sparse.csr_matrix(SQUARE),
        sparse.coo_array(np.triu(SQUARE)),
        sparse.csr_array((np.r_[np.ones(4), 0.0], ([0, 0, 1, 2, 0], [1, 3, 2, 3, 2])), shape=(4, 4)),
    ],
    ids=["list", "one direction", "weights", "csr", "coo", "a stored zero"],
)
def test_every_form_of_adjacency_gives_the_same_arcs(adjacency: Any) -> None:
    graph, expected = Graph(adjacency), Graph(SQUARE)
    assert (graph.adjacency != expected.adjacency).nnz == 0
    assert np.array_equal(graph.left, expected.left)
    assert np.array_equal(graph.right, expected.right)


@few
@given(plain_graphs(), st.booleans())
def test_networkx_and_arrays_agree(plain: Plain, directed: bool) -> None:
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from((f"n{k}", {"x": row}) for k, row in enumerate(plain.x))
    for (u, v), (z, w) in plain.arcs.items():
        g.add_edge(f"n{u}", f"n{v}", z=z, w=w)
    found = Graph.from_networkx(
        g, nodes="x", invariant="z" if plain.widths[0] else None, signed=["w"] if plain.widths[1] else None
    )
    # An undirected graph may store (v, u) where (u, v) was added; its own order says which.
    stored = {(int(u[1:]), int(v[1:])): (a["z"], a["w"]) for u, v, a in g.edges(data=True)}
    expected = replace(plain, arcs=stored).graph(ids=[f"n{k}" for k in range(len(plain.x))])
    assert found.ids == expected.ids
    for name in ("left", "right", "nodes", "invariant", "signed"):
        first, second = getattr(found, name), getattr(expected, name)
        assert (first is None and second is None) or np.array_equal(first, second)


def test_networkx_attributes_stand_side_by_side() -> None:
    g = nx.path_graph(3)
    nx.set_node_attributes(g, {0: 1.0, 1: 2.0, 2: 3.0}, "age")
    nx.set_node_attributes(g, {k: [k, -k] for k in g}, "place")
    assert Graph.from_networkx(g, nodes=["age", "place"]).nodes.tolist() == [[1, 0, 0], [2, 1, -1], [3, 2, -2]]
    with pytest.raises(InputError, match="node 0 has no attribute 'size'"):
        Graph.from_networkx(g, nodes="size")
    del g.nodes[1]["place"]
    with pytest.raises(InputError, match="node 1 has no attribute 'place'"):
        Graph.from_networkx(g, nodes="place")


def test_both_directions_of_a_digraph_must_agree() -> None:
    g = nx.DiGraph([("u", "v", {"w": 2.0}), ("v", "u", {"w": -2.0})])
    assert Graph.from_networkx(g, signed="w").signed.tolist() == [[2.0]]
    with pytest.raises(InputError, match="must have the same ones"):
        Graph.from_networkx(g, invariant="w")
    g["v"]["u"]["w"] = 2.0
    with pytest.raises(InputError, match="must have opposite ones"):
        Graph.from_networkx(g, signed="w")


def test_what_is_no_graph_is_refused() -> None:
    loop = SQUARE + np.diag([0, 0, 1, 0])
    with pytest.raises(InputError, match="node number 2 is joined with itself"):
        Graph(loop)
    with pytest.raises(InputError, match="2 nodes are joined with themselves, the first is number 0"):
        Graph.from_networkx(nx.Graph([(0, 1), (1, 1), (0, 0)]))
    with pytest.raises(InputError, match="from_networkx"):
        Graph(nx.path_graph(3))
    with pytest.raises(InputError, match="MultiGraph"):
        Graph.from_networkx(nx.MultiGraph([(0, 1)]))
    with pytest.raises(InputError, match="one row and one column per node"):
        Graph(SQUARE[:3])
    with pytest.raises(InputError, match="NaN"):
        Graph(np.where(SQUARE, np.nan, 0.0))
    with pytest.raises(InputError, match="one row per node, 4 in all"):
        Graph(SQUARE, nodes=np.ones((3, 1)))
    with pytest.raises(InputError, match="one row per arc, 4 in all"):
        Graph(SQUARE, signed=np.ones((5, 1)))
    with pytest.raises(InputError, match="toarray"):
        Graph(SQUARE, nodes=sparse.eye_array(4))
    with pytest.raises(InputError, match="3 different ids for 4 nodes"):
        Graph(SQUARE, ids=["a", "b", "c", "a"])
    with pytest.raises(InputError, match="outside 0"):
        Graph.from_arcs([0, 5], [1, 1], nodes=np.eye(3))
    with pytest.raises(InputError, match="each arc needs one of both"):
        Graph.from_arcs([0, 1], [1])


def test_numbers_of_ids() -> None:
    graph = Graph(SQUARE, ids=np.array(["a", "b", "c", "d"]))
    assert graph.ids == ("a", "b", "c", "d")
    assert graph.numbers("db").tolist() == [3, 1]
    with pytest.raises(MissingIdsError, match=r"2 ids are not among the nodes: 'x', 'y'; graph.ids has all") as caught:
        graph.numbers(["x", "a", "y", "x"])
    assert caught.value.missing == ["x", "y"]


@few
@given(plain_graphs(min_arcs=1), st.randoms(use_true_random=False))
def test_subgraph_keeps_nodes_and_the_features_of_its_arcs(plain: Plain, random: Any) -> None:
    kept = {arc: features for arc, features in plain.arcs.items() if random.random() < 0.5}
    graph = plain.graph()
    mask = np.array([(u, v) in kept or (v, u) in kept for u, v in zip(graph.left, graph.right, strict=True)])
    found, expected = graph.subgraph(mask), replace(plain, arcs=kept).graph(ids=range(len(plain.x)))
    assert np.array_equal(found.left, expected.left)
    assert np.array_equal(found.nodes, expected.nodes)
    for name, width in zip(("invariant", "signed"), plain.widths, strict=True):
        assert width == 0 or np.array_equal(getattr(found, name), getattr(expected, name).reshape(-1, width))
    with pytest.raises(InputError, match="one True or False per arc"):
        graph.subgraph(mask.astype(int))


# --------------------------------------------------------------------------- pairs and neighbourhoods


@few
@given(plain_graphs(min_arcs=1))
def test_features_of_arcs_are_found_in_either_direction(plain: Plain) -> None:
    graph = plain.graph(ids=[f"n{k}" for k in range(len(plain.x))])
    for pairs in (graph.pairs(graph.right, graph.left), graph.pairs().swapped(), graph.pairs()):
        assert pairs.ids == graph.ids
        for k, (u, v) in enumerate(zip(pairs.left, pairs.right, strict=True)):
            z, w = plain.arc(int(u), int(v))
            assert pairs.invariant is None or pairs.invariant[k].tolist() == z
            assert pairs.signed is None or pairs.signed[k].tolist() == w


def test_features_of_pairs_that_are_no_arcs_must_be_given() -> None:
    graph = Graph(SQUARE, ids=list("abcd"), invariant=np.ones((4, 1)), signed=np.ones((4, 2)))
    for method in (graph.pairs, graph.neighbourhoods):
        with pytest.raises(
            InputError, match=r"1 of 2 pairs are not arcs, the first is \('a', 'c'\), so their `invariant`"
        ):
            method([0, 0], [1, 2])
        with pytest.raises(InputError, match="`signed` features are unknown"):
            method([0, 0], [1, 2], invariant=[[1.0], [0.0]])
        pairs = method([0, 0], [1, 2], invariant=[[1.0], [0.0]], signed=np.zeros((2, 2)))
        assert pairs.invariant.tolist() == [[1.0], [0.0]]
        with pytest.raises(InputError, match="or neither"):
            method([0])
        with pytest.raises(InputError, match="outside 0"):
            method([0], [4])
    bare = graph.without_arc_features().pairs([0, 0], [1, 2])
    assert bare.invariant is None
    assert bare.signed is None


@few
@given(plain_graphs(min_arcs=1))
def test_neighbourhoods_are_the_means_of_the_definition(plain: Plain) -> None:
    m, (q, p) = len(plain.x), plain.widths
    a, b = every_pair(m)
    blocks = {"invariant": np.zeros((len(a), q)) if q else None, "signed": np.zeros((len(a), p)) if p else None}
    pairs = plain.graph(ids=range(m)).neighbourhoods(a, b, **blocks)
    for k, (u, v) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        first, _, third = plain.around(u, v)
        # Swapped, the mean of X_nu is the mean of X_un.
        assert np.allclose(pairs.examples[pairs.left[k]], [*plain.x[u], *plain.swap(first)], rtol=0, atol=1e-12)
        assert np.allclose(pairs.examples[pairs.right[k]], [*plain.x[v], *third], rtol=0, atol=1e-12)


def test_nodes_without_other_neighbours_have_exact_zeros() -> None:
    # 0 is joined with 1 alone, 2 is isolated; 0.1 and 0.3 do not cancel exactly in floating point.
    graph = Graph.from_arcs([0, 1, 1], [1, 3, 4], nodes=[[0.1], [0.3], [7.0], [0.7], [1e9]])
    pairs = graph.neighbourhoods([0, 2, 1], [1, 1, 0])
    assert pairs.examples[pairs.left].tolist()[:2] == [[0.1, 0.0, 0.0], [7.0, 0.0, 0.0]]
    assert np.allclose(pairs.examples[pairs.left[2]], [0.3, 0.3, (0.7 + 1e9) / 2])
    assert pairs.n_examples == 4  # 0 without 1, 1 without 0, 1 whole, 2 whole


def test_a_graph_without_arcs_has_empty_neighbourhoods() -> None:
    graph = Graph(np.zeros((3, 3)), nodes=np.eye(3))
    pairs = graph.neighbourhoods([0, 1], [1, 2])
    assert np.array_equal(pairs.examples, np.hstack([np.eye(3), np.zeros((3, 6))]))
    with pytest.raises(InputError, match="there are no pairs"):
        graph.pairs()


@few
@given(plain_graphs(min_arcs=1), st.booleans(), st.data())
def test_an_arc_says_nothing_about_itself(plain: Plain, degrees: bool, data: st.DataObject) -> None:
    graph = plain.graph(ids=range(len(plain.x)), **({"nodes": None} if degrees else {}))
    arc = data.draw(st.integers(0, len(graph.left) - 1))
    hidden = graph.subgraph(np.arange(len(graph.left)) != arc).without_arc_features()
    full = graph.without_arc_features()
    with_it = full.neighbourhoods()[[arc]]
    without = hidden.neighbourhoods([graph.left[arc]], [graph.right[arc]])
    for side in ("left", "right"):
        rows = [pairs.examples[getattr(pairs, side)] for pairs in (with_it, without)]
        assert np.allclose(*rows, rtol=0, atol=1e-12)


def literal_linear(plain: Plain, one: tuple[int, int], two: tuple[int, int]) -> float:
    return sum(float(np.dot(x, y)) for x, y in zip(plain.around(*one), plain.around(*two), strict=True))


def literal_gaussian(plain: Plain, one: tuple[int, int], two: tuple[int, int]) -> float:
    blocks = zip(plain.around(*one), plain.around(*two), strict=True)
    return float(np.exp(-0.3 * sum(float(np.sum(np.subtract(x, y) ** 2)) for x, y in blocks)))


def literal_polynomial(plain: Plain, one: tuple[int, int], two: tuple[int, int]) -> float:
    return (literal_linear(plain, one, two) + 1.0) ** 3


@pytest.mark.parametrize(
    ("literal", "make"),
    [
        (literal_linear, pl.pair_kernels.group_linear),
        (literal_gaussian, lambda **blocks: pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(**blocks), 0.3)),
        (literal_polynomial, lambda **blocks: pl.pair_kernels.power(pl.pair_kernels.group_linear(**blocks), 3, 1.0)),
    ],
    ids=["linear", "gaussian", "polynomial"],
)
@few
@given(plain=plain_graphs(min_arcs=1))
def test_group_kernels_on_neighbourhoods_are_the_multiple_pairs_kernels(
    literal: Callable[..., float], make: Callable[..., PairKernel], plain: Plain
) -> None:
    graph = plain.graph()
    pairs = graph.neighbourhoods()
    pairs = pairs.followed_by(pairs.swapped())
    kernel = make(invariant=bool(plain.widths[0]), signed=bool(plain.widths[1])).on(Linear())
    arcs = [(int(u), int(v)) for u, v in zip(graph.left, graph.right, strict=True)]
    both = arcs + [(v, u) for u, v in arcs]
    expected = np.array([[literal(plain, one, two) for two in both] for one in both])
    n = len(arcs)
    assert np.allclose(values(kernel, pairs), expected, rtol=1e-9, atol=1e-9)
    # Order-invariant by the definition itself, and the balanced and skew halves follow.
    assert np.allclose(expected[:n, :n], expected[n:, n:])
    assert kernel.order_invariant
    halves = {1.0: kernel.balanced(), -1.0: kernel.skewed()}
    for sign, half in halves.items():
        assert half.symmetry == ("symmetric" if sign > 0 else "antisymmetric")
        wanted = 0.5 * (expected + sign * np.roll(expected, n, axis=0))
        assert np.allclose(values(half, pairs), wanted, rtol=1e-9, atol=1e-9)


def test_swapping_an_arc_swaps_every_block() -> None:
    plain = Plain([[1.0], [2.0], [4.0], [8.0]], {(0, 1): ([3.0], [5.0]), (2, 0): ([6.0], [7.0])}, (1, 1))
    first, middle, third = plain.around(0, 1)
    assert plain.around(1, 0) == (plain.swap(third), plain.swap(middle), plain.swap(first))


# --------------------------------------------------------------------------- diffusion


def dot(plain: Plain, u: int, v: int) -> float:
    return float(np.dot(plain.x[u], plain.x[v]))


def literal_tensor(plain: Plain, one: tuple[int, int], two: tuple[int, int]) -> float:
    (a, b), (c, d) = one, two
    return (dot(plain, a, c) * dot(plain, b, d) + dot(plain, a, d) * dot(plain, b, c)) / 2


def literal_wedge(plain: Plain, one: tuple[int, int], two: tuple[int, int]) -> float:
    (a, b), (c, d) = one, two
    return (dot(plain, a, c) * dot(plain, b, d) - dot(plain, a, d) * dot(plain, b, c)) / 2


def literal_skew(plain: Plain, one: tuple[int, int], two: tuple[int, int]) -> float:
    return literal_tensor(plain, one, two) * float(np.dot(plain.arc(*one)[1], plain.arc(*two)[1]))


TENSOR, WEDGE = (pl.pair_kernel(name).on(Linear()) for name in ("tensor", "wedge"))
SKEW = pl.pair_kernels.skew_composite(pl.pair_kernel("tensor")).on(Linear())
BASES = {"tensor": (TENSOR, literal_tensor), "wedge": (WEDGE, literal_wedge), "composite": (SKEW, literal_skew)}
every_base = pytest.mark.parametrize("base", BASES)
every_weighting = pytest.mark.parametrize("weighting", ["shared", "none"])


def literal_similarity(plain: Plain, arcs: list[tuple[int, int]], literal: Any, weighting: str) -> np.ndarray:
    """𝒦 from its definition, on arcs in any order and direction."""

    def entry(one: tuple[int, int], two: tuple[int, int]) -> float:
        shared = len(set(one) & set(two))
        return 0.0 if weighting == "none" and shared == 2 else shared * literal(plain, one, two)

    return np.array([[entry(one, two) for two in arcs] for one in arcs])


def powers(K: np.ndarray, series: list[float]) -> np.ndarray:
    return sum(c * np.linalg.matrix_power(K, power) for power, c in enumerate(series))


@st.composite
def diffused(draw: st.DrawFn, base: str) -> tuple[Plain, list[tuple[int, int]]]:
    """A graph with the features that the base needs, and its arcs in a random order and direction."""
    plain = draw(plain_graphs(min_arcs=1, with_features=False))
    if base == "composite":
        rng = np.random.default_rng(draw(st.integers(0, 999)))
        plain = Plain(plain.x, {arc: ([], rng.normal(size=2).tolist()) for arc in plain.arcs}, (0, 2))
    order = draw(st.permutations(list(plain.arcs)))
    return plain, [(v, u) if draw(st.booleans()) else (u, v) for u, v in order]


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.allclose(found, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def assert_definite(K: np.ndarray) -> None:
    eigenvalues = np.linalg.eigvalsh(K)
    # A wedge of single features is zero up to rounding.
    assert eigenvalues[0] >= -1e-10 * max(eigenvalues[-1], 1e-2)


@every_base
@every_weighting
@few
@given(data=st.data(), strength=st.floats(0.01, 1.5))
def test_diffusion_is_the_function_of_the_similarity(
    base: str, weighting: Any, data: st.DataObject, strength: float
) -> None:
    kernel, literal = BASES[base]
    plain, arcs = data.draw(diffused(base))
    graph = plain.graph(ids=[f"n{k}" for k in range(len(plain.x))])
    pairs = graph.pairs(*np.array(arcs).T)
    K = literal_similarity(plain, arcs, literal, weighting)
    radius = np.abs(np.linalg.eigvalsh(K)).max()
    strength /= max(radius, 0.1)
    exponential = diffusion(graph, kernel, weighting=weighting, strength=strength)
    assert exponential.symmetry == kernel.symmetry
    found = values(exponential, pairs)
    assert np.array_equal(found, found.T)
    assert_close(found, linalg.expm(strength * K))
    assert_definite(found)
    found = values(diffusion(graph, kernel, weighting=weighting, function="resolvent", strength=0.6 * strength), pairs)
    assert_close(found, np.linalg.inv(np.eye(len(K)) - 0.6 * strength * K))
    assert np.array_equal(found, found.T)
    assert_definite(found)
    series = [1.0, 0.5, 0.25, 0.25] if weighting == "shared" else [8.0, 1.0, 0.5, 0.25]
    found = values(diffusion(graph, kernel, weighting=weighting, function=series, strength=strength), pairs)
    assert_close(found, powers(strength * K, series))
    assert_definite(found)


@every_base
@few
@given(data=st.data())
def test_shared_weighting_is_positive_semidefinite_for_every_series(base: str, data: st.DataObject) -> None:
    kernel, literal = BASES[base]
    plain, arcs = data.draw(diffused(base))
    graph = plain.graph()
    K = base_similarity(graph, kernel)
    assert np.array_equal(K, K.T)
    assert_definite(K)
    stored = [(int(u), int(v)) for u, v in zip(graph.left, graph.right, strict=True)]
    assert_close(K, literal_similarity(plain, stored, literal, "shared"))
    # Reversed arcs change signs in the antisymmetric case only, for the incidence matrix is unsigned.
    assert_definite(literal_similarity(plain, arcs, literal, "shared"))


@every_base
@few
@given(data=st.data())
def test_reversed_arcs_have_the_same_or_the_opposite_value(base: str, data: st.DataObject) -> None:
    plain, _ = data.draw(diffused(base))
    graph = plain.graph()
    kernel = diffusion(graph, BASES[base][0], strength=0.1)
    pairs, n = graph.pairs(), len(graph.left)
    K = values(kernel, pairs.followed_by(pairs.swapped()))
    sign = 1.0 if kernel.symmetry == "symmetric" else -1.0
    assert np.array_equal(K[n:, :n], sign * K[:n, :n])
    assert np.array_equal(K[n:, n:], K[:n, :n])


@every_base
@few
@given(data=st.data())
def test_numbering_of_the_nodes_does_not_matter(base: str, data: st.DataObject) -> None:
    """Renumbering turns some arcs round and reorders them all; ids stay with the nodes."""
    plain, arcs = data.draw(diffused(base))
    m = len(plain.x)
    order = data.draw(st.permutations(range(m)))
    place = {node: number for number, node in enumerate(order)}
    other = Plain(
        [plain.x[k] for k in order], {(place[u], place[v]): f for (u, v), f in plain.arcs.items()}, plain.widths
    )
    graph, renumbered = plain.graph(ids=[f"n{k}" for k in range(m)]), other.graph(ids=[f"n{k}" for k in order])
    pairs = graph.pairs(*np.array(arcs).T)
    kernels = [diffusion(g, BASES[base][0], strength=0.2) for g in (graph, renumbered)]
    assert_close(*(values(kernel, pairs) for kernel in kernels))


TRIANGLE = Graph(np.ones((3, 3)) - np.eye(3), nodes=np.ones((3, 1)))


def test_odd_powers_of_a_zero_diagonal_are_indefinite_and_refused() -> None:
    # Three arcs, each two share a node, all values 1: eigenvalues 2, −1, −1.
    K = base_similarity(TRIANGLE, TENSOR, "none")
    assert np.allclose(np.linalg.eigvalsh(np.linalg.matrix_power(K, 3)), [-1.0, -1.0, 8.0])
    for series in ([0.0, 1.0], [0, 0, 0, 1], [1.0, 1.0, 0.5, 2.0]):
        with pytest.raises(
            InputError, match=r'not positive semidefinite: its smallest eigenvalue is -.*weighting="shared"'
        ):
            diffusion(TRIANGLE, TENSOR, weighting="none", function=series)
        assert_definite(values(diffusion(TRIANGLE, TENSOR, function=np.array(series)), TRIANGLE.pairs()))
    diffusion(TRIANGLE, TENSOR, weighting="none", function=[0.0, 0.0, 1.0])


def test_a_slightly_indefinite_series_is_warned_of() -> None:
    with pytest.warns(DefinitenessWarning, match="smallest eigenvalue is -1e-08"):
        diffusion(TRIANGLE, TENSOR, weighting="none", function=[1.0 - 1e-8, 1.0])


@every_weighting
def test_large_matrices_take_the_same_values_piece_by_piece(weighting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    graph = Graph(rng.random((12, 12)) * np.triu(np.ones((12, 12)), 1) > 0.3, nodes=rng.normal(size=(12, 3)))
    K = base_similarity(graph, WEDGE, weighting)
    limit = 1.0 / np.abs(np.linalg.eigvalsh(K)).max()
    for module in (matrix_functions, arc_diffusion):
        monkeypatch.setattr(module, "TILE", 7)
    monkeypatch.setattr(matrix_functions, "SMALL", 2)
    assert len(graph.left) > 30
    assert np.array_equal(base_similarity(graph, WEDGE, weighting), K)
    found = values(diffusion(graph, WEDGE, weighting=weighting, strength=20 * limit), graph.pairs())
    assert_close(found, linalg.expm(20 * limit * K))
    kernel = diffusion(graph, WEDGE, weighting=weighting, function="resolvent", strength=0.999 * limit)
    assert_close(values(kernel, graph.pairs()), np.linalg.inv(np.eye(len(K)) - 0.999 * limit * K))
    with pytest.raises(InputError, match=f"1/ρ\\(𝒦\\) = {limit:.6g}"):
        diffusion(graph, WEDGE, weighting=weighting, function="resolvent", strength=1.001 * limit)
    if weighting == "none":
        smallest = np.linalg.eigvalsh(powers(K, [0.0, 1.0, 0.0, 2.0]))[0]
        with pytest.raises(InputError, match=f"smallest eigenvalue is {smallest:.4g}"):
            diffusion(graph, WEDGE, weighting=weighting, function=[0.0, 1.0, 0.0, 2.0])
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            diffusion(graph, WEDGE, weighting=weighting, function=[0.0, 1.0, 0.0, 2.0])


@pytest.mark.parametrize("function", ["exp", "resolvent"])
def test_arcs_that_share_nothing_are_alike_only_to_themselves(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    matching = Graph.from_arcs([0, 2], [1, 3], nodes=np.eye(4))
    for limit in (matrix_functions.SMALL, 1):
        monkeypatch.setattr(matrix_functions, "SMALL", limit)
        kernel = diffusion(matching, TENSOR, weighting="none", function=function)
        assert np.array_equal(values(kernel, matching.pairs()), np.eye(2))


def test_strength_has_limits_that_the_message_names() -> None:
    # ρ of the shared similarity: 2 on the diagonal, 1 beside it, so 4.
    with pytest.raises(InputError, match=r"below 1/ρ\(𝒦\) = 0.25, got 0.3"):
        diffusion(TRIANGLE, TENSOR, function="resolvent", strength=0.3)
    with pytest.raises(InputError, match="below"):
        diffusion(TRIANGLE, TENSOR, function="resolvent", strength=0.25)
    diffusion(TRIANGLE, TENSOR, function="resolvent", strength=0.2499)
    with pytest.raises(InputError, match=r"βρ\(𝒦\) = 400; try strength=0.25"):
        diffusion(TRIANGLE, TENSOR, strength=100.0)
    for strength in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="strength must be"):
            diffusion(TRIANGLE, TENSOR, strength=strength)


def test_what_cannot_be_diffused_is_refused() -> None:
    with pytest.raises(SymmetryError, match="balanced"):
        diffusion(TRIANGLE, pl.pair_kernels.poly_tensor().on(Linear()))
    with pytest.raises(InputError, match=r"kernel.on\(base\)"):
        diffusion(TRIANGLE, pl.pair_kernel("tensor"))
    with pytest.raises(InputError, match='"exp", "resolvent"'):
        diffusion(TRIANGLE, TENSOR, function="cosh")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="got 'series'"):
        diffusion(TRIANGLE, TENSOR, function="series")  # type: ignore[arg-type]
    with pytest.raises(InputError, match='"shared" or "none"'):
        diffusion(TRIANGLE, TENSOR, weighting="both")  # type: ignore[arg-type]
    for series in ([], [0.0, 0.0], [1.0, -1.0], [1.0, np.inf], [[1.0]]):
        with pytest.raises(InputError, match="a series is"):
            diffusion(TRIANGLE, TENSOR, function=series)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"strings or integers, got \(0, 0\)"):
        diffusion(Graph.from_networkx(nx.grid_2d_graph(2, 2)), TENSOR)
    with pytest.raises(TooLargeError, match=r"diffusion between 3 arcs needs about .* fewer arcs"):
        diffusion(TRIANGLE, TENSOR, memory_budget=100)


# --------------------------------------------------------------------------- kernels on arcs


def test_pairs_are_known_by_their_ids() -> None:
    graph = Graph(SQUARE, nodes=np.eye(4), ids=list("abcd"))
    kernel = diffusion(graph, TENSOR, strength=0.1)
    # Another table, in another order: only the ids count.
    pairs = pl.Pairs(np.zeros((3, 7)), [0, 2], [1, 0], ids=["d", "c", "a"])
    expected = values(kernel, graph.pairs())[np.ix_([3, 1], [3, 1])]
    assert np.array_equal(values(kernel, pairs), expected)


def test_pairs_without_ids_or_outside_the_graph_are_refused() -> None:
    graph = Graph(SQUARE, nodes=np.eye(4), ids=list("abcd"))
    kernel = diffusion(graph, TENSOR, strength=0.1)
    with pytest.raises(InputError, match=r"no ids; build the pairs with graph.pairs\(…\) or pl.Pairs\(…, ids=…\)"):
        values(kernel, pl.Pairs(np.eye(4), [0], [1]))
    with pytest.raises(InputError, match="no ids"):
        values(kernel, pl.Pairs(np.eye(4), [0], [1], right_examples=np.eye(4), ids=list("abcd")))
    with pytest.raises(InputError, match=r"2 of 3 pairs are not arcs .* the first is \('a', 'c'\)"):
        values(kernel, graph.pairs([0, 0, 1], [1, 2, 3]))
    with pytest.raises(InputError, match=r"1 of 1 pairs .* \('a', 'z'\)"):
        values(kernel, pl.Pairs(np.eye(2), [0], [1], ids=["a", "z"]))
    with pytest.raises(InputError, match=r"1 of 1 pairs .* \('y', 'z'\)"):
        values(kernel, pl.Pairs(np.eye(2), [0], [1], ids=["y", "z"]))
    model = pl.PairSVC(kernel=kernel).fit(graph.pairs(), [1, -1, 1, -1])
    with pytest.raises(InputError, match="are not arcs"):
        model.decision_function(graph.pairs([0], [2]))


def test_values_compare_by_content() -> None:
    arcs = Arcs(("a", 1), np.array([0]), np.array([1]), antisymmetric=False)
    same = Arcs(("a", 1), np.array([0], dtype=np.int32), np.array([1], dtype=np.uint8), antisymmetric=False)
    others = [
        Arcs(("a", "1"), np.array([0]), np.array([1]), antisymmetric=False),
        Arcs(("a", 1), np.array([1]), np.array([0]), antisymmetric=False),
        Arcs(("a", 1), np.array([0]), np.array([1]), antisymmetric=True),
    ]
    assert arcs == same
    assert len({arcs, same, *others}) == 4
    assert len({repr(value) for value in (arcs, same, *others)}) == 4
    first, second = Finite(np.eye(3)), Finite(np.eye(3, order="F"))
    assert (first == second, hash(first) == hash(second), repr(first) == repr(second)) == (True, True, True)
    assert first != Finite(2 * np.eye(3))
    assert first != arcs
    assert copy.deepcopy(first) is first
    assert finite(arcs, np.eye(1)) + finite(same, np.eye(1)) == 2.0 * finite(arcs, np.eye(1))
    with pytest.raises(ValueError, match="read-only"):
        first.matrix[0, 0] = 5.0


def test_only_a_matrix_of_the_arcs_makes_their_kernel_antisymmetric() -> None:
    symmetric, antisymmetric = (Arcs((0, 1), np.array([0]), np.array([1]), sign) for sign in (False, True))
    assert symmetric.law(Linear()) == "symmetric"
    assert antisymmetric.law(Linear()) == "none"
    assert antisymmetric.law(Finite(np.eye(1))) == "antisymmetric"


def test_wrong_arcs_and_matrices_are_refused() -> None:
    def arcs(left: list[int], right: list[int], ids: Any = (0, 1, 2)) -> Arcs:
        return Arcs(ids, np.array(left), np.array(right), antisymmetric=False)

    with pytest.raises(InputError, match="outside 0 … 2"):
        arcs([0], [3])
    with pytest.raises(InputError, match="two different nodes"):
        arcs([0], [0])
    with pytest.raises(InputError, match="occurs twice"):
        arcs([0, 1], [1, 0])
    with pytest.raises(InputError, match="arcs need both"):
        arcs([0, 1], [1])
    with pytest.raises(InputError, match="same id"):
        arcs([0], [1], ids=(0, 1, 1))
    with pytest.raises(InputError, match="strings or integers, got None"):
        arcs([0], [1], ids=(0, None))
    with pytest.raises(InputError, match=r"shape \(n, n\)"):
        Finite(np.ones((2, 3)))
    with pytest.raises(InputError, match="not symmetric"):
        Finite(np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(InputError, match="NaN"):
        Finite(np.full((2, 2), np.nan))
    with pytest.raises(InputError, match="1 arcs need a matrix"):
        finite(arcs([0], [1]), np.eye(2))


# --------------------------------------------------------------------------- machines


def club() -> tuple[Graph, np.ndarray]:
    """A small world whose arcs are labelled by a hidden order of the nodes."""
    rng = np.random.default_rng(3)
    g = nx.connected_watts_strogatz_graph(20, 4, 0.3, seed=3)
    strength = rng.normal(size=20)
    graph = Graph.from_networkx(nx.relabel_nodes(g, {k: f"p{k}" for k in g}))
    graph = Graph(graph.adjacency, np.column_stack([strength, rng.normal(size=(20, 3))]), graph.ids)
    return graph, strength[graph.left] - strength[graph.right]


def machines() -> dict[str, tuple[Any, Callable[[np.ndarray], np.ndarray], bool]]:
    graph, _ = club()
    even, odd = diffusion(graph, TENSOR, strength=0.05), diffusion(graph, WEDGE, strength=0.05)

    def close(advantage: np.ndarray) -> np.ndarray:
        return np.where(np.abs(advantage) < 1.0, 1, -1)

    difference = pl.pair_kernel("difference").on(Linear())
    return {
        "svc": (pl.PairSVC(kernel=even), close, True),
        "svc, sum": (pl.PairSVC(kernel=even + TENSOR), close, True),
        "svc, product": (pl.PairSVC(kernel=even * pl.pair_kernel("metric"), base="rbf"), close, True),
        "svc, mirrored": (pl.PairSVC(kernel=even, mirrored=True), close, True),
        "ranker": (pl.PairRanker(kernel=odd), np.sign, False),
        "ranker, sum": (pl.PairRanker(kernel=odd + difference), np.sign, False),
        "svr": (pl.PairSVR(kernel=odd + difference, C=10.0), np.asarray, False),
        "svr, even": (pl.PairSVR(kernel=even + TENSOR), np.abs, True),
    }


@pytest.mark.parametrize("name", machines())
def test_machines_learn_and_files_keep_them(name: str, tmp_path: Path) -> None:
    graph, advantage = club()
    model, label, even = machines()[name]
    pairs = graph.pairs()
    train = np.arange(len(pairs)) % 4 > 0
    model.fit(pairs[train], label(advantage)[train])
    assert model.fit_status_ == "converged"
    found = model.decision_function(pairs)
    # The sum over support pairs by hand, from values between all arcs.
    K = values(model.function_.kernel, pairs)
    theta = np.zeros(len(pairs))
    if name != "svc, mirrored":
        theta[np.nonzero(train)[0][model.support_]] = model.dual_coef_
        assert np.allclose(found, K @ theta + model.intercept_, atol=1e-9)
    assert np.array_equal(model.decision_function(pairs.swapped()), found if even else -found)
    path = tmp_path / "model.safetensors"
    pl.save(model, path)
    loaded = pl.load(path)
    assert np.array_equal(loaded.decision_function(pairs), found)
    assert loaded.kernel == model.kernel
    assert loaded.function_.kernel == model.function_.kernel
    # The matrix is held by the parameter and by the learnt function, but stored once.
    assert [t.shape for t in safetensors.numpy.load_file(path).values()].count(K.shape) == 1
    assert clone(model).kernel == model.kernel


def test_mirrored_training_gives_the_same_function() -> None:
    graph, advantage = club()
    y = np.where(np.abs(advantage) < 1.0, 1, -1)
    plain, mirrored = (
        machines()[name][0].set_params(tol=1e-8).fit(graph.pairs(), y) for name in ("svc", "svc, mirrored")
    )
    assert np.allclose(plain.decision_function(graph.pairs()), mirrored.decision_function(graph.pairs()), atol=1e-6)


def test_a_machine_on_neighbourhoods_can_be_saved(tmp_path: Path) -> None:
    graph, advantage = club()
    pairs = graph.neighbourhoods()
    model = pl.PairSVC(
        kernel=pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(invariant=False, signed=False), 0.1).balanced()
    )
    model.fit(pairs, np.where(np.abs(advantage) < 1.0, 1, -1))
    pl.save(model, tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    fresh = graph.neighbourhoods(graph.right, graph.left)
    assert np.allclose(loaded.decision_function(fresh), model.decision_function(pairs), atol=1e-12)


def test_damaged_functions_on_arcs_are_refused(tmp_path: Path) -> None:
    graph, advantage = club()
    model = machines()["svc"][0].fit(graph.pairs(), np.where(np.abs(advantage) < 1.0, 1, -1))
    function = model.function_
    (view, turned, table), *_ = function.seen
    for number in (-1.0, len(graph.left)):
        model.function_ = replace(function, seen=((view, turned, np.where([True, False], number, table)),))
        with pytest.raises(InputError, match="function_: seen has the number of an arc that is not in the graph"):
            pl.save(model, tmp_path / "model")
    smaller = Arcs(graph.ids, graph.left[1:], graph.right[1:], antisymmetric=False)
    leaf = replace(function.kernel.leaves[0], view=smaller)
    model.function_ = replace(function, kernel=PairKernel(((1.0, (leaf,)),)))
    with pytest.raises(InputError, match="differ in size"):
        pl.save(model, tmp_path / "model")
