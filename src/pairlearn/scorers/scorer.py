"""What a scorer is, and the score of everyone with everyone by any of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import check_sides, count_examples, stack_examples, take_examples
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats

BLOCK = 2**24
"""Scores that are held at a time beside the result."""


@runtime_checkable
class Scorer(Protocol):
    """Gives every pair a score, larger = more alike: machines, baselines, metrics, and what stands on them."""

    def decision_function(self, X: Any) -> Any:
        """Score of every pair, (n_pairs,)."""


@runtime_checkable
class BlockScorer(Scorer, Protocol):
    """A scorer that compares two whole tables at once, by matrix products."""

    def score_block(self, probe: Examples, gallery: Examples) -> Any:
        """Score of every probe with every gallery example, (p, g)."""


def as_scorer(model: Any) -> Scorer:
    """The model, if it gives scores."""
    # Asked of the object: every pipeline has the method in its class, but only some last steps have it too.
    if not callable(getattr(model, "decision_function", None)):
        raise InputError(f"a {type(model).__name__} gives no scores; pass a fitted model with decision_function")
    scorer: Scorer = model
    return scorer


def score_all(model: Any, probe: Examples, gallery: Examples) -> Floats:
    """Score of every probe (left) with every gallery example (right), (p, g), by any model with decision_function.

    >>> import pairlearn as pl
    >>> score_all(pl.EuclidBaseline(), np.array([[0.0], [1.0]]), np.array([[3.0]])).tolist()
    [[-3.0], [-2.0]]
    """
    if isinstance(model, BlockScorer):
        return np.asarray(model.score_block(probe, gallery), dtype=np.float64)
    probe, gallery = check_sides(model, probe, gallery)
    p, g = count_examples(probe), count_examples(gallery)
    pairs = Pairs(stack_examples(probe, gallery), np.repeat(np.arange(p), g), np.tile(np.arange(p, p + g), p))
    return np.asarray(model.decision_function(pairs), dtype=np.float64).reshape(p, g)


def in_parts(examples: Examples, others: Examples) -> Iterator[Examples]:
    """The examples, so many at a time that their scores with all others fit into a block."""
    n, step = count_examples(examples), max(1, BLOCK // count_examples(others))
    return (take_examples(examples, np.arange(first, min(n, first + step))) for first in range(0, max(n, 1), step))
