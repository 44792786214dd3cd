"""`pairlearn dedupe`: which records of a table are the same?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.commands.records.options import Labels, RecordOptions, RecordOutputs, Threshold, Using
from pairlearn.cli.options import FORMATS, OUTPUT, AsJson, Force, PairOptions, Seed, TableOut


def dedupe(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help=f"Records: {FORMATS}.")],
    labels: Labels = None,
    model: Using = None,
    out: TableOut = Path("clusters.csv"),
    matches: Annotated[
        Path | None, typer.Option(help="Write the pairs behind the clusters too, with reasons.", rich_help_panel=OUTPUT)
    ] = None,
    threshold: Threshold = None,
    seed: Seed = 0,
    tables: RecordOptions = RecordOptions(),
    outputs: RecordOutputs = RecordOutputs(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find records of one table that are the same and write the cluster of each.

    Clusters grow as long as their pairs speak for it in sum; labelled pairs are believed. Label the --review list, give
    it back with --labels, and run again.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import matching

    run = Run("dedupe", options, as_json)
    for path in (out, matches):
        run.check_table(path, force=force)
    matching.check_outputs(run, outputs, force)
    sides = matching.read_tables(run, (table,), tables)
    known = matching.read_labels(run, labels, sides, pair_options)
    learnt = matching.learn(run, sides, known, model, tables, seed)
    groups = learnt.matcher.dedupe(
        sides[0],
        threshold=threshold,
        blocking=tables.blocking(),
        labelled=None if known is None else (known.pairs, known.labels),
    )
    result = {
        **matching.tell(run, learnt, groups.scored, known),
        **matching.tell_clusters(run, groups, unlabelled=known is None and model is None),
    }
    if matches is not None:
        run.table(matches, *matching.matches_table(learnt.matcher, groups.scored), result)
    matching.write_outputs(run, outputs, learnt, groups.scored, known, result, seed)
    run.deliver(out, *matching.clusters_table(sides[0], groups), result, {})
