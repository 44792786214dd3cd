"""Features of a base kernel with the covariance within classes taken apart once, for every shrinkage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.baselines.covariances import class_means
from pairlearn.errors import InputError
from pairlearn.examples import count_examples, widened
from pairlearn.kernels import Kernel
from pairlearn.kernels.low_rank.kernel import LowRank
from pairlearn.linalg.spectral import eigh
from pairlearn.types import Examples, Floats, Ints

WIDEST = 1100
"""Features that are taken as they are; more are reduced to principal axes."""
ROUNDING = 1e-10
"""Axes whose variance is below this share of the largest one are rounding."""


@dataclass(frozen=True, eq=False)
class Space:
    """Training examples as features of a base kernel: z = (φ(x) − mean) @ axes, (m, r), and their classes.

    `axes` turn the features to the eigenvectors of the covariance within classes, whose eigenvalues are `within`.
    """

    kernel: Kernel
    mean: Floats
    axes: Floats
    within: Floats
    rows: Floats
    groups: Ints

    @classmethod
    def of(cls, base: Kernel, examples: Examples, groups: Ints, rank: int, seed: int) -> Space:
        """Features that the kernel has, or of `rank` landmarks where it has none.

        Where examples are few, new ones differ from all of them in other directions too, which say whom they show: only
        very many features are reduced, to `rank` principal axes.
        """
        kernel = base.resolved(examples)
        features = kernel.features(examples)
        if features is None:
            kernel = LowRank(kernel, min(rank, count_examples(examples)), seed=seed).resolved(examples)
            features = kernel.features(examples)
        assert features is not None
        features = widened(features)  # of float32 rows float64 sums: what is learnt is that of the numbers given
        mean = features.mean(axis=0)
        centred = features - mean
        if not np.any(centred):
            raise InputError("all training examples are equal; give examples that differ")
        axes = _principal(centred, rank) if centred.shape[1] > WIDEST else None
        rows = centred if axes is None else centred @ axes
        means, sizes = class_means(rows, groups)
        if len(sizes) < 2 or len(rows) == len(sizes):
            raise InputError("whitening needs two classes, and one of them with two examples; add examples")
        rest = rows - means[groups]
        within, turned = eigh(rest.T @ rest / (len(rows) - len(sizes)))
        turn = turned if axes is None else axes @ turned
        return cls(kernel, mean, turn, np.maximum(within, 0.0), rows @ turned, groups)

    def deviations(self, shrinkage: float) -> Floats:
        """√((1 − λ) w + λ w̄) of every axis, (r,): what is divided by to whiten."""
        typical = float(self.within.mean()) or 1.0
        return np.sqrt((1.0 - shrinkage) * self.within + shrinkage * typical)

    def between(self, shrinkage: float) -> tuple[Floats, Floats]:
        """Axes (r, k) and variances ψ > 0 (k,) of class centres, in whitened space: what the means vary beyond chance.

        The mean of n whitened examples varies by 1/n around the centre of its class, so ψ = σ² − 1/n.
        """
        means, sizes = class_means(self.rows, self.groups)
        means = (means - means.mean(axis=0)) / self.deviations(shrinkage)
        values, axes = _spectrum(means)
        variances = values / len(means) - float(np.mean(1.0 / sizes))
        kept = variances > 0
        if not kept.any():  # no more than chance: the last axis has the most of it
            return axes[:, -1:], np.array([ROUNDING])
        return axes[:, kept], variances[kept]


def _principal(rows: Floats, most: int) -> Floats:
    """Axes (d, r) of the largest variances of centred rows, without those that are rounding."""
    values, axes = _spectrum(rows)
    kept = values > ROUNDING * values[-1]
    return np.ascontiguousarray(axes[:, kept][:, ::-1][:, :most])


def _spectrum(rows: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, rising, and eigenvectors (d, r) of XᵀX, by whichever of XᵀX and XXᵀ is smaller."""
    n, d = rows.shape
    if d <= n:
        values, axes = eigh(rows.T @ rows)
        return values, axes
    values, left = eigh(rows @ rows.T)
    least = max(ROUNDING * float(values[-1]), float(np.finfo(float).tiny))
    return values, rows.T @ (left / np.sqrt(np.maximum(values, least)))
