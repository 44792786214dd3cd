"""The steps of `pairlearn stream`: learn a distance from pairs as they come, predicting each before learning from it.

Because every pair is predicted before its label is used, the error rate over the stream is that of unseen pairs, and no
test set is needed. The metric is written every so many pairs, at the end, at Ctrl-C and at a bad line: a stream may be
endless, and what was learnt from its beginning must not be lost at its end.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from rich.console import Console

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, show_verdict, verdict
from pairlearn.cli.run import read_about
from pairlearn.cli.terminal import percent, say
from pairlearn.data.files.cells import plain_text, shortened
from pairlearn.data.files.delimited import DELIMITERS
from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.passing import Lenient, going_on_behind
from pairlearn.data.files.sources import existing_file
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import naming
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.interrupts import Stop
from pairlearn.types import Floats
from pairlearn.words import counted

FEW_CHANGES, ENOUGH = 0.2, 50
"""Labels come in blocks if they change less than this share of what chance gives, among at least so many pairs."""
WINDOW = 1000
"""Pairs of the error rate "of the last", which tells whether learning still helps."""
USE = "Score pairs with it: `pairlearn score MODEL EXAMPLES PAIRS`."
SEARCH = "a longer stream: --model goes on from here"
IN_BLOCKS = (
    "no verdict: labels come in blocks, and whoever repeats the last label is nearly always right, so these error "
    "rates say nothing about other pairs. Shuffle the table, and begin anew."
)
LARGEST = 1e70
"""Numbers beyond it are refused: learning takes fourth powers of differences, which must stay finite."""
LABELS = {
    **dict.fromkeys(("1", "+1", "1.0", "true", "same", "similar", "yes"), 1),
    **dict.fromkeys(("-1", "-1.0", "0", "0.0", "false", "different", "dissimilar", "no"), -1),
}


Cells = tuple[Any, Any, Any]
PASSED: Cells = (None, None, None)
"""Both sides and the label as they stand in a line; of a line that is passed over, nothing."""


class Line(NamedTuple):
    """A pair of the stream: its line number, two rows of numbers, ±1 or None (predict only), and its place in words."""

    number: int
    left: Floats
    right: Floats
    label: int | None
    place: str


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

    @property
    def in_blocks(self) -> bool:
        """Whether labels come sorted, so that who says the last label again is right, whatever was learnt."""
        n, similar = len(self.labels), self.labels.count(1)
        by_chance = 2 * similar * (n - similar) / max(n, 1)
        return n >= ENOUGH and bool(np.count_nonzero(np.diff(self.labels)) < FEW_CHANGES * by_chance)

    def as_json(self) -> dict[str, Any]:
        """Error rates over all pairs and over the last ones; None before the first labelled pair."""
        n = len(self.labels)
        rates = {"error": self.mistakes / n, "error_recent": float(np.mean(self.recent))} if n else {}
        empty = {"error": None, "error_recent": None}
        found = self.verdict()
        own, theirs = (None, None) if found is None else (found["value"], found["baselines"]["Euclid"])
        figures = {"eer": {"metric": own, "euclid": theirs}, "verdict": found, "labels_in_blocks": self.in_blocks}
        return {"pairs": n, "similar": self.labels.count(1), "mistakes": self.mistakes, **empty, **rates, **figures}

    def verdict(self) -> dict[str, Any] | None:
        """The scores before learning against Euclid on the same pairs; None without both kinds of them, mixed."""
        if len(set(self.labels)) < 2 or self.in_blocks:
            return None
        labels = np.array(self.labels)
        both = {MODEL: self.scores, "euclid": self.euclid}
        return verdict(
            {name: Scores(np.array(values), labels) for name, values in both.items()}, use=USE, search=SEARCH
        )


@dataclass
class Course:
    """A metric on its way through a stream: what it said, what it learnt, and when it is saved."""

    metric: Any
    model: Path | None
    save_every: int
    every: int
    console: Console
    last_line: int
    about: Callable[[], dict[str, Any]]
    tally: Tally = field(default_factory=Tally)
    stop: Stop = field(default_factory=Stop)
    source: str = ""

    def through(
        self, source: str, table: ExampleTable | None, names: tuple[str, str, str], out: Path | None
    ) -> dict[str, Any]:
        """Follow a file or standard input to its end; the metric is saved there, at Ctrl-C and at a bad line."""
        before = self.metric.state_.n_pairs if hasattr(self.metric, "state_") else 0
        skip = self.last_line
        with self.stop.heeded(), ExitStack() as stack:
            file = sys.stdin.buffer if source == "-" else stack.enter_context(existing_file(source).open("rb"))
            self.source = _name(source)
            lines = _lines(file, self.source, None if table is None else _rows_by_id(table), names, skip)
            stack.callback(self.save)
            stopped = self.follow(lines, _writer(stack, out, new=skip == 0))
        return self.record(before, stopped)

    def _write(self, model: Path) -> None:
        """The metric, with how far it came in the stream: more than its labelled pairs, if some had no label."""
        place = {"source": self.source, "lines": self.last_line}
        pl.save(self.metric, model, about={**self.about(), "stream": place})

    def follow(self, lines: Iterable[Line], write: Callable[[Line, float], None]) -> str:
        """Predict, write and learn each pair; returns what ended the stream."""
        try:
            for line in self.stop.between(lines):
                with going_on_behind(line.number):
                    score = _learn(self.metric, line)
                write(line, score)
                self.tally.add(score, line)
                self.last_line = line.number
                self._keep_posted(line)
        except KeyboardInterrupt:
            return "Ctrl-C"
        return "end of the stream"

    def _keep_posted(self, line: Line) -> None:
        if line.label is not None and len(self.tally.labels) % self.every == 0:
            say(self.console, _progress(self.metric, self.tally))
        if self.model is not None and line.number % self.save_every == 0 and self.tally.labels:
            self._write(self.model)

    def save(self) -> None:
        """Write the metric, if anything was learnt and there is a file for it."""
        if self.model is not None and self.tally.labels:
            self._write(self.model)
            say(self.console, f"metric written to {self.model}")

    def record(self, pairs_before: int, stopped: str) -> dict[str, Any]:
        """Everything about the run, as plain numbers and names."""
        state = getattr(self.metric, "state_", None)
        learnt = {"updates": 0, "cumulative_loss": 0.0, "threshold": self.metric.threshold}
        if state is not None:
            learnt = {"updates": state.n_updates, "cumulative_loss": state.loss, "threshold": state.threshold}
        place = {"pairs_before": pairs_before, "last_line": self.last_line, "stopped_by": stopped}
        return {**self.tally.as_json(), **place, **learnt, "model": None if self.model is None else str(self.model)}


# --------------------------------------------------------------------------- the stream


def metric_of(
    model: Path | None, threshold: float | None, gamma: float | None
) -> tuple[pl.OnlinePseudoMetric, Mapping[str, Any]]:
    """The metric of the file to go on with, or a new one, and what the file says about how it was made."""
    settings: dict[str, Any] = {"threshold": threshold, "gamma": gamma}
    asked = {name: value for name, value in settings.items() if value is not None}
    if model is None or not model.exists():
        return pl.OnlinePseudoMetric(**asked), {}
    metric = pl.load(model)
    if not isinstance(metric, pl.OnlinePseudoMetric):
        raise InputError(f"{model} holds a {type(metric).__name__}, not a metric that `pairlearn stream` wrote")
    for name, value in asked.items():
        if value != (own := getattr(metric, name)):
            raise InputError(f"{model} goes on with its --{name} {own:g}, not {value:g}; leave it out, or begin anew")
    return metric, read_about(model)


def taken_before(about: Mapping[str, Any], source: str, skip: int) -> str | None:
    """What to say if a metric that was learnt from a stream begins it again."""
    place = about.get("stream", {})
    if skip or source == "-" or place.get("source") != source:
        return None
    lines = place["lines"]
    return f"the metric has taken {counted(lines, 'line')} of {source} before; --skip {lines} goes on behind them"


def _rows_by_id(table: ExampleTable) -> dict[str, Floats]:
    return dict(zip(table.ids, np.asarray(table.examples, dtype=np.float64), strict=True))


def _name(source: str) -> str:
    return "standard input" if source == "-" else source


def _lines(
    file: IO[bytes], name: str, table: Mapping[str, Floats] | None, columns: tuple[str, str, str], skip: int
) -> Iterator[Line]:
    """Pairs with a line number; the header of a CSV is line 0. Fewer pairs than `skip` are refused."""
    lenient = Lenient(file)
    text = lines_of(name, cast(IO[bytes], lenient))
    first = "{" if table is None else next(text, "")
    lines = text if table is None else chain([first], text)
    if first.lstrip().startswith("{"):
        cells = _json_cells(lines, name, columns, skip)
    else:
        cells = _csv_cells(_table_of(lines, name, columns, first), name, columns, skip)
    for number in count(1):
        lenient.on = number <= skip
        with going_on_behind(number, lenient):
            cell = next(cells, None)
            line = _line(number, cell, table, f"{name}, pair {number}") if cell is not None and number > skip else None
        if cell is None:
            break
        if line is not None:
            yield line
    if number <= skip:
        raise InputError(f"{name} holds {counted(number - 1, 'pair')}, fewer than --skip {skip} passes over")


def _line(number: int, cells: Cells, table: Mapping[str, Floats] | None, place: str) -> Line:
    left, right, label = cells
    one, other = (_row(side, place) if table is None else _named(table, side, place) for side in (left, right))
    _check_sides(one, other, place)
    return Line(number, one, other, _label(label, place), place)


def _json_cells(text: Iterable[str], name: str, columns: tuple[str, str, str], skip: int) -> Iterator[Cells]:
    """Both rows of numbers and the label, line by line; empty lines are passed over, and the first `skip` not read."""
    for number, line in enumerate((line for line in text if line.strip()), start=1):
        if number <= skip:
            yield PASSED
            continue
        try:
            pair = json.loads(line)
            yield pair[columns[0]], pair[columns[1]], pair.get(columns[2])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(
                f'{name}, pair {number} is not an object such as {{"{columns[0]}": [0.1, 2], "{columns[1]}": [0.3, 1], '
                f'"{columns[2]}": 1}}; name a table with --examples if the pairs are a CSV of ids'
            ) from None


def _table_of(text: Iterable[str], name: str, columns: tuple[str, str, str], header: str) -> csv.DictReader[str]:
    """Rows of a CSV whose header names both sides; read as it comes, since a stream need not fit into memory."""
    rows = csv.DictReader(text, delimiter=max(DELIMITERS, key=header.count))
    missing = [column for column in columns[:2] if column not in (rows.fieldnames or ())]
    if missing:
        raise InputError(f"{name} has no column {missing[0]!r}; its header must be {','.join(columns)}")
    return rows


def _csv_cells(rows: csv.DictReader[str], name: str, columns: tuple[str, str, str], skip: int) -> Iterator[Cells]:
    """Ids of both examples and the label, row by row.

    A row may be several lines, so those to pass over are read too; faults in them are not minded.
    """
    for number in count(1):
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if number > skip:
                raise InputError(
                    f"{name}, pair {number}: line {rows.line_num} is not a line of a table ({error}); correct it"
                ) from None
            row = {}
        yield (row[columns[0]], row[columns[1]], row.get(columns[2])) if number > skip else PASSED


def _row(side: Any, place: str) -> Floats:
    try:
        values = np.asarray(side, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError(f"{place}: each side must be a list of finite numbers")
    return values


def _named(table: Mapping[str, Floats], key: Any, place: str) -> Floats:
    known = plain_text(key)
    if known is None or known not in table:
        raise InputError(f"{place}: there is no example {shortened(key)} in the table of --examples")
    return table[known]


def _check_sides(left: Floats, right: Floats, place: str) -> None:
    """Refuse rows that cannot be compared."""
    if left.shape != right.shape:
        raise InputError(f"{place}: the two sides have {len(left)} and {len(right)} numbers")
    if max(np.abs(left).max(), np.abs(right).max()) > LARGEST:
        raise InputError(f"{place}: values are too large to compare; scale the examples")


def _label(cell: Any, place: str) -> int | None:
    """±1, or None for a pair that is only predicted."""
    text = "" if cell is None else str(cell).strip().lower()
    if text and text not in LABELS:
        raise InputError(f"{place}: the label is {cell!r:.40}; use 1 (similar), -1 (dissimilar) or nothing")
    return LABELS.get(text)


def _learn(metric: Any, line: Line) -> float:
    """Score before learning; nothing is known at first, so all pairs have distance 0."""
    pair = pl.Pairs(np.stack([line.left, line.right]), [0], [1])
    try:
        score = float(metric.decision_function(pair)[0]) if hasattr(metric, "state_") else float(metric.threshold)
        if line.label is not None:
            metric.partial_fit(pair, np.array([line.label]))
    except InputError as error:
        raise InputError(f"{line.place}: {error}") from None
    return score


# --------------------------------------------------------------------------- what is written and said


def _writer(stack: ExitStack, out: Path | None, new: bool) -> Callable[[Line, float], None]:
    """Writes predictions as they come, - to standard output; going on after a stop appends.

    A file is written row by row: however the process ends, rows are whole and go at least as far as a saved metric.
    """
    if out is None:
        return lambda line, score: None
    on_stdout = str(out) == "-"
    again = not new and (on_stdout or out.exists())
    mode = "a" if again else "w"
    file = nullcontext(sys.stdout) if on_stdout else out.open(mode, buffering=1, encoding="utf-8", newline="")
    name = "standard output" if on_stdout else out
    stack.enter_context(naming(name))
    rows = csv.writer(stack.enter_context(file), lineterminator="\n")
    if not again:
        rows.writerow(["line", "score", "prediction", "label"])

    def write(line: Line, score: float) -> None:
        with naming(name):
            rows.writerow([line.number, repr(score), 1 if score > 0 else -1, "" if line.label is None else line.label])

    return write


def check_stdout(out: Path | None, as_json: bool) -> None:
    """Refuse two things for one standard output."""
    if as_json and str(out) == "-":
        raise InputError("--json and --out - both write to standard output; give --out a file")


def written(model: Path | None, out: Path | None, record: Mapping[str, Any]) -> list[Path]:
    """The files that this run wrote: a metric that learnt nothing stays as it was."""
    files = (model if record["pairs"] else None, None if str(out) == "-" else out)
    return [path for path in files if path is not None]


def _progress(metric: Any, tally: Tally) -> str:
    """One line: pairs so far, error rate of all and of the last ones, updates and threshold of the metric."""
    n = len(tally.labels)
    return (
        f"{n:>10,} pairs   error {100 * tally.mistakes / n:5.2f} %   last {len(tally.recent):,}: "
        f"{100 * np.mean(tally.recent):5.2f} %   {metric.state_.n_updates:,} updates   b {metric.threshold_:.4g}"
    )


def show(console: Console, record: Mapping[str, Any]) -> None:
    if not record["pairs"]:
        say(console, "no labelled pair was read")
        return
    n = record["pairs"]
    each = f"{counted(n, 'labelled pair')}, each predicted before it was learnt"
    last = f"of the last {min(WINDOW, n):,} {percent(record['error_recent'])}"
    say(console, f"{each}: error {percent(record['error'])}, {last}")
    if record["labels_in_blocks"]:
        say(console, IN_BLOCKS, lead="warning:", style="yellow")
    elif record["verdict"] is not None:
        show_verdict(console, record["verdict"])
    else:
        kind = "similar" if record["similar"] else "dissimilar"
        say(console, f"all of them are {kind}: whether the metric tells pairs apart shows only when both kinds come")
    if record["stopped_by"] == "Ctrl-C":
        say(console, f"stopped after line {record['last_line']:,}; go on with --skip {record['last_line']}")
