"""The memory plan: what is held of these pairs within the budget, and which operator that allows.

One rule: `fixed` (all that is held whatever the solver does) plus the working set (what the solver may take) stays
within the budget. Everyone who needs memory later asks the plan for it, in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from pairlearn.errors import InputError, TooLargeError
from pairlearn.kernels import Kernel
from pairlearn.linalg.room import BYTES, available_memory, order_within
from pairlearn.pair_kernels import PairKernel
from pairlearn.words import counted, crossed

Kind = Literal["product", "blocked"]
PER_PAIR = 8 * 9
"""Bytes per pair that every solver needs: bounds, labels, coefficients, gradient, selection keys, columns."""

LEAST_SET = 2 * 8 * 512**2
"""Bytes without which no plan is made: room for a working set of some 590 pairs."""


@dataclass(frozen=True)
class Plan:
    """What will be held in memory.

    `kind` is "product" (fast matrix products) or "blocked" (blocks on demand); `gram` says whether the m × m
    matrix is held or values come from the examples each time; `working_set` is the largest number of pairs
    that there is room to optimise together. `bytes` is the most that all this takes, `budget` what was allowed, and
    `memory` what is left of that to the solver, for its working set or whatever it does instead (0: not known).
    """

    kind: Kind
    gram: bool
    working_set: int
    bytes: int
    budget: int
    memory: int = 0

    @property
    def block_bytes(self) -> int:
        """Bytes that one block of kernel values may take."""
        return block_bytes(self.budget)

    def __str__(self) -> str:
        held = "base Gram matrix held" if self.gram else "base kernel values computed anew"
        return (
            f"{self.kind} operator, {held}, working set up to {self.working_set:,} pairs, "
            f"up to {self.bytes / 2**20:,.0f} MiB of {self.budget / 2**20:,.0f} MiB"
        )


# --------------------------------------------------------------------------- the budget


def check_budget(memory_budget: float | None) -> int:
    """Memory budget in bytes: the given one, or 60 % of what is free."""
    if memory_budget is None:
        return int(0.6 * available_memory())
    if not (isinstance(memory_budget, Real) and memory_budget > 0):
        raise InputError(f"memory_budget is in bytes and must be > 0, got {memory_budget!r}; try 4e9 for 4 GB")
    return int(memory_budget)


def block_bytes(budget: int) -> int:
    """Bytes for one block of kernel values: 128 MiB, or an eighth of a small budget."""
    return min(2**27, budget // 8)


# --------------------------------------------------------------------------- the choice


@dataclass(frozen=True)
class Needs:
    """What pairs need, in bytes: per pair, for the Gram matrices of all bases, for features (None: some have none).

    `products` says that the kernel is a sum of tables and of views with features, so that fast products serve it.
    """

    per_pair: int
    gram: int
    features: int | None
    products: bool


@dataclass(frozen=True)
class Choice:
    """An operator, whether it holds the Gram matrix, and what it takes beside the working set."""

    kind: Kind
    gram: bool
    fixed: int


def make_plan(
    kernel: PairKernel,
    n_pairs: int,
    n_examples: int | tuple[int, ...],
    budget: int,
    *,
    ranks: Mapping[Kernel, int],
    width: int = 0,
    products: bool = True,
) -> Plan:
    """The plan for n pairs of m examples (or of m₁ × m₂, in two domains).

    `ranks` gives the feature dimension of bases that have one, `width` the number of features per pair; `products`
    says whether every view has features. Nothing is computed or allocated: sizes are all that a plan needs.

    >>> import pairlearn as pl
    >>> kernel = pl.pair_kernel("tensor").on(pl.kernels.Gaussian(1.0))
    >>> plan = make_plan(kernel, n_pairs=10**6, n_examples=10**4, budget=4 * 10**9, ranks={})
    >>> plan.kind, plan.gram, plan.bytes <= plan.budget
    ('product', True, True)
    """
    sizes = n_examples if isinstance(n_examples, tuple) else (n_examples,)
    needs = Needs(
        per_pair=(PER_PAIR + 8 * width) * n_pairs,
        gram=8 * sum(m**2 for m in sizes) * len(kernel.bases),
        features=3 * 8 * max(sizes) * sum(ranks.values()) if all(base in ranks for base in kernel.bases) else None,
        products=products and kernel.split()[2] is None,
    )
    choice = choose(needs, budget)
    rest = budget - choice.fixed
    if rest < LEAST_SET:
        raise _too_large(n_pairs, sizes, choice.fixed + LEAST_SET, budget)
    working_set = order_within(rest)
    most = choice.fixed + BYTES * min(n_pairs, working_set) ** 2
    return Plan(choice.kind, choice.gram, working_set, most, budget, rest)


def _too_large(n_pairs: int, sizes: tuple[int, ...], needed: int, budget: int) -> TooLargeError:
    return TooLargeError(
        f"{counted(n_pairs, 'pair')} of {crossed(sizes, 'example')} need about {needed / 2**20:,.1f} MiB, "
        f"but the budget is {budget / 2**20:,.1f} MiB; raise memory_budget, train on fewer pairs "
        "(pairs[rng.choice(len(pairs), n, replace=False)]) or use a linear base"
    )


def choose(needs: Needs, budget: int) -> Choice:
    """The fastest operator that leaves room for a working set: products, with a Gram matrix if it fits, else blocks.

    A fast product holds a Gram matrix, its product with the coefficients and one block, three times its size; over
    features three tables of these, and then the Gram matrix only serves single rows. Blocks need it twice while it
    is computed.
    """
    room = budget - needs.per_pair - LEAST_SET
    if needs.products and needs.features is not None:
        gram = 3 * needs.gram <= room
        return Choice("product", gram, needs.per_pair + needs.features + (needs.gram if gram else 0))
    if needs.products and 3 * needs.gram <= room:
        return Choice("product", True, needs.per_pair + 3 * needs.gram)
    block = block_bytes(budget)
    gram = 2 * needs.gram + block <= room
    return Choice("blocked", gram, needs.per_pair + (2 * needs.gram if gram else 0) + block)
