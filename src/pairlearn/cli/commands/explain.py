"""`pairlearn explain`: why does a pair have this score?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    OUTPUT,
    AsJson,
    Examples,
    Force,
    Model,
    RightOptions,
    TableOptions,
)


def explain(
    model: Model,
    examples: Examples,
    left: Annotated[str, typer.Argument(metavar="LEFT", help="Id of the left example.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help="Id of the right example.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="feature, example or pair (of the training); repeat for several.", show_default="feature and pair"
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Largest contributions to show.")] = 8,
    picture: Annotated[
        Path | None,
        typer.Option(help="Waterfall of the contributions to draw: .png, .svg or .pdf.", rich_help_panel=OUTPUT),
    ] = None,
    table_options: TableOptions = TableOptions(),
    right_options: RightOptions = RightOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Tell what speaks for and against one pair, in words and as a picture.

    The score is a sum: over features where the kernel allows it, and over the pairs that the model was learnt from,
    shown with their label. Training examples have their ids if EXAMPLES holds them, else row numbers.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import explaining

    run = Run("explain", options, as_json)
    explaining.check_picture(picture)
    run.check_outputs(picture, force=force)
    machine, about = run.model(model)
    columns = table_options.columns()
    case = explaining.case_of(run, machine, about, examples, columns, right_options, (left, right))
    found = explaining.explained(run, case, by)
    result = explaining.result_of(machine, case, found)
    explaining.show(run, result, found, top)
    if picture is not None:
        explaining.draw(found, picture, top)
        run.record(picture, result)
        run.note(f"picture written to {picture}")
    run.finish(result)
