"""Pair kernels as the expressions that build them: what `repr` shows."""

from __future__ import annotations

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
    tables, _, _ = kernel.split()
    rest = PairKernel(tuple(term for term in kernel.terms if term[1] not in [(part,) for part in tables]))
    parts = [_table(part) for part in tables] + ([_rest(rest)] if rest.terms else [])
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


def _table(part: Table) -> str:
    """A multiple of a kernel of the catalog, or the table itself."""
    for known in CATALOG.values():
        for table in known.tables or ():
            factor = part.terms[0][1] / table.terms[0][1]
            if factor > 0 and table.scaled(factor).terms == part.terms:
                return _times(factor, str(_name(PairKernel(((1 / factor, (part,)),)))))
    return f"from_table({part!r})"


def _rest(kernel: PairKernel) -> str:
    """Terms that are not tables: the balanced or skew part of something if they are that, else one by one."""
    straight = PairKernel(tuple(term for term in kernel.terms if not any(map(_is_mirrored, term[1])))) * 2.0
    if straight.terms and straight.order_invariant and len(straight.terms) < len(kernel.terms):
        for half in ("balanced", "skewed"):
            if PairKernel(straight.terms)._half(1.0 if half == "balanced" else -1.0) == kernel:
                text = written(straight)
                return f"({text}).{half}()" if " + " in text or " * " in text else f"{text}.{half}()"
    return " + ".join(_term(term) for term in kernel.terms)


def _is_mirrored(atom: Atom) -> bool:
    if isinstance(atom, Expression):
        return atom.mirrored
    return isinstance(atom, ViewKernel) and any(atom.swapped)


def _term(term: Term) -> str:
    coefficient, atoms = term
    return _times(coefficient, " * ".join(_atom(atom) for atom in atoms))


def _times(factor: float, text: str) -> str:
    return text if factor == 1.0 else f"{factor:.6g} * {text}" if factor != round(factor) else f"{factor!r} * {text}"


def _atom(atom: Atom) -> str:
    if isinstance(atom, Table):
        return _table(atom)
    if isinstance(atom, ViewKernel):
        return _view(atom)
    inside = written(atom.projection) + (", mirrored" if atom.mirrored else "")
    if isinstance(atom.outer, Power):
        return f"power({inside}, {atom.outer.degree}, {atom.outer.offset!r})"
    return f"gaussian({inside}, {atom.outer.gamma!r})"


def _view(atom: ViewKernel) -> str:
    if isinstance(atom.view, Blocks) and not any(atom.swapped):
        names = atom.view.names
        return f"on_{names[0]}({atom.kernel!r})" if len(names) == 1 else f"on_blocks({atom.kernel!r}, {names})"
    return f"from_view({atom!r})"
