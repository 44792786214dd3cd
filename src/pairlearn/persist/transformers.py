"""The transformers of scikit-learn that a model file may hold inside of `OnExamples`, and what each has learnt.

Arrays are held against each other when a file is read: a mean that is too short would be stretched over all features
by NumPy without a word, and what does not fit at all would fail only when the first pair is scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np

from pairlearn.errors import InputError

NUMBER, PART = "", "part"
"""In place of a shape: a single number, and another transformer."""
_SPECTRUM = "explained_variance_ explained_variance_ratio_ singular_values_"
LEARNT: dict[str, dict[str, str]] = {
    "StandardScaler": {"d": "mean_ var_ scale_", NUMBER: "n_samples_seen_"},
    "MinMaxScaler": {"d": "min_ scale_ data_min_ data_max_ data_range_", NUMBER: "n_samples_seen_"},
    "RobustScaler": {"d": "center_ scale_"},
    "MaxAbsScaler": {"d": "max_abs_ scale_", NUMBER: "n_samples_seen_"},
    "Normalizer": {},
    "PCA": {"kd": "components_", "d": "mean_", "k": _SPECTRUM, NUMBER: "n_components_ n_samples_ noise_variance_"},
    "TruncatedSVD": {"kd": "components_", "k": _SPECTRUM},
    "QuantileTransformer": {"qd": "quantiles_", "q": "references_", NUMBER: "n_quantiles_"},
    "PowerTransformer": {"d": "lambdas_", PART: "_scaler"},
    "VarianceThreshold": {"d": "variances_"},
}
"""What each transformer has learnt beside `n_features_in_`, by shape: d features, k components, q quantiles."""
PLACES = {"PCA": "decomposition", "TruncatedSVD": "decomposition", "VarianceThreshold": "feature_selection"}
"""Packages of scikit-learn that these are in; all others are in preprocessing."""


class Transformers(Mapping[str, type[Any]]):
    """The classes by name, each loaded when a model needs it: all of them take longer than reading a model."""

    def __getitem__(self, name: str) -> type[Any]:
        if name not in LEARNT:
            raise KeyError(name)
        return getattr(import_module(f"sklearn.{PLACES.get(name, 'preprocessing')}"), name)

    def __iter__(self) -> Iterator[str]:
        return iter(LEARNT)

    def __len__(self) -> int:
        return len(LEARNT)


def is_transformer(kind: type[Any]) -> bool:
    """Whether a class is one of them."""
    return kind.__module__.startswith("sklearn.") and Transformers().get(kind.__name__) is kind


def learnt_names(kind: type[Any]) -> set[str]:
    """The names of everything that a transformer of this kind has learnt.

    >>> sorted(learnt_names(Transformers()["RobustScaler"]))
    ['center_', 'n_features_in_', 'scale_']
    """
    return {"n_features_in_", *" ".join(LEARNT[kind.__name__].values()).split()}


def check_transformer(transformer: Any) -> int:
    """Refuse a fitted transformer whose arrays do not fit each other; otherwise the number of features it gives."""
    sizes = {"d": transformer.n_features_in_}
    for shape, names in LEARNT[type(transformer).__name__].items():
        for name in names.split():
            _check_shape(f"{type(transformer).__name__}.{name}", vars(transformer).get(name), shape, sizes)
    # Without arrays nothing bounds the number of features that a file claims, and nothing changes it.
    return _try(transformer, sizes["d"]) if LEARNT[type(transformer).__name__] else sizes["d"]


def _check_shape(name: str, value: Any, shape: str, sizes: dict[str, int]) -> None:
    """Hold a value against its shape; sizes that were not met before are noted. Switched off, a part is None."""
    if value is None or shape == PART:
        return
    if shape == NUMBER:
        fits = isinstance(value, Real)
    else:
        known = isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim == len(shape)
        fits = known and all(sizes.setdefault(axis, n) == n for axis, n in zip(shape, value.shape, strict=True))
    if not fits:
        raise InputError(f"{name} has the wrong type or shape")


def _try(transformer: Any, n_features: int) -> int:
    """Features of a transformed row of ones, which every method takes: what is missing shows here, not at a pair."""
    with np.errstate(all="ignore"):
        found = transformer.transform(np.ones((1, n_features)))
    if np.ndim(found) != 2 or len(found) != 1:
        raise InputError(f"a {type(transformer).__name__} does not give one row for each")
    return int(np.shape(found)[1])
