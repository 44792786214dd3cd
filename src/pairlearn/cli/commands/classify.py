"""`pairlearn classify`: learn classes from any similarity, and tell those of new examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    AsJson,
    Examples,
    Folds,
    Force,
    Model,
    ModelOut,
    Seed,
    TableOptions,
    TableOut,
    steps,
)

classify = steps("Learn classes from any similarity of two examples, definite or not.")


@classify.command(epilog="Example: pairlearn classify fit words.csv --class-column kind --out classifier.safetensors")
def fit(
    examples: Examples,
    out: ModelOut = Path("classifier.safetensors"),
    similarity: Annotated[
        str,
        typer.Option(
            help="precomputed: the table holds the similarity, or distance, of every example (row) to every other "
            "(column); symmetric and definite or not. Else of features: rbf, linear, poly, cosine or standardised."
        ),
    ] = "precomputed",
    C: Annotated[float, typer.Option("--C", help="Weight of the losses; larger fits the training closer.")] = 1.0,
    bases: Annotated[
        int | None, typer.Option(help="Examples that others are compared with. Default: all, at most 1000.")
    ] = None,
    folds: Folds = 5,
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn classes from any similarity, test beside the nearest neighbour on held-out examples, write a model file."""
    options = dict(locals())
    import pairlearn as pl
    from pairlearn.cli.run import Run
    from pairlearn.cli.tasks import classifying

    run = Run("classify fit", options, as_json)
    run.check_models(out, force=force)
    columns = table_options.columns()
    table = classifying.training_of(run, examples, columns, similarity)
    model = pl.BasisSVC(similarity, n_bases=bases, C=C, random_state=seed)
    classifying.train(model, table)
    result = classifying.result_of(run, model, table, folds, seed)
    classifying.show(run, result)
    run.save(model, out, result)
    run.finish({"out": str(out), **result})


@classify.command(epilog="Example: pairlearn classify predict classifier.safetensors new-words.csv --out kinds.csv")
def predict(
    model: Model,
    examples: Annotated[
        Path,
        typer.Argument(
            metavar="EXAMPLES", help="New examples: the same features, or their similarities to the learnt ones."
        ),
    ],
    out: TableOut = Path("-"),
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Tell the classes of new examples; where they are known, say how often that is right."""
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.tasks import classifying, judging
    from pairlearn.cli.tasks.task import CLASSES

    run = Run("classify predict", options, as_json)
    run.check_table(out, force=force)
    machine, about = classifying.classifier_of(run, model)
    table = classifying.new_examples(run, about, examples, table_options.columns())
    found = classifying.told(machine, table)
    result: dict[str, object] = {"model": str(model), "examples": len(table.ids)}
    if table.classes is not None:
        figures = classifying.judged(about, table, found)
        judging.show(run.beside(out), CLASSES, figures, f"{len(table.ids):,} examples of known class")
        result |= figures
    run.deliver(out, found, f"{len(table.ids):,} classes", result, {"predictions": found["prediction"]})
