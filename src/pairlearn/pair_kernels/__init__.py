"""Pair kernels: similarity of two pairs, from a base kernel's four values between them or from pair features."""

from __future__ import annotations

from pairlearn.pair_kernels.catalog import (
    CATALOG,
    PROJECTIONS,
    outer_gaussian,
    outer_power,
    pair_kernel,
    poly_direct_sum,
    poly_tensor,
)
from pairlearn.pair_kernels.groups import (
    balanced_composite,
    group_gaussian,
    group_linear,
    group_polynomial,
    on_blocks,
    on_invariant,
    on_signed,
    skew_composite,
)
from pairlearn.pair_kernels.kernel import Expression, Leaf, PairKernel, from_table, from_view, gaussian_of, power_of
from pairlearn.pair_kernels.outer import GaussianOf, Power
from pairlearn.pair_kernels.scored import Scored, on_score
from pairlearn.pair_kernels.table import MONOMIALS, Quad, Table, table
from pairlearn.pair_kernels.views import Blocks, Seen, View

__all__ = [
    "CATALOG",
    "MONOMIALS",
    "PROJECTIONS",
    "Blocks",
    "Expression",
    "GaussianOf",
    "Leaf",
    "PairKernel",
    "Power",
    "Quad",
    "Scored",
    "Seen",
    "Table",
    "View",
    "balanced_composite",
    "from_table",
    "from_view",
    "gaussian_of",
    "group_gaussian",
    "group_linear",
    "group_polynomial",
    "on_blocks",
    "on_invariant",
    "on_score",
    "on_signed",
    "outer_gaussian",
    "outer_power",
    "pair_kernel",
    "poly_direct_sum",
    "poly_tensor",
    "power_of",
    "skew_composite",
    "table",
]
