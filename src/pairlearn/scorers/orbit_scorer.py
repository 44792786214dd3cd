"""Scores over variants of both examples of a pair: their mean, or the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import check_sides, stack_examples
from pairlearn.features import same_features
from pairlearn.pairs import as_pairs
from pairlearn.scorers.copies import ONE_TABLE, Variants, variants_of
from pairlearn.scorers.scorer import as_scorer, score_all
from pairlearn.types import Floats

Together = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class OrbitScorer:
    """A model's scores over variants a_i, b_j of the two examples: their mean, or their maximum.

    moved="one": over g(a, b) and all g(a_i, b), g(a, b_i), for v variants 2v − 1 scores per pair; "both": over all
    g(a_i, b_j), v² of them. As symmetric as the model, to the last bit, for the scores of (i, j) and (j, i) are put
    together first; how="max" of an antisymmetric model means nothing. The model takes what the orbit varies: images,
    for one that has `Hog` in its pipeline.

    orbit: a pl.images.Orbit, which is saved with the model, or any function that lists tables like the given one, which
    comes first; a function is not saved.

    >>> import pairlearn as pl
    >>> scorer = OrbitScorer(pl.EuclidBaseline(), lambda X: [X, -X], how="max")
    >>> scorer.decision_function(pl.Pairs(np.array([[3.0], [-2.0]]), [0], [1])).tolist()
    [-1.0]
    """

    model: Any
    orbit: Variants
    how: Literal["mean", "max"] = "mean"
    moved: Literal["one", "both"] = "one"

    def __post_init__(self) -> None:
        as_scorer(self.model)
        if not callable(self.orbit):
            raise InputError(f"orbit is a pl.images.Orbit or a function of examples, got {self.orbit!r}")
        if self.how not in ("mean", "max") or self.moved not in ("one", "both"):
            raise InputError(
                f'how is "mean" or "max" and moved is "one" or "both", got {self.how!r} and {self.moved!r}'
            )

    @property
    def feature_names_in_(self) -> Any:
        """The columns that the model was fitted on, where it knows them."""
        return self.model.feature_names_in_

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair over the variants of its examples, (n_pairs,)."""
        pairs = same_features(self.model, as_pairs(X).require_one_table(ONE_TABLE)).compacted().pairs
        tables, (left, right), m = variants_of(pairs.examples, self.orbit), pairs.columns, pairs.n_examples

        def scores(i: int, j: int) -> tuple[Floats, Floats]:
            if i == j:
                values = np.asarray(self.model.decision_function(pairs.with_examples(tables[i])), dtype=np.float64)
                return values, values
            # Both in one call over one table: swapped pairs then meet the same numbers to the last bit.
            table, columns = stack_examples(tables[i], tables[j]), ([left, left + m], [right + m, right])
            crossed = pairs.followed_by(pairs).between(table, *map(np.concatenate, columns))
            first, second = np.split(np.asarray(self.model.decision_function(crossed), dtype=np.float64), 2)
            return first, second

        return self._over(len(tables), scores)

    def score_block(self, probe: Any, gallery: Any) -> Floats:
        """Score of every probe with every gallery example over the variants of both, (p, g)."""
        probe, gallery = check_sides(self.model, probe, gallery)
        probes, enrolled = variants_of(probe, self.orbit), variants_of(gallery, self.orbit)

        def scores(i: int, j: int) -> tuple[Floats, Floats]:
            first = score_all(self.model, probes[i], enrolled[j])
            return first, first if i == j else score_all(self.model, probes[j], enrolled[i])

        return self._over(len(probes), scores)

    def _over(self, n: int, scores: Callable[[int, int], tuple[Floats, Floats]]) -> Floats:
        """Mean or maximum over the variants, given g(a_i, b_j) and g(a_j, b_i)."""
        mean = self.how == "mean"
        together: Together = np.add if mean else np.maximum
        total, count = None, 0
        for i, j in self._places(n):
            first, second = scores(i, j)
            found = first if i == j else together(first, second)
            total, count = found if total is None else together(total, found), count + (1 if i == j else 2)
        assert total is not None
        return total / count if mean else total

    def _places(self, n: int) -> Iterator[tuple[int, int]]:
        """The variants i ≤ j that meet."""
        yield 0, 0
        for i in range(0, n if self.moved == "both" else 1):
            yield from ((i, j) for j in range(max(i, 1), n))
