"""Laws of estimators on pairs: what scikit-learn expects of every estimator, and what pairs expect of these.

These laws try habits (parameters, cloning, pickling, refusals) on the pairs that an estimator is for, and what is
special to pairs: a score belongs to one pair, whatever stands beside it, and swapping a pair keeps it or turns its
sign. scikit-learn's own checks follow them (`scikit`). Quality of what is learnt is not judged here.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.pairs import Pairs, all_pairs
from pairlearn.testing.laws import Law, LawError, require, require_close, require_error, sample, try_all
from pairlearn.testing.scikit import LEARNING, try_scikit
from pairlearn.types import Floats, Ints

ROOM = 0.01
"""Share of the largest score within which predict may round either way: one-class machines leave a margin."""


@dataclass(frozen=True, repr=False)
class Trial:
    """An estimator and pairs to fit it on."""

    estimator: Any
    pairs: Pairs
    y: Any
    fit_params: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return repr(self.estimator)

    def fit(self, X: Any = None, y: Any = None) -> Any:
        """A fitted copy."""
        return clone(self.estimator).fit(self.pairs if X is None else X, self.y if y is None else y, **self.fit_params)

    @cached_property
    def model(self) -> Any:
        """A copy fitted on the pairs, once."""
        return self.fit()

    @property
    def learns(self) -> bool:
        """Whether fit is needed: an untrained baseline calls itself fitted from the start."""
        try:
            check_is_fitted(clone(self.estimator))
        except NotFittedError:
            return True
        return False

    @cached_property
    def arrays(self) -> Floats:
        """The pairs as numbers, (n, 2, d)."""
        return np.asarray(self.pairs)


def check_pair_estimator(
    estimator: Any,
    pairs: Pairs | None = None,
    y: Any = None,
    *,
    expected_failed_checks: Mapping[str, str] | None = None,
    **fit_params: Any,
) -> None:
    """Try every law of estimators on pairs; raise a LawError for the first that is broken.

    Then scikit-learn's own checks as far as they make sense for pairs (`pairlearn.testing.scikit`), on `Pairs` and on
    arrays (n, 2, d), by names such as check_methods_subset_invariance; those on data only for an estimator that needs
    no `fit_params`. `expected_failed_checks` are names of such checks, each with the reason why it must fail.

    Without pairs it is fitted on 66 pairs of 12 examples of 4 classes in three dimensions, labelled +1 (same class) and
    −1; pass others, of rows of numbers, where the estimator needs them (y antisymmetric for a ranker).

    An estimator needs get_params (`sklearn.base.BaseEstimator` has it), fit and decision_function. `predict` and
    `score_block` are tried where it has them: labels follow the sign of decision_function (of what it is above a
    `threshold`, where there is one), predictions of a regressor are its values, a block holds the scores of its pairs.

    >>> import pairlearn as pl
    >>> pl.testing.check_pair_estimator(pl.PairSVC())
    """
    _check_estimator(estimator)
    made, labels = training_pairs()
    given = made if pairs is None else pairs, labels if y is None else y
    trial = Trial(_seeded(estimator), *given, fit_params)
    try_all(ESTIMATOR_LAWS, trial)
    left_out = set(expected_failed_checks or ()) | set(() if trial.learns else LEARNING)
    try_scikit(trial.estimator, left_out, data=not fit_params)


NEEDED = {
    "get_params": "inherit from sklearn.base.BaseEstimator",
    "fit": "write fit(X, y), which learns from pairs and returns self",
    "decision_function": "write decision_function(X), one number for each pair, larger for more alike",
}
"""Methods that every estimator on pairs has, and what to do without one."""


def _check_estimator(estimator: Any) -> None:
    """Refuse what cannot be tried at all: a class, or something without the methods of an estimator on pairs."""
    if isinstance(estimator, type):
        raise InputError(f"{estimator.__name__} is a class; check an object of it, {estimator.__name__}()")
    missing = [name for name in NEEDED if not hasattr(estimator, name)]
    if missing:
        kind, advice = type(estimator).__name__, "; ".join(NEEDED[name] for name in missing)
        raise InputError(f"a {kind} is no estimator on pairs: it has no {', '.join(missing)}; {advice}")


def _seeded(estimator: Any) -> Any:
    """The same with a seed, where it takes one and has none: only then a second fit may be compared with the first."""
    if estimator.get_params(deep=False).get("random_state", 0) is None:
        return clone(estimator).set_params(random_state=0)
    return estimator


def training_pairs() -> tuple[Pairs, Ints]:
    """All pairs of 12 examples of 4 classes in three dimensions, and whether they are of one class."""
    random = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 3)
    pairs = all_pairs(2.0 * random.normal(size=(4, 3))[classes] + 0.5 * random.normal(size=(12, 3)), reflexive=False)
    return pairs, pairs.labels(classes)


def parameters(trial: Trial) -> None:
    """clone copies the parameters and nothing that was learnt; fit changes none of them."""
    copy = clone(trial.model)
    wanted, found = clone(trial.estimator).get_params(deep=False), copy.get_params(deep=False)
    changed = [name for name in wanted if repr(wanted[name]) != repr(found.get(name))]
    require(wanted.keys() == found.keys() and not changed, f"fit or clone changed the parameters {changed}")
    known = vars(clone(trial.estimator))
    learnt = [name for name in vars(copy) if name.endswith("_") and name not in known]
    require(not learnt, f"a clone has learnt attributes: {learnt}")


def settable(trial: Trial) -> None:
    """set_params takes what get_params gave and returns the estimator; an unknown name is refused."""
    copy = clone(trial.estimator)
    require(copy.set_params(**copy.get_params(deep=False)) is copy, "set_params does not return the estimator")
    require_error(ValueError, lambda: copy.set_params(no_such_parameter=1), "an unknown parameter")


def returns_itself(trial: Trial) -> None:
    """fit returns the estimator."""
    copy = clone(trial.estimator)
    require(copy.fit(trial.pairs, trial.y, **trial.fit_params) is copy, "fit returns something else")


def unfitted(trial: Trial) -> None:
    """Before fit, scores are refused with NotFittedError."""
    if trial.learns:
        copy = clone(trial.estimator)
        cure = (
            "(call check_is_fitted(self) first, or let __sklearn_is_fitted__ return True if there is nothing to learn)"
        )
        require_error(NotFittedError, lambda: copy.decision_function(trial.pairs), f"scoring before fit {cure}")


def one_value_per_pair(trial: Trial) -> None:
    """decision_function gives one finite number for each pair."""
    found = trial.model.decision_function(trial.pairs)
    require(np.shape(found) == (len(trial.pairs),), f"shape {np.shape(found)} for {len(trial.pairs)} pairs")
    require(bool(np.isfinite(found).all()), "NaN or infinity among the scores")


def predictions(trial: Trial) -> None:
    """predict, where there is one, says what the scores say: the value of a regressor, else the class by its sign."""
    if not hasattr(trial.model, "predict"):
        return
    scores, found = trial.model.decision_function(trial.pairs), np.asarray(trial.model.predict(trial.pairs))
    if is_regressor(trial.model):
        require_close(found, scores, "predict, beside decision_function")
        return
    low, high = getattr(trial.model, "classes_", (-1, 1))
    wrong = min((_on_the_wrong_side(found, scores, cut, high) for cut in _cuts(trial.model)), key=len)
    if len(wrong):
        at = (
            f"{found[wrong[0]]} where decision_function is {scores[wrong[0]]:.6g}, so for {len(wrong)} of {len(scores)}"
        )
        raise LawError(f"predict is {at} pairs; it must be {high} where that is > 0, else {low}")


def _cuts(model: Any) -> list[float]:
    """Where predict may change: at 0, or at a threshold of the scores that was learnt or given."""
    known = (getattr(model, name, None) for name in ("threshold_", "threshold"))
    return [0.0, *(float(each) for each in known if each is not None)]


def _on_the_wrong_side(found: Any, scores: Floats, cut: float, high: Any) -> Ints:
    """Places of pairs whose class is not that of their side of the cut, but for those that are near it."""
    clear = np.abs(scores - cut) > ROOM * np.abs(scores).max()
    return np.flatnonzero(clear & ((found == high) != (scores > cut)))


def slicing(trial: Trial) -> None:
    """The score of a pair does not depend on the others: no ranks and no means over the scored pairs."""
    chosen = sample(len(trial.pairs), min(len(trial.pairs), 7))
    expected = trial.model.decision_function(trial.pairs)[chosen]
    require_close(trial.model.decision_function(trial.pairs[chosen]), expected, "scores of some pairs alone", 1e-7)


def swapping(trial: Trial) -> None:
    """Swapped pairs have the same score, all of them, or the opposite one, all of them."""
    straight = trial.model.decision_function(trial.pairs)
    swapped = trial.model.decision_function(trial.pairs.swapped())
    scale = max(float(np.abs(straight).max()), np.finfo(float).tiny)
    same, opposite = (float(np.abs(swapped - sign * straight).max()) / scale for sign in (1.0, -1.0))
    require(min(same, opposite) <= 1e-9, f"g(b, a) is neither g(a, b) nor −g(a, b): off by {min(same, opposite):.3g}")


def arrays_too(trial: Trial) -> None:
    """An array (n, 2, d) is as good as Pairs."""
    expected = trial.model.decision_function(trial.pairs)
    try:
        found = trial.model.decision_function(trial.arrays)
    except (AttributeError, TypeError) as error:
        advice = "begin with X = pairlearn.pairs.as_pairs(X), which makes pairs of both"
        raise LawError(f"an array (n, 2, d) raises {type(error).__name__} ({error}); {advice}") from error
    require_close(found, expected, "scores of an array (n, 2, d)", 1e-7)


def blocks(trial: Trial) -> None:
    """score_block(probe, gallery) holds the scores of all pairs of probe and gallery, (p, g), or is refused.

    An estimator may have none: `pairlearn.scorers` then asks decision_function.
    """
    if not hasattr(trial.model, "score_block"):
        return
    probe, gallery = trial.pairs.examples[:3], trial.pairs.examples[2:6]
    left, right = (place.ravel() for place in np.meshgrid(np.arange(3), np.arange(2, 6), indexing="ij"))
    expected = trial.model.decision_function(Pairs(trial.pairs.examples, left, right)).reshape(3, 4)
    try:
        found = trial.model.score_block(probe, gallery)
    except InputError:  # some scores, such as those of a sphere, are made for single pairs
        return
    # A distance of equal examples from a matrix product is off by the root of the rounding.
    require_close(found, expected, "score_block", 1e-6)


def repetition(trial: Trial) -> None:
    """Fitted again on the same pairs, it gives the same scores."""
    again = trial.fit().decision_function(trial.pairs)
    require_close(again, trial.model.decision_function(trial.pairs), "scores after a second fit", 1e-12)


def storage(trial: Trial) -> None:
    """Pickled and read back, it gives the same scores."""
    try:
        back = pickle.loads(pickle.dumps(trial.model))
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise LawError(f"pickle refuses it ({error}); define its class in a module, keep no open files") from error
    expected = trial.model.decision_function(trial.pairs)
    require_close(back.decision_function(trial.pairs), expected, "scores after pickling", 1e-12)


def purity(trial: Trial) -> None:
    """fit leaves pairs and labels as they are: folds of a cross-validation share one table of examples."""
    examples, y = trial.pairs.examples.copy(), np.array(trial.y)
    trial.fit()
    require(np.array_equal(examples, trial.pairs.examples), "the examples were changed")
    require(np.array_equal(y, np.asarray(trial.y)), "the labels were changed")


def missing_values(trial: Trial) -> None:
    """NaN is refused with a ValueError, when fitting and when scoring."""
    spoilt = trial.arrays.copy()
    spoilt[1, 0, 0] = np.nan
    require_error(ValueError, lambda: trial.model.decision_function(spoilt), "NaN in a pair to score")
    if trial.learns:
        require_error(ValueError, lambda: trial.fit(spoilt), "NaN in a pair to fit")


def wrong_shapes(trial: Trial) -> None:
    """Triples, a label too few and another number of features are refused with a ValueError."""
    three = np.concatenate([trial.arrays, trial.arrays[:, :1]], axis=1)
    require_error(ValueError, lambda: trial.model.decision_function(three), "an array (n, 3, d)")
    if trial.learns:
        wide = np.concatenate([trial.arrays, trial.arrays], axis=2)
        require_error(ValueError, lambda: trial.model.decision_function(wide), "another number of features")
        require_error(ValueError, lambda: trial.fit(y=np.asarray(trial.y)[:-1]), "a label too few")


ESTIMATOR_LAWS: tuple[Law, ...] = (
    *(parameters, settable, returns_itself, unfitted, one_value_per_pair, predictions),
    *(slicing, swapping, arrays_too, blocks, repetition, storage, purity, missing_values, wrong_shapes),
)
"""What `check_pair_estimator` tries, in this order."""
