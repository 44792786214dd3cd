"""Classification with any similarity: a linear machine on similarities to basis examples."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, refuse_nonfinite
from pairlearn.interrupts import delayed
from pairlearn.similarities.basis_expansion import BasisExpansion, similarity_tags
from pairlearn.similarities.blocks import Progress, validated_examples
from pairlearn.types import Floats, Ints
from pairlearn.words import counted


class BasisSVC(ClassifierMixin, BaseEstimator):
    """Basis-expanding SVM: classes from similarities that need be neither symmetric nor definite.

    min ½‖w‖² + C Σ_i max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b))² for each class against the rest, φ of BasisExpansion;
    with penalty="l1", ‖w‖₁ instead of ½‖w‖². Like that of LinearSVC, which solves it in the primal, b is penalised too.
    Bases without any weight are dropped after the fit and cost nothing later: L1 makes the model small.

    Parameters
    ----------
    similarity, n_bases, bases, normalise, direction, shared, dtype, batch_size, n_jobs, progress, random_state :
        as for BasisExpansion; the basis is the second argument, k(X, bases).
    C : weight of the losses.
    penalty : "l2", or "l1" for few bases.
    class_weight : None, "balanced" or {class: weight}.
    tol, max_iter : when the solver of LinearSVC stops.

    Attributes
    ----------
    classes_, coef_ (n_classes or 1, kept features), intercept_ : as in LinearSVC.
    expansion_ : the fitted BasisExpansion, with the kept features only.
    n_bases_ : number of training examples that the similarities to come are compared with.

    Examples
    --------
    >>> import pairlearn as pl
    >>> from pairlearn.similarities.basis_svc import BasisSVC
    >>> words = ["kernel", "kernels", "colonel", "pairs", "pair", "repair"]
    >>> common = pl.kernels.FromFunction(lambda a, b: len(set(a) & set(b)) / len(set(b)), scalar=True)
    >>> model = BasisSVC(common, random_state=0).fit(words, ["k", "k", "k", "p", "p", "p"])
    >>> model.predict(["kernal", "impair"]).tolist()
    ['k', 'p']
    """

    def __init__(
        self,
        similarity: Any = "rbf",
        n_bases: int | None = None,
        C: float = 1.0,
        penalty: Literal["l2", "l1"] = "l2",
        bases: Any = "random",
        normalise: Literal["be", "z", "none"] = "be",
        direction: Literal["to_bases", "from_bases", "both"] = "to_bases",
        shared: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        dtype: Any = np.float64,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.n_bases = n_bases
        self.C = C
        self.penalty = penalty
        self.bases = bases
        self.normalise = normalise
        self.direction = direction
        self.shared = shared
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from examples of any kind and their classes (numbers or strings)."""
        self._check()
        examples = validated_examples(self, X, reset=True)
        labels = check_classes(y, count_examples(examples))
        expansion = self.expansion()
        features = expansion.fit_transform(examples, labels)
        machine = self.machine().fit(features, labels, sample_weight=sample_weight)
        used = np.any(machine.coef_ != 0.0, axis=0)
        self.expansion_ = expansion.keep(used)
        self.coef_ = np.ascontiguousarray(machine.coef_[:, used])
        self.intercept_ = machine.intercept_
        self.classes_ = machine.classes_
        self.n_iter_ = machine.n_iter_
        return self

    def expansion(self) -> BasisExpansion:
        """The expansion that `fit` will fit."""
        names = set(BasisExpansion().get_params(deep=False))
        return BasisExpansion(**{name: value for name, value in self.get_params(deep=False).items() if name in names})

    def machine(self) -> Any:
        """The linear machine that `fit` will fit on the features."""
        # Loaded here: a model that needs none of it is read and scored in half the time.
        with delayed():
            from sklearn.svm import LinearSVC

        return LinearSVC(
            penalty=self.penalty,
            loss="squared_hinge",
            dual=False,
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            class_weight=self.class_weight,
            random_state=self.random_state,
        )

    @property
    def n_bases_(self) -> int:
        """Number of examples that new ones are compared with."""
        check_is_fitted(self, "coef_")
        return len(self.expansion_.basis_index_)

    def decision_function(self, X: Any) -> Floats:
        """⟨w, φ(x)⟩ + b: (n, n_classes), or (n,) for two classes, > 0 for the second one."""
        check_is_fitted(self, "coef_")
        features = self.expansion_.transform(validated_examples(self, X, reset=False))
        values = features @ self.coef_.T.astype(features.dtype) + self.intercept_
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> Any:
        """The class with the largest decision value."""
        values = self.decision_function(X)
        winner: Ints = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winner]

    def _check(self) -> None:
        if not isinstance(self.C, (int, float, np.number)) or not 0 < self.C < np.inf:
            raise InputError(f"C must be > 0, got {self.C!r}; try C=1.0")
        if self.penalty not in ("l1", "l2"):
            raise InputError(f'penalty is "l2" or "l1", got {self.penalty!r}')

    def __sklearn_tags__(self) -> Any:
        return similarity_tags(super().__sklearn_tags__(), self.similarity)


def check_classes(y: Any, n_examples: int) -> Any:
    """One class per example, at least two different ones, (n,)."""
    if y is None:
        raise InputError("this classifier requires y to be passed, but the target y is None: fit(X, y)")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        refuse_nonfinite(labels, "classes")
    check_classification_targets(labels)
    if len(labels) != n_examples:
        raise InputError(
            f"{counted(len(labels), 'class')} in y for {counted(n_examples, 'example')}; give one per example"
        )
    if len(np.unique(labels)) < 2:
        raise InputError(f"all examples are of one class, {labels[0]!r}; at least two classes are needed")
    return labels
