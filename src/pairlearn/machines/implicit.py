"""A machine on all pairs of examples in classes that are never listed: whether that serves, the fit, what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.errors import InputError, TooLargeError
from pairlearn.kernels import as_kernel
from pairlearn.operators.build import COPIED, build, refuse_large
from pairlearn.operators.plan import Plan, check_budget
from pairlearn.operators.resolve import resolve
from pairlearn.operators.source import Source
from pairlearn.operators.thin import features_of
from pairlearn.pair_kernels import PairKernel, Table, pair_kernel
from pairlearn.pairs import Pairs, Triangle
from pairlearn.solvers import solver_for
from pairlearn.solvers.implicit import Everyone, Implicit, Outcome
from pairlearn.solvers.implicit.descent import bytes_needed
from pairlearn.solvers.problem import Problem, Solution
from pairlearn.solvers.start import feasible
from pairlearn.types import Examples, Floats, Ints

if TYPE_CHECKING:
    from pairlearn.machines.machine import PairMachine

FEATURES = 4000
"""Features of a pair at most: the function is a sum over twice as many pairs."""
BLOCKS = 200 * 10**6
"""Bytes that scans of all pairs take: blocks of values, of coefficients and of what passes in between."""
LISTED = 100_000
"""Pairs around the margin at most, however much memory there is."""
LEAST, PER_LISTED = 20_000, 400
"""Pairs that have to find room in a list, and bytes for each: what a fit of listed pairs holds, and its solver."""
INNER = 0.3
"""Tolerance of listed pairs, as a share of that of all."""
LONGER = "only a larger time_budget leads further: a fit without a list starts anew"
"""What to do about a fit that was stopped."""
NO = "all pairs are learnt from without a list only "


@dataclass(frozen=True)
class Setting:
    """All pairs of these examples, the kernel with its parameters fixed on them, and their features."""

    examples: Examples
    triangle: Triangle
    kernel: PairKernel
    table: Table
    Z: Floats
    order: int
    """Features of a pair."""

    def listed(self, left: Ints, right: Ints) -> Pairs:
        """These pairs."""
        return Pairs(self.examples, left, right)


def setting_for(machine: PairMachine, pairs: Pairs) -> Setting:
    """The setting, or why there is none, as an InputError."""
    refuse_little(pairs.n_examples, 0, check_budget(machine.memory_budget))
    if pairs.triangle is None:
        raise InputError(NO + "of pl.all_pairs(examples)")
    if machine.mirrored or machine.checkpoint is not None:
        raise InputError(NO + "with mirrored=False, and without a checkpoint")
    kernel = pair_kernel(machine.kernel).on(as_kernel(machine.base))
    tables, views, rest = kernel.split()
    if kernel.symmetry != "symmetric" or len(tables) != 1 or views or rest is not None:
        raise InputError(NO + "with a symmetric kernel on one base (metric, tensor, tensor_metric, direct_sum, …)")
    found = resolve(kernel, pairs, COPIED * check_budget(machine.memory_budget))
    base = found.bases[0]
    if base not in found.ranks:
        raise InputError(
            NO + "where the base has few features, less than half as many as there are examples: a linear one on few "
            "dense columns, or a low rank one"
        )
    table, Z = found.kernel.split()[0][0], np.ascontiguousarray(found.features[base][0], dtype=np.float64)
    order = features_of(table, Source(base, None, features=Z))
    if order is None or order > FEATURES:
        raise InputError(NO + f"with at most {FEATURES:,} features of a pair, here {order or 0:,}; reduce the columns")
    return Setting(pairs.examples, pairs.triangle, found.kernel, table, Z, order)


def is_wanted(machine: PairMachine, pairs: Pairs) -> bool:
    """Whether these pairs should not be listed: that is asked for, or there is no memory for a list.

    A list takes about as long, and it has the coefficients of the optimum.
    """
    if machine.solver == "implicit":
        return True
    if machine.solver != "auto" or pairs.triangle is None or machine.checkpoint is not None:
        return False
    try:
        refuse_large(pair_kernel(machine.kernel).on(as_kernel(machine.base)), pairs, 1, machine.memory_budget)
    except TooLargeError:
        return True
    return False


def learn(
    machine: PairMachine, setting: Setting, classes: Ints, boxes: tuple[float, float], seed: int
) -> tuple[Outcome, Plan]:
    """The function of all pairs, by the machine's tolerance, time and memory, and what that took."""
    budget, taken = check_budget(machine.memory_budget), 0
    fixed = BLOCKS + 6 * setting.Z.nbytes + bytes_needed(setting.order)
    room = budget - fixed
    refuse_little(len(setting.Z), fixed, budget)

    def listed(left: Ints, right: Ints, problem: Problem, start: Floats, seconds: float | None) -> Solution:
        nonlocal taken
        operation = build(setting.kernel, setting.listed(left, right), memory_budget=room)
        solver = solver_for("active_set", INNER * machine.tol, seconds, operation.plan.memory, seed)
        solution = solver.solve(problem, operation.operator, feasible(start, problem))
        taken = max(taken, operation.used(solution.taken).bytes)
        return solution

    most = int(min(LISTED, room // PER_LISTED))
    everyone = Everyone(setting.table, setting.Z, classes, setting.triangle, boxes)
    implicit = Implicit(tol=machine.tol, most=most, time_budget=machine.time_budget, seed=seed)
    return implicit.solve(everyone, listed, machine.callback), Plan("implicit", False, most, fixed + taken, budget)


def refuse_little(m: int, fixed: int, budget: int) -> None:
    """Refuse a budget without room for scans, so many bytes in all beside a short list."""
    needed = max(fixed, BLOCKS) + LEAST * PER_LISTED
    if budget < needed:
        raise TooLargeError(
            f"all pairs of {m:,} examples need about {needed / 2**20:,.1f} MiB even without a list of them, but the "
            f"budget is {budget / 2**20:,.1f} MiB; raise memory_budget (--memory-budget)"
        )
