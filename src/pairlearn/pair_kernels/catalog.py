"""The pair kernels by name, and outer functions over the four projections."""

from __future__ import annotations

from typing import Literal

from pairlearn.errors import InputError
from pairlearn.pair_kernels.kernel import PairKernel, from_table, gaussian_of, power_of
from pairlearn.pair_kernels.outer import Power
from pairlearn.pair_kernels.table import Table, table

Projection = Literal["direct_sum", "difference", "tensor", "wedge"]

PROJECTIONS: dict[str, Table] = {
    "direct_sum": table(ac=0.5, ad=0.5, bc=0.5, bd=0.5),
    "difference": table(ac=0.5, ad=-0.5, bc=-0.5, bd=0.5),
    "tensor": table(ac_bd=0.5, ad_bc=0.5),
    "wedge": table(ac_bd=0.5, ad_bc=-0.5),
}


def poly_direct_sum(degree: int = 2, offset: float = 1.0) -> PairKernel:
    """(ac + bd + r)^p: order-invariant, not symmetric."""
    return _power(table(ac=1.0, bd=1.0), degree, offset)


def poly_tensor(degree: int = 2, offset: float = 1.0) -> PairKernel:
    """(ac·bd + r)^p: order-invariant, not symmetric."""
    return _power(table(ac_bd=1.0), degree, offset)


def outer_power(projection: Projection, degree: int, offset: float = 0.0) -> PairKernel:
    """(s + r)^p of a projection's inner product s."""
    return _power(_projection(projection), degree, offset)


def outer_gaussian(projection: Projection, gamma: float = 1.0) -> PairKernel:
    """exp(−γ(s₁₁ + s₂₂ − 2s₁₂)) of a projection's inner product s."""
    return gaussian_of(from_table(_projection(projection)), gamma)


def _power(projection: Table, degree: int, offset: float) -> PairKernel:
    if projection.degree * degree > 2:
        return power_of(from_table(projection), degree, offset)
    Power(degree, offset)  # checks degree and offset
    shifted = from_table(projection.plus(table(offset)))
    return shifted if degree == 1 else shifted * shifted


def _projection(name: str) -> Table:
    if name not in PROJECTIONS:
        raise InputError(f"unknown projection {name!r}; choose {', '.join(PROJECTIONS)}")
    return PROJECTIONS[name]


_metric = outer_power("difference", 2)

CATALOG: dict[str, PairKernel] = {
    "poly_direct_sum": poly_direct_sum(),
    "poly_tensor": poly_tensor(),
    **{name: from_table(part) for name, part in PROJECTIONS.items()},
    "metric": _metric,
    "wedge_squared": outer_power("wedge", 2),
    "direct_metric": from_table(PROJECTIONS["direct_sum"]) + _metric,
    "tensor_metric": from_table(PROJECTIONS["tensor"]) + _metric,
}


def pair_kernel(kernel: str | PairKernel) -> PairKernel:
    """A pair kernel by its name, or as it is.

    >>> import pairlearn as pl
    >>> pl.pair_kernel("wedge").symmetry
    'antisymmetric'
    """
    if isinstance(kernel, PairKernel):
        return kernel
    if isinstance(kernel, str) and kernel in CATALOG:
        return CATALOG[kernel]
    raise InputError(f"unknown pair kernel {kernel!r}; choose {', '.join(CATALOG)} or pass a PairKernel")
