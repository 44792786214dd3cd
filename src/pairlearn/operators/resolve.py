"""First step to an operator: everything that depends on the training pairs is fixed on the examples they use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import stack_examples
from pairlearn.kernels import Kernel
from pairlearn.kernels.base import join_sides
from pairlearn.linalg.mapped import is_mapped
from pairlearn.operators.rows import PairRows, Shown, show
from pairlearn.pair_kernels import PairKernel, View, ViewKernel
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats, Ints


@dataclass(frozen=True, eq=False)
class Resolved:
    """A kernel whose parameters are all numbers, and the training pairs as it sees them.

    `pairs` are over the examples in use, rows `used` of the given `tables`; `features` holds for every base the
    exact features of each table, None where there are none.
    """

    kernel: PairKernel
    pairs: Pairs
    tables: tuple[Examples, ...]
    used: tuple[Ints, ...]
    shown: Shown
    features: dict[Kernel, tuple[Floats | None, ...]]

    @property
    def bases(self) -> tuple[Kernel, ...]:
        """The base kernels; all of them are set."""
        return tuple(self.features)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of examples in use, of each table."""
        return tuple(map(len, self.used))

    @property
    def rows(self) -> PairRows:
        """The pairs as places among the examples in use."""
        return PairRows(*self.pairs.columns, self.shown)

    @property
    def ranks(self) -> dict[Kernel, int]:
        """Feature dimension of the bases whose features are worth using: fewer than half as many as examples."""
        ranks = {base: max(_width(Z) for Z in tables) for base, tables in self.features.items() if _known(tables)}
        return {base: rank for base, rank in ranks.items() if 0 < 2 * rank < max(self.sizes)}

    @property
    def copies(self) -> tuple[int, int]:
        """Bytes of examples beside the caller's: of those in use, if not all are, and of float64 ones on their way."""
        sides = [side for side in zip(self.pairs.tables.sides, self.tables, strict=True) if _is_array(side[0])]
        held = sum(used.nbytes for used, given in sides if used is not given and not is_mapped(used))
        return held, self.passing()

    def passing(self, gram: bool = True) -> int:
        """Bytes of float64 examples on their way; of those in files only where a Gram matrix is computed of them."""
        by_rows = not gram or all(base.precomputed for base in self.bases)
        tables = [used for used in self.pairs.tables.sides if _is_array(used) and not (by_rows and is_mapped(used))]
        return sum(8 * used.size * (1 if used.dtype == np.float64 else 2) for used in tables)


def resolve(kernel: PairKernel, pairs: Pairs, room: float = np.inf) -> Resolved:
    """The kernel with every data-dependent parameter fixed on the training pairs, and these as it sees them.

    Only examples that occur in the pairs are used: a bandwidth that saw the test examples would be a leak. A copy of
    more than `room` bytes of examples in a memory-mapped file is made in another.
    """
    compact, used = pairs.compacted_in_float64(room)
    tables = compact.tables.sides
    resolved = {base: _resolved_base(base, tables) for base in kernel.bases if base is not None}
    if len(resolved) < len(kernel.bases):
        raise InputError("this pair kernel has no base kernel; use kernel.on(base)")
    shown = show(kernel, pairs)
    kernel = kernel.rebased(resolved, _resolved_views(kernel, pairs, shown))
    bases = [base for base in kernel.bases if base is not None]
    features = {base: tuple(side.features(X) for side, X in zip(base.sides, tables, strict=True)) for base in bases}
    return Resolved(kernel, compact, pairs.tables.sides, used, shown, features)


def _resolved_base(base: Kernel, tables: tuple[Examples, ...]) -> Kernel:
    """The base fixed on each table; in two domains it becomes one kernel per table."""
    sides = base.sides if len(base.sides) > 1 else base.sides * len(tables)
    if len(sides) > len(tables):
        raise InputError(
            "two base kernels need pairs of two domains: pl.Pairs(drugs, left, right, right_examples=targets)"
        )
    return join_sides(tuple(side.resolved(X) for side, X in zip(sides, tables, strict=True)))


def _resolved_views(kernel: PairKernel, pairs: Pairs, shown: Shown) -> dict[tuple[View, Kernel], Kernel]:
    seen = [leaf for leaf in kernel.leaves if isinstance(leaf, ViewKernel)]
    if all(type(leaf.kernel).resolved is Kernel.resolved for leaf in seen):  # nothing to fix, and no copies
        return {(leaf.view, leaf.kernel): leaf.kernel for leaf in seen}
    # No parameter may depend on the order in which a pair is given; pairs of two tables have only one.
    orders = [shown, show(kernel, pairs.swapped())] if len(pairs.tables.sides) == 1 else [shown]
    both = {key: stack_examples(*(tables[key] for tables in orders)) for key in shown}
    return {(leaf.view, leaf.kernel): leaf.kernel.resolved(both[leaf.view, leaf.swapped[0]]) for leaf in seen}


def shown_width(kernel: PairKernel, pairs: Pairs) -> int:
    """Numbers per pair that a fit holds or passes through of what the views show, found on one pair.

    What is shown and its features; both orders twice where a kernel on them has parameters to be fixed.
    """
    leaves = [leaf for leaf in kernel.leaves if isinstance(leaf, ViewKernel)]
    fixed = all(type(leaf.kernel).resolved is Kernel.resolved for leaf in leaves)
    shown = show(kernel, pairs[:1]) if leaves else {}
    return (2 if fixed else 4) * sum(_width(table) for table in shown.values() if _is_array(table))


def _is_array(table: Examples) -> bool:
    return isinstance(table, np.ndarray)


def _known(tables: tuple[Floats | None, ...]) -> bool:
    return all(Z is not None for Z in tables)


def _width(table: Floats | None) -> int:
    return 0 if table is None else int(np.shape(table)[1])
