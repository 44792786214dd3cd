"""The pairwise support vector machine: same or different?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin

from pairlearn.errors import ConflictWarning, InputError, warn_user
from pairlearn.features import note_features
from pairlearn.functions.function import PairFunction
from pairlearn.machines import implicit
from pairlearn.machines.machine import PairMachine, check_positive, fresh_seed
from pairlearn.machines.parameters import parameter
from pairlearn.pairs import ClassLabels, Pairs, as_pairs, check_labels
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats, Ints


class PairSVC(
    ClassifierMixin,
    PairMachine,
    parameters="kernel base C tol class_weight time_budget memory_budget random_state"
    " * warm_start mirrored solver callback checkpoint",
):
    """Classifier of pairs with a symmetric pair kernel, solved exactly.

    min ½θᵀKθ − yᵀθ over 0 ≤ y_i θ_i ≤ C·weight_i, Σθ = 0;   g(a, b) = Σ θ_k K((a, b), pair_k) + b.

    Parameters
    ----------
    kernel : name of a pair kernel ("tensor_metric", "metric", "tensor", …) or a PairKernel.
    base : name of a base kernel ("linear", "rbf", "standardised", … of pl.kernels.NAMED), a Kernel, a Gram or a
        callable f(A, B); a tuple (left, right) of these for pairs of two tables.
    C : box of every pair, 0 ≤ |θ| ≤ C · weight.
    tol : KKT gap at which the solver stops.
    class_weight : {1: w, -1: w}, "balanced" or None.
    time_budget : seconds after which the best solution so far is kept.
    memory_budget : bytes; None takes 60 % of the free memory.
    random_state : seed of the first working set, for the same result again; None is another one each time, and
        results then agree to within `tol` only.
    warm_start : start `fit` from the previous solution (other C, added pairs).
    mirrored : train on both orders of every pair with box C/2, for checking; slower.
    solver : "auto" chooses between "active_set", "nested", "newton", "interior", "splitting", and "implicit" for
        pl.ClassLabels of very many pairs; "smo" is a reference.
    callback : called with a Progress after every iteration; returning True stops.
    checkpoint : pl.Checkpoint("run.checkpoint"), a file in which the fit puts by what it has found every minute, and
        from which the same fit goes on after any end; None for none.

    Attributes
    ----------
    n_runs_, total_seconds_ : runs that this fit took with its checkpoint, and the seconds of all of them.

    Examples
    --------
    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(20, 5, n=50, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> clf = pl.PairSVC(kernel="tensor_metric", base="poly", C=1.0).fit(pairs, pairs.labels(classes))
    >>> clf.fit_status_, clf.kkt_gap_ <= 1e-3
    ('converged', True)
    """

    _harder = 'a larger C or, with one label far rarer than the other, class_weight="balanced"'

    C: float = parameter(default=1.0, kw_only=False)
    class_weight: Mapping[int, float] | Literal["balanced"] | None = None

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from Pairs (or an (n, 2, d) array) and labels ±1, or pl.ClassLabels for pl.all_pairs."""
        check_positive(self, C="1.0")
        if isinstance(y, ClassLabels):
            X = as_pairs(X)
            if sample_weight is None and implicit.is_wanted(self, X):
                return self._fit_implicitly(X, y.codes(X))
        training = self._prepare(X, sign=1)
        pairs = training.pairs
        # Listed only once there is room for the pairs, and nowhere kept as whole numbers.
        labels = check_labels(y.of(pairs) if isinstance(y, ClassLabels) else y, len(pairs))
        boxes = self.C * self._weights(len(pairs), sample_weight) * self._class_weights(labels)
        refuse_weightless(labels, boxes)
        conflicts = pairs.conflicts(labels, ordered=training.kernel.symmetry == "none" and not self.mirrored)
        if len(conflicts):
            warn_user(conflicts.message(), ConflictWarning)
        self._learn(training, classification(labels, boxes, total=0.0))
        self.classes_ = np.array([-1, 1])
        return self

    def _fit_implicitly(self, pairs: Pairs, classes: Ints) -> Self:
        """Learn from all pairs of examples in these classes, never listed."""
        self._check_limits()
        clock, setting = Clock.start(), implicit.setting_for(self, pairs)
        alike = setting.triangle.n_alike(classes)
        if alike in (0, len(pairs)):
            raise InputError(
                "all pairs have one label; examples of at least two classes, one of them twice, are needed"
            )
        shares = self._shares({1: alike, -1: len(pairs) - alike})
        seed = fresh_seed() if self.random_state is None else self.random_state
        outcome, self.plan_ = implicit.learn(self, setting, classes, (self.C * shares[1], self.C * shares[-1]), seed)
        sum_over = setting.listed(outcome.left, outcome.right)
        self.function_ = PairFunction.of(setting.kernel, sum_over, outcome.coefficients, outcome.bias)
        self.support_ = setting.triangle.number(outcome.left, outcome.right)
        self.support_bounded_ = np.zeros(len(sum_over), dtype=bool)
        self.support_examples_ = sum_over.used_examples()
        self.path_, self.n_runs_, self.total_seconds_ = "implicit", 1, clock.seconds
        self._record(outcome, outcome.n_support, clock.seconds, implicit.LONGER)
        note_features(self, pairs)
        self.classes_ = np.array([-1, 1])
        return self

    def _class_weights(self, labels: Floats) -> Floats:
        """Weight of the class of every pair."""
        if self.class_weight is None:
            return np.ones(len(labels))
        shares = self._shares({label: int((labels == label).sum()) for label in (1, -1)})
        return np.where(labels > 0, shares[1], shares[-1])

    def _shares(self, counts: dict[int, int]) -> dict[int, float]:
        """Weight of either class, of which there are so many pairs."""
        if self.class_weight is None:
            return {1: 1.0, -1: 1.0}
        if self.class_weight == "balanced":
            shares = {label: sum(counts.values()) / (2.0 * count) for label, count in counts.items()}
        elif isinstance(self.class_weight, Mapping) and set(self.class_weight) <= {1, -1}:
            shares = {label: float(self.class_weight.get(label, 1.0)) for label in (1, -1)}
        else:
            raise InputError(f'class_weight is {{1: w, -1: w}}, "balanced" or None, got {self.class_weight!r}')
        if not all(np.isfinite(share) and share > 0 for share in shares.values()):
            raise InputError(f"class weights must be finite and > 0, got {shares}")
        return shares

    # -- using

    def predict(self, X: Any) -> Ints:
        """+1 (same) where g > 0, else −1."""
        return np.where(self.decision_function(X) > 0, 1, -1)


def refuse_weightless(labels: Floats, boxes: Floats) -> None:
    """Refuse weights that leave nothing of one of the classes."""
    for label in (1, -1):
        if not (boxes[labels == label] > 0).any():
            raise InputError(f"all pairs with label {label:+d} have weight 0; both classes are needed")


def classification(labels: Floats, boxes: Floats, total: float | None) -> Problem:
    """min ½θᵀKθ − yᵀθ over 0 ≤ y_i θ_i ≤ box_i, with Σθ = total for a machine with a bias."""
    return Problem(labels, np.minimum(0.0, labels * boxes), np.maximum(0.0, labels * boxes), total=total)
