"""Probes and enrolled examples as points: the nearer, the higher the score.

By singular values, whatever the signs of M, e_aᵀ M e_b + own(b) is Σ_t (u_tᵀe_a) σ_t (v_tᵀe_b) + own(b): q·k + own(b)
with q_t = √σ_t u_tᵀe_a and k_t = √σ_t v_tᵀe_b (`Axes`). Half a squared distance is ½‖q‖² − q·k + ½‖k‖², so one more
coordinate √(2(S − own(b) − ½‖k‖²)) of the enrolled and 0 of the probes makes the nearest point the highest score
(`Lift`). Of a pseudo-metric that coordinate is the same for all: then this is its own distance A^½(x − x').
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.utils.extmath import randomized_svd

from pairlearn.scorers.bilinear import Bilinear
from pairlearn.types import Examples, Floats, Ints

LOST = 1e-5
"""Share of the variance of scores that the axes left out may have; the candidates are scored as a whole anyway."""
MOST, WIDE = 256, 1024
"""Axes that are kept at most; rows so long are decomposed for these alone."""
RIDGE = 1e-6
"""Variance that every direction has at least, in means of all: examples to come may have some beyond the sample."""
SAMPLE = 20_000
"""Enrolled examples that axes and origin are learnt from."""
SHRINK = 0.1
"""The same in the choice of the origin, which must not run off to where no probe is."""


@dataclass(frozen=True, eq=False)
class Axes:
    """q(a) = e_a @ to_probe, (p, r), and k(b) = (e_b − centre) @ to_enrolled, (g, r), with q·k ≈ e_aᵀ M e_b + c(a).

    Axes are the singular vectors of C^½ M D^½, C and D the second moments of rows, so that those left out matter least
    for scores, not for M alone.
    """

    form: Bilinear
    centre: Floats
    to_probe: Floats
    to_enrolled: Floats

    @classmethod
    def learn(cls, form: Bilinear, sample: Examples) -> Axes:
        """By a sample of enrolled examples."""
        E = form.rows(sample)
        centre = E.mean(axis=0)
        # A constant in e_b adds the same to all scores of a probe; one in e_a does not.
        (before, back), (root, inverse) = (_roots(rows.T @ rows / len(E)) for rows in (E, E - centre))
        M = np.eye(E.shape[1]) if form.cross is None else form.cross
        U, values, V = _singular(before @ M @ root)
        kept = _kept(values)
        weights = np.sqrt(values[:kept])
        return cls(form, centre, back @ U[:, :kept] * weights, inverse @ V[:kept].T * weights)

    def probes(self, examples: Examples) -> Floats:
        """(q, 0) of every probe, (p, r + 1)."""
        q = self.form.rows(examples) @ self.to_probe
        return _single(np.column_stack([q, np.zeros(len(q))]))

    def enrolled(self, examples: Examples) -> Floats:
        """(k, own) of every enrolled example, (g, r + 1); their means are those of scores."""
        E = self.form.rows(examples)
        return _single(np.column_stack([(E - self.centre) @ self.to_enrolled, self.form.own(E)]))


@dataclass(frozen=True, eq=False)
class Lift:
    """From (k, own) to points: (k − origin, √(2(level − s))) with s = own + ½‖k − origin‖² ≤ level.

    Another origin adds the same to all scores of a probe, so it is chosen where s varies least.
    """

    origin: Floats
    level: float

    @classmethod
    def learn(cls, rows: Floats) -> Lift:
        """By all rows (k, own) that are enrolled, (g, r + 1)."""
        some = rows[:: max(1, len(rows) // SAMPLE)].astype(np.float64)
        K, s = some[:, :-1] - some[:, :-1].mean(axis=0), cls(np.zeros(some.shape[1] - 1), 0.0).heights(some)
        C = K.T @ K / len(K)
        C[np.diag_indices(len(C))] += SHRINK * np.trace(C) / len(C) + np.finfo(float).tiny
        origin = linalg.solve(C, K.T @ (s - s.mean()) / len(K), assume_a="pos")
        heights = cls(origin, 0.0).heights(rows)
        # Room for those who come later.
        return cls(origin, float(heights.max() + heights.std()))

    def heights(self, rows: Floats) -> Floats:
        """s of these rows, (g,)."""
        K = rows[:, :-1] - self.origin
        return np.asarray(rows[:, -1] + 0.5 * np.einsum("ij,ij->i", K, K))

    def points(self, rows: Floats) -> Floats:
        """(g, r + 1)."""
        last = np.sqrt(2.0 * np.maximum(self.level - self.heights(rows), 0.0))
        return _single(np.column_stack([rows[:, :-1] - self.origin, last]))


def _single(values: Floats) -> Floats:
    """In float32, infinite beyond it."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _roots(C: Floats) -> tuple[Floats, Floats]:
    """C^½ and C^−½ of a matrix of moments."""
    values, vectors = linalg.eigh(C)
    values = np.sqrt(np.maximum(values, 0.0) + RIDGE * values.mean() + np.finfo(float).tiny)
    return (vectors * values) @ vectors.T, (vectors / values) @ vectors.T


def _singular(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    if min(matrix.shape) > WIDE:
        found: tuple[Floats, Floats, Floats] = randomized_svd(matrix, MOST, random_state=0)
        return found
    U, values, V = linalg.svd(matrix, full_matrices=False)
    return U, values, V


def _kept(values: Floats) -> int:
    """So many axes leave out no more than the share LOST, at least one and at most MOST."""
    left = np.cumsum(values[::-1] ** 2)[::-1]
    needed: Ints = np.flatnonzero(left > LOST * left[0])
    return int(np.clip(len(needed), 1, MOST))
