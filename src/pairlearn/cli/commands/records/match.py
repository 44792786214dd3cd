"""`pairlearn match`: which records of two tables are the same?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.commands.records.options import Labels, RecordOptions, RecordOutputs, Threshold, Using
from pairlearn.cli.options import FORMATS, AsJson, Force, PairOptions, Seed, TableOut


def match(
    left: Annotated[Path, typer.Argument(metavar="LEFT", help=f"Records: {FORMATS}.")],
    right: Annotated[Path, typer.Argument(metavar="RIGHT", help="Records of the other table, with the same columns.")],
    labels: Labels = None,
    model: Using = None,
    out: TableOut = Path("matched.csv"),
    one_to_many: Annotated[
        bool, typer.Option("--one-to-many", help="A record may match several; else each has at most one match.")
    ] = False,
    threshold: Threshold = None,
    seed: Seed = 0,
    tables: RecordOptions = RecordOptions(),
    outputs: RecordOutputs = RecordOutputs(),
    pair_options: PairOptions = PairOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Match the records of two tables, learning from labelled pairs, and write matches with reasons by column.

    Kinds of columns are recognised; what is learnt stands beside cosine and boosted trees; the report tells precision
    and recall of every cutoff. Label the --review list, give it back with --labels, and run again.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps import matching

    run = Run("match", options, as_json)
    run.check_table(out, force=force)
    matching.check_outputs(run, outputs, force)
    sides = matching.read_tables(run, (left, right), tables)
    known = matching.read_labels(run, labels, sides, pair_options)
    learnt = matching.learn(run, sides, known, model, tables, seed)
    scored = learnt.matcher.match(*sides, one_to_one=not one_to_many, threshold=threshold, blocking=tables.blocking())
    result = matching.tell(run, learnt, scored, known)
    matching.write_outputs(run, outputs, learnt, scored, known, result, seed)
    run.deliver(out, *matching.matches_table(learnt.matcher, scored), result, {})
