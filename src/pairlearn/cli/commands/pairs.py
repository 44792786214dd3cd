"""`pairlearn pairs`: sample, split and check tables of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    PAIRS,
    TABLE,
    AsJson,
    ClassColumn,
    Examples,
    Force,
    PairOptions,
    Seed,
    TableOptions,
    steps,
)

pairs = steps("Sample pairs from classes, split tables without leaks, and check tables for leaks and contradictions.")


@pairs.command(epilog="Example: pairlearn pairs sample faces.parquet --class-column person --ratio 3 --out pairs.csv")
def sample(
    examples: Examples,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write: .csv, .tsv, .jsonl, .parquet or .npz; - for stdout.")
    ] = Path("-"),
    positives: Annotated[int | None, typer.Option(help="Number of positive pairs. Default: all.")] = None,
    negatives: Annotated[int | None, typer.Option(help="Number of negative pairs.")] = None,
    ratio: Annotated[
        float | None, typer.Option(help="Negative pairs per positive one.", show_default="1 without --negatives")
    ] = None,
    per_class_cap: Annotated[
        int | None, typer.Option(help="Most positive pairs of a class, and examples of it in negative pairs.")
    ] = None,
    balanced: Annotated[bool, typer.Option("--balanced", help="Spread pairs evenly over the classes.")] = False,
    reflexive: Annotated[bool, typer.Option("--reflexive", help="Also pair every example with itself.")] = False,
    hard: Annotated[
        str | None,
        typer.Option(help="Take the negatives most alike by this: euclid, cosine or a model file."),
    ] = None,
    candidates: Annotated[int | None, typer.Option(help="With --hard: negatives to choose from. Default: all.")] = None,
    random_share: Annotated[float, typer.Option(help="With --hard: share of the negatives drawn at random.")] = 0.0,
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw labelled pairs from a table with classes: columns left, right, label, in shuffled order."""
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps.pairs import sampling

    run = Run("pairs sample", options, as_json)
    run.check_table(out, force=force)
    mined, learnt = sampling.hard_of(run, hard, candidates, random_share)
    table = run.examples(examples, table_options.columns(), learnt=learnt)
    found = sampling.drawn(
        run,
        table,
        positives=positives,
        negatives=negatives,
        ratio=ratio,
        per_class_cap=per_class_cap,
        balanced=balanced,
        reflexive=reflexive,
        hard=mined,
        seed=seed,
    )
    columns, facts = sampling.columns_and_facts(table, found)
    run.note(sampling.in_words(facts))
    listed = {name: column.tolist() for name, column in columns.items()} if as_json and str(out) == "-" else {}
    run.deliver(out, columns, f"{len(found):,} pairs", facts, {"out": str(out), **listed})


@pairs.command(epilog="Example: pairlearn pairs split pairs.csv --parts train=0.7,test=0.3 --out-dir parts")
def split(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Examples with classes, or pairs (left, right).")],
    out_dir: Annotated[Path, typer.Option(help="Folder of the parts: a table each.")] = Path("parts"),
    parts: Annotated[str, typer.Option(help="Names and shares.")] = "train=0.6,development=0.2,test=0.2",
    ending: Annotated[
        str | None, typer.Option("--format", help="csv, tsv, jsonl, parquet or npz.", show_default="as TABLE")
    ] = None,
    examples: Annotated[
        Path | None, typer.Option(help="Examples of the pairs, for their classes.", rich_help_panel=PAIRS)
    ] = None,
    apart: Annotated[
        str,
        typer.Option(
            help="What no two parts of pairs share: both (sides), left or right (examples of that side), pairs.",
            rich_help_panel=PAIRS,
        ),
    ] = "both",
    seed: Seed = 0,
    id_column: Annotated[
        str | None, typer.Option(help="Column of the ids in --examples.", show_default="id", rich_help_panel=TABLE)
    ] = None,
    class_column: ClassColumn = None,
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Split a table into parts that share no class; pairs of unknown classes: that share no example.

    Every row is written with all its columns, text tables with commas. Pairs whose two examples came into different
    parts are in none, and counted. Where classes are not known, examples that pairs link stay together as far as
    possible.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps.pairs import splitting

    run = Run("pairs split", options, as_json)
    shares = splitting.shares_of(parts)
    sheet = run.sheet(table, "table")
    targets = splitting.targets_of(run, table, out_dir, ending, shares, force)
    if splitting.is_of_pairs(sheet, pair_options.names, examples, class_column, apart):
        known = splitting.known_classes(run, examples, id_column, class_column)
        found = splitting.parts_of_pairs(sheet, pair_options.names, known, shares, seed, apart)
    else:
        found = splitting.parts_of_examples(sheet, class_column, shares, seed)
    facts = splitting.facts_of(found)
    splitting.show(run, facts)
    for name, path in targets.items():
        run.table(path, sheet.take(found.rows[name]), name, facts)
    run.finish({"out": {name: str(path) for name, path in targets.items()}, **facts})


@pairs.command(epilog="Example: pairlearn pairs check train.csv test.csv --examples faces.parquet --strict")
def check(
    train: Annotated[Path, typer.Argument(metavar="TRAIN", help="Pairs, or examples.")],
    test: Annotated[Path | None, typer.Argument(metavar="TEST", help="Pairs or examples to test with.")] = None,
    examples: Annotated[
        Path | None,
        typer.Option(help="Examples of the pairs: equal ones and classes are found too.", rich_help_panel=PAIRS),
    ] = None,
    test_examples: Annotated[
        Path | None, typer.Option(help="Examples of TEST, if they are in a table of their own.", rich_help_panel=PAIRS)
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if anything leaks or contradicts itself.")
    ] = False,
    table_options: TableOptions = TableOptions(),
    pair_options: PairOptions = PairOptions(),
    as_json: AsJson = False,
) -> None:
    """Look for contradictory labels and repeated pairs, and for what training and test share.

    Equal examples are found by content, under whatever ids, where features are at hand.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps.pairs import checking

    run = Run("pairs check", options, as_json)
    paths = [train] if test is None else [train, test]
    columns = table_options.columns()
    tables = checking.read(run, paths, examples, test_examples, columns, pair_options.names)
    result = checking.result_of(tables)
    checking.show(run, result)
    run.finish(result)
    if strict and checking.bad(result):
        raise typer.Exit(1)
