"""`pairlearn stream`: learn a distance from pairs as they come, predicting each before learning from it."""

from __future__ import annotations

import csv
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TextIO

import numpy as np
import typer
from rich.console import Console

import pairlearn as pl
from pairlearn.cli.score import AsJson, LabelColumn, LeftColumn, RightColumn
from pairlearn.data.cells import existing_file
from pairlearn.data.reading import read_examples
from pairlearn.data.writing import check_target
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.types import Floats

WINDOW = 1000
LABELS = {
    **dict.fromkeys(("1", "+1", "1.0", "true", "same", "similar", "yes"), 1),
    **dict.fromkeys(("-1", "-1.0", "0", "0.0", "false", "different", "dissimilar", "no"), -1),
}


class Line(NamedTuple):
    """A pair of the stream: its line number, two rows of numbers, and ±1 or None (predict only)."""

    number: int
    left: Floats
    right: Floats
    label: int | None


@dataclass
class Tally:
    """What was predicted before learning; the labelled part of it."""

    scores: list[float] = field(default_factory=list)
    euclid: list[float] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    mistakes: int = 0

    def add(self, score: float, line: Line) -> None:
        """Count a labelled pair."""
        if line.label is None:
            return
        wrong = (score > 0) != (line.label > 0)
        self.mistakes += wrong
        self.recent.append(wrong)
        self.scores.append(score)
        self.euclid.append(-float(np.linalg.norm(line.left - line.right)))
        self.labels.append(line.label)

    def equal_error_rates(self) -> dict[str, float | None]:
        """Of the scores before learning, and of Euclid on the same pairs; None without both kinds of pairs."""
        if len(set(self.labels)) < 2:
            return {"metric": None, "euclid": None}
        both = {"metric": self.scores, "euclid": self.euclid}
        labels = np.array(self.labels)
        return {name: pl.equal_error_rate(Scores(np.array(values), labels)) for name, values in both.items()}


def stream(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PAIRS",
            help='File of pairs in their order, or - for standard input. One JSON object per line, {"left": [0.1, 2], '
            '"right": [0.3, 1], "label": 1}; with --examples a CSV with columns left, right, label.',
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Metric to go on with, if the file exists, and to write at the end."),
    ] = None,
    examples: Annotated[Path | None, typer.Option(help="Table of examples that left and right name by id.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV of line, score, prediction and label, as predicted.")
    ] = None,
    skip: Annotated[int, typer.Option(min=0, help="Lines to pass over, such as those learnt before a stop.")] = 0,
    threshold: Annotated[float, typer.Option(help="Squared distance b below which pairs are similar, at first.")] = 1.0,
    gamma: Annotated[float, typer.Option(help="> 0 when pairs contradict each other: single pairs weigh less.")] = 0.0,
    every: Annotated[int, typer.Option(min=1, help="Pairs between two lines of progress.")] = 1000,
    save_every: Annotated[int, typer.Option(min=1, help="Pairs between two savings of the model.")] = 10_000,
    left_column: LeftColumn = "left",
    right_column: RightColumn = "right",
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Learn a distance from a stream of pairs; each pair is predicted first, then learnt from if it has a label.

    Ctrl-C stops: the metric is written, and a line says how to go on. So does a bad line.
    """
    for path in (model, out):
        if path is not None:
            check_target(path)
    console = Console(stderr=True)
    metric = _metric(model, threshold, gamma)
    known = metric.state_.n_pairs if hasattr(metric, "state_") else 0
    columns = (left_column, right_column, label_column)
    table = None if examples is None else _rows_by_id(examples)
    tally, done, stopped = Tally(), skip, "end of the stream"
    with ExitStack() as stack:
        text = sys.stdin if source == "-" else stack.enter_context(existing_file(source).open(encoding="utf-8"))
        write = _writer(stack, out, new=skip == 0)
        try:
            for line in _lines(text, source, table, columns, skip):
                score = _learn(metric, line)
                write(line, score)
                tally.add(score, line)
                done = line.number
                if len(tally.labels) % every == 0:
                    console.print(_progress(metric, tally), highlight=False)
                if model is not None and done % save_every == 0:
                    pl.save(metric, model)
        except KeyboardInterrupt:
            stopped = "Ctrl-C"
        except InputError:
            _save(metric, model, console)
            raise
    _save(metric, model, console)
    record = _record(metric, tally, known, done, stopped, model)
    _show(console, record)
    if as_json:
        print(json.dumps(record))


# --------------------------------------------------------------------------- the stream


def _metric(model: Path | None, threshold: float, gamma: float) -> Any:
    if model is None or not model.exists():
        return pl.OnlinePseudoMetric(threshold, gamma=gamma)
    metric = pl.load(model)
    if not isinstance(metric, pl.OnlinePseudoMetric):
        raise InputError(f"{model} holds a {type(metric).__name__}, not a metric that `pairlearn stream` wrote")
    return metric


def _rows_by_id(path: Path) -> dict[str, Floats]:
    table = read_examples(path)
    return dict(zip(table.ids, np.asarray(table.examples, dtype=np.float64), strict=True))


def _lines(
    text: TextIO, source: str, table: Mapping[str, Floats] | None, columns: tuple[str, str, str], skip: int
) -> Iterator[Line]:
    """Pairs with a line number; the header of a CSV is line 0."""
    name = "standard input" if source == "-" else source
    cells = _json_cells(text, name, columns) if table is None else _csv_cells(text, name, columns)
    for number, (left, right, label) in enumerate(cells, start=1):
        if number <= skip:
            continue
        place = f"{name}, pair {number}"
        one, other = (_row(side, place) if table is None else _named(table, side, place) for side in (left, right))
        yield Line(number, one, other, _label(label, place))


def _json_cells(text: Iterable[str], name: str, columns: tuple[str, str, str]) -> Iterator[tuple[Any, Any, Any]]:
    for number, line in enumerate((line for line in text if line.strip()), start=1):
        try:
            pair = json.loads(line)
            yield pair[columns[0]], pair[columns[1]], pair.get(columns[2])
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError(
                f'{name}, pair {number} is no object such as {{"{columns[0]}": [0.1, 2], "{columns[1]}": [0.3, 1], '
                f'"{columns[2]}": 1}}; name a table with --examples if the pairs are a CSV of ids'
            ) from None


def _csv_cells(text: Iterable[str], name: str, columns: tuple[str, str, str]) -> Iterator[tuple[Any, Any, Any]]:
    rows = csv.DictReader(text)
    missing = [column for column in columns[:2] if column not in (rows.fieldnames or ())]
    if missing:
        raise InputError(f"{name} has no column {missing[0]!r}; its header must be {','.join(columns)}")
    for row in rows:
        yield row[columns[0]], row[columns[1]], row.get(columns[2])


def _row(side: Any, place: str) -> Floats:
    try:
        values = np.asarray(side, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError(f"{place}: each side must be a list of finite numbers")
    return values


def _named(table: Mapping[str, Floats], key: Any, place: str) -> Floats:
    if key not in table:
        raise InputError(f"{place}: there is no example {key!r} in the table of --examples")
    return table[key]


def _label(cell: Any, place: str) -> int | None:
    text = "" if cell is None else str(cell).strip().lower()
    if text and text not in LABELS:
        raise InputError(f"{place}: the label is {cell!r}; use 1 (similar), -1 (dissimilar) or nothing")
    return LABELS.get(text)


def _learn(metric: Any, line: Line) -> float:
    """Score before learning; nothing is known at first, so all pairs have distance 0."""
    if line.left.shape != line.right.shape:
        raise InputError(f"pair {line.number}: the two sides have {len(line.left)} and {len(line.right)} numbers")
    pair = pl.Pairs(np.stack([line.left, line.right]), [0], [1])
    score = float(metric.decision_function(pair)[0]) if hasattr(metric, "state_") else float(metric.threshold)
    if line.label is not None:
        metric.partial_fit(pair, np.array([line.label]))
    return score


# --------------------------------------------------------------------------- telling


def _writer(stack: ExitStack, out: Path | None, new: bool) -> Callable[[Line, float], None]:
    """Writes predictions as they come; going on after a stop appends."""
    if out is None:
        return lambda line, score: None
    target = stack.enter_context(out.open("w" if new or not out.exists() else "a", encoding="utf-8", newline=""))
    rows = csv.writer(target)
    if target.tell() == 0:
        rows.writerow(["line", "score", "prediction", "label"])

    def write(line: Line, score: float) -> None:
        rows.writerow([line.number, repr(score), 1 if score > 0 else -1, "" if line.label is None else line.label])

    return write


def _save(metric: Any, model: Path | None, console: Console) -> None:
    if model is not None and hasattr(metric, "state_"):
        pl.save(metric, model)
        console.print(f"metric written to {model}", markup=False, highlight=False, soft_wrap=True)


def _progress(metric: Any, tally: Tally) -> str:
    n = len(tally.labels)
    return (
        f"{n:>10,} pairs   error {100 * tally.mistakes / n:5.2f} %   last {len(tally.recent):,}: "
        f"{100 * np.mean(tally.recent):5.2f} %   {metric.state_.n_updates:,} updates   b {metric.threshold_:.4g}"
    )


def _record(metric: Any, tally: Tally, known: int, done: int, stopped: str, model: Path | None) -> dict[str, Any]:
    n = len(tally.labels)
    state = getattr(metric, "state_", None)
    return {
        "pairs": n,
        "pairs_before": known,
        "last_line": done,
        "stopped_by": stopped,
        "mistakes": tally.mistakes,
        "error": tally.mistakes / n if n else None,
        "error_recent": float(np.mean(tally.recent)) if n else None,
        "eer": tally.equal_error_rates(),
        "updates": state.n_updates if state else 0,
        "cumulative_loss": state.loss if state else 0.0,
        "threshold": state.threshold if state else metric.threshold,
        "model": None if model is None else str(model),
    }


def _show(console: Console, record: Mapping[str, Any]) -> None:
    if not record["pairs"]:
        console.print("no labelled pair was read")
        return
    n, rates = record["pairs"], record["eer"]
    console.print(
        f"{n:,} labelled pairs, each predicted before it was learnt: error {100 * record['error']:.2f} %, "
        f"of the last {min(WINDOW, n):,} {100 * record['error_recent']:.2f} %",
        highlight=False,
    )
    if rates["metric"] is not None:
        verdict = "" if rates["metric"] < rates["euclid"] else "; so far learning does not beat the untrained distance"
        console.print(
            f"equal error rate {100 * rates['metric']:.2f} %, untrained Euclid {100 * rates['euclid']:.2f} %{verdict}",
            highlight=False,
        )
    if record["stopped_by"] == "Ctrl-C":
        console.print(f"stopped after line {record['last_line']:,}; go on with --skip {record['last_line']}")
