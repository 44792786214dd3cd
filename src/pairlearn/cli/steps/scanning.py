"""The steps of `pairlearn score --stream`: some pairs after the other are read, scored and written.

Memory is that of one batch, whatever the number of pairs. Ctrl-C keeps what was written under a name of its own, so
that nobody takes it for the whole table; a bad row leaves no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pairlearn.cli.run import Run
from pairlearn.cli.steps.scoring import Tables, Tested, scored
from pairlearn.cli.tasks.task import Task, task_of
from pairlearn.cli.terminal import progress_bar
from pairlearn.data.appending import ENDINGS, TableWriter
from pairlearn.data.files.batches import count_rows
from pairlearn.data.files.frames import column_names
from pairlearn.data.files.sources import Source
from pairlearn.data.reading import PairBatch, scan_pairs
from pairlearn.errors import InputError
from pairlearn.interrupts import Stop

LARGE = 2**26
"""Bytes of a table of pairs beyond which it is read some rows after the other, if nobody says otherwise."""
STREAMED = ("csv", "tsv", "parquet")
"""Formats that are not held whole while they are read."""


def is_wanted(
    source: Source,
    names: tuple[str, str, str],
    out: Path,
    asked: bool | None,
    skip: int,
    *,
    as_json: bool,
    rates: bool,
) -> bool:
    """Whether these pairs are to be scored some after the other, which gives no error rates."""
    if asked is False or (not asked and not skip):
        if skip:
            raise InputError("--skip passes over pairs of a stream; leave --no-stream out")
        fits = source.format in STREAMED and (str(out) == "-" or out.suffix.lower() in ENDINGS)
        can = fits and not as_json and not rates
        return asked is None and can and source.size > LARGE and names[2] not in column_names(source)
    if as_json and str(out) == "-":
        raise InputError("--json and --out - both write to standard output; give --out a file")
    return True


def required(tables: Tables, run: Run, development: Path | None) -> Tested:
    """The labelled pairs that set a threshold: not those of the stream, of which only a few are ever there."""
    if development is None:
        raise InputError(
            "--fmr sets a threshold by labelled pairs, which a stream does not hold; name a table of them "
            "with --development, or use `pairlearn decide` first"
        )
    return tables.pairs(run, development, role="development")


def score_and_write(
    run: Run, machine: Any, about: Mapping[str, Any], tables: Tables, source: Source, out: Path, skip: int
) -> None:
    """Score and write batch after batch, with a bar; Ctrl-C takes effect between two of them."""
    run.noted(source, "pairs")
    tables.warn_of_training(run)
    task, stop = task_of(machine, about), Stop()
    with stop.heeded(), progress_bar() as bars, TableWriter(out) as table:
        bar = bars.add_task("scoring", total=count_rows(source), completed=skip, state="")
        try:
            for batch in stop.between(_batches(tables, source, skip)):
                table.write(_columns(machine, batch, task))
                bars.update(bar, completed=skip + table.rows, state=f"{skip + table.rows:,} pairs")
        except KeyboardInterrupt:
            _keep(run, table, out, _result(run, task, table, skip))
            raise
    result = _result(run, task, table, skip)
    if str(out) != "-":
        run.record(out, result)
        run.note(f"{table.rows:,} {task.column}s written to {out}")
    run.finish({**result, "out": str(out)})


def _batches(tables: Tables, source: Source, skip: int) -> Iterator[PairBatch]:
    left, right, label = tables.names
    return scan_pairs(source, tables.left, tables.right, left=left, right=right, label=label, skip=skip)


def _columns(machine: Any, batch: PairBatch, task: Task) -> dict[str, Any]:
    """The answers; labels are written as they stand, for what they mean together is not known before the end."""
    found = scored(machine, Tested(*batch), task)
    return found if batch.table.cells is None else {**found, "label": batch.table.cells}


def _keep(run: Run, table: TableWriter, out: Path, result: dict[str, Any]) -> None:
    """What an interrupted run has written, under a name of its own."""
    done = result["skipped"] + result["pairs"]
    go_on = f"--skip {done} goes on behind them"
    if str(out) == "-":
        run.warn(f"stopped after {done:,} pairs; {go_on}")
    elif table.rows:
        part = out.with_name(f"{out.stem}.partial-{result['skipped']}{out.suffix}")
        table.keep(part)
        run.record(part, {**result, "stopped_by": "Ctrl-C"})
        run.warn(f"stopped: {table.rows:,} pairs are in {part}, up to pair {done:,} of the table; {go_on}")


def _result(run: Run, task: Task, table: TableWriter, skip: int) -> dict[str, Any]:
    return {"model": str(run.options["model"]), "task": task.name, "pairs": table.rows, "skipped": skip}
