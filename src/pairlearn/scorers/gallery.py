"""Comparing with many: a gallery of enrolled identities.

Probes stand left, enrolled examples right. A model has `decision_function(pairs)`, better `score_block` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.features import same_features
from pairlearn.kernels import Linear
from pairlearn.scorers.scorer import as_scorer, in_parts, score_all
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

POOLINGS = {"examples": ("mean", "direction"), "scores": ("mean", "max")}
"""What may be pooled, and how."""


class Matches(NamedTuple):
    """The best identities of each probe, best first: identities and scores, (p, top)."""

    identities: np.ndarray[Any, Any]
    scores: Floats


@dataclass(frozen=True, eq=False, repr=False)
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
        object.__setattr__(self, "examples", check_examples(same_features(self.model, self.examples)))
        object.__setattr__(self, "identities", np.asarray(self.identities))
        as_scorer(self.model)
        n = count_examples(self.examples)
        if self.identities.shape != (n,) or n == 0:
            raise InputError(f"give one identity per example, {n} > 0, got shape {self.identities.shape}")
        if self.how not in POOLINGS.get(self.pool, ()):
            raise InputError(f"pool={self.pool!r} with how={self.how!r} is unknown; choose from {POOLINGS}")
        if self.pool == "examples" and not (sparse.issparse(self.examples) or isinstance(self.examples, np.ndarray)):
            raise InputError('these examples have no mean; use pool="scores"')

    def __repr__(self) -> str:
        enrolled = f"{counted(len(self.identities), 'example')} of {counted(len(self.names), 'identity')}"
        return f"Gallery({self.model!r}, {enrolled}, pool={self.pool!r}, how={self.how!r})"

    @cached_property
    def names(self) -> np.ndarray[Any, Any]:
        """The enrolled identities in rising order, (n_identities,)."""
        return np.unique(self.identities)

    def blocks(self, probes: Examples) -> Iterator[Floats]:
        """Scores of some probes after the other, (p', n_identities) each: many probes never need memory for all."""
        probes = check_examples(same_features(self.model, probes), "probes")
        return (self._pooled(score_all(self.model, part, self._enrolled)) for part in in_parts(probes, self._enrolled))

    def score(self, probes: Examples) -> Floats:
        """Score of every probe with every identity, (p, n_identities), in the order of `names`."""
        return np.concatenate(list(self.blocks(probes)))

    def identify(self, probes: Examples, top: int = 1) -> Matches:
        """The `top` identities of every probe; equal scores in the order of `names`."""
        if not 1 <= top <= len(self.names):
            raise InputError(f"top must be from 1 to the number of identities, {len(self.names)}, got {top}")
        found = [self.best(block, top) for block in self.blocks(probes)]
        return Matches(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def ranks(self, probes: Examples, identities: Any) -> Ints:
        """Rank of the true identity of every probe, (p,), 1 = best, behind equals; mean(ranks <= k): rate at rank k."""
        truth = np.asarray(identities)
        if truth.shape != (count_examples(probes),) or not np.isin(truth, self.names).all():
            raise InputError("give one enrolled identity per probe; drop probes of identities that are not enrolled")
        codes, found, first = np.searchsorted(self.names, truth), [], 0
        for block in self.blocks(probes):
            found.append(ranks_in(block, codes[first : first + len(block)]))
            first += len(block)
        return np.concatenate(found)

    def best(self, scores: Floats, top: int) -> Matches:
        """The `top` identities of every row of a block of scores."""
        columns = largest_columns(scores, top)
        return Matches(self.names[columns], np.take_along_axis(scores, columns, axis=1))

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


def largest_columns(scores: Floats, top: int) -> Ints:
    """Columns of the `top` largest scores of each row, largest first, equals in their order, (p, top).

    Only these are sorted: the smallest of them is found by a partition, and of its equals the first ones are taken.

    >>> largest_columns(np.array([[1.0, 3.0, 2.0, 3.0, 2.0]]), 3).tolist()
    [[1, 3, 2]]
    """
    place = scores.shape[1] - top
    least = np.partition(scores, place, axis=1)[:, place, None]
    above, equal = scores > least, scores == least
    room = top - above.sum(axis=1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= room))
    columns = np.nonzero(chosen)[1].reshape(-1, top)
    order = np.argsort(-np.take_along_axis(scores, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def ranks_in(scores: Floats, truth: Ints) -> Ints:
    """Rank of the column `truth` in each row, 1 = largest, behind equals, (p,).

    >>> ranks_in(np.array([[1.0, 3.0, 3.0]]), np.array([1])).tolist()
    [2]
    """
    return np.asarray(np.sum(scores >= scores[np.arange(len(truth)), truth][:, None], axis=1))
