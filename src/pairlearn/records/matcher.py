"""`RecordMatcher`: learn from labelled pairs of records, score others, match tables, find duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import ConflictWarning, InputError, warn_user
from pairlearn.evaluation.calibration import FittedCalibration
from pairlearn.machines import PairSVC
from pairlearn.pairs import check_labels
from pairlearn.records.assignment import clusters, contradictions, one_to_one
from pairlearn.records.candidates import Blocking, Candidates, find_candidates
from pairlearn.records.compare.comparer import Comparer, Ready
from pairlearn.records.machine import MOST_PAIRS, Problem, Setting, deal_folds, learn
from pairlearn.records.table import RecordPairs, Records
from pairlearn.types import Bools, Floats, Ints
from pairlearn.words import counted

BLOCK = 20_000
"""Pairs that are compared at once."""
SURE = 50.0
"""Log-odds of a pair that somebody labelled."""


class Matches(NamedTuple):
    """Scored candidates: pairs, their probabilities, which of them are taken as matches, and the threshold."""

    pairs: RecordPairs
    probabilities: Floats
    chosen: Bools
    threshold: float
    candidates: Candidates


class Groups(NamedTuple):
    """A cluster for every record of a table, and the scored candidates behind it."""

    clusters: Ints
    scored: Matches


class Matcher(ClassifierMixin, BaseEstimator):
    """What every matcher of records can do once it has a comparer, a score, a threshold and a calibration."""

    comparer_: Comparer
    calibration_: FittedCalibration
    threshold_: float

    def score_ready(self, ready: Ready, left: Ints, right: Ints) -> Floats:
        """Scores of pairs of tables that were made ready, (n,)."""
        raise NotImplementedError

    @property
    def classes_(self) -> Ints:
        """The labels, in the order of the columns of `predict_proba`."""
        return np.array([-1, 1])

    def ready(self, left: Records, right: Records | None) -> Ready:
        """Tables made ready to be compared; the last ones are kept."""
        check_is_fitted(self, "comparer_")
        kept = getattr(self, "_kept", None)
        if kept is None or kept[0] is not left or kept[1] is not right or kept[2] is not self.comparer_:
            self._kept = kept = (left, right, self.comparer_, self.comparer_.prepare(left, right))
        return kept[3]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}

    def decision_function(self, X: RecordPairs) -> Floats:
        """A score of every pair, larger = more surely the same, (n,)."""
        ready, n = self.ready(X.left, X.right), len(X)
        blocks = [slice(first, first + BLOCK) for first in range(0, n, BLOCK)]
        found = [self.score_ready(ready, X.left_rows[block], X.right_rows[block]) for block in blocks]
        return np.concatenate(found) if found else np.empty(0)

    def predict_proba(self, X: RecordPairs) -> Floats:
        """Probabilities of −1 and +1, (n, 2), as among the pairs that were learnt from."""
        same = self.calibration_.probability(self.decision_function(X))
        return np.column_stack([1.0 - same, same])

    def predict(self, X: RecordPairs) -> Ints:
        """+1 where the score reaches the threshold, else −1."""
        return np.where(self.decision_function(X) >= self.threshold_, 1, -1)

    @property
    def probability_threshold(self) -> float:
        """The threshold as a probability."""
        return float(self.calibration_.probability(np.array([self.threshold_]))[0])

    def candidates(self, left: Records, right: Records | None = None, blocking: Blocking | None = None) -> Candidates:
        """Pairs worth a look."""
        check_is_fitted(self, "comparer_")
        for table in (left, *([] if right is None else [right])):
            if not isinstance(table, Records):
                raise InputError(f"tables are pl.Records, got {type(table).__name__}; make them by pl.Records.of(…)")
        return find_candidates(self.comparer_, self.ready(left, right), left, right, blocking)

    def match(
        self,
        left: Records,
        right: Records,
        *,
        one_to_one: bool = True,
        threshold: float | None = None,
        blocking: Blocking | None = None,
    ) -> Matches:
        """Candidates of two tables scored, and which are matches: one to one (the likeliest assignment) or any."""
        return self._decided(self.candidates(left, right, blocking), threshold, alone=one_to_one)

    def dedupe(
        self,
        table: Records,
        *,
        threshold: float | None = None,
        blocking: Blocking | None = None,
        labelled: tuple[RecordPairs, Any] | None = None,
    ) -> Groups:
        """Clusters of the same record; see `assignment.clusters` for what they promise. Labelled pairs are believed."""
        scored = self._decided(self.candidates(table, None, blocking), threshold, alone=False)
        weights = _log_odds(scored.probabilities) - _log_odds(np.array(scored.threshold))
        pairs = scored.pairs
        left, right = pairs.left_rows, pairs.right_rows
        if labelled is not None:
            known, labels = labelled
            _warn_of_contradictions(known, np.asarray(labels))
            free = ~np.isin(pairs.keys, known.keys)
            left, right = (np.concatenate([one[free], two]) for one, two in
                           ((left, known.left_rows), (right, known.right_rows)))  # fmt: skip
            weights = np.concatenate([weights[free], SURE * np.sign(np.asarray(labels, dtype=np.float64))])
        return Groups(clusters(left, right, weights, len(table)), scored)

    def _decided(self, found: Candidates, threshold: float | None, *, alone: bool) -> Matches:
        cut = self.probability_threshold if threshold is None else threshold
        if not 0.0 <= cut <= 1.0:
            raise InputError(f"threshold is a probability from 0 to 1, got {threshold}")
        p = self.predict_proba(found.pairs)[:, 1]
        chosen = p >= cut
        if alone:
            weights = np.where(chosen, _log_odds(p) - _log_odds(np.array(cut)) + 1e-6, 0.0)
            chosen = one_to_one(found.pairs.left_rows, found.pairs.right_rows, weights)
        return Matches(found.pairs, p, chosen, cut, found)


class RecordMatcher(Matcher):
    """Learn from labelled pairs of records whether two are the same.

    Columns are compared by their kinds, the comparisons are learnt from by a PairSVC whose settings are chosen by
    cross-validation over records (see `records.machine`), probabilities are calibrated on held-out pairs.

    Parameters
    ----------
    kinds : {column: kind} for columns whose kind shall not be recognised; see `records.kinds`.
    rivals : whether a pair is held against the nearest other records of both sides. Best where one record has few
        matches; scores then depend on both tables as a whole.
    setting : a `records.Setting` instead of choosing one.
    time_budget : seconds for each fit of the machine.
    random_state : seed of folds and of the machine.

    Examples
    --------
    >>> import pairlearn as pl
    >>> left = pl.Records.of({"id": range(40), "name": [f"Brewery {i * 37 % 101} Red Ale" for i in range(40)]})
    >>> right = pl.Records.of({"id": range(40), "name": [f"brewery {i * 37 % 101}, red ale" for i in range(40)]})
    >>> pairs = pl.records.RecordPairs.from_ids(left, right, list(range(40)) * 2, list(range(40)) + [39, *range(39)])
    >>> matcher = pl.RecordMatcher(setting=pl.records.Setting(C=3.0)).fit(pairs, [1] * 40 + [-1] * 40)
    >>> bool((matcher.predict(pairs) == [1] * 40 + [-1] * 40).mean() > 0.95)
    True
    """

    machine_: PairSVC

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        rivals: bool = True,
        setting: Setting | None = None,
        time_budget: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.kinds = kinds
        self.rivals = rivals
        self.setting = setting
        self.time_budget = time_budget
        self.random_state = random_state

    def fit(self, X: RecordPairs, y: Any) -> Self:
        """Learn from pairs and labels ±1."""
        if not isinstance(X, RecordPairs):
            raise InputError(f"fit takes pl.records.RecordPairs, got {type(X).__name__}; see RecordPairs.from_ids")
        if (own := X.reflexive).any():
            key = X.left.ids[X.left_rows[int(own.argmax())]]
            raise InputError(f"{counted(int(own.sum()), 'pair')} of a record with itself, e.g. {key!r}; drop them")
        labels = check_labels(y, len(X)).astype(np.int64)
        kept = _at_most(labels, self.random_state)
        if len(kept) < len(X):
            warn_user(f"{counted(len(X), 'labelled pair')}; learning from {len(kept):,} of them", UserWarning)
        X, labels = X[kept], labels[kept]
        folds = deal_folds(X.left_rows, labels, self.random_state)
        comparer = Comparer.learn(X.left, X.right, self.kinds, rivals=self.rivals)
        ready = comparer.prepare(X.left, X.right)
        problem = Problem.of(comparer, ready, X.left_rows, X.right_rows, labels)
        found = learn(problem, folds, self.random_state, self.setting, self.time_budget)
        # All is replaced at the end, so that a fit that was refused or stopped leaves the earlier model whole.
        self.comparer_, self._kept = comparer, (X.left, X.right, comparer, ready)
        self.mean_, self.scale_, self.machine_ = found.mean, found.scale, found.machine
        self.calibration_, self.threshold_, self.setting_ = found.calibration, found.threshold, found.setting
        self.trials_ = found.trials
        self._held_out = HeldOut(X, labels, found.held_out, problem.features)
        return self

    @property
    def held_out(self) -> HeldOut:
        """Pairs learnt from, their labels, and scores by machines that did not know them; after `fit` only."""
        if not hasattr(self, "_held_out"):
            raise InputError("only a matcher that was just fitted knows its held-out scores; call fit")
        return self._held_out

    def score_ready(self, ready: Ready, left: Ints, right: Ints) -> Floats:
        """Scores of the machine."""
        problem = Problem.of(self.comparer_, ready, left, right, np.empty(0, dtype=np.int64))
        return self.machine_.decision_function(problem.pairs(self.mean_, self.scale_, self.setting_))


class HeldOut(NamedTuple):
    """Labelled pairs with scores of machines that had not seen them, and their features."""

    pairs: RecordPairs
    labels: Ints
    scores: Floats
    features: Floats


def _warn_of_contradictions(known: RecordPairs, labels: Ints) -> None:
    chains = contradictions(known.left_rows, known.right_rows, labels, len(known.left))
    if chains:
        shown = " = ".join(known.left.ids[row] for row in chains[0][:6]) + (" = …" if len(chains[0]) > 6 else "")
        warn_user(
            f"{counted(len(chains), 'pair is', 'pairs are')} labelled different though labels join its records, e.g. "
            f"{shown}; clusters cannot respect all of these labels: correct one of each chain",
            ConflictWarning,
        )


def _log_odds(p: Floats) -> Floats:
    return np.asarray(logit(np.clip(p, 1e-9, 1.0 - 1e-9)))


def _at_most(labels: Ints, seed: int) -> Ints:
    """Rows to learn from: all of them, or as many as the machine takes."""
    if len(labels) <= MOST_PAIRS:
        return np.arange(len(labels))
    rng = np.random.default_rng(seed)
    matches, others = (rng.permutation(np.flatnonzero(labels == label)) for label in (1, -1))
    few = max(MOST_PAIRS // 2, MOST_PAIRS - len(others))
    return np.sort(np.concatenate([matches[:few], others[: MOST_PAIRS - min(few, len(matches))]]))
