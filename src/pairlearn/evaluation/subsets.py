"""Measures of parts of the pairs: of every fold, as benchmarks with fixed folds ask for, and of every subgroup.

Folds split the pairs at random, so their spread says how sure a mean is; groups split them by who is in them, and their
differences are the result. Reflexive pairs are left out when the scores know their examples, as in
`pairlearn.evaluation.rates`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.rates import accuracy_at, det_curve
from pairlearn.evaluation.scores import Scores, as_names, first_missing, is_missing
from pairlearn.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class OverFolds:
    """One number per fold, (n_folds,), their mean and the standard error of the mean.

    >>> found = OverFolds(np.array([0.8, 0.9, 1.0]))
    >>> round(found.mean, 6), round(found.standard_error, 6), str(found)
    (0.9, 0.057735, '0.9 ± 0.05774')
    """

    values: Floats

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(self.values.mean())

    @property
    def standard_error(self) -> float:
        """Standard deviation over the folds (n − 1) through √n; folds share training data, so it is a rough guide."""
        return float(self.values.std(ddof=1) / np.sqrt(len(self.values)))

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.standard_error:.4g}"


def over_folds(scores: Scores, folds: Any, rate: Callable[[Scores], float]) -> OverFolds:
    """Any rate of the pairs of each fold; `folds` holds one value per pair, results come by rising value.

    >>> from pairlearn.evaluation import equal_error_rate
    >>> scores = Scores([0.1, 0.4, 0.6, 0.8, 0.1, 0.9], [-1, 1, -1, 1, -1, 1])
    >>> over_folds(scores, [0, 0, 0, 0, 1, 1], equal_error_rate).values.tolist()
    [0.5, 0.0]
    """
    return OverFolds(np.array([rate(scores[inside]) for inside in _each_fold(scores, folds)]))


@dataclass(frozen=True, eq=False)
class FoldAccuracies(OverFolds):
    """Accuracies by fold, and the thresholds, (n_folds,), chosen without the fold."""

    thresholds: Floats


def accuracy_over_folds(scores: Scores, folds: Any) -> FoldAccuracies:
    """Accuracy of each fold at the threshold with the best accuracy on all other folds, as is the custom for LFW.

    `folds` holds one value per pair. Among equally good thresholds the middle of the widest gap is taken.

    >>> scores = Scores([0.1, 0.9, 0.2, 0.8, 0.3, 0.5], [-1, 1, -1, 1, -1, 1])
    >>> found = accuracy_over_folds(scores, [0, 0, 1, 1, 2, 2])
    >>> found.thresholds.round(3).tolist(), found.values.round(3).tolist()
    ([0.4, 0.4, 0.5], [1.0, 1.0, 1.0])
    """
    insides = _each_fold(scores, folds)
    thresholds = [_most_accurate(scores[~inside].without_reflexive()) for inside in insides]
    accuracies = [accuracy_at(scores[inside], at) for inside, at in zip(insides, thresholds, strict=True)]
    return FoldAccuracies(np.array(accuracies), np.array(thresholds))


def _each_fold(scores: Scores, folds: Any) -> list[Bools]:
    """Marks of the pairs of each fold, by rising name."""
    column = np.asarray(folds)
    if column.shape != (len(scores),):
        raise InputError(f"folds must hold one value per pair, {len(scores)}, got shape {column.shape}")
    names = np.unique(column)
    if len(names) < 2:
        raise InputError("one fold has no others to compare with; give two or more")
    return [column == name for name in names]


def _most_accurate(scores: Scores) -> float:
    """The threshold with the fewest wrong decisions, in the middle of the widest gap that has them."""
    curve, n_positives = det_curve(scores), len(scores.positives)
    wrong = np.rint(curve.fnmr * n_positives) + np.rint(curve.fmr * (len(scores) - n_positives))
    edges = np.concatenate([curve.thresholds[:1], curve.thresholds[:-1], curve.thresholds[-2:-1]])
    low, high = edges[:-1], edges[1:]  # every threshold in (low, high] has the same rates
    best = int(np.argmax(np.where(wrong == wrong.min(), high - low, -1.0)))
    if best == len(wrong) - 1:
        return float(np.nextafter(low[best], np.inf))  # rejects all
    middle = 0.5 * (low[best] + high[best])
    return float(middle if middle > low[best] else high[best])


@dataclass(frozen=True)
class GroupRates:
    """Error rates of one subgroup at a threshold; NaN where it has no such pairs."""

    group: Any
    n_positives: int
    n_negatives: int
    fmr: float
    fnmr: float


def rates_by_group(scores: Scores, threshold: float, groups: Any) -> tuple[GroupRates, ...]:
    """FMR and FNMR of every subgroup at one common threshold; `groups` holds one value per pair.

    Values that belong to examples are made into one per pair by `pair_groups`.

    >>> scores = Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1])
    >>> [(each.group, each.fmr, each.fnmr) for each in rates_by_group(scores, 0.65, ["u", "v", "u", "v"])]
    [('u', 0.0, 0.0), ('v', 0.0, 0.0)]
    """
    column, value = as_names(groups), float(threshold)
    if np.isnan(value):
        raise InputError("threshold is NaN; pass a number, such as that of threshold_at_eer")
    if column.shape != (len(scores),):
        raise InputError(
            f"groups must hold one value per pair, {len(scores)}, got shape {column.shape}; "
            "pair_groups(scores, groups) makes them from one value per example"
        )
    if (pair := first_missing(column)) is not None:
        raise InputError(f"pair {pair} has no group ({column[pair]}); give it one, such as 'unknown', or drop the pair")
    if scores.left is not None and scores.right is not None:
        different = scores.left != scores.right
        scores, column = scores[different], column[different]
    names = _distinct(column)
    found = zip(names, names.tolist(), strict=True)
    return tuple(_of_group(scores[column == name], value, shown) for name, shown in found)


def _distinct(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    try:
        return np.unique(column)
    except TypeError as error:
        raise InputError("groups are of types that cannot be compared; write all of them as text") from error


def pair_groups(scores: Scores, groups: Mapping[Any, Any]) -> np.ndarray[Any, Any]:
    """One group per pair from one per example: "u" for two examples of u, "u & v" for one of each, in either order.

    groups: from example id, as in the scores' columns left and right, to group.

    >>> scores = Scores([0.1, 0.6, 0.7], [-1, 1, 1], left=[0, 0, 2], right=[1, 2, 1])
    >>> pair_groups(scores, {0: "men", 1: "women", 2: "men"}).tolist()
    ['men & women', 'men', 'men & women']
    """
    if scores.left is None or scores.right is None:
        raise InputError("the scores do not know their examples; give Scores left and right, or one group per pair")
    ids = np.unique(np.concatenate([scores.left, scores.right])).tolist()
    missing = [each for each in ids if each not in groups or is_missing(groups[each])]
    if missing:
        have = "example has" if len(missing) == 1 else "examples have"
        raise InputError(f"{len(missing)} {have} no group, e.g. {missing[0]!r}; add to the mapping")
    names = np.array([str(groups[each]) for each in ids])
    one, other = (names[np.searchsorted(ids, column)] for column in (scores.left, scores.right))
    low, high = np.where(one <= other, one, other), np.where(one <= other, other, one)
    return np.where(low == high, low, np.char.add(np.char.add(low, " & "), high))


def _of_group(scores: Scores, threshold: float, group: Any) -> GroupRates:
    positives, negatives = scores.positives, scores.negatives
    fmr = float(np.mean(negatives >= threshold)) if len(negatives) else float("nan")
    fnmr = float(np.mean(positives < threshold)) if len(positives) else float("nan")
    return GroupRates(group, len(positives), len(negatives), fmr, fnmr)
