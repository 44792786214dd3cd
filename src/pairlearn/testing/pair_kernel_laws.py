"""Laws of pair kernels: what `pl.pair_kernels.PairKernel` promises, on pairs of yours.

Symmetry of a pair kernel is derived from its form. Here it is looked at from the other side: the values between all
pairs and all swapped pairs, in one matrix (2n, 2n), from the operator that a machine would use. Both can differ only if
a table, a view or a kernel on a view says something about itself that is not so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pairlearn.errors import SymmetryError
from pairlearn.kernels import as_kernel
from pairlearn.operators.build import build
from pairlearn.pair_kernels import PairKernel, Table, pair_kernel
from pairlearn.pairs import Pairs
from pairlearn.testing.laws import Law, require, require_close, sample, try_all
from pairlearn.testing.operators import check_operator
from pairlearn.types import Floats

Formula = Callable[[Floats, Floats, Floats, Floats], Floats]


def check_pair_kernel(
    kernel: str | PairKernel, pairs: Pairs, base: Any = "linear", formula: Formula | None = None
) -> None:
    """Try every law of pair kernels on these pairs; raise a LawError for the first that is broken.

    `base` serves the parts that have none. `formula(ac, ad, bc, bd)` is what the kernel should compute from the base
    kernel's values between all pairs (a, b) and (c, d), matrices (n, n); without it, values are compared with each
    other only.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.random.default_rng(0).normal(size=(5, 2)))
    >>> pl.testing.check_pair_kernel("tensor", pairs, formula=lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2)
    """
    whole = build(pair_kernel(kernel).on(as_kernel(base)), pairs).kernel
    try_all(PAIR_KERNEL_LAWS, whole, pairs)
    if formula is not None:
        try_all((values,), whole, pairs, formula)


def matrix(kernel: PairKernel, pairs: Pairs) -> Floats:
    """K between all pairs, (n, n)."""
    everyone = np.arange(len(pairs))
    return build(kernel, pairs).operator.submatrix(everyone, everyone)


def quarters(kernel: PairKernel, pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    """K(ab, cd), K(ba, cd) and K(ba, dc) of all pairs, (n, n) each."""
    n = len(pairs)
    both = matrix(kernel, pairs.followed_by(pairs.swapped()))
    return both[:n, :n], both[n:, :n], both[n:, n:]


def values(kernel: PairKernel, pairs: Pairs, formula: Formula) -> None:
    """The kernel is the formula of its base kernel's four values."""
    (base,) = kernel.bases
    assert base is not None
    K = base(pairs.examples, base.anchor(pairs.examples, np.arange(pairs.n_examples)))
    sides = [np.asarray(column) for column in pairs.columns]
    expected = formula(*(K[np.ix_(row, col)] for row in sides for col in sides))
    require_close(matrix(kernel, pairs), expected, "values differ from the formula", 1e-10)


def gram_symmetry(kernel: PairKernel, pairs: Pairs) -> None:
    """K(p, q) = K(q, p)."""
    M = matrix(kernel, pairs)
    require_close(M, M.T, "K(p, q) and K(q, p) differ", 1e-12)


def definiteness(kernel: PairKernel, pairs: Pairs) -> None:
    """Over definite kernels, no Gram matrix has a negative eigenvalue."""
    parts = [leaf.base if isinstance(leaf, Table) else leaf.kernel for leaf in kernel.leaves]
    if all(part is not None and part.definite is True for part in parts):
        M = matrix(kernel, pairs)
        smallest, largest = np.linalg.eigvalsh(0.5 * (M + M.T))[[0, -1]]
        limit = -1e-9 * max(abs(smallest), abs(largest))
        require(smallest >= limit, f"its kernels are definite, but it has the eigenvalue {smallest:.4g}")


def swapping(kernel: PairKernel, pairs: Pairs) -> None:
    """`symmetry` is what swapping the left pair does to the values.

    "none" promises nothing: a kernel on a view may be symmetric without anyone knowing.
    """
    straight, swapped, _ = quarters(kernel, pairs)
    sign = {"symmetric": 1.0, "antisymmetric": -1.0}.get(kernel.symmetry)
    if sign is not None:
        require_close(swapped, sign * straight, f"claims to be {kernel.symmetry}, but K(ba, cd)", 1e-12)


def order_invariance(kernel: PairKernel, pairs: Pairs) -> None:
    """`order_invariant` is what swapping both pairs does to the values."""
    if kernel.order_invariant:
        straight, _, both = quarters(kernel, pairs)
        require_close(both, straight, "claims to be order-invariant, but K(ba, dc)", 1e-12)


def halves(kernel: PairKernel, pairs: Pairs) -> None:
    """.balanced() and .skewed() are ½(K(ab, cd) ± K(ba, cd)), and as symmetric as they say.

    Errors are measured against the largest value of K: a half may be small where two large values cancel.
    """
    if not kernel.order_invariant:
        return
    straight, swapped, _ = quarters(kernel, pairs)
    scale = max(float(np.abs(straight).max()), np.finfo(float).tiny)
    for name, sign, expected in (("balanced", 1.0, "symmetric"), ("skewed", -1.0, "antisymmetric")):
        try:
            half = getattr(kernel, name)()
        except SymmetryError:  # refused, which is right when it would be zero
            require_close((straight - swapped) / scale, np.zeros_like(straight), f"{name}() is refused, but its part")
            continue
        if half.terms:
            require(half.symmetry == expected, f"{name}() is {half.symmetry}")
            found = matrix(half, pairs) / scale
            error = float(np.abs(found - (straight + sign * swapped) / (2 * scale)).max())
            require(error <= 1e-10, f"{name}() differs from half of K(ab, cd) ± K(ba, cd) by {error:.3g} of max K")


def combinations(kernel: PairKernel, pairs: Pairs) -> None:
    """K + K, K·K and c·K are what they say."""
    M = matrix(kernel, pairs)
    for name, made, expected in (
        ("K + K", kernel + kernel, 2 * M),
        ("K * K", kernel * kernel, M * M),
        ("0.5 * K", 0.5 * kernel, 0.5 * M),
    ):
        require_close(matrix(made, pairs), expected, name)


def slicing(kernel: PairKernel, pairs: Pairs) -> None:
    """Values of some pairs are those values among all pairs."""
    chosen = sample(len(pairs), min(len(pairs), 7))
    M = matrix(kernel, pairs)
    require_close(matrix(kernel, pairs[chosen]), M[np.ix_(chosen, chosen)], "values depend on other pairs")


def operation(kernel: PairKernel, pairs: Pairs) -> None:
    """The operator that a machine would use keeps the laws of operators: diagonal, rows, blocks, products."""
    check_operator(build(kernel, pairs).operator, matrix(kernel, pairs))


def value(kernel: PairKernel, pairs: Pairs) -> None:
    """Built again from its own terms it is equal, has one hash and prints the same."""
    again = PairKernel(kernel.terms[::-1])
    require(again == kernel, "built again from its terms, it is not equal")
    require(hash(again) == hash(kernel), "built again from its terms, it has another hash")


PAIR_KERNEL_LAWS: tuple[Law, ...] = (
    *(gram_symmetry, definiteness, swapping, order_invariance, halves),
    *(combinations, slicing, operation, value),
)
"""What `check_pair_kernel` tries, in this order."""
