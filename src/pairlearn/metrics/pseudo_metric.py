"""Online learning of pseudo-metrics (POLA): a distance from a stream of pairs, with a bound on its loss.

If some A* ⪰ 0, b* ≥ 1 has no loss on any pair and ‖x − x'‖⁴ + 1 + γ ≤ R, then Σ loss² ≤ R·(‖A*‖² + (b* − b₁)²) whatever
the order and number of pairs; a wrong prediction has a loss of at least 1, so there are no more mistakes than that.
Lengths matter: scale examples to a length near 1 when nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError, warn_user
from pairlearn.examples import by_blocks, check_examples
from pairlearn.features import note_features, same_features
from pairlearn.metrics.metric_state import LARGEST, MetricState
from pairlearn.pairs import Pairs, as_pairs, check_signs
from pairlearn.types import Examples, Floats, Ints

Sweep = Callable[[int, float], bool | None]
"""Called after each sweep of `fit` with its number and the largest loss that is left; True stops."""
ZERO = 1e-12
"""Eigenvalues below this share of the largest one are rounding."""


class PseudoMetric(ClassifierMixin, TransformerMixin, BaseEstimator):
    """What the two versions share: the loop over pairs, and everything that follows from coordinates."""

    threshold: float
    gamma: float
    beta: float
    max_sweeps: int
    n_components: int | None
    callback: Sweep | None
    state_: MetricState
    span_: Any

    # -- learning

    def learn_one(self, a: Any, b: Any, y: int) -> Self:
        """Learn from one pair: y = +1 similar, −1 dissimilar."""
        return self.partial_fit(_pair_of(a, b), np.array([y]))

    def predict_one(self, a: Any, b: Any) -> int:
        """+1 (similar) or −1; before anything was learnt all distances are 0, and all pairs similar."""
        return int(self.predict(_pair_of(a, b))[0]) if self.is_learnt else 1

    @property
    def is_learnt(self) -> bool:
        """Whether any pair has been learnt from."""
        return "state_" in vars(self)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from pairs one by one, in their order, on top of what is known."""
        pairs, labels = self._checked(X, y)
        with self._all_or_nothing(len(pairs)):
            if not self.is_learnt:
                self._begin(pairs)
            self._check_width(same_features(self, pairs).examples)
            self._sweep(pairs, labels)
        return self

    @contextmanager
    def _all_or_nothing(self, n_pairs: int) -> Iterator[None]:
        """What is refused on the way leaves the metric as it was; a single pair is refused before A changes."""
        before = dict(vars(self))
        if self.is_learnt:
            matrix = self.state_.matrix
            before["state_"] = replace(self.state_, matrix=matrix.copy() if n_pairs > 1 else matrix)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                yield
        except InputError:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then sweep over the pairs until no loss exceeds `beta`, measured after each sweep.

        Ends after `max_sweeps` with a warning; Ctrl-C ends it too and leaves the metric learnt so far.
        """
        pairs, labels = self._checked(X, y)
        if len(np.unique(labels)) < 2:
            raise InputError(
                f"all {len(labels)} labels are {labels[0]:+g}; both similar and dissimilar pairs are needed"
            )
        with self._all_or_nothing(len(pairs)):
            self._begin(pairs)
            self.n_sweeps_, self.fit_status_ = 0, "interrupted"
            with suppress(KeyboardInterrupt):
                self.fit_status_ = self._sweeps(pairs, labels)
        self.max_loss_ = self._largest_loss(pairs, labels)
        if self.max_loss_ > self.beta:
            warn_user(
                f"{self.fit_status_} after {self.n_sweeps_} sweeps with a largest loss of {self.max_loss_:.3g}, above "
                f"beta = {self.beta:g}; the metric is usable. Raise max_sweeps or beta; if no metric can tell these "
                "pairs apart, gamma > 0 makes single pairs weigh less",
                ConvergenceWarning,
            )
        return self

    def _sweeps(self, pairs: Pairs, labels: Floats) -> str:
        for sweep in range(1, self.max_sweeps + 1):
            self._sweep(pairs, labels)
            self.n_sweeps_ = sweep
            worst = self._largest_loss(pairs, labels)
            if worst <= self.beta:
                return "converged"
            if self.callback is not None and self.callback(sweep, worst):
                return "stopped"
        return "iteration limit"

    def _sweep(self, pairs: Pairs, labels: Floats) -> None:
        """One pass over the pairs in their order.

        A pair without loss changes nothing, and its difference need not be in the span. One with a loss that points out
        of the span extends it first; A gets a row and a column of zeros, since nothing was known of that direction.
        """
        state = self.state_
        for item, y in zip(self._items(pairs), labels.astype(int).tolist(), strict=True):
            found = self.span_.locate(item)
            v = found.coordinates
            loss = state.observe(v, y) if found.square < LARGEST else np.inf
            if loss == 0:
                continue
            if not loss < LARGEST:
                raise _too_large(pairs.examples)
            if found.length > 0:
                span, v = self.span_.extended(found)
                matrix = np.pad(state.matrix, (0, len(v) - len(state.matrix)))
                # Both at once: Ctrl-C comes before or after, never between.
                self.span_, state.matrix = span, matrix
            state.update(v, y, loss / (found.square**2 + 1.0 + self.gamma))
            self.span_, state.matrix = self.span_.simplified(state.matrix)

    def _largest_loss(self, pairs: Pairs, labels: Floats) -> float:
        """max(0, 1 − y·(b − d²)) over all pairs, by the metric as it is now."""
        return max(0.0, float(np.max(1.0 - labels * self.decision_function(pairs))))

    def _checked(self, X: Any, y: Any) -> tuple[Pairs, Floats]:
        if not self.threshold >= 1 or not np.isfinite(self.threshold):
            raise InputError(f"threshold must be a number ≥ 1, got {self.threshold!r}; scale the examples instead")
        for name, lowest in (("gamma", 0.0), ("beta", 0.0), ("max_sweeps", 1)):
            if not getattr(self, name) >= lowest:
                raise InputError(f"{name} must be at least {lowest:g}, got {getattr(self, name)!r}")
        pairs = _one_table(as_pairs(X))
        if not len(pairs):
            raise InputError("there are no pairs to learn from")
        labels = check_signs(y, len(pairs), "+1 (similar) or -1 (dissimilar)")
        if not labels.all():
            raise InputError("a label is 0, but only +1 (similar) and -1 (dissimilar) teach a metric; drop such pairs")
        return pairs, labels

    def _begin(self, pairs: Pairs) -> None:
        self.span_ = self._span(pairs)
        self.state_ = MetricState(np.zeros((len(self.span_), len(self.span_))), float(self.threshold))
        self.classes_ = np.array([-1, 1])
        note_features(self, pairs)

    def _span(self, pairs: Pairs) -> Any:
        """The empty span in which differences of these examples are held."""
        raise NotImplementedError

    def _items(self, pairs: Pairs) -> Iterable[Any]:
        """What the span locates of every pair: a difference, or two examples with their anchors."""
        raise NotImplementedError

    def _check_width(self, examples: Examples) -> None:
        """Refuse examples that cannot be compared with those learnt from."""
        raise NotImplementedError

    # -- using

    @property
    def threshold_(self) -> float:
        """b: pairs with d² < b are similar."""
        return self.state_.threshold

    def decision_function(self, X: Any) -> Floats:
        """b − d² of every pair, (n_pairs,); larger = more alike."""
        check_is_fitted(self, "state_")
        pairs = same_features(self, _one_table(as_pairs(X)))
        self._check_width(pairs.examples)
        compact, matrix = pairs.compacted().pairs, self.state_.matrix
        rows = self.span_.coordinates(compact.examples)
        if len(pairs) > 4 * len(matrix):  # then a root of A costs less than it saves
            weighted = rows = rows @ self._root(None)
        else:
            weighted = rows @ matrix

        def distances(a: Ints, b: Ints) -> Floats:
            return np.einsum("ij,ij->i", rows[a] - rows[b], weighted[a] - weighted[b])

        return self.threshold_ - np.maximum(by_blocks(*compact.columns, distances, rows.shape[1]), 0.0)

    def predict(self, X: Any) -> Ints:
        """+1 (similar) where b − d² > 0, else −1."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    def transform(self, X: Examples | Pairs) -> Any:
        """Map examples so that Euclid's distance is the learnt one, (n, q): A^½ x up to a rotation.

        The axes are the eigenvectors of A by falling eigenvalue; `n_components` keeps the first q of them. Pairs come
        back as pairs over the mapped examples, so that a metric can stand before a machine in a pipeline.
        """
        check_is_fitted(self, "state_")
        if isinstance(X, Pairs):
            return same_features(self, _one_table(X)).with_examples(self.transform(X.examples))
        return self.span_.coordinates(self._table(X)) @ self._root(self.n_components)

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Pairs:
        """Fit, and the same pairs over the mapped examples."""
        pairs = as_pairs(X)
        return self.fit(pairs, y, **options).transform(pairs)

    def distance(self, A: Examples, B: Examples) -> Floats:
        """d of every example of A with every example of B, (len(A), len(B))."""
        check_is_fitted(self, "state_")
        root = self._root(None)
        a, b = (self.span_.coordinates(self._table(X)) @ root for X in (A, B))
        return np.sqrt(np.maximum(_squares(a)[:, None] + _squares(b)[None, :] - 2.0 * (a @ b.T), 0.0))

    def distance_one(self, a: Any, b: Any) -> float:
        """d of two examples; as `KNeighborsClassifier(metric=model.distance_one)` slower than `transform` before it."""
        return float(np.sqrt(self.threshold_ - self.decision_function(_pair_of(a, b))[0]))

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """b − d² of every probe with every gallery example, (p, g)."""
        return self.threshold_ - self.distance(probe, gallery) ** 2

    def _root(self, n_components: int | None) -> Floats:
        """W with A = W Wᵀ in coordinates, columns by falling eigenvalue, (r, q).

        By eigenvectors, not by Cholesky: A is only semidefinite, and its first q columns are the best q dimensions.
        """
        values, vectors = eigh(self.state_.matrix) if len(self.state_.matrix) else (np.zeros(0), np.zeros((0, 0)))
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = np.flatnonzero(values > ZERO * values.max(initial=0.0))[:n_components]
        return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))

    def _table(self, X: Examples) -> Examples:
        table = check_examples(same_features(self, X))
        self._check_width(table)
        return table


def _too_large(examples: Examples) -> InputError:
    """Squares of distances, and their squares, must stay finite."""
    numbers = examples.data if sparse.issparse(examples) else examples
    found = f"values up to {np.abs(numbers).max():.3g}" if isinstance(numbers, np.ndarray) else "kernel values"
    return InputError(f"examples have {found}, whose distances are too large for float64: scale the examples")


def _squares(rows: Floats) -> Floats:
    return np.einsum("ij,ij->i", rows, rows)


def _one_table(pairs: Pairs) -> Pairs:
    return pairs.require_one_table("a pseudo-metric compares examples of one table; these pairs join two")


def _pair_of(a: Any, b: Any) -> Pairs:
    """One pair as Pairs."""
    if sparse.issparse(a):
        return Pairs(sparse.csr_array(sparse.vstack([sparse.csr_array(x.reshape(1, -1)) for x in (a, b)])), [0], [1])
    return Pairs(np.stack([a, b]) if isinstance(a, np.ndarray) else [a, b], [0], [1])
