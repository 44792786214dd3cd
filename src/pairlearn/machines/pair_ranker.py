"""Preferences: which of the two comes first?"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples
from pairlearn.features import same_features
from pairlearn.functions.function import PairFunction
from pairlearn.machines.machine import PairMachine, check_positive
from pairlearn.machines.pair_svc import classification
from pairlearn.machines.parameters import parameter
from pairlearn.machines.ranking import Ranking, rank_by
from pairlearn.pair_kernels import PairKernel
from pairlearn.pairs import Pairs, check_signs
from pairlearn.types import Examples, Floats, Ints


class PairRanker(
    ClassifierMixin,
    PairMachine,
    parameters="kernel base C draws tol time_budget memory_budget random_state"
    " * warm_start mirrored solver callback checkpoint",
):
    """Preference machine with an antisymmetric pair kernel: g(b, a) = −g(a, b) exactly, g > 0 = left first.

    min ½θᵀKθ − yᵀθ over 0 ≤ y_i θ_i ≤ C·weight_i, no bias and no equality constraint;
    g(a, b) = Σ θ_k K((a, b), pair_k).

    Labels: +1 left first, −1 right first, 0 a draw. A draw counts as half a win for either side (`draws="half"`):
    it costs nothing while |g| ≤ 1 and pulls g back towards 0 beyond; `draws="drop"` leaves draws out.
    Repeated matches with different results are data, not contradictions. All labels may be +1 (the winner listed
    first): the swapped pair is implied.

    Parameters
    ----------
    kernel : "difference" (the ranking SVM: g is a difference of utilities), "wedge" (can express cycles), or any
        antisymmetric PairKernel.
    draws : "half" or "drop".
    base, C, tol, time_budget, memory_budget, random_state, warm_start, solver, callback, checkpoint : as in PairSVC.
    mirrored : train on both orders of every pair with an order-invariant kernel, for checking; slower.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> strength = np.array([[3.0], [1.0], [2.0]])
    >>> ranker = pl.PairRanker(C=10.0).fit(pl.Pairs(strength, [0, 0, 2], [1, 2, 1]), [1, 1, 1])
    >>> ranker.rank(strength).order.tolist()
    [0, 2, 1]
    """

    kernel: str | PairKernel = parameter(default="difference", kw_only=False)
    C: float = parameter(default=1.0, kw_only=False)
    draws: Literal["half", "drop"] = "half"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from Pairs (or an (n, 2, d) array) and labels +1 (left first), −1 (right first), 0 (draw)."""
        check_positive(self, C="1.0")
        if self.draws not in ("half", "drop"):
            raise InputError(f'draws is "half" or "drop", got {self.draws!r}')
        training = self._prepare(X, sign=-1)
        labels = check_outcomes(y, training.pairs)
        boxes = self.C * self._weights(len(labels), sample_weight)
        decided, drawn = np.nonzero(labels)[0], np.nonzero(labels == 0)[0]
        if not boxes[decided].any():
            raise InputError("all decided pairs have weight 0; give some of them a weight > 0")
        n_draws = len(drawn)
        if n_draws:
            drawn = drawn if self.draws == "half" else drawn[:0]
            order = np.concatenate([decided, drawn, drawn])
            halves = np.ones(len(drawn))
            labels = np.concatenate([labels[decided], halves, -halves])
            boxes = np.concatenate([boxes[decided], 0.5 * boxes[drawn], 0.5 * boxes[drawn]])
            training = training.chosen(order)
        self._learn(training, classification(labels, boxes, total=None))
        self.n_draws_ = n_draws
        self.classes_ = np.array([-1, 1])
        return self

    def predict(self, X: Any) -> Ints:
        """+1 where left comes first, −1 where right does; 0 only where g is exactly 0 (two equal examples)."""
        return np.sign(self.decision_function(X)).astype(np.int64)

    def rank(self, examples: Examples) -> Ranking:
        """A total order of these examples from the learnt relation, best first, with its ties and cycles.

        The score of an example is its mean advantage over all others, s_a = mean_b g(a, b): the least-squares fit of
        s_a − s_b to g(a, b), exact when g is a difference of utilities. Equal scores keep the order of the rows and
        are listed in `ties`. Kernels with `signed` features are ranked at signed = 0 (neutral ground).
        """
        check_is_fitted(self, "function_")
        examples = check_examples(same_features(self, examples))
        if count_examples(examples) == 0:
            raise InputError("there are no examples to rank; give at least one")
        return rank_by(lambda rows: advantages(self.function_, examples, rows), count_examples(examples))


def advantages(function: PairFunction, examples: Examples, rows: Ints) -> Floats:
    """g(a, b) for a in `rows` and every b, (len(rows), m)."""
    if function.n_tables == 2 or "invariant" in function.kernel.blocks:
        raise InputError("the order depends on `invariant` features of each pair; score the pairs you care about")
    if not all(view.blocks for view, _, _ in function.seen):
        raise InputError("this kernel knows only its own pairs; score the pairs you care about")
    width = next((table.shape[1] for view, _, table in function.seen if view.blocks == ("signed",)), None)
    if width is None and "signed" in function.kernel.blocks:
        raise InputError("this kernel mixes `signed` features with others; score pl.Pairs(…, signed=zeros) yourself")
    m = count_examples(examples)
    left, right = np.repeat(rows, m), np.tile(np.arange(m), len(rows))
    signed = None if width is None else np.zeros((len(left), width))
    return function(Pairs(examples, left, right, signed=signed)).reshape(len(rows), m)


def check_outcomes(y: Any, pairs: Pairs) -> Floats:
    """Labels +1, −1 or 0 as float64, at least one decided, none on a reflexive pair."""
    meaning = "+1 (left first), -1 (right first) or 0 (draw)"
    labels = check_signs(y, len(pairs), meaning, "; use np.sign")
    if pairs.reflexive.any():
        raise InputError(
            f"{int(pairs.reflexive.sum())} pairs compare an example with itself, which says nothing about order; "
            "drop them: pairs[~pairs.reflexive]"
        )
    if not labels.any():
        raise InputError("all labels are 0; at least one pair must be decided")
    return labels
