"""`pairlearn score`: values of pairs, decisions and probabilities and, where labels are known, error rates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    AsJson,
    ClassColumn,
    Confidence,
    Drop,
    Examples,
    Features,
    Fmr,
    Force,
    IdColumn,
    LabelColumn,
    LeftColumn,
    Model,
    RightColumn,
    RightExamples,
    TableOut,
    columns_of,
)


def score(
    model: Model,
    examples: Examples,
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Pairs to score: columns left, right and perhaps label.")
    ],
    out: TableOut = Path("-"),
    fmr: Fmr = None,
    confidence: Confidence = None,
    development: Annotated[
        Path | None,
        typer.Option(help="With --fmr: labelled pairs to set threshold and probabilities by. Default: PAIRS itself."),
    ] = None,
    reflexive: Annotated[
        bool, typer.Option("--reflexive", help="Count pairs of an example with itself in the error rates.")
    ] = False,
    id_column: IdColumn = None,
    class_column: ClassColumn = None,
    features: Features = None,
    drop: Drop = None,
    right_examples: RightExamples = None,
    left_column: LeftColumn = "left",
    right_column: RightColumn = "right",
    label_column: LabelColumn = "label",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score pairs with a model: larger means more alike; of a ranker, who comes first; of a regression, how much.

    A model with a threshold (`pairlearn decide`), or --fmr, adds a decision and a probability to every pair. With
    labels it also prints error rates, beside those of the untrained Euclid and cosine baselines.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import scoring

    run = Run("score", options, as_json)
    run.check_table(out, force=force)
    machine, about = run.model(model)
    names = (left_column, right_column, label_column)
    tables = scoring.Tables.read(
        run, about, examples, right_examples, columns_of(id_column, class_column, features, drop), names
    )
    tested = tables.pairs(run, pairs)
    if fmr is not None:
        given = tested if development is None else tables.pairs(run, development, role="development")
        machine = scoring.verifier_of(run, machine, given, fmr, confidence, own=development is None)
    scoring.score_and_write(run, machine, about, tested, out, reflexive=reflexive)
