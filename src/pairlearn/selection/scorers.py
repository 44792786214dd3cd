"""Scorers under their old names, until 0.3; measures make them now: `pl.evaluation.EER().scorer()`."""

from __future__ import annotations

from typing import NoReturn

from pairlearn import _moved
from pairlearn.evaluation import AUC, EER, FnmrAtFmr, Scorer

minus_eer, plus_auc = EER().scorer(), AUC().scorer()


def minus_fnmr_at(fmr: float) -> Scorer:
    """What the class `FNMRAt` was."""
    return FnmrAtFmr(fmr).scorer()


def _unknown(name: str) -> NoReturn:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__getattr__ = _moved.also(_moved.SCORING, __name__, _unknown)
