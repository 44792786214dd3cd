"""Variants of examples that mean the same: lists of them, and learning from them as virtual examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pairlearn.baselines.training import joined_classes
from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, match_examples, stack_examples
from pairlearn.features import note_features
from pairlearn.linalg.room import available_memory
from pairlearn.on_examples import is_pipeline
from pairlearn.pairs import ClassLabels, Pairs, as_pairs, class_codes
from pairlearn.pairs.labels import one_per_pair
from pairlearn.scorers.scorer import as_scorer, score_all
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

Variants = Callable[[Examples], Sequence[Examples]]
"""An Orbit, or any function that lists tables like the given one, row for row the same things, that table first."""
BYTES = 48
"""Of one copy of a pair: two columns, its origin, share, label and weight."""
ONE_TABLE = "variants are made of one table of examples; pairs of two tables have no copies"


def variants_of(examples: Examples, orbit: Variants) -> list[Examples]:
    """The tables that an orbit lists, or an error that says what is wrong with them."""
    if not callable(orbit):
        raise InputError(f"orbit is a pl.images.Orbit or a function of examples, got {orbit!r}")
    tables = [check_examples(table, "variants") for table in orbit(examples)]
    if not tables:
        raise InputError("the orbit lists nothing; list the examples themselves first, then their variants")
    for number, table in enumerate(tables):
        if count_examples(table) != count_examples(examples):
            rows = counted(count_examples(table), "row")
            raise InputError(f"variant {number} has {rows} for {counted(count_examples(examples), 'example')}")
    if tables[0] is not examples and not _same_rows(tables[0], examples):
        raise InputError("the first table of an orbit is that of the examples as they are; list it before its variants")
    return tables


def _same_rows(one: Examples, other: Examples) -> bool:
    """Whether two tables hold the same, row by row."""
    return np.array_equal(match_examples(one, other), match_examples(other, other))


class CopiedPairs(NamedTuple):
    """Pairs of copies, the number of the pair that each was made of, and its share of that pair, (n,)."""

    pairs: Pairs
    origins: Ints
    shares: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Copies:
    """m examples and their variants in one table: row i·m + k is variant i of example k, and row k itself.

    A copy is no example of its own: `sources` tells which one it is of. Give each the class of its source,
    `classes[copies.sources]`, and keep them together when you split: `pl.selection.ClassKFold(copies.sources)` is the
    interexample task. `OnCopies` makes copies of training pairs only, where nothing can go wrong.

    >>> import pairlearn as pl
    >>> copies = Copies.of(np.array([[1.0, 5.0], [2.0, 6.0]]), lambda X: [X, X[:, ::-1]])
    >>> copies.examples.tolist(), copies.sources.tolist()
    ([[1.0, 5.0], [2.0, 6.0], [5.0, 1.0], [6.0, 2.0]], [0, 1, 0, 1])
    """

    examples: Examples
    n_sources: int

    @classmethod
    def of(cls, examples: Examples, orbit: Variants) -> Copies:
        """All variants of these examples."""
        table = check_examples(examples)
        return cls(stack_examples(*variants_of(table, orbit)), count_examples(table))

    def __repr__(self) -> str:
        return f"Copies({counted(len(self.sources), 'copy', 'copies')} of {counted(self.n_sources, 'example')})"

    @property
    def sources(self) -> Ints:
        """The example that each row shows, (n_rows,)."""
        return np.arange(count_examples(self.examples)) % self.n_sources

    def pairs(self, pairs: Pairs) -> CopiedPairs:
        """Each pair (a, b) of the sources as (a, b), and as (a_i, b) and (a, b_i) for every variant i.

        One side moves at a time: that shows what a change of place does to a pair, and all combinations would be as
        many as the square of the variants. (a, a_i) is the mirror image of (a_i, a), so that reflexive pairs have half.
        """
        steps = range(self.n_sources, count_examples(self.examples), self.n_sources)
        self._check(pairs, (2 * len(steps) + 1) * len(pairs))
        every, unequal = np.arange(len(pairs)), np.flatnonzero(~pairs.reflexive)
        parts = [(every, 0, 0), *(part for i in steps for part in ((every, i, 0), (unequal, 0, i)))]
        left, right = pairs.columns
        copied = ((rows, left[rows] + i, right[rows] + j) for rows, i, j in parts)
        origins, *columns = (np.concatenate(column) for column in zip(*copied, strict=True))
        return CopiedPairs(
            pairs[origins].between(self.examples, *columns), origins, 1.0 / np.bincount(origins)[origins]
        )

    def _check(self, pairs: Pairs, n_copies: int) -> None:
        """Refuse pairs of other examples, and more copies than there is memory for."""
        if pairs.n_examples != self.n_sources:
            raise InputError(
                f"pairs of {counted(pairs.n_examples, 'example')}, copies of {self.n_sources}; pass the same"
            )
        if BYTES * n_copies > 0.6 * available_memory():
            raise InputError(
                f"{n_copies:,} pairs of copies take {BYTES * n_copies / 1e9:.1f} GB, more than there is; list fewer "
                "variants, or draw fewer pairs with pl.selection.PairSampler"
            )


class OnCopies(ClassifierMixin, BaseEstimator):
    """A model that learns from variants of its training examples too, as virtual examples; scores are its own.

    Each training pair (a, b) is joined by (a_i, b) and (a, b_i) for all variants i of the orbit, with its label and an
    equal share of its weight: a pair counts as much as before, C means the same, and what is learnt is that such
    changes do not matter. Copies live within `fit` alone. Splitters, limits and counts of examples or identities see
    the given examples, so that no copy is ever tested, or taken for another example.

    Parameters
    ----------
    model : a machine, a baseline or a pipeline of `OnExamples` steps and one of these; it is cloned.
    orbit : a pl.images.Orbit, or any function that lists tables like the given one, which comes first.

    Examples
    --------
    >>> import pairlearn as pl
    >>> rng = np.random.default_rng(0)
    >>> words = rng.normal(size=(4, 2, 6))[[0, 0, 1, 1, 2, 2, 3, 3]] + 0.1 * rng.normal(size=(8, 2, 6))
    >>> pairs = pl.all_pairs(words.reshape(8, 12), reflexive=False)
    >>> halves_swapped = lambda X: [X, np.roll(X, 6, axis=1)]
    >>> model = OnCopies(pl.PairSVC("metric"), halves_swapped).fit(pairs, pairs.labels([0, 0, 1, 1, 2, 2, 3, 3]))
    >>> len(pairs), model.n_pairs_, model.model_.fit_status_
    (28, 84, 'converged')
    """

    model_: Any
    n_pairs_: int

    def __init__(self, model: Any, orbit: Variants) -> None:
        self.model = model
        self.orbit = orbit

    def fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from pairs, their labels (None for machines that need none) and the copies of both.

        classes, one per example, are passed on to baselines that learn from classes; sample_weight, one per pair.
        """
        given = as_pairs(X).require_one_table(ONE_TABLE)
        pairs, (used,) = given.compacted()
        copies = Copies.of(pairs.examples, self.orbit)
        copied = copies.pairs(pairs)
        y = y.of(given) if isinstance(y, ClassLabels) else y
        labels = None if y is None else one_per_pair(y, len(pairs))
        known = None if classes is None else class_codes(classes, given.n_examples)[used]
        self.model_ = clone(self.model)
        prefix, last = _last_step(self.model_)
        more = _weights(last, copied, sample_weight) | _classes(last, copies, pairs, labels, known)
        named = {f"{prefix}{name}": value for name, value in more.items()}
        self.model_.fit(copied.pairs, None if labels is None else labels[copied.origins], **named)
        self.n_pairs_ = len(copied.pairs)
        note_features(self, given)
        return self

    @property
    def classes_(self) -> Any:
        """The labels that the model knows."""
        return self.model_.classes_

    def decision_function(self, X: Any) -> Floats:
        """The score of every pair as it is, (n_pairs,); `OrbitScorer` goes over variants."""
        check_is_fitted(self, "model_")
        return np.asarray(as_scorer(self.model_).decision_function(X))

    def predict(self, X: Any) -> Any:
        """What the model says of every pair."""
        check_is_fitted(self, "model_")
        return self.model_.predict(X)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """The score of every probe with every gallery example, (p, g)."""
        check_is_fitted(self, "model_")
        return score_all(self.model_, probe, gallery)


def _last_step(model: Any) -> tuple[str, Any]:
    """The model itself, or the last step of a pipeline and how its parameters are called there."""
    prefix = ""
    while is_pipeline(model):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    return prefix, model


def _weights(model: Any, copied: CopiedPairs, given: Any) -> dict[str, Any]:
    """The weight of every copy, for a model that takes weights.

    Baselines take none: all pairs but reflexive ones, which they leave out, have equally many copies.
    """
    if not has_fit_parameter(model, "sample_weight"):
        return {}
    if given is None:
        return {"sample_weight": copied.shares}
    weights, n_pairs = np.asarray(given, dtype=np.float64), int(copied.origins.max(initial=-1)) + 1
    if weights.shape != (n_pairs,):
        raise InputError(f"sample_weight must hold one weight per pair, {n_pairs}, got shape {weights.shape}")
    return {"sample_weight": copied.shares * weights[copied.origins]}


def _classes(model: Any, copies: Copies, pairs: Pairs, labels: Any, known: Ints | None) -> dict[str, Any]:
    """The class of every copy, if it is known or the model takes classes.

    Read off the copied pairs, an example without a positive one would be as many classes as it has copies.
    """
    if known is None and labels is not None and has_fit_parameter(model, "classes"):
        known = joined_classes(*pairs.columns, labels, pairs.n_examples)
    return {} if known is None else {"classes": known[copies.sources]}
