"""A machine that starts from several baselines, learnt on other classes than those whose pairs they score.

Pairs → `cross_fit` (folds of the classes; each pair is scored by baselines that saw neither of its classes) → `Stack`
(fitted baselines, pairs with scores) → a PairSVC on kernel and scores → `attach_baselines` (the machine asks the
baselines itself from now on).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.registry import BASELINES, Makers, fit_scores
from pairlearn.baselines.training import joined_classes
from pairlearn.errors import InputError
from pairlearn.features import note_features
from pairlearn.kernels import Standardised
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.pair_kernels import Blocks, ModelScores, PairKernel, on_invariant, pair_kernel
from pairlearn.pairs import Pairs, as_pairs, check_labels, sorted_classes
from pairlearn.types import Examples, Floats, Ints

STACK = ("euclid", "cosine", "pca_cosine", "wccn_cosine", "lda_cosine", "plda")
"""Baselines that err differently and learn quickly."""
SCORES = Blocks(("invariant",))
"""Where the scores stand while the machine is trained: beside the pairs, as their invariant features."""


@dataclass(frozen=True, eq=False, repr=False)
class Stack:
    """Fitted baselines, and the training pairs with scores by baselines that did not see the classes of the pair.

    `pairs` are those within one fold of the classes: a pair of two folds has no model that saw neither.
    """

    models: dict[str, Any]
    pairs: Pairs
    labels: Ints

    def __repr__(self) -> str:
        return f"Stack({', '.join(self.models)}; {len(self.pairs)} pairs)"

    def shown(self, pairs: Pairs) -> Pairs:
        """New pairs with the scores of all baselines as invariant features."""
        return _with(pairs, self.view.show(pairs))

    def only(self, names: Sequence[str]) -> Stack:
        """Some of the baselines."""
        assert self.pairs.invariant is not None
        places = [list(self.models).index(name) for name in names]
        models = {name: self.models[name] for name in names}
        return Stack(models, _with(self.pairs, self.pairs.invariant[:, places]), self.labels)

    def joined(self, other: Stack) -> Stack:
        """These baselines and others on the same pairs."""
        assert self.pairs.invariant is not None
        assert other.pairs.invariant is not None
        scores = np.hstack([self.pairs.invariant, other.pairs.invariant])
        return Stack({**self.models, **other.models}, _with(self.pairs, scores), self.labels)

    @property
    def view(self) -> ModelScores:
        """The baselines as a view of pairs."""
        return ModelScores(tuple(self.models.values()))


def cross_fit(
    pairs: Pairs,
    labels: Any,
    classes: Any,
    names: Sequence[str] = STACK,
    *,
    n_folds: int = 3,
    seed: int | None = 0,
    makers: Makers = BASELINES,
) -> Stack:
    """Fit each baseline without one fold of the classes and score the pairs within that fold; then fit it on all.

    A baseline knows the classes that it learnt from: on their pairs it scores better than it ever will on new ones,
    and a machine trained on such scores would trust it too much. Pairs whose two classes lie in different folds are
    dropped, since no baseline saw neither of them; all positive pairs stay.

    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(9, 4, n=20, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> stack = cross_fit(pairs, pairs.labels(classes), classes, ["euclid", "rca"])
    >>> stack.pairs.invariant.shape, len(pairs)
    ((198, 2), 630)
    """
    if pairs.invariant is not None:
        raise InputError("these pairs have invariant features already; a stack has no room for others")
    labels = check_labels(labels, len(pairs))
    folds = _folds(pairs, classes, n_folds, seed)
    left, right = (folds[column] for column in pairs.columns)
    kept = np.flatnonzero(left == right)
    models = {name: fit_scores(name, pairs, labels, classes, makers) for name in names}
    scores = np.zeros((len(kept), len(names)))
    for fold in range(int(folds.max()) + 1):
        inside, outside = kept[left[kept] == fold], np.flatnonzero((left != fold) & (right != fold))
        if len(inside) == 0:
            continue
        rows = left[kept] == fold
        for place, name in enumerate(names):
            model = fit_scores(name, pairs[outside], labels[outside], classes, makers)
            scores[rows, place] = model.decision_function(pairs[inside])
    return Stack(models, _with(pairs[kept], scores), labels[kept])


def _with(pairs: Pairs, scores: Floats) -> Pairs:
    return Pairs(pairs.examples, *pairs.columns, invariant=scores)


def _folds(pairs: Pairs, classes: Any, n_folds: int, seed: int | None) -> Ints:
    """The fold of each example: that of its class."""
    codes = sorted_classes(classes, pairs.n_examples)[1]
    used = np.unique(codes[pairs.used_examples()])
    if n_folds < 2 or len(used) < n_folds + 1:
        raise InputError(f"{len(used)} classes cannot be cut into {n_folds} folds; use 2 folds or add classes")
    fold = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(used)] = np.arange(len(used)) % n_folds
    return fold[codes]


def with_scores(kernel: PairKernel | None, weight: float) -> PairKernel:
    """The kernel plus weight · ⟨s, s'⟩ on standardised invariant features, or the latter alone."""
    scores = on_invariant(Standardised()) * weight
    return scores if kernel is None else kernel + scores


def attach_baselines(machine: PairSVC, stack: Stack) -> PairSVC:
    """The fitted machine as one that asks the baselines for the scores, instead of expecting them with the pairs."""
    return machine.with_view(SCORES, stack.view)


class StackedPairSVC(ClassifierMixin, BaseEstimator):
    """PairSVC with kernel K + weight · ⟨s, s'⟩, s the standardised scores of baselines: it starts from them.

    The scores of the training pairs come from baselines that were fitted without the classes of the pair; with their
    own training pairs baselines look too good, and nothing would be left to learn. Pairs between folds of classes
    are not used. `machine_` is a PairSVC of its own, to be saved and used without this class.

    Parameters
    ----------
    machine : a PairSVC with the kernel to add, or None for the scores alone.
    baselines : names of pl.baselines.BASELINES.
    weight : trust in the baselines beside the kernel of the machine.
    n_folds : folds of the classes.
    random_state : seed of the folds; None is another one each time.

    Examples
    --------
    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(12, 5, n=30, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> model = StackedPairSVC(pl.PairSVC("tensor_metric", C=0.01)).fit(pairs, pairs.labels(classes), classes=classes)
    >>> model.machine_.fit_status_
    'converged'

    Without `classes` they are read off the positive pairs, so that plain cross-validation works; where the training
    pairs do not hold all positive pairs of a class, pass them (one per example), with scikit-learn's metadata routing:

    >>> from sklearn import config_context
    >>> from sklearn.model_selection import cross_val_score
    >>> cross_val_score(StackedPairSVC(), pairs, pairs.labels(classes), cv=2).shape
    (2,)
    >>> with config_context(enable_metadata_routing=True):
    ...     routed = StackedPairSVC().set_fit_request(classes=True)
    ...     cross_val_score(routed, pairs, pairs.labels(classes), params={"classes": classes}, cv=2).shape
    (2,)
    """

    def __init__(
        self,
        machine: PairSVC | None = None,
        baselines: Sequence[str] = STACK,
        weight: float = 1.0,
        n_folds: int = 3,
        random_state: int | None = 0,
    ) -> None:
        self.machine = machine
        self.baselines = baselines
        self.weight = weight
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from pairs, labels ±1 and the class of every example; None reads it off the positive pairs."""
        pairs = as_pairs(X)
        if classes is None:
            classes = joined_classes(*pairs.columns, check_labels(y, len(pairs)), pairs.n_examples)
        stack = cross_fit(pairs, y, classes, list(self.baselines), n_folds=self.n_folds, seed=self.random_state)
        machine = PairSVC(random_state=self.random_state) if self.machine is None else clone(self.machine)
        kernel = None if self.machine is None else pair_kernel(machine.kernel)
        machine.set_params(kernel=with_scores(kernel, self.weight))
        self.machine_ = attach_baselines(machine.fit(stack.pairs, stack.labels), stack)
        self.classes_ = self.machine_.classes_
        for model in (self, self.machine_):  # the machine was fitted on other pairs of the same examples
            note_features(model, pairs)
        return self

    def decision_function(self, X: Any) -> Floats:
        """g of every pair."""
        check_is_fitted(self, "machine_")
        return self.machine_.decision_function(X)

    def predict(self, X: Any) -> Ints:
        """+1 (same) where g > 0, else −1."""
        check_is_fitted(self, "machine_")
        return self.machine_.predict(X)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """g of every probe with every gallery example, (p, g)."""
        check_is_fitted(self, "machine_")
        return self.machine_.score_block(probe, gallery)
