"""`pairlearn stream`: learn a distance from pairs as they come, predicting each before learning from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    AsJson,
    Force,
    PairOptions,
    TableOptions,
)


def stream(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PAIRS",
            help='File of pairs in their order, or - for standard input. One JSON object per line, {"left": [0.1, 2], '
            '"right": [0.3, 1], "label": 1}; with --examples a CSV with columns left, right, label.',
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Metric to go on with, if the file exists, and to write at the end."),
    ] = None,
    examples: Annotated[Path | None, typer.Option(help="Table of examples that left and right name by id.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="CSV of line, score, prediction and label, as predicted; - for stdout."),
    ] = None,
    skip: Annotated[int, typer.Option(min=0, help="Pairs to pass over, such as those learnt before a stop.")] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Squared distance b below which pairs are similar, at first.",
            show_default="1.0; a metric to go on with keeps its own",
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            help="> 0 when pairs contradict each other: single pairs weigh less.",
            show_default="0.0; a metric to go on with keeps its own",
        ),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Pairs between two lines of progress.")] = 1000,
    save_every: Annotated[int, typer.Option(min=1, help="Pairs between two savings of the model.")] = 10_000,
    table_options: TableOptions = TableOptions(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn a distance from a stream of pairs; each pair is predicted first, then learnt from if it has a label.

    Ctrl-C stops: the metric is written, and a line says how to go on. So does a bad line. Pairs should come in mixed
    order: with labels in blocks the error rates say nothing.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run, learnt_from
    from pairlearn.cli.steps import streaming

    run = Run("stream", options, as_json)
    # A model is there to go on with, and after --skip so are predictions.
    run.check_models(model, force=True)
    run.check_outputs(out, force=force or skip > 0)
    streaming.check_stdout(out, as_json)
    metric, about = streaming.metric_of(model, threshold, gamma)
    before = about.get("inputs", {})
    if (taken := streaming.taken_before(about, source, skip)) is not None:
        run.note(taken)
    run.inputs |= before  # lines of numbers have no names: those of the table before them stay known
    learnt = learnt_from({"inputs": before})
    table = None if examples is None else run.examples(examples, table_options.columns(), learnt=learnt)
    course = streaming.Course(metric, model, save_every, every, run.err, skip, run.about)
    result = course.through(source, table, pair_options.names, out)
    streaming.show(run.beside(out), result)
    for path in streaming.written(model, out, result):
        run.record(path, result)
    run.finish(result)
