"""Least squares on all pairs of the training examples, in closed form: what `PairRidge` learns with a tensor kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pairlearn.baselines.baseline import Presets
from pairlearn.baselines.learnt import Projection
from pairlearn.baselines.plda import QuadraticBaseline
from pairlearn.baselines.training import TrainingRows
from pairlearn.errors import InputError
from pairlearn.evaluation.rates import equal_error_rate
from pairlearn.evaluation.scores import Scores
from pairlearn.linalg.spectral import eigh
from pairlearn.types import Floats, Ints

DECADES = np.arange(-4.0, 2.5, 0.5)
"""Powers of ten that are tried for alpha, times the mean K(i, i) of the pairs."""
TOLD = 1000
"""Examples of unseen classes that alpha is chosen by, at most."""


class RidgeBaseline(QuadraticBaseline):
    """g(a, b) = b + xᵀMx', M = argmin Σ (y − b − xᵀMx')² + α‖M‖² over all pairs, y = ±1 by classes, x = a − m.

    With rows X = U S Wᵀ and one-hot classes L: M = W [2 UᵀLLᵀU ∘ ssᵀ/(s²s²ᵀ + α)] Wᵀ, the solution of
    `PairRidge("tensor", alpha=α/2)` on all pairs of two tables that are the same. alpha=None takes that with the least
    equal error rate on pairs of half of the classes, learnt from the other half.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[1.0], [1.2], [-1.0], [-1.2]]), [0, 2, 0, 1], [1, 3, 2, 3])
    >>> RidgeBaseline(alpha=1.0).fit(pairs, [1, 1, -1, -1]).predict(pairs).tolist()
    [1, 1, -1, -1]
    """

    presets: ClassVar[Presets] = {"ridge": {}}

    alpha_: float

    def __init__(
        self, alpha: float | None = None, *, random_state: int | None = 0, threshold: float | None = None
    ) -> None:
        self.alpha = alpha
        self.random_state = random_state
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        if self.alpha is not None and not 0 < self.alpha < np.inf:
            raise InputError(f"alpha must be a finite number > 0, or None to choose it, got {self.alpha!r}; try 1.0")
        groups = np.unique(training.groups, return_inverse=True)[1]
        if groups.max() < 1:
            raise InputError("all training examples fall into one class; add examples of others, or pass classes=…")
        self.alpha_ = self._chosen(training.rows, groups) if self.alpha is None else float(self.alpha)
        learnt = Decomposed.of(training.rows, groups)
        inner = learnt.inner(self.alpha_)
        values, V = eigh(0.5 * (inner + inner.T))
        self.plus_ = self.minus_ = np.sign(values) / 4.0
        self.offset_ = float(2.0 * np.sum((np.bincount(groups) / len(groups)) ** 2) - 1.0)
        return Projection(learnt.W.T @ (V * np.sqrt(np.abs(values))))

    def _chosen(self, rows: Floats, groups: Ints) -> float:
        """α by classes that were not learnt from; the middle one where there are too few of them."""
        unit = float(np.mean(np.einsum("ij,ij->i", rows, rows))) ** 2 or 1.0
        alphas = unit * 10.0**DECADES
        rng = np.random.default_rng(self.random_state)
        known = np.isin(groups, rng.permutation(groups.max() + 1)[::2])
        told = rng.permutation(np.flatnonzero(~known))[:TOLD]
        left, right = np.triu_indices(len(told), 1)
        labels = np.where(groups[told][left] == groups[told][right], 1, -1)
        if len(np.unique(groups[known])) < 2 or len(np.unique(labels)) < 2:
            return float(np.median(alphas))
        learnt = Decomposed.of(rows[known], groups[known])
        Q = (rows[told] - rows[known].mean(axis=0)) @ learnt.W.T
        errors = [equal_error_rate(Scores((Q @ learnt.inner(a) @ Q.T)[left, right], labels)) for a in alphas]
        return float(alphas[int(np.argmin(errors))])


@dataclass(frozen=True, eq=False)
class Decomposed:
    """Centred rows X = U S Wᵀ, and UᵀLLᵀU of their one-hot classes L."""

    s: Floats
    W: Floats
    together: Floats

    @classmethod
    def of(cls, rows: Floats, groups: Ints) -> Decomposed:
        """One decomposition serves every α."""
        U, s, W = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        sums = np.zeros((groups.max() + 1, len(s)))
        np.add.at(sums, groups, U)
        return cls(s, W, sums.T @ sums)

    def inner(self, alpha: float) -> Floats:
        """M in the basis W, (p, p)."""
        return 2.0 * self.together * np.outer(self.s, self.s) / (np.outer(self.s**2, self.s**2) + alpha)
