"""The one form of a pair kernel: equal kernels have equal terms, so that `==` finds symmetry.

A kernel is Σ coefficient · Π atoms. Its form is canonical when tables on one base are merged into one, factors that are
tables on one base are multiplied where the degree stays ≤ 2, equal products are added, zeros are dropped and everything
is sorted. "K is symmetric" then means "K with its left pair swapped has the same form", without a numerical probe.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from pairlearn.kernels import Kernel
from pairlearn.kernels.content import ByContent
from pairlearn.pair_kernels.table import Table
from pairlearn.pair_kernels.views import ViewKernel

if TYPE_CHECKING:
    from pairlearn.pair_kernels.kernel import Expression

Leaf = Table | ViewKernel
"""An atom whose values come from outside the pair kernel: look-ups of a base kernel, or features of pairs."""
Atom = Union[Table, ViewKernel, "Expression"]
Term = tuple[float, tuple[Atom, ...]]
ORDER = {"Expression": "1", "ViewKernel": "2", "Table": "3"}
"""The order of atoms: it decides in which order values are added and multiplied, hence their last bits. Another order
would change the scores of stored models by rounding."""


def canonical(terms: Iterable[Term]) -> tuple[Term, ...]:
    """These terms in their one form; applying it twice changes nothing."""
    tables: dict[Kernel | None, Table] = {}
    products: dict[tuple[Atom, ...], float] = {}
    for term in terms:
        coefficient, atoms = _merged_factors(*term)
        if len(atoms) == 1 and isinstance(atoms[0], Table):
            part = atoms[0].scaled(coefficient)
            tables[part.base] = tables[part.base].plus(part) if part.base in tables else part
        else:
            products[atoms] = products.get(atoms, 0.0) + coefficient
    found: list[Term] = [(1.0, (part,)) for part in tables.values() if part.terms]
    found += [(c, atoms) for atoms, c in products.items() if c != 0.0]
    return _sorted(found)


def _merged_factors(coefficient: float, atoms: tuple[Atom, ...]) -> Term:
    """Multiply tables on one base where the degree stays ≤ 2; give every table a leading coefficient in [1, 2).

    Only signs and powers of two are moved: they are exact, so that equal kernels stay equal.
    """
    factors: list[Atom] = []
    for atom in atoms:
        _multiply(factors, atom)
    if len(factors) > 1:
        for position, atom in enumerate(factors):
            if isinstance(atom, Table) and atom.terms:
                lead = float(np.copysign(2.0 ** np.floor(np.log2(abs(atom.terms[0][1]))), atom.terms[0][1]))
                factors[position], coefficient = atom.scaled(1.0 / lead), coefficient * lead
    return coefficient, _sorted(factors)


def _multiply(factors: list[Atom], atom: Atom) -> None:
    """Into the first factor that can take it, or one factor more.

    A table of a product must stay of degree ≤ 2, for compiled loops and quadratic forms know no others.
    """
    for position, other in enumerate(factors):
        if isinstance(atom, Table) and isinstance(other, Table) and atom.base == other.base:
            merged = atom.times(other)
            if merged is not None:
                factors[position] = merged
                return
    factors.append(atom)


def _sorted(parts: list[Any]) -> tuple[Any, ...]:
    return tuple(sorted(parts, key=_key) if len(parts) > 1 else parts)


def _key(part: object) -> str:
    """A text that differs for different parts, to sort by; `repr` is for people and may be the same for two."""
    if isinstance(part, tuple):
        return f"({', '.join(map(_key, part))}{',' * (len(part) == 1)})"
    if isinstance(part, float):
        return repr(float(part))  # NumPy's numbers print with their type
    if isinstance(part, Table):
        return f"{ORDER['Table']}{tuple((m, float(c)) for m, c in part.terms)}{_key(part.base)}"
    if not is_dataclass(part):
        return repr(part)
    name = type(part).__name__
    if isinstance(part, ByContent):
        return name + part.digest
    return ORDER.get(name, name) + _key(tuple(getattr(part, field) for field in part.__dataclass_fields__))
