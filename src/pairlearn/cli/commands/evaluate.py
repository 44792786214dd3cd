"""`pairlearn evaluate`: which threshold, and how sure? For any scores, ours or not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    AsJson,
    Force,
    LabelColumn,
    TableOptions,
)


def evaluate(
    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES…",
            help="Tables with columns score, label and, if known, left, right, left_identity, right_identity, group: "
            ".csv, .tsv, .jsonl, .parquet or .npz, as `pairlearn score --out` writes them. NAME=FILE names a system.",
        ),
    ],
    page: Annotated[
        Path | None, typer.Option("--report", help="Write an interactive page that needs no network.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write all numbers, one per line.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the tables as Markdown.")] = None,
    fmr: Annotated[
        list[float] | None,
        typer.Option(help="FMR at which to give FNMR and threshold; repeat for several.", show_default="0.1 … 1e-6"),
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(help="Threshold in use, for all systems or as NAME=NUMBER; repeat for several.")
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(help="Cost of a false match, of a false non-match, and the share of same pairs in use: 10,1,0.5"),
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            help="Table of examples: gives identities by its classes, and runs the untrained baselines beside."
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Folder with PNG or JPEG files named by example id, shown beside the worst errors."),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Pairs or examples of the training, to warn of what they share with the test.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="With --examples: untrained cosine and Euclid beside.")
    ] = True,
    level: Annotated[float, typer.Option(help="How often limits shall hold the truth.")] = 0.95,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    task: Annotated[str, typer.Option(help="What is told apart, and what the training had seen of it.")] = "",
    table_options: TableOptions = TableOptions(),
    label_column: LabelColumn = "label",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Tell error rates, thresholds and how sure they are, for one or more systems on labelled pairs.

    Tables that `pairlearn score` wrote of a ranker or a regression are judged by accuracy of order or by RMSE.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import evaluating

    run = Run("evaluate", options, as_json)
    run.check_outputs(page, csv, markdown, force=force)
    sources = evaluating.sources_of(scores)
    if evaluating.answers_of_another_task(run, sources, label_column):
        return
    evaluating.check_page(page, images)
    columns = table_options.columns()
    with evaluating.status() as progress:
        progress("reading scores")
        given = evaluating.Given.read(run, sources, label_column, examples, columns)
        record = evaluating.measured(
            given,
            baselines=baselines,
            title=title,
            task=task,
            fmrs=fmr,
            level=level,
            thresholds=threshold,
            cost=cost,
            trained=None if train is None else given.trained(run, train, columns),
            progress=progress,
        )
        written = evaluating.write(record, page, csv, markdown, images, progress)
    evaluating.show(run.out, record)
    for path in written:
        run.record(path, {"title": record["title"], "verdict": record["verdict"]})
        run.note(f"{path} written")
    if as_json:
        print(evaluating.as_json(record))
