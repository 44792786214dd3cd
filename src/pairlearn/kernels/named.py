"""Base kernels by name: what `base=` accepts, and which kernels a model file may hold.

A file names classes, and loading calls them; the list of those that may be named is closed, so that a file can choose
among kernels of this package but never run code of its own. It is made from the modules, not kept by hand: a kernel
that is added to one of them can be stored at once.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from types import ModuleType

from pairlearn.errors import InputError
from pairlearn.kernels import base, latent, mapped, matching, sequences, similarity, vector
from pairlearn.kernels.base import Kernel, TwoDomains
from pairlearn.kernels.gram import Gram
from pairlearn.kernels.low_rank import kernel as low_rank
from pairlearn.kernels.low_rank.kernel import LowRank
from pairlearn.kernels.similarity import FromFunction, Precomputed
from pairlearn.kernels.vector import Cosine, Gaussian, Linear, Polynomial, Standardised

NAMED: dict[str, Kernel] = {
    "linear": Linear(),
    "poly": Polynomial(),
    "rbf": Gaussian(),
    "cosine": Cosine(),
    "standardised": Standardised(),
    "precomputed": Precomputed(),
}
"""What a string means wherever a base is given; others are written as kernels: `pl.kernels.Gaussian(gamma=0.1)`."""


LOW_RANK = "lowrank("
"""How the text of a kernel of low rank begins: lowrank(name, rank, landmarks, tol), the last three if given."""


def _kernels_of(module: ModuleType) -> list[type[Kernel]]:
    """The kernels that a module defines: its frozen values that are kernels."""
    found = (kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__)
    return [kind for kind in found if issubclass(kind, Kernel) and is_dataclass(kind)]


MODULES = (base, vector, mapped, similarity, sequences, matching, latent, low_rank)
HOLD_CODE: tuple[type[Kernel], ...] = (FromFunction, latent.Latent)
"""Kernels with functions of the user inside; a file that held them could run anything."""
STORABLE: tuple[type[Kernel], ...] = tuple(
    kind for module in MODULES for kind in _kernels_of(module) if kind not in HOLD_CODE
)
"""The kernels that a model file may hold, by class name: all of this package but those that hold code."""


def as_kernel(given: object) -> Kernel:
    """A base kernel from its name, a Kernel, a Gram, any callable f(A, B) → matrix, or (left, right) of these.

    >>> as_kernel("poly"), as_kernel(("linear", "rbf"))
    (Polynomial(degree=2, gamma=1.0, coef0=0.0), TwoDomains(left=Linear(), right=Gaussian(gamma='scale')))
    >>> as_kernel("lowrank(rbf, 300, pivoted)")
    LowRank(kernel=Gaussian(gamma='scale'), rank=300, landmarks='pivoted', tol=None, seed=0)
    """
    if isinstance(given, tuple):
        if len(given) != 2:
            raise InputError(f"two domains have two base kernels, (left, right), got {len(given)}")
        return TwoDomains(as_kernel(given[0]), as_kernel(given[1]))
    if isinstance(given, Kernel):
        return given
    if isinstance(given, Gram):
        return given.kernel
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    if isinstance(given, str) and given.startswith(LOW_RANK):
        return _low_rank(given)
    if callable(given):
        return FromFunction(given)
    known = ", ".join(repr(name) for name in NAMED)
    raise InputError(
        f"unknown base kernel {given!r}; choose {known}, 'lowrank(rbf, 300)', a pl.kernels.Kernel, a pl.kernels.Gram "
        "or a callable"
    )


def _low_rank(text: str) -> LowRank:
    """The kernel of such a text."""
    name, *rest = (part.strip() for part in text.removeprefix(LOW_RANK).removesuffix(")").split(","))
    try:
        if len(rest) > 3 or not text.endswith(")"):
            raise ValueError
        given = [read(part) for read, part in zip((int, str, float), rest, strict=False)]
    except ValueError as error:
        raise InputError(
            f"cannot read the base kernel {text!r:.80}; write lowrank(name, rank, landmarks, tol), such as "
            "lowrank(rbf, 300) or lowrank(rbf, 1000, pivoted, 0.01)"
        ) from error
    return LowRank(as_kernel(name), *given)
