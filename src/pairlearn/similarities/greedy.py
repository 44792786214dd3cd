"""Which similarities help each other? One at a time, the one that helps most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels import as_kernel
from pairlearn.similarities.basis_svc import BasisSVC, Weighted, check_classes
from pairlearn.similarities.blocks import name_of, validated_examples
from pairlearn.types import Examples, Floats


@dataclass(frozen=True)
class Added:
    """One step: the similarity that was added, the accuracy with it, and that with each other candidate."""

    name: str
    accuracy: float
    candidates: dict[str, float]


@dataclass(frozen=True)
class _Fold:
    """Normalised features of every similarity, for training and validation examples."""

    train: dict[str, Floats]
    test: dict[str, Floats]
    given: Weighted
    y_test: Any


class GreedySimilarities(ClassifierMixin, BaseEstimator):
    """A BasisSVC on several similarities: adds the one that raises validation accuracy most, until none does.

    Accuracy is the mean over stratified folds. The similarities to the bases are evaluated once per fold, whatever
    the number of steps; with bases chosen by the similarity itself (medoids) each one brings its own.

    Parameters
    ----------
    similarities : {name: similarity} or a list of similarities.
    machine : a BasisSVC whose settings are used; None takes the defaults.
    n_folds : stratified folds of the validation.
    gain : smallest rise of accuracy that counts.
    most : largest number of similarities; None has no limit.
    random_state : seed of the folds.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    >>> X[:, 0] += 3 * (y == 1)
    >>> X[:, 1] += 3 * (y == 2)
    >>> first = pl.kernels.FromFunction(lambda A, B: -abs(A[:, :1] - B[:, :1].T))
    >>> second = pl.kernels.FromFunction(lambda A, B: -abs(A[:, 1:] - B[:, 1:].T))
    >>> noise = pl.kernels.FromFunction(lambda A, B: np.zeros((len(A), len(B))))
    >>> model = GreedySimilarities({"first": first, "second": second, "noise": noise}, random_state=0).fit(X, y)
    >>> sorted(step.name for step in model.path_)
    ['first', 'second']
    """

    def __init__(
        self,
        similarities: Any,
        machine: BasisSVC | None = None,
        n_folds: int = 3,
        gain: float = 0.0,
        most: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.similarities = similarities
        self.machine = machine
        self.n_folds = n_folds
        self.gain = gain
        self.most = most
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the similarities, then fit the machine with them on all examples."""
        if self.most is not None and not self.most >= 1:
            raise InputError(f"most is a number of similarities, at least 1, or None, got {self.most!r}; try None")
        named = self._named()
        examples = validated_examples(self, X, reset=True)
        labels = check_classes(y, count_examples(examples))
        machine = BasisSVC(random_state=0) if self.machine is None else clone(self.machine)
        splits = StratifiedKFold(self.n_folds, shuffle=True, random_state=self.random_state)
        rows = np.zeros(len(labels))
        folds = [_fold(machine, named, examples, labels, *split) for split in splits.split(rows, labels)]
        self.path_ = self._search(machine, list(named), folds)
        chosen = [named[step.name] for step in self.path_]
        self.machine_ = machine.set_params(similarity=chosen).fit(examples, labels)
        self.classes_ = self.machine_.classes_
        return self

    def _search(self, machine: BasisSVC, names: list[str], folds: list[_Fold]) -> tuple[Added, ...]:
        path: list[Added] = []
        most = len(names) if self.most is None else min(len(names), self.most)
        while len(path) < most:
            chosen = [step.name for step in path]
            candidates = {
                name: float(np.mean([_accuracy(machine, fold, [*chosen, name]) for fold in folds]))
                for name in names
                if name not in chosen
            }
            best = max(candidates, key=candidates.__getitem__)
            if path and not candidates[best] > path[-1].accuracy + self.gain:
                break
            path.append(Added(best, candidates[best], candidates))
        return tuple(path)

    def decision_function(self, X: Any) -> Floats:
        """Decision values of the chosen machine."""
        check_is_fitted(self, "machine_")
        return self.machine_.decision_function(X)

    def predict(self, X: Any) -> Any:
        """Classes by the chosen machine."""
        check_is_fitted(self, "machine_")
        return self.machine_.predict(X)

    def _named(self) -> dict[str, Any]:
        if isinstance(self.similarities, Mapping):
            named = dict(self.similarities)
        else:
            named = {f"{number}: {name_of(as_kernel(one))}": one for number, one in enumerate(self.similarities)}
        if not named:
            raise InputError("there are no similarities to choose from")
        return named


def _fold(machine: BasisSVC, named: dict[str, Any], examples: Examples, labels: Any, train: Any, test: Any) -> _Fold:
    seen, unseen = take_examples(examples, train), take_examples(examples, test)
    features: dict[str, Floats] = {}
    held: dict[str, Floats] = {}
    for name, similarity in named.items():
        expansion, features[name], given = (
            clone(machine).set_params(similarity=similarity).expanded(seen, labels[train])
        )
        held[name] = expansion.transform(unseen)
    return _Fold(features, held, given, labels[test])


def _accuracy(machine: BasisSVC, fold: _Fold, names: list[str]) -> float:
    model = machine.solved(np.hstack([fold.train[name] for name in names]), fold.given)
    return float(model.score(np.hstack([fold.test[name] for name in names]), fold.y_test))
