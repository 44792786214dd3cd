"""`pairlearn score`, `decide` and `distil`: values of pairs, thresholds, decisions, and smaller models of the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    LONG,
    AsJson,
    Confidence,
    Examples,
    Fmr,
    Force,
    Model,
    ModelOut,
    PairOptions,
    Prior,
    RightOptions,
    Seed,
    TableOptions,
    TableOut,
)


def score(
    model: Model,
    examples: Examples,
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Pairs to score: columns left, right and perhaps label.")
    ],
    out: TableOut = Path("-"),
    fmr: Fmr = None,
    confidence: Confidence = None,
    prior: Prior = 0.5,
    development: Annotated[
        Path | None,
        typer.Option(help="With --fmr: labelled pairs to set threshold and probabilities by. Default: PAIRS itself."),
    ] = None,
    reflexive: Annotated[
        bool, typer.Option("--reflexive", help="Count pairs of an example with itself in the error rates.")
    ] = False,
    stream: Annotated[
        bool | None,
        typer.Option(
            help="Read, score and write some pairs after the other: memory does not grow with PAIRS, and there are no "
            "error rates. Default: for tables of more than 64 MB without labels.",
            rich_help_panel=LONG,
        ),
    ] = None,
    skip: Annotated[
        int,
        typer.Option(
            min=0,
            help="With --stream: pairs to pass over, as many as an earlier run has written.",
            rich_help_panel=LONG,
        ),
    ] = 0,
    table_options: TableOptions = TableOptions(),
    right_options: RightOptions = RightOptions(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score pairs with a model: larger means more alike; of a ranker, who comes first; of a regression, how much.

    A model with a threshold (`pairlearn decide`), or --fmr, adds a decision and a probability to every pair. With
    labels it also prints error rates, beside those of the untrained Euclid and cosine baselines.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import scanning, scoring
    from pairlearn.data.files.sources import find_source

    run = Run("score", options, as_json)
    run.check_table(out, force=force)
    machine, about = run.model(model)
    tables = scoring.Tables.read(run, about, examples, table_options.columns(), right_options, pair_options.names)
    source = find_source(pairs)
    if scanning.is_wanted(source, pair_options.names, out, stream, skip, as_json=as_json, rates=reflexive):
        if fmr is not None:
            given = scanning.required(tables, run, development)
            machine = scoring.verifier_of(run, machine, given, (fmr, confidence or None, prior), own=False)
        scanning.score_and_write(run, machine, about, tables, source, out, skip)
        return
    tested = tables.pairs(run, source)
    if fmr is not None:
        given = tested if development is None else tables.pairs(run, development, role="development")
        machine = scoring.verifier_of(run, machine, given, (fmr, confidence or None, prior), own=development is None)
    scoring.score_and_write(run, machine, about, tested, out, reflexive=reflexive)


def decide(
    model: Model,
    examples: Examples,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="Labelled pairs that the model was not trained on, best of identities of their own."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("verifier.safetensors"),
    fmr: Fmr = 0.001,
    confidence: Confidence = 0.95,
    prior: Prior = 0.5,
    table_options: TableOptions = TableOptions(),
    right_options: RightOptions = RightOptions(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Set a threshold at a false match rate, and probabilities, and write a model that decides.

    With a confidence the *true* rate, over identities not seen, meets the target that often.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import scoring

    run = Run("decide", options, as_json)
    run.check_models(out, force=force)
    machine, about = run.model(model)
    tables = scoring.Tables.read(run, about, examples, table_options.columns(), right_options, pair_options.names)
    given = tables.pairs(run, pairs)
    tables.refuse_training(run)
    verifier = scoring.verifier_of(
        run, machine, given, (0.001 if fmr is None else fmr, confidence or None, prior), own=False
    )
    result = {"model": str(model), "pairs": len(given.table), **scoring.threshold_facts(verifier)}
    run.save(verifier, out, result, about=about)
    run.finish({"out": str(out), **result})


def distil(
    model: Model,
    examples: Examples,
    out: ModelOut = Path("small.safetensors"),
    loss: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Root mean square by which scores may differ, in standard deviations of scores; 0 keeps everything.",
        ),
    ] = 0.07,
    dtype: Annotated[str, typer.Option(help="What numbers are stored in: float32 or float64.")] = "float32",
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a smaller, quicker model of a fitted one, and tell what it loses.

    Half of the examples decide what is kept, pairs of the other half tell the loss; best are examples that the model
    was not learnt from. With classes the difference of equal error rates is told too. A threshold stays as it was.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import distilling

    run = Run("distil", options, as_json)
    run.check_models(out, force=force)
    machine, about = run.model(model)
    small, result = distilling.distilled(run, machine, about, examples, table_options.columns(), (loss, dtype, seed))
    run.save(small, out, result, about=about)
    sizes = distilling.shown_sizes(run, model, out)
    run.finish({"out": str(out), **result, **sizes})
