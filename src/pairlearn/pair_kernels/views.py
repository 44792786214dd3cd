"""Kernels on features of pairs: what a view shows of each pair, compared by a kernel of examples.

A view φ makes one row of every pair: its group features, the scores of a model, the number of its arc. With an ordinary
kernel k on these rows, k(φ(a, b), φ(c, d)) is a pair kernel. What swapping does to it is not seen in a table, so the
view says it (`law`), as far as it is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels import Kernel
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats

Law = Literal["symmetric", "antisymmetric", "order-invariant", "none"]
"""What swapping does to k(φ(a, b), φ(c, d)): nothing; it changes the sign; nothing if both are swapped; unknown."""
BLOCKS = ("left", "invariant", "signed", "right")
PAIRS_ONLY = "this kernel uses features of pairs, which single examples do not have; score pl.Pairs"
"""(x_a, z_ab, w_ab, x_b): features of either example, and features of the pair that stay or change sign."""


@runtime_checkable
class View(Protocol):
    """Shows one row per pair."""

    def show(self, pairs: Pairs) -> Examples:
        """What the kernel sees of every pair, n rows."""

    def law(self, kernel: Kernel) -> Law:
        """What swapping a pair does to this kernel's values."""

    def show_block(self, probe: Examples, gallery: Examples) -> Examples:
        """What the kernel sees of every probe with every gallery example, a row per pair, gallery first."""

    @property
    def needs_pairs(self) -> bool:
        """Whether single examples do not tell what it shows: then there is no `show_block`."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """Per-pair blocks that the view uses."""


class PairsOnly:
    """A view that shows what only pairs have: features of theirs, or a place in a graph."""

    needs_pairs = True

    def show_block(self, probe: Examples, gallery: Examples) -> Examples:
        """Refused: two examples are not a pair with features."""
        raise InputError(PAIRS_ONLY)


@dataclass(frozen=True)
class Blocks(PairsOnly):
    """The chosen blocks of (x_a, z_ab, w_ab, x_b) side by side; swapping is T(x_a, z, w, x_b) = (x_b, z, −w, x_a).

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[1.0], [2.0]]), [0], [1], invariant=[[7.0]], signed=[[5.0]])
    >>> Blocks().show(pairs).tolist(), Blocks().show(pairs.swapped()).tolist()
    ([[1.0, 7.0, 5.0, 2.0]], [[2.0, 7.0, -5.0, 1.0]])
    """

    names: tuple[str, ...] = BLOCKS

    def __post_init__(self) -> None:
        if not self.names or not set(self.names) <= set(BLOCKS) or len(set(self.names)) < len(self.names):
            raise InputError(f"blocks are some of {BLOCKS}, each once, got {self.names}")
        if ("left" in self.names) != ("right" in self.names):
            raise InputError("swapping needs the features of both examples; take left and right, or neither")

    @property
    def blocks(self) -> tuple[str, ...]:
        return self.names

    def show(self, pairs: Pairs) -> Floats:
        """The blocks side by side, (n, sum of their widths); one that these pairs lack is refused by name."""
        columns = {"left": (pairs.examples, pairs.left), "right": (pairs.right_table, pairs.right)}
        parts = []
        for name in self.names:
            table, index = columns.get(name, (getattr(pairs, name, None), slice(None)))
            if sparse.issparse(table) or not isinstance(table, np.ndarray) or table.ndim != 2:
                raise InputError(f"this kernel reads the {name!r} block, but these pairs {_lack(name)}")
            parts.append(np.asarray(table[index], dtype=np.float64))
        return np.hstack(parts)

    def law(self, kernel: Kernel) -> Law:
        """T is a permutation with signs, hence orthogonal: isotropic kernels do not see it on both sides at once.

        On `invariant` alone T is the identity, on `signed` alone it is −1, where the parity of the kernel decides.
        """
        if self.names == ("invariant",):
            return "symmetric"
        if self.names == ("signed",) and kernel.parity:
            return "symmetric" if kernel.parity > 0 else "antisymmetric"
        return "order-invariant" if kernel.isotropic else "none"


@dataclass(frozen=True)
class InvariantColumns(PairsOnly):
    """The columns start … stop − 1 of the `invariant` block, where parts of it have kernels of their own.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.eye(2), [0], [1], invariant=[[7.0, 8.0, 9.0]])
    >>> InvariantColumns(1, 3).show(pairs).tolist()
    [[8.0, 9.0]]
    """

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise InputError(f"columns go from start to stop, 0 ≤ start < stop, got {self.start} and {self.stop}")

    @property
    def blocks(self) -> tuple[str, ...]:
        return ("invariant",)

    def show(self, pairs: Pairs) -> Floats:
        """These columns, (n, stop − start)."""
        if pairs.invariant is None or pairs.invariant.shape[1] < self.stop:
            raise InputError(f"this kernel reads {self.stop} columns of the 'invariant' block; these pairs have fewer")
        return np.asarray(pairs.invariant[:, self.start : self.stop], dtype=np.float64)

    def law(self, kernel: Kernel) -> Law:
        """What is invariant stays the same when a pair is swapped."""
        return "symmetric"


def _lack(name: str) -> str:
    if name in ("left", "right"):
        return "have no rows of numbers as examples; use a dense 2-D array"
    return f"have no `{name}` features; pass pl.Pairs(…, {name}=features)"


@dataclass(frozen=True, repr=False)
class ViewKernel:
    """k(φ(a, b), φ(c, d)), φ what the view shows; `swapped` takes φ(b, a), φ(d, c) where it is True."""

    view: View
    kernel: Kernel
    swapped: tuple[bool, bool] = (False, False)

    def __repr__(self) -> str:
        swapped = f", swapped={self.swapped}" if any(self.swapped) else ""
        return f"ViewKernel({self.view!r}, {self.kernel!r}{swapped})"

    def on(self, base: Kernel) -> ViewKernel:
        """Itself: it has its own kernel."""
        return self

    def swap(self, left: bool, right: bool) -> tuple[float, ViewKernel]:
        """With the left and/or right pair swapped: a sign and the atom, reduced by what is known of it.

        The reduction is what makes two ways to write one kernel equal: without it a symmetric view would not be found
        to be its own swap.
        """
        here, there = self.swapped[0] != left, self.swapped[1] != right
        match self.view.law(self.kernel):
            case "symmetric":
                return 1.0, replace(self, swapped=(False, False))
            case "antisymmetric":
                return (-1.0 if here != there else 1.0), replace(self, swapped=(False, False))
            case "order-invariant":
                return 1.0, replace(self, swapped=(here != there, False))
        return 1.0, replace(self, swapped=(here, there))
