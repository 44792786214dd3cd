"""A model beside the untrained baselines: DET curves, error rates, and the verdict on who wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from pairlearn import evaluation
from pairlearn.cli.run import untrained_models
from pairlearn.cli.terminal import percent, say, table
from pairlearn.evaluation import DetCurve, Scores, det_curve
from pairlearn.pairs import Pairs, class_codes
from pairlearn.types import Floats, Ints

MODEL = "model"
FMRS = (1e-2, 1e-3)


def compare(
    machine: Any, pairs: Pairs, labels: Ints, values: Floats | None = None, *, reflexive: bool = False
) -> dict[str, DetCurve]:
    """DET curves of a model and of the untrained baselines."""
    return curves_of(scored(machine, pairs, labels, values), reflexive=reflexive)


def scored(
    machine: Any, pairs: Pairs, labels: Ints, values: Floats | None = None, classes: Any = None
) -> dict[str, Scores]:
    """Scores of a model and, where examples are rows of features, of the untrained baselines.

    `values` are the model's scores of these pairs, if they are known already; `classes` those of the examples.
    """
    found = {MODEL: machine.decision_function(pairs) if values is None else values}
    found |= {name: baseline.decision_function(pairs) for name, baseline in baselines(machine, pairs).items()}
    known = None if classes is None else class_codes(classes)
    sides = () if known is None else (known[pairs.left], known[pairs.right])
    return {name: Scores(each, labels, pairs.left, pairs.right, *sides) for name, each in found.items()}


def curves_of(systems: Mapping[str, Scores], *, reflexive: bool = False) -> dict[str, DetCurve]:
    """DET curves by name."""
    return {name: det_curve(scores, reflexive=reflexive) for name, scores in systems.items()}


def baselines(machine: Any, pairs: Pairs | None = None) -> dict[str, Any]:
    """The untrained baselines; none where rows are no features (matrices) or cannot be compared (two tables)."""
    if pairs is not None and pairs.right_examples is not None:
        return {}
    function = getattr(machine, "function_", None)
    precomputed = function is not None and any(base.precomputed for base in function.kernel.bases)
    return {} if precomputed else untrained_models()


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


def verdict(systems: Mapping[str, Scores], **told: Any) -> dict[str, Any] | None:
    """The verdict on the model against the other systems as it stands in a record; None without any."""
    rivals = {titled(name): scores for name, scores in systems.items() if name != MODEL}
    return evaluation.verdict(systems[MODEL], rivals, **told).as_json() if rivals else None


def show_verdict(console: Console, found: Mapping[str, Any] | None) -> None:
    """The verdict and the next step, or why there is none."""
    if found is None:
        say(
            console,
            "No verdict: matrices of kernel values and pairs of two tables have no untrained baseline to compare with.",
        )
        return
    say(console, found["words"], lead="verdict:")
    say(console, found["next_step"], lead="next:")


def titled(name: str) -> str:
    """The name of a machine as it is written in a sentence."""
    return name.replace("euclid", "Euclid")
