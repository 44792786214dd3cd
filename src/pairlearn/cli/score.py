"""`pairlearn score`: values of pairs and, where labels are known, error rates beside untrained baselines."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, curves_of, rates, rates_table, scored, show_verdict, verdict
from pairlearn.cli.options import AsJson, ClassColumn, LabelColumn, LeftColumn, RightColumn
from pairlearn.cli.terminal import print_json, say
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.tables import PairTable
from pairlearn.data.writing import check_scores_target, scores_as_csv, write_scores
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.types import Floats
from pairlearn.words import counted


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
    known = read_examples(examples, class_column)
    tested = known.pairs(table)
    values = machine.decision_function(tested)
    # Scores on stdout keep it to themselves.
    console = Console(stderr=as_json or out is None)
    record: dict[str, Any] = {"model": str(model), "pairs": len(tested)}
    if table.labels is not None:
        systems = scored(machine, tested, table.labels, values, known.classes)
        record |= _show_rates(console, systems, table, reflexive)
    record |= _write(console, out, table, values, as_json)
    print_json(record, wanted=as_json)


def _write(console: Console, out: Path | None, table: PairTable, values: Floats, as_json: bool) -> dict[str, Any]:
    """Scores to a file, into the record, or as a table to stdout; what the record holds of them."""
    if out is not None:
        write_scores(out, table.left, table.right, values, table.labels)
        say(console, f"{counted(len(values), 'score')} written to {out}")
        return {"out": str(out)}
    if as_json:
        return {"scores": values.tolist()}
    sys.stdout.write(scores_as_csv(table.left, table.right, values, table.labels))
    return {}


def _show_rates(console: Console, systems: Mapping[str, Scores], table: PairTable, reflexive: bool) -> dict[str, Any]:
    """Error rates of the model beside the baselines, in words and for the record."""
    curves, model = curves_of(systems, reflexive=reflexive), systems[MODEL]
    left_out = 0 if reflexive else len(model) - len(model.without_reflexive())
    say(console, f"labels read as {spelled(table.spelling)}")
    console.print(rates_table(curves, counted(len(model) - left_out, "labelled pair")))
    if left_out:
        some = counted(left_out, "pair of an example with itself is", "pairs of an example with itself are")
        say(console, f"{some} left out (--reflexive counts them)")
    found = verdict(systems)
    show_verdict(console, found)
    figures = {"rates": {name: rates(curve) for name, curve in curves.items()}, "verdict": found}
    return {"labels": table.spelling, "reflexive_left_out": left_out, **figures}


def spelled(spelling: Mapping[str, int] | None) -> str:
    """The mapping of labels in words."""
    if spelling is None:
        raise InputError("there are no labels; add a column of labels")
    return ", ".join(
        f"{name} → {value:+d} ({'same' if value > 0 else 'different'})" for name, value in spelling.items()
    )
