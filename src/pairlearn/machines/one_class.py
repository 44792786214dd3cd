"""One class: is this pair like the others?"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from pairlearn.errors import InputError
from pairlearn.machines.machine import PairMachine, operation_for
from pairlearn.machines.parameters import parameter
from pairlearn.machines.resuming import Journey
from pairlearn.machines.symmetry import Mirrored
from pairlearn.machines.training import Training
from pairlearn.pairs import as_pairs
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats, Ints

ROUNDING = 1e-12
"""Relative error of decision values: a pair on the boundary may be that far outside."""


class _OneClass(OutlierMixin, PairMachine):
    """Learns from positive pairs alone; `nu` bounds the share of training pairs outside."""

    base: Any = parameter(default="rbf", kw_only=False)
    _softer, _harder = "raise nu", ""

    nu: float = parameter(default=0.1, kw_only=False)

    def _positive_pairs(self, X: Any, y: Any) -> Training:
        if not (isinstance(self.nu, (int, float, np.number)) and 0 < self.nu <= 1):
            raise InputError(f"nu must be in (0, 1], got {self.nu!r}; try nu=0.1")
        training = self._prepare(X, sign=1)
        if y is not None and not (np.shape(y) == (len(training.pairs),) and (np.asarray(y) == 1).all()):
            raise InputError("one-class machines learn from positive pairs alone: y is None or +1 for every pair")
        return training

    def _boxes(self, n_pairs: int, sample_weight: Any) -> tuple[Floats, float]:
        """(upper bounds, their share that Σθ must be): 0 ≤ θ ≤ weight, Σθ = ν Σ weight."""
        weights = self._weights(n_pairs, sample_weight)
        return weights, float(self.nu * weights.sum())

    def predict(self, X: Any) -> Ints:
        """+1 inside (g ≥ 0 to within the certified gap of the fit and rounding), −1 outside.

        With this margin at most a share ν of the training pairs is outside, as the theory has it.
        """
        return np.where(self.decision_function(X) >= -self._margin(), 1, -1)

    def _margin(self) -> float:
        return self.kkt_gap_ + ROUNDING * abs(self.intercept_)


class OneClassPairSVM(
    _OneClass,
    parameters="kernel base nu tol time_budget memory_budget random_state"
    " * warm_start mirrored solver callback checkpoint",
):
    """ν one-class machine: the hyperplane farthest from the origin that leaves at most a share ν of pairs behind.

    min ½θᵀKθ over 0 ≤ θ_i ≤ weight_i, Σθ = ν Σ weight;   g(a, b) = Σ θ_k K((a, b), pair_k) − ρ.

    Parameters
    ----------
    kernel, base, tol, time_budget, memory_budget, random_state, warm_start, mirrored, solver, callback,
        checkpoint : as in PairSVC.
    nu : upper bound of the share of outliers among the training pairs, lower bound of that of support pairs.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> near = pl.Pairs(X, np.arange(39), np.arange(1, 40))
    >>> model = pl.OneClassPairSVM(kernel="tensor", base="rbf", nu=0.2).fit(near)
    >>> bool((model.predict(near) < 0).mean() <= 0.2)
    True
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from positive pairs; y is None or all +1."""
        training = self._positive_pairs(X, y)
        upper, total = self._boxes(len(training.pairs), sample_weight)
        zeros = np.zeros(len(upper))
        self._learn(training, Problem(zeros, zeros, upper, total=total))
        return self

    def score_samples(self, X: Any) -> Floats:
        """g without its offset −ρ, larger = more like the training pairs."""
        return self.decision_function(X) - self.intercept_


class OneClassPairSphere(
    _OneClass,
    parameters="kernel base nu tol time_budget memory_budget random_state * warm_start solver callback checkpoint",
):
    """The smallest sphere around the pairs in feature space that leaves at most a share ν of them outside (SVDD).

    With α = θ / Σθ:  min αᵀKα − Σ α_i K(i, i) over 0 ≤ α_i ≤ weight_i / (ν Σ weight), Σα = 1;
    g(a, b) = R² − ‖φ(a, b) − Σ α_k φ_k‖², so g ≥ 0 inside.

    K(p, p) of a kernel and of its balanced part differ, so the sphere has no mirrored twin: a symmetric kernel is
    needed. Needs k between new examples, hence no precomputed base. Parameters as in OneClassPairSVM.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> near = pl.Pairs(X, np.arange(39), np.arange(1, 40))
    >>> model = pl.OneClassPairSphere(kernel="direct_sum", base="linear", nu=0.2).fit(near)
    >>> bool((model.predict(near) < 0).mean() <= 0.2), bool(model.radius_ > 0)
    (True, True)
    """

    mirrored: Mirrored = parameter(default=False, init=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from positive pairs; y is None or all +1."""
        training = self._positive_pairs(X, y)
        if any(base is not None and base.precomputed for base in training.kernel.bases):
            raise InputError(
                "a sphere needs k(a, b) between new examples, which a precomputed matrix of rows × training examples "
                "does not hold; use pl.OneClassPairSVM or a computed base"
            )
        upper, total = self._boxes(len(training.pairs), sample_weight)
        operation = operation_for(self, training)
        # θ = α Σθ turns the linear term into ½ Σθ K(i, i).
        linear = 0.5 * total * operation.operator.diagonal()
        problem = Problem(linear, np.zeros(len(upper)), upper, total=total)
        solution = self._followed(Journey(self, training, problem), training, problem, operation)
        self.total_ = total
        # Pairs on the sphere have ½ Σθ K(p, p) − Σ θ_k K(p, k) = bias.
        norm = 2.0 * (solution.objective + float(linear @ solution.coefficients)) / total**2
        self.radius_ = float(np.sqrt(max(0.0, norm + 2.0 * solution.bias / total)))
        return self

    def decision_function(self, X: Any) -> Floats:
        """g of every pair, (n_pairs,): R² − its squared distance from the centre."""
        values = super().decision_function(X)
        return 2.0 * values / self.total_ - self.function_.self_values(as_pairs(X))

    def _margin(self) -> float:
        return 2.0 * super()._margin() / self.total_ + ROUNDING * self.radius_**2

    def score_samples(self, X: Any) -> Floats:
        """Minus the squared distance from the centre."""
        return self.decision_function(X) - self.radius_**2

    def score_block(self, probe: Any, gallery: Any) -> Floats:
        """Refused: the distance from the centre needs K(p, p) of every pair; score pl.Pairs instead."""
        raise InputError("a sphere scores pairs one by one; build pl.Pairs(examples, left, right)")
