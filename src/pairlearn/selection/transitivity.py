"""What labelled pairs say about all others, since "same class" is an equivalence.

Examples joined by chains of positive pairs are of one class; a negative pair between two such components makes
all pairs between them negative. Nothing else follows: two components without a negative pair may be one class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from pairlearn.errors import InputError
from pairlearn.pairs import Pairs, Triangle
from pairlearn.types import Bools, Ints
from pairlearn.words import counted

SHOWN = 8  # links of a chain in a message


class ContradictionError(InputError):
    """A negative pair whose two examples are joined by positive pairs.

    `pair` is the number of the negative pair, `chain` the examples from its left to its right one, `links` the
    numbers of the positive pairs that join them; no shorter chain exists.
    """

    def __init__(self, message: str, pair: int, chain: tuple[int, ...], links: tuple[int, ...]) -> None:
        super().__init__(message)
        self.pair, self.chain, self.links = pair, chain, links


def fewest_pairs(n_examples: int, n_classes: int) -> int:
    """m − c + c(c−1)/2: fewer labelled pairs never fix the labels of all pairs.

    Just as many do if they are a spanning tree of every class and one negative for every two classes.

    >>> fewest_pairs(n_examples=100, n_classes=10)
    135
    """
    if not 1 <= n_classes <= n_examples:
        raise InputError(f"n_classes lies from 1 to the number of examples, {n_examples}, got {n_classes}")
    return n_examples - n_classes + n_classes * (n_classes - 1) // 2


def infer_labels(pairs: Pairs, y: Any) -> Inference:
    """Everything that labels ±1 of some pairs imply for all pairs of these examples.

    >>> import numpy as np, pairlearn as pl
    >>> known = infer_labels(pl.Pairs(np.eye(4), [0, 1, 0], [1, 2, 3]), [1, 1, -1])
    >>> known.classes.tolist(), known.labels(pl.Pairs(np.eye(4), [0, 2], [2, 3])).tolist()
    ([0, 0, 0, 1], [1, -1])
    >>> known.is_complete, known.bound
    (True, 3)
    """
    _refuse_two_tables(pairs)
    positive = _check_signs(y, len(pairs)) > 0
    left, right = pairs.columns
    graph = _graph(left[positive], right[positive], pairs.n_examples)
    components = connected_components(graph, directed=False)[1].astype(np.int64)
    against = np.nonzero(~positive & (components[left] == components[right]))[0]
    if len(against):
        raise _contradiction(pairs, positive, against, graph)
    classes = _renumbered(components, pairs.used_examples())
    return Inference(classes, _apart(classes[left[~positive]], classes[right[~positive]]))


@dataclass(frozen=True, eq=False)
class Inference:
    """What is known of the labels of all pairs.

    `classes` numbers the examples that positive pairs join, by first example; −1 for examples in no pair.
    `negatives` holds the couples (a, b), a < b, of classes known to differ, (k, 2), sorted. Two numbers without a
    couple may still turn out to be one class.

    >>> import numpy as np, pairlearn as pl
    >>> known = infer_labels(pl.Pairs(np.eye(5), [0, 2], [1, 3]), [1, -1])
    >>> known.classes.tolist(), known.negatives.tolist()
    ([0, 0, 1, 2, -1], [[1, 2]])
    >>> known.n_unknown, known.bound, known.open_pairs(2)
    (8, 7, [(0, 2), (0, 3)])
    """

    classes: Ints
    negatives: Ints

    @property
    def n_examples(self) -> int:
        """Number of examples m."""
        return len(self.classes)

    @cached_property
    def components(self) -> Ints:
        """Like `classes`, but every example in no pair has a number of its own, after all others."""
        components, unseen = self.classes.copy(), self.classes < 0
        components[unseen] = self.classes.max(initial=-1) + 1 + np.arange(int(unseen.sum()))
        return components

    @property
    def n_components(self) -> int:
        """Number of components c, examples in no pair included; the number of classes is at most this."""
        return int(self.components.max()) + 1

    @property
    def n_unknown(self) -> int:
        """Number of pairs i < j whose label cannot be inferred."""
        sizes = np.bincount(self.components)
        positive = int((sizes * (sizes - 1) // 2).sum())
        negative = int((sizes[self.negatives[:, 0]] * sizes[self.negatives[:, 1]]).sum())
        return self.n_examples * (self.n_examples - 1) // 2 - positive - negative

    @property
    def is_complete(self) -> bool:
        """Whether the label of every pair can be inferred."""
        # Components differ for sure only by a couple, so all of their couples must be there.
        return len(self.negatives) == self.n_components * (self.n_components - 1) // 2

    @property
    def bound(self) -> int:
        """Fewest labelled pairs that fix all labels if every component is a class: m − c + c(c−1)/2."""
        return fewest_pairs(self.n_examples, self.n_components)

    def labels(self, pairs: Pairs) -> Ints:
        """+1 or −1 where the label of a pair follows from what is known, 0 elsewhere, (n_pairs,)."""
        _refuse_two_tables(pairs)
        if pairs.n_examples != self.n_examples:
            raise InputError(
                f"these pairs are of {counted(pairs.n_examples, 'example')}, the labelled ones of {self.n_examples}; "
                "build both over the same table"
            )
        a, b = (self.components[column] for column in pairs.columns)
        return np.where(a == b, 1, np.where(self._differ(a, b), -1, 0))

    def open_pairs(self, limit: int = 10) -> list[tuple[int, int]]:
        """Up to `limit` pairs worth labelling next: first examples of two components not known to differ."""
        triangle = Triangle(self.n_components, reflexive=False)
        a, b = self.negatives[:, 0], self.negatives[:, 1]
        known = triangle.offset(a) + b - a - 1
        wanted = np.arange(min(limit, len(triangle) - len(known)))
        # known[t] − t unknown numbers lie below known[t]; sorted couples have sorted numbers.
        numbers = wanted + np.searchsorted(known - np.arange(len(known)), wanted, side="right")
        first = np.unique(self.components, return_index=True)[1]
        left, right = (first[column] for column in triangle.columns(numbers))
        return [(min(i, j), max(i, j)) for i, j in zip(left.tolist(), right.tolist(), strict=True)]

    def _differ(self, a: Ints, b: Ints) -> Bools:
        if len(self.negatives) == 0:
            return np.zeros(len(a), dtype=bool)
        c = self.n_components
        known = self.negatives[:, 0] * c + self.negatives[:, 1]
        asked = np.minimum(a, b) * c + np.maximum(a, b)
        place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        return known[place] == asked


# --------------------------------------------------------------------------- parts


def _graph(left: Ints, right: Ints, m: int) -> Any:
    """Adjacency matrix (m, m) of the positive pairs; `connected_components` takes it for undirected."""
    return sparse.csr_array((np.ones(len(left)), (left, right)), shape=(m, m))


def _renumbered(components: Ints, used: Ints) -> Ints:
    """Components of the used examples, numbered by first example, so that numbers do not hang on SciPy's order.

    An example in no pair is a component of its own to the graph, but nothing was said about it: −1.
    """
    _, first, group = np.unique(components[used], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    classes = np.full(len(components), -1, dtype=np.int64)
    classes[used] = rank[group]
    return classes


def _apart(a: Ints, b: Ints) -> Ints:
    """The different couples among these, each in order, sorted: as keys a·c + b, one integer sort does both."""
    c = int(max(a.max(initial=0), b.max(initial=0))) + 1
    keys = np.sort(np.minimum(a, b) * c + np.maximum(a, b))
    return np.column_stack(np.divmod(keys[np.diff(keys, prepend=-1) > 0], c))


def _contradiction(pairs: Pairs, positive: Bools, against: Ints, graph: Any) -> ContradictionError:
    """The error for the first of the negative pairs in `against`."""
    number = int(against[0])
    left, right = pairs.columns
    chain = _shortest_chain(graph, int(left[number]), int(right[number]))
    links = _links(pairs, positive, chain)
    more = f" (and {counted(len(against) - 1, 'more negative pair')} contradicted)" if len(against) > 1 else ""
    return ContradictionError(_message(number, chain, links) + more, number, tuple(chain), links)


def _message(number: int, chain: list[int], links: tuple[int, ...]) -> str:
    if len(chain) == 1:
        return f"pair {number} is labelled -1 but joins example {chain[0]} to itself; drop it or label it +1"
    return (
        f"pair {number} labels examples {chain[0]} and {chain[-1]} -1, but the positive pairs {_shown(links)} join "
        f"them: {_shown(chain, ' – ')}; correct one of these labels"
    )


def _shown(values: Any, between: str = ", ") -> str:
    if len(values) <= SHOWN:
        return between.join(map(str, values))
    half = SHOWN // 2
    return between.join([*map(str, values[:half]), "…", *map(str, values[-half:])])


def _shortest_chain(graph: Any, start: int, end: int) -> list[int]:
    """Examples from start to end, joined by edges, as few as possible."""
    before = breadth_first_order(graph, start, directed=False)[1]
    chain = [end]
    while chain[-1] != start:
        chain.append(int(before[chain[-1]]))
    return chain[::-1]


def _links(pairs: Pairs, positive: Bools, chain: list[int]) -> tuple[int, ...]:
    """Number of the first positive pair of each two neighbours of the chain."""
    numbers = np.nonzero(positive)[0]
    if len(chain) < 2:
        return ()
    keys = _keys(pairs.left[numbers], pairs.right[numbers], pairs.n_examples)
    found, first = np.unique(keys, return_index=True)
    asked = _keys(np.array(chain[:-1]), np.array(chain[1:]), pairs.n_examples)
    return tuple(numbers[first[np.searchsorted(found, asked)]].tolist())


def _keys(a: Ints, b: Ints, m: int) -> Ints:
    return np.minimum(a, b).astype(np.int64) * m + np.maximum(a, b)


def _refuse_two_tables(pairs: Pairs) -> None:
    pairs.require_one_table("pairs of two tables are never of one class by themselves; join the tables first")


def _check_signs(y: Any, n_pairs: int) -> Ints:
    signs = np.asarray(y)
    if signs.shape != (n_pairs,):
        raise InputError(f"y must hold one label per pair, {n_pairs}, got shape {signs.shape}")
    if signs.dtype.kind not in "iuf" or not np.isin(signs, (-1, 1)).all():
        raise InputError("labels must be +1 or -1; drop unlabelled pairs, and use np.where(same, 1, -1)")
    return signs
