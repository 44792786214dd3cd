"""Every tuned number of the solvers, with what it was measured on.

All figures come from two shared cores with about 110 GFLOP/s in float64 matrix products; `benchmarks/solver.py` and
`benchmarks/machines.py` print today's. None of the numbers decides whether a fit is right: the certificate does that.
They only decide how long it takes, and most are flat over a factor of two.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """When which method is tried, and how long."""

    # -- the outer loop

    candidates: tuple[int, int] = (1000, 2000)
    """Least and most violators from each side once as many pairs support the function; before that half. All free
    pairs and 2,000 violators reach a gap of 1e-3 in 7 to 11 outer steps on 11,325 pairs and in 18 to 20 on 3.1 million;
    a thousand candidates in all took 6 to 18 on the former."""
    pairs_per_candidate: int = 150
    """Between the two: one candidate for so many pairs, so that small problems are not solved whole at once."""
    inner: float = 0.1
    """Tolerance of a working set, as a share of the gap over all pairs: more digits are lost with the next set."""
    inner_degenerate: float = 0.5
    """The same while the optimal face is degenerate and the gap above 1: new pairs are worth more than exactness."""
    final: float = 0.3
    """Least tolerance of a working set, as a share of the tolerance of the fit: the gap over all pairs is larger."""
    stale: int = 20
    """Outer steps at a gap that rounding alone can explain, and that does not fall, before the fit ends; before that a
    fit of a kernel with values of 1e12 went on for 100,000 steps."""
    stalled: int = 100
    """Outer steps in which neither the gap falls by a tenth nor the objective by a thousandth before the fit ends, with
    more than rounding explains; 7 to 20 are usual in all."""
    grace: float = 1.0
    """Seconds for the first step where there are none left: a machine that knows nothing is of no use."""

    def candidates_for(self, n_pairs: int) -> int:
        """Violators from each side among so many pairs. Half as many do while no more pairs support the function:
        320,000 pairs of Gaussian classes, 1,200 of them support pairs, 1.3 s instead of 1.8, 800 faces of LFW 1.1
        instead of 1.5."""
        return int(min(max(n_pairs // self.pairs_per_candidate, self.candidates[0]), self.candidates[1]))

    # -- SMO

    bursts: tuple[int, int] = (2, 20)
    """Steps of SMO per pair of the working set, before the first and before the second attempt of pivoting. Two are
    enough at small C; double interval at C = 1000 needs over a hundred, which pivoting replaces by 2 to 6 factors."""
    pairs_per_step: int = 1500
    """One more step per pair for so many pairs of the set: |W| steps cost |W|², a factor |W|³. 4.5 million pairs with
    31,000 support pairs (double interval, squared base) took hours without and 205 s with it."""
    most_patience: int = 200
    """Factor that bursts grow to, by doubling, while not even the interior point solves a working set."""

    # -- pivoting

    pivots: int = 20
    """Most exchanges; where pivoting succeeds it needs 2 to 6."""
    pivot_patience: int = 3
    """Exchanges in a row that may fail to lower the number of wrong guesses."""
    refinements: int = 2
    """Solutions with the corrected factor of another set before a factor of its own."""
    corrected: float = 0.1
    """Share of the factored set that may leave or join before a new factor costs less than the correction. 320,400
    pairs, 7,587 of them support pairs: one factor instead of five, 19 s instead of 29."""
    factored_anew: int = 256
    """Fewer equations than this are always factored anew: that costs nothing, and singular ones lose no digit."""

    # -- nested subsets

    subset: int = 4000
    """Least number of pairs of the first subset."""
    subset_growth: int = 6
    """How many times larger the next subset is. MNIST in 30 dimensions, metric kernel, 319,600 pairs, C = 1: 226 outer
    steps and 10.7 s without subsets, 12 + 14 + 19 and 1.7 s with three of them."""
    free_exponent: float = 0.5
    """Power of the number of pairs that the number of free ones grows with, from a subset to 216 times as many: .51
    and .56 (MNIST, Gaussian base, 1.3 million pairs: tensor, 2,702 to 42,045; tensor_metric, 2,589 to 52,329), .53 (3.1
    million), .50 (double intervals, metric kernel, 4.5 million: 932 to 13,700; .6 foresaw 23,400, too many for a
    factor, and splitting took more than a quarter of an hour in vain)."""
    subset_tol: float = 10.0
    """Tolerance of a subset, in those of the fit."""

    # -- Newton's method on a smoothed problem

    newton_sample: int = 5
    """Pairs per feature whose features make the equations of one step: a sample of all pairs on their ramps. Each step
    leaves about a third of the distance then; 12 per feature took two steps less of 26, of twice the length."""
    newton_features: int = 2000
    """Most features of a pair by which they are made."""
    newton_block: int = 5000
    """Pairs whose kernel values make them where features are many. Double interval, 307,000 pairs with 3,500 free ones:
    12 steps with 4,000 of them and five products over 60,000 each, 28 with 5,000 and no such products."""
    newton_looked: int = 100_000
    """Most pairs that a step looks at."""
    newton_first: float = 0.1
    """Share of the pairs that are on their ramps, after a first width with all of them."""
    newton_growth: float = 2.5
    """How many times fewer are so at the next width; with 4 the last steps take longer."""
    newton_last: int = 2
    """Pairs per feature that are on their ramps at last; at the optimum there are about as many free pairs as
    features."""
    newton_least: int = 500
    """The least number of them."""
    newton_steps: int = 12
    """Most steps at one width."""
    newton_crowded: float = 2.0
    """Factors of the pairs on their ramps at last that take longer than the interior point on all pairs, from which on
    it goes on: the function is all but constant on them. Sampled letters by the tensor kernel, 10,536 of 45,000 pairs
    with 136 features: .6 against 8 s; 3.1 million pairs of MNIST with 465 features: 22 s without it, 290 with it."""

    # -- interior point

    path_steps: int = 200
    """Most steps of the interior point; it needs 12 to 31. In the second half they are shorter, which leads out of the
    circles that long ones now and then run in."""
    path_stale: int = 10
    """Steps near the end of the path that do not lead further, after which it is given up: rounding leads it astray."""
    paths_at_rounding: int = 3
    """Sets that the interior point is tried on where the gap is of the size of rounding already."""
    corrections: int = 2
    """Most corrections towards the centre per step; each costs one more solution with the same factor."""

    # -- all pairs at once

    small: int = 2000
    """Fewer pairs than this are a working set of their own."""
    pairs_per_equation: int = 5
    """Pairs per equation from which on a thin matrix goes to the interior point at once: a ranker on 100,000 pairs of
    1,000 examples took 1.4 s instead of 10."""
    path_bytes: int = 244
    """Memory of the interior point per pair at its peak: thirty numbers; twice that where the kink of ε|θ| makes two
    parts of each coefficient."""


TUNING = Tuning()
"""What every solver uses unless it is told otherwise."""


@dataclass(frozen=True)
class Rates:
    """Operations per second in a product of matrices, and numbers per second in passes over vectors.

    >>> Rates(1e9, 1e8).seconds(operations=2e9, numbers=1e8)
    3.0
    """

    products: float
    passes: float

    def seconds(self, operations: float, numbers: float) -> float:
        """Time of so many operations in products and so many numbers in passes."""
        return operations / self.products + numbers / self.passes


RATES = Rates(products=1e11, passes=1e9)
"""Of two cores with AVX-512, measured once and fixed: only how they compare with each other matters to a choice between
solvers, and a choice by today's load would give another result for the same seed."""

PER_ENTRY, PER_PAIR = 5.0, 60.0
"""Numbers that a step of an active set reads or writes for each entry of its working set's matrix, and for each of all
pairs."""

FACTORS = 2.0
"""Factors of the free pairs that an active set takes at the least."""


def factor_seconds(n_free: float) -> float:
    """About how many seconds a factor of so many free pairs takes."""
    return RATES.seconds(n_free**3 / 3, 0.0)


def set_numbers(size: float, n_pairs: float) -> float:
    """Numbers of a step with so many of all pairs, about: the set's matrix several times, and passes over all.

    >>> set_numbers(10, 100)
    6500.0
    """
    return PER_ENTRY * size**2 + PER_PAIR * n_pairs
