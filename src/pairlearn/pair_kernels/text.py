"""Pair kernels as the expressions that build them: what `repr` shows.

A kernel forgets how it was written: its form is canonical. So a name is looked for in the catalog, then terms that are
each other's mirror image are read as the balanced or skew part of something, and what is left is printed term by term.
With the names of `pl.kernels` and `pl.pair_kernels` the text builds an equal kernel, unless it holds arrays (shown by
shape and digest) or mirrored terms that are no half of anything.
"""

from __future__ import annotations

from math import prod

from pairlearn.pair_kernels.canonical import Atom, Term
from pairlearn.pair_kernels.catalog import CATALOG
from pairlearn.pair_kernels.kernel import Expression, PairKernel
from pairlearn.pair_kernels.outer import Power
from pairlearn.pair_kernels.table import Table
from pairlearn.pair_kernels.views import Blocks, ViewKernel


def written(kernel: PairKernel) -> str:
    """The kernel by its name, as half of another, or term by term.

    >>> from pairlearn.pair_kernels import on_signed, pair_kernel, poly_tensor
    >>> pair_kernel("tensor_metric"), pair_kernel("tensor") + on_signed("poly")
    (pair_kernel('tensor_metric'), pair_kernel('tensor') + on_signed(Polynomial(degree=2, gamma=1.0, coef0=0.0)))
    >>> poly_tensor(3).skewed()
    power(from_table(table(ac_bd=1.0)), 3, 1.0).skewed()
    """
    tables = [term for term in kernel.terms if len(term[1]) == 1 and isinstance(term[1][0], Table)]
    rest = PairKernel(tuple(term for term in kernel.terms if term not in tables))
    parts = [_term(term) for term in tables] + ([_rest(rest)] if rest.terms else [])
    return _name(kernel) or " + ".join(parts) or "PairKernel(())"


def _name(kernel: PairKernel) -> str | None:
    """pair_kernel('…') if the whole kernel is one of the catalog, on its base if it has one."""
    bases = kernel.bases
    for name, known in CATALOG.items():
        if kernel == known:
            return f"pair_kernel({name!r})"
        if len(bases) == 1 and bases[0] is not None and kernel == known.on(bases[0]):
            return f"pair_kernel({name!r}).on({bases[0]!r})"
    return None


def _rest(kernel: PairKernel) -> str:
    """Terms that are not tables: the balanced or skew part of something if they are that, else one by one."""
    straight = PairKernel(tuple(term for term in kernel.terms if not any(map(_is_mirrored, term[1])))) * 2.0
    if straight.symmetry == "none" and straight.order_invariant and 2 * len(straight.terms) == len(kernel.terms):
        for half, made in (("balanced", straight.balanced), ("skewed", straight.skewed)):
            if made() == kernel:
                return f"{_in_brackets(straight)}.{half}()"
    return " + ".join(_term(term) for term in kernel.terms)


def _in_brackets(kernel: PairKernel) -> str:
    """In brackets unless it is a single call."""
    coefficient, atoms = kernel.terms[0]
    single = len(kernel.terms) == len(atoms) == 1 and coefficient == 1.0
    return written(kernel) if single else f"({written(kernel)})"


def _is_mirrored(atom: Atom) -> bool:
    """Whether it stands for a swapped pair: such atoms come from balanced(), skewed() and their like alone."""
    if isinstance(atom, Expression):
        return atom.mirrored
    return isinstance(atom, ViewKernel) and any(atom.swapped)


def _term(term: Term) -> str:
    """factor * atom * atom, the factors of tables gathered in one; 1 is left out."""
    coefficient, atoms = term
    factors = [_atom(atom) for atom in atoms]
    total = float(coefficient) * prod(factor for factor, _ in factors)
    return " * ".join([*([] if total == 1.0 else [f"{total:.12g}"]), *(text for _, text in factors)])


def _atom(atom: Atom) -> tuple[float, str]:
    """A factor, and what it is a multiple of."""
    if isinstance(atom, Table):
        return _table(atom)
    if isinstance(atom, ViewKernel):
        return 1.0, _view(atom)
    inside = written(atom.projection) + (" mirrored" if atom.mirrored else "")
    if isinstance(atom.outer, Power):
        return 1.0, f"power({inside}, {atom.outer.degree}, {atom.outer.offset!r})"
    return 1.0, f"gaussian({inside}, {atom.outer.gamma!r})"


def _table(part: Table) -> tuple[float, str]:
    """A multiple of a kernel of the catalog, or the table itself."""
    for name, known in CATALOG.items():
        for table in known.tables or ():
            factor = part.terms[0][1] / table.terms[0][1]
            if table.scaled(factor).terms == part.terms:
                return factor, f"pair_kernel({name!r})" + ("" if part.base is None else f".on({part.base!r})")
    return 1.0, f"from_table({part!r})"


def _view(atom: ViewKernel) -> str:
    """By the function that makes it, if there is one."""
    if isinstance(atom.view, Blocks) and not any(atom.swapped):
        names = atom.view.names
        return f"on_{names[0]}({atom.kernel!r})" if len(names) == 1 else f"on_blocks({atom.kernel!r}, {names})"
    return f"from_view({atom!r})"
