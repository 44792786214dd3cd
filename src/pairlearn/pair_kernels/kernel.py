"""A pair kernel: a sum of products of tables and expressions, whose symmetry follows from its form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from pairlearn.errors import InputError, SymmetryError
from pairlearn.kernels import Kernel
from pairlearn.pair_kernels.outer import Expression
from pairlearn.pair_kernels.table import Table
from pairlearn.types import Floats

Symmetry = Literal["symmetric", "antisymmetric", "none"]
Atom = Table | Expression
Term = tuple[float, tuple[Atom, ...]]
Values = Callable[[Table], Floats]
"""Gives the values of a table: (rows, cols) across, or one per row, or one per column."""
NOTHING = np.zeros(1)
"""Stands for self values that an outer function does not use."""


@dataclass(frozen=True)
class PairKernel:
    """Σ coefficient · Π atoms; pair kernels add, multiply and scale.

    >>> import pairlearn as pl
    >>> tensor, metric = pl.pair_kernel("tensor"), pl.pair_kernel("metric")
    >>> tensor + metric == pl.pair_kernel("tensor_metric"), (tensor * metric).symmetry
    (True, 'symmetric')
    """

    terms: tuple[Term, ...]

    # -- derived facts

    @cached_property
    def symmetry(self) -> Symmetry:
        """Whether K((b, a), ·) is K((a, b), ·), minus it, or neither."""
        swapped = self._swapped_left()
        if swapped == self:
            return "symmetric"
        return "antisymmetric" if swapped == self._times(-1.0) else "none"

    @cached_property
    def order_invariant(self) -> bool:
        """Whether K((b, a), (d, c)) = K((a, b), (c, d))."""
        return self._swapped_both() == self

    @property
    def bases(self) -> tuple[Kernel | None, ...]:
        """The base kernels in use, each once; None stands for the machine's own."""
        return tuple(dict.fromkeys(atom.base for _, atoms in self.terms for atom in atoms))

    @property
    def tables(self) -> tuple[Table, ...] | None:
        """The kernel as a sum of tables, one per base, or None when it is not of degree ≤ 2."""
        if all(len(atoms) == 1 and isinstance(atoms[0], Table) for _, atoms in self.terms):
            return tuple(atoms[0] for _, atoms in self.terms)  # type: ignore[misc]
        return None

    # -- building

    def on(self, base: Kernel) -> PairKernel:
        """The same kernel on this base; parts that have a base keep it."""
        return _collect((c, tuple(atom.on(base) for atom in atoms)) for c, atoms in self.terms)

    def rebased(self, bases: Mapping[Kernel, Kernel]) -> PairKernel:
        """The same kernel with every base replaced by what it maps to."""
        return _collect((c, tuple(_rebased(atom, bases) for atom in atoms)) for c, atoms in self.terms)

    def __add__(self, other: PairKernel) -> PairKernel:
        if not isinstance(other, PairKernel):
            return NotImplemented
        return _collect((*self.terms, *other.terms))

    def __mul__(self, other: PairKernel | float) -> PairKernel:
        if isinstance(other, PairKernel):
            return _collect((c1 * c2, a1 + a2) for c1, a1 in self.terms for c2, a2 in other.terms)
        if not isinstance(other, (int, float, np.number)) or not 0 < float(other) < np.inf:
            raise InputError(f"a pair kernel is scaled by a finite factor > 0, got {other!r}")
        return self._times(float(other))

    def __rmul__(self, factor: float) -> PairKernel:
        return self * factor

    def balanced(self) -> PairKernel:
        """½(K(ab, cd) + K(ba, cd)): the symmetric part of an order-invariant kernel."""
        return self._half(1.0)

    def skewed(self) -> PairKernel:
        """½(K(ab, cd) − K(ba, cd)): the antisymmetric part of an order-invariant kernel."""
        kernel = self._half(-1.0)
        if not kernel.terms:
            raise SymmetryError(
                "this kernel is symmetric, so its skew part is zero; skew one that is not, e.g. poly_tensor"
            )
        return kernel

    def order_invariant_part(self) -> PairKernel:
        """½(K(ab, cd) + K(ba, dc)), which is order-invariant for any K."""
        return self._times(0.5) + self._swapped_both()._times(0.5)

    def _half(self, sign: float) -> PairKernel:
        if not self.order_invariant:
            raise SymmetryError("K(ab, cd) and K(ba, dc) differ; call .order_invariant_part() first")
        return self._times(0.5) + self._swapped_left()._times(0.5 * sign)

    def _times(self, factor: float) -> PairKernel:
        return _collect((c * factor, atoms) for c, atoms in self.terms)

    def _swapped_left(self) -> PairKernel:
        def swap(coefficient: float, atoms: tuple[Atom, ...]) -> Term:
            swapped: list[Atom] = []
            for atom in atoms:
                if isinstance(atom, Table):
                    swapped.append(atom.swapped_left())
                else:
                    sign, expression = atom.swapped_left()
                    coefficient *= sign
                    swapped.append(expression)
            return coefficient, tuple(swapped)

        return _collect(swap(c, atoms) for c, atoms in self.terms)

    def _swapped_both(self) -> PairKernel:
        # An expression stands on an order-invariant projection, so swapping both of its pairs changes nothing.
        return _collect(
            (c, tuple(a.swapped_both() if isinstance(a, Table) else a for a in atoms)) for c, atoms in self.terms
        )

    # -- values

    def evaluate(self, cross: Values, left: Values, right: Values) -> Floats:
        """Values from those of the tables: across (rows, cols), and self values of rows and columns."""
        total: Floats | None = None
        for coefficient, atoms in self.terms:
            value: Floats | None = None
            for atom in atoms:
                factor = _evaluate(atom, cross, left, right)
                value = factor if value is None else np.multiply(value, factor, out=value)
            assert value is not None
            if coefficient != 1.0:
                value *= coefficient
            total = value if total is None else np.add(total, value, out=total)
        if total is None:
            raise SymmetryError("this pair kernel is zero everywhere; nothing can be learnt with it")
        return total


def _evaluate(atom: Atom, cross: Values, left: Values, right: Values) -> Floats:
    if isinstance(atom, Table):
        return cross(atom)
    if not atom.outer.needs_self:
        return atom.outer(cross(atom.cross), NOTHING, NOTHING)
    return atom.outer(cross(atom.cross), left(atom.projection)[:, None], right(atom.projection)[None, :])


def _rebased(atom: Atom, bases: Mapping[Kernel, Kernel]) -> Atom:
    if atom.base is None:
        return atom
    if isinstance(atom, Expression):
        return replace(atom, projection=replace(atom.projection, base=bases[atom.base]))
    return replace(atom, base=bases[atom.base])


def _collect(terms: Iterable[Term]) -> PairKernel:
    """Canonical form: tables on one base are merged, equal products are added, zeros are dropped."""
    tables: dict[Kernel | None, Table] = {}
    products: dict[tuple[Atom, ...], float] = {}
    for coefficient, atoms in terms:
        atoms, coefficient = _merged_factors(atoms, coefficient)
        if len(atoms) == 1 and isinstance(atoms[0], Table):
            part = atoms[0].scaled(coefficient)
            tables[part.base] = tables[part.base].plus(part) if part.base in tables else part
        else:
            products[atoms] = products.get(atoms, 0.0) + coefficient
    found: list[Term] = [(1.0, (part,)) for part in tables.values() if part.terms]
    found += [(c, atoms) for atoms, c in products.items() if c != 0.0]
    return PairKernel(tuple(sorted(found, key=repr)))


def _merged_factors(atoms: tuple[Atom, ...], coefficient: float) -> tuple[tuple[Atom, ...], float]:
    """Multiply tables on one base where the degree stays ≤ 2; give every table a leading coefficient in [1, 2).

    Only signs and powers of two are moved: they are exact, so that equal kernels stay equal.
    """
    factors: list[Atom] = []
    for atom in atoms:
        for position, other in enumerate(factors):
            if isinstance(atom, Table) and isinstance(other, Table) and atom.base == other.base:
                merged = atom.times(other)
                if merged is not None:
                    factors[position] = merged
                    break
        else:
            factors.append(atom)
    if len(factors) > 1:
        for position, atom in enumerate(factors):
            if isinstance(atom, Table) and atom.terms:
                lead = np.copysign(2.0 ** np.floor(np.log2(abs(atom.terms[0][1]))), atom.terms[0][1])
                factors[position], coefficient = atom.scaled(1.0 / lead), coefficient * lead
    return tuple(sorted(factors, key=repr)), coefficient


def from_table(part: Table) -> PairKernel:
    """A pair kernel that is one table."""
    return _collect([(1.0, (part,))])


def from_expression(part: Expression) -> PairKernel:
    """A pair kernel that is one expression."""
    return PairKernel(((1.0, (part,)),))
