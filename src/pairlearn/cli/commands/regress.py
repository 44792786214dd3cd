"""`pairlearn regress`: learn a number per pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    PAIRS,
    Alpha,
    AsJson,
    Examples,
    Folds,
    Force,
    LeftColumn,
    MemoryBudget,
    ModelOut,
    RightColumn,
    RightOptions,
    Seed,
    TableOptions,
    TimeBudget,
    Tol,
    Unseen,
    memory_bytes,
)


def regress(
    examples: Examples,
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Pairs and their numbers: columns left, right, label.")
    ],
    out: ModelOut = Path("model.safetensors"),
    machine: Annotated[
        str,
        typer.Option(
            help="svr (small errors count nothing), or ridge (least squares: in closed form for all "
            "pairs of two tables)."
        ),
    ] = "svr",
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Pair kernel: symmetric (tensor_metric, metric, tensor, direct_sum, …) or, for numbers that change "
            "their sign with the order, antisymmetric (difference, wedge).",
            show_default="tensor_metric; tensor with --right-examples",
        ),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            help="Base kernel of two examples: linear, poly, rbf, cosine, standardised, precomputed (the tables are "
            "matrices) or 'lowrank(rbf, 500)'. Two with a comma: of the left and of the right examples."
        ),
    ] = "rbf",
    C: Annotated[float, typer.Option("--C", help="svr: box of every pair; larger fits the numbers closer.")] = 1.0,
    epsilon: Annotated[
        float, typer.Option(help="svr: errors up to this size, in standard deviations of the numbers, cost nothing.")
    ] = 0.1,
    alpha: Alpha = "1.0",
    folds: Folds = 5,
    unseen: Unseen = "none",
    seed: Seed = 0,
    tol: Tol = 1e-3,
    time_budget: TimeBudget = None,
    memory_budget: MemoryBudget = None,
    table_options: TableOptions = TableOptions(),
    right_options: RightOptions = RightOptions(),
    left_column: LeftColumn = "left",
    right_column: RightColumn = "right",
    label_column: Annotated[str, typer.Option(help="Column of the numbers.", rich_help_panel=PAIRS)] = "label",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn a number per pair, test on held-out pairs beside means, and write a model file; then `pairlearn score`.

    Ctrl-C ends the training early and keeps the model learnt so far.
    """
    options = dict(locals())
    memory = memory_bytes(memory_budget)
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import fitting
    from pairlearn.cli.tasks import matrices, regressing

    run = Run("regress", options, as_json)
    run.check_models(out, force=force)
    two_tables = right_options.right_examples is not None
    model = fitting.machine_of(
        machine,
        machines=regressing.MACHINES,
        kernel=kernel or ("tensor" if two_tables else "tensor_metric"),
        base=base,
        C=C,
        epsilon=epsilon,
        alpha=fitting.alpha_of(alpha),
        unseen=regressing.unseen_of(unseen),
        tol=tol,
        time_budget=time_budget,
        memory_budget=memory,
        random_state=seed,
    )
    about_order = regressing.symmetry_facts(str(model.kernel), two_tables)
    left, right = matrices.tables_of(run, examples, table_options.columns(), right_options, model.base)
    given = run.pairs(pairs, left_column, right_column, label_column)
    training = regressing.training_of(left, right, given)
    notes = fitting.train(model, training)
    fitting.refuse_ignorant(model)
    result = regressing.result_of(run, model, training, notes, unseen=unseen, folds=folds, seed=seed) | about_order
    regressing.show(run, result)
    run.save(model, out, result)
    run.finish({"out": str(out), **result})
