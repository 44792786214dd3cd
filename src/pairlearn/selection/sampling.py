"""Which pairs to train on: chosen from the examples and their classes, without listing the pairs left out.

With the examples sorted by class, the pairs of one class, the negatives of one example and all pairs of two
classes are ranges of numbers. Numbers are drawn, and only the drawn ones become pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.data.synthetic import Seed, sliding_memory_pairs
from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.pairs import Columns, Pairs, Triangle, all_pairs
from pairlearn.types import Examples, Floats, Ints

SMALL_BLOCK = 256  # pairs scored at once when a scorer knows blocks only: their block stays below 256²


# --------------------------------------------------------------------------- what can be asked for


@dataclass(frozen=True)
class PairCounts:
    """How many pairs of each label the examples have."""

    positives: int
    negatives: int


def count_pairs(classes: Any, *, reflexive: bool = True) -> PairCounts:
    """Number of positive and of negative pairs of examples with these classes.

    >>> count_pairs(["u", "u", "v"])
    PairCounts(positives=4, negatives=2)
    """
    groups = _Groups.of(classes)
    return PairCounts(int(groups.pairs_within(reflexive).sum()), groups.negatives().size)


@dataclass(frozen=True)
class HardNegatives:
    """Choose the negatives that a scorer takes for positives most firmly.

    `scorer` has `decision_function(pairs)` or `score_block(probe, gallery)`, e.g. the machine learnt so far.
    `candidates` negatives are drawn and scored (None: all there are, by blocks where the scorer can), `batch` at
    a time; `random_share` of the negatives is not mined but drawn from the others. Equal scores: first pair first.

    >>> import numpy as np, pairlearn as pl
    >>> X, classes = np.array([[0.0], [1.0], [1.5], [9.0]]), ["u", "u", "v", "w"]
    >>> near = PairSampler(positives=0, negatives=2, hard=HardNegatives(pl.EuclidBaseline())).draw(X, classes)
    >>> list(zip(near.left.tolist(), near.right.tolist()))
    [(1, 2), (0, 2)]
    """

    scorer: Any
    candidates: int | None = None
    random_share: float = 0.0
    batch: int = 2**18

    def __post_init__(self) -> None:
        _check_count("candidates", self.candidates)
        if not 0.0 <= self.random_share <= 1.0:
            raise InputError(f"random_share must lie from 0 to 1, got {self.random_share!r}; try 0.5")
        if not (isinstance(self.batch, int | np.integer) and self.batch >= 1):
            raise InputError(f"batch must be an integer ≥ 1, got {self.batch!r}; try 2**18")
        if not (hasattr(self.scorer, "decision_function") or hasattr(self.scorer, "score_block")):
            raise InputError(
                f"{type(self.scorer).__name__} has neither decision_function(pairs) nor score_block(probe, gallery); "
                "pass a fitted machine or a baseline such as pl.EuclidBaseline()"
            )


@dataclass(frozen=True)
class PairSampler:
    """Training pairs (i, j), i ≤ j, each at most once: positives first, then negatives.

    `positives`, `negatives` are numbers of pairs (None: all), `ratio` is negatives per positive instead.
    `per_class_cap` allows at most so many positive pairs of a class, and so many examples of it in negatives.
    `balanced` spreads positives evenly over classes and negatives over pairs of classes, as far as they have pairs.
    `reflexive` counts the pairs (i, i) among the positives. `hard` mines the negatives with a scorer.
    Equal seeds give equal pairs. All pairs without a cap come in row order, columns by arithmetic.

    >>> import numpy as np
    >>> X, classes = np.arange(6.0).reshape(-1, 1), [0, 0, 0, 1, 1, 2]
    >>> pairs = PairSampler(ratio=0.5, reflexive=False).draw(X, classes)
    >>> pairs.left[:4].tolist(), pairs.right[:4].tolist(), pairs.labels(classes).tolist()
    ([0, 0, 1, 3], [1, 2, 2, 4], [1, 1, 1, 1, -1, -1])
    """

    positives: int | None = None
    negatives: int | None = None
    ratio: float | None = None
    per_class_cap: int | None = None
    balanced: bool = False
    reflexive: bool = True
    hard: HardNegatives | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_count("positives", self.positives)
        _check_count("negatives", self.negatives)
        _check_count("per_class_cap", self.per_class_cap, least=1)
        if self.ratio is None:
            return
        if self.negatives is not None:
            raise InputError("negatives and ratio both say how many negatives to keep; give one of them")
        if not (math.isfinite(self.ratio) and self.ratio >= 0):
            raise InputError(f"ratio is the number of negatives per positive, finite and ≥ 0, got {self.ratio!r}")

    def draw(self, examples: Examples, classes: Any) -> Pairs:
        """The chosen pairs of these examples, whose classes are given one per example."""
        table = check_examples(examples)
        groups = _Groups.of(classes, count_examples(table))
        if self._everything:
            return all_pairs(table, self.reflexive)
        rng = np.random.default_rng(self.seed)
        same = self._draw_positives(groups, rng)
        other = self._draw_negatives(table, groups, len(same[0]), rng)
        if len(same[0]) + len(other[0]) == 0:
            raise InputError("no pairs were asked for; set positives or negatives to at least 1")
        return Pairs(table, *_joined(same, other))

    @property
    def _everything(self) -> bool:
        limits = (self.positives, self.negatives, self.ratio, self.per_class_cap, self.hard)
        return all(limit is None for limit in limits)

    def _draw_positives(self, groups: _Groups, rng: np.random.Generator) -> Columns:
        within = groups.pairs_within(self.reflexive)
        limits = within if self.per_class_cap is None else np.minimum(within, self.per_class_cap)
        n = _asked("positives", self.positives, int(limits.sum()), self._hint())
        if self.balanced:
            numbers = _draw(rng, within, _even_quotas(rng, limits, n))
        elif self.per_class_cap is not None:
            numbers = _draw(rng, within, _random_quotas(rng, limits, n))
        else:
            numbers = _draw_plain(rng, int(within.sum()), n)
        return groups.positives(self.reflexive).columns(numbers)

    def _draw_negatives(self, table: Examples, groups: _Groups, n_positives: int, rng: np.random.Generator) -> Columns:
        groups = groups if self.per_class_cap is None else groups.capped(self.per_class_cap, rng)
        wanted = self.negatives if self.ratio is None else round(self.ratio * n_positives)
        n = _asked("negatives", wanted, groups.negatives().size, self._hint())
        if self.hard is None:
            return self._random_negatives(groups, n, rng)
        n_random = round(self.hard.random_share * n)
        mined = self._mine(self.hard, table, groups, n - n_random, rng)
        return _joined(mined, _others(groups.negatives(), mined, n_random, rng))

    def _random_negatives(self, groups: _Groups, n: int, rng: np.random.Generator) -> Columns:
        if self.balanced:
            return groups.even_negatives(n, rng)
        stairs = groups.negatives()
        return stairs.columns(_draw_plain(rng, stairs.size, n))

    def _mine(self, hard: HardNegatives, table: Examples, groups: _Groups, n: int, rng: np.random.Generator) -> Columns:
        if n == 0:
            return _no_columns()
        best = _Highest(n)
        if hard.candidates is None:
            _offer_all(best, hard, table, groups)
        else:
            _asked("candidates", hard.candidates, groups.negatives().size, self._hint())
            if n > hard.candidates:
                raise InputError(f"{n} hard negatives cannot be among {hard.candidates} candidates; score more of them")
            _offer_columns(best, hard, table, self._random_negatives(groups, hard.candidates, rng))
        return best.columns()

    def _hint(self) -> str:
        return "" if self.per_class_cap is None else " (or raise per_class_cap)"


def sliding_memory(examples: Examples, classes: Any, *, memory: int, epcr: int) -> Pairs:
    """The pairs of each new class with itself and with the `memory` classes before it, `epcr` examples of each.

    >>> import numpy as np
    >>> sliding_memory(np.eye(6), [0, 0, 1, 1, 2, 2], memory=1, epcr=2)
    Pairs(14 pairs of 6 examples)
    """
    table = check_examples(examples)
    codes = _check_classes(classes, count_examples(table))
    couples = list(sliding_memory_pairs(codes, memory, epcr))
    return Pairs(table, *(np.concatenate(column) for column in zip(*couples, strict=True)))


# --------------------------------------------------------------------------- pairs by number


@dataclass(frozen=True, eq=False)
class _Stairs:
    """Pairs (order[p], order[q]) with q from first[p] on, numbered row by row; row p ends before number ends[p]."""

    order: Ints
    first: Ints
    lengths: Ints
    ends: Ints

    @classmethod
    def of(cls, order: Ints, first: Ints, stop: Ints) -> _Stairs:
        return cls(order, first, stop - first, np.cumsum(stop - first))

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    def columns(self, numbers: Ints) -> Columns:
        """The pairs with these numbers, smaller example left."""
        row = np.searchsorted(self.ends, numbers, side="right")
        place = self.first[row] + numbers - (self.ends - self.lengths)[row]
        return _upright(self.order[row], self.order[place])

    def numbers(self, columns: Columns) -> Ints:
        """The numbers of these pairs."""
        position = np.zeros(int(self.order.max()) + 1, dtype=np.int64)
        position[self.order] = np.arange(len(self.order))
        row, place = _upright(position[columns[0]], position[columns[1]])
        return (self.ends - self.lengths - self.first)[row] + place


@dataclass(frozen=True, eq=False)
class _Groups:
    """The examples in the order of their classes, and the number of examples of each class."""

    order: Ints
    sizes: Ints

    @classmethod
    def of(cls, classes: Any, n_examples: int | None = None) -> _Groups:
        codes = _check_classes(classes, n_examples)
        return cls(np.argsort(codes, kind="stable"), np.bincount(codes))

    @property
    def stops(self) -> Ints:
        """Where in the order each example's class ends."""
        return np.repeat(np.cumsum(self.sizes), self.sizes)

    def pairs_within(self, reflexive: bool) -> Ints:
        """Number of positive pairs of each class."""
        return self.sizes * (self.sizes + (1 if reflexive else -1)) // 2

    def positives(self, reflexive: bool) -> _Stairs:
        return _Stairs.of(self.order, np.arange(len(self.order)) + (0 if reflexive else 1), self.stops)

    def negatives(self) -> _Stairs:
        stops = self.stops
        return _Stairs.of(self.order, stops, np.full_like(stops, len(self.order)))

    def capped(self, cap: int, rng: np.random.Generator) -> _Groups:
        """At most `cap` random examples of each class."""
        sizes = np.minimum(self.sizes, cap)
        return _Groups(self.order[_draw(rng, self.sizes, sizes)], sizes)

    def even_negatives(self, n: int, rng: np.random.Generator) -> Columns:
        """n negatives spread evenly over the pairs of classes."""
        a, b, quotas = self._class_pairs(n, rng)
        sizes = self.sizes[a] * self.sizes[b]
        numbers = _draw(rng, sizes, _even_quotas(rng, sizes, n) if quotas is None else quotas)
        pair = np.searchsorted(np.cumsum(sizes), numbers, side="right")
        i, j = np.divmod(numbers - (np.cumsum(sizes) - sizes)[pair], self.sizes[b][pair])
        begins = np.cumsum(self.sizes) - self.sizes
        return _upright(self.order[begins[a][pair] + i], self.order[begins[b][pair] + j])

    def _class_pairs(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints | None]:
        # Many classes have more pairs than are asked for: then choose among them first, one negative from each.
        triangle = Triangle(len(self.sizes), reflexive=False)
        if n >= len(triangle):
            return (*triangle.all_columns(), None)
        return (*triangle.columns(_draw_plain(rng, len(triangle), n)), np.ones(n, dtype=np.int64))


def _upright(a: Ints, b: Ints) -> Columns:
    return np.minimum(a, b), np.maximum(a, b)


def _joined(first: Columns, second: Columns) -> Columns:
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])


def _no_columns() -> Columns:
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


# --------------------------------------------------------------------------- random numbers without repeats


def _draw_plain(rng: np.random.Generator, size: int, n: int) -> Ints:
    """n of the numbers below `size`, sorted; every choice is equally likely."""
    return _draw(rng, np.array([size]), np.array([n]))


def _draw(rng: np.random.Generator, sizes: Ints, quotas: Ints) -> Ints:
    """quotas[g] numbers of the g-th range, sorted; the ranges have these sizes and follow each other."""
    # Of a range that is used by more than half, the numbers left out are drawn: trying again stays rare.
    mostly = 2 * quotas > sizes
    begins = np.cumsum(sizes) - sizes
    drawn = _draw_few(rng, begins, sizes, np.where(mostly, sizes - quotas, quotas))
    if not mostly.any():
        return drawn
    return np.setxor1d(drawn, _ranges(begins[mostly], sizes[mostly]), assume_unique=True)


def _draw_few(rng: np.random.Generator, begins: Ints, sizes: Ints, quotas: Ints) -> Ints:
    found: Ints = np.zeros(0, dtype=np.int64)
    missing = quotas
    while missing.any():
        group = np.repeat(np.arange(len(sizes)), missing)
        found = _sorted_once(np.concatenate([found, begins[group] + rng.integers(sizes[group])]))
        where = np.searchsorted(begins + sizes, found, side="right")
        missing = quotas - np.bincount(where, minlength=len(sizes))
    return found


def _sorted_once(numbers: Ints) -> Ints:
    """The different numbers, sorted."""
    numbers = np.sort(numbers)  # np.unique hashes integers, which takes fifty times as long
    return numbers[np.diff(numbers, prepend=-1) > 0]


def _ranges(begins: Ints, sizes: Ints) -> Ints:
    """begins[g], begins[g] + 1, …, sizes[g] numbers of each."""
    shift = begins - (np.cumsum(sizes) - sizes)
    return np.repeat(shift, sizes) + np.arange(int(sizes.sum()))


def _random_quotas(rng: np.random.Generator, limits: Ints, n: int) -> Ints:
    """How many of n things drawn from groups of these sizes fall into each group."""
    numbers = _draw_plain(rng, int(limits.sum()), n)
    return np.bincount(np.searchsorted(np.cumsum(limits), numbers, side="right"), minlength=len(limits))


def _even_quotas(rng: np.random.Generator, limits: Ints, n: int) -> Ints:
    """n shared out so that no group below its limit has two fewer than another; who gets one more is random."""
    level = _level(limits, n)
    quotas = np.minimum(limits, level)
    above = rng.permutation(np.nonzero(limits > level)[0])
    quotas[above[: n - int(quotas.sum())]] += 1
    return quotas


def _level(limits: Ints, n: int) -> int:
    """The largest level up to which all groups can be filled with n things."""
    low, high = 0, int(limits.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(limits, middle).sum() <= n else (low, middle - 1)
    return low


def _others(stairs: _Stairs, taken: Columns, n: int, rng: np.random.Generator) -> Columns:
    """n random pairs of the stairs that are not taken."""
    if n == 0:
        return _no_columns()
    gone = np.sort(stairs.numbers(taken))
    numbers = _draw_plain(rng, stairs.size - len(gone), n)
    # gone[t] − t untaken numbers lie below gone[t], so untaken number k lies above all gone[t] with gone[t] − t ≤ k.
    return stairs.columns(numbers + np.searchsorted(gone - np.arange(len(gone)), numbers, side="right"))


# --------------------------------------------------------------------------- mining by a scorer


class _Highest:
    """The n pairs of the highest scores so far, and less than n more that wait to be compared with them.

    No score below `floor` can be among them.
    """

    def __init__(self, n: int) -> None:
        self.n, self.floor, self.waiting = n, -np.inf, 0
        self.parts: list[tuple[Floats, Ints, Ints]] = []

    def offer(self, scores: Floats, left: Ints, right: Ints) -> None:
        good = scores >= self.floor
        self.parts.append((scores[good], left[good], right[good]))
        self.waiting += int(good.sum())
        if self.waiting >= self.n:
            self._compare()

    def columns(self) -> Columns:
        """Highest first; equal scores by pair."""
        self._compare()
        _, left, right = self.parts[0]
        return left, right

    def _compare(self) -> None:
        scores, left, right = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        if len(scores) >= self.n:
            self.floor = float(np.partition(scores, -self.n)[-self.n])
        good = np.nonzero(scores >= self.floor)[0]
        order = good[np.lexsort((right[good], left[good], -scores[good]))][: self.n]
        self.parts, self.waiting = [(scores[order], left[order], right[order])], 0


def _offer_all(best: _Highest, hard: HardNegatives, table: Examples, groups: _Groups) -> None:
    if hasattr(hard.scorer, "score_block"):
        _offer_blocks(best, hard, table, groups)
        return
    stairs = groups.negatives()
    for begin in range(0, stairs.size, hard.batch):
        numbers = np.arange(begin, min(begin + hard.batch, stairs.size))
        _offer_columns(best, hard, table, stairs.columns(numbers))


def _offer_blocks(best: _Highest, hard: HardNegatives, table: Examples, groups: _Groups) -> None:
    """Score all negatives by square blocks on and above the diagonal."""
    by_index = np.argsort(groups.order)
    kept, codes = groups.order[by_index], np.repeat(np.arange(len(groups.sizes)), groups.sizes)[by_index]
    side = max(1, math.isqrt(hard.batch))
    parts = [slice(begin, begin + side) for begin in range(0, len(kept), side)]
    for number, rows in enumerate(parts):
        probe = take_examples(table, kept[rows])
        for columns in parts[number:]:
            block = hard.scorer.score_block(probe, take_examples(table, kept[columns]))
            block = _check_scores(block, (len(kept[rows]), len(kept[columns])))
            wanted = (codes[rows, None] != codes[columns]) & (block >= best.floor)
            i, j = np.nonzero(np.triu(wanted, 1) if columns is rows else wanted)
            best.offer(block[i, j], kept[rows][i], kept[columns][j])


def _offer_columns(best: _Highest, hard: HardNegatives, table: Examples, columns: Columns) -> None:
    pairs = Pairs(table, *columns)
    for begin in range(0, len(pairs), hard.batch):
        part = pairs[begin : begin + hard.batch]
        best.offer(_scores(hard.scorer, part), part.left, part.right)


def _scores(scorer: Any, pairs: Pairs) -> Floats:
    if hasattr(scorer, "decision_function"):
        return _check_scores(scorer.decision_function(pairs), (len(pairs),))
    parts = [pairs[begin : begin + SMALL_BLOCK] for begin in range(0, len(pairs), SMALL_BLOCK)]
    return np.concatenate([_scores_by_block(scorer, part) for part in parts])


def _scores_by_block(scorer: Any, pairs: Pairs) -> Floats:
    (left, i), (right, j) = (np.unique(column, return_inverse=True) for column in pairs.columns)
    probe, gallery = (take_examples(pairs.examples, side) for side in (left, right))
    return _check_scores(scorer.score_block(probe, gallery), (len(left), len(right)))[i, j]


def _check_scores(scores: Any, shape: tuple[int, ...]) -> Floats:
    values = np.asarray(scores)
    if values.shape != shape:
        raise InputError(f"the scorer returned scores of shape {values.shape}, not {shape}; it must give one per pair")
    if np.isnan(values).any():
        raise InputError("the scorer returned NaN for some pairs; check it on pl.Pairs(examples, left, right) first")
    return values


# --------------------------------------------------------------------------- checks


def _check_classes(classes: Any, n_examples: int | None) -> Ints:
    """Class numbers 0, 1, … of the examples."""
    values = np.asarray(classes)
    if values.ndim != 1 or len(values) == 0 or n_examples not in (None, len(values)):
        wanted = "one value per example" + ("" if n_examples is None else f", {n_examples}")
        raise InputError(f"classes must hold {wanted}, got shape {values.shape}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("classes contain NaN or infinity; drop these examples first")
    return np.unique(values, return_inverse=True)[1]


def _check_count(name: str, value: int | None, least: int = 0) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if value is not None and not (whole and value >= least):
        raise InputError(f"{name} must be an integer ≥ {least} or None, got {value!r}")


def _asked(name: str, asked: int | None, available: int, hint: str) -> int:
    if asked is not None and asked > available:
        raise InputError(
            f"{asked} {name} were asked for, but only {available} exist; ask for at most {available}{hint}"
        )
    return available if asked is None else asked
