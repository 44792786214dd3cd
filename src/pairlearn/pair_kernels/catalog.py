"""The pair kernels by name, and outer functions of any of them.

To add one: a line of CATALOG, and a line in the law tests; it is then a name that every machine, the command line and
the staged search take. Names are those of the specification; the papers use some abbreviations for different kernels.
"""

from __future__ import annotations

from pairlearn.errors import InputError
from pairlearn.pair_kernels.kernel import Expression, PairKernel, from_table
from pairlearn.pair_kernels.outer import GaussianOf, Power
from pairlearn.pair_kernels.table import Table, table

PROJECTIONS: dict[str, Table] = {
    "direct_sum": table(ac=0.5, ad=0.5, bc=0.5, bd=0.5),
    "difference": table(ac=0.5, ad=-0.5, bc=-0.5, bd=0.5),
    "tensor": table(ac_bd=0.5, ad_bc=0.5),
    "wedge": table(ac_bd=0.5, ad_bc=-0.5),
}
"""Inner products of a pair's projections: a + b, a − b, a ⊗ b + b ⊗ a, a ⊗ b − b ⊗ a."""


def power(kernel: str | PairKernel, degree: int, offset: float = 0.0) -> PairKernel:
    """(K + r)^p of an order-invariant pair kernel K, r ≥ 0 and p a positive integer.

    Written out as a table where that has degree ≤ 2, for tables have fast products. Of a symmetric K symmetric; of an
    antisymmetric one symmetric for even p and antisymmetric for odd p if r = 0, else neither.

    >>> import pairlearn as pl
    >>> power("difference", 2) == pl.pair_kernel("metric"), power("wedge", 3).symmetry
    (True, 'antisymmetric')
    """
    kernel, outer = pair_kernel(kernel), Power(degree, offset)
    parts = kernel.tables or ()
    if len(parts) != 1 or parts[0].degree * degree > 2:
        return _expression(outer, kernel)
    shifted = kernel + from_table(table(offset, parts[0].base))
    return shifted if degree == 1 else shifted * shifted


def gaussian(kernel: str | PairKernel, gamma: float = 1.0) -> PairKernel:
    """exp(−γ(K₁₁ + K₂₂ − 2K₁₂)) of an order-invariant pair kernel K, K₁₁ and K₂₂ its values of a pair with itself.

    Of a symmetric K symmetric; else order-invariant, so that `.balanced()` and `.skewed()` make it so.

    >>> gaussian("tensor", 0.5).symmetry, gaussian("difference").balanced().symmetry
    ('symmetric', 'symmetric')
    """
    return _expression(GaussianOf(gamma), pair_kernel(kernel))


def _expression(outer: Power | GaussianOf, kernel: PairKernel) -> PairKernel:
    return PairKernel(((1.0, (Expression(outer, kernel),)),))


def poly_direct_sum(degree: int = 2, offset: float = 1.0) -> PairKernel:
    """(ac + bd + r)^p: order-invariant, not symmetric.

    >>> poly_direct_sum(1, 0.0).balanced() == pair_kernel("direct_sum")
    True
    """
    return power(from_table(table(ac=1.0, bd=1.0)), degree, offset)


def poly_tensor(degree: int = 2, offset: float = 1.0) -> PairKernel:
    """(ac·bd + r)^p: order-invariant, not symmetric.

    >>> poly_tensor(1, 0.0).balanced() == pair_kernel("tensor")
    True
    """
    return power(from_table(table(ac_bd=1.0)), degree, offset)


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


CATALOG: dict[str, PairKernel] = {name: from_table(part) for name, part in PROJECTIONS.items()}
CATALOG |= {
    "poly_direct_sum": poly_direct_sum(),
    "poly_tensor": poly_tensor(),
    "metric": power("difference", 2),
    "wedge_squared": power("wedge", 2),
}
CATALOG |= {
    "direct_metric": CATALOG["direct_sum"] + CATALOG["metric"],
    "tensor_metric": CATALOG["tensor"] + CATALOG["metric"],
    "tensor_sum": CATALOG["tensor"] + CATALOG["direct_sum"],
}
"""Every pair kernel that has a name."""
