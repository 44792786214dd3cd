"""A baseline on some of the columns of the examples: one representation among several, or all of them side by side."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from pairlearn.baselines.baseline import Baseline
from pairlearn.baselines.training import rows_of_numbers
from pairlearn.kernels import Linear, OnColumns
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.types import Examples, Floats


class ColumnsBaseline(Baseline):
    """Another baseline on the columns starts[i] … stops[i] − 1 of every part i, each part over its norm.

    Norms are those of `pl.kernels.OnColumns`: parts of all units and widths count the same.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[3.0, 99.0], [4.0, -7.0], [5.0, 0.0]]), [0, 0], [1, 2])
    >>> model = ColumnsBaseline(pl.EuclidBaseline(), (0,), (1,)).fit(pairs, [1, -1])
    >>> (model.decision_function(pairs) * np.sqrt(50 / 3)).round(6).tolist()
    [-1.0, -2.0]
    """

    def __init__(
        self, baseline: Any, starts: tuple[int, ...], stops: tuple[int, ...], *, threshold: float | None = None
    ) -> None:
        self.baseline = baseline
        self.starts = starts
        self.stops = stops
        self.threshold = threshold

    def fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn the norms and the baseline from pairs and labels ±1."""
        pairs = rows_of_numbers(as_pairs(X))
        used = pairs.compacted().pairs.examples
        self.columns_ = OnColumns(Linear(), tuple(self.starts), tuple(self.stops)).resolved(used)
        baseline = clone(self.baseline).set_params(threshold=self.threshold)
        self.baseline_ = baseline.fit(self._shown(pairs), y, classes=classes)
        self.classes_ = np.array([-1, 1])
        self.n_features_in_ = pairs.examples.shape[1]
        return self

    def _cut(self) -> float:
        return float(self.baseline_._cut())

    def _shown(self, pairs: Pairs) -> Pairs:
        return pairs.with_examples(self.columns_.shown(pairs.examples))

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,)."""
        return self.baseline_.decision_function(self._shown(rows_of_numbers(as_pairs(X))))

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        return self.baseline_.score_block(self.columns_.shown(probe), self.columns_.shown(gallery))
