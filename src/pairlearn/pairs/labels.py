"""Labels of pairs: ±1 with both kinds present, or also 0 where that means something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.pairs.classes import class_codes
from pairlearn.types import Floats, Ints

if TYPE_CHECKING:
    from pairlearn.pairs.pairs import Pairs


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """Labels ±1 of all pairs by the classes of their examples, without a number per pair.

    `PairSVC.fit(pl.all_pairs(X), pl.ClassLabels(classes))` says the same as `pairs.labels(classes)`, and lets a machine
    learn from hundreds of millions of pairs that no memory could list.

    >>> import pairlearn as pl
    >>> pl.ClassLabels(["u", "u", "v"]).of(pl.all_pairs([[0.0], [1.0], [2.0]], reflexive=False)).tolist()
    [1, -1, -1]
    """

    classes: Any

    def of(self, pairs: Pairs) -> Ints:
        """One label per pair, (n_pairs,)."""
        return pairs.labels(self.classes)

    def codes(self, pairs: Pairs) -> Ints:
        """The class of every example as a number, (n_examples,)."""
        return class_codes(self.classes, pairs.n_examples)


def check_labels(y: Any, n_pairs: int) -> Floats:
    """Labels ±1 as float64 with both classes present, or an error that says what to do."""
    labels = one_per_pair(y, n_pairs)
    words = labels.dtype.kind in "OSU"
    same = "np.asarray(y) == 'same'" if words else "same"
    meant = ", with your own word for pairs of one class" if words else ""
    _refuse_others(labels, "biuf", (-1, 1), "+1 or -1", f"; use np.where({same}, 1, -1){meant}")
    values = labels.astype(np.float64)
    if abs(values.sum()) == n_pairs:
        raise InputError(
            f"all {n_pairs} labels are {int(values[0]):+d}; both classes are needed "
            "(pl.OneClassPairSVM, `fit --machine one_class`, learns from positive pairs alone)"
        )
    return values


def check_signs(y: Any, n_pairs: int, meaning: str, advice: str = "") -> Floats:
    """Labels +1, −1 or 0 as float64; `meaning` says what they stand for, `advice` what to do about others."""
    labels = one_per_pair(y, n_pairs)
    _refuse_others(labels, "iuf", (-1, 0, 1), meaning, advice)
    return labels.astype(np.float64)


def one_per_pair(y: Any, n_pairs: int) -> np.ndarray[Any, Any]:
    """The labels as an array, one per pair."""
    labels = np.asarray(y)
    if labels.shape != (n_pairs,):
        raise InputError(f"y must hold one label per pair, {n_pairs}, got shape {labels.shape}")
    return labels


def _refuse_others(labels: np.ndarray[Any, Any], kinds: str, known: tuple[int, ...], meaning: str, advice: str) -> None:
    if labels.dtype.kind not in kinds or not np.isin(labels, known).all():
        found = np.unique(labels.astype(str))[:5].tolist()
        raise InputError(f"labels must be {meaning}, found {found}{advice}")
