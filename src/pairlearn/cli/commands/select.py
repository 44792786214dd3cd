"""`pairlearn select`: from examples and identities to a model that is honest about unseen identities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    AsJson,
    Examples,
    Force,
    MemoryBudget,
    Seed,
    TableOptions,
    memory_bytes,
)


def select(
    examples: Examples,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("model.safetensors"),
    directory: Annotated[
        Path, typer.Option("--dir", help="Journal, record and plot. A killed selection goes on from here.")
    ] = Path("pairlearn-selection"),
    budget: Annotated[float, typer.Option(help="Seconds for the whole selection.")] = 600.0,
    kernel: Annotated[
        list[str] | None,
        typer.Option(help="Pair kernel to try; repeat for several. Default: tensor_metric, metric and others."),
    ] = None,
    base: Annotated[
        list[str] | None,
        typer.Option(
            help="Base kernel to try, also 'lowrank(rbf, 500)'; repeat for several. Default: linear, standardised, "
            "cosine and others."
        ),
    ] = None,
    C: Annotated[
        list[float] | None,
        typer.Option("--C", help="Box to try, in units of 1 / mean kernel value; repeat for several."),
    ] = None,
    representation: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of one representation of the examples, as NAME=COLUMNS, such as hog=h*; repeat for several, "
            "and the search learns which of them help. COLUMNS as for --features, or a column of vectors."
        ),
    ] = None,
    test_share: Annotated[
        float, typer.Option(help="Share of the classes kept for the final test, never used before; 0 for none.")
    ] = 0.2,
    jobs: Annotated[int, typer.Option(help="Processes that fit at the same time; -1 for all cores.")] = 1,
    memory_budget: MemoryBudget = None,
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Choose kernel, C and training set in stages, judge on classes never seen, and write the best model.

    Every baseline runs beside the machines, and a machine that does not beat them says so. Ctrl-C ends the search and
    keeps the best machine so far.
    """
    options = dict(locals())
    memory = memory_bytes(memory_budget)
    from pairlearn.cli.comparison import verdict
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import selecting

    run = Run("select", options, as_json)
    run.check_models(out, force=force)
    table = run.examples(examples, selecting.with_parts(table_options.columns(), representation or ()))
    search = selecting.search_of(
        kernel, base, C, budget=budget, test_share=test_share, memory=memory, directory=directory, jobs=jobs, seed=seed
    )
    selecting.search(search, table, run.err)
    found = verdict(search.test_scores_, search="") if search.test_scores_ else None
    result = {**search.record_, "out": str(out), "verdict": found}
    selecting.show(run.out, result)
    run.save(search.best_estimator_, out, result)
    selecting.keep(run.out, result, directory)
    run.finish(result)
