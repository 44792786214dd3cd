"""A baseline of multiple kernel learning: the best weight between two kernels, by a line search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.kernels import as_kernel
from pairlearn.similarities.basis_svc import check_classes
from pairlearn.similarities.blocks import validated_examples
from pairlearn.types import Floats

MOST_SECTIONS = 100
"""Golden sections: after 75 of them the interval is shorter than float64 can tell."""


@dataclass(frozen=True)
class Tried:
    """One weight of the line search and what it reached: accuracy (larger is better) or objective (smaller is)."""

    weight: float
    value: float


class LineSearch(Protocol):
    """How the weight is found: from two Gram matrices, labels and C to all weights tried, the chosen one last."""

    def __call__(self, K1: Floats, K2: Floats, y: Any, C: float) -> tuple[Tried, ...]:
        """Weights tried, the chosen one last."""


@dataclass(frozen=True)
class ByValidation:
    """The weight among `steps` + 1 even ones in [0, 1] with the best accuracy over stratified folds."""

    steps: int = 10
    n_folds: int = 5
    seed: int = 0

    def __call__(self, K1: Floats, K2: Floats, y: Any, C: float) -> tuple[Tried, ...]:
        splits = StratifiedKFold(self.n_folds, shuffle=True, random_state=self.seed)
        folds = list(splits.split(np.zeros(len(y)), y))
        weights = np.linspace(0.0, 1.0, self.steps + 1)
        tried = [Tried(float(w), _held_out_accuracy(mix(K1, K2, w), y, C, folds)) for w in weights]
        # Among equal ones the middle weight: both kernels are then used as much as the data allow.
        best = max(tried, key=lambda one: (one.value, -abs(one.weight - 0.5)))
        return (*(one for one in tried if one is not best), best)


@dataclass(frozen=True)
class ByObjective:
    """The weight with the least optimal value of the machine, by golden sections down to `tol`.

    J(μ) = max_α Σα − ½ αᵀY(μK₁ + (1 − μ)K₂)Yα is a maximum of functions linear in μ, hence convex: the search finds
    its minimum. Several classes: the sum of J over all pairs of classes. Scale both kernels alike beforehand.
    """

    tol: float = 1e-3

    def __call__(self, K1: Floats, K2: Floats, y: Any, C: float) -> tuple[Tried, ...]:
        tried: list[Tried] = []

        def objective(weight: float) -> float:
            tried.append(Tried(weight, svm_objective(mix(K1, K2, weight), y, C)))
            return tried[-1].value

        for end in (0.0, 1.0):
            objective(end)
        golden_sections(objective, self.tol)
        best = min(tried, key=lambda one: one.value)
        return (*(one for one in tried if one is not best), best)


class TwoKernelSVC(ClassifierMixin, BaseEstimator):
    """SVC on μK₁ + (1 − μ)K₂, μ ∈ [0, 1] found by a line search on the training examples.

    Parameters
    ----------
    first, second : base kernels by name, Kernel or callable k(A, B) → matrix.
    C : box of scikit-learn's SVC.
    line_search : ByValidation() or ByObjective(); None is ByValidation().

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TwoKernelSVC("linear", "rbf").fit(X, y)
    >>> 0 <= model.weight_ <= 1, model.score(X, y) > 0.95
    (True, True)
    """

    def __init__(
        self, first: Any = "linear", second: Any = "rbf", C: float = 1.0, line_search: LineSearch | None = None
    ) -> None:
        self.first = first
        self.second = second
        self.C = C
        self.line_search = line_search

    def fit(self, X: Any, y: Any) -> Self:
        """Find the weight, then fit on all examples."""
        if not isinstance(self.C, (int, float, np.number)) or not 0 < self.C < np.inf:
            raise InputError(f"C must be > 0, got {self.C!r}; try C=1.0")
        self.examples_ = validated_examples(self, X, reset=True)
        labels = check_classes(y, count_examples(self.examples_))
        self.kernels_ = tuple(as_kernel(one).resolved(self.examples_) for one in (self.first, self.second))
        K1, K2 = (kernel(self.examples_, self.examples_) for kernel in self.kernels_)
        search = ByValidation() if self.line_search is None else self.line_search
        self.path_ = search(K1, K2, labels, self.C)
        self.weight_ = self.path_[-1].weight
        self.machine_ = SVC(C=self.C, kernel="precomputed").fit(mix(K1, K2, self.weight_), labels)
        self.classes_ = self.machine_.classes_
        return self

    def decision_function(self, X: Any) -> Floats:
        """Decision values of the SVC on the mixed kernel."""
        rows = self._rows(X)
        return self.machine_.decision_function(rows)

    def predict(self, X: Any) -> Any:
        """Classes by the SVC on the mixed kernel."""
        rows = self._rows(X)
        return self.machine_.predict(rows)

    def _rows(self, X: Any) -> Floats:
        check_is_fitted(self, "machine_")
        examples = validated_examples(self, X, reset=False)
        K1, K2 = (kernel(examples, self.examples_) for kernel in self.kernels_)
        return mix(K1, K2, self.weight_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def mix(K1: Floats, K2: Floats, weight: float) -> Floats:
    """μK₁ + (1 − μ)K₂."""
    return weight * K1 + (1.0 - weight) * K2


def svm_objective(K: Floats, y: Any, C: float) -> float:
    """max_α Σα − ½ αᵀYKYα over 0 ≤ α ≤ C, Σ yα = 0, summed over all pairs of classes."""
    total = 0.0
    for pair in combinations(np.unique(y), 2):
        rows = np.nonzero(np.isin(y, pair))[0]
        block = K[np.ix_(rows, rows)]
        machine = SVC(C=C, kernel="precomputed", tol=1e-6).fit(block, y[rows])
        theta, support = machine.dual_coef_[0], machine.support_
        total += float(np.abs(theta).sum() - 0.5 * theta @ block[np.ix_(support, support)] @ theta)
    return total


def golden_sections(function: Callable[[float], float], tol: float) -> None:
    """Narrow [0, 1] around the minimum of a convex function until it is shorter than tol.

    Two inner points at the golden ratio: whichever side is dropped, one of them is again at the golden ratio of the
    rest, so every step costs a single value and shortens the interval by 0.618.
    """
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    low, high = 0.0, 1.0
    a, b = high - ratio, low + ratio
    at_a, at_b = function(a), function(b)
    for _ in range(MOST_SECTIONS):
        if high - low <= tol:
            break
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = function(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = function(b)


def _held_out_accuracy(K: Floats, y: Any, C: float, folds: list[Any]) -> float:
    hits = []
    for train, test in folds:
        machine = SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
        hits.append(machine.predict(K[np.ix_(test, train)]) == y[test])
    return float(np.concatenate(hits).mean())
