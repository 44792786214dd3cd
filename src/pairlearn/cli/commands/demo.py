"""`pairlearn demo`: learn to tell unseen classes apart, better with every class seen in training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out_dir: Annotated[Path, typer.Option(help="Directory for det.png and results.json.")] = Path("pairlearn-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the data.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", hidden=True)] = False,
) -> None:
    """Learn from more and more classes and test on classes never seen, in under a minute.

    Writes DET curves (det.png) and the figures (results.json).
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import demonstrating

    sizes = demonstrating.QUICK if quick else demonstrating.Sizes()
    demonstrating.demonstrate(Run("demo", options).out, out_dir, seed, sizes)
