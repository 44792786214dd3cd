"""Which question does a machine answer: "are they alike?" (symmetric) or "which comes first?" (antisymmetric)?

g inherits the symmetry of the pair kernel, so a machine that answers one question refuses a kernel for the other, and
one that answers both (regression, transduction) follows its kernel. The answer is a sign: +1 for g(b, a) = g(a, b),
−1 for g(b, a) = −g(a, b).
"""

from __future__ import annotations

from typing import Literal

from pairlearn.errors import InputError, SymmetryError, SymmetryWarning, warn_user
from pairlearn.pair_kernels import PairKernel
from pairlearn.pairs import Pairs

Mirrored = bool | Literal["symmetric", "antisymmetric"]
SIGNS = {"symmetric": 1, "antisymmetric": -1}
"""The sign that a symmetry of the kernel gives to g; other kernels have none of their own."""


def sign_of(machine: str, kernel: PairKernel, pairs: Pairs, wanted: int | None, mirrored: Mirrored) -> int:
    """The sign of the function that this machine will learn; `wanted` None follows the kernel.

    A kernel without symmetry is allowed with a warning: g(u, v) ≠ g(v, u) is rarely what one wants, but it is
    a well-posed machine.
    """
    if pairs.right_examples is not None:
        return _of_two_tables(machine, kernel, wanted, mirrored)
    if mirrored:
        return _of_both_orders(machine, kernel, wanted, mirrored)
    if kernel.symmetry == "none" and wanted != -1:
        warn_user(
            "this pair kernel is not symmetric, so g(u, v) ≠ g(v, u); kernel.balanced() makes it symmetric",
            SymmetryWarning,
        )
    found = SIGNS.get(kernel.symmetry, 1)
    if wanted is not None and wanted != found:
        raise SymmetryError(_wrong(machine, kernel.symmetry, wanted))
    return found


def _of_two_tables(machine: str, kernel: PairKernel, wanted: int | None, mirrored: Mirrored) -> int:
    """Left and right examples are of different kinds, so (b, a) does not exist."""
    if mirrored:
        raise InputError("pairs of two tables have no mirror image; use mirrored=False")
    if wanted == -1 or kernel.symmetry == "antisymmetric":
        raise SymmetryError(f"{machine} on two tables needs a symmetric kernel, e.g. tensor: its pairs have no order")
    return 1


def _of_both_orders(machine: str, kernel: PairKernel, wanted: int | None, mirrored: Mirrored) -> int:
    """Training on both orders makes any order-invariant kernel as symmetric as is asked for."""
    if mirrored not in (True, *SIGNS):
        raise InputError(f'mirrored is True, False, "symmetric" or "antisymmetric", got {mirrored!r}')
    of_kernel = SIGNS.get(kernel.symmetry)
    asked = SIGNS[mirrored] if isinstance(mirrored, str) else of_kernel or wanted
    if asked is None:
        raise SymmetryError('mirrored training of this kernel needs to know: mirrored="symmetric" or "antisymmetric"')
    if any(known not in (None, asked) for known in (wanted, of_kernel)):
        raise SymmetryError(_wrong(machine, kernel.symmetry, wanted or asked))
    if not kernel.order_invariant:
        warn_user(
            "this pair kernel is not order-invariant, so mirrored training does not make g symmetric; "
            "kernel.order_invariant_part() is",
            SymmetryWarning,
        )
    return asked


def _wrong(machine: str, symmetry: str, sign: int) -> str:
    if sign == 1:
        return (
            f"{machine} answers a symmetric question, but this pair kernel is {symmetry}; "
            "use pl.PairRanker, or a symmetric kernel such as its square"
        )
    found = symmetry if symmetry != "none" else "not"
    return (
        f"{machine} answers an antisymmetric question, but this pair kernel is {found}"
        "; use difference or wedge, or kernel.skewed() of an order-invariant one such as poly_tensor"
    )
