"""Names of 0.1 that work until 0.3: what they built, written with what took their place."""

from __future__ import annotations

from pairlearn.pair_kernels.catalog import gaussian, power
from pairlearn.pair_kernels.groups import group_linear
from pairlearn.pair_kernels.kernel import PairKernel


def outer_power(projection: str, degree: int, offset: float = 0.0) -> PairKernel:
    """`power(projection, degree, offset)`."""
    return power(projection, degree, offset)


def outer_gaussian(projection: str, gamma: float = 1.0) -> PairKernel:
    """`gaussian(projection, gamma)`."""
    return gaussian(projection, gamma)


def group_polynomial(
    degree: int = 2, offset: float = 1.0, *, invariant: bool = True, signed: bool = True
) -> PairKernel:
    """`power(group_linear(), degree, offset)`."""
    return power(group_linear(invariant=invariant, signed=signed), degree, offset)


def group_gaussian(gamma: float = 1.0, *, invariant: bool = True, signed: bool = True) -> PairKernel:
    """`gaussian(group_linear(), gamma)`."""
    return gaussian(group_linear(invariant=invariant, signed=signed), gamma)
