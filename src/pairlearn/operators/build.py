"""From a kernel and training pairs to an operator: resolve, plan, construct."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pairlearn.examples import count_examples
from pairlearn.kernels import Gram, Kernel
from pairlearn.kernels.gram import BLOCK, check_definite, check_sample, gram_matrix, is_ready
from pairlearn.linalg.held import held_bytes
from pairlearn.linalg.mapped import is_mapped, on_disk, row_blocks
from pairlearn.linalg.room import give_back
from pairlearn.linalg.tiles import product
from pairlearn.operators.base import Divisible, PairOperator
from pairlearn.operators.blocked import BlockedOperator
from pairlearn.operators.dense import DenseOperator
from pairlearn.operators.plan import PER_FIT, Plan, check_budget, make_plan, refuse_hopeless
from pairlearn.operators.product import FeatureOperator, ProductOperator, SumOperator
from pairlearn.operators.resolve import Resolved, resolve, shown_width
from pairlearn.operators.source import AnySource, LookedUp, Source, join_sources
from pairlearn.pair_kernels import PairKernel, ViewKernel
from pairlearn.pair_kernels.table import compares_only
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats, Ints

ON_TABLE = ("on the left table ", "on the right table ")
COPIED = 0.125
"""Share of the budget for a copy of examples that stand in a memory-mapped file; a larger one goes to another file."""
Grams = tuple[Gram | None, Gram | None]
"""Matrices that the caller has already, of left and right examples."""


@dataclass(frozen=True)
class Operation:
    """An operator on training pairs, the plan behind it and the resolved kernel.

    `held` is what a fit holds from now to its end, in bytes; `building` what was in use beside it until now.
    """

    operator: PairOperator
    plan: Plan
    kernel: PairKernel
    held: int
    building: int

    def used(self, taken: int) -> Plan:
        """The plan after a fit; `taken` is what its solver reports (`Solution.taken`)."""
        return self.plan.after(self.held + max(taken, self.operator.passed, self.building))


def build(
    kernel: PairKernel,
    pairs: Pairs,
    grams: Grams = (None, None),
    memory_budget: float | None = None,
    reserved: int = 0,
) -> Operation:
    """Operator, plan and resolved kernel for training pairs.

    Three steps, each in its file: `resolve` fixes kernel parameters on the examples in use and shows the pairs to the
    kernel, `make_plan` decides what to hold within the budget, and `construct` makes the operator that it names.
    `kernel` has all its bases set; only examples that occur in the pairs are used. `grams` are matrices that the
    caller has already, of left and right examples; `reserved` are bytes of the budget that are not for the fit.

    >>> import pairlearn as pl
    >>> kernel = pl.pair_kernel("tensor").on(pl.kernels.Linear())
    >>> (build(kernel, pl.all_pairs([[1.0], [2.0]])).operator @ np.ones(3)).tolist()
    [7.0, 14.0, 28.0]
    """
    budget = check_budget(memory_budget)
    resolved = resolve(kernel, pairs, COPIED * budget)
    give_back(sum(resolved.copies))
    columns = view_features(resolved)
    plan = make_plan(
        resolved.kernel,
        len(pairs),
        resolved.sizes,
        budget,
        ranks=resolved.ranks,
        width=shown_width(kernel, pairs),
        products=all(Z is not None for Z in columns),
        copies=resolved.copies,
        on_disk=on_disk_bytes(resolved, grams, budget),
        reserved=reserved,
    )
    operator = construct(resolved, plan, columns, grams)
    operator.block_bytes = plan.block_bytes
    if plan.kind == "dense":
        operator = DenseOperator.of(operator)
    held = sum(PER_FIT.values()) * len(pairs) + held_bytes(operator, pairs, grams)
    operation = Operation(operator, plan, resolved.kernel, held, passing(resolved, plan))
    give_back(held + operation.building)
    return operation


def passing(resolved: Resolved, plan: Plan) -> int:
    """Bytes in use while the operator is built, beside what it holds: examples on their way, rows of a Gram matrix.

    Of a dense one these are whole Gram matrices of examples, which are dropped once it is there.
    """
    rows = min(BLOCK, 8 * max(resolved.sizes) ** 2) if plan.gram else 0
    dropped = 8 * sum(m**2 for m in resolved.sizes) * len(resolved.bases) if plan.kind == "dense" else 0
    return resolved.passing(plan.gram) + 2 * rows + dropped


def refuse_large(kernel: PairKernel, pairs: Pairs, orders: int, memory_budget: float | None, reserved: int = 0) -> None:
    """Refuse pairs (in one order or in both) that no plan within the budget can hold, having used next to nothing."""
    sizes = tuple(map(count_examples, pairs.tables.sides))
    refuse_hopeless(orders * len(pairs), shown_width(kernel, pairs), sizes, check_budget(memory_budget), reserved)


def construct(resolved: Resolved, plan: Plan, columns: list[Floats | None], grams: Grams) -> PairOperator:
    """The operator that the plan names.

    Products serve a sum of tables, one per base, plus one matrix with the features of all views side by side, since
    Σ_v ZᵥZᵥᵀ = ZZᵀ for Z = (Z₁, Z₂, …); anything else goes block by block, and so are the values of a dense one made.
    """
    sources: dict[Kernel | None, AnySource] = {base: _source(base, resolved, plan, grams) for base in resolved.bases}
    rows = resolved.rows
    if plan.kind != "product":
        return BlockedOperator(resolved.kernel, sources, rows)
    parts: list[Divisible] = [
        ProductOperator(table, sources[table.base], rows.left, rows.right, resolved.pairs.triangle)
        for table in resolved.kernel.split()[0]
    ]
    linear = [Z for Z in columns if Z is not None]
    if linear:
        parts.append(FeatureOperator(linear[0] if len(linear) == 1 else np.hstack(linear)))
    return parts[0] if len(parts) == 1 else SumOperator(parts)


def view_features(resolved: Resolved) -> list[Floats | None]:
    """√factor · φ(pair) for every term factor · k(φ, φ') on a view, None where its kernel has no features."""
    terms = resolved.kernel.split()[1]
    return [_view_features(leaf, resolved.shown[leaf.view, False], factor) for factor, leaf in terms]


def _view_features(leaf: ViewKernel, table: Examples, factor: float) -> Floats | None:
    Z = leaf.kernel.features(table)
    if Z is None or factor < 0:
        return None
    wide = np.asarray(Z, dtype=np.float64)
    return wide if factor == 1 else np.sqrt(factor) * wide


def _source(base: Kernel, resolved: Resolved, plan: Plan, grams: Grams) -> AnySource:
    """Where the values of a base come from: its Gram matrix if that is held, its features if they are worth it."""
    tables = [table for table in resolved.kernel.split()[0] if table.base is base]
    levelled = plan.kind == "product" and len(base.sides) == 1 and all(map(compares_only, tables))
    parts = []
    for number, kernel in enumerate(base.sides):
        Z = resolved.features[base][number] if base in resolved.ranks else None
        wide: Floats | None = None if Z is None else np.ascontiguousarray(Z, dtype=np.float64)
        if levelled and wide is not None:
            wide = _centred(wide)
        where = "" if len(base.sides) == 1 else ON_TABLE[number]
        if kernel.precomputed and not plan.gram:
            parts.append(_looked_up(kernel, resolved.tables[number], resolved.used[number], where))
            continue
        matrix = None
        if plan.gram:
            side = Side(kernel, resolved.tables[number], resolved.used[number], grams[number], plan.budget)
            own = levelled and wide is not None and side.given is None and not side.on_disk
            matrix = product(wide, wide.T) if own and wide is not None else side.matrix()
            check_definite(kernel, matrix, where)
        parts.append(Source(kernel, None if plan.gram else resolved.pairs.tables.sides[number], matrix, wide))
    return join_sources(parts)


def _centred(Z: Floats) -> Floats:
    """Features less their mean row; of those in a file in another, since the plan has no memory for them."""
    mean = Z.mean(axis=0)
    if not is_mapped(Z):
        return Z - mean
    moved = on_disk(Z.shape)
    for part in row_blocks(Z):
        np.subtract(Z[part], mean, out=moved[part])
    return moved


def _looked_up(kernel: Kernel, table: Examples, used: Ints, where: str) -> Source:
    """Values of a precomputed kernel where there is no room for another matrix: those of the caller's."""
    kernel.anchor(table, used)  # refuses a table that is no Gram matrix
    looked = LookedUp(kernel, table, used)
    check_sample(kernel, len(used), lambda some: looked(some, some), where)
    return Source(looked, np.arange(len(used)))


@dataclass(frozen=True, eq=False)
class Side:
    """Examples in use of one table, their kernel, and the matrix that the caller may have already."""

    kernel: Kernel
    table: Examples
    used: Ints
    gram: Gram | None
    budget: int

    @property
    def given(self) -> Gram | None:
        """The caller's matrix, if it is of this kernel and table."""
        gram = self.gram
        return gram if gram is not None and self.kernel == gram.kernel and gram.examples is self.table else None

    @property
    def whole(self) -> bool:
        """Whether all examples of the table are in use."""
        return len(self.used) == count_examples(self.table)

    @property
    def bytes(self) -> int:
        """Of the Gram matrix."""
        return 8 * len(self.used) ** 2

    @property
    def on_disk(self) -> bool:
        """Whether the matrix stands in a file: the caller's own, or one for a large part of what stands in a file."""
        if self.given is not None and not self.given.on_disk:
            return False
        if self.given is None and not (self.kernel.precomputed and is_mapped(self.table)):
            return False
        return self.bytes > COPIED * self.budget or (self.given is not None and self.whole)

    def matrix(self) -> Floats:
        """The Gram matrix, in float64: the caller's or a part of it, a precomputed one as it stands, or a new one."""
        out = on_disk((len(self.used),) * 2) if self.on_disk and not self._stands else None
        if self.given is not None:
            matrix = self.given.matrix
            if self.whole and matrix.dtype == np.float64:
                return matrix
            out = np.empty((len(self.used),) * 2) if out is None else out
            for part in row_blocks(out):
                out[part] = matrix[np.ix_(self.used[part], self.used)]
            return out
        if self.on_disk and self._stands:
            return np.asarray(self.table)
        return gram_matrix(self.kernel, self.table, self.used, out=out)

    @cached_property
    def _stands(self) -> bool:
        """Whether there is a matrix that can be used as it is."""
        if self.given is not None:
            return self.whole and self.given.dtype == np.float64
        return is_ready(self.kernel, self.table, self.used)


def on_disk_bytes(resolved: Resolved, grams: Grams, budget: int) -> tuple[int, int]:
    """Bytes of Gram matrices and of features that stand in files."""
    gram = features = 0
    for base, tables in resolved.features.items():
        for number, kernel in enumerate(base.sides):
            side = Side(kernel, resolved.tables[number], resolved.used[number], grams[number], budget)
            gram += side.bytes if side.on_disk else 0
            Z = tables[number] if base in resolved.ranks else None
            features += Z.nbytes if Z is not None and is_mapped(Z) else 0
    return gram, features
