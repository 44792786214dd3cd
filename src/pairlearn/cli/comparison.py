"""A model beside the untrained baselines: DET curves, error rates, and one sentence on who wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

import pairlearn as pl
from pairlearn.cli.terminal import percent, table
from pairlearn.evaluation import DetCurve, Scores, det_curve
from pairlearn.pairs import Pairs
from pairlearn.types import Floats, Ints

MODEL = "model"
FMRS = (1e-2, 1e-3)


def compare(
    machine: Any, pairs: Pairs, labels: Ints, values: Floats | None = None, *, reflexive: bool = False
) -> dict[str, DetCurve]:
    """DET curves of a model and, where examples are rows of features, of the untrained baselines.

    `values` are the model's scores of these pairs, if they are known already.
    """
    found = {MODEL: machine.decision_function(pairs) if values is None else values}
    found |= {name: baseline.decision_function(pairs) for name, baseline in baselines(machine).items()}
    scores = {name: Scores(each, labels, left=pairs.left, right=pairs.right) for name, each in found.items()}
    return {name: det_curve(each, reflexive=reflexive) for name, each in scores.items()}


def baselines(machine: Any) -> dict[str, Any]:
    """The untrained baselines, or none for a model on a precomputed matrix, whose rows are not features."""
    function = getattr(machine, "function_", None)
    precomputed = function is not None and any(base.precomputed for base in function.kernel.bases)
    return {} if precomputed else {"euclid": pl.EuclidBaseline(), "cosine": pl.CosineBaseline()}


def rates(curve: DetCurve) -> dict[str, float]:
    """The figures of one curve by name."""
    missed = {f"fnmr@fmr={fmr:g}": curve.fnmr_at(fmr) for fmr in FMRS}
    return {"eer": curve.equal_error_rate, "auc": curve.area_under_roc, **missed}


def rates_table(curves: Mapping[str, DetCurve], title: str) -> Table:
    """A table with one line per machine."""
    drawn = table(("", "EER", "AUC", *(f"FNMR at FMR {100 * fmr:g} %" for fmr in FMRS)), title)
    for name, curve in curves.items():
        cells = [f"{value:.4f}" if key == "auc" else percent(value) for key, value in rates(curve).items()]
        drawn.add_row(name if name == MODEL else f"{titled(name)} (untrained)", *cells)
    return drawn


def verdict(curves: Mapping[str, DetCurve]) -> str:
    """One sentence: does the model beat the best untrained baseline?"""
    eers = {name: curve.equal_error_rate for name, curve in curves.items()}
    own = eers.pop(MODEL)
    if not eers:
        return f"The model's EER is {percent(own)}; a precomputed matrix has no untrained baseline to compare."
    best = min(eers, key=lambda name: eers[name])
    relation = "beats" if own < eers[best] else "does NOT beat"
    return (
        f"The model {relation} the best untrained baseline: EER {percent(own)} against {percent(eers[best])} of "
        f"untrained {titled(best)}."
    )


def titled(name: str) -> str:
    """The name of a machine as it is written in a sentence."""
    return name.replace("euclid", "Euclid")
