"""Classification with any similarity: a linear machine on similarities to basis examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, refuse_nonfinite, take_examples
from pairlearn.interrupts import delayed
from pairlearn.similarities.bases import count_bases
from pairlearn.similarities.basis_expansion import BasisExpansion, is_precomputed, similarity_tags
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
        """Learn from examples of any kind and their classes (numbers or strings).

        sample_weight: (n,), ≥ 0; a weight of 2 is the example twice, 0 is none. Equal rows of numbers count as one
        example with their weights together, so that none becomes a basis twice.
        """
        self._check()
        examples = validated_examples(self, X, reset=True)
        labels = check_classes(y, count_examples(examples))
        expansion, features, given = self.expanded(examples, labels, sample_weight)
        machine = self.solved(features, given)
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

    def expanded(
        self, examples: Any, labels: Any, sample_weight: Any = None
    ) -> tuple[BasisExpansion, Floats, Weighted]:
        """The fitted expansion, and the features of what there is to learn from."""
        given = Weighted.of(examples, labels, sample_weight, distinct=self._may_merge(examples))
        expansion = self.expansion()
        if self.n_bases is not None:
            expansion.n_bases = min(count_bases(self.n_bases, len(labels)), len(given.labels))
        features = expansion.fit_examples(given.examples, given.labels, given.weights)
        expansion.blocks_ = tuple(replace(block, index=given.rows[block.index]) for block in expansion.blocks_)
        return expansion, features, given

    def solved(self, features: Floats, given: Weighted) -> Any:
        """The linear machine fitted on the features."""
        machine, weights = self.machine(), given.weights
        if self.class_weight == "balanced" and weights is not None:
            machine, weights = machine.set_params(class_weight=None), given.balanced()
        return machine.fit(features, given.labels, sample_weight=weights)

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

    def _may_merge(self, examples: Any) -> bool:
        """Whether equal examples can be found, and which rows are bases is not said by their numbers."""
        return isinstance(self.bases, str) and not is_precomputed(self.similarity) and is_rows(examples)

    def _check(self) -> None:
        if not isinstance(self.C, (int, float, np.number)) or not 0 < self.C < np.inf:
            raise InputError(f"C must be > 0, got {self.C!r}; try C=1.0")
        if self.penalty not in ("l1", "l2"):
            raise InputError(f'penalty is "l2" or "l1", got {self.penalty!r}')

    def __sklearn_tags__(self) -> Any:
        return similarity_tags(super().__sklearn_tags__(), self.similarity)


class Weighted(NamedTuple):
    """Examples, classes and weights (None: all 1), and the row that each example had among those given."""

    examples: Any
    labels: Any
    weights: Floats | None
    rows: Ints

    @classmethod
    def of(cls, examples: Any, labels: Any, sample_weight: Any, *, distinct: bool) -> Weighted:
        """Without what weighs nothing; `distinct`: equal examples of one class as one, in an order of their own.

        So weighted examples and the same ones repeated become the same problem, to the last bit.
        """
        n = len(labels)
        weights = None if sample_weight is None else _checked_weights(sample_weight, n)
        if not distinct or (weights is None and len(_groups(examples, labels)[0]) == n):
            return cls(examples, labels, weights, np.arange(n))
        kept = np.arange(n) if weights is None else np.flatnonzero(weights)
        rows, group = _groups(take_examples(examples, kept), labels[kept])
        totals = np.bincount(group, weights=None if weights is None else weights[kept])
        rows = kept[rows]
        return cls(
            take_examples(examples, rows), check_classes(labels[rows], len(rows)), totals.astype(np.float64), rows
        )

    def balanced(self) -> Floats:
        """The weights with the classes as heavy as each other: w_i · Σ w / (classes · Σ w of its class)."""
        assert self.weights is not None
        _, codes = np.unique(self.labels, return_inverse=True)
        totals = np.bincount(codes, self.weights)
        return self.weights * (self.weights.sum() / (len(totals) * totals))[codes]


def is_rows(examples: Any) -> bool:
    """Whether examples are rows of numbers, dense or sparse."""
    return (isinstance(examples, np.ndarray) and examples.ndim == 2) or sparse.issparse(examples)


def _groups(examples: Any, labels: Any) -> tuple[Ints, Ints]:
    """First row of every different example and class, in an order by content alone, and which of them each row is."""
    _, codes = np.unique(labels, return_inverse=True)
    contents = zip(_contents(examples), codes.tolist(), strict=True)
    keys = [blake2b(b"%d " % code + row, digest_size=16).hexdigest() for row, code in contents]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group.ravel()


def _contents(examples: Any) -> Iterator[bytes]:
    """Every row as bytes, the same for equal rows: −0.0 is 0.0, and of sparse rows the zeros are left out."""
    if not sparse.issparse(examples):
        yield from ((np.asarray(row, dtype=np.float64) + 0.0).tobytes() for row in examples)
        return
    rows = sparse.csr_array(examples, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    for start, end in pairwise(rows.indptr.tolist()):
        yield rows.indices[start:end].astype(np.int64).tobytes() + rows.data[start:end].tobytes()


def _checked_weights(sample_weight: Any, n: int) -> Floats:
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise InputError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one weight per example")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight must be finite and ≥ 0; drop examples of unknown weight")
    if not weights.any():
        raise InputError("all weights of examples are zero; give some of them a weight > 0")
    return weights


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
