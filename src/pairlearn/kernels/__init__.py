"""Base kernels: similarity of two examples."""

from __future__ import annotations

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel
from pairlearn.kernels.gram import Gram
from pairlearn.kernels.similarity import FromFunction, Precomputed
from pairlearn.kernels.vector import Cosine, Exponential, Gaussian, Linear, Polynomial

__all__ = [
    "Cosine",
    "Exponential",
    "FromFunction",
    "Gaussian",
    "Gram",
    "Kernel",
    "Linear",
    "Polynomial",
    "Precomputed",
    "as_kernel",
]

NAMED: dict[str, Kernel] = {
    "linear": Linear(),
    "poly": Polynomial(),
    "rbf": Gaussian(),
    "cosine": Cosine(),
    "precomputed": Precomputed(),
}


def as_kernel(base: object) -> Kernel:
    """A base kernel from its name, a Kernel, a Gram or any callable f(A, B) → matrix."""
    if isinstance(base, Kernel):
        return base
    if isinstance(base, Gram):
        return base.kernel
    if isinstance(base, str) and base in NAMED:
        return NAMED[base]
    if callable(base):
        return FromFunction(base)
    known = ", ".join(repr(name) for name in NAMED)
    raise InputError(f"unknown base kernel {base!r}; choose {known}, a pl.kernels.Kernel, a pl.Gram or a callable")
