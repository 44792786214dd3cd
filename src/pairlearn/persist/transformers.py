"""The transformers of scikit-learn that a model file may hold inside of `OnExamples`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

SCALERS = "StandardScaler MinMaxScaler RobustScaler MaxAbsScaler Normalizer QuantileTransformer PowerTransformer"
PLACES = {
    **dict.fromkeys(SCALERS.split(), "sklearn.preprocessing"),
    "PCA": "sklearn.decomposition",
    "TruncatedSVD": "sklearn.decomposition",
    "VarianceThreshold": "sklearn.feature_selection",
}
"""Where each is found."""


class Found(Mapping[str, type[Any]]):
    """Classes by name, each loaded when a model needs it: all of them take longer than reading a model."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)

    def __getitem__(self, name: str) -> type[Any]:
        return getattr(import_module(self.places[name]), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


TRANSFORMERS = Found(PLACES)
"""The transformers of examples that a pipeline in a file may have, by name."""


def is_transformer(kind: type[Any]) -> bool:
    """Whether a class is one of them."""
    return kind.__module__.startswith("sklearn.") and TRANSFORMERS.get(kind.__name__) is kind
