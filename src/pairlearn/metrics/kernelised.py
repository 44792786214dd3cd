"""The same metric in the feature space of a kernel, for examples of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels import Kernel, as_kernel
from pairlearn.metrics.pseudo_metric import PseudoMetric, Sweep
from pairlearn.metrics.spans import AnchoredPair, KernelSpan
from pairlearn.pairs import Pairs
from pairlearn.types import Examples


class KernelPseudoMetric(PseudoMetric):
    """The same in the feature space of a base kernel: d² = (φ(x) − φ(x'))ᵀA(φ(x) − φ(x')).

    base: a name, a Kernel or a callable, positive semidefinite. budget: at most so many differences φ(x) − φ(x') are
    kept, the first ones that cost a loss; later ones are projected on their span. Other options as for
    `OnlinePseudoMetric`, to which the linear kernel leads back.

    >>> import numpy as np, pairlearn as pl
    >>> X = np.array([[0.0, 0.1], [1.0, 1.1], [0.1, 1.0], [1.1, 0.0]])  # exclusive or
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> metric = pl.metrics.KernelPseudoMetric("rbf", max_sweeps=200).fit(pairs, pairs.labels([0, 0, 1, 1]))
    >>> metric.predict(pairs).tolist(), metric.fit_status_
    ([1, -1, -1, -1, -1, 1], 'converged')
    """

    def __init__(
        self,
        base: Any = "rbf",
        threshold: float = 1.0,
        *,
        gamma: float = 0.0,
        beta: float = 0.1,
        max_sweeps: int = 20,
        n_components: int | None = None,
        budget: int | None = None,
        callback: Sweep | None = None,
    ) -> None:
        self.base = base
        self.threshold = threshold
        self.gamma = gamma
        self.beta = beta
        self.max_sweeps = max_sweeps
        self.n_components = n_components
        self.budget = budget
        self.callback = callback

    @property
    def n_support_(self) -> int:
        """How many pairs are kept."""
        return len(self.span_)

    def _span(self, pairs: Pairs) -> KernelSpan:
        if self.budget is not None and not self.budget >= 1:
            raise InputError(f"budget must be at least 1, got {self.budget!r}; None keeps all")
        kernel = as_kernel(self.base)
        if kernel.definite is False:
            raise InputError(
                "this kernel is not positive semidefinite, so it has no feature space; use pl.BasisExpansion first"
            )
        kernel = kernel.resolved(pairs.compacted().pairs.examples)
        return KernelSpan(kernel, None, None, np.zeros((0, 0)), self.budget)

    def _check_width(self, examples: Examples) -> None:
        """The kernel itself refuses examples that it cannot compare."""

    def _items(self, pairs: Pairs) -> Iterator[AnchoredPair]:
        kernel: Kernel = self.span_.kernel
        return AnchoredPair.each(kernel, pairs.examples, *pairs.columns)
