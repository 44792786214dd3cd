"""Start from a baseline: its score as one more feature of every pair, with a learnt weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels import Kernel
from pairlearn.kernels.content import ByContent
from pairlearn.kernels.vector import Standardised
from pairlearn.pair_kernels.kernel import PairKernel, from_view
from pairlearn.pair_kernels.views import Law, ViewKernel
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats


@dataclass(frozen=True, eq=False, repr=False)
class ModelScores(ByContent):
    """Shows the scores that fitted models give to each pair, (n, models); views are equal when their models are."""

    models: tuple[Any, ...]

    needs_pairs = False

    def __post_init__(self) -> None:
        for model in self.models:
            if not callable(getattr(model, "decision_function", None)):
                raise InputError(
                    f"a {type(model).__name__} gives no scores; pass a fitted model with decision_function"
                )
            if getattr(getattr(model, "function_", None), "sign", 0) < 0:
                raise InputError(
                    f"the scores of a {type(model).__name__} change sign with the order of a pair, and on_score needs "
                    "some that do not; give them as features, pl.Pairs(…, signed=model.decision_function(pairs)), "
                    "to a kernel with pl.pair_kernels.on_signed(…)"
                )

    @property
    def blocks(self) -> tuple[str, ...]:
        return ()

    def show(self, pairs: Pairs) -> Floats:
        return np.column_stack([np.asarray(model.decision_function(pairs), dtype=float) for model in self.models])

    def show_block(self, probe: Examples, gallery: Examples) -> Floats:
        """The scores of every probe with every gallery example, one row per pair, gallery first."""
        for model in self.models:
            if not callable(getattr(model, "score_block", None)):
                raise InputError(f"a {type(model).__name__} has no score_block; score pl.Pairs instead")
        blocks = [np.asarray(model.score_block(probe, gallery), dtype=float) for model in self.models]
        return np.column_stack([block.ravel() for block in blocks])

    def law(self, kernel: Kernel) -> Law:
        return "symmetric"

    def _content(self) -> Iterator[Any]:
        """Types, parameters and learnt numbers of the models."""
        yield str(joblib.hash([(type(model).__name__, vars(model)) for model in self.models])).encode()

    def _summary(self) -> str:
        return ", ".join(getattr(model, "in_short", type(model).__name__) for model in self.models)


def on_score(*models: Any, weight: float = 1.0) -> PairKernel:
    """weight · ⟨s(a, b), s(c, d)⟩, s the standardised scores of fitted symmetric models: symmetric, one rank per model.

    Added to a pair kernel, the machine learns how far to trust the models and what to add to them, so that few
    training classes do not make it worse than no training. A large weight starts nearly from the models themselves.
    Models that learnt from the same pairs score these too well: StackedPairSVC fits them on other classes.

    >>> import pairlearn as pl
    >>> kernel = pl.pair_kernel("tensor_metric") + pl.pair_kernels.on_score(pl.CosineBaseline(), weight=10.0)
    >>> kernel.symmetry
    'symmetric'
    """
    if not models:
        raise InputError("on_score needs at least one fitted model, e.g. pl.CosineBaseline()")
    return from_view(ViewKernel(ModelScores(models), Standardised())) * weight
