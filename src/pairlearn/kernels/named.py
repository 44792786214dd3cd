"""Base kernels by name: what `base=` accepts."""

from __future__ import annotations

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel, TwoDomains
from pairlearn.kernels.gram import Gram
from pairlearn.kernels.similarity import FromFunction, Precomputed
from pairlearn.kernels.vector import Cosine, Gaussian, Linear, Polynomial

NAMED: dict[str, Kernel] = {
    "linear": Linear(),
    "poly": Polynomial(),
    "rbf": Gaussian(),
    "cosine": Cosine(),
    "precomputed": Precomputed(),
}


def as_kernel(base: object) -> Kernel:
    """A base kernel from its name, a Kernel, a Gram, any callable f(A, B) → matrix, or (left, right) of these."""
    if isinstance(base, tuple):
        if len(base) != 2:
            raise InputError(f"two domains have two base kernels, (left, right), got {len(base)}")
        return TwoDomains(as_kernel(base[0]), as_kernel(base[1]))
    if isinstance(base, Kernel):
        return base
    if isinstance(base, Gram):
        return base.kernel
    if isinstance(base, str) and base in NAMED:
        return NAMED[base]
    if callable(base):
        return FromFunction(base)
    known = ", ".join(repr(name) for name in NAMED)
    raise InputError(
        f"unknown base kernel {base!r}; choose {known}, a pl.kernels.Kernel, a pl.kernels.Gram or a callable"
    )
