"""`pairlearn demo`: what pairlearn does, on invented classes and on things that everybody knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="classes (tell apart what was never seen, better with every class), digits (handwritten), records "
            "(products with typing errors), matches (rock, paper, scissors).",
        ),
    ] = "classes",
    out_dir: Annotated[
        Path | None,
        typer.Option(help="Directory for tables, page and pictures.", show_default="pairlearn-demo, or pairlearn-NAME"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", hidden=True)] = False,
) -> None:
    """Show what pairlearn does in half a minute: unseen classes, or digits, records, matches.

    All but the first write their tables, run three commands on them, and end with a page and the commands to type.
    """
    options = dict(locals())
    from pairlearn.cli.demos import classes, demo
    from pairlearn.cli.run import Run

    run = Run("demo", options)
    if name == "classes":
        sizes = classes.QUICK if quick else classes.Sizes()
        classes.demonstrate(run.out, out_dir or Path("pairlearn-demo"), seed, sizes)
    else:
        demo.show(run.out, demo.find(name), out_dir or Path(f"pairlearn-{name}"), seed)
