"""`pairlearn rank`: learn from preferences, predict who comes first, and put everyone in order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    PAIRS,
    AsJson,
    Folds,
    Force,
    MemoryBudget,
    ModelOut,
    Seed,
    TableOptions,
    TableOut,
    TimeBudget,
    Tol,
    Unseen,
    memory_bytes,
    steps,
)

Ranker = Annotated[
    Path,
    typer.Argument(metavar="RANKER", help="Model file that `rank fit` or `select --task order` wrote."),
]
KnownExamples = Annotated[
    Path | None, typer.Option("--examples", help="Table of the examples that the ids name. Without it: ids alone.")
]
First = Annotated[
    str | None, typer.Option(help="Column with one id. Default: `winner`, else `left`.", rich_help_panel=PAIRS)
]
Second = Annotated[
    str | None, typer.Option(help="Column with the other id. Default: `loser`, else `right`.", rich_help_panel=PAIRS)
]
Outcome = Annotated[
    str | None,
    typer.Option(
        help="Column that says who comes first: 1/-1/0, left/right/tie, win/loss/draw or 1/0/0.5. Default: `label`, if "
        "present; winner and loser need none.",
        rich_help_panel=PAIRS,
    ),
]


rank = steps("Learn from preferences who comes first, predict, and put all in order.")


@rank.command(epilog="Example: pairlearn rank fit matches.csv --out ranker.safetensors")
def fit(
    preferences: Annotated[
        Path, typer.Argument(metavar="PREFERENCES", help="Columns winner and loser, or left, right and label.")
    ],
    examples: KnownExamples = None,
    out: ModelOut = Path("ranker.safetensors"),
    kernel: Annotated[
        str, typer.Option(help="difference (one score per example, no cycles) or wedge (can express cycles).")
    ] = "difference",
    base: Annotated[
        str | None,
        typer.Option(
            help="Base kernel of two examples: linear, poly, rbf, cosine, standardised, precomputed or 'lowrank(rbf, "
            "500)'.",
            show_default="standardised; linear for ids",
        ),
    ] = None,
    C: Annotated[float, typer.Option("--C", help="Box of every preference; larger fits them closer.")] = 1.0,
    draws: Annotated[str, typer.Option(help="half: a tie is half a win for either; drop: it is left out.")] = "half",
    folds: Folds = 5,
    unseen: Unseen = "none",
    tol: Tol = 1e-3,
    time_budget: TimeBudget = None,
    memory_budget: MemoryBudget = None,
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    left_column: First = None,
    right_column: Second = None,
    label_column: Outcome = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn from preferences, test on held-out ones beside Bradley–Terry and a coin, and write a model file.

    Preferences may repeat, contradict each other and be tied. Ctrl-C ends the training early and keeps the model.
    """
    options = dict(locals())
    memory = memory_bytes(memory_budget)
    import pairlearn as pl
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import fitting
    from pairlearn.cli.tasks import ranking

    run = Run("rank fit", options, as_json)
    run.check_models(out, force=force)
    given = ranking.preferences(run, preferences, left_column, right_column, label_column)
    base = base or ("linear" if examples is None else "standardised")
    known = ranking.examples(run, examples, table_options.columns(), base, given)
    training = ranking.training_of(run, known, given)
    model = pl.PairRanker(
        kernel,
        base,
        C,
        draws=draws,  # type: ignore[arg-type]
        tol=tol,
        time_budget=time_budget,
        memory_budget=memory,
        random_state=seed,
    )
    notes = fitting.train(model, training)
    fitting.refuse_ignorant(model)
    result = ranking.result_of(run, model, training, notes, unseen=unseen, folds=folds, seed=seed)
    ranking.show(run, result)
    run.save(model, out, result)
    run.finish({"out": str(out), **result})


@rank.command(epilog="Example: pairlearn rank predict ranker.safetensors next.csv --out predictions.csv")
def predict(
    model: Ranker,
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="Pairs to predict, with or without who came first.")],
    examples: KnownExamples = None,
    out: TableOut = Path("-"),
    left_column: First = None,
    right_column: Second = None,
    label_column: Outcome = None,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict who comes first in each pair; where that is known, say how often it is right."""
    options = dict(locals())
    from pairlearn.cli.run import Run, inputs_learnt_from
    from pairlearn.cli.steps import scoring
    from pairlearn.cli.tasks import ranking

    run = Run("rank predict", options, as_json)
    run.check_table(out, force=force)
    machine, about = ranking.ranker_of(run, model)
    known = ranking.known_examples(run, model, about, examples, table_options.columns())
    given = ranking.preferences(run, pairs, left_column, right_column, label_column, role="pairs")
    source = scoring.file_in_common(run, inputs_learnt_from(about))
    if source is not None:
        run.warn(scoring.FLATTERING.format(source))
    scoring.score_and_write(run, machine, about, scoring.Tested(given, given.on(known)), out)


@rank.command(epilog="Example: pairlearn rank order ranker.safetensors --out table.csv")
def order(
    model: Ranker,
    examples: KnownExamples = None,
    out: TableOut = Path("-"),
    page: Annotated[
        Path | None, typer.Option("--report", help="Page with the order and who comes before whom (.html).")
    ] = None,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Put all examples in order, best first, and tell the ties and cycles that an order hides."""
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.tasks import ranking

    run = Run("rank order", options, as_json)
    run.check_table(out, force=force)
    ranking.check_page(run, page, force=force)
    machine, about = ranking.ranker_of(run, model)
    known = ranking.known_examples(run, model, about, examples, table_options.columns())
    ranked, columns = ranking.in_order(machine, known)
    result = {"model": str(model), **ranking.ranking_facts(ranked, columns, known.ids)}
    ranking.show_ranking(run.beside(out), columns, result)
    if page is not None:
        ranking.write_page(run, page, machine, known, ranked, columns, result)
    run.deliver(out, columns, f"{len(known.ids):,} ranks", result, {"ranking": columns["id"]})
