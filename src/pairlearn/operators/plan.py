"""A memory plan: which operator serves these pairs within the budget, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pairlearn.errors import InputError, TooLargeError
from pairlearn.examples import take_examples
from pairlearn.kernels import Gram, Kernel
from pairlearn.kernels.gram import check_definite, gram_matrix
from pairlearn.operators.base import PairOperator
from pairlearn.operators.blocked import BlockedOperator, Sources
from pairlearn.operators.product import ProductOperator, SumOperator
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import PairKernel
from pairlearn.pairs import Pairs
from pairlearn.types import Ints

Kind = Literal["product", "blocked"]
PER_PAIR = 8 * 9
"""Bytes per pair that every solver needs: bounds, labels, coefficients, gradient, selection keys, columns."""


@dataclass(frozen=True)
class Plan:
    """What will be held in memory.

    `kind` is "product" (fast matrix products) or "blocked" (blocks on demand); `gram` says whether the m × m
    matrix is held or values come from the examples each time; `working_set` is the largest number of pairs
    optimised together.
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


def make_plan(kernel: PairKernel, n_pairs: int, n_examples: int, budget: int, *, ranks: dict[Kernel, int]) -> Plan:
    """The plan for n pairs of m examples; `ranks` gives the feature dimension of bases that have one."""
    per_pair = PER_PAIR * n_pairs
    n_bases = len(kernel.bases)
    gram_bytes = 8 * n_examples**2 * n_bases
    # A fast product holds the Gram matrix, its product with the coefficients and one block.
    fast = 3 * gram_bytes
    low_rank = all(base in ranks for base in kernel.bases)
    feature_bytes = 3 * 8 * n_examples * sum(ranks.values())
    least = 2 * 8 * 512**2
    tables = kernel.tables is not None
    if tables and low_rank:
        gram = per_pair + fast + least <= budget
        kind, fixed = "product", per_pair + feature_bytes + (gram_bytes if gram else 0)
    elif tables and per_pair + fast + least <= budget:
        kind, gram, fixed = "product", True, per_pair + fast
    else:
        buffer = min(2**27, budget // 8)
        gram = per_pair + 2 * gram_bytes + buffer + least <= budget
        kind, fixed = "blocked", per_pair + (2 * gram_bytes if gram else 0) + buffer
    rest = budget - fixed
    if rest < least:
        raise TooLargeError(
            f"{n_pairs:,} pairs of {n_examples:,} examples need about {(fixed + least) / 2**20:,.1f} MiB, but the "
            f"budget is {budget / 2**20:,.1f} MiB; raise memory_budget, train on fewer pairs "
            "(pairs[rng.choice(len(pairs), n, replace=False)]) or use a linear base"
        )
    # K_WW, the factor of its free part, and a transient copy while it grows.
    working_set = min(n_pairs, int(np.sqrt(rest / (8 * 2.5))))
    working_set = min(working_set, 40_000)
    return Plan(kind, gram, working_set, fixed + int(20 * min(working_set, 5000) ** 2), budget)  # type: ignore[arg-type]


def build(kernel: PairKernel, pairs: Pairs, gram: Gram | None, memory_budget: float | None) -> Operation:
    """Operator, plan and the examples behind them for training pairs.

    `kernel` has all its bases set; only examples that occur in the pairs are used.
    """
    used = pairs.used_examples()
    bases = [base for base in kernel.bases if base is not None]
    resolved = {base: base.resolved(_chosen(pairs, used)) for base in bases}
    kernel = kernel.rebased(resolved)
    bases = list(resolved.values())
    features = {base: base.features(_chosen(pairs, used)) for base in bases}
    ranks = {base: Z.shape[1] for base, Z in features.items() if Z is not None and 2 * Z.shape[1] < len(used)}
    budget = check_budget(memory_budget)
    plan = make_plan(kernel, len(pairs), len(used), budget, ranks=ranks)
    sources: dict[Kernel | None, Source] = {}
    for base in bases:
        matrix = None
        if plan.gram:
            shared = gram is not None and base == gram.kernel and gram.examples is pairs.examples
            matrix = _restricted(gram, used) if shared and gram is not None else gram_matrix(base, pairs.examples, used)
            check_definite(base, matrix)
        Z = features[base] if base in ranks else None
        wide = None if Z is None else np.ascontiguousarray(Z, dtype=np.float64)
        sources[base] = Source(base, None if plan.gram else _chosen(pairs, used), matrix, wide)
    left, right = _renumbered(pairs, used)
    return Operation(_operator(kernel, plan, sources, pairs, left, right), plan, kernel, used)


@dataclass(frozen=True)
class Operation:
    """An operator on training pairs, the plan behind it, the resolved kernel and the examples in use."""

    operator: PairOperator
    plan: Plan
    kernel: PairKernel
    used: Ints


def _operator(kernel: PairKernel, plan: Plan, sources: Sources, pairs: Pairs, left: Ints, right: Ints) -> PairOperator:
    if plan.kind == "blocked" or kernel.tables is None:
        return BlockedOperator(kernel, sources, left, right)
    parts: list[PairOperator] = [
        ProductOperator(table, sources[table.base], left, right, pairs.triangle) for table in kernel.tables
    ]
    return parts[0] if len(parts) == 1 else SumOperator(parts)


def _chosen(pairs: Pairs, used: Ints) -> object:
    return pairs.examples if len(used) == pairs.n_examples else take_examples(pairs.examples, used)


def _restricted(gram: Gram, used: Ints) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    whole = len(used) == len(gram)
    return np.ascontiguousarray(gram.matrix if whole else gram.matrix[np.ix_(used, used)], dtype=np.float64)


def _renumbered(pairs: Pairs, used: Ints) -> tuple[Ints, Ints]:
    left, right = pairs.columns
    if len(used) == pairs.n_examples:
        return left, right
    position = np.zeros(pairs.n_examples, dtype=np.int32)
    position[used] = np.arange(len(used), dtype=np.int32)
    return position[left], position[right]
