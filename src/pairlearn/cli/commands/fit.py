"""`pairlearn fit`: learn a model from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    Alpha,
    AsJson,
    CheckpointEvery,
    CheckpointFile,
    Examples,
    Force,
    MemoryBudget,
    ModelOut,
    PairOptions,
    RightOptions,
    Seed,
    TableOptions,
    TimeBudget,
    Tol,
    class_weights,
    memory_bytes,
)


def fit(
    examples: Examples,
    pairs: Annotated[
        Path | None,
        typer.Argument(
            metavar="PAIRS",
            help="Labelled pairs: columns left, right, label. Without it: all pairs of the examples' classes.",
        ),
    ] = None,
    out: ModelOut = Path("model.safetensors"),
    machine: Annotated[
        str,
        typer.Option(
            help="svc; ridge (least squares of ±1); transductive (pairs with an empty label are unlabelled, and learnt "
            "from too); one_class or sphere (pairs that belong together only)."
        ),
    ] = "svc",
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Pair kernel: tensor_metric, metric, tensor, direct_sum, direct_metric, …",
            show_default="tensor_metric; tensor with --right-examples",
        ),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            help="Base kernel of two examples: linear, poly, rbf, cosine, standardised, precomputed or, of many "
            "examples, 'lowrank(rbf, 500)'. Two with a comma: of the left and of the right examples."
        ),
    ] = "linear",
    C: Annotated[float, typer.Option("--C", help="Box of every pair; larger fits the training pairs closer.")] = 1.0,
    alpha: Alpha = "1.0",
    nu: Annotated[float, typer.Option(help="one_class, sphere: most pairs that may lie outside, a share.")] = 0.1,
    tol: Tol = 1e-3,
    class_weight: Annotated[
        str | None, typer.Option(help="`balanced`, or the weights of positive and negative pairs: 10,1")
    ] = None,
    time_budget: TimeBudget = None,
    memory_budget: MemoryBudget = None,
    seed: Seed = 0,
    reflexive: Annotated[
        bool,
        typer.Option("--reflexive/--no-reflexive", help="Without PAIRS: also pair every example with itself."),
    ] = False,
    checkpoint: CheckpointFile = None,
    checkpoint_every: CheckpointEvery = 60.0,
    table_options: TableOptions = TableOptions(),
    right_options: RightOptions = RightOptions(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn from labelled pairs, or from all pairs of classes, and write a model file.

    Ctrl-C ends the training early and keeps the model learnt so far. With --checkpoint the same command goes on where
    it was, whatever ended it.
    """
    options = dict(locals())
    weights, memory = class_weights(class_weight), memory_bytes(memory_budget)
    from pairlearn.cli import long_runs
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import fitting
    from pairlearn.cli.tasks import matrices

    run = Run("fit", options, as_json)
    run.check_models(out, force=force)
    model = fitting.machine_of(
        machine,
        kernel=kernel or ("tensor_metric" if right_options.right_examples is None else "tensor"),
        base=base,
        C=C,
        alpha=fitting.alpha_of(alpha),
        nu=nu,
        tol=tol,
        class_weight=weights,
        time_budget=time_budget,
        memory_budget=memory,
        random_state=seed,
    )
    table, right = matrices.tables_of(run, examples, table_options.columns(), right_options, model.base)
    given = None if pairs is None else run.pairs(pairs, *pair_options.names)
    training = fitting.training_of(model, table, right, given, reflexive)
    kept = long_runs.checkpointed(run, model, checkpoint, checkpoint_every, out)
    notes = fitting.train(model, training)
    fitting.refuse_ignorant(model)
    result = fitting.result_of(model, training, notes, seed)
    fitting.show(run, result)
    run.save(model, out, result)
    if kept is not None:
        long_runs.settle(run, model, kept)
    run.finish({"out": str(out), **result})
