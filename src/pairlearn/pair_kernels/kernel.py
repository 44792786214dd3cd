"""A pair kernel: a sum of products of atoms (tables, kernels on views, expressions), whose symmetry follows from its
form.

`PairKernel` is one final class instead of a hierarchy of Sum, Product, Scaled and Balanced nodes: swapping a pair is
then a rewriting of names, and a kernel is symmetric when its canonical form (see `canonical`) is its own rewriting.
Values come from outside: `evaluate` is given a function that knows the values of tables and of kernels on views, and
only combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from pairlearn.errors import InputError, SymmetryError
from pairlearn.kernels import Kernel
from pairlearn.pair_kernels.canonical import Atom, Leaf, Term, canonical
from pairlearn.pair_kernels.outer import GaussianOf, Power
from pairlearn.pair_kernels.table import Table
from pairlearn.pair_kernels.views import View, ViewKernel
from pairlearn.types import Floats

Symmetry = Literal["symmetric", "antisymmetric", "none"]
Values = Callable[[Leaf], Floats]
"""Gives the values of a leaf: (rows, cols) across, or one per row, or one per column."""
Parts = tuple[tuple[Table, ...], tuple[tuple[float, ViewKernel], ...], "PairKernel | None"]
ZERO = "this pair kernel is zero everywhere; nothing can be learnt with it"
NOTHING = np.zeros(1)
"""Stands for self values that an outer function does not use."""


@dataclass(frozen=True, repr=False)
class PairKernel:
    """K((a, b), (c, d)) = Σ coefficient · Π atoms; pair kernels add, multiply and scale.

    >>> import pairlearn as pl
    >>> tensor, metric = pl.pair_kernel("tensor"), pl.pair_kernel("metric")
    >>> tensor + metric == pl.pair_kernel("tensor_metric"), (tensor * metric).symmetry
    (True, 'symmetric')
    >>> 2.0 * tensor.on(pl.kernels.Linear())
    2 * pair_kernel('tensor').on(Linear())
    """

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", canonical(self.terms))

    def __getstate__(self) -> dict[str, object]:
        # What was derived and kept is no part of the value: equal kernels have equal pickles and equal hashes of them.
        return {"terms": self.terms}

    def __repr__(self) -> str:
        # The names of kernels are known only once there are kernels.
        from pairlearn.pair_kernels.text import written

        return written(self)

    # -- derived facts

    @cached_property
    def symmetry(self) -> Symmetry:
        """Whether K((b, a), ·) is K((a, b), ·), minus it, or neither; zero counts as symmetric."""
        swapped = self.swapped(left=True, right=False)
        if swapped == self:
            return "symmetric"
        return "antisymmetric" if swapped == self._times(-1.0) else "none"

    @cached_property
    def order_invariant(self) -> bool:
        """Whether K((b, a), (d, c)) = K((a, b), (c, d))."""
        return self.swapped(left=True, right=True) == self

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every table and view that occurs, also inside expressions."""
        found: list[Leaf] = []
        for _, atoms in self.terms:
            for atom in atoms:
                found += atom.cross.leaves + atom.projection.leaves if isinstance(atom, Expression) else (atom,)
        return tuple(dict.fromkeys(found))

    @property
    def bases(self) -> tuple[Kernel | None, ...]:
        """The base kernels in use, each once; None stands for the machine's own."""
        return tuple(dict.fromkeys(leaf.base for leaf in self.leaves if isinstance(leaf, Table)))

    @property
    def blocks(self) -> tuple[str, ...]:
        """The per-pair blocks in use."""
        return tuple(dict.fromkeys(b for leaf in self.leaves if isinstance(leaf, ViewKernel) for b in leaf.view.blocks))

    @property
    def tables(self) -> tuple[Table, ...] | None:
        """The kernel as a sum of tables, one per base, or None when it is not of degree ≤ 2."""
        tables, _, _ = self.split()
        return tables if len(tables) == len(self.terms) else None

    def split(self) -> Parts:
        """The terms that are one table, those that are one view (with their factors), and the sum of all others.

        Tables have fast products, linear kernels on views are thin matrices; the rest is computed block by block.
        """
        return self._parts

    @cached_property
    def _parts(self) -> Parts:
        tables, views, rest = [], [], []
        for coefficient, atoms in self.terms:
            if len(atoms) == 1 and isinstance(atoms[0], Table):
                tables.append(atoms[0])
            elif len(atoms) == 1 and isinstance(atoms[0], ViewKernel) and atoms[0].swapped == (False, False):
                views.append((coefficient, atoms[0]))
            else:
                rest.append((coefficient, atoms))
        return tuple(tables), tuple(views), PairKernel(tuple(rest)) if rest else None

    # -- building

    def on(self, base: Kernel) -> PairKernel:
        """The same kernel on this base; parts that have a base keep it."""
        return PairKernel(tuple((c, tuple(atom.on(base) for atom in atoms)) for c, atoms in self.terms))

    def rebased(
        self, bases: Mapping[Kernel, Kernel], views: Mapping[tuple[View, Kernel], Kernel] | None = None
    ) -> PairKernel:
        """The same kernel with every base, and every kernel on a view, replaced by what it maps to.

        This is how parameters that depend on data (gamma="scale", means) are fixed inside a pair kernel at fit.
        """
        known = views or {}
        return PairKernel(tuple((c, tuple(_rebased(atom, bases, known) for atom in atoms)) for c, atoms in self.terms))

    def with_view(self, old: View, new: View) -> PairKernel:
        """The same kernel on what another view shows."""

        def moved(atom: Atom) -> Atom:
            return replace(atom, view=new) if isinstance(atom, ViewKernel) and atom.view == old else atom

        return PairKernel(tuple((c, tuple(map(moved, atoms))) for c, atoms in self.terms))

    def __add__(self, other: PairKernel) -> PairKernel:
        if not isinstance(other, PairKernel):
            return NotImplemented
        return PairKernel((*self.terms, *other.terms))

    def __mul__(self, other: PairKernel | float) -> PairKernel:
        if isinstance(other, PairKernel):
            return PairKernel(tuple((c1 * c2, a1 + a2) for c1, a1 in self.terms for c2, a2 in other.terms))
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
        return self._times(0.5) + self.swapped(left=True, right=True)._times(0.5)

    def swapped(self, *, left: bool, right: bool) -> PairKernel:
        """K(ba, cd) for `left`, K(ab, dc) for `right`, K(ba, dc) for both."""

        def swap(coefficient: float, atoms: tuple[Atom, ...]) -> Term:
            found = [atom.swap(left, right) for atom in atoms]
            return coefficient * float(np.prod([sign for sign, _ in found])), tuple(atom for _, atom in found)

        return PairKernel(tuple(swap(c, atoms) for c, atoms in self.terms))

    def _half(self, sign: float) -> PairKernel:
        if not self.order_invariant:
            raise SymmetryError("K(ab, cd) and K(ba, dc) differ; call .order_invariant_part() first")
        return self._times(0.5) + self.swapped(left=True, right=False)._times(0.5 * sign)

    def _times(self, factor: float) -> PairKernel:
        return PairKernel(tuple((c * factor, atoms) for c, atoms in self.terms))

    # -- values

    def evaluate(self, cross: Values, left: Values, right: Values) -> Floats:
        """Values (rows, cols) from those of the leaves: across (rows, cols), and self values of rows and columns.

        Every value that `cross` gives is overwritten: it must be a fresh array.
        """
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
            raise SymmetryError(ZERO)
        return total

    def self_values(self, own: Values) -> Floats:
        """K(pair, pair) from the leaves' self values, one per pair."""
        total: Floats | None = None
        for coefficient, atoms in self.terms:
            value = coefficient * np.prod([_self_value(atom, own) for atom in atoms], axis=0)
            total = value if total is None else total + value
        if total is None:
            raise SymmetryError(ZERO)
        return total


@dataclass(frozen=True)
class Expression:
    """κ(projection) of an order-invariant pair kernel. `mirrored` takes the projection at ((b, a), (c, d)).

    Order invariance is required because κ may need the self values of both pairs: K(ba, ba) = K(ab, ab) makes them
    independent of the order, so that one flag is all that swapping can change.
    """

    outer: Power | GaussianOf
    projection: PairKernel
    mirrored: bool = False

    def __post_init__(self) -> None:
        if not self.projection.order_invariant:
            raise InputError("an outer function needs an order-invariant projection, e.g. tensor or difference")

    @property
    def cross(self) -> PairKernel:
        """The kernel of s₁₂."""
        return self.projection.swapped(left=True, right=False) if self.mirrored else self.projection

    def on(self, base: Kernel) -> Expression:
        """The same expression on this base; parts that have a base keep it."""
        return replace(self, projection=self.projection.on(base))

    def swap(self, left: bool, right: bool) -> tuple[float, Expression]:
        """With the left and/or right pair swapped: a sign and an expression, reduced by the projection's symmetry."""
        if left == right or self.projection.symmetry == "symmetric":
            return 1.0, self
        if self.projection.symmetry == "antisymmetric" and self.outer.parity:
            return float(self.outer.parity), self
        return 1.0, replace(self, mirrored=not self.mirrored)


def _evaluate(atom: Atom, cross: Values, left: Values, right: Values) -> Floats:
    """Values of one atom, (rows, cols): looked up for a leaf, κ of the projection's values for an expression."""
    if not isinstance(atom, Expression):
        return cross(atom)
    s12 = atom.cross.evaluate(cross, left, right)
    if not atom.outer.needs_self:
        return atom.outer(s12, NOTHING, NOTHING)
    return atom.outer(s12, atom.projection.self_values(left)[:, None], atom.projection.self_values(right)[None, :])


def _self_value(atom: Atom, own: Values) -> Floats:
    """Value of one atom of every pair with itself, (n,); mirrored, that is K((b, a), (a, b)) and not K(ab, ab)."""
    if not isinstance(atom, Expression):
        return own(atom)
    s11 = atom.projection.self_values(own)
    return atom.outer(atom.cross.self_values(own), s11, s11)


def _rebased(atom: Atom, bases: Mapping[Kernel, Kernel], views: Mapping[tuple[View, Kernel], Kernel]) -> Atom:
    if isinstance(atom, Expression):
        return replace(atom, projection=atom.projection.rebased(bases, views))
    if isinstance(atom, ViewKernel):
        return replace(atom, kernel=views.get((atom.view, atom.kernel), atom.kernel))
    return atom if atom.base is None else replace(atom, base=bases[atom.base])


def from_table(part: Table) -> PairKernel:
    """A pair kernel that is one table."""
    return PairKernel(((1.0, (part,)),))


def from_view(part: ViewKernel) -> PairKernel:
    """A pair kernel that is a kernel on a view of pairs."""
    return PairKernel(((1.0, (part,)),))
