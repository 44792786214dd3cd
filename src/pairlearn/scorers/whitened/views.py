"""One way to compare two examples in the space of a base kernel: a frozen value with the choices that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels import as_kernel

Compare = Literal["cosine", "ratio"]
Cohort = Literal["none", "all", "nearest"]


@dataclass(frozen=True)
class View:
    """How two examples are compared: base kernel, shrinkage of the covariance within classes, score, cohort.

    `shrinkage` λ mixes the covariance within classes with a multiple of the identity. `compare` is the "cosine" of the
    whitened features, or the "ratio" log p(a, b | same) − log p(a, b | different) of Gaussian classes (PLDA). `cohort`
    counts the score in deviations from what an example scores with training examples: with "all" of them, with the
    "nearest" tenth, or as it is ("none").

    >>> View("rbf", shrinkage=0.3, compare="ratio")
    View(base=Gaussian(gamma='scale'), shrinkage=0.3, compare='ratio', cohort='none')
    """

    base: Any
    shrinkage: float = 0.1
    compare: Compare = "cosine"
    cohort: Cohort = "none"

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_kernel(self.base))
        if self.base.precomputed or len(self.base.sides) > 1:
            raise InputError("a view needs a base kernel that compares examples of one table, not a matrix of them")
        number = isinstance(self.shrinkage, (int, float, np.number)) and not isinstance(self.shrinkage, bool)
        if not number or not 0.0 < self.shrinkage <= 1.0:
            raise InputError(f"shrinkage lies above 0 and at 1 at most, got {self.shrinkage!r}; try 0.1")
        for name, choices in (("compare", Compare), ("cohort", Cohort)):
            if getattr(self, name) not in get_args(choices):
                raise InputError(f"{name} is one of {', '.join(get_args(choices))}, got {getattr(self, name)!r:.40}")
