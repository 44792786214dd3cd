"""Texts as sparse rows of weighted terms: hashed words and character n-grams, their rarity learnt from tables.

The weight of term t in a row is (1 + log count)·idf_t, idf_t = log((1 + n)/(1 + n_t)) + 1 with n_t of n rows that hold
t. Rows have length one, so that their dot product is a cosine. Only numbers of terms are kept, never the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.types import Floats, Ints

Analyzer = Literal["grams", "words"]
LOW, HIGH = 2, 4
"""Lengths of character n-grams."""
TERMS = 2**18
"""How many terms are told apart; the loops have the same number."""
BLOCK = 20_000
"""Texts that are cut into terms at once."""


class Rows(NamedTuple):
    """Sparse rows with sorted terms: row i has the terms indices[indptr[i] … indptr[i + 1]] with these weights."""

    indptr: Ints
    indices: Ints
    data: Floats

    def matrix(self) -> sparse.csr_array:
        """The same for SciPy, (n, TERMS)."""
        return sparse.csr_array((self.data, self.indices, self.indptr), shape=(len(self.indptr) - 1, TERMS))


@dataclass(frozen=True, eq=False)
class Terms:
    """How texts become rows: words or n-grams, and in how many of n_rows texts each known term occurs.

    >>> terms = Terms.learn("words", ["red ale", "pale ale"])
    >>> rows = terms.rows(["red ale", "ale"])
    >>> np.diff(rows.indptr).tolist(), bool(terms.idf.max() > 1.0)
    ([2, 1], True)
    """

    analyzer: Analyzer
    known: Ints
    counts: Ints
    n_rows: int

    @classmethod
    def learn(cls, analyzer: Analyzer, texts: Sequence[str]) -> Terms:
        """Count the terms of these texts."""
        counts = np.bincount(counted_rows(analyzer, texts).indices, minlength=TERMS)
        known = np.flatnonzero(counts)
        return cls(analyzer, known, counts[known], len(texts))

    @cached_property
    def idf(self) -> Floats:
        """Rarity of every term, (TERMS,), float32; terms that never occurred are the rarest."""
        seen = np.zeros(TERMS)
        seen[self.known] = self.counts
        return (np.log((1.0 + self.n_rows) / (1.0 + seen)) + 1.0).astype(np.float32)

    def rows(self, texts: Sequence[str]) -> Rows:
        """Weighted rows of length one; an empty text has an empty row."""
        indptr, indices, counts = counted_rows(self.analyzer, texts)
        data = (1.0 + np.log(counts)) * self.idf[indices]
        sums = np.add.reduceat(np.append(data**2, np.float32(0.0)), indptr[:-1], dtype=np.float64)
        sums *= np.diff(indptr) > 0
        norms = np.sqrt(np.maximum(sums, 1e-12))
        return Rows(indptr, indices, (data / np.repeat(norms, np.diff(indptr))).astype(np.float32))


def counted_rows(analyzer: Analyzer, texts: Sequence[str]) -> Rows:
    """How often each term occurs in each text."""
    parts = [_counted(analyzer, texts[first : first + BLOCK]) for first in range(0, max(len(texts), 1), BLOCK)]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indices, data = (np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "data"))
    return Rows(np.concatenate([[0], np.cumsum(lengths)]), indices, data)


def _counted(analyzer: Analyzer, texts: Sequence[str]) -> Rows:
    chars = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    most = lengths + 1 if analyzer == "words" else (HIGH - LOW + 1) * (lengths + 1)
    places, counts = np.concatenate([[0], np.cumsum(most)]), np.zeros(len(texts), dtype=np.int64)
    out, times = np.empty(places[-1], dtype=np.int32), np.empty(places[-1], dtype=np.int32)
    if analyzer == "words":
        loops.terms.word_terms(chars, starts, places, counts, out)
    else:
        loops.terms.gram_terms(chars, starts, LOW, HIGH, places, counts, out)
    loops.terms.count_terms(places, counts, out, times)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    kept = np.arange(indptr[-1]) + np.repeat(places[:-1] - indptr[:-1], counts)
    return Rows(indptr, out[kept], times[kept].astype(np.float32))


def cosines(a: Rows, b: Rows, left: Ints, right: Ints) -> Floats:
    """⟨row left_k of a, row right_k of b⟩, (n,)."""
    out = np.empty(len(left), dtype=np.float32)
    loops.terms.dot_rows(*a, *b, left, right, out)
    return out
