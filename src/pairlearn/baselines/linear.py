"""Baselines that learn a linear map of the examples, then compare by Euclid or cosine.

Everything is learnt from the examples that the training pairs refer to, and from no others. Classes, where a
baseline needs them, are the connected components of the positive pairs, or `fit(pairs, y, classes=…)`. Reflexive
pairs (a, a) are left out of training: their difference is zero whatever the data.

`shrinkage` mixes a covariance with a multiple of the identity, C ← (1 − ρ) C + ρ (tr C / d) I, which keeps it
invertible with more features than examples; "auto" takes ρ from Ledoit and Wolf's formula. `pca` reduces the
examples first: a number of components or the share of variance to keep.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.untrained import CosineBaseline, EuclidBaseline, rows_of_numbers
from pairlearn.errors import ConflictWarning, InputError
from pairlearn.examples import check_examples
from pairlearn.pairs import Pairs, as_pairs, check_labels, class_codes
from pairlearn.types import Examples, Floats, Ints

Shrinkage = float | Literal["auto"]
Measure = Literal["euclid", "cosine"]
Components = int | float | None
MEASURES: dict[str, EuclidBaseline] = {"euclid": EuclidBaseline(), "cosine": CosineBaseline()}


# --------------------------------------------------------------------------- training data


@dataclass(frozen=True)
class Training:
    """Rows in use, pairs of their numbers without reflexive ones, labels ±1 and perhaps classes."""

    rows: Floats
    left: Ints
    right: Ints
    labels: Floats
    classes: Ints | None = None

    @cached_property
    def groups(self) -> Ints:
        """Class number of each row: as given, else the connected components of the positive pairs."""
        if self.classes is not None:
            return self.classes
        left, right = self.left[self.labels > 0], self.right[self.labels > 0]
        edges = sparse.coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(len(self.rows),) * 2)
        groups = connected_components(edges.tocsr(), directed=False)[1]
        _warn_of_conflicts(int(np.sum((self.labels < 0) & (groups[self.left] == groups[self.right]))))
        return groups

    def differences(self, sign: int) -> Iterable[Floats]:
        """a − b of the pairs with this label, block by block."""
        chosen = np.nonzero(self.labels == sign)[0]
        step = max(1, 2**22 // self.rows.shape[1])
        for t in range(0, len(chosen), step):
            part = chosen[t : t + step]
            yield self.rows[self.left[part]] - self.rows[self.right[part]]


def _warn_of_conflicts(count: int) -> None:
    if count:
        warnings.warn(
            f"{count} negative pairs join examples that positive pairs connect, so classes may have been merged; "
            "correct these labels or pass fit(pairs, y, classes=…)",
            ConflictWarning,
            stacklevel=2,
        )


def training_set(X: Any, y: Any, classes: Any = None) -> Training:
    """The part of pairs and labels that baselines learn from."""
    pairs = dense_pairs(X)
    labels, (compact, (used,)) = check_labels(y, len(pairs)), pairs.compacted()
    left, right = compact.columns
    proper = left != right
    left, right, labels = left[proper], right[proper], labels[proper]
    if len(np.unique(labels)) < 2:
        kind = "positive" if not np.any(labels > 0) else "negative"
        raise InputError(f"no {kind} pair joins two different examples; add some such pairs")
    codes = None if classes is None else class_codes(classes, pairs.n_examples, used)
    return Training(_sized(compact.examples.astype(np.float64)), left, right, labels, codes)


def _sized(rows: Floats) -> Floats:
    """The rows, if their fourth powers neither overflow nor vanish."""
    largest = float(np.abs(rows).max(initial=0.0))
    if largest > 0 and not 1e-60 < largest < 1e60:
        raise InputError(f"the largest feature is {largest:.0e}, too extreme for covariances; rescale the examples")
    return rows


def dense_pairs(X: Any) -> Pairs:
    """Pairs over one dense table of rows."""
    pairs = rows_of_numbers(as_pairs(X))
    dense_rows(pairs.examples)
    return pairs


def dense_rows(X: Examples) -> Floats:
    """The table, if it is a dense 2-D array."""
    if sparse.issparse(X):
        raise InputError(
            "this baseline needs dense rows; put pl.OnExamples(TruncatedSVD(100)) before it in a pipeline, "
            "or pass examples.toarray() if that fits in memory"
        )
    if not (isinstance(X, np.ndarray) and X.ndim == 2):
        raise InputError("this baseline compares rows of numbers; pass a 2-D array")
    return X


# --------------------------------------------------------------------------- covariances


def class_means(rows: Floats, groups: Ints) -> tuple[Floats, Ints]:
    """Mean of each class, (c, d), and its size, (c,)."""
    sizes = np.bincount(groups)
    members = sparse.csr_array((np.ones(len(rows)), (groups, np.arange(len(rows)))), shape=(len(sizes), len(rows)))
    return (members @ rows) / sizes[:, None], sizes


def residuals(training: Training) -> tuple[Floats, Ints]:
    """Rows minus their class mean for classes of at least two examples, and the size of each row's class."""
    means, sizes = class_means(training.rows, training.groups)
    of_row = sizes[training.groups]
    shared = of_row > 1
    if not shared.any():
        raise InputError("every class has a single example; add positive pairs or classes with two examples")
    return training.rows[shared] - means[training.groups[shared]], of_row[shared]


def covariance(blocks: Iterable[Floats], shrinkage: Shrinkage, most: int | None = None) -> Floats:
    """Mean of xxᵀ over the rows of all blocks, shrunk; `most` caps the number of independent rows."""
    if shrinkage != "auto" and not 0.0 <= shrinkage <= 1.0:
        raise InputError(f'shrinkage must lie in [0, 1] or be "auto", got {shrinkage!r}; try "auto"')
    total: Any = 0.0
    fourth, n = 0.0, 0
    for rows in blocks:
        total = total + rows.T @ rows
        fourth += float(np.sum(np.einsum("ij,ij->i", rows, rows) ** 2))
        n += len(rows)
    C: Floats = np.asarray(total) / n
    rho = ledoit_wolf(C, fourth / n, min(n, most or n)) if shrinkage == "auto" else shrinkage
    return (1.0 - rho) * C + rho * (np.trace(C) / len(C)) * np.eye(len(C))


def ledoit_wolf(C: Floats, fourth: float, n: int) -> float:
    """Ledoit and Wolf's shrinkage from a covariance, the mean of ‖x‖⁴ and the number of rows."""
    squares = float(np.sum(C * C))
    misfit = squares - float(np.trace(C)) ** 2 / len(C)
    if fourth - squares <= 1e-12 * squares:
        # All rows are one vector up to sign, which tells nothing of the other directions: treat all alike.
        return 1.0
    noise = min((fourth - squares) / n, misfit)
    return noise / misfit if noise > 0 else 0.0


def inverse_root(C: Floats, name: str) -> Floats:
    """W with WWᵀ = C⁻¹, or an error that says how to make C invertible."""
    values, vectors = eigh(C)
    if values[0] <= values[-1] * len(C) * np.finfo(float).eps:
        raise InputError(
            f'the {name} covariance is singular; pass shrinkage="auto" or larger, pca=0.95, '
            "or more pairs of examples that differ"
        )
    return vectors / np.sqrt(values)


def principal_axes(rows: Floats, n_components: Components) -> tuple[Floats, Floats]:
    """Axes (d, k) of largest variance and their variances; axes without variance are left out."""
    if not np.any(rows != rows[0]):
        raise InputError("all training examples are equal; give examples that differ")
    pca = PCA().fit(rows)
    variances = pca.explained_variance_
    rank = int(np.sum(variances > variances[0] * max(rows.shape) * np.finfo(float).eps))
    k = _how_many(n_components, variances[:rank])
    return pca.components_[:k].T, variances[:k]


def _how_many(n_components: Components, variances: Floats) -> int:
    if n_components is None:
        return len(variances)
    if isinstance(n_components, float) and 0.0 < n_components < 1.0:
        shares = np.cumsum(variances) / np.sum(variances)
        return min(int(np.searchsorted(shares, n_components)) + 1, len(variances))
    if n_components != int(n_components) or not 1 <= n_components <= len(variances):
        raise InputError(
            f"{n_components!r} principal components cannot be had: the training examples span {len(variances)}; "
            "pass an integer up to that, or a share of variance such as 0.95"
        )
    return int(n_components)


def best_threshold(scores: Floats, labels: Floats) -> float:
    """Midpoint between two scores that maximises the true minus the false positive rate."""
    order = np.argsort(scores)
    scores, positive = scores[order], labels[order] > 0
    gain = np.cumsum(~positive) / np.sum(~positive) - np.cumsum(positive) / np.sum(positive)
    cuts = np.nonzero(np.diff(scores) > 0)[0]
    if len(cuts) == 0:
        return float(scores[0])
    best = cuts[np.argmax(gain[cuts])]
    return float(scores[best] / 2 + scores[best + 1] / 2)


# --------------------------------------------------------------------------- estimators


class LearntBaseline(ClassifierMixin, BaseEstimator):
    """What all learnt baselines share: z = (x − mean_) @ projection_, then a score of z and z'.

    `threshold=None` is set at fit where the true minus the false positive rate of the training pairs is largest.
    """

    threshold: float | None
    mean_: Floats
    projection_: Floats

    def fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from pairs and labels ±1; `classes`, one per example, replaces the classes told by the pairs."""
        training = training_set(X, y, classes)
        self.n_features_in_ = training.rows.shape[1]
        self._learn(training)
        self.classes_ = np.array([-1, 1])
        self.threshold_ = self._learnt_threshold(training) if self.threshold is None else float(self.threshold)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Score of every pair, (n_pairs,); larger = more alike."""
        check_is_fitted(self, "classes_")
        # Pairs often use a small part of a large table: map that part only.
        pairs = dense_pairs(X).compacted().pairs
        return self._scores(self._mapped(pairs.examples), *pairs.columns)

    def predict(self, X: Any) -> Ints:
        """+1 (same) where the score is above the threshold, else −1."""
        return np.where(self.decision_function(X) > self.threshold_, 1, -1)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """Score of every probe with every gallery example, (p, g)."""
        check_is_fitted(self, "classes_")
        rows = [dense_rows(check_examples(X, name)) for X, name in ((probe, "probe"), (gallery, "gallery"))]
        return self._block(self._mapped(rows[0]), self._mapped(rows[1]))

    def _learnt_threshold(self, training: Training) -> float:
        scores = self._scores(self._mapped(training.rows), training.left, training.right)
        return best_threshold(scores, training.labels)

    def _mapped(self, rows: Floats) -> Floats:
        if rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"examples have {rows.shape[1]} features, but the baseline was fitted with {self.n_features_in_}; "
                "pass the same features"
            )
        return self._map(rows)

    def _map(self, rows: Floats) -> Floats:
        return (rows - self.mean_) @ self.projection_

    def _learn(self, training: Training) -> None:
        raise NotImplementedError

    def _scores(self, Z: Floats, left: Ints, right: Ints) -> Floats:
        raise NotImplementedError

    def _block(self, probe: Floats, gallery: Floats) -> Floats:
        raise NotImplementedError


class MetricBaseline(LearntBaseline):
    """A projection learnt after an optional PCA, then −‖z − z'‖ or the cosine of z and z'."""

    pca: Components = None
    measure: Measure = "euclid"

    def _learn(self, training: Training) -> None:
        self.mean_ = training.rows.mean(axis=0)
        rows = training.rows - self.mean_
        if self.pca is None:
            self.projection_ = self._projection(replace(training, rows=rows))
            return
        axes, _ = principal_axes(rows, self.pca)
        self.projection_ = axes @ self._projection(replace(training, rows=rows @ axes))

    def _projection(self, training: Training) -> Floats:
        raise NotImplementedError

    def _measure(self) -> EuclidBaseline:
        if self.measure not in MEASURES:
            raise InputError(f'measure must be "euclid" or "cosine", got {self.measure!r}')
        return MEASURES[self.measure]

    def _scores(self, Z: Floats, left: Ints, right: Ints) -> Floats:
        return self._measure()._scores(Z, left, right)

    def _block(self, probe: Floats, gallery: Floats) -> Floats:
        return self._measure().score_block(probe, gallery)


class PCACosineBaseline(MetricBaseline):
    """g(a, b) = cos(Pᵀ(a − m), Pᵀ(b − m)), P the principal axes, over their standard deviations if `whiten`.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[2.0, 0.0], [4.0, 0.0], [-6.0, 0.0]]), [0, 0], [1, 2])
    >>> PCACosineBaseline().fit(pairs, [1, -1]).decision_function(pairs).tolist()
    [1.0, -1.0]
    """

    measure: Measure = "cosine"

    def __init__(
        self, n_components: Components = 0.95, whiten: bool = False, *, threshold: float | None = None
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.threshold = threshold

    def _projection(self, training: Training) -> Floats:
        axes, variances = principal_axes(training.rows, self.n_components)
        return axes / np.sqrt(variances) if self.whiten else axes


class WCCNBaseline(MetricBaseline):
    """cos(Wᵀ(a − m), Wᵀ(b − m)) with WWᵀ = C⁻¹, C the mean over classes of their covariances.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[3.0, 1.0], [3.0, -1.0], [-3.0, 1.0], [-3.0, -1.0]]), [0, 2, 0], [1, 3, 2])
    >>> WCCNBaseline(shrinkage=0.5).fit(pairs, [1, 1, -1]).decision_function(pairs).round(3).tolist()
    [0.929, 0.929, -0.929]
    """

    def __init__(
        self,
        measure: Measure = "cosine",
        *,
        pca: Components = None,
        shrinkage: Shrinkage = "auto",
        threshold: float | None = None,
    ) -> None:
        self.measure = measure
        self.pca = pca
        self.shrinkage = shrinkage
        self.threshold = threshold

    def _projection(self, training: Training) -> Floats:
        rows, sizes = residuals(training)
        # A row weighs 1 / size, so that every class counts the same; mean weight 1 keeps the scale.
        weights = 1.0 / sizes
        rows = rows * np.sqrt(weights / weights.mean())[:, None]
        return inverse_root(covariance([rows], self.shrinkage), "within-class")


class RCABaseline(MetricBaseline):
    """g(a, b) = −√((a − b)ᵀ C⁻¹ (a − b)), C = 1/n Σ (x − m_c)(x − m_c)ᵀ over the classes of two examples or more.

    Relevant component analysis; `pca` first makes it robust where features outnumber examples.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0], [4.0], [10.0]]), [0, 0], [1, 2])
    >>> RCABaseline().fit(pairs, [1, -1]).decision_function(pairs).tolist()
    [-2.0, -5.0]
    """

    def __init__(
        self, pca: Components = None, *, shrinkage: Shrinkage = "auto", threshold: float | None = None
    ) -> None:
        self.pca = pca
        self.shrinkage = shrinkage
        self.threshold = threshold

    def _projection(self, training: Training) -> Floats:
        return inverse_root(covariance([residuals(training)[0]], self.shrinkage), "within-class")
