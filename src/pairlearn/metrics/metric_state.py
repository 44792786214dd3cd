"""What an online pseudo-metric knows: a matrix, a threshold, and how it went so far.

d²(v) = vᵀA v for a difference v = x − x'. A pair is taken for similar while d² < b. With labels y = ±1:

    loss = max(0, y·(d² − b) + 1);   α = loss/(‖v‖⁴ + 1 + γ);   A ← A − yα·v vᵀ;   b ← max(1, b + yα);
    then A loses its negative eigenvalue: only y = +1 can make one, and at most one.

A lives in coordinates of the span of the differences seen, so it is as small as that span.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from pairlearn import loops
from pairlearn.types import Floats

LARGEST = 1e150
"""Of ‖x − x'‖², of a loss and of entries of A: all are squared, and squares are summed."""
ACCURACY = 1e-10
"""Residual of the removed eigenvector, relative to the largest eigenvalue."""
MOST_STEPS = 80
"""Lanczos steps before a factorisation is cheaper."""


@dataclass
class MetricState:
    """A in coordinates, (r, r), the threshold b ≥ 1, and sums over the pairs seen.

    >>> state = MetricState(np.zeros((2, 2)), 1.0)
    >>> v = np.array([2.0, 0.0])
    >>> loss = state.observe(v, -1)
    >>> state.update(v, -1, loss / 17.0)
    >>> loss, float(state.matrix[0, 0]), state.threshold
    (2.0, 0.47058823529411764, 1.0)
    """

    matrix: Floats = field(repr=False)
    threshold: float
    n_pairs: int = 0
    n_mistakes: int = 0
    n_updates: int = 0
    n_fallbacks: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0

    def observe(self, v: Floats, y: int) -> float:
        """Count a pair and return its loss, max(0, y·(d² − b) + 1); a mistake is a loss of at least 1.

        v: coordinates of the difference; its part outside the span has no distance.
        """
        loss = max(0.0, y * (max(loops.pola.quadratic(self.matrix, v), 0.0) - self.threshold) + 1.0)
        self.n_pairs += 1
        self.n_mistakes += loss >= 1.0
        self.loss += loss
        self.squared_loss += loss * loss
        return loss

    def update(self, v: Floats, y: int, alpha: float) -> None:
        """A ← [A − yα·v vᵀ]₊, b ← max(1, b + yα)."""
        self.n_updates += 1
        self.threshold = max(1.0, self.threshold + y * alpha)
        if y < 0:
            loops.pola.add_rank_two(self.matrix, alpha, v, 0.0, v)
        elif v.any():
            self._subtract(v, alpha)

    def _subtract(self, v: Floats, alpha: float) -> None:
        """A ← [A − α v vᵀ]₊: subtracting one rank from a semidefinite A makes at most one negative eigenvalue.

        A few Lanczos steps from v find it: its eigenvector (A − λ)⁻¹v lies in the Krylov space of A and v, and its
        eigenvalue at the end of the spectrum, where they converge first. That costs some r² where all eigenvalues
        would cost r³; where it is not sure, `_clip` is.
        """
        value, u, residual, scale, steps = loops.pola.lowest_ritz(self.matrix, v, alpha, ACCURACY, MOST_STEPS)
        whole = steps == len(v)  # the space was searched in full, or exhausted below
        if value < 0 and (residual <= ACCURACY * scale or whole):
            loops.pola.add_rank_two(self.matrix, -alpha, v, -value, u)
            return
        loops.pola.add_rank_two(self.matrix, -alpha, v, 0.0, v)
        if residual > ACCURACY * scale and not whole:
            self._clip(scale)

    def _clip(self, scale: float) -> None:
        """The slow and safe way: nothing to do if A + ε is positive definite, else the lowest eigenvector goes."""
        self.n_fallbacks += 1
        try:
            cholesky(self.matrix + ACCURACY * scale * np.eye(len(self.matrix)), check_finite=False)
        except LinAlgError:
            values, vectors = eigh(self.matrix, subset_by_index=[0, 0])
            if values[0] < 0:
                loops.pola.add_rank_two(self.matrix, -values[0], vectors[:, 0], 0.0, vectors[:, 0])
