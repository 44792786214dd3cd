"""Pair kernels with group features: blocks that belong to the pair and not to either example."""

from __future__ import annotations

from pairlearn.errors import SymmetryError
from pairlearn.kernels import Kernel, as_kernel
from pairlearn.pair_kernels.kernel import PairKernel, from_table, from_view
from pairlearn.pair_kernels.table import table
from pairlearn.pair_kernels.views import BLOCKS, Blocks, InvariantColumns, ViewKernel


def on_invariant(kernel: str | Kernel = "linear", columns: tuple[int, int] | None = None) -> PairKernel:
    """k(z, z') on the features that stay when a pair is swapped, or on columns start … stop − 1 of them: symmetric.

    >>> import pairlearn as pl
    >>> (pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant("rbf")).symmetry
    'symmetric'
    """
    view = Blocks(("invariant",)) if columns is None else InvariantColumns(*columns)
    return from_view(ViewKernel(view, as_kernel(kernel)))


def on_signed(kernel: str | Kernel = "linear") -> PairKernel:
    """k(w, w') on the features that change sign: antisymmetric for odd homogeneous k, symmetric for even.

    >>> import pairlearn as pl
    >>> [pl.pair_kernels.on_signed(name).symmetry for name in ("linear", "poly", "rbf")]
    ['antisymmetric', 'symmetric', 'none']
    """
    return from_view(ViewKernel(Blocks(("signed",)), as_kernel(kernel)))


def on_blocks(kernel: str | Kernel = "linear", blocks: tuple[str, ...] = BLOCKS) -> PairKernel:
    """k(X, X') on X = (x_a, z_ab, w_ab, x_b) or some of its blocks; order-invariant for isotropic k.

    Any other k becomes order-invariant by `.order_invariant_part()`, ½(K(ab, cd) + K(ba, dc)).

    >>> import pairlearn as pl
    >>> pl.pair_kernels.on_blocks("rbf").order_invariant, pl.pair_kernels.on_blocks("rbf").skewed().symmetry
    (True, 'antisymmetric')
    """
    return from_view(ViewKernel(Blocks(blocks), as_kernel(kernel)))


def group_linear(*, invariant: bool = True, signed: bool = True) -> PairKernel:
    """ac + bd + ⟨z, z'⟩ + ⟨w, w'⟩, the first two by the base kernel: order-invariant, neither symmetric nor skew.

    The inner product of X = (x_a, z_ab, w_ab, x_b); its powers and its Gaussian, exp(−γ‖X − X'‖²), are
    `power(group_linear(), 2, 1.0)` and `gaussian(group_linear(), 0.5)`.

    >>> import pairlearn as pl
    >>> kernel = pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(), 0.5)
    >>> kernel.symmetry, kernel.order_invariant, kernel.balanced().symmetry
    ('none', True, 'symmetric')
    """
    kernel = from_table(table(ac=1.0, bd=1.0))
    kernel = kernel + on_invariant() if invariant else kernel
    return kernel + on_signed() if signed else kernel


def balanced_composite(
    pairs: PairKernel, invariant: str | Kernel | None = None, signed: str | Kernel | None = None
) -> PairKernel:
    """K₁(ab, cd) + k₂(z, z') + k₃(w, w') with symmetric K₁ and even k₃: symmetric.

    >>> import pairlearn as pl
    >>> pl.pair_kernels.balanced_composite(pl.pair_kernel("tensor"), invariant="rbf", signed="poly").symmetry
    'symmetric'
    """
    kernel = _with_invariant(pairs, invariant)
    if signed is None:
        return kernel
    part = on_signed(signed)
    if part.symmetry != "symmetric":
        raise SymmetryError("k₃ must be homogeneous of even degree, e.g. pl.kernels.Polynomial(degree=2)")
    return kernel + part


def skew_composite(
    pairs: PairKernel, signed: str | Kernel = "linear", invariant: str | Kernel | None = None
) -> PairKernel:
    """(K₁(ab, cd) + k₂(z, z')) · k₃(w, w') with symmetric K₁ and odd k₃: antisymmetric.

    >>> import pairlearn as pl
    >>> pl.pair_kernels.skew_composite(pl.pair_kernel("tensor"), "linear", invariant="rbf").symmetry
    'antisymmetric'
    """
    part = on_signed(signed)
    if part.symmetry != "antisymmetric":
        raise SymmetryError("k₃ must be homogeneous of odd degree, e.g. pl.kernels.Linear()")
    return _with_invariant(pairs, invariant) * part


def _with_invariant(pairs: PairKernel, invariant: str | Kernel | None) -> PairKernel:
    if pairs.symmetry != "symmetric":
        raise SymmetryError("K₁ must be symmetric, e.g. direct_sum, tensor, metric, tensor_metric; or .balanced()")
    return pairs if invariant is None else pairs + on_invariant(invariant)
