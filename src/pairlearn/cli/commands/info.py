"""`pairlearn info`: what a model file is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import AsJson, Model


def info(
    model: Model,
    verify: Annotated[
        list[Path] | None,
        typer.Option(help="A data file: was the model learnt from it, byte for byte? Repeat for several."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a model file is, what it was learnt from, when and how.

    With --verify the exit code is 1 if a file is not one that the model was made from.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import informing

    run = Run("info", options, as_json)
    with informing.understanding_notes(model):
        found = informing.info_of(model)
        informing.show(run, found)
    right = True
    if verify:
        found["verified"] = informing.verified(found, verify)
        right = informing.show_verified(run, found, found["verified"])
    run.finish(found)
    if not right:
        raise typer.Exit(1)
