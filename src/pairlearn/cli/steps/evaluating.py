"""The steps of `pairlearn evaluate`: which threshold, and how sure? For any scores, ours or not.

The command reads and joins tables, `pairlearn.report.evaluate` measures, and the record is written in every format
that was asked for and shown on the terminal. Nothing is computed here but which columns of the summary fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pairlearn import report
from pairlearn.cli.comparison import titled as plainly
from pairlearn.cli.run import Run, untrained_models
from pairlearn.cli.tasks import judging
from pairlearn.cli.tasks.task import JUDGED
from pairlearn.cli.terminal import safe, table
from pairlearn.data.files.frames import column_names
from pairlearn.data.files.sheet import read_sheet
from pairlearn.data.files.sources import Source, find_source
from pairlearn.data.layout import Columns
from pairlearn.data.reading import read_pairs
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.evaluation import MEASURES, FnmrAtFmr, Measure, Scores
from pairlearn.pairs import Pairs
from pairlearn.report.details import shown_examples
from pairlearn.report.html import environment
from pairlearn.report.pictures import check_folder, find_pictures
from pairlearn.report.record import FMRS
from pairlearn.report.tables import ScoreTable, common_names, read_scores
from pairlearn.report.text import are, point_name, rate_words, titled, warning_words
from pairlearn.selection.leaks import find_leaks
from pairlearn.words import counted

SHOWN_FMRS = 3
"""Columns of FNMR that the terminal shows, from the laxest FMR."""
OF_RATES: dict[str, tuple[str, Any]] = {
    "--report": ("page", None),
    **{f"--{name}": (name, None) for name in ("csv", "markdown", "fmr", "threshold", "cost", "examples", "images")},
    **{f"--{name}": (name, None) for name in ("train", "title")},
    "--no-baselines": ("baselines", True),
    "--level": ("level", 0.95),
    "--task": ("task", ""),
}
"""Options about error rates: their names in the record of a run, and their values where nothing was asked."""
FEWEST = 2
"""Measures that even a narrow terminal shows; others as far as there is room."""


@dataclass(frozen=True, eq=False)
class Given:
    """What is evaluated: score tables by the names of their systems, examples if they are known, and the pairs."""

    tables: Mapping[str, ScoreTable]
    known: ExampleTable | None
    pairs: Pairs | None

    @classmethod
    def read(
        cls, run: Run, scores: Mapping[str, Source], label_column: str, examples: Path | None, columns: Columns
    ) -> Given:
        """Read and join the tables."""
        tables = {name: read_scores(source, label=label_column) for name, source in scores.items()}
        known = None if examples is None else run.examples(examples, columns)
        joined, pairs = _joined(tables, known)
        return cls(joined, known, pairs)

    def sources(self) -> list[str]:
        """Where everything comes from, for the report."""
        examples = [] if self.known is None else [self.known.source]
        return [f"{name}: {table.source}" for name, table in self.tables.items()] + examples

    def trained(self, run: Run, path: Path, columns: Columns) -> dict[str, Collection[str]]:
        """Identities and examples that the training knew, by name."""
        return _trained(run, path, self.known, self.pairs, columns)


def answers_of_another_task(run: Run, sources: Mapping[str, Source], label_column: str) -> bool:
    """Judge answers about order or numbers, which their column tells; False for scores of same and different pairs."""
    columns = [column_names(source) for source in sources.values()]
    task = next((task for task in JUDGED if all(task.column in names for names in columns)), None)
    if task is None or any("score" in names for names in columns):
        return False
    idle = [option for option, (name, unasked) in OF_RATES.items() if run.options[name] != unasked]
    if idle:
        raise InputError(
            f"{', '.join(idle)}: for scores of same and different pairs only, not {task.name}; leave "
            f"{'it' if len(idle) == 1 else 'them'} out"
        )
    sheets = {name: read_sheet(source) for name, source in sources.items()}
    judging.judge_tables(run, task, sheets, label_column)
    return True


def check_page(page: Path | None, images: Path | None) -> None:
    """Ask for what a page needs before the long part."""
    if page is not None:
        environment()
    if images is not None:
        check_folder(images)


def measured(
    given: Given,
    *,
    baselines: bool,
    title: str | None,
    fmrs: Sequence[float] | None,
    thresholds: Sequence[str] | None,
    cost: str | None,
    **settings: Any,
) -> dict[str, Any]:
    """The record of the evaluation."""
    tables = given.tables
    systems, untrained = _systems(tables, given.pairs if baselines else None)
    return report.evaluate(
        systems,
        baselines=untrained,
        title=title or f"Evaluation of {', '.join(tables)}",
        source=given.sources(),
        fmrs=fmrs or FMRS,
        threshold=_thresholds(thresholds or [], tables),
        cost=None if cost is None else _cost(cost),
        groups={name: table.groups for name, table in tables.items() if table.groups is not None} or None,
        notes=_notes(tables),
        names=next(iter(tables.values())).names,
        **settings,
    )


def write(
    record: dict[str, Any],
    page: Path | None,
    csv: Path | None,
    markdown: Path | None,
    images: Path | None,
    progress: Callable[[str], None],
) -> list[Path]:
    """Write the record in every format that was asked for; returns the files."""
    formats: dict[Path | None, Callable[[Any], str]] = {
        page: partial(report.as_html, thumbnails=_pictures(images, record)),
        csv: report.as_csv,
        markdown: report.as_markdown,
    }
    written = [target for target in formats if target is not None]
    for target in written:
        progress(f"writing {target}")
        write_whole(target, formats[target](record).encode(errors="replace"))
    return written


def as_json(record: dict[str, Any]) -> str:
    """The record as one JSON object."""
    return report.as_json(record)


# --------------------------------------------------------------------------- what is evaluated


def sources_of(arguments: Sequence[str]) -> dict[str, Source]:
    """Where the scores are, by the names of their systems."""
    sources: dict[str, Source] = {}
    for argument in arguments:
        name, path = _named(argument)
        if name in sources:
            raise InputError(f"two systems are called {name!r}; name them: first={argument} second={argument}")
        sources[name] = find_source(path)
    return sources


def _named(argument: str) -> tuple[str, Path]:
    """NAME=FILE, or a file whose name names the system."""
    name, equals, path = argument.partition("=")
    if equals and name and path and not Path(argument).exists():
        return name, Path(path)
    return Path(argument).name.split(".")[0] or argument, Path(argument)


def _joined(tables: Mapping[str, ScoreTable], known: ExampleTable | None) -> tuple[dict[str, ScoreTable], Pairs | None]:
    """The tables with the same names and, where they can, in the same order, and the pairs of the first one."""
    pairs = None
    if known is not None:
        joined = {name: table.pairs(known) for name, table in tables.items()}
        tables = {name: table.with_identities(joined[name], known.classes) for name, table in tables.items()}
        pairs = next(iter(joined.values()))
    names = common_names(tables.values())
    renamed = {name: table.renamed(names) for name, table in tables.items()}
    first = next(iter(renamed.values()))
    return {name: table.ordered_like(first) for name, table in renamed.items()}, pairs


def _systems(tables: Mapping[str, ScoreTable], pairs: Pairs | None) -> tuple[dict[str, Scores], list[str]]:
    """Scores by name, and the names of the untrained baselines among them, which need pairs."""
    systems = {name: table.scores for name, table in tables.items()}
    first, untrained = next(iter(systems.values())), []
    for key, machine in untrained_models().items() if pairs is not None else ():
        name = plainly(key)
        free = name if name not in systems else f"{name} baseline"
        systems[free] = replace(first, values=machine.decision_function(pairs))
        untrained.append(free)
    return systems, untrained


def _thresholds(given: Sequence[str], tables: Mapping[str, ScoreTable]) -> dict[str, float] | None:
    """Thresholds in use by system; later ones win, so that one for all may come first."""
    found: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        if name and name not in tables:
            raise InputError(f"--threshold names {name!r}, but the systems are {', '.join(map(repr, tables))}")
        try:
            found |= dict.fromkeys([name] if name else tables, float(number))
        except ValueError:
            raise InputError(f"--threshold must be a number or NAME=NUMBER, got {text!r}") from None
    return found or None


def _cost(text: str) -> tuple[float, ...]:
    """Numbers between commas; what they mean is checked where they are used."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--cost must be two or three numbers such as 10,1,0.5, got {text!r}") from None


def _notes(tables: Mapping[str, ScoreTable]) -> list[str]:
    """What happened to the tables before measuring, for the warnings of the record."""
    return [
        f"{name}: {counted(table.unlabelled, 'pair')} without a label {are(table.unlabelled)} left out"
        for name, table in tables.items()
        if table.unlabelled
    ]


def _pictures(folder: Path | None, record: dict[str, Any]) -> Mapping[str, bytes]:
    """Pictures of the worst errors by example id; what is missing becomes warnings of the record."""
    if folder is None:
        return {}
    found = find_pictures(folder, shown_examples(record))
    record["warnings"] += found.warnings(folder)
    return found.files


# --------------------------------------------------------------------------- what the training saw


def _trained(
    run: Run, path: Path, known: ExampleTable | None, tested: Pairs | None, columns: Columns
) -> dict[str, Collection[str]]:
    """Identities and examples that the training knew, by name."""
    source = find_source(path)
    if {"left", "right"} <= set(column_names(source)):
        table = read_pairs(source)
        ids = set(table.left.distinct) | set(table.right.distinct)
        if known is None or known.classes is None:
            return {"examples": ids}
        classes = dict(zip(known.ids, known.classes, strict=True))
        return {"examples": ids, "identities": {classes[key] for key in ids if key in classes}}
    # Examples are compared number by number, so the columns are those of the other table, in their order.
    like = {} if known is None else {**run.inputs["examples"]["layout"], "of": known.source}
    training = run.examples(source, columns, learnt=like, role="training")
    found: dict[str, Collection[str]] = {} if training.classes is None else {"identities": set(training.classes)}
    if known is not None and tested is not None:
        # Row numbers and ids of two tables may differ or agree by chance, so examples are compared by content.
        rows = np.arange(len(training.examples))
        leaks = find_leaks(Pairs(training.examples, rows, rows), tested)
        found["examples"] = {known.ids[row] for row in leaks.examples}
    elif list(training.ids) != list(map(str, range(len(training.ids)))):
        found["examples"] = set(training.ids)
    if not found:
        raise InputError(f"{path} has neither pairs nor classes nor ids; name the classes with --class-column")
    return found


# --------------------------------------------------------------------------- telling


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is being done and goes away; none if nobody watches."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("") as shown:
        yield lambda text: shown.update(safe(f"{text} …"))


def show(console: Console, record: Mapping[str, Any]) -> None:
    """Summary, thresholds, warnings, and the verdict last, where the eye ends up."""
    console.print(_fitting_summary(console, record))
    for system in record["systems"]:
        if not system["baseline"]:
            console.print(_points(system))
    for warning in record["warnings"]:
        console.print(safe(f"! {warning_words(warning)}", "yellow"), soft_wrap=True)
    for text in record["verdict"]:
        console.print(safe(text, "bold"), soft_wrap=True)


def _fitting_summary(console: Console, record: Mapping[str, Any]) -> Table:
    """The summary with as many measures as the terminal has room for: the widest of the further ones go first."""
    shown, unbounded = list(MEASURES), console.options.update_width(10_000)
    drawn = _summary(record, shown)
    while len(shown) > FEWEST and console.measure(drawn, options=unbounded).maximum > console.width:
        shown.remove(max(shown[FEWEST:], key=lambda measure: _width(record, measure)))
        drawn = _summary(record, shown)
    return drawn


def _width(record: Mapping[str, Any], measure: Measure) -> int:
    """Of the column of a measure, its heading included."""
    cells = [_two_lines(rate_words(system.get(measure.key), measure.unit)).plain for system in record["systems"]]
    return max(len(line) for cell in (measure.heading, *cells) for line in cell.splitlines())


def _summary(record: Mapping[str, Any], measures: Sequence[Measure]) -> Table:
    """These measures of every system, and FNMR at the first FMRs that can be measured."""
    first = record["systems"][0]
    fmrs = [point["at"] for point in first["points"] if point["kind"] == "fmr" and point["measurable"]][:SHOWN_FMRS]
    counts = first["counts"]
    drawn = table(
        ("", *(measure.heading for measure in measures), *(FnmrAtFmr(fmr).name for fmr in fmrs)),
        f"{counts['positives']:,} same and {counts['negatives']:,} different pairs; "
        f"in brackets {100 * record['level']:g} % limits",
    )
    for system in record["systems"]:
        missed = {point["at"]: point.get("fnmr") for point in system["points"] if point["kind"] == "fmr"}
        cells = [rate_words(system.get(measure.key), measure.unit) for measure in measures]
        cells += [rate_words(missed[fmr]) for fmr in fmrs]
        drawn.add_row(safe(titled(system)), *(_two_lines(cell) for cell in cells))
    return drawn


def _two_lines(cell: str) -> Text:
    """The number above its limits."""
    value, _, limits = cell.partition(" [")
    return Text(f"{value}\n[{limits}" if limits else value)


def shown(threshold: float) -> str:
    """Six digits of a threshold, and a word where they would accept the very score that it leaves out.

    >>> shown(0.25), shown(float(np.nextafter(1.0, 2.0)))
    ('0.25', 'just above 1')
    """
    text = f"{threshold:.6g}"
    return f"just above {text}" if np.nextafter(float(text), np.inf) == threshold else text


def _points(system: Mapping[str, Any]) -> Table:
    """Thresholds worth knowing of one system, with FMR and FNMR there."""
    title = f"Thresholds of {system['name']}: accept when score ≥ threshold"
    drawn = table(("for", "threshold", "FMR", "FNMR"), title)
    for point in system["points"]:
        rates = (rate_words(point["fmr"]), rate_words(point["fnmr"])) if point["measurable"] else ("", "")
        threshold = shown(point["threshold"]) if point["measurable"] else "not measurable"
        drawn.add_row(*map(safe, (point_name(point), threshold, *rates)))
    return drawn
