"""Pair kernels as maps between matrices over examples: what a solver needs that works in their eigenbasis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pairlearn.operators.source import AnySource, Source
from pairlearn.pair_kernels import Table
from pairlearn.pair_kernels.table import weights
from pairlearn.types import Floats, Ints

Sign = Literal[-1, 0, 1]


@dataclass(frozen=True)
class Sandwich:
    """(Kθ)_ab = scale·(G S G')_ab and a correction of low rank, with θ of all pairs scattered over a matrix S.

    `sign` 1: G' = G and S is symmetric, S_ab = S_ba = θ_ab and S_aa = 2θ_aa; −1: S is antisymmetric; 0: S_ab = θ_ab,
    and G' may belong to another table. The correction, for sign 1 only, is E*(`squares`·G∘G + `lines`·G +
    `constant`/4)E + `crossed`·(E*H + H*E) with Eθ the row sums of S and Hθ = ½diag(G S G); E* and H* are their
    transposes, (E*w)_ab = w_a + w_b and (H*w)_ab = (G diag(w) G)_ab. `rows` and `cols` are the cells of the pairs.
    """

    left: Floats
    right: Floats
    rows: Ints
    cols: Ints
    sign: Sign
    scale: float
    squares: float = 0.0
    lines: float = 0.0
    constant: float = 0.0
    crossed: float = 0.0

    @property
    def size(self) -> int:
        """Number of cells of S."""
        return len(self.left) * len(self.right)

    @property
    def corrected(self) -> bool:
        """Whether there is more than one product from either side."""
        return bool(self.squares or self.lines or self.constant or self.crossed)


def sandwich_of(table: Table, source: AnySource, rows: Ints, cols: Ints) -> Sandwich | None:
    """This table as a sandwich; None without a Gram matrix, or where it has other terms than those above.

    With s, t = (ac + bd) ± (ad + bc), s² and t² are E*(G∘G)E + 2·G S G ± 2(E*H + H*E), and s is E*GE.
    """
    left, right = source.left.matrix, source.right.matrix
    if left is None or right is None:
        return None
    one = isinstance(source, Source)
    terms = table.terms if one else table.apart().terms
    if len(terms) == 1 and terms[0][0] == ("ac", "bd") and terms[0][1] > 0:
        return Sandwich(left, right, rows, cols, 0, terms[0][1])
    w = weights(table) if one else None
    if w is None or w[2] or w[5]:
        return None
    constant, s, _, ss, tt, _, straight, swapped = (float(value) for value in w)
    scale = straight + 2.0 * (ss + tt)
    if straight == swapped and scale > 0:
        return Sandwich(left, left, rows, cols, 1, scale, ss + tt, s, constant, 2.0 * (ss - tt))
    if straight == -swapped and straight > 0 and not np.any(w[:6]):
        return Sandwich(left, left, rows, cols, -1, straight)
    return None
