"""The memory plan: what is held of these pairs within the budget, and which operator that allows.

One rule: what is held whatever the solver does, its temporaries included, plus what the solver may take stays within
the budget. Everyone who needs memory later asks the plan for it, in bytes. Counted is what a fit allocates: examples,
pairs and labels are the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from numbers import Real
from typing import Literal

from pairlearn.errors import InputError, TooLargeError
from pairlearn.kernels import Kernel
from pairlearn.linalg.cholesky import packed_bytes
from pairlearn.linalg.room import BYTES, available_memory, order_within
from pairlearn.operators.source import PART, PER_SUM
from pairlearn.pair_kernels import PairKernel
from pairlearn.words import counted, crossed

Kind = Literal["product", "blocked", "dense", "implicit"]
PER_FIT = {"number among the given pairs": 8, "label": 8, "box, lower and upper bound": 24}
"""Bytes per pair that every fit holds."""
PER_PAIR = PER_FIT | {
    "left and right example, or the order by these": 8,
    "coefficient, the best so far, residual, change of a step": 32,
}
"""The same with what operators may hold and solvers do."""
PER_ENTRY = 2.4
"""Gram matrices' worth of a fast product over one: itself, its product with the coefficients, their sparse sums."""
PER_FEATURE = 3
"""Tables of features: themselves, their product with the coefficients, those of a working set."""
PER_BLOCK = {True: 1, False: 6}
"""Blocks' worth of one block of kernel values, with a Gram matrix to look them up in and without: values of the
examples in it, of parts of the kernel, the result."""
BLOCK, BLOCKS = 2**24, 64
"""Bytes of a block of kernel values at most, and its share of a budget."""
DENSE = (512, 8192)
"""Pairs whose Gram matrix is held at least and at most: products over fewer take no time, of more it takes 512 MB."""
LEAST_SET = 2 * 8 * 512**2
"""Bytes without which no plan is made: room for a working set of some 570 pairs."""


@dataclass(frozen=True)
class Plan:
    """What will be held in memory.

    `kind` is "product" (fast matrix products), "blocked" (blocks on demand), "dense" (the Gram matrix of the pairs
    themselves, where they are fewer than their examples) or "implicit" (all pairs of examples in
    classes, of which only those near the margin are listed, `working_set` at most); `gram` says whether there is a
    matrix of all examples or values come from the examples each time; `working_set` is the largest number of pairs
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

    def after(self, used: int) -> Plan:
        """The same after a fit that used so many bytes."""
        return replace(self, bytes=used)

    def __str__(self) -> str:
        if self.kind == "implicit":
            return (
                f"pairs never listed but for {self.working_set:,} near the margin at most, "
                f"up to {self.bytes / 2**20:,.0f} MiB of {self.budget / 2**20:,.0f} MiB"
            )
        held = "base Gram matrix held" if self.gram else "base kernel values computed anew"
        held = "all kernel values held" if self.kind == "dense" else held
        return (
            f"{self.kind} operator, {held}, working set up to {self.working_set:,} pairs, "
            f"up to {self.bytes / 2**20:,.0f} MiB of {self.budget / 2**20:,.0f} MiB"
        )


# --------------------------------------------------------------------------- the budget


def check_budget(memory_budget: float | None) -> int:
    """Memory budget in bytes: the given one, or 60 % of what is free."""
    if memory_budget is None:
        return int(0.6 * available_memory())
    if not (isinstance(memory_budget, Real) and 0 < memory_budget < inf):
        raise InputError(
            f"memory_budget is in bytes and must be > 0 and finite, got {memory_budget!r}; try 4e9 for 4 GB, or None "
            "for 60 % of what is free"
        )
    return int(memory_budget)


def block_bytes(budget: int) -> int:
    """Bytes for one block of kernel values: 16 MiB, or less of a small budget, since PER_BLOCK of them are reserved."""
    return min(BLOCK, budget // BLOCKS)


# --------------------------------------------------------------------------- the choice


@dataclass(frozen=True)
class Needs:
    """What pairs need, in bytes: for all pairs, per Gram matrix (of all bases), for features (None: some have none).

    `products` says that the kernel is a sum of tables and of views with features, so that fast products serve it;
    `passing` is needed while a Gram matrix is computed, before the solver takes what is left; `on_disk` is the part of
    the Gram matrices that stands in files; `dense` is the Gram matrix of the pairs, where that is smaller (0: not).
    """

    pairs: int
    gram: int
    features: int | None
    products: bool
    passing: int = 0
    on_disk: int = 0
    dense: int = 0

    @property
    def gram_held(self) -> int:
        """Bytes of Gram matrices in memory."""
        return self.gram - self.on_disk


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
    copies: tuple[int, int] = (0, 0),
    on_disk: tuple[int, int] = (0, 0),
    reserved: int = 0,
) -> Plan:
    """The plan for n pairs of m examples (or of m₁ × m₂, in two domains).

    `ranks` gives the feature dimension of bases that have one, `width` the number of features per pair; `products`
    says whether every view has features; `copies` are bytes of examples beside the caller's, those that are held and
    those that are only passed through; `on_disk` are bytes of Gram matrices and of features that stand in files;
    `reserved` are bytes that whoever asks takes beside operator and solver.
    Nothing is computed or allocated: sizes are all that a plan needs.

    >>> import pairlearn as pl
    >>> kernel = pl.pair_kernel("tensor").on(pl.kernels.Gaussian(1.0))
    >>> plan = make_plan(kernel, n_pairs=10**6, n_examples=10**4, budget=4 * 10**9, ranks={})
    >>> plan.kind, plan.gram, plan.bytes <= plan.budget
    ('product', True, True)
    """
    sizes = n_examples if isinstance(n_examples, tuple) else (n_examples,)
    needs = Needs(
        pairs=bytes_of_pairs(n_pairs, width) + copies[0] + reserved,
        gram=8 * sum(m**2 for m in sizes) * len(kernel.bases),
        features=PER_FEATURE * 8 * max(sizes) * sum(ranks.values()) - on_disk[1]
        if all(base in ranks for base in kernel.bases)
        else None,
        products=products and kernel.split()[2] is None,
        passing=copies[1],
        on_disk=on_disk[0],
        dense=8 * n_pairs**2 if DENSE[0] <= n_pairs <= sum(sizes) else 0,
    )
    choice = choose(needs, budget)
    rest = budget - choice.fixed
    if rest < LEAST_SET:
        raise too_large(n_pairs, sizes, least_budget(needs.pairs), budget)
    rest = max(LEAST_SET, rest - packed_bytes(order_within(rest)))
    working_set = order_within(rest)
    most = choice.fixed + BYTES * min(n_pairs, working_set) ** 2
    return Plan(choice.kind, choice.gram, working_set, most, budget, rest)


def bytes_of_pairs(n_pairs: int, width: int) -> int:
    """What n pairs take whatever the operator, with so many numbers that views show of each."""
    return (sum(PER_PAIR.values()) + 8 * width) * n_pairs + PER_SUM * min(n_pairs, PART)


def least_budget(held: int) -> int:
    """The least budget with room for so many bytes, a small working set and blocks, which grow with the budget.

    >>> budget = least_budget(10**8)
    >>> budget - 10**8 - LEAST_SET - PER_BLOCK[False] * block_bytes(budget) >= 0
    True
    """
    least, blocks = held + LEAST_SET, PER_BLOCK[False]
    return min(least + blocks * BLOCK, int(least / (1 - blocks / BLOCKS)) + 1)


def refuse_hopeless(n_pairs: int, width: int, sizes: tuple[int, ...], budget: int, reserved: int = 0) -> None:
    """Refuse pairs for which no plan has room beside what is reserved, before anything is computed of them."""
    needed = least_budget(bytes_of_pairs(n_pairs, width) + reserved)
    if needed > budget:
        raise too_large(n_pairs, sizes, needed, budget)


def too_large(n_pairs: int, sizes: tuple[int, ...], needed: int, budget: int) -> TooLargeError:
    """What these pairs need at least, and what to do."""
    return TooLargeError(
        f"{counted(n_pairs, 'pair')} of {crossed(sizes, 'example')} need about {needed / 2**20:,.1f} MiB, "
        f"but the budget is {budget / 2**20:,.1f} MiB; raise memory_budget (--memory-budget), or train on fewer pairs "
        "(pairs[rng.choice(len(pairs), n, replace=False)], or `pairlearn pairs sample`)"
    )


def choose(needs: Needs, budget: int) -> Choice:
    """The fastest operator that leaves room for a working set: products, with a Gram matrix if it fits, else blocks.

    Over features the Gram matrix only serves single rows, so that the working set may take twice its size first. Pairs
    that share few examples take less as a matrix of their own than through one of these, and a product with it is one
    pass over it: 20 ms instead of 900 (6,000 pairs of 7,701 faces); where examples have features, these serve instead.
    The last choice is what is left when nothing fits.
    """
    held, anew = (needs.pairs + times * block_bytes(budget) for times in (PER_BLOCK[True], PER_BLOCK[False]))
    gram, features, passing = needs.gram_held, needs.features, needs.passing
    found = []
    if needs.products and features is not None:
        if not needs.dense:
            found += [(Choice("product", True, held + features + gram), max(passing, 2 * gram))]
        found += [(Choice("product", False, anew + features), 0)]
    elif 0 < needs.dense <= 8 * DENSE[1] ** 2:
        found += [(Choice("dense", True, anew + needs.dense), passing + gram)]
    if needs.products and features is None:
        found += [(Choice("product", True, held + int(PER_ENTRY * needs.gram) - needs.on_disk), passing - gram)]
    found += [(Choice("blocked", True, anew + gram), max(passing, gram)), (Choice("blocked", False, anew), 0)]
    return next((choice for choice, more in found if choice.fixed + max(0, more) + LEAST_SET <= budget), found[-1][0])
