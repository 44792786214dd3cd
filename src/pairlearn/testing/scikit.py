"""scikit-learn's own checks, by their names, on estimators of pairs.

`check_estimator` feeds rows of numbers, which no estimator of pairs takes. `OnRows` stands between: it makes a pair
of every row, the row and the row read backwards (halved and moved, so that no pair is of one example). One row more is
one pair more, a feature is a feature, and NaN stays NaN. What scikit-learn then sees of parameters, fitted state,
order, subsets, copies and weights is the estimator's own. Two classes become the labels ±1. Sparse rows, names of
columns, one-dimensional input and accuracy are left out, for they would test the translation or a task that these pairs
do not have, and so are checks of the words of a message; what must be refused at all is in `estimators`.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import Any, Self
from unittest import SkipTest

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from pairlearn.pairs import Pairs
from pairlearn.testing.laws import LawError
from pairlearn.types import Floats

LEARNING = ("check_estimators_unfitted", "check_no_attributes_set_in_init")
"""Not for what needs no training: it is fitted from the start."""
ITSELF = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
    "check_estimator_tags_renamed",
)
"""Checks that need no data, tried on the estimator itself."""
INPUT = (
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
    "check_f_contiguous_array_estimator",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
)
"""Checks of what may be fed, tried on `OnRows` that makes `Pairs` and on one that makes arrays (n, 2, d)."""
STATE = (
    "check_estimators_fit_returns_self",
    "check_fit_check_is_fitted",
    "check_estimators_unfitted",
    "check_estimators_overwrite_params",
    "check_dont_overwrite_parameters",
    "check_dict_unchanged",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_estimators_pickle",
)
"""Checks of what an estimator becomes, tried on `OnRows` that makes `Pairs`."""
WEIGHTS = (
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_all_zero_sample_weights_error",
    "check_sample_weight_equivalence_on_dense_data",
)
"""Those of estimators whose fit takes `sample_weight`."""
TOL = 1e-11


class OnRows(BaseEstimator):
    """An estimator of pairs that takes rows: each row is paired with itself read backwards, as Pairs or as an array."""

    def __init__(self, estimator: Any = None, arrays: bool = False) -> None:
        self.estimator = estimator
        self.arrays = arrays

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy on the pairs of these rows."""
        return self._fit(X, y, {})

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> Self:
        pairs = self._pairs(X)
        self.estimator_ = clone(self.estimator).fit(pairs, self._labels(y, len(pairs)), **given)
        self._show()
        return self

    def _show(self) -> None:
        """Show what the estimator holds beside its parameters as one's own: that is what checks look at."""
        hidden = self.estimator_.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(self.estimator_).items() if name not in hidden})

    def decision_function(self, X: Any) -> Floats:
        """Scores of the pairs."""
        if not hasattr(self, "estimator_"):
            return clone(self.estimator).decision_function(self._pairs(X))
        values = self.estimator_.decision_function(self._pairs(X))
        self._show()
        return values

    def _pairs(self, X: Any) -> Any:
        rows = np.asarray(X)
        array = np.stack([rows, 0.5 * rows[:, ::-1] + 1.25], axis=1)
        array.flags.writeable = rows.flags.writeable
        return array if self.arrays else Pairs.from_array(array)

    def _labels(self, y: Any, n: int) -> Any:
        if is_regressor(self.estimator):
            return y
        if get_tags(self.estimator).estimator_type == "outlier_detector" or y is None:
            return np.ones(n)
        labels = np.asarray(y)
        return np.where(labels == labels.min(), -1, 1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.estimator_type = "regressor" if is_regressor(self.estimator) else "classifier"
        return tags


class OnWeightedRows(OnRows):
    """The same for estimators whose fit takes weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a copy on the pairs of these rows with these weights."""
        return self._fit(X, y, {"sample_weight": sample_weight})


def scikit_checks(estimator: Any, *, data: bool = True) -> Iterator[tuple[str, Any, Any]]:
    """Name, function and subject of every check that makes sense for this estimator, by the scikit-learn at hand."""
    # Loaded here: it brings a test runner along, where there is one.
    from sklearn.utils import estimator_checks

    weighted = has_fit_parameter(estimator, "sample_weight")
    kind = OnWeightedRows if weighted else OnRows
    subjects: list[tuple[tuple[str, ...], Any]] = [(ITSELF, estimator)]
    if data:
        subjects += [(STATE + INPUT + WEIGHTS * weighted, kind(estimator)), (INPUT, kind(estimator, arrays=True))]
    for names, subject in subjects:
        for name in names:
            if hasattr(estimator_checks, name):
                yield name, getattr(estimator_checks, name), subject


def at_the_optimum(subject: Any) -> Any:
    """A copy whose solver ends as near to the optimum as it can: two roads to it end at one place only there."""
    settings = subject.get_params()
    return clone(subject).set_params(**{name: TOL for name in settings if name.endswith("__tol")})


def try_scikit(estimator: Any, left_out: Collection[str] = (), *, data: bool = True) -> None:
    """Every check in turn but those left out; raises a LawError by the name of the first that fails."""
    for name, check, subject in scikit_checks(estimator, data=data):
        if name in left_out:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(type(subject).__name__, at_the_optimum(subject))
        except SkipTest:
            continue
        except Exception as error:
            raise LawError(f"{estimator!r} breaks the law {name!r}: {error}", name) from error
