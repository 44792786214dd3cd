"""The pairwise support vector machine: same or different?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import ConflictWarning, InputError, SymmetryError, SymmetryWarning
from pairlearn.estimators.start import carry_over
from pairlearn.kernels import Gram, Precomputed, as_kernel
from pairlearn.operators.function import PairFunction
from pairlearn.operators.plan import build
from pairlearn.pair_kernels import PairKernel, pair_kernel
from pairlearn.pairs import Pairs, as_pairs, check_labels
from pairlearn.solvers import Callback, Solution, solver_for
from pairlearn.solvers.problem import Problem, Status
from pairlearn.types import Examples, Floats, Ints


class PairSVC(ClassifierMixin, BaseEstimator):
    """Classifier of pairs with a symmetric pair kernel, solved exactly.

    min ½θᵀKθ − yᵀθ over 0 ≤ y_i θ_i ≤ C·weight_i, Σθ = 0;   g(a, b) = Σ θ_k K((a, b), pair_k) + b.

    Parameters
    ----------
    kernel : name of a pair kernel ("tensor_metric", "metric", "tensor", …) or a PairKernel.
    base : "linear", "poly", "rbf", "cosine", "precomputed", a Kernel, a Gram or a callable f(A, B).
    C : box of every pair, 0 ≤ |θ| ≤ C · weight.
    tol : KKT gap at which the solver stops.
    class_weight : {1: w, -1: w}, "balanced" or None.
    time_budget : seconds after which the best solution so far is kept.
    memory_budget : bytes; None takes 60 % of the free memory.
    random_state : seed of the first working set.
    warm_start : start `fit` from the previous solution (other C, added pairs).
    mirrored : train on both orders of every pair with box C/2, for checking; slower.
    solver : "active_set" or "smo" (the plain reference).
    callback : called with a Progress after every iteration; returning True stops.

    Examples
    --------
    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(20, 5, n=50, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> clf = pl.PairSVC(kernel="tensor_metric", base="poly", C=1.0).fit(pairs, pairs.labels(classes))
    >>> clf.fit_status_, clf.kkt_gap_ <= 1e-3
    ('converged', True)
    """

    def __init__(
        self,
        kernel: str | PairKernel = "tensor_metric",
        base: Any = "linear",
        C: float = 1.0,
        tol: float = 1e-3,
        class_weight: Mapping[int, float] | Literal["balanced"] | None = None,
        time_budget: float | None = None,
        memory_budget: float | None = None,
        random_state: int | None = None,
        *,
        warm_start: bool = False,
        mirrored: bool = False,
        solver: Literal["active_set", "smo"] = "active_set",
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.base = base
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.time_budget = time_budget
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.warm_start = warm_start
        self.mirrored = mirrored
        self.solver = solver
        self.callback = callback

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from Pairs (or an (n, 2, d) array) and labels ±1."""
        pairs = one_table(as_pairs(X))
        labels = check_labels(y, len(pairs))
        kernel = self._checked_kernel()
        boxes = self._boxes(labels, sample_weight)
        conflicts = pairs.conflicts(labels)
        if len(conflicts):
            warnings.warn(conflicts.message(), ConflictWarning, stacklevel=2)
        if self.mirrored:
            pairs, labels, boxes = mirror(pairs, labels, boxes)
        operation = build(kernel, pairs, self.base if isinstance(self.base, Gram) else None, self.memory_budget)
        problem = Problem(
            linear=labels,
            lower=np.minimum(0.0, labels * boxes),
            upper=np.maximum(0.0, labels * boxes),
            total=0.0,
        )
        warm = self.warm_start and hasattr(self, "function_")
        start = carry_over(self.function_, self.support_boxes_, pairs, problem) if warm else None
        solver = solver_for(self.solver, self.tol, self.time_budget, operation.plan.working_set, self.random_state or 0)
        solution = solver.solve(problem, operation.operator, start, self.callback)
        self._keep(solution, operation.kernel, pairs)
        self.support_boxes_: Floats = boxes[self.support_]
        self.plan_ = operation.plan
        return self

    def _checked_kernel(self) -> PairKernel:
        for name in ("C", "tol"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value > 0):
                raise InputError(
                    f"{name} must be a finite number > 0, got {value!r}; try {name}={'1.0' if name == 'C' else '1e-3'}"
                )
        if self.time_budget is not None and not self.time_budget >= 0:
            raise InputError(f"time_budget is in seconds and must be ≥ 0, got {self.time_budget!r}")
        kernel = pair_kernel(self.kernel).on(as_kernel(self.base))
        if len(kernel.bases) > 1 and any(isinstance(base, Precomputed) for base in kernel.bases):
            raise InputError("a precomputed base cannot be mixed with one that needs features; compute both matrices")
        if kernel.symmetry == "antisymmetric":
            raise SymmetryError(
                "PairSVC answers a symmetric question, but this pair kernel is antisymmetric; "
                "use pl.PairRanker, or a symmetric kernel such as its square"
            )
        if kernel.symmetry == "none" and not self.mirrored:
            warnings.warn(
                "this pair kernel is not symmetric, so g(u, v) ≠ g(v, u); kernel.balanced() makes it symmetric",
                SymmetryWarning,
                stacklevel=3,
            )
        return kernel

    def _boxes(self, labels: Floats, sample_weight: Any) -> Floats:
        """C · class weight · pair weight of every pair."""
        boxes = np.full(len(labels), float(self.C))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, dtype=np.float64)
            if weights.shape != labels.shape:
                raise InputError(f"sample_weight must hold one weight per pair, {len(labels)}, got {weights.shape}")
            if not np.isfinite(weights).all() or (weights < 0).any():
                raise InputError("sample_weight must be finite and ≥ 0; drop pairs of unknown weight")
            for label in (1, -1):
                if not (weights[labels == label] > 0).any():
                    raise InputError(f"all pairs with label {label:+d} have weight 0; both classes are needed")
            boxes *= weights
        if self.class_weight is None:
            return boxes
        if self.class_weight == "balanced":
            shares = {label: len(labels) / (2.0 * int((labels == label).sum())) for label in (1, -1)}
        elif isinstance(self.class_weight, Mapping) and set(self.class_weight) <= {1, -1}:
            shares = {label: float(self.class_weight.get(label, 1.0)) for label in (1, -1)}
        else:
            raise InputError(f'class_weight is {{1: w, -1: w}}, "balanced" or None, got {self.class_weight!r}')
        if not all(np.isfinite(share) and share > 0 for share in shares.values()):
            raise InputError(f"class weights must be finite and > 0, got {shares}")
        return boxes * np.where(labels > 0, shares[1], shares[-1])

    def _keep(self, solution: Solution, kernel: PairKernel, pairs: Pairs) -> None:
        """Keep the support pairs and their examples only."""
        self.support_: Ints = np.nonzero(solution.coefficients)[0]
        chosen = pairs[self.support_]
        self.support_examples_: Ints = chosen.used_examples()
        base = next(base for base in kernel.bases if base is not None)
        position = np.zeros(pairs.n_examples, dtype=np.int32)
        position[self.support_examples_] = np.arange(len(self.support_examples_), dtype=np.int32)
        self.function_ = PairFunction(
            kernel=kernel,
            anchor=base.anchor(pairs.examples, self.support_examples_),
            left=position[chosen.left],
            right=position[chosen.right],
            coefficients=solution.coefficients[self.support_],
            bias=solution.bias,
        )
        self.classes_ = np.array([-1, 1])
        self.kkt_gap_, self.fit_status_, self.objective_ = (
            solution.gap,
            str(solution.status),
            solution.objective,
        )
        self.n_support_, self.n_iter_ = len(self.support_), len(solution.history)
        self.history_ = solution.history
        if solution.status is not Status.CONVERGED:
            warnings.warn(
                f"stopped by {solution.status} at KKT gap {solution.gap:.3g} > tol = {self.tol:g}; the model is "
                "usable, and warm_start=True continues from here",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- using

    @property
    def dual_coef_(self) -> Floats:
        """θ = yα of the support pairs."""
        return self.function_.coefficients

    @property
    def intercept_(self) -> float:
        """Bias b."""
        return self.function_.bias

    def decision_function(self, X: Any) -> Floats:
        """g of every pair, (n_pairs,); larger = more alike."""
        check_is_fitted(self, "function_")
        return self.function_(one_table(as_pairs(X)))

    def predict(self, X: Any) -> Ints:
        """+1 (same) where g > 0, else −1."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """g of every probe with every gallery example, (p, g), by matrix products in bounded memory."""
        check_is_fitted(self, "function_")
        return self.function_.block(probe, gallery)


def one_table(pairs: Pairs) -> Pairs:
    """Refuse what this machine would otherwise ignore: a second table of examples and per-pair features."""
    if pairs.right_examples is not None:
        raise InputError("PairSVC compares examples of one table; these pairs have right_examples of their own")
    if pairs.invariant is not None or pairs.signed is not None:
        raise InputError("PairSVC does not use per-pair features; drop `invariant` and `signed` from these pairs")
    return pairs


def mirror(pairs: Pairs, labels: Floats, boxes: Floats) -> tuple[Pairs, Floats, Floats]:
    """Every pair in both orders with half the box each; reflexive pairs once with the whole box."""
    once = np.nonzero(pairs.reflexive)[0]
    twice = np.nonzero(~pairs.reflexive)[0]
    order = np.concatenate([once, twice, twice])
    left, right = pairs.columns
    both = Pairs(
        pairs.examples,
        np.concatenate([left[once], left[twice], right[twice]]),
        np.concatenate([right[once], right[twice], left[twice]]),
    )
    half = np.concatenate([boxes[once], 0.5 * boxes[twice], 0.5 * boxes[twice]])
    return both, labels[order], half
