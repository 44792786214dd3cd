"""Logistic regression on features of pairs.

|a − b| and a∘b, coordinate by coordinate, do not depend on the order of a pair, so neither does the score. The weights
of the standardised features are folded back into weights of the raw ones: scoring needs no features at all.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pairlearn.baselines.baseline import Presets
from pairlearn.baselines.learnt import LearntBaseline
from pairlearn.baselines.training import TrainingRows
from pairlearn.errors import InputError
from pairlearn.examples import by_blocks
from pairlearn.interrupts import delayed
from pairlearn.types import Floats, Ints


class LogisticBaseline(LearntBaseline):
    """g(a, b) = w·|a − b| + v·(a∘b) + c: the log-odds of scikit-learn's logistic regression.

    Examples are standardised, then the 2d features of the training pairs. These take at most half of
    `memory_budget` bytes: of more pairs a random part is used, with the same share of positive ones. Time grows with
    these bytes: seconds for 100 MB, most of a minute for 500.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0], [1.0], [5.0]]), [0, 0, 1], [1, 2, 2])
    >>> LogisticBaseline().fit(pairs, [1, -1, -1]).predict(pairs).tolist()
    [1, -1, -1]
    """

    presets: ClassVar[Presets] = {"logistic": {}}

    scale_: Floats
    difference_weights_: Floats
    product_weights_: Floats
    intercept_: float

    def __init__(
        self,
        C: float = 1.0,
        *,
        max_iter: int = 1000,
        memory_budget: float = 2e8,
        random_state: int | None = 0,
        threshold: float | None = 0.0,
    ) -> None:
        self.C = C
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.threshold = threshold

    def _learn(self, training: TrainingRows) -> None:
        self.mean_ = training.rows.mean(axis=0)
        self.scale_ = _scale(training.rows - self.mean_, self.mean_)
        chosen = self._chosen(training)
        self.n_pairs_ = len(chosen)
        F = _features(self._map(training.rows), training.left[chosen], training.right[chosen])
        centre = F.mean(axis=0)
        F -= centre
        spread = _scale(F, centre)
        F /= spread
        # Loaded here: a model that needs none of it is read and scored in half the time.
        with delayed():
            from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=self.C, max_iter=self.max_iter).fit(F, training.labels[chosen])
        weights = model.coef_[0] / spread
        self.difference_weights_, self.product_weights_ = np.split(weights, 2)
        self.intercept_ = float(model.intercept_[0] - weights @ centre)

    # -- learning

    def _chosen(self, training: TrainingRows) -> Ints:
        n, most = len(training.labels), int(self.memory_budget / 2 // (16 * training.rows.shape[1]))
        if n <= most:
            return np.arange(n)
        if most < 2:
            raise InputError(f"memory_budget={self.memory_budget:g} holds fewer than two pairs; raise it, e.g. to 1e9")
        rng, both = np.random.default_rng(self.random_state), []
        for sign in (1, -1):
            members = np.nonzero(training.labels == sign)[0]
            both.append(rng.choice(members, size=max(1, len(members) * most // n), replace=False))
        return np.sort(np.concatenate(both))

    def _map(self, rows: Floats) -> Floats:
        return (rows - self.mean_) / self.scale_

    def _scores(self, Z: Floats, left: Ints, right: Ints) -> Floats:
        def of(a: Ints, b: Ints) -> Floats:
            A, B = Z[a], Z[b]
            return np.abs(A - B) @ self.difference_weights_ + (A * B) @ self.product_weights_ + self.intercept_

        return by_blocks(left, right, of, Z.shape[1])

    def _block(self, probe: Floats, gallery: Floats) -> Floats:
        with delayed():
            from scipy.spatial.distance import cdist  # models that are not this one are read without it

        # w|a − b| = ±||w|a − |w|b|: city-block distances over the weights of either sign.
        scores = (probe * self.product_weights_) @ gallery.T + self.intercept_
        for sign in (1.0, -1.0):
            w = np.maximum(sign * self.difference_weights_, 0.0)
            if w.any():
                scores += sign * cdist(probe[:, w > 0] * w[w > 0], gallery[:, w > 0] * w[w > 0], "cityblock")
        return scores


def _scale(centred: Floats, mean: Floats) -> Floats:
    """Standard deviation of each column of centred rows, without a copy of them; 1 where a column is constant."""
    deviation = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    # The mean of equal numbers is off by rounding; dividing by that would blow it up.
    rounding = len(centred) * np.finfo(float).eps * np.abs(mean)
    return np.where(deviation > rounding, deviation, 1.0)


def _features(Z: Floats, left: Ints, right: Ints) -> Floats:
    """|a − b| beside a∘b of every pair, (n, 2d), filled block by block."""
    d = Z.shape[1]
    F, step = np.empty((len(left), 2 * d)), max(1, 2**22 // d)
    for t in range(0, len(left), step):
        A, B = Z[left[t : t + step]], Z[right[t : t + step]]
        np.abs(A - B, out=F[t : t + step, :d])
        np.multiply(A, B, out=F[t : t + step, d:])
    return F
