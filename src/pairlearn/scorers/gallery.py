"""Comparing with many: a gallery of enrolled identities.

Probes stand left, enrolled examples right. A model has `decision_function(pairs)`, better `score_block` too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, stack_examples, take_examples, take_used
from pairlearn.features import same_features
from pairlearn.kernels import Linear
from pairlearn.scorers.scorer import BLOCK, as_scorer, in_parts, score_all
from pairlearn.types import Bools, Examples, Floats, Ints
from pairlearn.words import counted

POOLINGS = {"examples": ("mean", "direction"), "scores": ("mean", "max")}
"""What may be pooled, and how."""
TILE = 2**14
"""Examples of the gallery that many probes are compared with at once."""
WHOLE = re.compile(r"(0|-?[1-9][0-9]*)\.0+")
"""A whole number that was written as one with a fraction, as by pandas in a column with gaps."""
WIDEST = {"i": np.int64, "u": np.uint64, "f": np.float64}
"""The type that numbers of this kind fit into."""


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
        object.__setattr__(self, "identities", _checked(self.identities, count_examples(self.examples)))
        as_scorer(self.model)
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
        return (self._pooled(score_all(self.model, part, self.compared)) for part in in_parts(probes, self.compared))

    def score(self, probes: Examples) -> Floats:
        """Score of every probe with every identity, (p, n_identities), in the order of `names`."""
        return np.concatenate(list(self.blocks(probes)))

    def identify(self, probes: Examples, top: int = 1) -> Matches:
        """The `top` identities of every probe; equal scores in the order of `names`."""
        if not 1 <= top <= len(self.names):
            raise InputError(f"top must be from 1 to the number of identities, {len(self.names)}, got {top}")
        probes = check_examples(same_features(self.model, probes), "probes")
        n, step = count_examples(probes), max(1, BLOCK // TILE)
        parts = (take_examples(probes, np.arange(first, min(n, first + step))) for first in range(0, max(n, 1), step))
        found = [self._best_of_tiles(part, top) for part in parts]
        columns, scores = (np.concatenate(column) for column in zip(*found, strict=True))
        return Matches(self.names[columns], scores)

    def _best_of_tiles(self, probes: Examples, top: int) -> tuple[Ints, Floats]:
        """Identities by number and their scores, (p, top), some of the gallery after the other.

        What a model computes of the gallery alone is then shared by as many probes as there are columns in a tile.
        """
        best: list[tuple[Ints, Floats]] = []
        for first, last in self._tiles:
            rows = np.arange(self.starts[first], self.starts[last])
            block = self._pooled(score_all(self.model, probes, take_used(self.compared, rows)), first, last)
            best.append((np.broadcast_to(np.arange(first, last), block.shape), block))
            columns, scores = (np.hstack(side) for side in zip(*best, strict=True))
            order = largest_columns(scores, min(top, scores.shape[1]))
            best = [(np.take_along_axis(columns, order, axis=1), np.take_along_axis(scores, order, axis=1))]
        return best[0]

    @property
    def _tiles(self) -> Iterator[tuple[int, int]]:
        """Identities first … last − 1 with about TILE examples together, in their order."""
        first, n = 0, len(self.names)
        while first < n:
            last = int(np.searchsorted(self.starts, self.starts[first] + TILE, side="right")) - 1
            first, before = max(last, first + 1), first
            yield before, first

    def ranks(self, probes: Examples, identities: Any) -> Ints:
        """Rank of the true identity of every probe, (p,), 1 = best, behind equals; mean(ranks <= k): rate at rank k."""
        codes = self.places(identities)
        if codes.shape != (count_examples(probes),) or (codes < 0).any():
            raise InputError("give one enrolled identity per probe; drop probes of identities that are not enrolled")
        found, first = [], 0
        for block in self.blocks(probes):
            found.append(ranks_in(block, codes[first : first + len(block)]))
            first += len(block)
        return np.concatenate(found)

    def places(self, identities: Any) -> Ints:
        """The place of each of these among `names`, −1 where it is not enrolled.

        Numbers are found by their text as well, which is what a file has of them, and whole ones with a fraction of
        zeros too, as "12.0", unless several identities could be meant; who is written just so comes first.

        >>> import pairlearn as pl
        >>> Gallery(pl.EuclidBaseline(), np.eye(3), [7, 12, 101]).places(["101", "12.0", "8"]).tolist()
        [2, 1, -1]
        """
        names, asked = self.names, np.asarray(identities)
        one = asked.ravel()
        if names.dtype.kind == one.dtype.kind and one.dtype.kind in "biufmM":
            return _only(names, one).reshape(asked.shape)
        lacking, names, one = _lacking(one), _as_text(names), _as_text(one)
        found = _only(names, one)
        rest = np.flatnonzero(found < 0)
        if _pointed(names).any() or _pointed(one[rest]).any():
            found[rest] = _only(_plain(names), _plain(one[rest]))
        found[lacking] = -1
        return found.reshape(asked.shape)

    def best(self, scores: Floats, top: int) -> Matches:
        """The `top` identities of every row of a block of scores."""
        columns = largest_columns(scores, top)
        return Matches(self.names[columns], np.take_along_axis(scores, columns, axis=1))

    def joined(self, examples: Examples, identities: Any) -> Gallery:
        """The gallery with more examples, of new identities or of those that it has."""
        more = replace(self, examples=examples, identities=identities)
        shapes = (getattr(table, "shape", (0,))[1:] for table in (self.examples, more.examples))
        if len(set(shapes)) > 1 or type(self.examples) is not type(more.examples):
            raise InputError("these examples are not like those of the gallery; pass rows with the same features")
        names = _as_kind(more.identities, self.identities.dtype)
        both = (np.concatenate([self.identities, names]), stack_examples(self.examples, more.examples))
        return replace(self, identities=both[0], examples=both[1])

    def without(self, identities: Any) -> Gallery:
        """The gallery without these identities and all of their examples."""
        gone = self.places(identities)
        if (gone < 0).any():
            raise InputError(f"{np.asarray(identities)[gone < 0].ravel()[0]} is not enrolled; `names` lists who is")
        kept = np.flatnonzero(~np.isin(self.identities, self.names[gone]))
        if not len(kept):
            raise InputError("nobody would be left in the gallery; make a new one instead")
        return replace(self, examples=take_examples(self.examples, kept), identities=self.identities[kept])

    # -- what is compared

    @cached_property
    def sizes(self) -> Ints:
        """Examples of each identity, (n_identities,)."""
        return np.unique_counts(self.identities).counts

    @cached_property
    def starts(self) -> Ints:
        """Where the examples of each identity begin in `compared`, and the end, (n_identities + 1,)."""
        rows = self.sizes if self.pool == "scores" else np.ones(len(self.names), dtype=np.int64)
        return np.concatenate([[0], np.cumsum(rows)])

    @cached_property
    def compared(self) -> Examples:
        """What probes are compared with: all examples, those of an identity side by side, or one mean each."""
        codes, every = np.searchsorted(self.names, self.identities), np.arange(len(self.identities))
        if self.pool == "scores":
            order = np.argsort(codes, kind="stable")
            return self.examples if np.array_equal(order, every) else take_examples(self.examples, order)
        lengths = np.sqrt(Linear().diag(self.examples)) if self.how == "direction" else np.ones(len(every))
        weights = np.divide(1.0, lengths * self.sizes[codes], out=np.zeros(len(every)), where=lengths > 0)
        return sparse.csr_array((weights, (codes, every)), shape=(len(self.names), len(every))) @ self.examples

    def _pooled(self, block: Floats, first: int = 0, last: int | None = None) -> Floats:
        """Scores of the identities first … last − 1 from those of their examples."""
        starts = self.starts[first : None if last is None else last + 1]
        return self.pooled(block, starts[:-1] - starts[0])

    def pooled(self, scores: Floats, starts: Ints) -> Floats:
        """Scores with identities whose examples begin at these columns."""
        if len(starts) == scores.shape[-1]:
            return scores
        if self.how == "max":
            return np.maximum.reduceat(scores, starts, axis=-1)
        return np.add.reduceat(scores, starts, axis=-1) / np.diff(starts, append=scores.shape[-1])


# --------------------------------------------------------------------------- identities


def _checked(identities: Any, n: int) -> np.ndarray[Any, Any]:
    """One identity per example that can be told from others, or what is wrong with them."""
    names = np.asarray(identities)
    if names.shape != (n,) or n == 0:
        raise InputError(f"give one identity per example, {n} > 0, got shape {names.shape}")
    # NumPy makes text of a NaN beside text, so that it must be looked for before.
    lacking = _lacking(identities if names.dtype.kind == "U" and isinstance(identities, (list, tuple)) else names)
    if lacking.any():
        row = int(lacking.argmax())
        raise InputError(f"the identity of example {row} is missing ({names[row]}); name it or leave the example out")
    if names.dtype.kind == "O":
        try:
            np.unique(names)
        except TypeError as error:
            kinds = ", ".join(sorted({type(name).__name__ for name in names}))
            raise InputError(
                f"identities of different or unordered types ({kinds}) cannot be sorted; pass all of them as text: "
                "[str(name) for name in identities]"
            ) from error
    return names


def _lacking(identities: Any) -> Bools:
    """Which of these are no identity: None, NaN and the like."""
    if isinstance(identities, np.ndarray) and identities.dtype.kind != "O":
        return np.asarray(np.not_equal(identities, identities))
    return np.array([_is_lacking(value) for value in identities], dtype=bool)


def _is_lacking(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be true or false
        return True


def _only(names: np.ndarray[Any, Any], asked: np.ndarray[Any, Any]) -> Ints:
    """The place of each of these among some names, −1 where there is none or more than one."""
    order = np.argsort(names, kind="stable")
    first, last = (np.searchsorted(names, asked, side=side, sorter=order) for side in ("left", "right"))
    return np.where(last - first == 1, order[np.minimum(first, len(names) - 1)], -1)


def _as_text(identities: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Names or numbers as text; whole numbers without a point, whatever holds them."""
    text = identities.astype(str)
    if identities.dtype.kind == "f":
        whole = (identities == np.rint(identities)) & (np.abs(identities) < 2.0**63)
        text[whole] = identities[whole].astype(np.int64).astype(str)
    return text


def _pointed(texts: np.ndarray[Any, Any]) -> Bools:
    """Which of these may be whole numbers with a fraction of zeros."""
    return np.asarray((np.strings.find(texts, ".") >= 0) & np.strings.endswith(texts, "0"))


def _plain(texts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same with whole numbers without a point.

    >>> _plain(np.array(["6.0", "06.0", "6.5", "-12.00", "v1.0"])).tolist()
    ['6', '06.0', '6.5', '-12', 'v1.0']
    """
    plain = texts.copy()
    for place in np.flatnonzero(_pointed(texts)):
        number = WHOLE.fullmatch(str(texts[place]))
        plain[place] = texts[place] if number is None else number[1]
    return plain


def _as_kind(identities: np.ndarray[Any, Any], known: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """More identities in the kind of those that are known: 5.0 where these are integers, but not "5"."""
    kinds = {identities.dtype.kind, known.kind}
    if len(kinds) == 1:
        return identities
    if kinds <= set(WIDEST):
        with np.errstate(invalid="ignore"):
            numbers = identities.astype(WIDEST[known.kind])
        if (_as_text(numbers) == _as_text(identities)).all():
            return numbers
    # As one array, 7 and "7" would be the same.
    raise InputError(f"identities are {known}, these are {identities.dtype}; pass the same")


# --------------------------------------------------------------------------- scores


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
