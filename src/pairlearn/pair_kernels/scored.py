"""Start from a baseline: its score as one more feature of every pair, with a learnt weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import joblib
import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels import Kernel
from pairlearn.kernels.vector import Standardised
from pairlearn.pair_kernels.kernel import PairKernel, from_view
from pairlearn.pair_kernels.views import Law, Seen
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Scored:
    """Shows the score that a fitted model gives to each pair; two views are equal when their models are."""

    model: Any

    def __post_init__(self) -> None:
        if not hasattr(self.model, "decision_function"):
            raise InputError(
                f"a {type(self.model).__name__} gives no scores; pass a fitted model with decision_function"
            )

    @property
    def blocks(self) -> tuple[str, ...]:
        return ()

    def show(self, pairs: Pairs) -> Floats:
        return np.asarray(self.model.decision_function(pairs), dtype=np.float64).reshape(-1, 1)

    def show_block(self, probe: Examples, gallery: Examples) -> Floats:
        """The score of every probe with every gallery example, one row per pair, gallery first."""
        if not hasattr(self.model, "score_block"):
            raise InputError(f"a {type(self.model).__name__} has no score_block; score pl.Pairs instead")
        return np.asarray(self.model.score_block(probe, gallery), dtype=np.float64).reshape(-1, 1)

    def law(self, kernel: Kernel) -> Law:
        return "symmetric"

    @cached_property
    def digest(self) -> str:
        """Of the model's type, parameters and learnt numbers."""
        return str(joblib.hash((type(self.model).__name__, vars(self.model))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scored) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Scored({type(self.model).__name__}, {self.digest[:8]})"


def on_score(model: Any, weight: float = 1.0) -> PairKernel:
    """weight · s(a, b) s(c, d), s the standardised score of a fitted symmetric model: symmetric, rank one.

    Added to a pair kernel, the machine learns how far to trust the model and what to add to it, so that few training
    classes do not make it worse than no training. A large weight starts nearly from the model itself.

    >>> import pairlearn as pl
    >>> kernel = pl.pair_kernel("tensor_metric") + pl.on_score(pl.CosineBaseline(), weight=10.0)
    >>> kernel.symmetry
    'symmetric'
    """
    return from_view(Seen(Scored(model), Standardised())) * weight
