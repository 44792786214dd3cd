"""What scikit-learn calls the features of a table: their number and, for a data frame, their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn.types import Examples


def feature_names(examples: Examples) -> Any:
    """The column names of a data frame as an array of objects; None for tables without, as in scikit-learn.

    >>> feature_names(np.eye(2)) is None
    True
    """
    names = np.asarray(getattr(examples, "columns", ()), dtype=object)
    return names if len(names) and all(isinstance(name, str) for name in names) else None


def note_features(estimator: Any, pairs: Any) -> None:
    """Set `n_features_in_` and `feature_names_in_` of an estimator that was fitted on these pairs.

    Both are those of the examples, of two tables those of the left one. Examples that are not rows of numbers have
    no features, and an estimator that forgets old ones must not keep their names.
    """
    shape: tuple[int, ...] = getattr(pairs.examples, "shape", ())
    found = {"n_features_in_": shape[1] if len(shape) == 2 else None, "feature_names_in_": pairs.feature_names}
    for name, value in found.items():
        vars(estimator).pop(name, None)
        if value is not None:
            setattr(estimator, name, value)
