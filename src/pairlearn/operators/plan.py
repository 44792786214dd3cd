"""A memory plan: which operator serves these pairs within the budget, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from pairlearn.errors import InputError, TooLargeError
from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels import Gram, Kernel, TwoDomains
from pairlearn.kernels.gram import check_definite, gram_matrix
from pairlearn.operators.base import PairOperator
from pairlearn.operators.blocked import BlockedOperator, Sources
from pairlearn.operators.product import FeatureOperator, ProductOperator, SumOperator
from pairlearn.operators.rows import PairRows, Shown, show, stacked
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import PairKernel, ViewKernel
from pairlearn.pairs import Pairs, Triangle
from pairlearn.types import Examples, Floats, Ints

Kind = Literal["product", "blocked"]
PER_PAIR = 8 * 9
"""Bytes per pair that every solver needs: bounds, labels, coefficients, gradient, selection keys, columns."""

BYTES_OF_SET = 12
"""Memory per pair of pairs of the largest working set: its matrix, and the factor of a smaller one."""


@dataclass(frozen=True)
class Plan:
    """What will be held in memory.

    `kind` is "product" (fast matrix products) or "blocked" (blocks on demand); `gram` says whether the m × m
    matrix is held or values come from the examples each time; `working_set` is the largest number of pairs
    that there is room to optimise together.
    """

    kind: Kind
    gram: bool
    working_set: int
    bytes: int
    budget: int

    def __str__(self) -> str:
        held = "base Gram matrix held" if self.gram else "base kernel values computed anew"
        return (
            f"{self.kind} operator, {held}, working set up to {self.working_set:,} pairs, "
            f"about {self.bytes / 2**20:,.0f} MiB of {self.budget / 2**20:,.0f} MiB"
        )


def available_memory() -> int:
    """Bytes of memory free for use now."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def check_budget(memory_budget: float | None) -> int:
    """Memory budget in bytes: the given one, or 60 % of what is free."""
    if memory_budget is None:
        return int(0.6 * available_memory())
    if not memory_budget > 0:
        raise InputError(f"memory_budget is in bytes and must be > 0, got {memory_budget!r}; try 4e9 for 4 GB")
    return int(memory_budget)


def make_plan(
    kernel: PairKernel,
    n_pairs: int,
    n_examples: int | tuple[int, int],
    budget: int,
    *,
    ranks: Mapping[Kernel, int],
    width: int = 0,
    products: bool = True,
) -> Plan:
    """The plan for n pairs of m examples (or of m₁ × m₂, in two domains).

    `ranks` gives the feature dimension of bases that have one, `width` the number of features per pair; `products`
    says whether every view has features.
    """
    sizes = n_examples if isinstance(n_examples, tuple) else (n_examples,)
    per_pair = (PER_PAIR + 8 * width) * n_pairs
    gram_bytes = 8 * sum(m**2 for m in sizes) * len(kernel.bases)
    # A fast product holds the Gram matrix, its product with the coefficients and one block.
    fast = 3 * gram_bytes
    low_rank = all(base in ranks for base in kernel.bases)
    feature_bytes = 3 * 8 * max(sizes) * sum(ranks.values())
    least = 2 * 8 * 512**2
    products = products and kernel.split()[2] is None
    if products and low_rank:
        gram = per_pair + fast + least <= budget
        kind, fixed = "product", per_pair + feature_bytes + (gram_bytes if gram else 0)
    elif products and per_pair + fast + least <= budget:
        kind, gram, fixed = "product", True, per_pair + fast
    else:
        buffer = _buffer(budget)
        gram = per_pair + 2 * gram_bytes + buffer + least <= budget
        kind, fixed = "blocked", per_pair + (2 * gram_bytes if gram else 0) + buffer
    rest = budget - fixed
    if rest < least:
        raise TooLargeError(
            f"{n_pairs:,} pairs of {' × '.join(f'{m:,}' for m in sizes)} examples need about "
            f"{(fixed + least) / 2**20:,.1f} MiB, but the budget is {budget / 2**20:,.1f} MiB; raise memory_budget, "
            "train on fewer pairs (pairs[rng.choice(len(pairs), n, replace=False)]) or use a linear base"
        )
    working_set = min(int(np.sqrt(rest / BYTES_OF_SET)), 60_000)
    usual = min(n_pairs, working_set, 5000)
    return Plan(kind, gram, working_set, fixed + 20 * usual**2, budget)  # type: ignore[arg-type]


def _buffer(budget: int) -> int:
    """Bytes for one block of kernel values."""
    return min(2**27, budget // 8)


@dataclass(frozen=True)
class Operation:
    """An operator on training pairs, the plan behind it and the resolved kernel."""

    operator: PairOperator
    plan: Plan
    kernel: PairKernel


Grams = tuple[Gram | None, Gram | None]


def build(
    kernel: PairKernel, pairs: Pairs, grams: Grams = (None, None), memory_budget: float | None = None
) -> Operation:
    """Operator, plan and resolved kernel for training pairs.

    `kernel` has all its bases set; only examples that occur in the pairs are used. `grams` are matrices that the
    caller has already, of left and right examples.
    """
    sides = _sides(pairs)
    kernel, shown = _resolved(kernel, pairs, sides)
    bases = [base for base in kernel.bases if base is not None]
    features = {(base, side): side.features(base) for base in bases for side in sides}
    ranks = {base: _rank([features[base, side] for side in sides]) for base in bases}
    ranks = {base: rank for base, rank in ranks.items() if 0 < 2 * rank < max(map(len, sides))}
    sizes = len(sides[0]) if len(sides) == 1 else (len(sides[0]), len(sides[1]))
    width = sum(table.shape[1] for table in shown.values() if hasattr(table, "shape"))
    budget = check_budget(memory_budget)
    mapped = [_view_features(leaf, shown[leaf.view, False], factor) for factor, leaf in kernel.split()[1]]
    linear = [Z for Z in mapped if Z is not None]
    products = len(linear) == len(mapped)
    plan = make_plan(kernel, len(pairs), sizes, budget, ranks=ranks, width=width, products=products)
    sources: dict[Kernel | None, Source] = {}
    for base in bases:
        parts = [
            side.source(base, plan.gram, gram, features[base, side] if base in ranks else None)
            for side, gram in zip(sides, grams, strict=False)
        ]
        sources[base] = parts[0] if len(parts) == 1 else replace(parts[0], other=parts[1])
    left, right = sides[0].renumbered(pairs.left), sides[-1].renumbered(pairs.right)
    rows = PairRows(left, right, shown)
    return Operation(_operator(kernel, plan, sources, rows, pairs.triangle, linear), plan, kernel)


@dataclass(frozen=True, eq=False)
class _Side:
    """One table of examples and the rows of it that the pairs use; `number` is 0 on the left, 1 on the right."""

    examples: Examples
    used: Ints
    number: int

    def __len__(self) -> int:
        return len(self.used)

    @cached_property
    def chosen(self) -> Examples:
        whole = len(self.used) == count_examples(self.examples)
        return self.examples if whole else take_examples(self.examples, self.used)

    def base(self, kernel: Kernel) -> Kernel:
        if isinstance(kernel, TwoDomains):
            return kernel.right if self.number else kernel.left
        return kernel

    def features(self, kernel: Kernel) -> Floats | None:
        return self.base(kernel).features(self.chosen)

    def renumbered(self, column: Ints) -> Ints:
        """Places among the used examples."""
        n = count_examples(self.examples)
        if len(self.used) == n:
            return column
        position = np.zeros(n, dtype=np.int32)
        position[self.used] = np.arange(len(self.used), dtype=np.int32)
        return position[column]

    def source(self, kernel: Kernel, held: bool, gram: Gram | None, features: Floats | None) -> Source:
        """The source of this side's values, with its Gram matrix if it is to be held."""
        base, matrix = self.base(kernel), None
        if held:
            shared = gram is not None and base == gram.kernel and gram.examples is self.examples
            matrix = _restricted(gram, self.used) if shared and gram else gram_matrix(base, self.examples, self.used)
            check_definite(base, matrix)
        wide = None if features is None else np.ascontiguousarray(features, dtype=np.float64)
        return Source(base, None if held else self.chosen, matrix, wide)


def _sides(pairs: Pairs) -> list[_Side]:
    left = _Side(pairs.examples, pairs.used_examples(), 0)
    if pairs.right_examples is None:
        return [left]
    return [left, _Side(pairs.right_examples, pairs.used_right_examples(), 1)]


def _resolved(kernel: PairKernel, pairs: Pairs, sides: list[_Side]) -> tuple[PairKernel, Shown]:
    """The kernel with every data-dependent parameter fixed on the training pairs, and what its views show of them."""
    resolved: dict[Kernel, Kernel] = {}
    for base in kernel.bases:
        if base is None:
            raise InputError("this pair kernel has no base kernel; use kernel.on(base)")
        if len(sides) == 1 and isinstance(base, TwoDomains):
            raise InputError(
                "two base kernels need pairs of two domains: pl.Pairs(drugs, left, right, right_examples=targets)"
            )
        parts = [side.base(base).resolved(side.chosen) for side in sides]
        resolved[base] = parts[0] if len(parts) == 1 else TwoDomains(parts[0], parts[1])
    shown = show(kernel, pairs)
    # No parameter may depend on the order in which a pair is given; pairs of two tables have only one.
    orders = [shown, show(kernel, pairs.swapped())] if len(sides) == 1 else [shown]
    both = {key: stacked([tables[key] for tables in orders]) for key in shown}
    seen = [leaf for leaf in kernel.leaves if isinstance(leaf, ViewKernel)]
    views = {(leaf.view, leaf.kernel): leaf.kernel.resolved(both[leaf.view, leaf.swapped[0]]) for leaf in seen}
    return kernel.rebased(resolved, views), shown


def _rank(features: list[Floats | None]) -> int:
    """Feature dimension of the sides together, 0 when one of them has none."""
    return 0 if any(Z is None for Z in features) else max(Z.shape[1] for Z in features if Z is not None)


def _operator(
    kernel: PairKernel,
    plan: Plan,
    sources: Sources,
    rows: PairRows,
    triangle: Triangle | None,
    linear: list[Floats],
) -> PairOperator:
    if plan.kind == "blocked":
        return BlockedOperator(kernel, sources, rows, _buffer(plan.budget))
    parts: list[PairOperator] = [
        ProductOperator(table, sources[table.base], rows.left, rows.right, triangle) for table in kernel.split()[0]
    ]
    if linear:
        parts.append(FeatureOperator(np.hstack(linear)))
    return parts[0] if len(parts) == 1 else SumOperator(parts)


def _view_features(leaf: ViewKernel, table: Examples, factor: float) -> Floats | None:
    Z = leaf.kernel.features(table)
    return None if Z is None or factor < 0 else np.sqrt(factor) * np.asarray(Z, dtype=np.float64)


def _restricted(gram: Gram, used: Ints) -> Floats:
    whole = len(used) == len(gram)
    return np.ascontiguousarray(gram.matrix if whole else gram.matrix[np.ix_(used, used)], dtype=np.float64)
