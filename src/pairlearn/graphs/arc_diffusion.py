"""Diffusion between arcs that share a node: a kernel on the known arcs of one graph.

The auxiliary graph has the arcs as its nodes; two are joined when they share an object. 𝒦 is a pair kernel between
joined arcs, and f(β𝒦) = Σ λ_l (β𝒦)^l sums over all chains of joined arcs. With a zero diagonal 𝒦 is indefinite and so
may be its odd powers, whatever the series; hence the two sound ways: weights by the number of shared nodes, which make
𝒦 a Schur product of Gram matrices, and f = exp or resolvent, positive for every symmetric 𝒦. What is neither is
checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pairlearn.errors import InputError, SymmetryError, TooLargeError
from pairlearn.examples import as_float
from pairlearn.graphs.graph import Graph
from pairlearn.graphs.matrix_functions import TILE, exponential, power_series, resolvent, symmetrised
from pairlearn.linalg.threads import blas_threads
from pairlearn.operators.build import build
from pairlearn.operators.plan import check_budget
from pairlearn.pair_kernels import PairKernel, pair_kernel
from pairlearn.pair_kernels.finite import Arcs, finite
from pairlearn.types import Floats, Ints

Weighting = Literal["shared", "none"]
Function = Literal["exp", "resolvent"] | Sequence[float]

COPIES = {"exp": 4, "resolvent": 2, "series": 4}
"""Matrices of all arcs that each way to diffuse holds at a time."""


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
    _check_arguments(kernel, function, strength)
    name, series = (function, None) if isinstance(function, str) else ("series", _check_series(function))
    arcs = Arcs(graph.ids, graph.left, graph.right, kernel.symmetry == "antisymmetric")
    _check_memory(len(arcs), COPIES[name], check_budget(memory_budget))
    K = base_similarity(graph, kernel, weighting, memory_budget=memory_budget)
    K *= strength
    with blas_threads(2.0 * len(arcs) ** 3):
        if series is not None:
            return finite(arcs, power_series(K, series))
        return finite(arcs, exponential(K, strength) if name == "exp" else resolvent(K, strength))


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
    return symmetrised(K)


def _shared(graph: Graph, rows: Ints) -> Ints:
    """BᵀB: how many nodes these arcs share with every arc, 0, 1 or 2."""
    ends = graph.left, graph.right
    total = np.zeros((len(rows), len(graph.left)), dtype=np.int8)
    for here in ends:
        for there in ends:
            total += here[rows, None] == there
    return total


def _check_arguments(kernel: PairKernel, function: Function, strength: float) -> None:
    if kernel.symmetry == "none":
        raise SymmetryError("arcs have no order of their own; diffuse kernel.balanced() or kernel.skewed()")
    if not (np.isfinite(strength) and strength > 0):
        raise InputError(f"strength must be a finite number > 0, got {strength!r}; try 0.1")
    if isinstance(function, str) and function not in ("exp", "resolvent"):
        raise InputError(f'function is "exp", "resolvent" or a list of numbers, got {function!r}')


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
