"""Regression on pairs: how much?"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite
from pairlearn.machines.machine import PairMachine, check_positive
from pairlearn.machines.parameters import parameter
from pairlearn.machines.training import Scale, Training
from pairlearn.pairs import Pairs
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats


class PairRegressor(RegressorMixin, PairMachine):
    """A machine whose decision value is the number itself."""

    def predict(self, X: Any) -> Floats:
        """g of every pair, (n_pairs,)."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions, whatever the size of the numbers: squares of 1e200 or 1e-200 never occur."""
        targets, found = np.asarray(y, dtype=np.float64), self.predict(X)
        largest = max(np.abs(targets).max(initial=0.0), np.abs(found).max(initial=0.0))
        unit = largest if 0 < largest < np.inf else 1.0
        from sklearn.metrics import r2_score  # loads scipy.stats, which learning and scoring pairs never need

        return float(r2_score(targets / unit, found / unit, sample_weight=sample_weight))

    def _scale_of(self, targets: Floats, weights: Floats, training: Training) -> Scale:
        """The unit of the targets; reflexive pairs say nothing where g(a, a) = 0 anyway."""
        speaks = np.ones(len(targets)) if training.sign > 0 else ~training.pairs.reflexive
        return Scale.of(targets, weights * speaks, biased=training.sign > 0)


class PairSVR(
    PairRegressor,
    parameters="kernel base C epsilon tol time_budget memory_budget random_state"
    " * warm_start mirrored solver callback checkpoint",
):
    """ε-insensitive regression of a number per pair; symmetric or antisymmetric as the kernel is.

    min ½θᵀKθ − yᵀθ + ε‖θ‖₁ over |θ_i| ≤ C·weight_i, with Σθ = 0 and a bias unless the kernel is antisymmetric.

    C, ε and tol are in units of the spread of the targets (their standard deviation; their root mean square where there
    is no bias): targets in metres or in millimetres give the same function, in metres or in millimetres.

    Parameters
    ----------
    kernel : name of a pair kernel ("tensor_metric", "tensor", "difference", …) or a PairKernel.
    base : as in PairSVC; a tuple (left, right) for pairs of two tables.
    C : box of every pair, |θ| ≤ C · weight, in spreads of the targets.
    epsilon : errors up to this size, in spreads of the targets, cost nothing.
    tol : KKT gap at which the solver stops, in spreads of the targets; so are `kkt_gap_` and, squared, `objective_`.
    time_budget, memory_budget, random_state, warm_start, solver, callback, checkpoint : as in PairSVC.
    mirrored : train on both orders of every pair, for checking; "symmetric" or "antisymmetric" where the
        kernel is only order-invariant.

    Attributes
    ----------
    scale_ : spread of the targets.
    C_, epsilon_ : C and ε in the units of the targets, C · scale_ and epsilon · scale_: what LIBSVM would be given.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> gaps = X[pairs.left, 0] - X[pairs.right, 0]
    >>> reg = pl.PairSVR(kernel="difference", C=10.0, epsilon=0.01).fit(pairs, gaps)
    >>> bool(np.abs(reg.predict(pairs) - gaps).max() < 0.02), reg.intercept_
    (True, 0.0)
    """

    _harder = "a larger C or a smaller epsilon"

    C: float = parameter(default=1.0, kw_only=False)
    epsilon: float = 0.1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from Pairs (or an (n, 2, d) array) and one number per pair."""
        check_positive(self, C="1.0")
        if not (isinstance(self.epsilon, (int, float, np.number)) and 0 <= self.epsilon < np.inf):
            raise InputError(f"epsilon must be a finite number ≥ 0, got {self.epsilon!r}; try epsilon=0.1")
        training = self._prepare(X, sign=None)
        targets = check_targets(y, training.pairs, training.sign)
        weights = self._weights(len(targets), sample_weight)
        boxes, total = self.C * weights, 0.0 if training.sign > 0 else None
        scale = self._scale_of(targets, weights, training)
        problem = Problem(scale.standard(targets), -boxes, boxes, float(self.epsilon), total)
        self._learn(training, problem, scale)
        self.scale_ = scale.size
        return self

    @property
    def C_(self) -> float:  # noqa: N802
        """C in the units of the targets."""
        return self.C * self._scale

    @property
    def epsilon_(self) -> float:
        """ε in the units of the targets."""
        return self.epsilon * self._scale

    @property
    def _scale(self) -> float:
        """Model files of 0.1 have none: their C and ε are in the units of the targets."""
        return float(getattr(self, "scale_", 1.0))


def check_targets(y: Any, pairs: Pairs, sign: int) -> Floats:
    """One finite number per pair; 0 for a reflexive pair where g(a, a) = −g(a, a)."""
    targets = np.asarray(y)
    if targets.shape != (len(pairs),):
        raise InputError(f"y must hold one number per pair, {len(pairs)}, got shape {targets.shape}")
    if targets.dtype.kind not in "biuf":
        raise InputError(f"y must hold numbers, got {targets.dtype}; convert them with np.asarray(y, dtype=float)")
    values = targets.astype(np.float64)
    refuse_nonfinite(values, "y")
    if sign < 0 and values[pairs.reflexive].any():
        raise InputError("with an antisymmetric kernel g(a, a) = 0, so the label of a reflexive pair must be 0")
    return values
