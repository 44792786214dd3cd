"""`pairlearn score`: values of pairs and, where labels are known, error rates beside untrained baselines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import pairlearn as pl
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.tables import PairTable
from pairlearn.data.writing import check_scores_target, scores_as_csv, write_scores
from pairlearn.errors import InputError
from pairlearn.evaluation import DetCurve, Scores, det_curve
from pairlearn.pairs import Pairs
from pairlearn.types import Floats, Ints

MODEL = "model"
FMRS = (1e-2, 1e-3)

ClassColumn = Annotated[
    str | None,
    typer.Option(help="Column of the classes, not a feature. Default: `class` (`classes` in .npz), if present."),
]
LeftColumn = Annotated[str, typer.Option(help="Column with the id of the left example.")]
RightColumn = Annotated[str, typer.Option(help="Column with the id of the right example.")]
LabelColumn = Annotated[str, typer.Option(help="Column of the labels: 1/-1, 1/0, true/false or same/different.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and everything else on stderr.")]


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that `pairlearn fit` wrote.")],
    examples: Annotated[
        Path, typer.Argument(metavar="EXAMPLES", help="Examples: .csv, .csv.gz, .parquet, .npz or .npy.")
    ],
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Pairs to score: columns left, right and perhaps label.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write scores as .csv or .parquet; otherwise to stdout.")
    ] = None,
    reflexive: Annotated[
        bool, typer.Option("--reflexive", help="Count pairs of an example with itself in the error rates.")
    ] = False,
    class_column: ClassColumn = None,
    left_column: LeftColumn = "left",
    right_column: RightColumn = "right",
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Score pairs with a model: larger means more alike.

    With labels it also prints error rates, beside those of the untrained Euclid and cosine baselines.
    """
    if out is not None:
        check_scores_target(out)
    machine = pl.load(model)
    table = read_pairs(pairs, left_column, right_column, label_column)
    tested = read_examples(examples, class_column).pairs(table)
    values = machine.decision_function(tested)
    # Scores on stdout keep it to themselves.
    console = Console(stderr=as_json or out is None)
    record: dict[str, Any] = {"model": str(model), "pairs": len(tested)}
    if table.labels is not None:
        record |= _show_rates(console, machine, tested, table, values, reflexive)
    if out is not None:
        write_scores(out, table.left, table.right, values, table.labels)
        record["out"] = str(out)
        console.print(f"{len(tested):,} scores written to {out}", highlight=False, soft_wrap=True)
    elif as_json:
        record["scores"] = values.tolist()
    else:
        sys.stdout.write(scores_as_csv(table.left, table.right, values, table.labels))
    if as_json:
        print(json.dumps(record))


def _show_rates(
    console: Console, machine: Any, pairs: Pairs, table: PairTable, values: Floats, reflexive: bool
) -> dict[str, Any]:
    assert table.labels is not None
    curves = compare(machine, pairs, table.labels, values, reflexive=reflexive)
    left_out = 0 if reflexive else int(pairs.reflexive.sum())
    console.print(f"labels read as {spelled(table.spelling)}", highlight=False)
    console.print(rates_table(curves, f"{len(pairs) - left_out:,} labelled pairs"))
    if left_out:
        console.print(f"{left_out:,} pairs of an example with itself are left out (--reflexive counts them)")
    console.print(verdict(curves), soft_wrap=True)
    return {
        "labels": table.spelling,
        "reflexive_left_out": left_out,
        "rates": {name: rates(curve) for name, curve in curves.items()},
        "verdict": verdict(curves),
    }


# --------------------------------------------------------------------------- model beside baselines


def compare(
    machine: Any, pairs: Pairs, labels: Ints, values: Floats | None = None, *, reflexive: bool = False
) -> dict[str, DetCurve]:
    """DET curves of a model and, where examples are rows of features, of the untrained baselines."""
    machines = {MODEL: machine, **baselines(machine)}
    curves: dict[str, DetCurve] = {}
    for name, each in machines.items():
        given = values if name == MODEL and values is not None else each.decision_function(pairs)
        scores = Scores(given, labels, left=pairs.left, right=pairs.right)
        curves[name] = det_curve(scores, reflexive=reflexive)
    return curves


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
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for heading in ("EER", "AUC", *(f"FNMR at FMR {100 * fmr:g} %" for fmr in FMRS)):
        table.add_column(heading, justify="right")
    for name, curve in curves.items():
        figures = rates(curve)
        cells = [f"{value:.4f}" if key == "auc" else f"{100 * value:.2f} %" for key, value in figures.items()]
        table.add_row(name if name == MODEL else f"{titled(name)} (untrained)", *cells)
    return table


def verdict(curves: Mapping[str, DetCurve]) -> str:
    """One sentence: does the model beat the best untrained baseline?"""
    eers = {name: curve.equal_error_rate for name, curve in curves.items()}
    own = eers.pop(MODEL)
    if not eers:
        return f"The model's EER is {100 * own:.2f} %; a precomputed matrix has no untrained baseline to compare."
    best = min(eers, key=lambda name: eers[name])
    both = f"EER {100 * own:.2f} % against {100 * eers[best]:.2f} % of untrained {titled(best)}"
    return (
        f"The model beats the best untrained baseline: {both}."
        if own < eers[best]
        else f"The model does NOT beat the best untrained baseline: {both}."
    )


def titled(name: str) -> str:
    """The name of a machine as it is written in a sentence."""
    return name.replace("euclid", "Euclid")


def spelled(spelling: Mapping[str, int] | None) -> str:
    """The mapping of labels in words."""
    if spelling is None:
        raise InputError("there are no labels; add a column of labels")
    return ", ".join(
        f"{name} → {value:+d} ({'same' if value > 0 else 'different'})" for name, value in spelling.items()
    )
