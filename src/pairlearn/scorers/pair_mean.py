"""The mean of several machines that learn from the same pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.features import note_features
from pairlearn.pairs import as_pairs
from pairlearn.scorers.scorer import score_all
from pairlearn.solvers.problem import Status
from pairlearn.types import Examples, Floats


class PairMean(BaseEstimator):
    """The mean of what several machines answer, each fitted on the same pairs: g = (1 / k) Σ g_m.

    Machines of other kernels err elsewhere, and their mean errs less than most of them. All answer in one unit: that of
    the numbers they learnt (PairSVR, PairRidge), or that of labels ±1 (PairSVC, PairRanker, PairRidge).

    Parameters
    ----------
    machines : pair machines of the same question; they are cloned.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> rng = np.random.default_rng(0)
    >>> drugs, targets = rng.normal(size=(8, 2)), rng.normal(size=(6, 3))
    >>> a, b = np.divmod(np.arange(48), 6)
    >>> pairs = pl.Pairs(drugs, a, b, right_examples=targets)
    >>> model = PairMean([pl.PairRidge("tensor", "linear"), pl.PairRidge("tensor", "rbf")])
    >>> model = model.fit(pairs, drugs[a, 0] * targets[b, 1])
    >>> one, other = (machine.decision_function(pairs) for machine in model.machines_)
    >>> bool(np.allclose(model.decision_function(pairs), (one + other) / 2)), model.fit_status_
    (True, 'converged')
    """

    machines_: list[Any]

    def __init__(self, machines: Sequence[Any]) -> None:
        self.machines = machines

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from pairs and what is known of each, one machine after the other."""
        if isinstance(self.machines, str) or len(self.machines) < 2:
            raise InputError(f"a mean needs two machines or more, such as PairSVR and PairRidge; got {self.machines!r}")
        pairs = as_pairs(X)
        self.machines_ = [clone(machine).fit(pairs, y, sample_weight) for machine in self.machines]
        note_features(self, pairs)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The mean answer to every pair, (n_pairs,)."""
        check_is_fitted(self, "machines_")
        pairs = as_pairs(X)
        return np.asarray(np.mean([machine.decision_function(pairs) for machine in self.machines_], axis=0))

    def predict(self, X: Any) -> Floats:
        """The mean number of every pair; where machines classify, the sign of their mean, as labels ±1."""
        values = self.decision_function(X)
        return np.where(values > 0, 1.0, -1.0) if any(is_classifier(one) for one in self.machines_) else values

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """The mean answer to every probe (left) with every gallery example (right), (p, g)."""
        check_is_fitted(self, "machines_")
        return np.asarray(np.mean([score_all(machine, probe, gallery) for machine in self.machines_], axis=0))

    @property
    def fit_status_(self) -> str:
        """How the first fit that did not converge ended, or that all did."""
        found = [str(machine.fit_status_) for machine in self.machines_]
        return next((status for status in found if status != Status.CONVERGED), found[0])

    @property
    def fit_seconds_(self) -> float:
        """Seconds of all fits."""
        return float(sum(machine.fit_seconds_ for machine in self.machines_))

    @property
    def kkt_gap_(self) -> float:
        """The largest gap."""
        return float(max(machine.kkt_gap_ for machine in self.machines_))

    @property
    def n_support_(self) -> int:
        """Support pairs of all machines together."""
        return int(sum(machine.n_support_ for machine in self.machines_))
