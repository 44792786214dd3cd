"""Comparing with many: scores normalised by a cohort, and a gallery of enrolled identities.

Probes stand left, enrolled examples right. A model has `decision_function(pairs)`, better `score_block` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError, SymmetryError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.kernels import Linear
from pairlearn.pairs import Pairs, all_pairs, as_pairs
from pairlearn.types import Examples, Floats, Ints

POOLINGS = {"examples": ("mean", "direction"), "scores": ("mean", "max")}
BLOCK = 2**22  # scores that are held at a time beside the result


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and deviation of the cohort's scores with each example, (n_examples,)."""

    mean: Floats
    deviation: Floats

    def __getitem__(self, key: Any) -> Moments:
        return Moments(self.mean[key], self.deviation[key])

    def normalise(self, values: Floats) -> Floats:
        """(values − mean)/deviation."""
        return (values - self.mean) / self.deviation


@dataclass(frozen=True, eq=False)
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
        object.__setattr__(self, "cohort", check_examples(self.cohort, "cohort"))
        _check_model(self.model)
        n = count_examples(self.cohort)
        if self.method not in ("z", "t", "s"):
            raise InputError(f'method must be "z", "t" or "s", got {self.method!r}')
        if n < 2:
            raise InputError(f"a cohort of {n} examples has no deviation; give at least 2, better some hundred")
        if self.top is not None and not 2 <= self.top <= n:
            raise InputError(f"top must be from 2 to the size of the cohort, {n}, got {self.top}; try {max(2, n // 4)}")
        if self.method == "s":
            _check_symmetric(self.model, take_examples(self.cohort, np.arange(min(n, 8))))

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
        probe, gallery = check_examples(probe, "probe"), check_examples(gallery, "gallery")
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
        """Mean and deviation of the highest scores in each row of the blocks."""
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


class Matches(NamedTuple):
    """The best identities of each probe, best first: identities and scores, (p, top)."""

    identities: np.ndarray[Any, Any]
    scores: Floats


@dataclass(frozen=True, eq=False)
class Gallery:
    """Enrolled identities with one or more examples each, for 1:N search; n examples, one identity per example.

    pool="scores": the score of an identity is the "mean" or "max" of the scores of its examples. pool="examples": an
    identity is the "mean" of its examples, or of their directions x/‖x‖ with how="direction" (for cosine and its
    like), which is quicker by the number of examples per identity.

    >>> import pairlearn as pl
    >>> gallery = Gallery(pl.EuclidBaseline(), np.array([[0.0], [2.0], [9.0]]), ["ann", "ann", "bob"])
    >>> gallery.score(np.array([[4.0]])).tolist()
    [[-3.0, -5.0]]
    >>> gallery.identify(np.array([[4.0], [8.0]])).identities.tolist()
    [['ann'], ['bob']]
    """

    model: Any
    examples: Examples
    identities: Any
    pool: Literal["examples", "scores"] = "scores"
    how: Literal["mean", "max", "direction"] = "mean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "examples", check_examples(self.examples))
        object.__setattr__(self, "identities", np.asarray(self.identities))
        _check_model(self.model)
        n = count_examples(self.examples)
        if self.identities.shape != (n,) or n == 0:
            raise InputError(f"give one identity per example, {n} > 0, got shape {self.identities.shape}")
        if self.how not in POOLINGS.get(self.pool, ()):
            raise InputError(f"pool={self.pool!r} with how={self.how!r} is unknown; choose from {POOLINGS}")
        if self.pool == "examples" and not (sparse.issparse(self.examples) or isinstance(self.examples, np.ndarray)):
            raise InputError('these examples have no mean; use pool="scores"')

    @cached_property
    def names(self) -> np.ndarray[Any, Any]:
        """The enrolled identities in rising order, (n_identities,)."""
        return np.unique(self.identities)

    def score(self, probes: Examples) -> Floats:
        """Score of every probe with every identity, (p, n_identities), in the order of `names`."""
        probes = check_examples(probes, "probes")
        blocks = (score_all(self.model, part, self._enrolled) for part in in_parts(probes, self._enrolled))
        return np.concatenate([self._pooled(block) for block in blocks])

    def identify(self, probes: Examples, top: int = 1) -> Matches:
        """The `top` identities of every probe; equal scores in the order of `names`."""
        if not 1 <= top <= len(self.names):
            raise InputError(f"top must be from 1 to the number of identities, {len(self.names)}, got {top}")
        scores = self.score(probes)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
        return Matches(self.names[best], np.take_along_axis(scores, best, axis=1))

    def ranks(self, probes: Examples, identities: Any) -> Ints:
        """Rank of the true identity of every probe, (p,), 1 = best, behind equals; mean(ranks <= k): rate at rank k."""
        truth = np.asarray(identities)
        if truth.shape != (count_examples(probes),) or not np.isin(truth, self.names).all():
            raise InputError("give one enrolled identity per probe; drop probes of identities that are not enrolled")
        scores = self.score(probes)
        own = scores[np.arange(len(truth)), np.searchsorted(self.names, truth)]
        return np.asarray(np.sum(scores >= own[:, None], axis=1))

    @cached_property
    def _sizes(self) -> Ints:
        return np.unique_counts(self.identities).counts

    @cached_property
    def _enrolled(self) -> Examples:
        """All examples, those of an identity side by side, or one mean example per identity."""
        codes, every = np.searchsorted(self.names, self.identities), np.arange(len(self.identities))
        if self.pool == "scores":
            return take_examples(self.examples, np.argsort(codes, kind="stable"))
        lengths = np.sqrt(Linear().diag(self.examples)) if self.how == "direction" else np.ones(len(every))
        weights = np.divide(1.0, lengths * self._sizes[codes], out=np.zeros(len(every)), where=lengths > 0)
        return sparse.csr_array((weights, (codes, every)), shape=(len(self.names), len(every))) @ self.examples

    def _pooled(self, block: Floats) -> Floats:
        if self.pool == "examples":
            return block
        starts = np.cumsum(self._sizes) - self._sizes
        if self.how == "max":
            return np.maximum.reduceat(block, starts, axis=1)
        return np.add.reduceat(block, starts, axis=1) / self._sizes


def score_all(model: Any, probe: Examples, gallery: Examples) -> Floats:
    """Score of every probe (left) with every gallery example (right), (p, g), by any model with decision_function.

    >>> import pairlearn as pl
    >>> score_all(pl.EuclidBaseline(), np.array([[0.0], [1.0]]), np.array([[3.0]])).tolist()
    [[-3.0], [-2.0]]
    """
    if hasattr(model, "score_block"):
        return np.asarray(model.score_block(probe, gallery), dtype=np.float64)
    p, g = count_examples(probe), count_examples(gallery)
    join = np.concatenate if isinstance(probe, np.ndarray) else sparse.vstack if sparse.issparse(probe) else _listed
    pairs = Pairs(join([probe, gallery]), np.repeat(np.arange(p), g), np.tile(np.arange(p, p + g), p))
    return np.asarray(model.decision_function(pairs), dtype=np.float64).reshape(p, g)


def in_parts(examples: Examples, others: Examples) -> Iterator[Examples]:
    """The examples, so many at a time that their scores with all others fit into a block."""
    n, step = count_examples(examples), max(1, BLOCK // count_examples(others))
    return (take_examples(examples, np.arange(first, min(n, first + step))) for first in range(0, max(n, 1), step))


def _listed(tables: Any) -> list[Any]:
    return [example for table in tables for example in table]


def _check_model(model: Any) -> None:
    if not hasattr(model, "decision_function"):
        raise InputError(f"a {type(model).__name__} gives no scores; pass a fitted model with decision_function")


def _check_symmetric(model: Any, examples: Examples) -> None:
    pairs = all_pairs(examples, reflexive=False)
    values, mirrored = model.decision_function(pairs), model.decision_function(pairs.swapped())
    if not np.allclose(values, mirrored, rtol=1e-6, atol=1e-6 * np.abs(values).max()):
        raise SymmetryError('S-norm needs g(a, b) = g(b, a), but this model is not symmetric; use method="z" or "t"')
