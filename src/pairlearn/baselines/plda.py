"""Baselines from two covariances, within and between classes or of positive and negative pairs.

Fisher's discriminants, PLDA and KISSME. What the learnt baselines share is in `learnt`, the algebra in `covariances`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pairlearn.baselines.baseline import Presets
from pairlearn.baselines.covariances import (
    Components,
    Shrinkage,
    class_means,
    covariance,
    covariance_of_differences,
    inverse_root,
    residuals,
)
from pairlearn.baselines.learnt import Measure, MetricBaseline, Projection
from pairlearn.baselines.training import TrainingRows
from pairlearn.errors import InputError
from pairlearn.examples import by_blocks
from pairlearn.linalg.spectral import eigh
from pairlearn.types import Floats, Ints

# --------------------------------------------------------------------------- within and between classes


def scatters(training: TrainingRows, shrinkage: Shrinkage) -> tuple[Floats, Floats, Ints]:
    """Within-class covariance S_w / (m − c), shrunk, between-class S_b = Σ n_c (m_c − m)(m_c − m)ᵀ, class sizes."""
    means, sizes = class_means(training.rows, training.groups)
    if len(sizes) < 2:
        raise InputError("all training examples fall into one class; add examples of others, or pass classes=…")
    rows, _ = residuals(training)
    within = covariance(rows, shrinkage, training.dimension).inside * (len(rows) / (len(training.rows) - len(sizes)))
    spread = np.sqrt(sizes)[:, None] * (means - training.rows.mean(axis=0))
    return within, spread.T @ spread, sizes


def joint_basis(within: Floats, between: Floats) -> tuple[Floats, Floats]:
    """V, (d, d), with Vᵀ within V = I, Vᵀ between V = diag(ψ), and ψ from large to small.

    Whitening first and then an ordinary eigenproblem, not the generalised one: a singular `within` is then refused with
    advice instead of an error from LAPACK.
    """
    W = inverse_root(within, "within-class")
    psi, U = eigh(W.T @ between @ W)
    return W @ U[:, ::-1], psi[::-1]


class LDABaseline(MetricBaseline):
    """−‖Vᵀ(a − b)‖ or the cosine of Vᵀ(a − m) and Vᵀ(b − m), V the top directions of S_b v = λ S_w v.

    Fisher's discriminants, scaled to VᵀS_wV = I; at most min(d, classes − 1) of them.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0, 0.0], [0.0, 4.0], [9.0, 0.0], [9.0, 4.0]]), [0, 2, 0], [1, 3, 2])
    >>> LDABaseline(shrinkage=0.5).fit(pairs, [1, 1, -1]).decision_function(pairs).round(3).tolist()
    [-0.0, -0.0, -6.364]
    """

    presets: ClassVar[Presets] = {"lda_euclid": {}, "lda_cosine": {"measure": "cosine"}}

    def __init__(
        self,
        n_components: int | None = None,
        measure: Measure = "euclid",
        *,
        pca: Components = None,
        shrinkage: Shrinkage = "auto",
        threshold: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.measure = measure
        self.pca = pca
        self.shrinkage = shrinkage
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        within, between, sizes = scatters(training, self.shrinkage)
        most = min(len(within), len(sizes) - 1)
        k = most if self.n_components is None else self.n_components
        if k != int(k) or not 1 <= k <= most:
            raise InputError(f"n_components must lie in 1 … {most} = min(features, classes − 1), got {k!r}")
        return Projection(joint_basis(within, between)[0][:, : int(k)])


# --------------------------------------------------------------------------- quadratic scores


class QuadraticBaseline(MetricBaseline):
    """g(a, b) = offset + Σ_k plus_k (z_k + z'_k)² − minus_k (z_k − z'_k)²: symmetric to the last bit."""

    offset_: float
    plus_: Floats
    minus_: Floats

    def _scores(self, Z: Floats, left: Ints, right: Ints) -> Floats:
        def of(a: Ints, b: Ints) -> Floats:
            return (Z[a] + Z[b]) ** 2 @ self.plus_ - (Z[a] - Z[b]) ** 2 @ self.minus_ + self.offset_

        return by_blocks(left, right, of, Z.shape[1])

    def _block(self, probe: Floats, gallery: Floats) -> Floats:
        own, cross = self.plus_ - self.minus_, 2.0 * (self.plus_ + self.minus_)
        alone = (probe**2 @ own)[:, None] + (gallery**2 @ own)[None, :]
        return alone + (probe * cross) @ gallery.T + self.offset_


class KISSMEBaseline(QuadraticBaseline):
    """g(a, b) = −(a − b)ᵀ(Σ₊⁻¹ − Σ₋⁻¹)(a − b), Σ± the mean of (a − b)(a − b)ᵀ over positive, negative pairs.

    `clip` drops the negative eigenvalues of Σ₊⁻¹ − Σ₋⁻¹, which makes g minus a squared pseudo-metric. Pairs share
    examples, so automatic shrinkage counts no more independent pairs than there are examples.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0], [1.0], [2.0]]), [0, 0], [1, 2])
    >>> KISSMEBaseline().fit(pairs, [1, -1]).decision_function(pairs).tolist()
    [-0.75, -3.0]
    """

    presets: ClassVar[Presets] = {"kissme": {}}

    def __init__(
        self,
        pca: Components = None,
        *,
        shrinkage: Shrinkage = "auto",
        clip: bool = False,
        threshold: float | None = None,
    ) -> None:
        self.pca = pca
        self.shrinkage = shrinkage
        self.clip = clip
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        (positive, beside), (negative, besides) = (self._precision(training, sign) for sign in (1, -1))
        values, vectors = eigh(positive - negative)
        rest = np.full(training.dimension if training.dimension > len(values) else 0, beside - besides)
        values = np.concatenate([values, rest])
        self.minus_ = np.maximum(values, 0.0) if self.clip else values
        self.plus_, self.offset_ = np.zeros_like(values), 0.0
        return Projection(vectors, 1.0)

    def _precision(self, training: TrainingRows, sign: int) -> tuple[Floats, float]:
        """The inverse covariance of the pairs with this label, in the span of the rows and in any direction outside."""
        C = covariance_of_differences(training, sign, self.shrinkage)
        W = inverse_root(C.inside, "positive pairs'" if sign > 0 else "negative pairs'")
        return W @ W.T, 1.0 / C.outside if C.outside > 0 else 0.0


class PLDABaseline(QuadraticBaseline):
    """g(a, b) = log p(a, b | same) − log p(a, b | different), x = m + class + rest, both Gaussian.

    Two covariances: class ~ N(0, B), rest ~ N(0, W), so cov(a, b) = B for the same class and 0 else. In the basis
    with W = I, B = diag(ψ), summed over coordinates:
    g = Σ log(1 + ψ) − ½ log(1 + 2ψ) + ψ(z + z')² / (4(1 + ψ)(1 + 2ψ)) − ψ(z − z')² / (4(1 + ψ)).
    B and W come from the analysis of variance (W shrunk, B clipped to PSD), then `n_iter` steps of EM. The fitted
    `within_` and `between_` live in the space after `pca`.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[1.0], [-1.0], [9.0], [7.0]]), [0, 2, 0, 1], [1, 3, 2, 3])
    >>> PLDABaseline().fit(pairs, [1, 1, -1, -1]).predict(pairs).tolist()
    [1, 1, -1, -1]
    """

    presets: ClassVar[Presets] = {"plda": {}}

    within_: Floats
    between_: Floats

    def __init__(
        self,
        pca: Components = None,
        *,
        shrinkage: Shrinkage = "auto",
        n_iter: int = 0,
        threshold: float | None = 0.0,
    ) -> None:
        self.pca = pca
        self.shrinkage = shrinkage
        self.n_iter = n_iter
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        within, between, sizes = scatters(training, self.shrinkage)
        means, _ = class_means(training.rows, training.groups)
        residual = within * (len(training.rows) - len(sizes))
        within, between = _by_moments(within, between, sizes)
        for _ in range(self.n_iter):
            within, between = _em_step(within, between, means, sizes, residual)
        self.within_, self.between_ = within, between
        V, psi = joint_basis(within, between)
        psi = np.maximum(psi, 0.0)
        self.plus_ = psi / (4.0 * (1.0 + psi) * (1.0 + 2.0 * psi))
        self.minus_ = psi / (4.0 * (1.0 + psi))
        self.offset_ = float(np.sum(np.log1p(psi) - 0.5 * np.log1p(2.0 * psi)))
        return Projection(V)


def _by_moments(within: Floats, scatter: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """(W, B) by the analysis of variance: S_b / (c − 1) has expectation W + n₀ B, n₀ = (m − Σ n_c²/m)/(c − 1).

    n₀ is the size of the classes if they are equal. The estimate of B can have negative eigenvalues relative to W;
    these directions have no variance between classes that could be told from noise, and are clipped.
    """
    m, c = int(sizes.sum()), len(sizes)
    n0 = (m - float(np.sum(sizes.astype(np.float64) ** 2)) / m) / (c - 1)
    V, psi = joint_basis(within, (scatter / (c - 1) - within) / n0)
    back = within @ V
    return within, (back * np.maximum(psi, 0.0)) @ back.T


def _em_step(within: Floats, between: Floats, means: Floats, sizes: Ints, residual: Floats) -> tuple[Floats, Floats]:
    """One step of EM for W and B, the centres of the classes being hidden.

    In the basis with W = I, B = diag(ψ), the centre of a class of n examples with mean y has, coordinate by coordinate,
    posterior mean nψ/(1 + nψ)·y and variance ψ/(1 + nψ). B becomes their mean second moment over classes, W that of the
    examples around them; both are taken back to the old basis.
    """
    V, psi = joint_basis(within, between)
    psi, n = np.maximum(psi, 0.0), sizes[:, None]
    Y = means @ V
    variance = psi / (1.0 + n * psi)
    centre = n * variance * Y
    rest = np.sqrt(n) * (Y - centre)
    B = (centre.T @ centre + np.diag(variance.sum(axis=0))) / len(sizes)
    W = (V.T @ residual @ V + rest.T @ rest + np.diag((n * variance).sum(axis=0))) / sizes.sum()
    back = within @ V
    return back @ W @ back.T, back @ B @ back.T
