"""Baselines that know examples by their number only: who won how often, and what was measured on average.

What a machine has to beat when pairs are ordered or have numbers. All have `fit(pairs, y)` and `decision_function`;
an example that no training pair had is as good as the mean one.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.features import note_features, same_features
from pairlearn.interrupts import delayed
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.pairs.labels import check_signs, one_per_pair
from pairlearn.types import Floats

ORDERS = "+1 (left first), -1 (right first) or 0 (tie)"


class Remembers(BaseEstimator):
    """What is fitted on pairs and asked of pairs of examples with the same features."""

    def _learnt_from(self, X: Any) -> Pairs:
        pairs = as_pairs(X)
        note_features(self, pairs)
        return pairs

    def _asked(self, X: Any) -> Pairs:
        check_is_fitted(self)
        pairs = same_features(self, as_pairs(X))
        known, shape = getattr(self, "n_features_in_", None), getattr(pairs.examples, "shape", ())
        if known is not None and shape[1:] != (known,):
            raise InputError(f"examples have {shape[1:]} features, but the model was fitted with ({known},)")
        return pairs


class ByRow(Remembers):
    """What knows examples by their row alone, and so is fitted on and asked of pairs of the same table."""

    def _learnt_from(self, X: Any) -> Pairs:
        pairs = super()._learnt_from(X)
        self.rows_ = rows_of(pairs)
        return pairs

    def _asked(self, X: Any) -> Pairs:
        pairs = super()._asked(X)
        if rows_of(pairs) != self.rows_:
            known, given = (" and ".join(f"{n:,}" for n in rows) for rows in (self.rows_, rows_of(pairs)))
            raise InputError(
                f"{type(self).__name__} knows examples by their row and learnt from a table of {known} rows, these "
                f"pairs have one of {given}; pass pl.Pairs of the same table, or a machine that learns from features"
            )
        return pairs


def rows_of(pairs: Pairs) -> tuple[int, ...]:
    """How many rows the table has; both tables, where there are two."""
    both = pairs.examples, pairs.right_examples
    return tuple(count_examples(table) for table in both if table is not None)


def finite_numbers(y: Any, n_pairs: int) -> Floats:
    """One finite number per pair.

    >>> finite_numbers([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    values = one_per_pair(y, n_pairs).astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("y contains NaN or infinity; leave these pairs out")
    return values


class Coin(BaseEstimator):
    """No preference at all: 0 of every pair, which is right half of the time.

    >>> Coin().fit(None, None).decision_function(Pairs(np.eye(2), [0], [1])).tolist()
    [0.0]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Nothing is learnt."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Floats:
        """Zeros, (n_pairs,)."""
        return np.zeros(len(as_pairs(X)))


class WinShare(ByRow):
    """s_left − s_right, s = (wins + ½ ties + 1)/(comparisons + 2): who won more often, whoever it was against.

    >>> matches = Pairs(np.eye(3), [0, 0, 1], [1, 2, 2])
    >>> WinShare().fit(matches, [1, 1, 0]).shares_.tolist()
    [0.75, 0.375, 0.375]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Count; y is +1 (left first), −1 (right first) or 0 (tie)."""
        pairs = self._learnt_from(X)
        n, won = pairs.n_examples, shares_won(y, pairs)
        wins = np.bincount(pairs.left, won, n) + np.bincount(pairs.right, 1.0 - won, n)
        compared = np.bincount(pairs.left, minlength=n) + np.bincount(pairs.right, minlength=n)
        self.shares_: Floats = (wins + 1.0) / (compared + 2.0)
        return self

    def decision_function(self, X: Any) -> Floats:
        """> 0 where left won more often, (n_pairs,)."""
        pairs = self._asked(X)
        return np.asarray(self.shares_[pairs.left] - self.shares_[pairs.right])


class BradleyTerry(ByRow):
    """P(left first) = 1/(1 + exp(β_right − β_left)), one strength β per example; ties are half a win for either side.

    min ½‖β‖²/C + Σ log(1 + exp(−y(β_left − β_right))): the penalty keeps whoever won everything finite.

    >>> matches = Pairs(np.eye(3), [0, 0, 1], [1, 2, 2])
    >>> BradleyTerry().fit(matches, [1, 1, 1]).strengths_.argsort().tolist()
    [2, 1, 0]
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> Self:
        """Learn strengths; y is +1 (left first), −1 (right first) or 0 (tie)."""
        pairs = self._learnt_from(X)
        rows, won = sides(pairs, -1), shares_won(y, pairs)
        # Both results of every pair, weighed by how far each one came true: ties need no case of their own.
        both = np.repeat([1, -1], len(won))
        # Loaded here: a model that needs none of it is read and scored in half the time.
        with delayed():
            from sklearn.linear_model import LogisticRegression

        machine = LogisticRegression(C=self.C, fit_intercept=False, max_iter=1000)
        machine.fit(sparse.vstack([rows, rows]), both, sample_weight=np.concatenate([won, 1.0 - won]))
        self.strengths_: Floats = machine.coef_[0]
        return self

    def decision_function(self, X: Any) -> Floats:
        """β_left − β_right, (n_pairs,)."""
        return np.asarray(sides(self._asked(X), -1) @ self.strengths_)


class Elo(ByRow):
    """Ratings that follow the results, one by one: r_left += s·(w − 1/(1 + exp(r_right − r_left))).

    w: 1 won, ½ tied, 0 lost; r_right moves by as much the other way. Chess counts in units of 400/log 10, where
    s = 0.115 is K = 20. Rows have to stand in the order of time.

    >>> matches = Pairs(np.eye(2), [0, 0, 1], [1, 1, 0])
    >>> Elo(step=1.0).fit(matches, [1, 0, 1]).ratings_.round(3).tolist()
    [-0.362, 0.362]
    """

    def __init__(self, step: float = 0.115) -> None:
        self.step = step

    def fit(self, X: Any, y: Any) -> Self:
        """Go through the results; y is +1 (left first), −1 (right first) or 0 (tie)."""
        pairs = self._learnt_from(X)
        ratings, won = [0.0] * pairs.n_examples, shares_won(y, pairs).tolist()
        for left, right, result in zip(pairs.left.tolist(), pairs.right.tolist(), won, strict=True):
            gain = self.step * (result - 1.0 / (1.0 + np.exp(ratings[right] - ratings[left])))
            ratings[left] += gain
            ratings[right] -= gain
        self.ratings_: Floats = np.array(ratings)
        return self

    def decision_function(self, X: Any) -> Floats:
        """r_left − r_right after the last result, (n_pairs,)."""
        pairs = self._asked(X)
        return np.asarray(self.ratings_[pairs.left] - self.ratings_[pairs.right])


class ExampleMeans(ByRow):
    """μ + α_left + sign·α_right by least squares with a slight penalty: what is known of either side by itself.

    Two tables have an α each. sign = −1 where swapping a pair turns the sign of its number; then μ = 0.

    >>> pairs = Pairs(np.eye(2), [0, 0, 1, 1], [0, 1, 0, 1], right_examples=np.eye(2))
    >>> means = ExampleMeans(penalty=1e-9).fit(pairs, [1.0, 2.0, 3.0, 4.0])
    >>> means.decision_function(pairs).round(3).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """

    def __init__(self, sign: int = 1, penalty: float = 1.0) -> None:
        self.sign = sign
        self.penalty = penalty

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from one number per pair."""
        with delayed():
            from sklearn.linear_model import Ridge

        pairs = self._learnt_from(X)
        self.model_ = Ridge(self.penalty, fit_intercept=self.sign > 0, solver="sparse_cg", tol=1e-6)
        self.model_.fit(sides(pairs, self.sign), finite_numbers(y, len(pairs)))
        return self

    def decision_function(self, X: Any) -> Floats:
        """The number that is expected of every pair, (n_pairs,)."""
        rows = sides(self._asked(X), self.sign)
        return np.asarray(self.model_.predict(rows))


class MeanValue(Remembers):
    """The mean of the training numbers for every pair.

    >>> pairs = Pairs(np.eye(2), [0], [1])
    >>> MeanValue().fit(pairs, [3.0]).decision_function(pairs).tolist()
    [3.0]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Average."""
        self.mean_ = float(finite_numbers(y, len(self._learnt_from(X))).mean())
        return self

    def decision_function(self, X: Any) -> Floats:
        """The mean, (n_pairs,)."""
        return np.full(len(self._asked(X)), self.mean_)


def shares_won(y: Any, pairs: Pairs) -> Floats:
    """What the left example won of every comparison: 1, ½ of a tie, 0.

    >>> shares_won([1, 0, -1], Pairs(np.eye(2), [0, 0, 0], [1, 1, 1])).tolist()
    [1.0, 0.5, 0.0]
    """
    return (1.0 + check_signs(y, len(pairs), ORDERS, "; use np.sign")) / 2.0


def sides(pairs: Pairs, sign: int) -> Any:
    """Who stands where, sparse (n_pairs, n_examples): 1 at the left example and `sign` at the right one.

    Right examples of a table of their own come after the left ones.

    >>> sides(Pairs(np.eye(3), [0], [2]), -1).toarray().tolist()
    [[1.0, 0.0, -1.0]]
    """
    n = len(pairs)
    left, right = pairs.columns
    shift = 0 if pairs.right_examples is None else pairs.n_examples
    values = np.repeat([1.0, float(sign)], n)
    rows, columns = np.tile(np.arange(n), 2), np.concatenate([left, right + shift])
    return sparse.csr_array((values, (rows, columns)), shape=(n, shift + count_examples(pairs.right_table)))
