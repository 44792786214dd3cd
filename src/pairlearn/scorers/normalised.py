"""Scores in units of what others score: normalisation by a cohort.

Some examples score high with everyone (a noisy recording, a frequent kind of face), so one threshold does not fit all.
A cohort of other identities shows how an example scores with strangers; its scores are then counted in deviations from
that mean. Probes stand left, enrolled examples right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pairlearn.errors import InputError, SymmetryError
from pairlearn.examples import check_examples, check_sides, count_examples, take_examples
from pairlearn.features import same_features
from pairlearn.pairs import all_pairs, as_pairs
from pairlearn.scorers.scorer import as_scorer, in_parts, score_all
from pairlearn.types import Examples, Floats
from pairlearn.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Mean and deviation of the cohort's scores with each example, (n_examples,)."""

    mean: Floats
    deviation: Floats

    def __getitem__(self, key: Any) -> Moments:
        return Moments(self.mean[key], self.deviation[key])

    def normalise(self, values: Floats) -> Floats:
        """(values − mean)/deviation."""
        return (values - self.mean) / self.deviation


@dataclass(frozen=True, eq=False, repr=False)
class NormalisedScorer:
    """A model's scores g(a, b) in units of what a cohort of other identities scores with a or b.

    z(a, b) = (g − μ_b)/σ_b, t(a, b) = (g − μ_a)/σ_a, s = (z + t)/2; μ_x, σ_x: mean and deviation of the `top` highest
    scores of x with the cohort (None: of all). "s" needs a symmetric model and is symmetric to the last bit; "t" over
    "z" is ZT-norm: NormalisedScorer(NormalisedScorer(model, cohort, "z"), cohort, "t"). Nobody tested is in the cohort.

    >>> import pairlearn as pl
    >>> scorer = NormalisedScorer(pl.EuclidBaseline(), np.array([[0.0], [2.0]]), method="t")
    >>> scorer.decision_function(pl.Pairs(np.array([[5.0], [6.0]]), [0], [1])).tolist()
    [3.0]
    """

    model: Any
    cohort: Examples
    method: Literal["z", "t", "s"] = "s"
    top: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cohort", check_examples(same_features(self.model, self.cohort), "cohort"))
        as_scorer(self.model)
        n = count_examples(self.cohort)
        if self.method not in ("z", "t", "s"):
            raise InputError(f'method must be "z", "t" or "s", got {self.method!r}')
        if n < 2:
            raise InputError(f"the cohort has {n} of the at least 2 examples that a deviation needs; give some hundred")
        if self.top is not None and not 2 <= self.top <= n:
            raise InputError(f"top must be from 2 to the size of the cohort, {n}, got {self.top}; try {max(2, n // 4)}")
        if self.method == "s":
            _check_symmetric(self.model, take_examples(self.cohort, np.arange(min(n, 8))))

    def __repr__(self) -> str:
        cohort = f"cohort of {counted(count_examples(self.cohort), 'example')}"
        return f"NormalisedScorer({self.model!r}, {cohort}, method={self.method!r}, top={self.top!r})"

    @property
    def feature_names_in_(self) -> Any:
        """The columns that the model was fitted on, where it knows them."""
        return self.model.feature_names_in_

    def decision_function(self, X: Any) -> Floats:
        """Normalised score of every pair, (n_pairs,)."""
        pairs = as_pairs(X).require_one_table(
            "a cohort belongs to one table of examples; pairs of two tables cannot be normalised"
        )
        # One table for both sides, so that a swapped pair meets the same moments to the last bit.
        compact = pairs.compacted().pairs
        values = np.asarray(self.model.decision_function(pairs), dtype=np.float64)
        return self._normalised(values, compact.examples, compact.left, compact.examples, compact.right)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Normalised score of every probe with every gallery example, (p, g)."""
        probe, gallery = check_sides(self.model, probe, gallery)
        values = score_all(self.model, probe, gallery)
        if self.method == "s":  # by matrix products g(a, b) and g(b, a) may differ in the last bit
            values = 0.5 * (values + score_all(self.model, gallery, probe).T)
        return self._normalised(values, probe, np.s_[:, None], gallery, np.s_[None, :])

    def _normalised(self, values: Floats, probe: Examples, left: Any, gallery: Examples, right: Any) -> Floats:
        """Values of the examples probe[left] with gallery[right], normalised."""
        if self.method == "t":
            return self._as_probe(probe)[left].normalise(values)
        if self.method == "z":
            return self._as_enrolled(gallery)[right].normalise(values)
        one = self._as_probe(probe)
        other = one if gallery is probe else self._as_probe(gallery)
        return 0.5 * (one[left].normalise(values) + other[right].normalise(values))

    def _as_probe(self, examples: Examples) -> Moments:
        return self._moments(score_all(self.model, part, self.cohort) for part in in_parts(examples, self.cohort))

    def _as_enrolled(self, examples: Examples) -> Moments:
        return self._moments(score_all(self.model, self.cohort, part).T for part in in_parts(examples, self.cohort))

    def _moments(self, blocks: Iterator[Floats]) -> Moments:
        """Mean and deviation of the highest scores in each row of the blocks.

        The highest only (`top`): strangers who are nothing like an example tell little of those it may be taken for.
        """
        moments = []
        for block in blocks:
            scores = np.ascontiguousarray(block)
            if self.top is not None:
                scores = np.partition(scores, -self.top, axis=1)[:, -self.top :]
            deviation = scores.std(axis=1)
            if np.any(deviation <= 1e-12 * np.abs(scores).max(axis=1)):
                raise InputError("an example scores the same with the whole cohort; drop it, or give a varied cohort")
            moments.append((scores.mean(axis=1), deviation))
        mean, deviation = (np.concatenate(column) for column in zip(*moments, strict=True))
        return Moments(mean, deviation)


def _check_symmetric(model: Any, examples: Examples) -> None:
    pairs = all_pairs(examples, reflexive=False)
    values, mirrored = model.decision_function(pairs), model.decision_function(pairs.swapped())
    if not np.allclose(values, mirrored, rtol=1e-6, atol=1e-6 * np.abs(values).max()):
        raise SymmetryError('S-norm needs g(a, b) = g(b, a), but this model is not symmetric; use method="z" or "t"')
