"""Training pairs with their kernel, in one order or in both, and the scale of their targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pair_kernels import PairKernel
from pairlearn.pairs import Pairs
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats, Ints


@dataclass(frozen=True)
class Training:
    """Checked training pairs, the kernel with its bases, and the sign of the learnt function.

    `sign` is +1 for g(b, a) = g(a, b) and −1 for g(b, a) = −g(a, b); the latter has no bias.
    `given` is the number of each row among the pairs that the caller passed, (n_rows,): a machine that trains on both
    orders of a pair, or that leaves draws out, still reports its support pairs by the caller's numbers.
    `clock` runs since the fit began: building the operator takes time too.
    """

    pairs: Pairs
    kernel: PairKernel
    sign: int
    given: Ints
    clock: Clock

    def chosen(self, order: Ints) -> Training:
        """The same with these rows."""
        return replace(self, pairs=self.pairs[order], given=self.given[order])

    def mirrored(self, problem: Problem) -> tuple[Training, Problem]:
        """Both orders of every pair."""
        pairs, problem, order = mirror(self.pairs, problem, self.sign)
        return replace(self, pairs=pairs, given=self.given[order]), problem


def mirror(pairs: Pairs, problem: Problem, sign: int) -> tuple[Pairs, Problem, Ints]:
    """Every pair in both orders with half the box each, and whose row is whose: (pairs, problem, row of each).

    (a, b) with box [l, u] and label p becomes (a, b) and (b, a) with box [l/2, u/2] and label p. A reflexive pair
    (a, a) is its own mirror image: it stays once, with the whole box. With an order-invariant kernel K the solution of
    this problem is that of the original one with the balanced kernel ½(K((a, b), ·) + K((b, a), ·)), which is how the
    symmetric kernels are checked.

    The twin of an antisymmetric problem has minus the label and the bounds. It needs no bias, but Σθ = 0 lets the
    solver show that it finds none.
    """
    once, twice = np.nonzero(pairs.reflexive)[0], np.nonzero(~pairs.reflexive)[0]
    straight = np.concatenate([once, twice])
    both = pairs[straight].followed_by(pairs[twice].swapped())
    share = np.concatenate([np.ones(len(once)), np.full(len(twice), 0.5)])

    def join(values: Floats, twins: Floats) -> Floats:
        return np.concatenate([share * values[straight], 0.5 * twins[twice]])

    p, lower, upper = problem.linear, problem.lower, problem.upper
    bounds = (lower, upper) if sign > 0 else (-upper, -lower)
    mirrored = replace(
        problem,
        linear=np.concatenate([p[straight], sign * p[twice]]),
        lower=join(lower, bounds[0]),
        upper=join(upper, bounds[1]),
        total=problem.total if sign > 0 else 0.0,
    )
    return both, mirrored, np.concatenate([straight, twice])


def refuse_ignored_blocks(pairs: Pairs, kernel: PairKernel) -> None:
    """Refuse per-pair features that the kernel would not see."""
    for name in ("invariant", "signed"):
        if getattr(pairs, name) is not None and name not in kernel.blocks:
            raise InputError(
                f"these pairs have `{name}` features, which this kernel ignores; "
                f"add pl.pair_kernels.on_{name}(…) to it, or drop them"
            )


# --------------------------------------------------------------------------- the scale of targets

SAME = 1e-12
"""A spread below this share of the largest target is rounding: all targets are equal."""


@dataclass(frozen=True)
class Scale:
    """targets = centre + size · standard targets: regression is solved in units of their spread.

    >>> scale = Scale.of(np.array([10.0, 30.0]), np.ones(2), biased=True)
    >>> scale, scale.standard(np.array([10.0, 30.0])).tolist()
    (Scale(centre=20.0, size=10.0), [-1.0, 1.0])
    """

    centre: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, targets: Floats, weights: Floats, *, biased: bool) -> Scale:
        """Weighted mean and standard deviation; without a bias the root mean square about 0.

        An antisymmetric function has both y and −y, whose mean is 0. The size of equal targets is their own.
        """
        if not weights.any():
            return cls()
        y, share = targets[weights > 0], weights[weights > 0] / weights.max()
        centre = float(np.average(y, weights=share)) if biased else 0.0
        off = np.abs(y - centre)
        largest, size = float(np.abs(y).max()), float(off.max())
        if size <= SAME * largest:
            return cls(centre, largest or 1.0)
        return cls(centre, size * float(np.sqrt(np.average((off / size) ** 2, weights=share))))

    def standard(self, targets: Floats) -> Floats:
        """(targets − centre) / size."""
        return (targets - self.centre) / self.size
