"""Scorers under their old names, until 0.3; measures make them now: `pl.evaluation.EER().scorer()`."""

from __future__ import annotations

from typing import NoReturn

from pairlearn import _moved


def _unknown(name: str) -> NoReturn:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__getattr__ = _moved.old_scorers(__name__, _unknown)
