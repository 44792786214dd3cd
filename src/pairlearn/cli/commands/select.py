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
    PairOptions,
    RightOptions,
    Seed,
    TableOptions,
    Unseen,
    memory_bytes,
)


def select(
    examples: Examples,
    pairs: Annotated[
        Path | None,
        typer.Argument(
            metavar="PAIRS", help="Labelled pairs, as --task says. Without it: the classes of the examples are learnt."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("model.safetensors"),
    directory: Annotated[
        Path,
        typer.Option(
            "--dir",
            help="Journal, record and plot; a killed selection goes on from here. With PAIRS: no plot.",
        ),
    ] = Path("pairlearn-selection"),
    budget: Annotated[float, typer.Option(help="Seconds for the whole selection.")] = 600.0,
    kernel: Annotated[
        list[str] | None,
        typer.Option(help="Pair kernel to try; repeat for several. Default: tensor_metric, metric and others."),
    ] = None,
    base: Annotated[
        list[str] | None,
        typer.Option(
            help="Base kernel to try, also 'lowrank(rbf, 500)'; repeat for several. precomputed, alone: the table is a "
            "matrix of similarities. Default: linear, standardised, rbf and, of one table, poly."
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
    objective: Annotated[
        str | None,
        typer.Option(
            help="What to choose and judge by. Classes and links: eer, auc, aupr, fnmr@fmr=0.01, …; order: accuracy, "
            "log_loss; number: rmse, mae, concordance, aupr@7 (pairs above 7).",
            show_default="eer; with PAIRS auc, accuracy or rmse",
        ),
    ] = None,
    task: Annotated[
        str, typer.Option(help="With PAIRS: link (labels 1/-1), order (who comes first) or number (how much).")
    ] = "link",
    unseen: Unseen = "none",
    jobs: Annotated[int, typer.Option(help="Processes that fit at the same time; -1 for all cores.")] = 1,
    memory_budget: MemoryBudget = None,
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    right_options: RightOptions = RightOptions(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Choose kernel, C and training set in stages, judge on classes never seen, and write the best model.

    With PAIRS: choose machine, kernels and C for labelled pairs, and judge on pairs that are new as --unseen says.
    Every baseline runs beside the machines, and a machine that does not beat them says so. Ctrl-C ends the search and
    keeps the best machine so far.
    """
    unused = () if pairs is not None else ("task", "unseen", "right_options", "pair_options")
    options = {name: value for name, value in locals().items() if name not in (*unused, "unused")}
    memory = memory_bytes(memory_budget)
    from pairlearn.cli.comparison import verdict
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import selecting
    from pairlearn.cli.tasks import matrices
    from pairlearn.evaluation import measure_named

    run = Run("select", options, as_json)
    run.check_models(out, force=force)
    if pairs is not None:
        from pairlearn.cli.steps import searching

        asked = searching.Asked(
            searching.question_of(task), unseen, objective, kernel, base, C, budget, test_share, memory, directory, seed
        )
        searching.select(run, asked, examples, pairs, out, table_options.columns(), right_options, pair_options.names)
        return
    search = selecting.search_of(
        kernel,
        base,
        C,
        budget=budget,
        test_share=test_share,
        memory=memory,
        directory=directory,
        jobs=jobs,
        seed=seed,
        objective=objective or "eer",
    )
    columns = selecting.with_parts(table_options.columns(), representation or ())
    table = matrices.table_of(run, examples, columns, matrices.common_base(base))
    selecting.search(search, table, run.err)
    found = (
        verdict(search.test_scores_, measure=measure_named(search.objective), search="")
        if search.test_scores_
        else None
    )
    result = {**search.record_, "out": str(out), "verdict": found}
    selecting.show(run.out, result)
    run.save(search.best_estimator_, out, result)
    selecting.keep(run.out, result, directory)
    run.finish(result)
