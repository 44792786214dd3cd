"""What to label next: doubtful pairs first, each record at most once, matches among them, nothing twice."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from pairlearn.records.matcher import Matches
from pairlearn.records.table import RecordPairs
from pairlearn.types import Floats, Ints

ORDER = ("doubt", "doubt", "match", "doubt", "any")
"""What every five questions are about: the threshold, likely matches, and anything, so that no region is forgotten."""


def review_order(scored: Matches, n: int, labelled: RecordPairs | None = None, seed: int = 0) -> Ints:
    """Places of up to n candidates in the order in which labels teach most.

    Doubts are nearest to the threshold in log-odds; matches are likely ones that are not certain yet; the rest is drawn
    at random. A record stands in at most one question, so that the list does not ask the same thing again, and
    pairs that were labelled are not asked at all.
    """
    p = scored.probabilities
    odds = np.abs(logit(np.clip(p, 1e-6, 1 - 1e-6)) - logit(np.clip(scored.threshold, 1e-6, 1 - 1e-6)))
    free = np.ones(len(p), dtype=bool) if labelled is None else ~np.isin(scored.pairs.keys, labelled.keys)
    queues = {
        "doubt": np.argsort(odds, kind="stable"),
        "match": _likely(p, odds, scored.threshold),
        "any": np.random.default_rng(seed).permutation(len(p)),
    }
    left, right = scored.pairs.names
    places = {name: iter(queue[free[queue]].tolist()) for name, queue in queues.items()}
    taken: list[int] = []
    used: set[int] = set()
    chosen: set[int] = set()
    empty: set[str] = set()
    while len(taken) < n and len(empty) < len(places):
        for name in ORDER:
            place = next((k for k in places[name] if k not in chosen and not {left[k], right[k]} & used), None)
            if place is None:
                empty.add(name)
            elif len(taken) < n:
                taken.append(place)
                chosen.add(place)
                used |= {int(left[place]), int(right[place])}
    return np.array(taken, dtype=np.int64)


def _likely(p: Floats, odds: Floats, threshold: float) -> Ints:
    """Likely matches, the least certain third last: those that are typical and not yet beyond doubt come first."""
    above = np.flatnonzero(p >= threshold)
    order = above[np.argsort(odds[above], kind="stable")]
    return np.concatenate([order[len(order) // 3 :], order[: len(order) // 3]])
