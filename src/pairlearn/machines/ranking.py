"""A total order from an antisymmetric relation, with the ties and cycles that it hides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairlearn import inline
from pairlearn.types import Bools, Floats, Ints
from pairlearn.words import counted

ROWS = 2**24
"""Values of the relation computed at a time."""
MOST_FOR_CYCLES = 5000
"""Up to this many examples the cycles are counted; the m × m relation is held as one byte each."""


@dataclass(frozen=True, repr=False)
class Ranking:
    """Examples best first.

    `scores` are mean advantages, one per example in the order of the rows; `ties` are groups of examples with equal
    scores. `n_cycles` counts the triples a ≻ b ≻ c ≻ a of the relation, `cycle` is one of them (empty without any),
    `inconsistency` the share of Σ g² that no scores can explain: 0 for a difference of utilities, up to 1.
    `n_cycles` is −1 when there were too many examples to count.
    """

    order: Ints
    scores: Floats
    ties: tuple[tuple[int, ...], ...]
    n_cycles: int
    cycle: tuple[int, ...]
    inconsistency: float

    def __repr__(self) -> str:
        return f"Ranking({self})"

    def __str__(self) -> str:
        cycles = "cycles not counted" if self.n_cycles < 0 else counted(self.n_cycles, "cyclic triple")
        example = f" (e.g. {' ≻ '.join(map(str, (*self.cycle, self.cycle[0])))})" if self.cycle else ""
        return (
            f"{counted(len(self.order), 'example')}, {counted(len(self.ties), 'tie')}, {cycles}{example}, "
            f"inconsistency {self.inconsistency:.3g}"
        )

    def _repr_html_(self) -> str:
        first = self.order[: inline.ROWS].tolist()
        largest = float(np.abs(self.scores).max(initial=0.0))
        rows = [
            (place, row, f"{self.scores[row]:.4g}", inline.bar(self.scores[row], largest))
            for place, row in enumerate(first, 1)
        ]
        return inline.table(str(self), ("rank", "row", "score", ""), rows, len(self.order))


def rank_by(relation: Callable[[Ints], Floats], n_examples: int) -> Ranking:
    """Rank by mean advantage; `relation(rows)` gives g(a, ·) for these a, (len(rows), m).

    s_a = mean_b g(a, b) minimises Σ (s_a − s_b − g(a, b))² over all scores, by the normal equations for an
    antisymmetric g. The share that they leave unexplained, 1 − Σ (s_a − s_b)² / Σ g², is the inconsistency: the part of
    the relation that runs in circles. Rows come a block at a time, so that m × m values are never held.
    """
    m = n_examples
    scores, squares = np.zeros(m), 0.0
    beats = np.zeros((m, m), dtype=bool) if m <= MOST_FOR_CYCLES else None
    step = max(1, ROWS // m)
    for start in range(0, m, step):
        rows = np.arange(start, min(start + step, m))
        g = relation(rows)
        scores[rows] = g.mean(axis=1)
        squares += float((g**2).sum())
        if beats is not None:
            beats[rows] = g > 0
    order = np.argsort(-scores, kind="stable")
    # Σ (s_a − s_b)² = 2m Σ s² for scores that sum to zero.
    explained = 2.0 * m * float(((scores - scores.mean()) ** 2).sum())
    inconsistency = max(0.0, 1.0 - explained / squares) if squares > 0 else 0.0
    n_cycles, cycle = (-1, ()) if beats is None else find_cycles(beats)
    return Ranking(order, scores, _ties(scores, order), n_cycles, cycle, inconsistency)


def find_cycles(beats: Bools) -> tuple[int, tuple[int, ...]]:
    """Number of triples a ≻ b ≻ c ≻ a, and one of them: trace(B³)/3 of the matrix of wins.

    (B²)[a, c] counts the b between a and c; it closes a cycle where c beats a. Each is found from its three corners.
    Counts below 2²⁴ are exact in float32, and m ≤ 5000 stays far below that.

    >>> find_cycles(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool))
    (1, (0, 1, 2))
    """
    B = beats.astype(np.float32)
    total = 0.0
    found: tuple[int, ...] = ()
    step = max(1, ROWS // max(1, len(B)))
    for start in range(0, len(B), step):
        paths = B[start : start + step] @ B
        closed = paths * B.T[start : start + step]
        total += float(closed.sum(dtype=np.float64))
        if not found and closed.any():
            a, c = (int(index[0]) for index in np.nonzero(closed))
            a += start
            found = (a, int(np.nonzero(beats[a] & beats[:, c])[0][0]), c)
    return round(total / 3.0), found


def _ties(scores: Floats, order: Ints) -> tuple[tuple[int, ...], ...]:
    """Groups of equal scores, to rounding."""
    ranked = scores[order]
    scale = 1e-12 * float(np.abs(scores).max(initial=0.0))
    groups = np.split(order, np.nonzero(np.diff(ranked) < -scale)[0] + 1)
    return tuple(tuple(int(i) for i in group) for group in groups if len(group) > 1)
