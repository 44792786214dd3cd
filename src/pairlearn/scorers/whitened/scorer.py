"""WhitenedScorer: examples compared in spaces of base kernels, without what varies within classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.baseline import Baseline, best_threshold
from pairlearn.baselines.training import joined_classes
from pairlearn.errors import InputError
from pairlearn.examples import check_sides, count_examples, widened
from pairlearn.features import note_features, same_features
from pairlearn.kernels import Kernel
from pairlearn.linalg.threads import blas_threads
from pairlearn.pairs import Pairs, as_pairs, check_labels, class_codes
from pairlearn.scorers.whitened.learnt import LearntView, Mapped
from pairlearn.scorers.whitened.spaces import Space
from pairlearn.scorers.whitened.views import View
from pairlearn.types import Examples, Floats, Ints

COHORT = 1000
"""Training examples of a cohort at most: more of them change no score by much."""


class WhitenedScorer(Baseline):
    """Mean of the scores of one or several views, each in units of its deviation among strangers.

    A view compares z(a) and z(b), the features of a base kernel (landmarks where it has none) after whitening by the
    covariance within classes, by their cosine or by the log-likelihood ratio of "same" and "different"; in
    deviations from what each of them scores with a cohort of training examples, if asked for. `fit` takes pairs,
    labels and the class of every example; without `classes` they are read off the positive pairs.

    Parameters
    ----------
    views : a View or several; those with the same base share its features.
    rank : features per base, at most.
    random_state : seed of landmarks and cohort.
    threshold : scores above it are "same"; None is found on the training pairs.

    Examples
    --------
    >>> import pairlearn as pl
    >>> from pairlearn.scorers import View, WhitenedScorer
    >>> X, classes = pl.data.double_interval(40, 6, n=60, seed=0)
    >>> pairs = pl.all_pairs(X[:120], reflexive=False)
    >>> scorer = WhitenedScorer([View("linear"), View("rbf", cohort="nearest")])
    >>> scorer = scorer.fit(pairs, pairs.labels(classes[:120]), classes=classes[:120])
    >>> test = pl.all_pairs(X[120:], reflexive=False)
    >>> scores = [pl.Scores(model.decision_function(test), test.labels(classes[120:]))
    ...           for model in (scorer, pl.CosineBaseline())]
    >>> pl.equal_error_rate(scores[0]) < pl.equal_error_rate(scores[1])
    True
    """

    def __init__(
        self,
        views: View | Sequence[View] = (View("rbf"),),  # noqa: B008  a frozen value
        *,
        rank: int = 500,
        random_state: int = 0,
        threshold: float | None = None,
    ) -> None:
        self.views = views
        self.rank = rank
        self.random_state = random_state
        self.threshold = threshold

    @property
    def in_short(self) -> str:
        """Its views in few words, for those who find it within another model."""
        views = self._checked()
        told = [f"{view.base!r} ({view.shrinkage:g}, {view.compare}, {view.cohort})" for view in views[:3]]
        return f"WhitenedScorer of {'; '.join(told)}" + (f"; {len(views) - 3} more" if len(views) > 3 else "")

    # -- learning

    def fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from pairs, labels ±1 and the class of every example."""
        views, pairs = self._checked(), _of_one_table(X)
        labels, (compact, (used,)) = check_labels(y, len(pairs)), pairs.compacted()
        left, right = compact.columns
        groups = (
            joined_classes(left, right, labels, compact.n_examples)
            if classes is None
            else class_codes(classes, pairs.n_examples, used)
        )
        groups = np.unique(groups, return_inverse=True)[1]
        note_features(self, pairs)
        self._learn(views, compact.examples, groups)
        self.classes_ = np.array([-1, 1])
        if self.threshold is None:
            self.threshold_ = self._learnt_threshold(compact, labels)
        else:
            self.threshold_ = float(self.threshold)
        return self

    def _learnt_threshold(self, pairs: Pairs, labels: Floats) -> float:
        """By pairs of different examples: one with itself is alike whatever the data."""
        proper = ~pairs.reflexive
        if len(np.unique(labels[proper])) < 2:
            raise InputError(
                "the training pairs of different examples hold one label only, which says nothing of a threshold; add "
                "pairs of the other label, or pass threshold=…"
            )
        return best_threshold(self._mean(self.view_scores(pairs[proper])), labels[proper])

    def _checked(self) -> list[View]:
        views = [self.views] if isinstance(self.views, View) else list(self.views)
        if not views or not all(isinstance(view, View) for view in views):
            raise InputError(
                f'views is a list of at least one pl.scorers.View, got {self.views!r:.60}; try View("rbf")'
            )
        if isinstance(self.rank, bool) or not isinstance(self.rank, (int, np.integer)) or self.rank < 1:
            raise InputError(f"rank must be a whole number of features ≥ 1, got {self.rank!r:.40}; try rank=500")
        return views

    def _learn(self, views: Sequence[View], examples: Examples, groups: Ints) -> None:
        bases, m = list(dict.fromkeys(view.base for view in views)), count_examples(examples)
        drawn = np.random.default_rng(self.random_state).permutation(m)[:COHORT]
        self.kernels_: tuple[Kernel, ...] = ()
        self.means_: tuple[Floats, ...] = ()
        learnt: dict[View, LearntView] = {}
        with blas_threads(2.0 * m * self.rank**2):
            for place, base in enumerate(bases):
                space = Space.of(base, examples, groups, self.rank, self.random_state)
                self.kernels_, self.means_ = (*self.kernels_, space.kernel), (*self.means_, space.mean)
                own = [view for view in views if view.base == base]
                learnt |= zip(own, LearntView.every(own, place, space, drawn), strict=True)
        self.learnt_ = tuple(learnt[view] for view in views)

    # -- scoring

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,); larger = more alike."""
        return self._mean(self.view_scores(X))

    def view_scores(self, X: Any) -> list[Floats]:
        """Scores of every pair by each view, (n_pairs,) each, in units of its deviation among strangers."""
        check_is_fitted(self, "classes_")
        pairs = same_features(self, _of_one_table(X)).compacted().pairs
        left, right = (np.ascontiguousarray(column) for column in pairs.columns)
        with blas_threads(self._operations(pairs.n_examples)):
            mapped = self._mapped(pairs.examples)
            return [each.pairs(left, right) / view.scale for view, each in zip(self.learnt_, mapped, strict=True)]

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        check_is_fitted(self, "classes_")
        sides = check_sides(self, probe, gallery)
        with blas_threads(self._operations(max(map(count_examples, sides)))):
            first, second = (list(self._mapped(table)) for table in sides)
            blocks = (
                one.block(other) / view.scale for view, one, other in zip(self.learnt_, first, second, strict=True)
            )
            return self._mean(blocks)

    def _operations(self, n_examples: int) -> float:
        """Of the largest product that maps so many examples."""
        return 2.0 * n_examples * max(view.projection.size for view in self.learnt_)

    def _mapped(self, examples: Examples) -> Iterator[Mapped]:
        """Examples as each view compares them, one view after the other; those that differ in the cohort share."""
        features, known = self._features(examples), dict[int, Mapped]()
        for view in self.learnt_:
            if id(view.projection) not in known:
                known = {id(view.projection): view.compared(features[view.place] @ view.projection)}
            yield view.with_moments(known[id(view.projection)])

    def _features(self, examples: Examples) -> list[Floats]:
        """Centred features of every base."""
        found = []
        for kernel, mean in zip(self.kernels_, self.means_, strict=True):
            features = kernel.features(examples)
            assert features is not None
            if features.shape[1] != len(mean):
                raise InputError(
                    f"examples have {features.shape[1]} features, but the scorer was fitted with {len(mean)}; pass the "
                    "same features"
                )
            found.append(widened(features) - mean)
        return found

    def _mean(self, scores: Any) -> Floats:
        total, n = 0.0, len(self.learnt_)
        for values in scores:
            total = total + values
        return np.asarray(total / n)


def _of_one_table(X: Any) -> Pairs:
    return as_pairs(X).require_one_table("whitening belongs to one table of examples; pairs of two tables have none")
