"""How test units are drawn: random shares or folds of pairs, examples or classes, stratum by stratum.

A stratum is a set of units of which both halves shall have some: the examples of one class, or simply all units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from pairlearn.errors import InputError
from pairlearn.types import Bools, Ints
from pairlearn.words import counted


class Drawing(Protocol):
    """How test units are drawn, `count` times.

    `draw(strata, name, stream)` takes one stratum number per unit, (n,), and yields masks of the test units, (n,)
    each; `name` is the noun of one unit, for messages; different `stream`s (left, right table) are independent.
    """

    @property
    def count(self) -> int: ...

    def draw(self, strata: Ints, name: str, stream: int = 0) -> Iterator[Bools]: ...


@dataclass(frozen=True)
class Shares:
    """`n_splits` times a random share of every stratum; a stratum with one unit is never tested."""

    test_share: float
    n_splits: int
    random_state: int

    def __post_init__(self) -> None:
        share = self.test_share
        if isinstance(share, bool) or not isinstance(share, (int, float, np.floating)) or not 0 < share < 1:
            raise InputError(f"test_share must lie between 0 and 1, got {share!r}; 0.25 tests a quarter")
        check_whole("n_splits", self.n_splits, 1)
        check_whole("random_state", self.random_state, 0)

    @property
    def count(self) -> int:
        return self.n_splits

    def draw(self, strata: Ints, name: str, stream: int = 0) -> Iterator[Bools]:
        """Masks of the test units, one stratum number per unit."""
        if not np.any(np.bincount(strata, minlength=1) > 1):
            raise InputError(f"{counted(len(strata), name)} cannot be shared out; give at least 2 (of one class)")
        return (self._one(strata, np.random.default_rng((self.random_state, stream, k))) for k in range(self.n_splits))

    def _one(self, strata: Ints, rng: np.random.Generator) -> Bools:
        """round(share · size) units of each stratum, but at least one and not all of them."""
        sizes = np.bincount(strata)
        quota = np.clip(np.rint(self.test_share * sizes), np.minimum(sizes - 1, 1), sizes - 1)
        return rank_in_stratum(strata, rng.permutation(len(strata))) < quota[strata]


@dataclass(frozen=True)
class Folds:
    """`n_repeats` times `n_splits` folds of every stratum; a stratum with one unit is never tested."""

    n_splits: int
    n_repeats: int
    random_state: int

    def __post_init__(self) -> None:
        check_whole("n_splits", self.n_splits, 2)
        check_whole("n_repeats", self.n_repeats, 1)
        check_whole("random_state", self.random_state, 0)

    @property
    def count(self) -> int:
        return self.n_splits * self.n_repeats

    def draw(self, strata: Ints, name: str, stream: int = 0) -> Iterator[Bools]:
        """Masks of the test units, one stratum number per unit."""
        n_dealt = int(np.sum(np.bincount(strata, minlength=1)[strata] > 1))
        if n_dealt < self.n_splits:
            alone = f" ({len(strata) - n_dealt} more are alone in their class)" if n_dealt < len(strata) else ""
            raise InputError(
                f"{counted(n_dealt, name)} cannot fill {self.n_splits} folds{alone}; use fewer folds or add some"
            )
        seeds = ((self.random_state, stream, repeat) for repeat in range(self.n_repeats))
        folds = (self._deal(strata, np.random.default_rng(seed)) for seed in seeds)
        return (fold == k for fold in folds for k in range(self.n_splits))

    def _deal(self, strata: Ints, rng: np.random.Generator) -> Ints:
        """Number of the fold of each unit, −1 for one alone in its stratum.

        Dealing stratum after stratum like cards, without starting anew at each, keeps both the folds and each stratum
        in them balanced: their sizes differ by one at most.
        """
        sizes = np.bincount(strata)
        order = np.lexsort((rng.permutation(len(strata)), rng.permutation(len(sizes))[strata]))
        order = order[sizes[strata[order]] > 1]
        fold = np.full(len(strata), -1)
        fold[order] = np.arange(len(order)) % self.n_splits
        return fold


def rank_in_stratum(strata: Ints, keys: Ints) -> Ints:
    """Place of every unit within its stratum, by rising keys."""
    order = np.lexsort((keys, strata))
    starts = np.concatenate([[0], np.cumsum(np.bincount(strata))])
    rank = np.empty(len(strata), dtype=np.int64)
    rank[order] = np.arange(len(strata)) - starts[strata[order]]
    return rank


# --------------------------------------------------------------------------- checks


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse anything but a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
