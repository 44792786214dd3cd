"""A start without labels: Fellegi and Sunter's weights, learnt by EM from the candidates alone.

Each column agrees at one of a few levels. With m_cl = P(level l of column c | match), u_cl = P(… | no match) and λ the
share of matches among the candidates, log-odds are log λ/(1 − λ) + Σ_c log m_cl/u_cl, columns taken as independent.
EM finds m, u and λ that make the observed levels likeliest, λ so small that a record has at most one match on average
(else records that are merely alike would be taken for the same). It rests on matches and others forming two heaps;
where they do not, it is wrong without knowing it: its probabilities are beliefs, and labels should follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit

from pairlearn.errors import InputError
from pairlearn.evaluation.calibration import FittedCalibration, Line
from pairlearn.records.compare.comparer import WHOLE, Comparer, Ready
from pairlearn.records.compare.comparisons import Comparison
from pairlearn.records.matcher import BLOCK, Matcher
from pairlearn.records.table import RecordPairs
from pairlearn.types import Floats, Ints

SPEAKS = {
    **dict.fromkeys(("text", "list"), "characters"),
    **dict.fromkeys(("name", "category"), "JaroWinkler"),
    **dict.fromkeys(("code", "date"), "OSA"),
    "number": "relative difference",
    "geo": "within 1 km",
}
"""The feature that tells how well a column of each kind agrees."""
CUTS = np.array([0.6, 0.85, 0.999])
"""Levels 0 … 3 of agreement; a rare value that is equal has level 4, a missing one level 5."""
RARE, LEVELS = 0.6, 6
RIVAL = f"{WHOLE}: above the best rival, both sides (characters)"
MARGINS = np.array([-0.2, 0.0, 0.1, 0.3])
MOST_STEPS, LEAST_CHANGE, PSEUDO = 200, 1e-6, 1.0


class UnlabelledMatcher(Matcher):
    """Matches without labels, by levels of agreement; see the module.

    >>> import pairlearn as pl
    >>> names = [f"{a} {b}" for a in ("anna", "bert", "carl", "dora") for b in ("smith", "jones", "brown", "green")]
    >>> table = pl.Records.of({"name": [*names, *names], "town": [str(i % 16 // 2) for i in range(32)]})
    >>> i, j = np.triu_indices(32, 1)
    >>> matcher = UnlabelledMatcher().fit(pl.records.RecordPairs(table, None, i, j))
    >>> bool(matcher.predict_proba(pl.records.RecordPairs(table, None, [0], [16]))[0, 1] > 0.9)
    True
    """

    def __init__(self, kinds: Mapping[str, str] | None = None, rivals: bool = True) -> None:
        self.kinds = kinds
        self.rivals = rivals

    def fit(self, X: RecordPairs, y: Any = None) -> Self:
        """Learn from candidates, such as `find_candidates` gives; labels are not looked at."""
        if len(X) < 2:
            raise InputError("without labels at least two candidates are needed; give larger tables, or label pairs")
        self.comparer_ = Comparer.learn(X.left, X.right, self.kinds, rivals=self.rivals)
        ready = self.ready(X.left, X.right)
        blocks = [slice(first, first + BLOCK) for first in range(0, len(X), BLOCK)]
        levels = np.vstack([self._levels(ready, X.left_rows[b], X.right_rows[b]) for b in blocks])
        most = max(len(X.left), len(X.right_table)) / len(X)
        self.weights_, self.prior_ = expectation_maximisation(levels, most)
        self.calibration_ = FittedCalibration(Line(1.0, 0.0, 0.0), 0.5)
        self.threshold_ = 0.0
        return self

    def score_ready(self, ready: Ready, left: Ints, right: Ints) -> Floats:
        """Log-odds of every pair."""
        return self.parts(ready, left, right).sum(axis=1) + float(logit(self.prior_))

    def parts(self, ready: Ready, left: Ints, right: Ints) -> Floats:
        """What each column adds to the log-odds, (n, columns)."""
        levels = self._levels(ready, left, right)
        return np.asarray(self.weights_[np.arange(levels.shape[1]), levels])

    @property
    def parts_of(self) -> tuple[str, ...]:
        """The columns that `parts` speaks of."""
        return (*(column.name for column in self.comparer_.columns), *([WHOLE] if self.rivals else []))

    def _levels(self, ready: Ready, left: Ints, right: Ints) -> Ints:
        features, owners = self.comparer_.features(ready, left, right), np.array(self.comparer_.owners)
        found = [column_levels(column, features[:, owners == column.name]) for column in self.comparer_.columns]
        if self.rivals:
            margin = features[:, self.comparer_.feature_names.index(RIVAL)]
            found.append(np.searchsorted(MARGINS, margin))
        return np.column_stack(found)


def column_levels(column: Comparison, features: Floats) -> Ints:
    """Level of agreement of every pair in one column, 0 … 5, (n,)."""
    names = column.feature_names
    levels = np.searchsorted(CUTS, features[:, names.index(SPEAKS[column.kind])], side="right")
    rarity = next((n for n in ("rarity of what agrees", "rarest shared word") if n in names), None)
    if rarity is not None:
        levels = np.where((levels == len(CUTS)) & (features[:, names.index(rarity)] > RARE), len(CUTS) + 1, levels)
    missing = features[:, names.index("one missing")] + features[:, names.index("both missing")] > 0
    return np.where(missing, LEVELS - 1, levels).astype(np.int64)


def expectation_maximisation(levels: Ints, most: float = 1.0) -> tuple[Floats, float]:
    """log m/u of every column and level, (columns, LEVELS), and λ ≤ most; a missing cell says nothing.

    Equal rows of levels are counted once. The start takes the pairs that agree most for matches.

    >>> levels = np.array([[3, 3]] * 20 + [[0, 0]] * 80 + [[0, 3]] * 5)
    >>> weights, share = expectation_maximisation(levels)
    >>> bool(weights[0, 3] > 1), bool(weights[0, 0] < -1), 0.15 < share < 0.25
    (True, True, True)
    """
    patterns, inverse = np.unique(levels, axis=0, return_inverse=True)
    counts = np.bincount(inverse.ravel(), minlength=len(patterns)).astype(np.float64)
    known = patterns < LEVELS - 1
    agreed = np.where(known, np.minimum(patterns, 3), 1.0).mean(axis=1)
    p = expit(4.0 * (agreed - np.quantile(np.repeat(agreed, np.minimum(counts, 1000).astype(int)), 0.9)))
    previous = -np.inf
    for _ in range(MOST_STEPS):
        share = float(np.clip(counts @ p / counts.sum(), 1e-6, min(most, 1 - 1e-6)))
        m, u = (_shares(patterns, counts * weight) for weight in (p, 1.0 - p))
        weights = np.log(m / u)
        weights[:, LEVELS - 1] = 0.0
        odds = logit(share) + weights[np.arange(patterns.shape[1]), patterns].sum(axis=1)
        p = expit(odds)
        told = float(counts @ np.logaddexp(0.0, odds)) + counts.sum() * float(np.log1p(-share))
        told += float(counts @ np.where(known, np.log(u[np.arange(patterns.shape[1]), patterns]), 0.0).sum(axis=1))
        if abs(told - previous) <= LEAST_CHANGE * abs(told):
            break
        previous = told
    return _rising(weights), share


def _shares(patterns: Ints, weights: Floats) -> Floats:
    """Share of every level among the pairs with a value, (columns, LEVELS), none of them 0."""
    found = np.stack([np.bincount(column, weights, LEVELS) for column in patterns.T]).astype(np.float64)
    found[:, LEVELS - 1] = 0.0
    found[:, : LEVELS - 1] += PSEUDO / (LEVELS - 1)
    return np.maximum(found / found.sum(axis=1, keepdims=True), 1e-12)


def _rising(weights: Floats) -> Floats:
    """More agreement never speaks against a match: each level at least as much as the one below."""
    out = weights.copy()
    out[:, : LEVELS - 1] = np.maximum.accumulate(out[:, : LEVELS - 1], axis=1)
    return out
