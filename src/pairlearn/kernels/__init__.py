"""Base kernels: similarity of two examples."""

from __future__ import annotations

from pairlearn.errors import InputError
from pairlearn.kernels.base import Kernel, TwoDomains
from pairlearn.kernels.gram import Gram
from pairlearn.kernels.matching import Deformable, Latent, Rigid
from pairlearn.kernels.sequences import DTW, AlignmentSimilarity, EditSimilarity
from pairlearn.kernels.similarity import FromFunction, Precomputed
from pairlearn.kernels.spectrum import Spectrum, draw_spectrum, inverse_root, spectrum_report, treat_spectrum
from pairlearn.kernels.vector import Cosine, Exponential, Gaussian, Linear, Polynomial, Standardised

__all__ = [
    "DTW",
    "AlignmentSimilarity",
    "Cosine",
    "Deformable",
    "EditSimilarity",
    "Exponential",
    "FromFunction",
    "Gaussian",
    "Gram",
    "Kernel",
    "Latent",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Rigid",
    "Spectrum",
    "Standardised",
    "TwoDomains",
    "as_kernel",
    "draw_spectrum",
    "inverse_root",
    "spectrum_report",
    "treat_spectrum",
]

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
    raise InputError(f"unknown base kernel {base!r}; choose {known}, a pl.kernels.Kernel, a pl.Gram or a callable")
