"""Pair kernels of degree ≤ 2: small tables over four look-ups of a base Gram matrix.

Between the pairs (a, b) and (c, d) a base kernel has four values, ac = k(a, c), ad, bc and bd. Most pair kernels are
polynomials of degree ≤ 2 in them, so a table of at most fifteen coefficients says everything: swapping the left pair
exchanges the names a and b, hence symmetry is a comparison of tables; rows, blocks and fast products follow too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels import Kernel
from pairlearn.types import Floats

LOOKUPS = ("ac", "ad", "bc", "bd")
Monomial = tuple[str, ...]
MONOMIALS: tuple[Monomial, ...] = tuple(
    m for degree in range(3) for m in combinations_with_replacement(LOOKUPS, degree)
)
"""(), (ac,), …, (bd, bd): the fifteen monomials of degree ≤ 2; a stored table may hold no other."""

SWAP_LEFT = {"ac": "bc", "bc": "ac", "ad": "bd", "bd": "ad"}
SWAP_RIGHT = {"ac": "ad", "ad": "ac", "bc": "bd", "bd": "bc"}


class Quad(NamedTuple):
    """The four look-ups of pairs (a, b) against pairs (c, d), arrays of one shape."""

    ac: Floats
    ad: Floats
    bc: Floats
    bd: Floats


@dataclass(frozen=True, repr=False)
class Table:
    """Σ coefficient · monomial over ac, ad, bc, bd, the base kernel's values between two pairs.

    `terms` holds (monomial, coefficient) sorted and without zeros, so equal tables compare equal.
    `base` None means the base kernel that the machine is given.
    """

    terms: tuple[tuple[Monomial, float], ...]
    base: Kernel | None = None

    @property
    def degree(self) -> int:
        """Largest number of look-ups in a monomial."""
        return max((len(monomial) for monomial, _ in self.terms), default=0)

    def __repr__(self) -> str:
        """As `table` is called: table(ac_bd=0.5, ad_bc=0.5)."""
        named = [f"{'_'.join(m) if m else 'constant'}={c!r}" for m, c in self.terms]
        base = [] if self.base is None else [f"base={self.base!r}"]
        return f"table({', '.join(named + base)})"

    def _renamed(self, names: Mapping[str, str]) -> Table:
        return _collect(((tuple(names[n] for n in m), c) for m, c in self.terms), self.base)

    def swap(self, left: bool, right: bool) -> tuple[float, Table]:
        """With the left and/or right pair swapped; the sign is always 1, for tables hold their own."""
        table = self._renamed(SWAP_LEFT) if left else self
        return 1.0, table._renamed(SWAP_RIGHT) if right else table

    def apart(self) -> Table:
        """The table of two domains, where ad = bc = 0."""
        return _collect(((m, c) for m, c in self.terms if not {"ad", "bc"} & set(m)), self.base)

    def plus(self, other: Table) -> Table:
        """Sum of two tables on the same base."""
        return _collect((*self.terms, *other.terms), self.base)

    def scaled(self, factor: float) -> Table:
        """factor · table."""
        return _collect(((m, c * factor) for m, c in self.terms), self.base)

    def times(self, other: Table) -> Table | None:
        """Product of two tables on the same base, or None beyond degree 2."""
        if self.degree + other.degree > 2:
            return None
        terms = product(self.terms, other.terms)
        return _collect(((m1 + m2, c1 * c2) for (m1, c1), (m2, c2) in terms), self.base)

    def on(self, base: Kernel) -> Table:
        """The same table on this base, unless it has one already."""
        return replace(self, base=base) if self.base is None else self

    def evaluate(self, look: Quad) -> Floats:
        """Value from the four look-ups, term by term: the plain twin of the compiled loops."""
        total = np.zeros(np.broadcast_shapes(*(np.shape(v) for v in look)))
        for monomial, coefficient in self.terms:
            value = np.asarray(coefficient)
            for name in monomial:
                value = value * getattr(look, name)
            total = total + value
        return total


def compares_only(part: Table) -> bool:
    """Whether a table sees nothing of its base but differences of two examples: t and t² of `weights`.

    Where the origin of the features is does not matter then, but for rounding: squares of rows that lie 10⁶ standard
    deviations from 0 have no digits left for differences.
    """
    w = weights(part)
    return w is not None and not w[[1, 3, 5, 6, 7]].any()


def weights(part: Table) -> Floats | None:
    """The table on 1, s, t, s², t², s·t, ac·bd, ad·bc with s, t = (ac + bd) ± (ad + bc), or None if it is not one.

    Every order-invariant table that is symmetric in its two pairs has these eight weights. In this grouping swapping a
    pair exchanges summands within a sum, which changes no bit, and turns t into −t exactly: values are symmetric or
    antisymmetric bit by bit, and reflexive pairs have rows of exact zeros. Fifteen coefficients evaluated one by one
    would be so only up to rounding, and slower.
    """
    w = dict(part.terms)
    both = (("ac", "bd"), ("ad", "bc")), ((("ac", "ac"), ("bd", "bd")), (("ad", "ad"), ("bc", "bc")))
    linear = [(w.get((x,), 0.0), w.get((y,), 0.0)) for x, y in both[0]]
    squares = [(w.get(x, 0.0), w.get(y, 0.0)) for x, y in both[1]]
    mixed = [w.get(m, 0.0) for m in (("ac", "ad"), ("bc", "bd"), ("ac", "bc"), ("ad", "bd"))]
    if any(x != y for x, y in linear + squares) or len(set(mixed)) > 1:
        return None
    (u, _), (v, _) = linear
    (uu, _), (vv, _), uv = *squares, mixed[0]
    return np.array(
        [
            w.get((), 0.0),
            (u + v) / 2,
            (u - v) / 2,
            (uu + vv) / 4 + uv / 4,
            (uu + vv) / 4 - uv / 4,
            (uu - vv) / 2,
            w.get(("ac", "bd"), 0.0) - 2 * uu,
            w.get(("ad", "bc"), 0.0) - 2 * vv,
        ]
    )


def _collect(terms: Iterable[tuple[Monomial, float]], base: Kernel | None) -> Table:
    """Equal monomials added, zeros dropped, sorted: the one form of a table."""
    total: dict[Monomial, float] = {}
    for monomial, coefficient in terms:
        key = tuple(sorted(monomial))
        if len(key) > 2:
            raise InputError("a table holds monomials of degree ≤ 2")
        total[key] = total.get(key, 0.0) + coefficient
    return Table(tuple(sorted((m, c) for m, c in total.items() if c != 0.0)), base)


def table(constant: float = 0.0, base: Kernel | None = None, **terms: float) -> Table:
    """A table from named monomials: `table(ac_bd=0.5, ad_bc=0.5)` is ½(ac·bd + ad·bc).

    >>> table(ac_bd=0.5, ad_bc=0.5).degree
    2
    """
    named = ((tuple(name.split("_")), value) for name, value in terms.items())
    unknown = [name for name in terms if not set(name.split("_")) <= set(LOOKUPS)]
    if unknown:
        raise InputError(f"unknown look-ups in {unknown}; use ac, ad, bc, bd joined by _")
    return _collect((*named, ((), constant)), base)
