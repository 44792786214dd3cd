"""What splitting takes of the memory, counted before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.errors import TooLargeError
from pairlearn.linalg.room import order_within
from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers.splitting.cells import n_cells

LEAST = 4
"""Steps that the acceleration has to remember."""
BASIS = 8 * 4
"""Bytes per entry of a Gram matrix while it is decomposed: a copy, its eigenvectors, twice as much to work with."""
MATRICES = 8 + 4 * 8 + 8 * 2
"""Bytes per entry of S then: eigenvectors in float64, and in float32 these, their leading ones, S, a spare one, and
four with as many rows as lead; two more in float64 while it is set up."""
CORRECTION = 4 * 2 + 4 * 4 + 8 * 4 * 4
"""The same for a correction: two more of this size, one of twice the rows and columns, and four such in float64 while
it is computed."""
STATE = 8 * 12
"""Bytes per cell: rates, both bounds, weights of the sum, s, x, f, coefficients, two of the last step, what keeps the
sum, and one that passes, in float64 at the end."""
DOUBLED = 4 * 12
"""What is not there of a cell before float64 is needed, but for the steps."""
STEP = 8 * 2
"""Bytes per cell and step that the acceleration remembers, in float64."""
PAIRS = 8 * 10
"""Bytes per pair: its cell, factor, coefficients, rates, and what passes while the nearest feasible point is found."""
MENDED, PER_EXAMPLE = (3000, 6000), 3
"""Least and most pairs of the working sets that end a fit, where there is memory for them, and pairs per example
between the two: of 1.3 million pairs sets of 3,000 took 24 steps and 8 s, those of 5,000 took 3.3 s."""


@dataclass(frozen=True)
class Room:
    """Steps that the acceleration remembers, pairs that a working set may have, and the bytes of all but that set."""

    depth: int
    mended: int
    bytes: int
    single: int
    """The same before float64 is needed."""

    @classmethod
    def within(cls, memory: float, sandwich: Sandwich, depth: int) -> Room:
        """As many steps as there is memory for, `depth` at most; a TooLargeError below LEAST of them."""
        m, k, size, n_pairs = len(sandwich.left), len(sandwich.right), n_cells(sandwich), len(sandwich.rows)
        each = CORRECTION if sandwich.corrected else 0
        basis, matrices = BASIS * (m * m + k * k), (MATRICES + each) * m * k
        fixed = max(basis, matrices) + STATE * size + PAIRS * n_pairs
        depth = min(depth, int((memory - fixed) // (STEP * size)))
        if depth < LEAST:
            needed = fixed + LEAST * STEP * size
            raise TooLargeError(
                f"the splitting solver needs about {needed / 2**20:,.1f} MiB for {m:,} × {k:,} examples, but "
                f"{memory / 2**20:,.1f} MiB are left to it; raise memory_budget (--memory-budget), train on pairs of "
                'fewer examples, or choose solver="active_set"'
            )
        taken = fixed + depth * STEP * size
        mended = min(n_pairs, int(np.clip(PER_EXAMPLE * max(m, k), *MENDED)), order_within(memory - taken))
        return cls(depth, mended, taken, taken - (DOUBLED + depth * STEP // 2) * size)
