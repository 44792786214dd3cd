"""`pairlearn decide`: give a model a threshold, and probabilities."""

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
    columns_of,
)


def decide(
    model: Model,
    examples: Examples,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="Labelled pairs that the model was not trained on, best of identities of their own."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("verifier.safetensors"),
    fmr: Fmr = 0.001,
    confidence: Confidence = 0.95,
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
    """Set a threshold at a false match rate, and probabilities, and write a model that decides.

    With a confidence the *true* rate, over identities not seen, meets the target that often.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import scoring

    run = Run("decide", options, as_json)
    run.check_outputs(out, force=force)
    machine, about = run.model(model)
    names = (left_column, right_column, label_column)
    tables = scoring.Tables.read(
        run, about, examples, right_examples, columns_of(id_column, class_column, features, drop), names
    )
    given = tables.pairs(run, pairs)
    verifier = scoring.verifier_of(run, machine, given, 0.001 if fmr is None else fmr, confidence, own=False)
    result = {"model": str(model), "pairs": len(given.table), **scoring.threshold_facts(verifier)}
    run.save(verifier, out, result, about=about)
    run.finish({"out": str(out), **result})
