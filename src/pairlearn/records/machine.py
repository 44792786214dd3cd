"""The machine of records: a PairSVC on features, words and vectors, its settings chosen by cross-validation.

K = exp(−γ‖z − z'‖²) + w·⟨m, m'⟩ + v·tensor_metric(x_a x_b, x_c x_d): z are standardised features of the pair, m what
marked words it has on one side or on both, x vectors of the records. Folds hold all pairs of a left record together.
Scores of held-out folds choose parts and C by their best F1 and calibrate the probabilities, which set the threshold.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.errors import ConflictWarning, InputError
from pairlearn.evaluation.calibration import FittedCalibration, LogisticCalibration
from pairlearn.evaluation.scores import Scores
from pairlearn.kernels import Gaussian, Linear
from pairlearn.machines import PairSVC
from pairlearn.pair_kernels import on_invariant, pair_kernel
from pairlearn.pairs import Pairs
from pairlearn.records.compare.comparer import Comparer, Ready
from pairlearn.types import Floats, Ints

GAMMA = 0.5
"""Of features divided by their deviation and by √q: the mean squared distance of two pairs is then 2."""
WIDEST = 5.0
"""Deviations beyond which a feature is cut off."""
MOST_PAIRS = 15_000
"""Labelled pairs that the machine learns from; of more, all matches up to half of these and a sample of the others."""


@dataclass(frozen=True)
class Setting:
    """C, and the weights of words and of vectors beside the features."""

    C: float
    words: float = 0.0
    vectors: float = 0.0

    def __str__(self) -> str:
        parts = ["features", *(["words"] if self.words else []), *(["vectors"] if self.vectors else [])]
        return f"{' + '.join(parts)}, C = {self.C:g}"


FIRST = (Setting(3.0), Setting(3.0, words=0.3), Setting(3.0, vectors=0.3), Setting(3.0, words=0.3, vectors=0.3))
FACTORS = (1.0 / 3.0, 3.0)
"""The parts are chosen at one C; then C is moved by these factors."""


class Learnt(NamedTuple):
    """What labels taught: the scale of features, the machine, how its scores become probabilities, and the record."""

    mean: Floats
    scale: Floats
    machine: PairSVC
    calibration: FittedCalibration
    threshold: float
    setting: Setting
    trials: tuple[tuple[str, float], ...]
    held_out: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """Labelled pairs with all that is known of them: vectors of records, index columns, features, words, labels."""

    examples: Floats
    left: Ints
    right: Ints
    features: Floats
    words: Floats
    labels: Ints

    @classmethod
    def of(cls, comparer: Comparer, ready: Ready, left: Ints, right: Ints, labels: Ints) -> Problem:
        """Compare the pairs."""
        one = ready.left is ready.right
        examples = ready.left.vectors if one else np.vstack([ready.left.vectors, ready.right.vectors])
        shifted = right + (0 if one else len(ready.left.vectors))
        features, words = comparer.features(ready, left, right), comparer.words(ready, left, right)
        return cls(examples, left, shifted, features, words, labels)

    def pairs(self, mean: Floats, scale: Floats, setting: Setting) -> Pairs:
        """Pairs as a machine of this setting wants them."""
        blocks = [standardised(self.features, mean, scale), *([self.words] if setting.words else [])]
        return Pairs(self.examples, self.left, self.right, invariant=np.hstack(blocks).astype(np.float64))

    def scaling(self, rows: Ints) -> tuple[Floats, Floats]:
        """Mean and deviation of the features of these pairs; constant ones count nothing."""
        chosen = self.features[rows].astype(np.float64)
        deviation = chosen.std(axis=0)
        return chosen.mean(axis=0), np.where(deviation > 1e-6, deviation, np.inf) * np.sqrt(chosen.shape[1])


def standardised(features: Floats, mean: Floats, scale: Floats) -> Floats:
    """(z − mean) / (deviation·√q), no further from 0 than `WIDEST` deviations."""
    most = WIDEST / np.sqrt(features.shape[1])
    return np.clip((features - mean) / scale, -most, most)


def machine_of(setting: Setting, n_features: int, n_words: int, seed: int, budget: float | None) -> PairSVC:
    """A machine that has not learnt yet."""
    kernel = on_invariant(Gaussian(gamma=GAMMA), (0, n_features))
    if setting.words:
        kernel += setting.words * on_invariant(Linear(), (n_features, n_features + n_words))
    if setting.vectors:
        kernel += setting.vectors * pair_kernel("tensor_metric")
    return PairSVC(kernel, "linear", C=setting.C, tol=0.01, random_state=seed, time_budget=budget)


def learn(problem: Problem, folds: Ints, seed: int, setting: Setting | None, budget: float | None) -> Learnt:
    """Choose a setting (unless one is given), score all pairs out of their folds, and learn from all of them."""
    trials: dict[Setting, Floats] = {}

    def tried(one: Setting) -> float:
        trials[one] = held_out(problem, folds, one, seed, budget)
        return best_f1(trials[one], problem.labels)[0]

    if setting is None:
        first = [one for one in FIRST if problem.words.shape[1] or not one.words]
        best = max(first, key=tried)
        others = [replace(best, C=best.C * factor) for factor in FACTORS]
        setting = max([best, *others], key=lambda one: tried(one) if one not in trials else _f1(trials, one, problem))
    else:
        tried(setting)
    everything = np.arange(len(problem.labels))
    mean, scale = problem.scaling(everything)
    machine = machine_of(setting, problem.features.shape[1], problem.words.shape[1], seed, budget)
    _fit(machine, problem.pairs(mean, scale, setting), problem.labels)
    scores = trials[setting]
    told = tuple((str(one), best_f1(found, problem.labels)[0]) for one, found in trials.items())
    calibration = LogisticCalibration().fit(Scores(scores, problem.labels))
    threshold = expected_f1_threshold(scores, calibration.probability(scores))
    return Learnt(mean, scale, machine, calibration, threshold, setting, told, scores)


def _f1(trials: dict[Setting, Floats], one: Setting, problem: Problem) -> float:
    return best_f1(trials[one], problem.labels)[0]


def held_out(problem: Problem, folds: Ints, setting: Setting, seed: int, budget: float | None) -> Floats:
    """Scores of all pairs, each by a machine that learnt from the other folds, (n,)."""
    scores = np.zeros(len(problem.labels))
    for train, test in _splits(folds):
        mean, scale = problem.scaling(train)
        pairs = problem.pairs(mean, scale, setting)
        machine = machine_of(setting, problem.features.shape[1], problem.words.shape[1], seed, budget)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConflictWarning)  # said once, by the fit on all pairs
            _fit(machine, pairs[train], problem.labels[train])
        scores[test] = machine.decision_function(pairs[test])
    return scores


def _fit(machine: PairSVC, pairs: Pairs, labels: Ints) -> None:
    """Learn; a Ctrl-C, after which a machine keeps what it has, ends all of it: one of many fits is no result."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "interrupted", ConvergenceWarning)
        machine.fit(pairs, labels)
    if machine.fit_status_ == "interrupted":
        raise KeyboardInterrupt


def _splits(folds: Ints) -> Iterator[tuple[Ints, Ints]]:
    for fold in np.unique(folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def deal_folds(left: Ints, labels: Ints, seed: int) -> Ints:
    """A fold for every pair, all pairs of a left record in one; both labels in the rest of each, or an error.

    >>> deal_folds(np.repeat(np.arange(12), 2), np.tile([1, -1], 12), seed=0).max().item()
    4
    """
    records, codes = np.unique(left, return_inverse=True)
    matches = np.bincount(codes, labels > 0, len(records))
    n = 3 if len(labels) > 4000 else 5
    order = np.random.default_rng(seed).permutation(len(records))
    order = order[np.argsort(-matches[order], kind="stable")]
    fold = np.empty(len(records), dtype=np.int64)
    fold[order] = np.arange(len(records)) % n
    found = fold[codes]
    for label, words in ((1, "matches"), (-1, "different records")):
        if len(np.unique(found[labels == label])) < 2:
            raise InputError(
                f"{int((labels == label).sum())} labelled pairs are {words}, too few to learn from and to test on; "
                "label at least two of both, of different records"
            )
    return found


def best_f1(scores: Floats, labels: Ints) -> tuple[float, float]:
    """The largest F1 = 2·hits/(found + matches) over thresholds, and a threshold that has it.

    >>> best_f1(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1, 1, -1, -1]))
    (1.0, 1.5)
    """
    order = np.argsort(-scores, kind="stable")
    ranked, match = scores[order], labels[order] > 0
    f1 = 2.0 * np.cumsum(match) / (np.arange(1, len(match) + 1) + match.sum())
    f1 = np.where(np.append(ranked[1:] < ranked[:-1], True), f1, -1.0)  # equal scores are decided together
    place = int(f1.argmax())
    below = ranked[place + 1] if place + 1 < len(ranked) else ranked[place] - 1.0
    return float(f1[place]), float((ranked[place] + below) / 2.0)


def expected_f1_threshold(scores: Floats, probabilities: Floats) -> float:
    """The threshold with the largest 2·Σp/(k + Σ p), the first sum over the k pairs above it, the second over all.

    Smoother than the best F1 of the labels themselves: with few matches a single one moves that threshold far.

    >>> expected_f1_threshold(np.array([2.0, 1.0, 0.0]), np.array([0.9, 0.6, 0.05]))
    0.5
    """
    order = np.argsort(-scores, kind="stable")
    ranked, p = scores[order], probabilities[order]
    f1 = 2.0 * np.cumsum(p) / (np.arange(1, len(p) + 1) + p.sum())
    place = int(f1.argmax())
    below = ranked[place + 1] if place + 1 < len(ranked) else ranked[place] - 1.0
    return float((ranked[place] + below) / 2.0)
