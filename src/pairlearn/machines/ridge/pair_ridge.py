"""Least squares on pairs: how much, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from pairlearn.machines.machine import helped, operation_for
from pairlearn.machines.pair_svr import PairRegressor, check_targets
from pairlearn.machines.parameters import parameter
from pairlearn.machines.ridge.choosing import Choice, Prepared, check_alpha, check_unseen
from pairlearn.solvers.ridge import ConjugateGradients, Setting
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis
from pairlearn.types import Floats


class PairRidge(
    PairRegressor,
    parameters="kernel base alpha tol time_budget memory_budget * unseen warm_start callback",
):
    """Least squares (kernel ridge regression) of a number per pair; symmetric or antisymmetric as the kernel is.

    min Σ weight_i (y_i − g_i)² + α‖f‖², g = f + b, that is (K + α/weight)θ + b = y with Σθ = 0; no b if the kernel is
    antisymmetric. Labels ±1 are numbers too: g then serves as a score.

    All pairs of two tables with the tensor kernel, and all pairs of one table with wedge, are solved in closed form in
    the eigenbasis of the base Gram matrices; all or most pairs of one table with tensor, metric, tensor_metric or
    direct_metric by some steps of conjugate gradients from there; all others by conjugate gradients with the fast
    product. Every pair is a support pair.

    Parameters
    ----------
    kernel : name of a pair kernel ("tensor_metric", "tensor", "difference", …) or a PairKernel.
    base : as in PairSVC; a tuple (left, right) for pairs of two tables.
    alpha : weight of ‖f‖², in units of K(i, i) whatever the unit of the targets. For all pairs of two tables also
        several to choose from, or "auto" (1e-4 to 1e2 times the mean K(i, i)): the one with the least error on what is
        left out, in closed form.
    tol : largest violation of an equation at which the solver stops, in spreads of the targets; so is `kkt_gap_`. The
        relative residual of the system is below it.
    unseen : what is left out where alpha is chosen: "pair", or all pairs of its "left", its "right" or "both" examples.
        "both" is the slow one, a decomposition for every example of the smaller table; it warns where that takes long.
    time_budget, memory_budget, warm_start, callback : as in PairSVC; a choice of alpha takes the time that it takes.

    Attributes
    ----------
    alpha_ : α that was used; choice_ : (α, root mean squared error on what was left out) of all that were tried.
    scale_ : spread of the targets; binary_ : whether they were +1 and −1 only.
    path_ : "eigenbasis" or "factor" (closed form), "conjugate gradients in the eigenbasis" or "conjugate gradients".

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> rng = np.random.default_rng(0)
    >>> drugs, targets = rng.normal(size=(8, 2)), rng.normal(size=(6, 3))
    >>> a, b = np.divmod(np.arange(48), 6)
    >>> pairs = pl.Pairs(drugs, a, b, right_examples=targets)
    >>> y = drugs[a, 0] * targets[b, 1]
    >>> model = pl.PairRidge("tensor", "linear", alpha="auto", unseen="both").fit(pairs, y)
    >>> model.path_, bool(np.abs(model.predict(pairs) - y).max() < 0.01)
    ('eigenbasis', True)
    """

    _softer, _harder = "raise alpha", "a smaller alpha"

    alpha: float | Sequence[float] | Literal["auto"] = parameter(default=1.0, kw_only=False)
    tol: float = 1e-4
    unseen: Setting = "pair"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from Pairs (or an (n, 2, d) array) and one number per pair."""
        given = self._prepared(X, y, sample_weight)
        basis, alpha, choice = self._chosen(given, self.unseen)
        system, training = given.system(alpha), given.training
        solver = ConjugateGradients(self.tol, given.operation.plan.memory, time_budget=training.clock.budget)
        start = self._start(training, system.problem, given.scale)
        solution = solver.solve(system, given.operator, start, helped(given.operator, self.callback), basis)
        self._keep(solution, system.problem, given.operation, training, given.scale)
        self.alpha_, self.choice_, self.scale_, self.binary_ = alpha, choice, given.scale.size, given.binary
        self.n_runs_, self.total_seconds_ = 1, self.fit_seconds_
        return self

    def leave_one_out(self, X: Any, y: Any, unseen: Setting = "pair") -> Floats:
        """The answer of every pair by a machine that has not seen it, or its left, right or both examples, (n_pairs,).

        What fitting anew without each of them would give, in closed form: for all pairs of two tables. Of several α
        that with the least error is taken, as `fit` would with this `unseen`.

        >>> import numpy as np, pairlearn as pl
        >>> a, b = np.divmod(np.arange(6), 3)
        >>> pairs = pl.Pairs(np.eye(2), a, b, right_examples=np.eye(3))
        >>> pl.PairRidge("tensor").leave_one_out(pairs, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "left").round(6).tolist()
        [5.0, 5.0, 5.0, 2.0, 2.0, 2.0]
        """
        check_unseen(unseen)
        given = self._prepared(X, y, None)
        basis, alpha, _ = self._chosen(given, unseen)
        return given.left_out(basis or given.basis(), alpha, unseen)

    def _chosen(self, given: Prepared, unseen: Setting) -> tuple[Eigenbasis | None, float, Choice]:
        """The α that was given, or that with the least error; before it the eigenbasis, after it the errors, if any."""
        if isinstance(self.alpha, (int, float, np.number)):
            return None, float(self.alpha), ()
        basis = given.basis()
        choice = given.choice(basis, self.alpha, unseen)
        return basis, min(choice, key=lambda row: row[1])[0], choice

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Check everything; pairs of weight 0 are dropped, for their coefficients are 0."""
        check_alpha(self.alpha)
        check_unseen(self.unseen)
        training = self._prepare(X, sign=None)
        targets = check_targets(y, training.pairs, training.sign)
        weights = self._weights(len(targets), sample_weight)
        if not weights.all():
            kept = np.flatnonzero(weights)
            training, targets, weights = training.chosen(kept), targets[kept], weights[kept]
        scale = self._scale_of(targets, weights, training)
        binary, standard = bool((np.abs(targets) == 1.0).all()), scale.standard(targets)
        return Prepared(training, standard, weights, scale, operation_for(self, training), binary)
