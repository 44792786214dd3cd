"""Baselines that learn a linear map of the examples, then compare by Euclid or cosine."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pairlearn.baselines.baseline import Presets
from pairlearn.baselines.covariances import (
    Components,
    Covariance,
    Shrinkage,
    covariance,
    inverse_root,
    principal_axes,
    residuals,
)
from pairlearn.baselines.learnt import Measure, MetricBaseline, Projection
from pairlearn.baselines.training import TrainingRows


class PCACosineBaseline(MetricBaseline):
    """g(a, b) = cos(Pᵀ(a − m), Pᵀ(b − m)), P the principal axes, over their standard deviations if `whiten`.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[2.0, 0.0], [4.0, 0.0], [-6.0, 0.0]]), [0, 0], [1, 2])
    >>> PCACosineBaseline().fit(pairs, [1, -1]).decision_function(pairs).tolist()
    [1.0, -1.0]
    """

    presets: ClassVar[Presets] = {"pca_cosine": {}, "whitened_pca_cosine": {"whiten": True}}

    measure: Measure = "cosine"

    def __init__(
        self, n_components: Components = 0.95, whiten: bool = False, *, threshold: float | None = None
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        axes, variances = principal_axes(training.rows, self.n_components)
        return Projection(axes / np.sqrt(variances) if self.whiten else axes)


class WCCNBaseline(MetricBaseline):
    """cos(Wᵀ(a − m), Wᵀ(b − m)) with WWᵀ = C⁻¹, C the mean over classes of their covariances.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[3.0, 1.0], [3.0, -1.0], [-3.0, 1.0], [-3.0, -1.0]]), [0, 2, 0], [1, 3, 2])
    >>> WCCNBaseline(shrinkage=0.5).fit(pairs, [1, 1, -1]).decision_function(pairs).round(3).tolist()
    [0.929, 0.929, -0.929]
    """

    presets: ClassVar[Presets] = {"wccn_cosine": {}, "wccn_euclid": {"measure": "euclid"}}

    def __init__(
        self,
        measure: Measure = "cosine",
        *,
        pca: Components = None,
        shrinkage: Shrinkage = "auto",
        threshold: float | None = None,
    ) -> None:
        self.measure = measure
        self.pca = pca
        self.shrinkage = shrinkage
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        rows, sizes = residuals(training)
        # A row weighs 1 / size, so that every class counts the same; mean weight 1 keeps the scale.
        weights = 1.0 / sizes
        rows = rows * np.sqrt(weights / weights.mean())[:, None]
        return _whitening(covariance(rows, self.shrinkage, training.dimension))


class RCABaseline(MetricBaseline):
    """g(a, b) = −√((a − b)ᵀ C⁻¹ (a − b)), C = 1/n Σ (x − m_c)(x − m_c)ᵀ over the classes of two examples or more.

    Relevant component analysis; `pca` first makes it robust where features outnumber examples.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0], [4.0], [10.0]]), [0, 0], [1, 2])
    >>> RCABaseline().fit(pairs, [1, -1]).decision_function(pairs).tolist()
    [-2.0, -5.0]
    """

    presets: ClassVar[Presets] = {"rca": {}, "pca_rca": {"pca": 0.95}}

    def __init__(
        self, pca: Components = None, *, shrinkage: Shrinkage = "auto", threshold: float | None = None
    ) -> None:
        self.pca = pca
        self.shrinkage = shrinkage
        self.threshold = threshold

    def _projection(self, training: TrainingRows) -> Projection:
        return _whitening(covariance(residuals(training)[0], self.shrinkage, training.dimension))


def _whitening(C: Covariance) -> Projection:
    return Projection(inverse_root(C.inside, "within-class"), 1.0 / np.sqrt(C.outside) if C.outside > 0 else 0.0)
