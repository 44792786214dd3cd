"""Pair kernels: similarity of two pairs, built from a base kernel's four values between them."""

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
from pairlearn.pair_kernels.kernel import PairKernel, from_expression, from_table
from pairlearn.pair_kernels.outer import Expression, GaussianOf, Power
from pairlearn.pair_kernels.table import MONOMIALS, Quad, Table, table

__all__ = [
    "CATALOG",
    "MONOMIALS",
    "PROJECTIONS",
    "Expression",
    "GaussianOf",
    "PairKernel",
    "Power",
    "Quad",
    "Table",
    "from_expression",
    "from_table",
    "outer_gaussian",
    "outer_power",
    "pair_kernel",
    "poly_direct_sum",
    "poly_tensor",
    "table",
]
