"""A metric of rows of numbers, learnt from a stream of pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.kernels.mapped import Mapped
from pairlearn.metrics.pseudo_metric import PseudoMetric, Sweep
from pairlearn.metrics.spans import RowSpan
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats


class OnlinePseudoMetric(PseudoMetric):
    """Learn d(x, x')² = (x − x')ᵀA(x − x') and a threshold b from pairs, one at a time (POLA).

    loss = max(0, y(d² − b) + 1), α = loss/(‖v‖⁴ + 1 + gamma), v = x − x': A ← [A − yα·v vᵀ]₊, b ← max(1, b + yα).
    threshold: b at the start, ≥ 1. gamma: > 0 when no metric tells all pairs apart. beta, max_sweeps: when `fit` ends.
    n_components: how many dimensions `transform` keeps. Examples are rows of numbers, dense or sparse.

    >>> import numpy as np, pairlearn as pl
    >>> metric = pl.OnlinePseudoMetric()
    >>> for _ in range(20):
    ...     metric = metric.learn_one([0.0, 0.0], [0.0, 1.0], +1).learn_one([0.0, 0.0], [1.0, 0.0], -1)
    >>> metric.predict_one([5.0, 5.0], [5.1, 5.9]), metric.predict_one([5.0, 5.0], [6.2, 5.0])
    (1, -1)
    >>> metric.mahalanobis_matrix_.round(1).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        threshold: float = 1.0,
        *,
        gamma: float = 0.0,
        beta: float = 0.1,
        max_sweeps: int = 20,
        n_components: int | None = None,
        callback: Sweep | None = None,
    ) -> None:
        self.threshold = threshold
        self.gamma = gamma
        self.beta = beta
        self.max_sweeps = max_sweeps
        self.n_components = n_components
        self.callback = callback

    @property
    def mahalanobis_matrix_(self) -> Floats:
        """A in the coordinates of the examples, (d, d)."""
        half = self.span_.directions(self.state_.matrix)
        whole: Floats = self.span_.directions(half.T)
        return whole

    def base_kernel(self) -> Mapped:
        """The base kernel k(x, x') = xᵀA x', with `transform` as its feature map, for the machines on pairs.

        >>> import numpy as np, pairlearn as pl
        >>> X, classes = pl.data.double_interval(20, 5, 30, seed=0)
        >>> pairs = pl.all_pairs(X)
        >>> metric = pl.OnlinePseudoMetric(max_sweeps=1).partial_fit(pairs, pairs.labels(classes))
        >>> machine = pl.PairSVC("metric", metric.base_kernel()).fit(pairs, pairs.labels(classes))
        >>> bool(np.mean(machine.predict(pairs) == pairs.labels(classes)) > 0.95)
        True
        """
        check_is_fitted(self, "state_")
        return Mapped(self.span_.directions(self._root(self.n_components)))

    def _span(self, pairs: Pairs) -> RowSpan:
        if not (sparse.issparse(pairs.examples) or getattr(pairs.examples, "ndim", 0) == 2):
            raise InputError(
                "this metric compares rows of numbers; for other examples use pl.metrics.KernelPseudoMetric"
            )
        return RowSpan.of(pairs.examples.shape[1])

    def _check_width(self, examples: Examples) -> None:
        shape: tuple[int, ...] = getattr(examples, "shape", ())
        wanted = self.span_.n_features
        if len(shape) != 2 or shape[1] != wanted:
            raise InputError(f"the metric was learnt from rows of {wanted} numbers, these examples have shape {shape}")

    def _items(self, pairs: Pairs) -> Iterator[Floats]:
        X = pairs.examples
        for i, j in zip(*(column.tolist() for column in pairs.columns), strict=True):
            v = (X[[i]] - X[[j]]).toarray().ravel() if sparse.issparse(X) else X[i] - X[j]
            yield v.astype(np.float64)
